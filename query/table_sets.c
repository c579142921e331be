/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * retainer_sets and bins: the key is the row, in the order of the sets' numbers; after
 * these, for bins, objects that no named root reaches.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "query/query_internal.h"

enum { ID, NAMES, MEMBERS, SIZE, OBJECTS, BYTES, EXACT, LEAKED, PURE };

#define SUMS                                                                             \
	[OBJECTS] = {"objects", HI_UNIT_NUMBER, false, "that have it"},                  \
	[BYTES] = {"bytes", HI_UNIT_BYTES, false, "of these, with overhead"},            \
	[EXACT] = {"exact", HI_UNIT_BYTES, false,                                        \
		   "of these bytes: precise edges lead there"},                          \
	[LEAKED] = {"leaked", HI_UNIT_BYTES, false,                                      \
		    "of these bytes: no root holds them"},                               \
	[PURE] = {"pure", HI_UNIT_BYTES, true,                                           \
		  "what the program uses of them (with --pure or --json)"}

static const struct hi_query_column set_columns[] = {
	[ID] = {"id", HI_UNIT_ID, false, "objects.retainer_set"},
	[NAMES] = {"retainers", HI_UNIT_TEXT, false, "the nearest ones; MANY: too many"},
	[MEMBERS] = {"members", HI_UNIT_TEXT, false, "the same as an array of JSON"},
	[SIZE] = {"size", HI_UNIT_NUMBER, false, "how many retainers"},
	SUMS,
};
static const struct hi_query_column bin_columns[] = {
	[ID] = {"id", HI_UNIT_ID, false, "objects.bin; NULL of NOROOT and LEAK"},
	[NAMES] = {"bin", HI_UNIT_TEXT, false,
		   "names of --root; NOROOT: none leads there; LEAK: nothing does"},
	[MEMBERS] = {"members", HI_UNIT_TEXT, false, "the same as an array of JSON"},
	[SIZE] = {"size", HI_UNIT_NUMBER, false, "how many names"},
	SUMS,
};

enum { A_FEW_SETS = 64 };

static uint64_t estimate_set_rows(const struct hi_query *q)
{
	return q->retainers.is_there ? q->retainers.n_rows : A_FEW_SETS;
}

static uint64_t estimate_bin_rows(const struct hi_query *q)
{
	return q->bins.is_there ? q->bins.n_rows : A_FEW_SETS;
}

static enum hi_status find_keys_of_rows(struct hi_query *q, struct hi_sets *sets,
					uint64_t *low_ret, uint64_t *high_ret,
					struct hi_error *err)
{
	enum hi_status status = hi_sets_open(q, sets, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? sets->n_rows : 0;
	return status;
}

static enum hi_status find_set_keys(struct hi_query *q, uint64_t *low, uint64_t *high,
				    struct hi_error *err)
{
	return find_keys_of_rows(q, &q->retainers, low, high, err);
}

static enum hi_status find_bin_keys(struct hi_query *q, uint64_t *low, uint64_t *high,
				    struct hi_error *err)
{
	return find_keys_of_rows(q, &q->bins, low, high, err);
}

/* Rows without a number are after all others, and SQLite compares them again. */
static uint64_t bound_set_rows(const struct hi_sets *sets, int64_t value, uint64_t low,
			       uint64_t high)
{
	const struct hi_set_table *table = sets->from.table;

	return hi_search_from(i, low, high,
			      i < table->n_rows &&
				      (int64_t)table->rows[sets->row_of[i]].set < value);
}

static uint64_t bound_set_keys(struct hi_query *q, int column, int64_t value,
			       uint64_t low, uint64_t high)
{
	(void)column;
	return bound_set_rows(&q->retainers, value, low, high);
}

static uint64_t bound_bin_keys(struct hi_query *q, int column, int64_t value,
			       uint64_t low, uint64_t high)
{
	(void)column;
	return bound_set_rows(&q->bins, value, low, high);
}

/* ---- cells ---- */

static const struct hi_set_row *get_set_row(const struct hi_sets *sets, uint64_t index)
{
	const struct hi_set_table *table = sets->from.table;

	if (index < table->n_rows)
		return &table->rows[sets->row_of[index]];
	index -= table->n_rows;
	return index == 0 && sets->from.noroot ? sets->from.noroot : sets->from.leak;
}

static void write_set_names(const struct hi_query_sets *from, const uint32_t *members,
			    uint32_t n, FILE *out)
{
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? from->join : "",
			from->name(from->arg, members[i]));
}

