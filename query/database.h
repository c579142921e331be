/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of a query as a database file of SQLite, for sqlite3 and its libraries:
 * docs/QUERY.md has the tables and the columns, which have the same names there.
 *
 * A process that decodes may not open files, as SQLite would: the database is made in
 * memory, and written as a stream. So it needs memory of its size, at most half of the
 * machine's (query/guard.c).
 */
#ifndef HI_QUERY_DATABASE_H
#define HI_QUERY_DATABASE_H

#include <stdio.h>

#include "query/query.h"

/*
 * Writes all tables. Text that is no UTF-8, and control bytes, are escaped. A table that
 * this heap does not have (bins without --root, references of a snapshot file,
 * allocations without a recording) is empty, or its cells are NULL. Errors of the stream
 * stay in it (ferror). HI_NO_MEMORY; the errors of hi_query_prepare() and
 * hi_query_step().
 */
enum hi_status hi_query_write_database(struct hi_query *q, bool leaks_unknown, FILE *out,
				       struct hi_error *err);

#endif
