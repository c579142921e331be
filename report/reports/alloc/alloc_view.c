/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of alloc_report.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/frame_text.h"
#include "report/parts/report_links.h"
#include "report/reports/alloc/alloc_report.h"

enum {
	BLOCKS = 3, /* functions whose ages are shown */
	AGES = 12,  /* of them; more are left out */
	CALLERS = 5,
};

static const char *function_text(struct hi_page *page, const char *name)
{
	return *name ? hi_page_function(page, name) : "(no stack)";
}

/* ---- the first lines ---- */

static void show_alloc_headline(const struct hi_alloc_report *r, struct hi_page *page)
{
	uint64_t all = hi_space_at_age(&r->total, 0).size, first;
	char bytes[24], share[16];

	if (!r->n_lines) {
		hi_page_text(page, "no period is complete: nothing is known yet");
		return;
	}
	if (!r->n_functions || !all) {
		hi_page_text(page, "nothing was allocated");
		return;
	}
	first = hi_space_at_age(&r->functions[0].all, 0).size;
	hi_page_text(page,
		     hi_page_printf(page, "%s%s were allocated, %s of it by %s",
				    r->sample_bytes ? "about " : "", hi_bytes(bytes, all),
				    hi_percent(share, first, all),
				    function_text(page, r->functions[0].name)));
}

static const char *amount_text(struct hi_page *page, struct hi_space_amount a)
{
	char size[24], number[32], overhead[24];

	return hi_page_printf(page, "%s in %s object%s, of it %s overhead",
			      hi_bytes(size, a.size), hi_count(number, a.number),
			      a.number == 1 ? "" : "s", hi_bytes(overhead, a.overhead));
}

static void show_alloc_totals(const struct hi_alloc_report *r, struct hi_page *page)
{
	char bytes[24], number[32];

	hi_page_fact(page, "allocated", amount_text(page, hi_space_at_age(&r->total, 0)));
	hi_page_fact(page, "survived",
		     hi_page_printf(page, "%s (once for each census)",
				    hi_bytes(bytes, hi_space_survived(&r->total).size)));
	hi_page_fact(page, "live", amount_text(page, hi_space_live(&r->total)));
	hi_page_fact(page, "functions",
		     hi_page_printf(page, "%s%s%s", hi_count(number, r->n_selected),
				    r->select ? " with names like " : "",
				    r->select ? hi_page_safe(page, r->select) : ""));
}

static void show_alloc_marks(const struct hi_alloc_report *r, struct hi_page *page)
{
	if (r->from_mark || r->to_mark)
		hi_page_fact(page, "only",
			     hi_page_printf(
				     page, "what was allocated from %s%s to %s%s",
				     r->from_mark ? "the mark " : "the beginning",
				     r->from_mark ? hi_page_safe(page, r->from_mark) : "",
				     r->to_mark ? "the mark " : "the end",
				     r->to_mark ? hi_page_safe(page, r->to_mark) : ""));
}

static void show_alloc_pauses(const struct hi_alloc_report *r, struct hi_page *page)
{
	struct hi_alloc_pause all = {};
	char times[32], time[24], calls[32], bytes[24];

	if (!r->n_pauses)
		return;
	for (uint32_t i = 0; i < r->n_pauses; i++) {
		all.to_ns += r->pauses[i].to_ns - r->pauses[i].from_ns;
		all.calls += r->pauses[i].calls;
		all.bytes += r->pauses[i].bytes;
	}
	hi_page_fact(page, "paused",
		     hi_page_printf(page, "%s time%s, %s: %s call%s (%s) %s not recorded",
				    hi_count(times, r->n_pauses),
				    r->n_pauses == 1 ? "" : "s",
				    hi_text_duration(time, all.to_ns),
				    hi_count(calls, all.calls), all.calls == 1 ? "" : "s",
				    hi_bytes(bytes, all.bytes),
				    all.calls == 1 ? "was" : "were"));
}

static void show_alloc_limits(const struct hi_alloc_report *r, struct hi_page *page)
{
	const struct hi_alloc_line *last = &r->lines[r->n_lines - 1];
	char bytes[24], number[32];

	if (r->sample_bytes)
		hi_page_fact(page, "sampled",
			     hi_page_printf(page,
					    "every %s on average, figures are estimates",
					    hi_bytes(bytes, r->sample_bytes)));
	else if (last->older.number)
		hi_page_fact(page, "older",
			     hi_page_printf(page,
					    "%s are live from before the recording, or "
					    "were not recorded",
					    hi_bytes(bytes, last->older.size)));
	if (!r->has_costs && hi_space_at_age(&r->total, 0).number)
		hi_page_fact(page, "costs",
			     "what died before a census counts as it was requested");
	if (r->is_bracketed)
		hi_page_fact(page, "only",
			     "what was allocated between the marks that this file was "
			     "made with (--from-mark, --to-mark)");
	if (r->left_out)
		hi_page_fact(page, "left out",
			     hi_page_printf(page,
					    "%s censuses, whose objects are not in the "
					    "file (record --full all): they count for no "
					    "age",
					    hi_count(number, r->left_out)));
	if (r->lost)
		hi_page_warning(page,
				hi_page_printf(page,
					       "%s events were lost: amounts may be too "
					       "small",
					       hi_count(number, r->lost)));
}

