/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/stop_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_node.h"

char *hi_probed_text(char out[HI_PROBED_TEXT], const struct hi_probed *p)
{
	char into[32] = "";

	if (p->into_function)
		snprintf(into, sizeof(into), "+0x%" PRIx64, p->into_function);
	if (p->function && *p->function)
		snprintf(out, HI_PROBED_TEXT, "%s%s (%s) in %s", p->function, into,
			 p->instruction, p->module);
	else
		snprintf(out, HI_PROBED_TEXT, "%s+0x%" PRIx64 " (%s)", p->module,
			 p->offset, p->instruction);
	return out;
}

const char *hi_stopped_text(const struct hi_stopped *s, struct hi_page *page)
{
	const char *where = hi_page_safe(page, s->safepoint), *thread = "";
	char place[HI_PROBED_TEXT], time[24];

	if (s->place_known) {
		const char *text = hi_page_safe(page, hi_probed_text(place, &s->place));
		bool same =
			strcmp(s->safepoint,
			       hi_known(s->place.function) ? s->place.function : "") == 0;

		where = same ? text : hi_page_printf(page, "%s: %s", where, text);
	}
	if (s->tid)
		thread = hi_page_printf(page, ", thread %d%s%s", s->tid,
					hi_known(s->thread) ? " " : "",
					hi_page_safe(page, s->thread));
	return hi_page_printf(page, "%s %s%s, after %s%s", s->near ? "near" : "at", where,
			      thread, hi_text_duration(time, s->waited_ns),
			      s->near ? "; the thread ran on a little before it stopped"
				      : "");
}

static struct hi_doc_value into_function_of_probed(const struct hi_doc_row *row)
{
	const struct hi_probed *p = row->row;

	return hi_doc_number(hi_known(p->function) ? p->into_function : UINT64_MAX);
}

static const struct hi_doc_field probed_fields[] = {
	{"module", NULL, HI_DOC_TEXT, HI_AT(struct hi_probed, module), .nullable = true},
	{"function", NULL, HI_DOC_TEXT, HI_AT(struct hi_probed, function),
	 .nullable = true},
	{"into_function", NULL, HI_DOC_BYTES, .value = into_function_of_probed,
	 .nullable = true, .meaning = "bytes after its entry"},
	{"offset", NULL, HI_DOC_BYTES, HI_AT(struct hi_probed, offset),
	 .meaning = "in the file"},
	{"address", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_probed, address),
	 .nullable = true},
	{"instruction", NULL, HI_DOC_TEXT, HI_AT(struct hi_probed, instruction),
	 .nullable = true},
	{"single_stepped", NULL, HI_DOC_FLAG, HI_AT(struct hi_probed, single_stepped),
	 .meaning = "not emulated by the kernel: dearer by far"},
};
const struct hi_doc_fields hi_probed_fields =
	HI_DOC_FIELDS(probed_fields, .row_size = sizeof(struct hi_probed),
		      .meaning = "an instruction that a probe is on");

void hi_stopped_json(const struct hi_stopped *s, struct hi_json *json)
{
	if (!s) {
		hi_json_null(json, "stop");
		return;
	}
	hi_json_object(json, "stop");
	hi_json_text(json, "landing", s->near ? "near" : "at");
	hi_json_number(json, "waited_ns", s->waited_ns);
	hi_json_number(json, "every", s->every ? s->every : UINT64_MAX);
	hi_json_number(json, "thread", s->tid > 0 ? (uint64_t)s->tid : UINT64_MAX);
	hi_json_text(json, "thread_name", hi_known(s->thread));
	if (s->place_known) {
		hi_json_object(json, "place");
		hi_doc_put_report(&hi_probed_fields, &s->place, 0, json);
		hi_json_end(json);
	} else {
		hi_json_null(json, "place");
	}
	hi_json_end(json);
}
