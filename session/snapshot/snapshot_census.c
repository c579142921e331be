/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the census to read in a file with many of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/text.h"
#include "census/snapshot/snapshot_series.h"
#include "session/snapshot/snapshot_source.h"

static const char *const words[] = {"first", "last", "peak"};

bool hi_snapshot_source_is_census(const char *which)
{
	uint64_t number;

	for (size_t i = 0; i < 3; i++)
		if (strcmp(which, words[i]) == 0)
			return true;
	return hi_parse_number(which, 1, UINT32_MAX, &number);
}

static bool has_graph(const struct hi_snapshots *s, size_t i)
{
	return s->entries[i].parts[HI_SNAPSHOTS_WHOLE].size != 0;
}

size_t hi_snapshot_source_find_census(const struct hi_snapshots *s, const char *which,
				      bool with_graph)
{
	bool first = strcmp(which, "first") == 0, peak = strcmp(which, "peak") == 0;
	size_t found = s->n_entries;
	uint64_t number = 0;

	(void)hi_parse_number(which, 1, UINT32_MAX, &number);
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct hi_census_point *p = &s->entries[i].point;

		if (number ? p->number != number : with_graph && !has_graph(s, i))
			continue;
		if (found == s->n_entries ||
		    (peak ? p->bytes > s->entries[found].point.bytes : !first))
			found = i;
	}
	return found;
}

/* "1, 5, 9", or the first few of them. */
static void list_censuses_with_graphs(const struct hi_snapshots *s, char *text,
				      size_t size)
{
	size_t used = 0;

	*text = 0;
	for (size_t i = 0, n = 0; i < s->n_entries && n < 9; i++) {
		if (!has_graph(s, i))
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 n == 8 ? ", …" : "%s%u", n ? ", " : "",
					 s->entries[i].point.number);
		n++;
	}
}

static enum hi_status refuse_census(const struct hi_snapshots *s, const char *which,
				    size_t i, struct hi_error *err)
{
	char graphs[160];

	list_censuses_with_graphs(s, graphs, sizeof(graphs));
	if (!*graphs)
		return hi_fail(err, HI_USAGE, 0,
			       "%.80s: no census has its graph; heapinspect snapshots "
			       "shows their sums",
			       s->path);
	if (i == s->n_entries)
		return hi_fail(err, HI_USAGE, 0,
			       "%.80s: there is no census %.20s; those with a graph: %s",
			       s->path, which, graphs);
	return hi_fail(
		err, HI_USAGE, 0,
		"%.80s: of census %.20s there are only sums, which heapinspect census "
		"shows; those with a graph: %s",
		s->path, which, graphs);
}

static void warn_of_torn_file(struct hi_inspection *in, const struct hi_snapshots *s)
{
	char bytes[24];

	if (s->damaged || s->lost)
		hi_inspect_warn(in,
				"the file is damaged: %s between its censuses, %" PRIu64
				" part%s missing",
				hi_text_bytes(bytes, s->damaged), s->lost,
				s->lost == 1 ? " is" : "s are");
	if (s->torn)
		hi_inspect_warn(in,
				"%s behind the last census of the file: a census that is "
				"not complete (yet), or damage",
				hi_text_bytes(bytes, s->torn));
}

static bool is_at_exit(const struct hi_snapshots *s, size_t i)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *snapshot = NULL;
	struct hi_error unused;

	return hi_snapshots_part(s, i, HI_SNAPSHOTS_WHOLE, &snapshot, &unused) == HI_OK &&
	       hi_snapshot_number(snapshot, "head.at_exit", 0);
}

/* The census before entry i, if the target was exiting at it; else i. */
static size_t find_before_exit(struct hi_inspection *in, const struct hi_snapshots *s,
			       size_t i)
{
	if (i == 0 || i != s->n_entries - 1 || !has_graph(s, i - 1) || !is_at_exit(s, i))
		return i;
	hi_inspect_note(in,
			"the target has exited: this page is of census %u, the last one "
			"before that; the file has the one of its exit, %u, too",
			s->entries[i - 1].point.number, s->entries[i].point.number);
	return i - 1;
}

static enum hi_status open_of_series(struct hi_inspection *in,
				     struct hi_snapshot_source *stored,
				     struct hi_error *err)
{
	const struct hi_options *o = in->options;
	const char *which = in->run->census    ? in->run->census
			    : o->target.census ? o->target.census
					       : "last";
	const bool is_before_exit = strcmp(which, HI_CENSUS_BEFORE_EXIT) == 0;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	enum hi_status status = hi_snapshots_open(o->target.file, &s, err);
	size_t i;

	if (status != HI_OK)
		return status;
	i = hi_snapshot_source_find_census(s, is_before_exit ? "last" : which, true);
	if (i == s->n_entries)
		return refuse_census(s, which, i, err);
	if (is_before_exit)
		i = find_before_exit(in, s, i);
	warn_of_torn_file(in, s);
	in->census_number = s->entries[i].point.number;
	stored->last_census = s->entries[s->n_entries - 1].point.number;
	if (has_graph(s, i))
		return hi_snapshots_part(s, i, HI_SNAPSHOTS_WHOLE, &stored->snapshot,
					 err);
	(void)!refuse_census(s, which, i, &stored->refusal);
	return hi_snapshots_part(s, i, HI_SNAPSHOTS_TOTALS, &stored->snapshot, err);
}

enum hi_status hi_snapshot_source_open_snapshot(struct hi_inspection *in,
						struct hi_snapshot_source *stored,
						struct hi_error *err)
{
	const struct hi_options *o = in->options;
	uint64_t number;

	if (hi_snapshots_is_one(o->target.file))
		return open_of_series(in, stored, err);
	if (o->target.census && hi_parse_number(o->target.census, 2, UINT32_MAX, &number))
		return hi_fail(err, HI_USAGE, 0, "--census %.20s: %.120s has only one",
			       o->target.census, o->target.file);
	return hi_snapshot_open(o->target.file, &stored->snapshot, err);
}