/* ---- tables ---- */

static void show_hidden_functions(const struct hi_alloc_report *r, struct hi_page *page)
{
	char n[32], bytes[24];

	if (r->hidden.rows)
		hi_page_note(page, hi_page_printf(page, "%s more (%s allocated; --all)",
						  hi_count(n, r->hidden.rows),
						  hi_bytes(bytes, r->hidden.bytes)));
}

static void add_function_row(struct hi_report_table *t, const char *name,
			     const char *address, unsigned indent,
			     const struct hi_space_row *row, uint64_t all)
{
	hi_cell_text(t, name, indent);
	hi_cell_link(t, address);
	hi_cell_number(t, hi_space_at_age(row, 0).size);
	hi_cell_number(t, hi_space_survived(row).size);
	hi_cell_number(t, hi_space_live(row).size);
	hi_cell_percent(t, hi_space_at_age(row, 0).size, all);
}

const char *hi_alloc_centre_address(const char *function, struct hi_page *page)
{
	/* A module, where no function is known; and the rest, which is no centre. */
	return *function == '/' || strpbrk(function, ",*?[") ||
			       strcmp(function, "(no centre)") == 0
		       ? ""
		       : hi_address_where(page, "alloc", "centre", function);
}

/* The function with its callers; of a mark, what was allocated from it on. */
static const char *address_of_alloc_row(const struct hi_alloc_report *r,
					const struct hi_alloc_function *f,
					struct hi_page *page)
{
	if (r->by == HI_ALLOC_BY_MARK)
		return hi_address_where(page, "alloc", "from-mark", f->name);
	if (r->by == HI_ALLOC_BY_CENTRE)
		return hi_alloc_centre_address(f->name, page);
	return hi_address_with(page, hi_address_of_function(page, f->name), "callers",
			       "");
}

/* "called by serve, through 3 frames of libstdc++". */
static const char *caller_text(struct hi_page *page, const struct hi_alloc_caller *c)
{
	const char *text =
		*c->name ? hi_page_function(page, c->name) : "an unknown function";
	struct hi_frame_row row = {.function = c->passed_name, .module = ""};
	struct hi_frame_item item = {.row = &row, .n_folded = c->passed};

	if (!c->passed_most)
		return hi_page_printf(page, "called by %s", text);
	if (c->passed_most > c->passed || !*c->passed_name)
		item.n_most = c->passed_most;
	snprintf(item.libraries, sizeof(item.libraries), "%s", c->libraries);
	return hi_page_printf(page, "called by %s, through %s", text,
			      hi_frame_item_text(&item, page));
}

/* Those that have called it while it allocated. */
static void add_callers(const struct hi_alloc_report *r,
			const struct hi_alloc_function *f, struct hi_report_table *t,
			struct hi_page *page)
{
	for (size_t i = 0, shown = 0; i < f->n_callers && (r->all || shown < CALLERS);
	     i++) {
		const struct hi_alloc_caller *c = &f->callers[i];

		if (!c->row.n_steps)
			continue;
		add_function_row(t, caller_text(page, c),
				 hi_alloc_centre_address(c->name, page), c->level,
				 &c->row, hi_space_at_age(&r->total, 0).size);
		shown++;
	}
}

static bool shows_sums(const struct hi_alloc_report *r)
{
	for (size_t i = 0; i < r->n_functions; i++)
		if (hi_alloc_shows(&r->functions[i], HI_ALLOC_SPACE))
			return true;
	return false;
}

static void show_alloc_functions(const struct hi_alloc_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"alloc", HI_COLUMN_BYTES},
						   {"survived", HI_COLUMN_BYTES},
						   {"live", HI_COLUMN_BYTES},
						   {"share", HI_COLUMN_PERCENT}};
	static const struct {
		const char *title, *meaning;
	} names[] = {
		[HI_ALLOC_BY_FUNCTION] = {"By function",
					  "the innermost that is no allocator"},
		[HI_ALLOC_BY_CENTRE] = {"By centre", "the outermost of --centre"},
		[HI_ALLOC_BY_MARK] = {"By mark", "the last one before the allocation"}};
	uint64_t all = hi_space_at_age(&r->total, 0).size;
	struct hi_report_table *t;

	if (!shows_sums(r))
		return;
	hi_page_heading(page, names[r->by].title, names[r->by].meaning);
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_functions; i++) {
		const struct hi_alloc_function *f = &r->functions[i];

		if (!f->n_types || !hi_alloc_shows(f, HI_ALLOC_SPACE))
			continue;
		add_function_row(t, function_text(page, f->name),
				 address_of_alloc_row(r, f, page), 0, &f->all, all);
		add_callers(r, f, t, page);
	}
	show_hidden_functions(r, page);
}

static void add_age_row(struct hi_report_table *t, const char *age, const char *type,
			unsigned indent, struct hi_space_amount amount)
{
	hi_cell_text(t, age, 0);
	hi_cell_text(t, type, indent);
	hi_cell_number(t, amount.number);
	hi_cell_number(t, amount.size);
	hi_cell_number(t, amount.overhead);
}

