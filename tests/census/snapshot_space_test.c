/* SPDX-License-Identifier: BSD-2-Clause */
/* Space profiles in a snapshot file: read as they were written, or refused by the name of
 * their section; and an hour of a service that allocates often. */
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "census/snapshot/snapshot_space.h"
#include "tests/census/snapshots.h"
#include "tests/census/space_lives.h"
#include "tests/support/command.h"

enum {
	CONTEXTS = 3,
	NAMES = 3,
	STEPS = 4,
	CENSUSES = 4,
	PHASES = 2,
	PARTS = 4,
	ROUNDS = 3000
};

/* What a test changes before it is written. */
struct drawn_space {
	struct hi_snapshot_space space;
	const char *names[NAMES];
	struct hi_space_kept_step steps[STEPS];
	struct hi_space_kept_unseen unseen[1];
	struct hi_snapshot_space_census censuses[CENSUSES];
	/* By part: the steps above are of contexts 0 and 2. */
	struct hi_snapshot_space_phase phases[PHASES];
	struct hi_snapshot_space_part parts[PARTS];
	struct hi_space_kept_step part_steps[STEPS + 1];
	struct hi_space_kept_unseen part_unseen[1];
	struct hi_space_kind_period kinds[2];
};

static void draw_space(struct drawn_space *d)
{
	*d = (struct drawn_space){
		.names = {"", "struct node", "struct buf"},
		.steps = {{0, 1, 1, 0, {4, 128, 32}, {}},
			  {0, 1, 3, 0, {}, {1, 32, 8}},
			  {0, 2, 2, 0, {2, 96, 16}, {}},
			  {2, 0, 1, 0, {1, 48, 8}, {2, 96, 16}}},
		.unseen = {{1, 0, {7, 224, 56}}},
		.censuses = {{0, 5, 0, {9, 900, 90}, {}},
			     {100, 105, 1, {8, 800, 80}, {{1, 2, 3}, {}, {1, 2, 3}}},
			     {100, 205, 1, {7, 700, 70}, {{}, {}, {1, 2, 3}}},
			     {300, 305, 2, {6, 600, 60}, {{}, {1, 2, 3}, {}}}}};
	d->space = (struct hi_snapshot_space){.kept = {.steps = d->steps,
						       .n_steps = STEPS,
						       .unseen = d->unseen,
						       .n_unseen = 1},
					      .names = d->names,
					      .n_names = NAMES,
					      .censuses = d->censuses,
					      .n_censuses = CENSUSES,
					      .sample_bytes = 4096,
					      .memory = 77,
					      .has_costs = true};
}

/* The file has the profile alone. */
static struct hi_snapshot *write_space(const struct hi_snapshot_space *space,
				       bool compress, int fd)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {.compress = compress, .threads = 1};
	struct hi_snapshot *s = NULL;
	struct hi_error err = {};
	char path[64];

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_space(w, space, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	return s;
}

/* The same amounts; the second phase has one of the first step's objects, and three of
 * what no census has found. */
static void draw_parts(struct drawn_space *d)
{
	d->phases[0] = (struct hi_snapshot_space_phase){0, "(before)", true};
	d->phases[1] = (struct hi_snapshot_space_phase){90, "load", true};
	d->parts[0] = (struct hi_snapshot_space_part){2, 0};
	d->parts[1] = (struct hi_snapshot_space_part){0, 1};
	d->parts[2] = (struct hi_snapshot_space_part){0, 0};
	d->parts[3] = (struct hi_snapshot_space_part){1, 1};
	d->part_steps[0] = d->steps[3];
	d->part_steps[0].context = 0;
	d->part_steps[1] = (struct hi_space_kept_step){1, 1, 1, 0, {1, 32, 8}, {}};
	d->part_steps[2] = (struct hi_space_kept_step){2, 1, 1, 0, {3, 96, 24}, {}};
	d->part_steps[3] = d->steps[1];
	d->part_steps[4] = d->steps[2];
	d->part_steps[3].context = d->part_steps[4].context = 2;
	d->part_unseen[0] = (struct hi_space_kept_unseen){3, 0, {7, 224, 56}};
	d->space.phases = d->phases;
	d->space.n_phases = PHASES;
	d->space.parts = d->parts;
	d->space.n_parts = PARTS;
	d->space.by_part = (struct hi_space_kept){.steps = d->part_steps,
						  .n_steps = STEPS + 1,
						  .unseen = d->part_unseen,
						  .n_unseen = 1,
						  .kinds = d->kinds,
						  .n_kinds = 2};
	d->kinds[0] = (struct hi_space_kind_period){1, 0, {{4, 5, 6}, {}, {4, 5, 6}}};
	d->kinds[1] = (struct hi_space_kind_period){3, 1, {{}, {1, 2, 3}, {3, 3, 3}}};
}

