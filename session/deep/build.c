/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/deep/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "census/events/in_use.h"
#include "decode/usage/contents.h"
#include "session/lives_of_file.h"
#include "session/deep/call_kinds.h"
#include "session/recorded.h"

enum { KEY_TEXT = 2048 };

/* Functions of stacks that say why there is nothing further out. */
static const char cut_name[] = "(outer frames are missing)";
static const char no_stack_name[] = "(no stack)";

struct deep_making {
	struct hi_inspection *in;
	const struct hi_recorded *recorded;
	struct hi_deep_profile *profile;
	struct hi_deep *deep;
	struct hi_interner function_keys, site_keys; /* their numbers count from 1 */
	struct hi_deep_frame *frame_of_row; /* by row; site 0: not numbered yet */
	struct hi_deep_frame cut, no_stack;
	struct HI_VECTOR(struct hi_deep_frame) stack;
	struct hi_deep_costs *costs; /* by context */
	struct hi_deep_depth_maker *depths;
	struct hi_call_kinds *kinds;
	struct hi_table calls_seen; /* frame and the frame that it called */
};

static enum hi_status fail_making(struct hi_error *err)
{
	return hi_fail_memory(err, "deep profile");
}

static void free_deep_making(struct deep_making *m)
{
	hi_interner_free(&m->function_keys);
	hi_interner_free(&m->site_keys);
	hi_vector_free(&m->stack);
	free(m->frame_of_row);
	free(m->costs);
	hi_deep_destroy(m->deep);
	hi_deep_depth_maker_destroy(m->depths);
	hi_call_kinds_destroy(m->kinds);
	hi_table_free(&m->calls_seen);
}

/* ---- functions and call sites ---- */

static bool number_procedure(struct deep_making *m, const struct hi_frame_row *row,
			     uint32_t *ret)
{
	struct hi_deep_profile *p = m->profile;
	struct hi_deep_procedure f = {};
	char key[KEY_TEXT];

	snprintf(key, sizeof(key), "%.1000s\n%.500s\n%.500s", hi_frame_row_name(row),
		 row->file, row->module);
	*ret = hi_interner_add(&m->function_keys, key);
	if (!*ret || *ret < p->functions.count)
		return *ret != 0;
	return hi_deep_profile_intern(p, hi_frame_row_name(row), &f.name) &&
	       hi_deep_profile_intern(p, row->module, &f.module) &&
	       hi_deep_profile_intern(p, row->file, &f.file) &&
	       hi_vector_push(&p->functions, f);
}

/* The start of a function is not recorded: it has the first of its lines that calls. */
static void note_function_line(struct hi_deep_procedure *f, uint32_t line)
{
	if (line && (!f->line || line < f->line))
		f->line = line;
}

static bool number_call_site(struct deep_making *m, const struct hi_frame_row *row,
			     struct hi_deep_frame *ret)
{
	struct hi_deep_profile *p = m->profile;
	struct hi_deep_call_site site = {
		.kind = HI_DEEP_UNKNOWN, .callee = HI_DEEP_NONE, .line = row->line};
	char key[64], place[32] = "";

	if (!number_procedure(m, row, &ret->function))
		return false;
	note_function_line(&p->functions.items[ret->function], row->line);
	if (row->offset)
		snprintf(place, sizeof(place), "+0x%" PRIx64, row->offset);
	snprintf(key, sizeof(key), "%u\n%u\n%s", ret->function, row->line, place);
	ret->site = hi_interner_add(&m->site_keys, key);
	if (!ret->site || ret->site < p->sites.count)
		return ret->site != 0;
	site.function = ret->function;
	site.file = p->functions.items[ret->function].file;
	return hi_deep_profile_intern(p, place, &site.place) &&
	       hi_vector_push(&p->sites, site);
}

