/* SPDX-License-Identifier: BSD-2-Clause */
/* Births of objects and their groups, beside what the drawn program itself knows. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/clock.h"
#include "census/events/birth_choice.h"
#include "tests/census/recordings.h"

enum { EVENTS = 400 };
static const uint64_t start_ns = 1000000000;

struct world {
	struct timeline t;
	struct hi_recording *recording;
	struct hi_objects *objects;
	struct hi_births *births;
	struct hi_frames_builder *builder;
	struct hi_frames frames;
	struct hi_context_view contexts;
};

static void end_world(struct world *w)
{
	hi_births_destroy(w->births);
	hi_objects_destroy(w->objects);
	hi_frames_builder_destroy(w->builder);
	hi_recording_destroy(w->recording);
}

static void make_world(struct world *w, uint64_t seed, uint64_t length_ns)
{
	struct hi_error err;

	w->recording = drawn_recording(&w->t, seed, EVENTS);
	w->objects = slot_objects();
	w->builder = drawn_frames(w->recording);
	w->frames = hi_frames_builder_view(w->builder);
	hi_contexts_view(hi_recording_contexts(w->recording), &w->contexts);
	w->births = NULL;
	HI_ASSERT_OK(hi_births_join(w->recording, w->objects, start_ns,
				    start_ns + length_ns, &w->births, &err),
		     &err);
}

/* The block that the program has there, if the object can be it. */
static const struct timeline_block *truth_of(const struct world *w, hi_node object)
{
	int slot = timeline_slot(hi_objects_address(w->objects, object));
	const struct timeline_block *b = &w->t.blocks[slot];

	return b->is_live && !b->is_held && b->size <= slot_usable(slot) ? b : NULL;
}

static void check_birth(const struct world *w, hi_node i)
{
	const struct timeline_block *truth = truth_of(w, i);
	const struct hi_births *b = w->births;

	HI_ASSERT_EQ(truth != NULL, hi_birth_is_known(b, i));
	if (!truth) {
		HI_ASSERT_EQ(HI_BIRTH_NONE, b->context[i]);
		HI_ASSERT_EQ(0, b->size[i] + b->time_ns[i] + b->thread[i]);
		return;
	}
	HI_ASSERT_EQ(truth->stack, w->contexts.contexts[b->context[i]].stack);
	HI_ASSERT_EQ(truth->size, b->size[i]);
	HI_ASSERT_EQ(truth->time_ns - start_ns, b->time_ns[i]);
	HI_ASSERT(b->thread[i] < b->n_threads);
	HI_ASSERT_EQ(truth->tid, b->threads[b->thread[i]]);
}

HI_TEST(census_births, each_object_has_the_record_of_its_block)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct world w;
		uint64_t known = 0, nowhere = 0, large = 0;

		make_world(&w, seed, 1);
		for (hi_node i = 0; i < w.objects->count; i++) {
			check_birth(&w, i);
			known += truth_of(&w, i) != NULL;
		}
		for (int i = 0; i < TIMELINE_SLOTS; i++) {
			bool live = w.t.blocks[i].is_live && !w.t.blocks[i].is_held;

			nowhere += live && !slot_usable(i);
			large += live && slot_usable(i) &&
				 w.t.blocks[i].size > slot_usable(i);
		}
		HI_ASSERT_EQ(known, w.births->joined);
		HI_ASSERT_EQ(nowhere, w.births->without_object);
		HI_ASSERT_EQ(large, w.births->too_large);
		for (uint32_t i = 1; i < w.births->n_threads; i++)
			HI_ASSERT(w.births->threads[i - 1] < w.births->threads[i]);
		end_world(&w);
	}
}