static enum hi_status read_drawn_space(const struct drawn_space *d,
				       struct hi_arena *arena,
				       struct hi_snapshot_space *ret,
				       struct hi_snapshot **s, struct hi_error *err)
{
	int fd = memfd_create("space", MFD_CLOEXEC);

	*s = write_space(&d->space, false, fd);
	close(fd);
	return hi_snapshot_space(*s, CONTEXTS, arena, ret, err);
}

HI_TEST(snapshot_space, is_read_as_it_was_written)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_space r;
	struct drawn_space d;
	struct hi_arena arena = {};
	struct hi_error err = {};

	draw_space(&d);
	HI_ASSERT_OK(read_drawn_space(&d, &arena, &r, &s, &err), &err);
	HI_ASSERT_EQ(STEPS, r.kept.n_steps);
	HI_ASSERT_EQ(0, memcmp(d.steps, r.kept.steps, sizeof(d.steps)));
	HI_ASSERT_EQ(1, r.kept.n_unseen);
	HI_ASSERT_EQ(0, memcmp(d.unseen, r.kept.unseen, sizeof(d.unseen)));
	HI_ASSERT_EQ(CENSUSES, r.n_censuses);
	HI_ASSERT_EQ(0, memcmp(d.censuses, r.censuses, sizeof(d.censuses)));
	HI_ASSERT_EQ(CENSUSES - 1, r.kept.n_periods);
	for (unsigned t = 1; t < CENSUSES; t++)
		HI_ASSERT_EQ(0, memcmp(&d.censuses[t].period, &r.kept.periods[t - 1],
				       sizeof(r.kept.periods[0])));
	HI_ASSERT_EQ(NAMES, r.n_names);
	for (unsigned i = 0; i < NAMES; i++)
		HI_ASSERT_STREQ(d.names[i], r.names[i]);
	HI_ASSERT_EQ(4096, r.sample_bytes);
	HI_ASSERT_EQ(77, r.memory);
	HI_ASSERT(r.has_costs);
	hi_arena_free(&arena);
}

HI_TEST(snapshot_space, parts_are_read_as_they_were_written)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_space r;
	struct drawn_space d;
	struct hi_arena arena = {};
	struct hi_error err = {};

	draw_space(&d);
	draw_parts(&d);
	HI_ASSERT_OK(read_drawn_space(&d, &arena, &r, &s, &err), &err);
	HI_ASSERT_EQ(PHASES, r.n_phases);
	HI_ASSERT_STREQ("load", r.phases[1].label);
	HI_ASSERT_EQ(90, r.phases[1].from_ns);
	HI_ASSERT(r.phases[1].is_wanted);
	HI_ASSERT_EQ(PARTS, r.n_parts);
	HI_ASSERT_EQ(0, memcmp(d.parts, r.parts, sizeof(d.parts)));
	HI_ASSERT_EQ(STEPS + 1, r.by_part.n_steps);
	HI_ASSERT_EQ(0, memcmp(d.part_steps, r.by_part.steps, sizeof(d.part_steps)));
	HI_ASSERT_EQ(1, r.by_part.n_unseen);
	HI_ASSERT_EQ(CENSUSES - 1, r.by_part.n_periods);
	HI_ASSERT_EQ(2, r.by_part.n_kinds);
	HI_ASSERT_EQ(0, memcmp(d.kinds, r.by_part.kinds, sizeof(d.kinds)));
	hi_arena_free(&arena);
}

HI_TEST(snapshot_space, parts_add_up_to_their_contexts)
{
	static const uint32_t context_of[PARTS] = {2, 0, 0, 1};
	struct hi_space_kept sum;
	struct drawn_space d;
	struct hi_arena arena = {};
	struct hi_error err = {};

	draw_space(&d);
	draw_parts(&d);
	HI_ASSERT_OK(hi_space_kept_by_context(&d.space.by_part, context_of, &arena, &sum,
					      &err),
		     &err);
	HI_ASSERT_EQ(STEPS, sum.n_steps);
	HI_ASSERT_EQ(0, memcmp(d.steps, sum.steps, sizeof(d.steps)));
	HI_ASSERT_EQ(1, sum.n_unseen);
	HI_ASSERT_EQ(0, memcmp(d.unseen, sum.unseen, sizeof(d.unseen)));
	hi_arena_free(&arena);
}

