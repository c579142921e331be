/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/snapshot/snapshot_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "report/escape.h"
#include "session/mapped_files.h"
#include "session/snapshot/live_functions.h"

enum { MOST_WARNINGS = 1 << 12 };

HI_DEFINE_GUARD(struct hi_snapshot_source *, hi_snapshot_source_close)

void hi_snapshot_source_close(struct hi_snapshot_source *stored)
{
	if (!stored)
		return;
	hi_stored_events_free(&stored->events);
	hi_snapshot_close(stored->snapshot);
	free(stored);
}

static void take_warnings(struct hi_inspection *in)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	uint64_t n = hi_snapshot_number(s, "head.warnings", 0);
	char name[48];

	for (uint64_t i = 0; i < n && i < MOST_WARNINGS; i++) {
		snprintf(name, sizeof(name), "head.warning.%llu", (unsigned long long)i);
		(void)hi_vector_push(&in->diagnostics.warnings,
				     hi_snapshot_text(s, name, ""));
	}
}

static enum hi_status open_graph(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_graph(in->snapshot->snapshot, &in->graph, err);

	return status == HI_OK ? hi_snapshot_reach(in->snapshot->snapshot, in->graph,
						   &in->results.reach, err)
			       : status;
}

enum hi_status hi_snapshot_source_open(struct hi_inspection *in, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_source_close)
	struct hi_snapshot_source *stored = hi_calloc(1, sizeof(*stored));
	enum hi_status status;

	if (!stored)
		return hi_fail_memory(err, "snapshot");
	status = hi_snapshot_source_open_snapshot(in, stored, err);
	/* The graph borrows from it, whatever comes. */
	in->snapshot = hi_take(stored);
	if (status == HI_OK && in->snapshot->refusal.status != HI_OK &&
	    !hi_snapshot_source_has_answer(in)) {
		*err = in->snapshot->refusal;
		return err->status;
	}
	if (status == HI_OK)
		status = hi_snapshot_source_has_answer(in)
				 ? hi_snapshot_outline(in->snapshot->snapshot, &in->graph,
						       &in->results.reach, err)
				 : open_graph(in, err);
	if (status == HI_OK)
		take_warnings(in);
	return status;
}

enum hi_status hi_snapshot_source_dominators(struct hi_inspection *in,
					     struct hi_error *err)
{
	enum hi_status status = hi_snapshot_dominators(in->snapshot->snapshot, in->graph,
						       &in->results.dominators, err);

	return status == HI_NOT_FOUND
		       ? hi_dominators_compute(in->graph, in->results.reach,
					       &in->results.dominators, err)
		       : status;
}

bool hi_snapshot_source_has_answer(const struct hi_inspection *in)
{
	const struct hi_options *o = in->options;
	const struct hi_profile_options *p = &o->profile;

	/* Expressions and restrictions need the objects. */
	if (hi_birth_choice_is_set(&o->selection.births) || o->selection.has_born_by ||
	    o->selection.by_thread || o->selection.bands || o->selection.era)
		return false;
	if (p->n_roots || p->n_under || p->retained_by || p->n_retainers ||
	    p->identity == HI_IDENTITY_VAR)
		return false;
	if (!hi_snapshot_has(in->snapshot->snapshot, "census"))
		return false;
	if (in->wanted & HI_WANT_ONLY_RETAINED)
		return hi_snapshot_source_knows_retained(in);
	/* The values of a type are counted in its objects, if the file has them. */
	return (in->wanted & HI_WANT_ONLY_CENSUS) && o->selection.by == HI_BY_TYPE &&
	       (!o->selection.type || in->snapshot->refusal.status != HI_OK);
}

enum hi_status hi_snapshot_source_census(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	/* Of all that is live, not of what a restriction leaves. */
	if (in->shown.reach == in->results.reach)
		status = hi_snapshot_census(in->snapshot->snapshot, &in->results.census,
					    err);
	return status == HI_NOT_FOUND ? hi_census_by_type(in->graph, in->shown.reach,
							  in->results.dominators,
							  &in->results.census, err)
				      : status;
}

/* ---- the ledger ---- */

