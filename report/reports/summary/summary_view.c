/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as a page of at most a screen and a half. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/made_by.h"
#include "report/parts/report_links.h"
#include "report/reports/summary/rss_advice.h"
#include "report/reports/summary/summary_report.h"

/* Rows that are shown without --top and --all. */
enum {
	ROOTS_SHOWN = 5,
	LEAKS_SHOWN = 3,
	CYCLES_SHOWN = 2,
	SUSPECTS_SHOWN = 3,
	HOLDERS_SHOWN = 5, /* suspects with the lesser ones */
	DEFAULT_TOP = 10
};

/* "server", "server + 2": enough to begin with. */
static const char *owner_label(const struct hi_summary_owner *o, struct hi_page *page)
{
	const char *text;

	if (o->is_many)
		return hi_page_printf(page, "(over %d variables)", HI_OWNERS_MAX);
	if (o->n == 0)
		return "(no variable)";
	text = hi_page_safe(page, o->variables[0].name);
	return o->n > 1 ? hi_page_printf(page, "%s + %zu", text, o->n - 1) : text;
}

/* "server and 2 more variables" */
static const char *owner_sentence(const struct hi_summary_owner *o, struct hi_page *page)
{
	return hi_page_printf(page, "%s and %zu more variable%s",
			      hi_page_safe(page, o->variables[0].name), o->n - 1,
			      o->n == 2 ? "" : "s");
}

/* The first that has a name. */
static const struct hi_summary_owner *main_owner(const struct hi_summary_report *r)
{
	for (size_t i = 0; i < r->n_owners; i++)
		if (r->owners[i].is_named && r->owners[i].n && !r->owners[i].nearest)
			return &r->owners[i];
	return NULL;
}

/* Where no variable alone keeps much. */
static const char *held_by_suspect(const struct hi_summary_report *r,
				   struct hi_page *page)
{
	const struct hi_summary_suspect *s = r->suspects;
	char percent[16];

	if (!r->n_suspects || r->suspects_below || !*s->path || s->children < 2)
		return "";
	return hi_page_printf(page, "; %s is held by %s",
			      hi_percent(percent, s->children_bytes, r->live_bytes),
			      hi_page_safe_again(page, s->path));
}

static const char *held_by(const struct hi_summary_report *r, struct hi_page *page)
{
	const struct hi_summary_owner *owner = main_owner(r);
	const struct hi_node_info *top = r->n_suspects ? &r->suspects[0].top : NULL;
	char percent[16];

	/* Below a fifth no variable stands out. */
	if (r->live_bytes == 0)
		return "";
	if (!owner || owner->bytes < r->live_bytes / 5)
		return held_by_suspect(r, page);
	/* What several variables hold together has a suspect's name. */
	if (owner->n > 1 && top && *top->name && top->sort == HI_NODE_OBJECT &&
	    top->retained > owner->bytes / 2)
		return hi_page_printf(page, "; %s is held by %s",
				      hi_percent(percent, top->retained, r->live_bytes),
				      hi_page_safe(page, top->name));
	if (owner->n > 1)
		return hi_page_printf(page, "; %s is held by %s",
				      hi_percent(percent, owner->bytes, r->live_bytes),
				      owner_sentence(owner, page));
	/* A variable may be called anything, "live" for one. */
	return hi_page_printf(page, "; %s is held by %s (%s)",
			      hi_percent(percent, owner->bytes, r->live_bytes),
			      owner_label(owner, page),
			      hi_root_kind_key(owner->variables[0].kind));
}

/* Nothing is leaked where it is known. */
static const char *text_of_known_part(const struct hi_summary_report *r,
				      struct hi_page *page)
{
	const char *others = r->header->not_decoded;

	return hi_page_printf(page, "; leaks: none in the heap of %s, unknown in %s%s",
			      r->header->allocator,
			      others && *others ? "that of " : "the rest",
			      others ? hi_page_safe(page, others) : "");
}

