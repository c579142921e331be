/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/survived_report.h"

#include <inttypes.h>

#include "report/parts/report_node.h"
#include "report/reports/diff/diff_report.h"

/* ---- as text ---- */

static void show_survived_headline(const struct hi_survived_report *r,
				   struct hi_page *page)
{
	struct hi_heap_total all = r->survived.all;
	char bytes[24], n[32], born[24], of[32], percent[16];

	if (!all.count) {
		hi_page_text(page, hi_page_printf(page,
						  "Nothing survived: all %s objects (%s) "
						  "that were born under load were freed",
						  hi_count(of, r->born.count),
						  hi_bytes(born, r->born.bytes)));
		return;
	}
	hi_page_text(page,
		     hi_page_printf(page,
				    "%s in %s object%s survived: born under load, still "
				    "there after it (%s of the %s that were born)",
				    hi_bytes(bytes, all.bytes), hi_count(n, all.count),
				    all.count == 1 ? "" : "s",
				    hi_percent(percent, all.bytes, r->born.bytes),
				    hi_bytes(born, r->born.bytes)));
}

static void show_side(const struct hi_report_header *header, const char *key,
		      uint64_t live, struct hi_page *page)
{
	char bytes[24];

	hi_page_fact(page, key,
		     hi_page_printf(page, "%s live, %s", hi_bytes(bytes, live),
				    hi_report_header_target(header, page)));
}

static void show_matching(const struct hi_survived_report *r, struct hi_page *page)
{
	if (r->load_by_address == r->after_by_address)
		hi_page_fact(page, "matched",
			     hi_diff_matched_text(r->after_by_address, r->knows_births));
	else
		hi_page_fact(page, "matched",
			     hi_page_printf(page, "%s with warm-up %s; the other two %s",
					    "load",
					    r->load_by_address ? "by address and type"
							       : "by type and path",
					    r->after_by_address ? "by address and type"
								: "by type and path"));
}

static void suggest_survived_commands(const struct hi_survived_report *r,
				      struct hi_page *page)
{
	const struct hi_new_objects *n = &r->survived;
	const char *target = hi_report_header_target(r->after, page);

	if (!n->n_rows)
		return;
	hi_page_blank(page);
	if (hi_new_row_is_held(&n->rows[0]))
		hi_page_command(page,
				hi_page_printf(page, "heapinspect paths 0x%" PRIx64 " %s",
					       n->rows[0].example, target),
				"all that keeps it alive");
	else
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       n->rows[0].example, target),
				"what is leaked there");
}

void hi_survived_display(const struct hi_survived_report *r, struct hi_page *page)
{
	hi_report_header_title(r->after, page);
	show_survived_headline(r, page);
	show_side(r->warm, "warm-up", r->live[0], page);
	show_side(r->load, "load", r->live[1], page);
	show_side(r->after, "after", r->live[2], page);
	show_matching(r, page);
	hi_report_header_facts(r->after, page, false);
	hi_new_objects_show(&r->survived, true, page);
	suggest_survived_commands(r, page);
}

/* ---- as JSON ---- */

static const char *matched_key(bool by_address)
{
	return by_address ? "address" : "way";
}

void hi_survived_json(const struct hi_survived_report *r, struct hi_json *json)
{
	hi_report_header_json(r->after, "heapinspect/survived/v1", json);
	hi_json_object(json, "matched");
	hi_json_text(json, "load", matched_key(r->load_by_address));
	hi_json_text(json, "after", matched_key(r->after_by_address));
	hi_json_end(json);
	hi_diff_heap_json(r->warm, "warm_up", r->live[0], &r->leaks[0], json);
	hi_diff_heap_json(r->load, "load", r->live[1], &r->leaks[1], json);
	hi_diff_heap_json(r->after, "after", r->live[2], &r->leaks[2], json);
	hi_heap_total_json(json, "born", r->born);
	hi_heap_total_json(json, "survived", r->survived.all);
	hi_new_objects_json(&r->survived, true, json);
	hi_json_end(json);
}
