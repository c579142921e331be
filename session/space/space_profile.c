/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/space_profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/table.h"
#include "census/events/glibc_cost.h"
#include "census/snapshot/snapshot_space.h"

enum { KEY_TEXT = 2048, STACK_ROWS = 1024 };

/* What a context has allocated until the last census. */
struct context_totals {
	uint64_t allocs, bytes, overhead;
};

/* group: what rows are of, as a function. */
struct space_names {
	struct HI_VECTOR(uint32_t) site, group;
};

/* Its functions, innermost first, are n from `first` of stack_functions on. row: where
 * among them is what rows are of; of a group that is no function, the site. */
struct stack_of_context {
	uint64_t first, ticks;
	uint32_t n, row;
};

struct hi_space_profile {
	struct hi_space *space;
	struct hi_interner texts;
	struct hi_interner function_keys, site_keys; /* their numbers count from 1 */
	struct HI_VECTOR(struct hi_space_function) functions;
	struct HI_VECTOR(uint32_t) function_of_site;
	struct hi_space_choice choice;
	struct hi_space_centres centres;
	struct hi_space_phases phases;
	uint32_t marks_taken; /* of the recording's */
	/* Of contexts, and of their parts where phases are asked for. */
	struct space_names of_contexts, of_parts;
	struct HI_VECTOR(uint32_t) stack_functions;
	struct HI_VECTOR(struct stack_of_context) stacks;
	struct HI_VECTOR(uint32_t) function_of_row; /* 0: not numbered yet */
	struct hi_recorded_time time;
	struct hi_recording_counts counts;
	struct HI_VECTOR(struct context_totals) totals;
	struct HI_VECTOR(struct hi_space_census) censuses;
	struct HI_VECTOR(struct hi_recording_pause) pauses;
	uint64_t sample_bytes;
	bool is_bracketed;    /* of a file: it has not all phases */
	bool has_costs;	      /* of what died before a census */
	uint64_t kept_memory; /* of a profile in a file: what it took there */
	uint32_t carry;	      /* of numbers of samples, in units of 2^-32 */
};

static enum hi_status fail_profile(struct hi_error *err)
{
	return hi_fail_memory(err, "space profile");
}

/* ---- functions and sites ---- */

static bool intern_word(struct hi_space_profile *p, const char *text, uint32_t *ret)
{
	*ret = *text ? hi_interner_add(&p->texts, text) : 0;
	return *ret || !*text;
}

/* A new key has the number behind the last one. */
static bool number_space_function(struct hi_space_profile *p,
				  const struct hi_frame_row *row, uint32_t *ret)
{
	struct hi_space_function f = {};
	char key[KEY_TEXT];

	snprintf(key, sizeof(key), "%.1000s\n%.500s\n%.500s", row->function, row->file,
		 row->module);
	*ret = hi_interner_add(&p->function_keys, key);
	if (!*ret)
		return false;
	if (*ret < p->functions.count)
		return true;
	return intern_word(p, hi_frame_row_name(row), &f.name) &&
	       intern_word(p, row->file, &f.file) &&
	       intern_word(p, row->module, &f.module) && hi_vector_push(&p->functions, f);
}

static bool number_space_site(struct hi_space_profile *p, const struct hi_frame_row *row,
			      uint32_t *ret)
{
	uint32_t function;
	char key[KEY_TEXT];

	if (!number_space_function(p, row, &function))
		return false;
	if (!p->functions.items[function].line)
		p->functions.items[function].line = row->line;
	snprintf(key, sizeof(key), "%u\n%u\n%lx", function, row->line,
		 (unsigned long)(row->line ? 0 : row->offset));
	*ret = hi_interner_add(&p->site_keys, key);
	return *ret && (*ret < p->function_of_site.count ||
			hi_vector_push(&p->function_of_site, function));
}

