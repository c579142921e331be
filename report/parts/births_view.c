/* SPDX-License-Identifier: BSD-2-Clause */
/* The page and the document of births_report.h. */
#include <inttypes.h>

#include "base/table.h"
#include "base/text.h"
#include "report/parts/alike_stacks.h"
#include "report/parts/births_report.h"
#include "report/parts/decoded_share.h"
#include "report/parts/frame_text.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"

/* Rows of a table by context that have their callers below them, and lines of each. */
enum { STACKS = 10, STACK_FRAMES = 24 };

static const char *objects_text(const struct hi_birth_sum *sum, struct hi_page *page)
{
	char bytes[24], n[32];

	return hi_page_printf(page, "%s in %s object%s", hi_bytes(bytes, sum->bytes),
			      hi_count(n, sum->objects), sum->objects == 1 ? "" : "s");
}

/* Estimates are marked. */
static const char *mark_of_estimate(const struct hi_recorded *recorded)
{
	return hi_recorded_is_sampled(recorded) ? "~" : "";
}

static const char *estimate_text(const struct hi_recorded *recorded,
				 const struct hi_birth_sum *sum, struct hi_page *page)
{
	const char *mark = mark_of_estimate(recorded);
	char bytes[24], n[32];

	return hi_page_printf(page, "%s%s in %s%s object%s", mark,
			      hi_bytes(bytes, sum->bytes), mark,
			      hi_count(n, sum->objects), sum->objects == 1 ? "" : "s");
}

/* "1.2 to 1.6 MiB", "788.0 KiB to 1.1 MiB" */
static const char *interval_text(const struct hi_interval *interval, struct hi_page *page)
{
	char low[24], high[24];
	const char *low_unit, *high_unit;

	hi_bytes(low, interval->low);
	hi_bytes(high, interval->high);
	low_unit = strrchr(low, ' ');
	high_unit = strrchr(high, ' ');
	if (low_unit && high_unit && strcmp(low_unit, high_unit) == 0)
		low[low_unit - low] = '\0';
	return hi_page_printf(page, "%s to %s", low, high);
}

static void add_interval_cell(const struct hi_interval *interval,
			      struct hi_report_table *t)
{
	hi_cell_text(t, interval_text(interval, t->page), 0);
}

static uint64_t length_of_recording(const struct hi_births *b)
{
	return b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;
}

static uint64_t age_of_oldest(const struct hi_births_report *r,
			      const struct hi_births_line *line)
{
	uint64_t length = length_of_recording(r->recorded->births);

	return length > line->first_ns ? length - line->first_ns : 0;
}

/* ---- facts ---- */

static struct hi_context_totals sum_totals(const struct hi_recorded *recorded)
{
	struct hi_context_totals sum = {};

	for (uint32_t i = 0; i < recorded->contexts.n_contexts; i++) {
		sum.allocs += recorded->totals[i].allocs;
		sum.frees += recorded->totals[i].frees;
	}
	return sum;
}

static void show_traces_fact(const struct hi_births_report *r, struct hi_page *page)
{
	struct hi_context_totals sum = sum_totals(r->recorded);
	char n[32];

	hi_page_fact(page, "traced",
		     hi_page_printf(page,
				    "by the program's own tracemalloc, which has the "
				    "lines of %s blocks, and neither functions nor times",
				    hi_count(n, sum.allocs)));
}

static void show_recording_fact(const struct hi_births_report *r, struct hi_page *page)
{
	struct hi_context_totals sum = sum_totals(r->recorded);
	const char *mark = mark_of_estimate(r->recorded);
	char time[24], allocs[32], left[32];

	if (r->recorded->births->is_traced) {
		show_traces_fact(r, page);
		return;
	}
	hi_page_fact(
		page, "recorded",
		hi_page_printf(
			page, "%s: %s%s allocation%s%s%s, %s%s of them not freed",
			hi_text_duration(time, length_of_recording(r->recorded->births)),
			mark, hi_count(allocs, sum.allocs), sum.allocs == 1 ? "" : "s",
			r->allocator ? " from " : "",
			r->allocator ? hi_page_safe(page, r->allocator) : "", mark,
			hi_count(left, hi_totals_live(&sum))));
}

static void show_sampling_fact(const struct hi_births_report *r, struct hi_page *page)
{
	char size[24], n[32];

	if (hi_recorded_is_sampled(r->recorded))
		hi_page_fact(
			page, "sampled",
			hi_page_printf(page,
				       "every %s on average: %s live object%s of the "
				       "recording %s a record, and figures with ~ are "
				       "estimates",
				       hi_bytes(size, r->recorded->births->sample_bytes),
				       hi_count(n, r->known.seen_objects),
				       r->known.seen_objects == 1 ? "" : "s",
				       r->known.seen_objects == 1 ? "has" : "have"));
}

