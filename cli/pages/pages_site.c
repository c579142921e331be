/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_space.h"

/* ---- what the file has ---- */

/* The last graph of a file of many, or its last census. */
static enum hi_status open_last_part(const char *path, struct hi_snapshot **ret,
				     struct hi_pages_site *site, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	enum hi_snapshots_kind kind = HI_SNAPSHOTS_WHOLE;
	enum hi_status status = hi_snapshots_open(path, &s, err);
	size_t last;

	if (status != HI_OK)
		return status;
	last = s->n_entries;
	site->graphs = hi_calloc(last + 1, sizeof(*site->graphs));
	if (!site->graphs)
		return hi_fail_memory(err, "pages");
	for (size_t i = 0; i < s->n_entries; i++)
		if (s->entries[i].parts[HI_SNAPSHOTS_WHOLE].size) {
			site->graphs[site->n_graphs++] = s->entries[i].point.number;
			last = i;
		}
	if (last == s->n_entries) {
		kind = HI_SNAPSHOTS_TOTALS;
		last--;
	}
	return hi_snapshots_part(s, last, kind, ret, err);
}

static enum hi_status look_at_file(const char *path, struct hi_snapshot **ret,
				   struct hi_pages_site *site, struct hi_error *err)
{
	enum hi_status status;

	site->is_series = hi_snapshots_is_one(path);
	status = site->is_series ? open_last_part(path, ret, site, err)
				 : hi_snapshot_open(path, ret, err);
	if (status != HI_OK)
		return status;
	if (!site->is_series)
		site->n_graphs = 1;
	site->has_recording = hi_snapshot_has(*ret, "births.context");
	site->has_lives = hi_snapshot_has(*ret, "lives.censuses");
	site->has_space = hi_snapshot_has_space(*ret);
	site->has_waste = hi_snapshot_has(*ret, "waste.equal");
	site->time_ns = hi_snapshot_number(*ret, "head.time_ns", UINT64_MAX);
	return HI_OK;
}

/* What cannot be read has nothing. */
static void look_or_forget(const char *path, struct hi_snapshot **ret,
			   struct hi_pages_site *site)
{
	struct hi_error unused;

	*site = (struct hi_pages_site){.time_ns = UINT64_MAX};
	if (look_at_file(path, ret, site, &unused) == HI_OK)
		return;
	free(site->graphs);
	*site = (struct hi_pages_site){.time_ns = UINT64_MAX};
}

/* The program's name without its directory. */
static bool name_paged_heap(const struct hi_snapshot *s, const char *path,
			    struct hi_pages_site *site)
{
	const char *exe = s ? hi_snapshot_text(s, "head.exe", "") : "";
	const char *slash = strrchr(*exe ? exe : path, '/');
	const char *name = slash ? slash + 1 : *exe ? exe : path;
	uint64_t pid = s ? hi_snapshot_number(s, "head.pid", 0) : 0;
	size_t size = strlen(name) + 32;

	site->title = hi_alloc(size);
	if (!site->title)
		return false;
	if (pid)
		snprintf(site->title, size, "%s, pid %llu", name,
			 (unsigned long long)pid);
	else
		snprintf(site->title, size, "%s", name);
	return true;
}

/* When it was taken, and whether it has what contexts are compared by. */
static void look_at_other(const char *path, struct hi_pages_site *ret)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;

	look_or_forget(path, &s, ret);
	free(hi_take(ret->graphs));
}

/* ---- the pages to begin with ---- */

static void add_nav(struct hi_pages_site *site, bool there, const char *label,
		    const char *address)
{
	if (there && site->n_nav < HI_PAGES_NAV)
		site->nav[site->n_nav++] = (struct hi_html_link){label, address};
}

/* Most important first: a report in one file follows this order. */
static void fill_nav(const struct hi_pages_files *files, bool has_roots,
		     struct hi_pages_site *s)
{
	bool can_compare = files->other || (s->is_series && s->n_graphs > 1);
	bool has_space =
		s->has_space || (s->has_recording && (!s->is_series || s->n_graphs > 1));

	add_nav(s, true, "Summary", "");
	add_nav(s, s->n_graphs || s->is_series, "Types", "census");
	add_nav(s, s->n_graphs, "Dominators", "retained");
	add_nav(s, s->n_graphs, "Tree", "tree");
	add_nav(s, s->n_graphs, "Threads", "retained?by=thread");
	add_nav(s, s->n_graphs, "Leaks", "leaks");
	add_nav(s, s->n_graphs, "Retainers", "retainers");
	add_nav(s, s->n_graphs && has_roots, "Roots", "roots");
	add_nav(s, s->has_waste, "Waste", "waste");
	add_nav(s, can_compare, "Differences", "diff");
	add_nav(s, s->is_series, "Censuses", "snapshots");
	add_nav(s, s->is_series, "Peaks", "peaks");
	add_nav(s, s->is_series || s->has_lives, "Over time", "spacetime");
	add_nav(s, s->has_recording, "Sites", "census?by=site");
	add_nav(s, has_space, "Allocation", "alloc");
	add_nav(s, s->has_lives, "Biographies", "bio");
	add_nav(s, s->has_recording, "Contexts", "deep");
	add_nav(s, s->has_recording, "Flame graph", "deep/flame");
	add_nav(s, s->has_recording, "Advice", "deep/advise");
}

enum hi_status hi_pages_site_read(struct hi_pages_files *files, bool has_roots,
				  struct hi_pages_site *ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_pages_site other;

	look_or_forget(files->file, &s, ret);
	if (!name_paged_heap(s, files->file, ret))
		return hi_fail_memory(err, "pages");
	if (files->other) {
		look_at_other(files->other, &other);
		files->other_is_later = other.time_ns != UINT64_MAX &&
					ret->time_ns != UINT64_MAX &&
					other.time_ns > ret->time_ns;
	}
	fill_nav(files, has_roots, ret);
	add_nav(ret,
		ret->has_recording &&
			(files->other ? other.has_recording
				      : ret->is_series && ret->n_graphs > 1),
		"Differences of contexts", "deep/diff");
	add_nav(ret, ret->n_graphs, "SQL", "query");
	return HI_OK;
}

bool hi_pages_site_lacks_graph(const struct hi_pages_site *site, const char *census)
{
	uint64_t number;

	if (!site->graphs || !hi_parse_number(census, 1, UINT32_MAX, &number))
		return false;
	for (size_t i = 0; i < site->n_graphs; i++)
		if (site->graphs[i] == number)
			return false;
	return true;
}

bool hi_pages_site_has_nav(const struct hi_pages_site *site, const char *address)
{
	for (size_t i = 0; i < site->n_nav; i++)
		if (strcmp(site->nav[i].address, address) == 0)
			return true;
	return false;
}

void hi_pages_site_free(struct hi_pages_site *site)
{
	free(site->graphs);
	free(site->title);
	*site = (struct hi_pages_site){};
}
