/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets with descriptors, and the hash of names against published values. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/packet.h"
#include "tests/harness.h"

static void make_pair(int ends[2])
{
	HI_ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

HI_TEST(packet, a_descriptor_comes_with_the_bytes_and_is_another_one)
{
	int ends[2], fd = -1, zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct stat was, is;
	uint64_t number = 0;

	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], &(uint64_t){42}, sizeof(number), zero));
	HI_ASSERT(hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	HI_ASSERT_EQ(number, 42u);
	HI_ASSERT(fd != zero);
	HI_ASSERT_EQ(fstat(zero, &was), 0);
	HI_ASSERT_EQ(fstat(fd, &is), 0);
	HI_ASSERT_EQ(was.st_rdev, is.st_rdev);
	HI_ASSERT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	close(zero);
	close(ends[0]);
	close(ends[1]);
}

HI_TEST(packet, none_comes_where_none_was_sent)
{
	int ends[2], fd = 7;
	uint64_t number = 0;

	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], &(uint64_t){43}, sizeof(number), -1));
	HI_ASSERT(hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	HI_ASSERT_EQ(number, 43u);
	HI_ASSERT_EQ(fd, -1);
	close(ends[0]);
	close(ends[1]);
}

HI_TEST(packet, a_short_one_and_the_end_are_no_packet)
{
	uint64_t number = 0;
	int ends[2], fd = 7;

	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], &number, 4, -1));
	HI_ASSERT(!hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	close(ends[0]);
	HI_ASSERT(!hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	HI_ASSERT(!hi_packet_send(ends[1], &number, sizeof(number), -1));
	close(ends[1]);
}

/* Of draft-eastlake-fnv, section "FNV-1a 64 test vectors". */
HI_TEST(hash, is_fnv_1a_of_64_bits)
{
	HI_ASSERT_EQ(hi_hash_name(""), 0xcbf29ce484222325u);
	HI_ASSERT_EQ(hi_hash_name("a"), 0xaf63dc4c8601ec8cu);
	HI_ASSERT_EQ(hi_hash_name("foobar"), 0x85944171f73967e8u);
	HI_ASSERT_EQ(hi_hash_more(hi_hash_more(HI_HASH_START, "foo", 3), "bar", 3),
		     hi_hash_name("foobar"));
	HI_ASSERT_EQ(hi_hash_key("a"), 0xaf63dc4c8601ec8cu >> 1);
}