static void show_birth_sums(const struct hi_births_report *r, struct hi_page *page)
{
	if (r->before.objects)
		hi_page_fact(page, "before it",
			     estimate_text(r->recorded, &r->before, page));
	if (r->other.objects && r->recorded->births->is_traced)
		hi_page_fact(page, "not traced",
			     hi_page_printf(page,
					    "%s of C code, or from before tracemalloc "
					    "began",
					    objects_text(&r->other, page)));
	else if (r->other.objects)
		hi_page_fact(page, "not recorded",
			     hi_page_printf(page,
					    "%s outside of the allocator's blocks (a "
					    "runtime's own heap, mappings)",
					    objects_text(&r->other, page)));
}

static void warn_of_lost_events(const struct hi_births_report *r, struct hi_page *page)
{
	const struct hi_recording_counts *c = &r->recorded->counts;
	char n[32];

	if (c->lost)
		hi_page_warning(
			page,
			hi_page_printf(page,
				       "%s events were lost: the program allocated "
				       "faster than they were read. Numbers by site "
				       "are wrong by as much",
				       hi_count(n, c->lost)));
	if (c->lost_frees || c->lost_begins || c->lost_ends)
		hi_page_warning(
			page,
			hi_page_printf(page,
				       "%s events are missing without a mark (a live "
				       "address was given out again, or a reallocation "
				       "has one end)",
				       hi_count(n, c->lost_frees + c->lost_begins +
							   c->lost_ends)));
}

static void show_kept_events(const struct hi_births_report *r, struct hi_page *page)
{
	const struct hi_kept_counts *c = &r->recorded->event_counts;
	char n[32];

	if (!r->recorded->has_events)
		return;
	hi_page_fact(page, "events kept",
		     hi_page_printf(page, "%s, for the table events of query",
				    hi_count(n, c->kept)));
	if (c->left_out)
		hi_page_warning(
			page,
			hi_page_printf(page,
				       "%s events were not kept: there was no more room "
				       "for them (--max-file, or the disk). Those that "
				       "were kept end before the recording does; the "
				       "numbers below are of all",
				       hi_count(n, c->left_out)));
}

static void warn_of_unjoined(const struct hi_births_report *r, struct hi_page *page)
{
	const struct hi_births *b = r->recorded->births;
	char n[32];

	if (b->without_object)
		hi_page_warning(
			page,
			hi_page_printf(page,
				       "%s allocations that were not freed are in no "
				       "block of a heap that is decoded: they have a "
				       "table of their own",
				       hi_count(n, b->without_object)));
	if (b->too_large)
		hi_page_warning(
			page, hi_page_printf(
				      page,
				      "%s allocations are larger than the block at their "
				      "address: they are not counted below",
				      hi_count(n, b->too_large)));
}

static void warn_of_cut_stacks(const struct hi_births_report *r, struct hi_page *page)
{
	const struct hi_context_view *c = &r->recorded->contexts;
	uint64_t cut = 0, all = 0;
	char n[32], of[32];

	for (uint32_t i = 1; i < c->n_contexts; i++) {
		bool is_cut =
			c->contexts[i].flags & (HI_CONTEXT_CUT | HI_CONTEXT_MISSING);

		all += r->recorded->totals[i].allocs;
		cut += is_cut ? r->recorded->totals[i].allocs : 0;
	}
	if (cut)
		hi_page_note(page,
			     hi_page_printf(page,
					    "of %s of %s allocations the outer frames of "
					    "the stack are not known",
					    hi_count(n, cut), hi_count(of, all)));
}

/* ---- the table ---- */

static const char *const headings[] = {
	[HI_BORN_BY_SITE] = "Live bytes by the function that allocated them",
	[HI_BORN_BY_CONTEXT] = "Live bytes by the call stack that allocated them",
	[HI_BORN_BY_THREAD] = "Live bytes by the thread that allocated them",
	[HI_BORN_BY_AGE] = "Live bytes by age",
	[HI_BORN_BY_MODULE] = "Live bytes by the file whose code allocated them",
};

/* The row that stands for a group; NULL: no frame is known. */
static const struct hi_frame_row *row_of_line(const struct hi_births_report *r,
					      const struct hi_births_line *line)
{
	const struct hi_recorded *recorded = r->recorded;
	uint32_t key = r->groups->groups[line->group].key;

	if (line->group < HI_GROUPS_FIXED)
		return NULL;
	if (r->groups->by == HI_BORN_BY_CONTEXT)
		key = hi_context_site(&recorded->contexts, &recorded->frames, key);
	return key < recorded->frames.n_rows ? &recorded->frames.rows[key] : NULL;
}

