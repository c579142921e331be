/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/gate_names.h"

#include <stdio.h>
#include <string.h>

#include "report/views/names.h"
#include "session/mapped_files.h"

/* ---- is it there? ---- */

static bool has_root(const struct hi_inspection *in, const char *name)
{
	for (hi_node i = 0; in && i < in->graph->n_roots; i++)
		if (strcmp(in->graph->roots[i].name, name) == 0)
			return true;
	return false;
}

static bool has_module_of_types(const struct hi_graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_types; i++)
		if (g->types[i].module && strcmp(g->types[i].module, name) == 0)
			return true;
	return false;
}

/* A module may have no object now: then it is mapped, or a module of the runtime. */
static bool may_have_module(struct hi_inspection *in, const char *name)
{
	const struct hi_mapped_file *files = NULL;
	struct hi_error quiet;
	char root[256];
	size_t n = 0;

	if (!in)
		return false;
	snprintf(root, sizeof(root), "module %s", name);
	if (has_module_of_types(in->graph, name) || has_root(in, root) ||
	    hi_mapped_files_of(in, &files, &n, &quiet) != HI_OK || !n)
		return true;
	for (size_t i = 0; i < n; i++)
		if (strcmp(files[i].name, name) == 0)
			return true;
	return false;
}

/* Debug information has the types that no object has. A runtime makes its types. */
static bool may_have_type(struct hi_inspection *in, const char *name)
{
	struct hi_type_set set = {};
	struct hi_error quiet;
	hi_type_id unused;

	if (!in)
		return false;
	if (hi_types_select(in->graph, name, &set, NULL, &quiet) == HI_OK) {
		hi_type_set_free(&set);
		return true;
	}
	if (!in->decoders.types || in->decoders.runtime || strpbrk(name, "*?[,"))
		return true;
	return hi_types_find(in->decoders.types, name, &unused, &quiet) != HI_NOT_FOUND;
}

/* ---- what is near it ---- */

static const char *name_of_gate_root(void *arg, uint32_t i)
{
	return ((const struct hi_graph *)arg)->roots[i].name;
}

static const char *nth_module(void *arg, uint32_t i)
{
	return ((const struct hi_graph *)arg)->types[i].module;
}

static const char *nth_type(void *arg, uint32_t i)
{
	return i ? ((const struct hi_graph *)arg)->types[i].name : NULL;
}

static enum hi_status refuse_name(const struct hi_inspection *in,
				  const struct hi_gate_metric *m, struct hi_error *err)
{
	struct hi_graph *g = in->graph;
	bool is_root = m->subject == HI_GATE_ROOT, is_type = m->subject == HI_GATE_TYPE;
	const char *near[HI_NAMES_NEAREST];

	hi_names_nearest(m->name,
			 is_root   ? name_of_gate_root
			 : is_type ? nth_type
				   : nth_module,
			 g, is_root ? g->n_roots : g->n_types, near);
	if (near[1] && strcmp(near[0], near[1]) == 0)
		near[1] = NULL;
	if (!near[0])
		return hi_fail(
			err, HI_NOT_FOUND, 0,
			"--fail-on: no %s has the name %.80s; heapinspect %s lists them",
			is_root	  ? "variable"
			: is_type ? "type"
				  : "module",
			m->name,
			is_root	  ? "query 'SELECT name FROM roots'"
			: is_type ? "census"
				  : "census --by module");
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--fail-on: no %s has the name %.60s; near it: %.40s%s%.40s",
		       is_root	 ? "variable"
		       : is_type ? "type"
				 : "module",
		       m->name, near[0], near[1] ? ", " : "", near[1] ? near[1] : "");
}

enum hi_status hi_gate_check_names(const struct hi_gate *gate, struct hi_inspection *in,
				   struct hi_inspection *before, struct hi_error *err)
{
	for (size_t i = 0; i < gate->n_steps; i++) {
		const struct hi_gate_metric *m = &gate->steps[i].metric;
		bool fine = gate->steps[i].op != HI_GATE_METRIC;

		if (!fine && m->subject == HI_GATE_ROOT)
			fine = has_root(in, m->name) || has_root(before, m->name);
		else if (!fine && m->subject == HI_GATE_MODULE)
			fine = may_have_module(in, m->name) ||
			       may_have_module(before, m->name);
		else if (!fine && m->subject == HI_GATE_TYPE)
			fine = may_have_type(in, m->name) ||
			       may_have_type(before, m->name);
		else
			fine = true;
		if (!fine)
			return refuse_name(in, m, err);
	}
	return HI_OK;
}
