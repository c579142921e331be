/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of addresses from nowhere, without memory, and out of files with wrong bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "decode/describe/frame_names.h"
#include "tests/harness.h"
#include "tests/support/file_types.h"
#include "tests/support/random.h"
#include "tests/support/workshop.h"

enum {
	ROUNDS = 200,
	FILE_MAX = 1 << 20,
	HEADERS = 0x400, /* left alone at both ends */
	ADDRESSES = 2000,
};

static struct hi_error err;

static const char source[] = "#include <vector>\n"
			     "namespace {\n"
			     "struct hidden { int v; };\n"
			     "}\n"
			     "std::vector<hidden> all;\n"
			     "int main(int argc, char **)\n"
			     "{\n"
			     "\tfor (int i = 0; i < argc; i++)\n"
			     "\t\tall.push_back({i});\n"
			     "\treturn (int)all.size();\n"
			     "}\n";

static char program_path[512];

static struct inspected *make_program(void)
{
	snprintf(program_path, sizeof(program_path), "%s/prog", workshop_open());
	workshop_write("prog.cc", source);
	workshop_run("g++ -g -O2 -o prog prog.cc");
	return inspected_file(program_path);
}

static struct hi_frames_builder *make_builder(void)
{
	struct hi_frames_builder *builder;

	HI_ASSERT_OK(hi_frames_builder_create(&builder, &err), &err);
	hi_test_defer(hi_frames_builder_destroy, builder);
	return builder;
}

static void check_no_module(const struct hi_frames *frames, uint32_t i)
{
	const struct hi_frame_row *row = &frames->rows[frames->first[i]];

	HI_ASSERT_EQ(1, frames->first[i + 1] - frames->first[i]);
	HI_ASSERT_STREQ("", row->module);
	HI_ASSERT_STREQ("", row->function);
	HI_ASSERT_STREQ("", row->file);
	HI_ASSERT_EQ(0, row->line);
	HI_ASSERT_EQ(0, row->offset);
}

HI_TEST_SCENARIO(frame_names, addresses_outside_modules_are_empty_and_keep_their_order)
{
	struct inspected *p = make_program();
	struct hi_frames_builder *builder = make_builder();
	uint64_t main_at, size, unknown = 0x1234;
	struct hi_frames frames;

	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, "main", &main_at, &size, &err),
		     &err);
	HI_ASSERT_OK(hi_frame_names_add(p->modules, NULL, NULL, 0, builder, &err), &err);
	HI_ASSERT_EQ(0, hi_frames_builder_view(builder).n_frames);
	HI_ASSERT_OK(hi_frame_names_add(p->modules, NULL,
					(uint64_t[]){main_at + size, 0, main_at + 1,
						     UINT64_MAX, unknown, main_at + size,
						     main_at},
					7, builder, &err),
		     &err);
	HI_ASSERT_OK(hi_frame_names_add(p->modules, NULL, &unknown, 1, builder, &err),
		     &err);
	frames = hi_frames_builder_view(builder);
	HI_ASSERT_EQ(8, frames.n_frames);
	check_no_module(&frames, 1);
	check_no_module(&frames, 3);
	check_no_module(&frames, 4);
	check_no_module(&frames, 7);
	for (unsigned i = 0; i <= 5; i += i ? 3 : 2) {
		const struct hi_frame_row *row = &frames.rows[frames.first[i + 1] - 1];

		HI_ASSERT_STREQ("main", row->function);
		HI_ASSERT(!(row->flags & HI_FRAME_INLINED) && row->line > 0);
	}
	/* The byte before main belongs to something else. */
	HI_ASSERT(strcmp("main", frames.rows[frames.first[7] - 1].function) != 0);
}

/* Addresses over all of the text, inside of instructions, too. */
static void list_addresses(struct inspected *p, uint64_t addresses[ADDRESSES])
{
	const struct hi_module *module = hi_modules_get(p->modules, 0);

	for (uint64_t i = 0; i < ADDRESSES; i++)
		addresses[i] = module->start + 0x1000 + i * 2;
}