static bool is_by_stack(const struct hi_births_report *r)
{
	return r->groups->by == HI_BORN_BY_SITE || r->groups->by == HI_BORN_BY_CONTEXT;
}

static const char *module_of_line(const struct hi_births_report *r,
				  const struct hi_births_line *line)
{
	const struct hi_frame_row *row = row_of_line(r, line);

	return row ? row->module : "";
}

static const char *label_of_births_line(const struct hi_births_report *r,
					const struct hi_births_line *line, size_t number,
					struct hi_page *page)
{
	const struct hi_frame_row *row = is_by_stack(r) ? row_of_line(r, line) : NULL;
	uint32_t key = r->groups->groups[line->group].key;

	if (r->groups->by == HI_BORN_BY_THREAD)
		return hi_page_printf(page, "thread %u", key);
	if (r->groups->by == HI_BORN_BY_AGE)
		return hi_age_class_name(key);
	if (r->groups->by == HI_BORN_BY_MODULE && line->group >= HI_GROUPS_FIXED)
		return *module_of_line(r, line) ? hi_base_name(module_of_line(r, line))
						: "(no module)";
	if (!row)
		return "(no stack)";
	if (r->groups->by == HI_BORN_BY_CONTEXT)
		return hi_page_printf(page, "%zu  %s", number + 1,
				      hi_frame_function(row, page));
	return hi_frame_function(row, page);
}

/* What is live of it; of a call stack, that of its function. */
static const char *address_of_births_line(const struct hi_births_report *r,
					  const struct hi_births_line *line,
					  struct hi_page *page)
{
	const struct hi_frame_row *row = is_by_stack(r) ? row_of_line(r, line) : NULL;

	if (r->groups->by == HI_BORN_BY_THREAD)
		return hi_address_where(
			page, "census", "thread",
			hi_page_printf(page, "%u", r->groups->groups[line->group].key));
	if (!row)
		return "";
	return hi_address_where(page, "census",
				r->groups->by == HI_BORN_BY_SITE ? "site" : "site-any",
				row->function);
}

static void show_births_line(const struct hi_births_report *r, size_t i,
			     struct hi_report_table *t)
{
	const struct hi_births_line *line = &r->rows[i];
	const struct hi_frame_row *row = is_by_stack(r) ? row_of_line(r, line) : NULL;
	char age[24];

	hi_cell_text(t, label_of_births_line(r, line, i, t->page), 0);
	hi_cell_link(t, address_of_births_line(r, line, t->page));
	hi_cell_number(t, line->objects);
	hi_cell_number(t, line->bytes);
	if (hi_recorded_is_sampled(r->recorded))
		add_interval_cell(&line->interval, t);
	hi_cell_percent(t, line->bytes, r->bytes);
	if (!r->recorded->births->is_traced)
		hi_cell_text(t, hi_text_duration(age, age_of_oldest(r, line)), 0);
	if (!is_by_stack(r))
		return;
	if (!r->recorded->births->is_traced)
		hi_cell_number(t, line->allocs);
	hi_cell_text(t, row ? hi_frame_place(row, t->page) : "", 0);
}

/* The columns of a table, which begins with one of its own; by stack it has two more. */
static struct hi_report_table *add_births_table(const struct hi_births_report *r,
						struct hi_page *page)
{
#define BIRTHS_COLUMNS(first)                                                            \
	{                                                                                \
		{first, HI_COLUMN_TEXT}, {"objects", HI_COLUMN_COUNT},                   \
			{"bytes", HI_COLUMN_BYTES}, {"of live", HI_COLUMN_PERCENT},      \
			{"oldest", HI_COLUMN_MINOR_FIGURE},                              \
			{"allocated", HI_COLUMN_MINOR_COUNT},                            \
		{                                                                        \
			"where", HI_COLUMN_TEXT                                          \
		}                                                                        \
	}
#define SAMPLED_COLUMNS(first)                                                           \
	{                                                                                \
		{first, HI_COLUMN_TEXT}, {"~objects", HI_COLUMN_COUNT},                  \
			{"~bytes", HI_COLUMN_BYTES}, {"bytes, 95 %", HI_COLUMN_FIGURE},  \
			{"~of live", HI_COLUMN_PERCENT},                                 \
			{"oldest", HI_COLUMN_MINOR_FIGURE},                              \
			{"~allocated", HI_COLUMN_MINOR_COUNT},                           \
		{                                                                        \
			"where", HI_COLUMN_TEXT                                          \
		}                                                                        \
	}
	enum { STACK, THREAD, AGE, MODULE, KINDS };
	static const struct hi_column columns[KINDS][7] = {
		BIRTHS_COLUMNS("function"), BIRTHS_COLUMNS("thread"),
		BIRTHS_COLUMNS("age"), BIRTHS_COLUMNS("module")};
	static const struct hi_column sampled[KINDS][8] = {
		SAMPLED_COLUMNS("function"), SAMPLED_COLUMNS("thread"),
		SAMPLED_COLUMNS("age"), SAMPLED_COLUMNS("module")};
#undef BIRTHS_COLUMNS
#undef SAMPLED_COLUMNS
	size_t kind = is_by_stack(r)			   ? STACK
		      : r->groups->by == HI_BORN_BY_THREAD ? THREAD
		      : r->groups->by == HI_BORN_BY_MODULE ? MODULE
							   : AGE;
	size_t fewer = is_by_stack(r) ? 0 : 2;
	static const struct hi_column traced[] = {{"line", HI_COLUMN_TEXT},
						  {"objects", HI_COLUMN_COUNT},
						  {"bytes", HI_COLUMN_BYTES},
						  {"of live", HI_COLUMN_PERCENT},
						  {"where", HI_COLUMN_TEXT}};

