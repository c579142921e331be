/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes leaks by what they were in the earlier heap. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/field_pattern.h"
#include "census/analysis/lost_leaks.h"
#include "cli/commands/diff.h"
#include "session/operands.h"
#include "session/path_text.h"

enum { TOP = 10, NAMED = 200, PATH_TEXT = 1024 };

/* "server.db->buckets" for the path to "server.db->buckets[17]->next". */
static const char *text_of_holder(struct hi_inspection *before,
				  const struct hi_path *path)
{
	char clean[PATH_TEXT];
	const char *text;

	if (!path->length)
		return "";
	text = hi_path_text_of_nodes(
		before, path->nodes,
		hi_lost_holder(before->graph, path->nodes, path->length));
	hi_field_clean(text, clean, sizeof(clean));
	text = hi_arena_printf(&before->arena, "%.*s", (int)hi_field_container(clean),
			       clean);
	return text ? text : "";
}

static enum hi_status name_holders(struct hi_inspection *before,
				   const struct hi_lost *lost, struct hi_lost_row *rows,
				   struct hi_error *err)
{
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;
	hi_node nodes[NAMED] = {};
	size_t n = lost->n_groups < NAMED ? lost->n_groups : NAMED;
	enum hi_status status;

	for (size_t i = 0; i < n; i++)
		nodes[i] = lost->groups[i].before;
	status = hi_paths_shortest(before->graph, nodes, n, &paths, err);
	for (size_t i = 0; i < n && status == HI_OK; i++)
		rows[i].under = text_of_holder(before, &paths->paths[i]);
	return status;
}

static int compare_lost_rows(const void *a, const void *b)
{
	const struct hi_lost_row *x = a, *y = b;

	if (x->all.bytes != y->all.bytes)
		return x->all.bytes > y->all.bytes ? -1 : 1;
	return x->example < y->example ? -1 : x->example > y->example;
}

/* Groups of several paths may have one holder. Returns how many rows are left. */
static size_t merge_lost_rows(struct hi_lost_row *rows, size_t n)
{
	size_t kept = 0, named = n < NAMED ? n : NAMED;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		/* Those without a name stay by themselves. */
		while (i < named && k < kept &&
		       (strcmp(rows[k].type, rows[i].type) != 0 ||
			strcmp(rows[k].under, rows[i].under) != 0))
			k++;
		if (i >= named || k == kept) {
			rows[kept++] = rows[i];
			continue;
		}
		rows[k].all.count += rows[i].all.count;
		rows[k].all.bytes += rows[i].all.bytes;
		rows[k].likely.count += rows[i].likely.count;
		rows[k].likely.bytes += rows[i].likely.bytes;
	}
	if (kept > 1)
		qsort(rows, kept, sizeof(*rows), compare_lost_rows);
	return kept;
}

/* What --top and --min-size leave, at the beginning of rows. */
static size_t hide_lost_rows(const struct hi_options *options, struct hi_lost_row *rows,
			     size_t n, struct hi_lost_objects *ret)
{
	size_t top = hi_lookup_top(options, TOP), kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].all.bytes < options->selection.min_size)
			hi_hidden_add(&ret->hidden.by_min_size, rows[i].all.bytes);
		else if (kept >= top)
			hi_hidden_add(&ret->hidden.by_top, rows[i].all.bytes);
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

static enum hi_status describe_lost(struct hi_inspection *before,
				    struct hi_inspection *after,
				    const struct hi_lost *lost,
				    struct hi_lost_objects *ret, struct hi_error *err)
{
	struct hi_lost_row *rows =
		hi_arena_alloc(&after->arena, (lost->n_groups + 1) * sizeof(*rows));
	size_t n = lost->n_groups;
	enum hi_status status;

	if (!rows)
		return hi_fail_memory(err, "leaks");
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct hi_lost_row){
			.type = hi_graph_type_name(before->graph, lost->groups[i].type),
			.under = "",
			.all = lost->groups[i].all,
			.likely = lost->groups[i].likely,
			.example = hi_graph_address(after->graph, lost->groups[i].after)};
	status = name_holders(before, lost, rows, err);
	if (status != HI_OK)
		return status;
	n = merge_lost_rows(rows, n);
	ret->n_rows = hide_lost_rows(after->options, rows, n, ret);
	ret->rows = rows;
	ret->all = lost->all;
	return HI_OK;
}

enum hi_status hi_diff_lost(struct hi_inspection *before, struct hi_inspection *after,
			    bool same_process, struct hi_lost_objects *ret,
			    struct hi_error *err)
{
	struct hi_heap_side a, b;
	struct hi_lost lost = {};
	enum hi_status status;

	*ret = (struct hi_lost_objects){.is_known = same_process};
	if (!same_process)
		return HI_OK;
	hi_inspect_phase(after, "what leaks were");
	status = hi_diff_side(before, &a, err);
	if (status == HI_OK)
		status = hi_diff_side(after, &b, err);
	if (status == HI_OK)
		status = hi_lost_find(&a, &b, &lost, err);
	if (status == HI_OK && lost.n_groups)
		status = describe_lost(before, after, &lost, ret, err);
	hi_lost_free(&lost);
	return status;
}