static bool number_special_frames(struct deep_making *m)
{
	struct hi_frame_row cut = {.module = "", .function = cut_name, .file = ""};
	struct hi_frame_row none = {.module = "", .function = no_stack_name, .file = ""};

	return number_call_site(m, &cut, &m->cut) &&
	       number_call_site(m, &none, &m->no_stack);
}

/* ---- stacks ---- */

/* k: one of the frame's rows, of which the first has the call. callee: a frame; or
 * HI_DEEP_NONE. */
static void find_call_kind(struct deep_making *m, uint32_t frame, uint32_t k,
			   uint32_t callee)
{
	const struct hi_frames *f = &m->recorded->frames;
	uint32_t *kind = &m->profile->sites.items[m->frame_of_row[k].site].kind;

	if (k != f->first[frame])
		*kind = HI_DEEP_INLINED;
	else if (*kind == HI_DEEP_UNKNOWN || *kind == HI_DEEP_DIRECT)
		*kind = hi_call_kind_of(
			m->kinds, &f->rows[k],
			callee == HI_DEEP_NONE ? NULL : &f->rows[f->first[callee]]);
}

/* Each pair of frames is looked at once. False: out of memory. */
static bool see_call(struct deep_making *m, uint32_t frame, uint32_t callee)
{
	const struct hi_frames *f = &m->recorded->frames;
	uint64_t key = (uint64_t)frame << 32 | callee, seen;

	if (hi_table_get(&m->calls_seen, key, &seen))
		return true;
	for (uint32_t k = f->first[frame]; k < f->first[frame + 1]; k++)
		if (m->frame_of_row[k].site)
			find_call_kind(m, frame, k, callee);
	return hi_table_put(&m->calls_seen, key, 1);
}

/* Inlined code is no function that is exported. */
static bool number_stack_row(struct deep_making *m, const struct hi_frame_row *row,
			     struct hi_deep_frame *frame)
{
	if (!number_call_site(m, row, frame))
		return false;
	if (!(row->flags & HI_FRAME_INLINED) && hi_call_kinds_exports(m->kinds, row))
		m->profile->functions.items[frame->function].is_exported = true;
	return true;
}

static bool push_stack_row(struct deep_making *m, uint32_t row)
{
	struct hi_deep_frame *frame = &m->frame_of_row[row];

	return (frame->site ||
		number_stack_row(m, &m->recorded->frames.rows[row], frame)) &&
	       hi_vector_push(&m->stack, *frame);
}

static bool stack_has_script(const struct hi_frames *frames, const uint32_t *numbers,
			     unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (uint32_t k = frames->first[numbers[i]];
		     k < frames->first[numbers[i] + 1]; k++)
			if (frames->rows[k].flags & HI_FRAME_SCRIPT)
				return true;
	return false;
}

/* Innermost first, from the site of the context on. */
static bool push_rows(struct deep_making *m, uint32_t context)
{
	const struct hi_frames *frames = &m->recorded->frames;
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(&m->recorded->contexts, context, numbers);
	uint32_t site = hi_context_site(&m->recorded->contexts, frames, context);
	bool has_script = stack_has_script(frames, numbers, n), has_begun = false;

	for (unsigned i = 0; i < n; i++) {
		for (uint32_t k = frames->first[numbers[i]];
		     k < frames->first[numbers[i] + 1]; k++) {
			bool is_passed = has_script &&
					 frames->rows[k].flags & HI_FRAME_INTERPRETER;

			has_begun |= k == site;
			if (has_begun && (k == site || !is_passed) &&
			    !push_stack_row(m, k))
				return false;
		}
		if (!see_call(m, numbers[i], i ? numbers[i - 1] : HI_DEEP_NONE))
			return false;
	}
	return true;
}

static void turn_stack(struct deep_making *m)
{
	for (size_t i = 0, k = m->stack.count; i + 1 < k; i++) {
		struct hi_deep_frame taken = m->stack.items[--k];

		m->stack.items[k] = m->stack.items[i];
		m->stack.items[i] = taken;
	}
}

