/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/edge_text.h"

#include <string.h>

#include "base/parallel.h"
#include "decode/describe/edge_labels.h"

enum hi_status hi_edge_text_open(struct hi_inspection *in,
				 struct hi_edge_text_reader *ret, struct hi_error *err)
{
	struct hi_edge_text_reader reader = {.in = in};
	enum hi_status status = in->source->texts->open_edge_texts(&reader, err);

	if (status == HI_OK)
		*ret = reader;
	return status;
}

enum hi_status hi_edge_text_read(struct hi_edge_text_reader *reader, hi_node node,
				 const char **texts, struct hi_error *err)
{
	return reader->in->source->texts->read_edge_texts(reader, node, texts, err);
}

static enum hi_status read_edge_fields(void *arg, hi_node node, const char **texts,
				       struct hi_error *err)
{
	struct hi_edge_text_reader *reader = arg;
	const struct hi_graph *g = reader->in->graph;
	uint32_t n = hi_graph_edges(g, node).count;

	if (node < g->first_kind)
		return hi_edge_text_read(reader, node, texts, err);
	/* Kinds have edges without names. */
	for (uint32_t i = 0; i < n; i++)
		texts[i] = "";
	return HI_OK;
}

static enum hi_status read_edge_field_names(void *arg, unsigned worker, hi_node node,
					    struct hi_edge_name *names,
					    struct hi_error *err)
{
	struct hi_edge_text_reader *reader = arg;
	const struct hi_graph *g = reader->in->graph;
	uint32_t n = hi_graph_edges(g, node).count;

	if (node < g->first_kind && !reader->known)
		return reader->in->source->texts->read_edge_names(reader, worker, node,
								  names, err);
	if (node < g->first_kind)
		reader->known->of_node(reader->known->arg, node, names);
	else if (n)
		memset(names, 0, n * sizeof(*names));
	return HI_OK;
}

static void look_at_field_names(void *arg, unsigned worker, hi_node node, bool is_near)
{
	struct hi_edge_text_reader *reader = arg;

	if (reader->known)
		reader->known->ahead(reader->known->arg, node, is_near);
	else if (reader->in->source->texts->look_at_edge_names)
		reader->in->source->texts->look_at_edge_names(reader, worker, node,
							      is_near);
}

struct hi_field_reader hi_edge_text_fields(struct hi_edge_text_reader *reader)
{
	unsigned threads = hi_inspection_threads(reader->in);

	if (!threads)
		threads = hi_parallel_threads();
	return (struct hi_field_reader){
		.read = read_edge_fields,
		.arg = reader,
		.names = reader->in->source->texts->read_edge_names
				 ? read_edge_field_names
				 : NULL,
		.ahead = look_at_field_names,
		.workers =
			threads < HI_EDGE_TEXT_WORKERS ? threads : HI_EDGE_TEXT_WORKERS};
}

void hi_edge_text_close(struct hi_edge_text_reader *reader)
{
	hi_edge_labels_destroy(reader->decoded);
	for (int i = 0; i < HI_EDGE_TEXT_WORKERS - 1; i++)
		hi_edge_labels_destroy(reader->of_workers[i]);
	hi_vector_free(&reader->names);
	hi_vector_free(&reader->texts);
	*reader = (struct hi_edge_text_reader){};
}