static void write_set_names_as_json(const struct hi_query_sets *from,
				    const uint32_t *members, uint32_t n, FILE *out)
{
	struct hi_json json;

	hi_json_init(&json, out);
	json.one_line = true;
	hi_json_array(&json, NULL);
	for (uint32_t i = 0; i < n; i++)
		hi_json_text(&json, NULL, from->name(from->arg, members[i]));
	hi_json_end(&json);
}

static enum hi_status names_cell(struct hi_sets *sets, const struct hi_set_row *row,
				 bool as_json, struct hi_result_cell *ret,
				 struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *members = hi_alloc(((size_t)row->size + 1) * sizeof(*members));
	size_t length = 0;
	FILE *out;

	free(hi_take(sets->text));
	out = members ? open_memstream(&sets->text, &length) : NULL;
	if (!out)
		return hi_fail_memory(err, "sets");
	hi_set_members(sets->from.pool, row->set, members);
	(as_json ? write_set_names_as_json : write_set_names)(&sets->from, members,
							      row->size, out);
	if (fclose(out) != 0)
		return hi_fail_memory(err, "sets");
	*ret = hi_cell_string_n(sets->text, length);
	ret->is_passing = true;
	return HI_OK;
}

static struct hi_result_cell make_figure_cell(const struct hi_sets *sets,
					      const struct hi_set_row *row, int column)
{
	switch (column) {
	case OBJECTS:
		return hi_cell_u64(row->objects);
	case BYTES:
		return hi_cell_u64(row->cost);
	case EXACT:
		return hi_cell_u64(row->exact_cost);
	case LEAKED:
		return hi_cell_u64(row->leak_cost);
	default:
		return hi_cell_u64(sets->from.has_pure ? row->cost_pure : UINT64_MAX);
	}
}

static enum hi_status make_row_cell(struct hi_sets *sets, uint64_t index, int column,
				    struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_set_row *row = get_set_row(sets, index);
	bool is_set = index < sets->from.table->n_rows;
	bool has_members = is_set && row->set != HI_SET_MANY;

	if ((column == NAMES || column == MEMBERS) && has_members)
		return names_cell(sets, row, column == MEMBERS, ret, err);
	switch (column) {
	case ID:
		*ret = is_set ? hi_cell_u64(row->set) : hi_cell_null();
		break;
	case NAMES:
		*ret = hi_cell_string(is_set			 ? "MANY"
				      : row == sets->from.noroot ? "NOROOT"
								 : "LEAK");
		break;
	case MEMBERS:
		*ret = hi_cell_null();
		break;
	case SIZE:
		*ret = has_members ? hi_cell_u64(row->size) : hi_cell_null();
		break;
	default:
		*ret = row == sets->from.leak && sets->from.leak_is_unknown
			       ? hi_cell_null()
			       : make_figure_cell(sets, row, column);
	}
	return HI_OK;
}

static enum hi_status make_set_cell(struct hi_query *q, uint64_t row, int column,
				    struct hi_result_cell *ret, struct hi_error *err)
{
	return make_row_cell(&q->retainers, row, column, ret, err);
}

static enum hi_status make_bin_cell(struct hi_query *q, uint64_t row, int column,
				    struct hi_result_cell *ret, struct hi_error *err)
{
	return make_row_cell(&q->bins, row, column, ret, err);
}

const struct hi_query_ops hi_query_table_retainer_sets = {
	.name = "retainer_sets",
	.about =
		"live bytes by the set of their nearest retainers (--retainer adds some)",
	HI_COLUMNS(set_columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << ID | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_set_rows,
	.keys = find_set_keys,
	.bound = bound_set_keys,
	.cell = make_set_cell,
};

const struct hi_query_ops hi_query_table_bins = {
	.name = "bins",
	.about = "what the roots named by --root hold, each alone and together",
	HI_COLUMNS(bin_columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << ID,
	.about_rows = estimate_bin_rows,
	.keys = find_bin_keys,
	.bound = bound_bin_keys,
	.cell = make_bin_cell,
};
