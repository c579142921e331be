/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/commands/untyped.h"
#include "cli/options/births.h"
#include "report/reports/census/census_report.h"
#include "session/operands.h"
#include "session/series/rows.h"
#include "session/type_values.h"

enum { TOP = 30, TOP_CONFLICTS = 5 };

static enum hi_status
make_census_report(struct hi_inspection *in, const struct hi_report_header *header,
		   const struct hi_restrict *only, struct hi_by_census **broken_down,
		   struct hi_census_report **ret, struct hi_error *err)
{
	enum hi_by by = in->options->selection.by;
	enum hi_status status;

	if (by == HI_BY_TYPE)
		return hi_census_report_create(header, in->graph, in->results.census,
					       only, ret, err);
	status = hi_census_break_down(in->graph, in->shown.reach, in->results.dominators,
				      by, only->types ? only->types->has : NULL,
				      broken_down, err);
	if (status != HI_OK)
		return status;
	return hi_census_by_report_create(header, in->graph, *broken_down, only, ret,
					  err);
}

/* Which types two pointers disagree about. */
static void add_conflicts(struct hi_inspection *in, struct hi_census_report *report)
{
	const struct hi_typing_conflict *found = NULL;
	uint64_t objects;
	size_t n = in->source->results->list_conflicts(in, &found, &objects);
	struct hi_census_conflict *rows =
		hi_arena_alloc(&in->arena, (n + 1) * sizeof(*rows));

	if (!rows || report->by != HI_BY_TYPE || in->options->selection.type)
		return;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct hi_census_conflict){found[i].type, found[i].other,
						      found[i].objects, found[i].example};
	report->conflicts = rows;
	report->n_conflicts = n;
	report->conflicts_shown = hi_lookup_top(in->options, TOP_CONFLICTS);
	report->objects_in_conflict = objects;
}

/* "shop::Session: 333 values in 234 objects", where arrays have several. A census without
 * its graph has no objects to look at. */
static enum hi_status note_values(struct hi_inspection *in, const struct hi_type_set *set,
				  struct hi_error *err)
{
	uint64_t values = 0, objects = 0;
	char a[32], b[32];
	enum hi_status status =
		hi_type_values_count(in, set, in->shown.reach->any, &values, err);

	if (!in->graph->n_objects)
		return status;
	for (size_t i = 0; i < in->results.census->n_rows; i++)
		if (hi_type_set_has(set, in->results.census->rows[i].type))
			objects += in->results.census->rows[i].count;
	if (status == HI_OK && values != objects)
		hi_inspect_note(in, "%.100s: %s values in %s objects",
				in->options->selection.type, hi_text_count(a, values),
				hi_text_count(b, objects));
	return status;
}

static enum hi_status run_census_command(struct hi_inspection *in,
					 const struct hi_report_header *header,
					 struct hi_page *page, struct hi_json *json,
					 struct hi_error *err)
{
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *broken_down = NULL;
	struct hi_census_report *report = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status;

	if (in->options->selection.untyped)
		return hi_untyped_run(in, header, page, json, err);
	if (in->options->selection.has_born_by)
		return hi_births_run(
			in, header,
			&(struct hi_births_request){.by = in->options->selection.born_by},
			page, json, err);
	status = hi_lookup_restrict(in, TOP, &set, &only, err);
	if (status != HI_OK)
		return status;
	if (only.types)
		status = note_values(in, only.types, err);
	if (status == HI_OK)
		status =
			make_census_report(in, header, &only, &broken_down, &report, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	add_conflicts(in, report);
	if (json)
		hi_census_json(report, json);
	else
		hi_census_display(report, page);
	hi_census_report_destroy(report);
	return HI_OK;
}

/* Instead of census, with --suggest-hints. */
const struct hi_command hi_command_census_hints = {
	.id = HI_COMMAND_CENSUS,
	.name = "census",
	.arguments = "",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS,
	.write = hi_suggest_hints_write,
};

static void settle_census(struct hi_options *o)
{
	if (!o->selection.suggest_hints)
		return;
	o->selection.untyped = true;
	o->command = &hi_command_census_hints;
}

const struct hi_command hi_command_census = {
	.id = HI_COMMAND_CENSUS,
	.name = "census",
	.arguments = "",
	.purpose = "Show live objects by type, module, class or size: count, shallow "
		   "and retained bytes.",
	.help = "Examples:\n"
		"  heapinspect census --by type --pid 4242 --all\n"
		"  heapinspect census --by type2 --pid 4242\n"
		"  heapinspect census --untyped --pid 4242\n"
		"  heapinspect census --suggest-hints -o x.hints --pid 4242\n"
		"  heapinspect census --by size --pid 4242\n"
		"  heapinspect census --by owner --pid 4242\n"
		"  heapinspect census --by site app.hirec\n"
		"  heapinspect census --every 0.5s --for 60s --hp x.hp --pid 4242\n"
		"  heapinspect census --at gc --for 60s --hp x.hp --pid 4242\n"
		"  heapinspect census --at gc --at every:10 --timeout 30s --pid 4242\n"
		"  heapinspect census --pid 4242 --type 'struct conn*' --min-size 1MiB",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS | HI_WANT_ONLY_CENSUS,
	.run = run_census_command,
	.wanted_in_series = HI_WANT_CENSUS,
	.sample = hi_series_census,
	.settle = settle_census,
	.page = HI_COMMAND_PAGE,
};
