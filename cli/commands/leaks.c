/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/commands/leaks.h"
#include "decode/describe/runtime_facts.h"
#include "session/inspect/leak_cycles.h"
#include "session/leak_texts.h"
#include "session/operands.h"
#include "session/recorded.h"

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

/* Where they were allocated, of a recording. */
static enum hi_status find_leak_sites(struct hi_inspection *in,
				      struct hi_births_sites *sites,
				      struct hi_leaks_report *report,
				      struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	HI_GUARD(free) uint64_t *leaked = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	if (status != HI_OK || !recorded)
		return status;
	leaked = hi_inspect_leak_bits(in);
	if (!leaked)
		return hi_fail_memory(err, "leaks of a recording");
	for (size_t i = 0; i < report->n_roots; i++)
		report->roots[i].birth = hi_birth_info(
			recorded, hi_objects_find(in->graph->objects,
						  report->roots[i].address, NULL));
	status = hi_births_sites_find(recorded, in->graph->objects, leaked,
				      hi_lookup_top(in->options, TOP), sites, err);
	if (status == HI_OK)
		report->sites = sites;
	return status;
}

static void name_leaks(struct hi_inspection *in, struct hi_leaks_report *report)
{
	struct hi_facts *facts = hi_facts_open(in->decoders.typing, in->graph);

	name_rows(in, facts, report->rows, report->n_rows);
	name_rows(in, facts, report->roots, report->n_roots);
	name_rows(in, facts, report->distinct, report->n_distinct);
	hi_facts_close(facts);
}

/* Roots that are shown as one, as they are alike in all else, have no text in common. */
static enum hi_status add_leak_texts(struct hi_inspection *in,
				     struct hi_leaks_report *report, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < report->n_rows; i++)
		status = hi_leak_text_add_row(in, report->rows[i].address,
					      &report->rows[i].kind, err);
	for (size_t i = 0; status == HI_OK && i < report->n_roots; i++)
		status = hi_leak_text_add(in, report->roots[i].address,
					  &report->roots[i].kind, err);
	for (size_t i = 0; status == HI_OK && i < report->n_distinct; i++)
		if (report->distinct[i].count == 1)
			status = hi_leak_text_add(in, report->distinct[i].address,
						  &report->distinct[i].kind, err);
	return status;
}

static enum hi_status add_leak_cycles(struct hi_inspection *in,
				      struct hi_leaks_report *report,
				      struct hi_error *err)
{
	HI_GUARD(hi_cycle_edges_destroy) struct hi_cycle_edges *edges = NULL;
	enum hi_status status = hi_leak_cycles_find(in, &edges, err);

	if (status == HI_OK)
		status = hi_leak_cycles_take(in->graph, edges, &in->arena,
					     &report->cycles, err);
	return status;
}

enum hi_status hi_leaks_find_makers(struct hi_inspection *in,
				    struct hi_leaks_report *report, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < report->n_rows; i++)
		status = hi_leak_sites_fit(in, report->rows[i].named,
					   &report->rows[i].kind,
					   &report->rows[i].made_by, err);
	for (size_t i = 0; status == HI_OK && i < report->n_roots; i++)
		status = hi_leak_sites_fit(in, report->roots[i].named,
					   &report->roots[i].kind,
					   &report->roots[i].made_by, err);
	return status;
}

static enum hi_status run_leaks_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	HI_GUARD(hi_leaks_report_destroy) struct hi_leaks_report *report = NULL;
	struct hi_births_sites sites = {};
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
	name_leaks(in, report);
	status = hi_leaks_find_makers(in, report, err);
	if (status == HI_OK)
		status = add_leak_texts(in, report, err);
	if (status == HI_OK)
		status = add_leak_cycles(in, report, err);
	if (status == HI_OK)
		status = find_leak_sites(in, &sites, report, err);
	if (status != HI_OK)
		return status;
	if (json)
		hi_leaks_json(report, json);
	else
		hi_leaks_display(report, page);
	hi_births_sites_free(&sites);
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
	.page = HI_COMMAND_PAGE,
};