static bool make_stack(struct deep_making *m, uint32_t context)
{
	const struct hi_context *c = &m->recorded->contexts.contexts[context];

	m->stack.count = 0;
	if (!push_rows(m, context))
		return false;
	if (!m->stack.count)
		return hi_vector_push(&m->stack, m->no_stack);
	if (c->flags & HI_CONTEXT_CUT && !hi_vector_push(&m->stack, m->cut))
		return false;
	turn_stack(m);
	return true;
}

/* ---- costs ---- */

/* Is the stack's innermost function an operator new that throws where malloc gives
 * nothing? Those that do not throw call one that does. */
static bool is_throwing_new(const struct deep_making *m, uint32_t context)
{
	static const char name[] = "operator new";
	const struct hi_frames *frames = &m->recorded->frames;
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(&m->recorded->contexts, context, numbers), i;

	for (i = 0; i < n; i++) {
		const struct hi_frame_row *row = &frames->rows[frames->first[numbers[i]]];

		if (strncmp(hi_frame_row_name(row), name, strlen(name)) != 0)
			break;
		if (strstr(hi_frame_row_name(row), "nothrow"))
			return false;
	}
	return i > 0;
}

static void add_ports(const struct deep_making *m, uint32_t context,
		      struct hi_deep_costs *to)
{
	const struct hi_context_ports *ports = &m->recorded->ports[context];
	enum hi_deep_cost failed = ports->fails && is_throwing_new(m, context)
					   ? HI_DEEP_EXCEPTIONS
					   : HI_DEEP_FAILS;

	to->of[HI_DEEP_CALLS] += ports->fails;
	to->of[failed] = ports->fails;
	to->of[HI_DEEP_REDOS] = ports->moves;
}

static void add_recorded_costs(struct deep_making *m)
{
	for (uint32_t i = 0; i < m->recorded->contexts.n_contexts; i++) {
		const struct hi_context_totals *t = &m->recorded->totals[i];
		struct hi_deep_costs *c = &m->costs[i];

		c->of[HI_DEEP_CALLS] = c->of[HI_DEEP_EXITS] = t->allocs;
		if (m->recorded->ports)
			add_ports(m, i, c);
		c->of[HI_DEEP_ALLOCS] = t->allocs;
		c->of[HI_DEEP_BYTES] = t->bytes;
		c->of[HI_DEEP_TICKS] = m->recorded->ticks ? m->recorded->ticks[i] : 0;
	}
}

/* bits are freed here; NULL: out of memory. count: NULL: not wanted. */
static bool add_used_costs(struct deep_making *m, uint64_t *bits,
			   const enum hi_deep_cost *count, enum hi_deep_cost bytes,
			   struct hi_in_use *before_ret)
{
	uint32_t n = m->recorded->contexts.n_contexts;
	struct hi_in_use_sums sums = {.by_context =
					      hi_calloc(n + 1u, sizeof(*sums.by_context)),
				      .n_contexts = n};
	bool ok = bits && sums.by_context;

	if (ok) {
		hi_in_use_sum(m->recorded->births, m->in->graph->objects, bits, &sums);
		*before_ret = sums.before;
	}
	for (uint32_t i = 0; ok && i < n; i++) {
		if (count)
			m->costs[i].of[*count] = sums.by_context[i].allocations;
		m->costs[i].of[bytes] = sums.by_context[i].bytes;
	}
	free(sums.by_context);
	free(bits);
	return ok;
}

/* ---- biographies ---- */

/* HI_DEEP_COSTS: none of them is proved. */
static enum hi_deep_cost proved_use(const struct hi_bio_summary *lives,
				    const struct hi_bio_life_row *life)
{
	uint32_t bands = hi_bio_summary_bands(lives, life);

	return bands == HI_BIO_BIT(HI_BIO_USE)	  ? HI_DEEP_USE_BYTES
	       : bands == HI_BIO_BIT(HI_BIO_DRAG) ? HI_DEEP_DRAG_BYTES
	       : bands == HI_BIO_BIT(HI_BIO_VOID) ? HI_DEEP_VOID_BYTES
						  : HI_DEEP_COSTS;
}

