/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/birth_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/vector.h"

static const struct {
	uint64_t end_ns;
	const char *name;
} age_classes[HI_AGE_CLASSES] = {
	{1 * HI_NS_PER_S, "below 1 s"},	       {10 * HI_NS_PER_S, "1 s to 10 s"},
	{60 * HI_NS_PER_S, "10 s to 1 min"},   {600 * HI_NS_PER_S, "1 min to 10 min"},
	{3600 * HI_NS_PER_S, "10 min to 1 h"}, {86400 * HI_NS_PER_S, "1 h to 1 day"},
	{UINT64_MAX, "1 day and more"},
};

const char *hi_age_class_name(uint32_t klass)
{
	return klass < HI_AGE_CLASSES ? age_classes[klass].name : "";
}

/* ---- sites ---- */

static bool has_script(const struct hi_frames *frames, const uint32_t *numbers,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (numbers[i] < frames->n_frames &&
		    frames->rows[frames->first[numbers[i]]].flags & HI_FRAME_SCRIPT)
			return true;
	return false;
}

/* The first row that has none of the flags, from *row of frame *at on, which are then its
 * place. False: there is none. */
static bool find_frame_row(const struct hi_frames *frames, const uint32_t *numbers,
			   unsigned n, uint32_t passed, unsigned *at, uint32_t *row)
{
	for (; *at < n; ++*at, *row = 0) {
		uint32_t frame = numbers[*at];

		if (frame >= frames->n_frames)
			continue;
		for (; frames->first[frame] + *row < frames->first[frame + 1]; ++*row)
			if (!(frames->rows[frames->first[frame] + *row].flags & passed))
				return true;
	}
	return false;
}

/* The outermost, of a stack whose functions all allocate for their callers. */
static uint32_t last_frame_row(const struct hi_frames *frames, const uint32_t *numbers,
			       unsigned n)
{
	while (n-- > 0)
		if (numbers[n] < frames->n_frames)
			return frames->first[numbers[n] + 1] - 1;
	return UINT32_MAX;
}

static uint32_t flags_passed_by(const struct hi_frames *frames, const uint32_t *numbers,
				unsigned n)
{
	return has_script(frames, numbers, n) ? HI_FRAME_INTERPRETER : 0;
}

uint32_t hi_context_site(const struct hi_context_view *contexts,
			 const struct hi_frames *frames, uint32_t context)
{
	uint32_t numbers[HI_STACK_FRAMES], row = 0;
	unsigned n = hi_context_frames(contexts, context, numbers), at = 0;
	uint32_t passed = HI_FRAME_ALLOCATES | flags_passed_by(frames, numbers, n);

	return find_frame_row(frames, numbers, n, passed, &at, &row)
		       ? frames->first[numbers[at]] + row
		       : last_frame_row(frames, numbers, n);
}

uint32_t hi_context_caller(const struct hi_context_view *contexts,
			   const struct hi_frames *frames, uint32_t context)
{
	uint32_t numbers[HI_STACK_FRAMES], row = 0;
	unsigned n = hi_context_frames(contexts, context, numbers), at = 0;
	uint32_t passed = flags_passed_by(frames, numbers, n);

	if (!find_frame_row(frames, numbers, n, passed | HI_FRAME_ALLOCATES, &at, &row))
		return UINT32_MAX;
	row++;
	return find_frame_row(frames, numbers, n, passed, &at, &row)
		       ? frames->first[numbers[at]] + row
		       : UINT32_MAX;
}

uint32_t hi_context_rows(const struct hi_context_view *contexts,
			 const struct hi_frames *frames, uint32_t context, uint32_t *rows,
			 uint32_t most)
{
	uint32_t numbers[HI_STACK_FRAMES], row = 0, filled = 0;
	unsigned n = hi_context_frames(contexts, context, numbers), at = 0;
	uint32_t passed = flags_passed_by(frames, numbers, n);

	for (; filled < most && find_frame_row(frames, numbers, n, passed, &at, &row);
	     row++)
		rows[filled++] = frames->first[numbers[at]] + row;
	return filled;
}

