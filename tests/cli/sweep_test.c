/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole program in this process, with the nth allocation failing for every
 * n, and with cores that lack one piece of memory after another.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "report/render/text.h"
#include "session/inspect/inspect.h"
#include "session/retainers/retaining.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/workshop.h"

enum {
	EVERYTHING = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS |
		     HI_WANT_SUSPECTS | HI_WANT_LEDGER
};

/* A core of a fixture in the test's directory; the path is static. */
static const char *make_core(const char *fixture, const char *argument1,
			     const char *argument2)
{
	static char path[320];
	const char *in = workshop_open();
	struct hi_fixture *fx = hi_fixture_start(fixture, argument1, argument2, NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	workshop_run("gcore -o core %d >/dev/null 2>&1", (int)fx->pid);
	hi_fixture_end(fx);
	snprintf(path, sizeof(path), "%s/core.%d", in, (int)fx->pid);
	return path;
}

static struct hi_inspection *open_whole(const struct hi_options *options)
{
	struct hi_inspection *in = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_inspect_open(options, NULL, EVERYTHING, &in, &err), &err);
	hi_test_defer(hi_inspect_close, in);
	return in;
}

/* What an inspection found, in numbers. */
struct found {
	unsigned long long live, live_bytes, leaked, leaked_bytes;
	unsigned long long nodes, edges, types, typed, roots, census_rows, suspects;
	bool ledger;
};

static struct found count(const struct hi_inspection *in)
{
	const struct hi_objects *o = in->graph->objects;
	struct found f = {.live = in->results.reach->live_objects,
			  .live_bytes = in->results.reach->live_bytes,
			  .leaked = in->results.leaks->objects,
			  .leaked_bytes = in->results.leaks->bytes,
			  .nodes = in->graph->n_nodes,
			  .edges = in->graph->n_edges,
			  .types = in->graph->n_types,
			  .roots = in->graph->n_roots,
			  .census_rows = in->results.census->n_rows,
			  .suspects = in->results.suspects->count,
			  .ledger = in->results.ledger_known};

	for (hi_node i = 0; i < o->count; i++)
		f.typed += o->type[i] != 0;
	return f;
}

