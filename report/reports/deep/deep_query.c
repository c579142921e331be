/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/deep/deep_query.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"

enum {
	MOST_FIELDS = 6,
	SHARE_WHOLE = 100000, /* 100 %, of HI_DEEP_SHARE */
	ANY_FIELDS = 9,	      /* of a command: as many as its parser likes */
};

static const char *const cost_names[HI_DEEP_ORDERS] = {
	[HI_DEEP_CALLS] = "calls",	     [HI_DEEP_EXITS] = "exits",
	[HI_DEEP_FAILS] = "fails",	     [HI_DEEP_REDOS] = "redos",
	[HI_DEEP_EXCEPTIONS] = "exceptions", [HI_DEEP_TICKS] = "ticks",
	[HI_DEEP_CALLSEQS] = "callseqs",     [HI_DEEP_ALLOCS] = "allocs",
	[HI_DEEP_BYTES] = "bytes",	     [HI_DEEP_LIVE] = "live",
	[HI_DEEP_LIVE_BYTES] = "live_bytes", [HI_DEEP_LEAKED_BYTES] = "leaked",
	[HI_DEEP_USE_BYTES] = "use",	     [HI_DEEP_DRAG_BYTES] = "drag",
	[HI_DEEP_VOID_BYTES] = "void",	     [HI_DEEP_COPIED_BYTES] = "copies",
	[HI_DEEP_SPARE_BYTES] = "spare",     [HI_DEEP_RETAINED_BYTES] = "retained",
	[HI_DEEP_WORDS] = "words",
};
static const char *const group_names[] = {"cs", "pr", "mo", "cl"};
static const char *const yes_names[] = {"no", "yes"};
static const char *const scope_names[] = {"both", "self"};
static const char *const per_names[] = {"oa", "pc"};
static const char *const contour_names[] = {"nc", "ac"};
static const char *const unit_names[] = {"bytes", "words"};
static const char *const qualify_names[] = {"different", "always", "never"};
static const char *const indirect_names[] = {"each", "sum"};
static const char *const arrange_names[] = {"context", "name", "cost"};
static const char *const inactive_names[] = {"sites", "procs", "modules"};

/* Also those of Mercury that have another name here. */
static int find_cost(const char *name)
{
	if (strcmp(name, "time") == 0)
		return HI_DEEP_TICKS;
	for (int i = 0; i < HI_DEEP_ORDERS; i++)
		if (strcmp(name, cost_names[i]) == 0)
			return i;
	return -1;
}