/* Of the objects that are proved to be so; free it. NULL: out of memory. */
static uint64_t *find_proved_bits(const struct deep_making *m,
				  const struct hi_bio_summary *lives,
				  enum hi_deep_cost cost)
{
	uint32_t n = m->in->graph->n_objects;
	uint64_t *bits = hi_calloc(1, hi_bits_size(n) + 8);

	for (size_t i = 0; bits && i < lives->n_lives; i++)
		if (lives->lives[i].object < n &&
		    proved_use(lives, &lives->lives[i]) == cost)
			hi_bit_set(bits, lives->lives[i].object);
	return bits;
}

static enum hi_status add_proved_costs(struct deep_making *m, struct hi_error *err)
{
	static const enum hi_deep_cost costs[] = {HI_DEEP_USE_BYTES, HI_DEEP_DRAG_BYTES,
						  HI_DEEP_VOID_BYTES};
	const struct hi_bio_summary *lives;
	struct hi_in_use unused;
	enum hi_status status = hi_inspect_lives_if_any(m->in, &lives, err);

	if (status != HI_OK || !lives || !hi_bio_summary_periods(lives))
		return status;
	for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
		if (!add_used_costs(m, find_proved_bits(m, lives, costs[i]), NULL,
				    costs[i], &unused))
			return fail_making(err);
		m->profile->has[costs[i]] = true;
	}
	return HI_OK;
}

/* ---- contents ---- */

/* The context of each object, or the number of contexts. Free it. */
static uint32_t *list_contexts(const struct deep_making *m)
{
	const struct hi_births *b = m->recorded->births;
	uint32_t n = m->in->graph->n_objects, last = m->recorded->contexts.n_contexts;
	uint32_t *list = hi_calloc((size_t)n + 1, sizeof(*list));

	for (hi_node i = 0; list && i < n; i++)
		list[i] = hi_birth_is_known(b, i) && b->context[i] < last ? b->context[i]
									  : last;
	return list;
}

static void take_waste_rows(struct deep_making *m, const struct hi_waste *waste)
{
	for (size_t i = 0; i < waste->n_rows; i++) {
		const struct hi_waste_row *row = &waste->rows[i];

		if (row->type >= m->recorded->contexts.n_contexts)
			continue;
		m->costs[row->type].of[HI_DEEP_COPIED_BYTES] = row->copied;
		m->costs[row->type].of[HI_DEEP_SPARE_BYTES] = row->savable;
	}
	m->profile->has[HI_DEEP_COPIED_BYTES] = m->profile->has[HI_DEEP_SPARE_BYTES] =
		true;
}

/* Not of samples; files may have none. */
static enum hi_status add_content_costs(struct deep_making *m, struct hi_error *err)
{
	struct hi_contents_options options = {.threads = hi_inspection_threads(m->in),
					      .n_rows = m->recorded->contexts.n_contexts +
							1};
	HI_GUARD(free) uint32_t *contexts = NULL;
	struct hi_waste *waste = NULL;
	enum hi_status status;

	if (m->recorded->births->sample_bytes)
		return HI_OK;
	contexts = list_contexts(m);
	if (!contexts)
		return fail_making(err);
	options.row_of = contexts;
	status = m->in->source->contents->compare_contents(m->in, &options, &waste, err);
	if (status == HI_NOT_FOUND || status == HI_UNSUPPORTED)
		return HI_OK;
	if (status == HI_OK)
		take_waste_rows(m, waste);
	hi_waste_destroy(waste);
	return status;
}

/* ---- what is retained ---- */