static const char *text_of_leaked(const struct hi_summary_report *r, struct hi_page *page)
{
	enum hi_heap_known known = hi_heap_known(r->header);
	char n[32];
	uint64_t certain;

	if (known == HI_HEAP_UNKNOWN)
		return "; leaks are unknown";
	if (r->leak_objects == 0)
		return known == HI_HEAP_KNOWN_IN_PART ? text_of_known_part(r, page)
						      : "; no leaks";
	certain = r->leak_bytes - r->likely_bytes;
	return hi_page_printf(
		page, "; %s%s in %s root%s%s",
		certain ? hi_unreachable_classes_text(r->by_class, certain, page) : "",
		hi_likely_text(certain, r->likely_bytes, page),
		hi_count(n, r->leak_roots), r->leak_roots == 1 ? "" : "s",
		known == HI_HEAP_KNOWN_IN_PART ? ", other leaks are unknown" : "");
}

/* Without an allocator. */
static const char *found_by(const struct hi_summary_report *r)
{
	return r->header->runtime ? "the runtime and typed pointers lead to"
				  : "typed pointers lead to";
}

static void show_summary_headline(const struct hi_summary_report *r, struct hi_page *page)
{
	char bytes[24], n[32];

	if (!r->heap_known) {
		hi_page_text(page,
			     hi_page_printf(page, "What is on the heap is unknown: %s",
					    hi_heap_unknown_text(r->header, page)));
		return;
	}
	if (hi_heap_known(r->header) == HI_HEAP_UNKNOWN) {
		hi_page_text(page,
			     hi_page_printf(page,
					    "≥ %s in ≥ %s object%s that %s: a lower "
					    "bound, the heap itself is unknown%s%s",
					    hi_bytes(bytes, r->live_bytes),
					    hi_count(n, r->live_objects),
					    r->live_objects == 1 ? "" : "s", found_by(r),
					    text_of_leaked(r, page), held_by(r, page)));
		return;
	}
	hi_page_text(page, hi_page_printf(page, "%s%s live in %s object%s%s%s",
					  hi_heap_at_least(r->header),
					  hi_bytes(bytes, r->live_bytes),
					  hi_count(n, r->live_objects),
					  r->live_objects == 1 ? "" : "s",
					  text_of_leaked(r, page), held_by(r, page)));
	hi_page_link(page, hi_address(page, "census", NULL));
}

/* Columns of the ledger that are not empty for this target. */
struct ledger_columns {
	bool resident, swapped;
	struct hi_column *columns;
	size_t n;
};

static bool is_empty(const struct hi_ledger_row *row)
{
	return (row->resident == 0 || row->resident == HI_UNKNOWN) &&
	       (row->virtual_size == 0 || row->virtual_size == HI_UNKNOWN) &&
	       (row->swapped == 0 || row->swapped == HI_UNKNOWN);
}

static struct ledger_columns choose_columns(const struct hi_ledger *l,
					    struct hi_page *page)
{
	struct ledger_columns c = {.resident = l->rss != HI_UNKNOWN};
	struct hi_column *at = hi_arena_alloc(&page->arena, 6 * sizeof(*at));

	for (size_t i = 0; i < l->n_rows; i++)
		c.swapped |= l->rows[i].swapped != 0 && l->rows[i].swapped != HI_UNKNOWN;
	if (!at) {
		page->failed = true;
		return c;
	}
	c.columns = at;
	*at++ = (struct hi_column){"", HI_COLUMN_TEXT};
	if (c.resident) {
		*at++ = (struct hi_column){"resident", HI_COLUMN_BYTES};
		*at++ = (struct hi_column){"of RSS", HI_COLUMN_PERCENT};
	}
	*at++ = (struct hi_column){"virtual", HI_COLUMN_BYTES};
	if (c.swapped)
		*at++ = (struct hi_column){"swapped", HI_COLUMN_BYTES};
	*at++ = (struct hi_column){"count", HI_COLUMN_COUNT};
	c.n = (size_t)(at - c.columns);
	return c;
}

/* What shows more of it; free memory is a part of waste. */
static const char *address_of_ledger_row(const struct hi_ledger_row *row,
					 struct hi_page *page)
{
	static const struct {
		const char *key, *command;
	} pages[] = {{"live", "census"}, {"leak", "leaks"}, {"free", "waste"}};

	for (size_t i = 0; row->key && i < sizeof(pages) / sizeof(*pages); i++)
		if (strcmp(pages[i].key, row->key) == 0)
			return hi_address(page, pages[i].command, NULL);
	return "";
}