static int find_query_word(const char *name, const char *const names[], int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

#define find_word(name, names)                                                           \
	find_query_word(name, names, sizeof(names) / sizeof(*(names)))

static bool parse_flag(const char *text, const char *const names[2], bool *ret)
{
	int i = find_query_word(text, names, 2);

	*ret = i == 1;
	return i >= 0;
}

static bool parse_u32(const char *text, uint32_t low, uint32_t high, uint32_t *ret)
{
	uint64_t number = low;
	bool ok = hi_parse_number(text, low, high, &number);

	*ret = (uint32_t)number;
	return ok;
}

/* ---- fields of commands ---- */

/* A percentage with up to three digits behind the point. */
static bool parse_share(const char *text, uint64_t *ret)
{
	const char *point = strchr(text, '.');
	char whole[8], part[4] = "000";
	size_t n = point ? (size_t)(point - text) : strlen(text),
	       more = point ? strlen(point + 1) : 0;
	uint64_t a, b;

	if (!n || n >= sizeof(whole) || more > 3 || (point && !more) ||
	    strspn(text, "0123456789.") != strlen(text))
		return false;
	memcpy(whole, text, n);
	whole[n] = 0;
	memcpy(part, point ? point + 1 : "", more);
	if (!hi_parse_number(whole, 0, 100, &a) || !hi_parse_number(part, 0, 999, &b))
		return false;
	*ret = a * 1000 + b;
	return *ret <= SHARE_WHOLE;
}

static bool parse_limit(char *text, struct hi_deep_query *q)
{
	char *dash;
	uint32_t low, high;

	if (*text == 'p') {
		q->limit = HI_DEEP_SHARE;
		return parse_share(text + 1, &q->low);
	}
	if (*text == 'v') {
		q->limit = HI_DEEP_VALUE;
		return hi_parse_number(text + 1, 0, UINT64_MAX, &q->low);
	}
	q->limit = HI_DEEP_RANKS;
	dash = strchr(text, '-');
	if (!dash)
		return false;
	*dash = 0;
	if (!parse_u32(text, 1, UINT32_MAX - 1, &low) ||
	    !parse_u32(dash + 1, low, UINT32_MAX - 1, &high) ||
	    high - low >= HI_DEEP_MOST_ROWS)
		return false;
	q->low = low;
	q->high = high;
	return true;
}

static bool parse_nothing(char *fields[], struct hi_deep_query *q)
{
	(void)fields;
	(void)q;
	return true;
}

static bool parse_id(char *fields[], struct hi_deep_query *q)
{
	return parse_u32(fields[0], 1, UINT32_MAX - 1, &q->id);
}

static bool parse_function_id(char *fields[], struct hi_deep_query *q)
{
	return parse_u32(fields[0], 0, UINT32_MAX - 1, &q->id);
}

static bool parse_root(char *fields[], struct hi_deep_query *q)
{
	q->percent = 0;
	return strcmp(fields[0], "no") == 0 || parse_u32(fields[0], 1, 100, &q->percent);
}

static bool parse_callers(char *fields[], struct hi_deep_query *q)
{
	int group = find_word(fields[1], group_names);

	q->group = (enum hi_deep_group)group;
	return parse_function_id(fields, q) && group >= 0 &&
	       parse_u32(fields[2], 1, UINT32_MAX - 1, &q->page) &&
	       parse_u32(fields[3], 1, HI_DEEP_MOST_ROWS, &q->page_size) &&
	       parse_flag(fields[4], contour_names, &q->contour);
}

static bool parse_top(char *fields[], struct hi_deep_query *q)
{
	q->cost = find_cost(fields[1]);
	return parse_limit(fields[0], q) && q->cost >= 0 &&
	       parse_flag(fields[2], scope_names, &q->self) &&
	       parse_flag(fields[3], per_names, &q->per_call);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Undoes %XX; a NUL is none. */
static bool parse_module(char *fields[], struct hi_deep_query *q)
{
	size_t n = 0;

	for (const char *c = fields[0]; *c; c++) {
		int byte = (unsigned char)*c;

		if (*c == '%') {
			int high = hex_digit(c[1]), low = high < 0 ? -1 : hex_digit(c[2]);

			byte = low < 0 ? 0 : high * 16 + low;
			if (!byte)
				return false;
			c += 2;
		}
		if (n + 1 >= sizeof(q->module))
			return false;
		q->module[n++] = (char)byte;
	}
	q->module[n] = 0;
	return true;
}

/* Which fields there are depends on how many: the others are NULL. */
static bool parse_flame(char *fields[], struct hi_deep_query *q)
{
	q->cost = fields[0] ? find_cost(fields[0]) : HI_DEEP_BYTES;
	q->id = 0;
	return q->cost >= 0 && !fields[2] &&
	       (!fields[1] || parse_u32(fields[1], 1, UINT32_MAX - 1, &q->id));
}

static const struct command_row {
	const char *name, *shape;
	int n_fields; /* -1: all that follows is one */
	bool (*parse)(char *fields[], struct hi_deep_query *q);
} commands[HI_DEEP_COMMANDS] = {
	[HI_DEEP_MENU] = {"menu", "menu", 0, parse_nothing},
	[HI_DEEP_ROOT] = {"root", "root/no or root/PERCENT", 1, parse_root},
	[HI_DEEP_CLIQUE] = {"clique", "clique/N", 1, parse_id},
	[HI_DEEP_CLIQUE_RC] = {"clique_rc", "clique_rc/N", 1, parse_id},
	[HI_DEEP_RECURSION_TYPES] = {"recursion_type_freq", "recursion_type_freq", 0,
				     parse_nothing},
	[HI_DEEP_PROC] = {"proc", "proc/N", 1, parse_function_id},
	[HI_DEEP_PROC_CALLERS] = {"proc_callers",
				  "proc_callers/N/(cs|pr|mo|cl)/PAGE/SIZE/(ac|nc)", 5,
				  parse_callers},
	[HI_DEEP_PROGRAM_MODULES] = {"program_modules", "program_modules", 0,
				     parse_nothing},
	[HI_DEEP_MODULE] = {"module", "module/NAME", -1, parse_module},
	[HI_DEEP_TOP_PROCS] =
		{"top_procs",
		 "top_procs/(LOW-HIGH|pPERCENT|vVALUE)/COST/(self|both)/(pc|oa)", 4,
		 parse_top},
	[HI_DEEP_DUMP_NODE] = {"dump_node", "dump_node/N", 1, parse_id},
	[HI_DEEP_DUMP_EDGE] = {"dump_edge", "dump_edge/N", 1, parse_id},
	[HI_DEEP_DUMP_FUNCTION] = {"dump_function", "dump_function/N", 1, parse_id},
	[HI_DEEP_DUMP_SITE] = {"dump_site", "dump_site/N", 1, parse_id},
	[HI_DEEP_DUMP_CLIQUE] = {"dump_clique", "dump_clique/N", 1, parse_id},
	[HI_DEEP_DUMP_ALL] = {"dump", "dump", 0, parse_nothing},
	[HI_DEEP_FLAME] = {"flame", "flame or flame/COST or flame/COST/CLIQUE",
			   ANY_FIELDS, parse_flame},
	[HI_DEEP_TIMEOUT] = {"timeout", "timeout/MINUTES", 1, parse_id},
	[HI_DEEP_RESTART] = {"restart", "restart", 0, parse_nothing},
	[HI_DEEP_QUIT] = {"quit", "quit", 0, parse_nothing},
};

/* Reports of Mercury, and what they are made from. */
static const struct {
	const char *name, *missing;
} unsupported[] = {
	{"module_getter_setters", "reads and writes of fields (bio --watch)"},
	{"module_rep", "the types of the program: explain shows those of an object"},
	{"proc_static_coverage", "coverage points (docs/DEEP.md: of pointer fields)"},
	{"proc_dynamic_coverage", "coverage points (docs/DEEP.md: of pointer fields)"},
	{"call_site_dynamic_var_use",
	 "uses of variables: explain has those of an object"},
};

static enum hi_status fail_unknown_report(const char *name, struct hi_error *err)
{
	char shown[40];

	hi_text_escape(shown, sizeof(shown), name, strnlen(name, sizeof(shown)));
	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++)
		if (strcmp(name, unsupported[i].name) == 0)
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "%s: a deep profile does not have %s", name,
				       unsupported[i].missing);
	return hi_fail(
		err, HI_USAGE, 0,
		"\"%s\" is no report: menu, root, clique, clique_rc, "
		"recursion_type_freq, proc, proc_callers, program_modules, "
		"module, top_procs, flame, dump_node/_edge/_function/_site/_clique",
		shown);
}

