/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges and objects of an image as text. */
#include "session/live/live_source.h"

#include "decode/describe/edge_labels.h"
#include "session/edge_text.h"
#include "session/inspection.h"
#include "session/live/live_explain.h"

enum { EDGE_MAX = 512 };

static const char *image_edge_text(struct hi_inspection *in, hi_node from, hi_node to)
{
	char text[EDGE_MAX] = "";
	const char *kept;

	hi_typing_describe_step(in->decoders.typing, in->graph, from, to, text,
				sizeof(text));
	kept = hi_arena_strdup(&in->arena, text);
	return kept ? kept : "";
}

static enum hi_status open_image_edge_texts(struct hi_edge_text_reader *reader,
					    struct hi_error *err)
{
	return hi_edge_labels_create(reader->in->decoders.typing, reader->in->graph,
				     &reader->decoded, err);
}

static enum hi_status read_image_edge_texts(struct hi_edge_text_reader *reader,
					    hi_node node, const char **texts,
					    struct hi_error *err)
{
	return hi_edge_labels_of(reader->decoded, node, reader->with_marks, texts, err);
}

/* Each thread has labels of its own, made when it needs them. */
static enum hi_status read_image_edge_names(struct hi_edge_text_reader *reader,
					    unsigned worker, hi_node node,
					    struct hi_edge_name *names,
					    struct hi_error *err)
{
	struct hi_edge_labels **labels =
		worker ? &reader->of_workers[worker - 1] : &reader->decoded;
	enum hi_status status = HI_OK;

	if (!*labels)
		status = hi_edge_labels_create(reader->in->decoders.typing,
					       reader->in->graph, labels, err);
	return status == HI_OK ? hi_edge_patterns_of(*labels, node, names, err) : status;
}

/* The first name of a worker makes its labels. */
static void look_at_image_edge_names(struct hi_edge_text_reader *reader, unsigned worker,
				     hi_node node, bool is_near)
{
	struct hi_edge_labels *labels =
		worker ? reader->of_workers[worker - 1] : reader->decoded;

	if (labels)
		hi_edge_labels_look_at(labels, node, is_near);
}

static enum hi_status list_image_fields(struct hi_inspection *in, hi_node node,
					struct hi_field *fields, size_t max,
					size_t *n_ret, size_t *total_ret,
					struct hi_error *err)
{
	return hi_typing_fields(in->decoders.typing, in->graph, node, fields, max, n_ret,
				total_ret, err);
}

static bool image_has_values(const struct hi_inspection *in)
{
	(void)in;
	return true;
}

const struct hi_text_ops hi_live_texts = {
	.edge_text = image_edge_text,
	.open_edge_texts = open_image_edge_texts,
	.read_edge_texts = read_image_edge_texts,
	.read_edge_names = read_image_edge_names,
	.look_at_edge_names = look_at_image_edge_names,
	.list_fields = list_image_fields,
	.has_values = image_has_values,
	.explain_object = hi_live_explain_object,
	.explain_likely = hi_live_explain_likely,
};