/* Of an unknown allocator it is one of those that were followed. */
static bool is_allocator_row(const struct hi_recorded *recorded,
			     const struct hi_frame_row *row)
{
	if (row->flags & HI_FRAME_SCRIPT)
		return false;
	for (size_t i = 0; i < recorded->pieces.n_sources; i++)
		if (recorded->pieces.sources[i].family != HI_FAMILY_MAPPINGS &&
		    strcmp(recorded->pieces.sources[i].name, row->function) == 0)
			return true;
	return hi_frame_is_allocator(row->function);
}

static bool number_function_of_row(struct hi_space_profile *p,
				   const struct hi_recorded *recorded, uint32_t row,
				   uint32_t *ret)
{
	const struct hi_frame_row *r = &recorded->frames.rows[row];

	*ret = p->function_of_row.items[row];
	if (*ret)
		return true;
	if (!number_space_function(p, r, ret))
		return false;
	p->functions.items[*ret].is_allocator = is_allocator_row(recorded, r);
	p->function_of_row.items[row] = *ret;
	return true;
}

/* Of what is no function of the program. */
static bool number_space_group(struct hi_space_profile *p, const char *name,
			       uint32_t *ret)
{
	struct hi_frame_row row = {.module = "", .function = name, .file = "\n"};

	if (!number_space_function(p, &row, ret))
		return false;
	p->functions.items[*ret].file = 0;
	return true;
}

/* What the rows of a context are of; *row_ret: the row of the frames that has it, or that
 * of the site. */
static bool name_row_group(struct hi_space_profile *p, const struct hi_recorded *recorded,
			   uint32_t context, uint32_t *row_ret, uint32_t *ret)
{
	uint32_t centre;

	if (!p->choice.centres.n)
		return true;
	centre = hi_space_centre_of(&p->centres, recorded, context);
	if (centre >= recorded->frames.n_rows)
		return number_space_group(p, "(no centre)", ret);
	*row_ret = centre;
	return number_function_of_row(p, recorded, centre, ret);
}

static bool name_stack(struct hi_space_profile *p, const struct hi_recorded *recorded,
		       uint32_t context, uint32_t row)
{
	uint32_t rows[STACK_ROWS], function;
	uint32_t n = hi_context_rows(&recorded->contexts, &recorded->frames, context,
				     rows, STACK_ROWS);
	struct stack_of_context stack = {.first = p->stack_functions.count, .n = n};

	for (uint32_t i = 0; i < n; i++) {
		if (!number_function_of_row(p, recorded, rows[i], &function) ||
		    !hi_vector_push(&p->stack_functions, function))
			return false;
		stack.row += i == stack.row && rows[i] != row;
	}
	stack.ticks = recorded->ticks ? recorded->ticks[context] : 0;
	return hi_vector_push(&p->stacks, stack);
}

/* row: of the site. */
static bool name_context(struct hi_space_profile *p, const struct hi_recorded *recorded,
			 uint32_t context, uint32_t row)
{
	uint32_t site = 0, group;

	if (row < recorded->frames.n_rows &&
	    !number_space_site(p, &recorded->frames.rows[row], &site))
		return false;
	group = p->function_of_site.items[site];
	return name_row_group(p, recorded, context, &row, &group) &&
	       hi_vector_push(&p->of_contexts.site, site) &&
	       hi_vector_push(&p->of_contexts.group, group) &&
	       name_stack(p, recorded, context, row);
}

static void clear_names(struct space_names *names)
{
	names->site.count = names->group.count = 0;
}

static void free_names(struct space_names *names)
{
	hi_vector_free(&names->site);
	hi_vector_free(&names->group);
}

static bool forget_rows(struct hi_space_profile *p, uint32_t n_rows)
{
	clear_names(&p->of_contexts);
	p->stacks.count = p->stack_functions.count = p->function_of_row.count = 0;
	while (p->function_of_row.count < n_rows)
		if (!hi_vector_push(&p->function_of_row, 0))
			return false;
	return true;
}

/* Names may come later than a context does: each census has all of them. */
static bool name_contexts(struct hi_space_profile *p, const struct hi_recorded *recorded)
{
	if (!forget_rows(p, recorded->frames.n_rows))
		return false;
	if (p->choice.centres.n && !hi_space_centres_look(&p->centres, &recorded->frames))
		return false;
	for (uint32_t i = 0; i < recorded->contexts.n_contexts; i++)
		if (!name_context(
			    p, recorded, i,
			    hi_context_site(&recorded->contexts, &recorded->frames, i)))
			return false;
	p->time = recorded->time;
	p->counts = recorded->counts;
	return true;
}

