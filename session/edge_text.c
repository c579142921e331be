/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/edge_text.h"

#include "decode/describe/edge_labels.h"

enum hi_status hi_edge_text_open(struct hi_inspection *in,
				 struct hi_edge_text_reader *ret, struct hi_error *err)
{
	struct hi_edge_text_reader reader = {.in = in};
	enum hi_status status = in->source->open_edge_texts(&reader, err);

	if (status == HI_OK)
		*ret = reader;
	return status;
}

enum hi_status hi_edge_text_read(struct hi_edge_text_reader *reader, hi_node node,
				 const char **texts, struct hi_error *err)
{
	return reader->in->source->read_edge_texts(reader, node, texts, err);
}

void hi_edge_text_close(struct hi_edge_text_reader *reader)
{
	hi_edge_labels_destroy(reader->decoded);
	hi_vector_free(&reader->names);
	hi_vector_free(&reader->texts);
	*reader = (struct hi_edge_text_reader){};
}