static bool same(const struct found *a, const struct found *b)
{
	return a->live == b->live && a->live_bytes == b->live_bytes &&
	       a->leaked == b->leaked && a->leaked_bytes == b->leaked_bytes &&
	       a->nodes == b->nodes && a->edges == b->edges && a->types == b->types &&
	       a->typed == b->typed && a->roots == b->roots &&
	       a->census_rows == b->census_rows && a->suspects == b->suspects &&
	       a->ledger == b->ledger;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef void failing(uint64_t nth); /* hi_alloc_fail_at or hi_alloc_fail_once */

/* Every n up to 300, then ever wider steps, so that a sweep ends in seconds; an
 * inspection that goes on after a single failure takes its whole time. */
static uint64_t next_n(uint64_t n, uint64_t step)
{
	return n + (n < 300 ? step : step * n / 40);
}

/* One inspection whose nth allocation fails. True: it did not come that far. */
static bool open_with_failure(const struct hi_options *options, uint64_t n, failing *fail,
			      const struct found *truth)
{
	unsigned long long shown = n;
	struct hi_inspection *in = NULL;
	struct hi_error err = {};
	struct found f;
	enum hi_status status;
	uint64_t used;

	fail(n);
	status = hi_inspect_open(options, NULL, EVERYTHING, &in, &err);
	used = hi_alloc_count();
	hi_alloc_fail_at(0);
	if (status != HI_OK) {
		HI_ASSERT_MSG(!in, "n %llu: an inspection beside an error", shown);
		HI_ASSERT_MSG(status == HI_NO_MEMORY && err.status == status && *err.text,
			      "n %llu: %s (%s)", shown, hi_status_text(status), err.text);
		return false;
	}
	f = count(in);
	if (!same(&f, truth) && !in->diagnostics.warnings.count)
		hi_test_fail(__FILE__, __LINE__,
			     "n %llu: nothing is said, but live %llu of %llu, types %llu "
			     "of %llu, typed %llu of %llu, roots %llu of %llu",
			     shown, f.live, truth->live, f.types, truth->types, f.typed,
			     truth->typed, f.roots, truth->roots);
	hi_inspect_close(in);
	return used < n;
}

static void sweep_open(const char *core, failing *fail, uint64_t step)
{
	struct hi_options options = {.target.core = core,
				     .output.quiet = true,
				     .selection.paths = 5,
				     .decoding.threads = 2};
	struct found truth = count(open_whole(&options));
	unsigned long long n = 1, runs = 0;
	double start = seconds();

	HI_ASSERT(truth.live && truth.typed && truth.ledger);
	for (; !open_with_failure(&options, n, fail, &truth); n = next_n(n, step))
		runs++;
	hi_test_note("%llu runs up to allocation %llu in %.1f s", runs, n,
		     seconds() - start);
}

HI_TEST_SLOW(sweep, memory_may_run_out_anywhere_in_an_inspection_of_c)
{
	const char *core = make_core("leak_shapes", "acyclic", "3");

	sweep_open(core, hi_alloc_fail_at, 1);
	sweep_open(core, hi_alloc_fail_once, 3);
}

HI_TEST_SLOW(sweep, memory_may_run_out_anywhere_in_an_inspection_of_cxx)
{
	const char *core = make_core("typing_cxx", NULL, NULL);

	sweep_open(core, hi_alloc_fail_at, 1);
	sweep_open(core, hi_alloc_fail_once, 3);
}

/* A command's report as text or JSON, from malloc. */
static enum hi_status report(struct hi_inspection *in, bool json, char **ret,
			     struct hi_error *err)
{
	const struct hi_text_options style = {.width = 100, .utf8 = true};
	struct hi_report_header header;
	struct hi_page *page = NULL;
	struct hi_json writer;
	size_t size = 0;
	FILE *out = open_memstream(ret, &size);
	enum hi_status status = hi_inspect_make_header(in, &header, err);

	HI_ASSERT(out);
	hi_json_init(&writer, out);
	if (status == HI_OK && !json) {
		page = hi_page_create();
		if (!page)
			status = hi_fail_memory(err, "page");
	}
	if (status == HI_OK)
		status = in->options->command->run(in, &header, page,
						   json ? &writer : NULL, err);
	if (status == HI_OK && page)
		status = hi_text_render(page, &style, out, err);
	if (status == HI_OK && json && !hi_json_finish(&writer))
		status = hi_fail_memory(err, "JSON");
	if (status == HI_OK && hi_inspect_lost_something(in))
		status = hi_fail_memory(err, "text");
	hi_page_destroy(page);
	fclose(out);
	return status;
}

/* Reports of one command over one inspection, allocation after allocation. */
static void sweep_report(struct hi_inspection *in, const char *whole, bool json,
			 failing *fail)
{
	const char *name = in->options->command->name;
	unsigned long long n = 1, used;
	enum hi_status status;

	do {
		struct hi_error err = {};
		char *text = NULL;
		bool differs;

		in->diagnostics.failures_before = hi_alloc_failures();
		in->diagnostics.warnings.count = 0;
		hi_retaining_destroy(
			hi_take(in->profile.retaining)); /* computed once, as asked */
		fail(n);
		status = report(in, json, &text, &err);
		used = hi_alloc_count();
		hi_alloc_fail_at(0);
		differs = status == HI_OK && strcmp(text, whole) != 0;
		free(text);
		HI_ASSERT_MSG(!differs, "%s, n %llu: another report", name, n);
		HI_ASSERT_MSG(status == HI_OK || status == HI_NO_MEMORY,
			      "%s, n %llu: %s (%s)", name, n, hi_status_text(status),
			      err.text);
		n = next_n(n, 1);
	} while (used + 1 >= n);
	HI_ASSERT_EQ(HI_OK, status);
}

static void sweep_command(struct hi_inspection *in, struct hi_options *options,
			  const struct hi_command *command, const char *argument)
{
	options->command = command;
	options->argument = argument;
	for (int json = 0; json < 2; json++) {
		struct hi_error err = {};
		char *whole = NULL;

		in->diagnostics.warnings.count = 0;
		HI_ASSERT_OK(report(in, json, &whole, &err), &err);
		hi_test_defer(free, whole);
		sweep_report(in, whole, json, hi_alloc_fail_at);
		sweep_report(in, whole, json, hi_alloc_fail_once);
	}
}

static void sweep_reports(const char *core, const char *type)
{
	struct hi_options options = {.target.core = core,
				     .output.quiet = true,
				     .selection.paths = 5,
				     .decoding.threads = 1};
	struct hi_inspection *in = open_whole(&options);
	char address[32];
	hi_node node = 0;

	while (!hi_bit(in->results.reach->any, node) || !in->graph->objects->type[node])
		node++;
	snprintf(address, sizeof(address), "0x%llx",
		 (unsigned long long)hi_objects_address(in->graph->objects, node));
	sweep_command(in, &options, &hi_command_summary, NULL);
	sweep_command(in, &options, &hi_command_census, NULL);
	sweep_command(in, &options, &hi_command_retained, NULL);
	sweep_command(in, &options, &hi_command_leaks, NULL);
	sweep_command(in, &options, &hi_command_paths, type);
	sweep_command(in, &options, &hi_command_paths, address);
	sweep_command(in, &options, &hi_command_explain, address);
}

HI_TEST_SCENARIO(sweep, memory_may_run_out_anywhere_in_a_report_on_c)
{
	sweep_reports(make_core("leak_shapes", "acyclic", "3"), "struct item");
}

HI_TEST_SCENARIO(sweep, memory_may_run_out_anywhere_in_a_report_on_cxx)
{
	sweep_reports(make_core("typing_cxx", NULL, NULL), "*");
}

/* Names that are given to leaks without a type; some have two. */
static size_t count_leak_fits(const struct hi_leak_groups *groups, uint32_t *most_ret)
{
	size_t n = 0;

	*most_ret = 0;
	for (size_t i = 0; groups && i < groups->count; i++) {
		n += groups->items[i].n_fits;
		*most_ret = groups->items[i].n_fits > *most_ret ? groups->items[i].n_fits
								: *most_ret;
		for (uint32_t k = 0; k < groups->items[i].n_fits; k++)
			HI_ASSERT(groups->items[i].fits[k]);
	}
	return n;
}

static void sweep_leak_names(struct hi_inspection *in, size_t whole, failing *fail)
{
	unsigned long long n = 1, used;
	enum hi_status status;

	do {
		struct hi_error err = {};
		uint32_t most;
		size_t found;

		hi_leak_groups_destroy(hi_take(in->results.leak_groups));
		fail(n);
		status = in->source->results->find_leak_groups(in, &err);
		used = hi_alloc_count();
		hi_alloc_fail_at(0);
		found = count_leak_fits(in->results.leak_groups, &most);
		HI_ASSERT_MSG(status == HI_OK ? found == whole : status == HI_NO_MEMORY,
			      "n %llu: %zu names of %zu, %s (%s)", n, found, whole,
			      hi_status_text(status), err.text);
		n++;
	} while (used + 1 >= n);
	HI_ASSERT_EQ(HI_OK, status);
}

HI_TEST_SCENARIO(sweep, memory_may_run_out_anywhere_in_the_names_of_leaks)
{
	struct hi_options options = {.target.core =
					     make_core("leak_names", "twins", NULL),
				     .output.quiet = true,
				     .decoding.threads = 1};
	struct hi_inspection *in = open_whole(&options);
	uint32_t most;
	size_t whole = count_leak_fits(in->results.leak_groups, &most);

	HI_ASSERT_MSG(most > 1, "%zu names, no two of one group", whole);
	sweep_leak_names(in, whole, hi_alloc_fail_at);
	sweep_leak_names(in, whole, hi_alloc_fail_once);
}

HI_TEST_SCENARIO(sweep, memory_may_run_out_anywhere_in_a_profile)
{
	struct hi_root_text roots[] = {{.name = "one", .expression = "live[1]"},
				       {.name = "all", .expression = "live"}};
	const char *retainers[] = {"item", "item.left", "global", "auto"};
	struct hi_options options = {
		.target.core = make_core("leak_shapes", "cyclic", "3"),
		.output.quiet = true,
		.decoding.threads = 1,
		.selection.type = "item",
		.profile = {.roots = roots,
			    .n_roots = 2,
			    .all_bins = true,
			    .retainers = retainers,
			    .n_retainers = 4,
			    .identity = HI_IDENTITY_ADDR},
	};
	struct hi_inspection *in = open_whole(&options);

	sweep_command(in, &options, &hi_command_roots, NULL);
	sweep_command(in, &options, &hi_command_retainers, NULL);
	options.profile.identity = HI_IDENTITY_TYPE;
	options.profile.n_retainers = 0;
	sweep_command(in, &options, &hi_command_up, NULL);
}

HI_TEST_SLOW(sweep, memory_may_run_out_anywhere_in_a_restricted_inspection)
{
	struct hi_root_text roots[] = {{.name = "all", .expression = "live"}};
	const char *under = "all";
	struct hi_options options = {
		.target.core = make_core("leak_shapes", "acyclic", "3"),
		.output.quiet = true,
		.decoding.threads = 2,
		.profile = {.roots = roots,
			    .n_roots = 1,
			    .under = &under,
			    .n_under = 1,
			    .retained_by = "live"},
	};
	struct found truth = count(open_whole(&options));
	unsigned long long n = 1;

	while (!open_with_failure(&options, n, hi_alloc_fail_at, &truth))
		n = next_n(n, 1);
}

/* A core in memory, to write copies of it with other program headers. */
struct core {
	unsigned char *bytes;
	size_t size;
	const Elf64_Phdr *headers;
	size_t n;
};

static struct core read_core(const char *path)
{
	struct core c = {};
	struct stat st;
	int fd = open(path, O_RDONLY);
	const Elf64_Ehdr *elf;

	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	c.size = (size_t)st.st_size;
	c.bytes = malloc(c.size);
	hi_test_defer(free, c.bytes);
	HI_ASSERT(c.bytes && read(fd, c.bytes, c.size) == st.st_size);
	close(fd);
	elf = (const Elf64_Ehdr *)c.bytes;
	c.headers = (const Elf64_Phdr *)(c.bytes + elf->e_phoff);
	c.n = elf->e_phnum;
	return c;
}

/* The core without the contents of [hole, hole + size) of segment `at`: the
 * table of program headers moves to the end, with the segment in three. */
static void write_without(const struct core *c, size_t at, uint64_t hole, uint64_t size,
			  const char *path)
{
	Elf64_Phdr cut = c->headers[at], behind = cut;
	Elf64_Ehdr elf;
	uint64_t before = hole - cut.p_vaddr;
	FILE *out = fopen(path, "w");

	memcpy(&elf, c->bytes, sizeof(elf));
	elf.e_phoff = c->size;
	elf.e_phnum = (uint16_t)(c->n + 2);
	behind.p_vaddr += before + size;
	behind.p_offset += before + size;
	behind.p_filesz = behind.p_memsz = cut.p_memsz - before - size;
	HI_ASSERT(out && fwrite(&elf, sizeof(elf), 1, out) == 1);
	fwrite(c->bytes + sizeof(elf), c->size - sizeof(elf), 1, out);
	fwrite(c->headers, sizeof(cut), at, out);
	cut.p_filesz = cut.p_memsz = before;
	fwrite(&cut, sizeof(cut), 1, out);
	cut.p_vaddr = hole;
	cut.p_memsz = size;
	cut.p_filesz = 0;
	fwrite(&cut, sizeof(cut), 1, out);
	fwrite(&behind, sizeof(behind), 1, out);
	fwrite(c->headers + at + 1, sizeof(cut), c->n - at - 1, out);
	HI_ASSERT(fclose(out) == 0);
}

static uint64_t heap_bytes(const struct hi_inspection *in)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < in->decoders.allocator->n_regions; i++)
		bytes += in->decoders.allocator->regions[i].end -
			 in->decoders.allocator->regions[i].start;
	return bytes;
}