/* ---- phases ---- */

static bool has_phases(const struct hi_space_profile *p)
{
	return p->choice.from_mark || p->choice.to_mark || p->choice.by_mark ||
	       p->choice.keeps_marks;
}

static const struct space_names *names_of_space(const struct hi_space_profile *p)
{
	return has_phases(p) ? &p->of_parts : &p->of_contexts;
}

/* What stands for a context in the space, and whether it counts. False: no memory. */
static bool find_part(struct hi_space_profile *p, uint32_t context, uint32_t phase,
		      uint32_t *ret, bool *is_wanted_ret)
{
	*ret = context;
	*is_wanted_ret = true;
	if (!has_phases(p))
		return true;
	*is_wanted_ret = p->phases.items.items[phase].is_wanted;
	return !*is_wanted_ret ||
	       hi_space_part_number(&p->phases, (struct hi_space_part){context, phase},
				    ret);
}

static uint32_t find_space_phase(const struct hi_space_profile *p, uint64_t time_ns)
{
	return has_phases(p) ? hi_space_phase_at(&p->phases, time_ns) : 0;
}

static bool name_part(struct hi_space_profile *p, const struct hi_space_part *part)
{
	const struct space_names *from = &p->of_contexts;
	uint32_t group = from->group.items[part->context];

	if (p->choice.by_mark &&
	    !number_space_group(p, p->phases.items.items[part->phase].label, &group))
		return false;
	return hi_vector_push(&p->of_parts.site, from->site.items[part->context]) &&
	       hi_vector_push(&p->of_parts.group, group);
}

static bool name_parts(struct hi_space_profile *p)
{
	clear_names(&p->of_parts);
	for (size_t i = 0; i < p->phases.parts.count; i++)
		if (!name_part(p, &p->phases.parts.items[i]))
			return false;
	return true;
}

/* ---- one census ---- */

struct space_addition {
	struct hi_space_profile *profile;
	const struct hi_graph *graph;
	const struct hi_recorded *recorded;
	bool has_overheads; /* of the recording: the allocator is glibc's */
	uint32_t *types;    /* by type of the graph, as texts */
	struct hi_space_census census;
};

static uint64_t count_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What a context had allocated at a mark, or at the census; before that is known. */
static enum hi_status add_context_births(const struct space_addition *a, uint32_t context,
					 uint32_t phase, struct context_totals now,
					 struct hi_error *err)
{
	struct hi_space_profile *p = a->profile;
	struct context_totals *before = &p->totals.items[context];
	struct hi_space_amount born = {
		.number = count_since(now.allocs, before->allocs),
		.overhead = count_since(now.overhead, before->overhead)};
	uint32_t part;
	bool is_wanted;

	born.size = count_since(now.bytes, before->bytes) + born.overhead;
	*before = now;
	if (!born.number && !born.size)
		return HI_OK;
	if (!find_part(p, context, phase, &part, &is_wanted))
		return fail_profile(err);
	return is_wanted ? hi_space_allocated(p->space, part, &born, err) : HI_OK;
}

static enum hi_status add_births_until_mark(const struct space_addition *a,
					    const struct hi_recorded_mark *mark,
					    struct hi_error *err)
{
	struct hi_space_phases *phases = &a->profile->phases;
	uint32_t phase = (uint32_t)phases->items.count - 1;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < mark->n_rows; i++) {
		const struct hi_recorded_mark_row *row =
			&a->recorded->marked.rows[mark->first_row + i];

		status = add_context_births(
			a, row->context, phase,
			(struct context_totals){row->allocs, row->bytes,
						a->has_overheads ? row->overhead : 0},
			err);
	}
	if (status == HI_OK && !hi_space_phases_add(phases, mark->time_ns, mark->text))
		return fail_profile(err);
	return status;
}