	if (r->recorded->births->is_traced)
		return hi_page_table(page, traced, 5);
	return hi_recorded_is_sampled(r->recorded)
		       ? hi_page_table(page, sampled[kind], 8 - fewer)
		       : hi_page_table(page, columns[kind], 7 - fewer);
}

/* ---- the callers of a row by context ---- */

/* Adds a row without figures. */
static void add_caller_line(struct hi_report_table *t, const char *text, const char *link,
			    const char *place)
{
	hi_cell_text(t, text, 2);
	hi_cell_link(t, link);
	for (size_t i = 2; i < t->n_columns; i++)
		hi_cell_empty(t);
	hi_cell_text(t, place, 0);
}

/* is_inner: the function of the row has called it. */
static void add_frame_item_row(const struct hi_frame_item *item, bool is_inner,
			       struct hi_report_table *t)
{
	const char *text = hi_frame_item_text(item, t->page);
	bool is_fold = hi_frame_item_is_fold(item);

	add_caller_line(t,
			hi_page_printf(t->page, "%s%s",
				       is_inner	 ? "through "
				       : is_fold ? "… "
						 : "",
				       text),
			is_fold ? ""
				: hi_address_where(t->page, "census", "site-any",
						   item->row->function),
			is_fold ? "" : hi_frame_place(item->row, t->page));
}

/* The stacks that were shown, for tails that they share. */
struct shown_tails {
	struct hi_table number; /* node -> number of the stack */
};

/* Is the rest of the stack, from this item on, in one that was shown? A single line is
 * shown again. */
static bool is_shown_tail(const struct shown_tails *tails,
			  const struct hi_frame_items *items, size_t at, uint64_t *number)
{
	const struct hi_frame_item *item = &items->of.items[at];

	return item->node && !hi_frame_item_is_fold(item) && at + 1 < items->of.count &&
	       hi_table_get(&tails->number, item->node, number);
}

/* Tails are shown once: "… from main on as in 1". */
static void show_callers_of_line(struct shown_tails *tails, size_t number,
				 const struct hi_frame_items *items,
				 const struct hi_frame_row *label,
				 struct hi_report_table *t)
{
	bool is_inner = true;

	for (size_t i = 0; i < items->of.count && i < STACK_FRAMES; i++) {
		const struct hi_frame_item *item = &items->of.items[i];
		uint64_t other;

		if (item->row == label) {
			is_inner = false;
		} else if (!is_inner && is_shown_tail(tails, items, i, &other)) {
			add_caller_line(
				t,
				hi_page_printf(t->page, "… from %s on as in %" PRIu64,
					       hi_frame_item_text(item, t->page), other),
				"", "");
			return;
		} else {
			add_frame_item_row(item, is_inner, t);
		}
		if (item->node && !hi_table_get(&tails->number, item->node, &other))
			t->page->failed |=
				!hi_table_put(&tails->number, item->node, number);
	}
	if (items->of.count > STACK_FRAMES)
		add_caller_line(t,
				hi_page_printf(t->page, "… %zu more",
					       items->of.count - STACK_FRAMES),
				"", "");
}

static void show_stack_of_line(const struct hi_births_report *r, size_t i,
			       struct shown_tails *tails, struct hi_report_table *t)
{
	const struct hi_recorded *recorded = r->recorded;
	uint32_t context = r->groups->groups[r->rows[i].group].key;
	const struct hi_frame_row *label = row_of_line(r, &r->rows[i]);
	struct hi_frame_items items = {.folds = !t->page->type_names.keep_full};

