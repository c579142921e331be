/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches the retainer sets of two heaps by the names of their members: the numbers of
 * sets have a meaning in one heap only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/commands/diff.h"
#include "session/retainers/retaining.h"

enum { LEAKED, MANY = LEAKED + HI_LEAK_KINDS, FIRST_SET }; /* groups */

static int compare_sets_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "{a, b}"; names that are alike without their thread's number are one. */
static const char *label_of_set_row(struct hi_inspection *in, const char **names,
				    uint32_t n)
{
	size_t size = sizeof("{}"), used = 1;
	char *text;

	if (n)
		qsort((void *)names, n, sizeof(*names), compare_sets_by_text);
	for (uint32_t i = 0; i < n; i++)
		size += strlen(names[i]) + 2;
	text = hi_arena_alloc(&in->arena, size);
	if (!text)
		return NULL;
	text[0] = '{';
	for (uint32_t i = 0; i < n; i++)
		if (!i || strcmp(names[i], names[i - 1]) != 0)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 i ? ", " : "", names[i]);
	snprintf(text + used, size - used, "}");
	return text;
}

static const char *name_set(struct hi_inspection *in, uint32_t set, bool same_process)
{
	const struct hi_retaining *r = in->profile.retaining;
	uint32_t n = hi_set_size(r->pool, set);
	HI_GUARD(free) uint32_t *members = hi_calloc(n + 1u, sizeof(*members));
	HI_GUARD(free) const char **names = hi_calloc(n + 1u, sizeof(*names));

	if (!members || !names)
		return NULL;
	hi_set_members(r->pool, set, members);
	for (uint32_t i = 0; i < n; i++)
		names[i] = hi_compare_root_name(hi_interner_name(&r->names, members[i]),
						same_process);
	return label_of_set_row(in, names, n);
}

/* number_ret: the group of each set of the pool; free it. */
static enum hi_status name_sets(struct hi_inspection *in, bool same_process,
				struct hi_compare_groups *ret, uint32_t **number_ret,
				struct hi_error *err)
{
	const struct hi_set_table *t = &in->profile.retaining->sets->table;
	size_t n = hi_set_pool_end(in->profile.retaining->pool);
	HI_GUARD(free) uint32_t *number = hi_calloc(n + FIRST_SET, sizeof(*number));

	ret->names =
		hi_arena_alloc(&in->arena, (t->n_rows + FIRST_SET) * sizeof(*ret->names));
	if (!ret->names || !number)
		return hi_fail_memory(err, "retainer sets");
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++)
		ret->names[LEAKED + i] = hi_leak_kind_label((enum hi_leak_kind)i);
	ret->names[MANY] = "MANY";
	ret->n = FIRST_SET;
	number[HI_SET_MANY] = MANY;
	for (size_t i = 0; i < t->n_rows; i++) {
		uint32_t set = t->rows[i].set;

		if (set < HI_SET_FIRST)
			continue;
		number[set] = ret->n;
		ret->names[ret->n] = name_set(in, set, same_process);
		if (!ret->names[ret->n++])
			return hi_fail_memory(err, "retainer sets");
	}
	*number_ret = hi_take(number);
	return HI_OK;
}

static enum hi_status group_rows_by_set(struct hi_inspection *in, bool same_process,
					struct hi_compare_groups *ret,
					struct hi_error *err)
{
	HI_GUARD(free) uint32_t *number = NULL;
	hi_node n = in->graph->n_objects;
	enum hi_status status = name_sets(in, same_process, ret, &number, err);

	if (status != HI_OK)
		return status;
	ret->of_object =
		hi_arena_alloc(&in->arena, ((size_t)n + 1) * sizeof(*ret->of_object));
	if (!ret->of_object)
		return hi_fail_memory(err, "retainer sets");
	for (hi_node i = 0; i < n; i++) {
		uint32_t set = in->profile.retaining->sets->table.set[i];

		ret->of_object[i] =
			set == HI_SET_NONE
				? LEAKED +
					  hi_leak_kind_of(in->graph, in->results.reach, i)
				: number[set];
	}
	return HI_OK;
}

/* No such type, or nothing that the field leads to. */
static bool is_missing(enum hi_status status)
{
	return status == HI_NOT_FOUND || status == HI_USAGE;
}

/* A type may be new, or gone; one that neither has is a mistake. */
static enum hi_status compute_sets_of_both(struct hi_inspection *before,
					   struct hi_inspection *after,
					   struct hi_error *err)
{
	struct hi_error first = {};
	enum hi_status status = hi_retaining_compute(after, &first), other;

	if (status != HI_OK && !is_missing(status)) {
		*err = first;
		return status;
	}
	before->profile.retainers_may_miss = status == HI_OK;
	other = hi_retaining_compute(before, err);
	if (is_missing(other))
		*err = first;
	if (other != HI_OK)
		return other;
	after->profile.retainers_may_miss = true;
	return hi_retaining_compute(after, err);
}

enum hi_status hi_diff_sets(struct hi_inspection *before, struct hi_inspection *after,
			    bool same_process, struct hi_compare_groups groups[2],
			    struct hi_error *err)
{
	enum hi_status status = compute_sets_of_both(before, after, err);

	if (status == HI_OK)
		status = group_rows_by_set(before, same_process, &groups[0], err);
	return status == HI_OK ? group_rows_by_set(after, same_process, &groups[1], err)
			       : status;
}
