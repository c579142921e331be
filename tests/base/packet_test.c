/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets with descriptors, and the hash of names against published values. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

HI_TEST(packet, no_descriptor_arrives_where_none_was_sent)
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

/* A message as no hi_packet_send() makes it. */
static void send_odd(int socket, size_t size, const int *fds, size_t n)
{
	char bytes[64] = "";
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(32 * sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(n * sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec io = {bytes, size};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = CMSG_SPACE(n * sizeof(int))};

	memcpy(CMSG_DATA(&control.header), fds, n * sizeof(int));
	HI_ASSERT_EQ(size, sendmsg(socket, &message, 0));
}

static size_t count_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

HI_TEST(packet, descriptors_of_a_packet_that_is_refused_are_closed)
{
	static const struct {
		size_t size, n;
	} odd[] = {{8, 2}, {8, 3}, {8, 32}, {4, 1}, {4, 2}, {16, 1}, {16, 5}, {0, 1}};
	int ends[2], fds[32], fd;
	uint64_t number;
	size_t before;

	make_pair(ends);
	for (size_t i = 0; i < 32; i++)
		fds[i] = ends[0];
	before = count_descriptors();
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		send_odd(ends[0], odd[i].size, fds, odd[i].n);
		fd = 7;
		HI_ASSERT_MSG(
			!hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd),
			"%zu bytes, %zu descriptors", odd[i].size, odd[i].n);
		HI_ASSERT_EQ(-1, fd);
		HI_ASSERT_EQ(before, count_descriptors());
	}
	send_odd(ends[0], 8, fds, 1);
	HI_ASSERT(hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	HI_ASSERT_EQ(before + 1, count_descriptors());
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

HI_TEST(packet, descriptor_beyond_the_limit_of_open_files_is_not_received)
{
	struct rlimit before, low;
	uint64_t number = 0;
	int ends[2], fd = 7;

	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], &(uint64_t){44}, sizeof(number), ends[0]));
	HI_ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	low = before;
	low.rlim_cur = (rlim_t)ends[1] + 1;
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &low));
	HI_ASSERT(hi_packet_receive(ends[1], &number, sizeof(number), 0, &fd));
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	HI_ASSERT_EQ(44, number);
	HI_ASSERT_EQ(-1, fd);
	close(ends[0]);
	close(ends[1]);
}

HI_TEST(packet, packet_beyond_the_limit_is_refused)
{
	int ends[2], fd = 7;
	uint64_t numbers[2] = {};

	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], numbers, sizeof(numbers), -1));
	HI_ASSERT(!hi_packet_receive(ends[1], numbers, sizeof(numbers[0]), 0, &fd));
	HI_ASSERT_EQ(-1, fd);
	close(ends[0]);
	close(ends[1]);
}

/* ---- bytes ---- */

struct sending {
	int socket;
	const unsigned char *bytes;
	size_t n;
};

static void *send_all(void *arg)
{
	const struct sending *s = arg;

	return hi_packet_send_bytes(s->socket, s->bytes, s->n) ? arg : NULL;
}

/* Sent by another thread: a socket has not room for all. */
static bool pass_bytes(const unsigned char *bytes, size_t n, size_t most, void **ret,
		       size_t *n_ret)
{
	struct sending sending = {.bytes = bytes, .n = n};
	pthread_t thread;
	int ends[2];
	bool is_there;

	make_pair(ends);
	sending.socket = ends[0];
	HI_ASSERT_EQ(0, pthread_create(&thread, NULL, send_all, &sending));
	is_there = hi_packet_receive_bytes(ends[1], most, ret, n_ret);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	return is_there;
}

HI_TEST(packet, bytes_of_any_number_arrive_as_they_were)
{
	static const size_t sizes[] = {0, 1, 32768, 32769, 100000, 1 << 20};
	static unsigned char bytes[1 << 20];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 31 + i / 977);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		void *received = bytes;
		size_t n = 7;

		HI_ASSERT(pass_bytes(bytes, sizes[i], sizes[i], &received, &n));
		HI_ASSERT_EQ(sizes[i], n);
		HI_ASSERT_EQ(sizes[i] == 0, received == NULL);
		HI_ASSERT(!n || memcmp(bytes, received, n) == 0);
		free(received);
	}
}

HI_TEST(packet, more_bytes_than_are_wanted_are_refused_before_there_is_memory_for_them)
{
	static const uint64_t claimed = UINT64_MAX / 2;
	unsigned char bytes[100] = {};
	void *received = bytes;
	size_t n = 7;
	int ends[2];

	HI_ASSERT(!pass_bytes(bytes, sizeof(bytes), sizeof(bytes) - 1, &received, &n));
	HI_ASSERT(!received && n == 0);
	make_pair(ends);
	HI_ASSERT(hi_packet_send(ends[0], &claimed, sizeof(claimed), -1));
	HI_ASSERT(!hi_packet_receive_bytes(ends[1], 1 << 20, &received, &n));
	/* A claim that is not kept. */
	HI_ASSERT(hi_packet_send(ends[0], &(uint64_t){50}, sizeof(uint64_t), -1));
	HI_ASSERT(hi_packet_send(ends[0], bytes, 10, -1));
	HI_ASSERT(!hi_packet_receive_bytes(ends[1], 1 << 20, &received, &n));
	HI_ASSERT(!received && n == 0);
	close(ends[0]);
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