static void expect_refused_space(const struct drawn_space *d, const char *section)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_space r;
	struct hi_arena arena = {};
	struct hi_error err = {};

	HI_ASSERT_STATUS(HI_BAD_DATA, read_drawn_space(d, &arena, &r, &s, &err));
	HI_ASSERT_MSG(strstr(err.text, section) != NULL, "%s, not %s", err.text, section);
	hi_arena_free(&arena);
}

HI_TEST(snapshot_space, what_is_out_of_range_is_refused)
{
	struct drawn_space d;

#define REFUSED(section, change)                                                         \
	draw_space(&d);                                                                  \
	change;                                                                          \
	expect_refused_space(&d, section)
	REFUSED("space.steps", d.steps[0].context = CONTEXTS);
	REFUSED("space.steps", d.steps[1].type = NAMES);
	REFUSED("space.steps", d.steps[2].age = 0);
	REFUSED("space.steps", d.steps[3].age = CENSUSES);
	REFUSED("space.steps", d.steps[1].age = 1);
	REFUSED("space.unseen", d.unseen[0].context = CONTEXTS);
	REFUSED("space.censuses", d.censuses[2].at_ns = 99);
	REFUSED("space.censuses", d.space.n_censuses = 0);
#undef REFUSED
#define REFUSED(section, change)                                                         \
	draw_space(&d);                                                                  \
	draw_parts(&d);                                                                  \
	change;                                                                          \
	expect_refused_space(&d, section)
	REFUSED("space.phases", d.phases[0].from_ns = 91);
	REFUSED("space.parts", d.parts[1].phase = PHASES);
	REFUSED("space.parts", d.parts[2].context = CONTEXTS);
	REFUSED("parts.steps", d.part_steps[4].context = PARTS);
	REFUSED("parts.steps", d.part_steps[4].type = NAMES);
	REFUSED("parts.periods", d.kinds[0].period = 0);
	REFUSED("parts.periods", d.kinds[0].period = CENSUSES);
	REFUSED("parts.periods", d.kinds[1].kind = PHASES);
	REFUSED("parts.unseen", d.part_unseen[0].context = PARTS);
#undef REFUSED
}

HI_TEST(snapshot_space, a_file_without_one_has_none)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_options options = {};
	struct hi_snapshot_space r;
	struct hi_arena arena = {};
	struct hi_error err = {};
	const char *path;
	int fd = memory_file(&path);

	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	HI_ASSERT(!hi_snapshot_has_space(s));
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_snapshot_space(s, CONTEXTS, &arena, &r, &err));
	close(fd);
}

/* Sections whose checksums hold and whose contents are anything. */
HI_TEST(snapshot_space, any_contents_are_refused_or_in_range)
{
	uint64_t state = 7;
	unsigned accepted = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
		HI_GUARD(hi_space_destroy) struct hi_space *space = NULL;
		struct hi_snapshot_space r;
		struct drawn_space d;
		struct hi_arena arena = {};
		struct hi_error err = {};
		unsigned changes = 1 + random_below(&state, 3);

		draw_space(&d);
		while (changes--) {
			size_t at = random_below(&state, sizeof(d.steps) / 4);

			((uint32_t *)d.steps)[at] = random_below(&state, 6);
		}
		if (read_drawn_space(&d, &arena, &r, &s, &err) == HI_OK) {
			HI_ASSERT_OK(hi_space_restore(&r.kept, &space, &err), &err);
			HI_ASSERT_EQ(CENSUSES - 1, hi_space_periods(space));
			accepted++;
		}
		hi_arena_free(&arena);
	}
	HI_ASSERT(accepted > ROUNDS / 20 && accepted < ROUNDS);
}

/* ---- an hour ---- */

enum {
	HOUR = 3600,
	HOUR_CONTEXTS = 5000,
	HOUR_TYPES = 50,
	HOUR_RATE = 50000, /* allocations a second */
	HOUR_SEEN = 500,   /* of them live at the census at the end of their second */
};

/* A block that a census sees is live at so many more of them: half at one, a quarter at
 * two and so on, one in a hundred for up to the whole hour. */
static uint32_t draw_life(uint64_t *state)
{
	uint32_t n = 1;

	if (!random_below(state, 100))
		return 1 + random_below(state, HOUR);
	while (n < 40 && random_below(state, 2))
		n++;
	return n;
}

struct hour {
	struct hour_block {
		struct hi_space_object object;
		uint32_t dies;
	} * blocks;
	size_t n;
	uint64_t state, serial, allocated;
};