static bool is_named_with_failure_at(struct inspected *p, const uint64_t *addresses,
				     uint64_t nth)
{
	struct hi_frames_builder *builder;
	struct hi_modules *modules;
	const struct hi_modules_options options = {.cache_dir = ""};
	enum hi_status status;

	HI_ASSERT_OK(hi_modules_open(p->image, &options, &modules, &err), &err);
	HI_ASSERT_OK(hi_frames_builder_create(&builder, &err), &err);
	hi_alloc_fail_at(nth);
	status = hi_frame_names_add(modules, NULL, addresses, ADDRESSES, builder, &err);
	hi_alloc_fail_at(0);
	hi_frames_builder_destroy(builder);
	hi_modules_close(modules);
	HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	return status == HI_OK;
}

HI_TEST_SCENARIO(frame_names, out_of_memory_is_reported)
{
	struct inspected *p = make_program();
	uint64_t addresses[ADDRESSES], n = 1;

	list_addresses(p, addresses);
	while (!is_named_with_failure_at(p, addresses, n)) {
		n++;
		HI_ASSERT(n < 10000);
	}
	hi_test_note("%llu allocations", (unsigned long long)n);
	HI_ASSERT(n > 20);
}

/* ---- wrong bytes ---- */

static void write_mutant(const uint8_t *whole, size_t size, uint64_t *seed)
{
	static uint8_t bytes[FILE_MAX];
	unsigned n = 1 + (unsigned)(next_random(seed) % 60);
	FILE *file = fopen(program_path, "w");

	HI_ASSERT(file);
	memcpy(bytes, whole, size);
	for (unsigned i = 0; i < n; i++) {
		uint64_t r = next_random(seed);
		uint8_t *byte = &bytes[HEADERS + (r >> 16) % (size - 6 * HEADERS)];

		*byte = r % 3 == 0 ? 0xff : (uint8_t)(r >> 8);
	}
	HI_ASSERT_EQ(size, fwrite(bytes, 1, size, file));
	HI_ASSERT(fclose(file) == 0);
}

/* In a child, where no assertion may jump: how many rows there are. */
static uint32_t count_rows(const struct inspected *p, const uint64_t *addresses)
{
	const struct hi_modules_options options = {.cache_dir = ""};
	struct hi_frames_builder *builder;
	struct hi_modules *modules;
	struct hi_frames frames;

	if (hi_modules_open(p->image, &options, &modules, &err) != HI_OK ||
	    hi_frames_builder_create(&builder, &err) != HI_OK ||
	    hi_frame_names_add(modules, NULL, addresses, ADDRESSES, builder, &err) !=
		    HI_OK)
		_exit(2);
	frames = hi_frames_builder_view(builder);
	if (frames.n_frames != ADDRESSES || frames.n_rows < ADDRESSES)
		_exit(3);
	hi_frames_builder_destroy(builder);
	hi_modules_close(modules);
	return frames.n_rows;
}

static uint32_t count_in_child(const struct inspected *p, const uint64_t *addresses,
			       int round)
{
	int pipes[2], status;
	uint32_t n = 0;
	ssize_t got;
	pid_t pid;

	HI_ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		alarm(300);
		n = count_rows(p, addresses);
		_exit(write(pipes[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
	}
	close(pipes[1]);
	got = read(pipes[0], &n, sizeof(n));
	close(pipes[0]);
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(status == 0 && got == sizeof(n), "round %d: wait status 0x%x",
		      round, status);
	return n;
}

HI_TEST_SLOW(frame_names, damaged_files_cost_rows_only)
{
	static uint8_t whole[FILE_MAX];
	struct inspected *p = make_program();
	uint64_t addresses[ADDRESSES], seed = 5;
	FILE *file = fopen(program_path, "r");
	size_t size, fewer = 0;
	uint32_t all;

	HI_ASSERT(file);
	size = fread(whole, 1, FILE_MAX, file);
	fclose(file);
	list_addresses(p, addresses);
	all = count_in_child(p, addresses, 0);
	HI_ASSERT(all > ADDRESSES);
	for (int i = 1; i < ROUNDS; i++) {
		write_mutant(whole, size, &seed);
		fewer += count_in_child(p, addresses, i) < all;
	}
	hi_test_note("%u rows; fewer in %zu of %d files", all, fewer, ROUNDS);
	HI_ASSERT(fewer > ROUNDS / 4);
}
