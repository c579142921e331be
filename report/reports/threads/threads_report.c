/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/threads/threads_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

/* A row of the owners that is one thread's. */
struct owned_share {
	uint64_t id;
	const struct hi_owner_row *row;
};

struct held_lists {
	struct HI_VECTOR(struct hi_thread_held) threads;
	struct HI_VECTOR(struct owned_share) shares;
};

/* ---- which threads ---- */

/* Reads "thread 7 worker(): buf". False: it is no variable of a thread. */
static bool read_thread_root(const struct hi_root *root, uint64_t *id_ret,
			     const char **rest_ret)
{
	static const char word[] = "thread ";
	const char *at;
	char *end = NULL;

	if (!root->name || strncmp(root->name, word, sizeof(word) - 1) != 0)
		return false;
	at = root->name + sizeof(word) - 1;
	if (*at < '0' || *at > '9')
		return false;
	*id_ret = strtoull(at, &end, 10);
	*rest_ret = end + 1;
	return *end == ' ';
}

/* Words that no variable covers have the name of their thread as their place
 * (decode/roots/roots_stack.c). */
static const char *name_by_root(const struct hi_root *root, const char *rest)
{
	static const char *const texts[] = {"registers", "stack (no variable)",
					    "thread-local storage (no variable)"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(rest, texts[i]) == 0 && root->detail)
			return root->detail;
	return "";
}

static int compare_thread_ids(const void *a, const void *b)
{
	const struct hi_thread_held *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	/* The one that has a name is first. */
	return (*y->name != '\0') - (*x->name != '\0');
}

static bool list_held_threads(const struct hi_threads_inputs *in, struct held_lists *l)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n_known; i++)
		if (!hi_vector_push(&l->threads,
				    ((struct hi_thread_held){.id = in->known[i].id,
							     .name = in->known[i].name})))
			return false;
	for (uint32_t i = 0; i < in->graph->n_roots; i++) {
		const struct hi_root *root = &in->graph->roots[i];
		struct hi_thread_held found = {};
		const char *rest;

		if (!read_thread_root(root, &found.id, &rest))
			continue;
		found.name = name_by_root(root, rest);
		if (!hi_vector_push(&l->threads, found))
			return false;
	}
	if (l->threads.count)
		qsort(l->threads.items, l->threads.count, sizeof(*l->threads.items),
		      compare_thread_ids);
	for (size_t i = 0; i < l->threads.count; i++)
		if (!n || l->threads.items[n - 1].id != l->threads.items[i].id)
			l->threads.items[n++] = l->threads.items[i];
	l->threads.count = n;
	return true;
}

/* ---- what they hold ---- */

/* Are all variables of the row one thread's? */
static bool find_owning_thread(const struct hi_graph *g, const struct hi_owner_row *row,
			       uint64_t *id_ret)
{
	for (uint32_t i = 0; i < row->n; i++) {
		uint64_t id;
		const char *rest;

		if (row->variables[i] < g->first_root ||
		    row->variables[i] >= g->first_kind ||
		    !read_thread_root(&g->roots[row->variables[i] - g->first_root], &id,
				      &rest) ||
		    (i && id != *id_ret))
			return false;
		*id_ret = id;
	}
	return row->n && row->bytes;
}

static int compare_owned_shares(const void *a, const void *b)
{
	const struct owned_share *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	/* The owners are in order. */
	return (x->row > y->row) - (x->row < y->row);
}

static bool list_owned_shares(const struct hi_threads_inputs *in, struct held_lists *l)
{
	for (size_t i = 0; i < in->owners->n_rows; i++) {
		struct owned_share share = {.row = &in->owners->rows[i]};

		if (find_owning_thread(in->graph, share.row, &share.id) &&
		    !hi_vector_push(&l->shares, share))
			return false;
	}
	if (l->shares.count)
		qsort(l->shares.items, l->shares.count, sizeof(*l->shares.items),
		      compare_owned_shares);
	return true;
}

static bool fill_thread_share(const struct hi_threads_inputs *in,
			      const struct hi_owner_row *row, struct hi_arena *arena,
			      struct hi_thread_share *ret)
{
	const struct hi_graph *g = in->graph;

	ret->variables = hi_arena_alloc(arena, row->n * sizeof(*ret->variables));
	if (!ret->variables)
		return false;
	for (; ret->n_variables < row->n; ret->n_variables++)
		ret->variables[ret->n_variables] =
			g->roots[row->variables[ret->n_variables] - g->first_root].name;
	ret->bytes = row->bytes;
	ret->largest = hi_node_info(g, in->dominators, row->largest);
	return true;
}

/* Both lists are by the ids of the threads. */
static bool fill_held_threads(const struct hi_threads_inputs *in,
			      const struct held_lists *l, struct hi_threads_report *r)
{
	size_t at = 0;

	for (size_t i = 0; i < r->n_threads; i++) {
		struct hi_thread_held *t = &r->threads[i];
		size_t n = 0;

		while (at + n < l->shares.count && l->shares.items[at + n].id == t->id)
			n++;
		t->shares = hi_arena_alloc(&r->arena, (n + 1) * sizeof(*t->shares));
		if (!t->shares)
			return false;
		for (; t->n_shares < n; t->n_shares++, at++) {
			struct hi_thread_share *share = &t->shares[t->n_shares];

			*share = (struct hi_thread_share){};
			if (!fill_thread_share(in, l->shares.items[at].row, &r->arena,
					       share))
				return false;
			t->bytes += share->bytes;
		}
		r->bytes += t->bytes;
	}
	return true;
}

/* ---- all of it ---- */

static int compare_held_threads(const void *a, const void *b)
{
	const struct hi_thread_held *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool make_threads_report(const struct hi_threads_inputs *in, struct held_lists *l,
				struct hi_threads_report *r)
{
	size_t size;

	if (!list_held_threads(in, l) || !list_owned_shares(in, l))
		return false;
	r->n_threads = l->threads.count;
	r->shown = r->n_threads < in->top ? r->n_threads : in->top;
	r->live_bytes = in->live_bytes;
	size = r->n_threads * sizeof(*r->threads);
	r->threads = hi_arena_alloc(&r->arena, size + 1);
	if (!r->threads)
		return false;
	if (size)
		memcpy(r->threads, l->threads.items, size);
	if (!fill_held_threads(in, l, r))
		return false;
	if (size)
		qsort(r->threads, r->n_threads, sizeof(*r->threads),
		      compare_held_threads);
	return true;
}

enum hi_status hi_threads_report_create(const struct hi_threads_inputs *in,
					struct hi_threads_report **ret,
					struct hi_error *err)
{
	HI_GUARD(hi_threads_report_destroy)
	struct hi_threads_report *r = hi_calloc(1, sizeof(*r));
	struct held_lists lists = {};
	bool ok = r && make_threads_report(in, &lists, r);

	hi_vector_free(&lists.threads);
	hi_vector_free(&lists.shares);
	if (!ok)
		return hi_fail_memory(err, "threads");
	*ret = hi_take(r);
	return HI_OK;
}

void hi_threads_report_destroy(struct hi_threads_report *report)
{
	if (!report)
		return;
	hi_arena_free(&report->arena);
	free(report);
}
