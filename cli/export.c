/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/export.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/stored.h"
#include "decode/typing/edge_labels.h"

static const struct {
	const char *name;
	hi_export_fn *write;
} formats[] = {
	{"heapsnapshot", hi_export_heapsnapshot},
	{"csv", hi_export_csv},
	{"ndjson", hi_export_ndjson},
	{"folded", hi_export_folded},
	{"speedscope", hi_export_speedscope},
	{"massif", hi_export_massif},
	{"dot", hi_export_dot},
	{"prometheus", hi_export_prometheus},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *hi_export_safe(char buffer[HI_EXPORT_TEXT], const char *text)
{
	hi_text_escape(buffer, HI_EXPORT_TEXT, text, strlen(text));
	return buffer;
}

static enum hi_status stored_labels(struct hi_export *x, hi_node node, const char **texts,
				    struct hi_error *err)
{
	uint32_t n = hi_graph_edges(x->in->graph, node).count;

	(void)err;
	for (uint32_t i = 0; i < n; i++)
		texts[i] =
			hi_snapshot_label(x->in->stored->snapshot, x->in->graph, node, i);
	return HI_OK;
}

static enum hi_status own_labels(struct hi_export *x, hi_node node, const char **texts,
				 struct hi_error *err)
{
	return hi_edge_labels_of(x->own_labels, node, texts, err);
}

static enum hi_status open_labels(struct hi_export *x, struct hi_error *err)
{
	x->labels = x->in->stored ? stored_labels : own_labels;
	if (x->in->stored)
		return hi_snapshot_open_labels(x->in->stored->snapshot, x->in->graph,
					       err);
	return hi_edge_labels_create(x->in->typing, x->in->graph, &x->own_labels, err);
}

static enum hi_status write_export(struct hi_inspection *in, const struct hi_head *head,
				   struct hi_output *output, struct hi_error *err)
{
	struct hi_export x = {.in = in, .head = head, .out = output->file};
	enum hi_status status;

	hi_inspect_phase(in, "export");
	status = open_labels(&x, err);
	for (size_t i = 0; i < FORMATS && status == HI_OK; i++)
		if (strcmp(formats[i].name, in->options->format) == 0)
			status = formats[i].write(&x, err);
	hi_edge_labels_destroy(x.own_labels);
	return status;
}

bool hi_export_has_format(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return true;
	return false;
}

const struct hi_command hi_command_export = {
	.id = HI_COMMAND_EXPORT,
	.name = "export",
	.arguments = "",
	.purpose = "The heap in the formats of other programs.",
	.help = "Formats (-f):\n"
		"  heapsnapshot  Chrome's developer tools, memlab\n"
		"  csv, ndjson   a table: --table objects, edges, types or roots\n"
		"  folded        flame graphs: bytes by the way down the dominator tree\n"
		"  speedscope    the same for speedscope\n"
		"  massif        the same for ms_print and massif-visualizer\n"
		"  dot           the top of the dominator tree, for Graphviz\n"
		"  prometheus    gauges for a textfile collector\n\n"
		"Examples:\n"
		"  heapinspect export app.hisnap -f heapsnapshot -o app.heapsnapshot\n"
		"  heapinspect export app.hisnap -f csv --table types\n"
		"  heapinspect export --pid 4242 -f folded | flamegraph.pl > heap.svg",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_LEDGER,
	.write = write_export,
};