	if (r->groups->by != HI_BORN_BY_CONTEXT || i >= STACKS || !label)
		return;
	hi_alike_stacks_items(r->groups, r->rows[i].group, &recorded->contexts,
			      &recorded->frames, &items);
	t->page->failed |= items.failed;
	show_callers_of_line(tails, i + 1, &items, label, t);
	if (recorded->contexts.contexts[context].flags & HI_CONTEXT_CUT)
		add_caller_line(t, "(outer frames are not known)", "", "");
	hi_frame_items_free(&items);
}

static const char *aside_of_births(const struct hi_births_report *r)
{
	if (!is_by_stack(r) || r->recorded->births->is_traced)
		return NULL;
	return r->groups->by == HI_BORN_BY_CONTEXT
		       ? "below a function: what called it; allocated: how often in the "
			 "recording, freed or not"
		       : "allocated: how often in the recording, freed or not";
}

/* Counts the rows that are of several stacks. */
static size_t count_alike_rows(const struct hi_births_report *r, struct hi_page *page)
{
	const struct hi_birth_groups *g = r->groups;
	uint32_t *contexts = hi_arena_alloc(&page->arena, (g->n_groups + (size_t)1) *
								  sizeof(*contexts));
	size_t n = 0;

	page->failed |= !contexts;
	for (uint32_t i = 0; contexts && i < g->n_contexts; i++)
		contexts[g->of_context[i]]++;
	for (size_t i = 0; contexts && i < r->n_rows; i++)
		n += contexts[r->rows[i].group] > 1;
	return n;
}

static void note_alike_stacks(const struct hi_births_report *r, struct hi_page *page)
{
	size_t n = r->groups->by == HI_BORN_BY_CONTEXT ? count_alike_rows(r, page) : 0;

	if (n)
		hi_page_note(
			page,
			hi_page_printf(page,
				       "%zu row%s of several stacks, which differ in "
				       "frames of libraries alone (--full-names has a "
				       "row for each)",
				       n, n == 1 ? " is" : "s are"));
}

static void show_births_table(const struct hi_births_report *r, struct hi_page *page)
{
	static const struct hi_hidden none;
	bool is_sampled = hi_recorded_is_sampled(r->recorded);
	struct shown_tails tails = {};
	struct hi_report_table *t;

	hi_page_heading(page, headings[r->groups->by], aside_of_births(r));
	t = add_births_table(r, page);
	for (size_t i = 0; i < r->n_rows; i++) {
		show_births_line(r, i, t);
		show_stack_of_line(r, i, &tails, t);
	}
	hi_table_free(&tails.number);
	if (r->n_rows == 0)
		hi_page_note(page, r->recorded->births->without_object
					   ? "what was allocated in the recording is in "
					     "no heap that is decoded: below"
				   : is_sampled ? "no sample of the recording is live"
						: "nothing that was allocated in the "
						  "recording is live");
	hi_hidden_note(page, &r->beyond, &r->below, &none);
	note_alike_stacks(r, page);
}

/* ---- the page ---- */

static void add_record_commands(const struct hi_births_report *r, struct hi_page *page)
{
	const char *target = r->file ? hi_page_shell_word(page, r->file)
				     : hi_report_header_target(r->header, page);

	hi_page_blank(page);
	if (!r->file) {
		hi_page_command(page,
				hi_page_printf(page, "heapinspect record -o app.hirec %s",
					       target),
				"a recording that all commands read");
		return;
	}
	hi_page_command(
		page, hi_page_printf(page, "heapinspect census --by context %s", target),
		"the same with whole call stacks");
	hi_page_command(page, hi_page_printf(page, "heapinspect leaks %s", target),
			"leaks with the functions that allocated them");
	hi_page_command(page, hi_page_printf(page, "heapinspect %s", target),
			"what is on the heap, and what keeps it");
}

static void add_census_command(const struct hi_births_report *r, struct hi_page *page)
{
	if (r->groups->by != HI_BORN_BY_SITE || !r->n_rows)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect census --by context %s",
				       hi_report_header_target(r->header, page)),
			"the same with whole call stacks");
}

/* An estimate may be more than all there is. */
static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void hi_births_display(const struct hi_births_report *r, struct hi_page *page)
{
	char share[16];

	hi_report_header_title(r->header, page);
	hi_page_text(
		page,
		hi_page_printf(
			page, "%s; %s (%s) %s",
			hi_heap_live_text(r->header, r->bytes, r->objects, page),
			estimate_text(r->recorded, &r->known, page),
			hi_percent(share, least_of(r->known.bytes, r->bytes), r->bytes),
			r->recorded->births->is_traced
				? "have a line"
				: "were allocated in the recording"));
	show_recording_fact(r, page);
	show_sampling_fact(r, page);
	show_birth_sums(r, page);
	hi_report_header_facts(r->header, page, false);
	show_kept_events(r, page);
	warn_of_lost_events(r, page);
	warn_of_unjoined(r, page);
	show_births_table(r, page);
	if (is_by_stack(r))
		warn_of_cut_stacks(r, page);
	hi_pieces_display(&r->pieces, page);
	hi_recorded_children_display(&r->children, page);
	if (r->is_of_record)
		add_record_commands(r, page);
	else
		add_census_command(r, page);
}