/* Slot 0 is split into three pieces, slot 1 follows as it was. */
HI_TEST(census_births, all_pieces_of_a_block_have_its_record)
{
	OWN(objects) *whole = slot_objects(), *split = NULL;
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = NULL;
	HI_GUARD(hi_births_destroy) struct hi_births *b = NULL;
	const struct hi_subobject piece = {.addr = timeline_address(0) + 16, .size = 16};
	struct hi_event e = {.kind = HI_EVENT_ALLOC,
			     .addr = timeline_address(0),
			     .size = 50,
			     .time_ns = start_ns + 3,
			     .tid = 8};
	struct hi_pools pools = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_split(whole, &piece, 1, &split, &pools, &err), &err);
	hi_pools_free(&pools);
	HI_ASSERT_EQ(whole->count + 2, split->count);
	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	e.addr = timeline_address(0) + 16; /* no block begins at a piece */
	e.size = 57;
	HI_ASSERT_OK(hi_births_join(r, split, start_ns, start_ns, &b, &err), &err);
	for (hi_node i = 0; i < split->count; i++) {
		HI_ASSERT_EQ(i < 3, hi_birth_is_known(b, i));
		HI_ASSERT_EQ(i < 3 ? 50 : 0, b->size[i]);
	}
	HI_ASSERT_EQ(1, b->joined);
	hi_births_destroy(hi_take(b));
	e.addr = timeline_address(0);
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	HI_ASSERT_OK(hi_births_join(r, split, start_ns, start_ns, &b, &err), &err);
	HI_ASSERT(!hi_birth_is_known(b, 0));
	HI_ASSERT_EQ(1, b->too_large);
}

/* Of slots 0 and 1 only the first may hold blocks that begin behind its start. */
HI_TEST(census_births, a_block_may_begin_inside_an_object_whose_start_is_unknown)
{
	OWN(objects) *objects = slot_objects();
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = NULL;
	HI_GUARD(hi_births_destroy) struct hi_births *b = NULL;
	uint64_t unknown = 1;
	struct hi_error err;

	HI_ASSERT(objects->count < 64 && hi_objects_usable(objects, 0) > 24);
	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	for (int slot = 0; slot < 2; slot++) {
		struct hi_event e = {.kind = HI_EVENT_ALLOC,
				     .addr = timeline_address(slot) + 16,
				     .size = 8,
				     .time_ns = start_ns + 3,
				     .tid = 8};

		HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	}
	HI_ASSERT_OK(
		hi_births_join_inside(r, objects, start_ns, start_ns, &unknown, &b, &err),
		&err);
	HI_ASSERT_EQ(1, b->joined);
	HI_ASSERT_EQ(1, b->without_object);
	HI_ASSERT_EQ(8, b->size[0]);
	HI_ASSERT(!hi_birth_is_known(b, 1));
}

/* ---- groups, by what the program knows ---- */

/* Module, function, file and line of the site of a stack; "" without one. */
static void write_site(char text[128], uint64_t hash)
{
	struct hi_event_stack stack = {};
	struct hi_frame_row rows[2], *found = NULL;
	char names[2][32];
	unsigned i = 0;

	text[0] = '\0';
	for (; i < TIMELINE_STACKS && (!i || stack.stack != hash); i++)
		timeline_stack(i, &stack);
	if (!hash || stack.stack != hash || (i - 1 >= 30 && (i - 1) % 2))
		return;
	for (unsigned k = 0; k < stack.n && !found; k++) {
		unsigned n = address_rows(stack.frames[k], rows, names);

		for (unsigned m = 0; m < n && !found; m++)
			if (rows[m].function[0] == 'f' ||
			    (k + 1 == stack.n && m + 1 == n))
				found = &rows[m];
	}
	snprintf(text, 128, "%s|%s|%s|%u|%lx", found->module, found->function,
		 found->file, found->line,
		 found->line ? 0ul : (unsigned long)found->offset);
}

static void write_key_of_object(const struct world *w, hi_node i, enum hi_born_by by,
				uint64_t length_ns, char text[128])
{
	static const uint64_t ends[] = {1, 10, 60, 600, 3600, 86400};
	const struct timeline_block *b = truth_of(w, i);
	uint64_t klass = 0;

	if (!b) {
		strcpy(text, "before");
		return;
	}
	if (by == HI_BORN_BY_SITE) {
		write_site(text, b->stack);
	} else if (by == HI_BORN_BY_CONTEXT) {
		snprintf(text, 128, "%lx", (unsigned long)b->stack);
	} else if (by == HI_BORN_BY_THREAD) {
		snprintf(text, 128, "%u", b->tid);
	} else {
		uint64_t now = start_ns + length_ns;
		uint64_t age = now > b->time_ns ? now - b->time_ns : 0;

		while (klass < 6 && age >= ends[klass] * HI_NS_PER_S)
			klass++;
		snprintf(text, 128, "class %u", (unsigned)klass);
	}
}