static enum hi_status parse_command(char *text, struct hi_deep_query *q,
				    struct hi_error *err)
{
	char *fields[MOST_FIELDS] = {}, *rest = strchr(text, '/');
	const struct command_row *row;
	int n = 0;

	if (rest)
		*rest++ = 0;
	for (row = commands; row < commands + HI_DEEP_COMMANDS; row++)
		if (strcmp(row->name, text) == 0)
			break;
	if (row == commands + HI_DEEP_COMMANDS)
		return fail_unknown_report(text, err);
	q->command = (enum hi_deep_command)(row - commands);
	if (row->n_fields < 0 && rest)
		fields[n++] = rest;
	else
		while (rest && n < MOST_FIELDS)
			fields[n++] = strsep(&rest, "/");
	if ((row->n_fields != ANY_FIELDS &&
	     n != (row->n_fields < 0 ? 1 : row->n_fields)) ||
	    !row->parse(fields, q))
		return hi_fail(err, HI_USAGE, 0, "%s: expected %s", row->name,
			       row->shape);
	return HI_OK;
}

/* ---- preferences ---- */

static bool parse_fields(char *value, uint32_t *ret)
{
	char *name;

	*ret = 0;
	while ((name = strsep(&value, ","))) {
		int cost = find_cost(name);

		if (cost < 0)
			return false;
		*ret |= 1u << cost;
	}
	return true;
}

static bool parse_inactive(char *value, struct hi_deep_preferences *p)
{
	bool *flags[] = {&p->inactive_sites, &p->inactive_procs, &p->inactive_modules};
	char *name;

	for (int i = 0; i < 3; i++)
		*flags[i] = strcmp(value, "shown") == 0;
	if (strcmp(value, "shown") == 0 || strcmp(value, "hidden") == 0)
		return true;
	while ((name = strsep(&value, ","))) {
		int i = find_word(name, inactive_names);

		if (i < 0)
			return false;
		*flags[i] = true;
	}
	return true;
}

