/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the summary: what the variables of each hold. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "report/parts/report_links.h"
#include "report/reports/summary/summary_report.h"

enum { THREADS_SHOWN = 10 };

/* ---- data ---- */

struct thread_root {
	uint64_t id;
	uint32_t root;
};
struct thread_roots HI_VECTOR(struct thread_root);

/* Reads "thread 7 worker() buf". false: it is no variable of a thread. */
static bool parse_thread(const struct hi_root *root, uint64_t *id_ret,
			 const char **rest_ret)
{
	static const char word[] = "thread ";
	const char *at = root->name + sizeof(word) - 1;
	char *end = NULL;

	if (strncmp(root->name, word, sizeof(word) - 1) != 0 || *at < '0' || *at > '9')
		return false;
	*id_ret = strtoull(at, &end, 10);
	*rest_ret = end;
	return *end == ' ';
}

static int compare_thread_roots(const void *a, const void *b)
{
	const struct thread_root *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static bool list_thread_roots(const struct hi_summary_inputs *in,
			      struct thread_roots *ret)
{
	const struct hi_graph *g = in->graph;

	for (uint32_t i = 0; i < g->n_roots; i++) {
		struct thread_root found = {.root = i};
		const char *rest;

		if (in->dominators->retained[g->first_root + i] &&
		    parse_thread(&g->roots[i], &found.id, &rest) &&
		    !hi_vector_push(ret, found))
			return false;
	}
	if (ret->count > 1)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_thread_roots);
	return true;
}

/* Adds "worker()" of " worker(): buf", once. */
static void add_function(struct hi_summary_thread *t, const char *rest)
{
	const char *name = rest + strspn(rest, " "), *end = strstr(name, "()");
	size_t n = end ? (size_t)(end - name) + 2 : 0;

	for (size_t i = 0; i < t->n_functions; i++)
		if (t->functions[i].length == n &&
		    strncmp(t->functions[i].name, name, n) == 0)
			return;
	if (!n || t->n_functions == HI_SUMMARY_FRAMES)
		return;
	t->functions[t->n_functions].name = name;
	t->functions[t->n_functions++].length = n;
}

static void add_thread_root(const struct hi_summary_inputs *in, uint32_t root,
			    struct hi_summary_thread *t)
{
	const struct hi_graph *g = in->graph;
	hi_node node = g->first_root + root;
	uint64_t bytes = in->dominators->retained[node];
	const char *rest;

	if (!parse_thread(&g->roots[root], &t->id, &rest))
		return;
	if (!t->variables || bytes > t->largest.retained)
		t->largest = hi_node_info(g, in->dominators, node);
	t->variables++;
	t->bytes += bytes;
	add_function(t, rest);
}

static int compare_threads(const void *a, const void *b)
{
	const struct hi_summary_thread *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

enum hi_status hi_summary_take_threads(const struct hi_summary_inputs *in,
				       struct hi_summary_report *r, struct hi_error *err)
{
	struct thread_roots roots = {};
	bool ok = list_thread_roots(in, &roots);

	r->threads = ok ? hi_calloc(roots.count + 1, sizeof(*r->threads)) : NULL;
	for (size_t i = 0; r->threads && i < roots.count; i++) {
		if (!i || roots.items[i].id != roots.items[i - 1].id)
			r->n_threads++;
		add_thread_root(in, roots.items[i].root, &r->threads[r->n_threads - 1]);
	}
	if (r->n_threads > 1)
		qsort(r->threads, r->n_threads, sizeof(*r->threads), compare_threads);
	hi_vector_free(&roots);
	return r->threads ? HI_OK : hi_fail_memory(err, "threads");
}

/* ---- page ---- */

static const char *functions_text(const struct hi_summary_thread *t, struct hi_page *page)
{
	const char *text = "";

	for (size_t i = 0; i < t->n_functions; i++) {
		char name[200];

		snprintf(name, sizeof(name), "%.*s",
			 (int)(t->functions[i].length < 190 ? t->functions[i].length
							    : 190),
			 t->functions[i].name);
		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      hi_page_safe(page, name));
	}
	return text;
}

void hi_summary_threads(const struct hi_summary_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"thread", HI_COLUMN_WORD},	 {"variables", HI_COLUMN_COUNT},
		{"hold alone", HI_COLUMN_BYTES}, {"of live", HI_COLUMN_PERCENT},
		{"largest", HI_COLUMN_TEXT},	 {"functions", HI_COLUMN_TEXT}};
	size_t n = r->n_threads < THREADS_SHOWN ? r->n_threads : THREADS_SHOWN;
	struct hi_report_table *t;

	if (!n)
		return;
	hi_page_heading(page, "Threads",
			r->n_threads > n
				? hi_page_printf(page,
						 "the first %zu of %zu whose "
						 "variables hold something alone",
						 n, r->n_threads)
				: "whose variables hold something alone");
	hi_page_only_with_links(page);
	t = hi_page_table(page, columns, 6);
	hi_page_only_with_links(page);
	for (size_t i = 0; i < n; i++) {
		const struct hi_summary_thread *thread = &r->threads[i];

		hi_cell_text(t,
			     hi_page_printf(page, "%llu", (unsigned long long)thread->id),
			     0);
		hi_cell_number(t, thread->variables);
		hi_cell_number(t, thread->bytes);
		hi_cell_percent(t, thread->bytes, r->live_bytes);
		hi_cell_text(t, hi_node_short_label(&thread->largest, page), 0);
		hi_cell_link(t, hi_address_of_level(page, &thread->largest));
		hi_cell_text(t, functions_text(thread, page), 0);
	}
}