/* If lines are unknown, the offset in the module identifies the call. */
static uint64_t offset_of_site(const struct hi_frame_row *row)
{
	return row->line ? 0 : row->offset;
}

static bool is_same_site(const struct hi_frame_row *a, const struct hi_frame_row *b)
{
	return a->line == b->line && offset_of_site(a) == offset_of_site(b) &&
	       strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 &&
	       strcmp(a->module, b->module) == 0;
}

static bool is_same_group(enum hi_born_by by, const struct hi_frame_row *a,
			  const struct hi_frame_row *b)
{
	return by == HI_BORN_BY_MODULE ? strcmp(a->module, b->module) == 0
				       : is_same_site(a, b);
}

static uint64_t hash_site(const struct hi_frame_row *row)
{
	uint64_t offset = offset_of_site(row), hash = HI_HASH_START;

	hash = hi_hash_more(hash, row->function, strlen(row->function) + 1);
	hash = hi_hash_more(hash, row->file, strlen(row->file) + 1);
	hash = hi_hash_more(hash, row->module, strlen(row->module) + 1);
	hash = hi_hash_more(hash, &row->line, sizeof(row->line));
	return hi_hash_more(hash, &offset, sizeof(offset));
}

static uint64_t hash_group(enum hi_born_by by, const struct hi_frame_row *row)
{
	return by == HI_BORN_BY_MODULE
		       ? hi_hash_more(HI_HASH_START, row->module, strlen(row->module) + 1)
		       : hash_site(row);
}

/* ---- groups ---- */

/* Groups while they are made. */
struct birth_grouping {
	const struct hi_births *births;
	struct HI_VECTOR(struct hi_birth_group) groups;
	struct HI_VECTOR(uint32_t) of_context; /* SITE, CONTEXT, MODULE */
	struct hi_table sites;		       /* hash -> group */
	enum hi_born_by by;
};

static void free_birth_grouping(struct birth_grouping *gr)
{
	hi_vector_free(&gr->groups);
	hi_vector_free(&gr->of_context);
	hi_table_free(&gr->sites);
}

/* Sites of one hash have consecutive keys. */
static bool number_site(struct birth_grouping *gr, const struct hi_frames *frames,
			uint32_t row, uint32_t *ret)
{
	uint64_t key = hash_group(gr->by, &frames->rows[row]), group;

	for (;; key++) {
		if (key == UINT64_MAX) /* cannot be stored */
			key = 0;
		if (!hi_table_get(&gr->sites, key, &group))
			break;
		if (is_same_group(gr->by, &frames->rows[row],
				  &frames->rows[gr->groups.items[group].key])) {
			*ret = (uint32_t)group;
			return true;
		}
	}
	*ret = (uint32_t)gr->groups.count;
	return hi_vector_push(&gr->groups, (struct hi_birth_group){row}) &&
	       hi_table_put(&gr->sites, key, *ret);
}

static bool group_by_site(struct birth_grouping *gr,
			  const struct hi_context_view *contexts,
			  const struct hi_frames *frames)
{
	for (uint32_t i = 0; i < contexts->n_contexts; i++) {
		uint32_t row = hi_context_site(contexts, frames, i);
		uint32_t group = HI_GROUP_NO_STACK;

		if (row != UINT32_MAX && !number_site(gr, frames, row, &group))
			return false;
		if (!hi_vector_push(&gr->of_context, group))
			return false;
	}
	return true;
}

static bool group_by_context(struct birth_grouping *gr,
			     const struct hi_context_view *contexts)
{
	if (!hi_vector_push(&gr->of_context, HI_GROUP_NO_STACK))
		return false;
	for (uint32_t i = 1; i < contexts->n_contexts; i++)
		if (!hi_vector_push(&gr->of_context, (uint32_t)gr->groups.count) ||
		    !hi_vector_push(&gr->groups, (struct hi_birth_group){i}))
			return false;
	return true;
}