static const char *space_type_text(struct hi_page *page, const char *name)
{
	return *name ? hi_page_type(page, name) : "(unknown)";
}

/* A row for each age up to the last that has something; and for each type that has some.
 */
static void add_age_rows(const struct hi_alloc_function *f, uint32_t age,
			 struct hi_report_table *t, struct hi_page *page)
{
	const char *number = hi_page_printf(page, "%u", age);

	if (f->n_types == 1) {
		add_age_row(t, number, space_type_text(page, f->types[0].name), 0,
			    hi_space_at_age(&f->all, age));
		return;
	}
	add_age_row(t, number, "all types", 0, hi_space_at_age(&f->all, age));
	for (size_t i = 0; i < f->n_types; i++) {
		struct hi_space_amount a = hi_space_at_age(f->types[i].row, age);

		if (a.number || a.size)
			add_age_row(t, "", space_type_text(page, f->types[i].name), 1, a);
	}
}

static void note_ages(uint32_t oldest, uint32_t next, struct hi_page *page)
{
	if (next <= oldest)
		hi_page_note(page,
			     hi_page_printf(page, "up to age %u of %u (--all shows them)",
					    next - 1, oldest));
	if (oldest > AGES)
		hi_page_note(page, "an age that is left out has what the one before has");
}

/* All ages, or where there are many those that have less than the one before. */
static void show_ages(const struct hi_alloc_report *r, const struct hi_alloc_function *f,
		      struct hi_page *page)
{
	static const struct hi_column columns[] = {{"age", HI_COLUMN_FIGURE},
						   {"type", HI_COLUMN_TEXT},
						   {"number", HI_COLUMN_COUNT},
						   {"size", HI_COLUMN_BYTES},
						   {"overhead", HI_COLUMN_BYTES}};
	uint32_t oldest = hi_space_last_age(&f->all), age, shown = 0;
	struct hi_report_table *t;

	hi_page_heading(
		page,
		hi_page_printf(page, "%s by age and type", function_text(page, f->name)),
		"age N: N censuses found it");
	t = hi_page_table(page, columns, 5);
	for (age = 0; age <= oldest && (r->all || shown <= AGES); age++) {
		if (oldest > AGES && !hi_space_falls_at(&f->all, age))
			continue;
		if (hi_alloc_shows(f, HI_ALLOC_TYPES))
			add_age_rows(f, age, t, page);
		else
			add_age_row(t, hi_page_printf(page, "%u", age), "all types", 0,
				    hi_space_at_age(&f->all, age));
		shown++;
	}
	note_ages(oldest, age, page);
}

/* Of functions that were named all that was asked for is shown. */
static bool shows_block(const struct hi_alloc_report *r, size_t i)
{
	return r->all || r->has_manners || i < BLOCKS;
}

void hi_alloc_display_facts(const struct hi_alloc_report *r, struct hi_page *page)
{
	const char *slash = strrchr(r->exe, '/');
	char time[24];

	hi_page_title(page,
		      hi_page_printf(page, "%s, pid %d",
				     hi_page_safe(page, slash ? slash + 1 : r->exe),
				     r->pid),
		      hi_page_printf(page, "%u period%s in %s", r->n_lines,
				     r->n_lines == 1 ? "" : "s",
				     hi_text_duration(time, r->lasted_ns)));
	show_alloc_headline(r, page);
	if (!r->n_lines)
		return;
	show_alloc_totals(r, page);
	show_alloc_marks(r, page);
	show_alloc_pauses(r, page);
	show_alloc_limits(r, page);
	hi_alloc_time_facts(r, page);
}

void hi_alloc_display(const struct hi_alloc_report *r, struct hi_page *page)
{
	hi_alloc_display_facts(r, page);
	if (!r->n_lines || !r->n_functions)
		return;
	if (r->bars) {
		hi_alloc_bars_display(r, page);
		show_hidden_functions(r, page);
		return;
	}
	if (hi_space_at_age(&r->total, 0).number)
		show_alloc_functions(r, page);
	hi_alloc_time_display(r, page);
	hi_alloc_calls_display(r, page);
	for (size_t i = 0; i < r->n_functions && shows_block(r, i); i++)
		if (r->functions[i].n_types &&
		    hi_alloc_shows(&r->functions[i], HI_ALLOC_COPIES | HI_ALLOC_TYPES))
			show_ages(r, &r->functions[i], page);
}

void hi_alloc_function_display(const struct hi_alloc_report *r,
			       const struct hi_alloc_function *f, struct hi_page *page)
{
	struct hi_alloc_report one = *r;

	one.functions = (struct hi_alloc_function *)(uintptr_t)f;
	one.n_functions = 1;
	one.hidden = (struct hi_hidden){};
	hi_page_heading(page, function_text(page, f->name),
			f->line ? hi_page_printf(page, "%s:%u",
						 hi_page_safe(page, f->file), f->line)
				: hi_page_safe(page, *f->file ? f->file : f->module));
	show_alloc_functions(&one, page);
	show_ages(&one, f, page);
}
