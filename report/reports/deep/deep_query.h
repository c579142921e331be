/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries of a deep profile: which report, of what, and how it is shown. As text they are
 * those of Mercury's deep profiler, for command lines and addresses of pages:
 *
 *	COMMAND[/FIELD…][&NAME=VALUE…]
 *
 *	menu, root/no, root/PERCENT, clique/N, clique_rc/N, recursion_type_freq, proc/N
 *	proc_callers/N/(cs|pr|mo|cl)/PAGE/SIZE/(ac|nc), program_modules, module/NAME
 *	top_procs/(LOW-HIGH|pPERCENT|vVALUE)/COST/(self|both)/(pc|oa)
 *	dump_node/N, dump_edge/N, dump_function/N, dump_site/N, dump_clique/N
 *	flame[/COST[/CLIQUE]]: contexts as a tree, largest first
 *	timeout/MINUTES, restart, quit: for a server
 *
 * Numbers count from 1, as in Mercury: node 1 is the root. Function 0 is the allocator,
 * which all allocations are calls of. In names of modules all but letters, digits and
 * "_.+-~/:@,=" is %XX. The same query has one text; parsed, it is the same query.
 */
#ifndef HI_REPORT_REPORTS_DEEP_DEEP_QUERY_H
#define HI_REPORT_REPORTS_DEEP_DEEP_QUERY_H

#include "base/arena.h"
#include "census/deep/deep.h"

/* Beside enum hi_deep_cost: bytes, shown as words of 8. */
enum { HI_DEEP_WORDS = HI_DEEP_COSTS, HI_DEEP_ORDERS };

enum {
	HI_DEEP_MODULE_SIZE = 1024, /* of a query, with the NUL; longer names have none */
	HI_DEEP_QUERY_SIZE = 8192,
	HI_DEEP_MOST_ROWS = 100000, /* that a page can ask for */
};

enum hi_deep_command {
	HI_DEEP_MENU,
	HI_DEEP_ROOT,
	HI_DEEP_CLIQUE,
	HI_DEEP_CLIQUE_RC,
	HI_DEEP_RECURSION_TYPES,
	HI_DEEP_PROC,
	HI_DEEP_PROC_CALLERS,
	HI_DEEP_PROGRAM_MODULES,
	HI_DEEP_MODULE,
	HI_DEEP_TOP_PROCS,
	HI_DEEP_DUMP_NODE,
	HI_DEEP_DUMP_EDGE,
	HI_DEEP_DUMP_FUNCTION,
	HI_DEEP_DUMP_SITE,
	HI_DEEP_DUMP_CLIQUE,
	HI_DEEP_DUMP_ALL,
	HI_DEEP_FLAME,
	HI_DEEP_TIMEOUT,
	HI_DEEP_RESTART,
	HI_DEEP_QUIT,
	HI_DEEP_COMMANDS
};

/* What callers are put together by. */
enum hi_deep_group {
	HI_DEEP_BY_SITE,
	HI_DEEP_BY_PROC,
	HI_DEEP_BY_MODULE,
	HI_DEEP_BY_CLIQUE
};
/* Which functions are the top: of a range of ranks (from 1), with at least a share of the
 * total (thousandths of a per cent), with at least a value. */
enum hi_deep_limit { HI_DEEP_RANKS, HI_DEEP_SHARE, HI_DEEP_VALUE };
enum hi_deep_arrange { HI_DEEP_BY_CONTEXT, HI_DEEP_BY_NAME, HI_DEEP_BY_COST };
/* Where a function's module is shown: where it is not that of the page, always, never. */
enum hi_deep_qualify { HI_DEEP_DIFFERENT, HI_DEEP_ALWAYS, HI_DEEP_NEVER };

/* How a report is shown. Links keep them. Zeros are no defaults: hi_deep_query_init(). */
struct hi_deep_preferences {
	uint32_t fields; /* bit of each cost that is a column; 0: what the profile has */
	enum hi_deep_arrange arrange; /* of rows */
	int cost;		      /* that rows are arranged by, and root/PERCENT */
	bool self;		      /* by own costs, not with those of descendants */
	bool per_call;		      /* columns of costs by call */
	bool words;		      /* instead of bytes */
	uint32_t ancestors;	      /* of a clique, at most */
	uint32_t per_type;	      /* functions of each recursion type, at most */
	enum hi_deep_qualify qualify;
	bool sum_indirect; /* callees of an indirect call are one row */
	bool contour;	   /* links to callers have it */
	bool inactive_sites, inactive_procs, inactive_modules; /* are shown */
	bool developer;					       /* links to dumps */
};

struct hi_deep_query {
	enum hi_deep_command command;
	uint32_t id;	  /* N, minutes */
	uint32_t percent; /* of root; 0: no */
	enum hi_deep_group group;
	uint32_t page, page_size; /* from 1 */
	bool contour;
	enum hi_deep_limit limit;
	uint64_t low, high;
	int cost;
	bool self, per_call;
	char module[HI_DEEP_MODULE_SIZE];
	struct hi_deep_preferences prefs;
};

/* The menu, with the default preferences. */
void hi_deep_query_init(struct hi_deep_query *query);
/* HI_USAGE: it is none; the text has what there is. HI_UNSUPPORTED: a report of Mercury
 * that needs data which a profile does not have; the text names them. */
enum hi_status hi_deep_query_parse(const char *text, struct hi_deep_query *ret,
				   struct hi_error *err);
/* The text of a query; preferences where they are not the defaults. NULL: out of memory.
 */
char *hi_deep_query_text(const struct hi_deep_query *query, struct hi_arena *arena);
/* "bytes", "words"; as queries have it. */
const char *hi_deep_cost_name(int cost);

#endif