/* Objects below one that counts do not count again. */
static void add_retained_costs(struct deep_making *m)
{
	const struct hi_dominators *d = m->in->results.dominators;
	const struct hi_births *b = m->recorded->births;

	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i];

		if (node >= m->in->graph->n_objects || !hi_birth_is_known(b, node) ||
		    b->context[node] >= m->recorded->contexts.n_contexts)
			continue;
		m->costs[b->context[node]].of[HI_DEEP_RETAINED_BYTES] +=
			d->retained[node];
		i += d->span[i] - 1;
	}
}

/* ---- all costs ---- */

static void set_known_costs(struct deep_making *m)
{
	static const enum hi_deep_cost always[] = {
		HI_DEEP_CALLS, HI_DEEP_EXITS,	   HI_DEEP_ALLOCS,	HI_DEEP_BYTES,
		HI_DEEP_LIVE,  HI_DEEP_LIVE_BYTES, HI_DEEP_LEAKED_BYTES};

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		m->profile->has[always[i]] = true;
	m->profile->has[HI_DEEP_FAILS] = m->profile->has[HI_DEEP_EXCEPTIONS] =
		m->recorded->ports != NULL;
	/* Of samples few are both. */
	m->profile->has[HI_DEEP_REDOS] =
		m->recorded->ports && !m->recorded->births->sample_bytes;
}

static enum hi_status make_costs(struct deep_making *m, struct hi_error *err)
{
	static const enum hi_deep_cost live = HI_DEEP_LIVE;
	struct hi_in_use before = {}, unused;
	enum hi_status status;

	m->costs = hi_calloc(m->recorded->contexts.n_contexts + 1u, sizeof(*m->costs));
	if (!m->costs)
		return fail_making(err);
	add_recorded_costs(m);
	if (!add_used_costs(m, hi_inspect_live_bits(m->in), &live, HI_DEEP_LIVE_BYTES,
			    &before) ||
	    !add_used_costs(m, hi_inspect_leak_bits(m->in), NULL, HI_DEEP_LEAKED_BYTES,
			    &unused))
		return fail_making(err);
	m->profile->before_objects = before.allocations;
	m->profile->before_bytes = before.bytes;
	set_known_costs(m);
	/* Samples are too few to say what others retain. */
	m->profile->has[HI_DEEP_RETAINED_BYTES] =
		m->in->results.dominators && !m->recorded->births->sample_bytes;
	if (m->profile->has[HI_DEEP_RETAINED_BYTES])
		add_retained_costs(m);
	status = add_proved_costs(m, err);
	return status == HI_OK ? add_content_costs(m, err) : status;
}

/* ---- all of it ---- */

/* Calls `add` with each stack that has a cost, and its costs. */
static enum hi_status for_each_stack(
	struct deep_making *m,
	enum hi_status (*add)(struct deep_making *m, const struct hi_deep_costs *costs,
			      struct hi_error *err),
	struct hi_error *err)
{
	static const struct hi_deep_costs nothing = {};
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < m->recorded->contexts.n_contexts;
	     i++) {
		if (memcmp(&m->costs[i], &nothing, sizeof(nothing)) == 0)
			continue;
		if (!make_stack(m, i))
			return fail_making(err);
		status = add(m, &m->costs[i], err);
	}
	return status;
}

static enum hi_status add_stack_to_graph(struct deep_making *m,
					 const struct hi_deep_costs *costs,
					 struct hi_error *err)
{
	return hi_deep_add(m->deep, m->stack.items, m->stack.count, costs, err);
}

static enum hi_status add_stack_to_depths(struct deep_making *m,
					  const struct hi_deep_costs *costs,
					  struct hi_error *err)
{
	return hi_deep_depth_maker_add(m->depths, m->stack.items, m->stack.count, costs,
				       err);
}

/* What is a clique is known only when all stacks are in the graph. */
static enum hi_status make_depths(struct deep_making *m, struct hi_error *err)
{
	enum hi_status status =
		hi_deep_depth_maker_create(&m->profile->graph, &m->depths, err);

	if (status == HI_OK)
		status = for_each_stack(m, add_stack_to_depths, err);
	if (status == HI_OK)
		hi_deep_depth_maker_finish(m->depths, &m->profile->depths);
	return status;
}

