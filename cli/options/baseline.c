/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "session/inspect/inspect.h"

/* Another build of a program is this program; it may lie elsewhere, too. The same holds
 * for scripts. A script that is not known agrees with all. */
static bool is_same_program(const struct hi_report_header *a,
			    const struct hi_report_header *b)
{
	return strcmp(hi_base_name(a->exe), hi_base_name(b->exe)) == 0 &&
	       (!a->script || !b->script ||
		strcmp(hi_base_name(a->script), hi_base_name(b->script)) == 0);
}

/* "python3.11 app.py" */
static void print_program(const struct hi_report_header *header, char *out, size_t size)
{
	const char *script = header->script ? hi_base_name(header->script) : "";

	snprintf(out, size, "%.40s%s%.40s", hi_base_name(header->exe), *script ? " " : "",
		 script);
}

static enum hi_status refuse_other_program(const struct hi_report_header *now,
					   const struct hi_report_header *before,
					   const char *file, struct hi_error *err)
{
	char program[96], other[96];

	print_program(now, program, sizeof(program));
	print_program(before, other, sizeof(other));
	return hi_fail(err, HI_USAGE, 0,
		       "%.60s is a snapshot of another program (%s, not %s); --force "
		       "compares anyway",
		       file, other, program);
}

static bool may_be_same_process(const struct hi_report_header *a,
				const struct hi_report_header *b)
{
	/* A core does not contain when its process started. */
	bool same_start =
		!a->start_ticks || !b->start_ticks || a->start_ticks == b->start_ticks;

	return a->pid && a->pid == b->pid && same_start && strcmp(a->exe, b->exe) == 0 &&
	       strcmp(a->build_id, b->build_id) == 0;
}

static int compare_baseline_types_by_name(const void *a, const void *b)
{
	const struct hi_root *x = *(const struct hi_root *const *)a;
	const struct hi_root *y = *(const struct hi_root *const *)b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* The global variables by name. */
static const struct hi_root **sorted_globals(const struct hi_graph *g, size_t *n_ret)
{
	const struct hi_root **roots =
		hi_alloc(((size_t)g->n_roots + 1) * sizeof(*roots));
	size_t n = 0;

	for (uint32_t i = 0; roots && i < g->n_roots; i++)
		if (g->roots[i].kind == HI_ROOT_GLOBAL && g->roots[i].address)
			roots[n++] = &g->roots[i];
	if (n)
		qsort((void *)roots, n, sizeof(*roots), compare_baseline_types_by_name);
	*n_ret = n;
	return roots;
}

/* At the same addresses, but for those of libraries that came and went. */
static enum hi_status are_in_place(const struct hi_graph *a, const struct hi_graph *b,
				   bool *ret, struct hi_error *err)
{
	size_t n, m, i = 0, k = 0, stayed = 0, moved = 0;
	HI_GUARD(free) const struct hi_root **x = sorted_globals(a, &n);
	HI_GUARD(free) const struct hi_root **y = sorted_globals(b, &m);

	if (!x || !y)
		return hi_fail_memory(err, "comparison");
	while (i < n && k < m) {
		int order = strcmp(x[i]->name, y[k]->name);

		if (order == 0)
			(*(x[i]->address == y[k]->address ? &stayed : &moved))++;
		i += order <= 0;
		k += order >= 0;
	}
	*ret = moved <= stayed;
	return HI_OK;
}

enum hi_status hi_baseline_is_same_process(const struct hi_baseline *before,
					   const struct hi_inspection *in,
					   const struct hi_report_header *header,
					   bool *ret, struct hi_error *err)
{
	*ret = may_be_same_process(&before->header, header);
	return *ret ? are_in_place(before->in->graph, in->graph, ret, err) : HI_OK;
}

enum hi_status hi_baseline_open(const struct hi_inspection *in,
				const struct hi_report_header *header, const char *file,
				const char *census, unsigned wanted,
				struct hi_baseline *ret, struct hi_error *err)
{
	enum hi_status status;

	*ret = (struct hi_baseline){.options = *in->options};
	ret->options.target.file = file;
	ret->options.target.census = census;
	ret->options.target.pid = 0;
	ret->options.target.core = ret->options.target.exe = NULL;
	/* They are of the other one, but for a restriction of both. */
	if (!ret->options.profile.n_under)
		ret->options.profile.n_roots = 0;
	status = hi_inspect_open(&ret->options, NULL, wanted, &ret->in, err);
	if (status == HI_OK)
		status = hi_inspect_make_header(ret->in, &ret->header, err);
	if (status == HI_OK && !in->options->comparison.force &&
	    !is_same_program(header, &ret->header))
		status = refuse_other_program(header, &ret->header, file, err);
	return status;
}

void hi_baseline_close(struct hi_baseline *b)
{
	hi_inspect_close(b->in);
	b->in = NULL;
}
