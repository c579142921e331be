/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `safepoints`: where --at could stop a process, and how often the process
 * reaches these probe sites. It does not stop the process.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/option_take.h"
#include "report/reports/safepoints/safepoints_report.h"
#include "session/live/stop_site.h"
#include "session/live/symbols.h"
#include "session/operands.h"

enum {
	USUAL_ROWS = 20,
	USUAL_PLACES = 256, /* that get a probe; with --all: */
	MOST_PLACES = 3072,
	ENOUGH_HITS = 200000, /* each costs the target up to 10 µs: then it is over */
	STEP_MS = 10,
};
#define USUAL_NS 1000000000ull

struct listing {
	const struct hi_options *options;
	struct hi_target *target;
	struct hi_known_safepoint *known;
	size_t n_known;
	struct hi_probe_sites all; /* of the first rows, one after the other; borrowed */
	uint64_t *hits;		   /* of each of them */
	struct hi_report_header header;
	struct hi_safepoints_report report;
	struct hi_arena arena;
	char why[240];
};

static void close_safepoint_listing(struct listing *l)
{
	hi_safepoints_free(l->known, l->n_known);
	hi_target_close(l->target);
	free(l->all.items);
	free(l->hits);
	free(l->report.rows);
	hi_arena_free(&l->arena);
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The more likely ones come first: there may be hundreds. */
static int by_promise(const void *a, const void *b)
{
	const struct hi_known_safepoint *x = a, *y = b;

	if (x->is_gc != y->is_gc)
		return x->is_gc ? -1 : 1;
	if (!x->runtime[0] != !y->runtime[0])
		return x->runtime[0] ? -1 : 1;
	return strcmp(x->text, y->text);
}

static enum hi_status list_safepoints(struct listing *l, struct hi_error *err)
{
	enum hi_status status = hi_target_open(l->options->target.pid, &l->target, err);

	if (status == HI_OK && l->options->decoding.no_sandbox)
		status = hi_safepoints_list(l->target, &l->known, &l->n_known, err);
	else if (status == HI_OK)
		status = hi_symbols_safepoints(l->target, l->options->output.verbose,
					       &l->known, &l->n_known, err);
	if (status != HI_OK)
		return status;
	if (l->n_known)
		qsort(l->known, l->n_known, sizeof(*l->known), by_promise);
	l->header = (struct hi_report_header){.pid = (int)l->options->target.pid,
					      .exe = l->target->started_as,
					      .exe_deleted = l->target->exe_deleted};
	return HI_OK;
}

/* One probe for all of them, up to a number of probe sites. */
static enum hi_status gather_safepoints(struct listing *l, struct hi_error *err)
{
	size_t most = l->options->selection.all ? MOST_PLACES : USUAL_PLACES, n = 0;

	l->all.items = hi_calloc(most, sizeof(*l->all.items));
	l->hits = hi_calloc(most, sizeof(*l->hits));
	if (!l->all.items || !l->hits)
		return hi_fail_memory(err, "places");
	for (size_t i = 0; i < l->n_known; i++) {
		const struct hi_probe_sites *p = &l->known[i].sites;

		if (l->report.rows_not_counted || n + p->count > most) {
			l->report.rows_not_counted++;
			continue;
		}
		if (p->count)
			memcpy(l->all.items + n, p->items, p->count * sizeof(*p->items));
		n += p->count;
	}
	l->all.count = n;
	return HI_OK;
}

static uint64_t sum_hits(const struct listing *l, const struct hi_probe *probe)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->all.count; i++)
		sum += hi_probe_hits(probe, i);
	return sum;
}

/* Until the time is over, the target has exited, or there are more than enough. */
static void watch_safepoint(struct listing *l, const struct hi_probe *probe)
{
	uint64_t wanted = l->options->series.for_ns, began = monotonic_ns();
	struct pollfd fd = {.fd = l->target->pidfd, .events = POLLIN};
	int exited = 0;

	if (!wanted)
		wanted = USUAL_NS;
	while (!exited && monotonic_ns() - began < wanted && !l->report.cut_short) {
		exited = poll(&fd, 1, STEP_MS) > 0;
		l->report.cut_short = sum_hits(l, probe) >= ENOUGH_HITS;
	}
	l->report.counted_ns = monotonic_ns() - began;
	for (size_t i = 0; i < l->all.count; i++)
		l->hits[i] = hi_probe_hits(probe, i);
}

/* One probe site is enough to find out: a perf event for each of its threads. */
static bool may_probe_by_perf(const struct listing *l, const struct hi_safepoint *any)
{
	struct hi_probe_sites one = {.items = l->all.items, .count = 1};
	struct hi_probe *probe = NULL;
	enum hi_status status =
		hi_probe_open_by(HI_PROBE_PERF, l->target, any, &one, &probe, NULL);

	hi_probe_close(probe);
	return status != HI_CANNOT_ATTACH;
}