static void write_key_of_group(const struct world *w, const struct hi_birth_groups *g,
			       uint32_t group, char text[128])
{
	uint32_t key = g->groups[group].key;
	const struct hi_frame_row *row;

	text[0] = '\0';
	if (group == HI_GROUP_BEFORE) {
		strcpy(text, "before");
	} else if (group == HI_GROUP_OTHER) {
		strcpy(text, "not recorded");
	} else if (group == HI_GROUP_NO_STACK && g->by >= HI_BORN_BY_THREAD) {
		strcpy(text, "nothing is here");
	} else if (g->by == HI_BORN_BY_SITE && group != HI_GROUP_NO_STACK) {
		row = &w->frames.rows[key];
		snprintf(text, 128, "%s|%s|%s|%u|%lx", row->module, row->function,
			 row->file, row->line,
			 row->line ? 0ul : (unsigned long)row->offset);
	} else if (g->by == HI_BORN_BY_CONTEXT) {
		snprintf(text, 128, "%lx",
			 (unsigned long)w->contexts.contexts[key].stack);
	} else if (g->by == HI_BORN_BY_THREAD) {
		snprintf(text, 128, "%u", key);
	} else if (g->by == HI_BORN_BY_AGE) {
		snprintf(text, 128, "class %u", key);
	}
}

/* Sums over the mask by repetition: for each group, all objects. */
static void check_sums(const struct world *w, const struct hi_birth_groups *g,
		       const uint64_t *mask, enum hi_born_by by, uint64_t length_ns)
{
	struct hi_birth_sum *sums = calloc(g->n_groups, sizeof(*sums));
	char key[128], other[128];

	HI_ASSERT(sums);
	hi_test_defer(free, sums);
	hi_birth_groups_sum(g, w->births, w->objects, mask, sums);
	for (uint32_t k = 0; k < g->n_groups; k++) {
		struct hi_birth_sum sum = {.first_ns = UINT64_MAX};

		write_key_of_group(w, g, k, key);
		for (hi_node i = 0; i < w->objects->count; i++) {
			uint64_t at = w->births->time_ns[i];

			write_key_of_object(w, i, by, length_ns, other);
			if ((mask && !hi_bit(mask, i)) || strcmp(key, other) != 0)
				continue;
			sum.objects++;
			sum.bytes += hi_objects_cost(w->objects, i);
			sum.first_ns = at < sum.first_ns ? at : sum.first_ns;
			sum.last_ns = at > sum.last_ns ? at : sum.last_ns;
		}
		HI_ASSERT_MSG(sum.objects == sums[k].objects, "%s: %lu, not %lu", key,
			      (unsigned long)sums[k].objects, (unsigned long)sum.objects);
		HI_ASSERT_EQ(sum.bytes, sums[k].bytes);
		HI_ASSERT_EQ(sum.objects ? sum.first_ns : 0, sums[k].first_ns);
		HI_ASSERT_EQ(sum.last_ns, sums[k].last_ns);
	}
}

static void check_selection(const struct world *w, const struct hi_birth_groups *g)
{
	uint64_t mask[TIMELINE_SLOTS / 64 + 1];
	bool *chosen = calloc(g->n_groups, sizeof(*chosen));

	HI_ASSERT(chosen);
	hi_test_defer(free, chosen);
	for (uint32_t k = 0; k < g->n_groups; k++) {
		memset(mask, 0, sizeof(mask));
		chosen[k] = true;
		hi_birth_groups_select(g, chosen, mask);
		chosen[k] = false;
		for (hi_node i = 0; i < w->objects->count; i++)
			HI_ASSERT_EQ(g->of[i] == k, hi_bit(mask, i));
	}
}

static void check_groups(const struct world *w, enum hi_born_by by, uint64_t length_ns)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *g = NULL;
	const uint64_t some[] = {0x5a5a0ff0123aull};
	struct hi_error err;

	HI_ASSERT_OK(hi_birth_groups_make(w->births, &w->contexts,
					  by == HI_BORN_BY_SITE ? &w->frames : NULL, by,
					  &g, &err),
		     &err);
	HI_ASSERT_EQ(by, g->by);
	check_sums(w, g, NULL, by, length_ns);
	check_sums(w, g, some, by, length_ns);
	check_selection(w, g);
}

HI_TEST(census_births, groups_have_the_objects_that_the_program_says)
{
	for (uint64_t seed = 0; seed < 24; seed++) {
		uint64_t length_ns = (1 + (uint64_t)EVENTS * seed) * HI_NS_PER_S / 4;
		struct world w;

		make_world(&w, seed, length_ns);
		for (int by = HI_BORN_BY_SITE; by <= HI_BORN_BY_AGE; by++)
			check_groups(&w, (enum hi_born_by)by, length_ns);
		end_world(&w);
	}
}

