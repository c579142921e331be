/* SPDX-License-Identifier: BSD-2-Clause */
/* SQL of any text over a drawn heap: what is no SELECT is refused, and rows end. */
#include <stdlib.h>
#include <string.h>

#include "tests/query/world.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { OBJECTS = 60, MOST_ROWS = 2000, MOST_NS = 20000000 };

static void read_rows(struct query_world *w)
{
	const struct hi_result_column *columns;
	const struct hi_result_cell *cells;
	struct hi_error err;
	size_t n = 0;

	columns = hi_query_columns(w->q, &n);
	for (size_t i = 0; i < n; i++)
		if (!columns[i].name)
			abort();
	hi_query_limit_time(w->q, MOST_NS);
	for (unsigned i = 0; i < MOST_ROWS; i++)
		if (hi_query_step(w->q, &cells, &err) != HI_OK || !cells)
			break;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct query_world *w;
	struct hi_query_mistake mistake;
	struct hi_error err = {};
	char *sql = malloc(size + 1);

	if (!w)
		w = world_of(1, OBJECTS);
	if (!sql)
		return 0;
	memcpy(sql, data, size);
	sql[size] = 0;
	if (hi_query_prepare(w->q, sql, &mistake, &err) == HI_OK)
		read_rows(w);
	else if (!*err.text || (mistake.offset != SIZE_MAX && mistake.offset > size) ||
		 !memchr(mistake.hint, 0, sizeof(mistake.hint)))
		abort();
	free(sql);
	return 0;
}
