/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/object_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { SITE_TEXT = 1024 };

/* ---- texts of one census ---- */

static bool intern_text(struct hi_object_groups *g, const char *text, uint32_t *ret)
{
	*ret = text && text[0] ? hi_interner_add(&g->texts, text) : 0;
	return *ret || !text || !text[0];
}

static bool intern_types(struct hi_object_groups *g, const struct hi_graph *graph)
{
	g->n_types = graph->n_types;
	g->types = hi_calloc(g->n_types + 1, sizeof(*g->types));
	g->modules = hi_calloc(g->n_types + 1, sizeof(*g->modules));
	g->last = hi_calloc(g->n_types + 1, sizeof(*g->last));
	if (!g->types || !g->modules || !g->last)
		return false;
	for (uint32_t i = 0; i < g->n_types; i++) {
		const struct hi_type_name *type = &graph->types[i];

		if (!intern_text(g, type->name, &g->types[i]) ||
		    !intern_text(g, type->module, &g->modules[i]))
			return false;
	}
	return true;
}

/* "cache_fill cache.c:120"; of a function without a line the name alone. */
static bool intern_site(struct hi_object_groups *g, const struct hi_recorded *recorded,
			uint32_t context, uint32_t *ret)
{
	uint32_t row = hi_context_site(&recorded->contexts, &recorded->frames, context);
	const struct hi_frame_row *frame;
	const char *slash;
	char text[SITE_TEXT];

	*ret = 0;
	if (row >= recorded->frames.n_rows)
		return true;
	frame = &recorded->frames.rows[row];
	slash = strrchr(frame->file, '/');
	if (frame->line)
		snprintf(text, sizeof(text), "%.700s %.200s:%u", hi_frame_row_name(frame),
			 slash ? slash + 1 : frame->file, frame->line);
	else
		snprintf(text, sizeof(text), "%.1000s", hi_frame_row_name(frame));
	return intern_text(g, text, ret);
}

static bool intern_sites(struct hi_object_groups *g, const struct hi_recorded *recorded)
{
	g->n_contexts = recorded->contexts.n_contexts;
	g->sites = hi_calloc(g->n_contexts + 1, sizeof(*g->sites));
	for (uint32_t i = 0; g->sites && i < g->n_contexts; i++)
		if (!intern_site(g, recorded, i, &g->sites[i]))
			return false;
	return g->sites != NULL;
}

static void free_census_texts(struct hi_object_groups *g)
{
	free(g->types);
	free(g->modules);
	free(g->sites);
	free(g->last);
	g->types = g->modules = g->sites = g->last = NULL;
	g->n_types = g->n_contexts = 0;
}

enum hi_status hi_object_groups_begin(struct hi_object_groups *groups,
				      const struct hi_graph *graph,
				      const struct hi_recorded *recorded,
				      const bool *inherent, struct hi_error *err)
{
	free_census_texts(groups);
	groups->recorded = recorded;
	groups->inherent = inherent;
	if (!intern_types(groups, graph) || (recorded && !intern_sites(groups, recorded)))
		return hi_fail_memory(err, "groups of biographies");
	return HI_OK;
}

/* ---- groups ---- */

static uint32_t site_of_object(const struct hi_object_groups *g, hi_node object)
{
	const struct hi_births *births = g->recorded ? g->recorded->births : NULL;

	if (!births || !hi_birth_is_known(births, object) ||
	    births->context[object] >= g->n_contexts)
		return 0;
	return g->sites[births->context[object]];
}

enum hi_status hi_object_groups_text(struct hi_object_groups *groups, const char *text,
				     uint32_t *ret, struct hi_error *err)
{
	return intern_text(groups, text, ret)
		       ? HI_OK
		       : hi_fail_memory(err, "groups of biographies");
}

/* From 0, in the order in which they come. */
static bool number_pair(struct hi_table *numbers, uint32_t a, uint32_t b, uint32_t *ret)
{
	uint64_t key = (uint64_t)a << 32 | b, number;

	if (!hi_table_get(numbers, key, &number)) {
		number = numbers->count;
		if (!hi_table_put(numbers, key, number))
			return false;
	}
	*ret = (uint32_t)number;
	return true;
}