/* ---- one object ---- */

struct hi_birth_info hi_birth_info(const struct hi_recorded *recorded, hi_node object)
{
	const struct hi_births *b = recorded ? recorded->births : NULL;
	struct hi_birth_info info = {.recorded = recorded};
	uint64_t length = b ? length_of_recording(b) : 0;

	if (!b || object >= b->n_objects)
		return info;
	if (!hi_birth_is_known(b, object)) {
		info.known = b->context[object] == HI_BIRTH_OTHER ? HI_BIRTH_UNRECORDED
								  : HI_BIRTH_BEFORE;
		return info;
	}
	info.known = HI_BIRTH_RECORDED;
	info.context = b->context[object];
	info.thread = b->threads[b->thread[object]];
	info.size = b->size[object];
	info.age_ns = length > b->time_ns[object] ? length - b->time_ns[object] : 0;
	return info;
}

static const struct hi_frame_row *site_of_birth(const struct hi_birth_info *birth)
{
	const struct hi_recorded *r = birth->recorded;
	uint32_t row = hi_context_site(&r->contexts, &r->frames, birth->context);

	return row < r->frames.n_rows ? &r->frames.rows[row] : NULL;
}

const char *hi_birth_site_text(const struct hi_birth_info *birth, struct hi_page *page)
{
	const struct hi_frame_row *row;

	if (birth->known == HI_BIRTH_BEFORE)
		return hi_recorded_is_sampled(birth->recorded)
			       ? "(before the recording or not sampled)"
			       : "(before the recording)";
	if (birth->known == HI_BIRTH_UNRECORDED)
		return birth->recorded && birth->recorded->births->is_traced
			       ? "(not traced)"
			       : "(not recorded)";
	row = site_of_birth(birth);
	return row ? hi_frame_function(row, page) : "(no stack)";
}

const char *hi_birth_site_name(const struct hi_birth_info *birth)
{
	const struct hi_frame_row *row =
		birth->recorded && birth->known == HI_BIRTH_RECORDED
			? site_of_birth(birth)
			: NULL;

	return row ? row->function : "";
}

static const char *why_without_record(const struct hi_birth_info *birth)
{
	if (birth->recorded->births->is_traced)
		return "not traced: by C code, or before tracemalloc began";
	if (birth->known != HI_BIRTH_BEFORE)
		return "not recorded: it is in no block of the allocator";
	return hi_recorded_is_sampled(birth->recorded)
		       ? "before the recording began, or not sampled"
		       : "before the recording began";
}

void hi_birth_show_fact(const struct hi_birth_info *birth, struct hi_page *page)
{
	char age[24], size[24];

	if (!birth->recorded)
		return;
	if (birth->known != HI_BIRTH_RECORDED) {
		hi_page_fact(page, "allocated", why_without_record(birth));
		return;
	}
	if (birth->recorded->births->is_traced)
		hi_page_fact(page, "allocated",
			     hi_page_printf(page,
					    "by %s (the program's tracemalloc); %s were "
					    "requested",
					    hi_birth_site_text(birth, page),
					    hi_bytes(size, birth->size)));
	else
		hi_page_fact(
			page, "allocated",
			hi_page_printf(page,
				       "%s before the end of the recording, by thread "
				       "%u; %s were requested",
				       hi_text_duration(age, birth->age_ns),
				       birth->thread, hi_bytes(size, birth->size)));
	hi_page_link(page,
		     hi_address_where(page, "census", "site", hi_birth_site_name(birth)));
}

void hi_birth_show_stack(const struct hi_birth_info *birth, struct hi_page *page)
{
	if (!birth->recorded || birth->known != HI_BIRTH_RECORDED || !birth->context)
		return;
	hi_page_heading(page, "Allocated by", "the innermost function first");
	hi_frames_show(&birth->recorded->contexts, &birth->recorded->frames,
		       birth->context, SIZE_MAX, page);
}