static const struct hi_row_member ledger_members[] = {
#define LEDGER_MEMBER(name)                                                              \
	HI_ROW_MEMBER(struct hi_snapshot_ledger_row, name, struct hi_ledger_row, name)
	LEDGER_MEMBER(key),	 LEDGER_MEMBER(label),	      LEDGER_MEMBER(level),
	LEDGER_MEMBER(resident), LEDGER_MEMBER(virtual_size), LEDGER_MEMBER(swapped),
	LEDGER_MEMBER(count),
#undef LEDGER_MEMBER
};
static const struct hi_row_map ledger_map =
	HI_ROW_MAP("ledger", struct hi_ledger_row, ledger_members);

static const struct hi_property ledger_numbers[] = {
	HI_PROPERTY("ledger.rss", struct hi_ledger, rss, .otherwise = HI_UNKNOWN),
	HI_PROPERTY("ledger.unknown", struct hi_ledger, unknown),
};

/* Keys and labels are words of this program; a file may have anything in their place.
 * NULL: memory ran out. */
static const char *keep_ledger_word(struct hi_inspection *in, const char *text)
{
	char safe[256];

	hi_escape_again(safe, sizeof(safe), text, strnlen(text, sizeof(safe)));
	return hi_arena_strdup(&in->arena, safe);
}

enum hi_status hi_snapshot_source_ledger(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_ledger *l = &in->results.ledger;
	const struct hi_snapshot_ledger_row *rows;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "ledger", &rows, &n, err);

	if (status != HI_OK || !rows)
		return status;
	hi_snapshot_take_properties(s, "", ledger_numbers, 2, l);
	for (l->n_rows = 0; l->n_rows < n && l->n_rows < HI_LEDGER_ROWS; l->n_rows++) {
		struct hi_ledger_row *row = &l->rows[l->n_rows];

		*row = (struct hi_ledger_row){};
		hi_snapshot_unpack_row(s, &ledger_map, &rows[l->n_rows], row);
		row->level = row->level != 0;
		row->key = keep_ledger_word(in, row->key);
		row->label = keep_ledger_word(in, row->label);
		if (!row->key || !row->label)
			return hi_fail_memory(err, "ledger");
	}
	in->results.ledger_known = true;
	return HI_OK;
}

static enum hi_status put_ledger(const struct hi_inspection *in,
				 struct hi_snapshot_writer *w, struct hi_error *err)
{
	const struct hi_ledger *l = &in->results.ledger;
	enum hi_status status;

	if (!in->results.ledger_known)
		return HI_OK;
	status = hi_snapshot_put_rows(w, &ledger_map, l->rows, l->n_rows, err);
	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", ledger_numbers, 2, l, err)
		       : status;
}

/* ---- operations of the source ---- */

uint64_t hi_snapshot_source_allocated(const struct hi_inspection *in)
{
	return hi_snapshot_number(in->snapshot->snapshot, "allocated", UINT64_MAX);
}

static bool open_labels(struct hi_inspection *in)
{
	if (in->snapshot->failure.status != HI_OK)
		return false;
	if (!in->snapshot->has_labels &&
	    hi_snapshot_open_labels(in->snapshot->snapshot, &in->snapshot->failure) !=
		    HI_OK)
		return false;
	in->snapshot->has_labels = true;
	return true;
}

/* What is no string of the file lives as long as the inspection. */
static const char *keep_label(struct hi_inspection *in, hi_node from, uint32_t index)
{
	char buffer[HI_EDGE_TEXT];
	const char *text =
		hi_snapshot_label(in->snapshot->snapshot, in->graph, from, index, buffer);
	const char *kept = text == buffer ? hi_arena_strdup(&in->arena, text) : text;

	return kept ? kept : "";
}

const char *hi_snapshot_source_edge_text(struct hi_inspection *in, hi_node from,
					 hi_node to)
{
	struct hi_edges edges = hi_graph_edges(in->graph, from);
	char text[HI_EDGE_TEXT] = "";
	const char *kept, *name;

	if (!open_labels(in))
		return "";
	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.to[i] == to)
			return keep_label(in, from, i);
	if (from < in->graph->first_root)
		return "";
	name = in->graph->roots[from - in->graph->first_root].name;
	hi_text_escape(text, sizeof(text), name, strlen(name));
	kept = hi_arena_strdup(&in->arena, text);
	return kept ? kept : "";
}