/* What a core does not hold of a file is clean, or cannot be written: the file
 * has it, and the core is complete. */
static bool must_be_held(const struct hi_inspection *whole, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(whole->image, addr);

	return m->prot & HI_PROT_WRITE && !*m->path && m->kind != HI_MAPPING_OTHER;
}

/* An inspection of a core with a hole, against the one of the whole. */
static void check_hole(const char *path, uint64_t hole, const struct found *truth,
		       const struct hi_inspection *whole)
{
	uint64_t heap = heap_bytes(whole);
	struct hi_options options = {.target.core = path,
				     .output.quiet = true,
				     .selection.paths = 5,
				     .decoding.threads = 2};
	struct hi_inspection *in = NULL;
	unsigned long long shown = hole;
	struct hi_error err = {};
	struct found f;

	HI_ASSERT_OK(hi_inspect_open(&options, NULL, EVERYTHING, &in, &err), &err);
	f = count(in);
	HI_ASSERT_MSG(!must_be_held(whole, hole) ||
			      (!in->image->complete && in->image->stats.segments_missing),
		      "hole 0x%llx: called complete", shown);
	/* Without blocks there are the objects that typed pointers find, and a word
	 * that says so. */
	if (!in->decoders.allocator) {
		HI_ASSERT_MSG(in->diagnostics.warnings.count,
			      "hole 0x%llx: nothing is said", shown);
		hi_inspect_close(in);
		return;
	}
	/* Free chunks look used where the list that has them is gone: then it is
	 * said. */
	HI_ASSERT_MSG(f.live + f.leaked <= truth->live + truth->leaked ||
			      in->decoders.allocator->n_damage_total,
		      "hole 0x%llx: %llu live + %llu leaked objects, but there are %llu",
		      shown, f.live, f.leaked, truth->live + truth->leaked);
	HI_ASSERT_MSG(f.live_bytes + f.leaked_bytes + in->results.reach->internal_bytes +
				      in->decoders.allocator->skipped_bytes <=
			      heap,
		      "hole 0x%llx: %llu live + %llu leaked + %llu skipped of %llu bytes",
		      shown, f.live_bytes, f.leaked_bytes,
		      (unsigned long long)in->decoders.allocator->skipped_bytes,
		      (unsigned long long)heap);
	HI_ASSERT_MSG(f.live + f.leaked == truth->live + truth->leaked ||
			      in->diagnostics.warnings.count,
		      "hole 0x%llx: objects are missing and nothing is said", shown);
	hi_inspect_close(in);
}