void hi_birth_json(const struct hi_birth_info *birth, struct hi_json *json)
{
	const struct hi_frame_row *row;

	if (!birth->recorded)
		return;
	hi_json_object(json, "allocation");
	hi_json_text(json, "known",
		     birth->known == HI_BIRTH_RECORDED	       ? "recorded"
		     : birth->known != HI_BIRTH_BEFORE	       ? "not recorded"
		     : hi_recorded_is_sampled(birth->recorded) ? "before or not sampled"
							       : "before");
	if (birth->known == HI_BIRTH_RECORDED) {
		row = site_of_birth(birth);
		if (row)
			hi_frame_json(row, "site", json);
		if (!birth->recorded->births->is_traced) {
			hi_json_number(json, "thread", birth->thread);
			hi_json_number(json, "age_ns", birth->age_ns);
		}
		hi_json_number(json, "requested", birth->size);
		hi_frames_json(&birth->recorded->contexts, &birth->recorded->frames,
			       birth->context, json);
	}
	hi_json_end(json);
}

/* ---- sites of some objects ---- */

static void add_site_row(const struct hi_births_sites *sites,
			 const struct hi_births_line *line, const char *command,
			 struct hi_report_table *t)
{
	const struct hi_frame_row *row =
		line->group < sites->recorded->frames.n_rows
			? &sites->recorded->frames.rows[line->group]
			: NULL;

	hi_cell_text(t, row ? hi_frame_function(row, t->page) : "(no stack)", 0);
	hi_cell_link(t, row ? hi_address_where(t->page, command, "site", row->function)
			    : "");
	hi_cell_number(t, line->objects);
	hi_cell_number(t, line->bytes);
	if (hi_recorded_is_sampled(sites->recorded))
		add_interval_cell(&line->interval, t);
	hi_cell_text(t, row ? hi_frame_place(row, t->page) : "", 0);
}

static void add_siteless_row(const struct hi_births_sites *sites, const char *name,
			     const struct hi_birth_sum *sum, struct hi_report_table *t)
{
	if (!sum->objects)
		return;
	hi_cell_text(t, name, 0);
	hi_cell_number(t, sum->objects);
	hi_cell_number(t, sum->bytes);
	if (hi_recorded_is_sampled(sites->recorded))
		hi_cell_empty(t);
	hi_cell_empty(t);
}

void hi_births_sites_show(const struct hi_births_sites *sites, const char *heading,
			  const char *command, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"function", HI_COLUMN_TEXT},
						   {"objects", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"where", HI_COLUMN_TEXT}};
	static const struct hi_column sampled[] = {{"function", HI_COLUMN_TEXT},
						   {"~objects", HI_COLUMN_COUNT},
						   {"~bytes", HI_COLUMN_BYTES},
						   {"bytes, 95 %", HI_COLUMN_FIGURE},
						   {"where", HI_COLUMN_TEXT}};
	static const struct hi_hidden none;
	bool is_sampled = hi_recorded_is_sampled(sites->recorded);
	struct hi_report_table *t;

	hi_page_heading(page, heading, is_sampled ? "estimates from samples" : NULL);
	t = is_sampled ? hi_page_table(page, sampled, 5)
		       : hi_page_table(page, columns, 4);
	for (size_t i = 0; i < sites->n_rows; i++)
		add_site_row(sites, &sites->rows[i], command, t);
	add_siteless_row(sites, "(before the recording)", &sites->before, t);
	add_siteless_row(sites, "(not recorded)", &sites->other, t);
	hi_hidden_note(page, &sites->beyond, &none, &none);
}

/* ---- as JSON ---- */

/* Nothing, where it is no estimate. */
static void put_interval_json(const struct hi_recorded *recorded,
			      const struct hi_interval *interval, struct hi_json *json)
{
	if (!hi_recorded_is_sampled(recorded))
		return;
	hi_json_number(json, "bytes_low", interval->low);
	hi_json_number(json, "bytes_high", interval->high);
}

static void put_birth_sum_json(const struct hi_birth_sum *sum, const char *key,
			       struct hi_json *json)
{
	hi_json_object(json, key);
	hi_json_number(json, "objects", sum->objects);
	hi_json_number(json, "bytes", sum->bytes);
	hi_json_end(json);
}

