/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that are cut, flipped or made up: refused by name, or read as they were. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <xxhash.h>

#include "census/events/birth_groups.h"
#include "census/snapshot/snapshot_format.h"
#include "tests/census/snapshots.h"

/* A snapshot as bytes, and a file to put other bytes into. */
struct bench {
	uint8_t *bytes, *changed;
	size_t size;
	int fd;
	const char *path;
	uint64_t sum; /* of all that was read from it whole */
};

static void give_back(struct bench *b)
{
	close(b->fd);
	free(b->bytes);
	free(b->changed);
}

static void mix(uint64_t *sum, const void *bytes, size_t size)
{
	*sum = XXH3_64bits_withSeed(bytes, size, *sum);
}

static void mix_text(uint64_t *sum, const char *text)
{
	mix(sum, text, strlen(text) + 1);
}

static void mix_graph(const struct hi_snapshot *s, const struct hi_graph *g,
		      const struct hi_reach *r, const struct hi_dominators *d,
		      uint64_t *sum)
{
	size_t words = ((size_t)g->n_nodes + 63) / 64;
	char buffer[HI_EDGE_TEXT];

	for (uint32_t i = 0; i < g->n_types; i++)
		mix_text(sum, g->types[i].name);
	for (uint32_t i = 0; i < g->n_roots; i++)
		mix_text(sum, g->roots[i].name);
	for (hi_node i = 0; i < g->n_nodes; i++) {
		struct hi_edges e = hi_graph_edges(g, i);
		uint64_t cost = hi_graph_cost(g, i);

		mix(sum, &cost, sizeof(cost));
		mix(sum, e.to, e.count * sizeof(*e.to));
		mix(sum, e.grade, e.count);
		for (uint32_t k = 0; k < e.count; k++)
			mix_text(sum, hi_snapshot_label(s, g, i, k, buffer));
		mix(sum, &d->retained[i], 8);
		mix(sum, &d->idom[i], 4);
	}
	mix(sum, g->objects->type, g->n_objects * sizeof(uint32_t));
	mix(sum, g->objects->flags, g->n_objects);
	mix(sum, r->any, words * 8);
	mix(sum, r->exact, words * 8);
	mix(sum, &r->live_bytes, 8);
	mix(sum, &r->leak_bytes, 8);
}

static void mix_births(const struct hi_recorded *r, uint64_t *sum)
{
	const struct hi_births *b = r->births;
	uint32_t frames[HI_STACK_FRAMES];

	mix(sum, b->context, b->n_objects * sizeof(*b->context));
	mix(sum, b->thread, b->n_objects * sizeof(*b->thread));
	mix(sum, b->time_ns, b->n_objects * sizeof(*b->time_ns));
	mix(sum, b->size, b->n_objects * sizeof(*b->size));
	mix(sum, b->threads, b->n_threads * sizeof(*b->threads));
	mix(sum, &b->start_ns, 5 * 8);
	mix(sum, &r->counts, sizeof(r->counts));
	mix(sum, r->totals, r->contexts.n_contexts * sizeof(*r->totals));
	for (uint32_t i = 0; i < r->contexts.n_contexts; i++) {
		unsigned n = hi_context_frames(&r->contexts, i, frames);

		mix(sum, &r->contexts.contexts[i], sizeof(struct hi_context));
		mix(sum, frames, n * sizeof(*frames));
		for (unsigned k = 0; k < n; k++)
			mix_text(sum,
				 r->frames.rows[r->frames.first[frames[k]]].function);
	}
}

static bool mix_events(struct hi_snapshot *s, const struct hi_recorded *r, uint64_t *sum,
		       struct hi_error *err)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_stored_events stored = {};
	HI_GUARD(hi_stored_events_free) struct hi_stored_events *owned = &stored;
	uint32_t n = 0;

	mix(sum, &r->event_counts, sizeof(r->event_counts));
	if (hi_snapshot_events(s, r->contexts.n_contexts, owned, err) != HI_OK)
		return false;
	for (uint64_t i = 0; i < stored.list.n_blocks; i++) {
		if (hi_stored_events_read(&stored, i, events, &n, err) != HI_OK)
			return false;
		mix(sum, events, n * sizeof(*events));
		for (uint32_t k = 0; k < n; k++) {
			HI_ASSERT(events[k].thread < stored.list.bounds.n_threads);
			HI_ASSERT(events[k].context < r->contexts.n_contexts);
			mix(sum, &stored.threads[events[k].thread], 4);
		}
	}
	return true;
}

