/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declarations that the files of this room share. To add a table: a file table_NAME.c
 * with a `const struct hi_query_ops hi_query_table_NAME`, a line in tables.c, its columns
 * in docs/QUERY.md, a test that compares it with another command.
 */
#ifndef HI_QUERY_INTERNAL_H
#define HI_QUERY_INTERNAL_H

#include <sqlite3.h>
#include <string.h>

#include "query/query.h"

/* ---- state that is computed when it is needed (lazy_*.c) ---- */

/* Objects by the value of one of their columns, in SQLite's order (BINARY, NULL first),
 * then by number: `first[r] .. first[r + 1]` of `objects` have the r-th name. */
enum hi_order_by {
	HI_ORDER_TYPE,
	HI_ORDER_MODULE,
	HI_ORDER_CLASS,
	HI_ORDER_EVIDENCE,
	HI_ORDER_STATE,
	HI_ORDERS,
};
struct hi_object_order {
	hi_node *objects;
	hi_node *first;	   /* n_names + 1 */
	uint32_t *rank;	   /* of each type, evidence or state */
	const char **name; /* by rank; NULL: no name */
	uint32_t n_names;
};
enum hi_object_state { HI_STATE_INTERNAL, HI_STATE_LEAK, HI_STATE_LIVE, HI_STATES };
/* Is the object internal, a leak or live? */
enum hi_object_state hi_query_state(const struct hi_query *q, hi_node object);
/* "internal", "leak" or "live". */
const char *hi_query_state_name(enum hi_object_state state);

/* Edges by what they lead to: first[n] .. first[n + 1] lead to node n. */
struct hi_edges_to {
	struct hi_edge_source {
		hi_node from;
		uint32_t index; /* in its row */
	} * sources;
	uint64_t *first; /* n_objects + 1 */
	hi_node n;
};
/* Names of variables, by the frame that they are in. */
struct hi_stack_frame {
	uint32_t thread;
	const char *function, *place; /* place: "" unknown */
	uint64_t variables;
	uint64_t retained; /* by its variables */
};
struct hi_stack_frames {
	struct hi_stack_frame_list HI_VECTOR(struct hi_stack_frame) rows;
	struct hi_arena strings;
	bool is_there;
};
/* Objects of a recording by context: first[c] .. first[c + 1] of context c. */
struct hi_born_in {
	uint32_t *first;
	hi_node *objects;
	uint32_t n; /* contexts */
};
/* The stack of the context that was asked for last. */
struct hi_stack_read {
	bool is_there;
	uint32_t context, n_rows;
	unsigned n;
	uint32_t frames[HI_STACK_FRAMES];
};
/* The events of a recording, and the block that was read last. */
struct hi_event_reading {
	const struct hi_stored_events *stored;
	uint64_t block;
	uint32_t n; /* events of it; 0: none was read */
	struct hi_kept_event events[HI_EVENT_BLOCK];
};
struct hi_sets {
	struct hi_query_sets from;
	uint32_t *row_of; /* rows of the table by the number of their set, ascending */
	size_t n_rows;	  /* of the SQL table: also noroot and leak */
	bool is_there;
	char *text; /* of the last cell */
};

struct hi_query {
	struct hi_query_source source;
	sqlite3 *db;
	sqlite3_stmt *statement;
	struct hi_error failure;       /* of a computation, reported through SQLite */
	const char *refused;	       /* why the statement is not allowed */
	bool reads_state, reads_leaks; /* the statement: objects.state; verdict,
					  class */
	uint32_t *type_length;	       /* of names, by type */
	struct hi_connected *connected;
	struct hi_result_column *columns;
	struct hi_result_cell *cells;
	size_t n_columns;
	struct hi_arena blobs;	   /* in hexadecimal; of this row */
	uint64_t most_ns, ends_ns; /* hi_query_limit_time(); 0: none */
	const struct hi_dominators *dominators;
	const struct hi_census *census;
	const struct hi_query_census *censuses;
	size_t n_censuses;
	const struct hi_audit *audit;		/* NULL: not asked for */
	uint64_t *census_end;			/* rows up to the end of each census */
	const struct hi_snapshots_marks *marks; /* NULL: not asked for, or none */
	uint32_t *census_row;			/* by type; UINT32_MAX: no live object */
	struct hi_object_order *orders[HI_ORDERS];
	struct hi_edges_to *edges_to;
	uint32_t *preorder_index; /* by node: its index in dominators->order */
	struct hi_stack_frames frames;
	const struct hi_recorded *recorded; /* NULL: not asked for */
	struct hi_born_in *born_in;
	struct hi_stack_read stack;
	struct hi_event_reading *events; /* NULL: not asked for, or there are none */
	struct hi_sets retainers, bins;
};

/* The dominator tree, computed by the first call. HI_UNSUPPORTED: it is unknown. */
enum hi_status hi_query_dominators(struct hi_query *q, const struct hi_dominators **ret,
				   struct hi_error *err);
