/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `census --untyped`. For each field that leads to objects without a type it
 * finds the types of the program whose size fits.
 */
#include "cli/commands/untyped.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "base/vector.h"
#include "decode/layouts/layout.h"
#include "report/reports/untyped/untyped_report.h"
#include "session/operands.h"

/* Smaller ones fit everything; larger modules cost more than they help. */
enum { TOP = 10, LEAST_RECORD = 9, SIZES_TRIED = 3, RANKS = 5, MAX_DWARF = 256 << 20 };

struct candidate {
	uint64_t usable; /* of a block that holds one */
	uint64_t live;	 /* objects of this type that are known */
	const struct hi_type *type;
};
/* A type that objects have. */
struct known {
	const char *name;
	uint64_t live;
};
struct search {
	struct HI_VECTOR(struct known) known; /* by name */
	struct HI_VECTOR(uint64_t) wanted;    /* usable sizes, sorted */
	struct HI_VECTOR(struct candidate) found;
	struct hi_block_sizes sizes;
	bool failed;
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Types that people write rather than compilers and libraries. */
static bool is_plain(const struct hi_type *type)
{
	return type->name[0] != '_' && strncmp(type->name, "struct _", 8) != 0 &&
	       strncmp(type->name, "std::", 5) != 0 && !strchr(type->name, '<');
}

static int compare_untyped_rows_by_name(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* By block size; what the heap has most of first; then name. */
static int by_fit(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->usable != y->usable)
		return x->usable < y->usable ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	return strcmp(x->type->name, y->type->name);
}

static enum hi_status list_known(const struct hi_inspection *in, struct search *s,
				 struct hi_error *err)
{
	for (size_t i = 0; i < in->results.census->n_rows; i++) {
		const struct hi_census_row *row = &in->results.census->rows[i];
		struct known known = {in->graph->types[row->type].name, row->count};

		if (!hi_vector_push(&s->known, known))
			return hi_fail_memory(err, "types that fit");
	}
	if (s->known.count > 1)
		qsort(s->known.items, s->known.count, sizeof(*s->known.items),
		      compare_untyped_rows_by_name);
	return HI_OK;
}

static uint64_t live_of(const struct search *s, const char *name)
{
	const struct known key = {.name = name}, *found = NULL;

	if (s->known.count)
		found = bsearch(&key, s->known.items, s->known.count, sizeof(key),
				compare_untyped_rows_by_name);
	return found ? found->live : 0;
}

static bool take_record(const struct hi_type *type, void *arg)
{
	struct search *s = arg;
	struct candidate c = {.usable = hi_fit_usable(&s->sizes, type->size),
			      .type = type};

	/* A hint must be able to name it. */
	if (!*type->name || !bsearch(&c.usable, s->wanted.items, s->wanted.count,
				     sizeof(*s->wanted.items), by_size))
		return true;
	c.live = live_of(s, type->name);
	s->failed = !hi_vector_push(&s->found, c);
	return !s->failed;
}

/* Blocks of one size only. */
static bool is_wanted_untyped(const struct hi_untyped_row *row, size_t i)
{
	return i < row->n_sizes && i < SIZES_TRIED &&
	       row->sizes[i].least == row->sizes[i].most;
}

static enum hi_status find_records(struct hi_inspection *in, struct hi_untyped_report *r,
				   struct search *s, struct hi_error *err)
{
	enum hi_status status;