HI_TEST(census_births, several_contexts_share_a_site_and_wrappers_are_none)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *g = NULL;
	unsigned sites = 0, wrapped = 0;
	struct hi_error err;
	struct world w;

	make_world(&w, 3, 1);
	HI_ASSERT_OK(hi_birth_groups_make(w.births, &w.contexts, &w.frames,
					  HI_BORN_BY_SITE, &g, &err),
		     &err);
	for (uint32_t i = 0; i < w.contexts.n_contexts; i++) {
		uint32_t row = hi_context_site(&w.contexts, &w.frames, i);

		sites += row != UINT32_MAX;
		wrapped += row != UINT32_MAX && row > 0 &&
			   w.frames.rows[row - 1].flags ==
				   (HI_FRAME_ALLOCATES | HI_FRAME_INLINED);
	}
	HI_ASSERT(wrapped > 0);
	HI_ASSERT(g->n_groups - HI_GROUPS_FIXED < sites);
	end_world(&w);
}

/* Frames 0 to n - 1, a row each, as one stack: the row that is its site, or its caller.
 */
typedef uint32_t row_of_context(const struct hi_context_view *contexts,
				const struct hi_frames *frames, uint32_t context);
static uint32_t row_of_flags(row_of_context *row_of, const uint32_t *flags, uint32_t n)
{
	struct hi_context_node nodes[8] = {{0, HI_FRAME_NONE}};
	struct hi_frame_row rows[7];
	uint32_t first[8];
	const struct hi_context contexts[] = {{}, {.stack = 1, .node = n}};
	const struct hi_context_view view = {nodes, contexts, n + 1, 2, n};
	const struct hi_frames frames = {rows, first, n, n};

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct hi_frame_row){"", "", "", 0, 0, flags[i]};
		first[i] = i;
		nodes[n - i] = (struct hi_context_node){n - i - 1, i};
	}
	first[n] = n;
	return row_of(&view, &frames, 1);
}

static uint32_t site_of_flags(const uint32_t *flags, uint32_t n)
{
	return row_of_flags(hi_context_site, flags, n);
}

static uint32_t caller_of_flags(const uint32_t *flags, uint32_t n)
{
	return row_of_flags(hi_context_caller, flags, n);
}

HI_TEST(census_births, an_interpreter_allocates_for_the_code_that_it_runs)
{
	enum { A = HI_FRAME_ALLOCATES, I = HI_FRAME_INTERPRETER, S = HI_FRAME_SCRIPT };

	HI_ASSERT_EQ(2, site_of_flags((uint32_t[]){A | I, I, S, I, S, 0}, 6));
	/* An extension calls the interpreter. */
	HI_ASSERT_EQ(2, site_of_flags((uint32_t[]){A | I, I, 0, I, S}, 5));
	HI_ASSERT_EQ(0, site_of_flags((uint32_t[]){0, I, S}, 3));
	/* It runs no code. */
	HI_ASSERT_EQ(1, site_of_flags((uint32_t[]){A | I, I, I, 0}, 4));
}

HI_TEST(census_births, a_caller_is_the_next_function_of_the_program)
{
	enum { A = HI_FRAME_ALLOCATES, I = HI_FRAME_INTERPRETER, S = HI_FRAME_SCRIPT };

	HI_ASSERT_EQ(2, caller_of_flags((uint32_t[]){A, 0, 0, 0}, 4));
	HI_ASSERT_EQ(2, caller_of_flags((uint32_t[]){A, 0, A, 0}, 4));
	HI_ASSERT_EQ(4, caller_of_flags((uint32_t[]){A | I, I, S, I, S, 0}, 6));
	HI_ASSERT_EQ(2, caller_of_flags((uint32_t[]){A | I, I, I, 0}, 4));
	/* There is none, and no site. */
	HI_ASSERT_EQ(UINT32_MAX, caller_of_flags((uint32_t[]){A, 0}, 2));
	HI_ASSERT_EQ(UINT32_MAX, caller_of_flags((uint32_t[]){A, A}, 2));
}