/* All that a reader can ask; false: refused. */
static bool read_all(const char *path, uint64_t *sum, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	HI_GUARD(hi_recorded_destroy) struct hi_recorded *recorded = NULL;
	const uint32_t *used = NULL;

	*sum = 0;
	if (hi_snapshot_open(path, &s, err) != HI_OK ||
	    hi_snapshot_graph(s, &g, err) != HI_OK ||
	    hi_snapshot_open_labels(s, err) != HI_OK ||
	    hi_snapshot_reach(s, g, &r, err) != HI_OK ||
	    hi_snapshot_dominators(s, g, &d, err) != HI_OK ||
	    hi_snapshot_used(s, &used, err) != HI_OK ||
	    hi_snapshot_births(s, g->n_objects, &recorded, err) != HI_OK)
		return false;
	mix_births(recorded, sum);
	if (!mix_events(s, recorded, sum, err))
		return false;
	HI_ASSERT(hi_graph_is_valid(g));
	mix_graph(s, g, r, d, sum);
	if (used)
		mix(sum, used, g->n_objects * sizeof(*used));
	mix_text(sum, hi_snapshot_text(s, "exe", ""));
	return true;
}

static void set_up(struct bench *b, uint32_t n, bool compress)
{
	OWN(graph) *g = drawn_graph(3, n);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	HI_ASSERT_OK(try_write(fd, g, r, d, compress, &err), &err);
	*b = (struct bench){.size = (size_t)lseek(fd, 0, SEEK_END)};
	b->bytes = malloc(b->size);
	b->changed = malloc(b->size);
	HI_ASSERT(b->bytes && b->changed &&
		  pread(fd, b->bytes, b->size, 0) == (ssize_t)b->size);
	b->fd = memory_file(&b->path);
	hi_test_defer(give_back, b);
	HI_ASSERT_MSG(read_all(path, &b->sum, &err), "%s", err.text);
	close(fd);
}

static void put(struct bench *b, const uint8_t *bytes, size_t size)
{
	HI_ASSERT(ftruncate(b->fd, 0) == 0 &&
		  pwrite(b->fd, bytes, size, 0) == (ssize_t)size);
}

static void check_every_cut(bool compress)
{
	static struct bench both[2];
	struct bench *b = &both[compress];
	uint64_t sum;
	struct hi_error err;

	set_up(b, 12, compress);
	for (size_t size = 0; size < b->size; size++) {
		put(b, b->bytes, size);
		HI_ASSERT_MSG(!read_all(b->path, &sum, &err), "%zu of %zu bytes", size,
			      b->size);
		HI_ASSERT_MSG(strstr(err.text, "section ") || strstr(err.text, "header"),
			      "%s", err.text);
	}
}

HI_TEST(census_snapshot_damage, every_cut_is_refused_and_names_a_section)
{
	check_every_cut(false);
	check_every_cut(true);
}

HI_TEST(census_snapshot_damage, what_follows_the_end_is_refused)
{
	static struct bench b;
	uint64_t sum;
	struct hi_error err;

	set_up(&b, 12, false);
	put(&b, b.bytes, b.size);
	HI_ASSERT(pwrite(b.fd, "x", 1, (off_t)b.size) == 1);
	HI_ASSERT(!read_all(b.path, &sum, &err));
}

/* Cut, and written over, by somebody else while it is open: an error, no signal, and
 * what was read before stays what it was. */
