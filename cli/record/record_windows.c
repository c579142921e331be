/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_windows.h"

#include "report/parts/windows_report.h"
#include "session/operands.h"
#include "session/windows.h"

enum { TOP = 20 };

enum hi_status hi_record_windows_run(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     const struct hi_recorded_children *children,
				     struct hi_page *page, struct hi_json *json,
				     struct hi_error *err)
{
	struct hi_inspected_windows windows;
	const struct hi_windows_report report = {
		.header = header,
		.result = &windows.result,
		.top = hi_lookup_top(in->options, TOP),
		.children = children ? *children : (struct hi_recorded_children){}};
	enum hi_status status = hi_inspect_windows(in, &windows, err);

	if (status == HI_OK && json)
		hi_windows_json(&report, json);
	if (status == HI_OK && !json)
		hi_windows_display(&report, page);
	hi_inspected_windows_free(&windows);
	return status;
}