static void allocate_in_hour(struct hour *h, struct hi_space *space)
{
	struct hi_space_amount each = {HOUR_RATE / HOUR_CONTEXTS,
				       48ull * HOUR_RATE / HOUR_CONTEXTS,
				       8ull * HOUR_RATE / HOUR_CONTEXTS};
	struct hi_error err;

	for (uint32_t c = 0; c < HOUR_CONTEXTS; c++)
		HI_ASSERT_OK(hi_space_allocated(space, c, &each, &err), &err);
	h->allocated += 48ull * HOUR_RATE;
}

static void begin_blocks(struct hour *h, uint32_t second)
{
	for (unsigned i = 0; i < HOUR_SEEN; i++) {
		uint32_t context = random_below(&h->state, HOUR_CONTEXTS);

		h->serial++;
		h->blocks[h->n++] = (struct hour_block){{.address = h->serial * 48,
							 .serial = h->serial,
							 .context = context,
							 .type = context % HOUR_TYPES,
							 .born = second,
							 .amount = {1, 48, 8},
							 .assumed_overhead = 8},
							second + draw_life(&h->state)};
	}
}

static void end_second(struct hour *h, struct hi_space *space, uint32_t second)
{
	struct hi_error err;
	size_t kept = 0;

	allocate_in_hour(h, space);
	begin_blocks(h, second);
	for (size_t i = 0; i < h->n; i++)
		if (h->blocks[i].dies > second)
			h->blocks[kept++] = h->blocks[i];
	h->n = kept;
	for (size_t i = 0; i < h->n; i++)
		HI_ASSERT_OK(hi_space_see(space, &h->blocks[i].object, &err), &err);
	HI_ASSERT_OK(hi_space_end_period(space, &err), &err);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void keep_hour(const struct hi_space *space, struct hi_arena *arena,
		      struct hi_snapshot_space *ret)
{
	static const char *names[HOUR_TYPES];
	static struct hi_snapshot_space_census censuses[HOUR + 1];
	struct hi_error err;

	*ret = (struct hi_snapshot_space){.names = names, .n_names = HOUR_TYPES};
	HI_ASSERT_OK(hi_space_keep(space, arena, &ret->kept, &err), &err);
	for (unsigned i = 0; i < HOUR_TYPES; i++)
		names[i] = i ? "struct drawn" : "";
	for (unsigned t = 1; t <= HOUR; t++)
		censuses[t] = (struct hi_snapshot_space_census){
			.at_ns = t * 1000000000ull, .period = ret->kept.periods[t - 1]};
	ret->censuses = censuses;
	ret->n_censuses = HOUR + 1;
}

static uint64_t size_of_sums(const struct hi_space *space)
{
	static uint32_t site[HOUR_CONTEXTS], function[HOUR_CONTEXTS];
	struct hi_space_sites sites = {site, HOUR_CONTEXTS, function, HOUR_CONTEXTS,
				       NULL};
	struct hi_space_result rows;
	struct hi_error err;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < HOUR_CONTEXTS; i++) {
		site[i] = i;
		function[i] = i / 5;
	}
	HI_ASSERT_OK(hi_space_result(space, &sites, &rows, &err), &err);
	for (size_t i = 0; i < rows.n_rows; i++)
		sum += hi_space_at_age(&rows.rows[i], 0).size;
	hi_space_result_free(&rows);
	return sum;
}

/* 50,000 allocations a second from 5,000 contexts, of which 500 live until the census;
 * about 10,000 blocks are live. */
static struct hi_space *live_hour(struct hour *h)
{
	struct hi_space *space = NULL;
	struct hi_error err;

	*h = (struct hour){.blocks = malloc(2000000 * sizeof(*h->blocks)), .state = 5};
	HI_ASSERT(h->blocks);
	hi_test_defer(free, h->blocks);
	HI_ASSERT_OK(hi_space_create(&space, &err), &err);
	for (uint32_t second = 1; second <= HOUR; second++)
		end_second(h, space, second);
	return space;
}

/* The bound is of SPEC, on a slow machine. */
HI_TEST_SLOW(snapshot_space, an_hour_is_read_in_a_second)
{
	HI_GUARD(hi_space_destroy) struct hi_space *space = NULL, *restored = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_snapshot_space kept, read;
	struct hi_arena arena = {};
	struct hi_error err = {};
	double begun = seconds_now(), followed, saved, loaded;
	int fd = memfd_create("hour", MFD_CLOEXEC);
	struct hour h;

	space = live_hour(&h);
	followed = seconds_now();
	keep_hour(space, &arena, &kept);
	s = write_space(&kept, false, fd);
	saved = seconds_now();
	HI_ASSERT_OK(hi_snapshot_space(s, HOUR_CONTEXTS, &arena, &read, &err), &err);
	HI_ASSERT_OK(hi_space_restore(&read.kept, &restored, &err), &err);
	HI_ASSERT_EQ(h.allocated, size_of_sums(restored));
	loaded = seconds_now();
	hi_test_note("%zu blocks live, %zu steps, %lu bytes of memory; followed in %.2f "
		     "s, written in %.2f s, read and added up in %.2f s; file %ld bytes",
		     h.n, kept.kept.n_steps, (unsigned long)hi_space_memory(space),
		     followed - begun, saved - followed, loaded - saved,
		     (long)lseek(fd, 0, SEEK_END));
	HI_ASSERT_EQ(h.allocated, size_of_sums(space));
	HI_ASSERT(loaded - saved < 1);
	close(fd);
	hi_arena_free(&arena);
}