HI_TEST(census_snapshot_damage, a_file_that_is_cut_while_it_is_open_is_refused)
{
	static struct bench b;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL, *whole = drawn_graph(3, 6000);
	OWN(dominators) *d = NULL;
	OWN(reach) *r = NULL;
	struct hi_error err;

	set_up(&b, 6000, false);
	put(&b, b.bytes, b.size);
	HI_ASSERT_OK(hi_snapshot_open(b.path, &s, &err), &err);
	HI_ASSERT_OK(hi_snapshot_graph(s, &g, &err), &err);
	memset(b.changed, 0xa5, b.size);
	HI_ASSERT(pwrite(b.fd, b.changed, b.size, 0) == (ssize_t)b.size);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshot_reach(s, g, &r, &err));
	HI_ASSERT_MSG(strstr(err.text, "section reach.any: damaged"), "%s", err.text);
	HI_ASSERT(ftruncate(b.fd, HI_SNAPSHOT_FIRST) == 0);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshot_dominators(s, g, &d, &err));
	HI_ASSERT_MSG(strstr(err.text, "cut while it was read"), "%s", err.text);
	HI_ASSERT(hi_graph_is_valid(g));
	HI_ASSERT_EQ(whole->n_edges, g->n_edges);
	for (hi_node i = 0; i < g->n_objects; i++)
		HI_ASSERT_EQ(hi_objects_address(whole->objects, i),
			     hi_objects_address(g->objects, i));
}

static void check_flips(bool compress, unsigned n)
{
	static struct bench both[2];
	struct bench *b = &both[compress];
	uint64_t state = 99, sum;
	unsigned refused = 0;
	struct hi_error err;

	set_up(b, 60, compress);
	memcpy(b->changed, b->bytes, b->size);
	for (unsigned i = 0; i < n; i++) {
		size_t at = random_below(&state, (uint32_t)b->size);
		uint8_t bit = (uint8_t)(1u << random_below(&state, 8));
		uint8_t was = b->changed[at];

		b->changed[at] ^= bit;
		put(b, b->changed, b->size);
		if (read_all(b->path, &sum, &err))
			HI_ASSERT_MSG(sum == b->sum, "byte %zu: silently different", at);
		else
			refused++;
		b->changed[at] = was;
	}
	hi_test_note("%u of %u flips refused, in %zu bytes", refused, n, b->size);
	HI_ASSERT(refused > n / 2);
}

HI_TEST(census_snapshot_damage, flipped_bits_are_refused_or_were_padding)
{
	check_flips(false, 7000);
	check_flips(true, 3000);
}

/* Who makes up a file makes up its checksums, too. */
static void sign(uint8_t *file)
{
	struct hi_snapshot_header *h = (void *)file;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		e[i].hash = XXH3_64bits(file + e[i].offset, e[i].stored);
	h->directory_hash = XXH3_64bits(e, h->n_sections * sizeof(*e));
	h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
}

static void use_births(const struct hi_recorded *r, const struct hi_objects *objects)
{
	struct hi_error err;

	for (int by = HI_BORN_BY_SITE; by <= HI_BORN_BY_AGE; by++) {
		HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *g = NULL;
		struct hi_birth_sum *sums;
		uint64_t objects_in_groups = 0;

		HI_ASSERT_OK(hi_birth_groups_make(r->births, &r->contexts, &r->frames,
						  (enum hi_born_by)by, &g, &err),
			     &err);
		sums = calloc(g->n_groups, sizeof(*sums));
		HI_ASSERT(sums);
		hi_birth_groups_sum(g, r->births, objects, NULL, sums);
		for (uint32_t i = 0; i < g->n_groups; i++)
			objects_in_groups += sums[i].seen_objects;
		free(sums);
		HI_ASSERT_EQ(objects->count, objects_in_groups);
	}
}

/* Whatever was accepted: nothing that goes over it may crash or run for ever. */
static void use(const char *path)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(leaks) *leaks = NULL;
	OWN(census) *census = NULL;
	OWN(suspects) *suspects = NULL;
	OWN(paths) *paths = NULL;
	HI_GUARD(hi_recorded_destroy) struct hi_recorded *recorded = NULL;
	hi_node target = 0;
	uint64_t sum = 0;
	struct hi_error err;

	if (hi_snapshot_open(path, &s, &err) != HI_OK ||
	    hi_snapshot_graph(s, &g, &err) != HI_OK ||
	    hi_snapshot_reach(s, g, &r, &err) != HI_OK ||
	    hi_snapshot_dominators(s, g, &d, &err) != HI_OK)
		return;
	(void)hi_leaks_compute(g, r, NULL, &leaks, &err);
	(void)hi_census_by_type(g, r, d, &census, &err);
	(void)hi_suspects_find(g, r, d, 0.2, NULL, &suspects, &err);
	if (g->n_objects)
		(void)hi_paths_find(g, r, &target, 1, 3, &paths, &err);
	if (hi_snapshot_births(s, g->n_objects, &recorded, &err) == HI_OK)
		use_births(recorded, g->objects);
	if (recorded)
		(void)mix_events(s, recorded, &sum, &err);
}