static enum hi_status add_births_until_marks(const struct space_addition *a,
					     struct hi_error *err)
{
	struct hi_space_profile *p = a->profile;
	enum hi_status status = HI_OK;

	if (!has_phases(p))
		return HI_OK;
	if (!hi_space_phases_begin(&p->phases))
		return fail_profile(err);
	while (status == HI_OK && p->marks_taken < a->recorded->marked.n_marks)
		status = add_births_until_mark(
			a, &a->recorded->marked.marks[p->marks_taken++], err);
	return status;
}

static enum hi_status add_births(const struct space_addition *a, struct hi_error *err)
{
	struct hi_space_profile *p = a->profile;
	const struct hi_recorded *r = a->recorded;
	enum hi_status status;

	while (p->totals.count < r->contexts.n_contexts)
		if (!hi_vector_push(&p->totals, (struct context_totals){}))
			return fail_profile(err);
	status = add_births_until_marks(a, err);
	for (uint32_t i = 0; status == HI_OK && i < r->contexts.n_contexts; i++)
		status = add_context_births(
			a, i, (uint32_t)p->phases.items.count - 1,
			(struct context_totals){r->totals[i].allocs, r->totals[i].bytes,
						a->has_overheads ? r->overheads[i] : 0},
			err);
	return status;
}

/* The period that a time belongs to; the open one is the last. */
static uint32_t find_period(const struct hi_space_profile *p, uint64_t time_ns)
{
	/* [0] ends none. */
	return (uint32_t)hi_search_from(i, 1, p->censuses.count,
					p->censuses.items[i].end_ns < time_ns);
}

/* What a block of so many bytes counts as; a sample counts as those that it stands for.
 */
static struct hi_space_amount weigh_block(struct hi_space_profile *p, uint64_t requested,
					  uint64_t cost)
{
	struct hi_sample_weight w = hi_sample_weight(p->sample_bytes, requested);
	uint64_t overhead = cost > requested ? cost - requested : 0;
	double probability = hi_sample_probability(p->sample_bytes, requested);
	struct hi_space_amount amount = {};

	hi_carry_add(&amount.number, &p->carry, w.allocs, w.allocs_part);
	amount.overhead = hi_estimate_round((double)overhead / probability);
	amount.size = amount.overhead + w.bytes;
	return amount;
}

static uint64_t assume_overhead(const struct space_addition *a, uint64_t requested)
{
	double probability = hi_sample_probability(a->profile->sample_bytes, requested);

	if (!a->has_overheads)
		return 0;
	return hi_estimate_round((double)(hi_glibc_cost(requested) - requested) /
				 probability);
}

/* Pieces that a block was split into are one object: cost and type of all of them. */
static enum hi_status see_block(const struct space_addition *a, hi_node first,
				hi_node last, struct hi_error *err)
{
	const struct hi_births *b = a->recorded->births;
	struct hi_space_object o = {.serial = b->time_ns[first],
				    .born = find_period(a->profile, b->time_ns[first])};
	uint64_t cost = 0;
	bool is_wanted;

	if (!find_part(a->profile, b->context[first],
		       find_space_phase(a->profile, o.serial), &o.context, &is_wanted))
		return fail_profile(err);
	if (!is_wanted)
		return HI_OK;
	for (hi_node i = first; i <= last; i++) {
		uint32_t type = a->graph->objects->type[i];

		cost += hi_objects_cost(a->graph->objects, i);
		if (!o.type && type < a->graph->n_types)
			o.type = a->types[type];
	}
	o.address = hi_objects_address(a->graph->objects, first);
	o.amount = weigh_block(a->profile, b->size[first], cost);
	o.assumed_overhead = assume_overhead(a, b->size[first]);
	return hi_space_see(a->profile->space, &o, err);
}

static void count_older_block(struct space_addition *a, hi_node first, hi_node last)
{
	for (hi_node i = first; i <= last; i++)
		a->census.older.size += hi_objects_cost(a->graph->objects, i);
	a->census.older.number++;
}