static bool add_listed_groups(struct birth_grouping *gr)
{
	const struct hi_births *b = gr->births;
	uint32_t n = gr->by == HI_BORN_BY_THREAD ? b->n_threads : HI_AGE_CLASSES;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = gr->by == HI_BORN_BY_THREAD ? b->threads[i] : i;

		if (!hi_vector_push(&gr->groups, (struct hi_birth_group){key}))
			return false;
	}
	return true;
}

static uint32_t age_class_of(const struct hi_births *b, hi_node object)
{
	uint64_t length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;
	uint64_t born = b->time_ns[object], age = length > born ? length - born : 0;
	uint32_t klass = 0;

	while (klass + 1 < HI_AGE_CLASSES && age >= age_classes[klass].end_ns)
		klass++;
	return klass;
}

static uint32_t group_of_object(const struct birth_grouping *gr, hi_node object)
{
	const struct hi_births *b = gr->births;
	uint32_t context = b->context[object];

	if (context == HI_BIRTH_NONE)
		return HI_GROUP_BEFORE;
	if (context == HI_BIRTH_OTHER)
		return HI_GROUP_OTHER;
	if (gr->by == HI_BORN_BY_THREAD)
		return HI_GROUPS_FIXED + b->thread[object];
	if (gr->by == HI_BORN_BY_AGE)
		return HI_GROUPS_FIXED + age_class_of(b, object);
	return context < gr->of_context.count ? gr->of_context.items[context]
					      : (uint32_t)HI_GROUP_NO_STACK;
}

static bool make_birth_grouping(struct birth_grouping *gr,
				const struct hi_context_view *contexts,
				const struct hi_frames *frames)
{
	bool is_by_site = gr->by == HI_BORN_BY_SITE || gr->by == HI_BORN_BY_MODULE;
	uint32_t none = is_by_site ? UINT32_MAX : 0;

	for (int i = 0; i < HI_GROUPS_FIXED; i++)
		if (!hi_vector_push(&gr->groups, (struct hi_birth_group){none}))
			return false;
	if (is_by_site)
		return group_by_site(gr, contexts, frames);
	if (gr->by == HI_BORN_BY_CONTEXT)
		return group_by_context(gr, contexts);
	return add_listed_groups(gr);
}

enum hi_status hi_birth_groups_make(const struct hi_births *births,
				    const struct hi_context_view *contexts,
				    const struct hi_frames *frames, enum hi_born_by by,
				    struct hi_birth_groups **ret, struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy)
	struct hi_birth_groups *g = hi_calloc(1, sizeof(*g));
	struct birth_grouping gr = {.births = births, .by = by};
	bool ok = g && make_birth_grouping(&gr, contexts, frames);

	if (ok)
		ok = (g->of = hi_realloc_array(NULL, (size_t)births->n_objects + 1,
					       sizeof(*g->of)));
	if (!ok) {
		free_birth_grouping(&gr);
		return hi_fail_memory(err, "groups of births");
	}
	g->by = by;
	g->n_objects = births->n_objects;
	for (uint32_t i = 0; i < births->n_objects; i++)
		g->of[i] = group_of_object(&gr, i);
	g->n_groups = (uint32_t)gr.groups.count;
	g->groups = hi_take(gr.groups.items);
	g->n_contexts = (uint32_t)gr.of_context.count;
	g->of_context = hi_take(gr.of_context.items);
	free_birth_grouping(&gr);
	*ret = hi_take(g);
	return HI_OK;
}

void hi_birth_groups_destroy(struct hi_birth_groups *groups)
{
	if (!groups)
		return;
	free(groups->groups);
	free(groups->of);
	free(groups->of_context);
	free(groups);
}

/* ---- sums and sets ---- */

static void add_birth_times(struct hi_birth_sum *sum, uint64_t time_ns)
{
	if (!sum->seen_objects || time_ns < sum->first_ns)
		sum->first_ns = time_ns;
	if (!sum->seen_objects || time_ns > sum->last_ns)
		sum->last_ns = time_ns;
}