	for (size_t i = 0; i < r->n_rows; i++)
		for (size_t k = 0; is_wanted_untyped(r->rows[i].row, k); k++)
			if (!hi_vector_push(&s->wanted, r->rows[i].row->sizes[k].least))
				return hi_fail_memory(err, "types that fit");
	if (!in->decoders.types || !s->wanted.count)
		return HI_OK;
	status = list_known(in, s, err);
	if (status != HI_OK)
		return status;
	hi_block_sizes_of(in->decoders.allocator, &s->sizes);
	qsort(s->wanted.items, s->wanted.count, sizeof(*s->wanted.items), by_size);
	status = hi_types_each_record(in->decoders.types, LEAST_RECORD, NULL, MAX_DWARF,
				      take_record, s, &r->modules_skipped, err);
	if (status == HI_OK && s->failed)
		status = hi_fail_memory(err, "types that fit");
	if (s->found.count > 1)
		qsort(s->found.items, s->found.count, sizeof(*s->found.items), by_fit);
	return status;
}

/* The better one to show is lower: one that the heap has, of the owner's module,
 * plain. */
static unsigned rank_of_untyped_row(const struct candidate *c, const char *module)
{
	const char *of = c->type->module;

	if (c->live)
		return 0;
	return 1 + 2u * (!module || !of || strcmp(module, of) != 0) + !is_plain(c->type);
}

static size_t find_first_candidate(const struct search *s, uint64_t usable)
{
	return hi_search(i, s->found.count, s->found.items[i].usable < usable);
}

/* Types of one block size and rank; a name is listed once. */
static void add_fits(const struct search *s, uint64_t usable, const char *module,
		     unsigned rank, struct hi_candidates *fit)
{
	const char *last = "";

	for (size_t i = find_first_candidate(s, usable);
	     i < s->found.count && s->found.items[i].usable == usable; i++) {
		const struct candidate *c = &s->found.items[i];

		if (rank_of_untyped_row(c, module) != rank ||
		    strcmp(c->type->name, last) == 0)
			continue;
		last = c->type->name;
		if (fit->n < HI_CANDIDATES)
			fit->names[fit->n++] = last;
		fit->total++;
	}
}

/* The most frequent size first. */
static void find_fits(const struct search *s, struct hi_untyped_line *line)
{
	for (size_t k = 0; is_wanted_untyped(line->row, k); k++)
		for (unsigned rank = 0; rank < RANKS; rank++)
			add_fits(s, line->row->sizes[k].least, line->row->module, rank,
				 &line->fit);
}

static enum hi_status find_candidates(struct hi_inspection *in,
				      struct hi_untyped_report *r, struct hi_error *err)
{
	struct search s = {};
	enum hi_status status = find_records(in, r, &s, err);

	for (size_t i = 0; i < r->n_rows && status == HI_OK; i++)
		find_fits(&s, &r->rows[i]);
	hi_vector_free(&s.wanted);
	hi_vector_free(&s.known);
	hi_vector_free(&s.found);
	return status;
}

enum hi_status hi_untyped_make(struct hi_inspection *in,
			       const struct hi_report_header *header, size_t top,
			       struct hi_untyped_report **ret, struct hi_error *err)
{
	struct hi_untyped *untyped = NULL;
	HI_GUARD(hi_untyped_report_destroy) struct hi_untyped_report *report = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, top, &set, &only, err);

	if (status != HI_OK)
		return status;
	status = hi_untyped_find(in->graph, in->shown.reach,
				 only.types ? only.types->has : NULL, &untyped, err);
	if (status == HI_OK)
		status = hi_untyped_report_create(header, in->graph, in->shown.reach,
						  untyped, &only, &report, err);
	hi_type_set_free(&set);
	if (status == HI_OK)
		status = find_candidates(in, report, err);
	if (status == HI_OK)
		status = hi_suggest_unions(in, &report->unions, &report->n_unions, err);
	if (report)
		report->untyped = untyped;
	else
		hi_untyped_destroy(untyped);
	if (status == HI_OK)
		*ret = hi_take(report);
	return status;
}

enum hi_status hi_untyped_run(struct hi_inspection *in,
			      const struct hi_report_header *header, struct hi_page *page,
			      struct hi_json *json, struct hi_error *err)
{
	HI_GUARD(hi_untyped_report_destroy) struct hi_untyped_report *report = NULL;
	enum hi_status status = hi_untyped_make(in, header, TOP, &report, err);

	if (status != HI_OK)
		return status;
	if (json)
		return hi_untyped_json(report, json, err);
	hi_untyped_display(report, page);
	return HI_OK;
}