static bool parse_order(const char *value, struct hi_deep_preferences *p)
{
	int i = find_query_word(value, arrange_names, 2); /* "cost" is a cost's name */

	p->arrange = i < 0 ? HI_DEEP_BY_COST : (enum hi_deep_arrange)i;
	if (i >= 0)
		return true;
	p->cost = find_cost(value);
	return p->cost >= 0;
}

static bool parse_choice(const char *value, const char *const names[], int n, int *ret)
{
	*ret = find_query_word(value, names, n);
	return *ret >= 0;
}

static bool parse_preference(const char *name, char *value, struct hi_deep_preferences *p)
{
	int choice = 0;
	bool ok;

	if (strcmp(name, "fields") == 0)
		return parse_fields(value, &p->fields);
	if (strcmp(name, "order") == 0)
		return parse_order(value, p);
	if (strcmp(name, "scope") == 0)
		return parse_flag(value, scope_names, &p->self);
	if (strcmp(name, "per_call") == 0)
		return parse_flag(value, yes_names, &p->per_call);
	if (strcmp(name, "unit") == 0)
		return parse_flag(value, unit_names, &p->words);
	if (strcmp(name, "ancestors") == 0)
		return parse_u32(value, 0, HI_DEEP_MOST_ROWS, &p->ancestors);
	if (strcmp(name, "per_type") == 0)
		return parse_u32(value, 0, HI_DEEP_MOST_ROWS, &p->per_type);
	if (strcmp(name, "indirect") == 0)
		return parse_flag(value, indirect_names, &p->sum_indirect);
	if (strcmp(name, "contour") == 0)
		return parse_flag(value, yes_names, &p->contour);
	if (strcmp(name, "inactive") == 0)
		return parse_inactive(value, p);
	if (strcmp(name, "developer") == 0)
		return parse_flag(value, yes_names, &p->developer);
	ok = strcmp(name, "modules") == 0 &&
	     parse_choice(value, qualify_names, 3, &choice);
	p->qualify = (enum hi_deep_qualify)choice;
	return ok;
}

static enum hi_status fail_preference(const char *name, struct hi_error *err)
{
	char shown[40];

	hi_text_escape(shown, sizeof(shown), name, strnlen(name, sizeof(shown)));
	return hi_fail(err, HI_USAGE, 0,
		       "\"%s\": bad preference: fields=COST,… order=context|name|COST "
		       "scope=self|both per_call, contour, developer=yes|no "
		       "unit=bytes|words ancestors, per_type=N modules= indirect= "
		       "inactive=",
		       shown);
}

void hi_deep_query_init(struct hi_deep_query *query)
{
	*query = (struct hi_deep_query){.page = 1,
					.page_size = 20,
					.low = 1,
					.high = 100,
					.cost = HI_DEEP_BYTES,
					.prefs = {.arrange = HI_DEEP_BY_COST,
						  .cost = HI_DEEP_BYTES,
						  .ancestors = 5,
						  .per_type = 20}};
}

enum hi_status hi_deep_query_parse(const char *text, struct hi_deep_query *ret,
				   struct hi_error *err)
{
	char copy[HI_DEEP_QUERY_SIZE], *rest = copy, *word;
	size_t n = strnlen(text, sizeof(copy));
	struct hi_deep_query query;
	enum hi_status status;

	if (n == sizeof(copy))
		return hi_fail(err, HI_USAGE, 0, "a query has %d bytes at most",
			       HI_DEEP_QUERY_SIZE - 1);
	memcpy(copy, text, n + 1);
	hi_deep_query_init(&query);
	word = strsep(&rest, "&");
	status = parse_command(word, &query, err);
	if (status)
		return status;
	while ((word = strsep(&rest, "&"))) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		if (!value || !parse_preference(word, value, &query.prefs))
			return fail_preference(word, err);
	}
	*ret = query;
	return HI_OK;
}

/* ---- text ---- */