static void set_estimates(struct hi_birth_sum *sum)
{
	sum->objects = hi_estimate_round(sum->objects_estimate.sum);
	sum->bytes = hi_estimate_round(sum->bytes_estimate.sum);
}

/* A block, or those pieces of it that count. */
static void add_to_birth_sum(struct hi_birth_sum *sum, uint64_t objects, uint64_t bytes,
			     uint64_t time_ns, double p)
{
	add_birth_times(sum, time_ns);
	sum->seen_objects += objects;
	sum->seen_bytes += bytes;
	hi_estimate_add(&sum->objects_estimate, (double)objects, p);
	hi_estimate_add(&sum->bytes_estimate, (double)bytes, p);
}

/* The last object that has the same record as this one, because it is of its block. */
static hi_node last_of_record(const struct hi_births *b, const struct hi_objects *o,
			      hi_node first)
{
	hi_node last = b->sample_bytes && hi_birth_is_known(b, first)
			       ? hi_births_last_piece(o, first)
			       : first;

	return last < b->n_objects ? last : first;
}

static void add_record_to_sum(const struct hi_births *b, const struct hi_objects *o,
			      const uint64_t *mask, hi_node first, hi_node last,
			      struct hi_birth_sum *sum)
{
	bool is_known = hi_birth_is_known(b, first);
	uint64_t objects = 0, bytes = 0;

	for (hi_node i = first; i <= last; i++)
		if (!mask || hi_bit(mask, i)) {
			objects++;
			bytes += hi_objects_cost(o, i);
		}
	if (objects)
		add_to_birth_sum(
			sum, objects, bytes, b->time_ns[first],
			is_known ? hi_sample_probability(b->sample_bytes, b->size[first])
				 : 1);
}

void hi_birth_groups_sum(const struct hi_birth_groups *groups,
			 const struct hi_births *births, const struct hi_objects *objects,
			 const uint64_t *mask, struct hi_birth_sum *sums)
{
	for (hi_node i = 0, last; i < groups->n_objects && i < objects->count;
	     i = last + 1) {
		last = last_of_record(births, objects, i);
		add_record_to_sum(births, objects, mask, i, last, &sums[groups->of[i]]);
	}
	for (uint32_t i = 0; i < groups->n_groups; i++)
		set_estimates(&sums[i]);
}

static void add_estimate(struct hi_estimate *sum, const struct hi_estimate *more)
{
	sum->sum += more->sum;
	sum->variance += more->variance;
}

void hi_birth_sum_add(struct hi_birth_sum *sum, const struct hi_birth_sum *more)
{
	sum->seen_objects += more->seen_objects;
	sum->seen_bytes += more->seen_bytes;
	add_estimate(&sum->objects_estimate, &more->objects_estimate);
	add_estimate(&sum->bytes_estimate, &more->bytes_estimate);
	set_estimates(sum);
}

static void take_unseen(struct hi_estimate *sum, const struct hi_estimate *samples,
			uint64_t seen)
{
	double unseen = samples->sum - (double)seen;

	sum->sum = sum->sum > unseen ? sum->sum - unseen : 0;
	sum->variance += samples->variance;
}

struct hi_birth_sum hi_birth_sum_rest(const struct hi_birth_sum *without_record,
				      const struct hi_birth_sum *samples)
{
	struct hi_birth_sum rest = *without_record;

	take_unseen(&rest.objects_estimate, &samples->objects_estimate,
		    samples->seen_objects);
	take_unseen(&rest.bytes_estimate, &samples->bytes_estimate, samples->seen_bytes);
	set_estimates(&rest);
	return rest;
}

struct hi_interval hi_birth_sum_interval(const struct hi_birth_sum *sum)
{
	return hi_estimate_interval(&sum->bytes_estimate, sum->seen_bytes);
}

void hi_birth_groups_select(const struct hi_birth_groups *groups, const bool *chosen,
			    uint64_t *mask)
{
	for (hi_node i = 0; i < groups->n_objects; i++)
		if (chosen[groups->of[i]])
			hi_bit_set(mask, i);
}
