/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "decode/describe/facts.h"
#include "report/views/leaks_report.h"
#include "session/lookup.h"

enum { TOP = 20 };

/* "function" alone does not help; a snapshot file has no names of functions. */
static void name_rows(struct hi_inspection *in, struct hi_facts *facts,
		      struct hi_leaks_row *rows, size_t n)
{
	for (size_t i = 0; facts && i < n; i++) {
		struct hi_runtime_facts f;
		uint64_t offset;
		hi_node node =
			hi_objects_find(in->graph->objects, rows[i].address, &offset);

		if (hi_facts_read(facts, node, &f) && *f.name)
			rows[i].name = hi_arena_strdup(&in->arena, f.name);
	}
}

static enum hi_status run_leaks_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	struct hi_leaks_report *report = NULL;
	struct hi_facts *facts;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, TOP, &set, &only, err);

	if (status != HI_OK)
		return status;
	status = hi_leaks_report_create(header, in->graph, in->shown.reach,
					in->results.leaks, &only, &report, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	facts = hi_facts_open(in->decoders.typing, in->graph);
	name_rows(in, facts, report->rows, report->n_rows);
	name_rows(in, facts, report->roots, report->n_roots);
	hi_facts_close(facts);
	if (json)
		hi_leaks_json(report, json);
	else
		hi_leaks_display(report, page);
	hi_leaks_report_destroy(report);
	return HI_OK;
}

const struct hi_command hi_command_leaks = {
	.id = HI_COMMAND_LEAKS,
	.name = "leaks",
	.arguments = "",
	.purpose = "List allocated objects that no root leads to, by leak root.",
	.help = "Examples:\n"
		"  heapinspect leaks --pid 4242\n"
		"  heapinspect leaks --core core.4242 --type 'struct node' --all",
	.wanted = HI_WANT_LEAKS,
	.run = run_leaks_command,
};