static enum hi_status see_blocks(struct space_addition *a, struct hi_error *err)
{
	const struct hi_births *b = a->recorded->births;
	enum hi_status status = HI_OK;

	for (hi_node i = 0, last; status == HI_OK && i < b->n_objects; i = last + 1) {
		last = hi_births_last_piece(a->graph->objects, i);
		if (hi_birth_is_known(b, i))
			status = see_block(a, i, last, err);
		else if (!hi_is_internal(a->graph, i))
			count_older_block(a, i, last);
	}
	return status;
}

/* Where the heap is not decoded: what the events say is live. */
static enum hi_status see_pieces(const struct space_addition *a, struct hi_error *err)
{
	const struct hi_pieces *pieces = &a->recorded->pieces;
	enum hi_status status = HI_OK;

	for (uint64_t i = 0; status == HI_OK && i < pieces->count; i++) {
		const struct hi_piece *piece = &pieces->items[i];
		struct hi_space_object o = {
			.address = piece->addr,
			.serial = piece->time_ns,
			.born = find_period(a->profile, piece->time_ns)};
		bool is_wanted;

		if (pieces->sources[piece->source].family != HI_FAMILY_MALLOC)
			continue;
		if (!find_part(a->profile, piece->context,
			       find_space_phase(a->profile, o.serial), &o.context,
			       &is_wanted))
			return fail_profile(err);
		if (!is_wanted)
			continue;
		o.amount = weigh_block(a->profile, piece->size, piece->size);
		o.assumed_overhead = assume_overhead(a, piece->size);
		status = hi_space_see(a->profile->space, &o, err);
	}
	return status;
}

static bool name_space_types(const struct space_addition *a)
{
	for (uint32_t i = 0; i < a->graph->n_types; i++)
		if (!intern_word(a->profile, a->graph->types[i].name, &a->types[i]))
			return false;
	return true;
}

static enum hi_status add_period(struct space_addition *a, bool heap_is_known,
				 struct hi_error *err)
{
	enum hi_status status = add_births(a, err);

	if (status == HI_OK)
		status = see_blocks(a, err);
	if (status == HI_OK && !heap_is_known)
		status = see_pieces(a, err);
	return status == HI_OK ? hi_space_end_period(a->profile->space, err) : status;
}

static uint64_t count_lost(const struct hi_recorded *recorded)
{
	const struct hi_recording_counts *c = &recorded->counts;

	return c->lost + c->lost_frees + c->lost_begins + c->lost_ends;
}

static uint32_t phase_of_part(const void *arg, uint32_t part)
{
	const struct hi_space_profile *p = arg;

	return p->phases.parts.items[part].phase;
}

void hi_space_profile_choose(struct hi_space_profile *profile,
			     const struct hi_space_choice *choice)
{
	profile->choice = *choice;
	profile->centres.choice = choice->centres;
	profile->phases.from_mark = choice->from_mark;
	profile->phases.to_mark = choice->to_mark;
	if (choice->keeps_marks)
		hi_space_tell_kinds(profile->space, phase_of_part, profile);
}

const struct hi_space_choice *
hi_space_profile_choice(const struct hi_space_profile *profile)
{
	return &profile->choice;
}

enum hi_status hi_space_profile_check(const struct hi_space_profile *profile,
				      struct hi_error *err)
{
	enum hi_status status = hi_space_centres_check(&profile->centres, err);

	return status == HI_OK ? hi_space_phases_check(&profile->phases, err) : status;
}

enum hi_status hi_space_profile_begin(struct hi_space_profile *profile,
				      struct hi_error *err)
{
	return hi_vector_push(&profile->censuses, (struct hi_space_census){})
		       ? HI_OK
		       : fail_profile(err);
}