/* The census by type, computed by the first call. HI_UNSUPPORTED: it is unknown. */
enum hi_status hi_query_census(struct hi_query *q, const struct hi_census **ret,
			       struct hi_error *err);
/* Fills q->censuses and the two members after it. */
enum hi_status hi_query_censuses(struct hi_query *q, struct hi_error *err);
/* NULL: no live object has the type. */
enum hi_status hi_query_census_row(struct hi_query *q, uint32_t type,
				   const struct hi_census_row **ret,
				   struct hi_error *err);
/* The objects in that order, made by the first call. */
enum hi_status hi_query_in_order(struct hi_query *q, enum hi_order_by by,
				 const struct hi_object_order **ret,
				 struct hi_error *err);
/* NULL is fine. */
void hi_object_order_destroy(struct hi_object_order *order);
/* The edges by what they lead to, made by the first call. */
enum hi_status hi_query_edges_to(struct hi_query *q, const struct hi_edges_to **ret,
				 struct hi_error *err);
/* NULL is fine. */
void hi_edges_to_destroy(struct hi_edges_to *to);
/* For each node its index in dominators->order, UINT32_MAX: none. Made by the first
 * call. */
enum hi_status hi_query_preorder_index(struct hi_query *q, const uint32_t **ret,
				       struct hi_error *err);
/* The frames, made by the first call. */
enum hi_status hi_query_frames(struct hi_query *q, const struct hi_stack_frames **ret,
			       struct hi_error *err);
/* Frees the rows; zero-initialised frames are fine. */
void hi_stack_frames_free(struct hi_stack_frames *frames);
/* The recording, read by the first call. HI_NOT_FOUND: there is none; HI_UNSUPPORTED: it
 * is unknown. */
enum hi_status hi_query_recorded(struct hi_query *q, const struct hi_recorded **ret,
				 struct hi_error *err);
/* Its objects by context, made by the first call. */
enum hi_status hi_query_born_in(struct hi_query *q, const struct hi_born_in **ret,
				struct hi_error *err);
/* NULL is fine. */
void hi_born_in_destroy(struct hi_born_in *in);
/* The functions of a context's stack, the innermost first; after hi_query_recorded().
 * NULL: it has none at this depth. */
uint32_t hi_query_stack_rows(struct hi_query *q, uint32_t context);
const struct hi_frame_row *hi_query_stack_row(struct hi_query *q, uint32_t context,
					      uint32_t depth);
/* How many events the recording kept; the first call reads them. Fills q->recorded, and
 * q->events if they were kept. Errors as of hi_query_recorded(), HI_BAD_DATA. */
enum hi_status hi_query_events(struct hi_query *q, uint64_t *n_ret, struct hi_error *err);
/* One of them; valid until the next call. HI_BAD_DATA. */
enum hi_status hi_query_event(struct hi_query *q, uint64_t row,
			      const struct hi_kept_event **ret, struct hi_error *err);
void hi_event_reading_destroy(struct hi_event_reading *reading); /* NULL is fine */
/* sets: &q->retainers or &q->bins. */
enum hi_status hi_sets_open(struct hi_query *q, struct hi_sets *sets,
			    struct hi_error *err);
/* Frees the rows; zero-initialised sets are fine. */
void hi_sets_free(struct hi_sets *sets);

/* ---- tables ---- */

/*
 * Every row has a key, and a table is its rows in the order of keys. `number` columns
 * grow with the key, so that SQLite's =, <, <=, >, >= on them become a range of keys.
 * Other ways to rows are of two kinds: those with `column` = value, and the whole table
 * in another order.
 */
struct hi_query_way {
	int column;	 /* asked for by; -1: the whole table */
	int order;	 /* column that rows come in the order of; -1 none */
	bool takes_null; /* column IS NULL */
	bool both_ways;	 /* the order, backwards too */
	double share;	 /* of the table's rows that one value has; 0: a few */
};

/* The position of a statement in a table. */
struct hi_query_walk {
	unsigned way;
	bool backwards, is_null; /* is_null: column IS NULL */
	bool is_text;
	int64_t integer;  /* the value of the way's column, */
	const char *text; /* or a string of so many bytes */
	size_t length;
	uint64_t low, high; /* way 0: keys in [low, high) */
	uint64_t row;	    /* the key of the row it is at */
	uint64_t at, end;   /* the table's own */
	const void *list;   /* and so is this */
};

