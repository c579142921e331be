/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "cli/command/command.h"
#include "cli/options/option_take.h"
#include "decode/describe/runtime_facts.h"
#include "decode/inference/audit.h"
#include "report/reports/audit/audit_report.h"
#include "session/operands.h"

enum { TOP = 20 };

/* What the examples of rows are called, or what they are. */
static const char *const *name_examples(struct hi_inspection *in, struct hi_facts *facts,
					const struct hi_audit_row *rows, size_t n)
{
	const char **names = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*names));

	for (size_t i = 0; names && i < n; i++) {
		struct hi_runtime_facts f;

		names[i] = "";
		if (hi_facts_read(facts, rows[i].example, &f))
			names[i] =
				hi_arena_strdup(&in->arena, *f.name ? f.name : f.value);
	}
	return names;
}

static int compare_audit_rows_by_objects(const void *a, const void *b)
{
	const struct hi_audit_cause *x = a, *y = b;

	if (x->objects != y->objects)
		return x->objects > y->objects ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static bool list_causes(struct hi_inspection *in, struct hi_audit_report *report)
{
	const struct hi_graph *g = in->graph;
	size_t size = ((size_t)g->n_types + 1) * sizeof(struct hi_audit_cause);
	struct hi_audit_cause *causes = hi_arena_alloc(&in->arena, size);

	if (!causes)
		return false;
	memset(causes, 0, size);
	for (uint32_t i = 0; i < g->n_causes; i++) {
		struct hi_audit_cause *cause = &causes[g->objects->type[g->causes[i]]];

		if (!cause->objects++)
			cause->example = g->causes[i];
		cause->type = g->objects->type[g->causes[i]];
	}
	qsort(causes, g->n_types, sizeof(*causes), compare_audit_rows_by_objects);
	while (report->n_causes < g->n_types && causes[report->n_causes].objects)
		report->n_causes++;
	report->causes = causes;
	return true;
}

static enum hi_status compute_audit(struct hi_inspection *in,
				    struct hi_audit_report *report,
				    struct hi_audit *audit, struct hi_error *err)
{
	enum hi_status status = hi_runtime_audit(
		in->decoders.typing, in->decoders.runtime, in->graph, audit, err);

	if (status == HI_OK)
		status = hi_garbage_compute(in->graph, in->results.reach,
					    &report->garbage, err);
	if (status == HI_OK) {
		struct hi_facts *facts = hi_facts_open(in->decoders.typing, in->graph);

		report->names = name_examples(in, facts, audit->rows, audit->n_rows);
		report->short_names =
			name_examples(in, facts, audit->short_rows, audit->n_short_rows);
		hi_facts_close(facts);
		if (!list_causes(in, report))
			status = hi_fail_memory(err, "audit");
	}
	return status;
}

static enum hi_status run_audit_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	struct hi_audit found = {};
	struct hi_audit_report report = {.header = header,
					 .graph = in->graph,
					 .audit = &found,
					 .top = hi_lookup_top(in->options, TOP)};
	enum hi_status status = compute_audit(in, &report, &found, err);

	if (status == HI_OK && json)
		hi_audit_json(&report, json);
	else if (status == HI_OK)
		hi_audit_display(&report, page);
	hi_audit_deinit(&found);
	hi_garbage_destroy(report.garbage);
	return status;
}

static int check_audit(const struct hi_given *given)
{
	const char *file = given->options->target.file;

	return file ? hi_option_wrong("audit: needs --pid or --core: reference counts "
				      "are not in a snapshot file (%s)",
				      file)
		    : 0;
}

const struct hi_command hi_command_audit = {
	.id = HI_COMMAND_AUDIT,
	.name = "audit",
	.arguments = "",
	.purpose = "Find objects whose reference counts differ from the references found "
		   "(C code leaks, hides or releases references), and garbage.",
	.help = "Examples:\n"
		"  heapinspect audit --pid 4242\n"
		"  heapinspect audit --pid 4242 --at gc --json\n",
	.wanted = 0,
	.run = run_audit_command,
	.targets = "--pid PID|--core FILE|-- PROGRAM",
	.check = check_audit,
};
