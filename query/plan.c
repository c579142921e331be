/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which way to the rows (xBestIndex), and reading that plan again (xFilter).
 *
 * Note [Plans]
 *
 * The plan's number is the way, and PLAN_BACKWARDS; its text describes the values: two
 * letters for each, an operator (= < l > g, and 0 for IS NULL, which has no value) and
 * '0' + the column. Way 0 takes any comparisons with columns that grow with the key, and
 * the keys between them are a range. SQLite compares again: a range is never too small,
 * and may be too large.
 */
#include <math.h>
#include <string.h>

#include "query/query_internal.h"

enum { PLAN_WAY = 0xff, PLAN_BACKWARDS = 0x100, PLAN_VALUES = 8 };
enum { A_FEW = 4 }; /* rows that have one value, as an estimate */

const struct hi_query_way hi_way_of_keys[1] = {
	{.column = -1, .order = HI_COLUMN_ROWID, .both_ways = true}};

static bool grows_with_key(const struct hi_query_ops *ops, int column)
{
	return ops->grows >> (column < 0 ? HI_COLUMN_ROWID : column) & 1;
}

static char letter_of(int op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	default:
		return 0;
	}
}

struct plan {
	unsigned way;
	double rows;
	bool is_unique;
	int used[PLAN_VALUES]; /* constraints */
	char letter[PLAN_VALUES];
	int n_used;
};

/* The keys that comparisons leave. */
static struct plan plan_of_keys(const struct hi_query_ops *ops,
				const sqlite3_index_info *info, double rows)
{
	struct plan plan = {.rows = rows};

	for (int i = 0; i < info->nConstraint && plan.n_used < PLAN_VALUES; i++) {
		char letter = letter_of(info->aConstraint[i].op);

		if (!info->aConstraint[i].usable || !letter ||
		    !grows_with_key(ops, info->aConstraint[i].iColumn))
			continue;
		plan.letter[plan.n_used] = letter;
		plan.used[plan.n_used++] = i;
		plan.is_unique |= letter == '=' && !ops->ways[0].share;
		plan.rows = letter == '=' ? A_FEW : plan.rows / 4;
	}
	if (plan.is_unique)
		plan.rows = 1;
	return plan;
}

/* The comparison that a way needs; -1: there is none. */
static int find_asked(sqlite3_index_info *info, const struct hi_query_way *way,
		      char *letter_ret)
{
	for (int i = 0; i < info->nConstraint; i++) {
		int op = info->aConstraint[i].op;
		bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

		if (!info->aConstraint[i].usable ||
		    info->aConstraint[i].iColumn != way->column)
			continue;
		if (!is_equal &&
		    (!way->takes_null || op != SQLITE_INDEX_CONSTRAINT_ISNULL))
			continue;
		/* COLLATE NOCASE has other equals. */
		if (is_equal && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
			continue;
		*letter_ret = is_equal ? '=' : '0';
		return i;
	}
	return -1;
}

static struct plan choose_plan(const struct hi_query_ops *ops, sqlite3_index_info *info,
			       double rows)
{
	struct plan best = plan_of_keys(ops, info, rows);

	for (unsigned w = 1; w < ops->n_ways; w++) {
		const struct hi_query_way *way = &ops->ways[w];
		struct plan plan = {.way = w,
				    .rows = way->share ? rows * way->share : A_FEW,
				    .n_used = 1};

		plan.used[0] =
			way->column < 0 ? -1 : find_asked(info, way, &plan.letter[0]);
		if (plan.used[0] >= 0 && plan.rows < best.rows)
			best = plan;
	}
	return best;
}

static bool is_order(const struct hi_query_ops *ops, const struct plan *plan,
		     const sqlite3_index_info *info, bool *backwards)
{
	const struct hi_query_way *way = &ops->ways[plan->way];
	int column = info->nOrderBy ? info->aOrderBy[0].iColumn : -2;
	bool is_key = grows_with_key(ops, column), first = column == way->order;

	if (column == -2)
		return false;
	*backwards = info->aOrderBy[0].desc;
	if (*backwards && !way->both_ways)
		return false;
	/* Keys are all different: later columns do not matter. */
	if (plan->way == 0 && is_key && !way->share)
		return true;
	if (!first && !(plan->way == 0 && is_key))
		return false;
	return info->nOrderBy == 1 ||
	       (info->nOrderBy == 2 && grows_with_key(ops, info->aOrderBy[1].iColumn) &&
		plan->way != 0 && info->aOrderBy[1].desc == info->aOrderBy[0].desc);
}

/* All rows are wanted: then in the order that is. */
static void choose_order(const struct hi_query_ops *ops, const sqlite3_index_info *info,
			 struct plan *plan, bool *backwards)
{
	struct plan other = {.rows = plan->rows};

	if (plan->n_used || is_order(ops, plan, info, backwards))
		return;
	for (other.way = 1; other.way < ops->n_ways; other.way++)
		if (ops->ways[other.way].column < 0 &&
		    is_order(ops, &other, info, backwards)) {
			*plan = other;
			return;
		}
}

static int write_plan(const struct plan *plan, bool backwards, sqlite3_index_info *info)
{
	char text[2 * PLAN_VALUES + 1] = "";
	int n = 0;

	for (int i = 0; i < plan->n_used; i++) {
		int column = info->aConstraint[plan->used[i]].iColumn;

		text[2 * i] = plan->letter[i];
		text[2 * i + 1] = (char)('0' + (column < 0 ? HI_COLUMN_ROWID : column));
		if (plan->letter[i] != '0')
			info->aConstraintUsage[plan->used[i]].argvIndex = ++n;
	}
	info->idxStr = sqlite3_mprintf("%s", text);
	info->needToFreeIdxStr = 1;
	info->idxNum = (int)plan->way | (backwards ? PLAN_BACKWARDS : 0);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

int hi_query_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct hi_virtual_table *table = (struct hi_virtual_table *)(void *)base;
	const struct hi_query_ops *ops = table->ops;
	double rows = (double)ops->about_rows(table->q) + 1;
	struct plan plan = choose_plan(ops, info, rows);
	bool backwards = false;

	choose_order(ops, info, &plan, &backwards);
	info->orderByConsumed = is_order(ops, &plan, info, &backwards);
	info->estimatedRows = (sqlite3_int64)ceil(plan.rows);
	info->estimatedCost = plan.rows + 1;
	if (plan.is_unique)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	return write_plan(&plan, backwards && info->orderByConsumed, info);
}

/* ---- reading it ---- */

/* A number that a column of integers can be: 5, 5.0 and '5'. */
static bool take_integer(sqlite3_value *value, int64_t *ret)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*ret = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		if (!(real >= -0x1p62 && real <= 0x1p62) || real != floor(real))
			return false;
		*ret = (int64_t)real;
		return true;
	default:
		return false;
	}
}