HI_TEST(census_births, out_of_memory_leaves_no_partial_result)
{
	struct world w;
	struct hi_error err;

	make_world(&w, 5, 1);
	for (uint64_t nth = 1;; nth++) {
		struct hi_births *b = NULL;
		struct hi_birth_groups *g = NULL;
		enum hi_status status;

		hi_alloc_fail_once(nth);
		status = hi_births_join(w.recording, w.objects, 0, 1, &b, &err);
		if (status == HI_OK)
			status = hi_birth_groups_make(b, &w.contexts, &w.frames,
						      HI_BORN_BY_SITE, &g, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_NO_MEMORY || (b && g));
		hi_birth_groups_destroy(g);
		hi_births_destroy(b);
		if (status == HI_OK)
			break;
		HI_ASSERT(nth < 100);
	}
	end_world(&w);
}

/* ---- restrictions ---- */

static bool has_name(const struct world *w, uint32_t context, const char *pattern,
		     bool any)
{
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(&w->contexts, context, numbers);
	uint32_t site = hi_context_site(&w->contexts, &w->frames, context);
	bool found = false;

	if (!any)
		return site != UINT32_MAX &&
		       hi_frame_matches(w->frames.rows[site].function, pattern);
	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = w->frames.first[numbers[i]];
		     k < w->frames.first[numbers[i] + 1]; k++)
			found |= hi_frame_matches(w->frames.rows[k].function, pattern);
	return found;
}

static bool is_wanted(const struct world *w, const struct hi_birth_choice *c, hi_node i)
{
	const struct hi_births *b = w->births;
	uint64_t length = b->end_ns - b->start_ns;
	uint64_t age = length > b->time_ns[i] ? length - b->time_ns[i] : 0;

	if (!hi_birth_is_known(b, i))
		return false;
	return (!c->site || has_name(w, b->context[i], c->site, false)) &&
	       (!c->site_any || has_name(w, b->context[i], c->site_any, true)) &&
	       (!c->thread || b->threads[b->thread[i]] == c->thread) &&
	       (!c->age.is_set || (age >= c->age.from_ns && age < c->age.to_ns)) &&
	       (!c->born.is_set ||
		(b->time_ns[i] >= c->born.from_ns && b->time_ns[i] < c->born.to_ns));
}

/* How many are chosen; those that a look at each object finds. */
static size_t check_choice(const struct world *w, const struct hi_birth_choice *c)
{
	uint64_t bits[1024] = {};
	size_t chosen = 0;
	struct hi_error err;

	HI_ASSERT(w->births->n_objects < 64 * 1024);
	HI_ASSERT_OK(hi_births_choose(w->births, &w->contexts, &w->frames, c, bits, &err),
		     &err);
	for (hi_node i = 0; i < w->births->n_objects; i++) {
		HI_ASSERT_EQ(is_wanted(w, c, i), hi_bit(bits, i));
		chosen += hi_bit(bits, i);
	}
	return chosen;
}

/* The site of the first object that has one. */
static const char *some_site(const struct world *w)
{
	for (hi_node i = 0; i < w->births->n_objects; i++) {
		uint32_t row = hi_birth_is_known(w->births, i)
				       ? hi_context_site(&w->contexts, &w->frames,
							 w->births->context[i])
				       : UINT32_MAX;

		if (row != UINT32_MAX)
			return w->frames.rows[row].function;
	}
	return NULL;
}

HI_TEST(census_births, restrictions_equal_a_look_at_each_object)
{
	size_t all, some;
	struct world w;

	make_world(&w, 7, 1000000);
	all = check_choice(&w, &(struct hi_birth_choice){});
	HI_ASSERT_EQ(w.births->joined, all);
	HI_ASSERT(some_site(&w));
	some = check_choice(&w, &(struct hi_birth_choice){.site = some_site(&w)});
	HI_ASSERT(some > 0 && some < all);
	some = check_choice(&w, &(struct hi_birth_choice){.site_any = "*"});
	HI_ASSERT(some > 0 && some <= all);
	some = check_choice(&w,
			    &(struct hi_birth_choice){.thread = w.births->threads[0]});
	HI_ASSERT(some > 0 && some < all);
	some = check_choice(
		&w, &(struct hi_birth_choice){
			    .born = {true, w.births->time_ns[0] / 2, UINT64_MAX}});
	HI_ASSERT(some <= all);
	(void)check_choice(&w, &(struct hi_birth_choice){.age = {true, 0, 500}});
	end_world(&w);
}

static size_t choose_site(const struct world *w, const char *site, uint64_t *bits)
{
	struct hi_birth_choice choice = {.site = site};
	size_t n = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_births_choose(w->births, &w->contexts, &w->frames, &choice, bits,
				      &err),
		     &err);
	for (hi_node i = 0; i < w->births->n_objects; i++)
		n += hi_bit(bits, i);
	return n;
}