static void ledger_row(struct hi_report_table *t, const struct ledger_columns *c,
		       const struct hi_ledger_row *row, uint64_t rss)
{
	hi_cell_text(t, row->label, row->level > 0 ? (unsigned)row->level : 0);
	hi_cell_link(t, address_of_ledger_row(row, t->page));
	if (c->resident) {
		hi_cell_number(t, row->resident);
		hi_cell_percent(t, row->resident, rss);
	}
	hi_cell_number(t, row->virtual_size);
	if (c->swapped)
		hi_cell_number(t, row->swapped);
	if (row->count == HI_UNKNOWN)
		hi_cell_empty(t);
	else
		hi_cell_number(t, row->count);
}

/* Under a thousandth of RSS; such rows are one line together. */
static bool is_tiny(const struct hi_ledger *l, const struct hi_ledger_row *row)
{
	return l->rss != HI_UNKNOWN && row->resident != HI_UNKNOWN &&
	       row->resident < l->rss / 1000 &&
	       (row->swapped == 0 || row->swapped == HI_UNKNOWN);
}

static void ledger_rows(struct hi_report_table *t, const struct ledger_columns *c,
			const struct hi_ledger *l)
{
	struct hi_ledger_row rest = {.label = "", .count = HI_UNKNOWN};
	uint64_t tiny = 0;

	for (size_t i = 0; i < l->n_rows; i++)
		tiny += l->rows[i].level == 0 && !is_empty(&l->rows[i]) &&
			is_tiny(l, &l->rows[i]);
	for (size_t i = 0; i < l->n_rows; i++) {
		const struct hi_ledger_row *row = &l->rows[i];

		if (is_empty(row) || (is_tiny(l, row) && row->level > 0))
			continue;
		if (tiny < 2 || !is_tiny(l, row)) {
			ledger_row(t, c, row, l->rss);
			continue;
		}
		rest.resident += row->resident;
		if (row->virtual_size != HI_UNKNOWN)
			rest.virtual_size += row->virtual_size;
	}
	if (tiny < 2)
		return;
	rest.label = hi_page_printf(t->page, "%u smaller rows", (unsigned)tiny);
	ledger_row(t, c, &rest, l->rss);
}

static void ledger_sum(struct hi_report_table *t, const struct ledger_columns *c,
		       const struct hi_ledger *l)
{
	bool negative = l->unknown < 0;
	uint64_t magnitude = negative ? 0 - (uint64_t)l->unknown : (uint64_t)l->unknown;

	hi_cell_text(t, "unknown", 0);
	hi_cell_signed(t, l->unknown);
	if (negative)
		hi_cell_empty(t);
	else
		hi_cell_percent(t, magnitude, l->rss);
	for (size_t i = 3; i < c->n; i++)
		hi_cell_empty(t);
	hi_cell_text(t, "RSS", 0);
	hi_cell_number(t, l->rss);
	hi_cell_percent(t, l->rss, l->rss);
	for (size_t i = 3; i < c->n; i++)
		hi_cell_empty(t);
	hi_report_table_stress(t);
}

static void show_ledger(const struct hi_summary_report *r, struct hi_page *page)
{
	const struct hi_ledger *l = r->ledger;
	struct ledger_columns c;
	struct hi_report_table *t;

	if (!l)
		return;
	hi_page_heading(page, "Ledger",
			l->rss == HI_UNKNOWN
				? "a core file does not say which pages were resident"
			: r->header->only ? "of the whole process"
					  : NULL);
	c = choose_columns(l, page);
	if (!c.columns)
		return;
	t = hi_page_table(page, c.columns, c.n);
	ledger_rows(t, &c, l);
	if (c.resident)
		ledger_sum(t, &c, l);
	if (c.resident && l->unknown < 0)
		hi_page_note(page, "More bytes were counted than RSS: pages changed "
				   "between the two readings.");
	hi_rss_advice_show(l, r->header, page);
}

static size_t count_shown_by_default(size_t n, size_t usual)
{
	return n > usual && n <= DEFAULT_TOP ? usual : n;
}

/* Lines of the header beyond the usual: they are taken from the types, and of many also
 * from the suspects, so that the page stays a page. */