static bool number_group(struct hi_object_groups *g, const struct hi_object_group *group,
			 uint32_t *ret)
{
	uint32_t of_type, kept_by, of_era;

	return number_pair(&g->types_and_sites, group->type, group->site, &of_type) &&
	       number_pair(&g->kept_by, group->root, group->retainers, &kept_by) &&
	       number_pair(&g->eras_and_kept_by, group->era << 1 | group->is_hidden,
			   kept_by, &of_era) &&
	       number_pair(&g->index, of_type, of_era, ret) &&
	       (*ret < g->list.count || hi_vector_push(&g->list, *group));
}

static bool has_same_labels(const struct hi_object_group *a,
			    const struct hi_object_group *b)
{
	return a->type == b->type && a->module == b->module && a->site == b->site &&
	       a->era == b->era && a->root == b->root && a->retainers == b->retainers &&
	       a->is_inherent == b->is_inherent && a->is_hidden == b->is_hidden;
}

/* Most objects are in the group of the last one of their type. */
static bool number_group_of_type(struct hi_object_groups *g, uint32_t type,
				 const struct hi_object_group *group, uint32_t *ret)
{
	uint32_t last = g->last[type];

	if (last && has_same_labels(group, &g->list.items[last - 1])) {
		*ret = last - 1;
		return true;
	}
	if (!number_group(g, group, ret))
		return false;
	g->last[type] = *ret + 1;
	return true;
}

enum hi_status hi_object_groups_find(struct hi_object_groups *groups,
				     const struct hi_graph *graph, hi_node object,
				     const struct hi_object_group *before,
				     const struct hi_object_labels *labels, uint32_t *ret,
				     struct hi_error *err)
{
	uint32_t type = graph->objects->type[object];
	struct hi_object_group group;

	if (type >= groups->n_types)
		type = 0;
	group = (struct hi_object_group){.type = groups->types[type],
					 .module = groups->modules[type],
					 .site = site_of_object(groups, object),
					 .era = labels->era,
					 .root = labels->root,
					 .retainers = labels->retainers,
					 .is_hidden = labels->is_hidden,
					 .is_inherent = groups->inherent &&
							groups->inherent[type]};
	if (!group.type && before) {
		group.type = before->type;
		group.module = before->module;
		group.is_inherent = before->is_inherent;
	}
	return number_group_of_type(groups, type, &group, ret)
		       ? HI_OK
		       : hi_fail_memory(err, "groups of biographies");
}

void hi_object_groups_free(struct hi_object_groups *groups)
{
	free_census_texts(groups);
	hi_interner_free(&groups->texts);
	hi_vector_free(&groups->list);
	hi_table_free(&groups->types_and_sites);
	hi_table_free(&groups->kept_by);
	hi_table_free(&groups->eras_and_kept_by);
	hi_table_free(&groups->index);
}

uint32_t hi_object_group_text(const struct hi_object_group *group, enum hi_lives_by by)
{
	return by == HI_LIVES_BY_SITE	     ? group->site
	       : by == HI_LIVES_BY_MODULE    ? group->module
	       : by == HI_LIVES_BY_ERA	     ? group->era
	       : by == HI_LIVES_BY_ROOT	     ? group->root
	       : by == HI_LIVES_BY_RETAINERS ? group->retainers
					     : group->type;
}

const char *hi_lives_by_name(enum hi_lives_by by)
{
	static const char *const names[] = {
		[HI_LIVES_BY_TYPE] = "type",	 [HI_LIVES_BY_SITE] = "site",
		[HI_LIVES_BY_MODULE] = "module", [HI_LIVES_BY_ERA] = "era",
		[HI_LIVES_BY_ROOT] = "root",	 [HI_LIVES_BY_RETAINERS] = "retainers"};

	return names[by];
}
