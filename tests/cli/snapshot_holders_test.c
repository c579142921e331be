/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suspects, owners and nearest variables in a snapshot file: the first page is the same
 * with them and without, when they are found again; and their sections, damaged in any
 * byte or inconsistent in themselves, are an error that names them.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_format.h"
#include "tests/harness.h"
#include "tests/support/snapshots.h"

static const char *const sections[] = {"suspects", "owners", "owners.many", "owners.near",
				       "suspects.lesser"};
enum { SECTIONS = 5, FULL_SECTIONS = 4 }; /* those that this heap has rows for */

struct holders_file {
	uint8_t *bytes;
	size_t size;
	const char *path;
};

static struct holders_file read_holders_file(const char *path)
{
	struct holders_file f = {.path = path};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	f.size = (size_t)st.st_size;
	f.bytes = malloc(f.size);
	hi_test_defer(free, f.bytes);
	HI_ASSERT(f.bytes && pread(fd, f.bytes, f.size, 0) == (ssize_t)f.size);
	close(fd);
	return f;
}

static void write_holders_file(const struct holders_file *f)
{
	int fd = open(f->path, O_WRONLY | O_CLOEXEC);

	HI_ASSERT(fd >= 0 && pwrite(fd, f->bytes, f->size, 0) == (ssize_t)f->size);
	close(fd);
}

/* So that checksums hold. */
static void sign_holders_file(struct holders_file *f)
{
	struct hi_snapshot_header *h = (void *)f->bytes;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		e[i].hash = XXH3_64bits(f->bytes + e[i].offset, e[i].stored);
	h->directory_hash = XXH3_64bits(e, h->n_sections * sizeof(*e));
	h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
}

static struct hi_snapshot_section *section_of(struct holders_file *f, const char *name)
{
	struct hi_snapshot_header *h = (void *)f->bytes;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		if (strcmp(e[i].name, name) == 0)
			return &e[i];
	hi_test_fail(__FILE__, __LINE__, "no section %s", name);
	return NULL;
}

static struct holders_file holders_snapshot(void)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("bench_variety", "20000", NULL), in);

	return read_holders_file(snapshot_of_core(core, in, "a.hisnap", NULL));
}

static char *summary_of(const char *option, const struct holders_file *f)
{
	struct hi_command *c = hi_heapinspect("summary", "--all", option, f->path);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

/* Leaves the file without them. */
static void check_they_say_what_is_found_without_them(struct holders_file f)
{
	char *text = summary_of("--quiet", &f), *json = summary_of("--json", &f);

	for (size_t i = 0; i < SECTIONS; i++)
		section_of(&f, sections[i])->name[0] = 'x';
	sign_holders_file(&f);
	write_holders_file(&f);
	HI_ASSERT_STREQ(summary_of("--quiet", &f), text);
	HI_ASSERT_STREQ(summary_of("--json", &f), json);
	/* There is something to say. */
	HI_ASSERT(strstr(text, "Suspects") && section_of(&f, "xwners.near")->size);
}

static void check_named(const struct holders_file *f, const char *section)
{
	struct hi_command *c = hi_heapinspect("summary", f->path);
	char name[64];

	snprintf(name, sizeof(name), "section %s:", section);
	HI_ASSERT_MSG(c->exit_code == 2, "%s: %d", section, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, name), "%s: %s", section, c->err);
}

static void check_damaged_they_are_an_error_that_names_them(struct holders_file f)
{
	for (size_t i = 0; i < FULL_SECTIONS; i++) {
		const struct hi_snapshot_section *e = section_of(&f, sections[i]);
		const uint64_t at[] = {0, e->stored / 2, e->stored - 1};

		HI_ASSERT_MSG(e->stored, "%s", sections[i]);
		for (size_t k = 0; k < 3; k++) {
			f.bytes[e->offset + at[k]] ^= 0x10;
			write_holders_file(&f);
			check_named(&f, sections[i]);
			f.bytes[e->offset + at[k]] ^= 0x10;
		}
	}
}

/* Numbers of nodes, roots and types that do not exist, at their offsets in a row. */
static void check_inconsistent_they_are_an_error_that_names_them(struct holders_file f)
{
	static const struct {
		const char *section;
		size_t at;
		uint32_t value;
	} wrong[] = {
		{"suspects", 0, 0xfffffff0},
		{"suspects", 4, 0xfffffff0},
		{"suspects", 8, 0xfffffff0},
		{"suspects", 12, 0xfffffff0},
		{"suspects", 16, 0xfffffff0},
		{"suspects", 20, 0xfffffff0},
		{"owners", 16, 0xfffffff0},
		{"owners", 20, 17},
		{"owners", 32, 0},
		{"owners.many", 0, 0xfffffff0},
		{"owners.near", 0, 0xfffffff0},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t at = section_of(&f, wrong[i].section)->offset + wrong[i].at;
		uint32_t before;

		memcpy(&before, f.bytes + at, sizeof(before));
		memcpy(f.bytes + at, &wrong[i].value, sizeof(before));
		sign_holders_file(&f);
		write_holders_file(&f);
		check_named(&f, wrong[i].section);
		memcpy(f.bytes + at, &before, sizeof(before));
	}
}

HI_TEST_SCENARIO(snapshot_holders, are_checked_and_change_nothing)
{
	struct holders_file f = holders_snapshot();

	check_damaged_they_are_an_error_that_names_them(f);
	check_inconsistent_they_are_an_error_that_names_them(f);
	sign_holders_file(&f);
	write_holders_file(&f);
	check_they_say_what_is_found_without_them(f);
}
