/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/check/gate_names.h"

#include <stdio.h>
#include <string.h>

#include "report/type_search.h"
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

static bool has_objects_of_module(struct hi_inspection *in, const char *name)
{
	char root[256];

	if (!in)
		return false;
	snprintf(root, sizeof(root), "module %s", name);
	return has_module_of_types(in->graph, name) || has_root(in, root);
}

/* Is it mapped, at least? */
static bool is_mapped_module(struct hi_inspection *in, const char *name)
{
	const struct hi_mapped_file *files = NULL;
	struct hi_error quiet;
	size_t n = 0;

	if (!in || hi_mapped_files_of(in, &files, &n, &quiet) != HI_OK)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(files[i].name, name) == 0)
			return true;
	return false;
}

static bool has_objects_of_type(struct hi_inspection *in, const char *name)
{
	struct hi_type_set set = {};
	struct hi_error quiet;
	bool ret = in && hi_types_select(in->graph, name, &set, NULL, &quiet) == HI_OK;

	hi_type_set_free(&set);
	return ret;
}

/* Debug information has types of which there is no object. */
static bool is_known_type(struct hi_inspection *in, const char *name)
{
	struct hi_error quiet;
	hi_type_id unused;

	return in && in->decoders.types &&
	       hi_types_find(in->decoders.types, name, &unused, &quiet) != HI_NOT_FOUND;
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
	const struct hi_type_name *type = &((const struct hi_graph *)arg)->types[i];

	/* A label is no name that anyone types. */
	return i && type->klass != HI_TYPE_FIELD ? type->name : NULL;
}

/* "; near it: struct node, struct mode", or where they are listed. */
static const char *near_names_text(struct hi_inspection *in,
				   const struct hi_gate_metric *m)
{
	struct hi_graph *g = in->graph;
	bool is_root = m->subject == HI_GATE_ROOT,
	     is_module = m->subject == HI_GATE_MODULE;
	const char *near[HI_NAMES_NEAREST], *text;

	hi_names_nearest(m->name,
			 is_root     ? name_of_gate_root
			 : is_module ? nth_module
				     : nth_type,
			 g, is_root ? g->n_roots : g->n_types, near);
	if (near[1] && strcmp(near[0], near[1]) == 0)
		near[1] = NULL;
	text = near[0] ? hi_arena_printf(&in->arena, "; near it: %.80s%s%.80s", near[0],
					 near[1] ? ", " : "", near[1] ? near[1] : "")
		       : hi_arena_printf(&in->arena, "; heapinspect %s lists them",
					 is_root     ? "query 'SELECT name FROM roots'"
					 : is_module ? "census --by module"
						     : "census");
	return text ? text : "";
}

static const char *unmatched_text(struct hi_inspection *in,
				  const struct hi_gate_metric *m, bool exists)
{
	const char *what = m->subject == HI_GATE_ROOT	  ? "no variable has the name"
			   : m->subject == HI_GATE_MODULE ? "no object is of the module"
							  : "no object has the type";
	const char *text = hi_arena_printf(&in->arena, "%s %.200s%s", what, m->name,
					   exists ? "" : near_names_text(in, m));

	return text ? text : what;
}

static bool is_matched(const struct hi_gate_metric *m, struct hi_inspection *in)
{
	return m->subject == HI_GATE_ROOT     ? has_root(in, m->name)
	       : m->subject == HI_GATE_MODULE ? has_objects_of_module(in, m->name)
					      : has_objects_of_type(in, m->name);
}

const char *hi_gate_unmatched(const struct hi_gate *gate, struct hi_inspection *in,
			      struct hi_inspection *before)
{
	for (size_t i = 0; i < gate->n_steps; i++) {
		const struct hi_gate_metric *m = &gate->steps[i].metric;

		if (gate->steps[i].op != HI_GATE_METRIC || !hi_gate_is_named(m) ||
		    is_matched(m, in) || is_matched(m, before))
			continue;
		return unmatched_text(in, m,
				      m->subject == HI_GATE_ROOT ? false
				      : m->subject == HI_GATE_MODULE
					      ? is_mapped_module(in, m->name)
					      : is_known_type(in, m->name));
	}
	return NULL;
}