static const uint64_t wicked[] = {
	0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX};

HI_TEST(census_snapshot_damage, made_up_numbers_under_good_checksums_hurt_nobody)
{
	static struct bench b;
	uint64_t state = 4711, sum;
	unsigned accepted = 0;
	struct hi_error err;

	set_up(&b, 60, false);
	for (unsigned i = 0; i < 6000; i++) {
		struct hi_snapshot_header *h = (void *)b.changed;
		struct hi_snapshot_section *e = (void *)(h + 1);
		uint64_t value = wicked[random_below(&state, 11)];
		size_t width = 1u << random_below(&state, 4);
		uint32_t n;

		memcpy(b.changed, b.bytes, b.size);
		n = random_below(&state, h->n_sections);
		if (e[n].stored < width)
			continue;
		memcpy(b.changed + e[n].offset +
			       random_below(&state, (uint32_t)(e[n].stored / width)) *
				       width,
		       &value, width);
		sign(b.changed);
		put(&b, b.changed, b.size);
		if (read_all(b.path, &sum, &err)) {
			accepted++;
			use(b.path);
		} else {
			HI_ASSERT_MSG(strstr(err.text, "section "), "%s", err.text);
		}
	}
	hi_test_note("%u accepted", accepted);
}

static struct hi_snapshot_section *section_of(uint8_t *file, const char *name)
{
	struct hi_snapshot_header *h = (void *)file;
	struct hi_snapshot_section *e = (void *)(h + 1);

	for (uint32_t i = 0; i < h->n_sections; i++)
		if (strcmp(e[i].name, name) == 0)
			return &e[i];
	hi_test_fail(__FILE__, __LINE__, "no section %s", name);
}

/* One item of a section made `value`: what is said of the file; "" taken. */
static const char *said_of(struct bench *b, const char *section, uint32_t value)
{
	static struct hi_error err;
	uint64_t sum;

	memcpy(b->changed, b->bytes, b->size);
	memcpy(b->changed + section_of(b->changed, section)->offset, &value, 4);
	sign(b->changed);
	put(b, b->changed, b->size);
	return read_all(b->path, &sum, &err) ? "" : err.text;
}

/* Names of edges are numbers of several kinds: each has its end. */
HI_TEST(census_snapshot_damage, names_of_edges_that_name_nothing_are_refused)
{
	static const char *const columns[] = {"edges.name", "roots.name"};
	static struct bench b;
	uint32_t strings, tails;

	set_up(&b, 600, false);
	strings = (uint32_t)section_of(b.bytes, "strings")->size;
	tails = (uint32_t)section_of(b.bytes, "edges.tail")->size / 4;
	HI_ASSERT(tails > 10);
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t wild[] = {strings, 0x7fffffff,
					 HI_SNAPSHOT_TAILED +
						 (tails << HI_SNAPSHOT_TAIL_SHIFT)};
		const uint32_t good[] = {strings - 1, 0x80000000, 0x9fffffff, 0xbfffffff,
					 0xc0ffffff};

		for (unsigned k = 0; k < 3; k++)
			if (wild[k]) /* of 64 tails there is none behind the last */
				HI_ASSERT_MSG(strstr(said_of(&b, columns[i], wild[k]),
						     columns[i]),
					      "%s: %#x", columns[i], wild[k]);
		for (unsigned k = 0; k < 5; k++)
			HI_ASSERT_STREQ("", said_of(&b, columns[i], good[k]));
	}
	HI_ASSERT(strstr(said_of(&b, "edges.tail", strings), "section edges.tail"));
	HI_ASSERT(strstr(said_of(&b, "edges.tail", UINT32_MAX), "section edges.tail"));
}