static size_t count_header_extra(const struct hi_summary_report *r)
{
	size_t extra = r->header->n_children_total ? 3 : 1;

	extra += hi_report_header_has_shares(r->header) ? 2 : 0;
	if (r->header->n_warnings > HI_REPORT_HEADER_WARNINGS)
		extra += HI_REPORT_HEADER_WARNINGS + 1;
	else
		extra += r->header->n_warnings;
	return extra;
}

static size_t suspects_shown(const struct hi_summary_report *r)
{
	return count_shown_by_default(r->n_suspects,
				      count_header_extra(r) > 4 ? 1 : SUSPECTS_SHOWN);
}

static size_t lesser_shown(const struct hi_summary_report *r)
{
	size_t n = suspects_shown(r);
	size_t most = count_header_extra(r) > 4 ? 2 : HOLDERS_SHOWN;

	return count_shown_by_default(r->n_lesser, n < most ? most - n : 0);
}

static size_t types_shown(const struct hi_summary_report *r)
{
	size_t n = suspects_shown(r) + lesser_shown(r);
	size_t extra = count_header_extra(r);

	extra += extra > 4 ? n > 1 : n > 3 ? 3 : n > 1 ? 2 : 0;

	return count_shown_by_default(r->n_types, DEFAULT_TOP - extra);
}

/* How many of the program's own types are beyond the first n: the last rows are theirs.
 */
static size_t count_own_beyond(const struct hi_summary_report *r, size_t n)
{
	size_t beyond = 0;

	for (size_t i = r->n_own_types; i-- > 0;)
		if (r->own_places[i] + beyond >= n && beyond < n / 2)
			beyond++;
	return beyond;
}

static const char *types_aside(const struct hi_summary_report *r, size_t n,
			       struct hi_page *page)
{
	size_t own = count_own_beyond(r, n);
	uint64_t hidden = r->types_hidden_bytes;
	char percent[16], bytes[24], count[32];
	const char *text =
		hi_page_printf(page, "%s of the bytes have no type",
			       hi_percent(percent, r->untyped_bytes, r->live_bytes));

	if (r->n_types_total == n)
		return text;
	for (size_t i = n - own; i < r->n_types; i++)
		hidden += r->types[i].shallow;
	for (size_t i = r->n_own_types - own; i < r->n_own_types; i++)
		hidden -= r->own_types[i].shallow;
	return hi_page_printf(page, "%s; %s more hold %s", text,
			      hi_count(count, r->n_types_total - n),
			      hi_bytes(bytes, hidden));
}

static void show_summary_type(const struct hi_summary_report *r,
			      const struct hi_summary_type *row,
			      struct hi_report_table *t)
{
	bool typed = row->evidence != HI_EVIDENCE_NONE;

	hi_cell_text(t, hi_type_label(row->type, t->page), 0);
	hi_cell_link(t, hi_address_of_any_type(t->page, row->type));
	hi_cell_number(t, row->count);
	hi_cell_link(t, hi_address_of_objects(t->page, row->type));
	hi_cell_number(t, row->shallow);
	hi_cell_percent(t, row->shallow, r->live_bytes);
	hi_cell_at_least(t, row->retained);
	hi_cell_link(t, hi_address_of_objects(t->page, row->type));
	hi_cell_text(t, typed ? hi_evidence_text(row->evidence) : "", 0);
}

static void show_summary_types(const struct hi_summary_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type", HI_COLUMN_TEXT},      {"count", HI_COLUMN_COUNT},
		{"shallow", HI_COLUMN_BYTES},  {"of live", HI_COLUMN_PERCENT},
		{"retained", HI_COLUMN_BYTES}, {"evidence", HI_COLUMN_MINOR_WORD}};
	size_t n = types_shown(r), own = count_own_beyond(r, n);
	struct hi_report_table *t;

	if (n == 0)
		return;
	hi_page_heading(page, "Top types", types_aside(r, n, page));
	hi_page_link(page, hi_address(page, "census", NULL));
	t = hi_page_table(page, columns, 6);
	for (size_t i = 0; i < n - own; i++)
		show_summary_type(r, &r->types[i], t);
	for (size_t i = r->n_own_types - own; i < r->n_own_types; i++)
		show_summary_type(r, &r->own_types[i], t);
}

