/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/edge_text.h"

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
	/* Kinds have edges without names. */
	if (node >= ((struct hi_edge_text_reader *)arg)->in->graph->first_kind) {
		struct hi_edges edges = hi_graph_edges(
			((struct hi_edge_text_reader *)arg)->in->graph, node);

		for (uint32_t i = 0; i < edges.count; i++)
			texts[i] = "";
		return HI_OK;
	}
	return hi_edge_text_read(arg, node, texts, err);
}

struct hi_field_reader hi_edge_text_fields(struct hi_edge_text_reader *reader)
{
	return (struct hi_field_reader){.read = read_edge_fields, .arg = reader};
}

void hi_edge_text_close(struct hi_edge_text_reader *reader)
{
	hi_edge_labels_destroy(reader->decoded);
	hi_vector_free(&reader->names);
	hi_vector_free(&reader->texts);
	*reader = (struct hi_edge_text_reader){};
}