/* ---- its file ---- */

/* Each context is a function of its own, and there are no objects with a record. */
static enum hi_status put_recording_of_hour(struct hi_snapshot_writer *w, uint32_t n,
					    struct hi_error *err)
{
	static struct hi_context_node nodes[HOUR_CONTEXTS];
	static struct hi_context contexts[HOUR_CONTEXTS];
	static struct hi_context_totals totals[HOUR_CONTEXTS];
	static struct hi_frame_row rows[HOUR_CONTEXTS];
	static uint32_t first[HOUR_CONTEXTS], context[64], thread[64];
	static uint64_t zeros[64], overheads[HOUR_CONTEXTS];
	static char names[HOUR_CONTEXTS][24];
	static const uint32_t threads[] = {7};
	struct hi_births births = {n,	    context, thread, zeros, zeros,
				   threads, 1,	     1000,   2000,  0,
				   0,	    0,	     0,	     0,	    NULL};
	struct hi_recorded recorded = {
		&births,
		{nodes, contexts, HOUR_CONTEXTS, HOUR_CONTEXTS, HOUR_CONTEXTS - 1},
		totals,
		{rows, first, HOUR_CONTEXTS - 1, HOUR_CONTEXTS - 1},
		.overheads = overheads};

	HI_ASSERT(n <= 64);
	for (uint32_t i = 0; i < n; i++)
		context[i] = HI_BIRTH_NONE;
	nodes[0] = (struct hi_context_node){0, HI_FRAME_NONE};
	for (uint32_t i = 1; i < HOUR_CONTEXTS; i++) {
		nodes[i] = (struct hi_context_node){0, i - 1};
		contexts[i] = (struct hi_context){i * 77ull, i, 0};
		snprintf(names[i], sizeof(names[i]), "function_%u", i);
		rows[i - 1] = (struct hi_frame_row){"/bin/app", names[i], "/src/app.c",
						    i * 16,	i,	  0};
		first[i] = i;
	}
	return hi_snapshot_put_births(w, &recorded, err);
}

static void write_hour(const struct hi_snapshot_space *space, int fd)
{
	OWN(graph) *g = drawn_graph_of(3, 30, false);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_snapshot_graph in = {.graph = g, .reach = r, .dominators = d};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {.threads = 1};
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_graph(w, &in, &err), &err);
	HI_ASSERT_OK(put_recording_of_hour(w, g->n_objects, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_space(w, space, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
}

/* Of processor time that commands have taken: others may have the processors. */
static double seconds_of_commands(void)
{
	struct rusage used;

	HI_ASSERT_EQ(0, getrusage(RUSAGE_CHILDREN, &used));
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void remove_hour(void *path)
{
	unlink(path);
}

HI_TEST_SLOW(snapshot_space, the_report_of_an_hour_takes_a_second)
{
	static char path[] = "/tmp/hi-hour-XXXXXX";
	static const char *const options[] = {"--callers", "--bars", "--all", "--json",
					      "--format=mlworks"};
	HI_GUARD(hi_space_destroy) struct hi_space *space = NULL;
	struct hi_snapshot_space kept;
	struct hi_arena arena = {};
	struct hour h;
	int fd = mkstemp(path);

	HI_ASSERT(fd >= 0);
	hi_test_defer(remove_hour, path);
	space = live_hour(&h);
	keep_hour(space, &arena, &kept);
	write_hour(&kept, fd);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		double begun = seconds_of_commands(), took;
		struct hi_command *c = hi_heapinspect("alloc", path, options[i]);

		took = seconds_of_commands() - begun;
		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
		HI_ASSERT(strstr(c->out, "function_4999") || i != 2);
		hi_test_note("alloc FILE %s: %.2f s, %zu bytes", options[i], took,
			     c->out_size);
		/* All tables of all functions are another matter. */
		HI_ASSERT(took < 1 || i >= 2);
	}
	close(fd);
	hi_arena_free(&arena);
}