/* A call site has one callee, or leads to several: by a pointer, or where its code is
 * known to be no such call, by jumps. */
static bool find_kinds(struct hi_deep_profile *p)
{
	const struct hi_deep_graph *g = &p->graph;
	HI_GUARD(free) bool *several = hi_calloc(p->sites.count + 1, sizeof(*several));

	if (!several)
		return false;
	for (uint32_t i = 0; i < g->n_edges; i++) {
		struct hi_deep_call_site *site = &p->sites.items[g->edges[i].site];
		uint32_t callee = g->nodes[g->edges[i].callee].function;

		if (hi_deep_is_one_callee(site->kind) && site->callee == HI_DEEP_NONE)
			site->callee = callee;
		several[g->edges[i].site] |= site->callee != callee;
	}
	for (size_t i = 0; i < p->sites.count; i++) {
		struct hi_deep_call_site *site = &p->sites.items[i];

		if (!several[i])
			continue;
		site->callee = HI_DEEP_NONE;
		if (site->kind == HI_DEEP_UNKNOWN)
			site->kind = HI_DEEP_INDIRECT;
		if (site->kind == HI_DEEP_DIRECT)
			site->kind = HI_DEEP_TAIL;
	}
	return true;
}

static enum hi_status make_deep_profile(struct deep_making *m, struct hi_error *err)
{
	enum hi_status status = hi_deep_create(&m->deep, err);

	if (status == HI_OK)
		status = hi_call_kinds_create(m->in, &m->kinds, err);
	m->frame_of_row =
		hi_calloc(m->recorded->frames.n_rows + 1u, sizeof(*m->frame_of_row));
	if (status == HI_OK && (!m->frame_of_row || !number_special_frames(m)))
		status = fail_making(err);
	if (status == HI_OK)
		status = make_costs(m, err);
	if (status == HI_OK)
		status = for_each_stack(m, add_stack_to_graph, err);
	if (status == HI_OK)
		status = hi_deep_graph(m->deep, &m->profile->graph, err);
	if (status == HI_OK)
		status = make_depths(m, err);
	if (status == HI_OK && !find_kinds(m->profile))
		status = fail_making(err);
	return status;
}

static enum hi_status set_deep_facts(const struct deep_making *m, struct hi_error *err)
{
	struct hi_deep_profile *p = m->profile;
	struct hi_report_header header;
	const char *missing = "";
	enum hi_status status = hi_inspect_make_header(m->in, &header, err);

	if (status != HI_OK)
		return status;

	p->has[HI_DEEP_TICKS] = m->recorded->ticks != NULL;
	if (m->recorded->time.scan_ns)
		p->ticks_per_second = HI_NS_PER_S / m->recorded->time.scan_ns;
	p->tool_ticks = m->recorded->counts.ticks_in_probes;
	p->sequence = m->recorded->counts.events;
	p->sample_bytes = m->recorded->births->sample_bytes;
	p->n_missing = hi_call_kinds_missing(m->kinds, &missing);
	return hi_deep_profile_intern(p, missing, &p->first_missing) &&
			       hi_deep_profile_intern(p, hi_base_name(header.exe),
						      &p->program)
		       ? HI_OK
		       : fail_making(err);
}

enum hi_status hi_deep_build(struct hi_inspection *in, struct hi_deep_profile *ret,
			     struct hi_error *err)
{
	struct deep_making m = {.in = in, .profile = ret};
	enum hi_status status = hi_inspect_recorded(in, &m.recorded, err);

	if (status == HI_OK)
		status = hi_deep_profile_init(ret, err);
	if (status != HI_OK)
		return status;
	status = make_deep_profile(&m, err);
	if (status == HI_OK)
		status = set_deep_facts(&m, err);
	free_deep_making(&m);
	if (status != HI_OK)
		hi_deep_profile_free(ret);
	return status;
}