enum hi_status hi_snapshot_source_check(const struct hi_inspection *in,
					struct hi_error *err)
{
	if (in->snapshot->failure.status == HI_OK)
		return HI_OK;
	*err = in->snapshot->failure;
	return err->status;
}

/* ---- totals of leaks ---- */

static const struct hi_property leak_sums[] = {
#define LEAK_SUM(name)                                                                   \
	HI_PROPERTY("leaks." #name, struct hi_leak_totals, name.bytes,                   \
		    .otherwise = UINT64_MAX)
	LEAK_SUM(certain),	 LEAK_SUM(likely), LEAK_SUM(garbage),
	LEAK_SUM(uncollectable), LEAK_SUM(lost),
#undef LEAK_SUM
};

static enum hi_status put_leak_sums(const struct hi_inspection *in,
				    struct hi_snapshot_writer *w, struct hi_error *err)
{
	struct hi_leak_totals s = hi_leak_totals_unknown();

	if (hi_inspect_heap_is_known(in))
		hi_leak_totals_count(in->graph, in->results.reach, in->results.reach, &s);
	return hi_snapshot_put_properties(w, "", leak_sums, 5, &s, err);
}

struct hi_leak_totals hi_snapshot_source_leak_totals(const struct hi_snapshot *s)
{
	struct hi_leak_totals ret = hi_leak_totals_unknown();

	hi_snapshot_take_properties(s, "", leak_sums, 5, &ret);
	return ret;
}

/* ---- writing ---- */

static enum hi_status put_rest(struct hi_inspection *in, struct hi_snapshot_writer *w,
			       const struct hi_report_header *header,
			       struct hi_error *err)
{
	enum hi_status status = hi_snapshot_save_header(w, header, err);

	if (status == HI_OK)
		status = put_leak_sums(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "allocated", hi_inspect_allocated(in),
						err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "redacted", in->options->snap.redact,
						err);
	if (status == HI_OK)
		status = put_ledger(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_put_census(w, in->results.census, err);
	if (status == HI_OK)
		status = hi_snapshot_save_modules(in, w, err);
	return status == HI_OK ? hi_snapshot_save_conflicts(in, w, err) : status;
}

enum hi_status hi_snapshot_save(struct hi_inspection *in,
				const struct hi_report_header *header, int fd,
				const struct hi_snapshot_options *options,
				struct hi_error *err)
{
	/* The writer ends first: it may be writing the labels. */
	HI_GUARD(hi_snapshot_labels_end) struct hi_snapshot_labels *labels = NULL;
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	const struct hi_kept_part *kept = &in->run->kept;
	enum hi_status status = hi_snapshot_create(fd, options, &w, err);

	if (status == HI_OK)
		status = put_rest(in, w, header, err);
	if (status == HI_OK)
		status = hi_snapshot_save_waste(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_save_graph(in, w, &labels, err);
	if (status == HI_OK)
		status = hi_snapshot_save_leak_groups(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_save_alloc_sites(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_save_retained(in, w, header, labels, err);
	if (status == HI_OK)
		status = hi_snapshot_settle(w, err);
	if (status == HI_OK)
		hi_snapshot_labels_end(hi_take(labels));
	if (status == HI_OK)
		status = hi_snapshot_save_contents(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_save_recorded(in, w, err);
	if (status == HI_OK && kept->save)
		status = kept->save(kept->what, w, err);
	/* The last one: where there is no room, they are left out. */
	if (status == HI_OK)
		status = hi_snapshot_save_holders(in, w, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}

enum hi_status hi_snapshot_save_totals(struct hi_inspection *in,
				       const struct hi_report_header *header, int fd,
				       uint64_t at, struct hi_error *err)
{
	/* They are small: the names in them are most of it. */
	struct hi_snapshot_options options = {.compress = true, .at = at};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	enum hi_status status = hi_snapshot_create(fd, &options, &w, err);

	if (status == HI_OK)
		status = put_rest(in, w, header, err);
	if (status == HI_OK)
		status = hi_snapshot_save_outline(in, w, err);
	if (status == HI_OK)
		status = hi_live_functions_save(in, w, err);
	if (status == HI_OK)
		status = hi_snapshot_save_windows(in, w, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}