enum hi_status hi_space_profile_add(struct hi_space_profile *profile,
				    struct hi_inspection *in, uint64_t at_ns,
				    struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *types = hi_calloc(in->graph->n_types + 1u, sizeof(*types));
	struct space_addition a = {
		.profile = profile, .graph = in->graph, .types = types};
	enum hi_status status = hi_inspect_recorded(in, &a.recorded, err);

	if (status != HI_OK)
		return status;
	profile->sample_bytes = a.recorded->births->sample_bytes;
	a.has_overheads = a.recorded->overheads != NULL;
	profile->has_costs = a.has_overheads;
	a.census = (struct hi_space_census){.at_ns = at_ns,
					    .end_ns = a.recorded->births->end_ns -
						      a.recorded->births->start_ns,
					    .lost = count_lost(a.recorded)};
	profile->pauses.count = 0;
	if (!types || !name_space_types(&a) || !name_contexts(profile, a.recorded) ||
	    !hi_vector_append(&profile->pauses, a.recorded->pauses, a.recorded->n_pauses))
		return fail_profile(err);
	if (profile->censuses.count)
		status = add_period(&a, hi_inspect_heap_is_known(in), err);
	if (status == HI_OK &&
	    (!name_parts(profile) || !hi_vector_push(&profile->censuses, a.census)))
		return fail_profile(err);
	return status;
}

enum hi_status hi_space_profile_pass(struct hi_space_profile *profile, uint64_t at_ns,
				     uint64_t end_ns, struct hi_error *err)
{
	struct hi_space_census census = {.at_ns = at_ns, .end_ns = end_ns};
	enum hi_status status = hi_space_end_period(profile->space, err);

	if (status == HI_OK && !hi_vector_push(&profile->censuses, census))
		return fail_profile(err);
	return status;
}

/* ---- what a file has kept ---- */

/* numbers: room for all names; what each of them is here. */
static bool restore_names(struct hi_space_profile *p,
			  const struct hi_snapshot_space *kept, uint32_t *numbers)
{
	for (size_t i = 0; i < kept->n_names; i++)
		if (!intern_word(p, kept->names[i], &numbers[i]))
			return false;
	return true;
}

static bool restore_censuses(struct hi_space_profile *p,
			     const struct hi_snapshot_space *kept)
{
	for (size_t t = 0; t < kept->n_censuses; t++) {
		const struct hi_snapshot_space_census *c = &kept->censuses[t];

		if (!hi_vector_push(&p->censuses,
				    (struct hi_space_census){.at_ns = c->at_ns,
							     .end_ns = c->end_ns,
							     .older = c->older,
							     .lost = c->lost}))
			return false;
	}
	return true;
}

static bool restore_phases(struct hi_space_profile *p,
			   const struct hi_snapshot_space *kept)
{
	if (!hi_space_phases_begin(&p->phases))
		return false;
	for (size_t i = 1; i < kept->n_phases; i++)
		if (!hi_space_phases_add(&p->phases, kept->phases[i].from_ns,
					 kept->phases[i].label))
			return false;
	return true;
}

/* Without marks each context is one part. */
static bool restore_parts(struct hi_space_profile *p,
			  const struct hi_snapshot_space *kept)
{
	size_t n = kept->n_phases ? kept->n_parts : p->of_contexts.site.count;

	for (size_t i = 0; i < n; i++) {
		struct hi_space_part part = {(uint32_t)i, 0};

		if (kept->n_phases)
			part = (struct hi_space_part){kept->parts[i].context,
						      kept->parts[i].phase};
		if (!hi_vector_push(&p->phases.parts, part))
			return false;
	}
	return name_parts(p);
}

static bool is_kept_part_wanted(const struct hi_space_profile *p, uint32_t part)
{
	return !has_phases(p) ||
	       p->phases.items.items[p->phases.parts.items[part].phase].is_wanted;
}

/* Periods of the phases that count. */
static bool choose_periods(const struct hi_space_profile *p, struct hi_arena *arena,
			   struct hi_space_kept *own)
{
	struct hi_space_period *sums =
		hi_arena_alloc(arena, (own->n_periods + 1) * sizeof(*sums));

	for (size_t t = 0; sums && t < own->n_periods; t++)
		sums[t] = (struct hi_space_period){};
	for (size_t i = 0; sums && i < own->n_kinds; i++) {
		const struct hi_space_kind_period *from = &own->kinds[i];
		struct hi_space_period *to = &sums[from->period - 1];

		if (!p->phases.items.items[from->kind].is_wanted)
			continue;
		hi_space_add(&to->born, &from->amounts.born);
		hi_space_add(&to->died, &from->amounts.died);
		hi_space_add(&to->live, &from->amounts.live);
	}
	own->periods = sums;
	return sums != NULL;
}

