/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "query/query_internal.h"
#include "report/type_search.h"

static enum hi_status fail_connection(struct hi_query *q, const char *what,
				      struct hi_error *err)
{
	int code = sqlite3_errcode(q->db);

	return hi_fail(err, code == SQLITE_NOMEM ? HI_NO_MEMORY : HI_UNSUPPORTED, 0,
		       "query: %s: %s", what, sqlite3_errmsg(q->db));
}

/* SQL function object_at(address): the object that contains the address; NULL: none. */
static void call_object_at(sqlite3_context *to, int n, sqlite3_value **values)
{
	const struct hi_query *q = sqlite3_user_data(to);
	hi_node object;

	(void)n;
	if (sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER)
		return;
	object = hi_objects_find(q->source.graph->objects,
				 (uint64_t)sqlite3_value_int64(values[0]), NULL);
	if (object != HI_NODE_NONE)
		sqlite3_result_int64(to, object);
}

/* ---- is_of ---- */

/* The types of a name, as is_of() keeps them while its second argument is the same. */
struct kept_types {
	struct hi_type_set set;
	struct hi_interner names; /* of the types in the set */
};

static void free_kept_types(void *kept)
{
	struct kept_types *k = kept;

	hi_type_set_free(&k->set);
	hi_interner_free(&k->names);
	free(k);
}

static bool name_kept_types(const struct hi_query *q, struct kept_types *k)
{
	for (uint32_t i = 0; i < k->set.n_types; i++)
		if (k->set.has[i] &&
		    !hi_interner_add(&k->names, hi_graph_type_name(q->source.graph, i)))
			return false;
	return true;
}

/* NULL: the statement fails, with an error. */
static struct kept_types *find_kept_types(sqlite3_context *to, const char *name)
{
	const struct hi_query *q = sqlite3_user_data(to);
	struct kept_types *k = sqlite3_get_auxdata(to, 1);
	struct hi_types_near near;
	struct hi_error err;
	enum hi_status status;

	if (k)
		return k;
	k = hi_calloc(1, sizeof(*k));
	status = k ? hi_types_select(q->source.graph, name, &k->set, &near, &err)
		   : hi_fail_memory(&err, "set of types");
	if (status == HI_OK && !name_kept_types(q, k))
		status = hi_fail_memory(&err, "set of types");
	if (status == HI_NOT_FOUND)
		hi_types_near_append(err.text, sizeof(err.text), &near);
	if (status == HI_OK) {
		sqlite3_set_auxdata(to, 1, k, free_kept_types);
		return sqlite3_get_auxdata(to, 1);
	}
	if (k)
		free_kept_types(k);
	if (status == HI_NO_MEMORY)
		sqlite3_result_error_nomem(to);
	else
		sqlite3_result_error(to, err.text, -1);
	return NULL;
}

/* SQL function is_of(type, name): is a type, by its name or its number in types, one that
 * --type name selects? NULL: the type is unknown. */
static void call_is_of(sqlite3_context *to, int n, sqlite3_value **values)
{
	const char *name = (const char *)sqlite3_value_text(values[1]);
	const struct kept_types *k;
	const char *type;

	(void)n;
	if (!name || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	k = find_kept_types(to, name);
	if (!k)
		return;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
		int64_t id = sqlite3_value_int64(values[0]);

		sqlite3_result_int(to, id >= 0 && id < k->set.n_types && k->set.has[id]);
		return;
	}
	type = (const char *)sqlite3_value_text(values[0]);
	sqlite3_result_int(to, type && hi_interner_find(&k->names, type));
}

static enum hi_status create_query_tables(struct hi_query *q, struct hi_error *err)
{
	size_t n = hi_query_tables();

	q->connected = hi_calloc(n, sizeof(*q->connected));
	if (!q->connected)
		return hi_fail_memory(err, "query");
	for (size_t i = 0; i < n; i++) {
		q->connected[i] = (struct hi_connected){q, hi_query_all[i]};
		if (sqlite3_create_module(q->db, hi_query_all[i]->name, &hi_query_module,
					  &q->connected[i]) != SQLITE_OK)
			return fail_connection(q, hi_query_all[i]->name, err);
	}
	if (sqlite3_create_function(q->db, "object_at", 1,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
				    q, call_object_at, NULL, NULL) != SQLITE_OK)
		return fail_connection(q, "object_at", err);
	if (sqlite3_create_function(q->db, "is_of", 2,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
				    q, call_is_of, NULL, NULL) != SQLITE_OK)
		return fail_connection(q, "is_of", err);
	return HI_OK;
}

static enum hi_status measure_names(struct hi_query *q, struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;

	q->type_length = hi_calloc((size_t)g->n_types + 1, sizeof(*q->type_length));
	if (!q->type_length)
		return hi_fail_memory(err, "query");
	for (uint32_t i = 0; i < g->n_types; i++)
		q->type_length[i] =
			g->types[i].name ? (uint32_t)strlen(g->types[i].name) : 0;
	return HI_OK;
}

enum hi_status hi_query_open(const struct hi_query_source *source, struct hi_query **ret,
			     struct hi_error *err)
{
	HI_GUARD(hi_query_close) struct hi_query *q = hi_calloc(1, sizeof(*q));
	enum hi_status status;

	if (!q)
		return hi_fail_memory(err, "query");
	q->source = *source;
	status = measure_names(q, err);
	if (status != HI_OK)
		return status;
	if (sqlite3_open_v2(":memory:", &q->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				    SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return q->db ? fail_connection(q, "SQLite", err)
			     : hi_fail_memory(err, "SQLite");
	status = create_query_tables(q, err);
	if (status == HI_OK)
		status = hi_query_guard(q, err);
	if (status == HI_OK)
		*ret = hi_take(q);
	return status;
}

void hi_query_close(struct hi_query *q)
{
	if (!q)
		return;
	sqlite3_finalize(q->statement);
	sqlite3_close(q->db);
	for (size_t i = 0; i < HI_ORDERS; i++)
		hi_object_order_destroy(q->orders[i]);
	hi_edges_to_destroy(q->edges_to);
	hi_born_in_destroy(q->born_in);
	hi_event_reading_destroy(q->events);
	hi_stack_frames_free(&q->frames);
	hi_sets_free(&q->retainers);
	hi_sets_free(&q->bins);
	free(q->type_length);
	free(q->census_row);
	free(q->census_end);
	free(q->preorder_index);
	hi_arena_free(&q->blobs);
	free(q->connected);
	free(q->columns);
	free(q->cells);
	free(q);
}