/* Numbers in the sections of a recording: each refers to something, or is refused. */
HI_TEST(census_snapshot_damage, births_that_refer_to_nothing_are_refused)
{
	static const struct {
		const char *section;
		uint32_t bad, good;
	} columns[] = {{"births.context", 3, 2},
		       {"births.thread", 2, 1},
		       {"births.threads", 4000, 3999},
		       {"contexts.totals", 4, 6},
		       {"contexts.stacks", 1, 0},
		       {"frames", UINT32_MAX, 0},
		       {"recording.marks", 21, 20},
		       {"marks.totals", 3, 2},
		       {"pauses", 9, 8}};
	static struct bench b;

	set_up(&b, 60, false);
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		const char *section = columns[i].section;
		const char *said = said_of(&b, section, columns[i].bad);

		HI_ASSERT_MSG(strstr(said, strcmp(section, "contexts.stacks") == 0
						   ? "section contexts"
						   : section),
			      "%s: %s", section, said);
		HI_ASSERT_STREQ("", said_of(&b, section, columns[i].good));
	}
	HI_ASSERT(strstr(said_of(&b, "contexts", 1), "section contexts: not a tree"));
}

/* A number of samples of time whose sum might be too large, and a column that is short or
 * missing: only the last is one of an earlier version. */
HI_TEST(census_snapshot_damage, samples_of_time_are_checked)
{
	static struct bench b;
	struct hi_snapshot_section *section;
	uint64_t sum, many = (1ull << 40) + 1;
	struct hi_error err;

	set_up(&b, 60, false);
	memcpy(b.changed, b.bytes, b.size);
	section = section_of(b.changed, "contexts.ticks");
	memcpy(b.changed + section->offset, &many, sizeof(many));
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT(!read_all(b.path, &sum, &err));
	HI_ASSERT_MSG(strstr(err.text, "section contexts.ticks: row 0"), "%s", err.text);
	memcpy(b.changed, b.bytes, b.size);
	section = section_of(b.changed, "contexts.ticks");
	section->size = section->stored = 16;
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT(!read_all(b.path, &sum, &err));
	HI_ASSERT_MSG(strstr(err.text, "section contexts.ticks: 2 rows"), "%s", err.text);
	memcpy(b.changed, b.bytes, b.size);
	strcpy(section_of(b.changed, "contexts.ticks")->name, "other");
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT_MSG(read_all(b.path, &sum, &err), "%s", err.text);
}

/* The same of calls that failed, and of moved blocks. */
HI_TEST(census_snapshot_damage, ports_are_checked)
{
	static struct bench b;
	struct hi_snapshot_section *section;
	uint64_t sum, many = (1ull << 40) + 1;
	struct hi_error err;

	set_up(&b, 60, false);
	for (int i = 0; i < 2; i++) {
		memcpy(b.changed, b.bytes, b.size);
		section = section_of(b.changed, "contexts.ports");
		memcpy(b.changed + section->offset + 16 + 8 * i, &many, sizeof(many));
		sign(b.changed);
		put(&b, b.changed, b.size);
		HI_ASSERT(!read_all(b.path, &sum, &err));
		HI_ASSERT_MSG(strstr(err.text, "section contexts.ports: row 1"), "%s",
			      err.text);
	}
	memcpy(b.changed, b.bytes, b.size);
	section = section_of(b.changed, "contexts.ports");
	section->size = section->stored = 16;
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT(!read_all(b.path, &sum, &err));
	HI_ASSERT_MSG(strstr(err.text, "section contexts.ports: 1 rows"), "%s", err.text);
	memcpy(b.changed, b.bytes, b.size);
	strcpy(section_of(b.changed, "contexts.ports")->name, "other");
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT_MSG(read_all(b.path, &sum, &err), "%s", err.text);
}

HI_TEST(census_snapshot_damage, tails_that_are_not_there_are_refused)
{
	static struct bench b;
	uint64_t sum;
	struct hi_error err;

	set_up(&b, 600, false);
	memcpy(b.changed, b.bytes, b.size);
	strcpy(section_of(b.changed, "edges.tail")->name, "other");
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT(!read_all(b.path, &sum, &err));
	HI_ASSERT_MSG(strstr(err.text, "section edges.name"), "%s", err.text);
	memcpy(b.changed, b.bytes, b.size);
	section_of(b.changed, "edges.tail")->size =
		section_of(b.changed, "edges.tail")->stored = 4;
	sign(b.changed);
	put(&b, b.changed, b.size);
	HI_ASSERT(!read_all(b.path, &sum, &err));
	HI_ASSERT_MSG(strstr(err.text, "section edges.name"), "%s", err.text);
}