/* The selection, out of the arena. Types are numbers of the file's names, there. */
static bool choose_kept(const struct hi_space_profile *p, const uint32_t *numbers,
			struct hi_arena *arena, struct hi_space_kept *own)
{
	struct hi_space_kept_step *steps =
		hi_arena_alloc(arena, (own->n_steps + 1) * sizeof(*steps));
	struct hi_space_kept_unseen *unseen =
		hi_arena_alloc(arena, (own->n_unseen + 1) * sizeof(*unseen));
	size_t n = 0, m = 0;

	if (!steps || !unseen)
		return false;
	for (size_t i = 0; i < own->n_steps; i++) {
		if (!is_kept_part_wanted(p, own->steps[i].context))
			continue;
		steps[n] = own->steps[i];
		steps[n].type = numbers[steps[n].type];
		n++;
	}
	for (size_t i = 0; i < own->n_unseen; i++)
		if (is_kept_part_wanted(p, own->unseen[i].context))
			unseen[m++] = own->unseen[i];
	own->steps = steps;
	own->n_steps = n;
	own->unseen = unseen;
	own->n_unseen = m;
	return true;
}

static enum hi_status restore_space(struct hi_space_profile *p,
				    const struct hi_snapshot_space *kept,
				    const uint32_t *numbers, struct hi_error *err)
{
	struct hi_space_kept own =
		has_phases(p) && kept->n_phases ? kept->by_part : kept->kept;
	struct hi_space *space = NULL;
	struct hi_arena arena = {};
	bool ok = choose_kept(p, numbers, &arena, &own) &&
		  (!own.n_kinds || choose_periods(p, &arena, &own));
	enum hi_status status =
		ok ? hi_space_restore(&own, &space, err) : fail_profile(err);

	hi_arena_free(&arena);
	if (status != HI_OK)
		return status;
	hi_space_destroy(p->space);
	p->space = space;
	return HI_OK;
}

enum hi_status hi_space_profile_restore(struct hi_space_profile *p,
					const struct hi_snapshot_space *kept,
					const struct hi_recorded *recorded,
					struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *numbers = hi_calloc(kept->n_names + 1, sizeof(*numbers));

	if (!numbers || !restore_names(p, kept, numbers) || !restore_censuses(p, kept) ||
	    !name_contexts(p, recorded) ||
	    (has_phases(p) && (!restore_phases(p, kept) || !restore_parts(p, kept))))
		return fail_profile(err);
	for (size_t i = 0; i < kept->n_phases; i++)
		p->is_bracketed |= !kept->phases[i].is_wanted;
	p->sample_bytes = kept->sample_bytes;
	p->has_costs = kept->has_costs;
	p->kept_memory = kept->memory;
	return restore_space(p, kept, numbers, err);
}

/* ---- all of it ---- */

enum hi_status hi_space_profile_create(struct hi_space_profile **ret,
				       struct hi_error *err)
{
	HI_GUARD(hi_space_profile_destroy)
	struct hi_space_profile *p = hi_calloc(1, sizeof(*p));
	enum hi_status status;

	if (!p || !hi_vector_push(&p->functions, (struct hi_space_function){}) ||
	    !hi_vector_push(&p->function_of_site, 0))
		return fail_profile(err);
	status = hi_space_create(&p->space, err);
	if (status == HI_OK)
		*ret = hi_take(p);
	return status;
}