static uint64_t bound_plan_key(struct hi_query *q, const struct hi_query_ops *ops,
			       int column, int64_t value,
			       const struct hi_query_walk *walk)
{
	if (ops->bound)
		return ops->bound(q, column, value, walk->low, walk->high);
	if (value < 0 || (uint64_t)value < walk->low)
		return walk->low;
	return (uint64_t)value < walk->high ? (uint64_t)value : walk->high;
}

/* False: no row matches. */
static bool narrow_key_range(struct hi_query *q, const struct hi_query_ops *ops,
			     char letter, int column, sqlite3_value *value,
			     struct hi_query_walk *walk)
{
	uint64_t from, behind;
	int64_t number;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return false;
	/* SQLite compares what is not a whole number. */
	if (!take_integer(value, &number))
		return letter != '=';
	from = bound_plan_key(q, ops, column, number, walk);
	behind = number == INT64_MAX ? walk->high
				     : bound_plan_key(q, ops, column, number + 1, walk);
	if (letter == '=' || letter == 'g')
		walk->low = from;
	if (letter == '>')
		walk->low = behind;
	if (letter == '=' || letter == 'l')
		walk->high = behind;
	if (letter == '<')
		walk->high = from;
	return walk->low < walk->high;
}

static bool take_asked(const struct hi_query_ops *ops, int column, sqlite3_value *value,
		       struct hi_query_walk *walk)
{
	if (ops->columns[column].unit != HI_UNIT_TEXT)
		return take_integer(value, &walk->integer);
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return false;
	walk->is_text = true;
	walk->text = (const char *)sqlite3_value_text(value);
	walk->length = (size_t)sqlite3_value_bytes(value);
	return walk->text != NULL;
}

/* False: no row matches. */
static bool take_plan_values(struct hi_query *q, const struct hi_query_ops *ops,
			     const char *text, sqlite3_value **values,
			     struct hi_query_walk *walk)
{
	for (int i = 0; text && text[2 * i]; i++) {
		char letter = text[2 * i];
		int column = text[2 * i + 1] - '0';

		if (letter == '0')
			walk->is_null = true;
		else if (walk->way == 0 &&
			 !narrow_key_range(q, ops, letter, column, *values++, walk))
			return false;
		else if (walk->way != 0 && !take_asked(ops, column, *values++, walk))
			return false;
	}
	return walk->low < walk->high;
}

enum hi_status hi_query_ask(struct hi_query *q, const struct hi_query_ops *ops,
			    int number, const char *text, sqlite3_value **values,
			    struct hi_query_walk *walk, bool *any_ret,
			    struct hi_error *err)
{
	enum hi_status status;

	walk->way = (unsigned)number & PLAN_WAY;
	walk->backwards = number & PLAN_BACKWARDS;
	status = ops->keys(q, &walk->low, &walk->high, err);
	*any_ret = status == HI_OK && take_plan_values(q, ops, text, values, walk);
	return status;
}

uint64_t hi_query_bound_upper(struct hi_query *q, int column, int64_t value, uint64_t low,
			      uint64_t high)
{
	uint64_t key;

	(void)q;
	(void)column;
	if (value < 0)
		return low;
	if (value > UINT32_MAX)
		return high;
	key = (uint64_t)value << 32;
	return key < low ? low : key < high ? key : high;
}

void hi_query_walk_keys(struct hi_query_walk *walk)
{
	walk->at = walk->low;
	walk->end = walk->high;
}

bool hi_query_next_key(struct hi_query *q, struct hi_query_walk *walk)
{
	(void)q;
	if (walk->at >= walk->end)
		return false;
	walk->row = walk->backwards ? --walk->end : walk->at++;
	return true;
}