/* Another one that a site has. */
static const struct hi_frame_row *other_site(const struct world *w, const char *than)
{
	for (hi_node i = 0; i < w->births->n_objects; i++) {
		uint32_t row = hi_birth_is_known(w->births, i)
				       ? hi_context_site(&w->contexts, &w->frames,
							 w->births->context[i])
				       : UINT32_MAX;

		if (row != UINT32_MAX && w->frames.rows[row].line &&
		    strcmp(w->frames.rows[row].function, than) != 0)
			return &w->frames.rows[row];
	}
	return NULL;
}

HI_TEST(census_births, a_list_of_functions_chooses_what_each_of_them_allocated)
{
	uint64_t a[1024] = {}, b[1024] = {}, both[1024] = {};
	char list[300];
	struct world w;
	size_t n;

	make_world(&w, 7, 1000000);
	HI_ASSERT(other_site(&w, some_site(&w)));
	snprintf(list, sizeof(list), "%s,%s", some_site(&w),
		 other_site(&w, some_site(&w))->function);
	n = choose_site(&w, some_site(&w), a) +
	    choose_site(&w, other_site(&w, some_site(&w))->function, b);
	HI_ASSERT_EQ(n, choose_site(&w, list, both));
	for (size_t i = 0; i < 1024; i++)
		HI_ASSERT_EQ(a[i] | b[i], both[i]);
	end_world(&w);
}

HI_TEST(census_births, line_and_module_select_allocations_made_there)
{
	uint64_t lines[1024] = {}, modules[1024] = {};
	const struct hi_frame_row *row;
	char place[300];
	struct world w;

	make_world(&w, 7, 1000000);
	row = other_site(&w, "");
	HI_ASSERT(row);
	snprintf(place, sizeof(place), "%s:%u", row->file, row->line);
	(void)choose_site(&w, place, lines);
	snprintf(place, sizeof(place), "@%s", row->module);
	(void)choose_site(&w, place, modules);
	for (hi_node i = 0; i < w.births->n_objects; i++) {
		uint32_t site = hi_birth_is_known(w.births, i)
					? hi_context_site(&w.contexts, &w.frames,
							  w.births->context[i])
					: UINT32_MAX;
		const struct hi_frame_row *at =
			site == UINT32_MAX ? NULL : &w.frames.rows[site];

		HI_ASSERT_EQ(at && at->line == row->line &&
				     strcmp(at->file, row->file) == 0,
			     hi_bit(lines, i));
		HI_ASSERT_EQ(at && strcmp(at->module, row->module) == 0,
			     hi_bit(modules, i));
	}
	end_world(&w);
}

HI_TEST(census_births, groups_by_module_have_the_sums_of_its_sites)
{
	struct hi_birth_groups *groups = NULL;
	struct hi_error err;
	struct world w;

	make_world(&w, 7, 1000000);
	HI_ASSERT_OK(hi_birth_groups_make(w.births, &w.contexts, &w.frames,
					  HI_BORN_BY_MODULE, &groups, &err),
		     &err);
	for (hi_node i = 0; i < w.births->n_objects; i++) {
		uint32_t row = hi_birth_is_known(w.births, i)
				       ? hi_context_site(&w.contexts, &w.frames,
							 w.births->context[i])
				       : UINT32_MAX;

		if (row == UINT32_MAX)
			continue;
		HI_ASSERT_STREQ(w.frames.rows[row].module,
				w.frames.rows[groups->groups[groups->of[i]].key].module);
	}
	for (uint32_t i = HI_GROUPS_FIXED; i < groups->n_groups; i++)
		for (uint32_t k = HI_GROUPS_FIXED; k < i; k++)
			HI_ASSERT(strcmp(w.frames.rows[groups->groups[i].key].module,
					 w.frames.rows[groups->groups[k].key].module) !=
				  0);
	hi_birth_groups_destroy(groups);
	end_world(&w);
}

HI_TEST(census_births, restriction_to_an_unknown_name_is_an_error)
{
	uint64_t bits[1024] = {};
	struct hi_error err;
	struct world w;

	make_world(&w, 7, 1000000);
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_births_choose(w.births, &w.contexts, &w.frames,
				      &(struct hi_birth_choice){.site = "no such"}, bits,
				      &err));
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_births_choose(w.births, &w.contexts, &w.frames,
				      &(struct hi_birth_choice){.thread = 4000000000u},
				      bits, &err));
	end_world(&w);
}