void hi_space_profile_destroy(struct hi_space_profile *profile)
{
	if (!profile)
		return;
	hi_space_destroy(profile->space);
	hi_interner_free(&profile->texts);
	hi_interner_free(&profile->function_keys);
	hi_interner_free(&profile->site_keys);
	hi_vector_free(&profile->functions);
	hi_vector_free(&profile->function_of_site);
	free_names(&profile->of_contexts);
	free_names(&profile->of_parts);
	hi_space_centres_free(&profile->centres);
	hi_space_phases_free(&profile->phases);
	hi_vector_free(&profile->stack_functions);
	hi_vector_free(&profile->stacks);
	hi_vector_free(&profile->function_of_row);
	hi_vector_free(&profile->totals);
	hi_vector_free(&profile->censuses);
	hi_vector_free(&profile->pauses);
	free(profile);
}

const struct hi_space *hi_space_profile_space(const struct hi_space_profile *profile)
{
	return profile->space;
}

const char *hi_space_profile_text(const struct hi_space_profile *profile, uint32_t text)
{
	return hi_interner_name(&profile->texts, text);
}

uint32_t hi_space_profile_texts(const struct hi_space_profile *profile)
{
	return (uint32_t)profile->texts.names.count + 1;
}

const struct hi_space_function *
hi_space_profile_functions(const struct hi_space_profile *profile, size_t *n_ret)
{
	*n_ret = profile->functions.count;
	return profile->functions.items;
}

struct hi_space_sites hi_space_profile_sites(const struct hi_space_profile *p)
{
	const struct space_names *names = names_of_space(p);

	return (struct hi_space_sites){
		names->site.items, (uint32_t)names->site.count, p->function_of_site.items,
		(uint32_t)p->function_of_site.count,
		p->choice.centres.n || p->choice.by_mark ? names->group.items : NULL};
}

uint32_t hi_space_profile_chain(const struct hi_space_profile *p, uint32_t part,
				uint32_t *ret, uint32_t most)
{
	uint32_t context = has_phases(p) ? p->phases.parts.items[part].context : part;
	const struct stack_of_context *stack = &p->stacks.items[context];
	const uint32_t *functions = p->stack_functions.items + stack->first;
	uint32_t group = names_of_space(p)->group.items[part], n = 0;

	if (n < most && (stack->row >= stack->n || functions[stack->row] != group))
		ret[n++] = group;
	for (uint32_t i = stack->row; n < most && i < stack->n; i++)
		ret[n++] = functions[i];
	return n;
}

uint32_t hi_space_profile_n_contexts(const struct hi_space_profile *profile)
{
	return (uint32_t)profile->stacks.count;
}

struct hi_space_stack hi_space_profile_stack(const struct hi_space_profile *p,
					     uint32_t context)
{
	const struct stack_of_context *stack = &p->stacks.items[context];

	return (struct hi_space_stack){p->stack_functions.items + stack->first, stack->n,
				       stack->ticks};
}

struct hi_recorded_time hi_space_profile_time(const struct hi_space_profile *profile,
					      struct hi_recording_counts *counts_ret)
{
	*counts_ret = profile->counts;
	return profile->time;
}

const struct hi_space_census *
hi_space_profile_censuses(const struct hi_space_profile *profile, size_t *n_ret)
{
	*n_ret = profile->censuses.count;
	return profile->censuses.items;
}

const struct hi_recording_pause *
hi_space_profile_pauses(const struct hi_space_profile *profile, uint32_t *n_ret)
{
	*n_ret = (uint32_t)profile->pauses.count;
	return profile->pauses.items;
}

const struct hi_space_phases *
hi_space_profile_phases(const struct hi_space_profile *profile)
{
	return &profile->phases;
}

bool hi_space_profile_is_bracketed(const struct hi_space_profile *profile)
{
	return profile->is_bracketed;
}

bool hi_space_profile_has_costs(const struct hi_space_profile *profile)
{
	return profile->has_costs;
}

uint64_t hi_space_profile_sample_bytes(const struct hi_space_profile *profile)
{
	return profile->sample_bytes;
}

uint64_t hi_space_profile_memory(const struct hi_space_profile *p)
{
	if (p->kept_memory)
		return p->kept_memory;
	return hi_space_memory(p->space) + p->texts.arena.used +
	       p->function_keys.arena.used + p->site_keys.arena.used +
	       p->functions.capacity * sizeof(*p->functions.items) +
	       p->totals.capacity * sizeof(*p->totals.items);
}
