/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/space_result.h"

#include <stdlib.h>
#include <string.h>

#include "report/reports/alloc/alloc_sort.h"
#include "report/type_search.h"
#include "session/space/callers.h"
#include "session/space/times.h"

/* A report while it is made. */
struct alloc_making {
	const struct hi_space_profile *profile;
	const struct hi_space_result_options *options;
	struct hi_arena *arena;
	struct hi_alloc_report *report;
	struct hi_space_time *times; /* by function; NULL: none */
};

static enum hi_status fail_report(struct hi_error *err)
{
	return hi_fail_memory(err, "report of a space profile");
}

/* ---- censuses ---- */

static bool fill_alloc_lines(const struct alloc_making *m)
{
	const struct hi_space *space = hi_space_profile_space(m->profile);
	const struct hi_space_period *history = hi_space_history(space);
	const struct hi_space_census *censuses;
	uint32_t n = hi_space_periods(space);
	struct hi_alloc_line *lines = hi_arena_alloc(m->arena, (n + 1) * sizeof(*lines));
	size_t n_censuses;

	censuses = hi_space_profile_censuses(m->profile, &n_censuses);
	for (uint32_t i = 0; lines && i < n; i++)
		lines[i] = (struct hi_alloc_line){censuses[i + 1].at_ns, history[i],
						  censuses[i + 1].older};
	if (n) {
		m->report->lasted_ns = censuses[n].at_ns;
		m->report->lost = censuses[n].lost;
	}
	m->report->lines = lines;
	m->report->n_lines = n;
	return lines != NULL;
}

static bool fill_alloc_pauses(const struct alloc_making *m)
{
	uint32_t n;
	const struct hi_recording_pause *from = hi_space_profile_pauses(m->profile, &n);
	struct hi_alloc_pause *to = hi_arena_alloc(m->arena, (n + 1) * sizeof(*to));

	for (uint32_t i = 0; to && i < n; i++)
		to[i] = (struct hi_alloc_pause){from[i].from_ns, from[i].to_ns,
						from[i].calls, from[i].bytes};
	m->report->pauses = to;
	m->report->n_pauses = n;
	return to != NULL;
}

/* ---- functions ---- */

static bool sum_rows(const struct alloc_making *m, const struct hi_space_row *rows,
		     size_t n, struct hi_space_row *ret)
{
	struct hi_space_step *steps;
	size_t n_steps = 0;

	for (size_t i = 0; i < n; i++)
		n_steps += rows[i].n_steps;
	steps = hi_arena_alloc(m->arena, (n_steps + 1) * sizeof(*steps));
	if (steps)
		hi_space_sum_rows(rows, n, steps, ret);
	return steps != NULL;
}

static int compare_alloc_types(const void *a, const void *b)
{
	const struct hi_alloc_type *x = a, *y = b;
	uint64_t m = hi_space_at_age(x->row, 0).size, n = hi_space_at_age(y->row, 0).size;

	return m != n ? (m > n ? -1 : 1) : strcmp(x->name, y->name);
}

static struct hi_alloc_function describe_function(const struct alloc_making *m,
						  uint32_t number)
{
	const struct hi_space_profile *p = m->profile;
	size_t n_functions;
	const struct hi_space_function *f =
		&hi_space_profile_functions(p, &n_functions)[number];

	return (struct hi_alloc_function){.number = number,
					  .name = hi_space_profile_text(p, f->name),
					  .file = hi_space_profile_text(p, f->file),
					  .module = hi_space_profile_text(p, f->module),
					  .line = f->line,
					  .time = m->times ? m->times[number]
							   : (struct hi_space_time){},
					  .calls = HI_CALLS_NOT_COUNTED};
}

static bool make_function(const struct alloc_making *m, const struct hi_space_row *rows,
			  size_t n, struct hi_alloc_function *ret)
{
	const struct hi_space_profile *p = m->profile;

	*ret = describe_function(m, rows->function);
	ret->types = hi_arena_alloc(m->arena, n * sizeof(*ret->types));
	ret->n_types = n;
	if (!ret->types || !sum_rows(m, rows, n, &ret->all))
		return false;
	for (size_t i = 0; i < n; i++)
		ret->types[i] = (struct hi_alloc_type){
			hi_space_profile_text(p, rows[i].type), &rows[i]};
	qsort(ret->types, n, sizeof(*ret->types), compare_alloc_types);
	return true;
}

static bool is_function_selected(const struct alloc_making *m, uint32_t function)
{
	const char *select = m->options->select;
	size_t n;
	const char *name = hi_space_profile_text(
		m->profile, hi_space_profile_functions(m->profile, &n)[function].name);

	return !select || strstr(name, select) || hi_frame_matches(name, select);
}