/* ", nearest to modules 3.1 MiB, globals 0.2 MiB": those with a hundredth or more. */
static const char *nearest_text(const struct hi_summary_report *r, struct hi_page *page)
{
	const char *text = "";
	char bytes[24];

	for (unsigned k = 0; k < HI_NEAREST_CLASSES; k++)
		if (r->shared_nearest[k] && r->shared_nearest[k] >= r->live_bytes / 100)
			text = hi_page_printf(
				page, "%s%s%s %s", text, *text ? ", " : ", nearest to ",
				hi_nearest_class_name((enum hi_nearest_class)k),
				hi_bytes(bytes, r->shared_nearest[k]));
	return text;
}

/* "globals 180.2 MiB (84.4 %), stack frames …" */
static const char *kinds_text(const struct hi_summary_report *r, struct hi_page *page)
{
	const char *text = "";
	char bytes[24], percent[16];

	for (unsigned k = 0; k < HI_ROOT_KINDS; k++) {
		if (r->kinds[k] == 0)
			continue;
		text = hi_page_printf(page, "%s%s%s %s (%s)", text, *text ? ", " : "",
				      hi_root_kind_name((enum hi_root_kind)k),
				      hi_bytes(bytes, r->kinds[k]),
				      hi_percent(percent, r->kinds[k], r->live_bytes));
	}
	if (r->shared_by_kinds)
		text = hi_page_printf(
			page, "%s%sseveral kinds at once %s (%s)%s", text,
			*text ? ", " : "", hi_bytes(bytes, r->shared_by_kinds),
			hi_percent(percent, r->shared_by_kinds, r->live_bytes),
			nearest_text(r, page));
	return text;
}

/* ".bss +0x40 of smbd" beside a column with the module. */
static const char *owner_cell(const struct hi_summary_owner *o, struct hi_page *page)
{
	const char *text = owner_label(o, page), *where, *of;

	if (o->n != 1 || o->variables[0].kind != HI_ROOT_UNTYPED ||
	    o->variables[0].detail[0] == 0)
		return text;
	where = hi_page_safe(page, o->variables[0].detail);
	of = hi_page_printf(page, " of %s", where);
	if (strlen(text) <= strlen(of) ||
	    strcmp(text + strlen(text) - strlen(of), of) != 0)
		return text;
	return hi_page_printf(page, "%.*s", (int)(strlen(text) - strlen(of)), text);
}

/* One row: a variable, or those that hold something together. */
static void show_owner(const struct hi_summary_report *r,
		       const struct hi_summary_owner *o, struct hi_report_table *t,
		       struct hi_page *page)
{
	bool is_one = o->n == 1;
	const char *kind = is_one ? hi_root_kind_key(o->variables[0].kind)
			   : o->n ? "shared"
				  : "";

	hi_cell_text(t, owner_cell(o, page), 0);
	if (o->n)
		hi_cell_link(t, hi_address_of_node(page, &o->variables[0]));
	hi_cell_text(t, kind, 0);
	hi_cell_number(t, o->bytes);
	if (is_one)
		hi_cell_link(t, hi_address_of_level(page, &o->variables[0]));
	hi_cell_percent(t, o->bytes, r->live_bytes);
	hi_cell_text(t,
		     hi_page_type(page, is_one ? o->variables[0].type : o->largest.type),
		     0);
	if (!is_one && o->largest.sort == HI_NODE_OBJECT)
		hi_cell_link(t, hi_address_of_any_type(page, o->largest.type));
	hi_cell_text(t,
		     is_one ? hi_where_label(o->variables[0].detail, page)
		     : o->n ? hi_page_printf(page, "%zu variables", o->n)
			    : "",
		     0);
}