/* Without permission the list is worth showing, too. */
static enum hi_status count_hits(struct listing *l, struct hi_error *err)
{
	static const struct hi_safepoint any = {
		.kind = HI_SAFEPOINT_FUNCTION, .text = "safepoints", .every = 1};
	struct hi_probe *probe = NULL;
	struct hi_error why;
	enum hi_status status = gather_safepoints(l, err);

	if (status != HI_OK || !l->all.count)
		return status;
	/* Perf events, one for each thread and probe site, would cost seconds and count
	 * nothing. */
	status = hi_probe_open_by(HI_PROBE_BPF, l->target, &any, &l->all, &probe, &why);
	if (status == HI_NO_MEMORY || status == HI_GONE)
		return hi_fail(err, status, 0, "%s", why.text);
	if (status == HI_CANNOT_ATTACH) {
		l->report.may_not_probe = !may_probe_by_perf(l, &any);
		snprintf(l->why, sizeof(l->why),
			 "counting needs BPF: root, or CAP_BPF and CAP_PERFMON");
	} else if (status != HI_OK) {
		snprintf(l->why, sizeof(l->why), "%s", why.text);
	} else {
		watch_safepoint(l, probe);
	}
	hi_probe_close(probe);
	return HI_OK;
}

static enum hi_status fill_rows(struct listing *l, struct hi_error *err)
{
	struct hi_safepoints_report *r = &l->report;
	size_t counted = r->counted_ns ? l->n_known - r->rows_not_counted : 0, next = 0;

	r->rows = hi_calloc(l->n_known + 1, sizeof(*r->rows));
	if (!r->rows)
		return hi_fail_memory(err, "rows");
	for (size_t i = 0; i < l->n_known; i++) {
		const struct hi_known_safepoint *k = &l->known[i];
		struct hi_safepoint_row *row = &r->rows[r->n_rows++];

		*row = (struct hi_safepoint_row){
			.at = k->text,
			.runtime = k->runtime,
			.purpose = k->purpose,
			.is_gc = k->is_gc,
			.places = hi_stop_site_describe(l->target, &k->sites, &l->arena),
			.n_places = k->sites.count,
			.hits = i < counted ? 0 : UINT64_MAX};
		if (!row->places)
			return hi_fail_memory(err, "places");
		if (i >= counted)
			continue;
		row->place_hits = l->hits + next;
		for (size_t p = 0; p < row->n_places; p++)
			row->hits += l->hits[next++];
	}
	return HI_OK;
}

static enum hi_status fill_safepoints(void *report, struct hi_page *page,
				      struct hi_json *json, struct hi_error *)
{
	if (json)
		hi_safepoints_json(report, json);
	else
		hi_safepoints_display(report, page);
	return HI_OK;
}

static enum hi_status run_safepoints_command(const struct hi_options *options,
					     struct hi_output *output,
					     struct hi_error *err)
{
	struct listing l = {.options = options};
	size_t top = hi_lookup_top(options, USUAL_ROWS);
	enum hi_status status = list_safepoints(&l, err);

	l.report.header = &l.header;
	l.report.not_counted = l.why;
	if (status == HI_OK)
		status = count_hits(&l, err);
	if (status == HI_OK)
		status = fill_rows(&l, err);
	if (status == HI_OK) {
		hi_safepoints_sort(&l.report);
		l.report.shown = l.report.n_rows < top ? l.report.n_rows : top;
		status =
			hi_write_filled(options, output, fill_safepoints, &l.report, err);
	}
	close_safepoint_listing(&l);
	return status;
}

static int check_safepoints(const struct hi_given *given)
{
	return given->options->target.pid
		       ? 0
		       : hi_option_wrong("safepoints: --pid N is missing");
}

const struct hi_command hi_command_safepoints = {
	.id = HI_COMMAND_SAFEPOINTS,
	.name = "safepoints",
	.arguments = "",
	.purpose = "List the places where --at can stop a process (safepoints of its "
		   "runtimes and USDT probes), and how often each is hit. The process is "
		   "not stopped.",
	.help = "A probe of low cost is emulated by the kernel: about half a microsecond "
		"per\n"
		"hit. A probe of high cost is single-stepped: 15 to 30 of them in a "
		"virtual\n"
		"machine.\n"
		"Hits cost the target this time while the command counts. Counting ends "
		"early\n"
		"if there are very many hits.\n"
		"\n"
		"Examples:\n"
		"  heapinspect safepoints --pid 4242\n"
		"  heapinspect safepoints --pid 4242 --for 10s --all --json",
	.keeps_rights = true,
	.run_alone = run_safepoints_command,
	.targets = "--pid PID",
	.check = check_safepoints,
};