/* Page after page of what the program can write is missing, one at a time. */
HI_TEST_SLOW(sweep, any_page_may_be_missing_in_a_core)
{
	const char *path = make_core("leak_shapes", "acyclic", "3");
	struct hi_options options = {.target.core = path,
				     .output.quiet = true,
				     .selection.paths = 5,
				     .decoding.threads = 2};
	struct hi_inspection *in = open_whole(&options);
	struct found truth = count(in);
	struct core c = read_core(path);
	char copy[352];
	unsigned holes = 0;

	snprintf(copy, sizeof(copy), "%s.hole", path);
	for (size_t i = 0; i < c.n; i++) {
		const Elf64_Phdr *h = &c.headers[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W))
			continue;
		for (uint64_t page = 0; page + 4096 <= h->p_filesz; page += 4096) {
			write_without(&c, i, h->p_vaddr + page, 4096, copy);
			check_hole(copy, h->p_vaddr + page, &truth, in);
			holes++;
		}
	}
	hi_test_note("%u holes", holes);
	HI_ASSERT(holes > 40);
}

/* Whole segments, of whatever kind, and their second halves. */
HI_TEST_SLOW(sweep, any_segment_may_be_missing_in_a_core)
{
	const char *path = make_core("typing_cxx", NULL, NULL);
	struct hi_options options = {.target.core = path,
				     .output.quiet = true,
				     .selection.paths = 5,
				     .decoding.threads = 2};
	struct hi_inspection *in = open_whole(&options);
	struct found truth = count(in);
	struct core c = read_core(path);
	char copy[352];

	snprintf(copy, sizeof(copy), "%s.hole", path);
	for (size_t i = 0; i < c.n; i++) {
		const Elf64_Phdr *h = &c.headers[i];
		uint64_t half = h->p_filesz / 2 & ~4095ull;

		if (h->p_type != PT_LOAD || !h->p_filesz || h->p_filesz != h->p_memsz)
			continue;
		write_without(&c, i, h->p_vaddr, h->p_memsz, copy);
		check_hole(copy, h->p_vaddr, &truth, in);
		write_without(&c, i, h->p_vaddr + half, h->p_memsz - half, copy);
		check_hole(copy, h->p_vaddr + half, &truth, in);
	}
}