static void show_summary_roots(const struct hi_summary_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"variable", HI_COLUMN_TEXT},  {"kind", HI_COLUMN_WORD},
		{"retained", HI_COLUMN_BYTES}, {"of live", HI_COLUMN_PERCENT},
		{"type", HI_COLUMN_TEXT},      {"where", HI_COLUMN_TEXT}};
	const char *doubtful = hi_report_header_conservative(r->header, page);
	struct hi_report_table *t;

	if (r->live_bytes == 0)
		return;
	hi_page_heading(page, "What keeps it alive", NULL);
	hi_page_link(page, hi_address(page, "retained", NULL));
	hi_page_text(page, hi_page_printf(page, "%s%s%s", kinds_text(r, page),
					  *doubtful ? "; " : "", doubtful));
	t = hi_page_table(page, columns, 6);
	for (size_t i = 0; i < count_shown_by_default(r->n_owners, ROOTS_SHOWN); i++)
		show_owner(r, &r->owners[i], t, page);
}

/* "struct order: can be made by order_new (shop.c:10)" for each leak that has few. */
static void show_summary_makers(const struct hi_summary_report *r, struct hi_page *page)
{
	for (size_t i = 0; i < count_shown_by_default(r->n_leaks, LEAKS_SHOWN); i++) {
		const struct hi_summary_leak *row = &r->leaks[i];
		const char *text = hi_leak_name_short_text(&row->kind, row->shape, page);

		if (!hi_made_by_is_named(&row->made_by))
			continue;
		hi_page_note(
			page,
			hi_page_printf(page, "%s: %s", text,
				       hi_made_by_text(&row->made_by,
						       hi_leak_name_has_type(&row->kind),
						       page)));
	}
}

static void show_summary_leaks(const struct hi_summary_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type of the leak root", HI_COLUMN_TEXT},
		{"shape", HI_COLUMN_WORD},
		{"roots", HI_COLUMN_COUNT},
		{"objects", HI_COLUMN_COUNT},
		{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS}};
	static const struct hi_column with_class[] = {
		{"type of the leak root", HI_COLUMN_TEXT},
		{"what", HI_COLUMN_WORD},
		{"roots", HI_COLUMN_COUNT},
		{"objects", HI_COLUMN_MINOR_COUNT},
		{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS}};
	bool has_what = r->by_class || r->likely_objects;
	char doubt[HI_UNREAD_TEXT];
	struct hi_report_table *t;

	if (r->leak_objects == 0)
		return;
	hi_page_heading(page, r->by_class ? "Leaks and garbage" : "Leaks",
			r->unread.is_doubtful
				? hi_page_printf(page, "unreachable; none is certain: %s",
						 hi_unread_doubt_text(&r->unread, doubt))
			: r->likely_objects
				? "allocated, but unreachable; likely: values that "
				  "are not pointers (such as integers) refer to them"
				: "allocated, but unreachable");
	hi_page_link(page, hi_address(page, "leaks", NULL));
	t = hi_page_table(page, has_what ? with_class : columns, 6);
	for (size_t i = 0; i < count_shown_by_default(r->n_leaks, LEAKS_SHOWN); i++) {
		const struct hi_summary_leak *row = &r->leaks[i];

		hi_cell_text(t, hi_leak_name_text(&row->kind, row->shape, page), 0);
		hi_cell_link(t, hi_address_where_type(page, "leaks", row->kind.type));
		hi_cell_text(t,
			     row->is_likely ? "likely leaked"
			     : r->by_class
				     ? hi_unreachable_class_key(row->unreachable_class)
			     : has_what ? "leaked"
					: hi_leak_shape_key(row->shape),
			     0);
		hi_cell_number(t, row->count);
		hi_cell_number(t, row->objects);
		hi_cell_number(t, row->bytes);
		hi_cell_number(t, row->example);
		hi_cell_link(t, hi_address_of_object(page, row->example));
	}
	show_summary_makers(r, page);
	if (r->cycles)
		hi_leak_cycles_show(r->cycles, CYCLES_SHOWN, page);
}

/* "server.db->buckets"; without a path the object that holds the elements. */
static const char *suspect_place(const struct hi_summary_suspect *s, struct hi_page *page)
{
	if (*s->path)
		return hi_page_safe_again(page, s->path);
	if (s->accumulation.sort == HI_NODE_SUPER)
		return "several variables";
	return hi_node_label(&s->accumulation, page);
}

/* Does it hold the share that the heading tells? */
static bool is_suspect_share(const struct hi_summary_report *r, uint64_t bytes)
{
	return (double)bytes >= HI_SUSPECT_SHARE * (double)r->live_bytes;
}