struct hi_query_ops {
	const char *name, *about;
	const struct hi_query_column *columns;
	size_t n_columns;
	const struct hi_query_way *ways; /* [0]: in the order of keys */
	size_t n_ways;
	/* Columns that grow with the key, a bit each; the row id is column 63. */
	uint64_t grows;
	/* An estimate of the number of rows, without computing much. */
	uint64_t (*about_rows)(const struct hi_query *q);
	/* Keys are in [*low_ret, *high_ret). */
	enum hi_status (*keys)(struct hi_query *q, uint64_t *low_ret, uint64_t *high_ret,
			       struct hi_error *err);
	/* The first key in [low, high) whose column is >= value, else high. NULL: the
	 * column is the key. */
	uint64_t (*bound)(struct hi_query *q, int column, int64_t value, uint64_t low,
			  uint64_t high);
	/* Begins a walk; NULL: way 0 alone, and each number in the range is a row. */
	enum hi_status (*start)(struct hi_query *q, struct hi_query_walk *walk,
				struct hi_error *err);
	/* On to the next row, which becomes walk->row; false: there is none. */
	bool (*next)(struct hi_query *q, struct hi_query_walk *walk);
	enum hi_status (*cell)(struct hi_query *q, uint64_t row, int column,
			       struct hi_result_cell *ret, struct hi_error *err);
};
enum { HI_COLUMN_ROWID = 63 };

/* tables.c; NULL ends. */
extern const struct hi_query_ops *const hi_query_all[];
extern const struct hi_query_ops hi_query_table_objects, hi_query_table_edges,
	hi_query_table_types, hi_query_table_roots, hi_query_table_frames,
	hi_query_table_dominators, hi_query_table_retainer_sets, hi_query_table_bins,
	hi_query_table_ledger, hi_query_table_censuses, hi_query_table_marks,
	hi_query_table_audit, hi_query_table_allocations, hi_query_table_contexts,
	hi_query_table_context_frames, hi_query_table_pieces, hi_query_table_events;

#define HI_COLUMNS(list) .columns = (list), .n_columns = sizeof(list) / sizeof((list)[0])
#define HI_WAYS(list) .ways = (list), .n_ways = sizeof(list) / sizeof((list)[0])
extern const struct hi_query_way hi_way_of_keys[1]; /* of a table that has no other */

/* hi_query_ops.bound of keys whose upper 32 bits are the column. */
uint64_t hi_query_bound_upper(struct hi_query *q, int column, int64_t value, uint64_t low,
			      uint64_t high);
/* Way 0 and lists: each number of [low, high) is a row. */
void hi_query_walk_keys(struct hi_query_walk *walk);
/* Moves on to the next key, which becomes walk->row. False: there is none. */
bool hi_query_next_key(struct hi_query *q, struct hi_query_walk *walk);

/* ---- cells ---- */

static inline struct hi_result_cell hi_cell_null(void)
{
	return (struct hi_result_cell){.kind = HI_RESULT_NULL};
}
/* UINT64_MAX is unknown; what SQLite has no number for is its greatest one. */
static inline struct hi_result_cell hi_cell_u64(uint64_t number)
{
	if (number == UINT64_MAX)
		return hi_cell_null();
	return (struct hi_result_cell){.kind = HI_RESULT_INTEGER,
				       .integer = number > INT64_MAX ? INT64_MAX
								     : (int64_t)number};
}
static inline struct hi_result_cell hi_cell_node(hi_node node)
{
	return hi_cell_u64(node == HI_NODE_NONE ? UINT64_MAX : node);
}
static inline struct hi_result_cell hi_cell_known_address(uint64_t address)
{
	return hi_cell_u64(address ? address : UINT64_MAX);
}
static inline struct hi_result_cell hi_cell_string_n(const char *text, size_t length)
{
	return (struct hi_result_cell){
		.kind = HI_RESULT_TEXT, .text = text, .length = length};
}
/* NULL and "" are unknown. */
static inline struct hi_result_cell hi_cell_string(const char *text)
{
	return text && *text ? hi_cell_string_n(text, strlen(text)) : hi_cell_null();
}
/* Returns the cell of a type's name; not "(untyped)". */
struct hi_result_cell hi_cell_type(const struct hi_query *q, uint32_t type);

/* ---- SQLite's side ---- */

struct hi_connected {
	struct hi_query *q;
	const struct hi_query_ops *ops;
};
extern const sqlite3_module hi_query_module; /* module.c; its pAux: connected */
int hi_query_plan(sqlite3_vtab *table, sqlite3_index_info *info); /* plan.c */
/* Reads a plan and its values into the walk; *any_ret: a row may match. */
enum hi_status hi_query_ask(struct hi_query *q, const struct hi_query_ops *ops,
			    int number, const char *text, sqlite3_value **values,
			    struct hi_query_walk *walk, bool *any_ret,
			    struct hi_error *err);
/* Restricts the connection to reading (guard.c). HI_UNSUPPORTED: SQLite refuses. */
enum hi_status hi_query_guard(struct hi_query *q, struct hi_error *err); /* guard.c */
/* Nearest names into the hint of a mistake. */
void hi_query_suggest(const char *message, const char *sql,
		      struct hi_query_mistake *mistake);

struct hi_virtual_table {
	sqlite3_vtab base; /* first */
	struct hi_query *q;
	const struct hi_query_ops *ops;
};

#endif
