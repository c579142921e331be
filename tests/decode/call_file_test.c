/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of modules whose calls are looked at: other builds, other files, damaged ones.
 * Which kinds calls have is tested by deep_kinds (tests/cli). */
#include "decode/modules/call_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/workshop.h"

#define PROGRAM HI_FIXTURE_DIR "/call_kinds"

/* In hexadecimal, by libelf. */
static void read_build_id(const char *path, char ret[65])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const void *id;
	ssize_t n;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	HI_ASSERT(elf);
	n = dwelf_elf_gnu_build_id(elf, &id);
	HI_ASSERT(n > 0 && n <= 32);
	for (ssize_t i = 0; i < n; i++)
		snprintf(ret + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	elf_end(elf);
	close(fd);
}

static unsigned count_calls(const struct hi_call_file *file, uint64_t end)
{
	unsigned n = 0;

	for (uint64_t offset = 0; offset < end; offset++) {
		uint64_t target;

		n += hi_call_file_kind(file, offset, &target) != HI_CALL_UNKNOWN;
		(void)hi_call_file_function(file, offset);
	}
	return n;
}

HI_TEST_SCENARIO(call_file, file_of_another_build_is_not_found)
{
	struct hi_call_file *file;
	struct hi_error err;
	char id[65] = "";

	read_build_id(PROGRAM, id);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_call_file_open(PROGRAM, "", &file, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_call_file_open("/nowhere", id, &file, &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_call_file_open("/etc/passwd", id, &file, &err));
	HI_ASSERT_OK(hi_call_file_open(PROGRAM, id, &file, &err), &err);
	HI_ASSERT(count_calls(file, 0x3000) > 10);
	HI_ASSERT_EQ(0, count_calls(file, 0x800));
	hi_call_file_close(file);
	id[0] ^= 1;
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_call_file_open(PROGRAM, id, &file, &err));
}

static size_t read_program(uint8_t **ret)
{
	FILE *f = fopen(PROGRAM, "r");
	long size;

	HI_ASSERT(f && fseek(f, 0, SEEK_END) == 0);
	size = ftell(f);
	rewind(f);
	*ret = malloc((size_t)size);
	HI_ASSERT(*ret && fread(*ret, 1, (size_t)size, f) == (size_t)size);
	fclose(f);
	return (size_t)size;
}

/* Of the headers, the code, or anywhere: what it says is anything, and nothing crashes.
 */
HI_TEST_SCENARIO(call_file, damaged_file_is_refused_or_read)
{
	uint8_t *bytes;
	size_t size = read_program(&bytes);
	char path[256], id[65] = "";
	uint64_t random = 7;
	unsigned opened = 0;

	read_build_id(PROGRAM, id);
	snprintf(path, sizeof(path), "%s/damaged", workshop_open());
	for (int i = 0; i < 300; i++) {
		struct hi_call_file *file;
		size_t range = i % 3 == 0 ? 0x400 : i % 3 == 1 ? 0x2000 : size;
		FILE *f = fopen(path, "w");
		size_t n = size;

		for (int k = 0; k < 8; k++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			bytes[(random >> 20) % range] ^= (uint8_t)(random >> 56);
		}
		if (i % 7 == 0)
			n = (random >> 30) % size;
		HI_ASSERT(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
		if (hi_call_file_open(path, id, &file, NULL) == HI_OK) {
			opened++;
			(void)count_calls(file, 0x2000);
			hi_call_file_close(file);
		}
		if (i % 10 == 9) {
			free(bytes);
			(void)read_program(&bytes);
		}
	}
	free(bytes);
	HI_ASSERT_MSG(opened > 50, "only %u were opened", opened);
}