/* "server.db->buckets: 1,312 × struct entry hold 712 KiB (97 %)" */
static const char *suspect_text(const struct hi_summary_report *r,
				const struct hi_summary_suspect *s, struct hi_page *page)
{
	char percent[16], n[32], bytes[24];
	const char *place = suspect_place(s, page);

	if (!s->children)
		return hi_page_printf(page, "%s: %s holds %s (%s)", place,
				      hi_node_type_label(&s->accumulation, page),
				      hi_bytes(bytes, s->held),
				      hi_percent(percent, s->held, r->live_bytes));
	if (s->children == 1)
		place = hi_page_printf(
			page, "%s: %s holds %s (%s)", place,
			hi_type_label(s->child_type, page),
			hi_bytes(bytes, s->children_bytes),
			hi_percent(percent, s->children_bytes, r->live_bytes));
	else
		place = hi_page_printf(
			page, "%s: %s%s × %s hold%s %s (%s)", place,
			s->is_list ? "list of " : "", hi_count(n, s->children),
			hi_type_label(s->child_type, page), s->is_list ? "s" : "",
			hi_bytes(bytes, s->children_bytes),
			hi_percent(percent, s->children_bytes, r->live_bytes));
	/* They are a part of what accumulates there, and not what makes it a suspect. */
	if (s->children_bytes < s->held / 2 ||
	    (!r->suspects_below && is_suspect_share(r, s->held) &&
	     !is_suspect_share(r, s->children_bytes)))
		place = hi_page_printf(page, "%s of %s (%s) that are held there", place,
				       hi_bytes(bytes, s->held),
				       hi_percent(percent, s->held, r->live_bytes));
	return place;
}

/* Where it accumulates; of several variables, what keeps the elements. */
static const char *address_of_suspect(const struct hi_summary_suspect *s,
				      struct hi_page *page)
{
	const char *address = hi_address_of_node(page, &s->accumulation);

	if (*address || !s->children)
		return address;
	return hi_address_of_any_type(page, s->child_type);
}

/* "server (global, server.c:120) holds 192.1 MiB (90 %): "; "" where the variable is no
 * holder of all of it. */
static const char *text_of_top_holder(const struct hi_summary_report *r,
				      const struct hi_summary_suspect *s,
				      struct hi_page *page)
{
	const struct hi_node_info *top = &s->top;
	const char *where = hi_where_label(top->detail, page);
	char percent[16], bytes[24];

	if (top->sort != HI_NODE_ROOT || top->retained == UINT64_MAX ||
	    top->retained < s->children_bytes)
		return "";
	return hi_page_printf(page, "%s (%s%s%s) holds %s (%s): ",
			      hi_node_short_label(top, page), hi_root_kind_key(top->kind),
			      *where ? ", " : "", where, hi_bytes(bytes, top->retained),
			      hi_percent(percent, top->retained, r->live_bytes));
}

/* The line of text; as a paragraph with the variable that holds it. */
static const char *suspect_paragraph(const struct hi_summary_report *r,
				     const struct hi_summary_suspect *s, bool is_long,
				     struct hi_page *page)
{
	const char *made =
		hi_made_by_is_named(&s->made_by)
			? hi_page_printf(page, "; %s",
					 hi_made_by_text(&s->made_by, true, page))
			: "";
	const char *holder = is_long ? text_of_top_holder(r, s, page) : "";
	const char *text = suspect_text(r, s, page), *place = suspect_place(s, page);
	size_t n = strlen(place);