static bool make_functions_of_rows(const struct alloc_making *m,
				   const struct hi_space_result *rows)
{
	struct hi_alloc_report *r = m->report;

	for (size_t i = 0, end; i < rows->n_rows; i = end) {
		uint32_t function = rows->rows[i].function;

		for (end = i; end < rows->n_rows && rows->rows[end].function == function;)
			end++;
		if (!is_function_selected(m, function))
			continue;
		if (!make_function(m, &rows->rows[i], end - i,
				   &r->functions[r->n_functions]))
			return false;
		r->n_functions++;
	}
	return true;
}

/* Those that have allocated nothing. Rows are by function, and so are the functions by
 * now. */
static void make_functions_of_time(const struct alloc_making *m, size_t n_functions)
{
	struct hi_alloc_report *r = m->report;
	size_t n_of_rows = r->n_functions, next = 0;

	for (uint32_t i = 0; m->times && i < n_functions; i++) {
		bool has_row = next < n_of_rows && r->functions[next].number == i;

		next += has_row;
		if (!has_row && m->times[i].scans && is_function_selected(m, i))
			r->functions[r->n_functions++] = describe_function(m, i);
	}
}

/* All that are selected; those that are not shown are left out later. */
static bool make_functions(const struct alloc_making *m,
			   const struct hi_space_result *rows)
{
	struct hi_alloc_report *r = m->report;
	size_t n_functions;

	hi_space_profile_functions(m->profile, &n_functions);
	r->functions = hi_arena_alloc(m->arena, (rows->n_rows + n_functions + 1) *
							sizeof(*r->functions));
	if (!r->functions || !make_functions_of_rows(m, rows))
		return false;
	make_functions_of_time(m, n_functions);
	r->n_selected = r->n_functions;
	hi_alloc_sort(m->options->order == HI_ALLOC_BY_NAME ? HI_ALLOC_BY_ALLOC
							    : m->options->order,
		      r->functions, r->n_functions);
	return true;
}

static bool sum_functions(const struct alloc_making *m)
{
	struct hi_alloc_report *r = m->report;
	struct hi_space_row *rows =
		hi_arena_alloc(m->arena, (r->n_functions + 1) * sizeof(*rows));

	for (size_t i = 0; rows && i < r->n_functions; i++)
		rows[i] = r->functions[i].all;
	return rows && sum_rows(m, rows, r->n_functions, &r->total);
}

static int compare_tops(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x > y ? -1 : 1;
}

/* The `top` functions that take most time have no less than this on top. */
static uint64_t find_least_top(const struct alloc_making *m, uint64_t *tops)
{
	const struct hi_alloc_report *r = m->report;
	size_t n = 0;

	for (size_t i = 0; i < r->n_functions; i++)
		tops[n++] = r->functions[i].time.top;
	qsort(tops, n, sizeof(*tops), compare_tops);
	return m->options->top < n ? tops[m->options->top] + 1 : 0;
}

static bool is_function_shown(const struct alloc_making *m, size_t i, uint64_t least_top)
{
	const struct hi_alloc_function *f = &m->report->functions[i];
	uint64_t size = hi_space_at_age(&f->all, 0).size;

	if (f->time.scans && f->time.top >= least_top && m->options->top)
		return true;
	return i < m->options->top && size >= m->options->min_size &&
	       (f->n_types || f->time.scans);
}

/* Those that are shown are the largest in the order, and those that take most time; by
 * name, those that allocated most. */
static bool hide_functions(const struct alloc_making *m)
{
	struct hi_alloc_report *r = m->report;
	uint64_t *tops = hi_arena_alloc(m->arena, (r->n_functions + 1) * sizeof(*tops));
	uint64_t least_top = tops ? find_least_top(m, tops) : 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n_functions; i++) {
		if (is_function_shown(m, i, least_top))
			r->functions[n++] = r->functions[i];
		else
			hi_hidden_add(&r->hidden,
				      hi_space_at_age(&r->functions[i].all, 0).size);
	}
	r->n_functions = n;
	if (m->options->order == HI_ALLOC_BY_NAME)
		hi_alloc_sort(HI_ALLOC_BY_NAME, r->functions, n);
	return tops != NULL;
}

/* ---- a selection of nothing ---- */

static const char *name_of_function(void *arg, uint32_t i)
{
	const struct hi_space_profile *p = arg;
	size_t n;
	const char *name =
		hi_space_profile_text(p, hi_space_profile_functions(p, &n)[i].name);

	return *name ? name : NULL;
}

static enum hi_status fail_selection(const struct alloc_making *m, struct hi_error *err)
{
	const char *near[HI_NAMES_NEAREST] = {};
	struct hi_space_profile *p = (struct hi_space_profile *)(uintptr_t)m->profile;
	size_t n;

	hi_space_profile_functions(p, &n);
	hi_names_nearest(m->options->select, name_of_function, p, (uint32_t)n, near);
	return hi_fail(
		err, HI_NOT_FOUND, 0,
		"--select %.80s: no function that allocated has such a name%s%.80s",
		m->options->select, near[0] ? "; near it: " : "", near[0] ? near[0] : "");
}

/* ---- manners ---- */

