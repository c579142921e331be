/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/suspect_text.h"

#include <string.h>

#include "census/analysis/field_pattern.h"
#include "census/analysis/groups.h"
#include "session/edge_text.h"
#include "session/path_text.h"

enum { PATH_MAX_TEXT = 2048, JOINED_MOST = 1 << 20 };

static const char *keep_text(struct hi_inspection *in, const char *text, size_t n)
{
	const char *kept = hi_arena_printf(&in->arena, "%.*s", (int)n, text);

	return kept ? kept : "";
}

static const char *clean_path(struct hi_inspection *in, const char *text)
{
	char clean[PATH_MAX_TEXT];

	return keep_text(in, clean, hi_field_clean(text, clean, sizeof(clean)));
}

/* Elements that several roots hold: the path to one, without its index. */
static const char *path_of_example(struct hi_inspection *in, const struct hi_suspect *s)
{
	const char *text =
		s->example == HI_NODE_NONE
			? ""
			: clean_path(in, hi_path_text_from_root(in, s->example));

	return keep_text(in, text, hi_field_without_index(text));
}

/* In front of the elements' own index: the indices that are not the same for all of
 * them are "[*]": "rows[*].name" where the holder has a million. */
static const char *join_elements(struct hi_inspection *in, const struct hi_suspect *s,
				 const char *container)
{
	const struct hi_graph *g = in->graph;
	struct hi_edges edges = hi_graph_edges(g, s->holder);
	struct hi_edge_text_reader names = {};
	struct hi_error quiet;
	char joined[PATH_MAX_TEXT], clean[PATH_MAX_TEXT];
	const char **texts;

	if (!strchr(container, '[') || edges.count > JOINED_MOST)
		return container;
	texts = hi_arena_alloc(&in->arena, (edges.count + 1) * sizeof(*texts));
	if (!texts || hi_edge_text_open(in, &names, &quiet) != HI_OK)
		return container;
	if (hi_edge_text_read(&names, s->holder, texts, &quiet) != HI_OK)
		edges.count = 0;
	for (uint32_t i = 0; i < edges.count; i++) {
		if (g->objects->type[s->held] != g->objects->type[edges.to[i]])
			continue;
		hi_field_clean(texts[i], clean, sizeof(clean));
		clean[hi_field_container(clean)] = 0;
		if (hi_field_join(container, clean, joined, sizeof(joined)) &&
		    strcmp(container, joined) != 0)
			container = keep_text(in, joined, strlen(joined));
	}
	hi_edge_text_close(&names);
	return container;
}

/* How the holder refers to the elements; behind a root's name. */
static const char *field_of_elements(struct hi_inspection *in, const struct hi_suspect *s)
{
	const struct hi_graph *g = in->graph;
	const char *text, *name;
	size_t n;

	if (s->held == HI_NODE_NONE || s->holder != s->accumulation)
		return "";
	text = hi_path_text_of_edge(in, s->holder, s->held);
	if (s->holder >= g->first_root && s->holder < g->first_kind) {
		name = g->roots[s->holder - g->first_root].name;
		n = strlen(name);
		text += strncmp(text, name, n) == 0 ? n : 0;
	}
	text = clean_path(in, text);
	if (s->children < 2)
		return text;
	/* No offset is that of many words without a name. */
	if (!s->is_list && hi_field_is_offset(text))
		return "";
	text = keep_text(in, text, hi_field_container(text));
	return hi_graph_is_object(g, s->holder) ? join_elements(in, s, text) : text;
}

/* "request_scratch of 8 threads->next" for "thread 7 request_scratch->next". */
static const char *name_threads(struct hi_inspection *in, const struct hi_suspect *s,
				const char *variable, const char *text)
{
	const char *name = in->graph->roots[s->top - in->graph->first_root].name;
	size_t n = strlen(name);
	const char *rest = strncmp(text, name, n) == 0 ? text + n : "";

	text = hi_arena_printf(&in->arena, "%s of %u threads%s", variable, s->threads,
			       rest);
	return text ? text : "";
}

const char *hi_suspect_text(struct hi_inspection *in, const struct hi_suspect *s)
{
	const char *base, *text,
		*variable = hi_grouping_thread_variable(in->graph, s->top);

	if (s->accumulation == in->graph->super_root)
		return path_of_example(in, s);
	base = hi_graph_is_object(in->graph, s->top)
		       ? hi_path_text_from_root(in, s->top)
		       : hi_path_text_of_nodes(in, &s->top, 1);
	/* A path from a root variable begins with its name. */
	if (hi_graph_is_object(in->graph, s->top) || s->top == s->accumulation)
		text = hi_arena_printf(&in->arena, "%s%s", base,
				       hi_path_text_between(in, s->top, s->accumulation));
	else
		text = hi_path_text_between(in, s->top, s->accumulation);
	text = text ? clean_path(in, text) : "";
	if (s->threads > 1 && variable)
		text = name_threads(in, s, variable, text);
	text = hi_arena_printf(&in->arena, "%s%s", text, field_of_elements(in, s));
	return text ? text : "";
}