	/* It stands in front already. */
	if (*holder && strcmp(place, hi_node_short_label(&s->top, page)) == 0 &&
	    strncmp(text, place, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	return hi_page_printf(page, "%s%s%s", holder, text, made);
}

static const char *suspects_aside(const struct hi_summary_report *r, struct hi_page *page)
{
	size_t n = suspects_shown(r), lesser = lesser_shown(r);
	const char *others =
		lesser ? hi_page_printf(page, "; %zu more over 5 %%", lesser) : "";

	if (r->suspects_below)
		return hi_page_printf(
			page, "nothing holds 20 %% of the live heap; the largest%s:",
			lesser ? ", and others over 5 %" : "");
	return hi_page_printf(page, "%zu hold%s over 20 %% of %s%s%s", r->n_suspects,
			      r->n_suspects == 1 ? "s" : " each",
			      hi_heap_known(r->header) == HI_HEAP_KNOWN
				      ? "the live heap"
				      : "what was found",
			      n < r->n_suspects ? "; the first:" : "", others);
}

static void show_suspect_lines(const struct hi_summary_report *r,
			       const struct hi_summary_suspect *items, size_t n,
			       bool is_drawn, struct hi_page *page)
{
	for (size_t i = 0; i < n; i++) {
		hi_page_text(page, suspect_paragraph(r, &items[i], is_drawn, page));
		hi_page_link(page, address_of_suspect(&items[i], page));
		if (is_drawn)
			hi_page_only_with_links(page);
	}
}

/* is_drawn: as they stand below the pictures; text has lines at its end instead. */
static void show_suspects(const struct hi_summary_report *r, bool is_drawn,
			  struct hi_page *page)
{
	size_t from = page->items.count;

	if (suspects_shown(r) == 0)
		return;
	hi_page_heading(page, "Suspects", suspects_aside(r, page));
	if (is_drawn)
		hi_page_only_with_links(page);
	show_suspect_lines(r, r->suspects, suspects_shown(r), is_drawn, page);
	show_suspect_lines(r, r->lesser, lesser_shown(r), is_drawn, page);
	if (r->tree && !is_drawn)
		hi_page_only_text(page, from);
}

/* What shows the path to where it accumulates: the object, else its children. */
static const char *paths_argument(const struct hi_summary_report *r, struct hi_page *page)
{
	const struct hi_summary_suspect *s = r->n_suspects ? &r->suspects[0] : NULL;

	if (!s)
		return "";
	if (s->accumulation.sort == HI_NODE_OBJECT)
		return hi_page_printf(page, "0x%" PRIx64, s->accumulation.address);
	/* A shell must take it for one word. */
	if (!*s->child_type || strchr(s->child_type, '\''))
		return "";
	return hi_page_printf(page, "'%s'", hi_page_type(page, s->child_type));
}

static void suggest_summary_commands(const struct hi_summary_report *r,
				     struct hi_page *page)
{
	const char *target = hi_report_header_target(r->header, page);
	const char *argument = paths_argument(r, page);

	if (!r->heap_known)
		return;
	hi_page_blank(page);
	if (hi_report_header_is_untyped(r->header))
		hi_page_command(
			page,
			hi_page_printf(page, "heapinspect census --by size %s", target),
			"memory without types, by size and pointers");
	hi_page_command(page, hi_page_printf(page, "heapinspect retained %s", target),
			"retained sizes, as a tree");
	if (*argument)
		hi_page_command(
			page,
			hi_page_printf(page, "heapinspect paths %s %s", argument, target),
			"what keeps it alive");
	if (r->n_leaks)
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       r->leaks[0].example, target),
				"what is leaked there");
}

/* ---- for a ticket ---- */

void hi_summary_show_headline(const struct hi_summary_report *r, struct hi_page *page)
{
	show_summary_headline(r, page);
}

const char *hi_summary_suspect_text(const struct hi_summary_report *r,
				    const struct hi_summary_suspect *s,
				    struct hi_page *page)
{
	return suspect_text(r, s, page);
}

const char *hi_summary_suspect_place(const struct hi_summary_suspect *s,
				     struct hi_page *page)
{
	return suspect_place(s, page);
}

const char *hi_summary_owner_label(const struct hi_summary_owner *o, struct hi_page *page)
{
	return owner_label(o, page);
}

void hi_summary_display(const struct hi_summary_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_summary_headline(r, page);
	hi_report_header_facts(r->header, page, true);
	if (r->tree)
		hi_summary_pictures(r, page);
	if (r->tree && r->heap_known)
		show_suspects(r, true, page);
	show_ledger(r, page);
	if (r->heap_known) {
		show_summary_types(r, page);
		show_summary_roots(r, page);
		show_summary_leaks(r, page);
		show_suspects(r, false, page);
		hi_summary_threads(r, page);
	}
	suggest_summary_commands(r, page);
}
