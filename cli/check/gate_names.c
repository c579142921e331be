/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/check/gate_names.h"

#include <stdio.h>
#include <string.h>

#include "report/type_search.h"
#include "session/mapped_files.h"
#include "session/operands.h"

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

/* ---- what is near it ---- */

static const char *name_of_gate_root(void *arg, uint32_t i)
{
	return ((const struct hi_graph *)arg)->roots[i].name;
}

static const char *nth_module(void *arg, uint32_t i)
{
	return ((const struct hi_graph *)arg)->types[i].module;
}

/* "; near it: nodes, modes", or where they are listed. */
static const char *near_names_text(struct hi_inspection *in,
				   const struct hi_gate_metric *m)
{
	struct hi_graph *g = in->graph;
	bool is_root = m->subject == HI_GATE_ROOT;
	const char *near[HI_NAMES_NEAREST], *text;

	hi_names_nearest(m->name, is_root ? name_of_gate_root : nth_module, g,
			 is_root ? g->n_roots : g->n_types, near);
	if (near[1] && strcmp(near[0], near[1]) == 0)
		near[1] = NULL;
	text = near[0] ? hi_arena_printf(&in->arena, "; near it: %.80s%s%.80s", near[0],
					 near[1] ? ", " : "", near[1] ? near[1] : "")
		       : hi_arena_printf(&in->arena, "; heapinspect %s lists them",
					 is_root ? "query 'SELECT name FROM roots'"
						 : "census --by module");
	return text ? text : "";
}

/* ---- types ---- */

/* Finds the types in both heaps: *is_there, in one of them. HI_NOT_FOUND: in none, with
 * what is near; HI_USAGE: a name without qualifiers is that of several types, or of one
 * here and another one there. */
static enum hi_status find_gate_types(const char *name, struct hi_inspection *in,
				      struct hi_inspection *before, struct hi_error *err)
{
	struct hi_type_set here = {}, there = {};
	struct hi_error other;
	enum hi_status status = hi_lookup_types(in, name, &here, err);
	enum hi_status status_before =
		before ? hi_types_select(before->graph, name, &there, NULL, &other)
		       : HI_NOT_FOUND;

	if (status == HI_OK && status_before == HI_OK &&
	    strcmp(here.taken, there.taken) != 0)
		status = hi_fail(err, HI_USAGE, 0,
				 "%.40s is %.70s here and %.70s in the baseline", name,
				 *here.taken ? here.taken : name,
				 *there.taken ? there.taken : name);
	else if (status == HI_NOT_FOUND && status_before == HI_OK)
		status = HI_OK;
	else if (status != HI_USAGE && status_before == HI_USAGE)
		status = hi_fail(err, HI_USAGE, 0, "the baseline: %.200s", other.text);
	hi_type_set_free(&here);
	hi_type_set_free(&there);
	return status;
}

/* Debug information has types of which there is no object. */
static bool is_known_type(struct hi_inspection *in, const char *name)
{
	struct hi_error quiet;
	hi_type_id unused;

	return in && in->decoders.types &&
	       hi_types_find(in->decoders.types, name, &unused, &quiet) != HI_NOT_FOUND;
}

static enum hi_status check_type_name(const struct hi_gate_metric *m,
				      struct hi_inspection *in,
				      struct hi_inspection *before,
				      struct hi_gate_name *ret, struct hi_error *err)
{
	struct hi_error missing;
	enum hi_status status = find_gate_types(m->name, in, before, &missing);

	if (status == HI_OK)
		return HI_OK;
	if (status != HI_NOT_FOUND) {
		*err = missing;
		return status;
	}
	ret->is_known = is_known_type(in, m->name);
	ret->unmatched =
		ret->is_known ? hi_arena_printf(&in->arena,
						"no object has the type %.200s", m->name)
			      : hi_arena_strdup(&in->arena, missing.text);
	return ret->unmatched ? HI_OK : hi_fail_memory(err, "gates");
}

/* ---- modules and variables ---- */

static enum hi_status check_other_name(const struct hi_gate_metric *m,
				       struct hi_inspection *in,
				       struct hi_inspection *before,
				       struct hi_gate_name *ret, struct hi_error *err)
{
	bool is_root = m->subject == HI_GATE_ROOT;

	if (is_root ? has_root(in, m->name) || has_root(before, m->name)
		    : has_objects_of_module(in, m->name) ||
			      has_objects_of_module(before, m->name))
		return HI_OK;
	ret->is_known = !is_root && is_mapped_module(in, m->name);
	ret->unmatched = hi_arena_printf(
		&in->arena, "%s %.200s%s",
		is_root ? "no variable has the name" : "no object is of the module",
		m->name, ret->is_known ? "" : near_names_text(in, m));
	return ret->unmatched ? HI_OK : hi_fail_memory(err, "gates");
}

enum hi_status hi_gate_check_names(const struct hi_gate *gate, struct hi_inspection *in,
				   struct hi_inspection *before, struct hi_gate_name *ret,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	*ret = (struct hi_gate_name){};
	for (size_t i = 0; i < gate->n_steps && status == HI_OK && !ret->unmatched; i++) {
		const struct hi_gate_metric *m = &gate->steps[i].metric;

		if (gate->steps[i].op != HI_GATE_METRIC || !hi_gate_is_named(m))
			continue;
		ret->metric = m;
		status = m->subject == HI_GATE_ROOT || m->subject == HI_GATE_MODULE
				 ? check_other_name(m, in, before, ret, err)
				 : check_type_name(m, in, before, ret, err);
	}
	return status;
}