HI_TEST(census_snapshot_damage, made_up_directories_hurt_nobody)
{
	static struct bench b;
	uint64_t state = 31, sum;
	struct hi_error err;

	set_up(&b, 30, true);
	for (unsigned i = 0; i < 6000; i++) {
		struct hi_snapshot_header *h = (void *)b.changed;
		struct hi_snapshot_section *e = (void *)(h + 1);
		uint64_t value =
			wicked[random_below(&state, 11)] + random_below(&state, 3);
		uint32_t n;

		memcpy(b.changed, b.bytes, b.size);
		n = random_below(&state, h->n_sections);
		memcpy((uint8_t *)&e[n] + 4 * random_below(&state, 15), &value, 4);
		h->directory_hash = XXH3_64bits(e, h->n_sections * sizeof(*e));
		h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
		put(&b, b.changed, b.size);
		if (read_all(b.path, &sum, &err))
			use(b.path);
	}
}

/* Also where the sum of place and size is small again. */
HI_TEST(census_snapshot_damage, sections_beyond_the_end_are_refused)
{
	static struct bench b;
	uint64_t sum, n;
	struct hi_error err;

	set_up(&b, 30, true);
	n = ((const struct hi_snapshot_header *)b.bytes)->n_sections;
	for (uint64_t i = 0; i < 3 * n; i++) {
		struct hi_snapshot_header *h = (void *)b.changed;
		struct hi_snapshot_section *e = (void *)(h + 1);
		const uint64_t beyond[3] = {b.size + HI_SNAPSHOT_ALIGN, 1ull << 40,
					    -(uint64_t)2 * HI_SNAPSHOT_ALIGN};

		memcpy(b.changed, b.bytes, b.size);
		e[i / 3].offset = beyond[i % 3] / HI_SNAPSHOT_ALIGN * HI_SNAPSHOT_ALIGN;
		h->directory_hash = XXH3_64bits(e, h->n_sections * sizeof(*e));
		h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
		put(&b, b.changed, b.size);
		HI_ASSERT(!read_all(b.path, &sum, &err));
		HI_ASSERT_MSG(strstr(err.text, "cut: the file has"), "%s", err.text);
	}
}

HI_TEST(census_snapshot_damage, other_files_and_newer_versions_are_told_apart)
{
	static struct bench b;
	struct hi_snapshot_header *h;
	struct hi_snapshot *s = NULL;
	struct hi_error err;

	set_up(&b, 12, false);
	memset(b.changed, 'x', b.size);
	put(&b, b.changed, b.size);
	HI_ASSERT(!hi_snapshot_is_one(b.path));
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshot_open(b.path, &s, &err));
	HI_ASSERT(strstr(err.text, "not a snapshot"));
	memcpy(b.changed, b.bytes, b.size);
	h = (void *)b.changed;
	h->major = HI_SNAPSHOT_MAJOR + 1;
	h->hash = XXH3_64bits(h, offsetof(struct hi_snapshot_header, hash));
	put(&b, b.changed, b.size);
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_snapshot_open(b.path, &s, &err));
	HI_ASSERT(strstr(err.text, "version 2"));
	HI_ASSERT_STATUS(HI_OS, hi_snapshot_open("/nonexistent", &s, &err));
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_snapshot_open("/tmp", &s, &err));
}

/* A disk that is full after any number of bytes: an error, and no snapshot. */
HI_TEST(census_snapshot_damage, a_full_disk_leaves_nothing_that_is_taken_for_a_snapshot)
{
	OWN(graph) *g = drawn_graph(3, 300);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	static struct bench b;
	pid_t pid;
	int status;

	set_up(&b, 300, false);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		for (size_t most = 0; most < b.size; most += 97) {
			struct rlimit limit = {most, RLIM_INFINITY};
			struct hi_error err;

			if (ftruncate(b.fd, 0) != 0 ||
			    setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
			    try_write(b.fd, g, r, d, false, &err) != HI_OS ||
			    err.os_errno != EFBIG || hi_snapshot_is_one(b.path))
				_exit(1);
		}
		_exit(0);
	}
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_EQ(0, status);
}