static void write_module(const char *module, FILE *out)
{
	for (const unsigned char *c = (const unsigned char *)module; *c; c++) {
		if ((*c < 128 && isalnum(*c)) || strchr("_.+-~/:@,=", *c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02x", *c);
	}
}

static void write_share(uint64_t share, FILE *out)
{
	char part[8];
	size_t n = (size_t)snprintf(part, sizeof(part), "%03u", (unsigned)(share % 1000));

	while (n && part[n - 1] == '0')
		part[--n] = 0;
	fprintf(out, "p%" PRIu64 "%s%s", share / 1000, n ? "." : "", part);
}

static void write_top(const struct hi_deep_query *q, FILE *out)
{
	fputc('/', out);
	if (q->limit == HI_DEEP_RANKS)
		fprintf(out, "%" PRIu64 "-%" PRIu64, q->low, q->high);
	else if (q->limit == HI_DEEP_SHARE)
		write_share(q->low, out);
	else
		fprintf(out, "v%" PRIu64, q->low);
	fprintf(out, "/%s/%s/%s", cost_names[q->cost], scope_names[q->self],
		per_names[q->per_call]);
}

static void write_flame(const struct hi_deep_query *q, FILE *out)
{
	fprintf(out, "/%s", cost_names[q->cost]);
	if (q->id)
		fprintf(out, "/%u", q->id);
}

static void write_command(const struct hi_deep_query *q, FILE *out)
{
	const struct command_row *row = &commands[q->command];

	fputs(row->name, out);
	if (q->command == HI_DEEP_ROOT && !q->percent)
		fputs("/no", out);
	else if (q->command == HI_DEEP_ROOT)
		fprintf(out, "/%u", q->percent);
	else if (q->command == HI_DEEP_TOP_PROCS)
		write_top(q, out);
	else if (q->command == HI_DEEP_FLAME)
		write_flame(q, out);
	else if (row->n_fields > 0)
		fprintf(out, "/%u", q->id);
	else if (row->n_fields < 0) {
		fputc('/', out);
		write_module(q->module, out);
	}
	if (q->command == HI_DEEP_PROC_CALLERS)
		fprintf(out, "/%s/%u/%u/%s", group_names[q->group], q->page, q->page_size,
			contour_names[q->contour]);
}

static void write_fields(uint32_t fields, FILE *out)
{
	const char *before = "&fields=";

	for (int i = 0; i < HI_DEEP_ORDERS; i++) {
		if (!(fields >> i & 1))
			continue;
		fprintf(out, "%s%s", before, cost_names[i]);
		before = ",";
	}
}

static void write_inactive(const struct hi_deep_preferences *p, FILE *out)
{
	bool flags[] = {p->inactive_sites, p->inactive_procs, p->inactive_modules};
	const char *before = "&inactive=";

	if (flags[0] && flags[1] && flags[2]) {
		fprintf(out, "%sshown", before);
		return;
	}
	for (int i = 0; i < 3; i++) {
		if (!flags[i])
			continue;
		fprintf(out, "%s%s", before, inactive_names[i]);
		before = ",";
	}
}

static void write_preferences(const struct hi_deep_preferences *p, FILE *out)
{
	write_fields(p->fields, out);
	if (p->cost != HI_DEEP_BYTES)
		fprintf(out, "&order=%s", cost_names[p->cost]);
	if (p->arrange != HI_DEEP_BY_COST)
		fprintf(out, "&order=%s", arrange_names[p->arrange]);
	if (p->self)
		fputs("&scope=self", out);
	if (p->per_call)
		fputs("&per_call=yes", out);
	if (p->words)
		fputs("&unit=words", out);
	if (p->ancestors != 5)
		fprintf(out, "&ancestors=%u", p->ancestors);
	if (p->per_type != 20)
		fprintf(out, "&per_type=%u", p->per_type);
	if (p->qualify)
		fprintf(out, "&modules=%s", qualify_names[p->qualify]);
	if (p->sum_indirect)
		fputs("&indirect=sum", out);
	if (p->contour)
		fputs("&contour=yes", out);
	write_inactive(p, out);
	if (p->developer)
		fputs("&developer=yes", out);
}

char *hi_deep_query_text(const struct hi_deep_query *query, struct hi_arena *arena)
{
	char text[HI_DEEP_QUERY_SIZE];
	FILE *out = fmemopen(text, sizeof(text), "w");

	if (!out)
		return NULL;
	write_command(query, out);
	write_preferences(&query->prefs, out);
	fputc(0, out);
	return fclose(out) ? NULL : hi_arena_strdup(arena, text);
}

const char *hi_deep_cost_name(int cost)
{
	return cost_names[cost];
}