/* Functions of one name are told apart by nothing else here. */
static uint64_t find_counted_calls(const struct alloc_making *m, const char *function)
{
	const struct hi_space_result_options *o = m->options;
	uint64_t sum = 0;
	bool is_counted = false;

	for (size_t i = 0; i < o->n_calls; i++)
		if (strcmp(o->calls[i].name, function) == 0 ||
		    hi_frame_matches(o->calls[i].name, function)) {
			is_counted = true;
			sum += o->calls[i].calls;
		}
	return is_counted ? sum : HI_CALLS_NOT_COUNTED;
}

/* The most that is asked for of some function. */
static uint32_t depth_of_callers(const struct hi_space_result_options *o)
{
	uint32_t depth = o->callers ? o->depth : 0;

	for (size_t i = 0; i < o->manners.n; i++)
		if (o->manners.items[i].has_depth && o->manners.items[i].depth > depth)
			depth = o->manners.items[i].depth;
	return depth;
}

/* Callers are found for all functions at once. */
static void leave_out_callers(const struct alloc_making *m)
{
	struct hi_alloc_report *r = m->report;

	for (size_t i = 0; i < r->n_functions; i++) {
		struct hi_alloc_function *f = &r->functions[i];
		struct hi_manner manner = hi_manner_of(&m->options->manners, f->name);
		uint32_t depth = manner.has_depth      ? manner.depth
				 : m->options->callers ? m->options->depth
						       : 0;
		size_t n = 0;

		for (size_t k = 0; k < f->n_callers; k++)
			if (f->callers[k].level <= depth)
				f->callers[n++] = f->callers[k];
		f->n_callers = n;
		if (!depth)
			f->callers = NULL;
	}
}

static void apply_manners(const struct alloc_making *m)
{
	struct hi_alloc_report *r = m->report;

	for (size_t i = 0; i < r->n_functions; i++) {
		struct hi_alloc_function *f = &r->functions[i];
		struct hi_manner manner = hi_manner_of(&m->options->manners, f->name);

		f->without = HI_ALLOC_COLUMNS & ~manner.columns;
		f->calls = manner.columns & HI_ALLOC_CALLS
				   ? find_counted_calls(m, f->name)
				   : HI_CALLS_NOT_COUNTED;
	}
	r->has_manners = m->options->manners.n;
	r->calls = m->options->calls;
	r->n_calls = m->options->n_calls;
	r->call_ns = m->options->call_ns;
}

/* ---- all of it ---- */

static enum hi_alloc_by by_of_rows(const struct hi_space_profile *profile)
{
	const struct hi_space_choice *choice = hi_space_profile_choice(profile);

	return choice->by_mark	   ? HI_ALLOC_BY_MARK
	       : choice->centres.n ? HI_ALLOC_BY_CENTRE
				   : HI_ALLOC_BY_FUNCTION;
}

enum hi_status hi_space_profile_report(const struct hi_space_profile *profile,
				       const struct hi_space_result_options *options,
				       struct hi_arena *arena,
				       struct hi_space_result *rows,
				       struct hi_alloc_report *ret, struct hi_error *err)
{
	struct alloc_making m = {
		.profile = profile, .options = options, .arena = arena, .report = ret};
	const struct hi_space_choice *choice = hi_space_profile_choice(profile);
	/* Samples of time are of functions, and of the whole recording. */
	const bool has_times = !choice->centres.n && !choice->by_mark &&
			       !choice->from_mark && !choice->to_mark;
	struct hi_space_sites sites = hi_space_profile_sites(profile);
	enum hi_status status = hi_space_profile_check(profile, err);

	if (status == HI_OK)
		status = hi_space_result(hi_space_profile_space(profile), &sites, rows,
					 err);
	*ret = (struct hi_alloc_report){
		.exe = "",
		.select = options->select,
		.by = by_of_rows(profile),
		.from_mark = choice->from_mark,
		.to_mark = choice->to_mark,
		.sample_bytes = hi_space_profile_sample_bytes(profile),
		.memory = hi_space_profile_memory(profile),
		.has_costs = hi_space_profile_has_costs(profile),
		.is_bracketed = hi_space_profile_is_bracketed(profile),
		.callers = depth_of_callers(options) > 0,
		.order = options->order,
		.all = options->top == SIZE_MAX};
	if (status == HI_OK && has_times)
		status =
			hi_space_profile_times(profile, arena, &ret->time, &m.times, err);
	if (status != HI_OK)
		return status;
	if (!fill_alloc_lines(&m) || !fill_alloc_pauses(&m) ||
	    !make_functions(&m, rows) || !sum_functions(&m))
		return fail_report(err);
	if (options->select && (rows->n_rows || ret->time.scans) && !ret->n_selected)
		return fail_selection(&m, err);
	if (!hide_functions(&m))
		return fail_report(err);
	apply_manners(&m);
	if (!ret->callers)
		return HI_OK;
	status = hi_space_callers(profile, ret->functions, ret->n_functions,
				  depth_of_callers(options), options->passes_libraries,
				  has_times, arena, err);
	leave_out_callers(&m);
	return status;
}