void hi_births_sites_json(const struct hi_births_sites *sites, struct hi_json *json)
{
	hi_json_object(json, "sites");
	put_birth_sum_json(&sites->before, "before", json);
	put_birth_sum_json(&sites->other, "not_recorded", json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < sites->n_rows; i++) {
		const struct hi_births_line *line = &sites->rows[i];

		hi_json_object(json, NULL);
		if (line->group < sites->recorded->frames.n_rows)
			hi_frame_json(&sites->recorded->frames.rows[line->group], "site",
				      json);
		else
			hi_json_text(json, "site", NULL);
		hi_json_number(json, "objects", line->objects);
		hi_json_number(json, "bytes", line->bytes);
		put_interval_json(sites->recorded, &line->interval, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static void put_recording_json(const struct hi_births_report *r, struct hi_json *json)
{
	const struct hi_births *b = r->recorded->births;
	const struct hi_recording_counts *c = &r->recorded->counts;
	struct hi_context_totals sum = sum_totals(r->recorded);

	hi_json_object(json, "recording");
	hi_json_number(json, "duration_ns", length_of_recording(b));
	hi_json_number(json, "sample_bytes", b->sample_bytes);
	hi_json_number(json, "events", c->events);
	if (r->recorded->has_events) {
		hi_json_number(json, "events_kept", r->recorded->event_counts.kept);
		hi_json_number(json, "events_left_out",
			       r->recorded->event_counts.left_out);
	}
	hi_json_number(json, "allocations", sum.allocs);
	hi_json_number(json, "frees", sum.frees);
	hi_json_number(json, "lost", c->lost);
	hi_json_number(json, "missing", c->lost_frees + c->lost_begins + c->lost_ends);
	hi_json_number(json, "frees_of_unknown", c->unknown_frees);
	hi_json_number(json, "joined", b->joined);
	hi_json_number(json, "without_object", b->without_object);
	hi_json_number(json, "too_large", b->too_large);
	hi_json_end(json);
}

static void put_births_key_json(const struct hi_births_report *r,
				const struct hi_births_line *line, struct hi_json *json)
{
	const struct hi_recorded *recorded = r->recorded;
	uint32_t key = r->groups->groups[line->group].key;
	const struct hi_frame_row *row = is_by_stack(r) ? row_of_line(r, line) : NULL;

	if (r->groups->by == HI_BORN_BY_THREAD)
		hi_json_number(json, "thread", key);
	if (r->groups->by == HI_BORN_BY_AGE)
		hi_json_text(json, "age", hi_age_class_name(key));
	if (r->groups->by == HI_BORN_BY_MODULE)
		hi_json_text(json, "module", module_of_line(r, line));
	if (!is_by_stack(r))
		return;
	if (row)
		hi_frame_json(row, "site", json);
	else
		hi_json_text(json, "site", NULL);
	if (r->groups->by == HI_BORN_BY_CONTEXT && line->group >= HI_GROUPS_FIXED)
		hi_frames_json(&recorded->contexts, &recorded->frames, key, json);
}

static void put_births_line_json(const struct hi_births_report *r,
				 const struct hi_births_line *line, struct hi_json *json)
{
	hi_json_object(json, NULL);
	put_births_key_json(r, line, json);
	hi_json_number(json, "objects", line->objects);
	hi_json_number(json, "bytes", line->bytes);
	put_interval_json(r->recorded, &line->interval, json);
	if (r->recorded->births->is_traced)
		hi_json_null(json, "oldest_ns");
	else
		hi_json_number(json, "oldest_ns", age_of_oldest(r, line));
	hi_json_number(json, "allocations", line->allocs);
	hi_json_number(json, "frees", line->frees);
	hi_json_number(json, "allocated_bytes", line->alloc_bytes);
	hi_json_end(json);
}

static void put_recorded_sum_json(const struct hi_births_report *r, struct hi_json *json)
{
	struct hi_interval interval = hi_birth_sum_interval(&r->known);

	hi_json_object(json, "recorded");
	hi_json_number(json, "objects", r->known.objects);
	hi_json_number(json, "bytes", r->known.bytes);
	put_interval_json(r->recorded, &interval, json);
	hi_json_end(json);
}

void hi_births_json(const struct hi_births_report *r, struct hi_json *json)
{
	static const char *const keys[] = {[HI_BORN_BY_SITE] = "site",
					   [HI_BORN_BY_CONTEXT] = "context",
					   [HI_BORN_BY_THREAD] = "thread",
					   [HI_BORN_BY_AGE] = "age",
					   [HI_BORN_BY_MODULE] = "site-module"};
	static const struct hi_hidden none;
	struct hi_birth_sum live = {.objects = r->objects, .bytes = r->bytes};

	hi_report_header_json(r->header, "heapinspect/births/v1", json);
	hi_json_text(json, "by", keys[r->groups->by]);
	put_recording_json(r, json);
	put_birth_sum_json(&live, "live", json);
	put_recorded_sum_json(r, json);
	put_birth_sum_json(&r->before, "before", json);
	if (hi_recorded_is_sampled(r->recorded))
		put_birth_sum_json(&r->without_record, "without_record", json);
	put_birth_sum_json(&r->other, "not_recorded", json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_births_line_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &none);
	hi_pieces_json(&r->pieces, json);
	hi_recorded_children_json(&r->children, json);
	hi_json_end(json);
}
