/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `ticket`: the summary as Markdown, for an issue tracker. */
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "attach/target.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/commands/leaks.h"
#include "cli/commands/summary.h"
#include "report/parts/legend.h"
#include "report/render/markdown.h"
#include "report/reports/ticket/ticket_report.h"
#include "session/operands.h"
#include "session/recorded.h"
#include "session/series/trend.h"

enum { TOP = 10, SITES_SHOWN = 5, LEAKS_SHOWN = 5 };

/* The results that the page is made of, beside the inspection. */
struct ticket {
	struct hi_inspection *in;
	const struct hi_report_header *header;
	struct hi_summary_report *summary;
	struct hi_series_trend *series;
	struct hi_leaks_report *leaks;
	struct hi_births_sites leak_sites, suspect_sites;
	struct hi_ticket_report report;
};

static void close_ticket(struct ticket *t)
{
	hi_births_sites_free(&t->leak_sites);
	hi_births_sites_free(&t->suspect_sites);
	hi_leaks_report_destroy(t->leaks);
	hi_series_trend_destroy(t->series);
	hi_summary_report_destroy(t->summary);
}

/* ---- since when ---- */

/* Leaves it out if a census of the file is damaged. */
static enum hi_status read_growth(struct ticket *t, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	const char *file = t->in->options->target.file;
	enum hi_status status;
	size_t last = 0;

	if (!t->header->census || !file)
		return HI_OK;
	status = hi_snapshots_open(file, &s, err);
	if (status != HI_OK)
		return status;
	while (last < s->n_entries && s->entries[last].point.number != t->header->census)
		last++;
	if (last == s->n_entries)
		return HI_OK;
	status = hi_series_trend_read(s, last, &t->series, err);
	if (status == HI_OK)
		t->report.trend = &t->series->trend;
	return status == HI_BAD_DATA ? HI_OK : status;
}

static uint64_t running_ns(const struct hi_inspection *in)
{
	long ticks = sysconf(_SC_CLK_TCK);
	struct timespec now;
	uint64_t started, ns;

	if (!in->stop.target || !in->stop.target->start_time || ticks <= 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return UINT64_MAX;
	started = in->stop.target->start_time * (1000000000 / (uint64_t)ticks);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return ns > started ? ns - started : UINT64_MAX;
}

/* ---- made where ---- */

static bool is_of_suspect(const struct hi_inspection *in, uint32_t type)
{
	const struct hi_suspects *suspects = in->results.suspects;

	for (size_t i = 0; type && i < suspects->count; i++)
		if (suspects->items[i].children && suspects->items[i].child_type == type)
			return true;
	return false;
}

/* Live objects of the types that accumulate. NULL: out of memory. */
static uint64_t *bits_of_suspects(const struct hi_inspection *in)
{
	uint64_t *bits = hi_inspect_live_bits(in);

	for (hi_node i = 0; bits && i < in->graph->n_objects; i++)
		if (!is_of_suspect(in, in->graph->objects->type[i]))
			bits[i / 64] &= ~(1ull << (i % 64));
	return bits;
}

static enum hi_status find_sites(struct ticket *t, const struct hi_recorded *recorded,
				 uint64_t *mask, struct hi_births_sites *sites,
				 const struct hi_births_sites **ret, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *bits = mask;
	enum hi_status status;

	if (!bits)
		return hi_fail_memory(err, "sites");
	status = hi_births_sites_find(recorded, t->in->graph->objects, bits, SITES_SHOWN,
				      sites, err);
	if (status == HI_OK)
		*ret = sites;
	return status;
}

static enum hi_status find_ticket_sites(struct ticket *t, struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(t->in, &recorded, err);

	if (status != HI_OK || !recorded)
		return status;
	status = find_sites(t, recorded, bits_of_suspects(t->in), &t->suspect_sites,
			    &t->report.suspect_sites, err);
	if (status == HI_OK)
		status = find_sites(t, recorded, hi_inspect_leak_bits(t->in),
				    &t->leak_sites, &t->report.leak_sites, err);
	return status;
}

/* Without a recording: by the code of the program. */
static enum hi_status find_makers(struct ticket *t, struct hi_error *err)
{
	const struct hi_restrict only = {.top = LEAKS_SHOWN};
	enum hi_status status;

	if (t->report.leak_sites || !t->in->results.leaks->n_roots)
		return HI_OK;
	status = hi_leaks_report_create(t->header, t->in->graph, t->in->shown.reach,
					t->in->results.leaks, &only, &t->leaks, err);
	if (status == HI_OK)
		status = hi_leaks_find_makers(t->in, t->leaks, err);
	t->report.leaks = t->leaks;
	return status;
}

/* ---- the page ---- */

static const char *describe_system(struct hi_inspection *in)
{
	struct utsname name;
	const char *text = NULL;

	if (in->stop.target && uname(&name) == 0)
		text = hi_arena_printf(&in->arena, "%s %s %s", name.sysname, name.release,
				       name.machine);
	return text ? text : "";
}

static enum hi_status make_ticket(struct ticket *t, struct hi_error *err)
{
	const struct hi_options *o = t->in->options;
	enum hi_status status = hi_summary_of_inspection(
		t->in, t->header, hi_lookup_top(o, TOP), false, NULL, &t->summary, err);

	t->report = (struct hi_ticket_report){.summary = t->summary,
					      .version = HI_VERSION,
					      .system = describe_system(t->in),
					      .running_ns = running_ns(t->in),
					      .has_addresses = o->output.addresses,
					      .has_contents = o->snap.with_contents};
	if (status == HI_OK)
		status = read_growth(t, err);
	if (status == HI_OK)
		status = find_ticket_sites(t, err);
	return status == HI_OK ? find_makers(t, err) : status;
}

/* All types are added, so that those of one short name are told apart. */
static enum hi_status write_ticket_page(const struct ticket *t, FILE *out,
					struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	const struct hi_graph *g = t->in->graph;

	if (!page)
		return hi_fail_memory(err, "ticket");
	page->type_names.keep_full = t->in->options->output.full_names;
	for (uint32_t i = 0; i < g->n_types; i++)
		hi_type_names_add(&page->type_names, g->types[i].name);
	hi_ticket_display(&t->report, page);
	hi_legend_add(page);
	return hi_markdown_render(page, out, err);
}

static enum hi_status write_ticket(struct hi_inspection *in,
				   const struct hi_report_header *header,
				   struct hi_output *output, struct hi_error *err)
{
	struct ticket t = {.in = in, .header = header};
	enum hi_status status = make_ticket(&t, err);

	if (status == HI_OK)
		status = hi_inspect_check(in, err);
	if (status == HI_OK && hi_inspect_lost_something(in))
		status = hi_fail_memory(err, "ticket");
	if (status == HI_OK)
		status = write_ticket_page(&t, output->file, err);
	close_ticket(&t);
	return status;
}

const struct hi_command hi_command_ticket = {
	.id = HI_COMMAND_TICKET,
	.name = "ticket",
	.arguments = "",
	.purpose = "Write the summary as Markdown, for an issue tracker: what, how much, "
		   "since when, held by what, made where, what would free it.",
	.help = "Addresses, and keys of dictionaries and maps, are left out unless they "
		"are asked\n"
		"for. Of a file of many censuses (snap --every) it has the growth since "
		"the first.\n"
		"\n"
		"Examples:\n"
		"  heapinspect ticket --pid 4242 > ticket.md\n"
		"  heapinspect ticket series.hisnap -o ticket.md\n"
		"  heapinspect ticket app.hirec --addresses",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_SUSPECTS |
		  HI_WANT_LEDGER | HI_WANT_OWNERS | HI_WANT_PACKED,
	.write = write_ticket,
};
