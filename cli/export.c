/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/export.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "census/graph/merged.h"
#include "cli/command.h"
#include "cli/series_file.h"
#include "decode/describe/edge_labels.h"
#include "report/formats/protobuf.h"
#include "session/snapshot/source.h"

static const struct {
	const char *name;
	hi_export_fn *write;
	bool is_binary;
} formats[] = {
	{.name = "heapsnapshot", .write = hi_export_heapsnapshot},
	{.name = "csv", .write = hi_export_tables},
	{.name = "ndjson", .write = hi_export_tables},
	{.name = "folded", .write = hi_export_folded},
	{.name = "speedscope", .write = hi_export_speedscope},
	{.name = "massif", .write = hi_export_massif},
	{.name = "dot", .write = hi_export_dot},
	{.name = "prometheus", .write = hi_export_prometheus},
	{.name = "pprof", .write = hi_export_pprof, .is_binary = true},
	{.name = "hp", .write = hi_export_hp},
	{.name = "parquet", .write = hi_export_tables, .is_binary = true},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *hi_export_safe(char buffer[HI_EXPORT_TEXT], const char *text)
{
	hi_text_escape(buffer, HI_EXPORT_TEXT, text, strlen(text));
	return buffer;
}

void hi_export_put_quoted(FILE *out, const char *text)
{
	char safe[HI_EXPORT_TEXT];

	for (const char *c = hi_export_safe(safe, text); *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
}

void hi_export_put_json(FILE *out, const char *text)
{
	fputc('"', out);
	hi_export_put_quoted(out, text);
	fputc('"', out);
}

void hi_export_warn(const struct hi_export *x, const char *fmt, ...)
{
	va_list ap;

	if (x->in->options->quiet)
		return;
	fputs("heapinspect: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void hi_export_warn_leaked(const struct hi_export *x)
{
	const struct hi_reach *r = x->in->reach;
	char bytes[24], count[32];

	if (hi_heap_known(x->header) != HI_HEAP_KNOWN)
		return; /* said already */
	if (r->leak_objects)
		hi_export_warn(x, "without unreachable objects: %s leaked, %s",
			       hi_text_count(count, r->leak_objects),
			       hi_text_bytes(bytes, r->leak_bytes));
}

void hi_export_warn_cut(const struct hi_export *x, const struct hi_merged *m)
{
	char bytes[24], count[32];

	if (m->cut_objects)
		hi_export_warn(x,
			       "stacks are cut after %d frames: %s objects below that, "
			       "%s, are counted at the cut",
			       HI_MERGED_DEPTH, hi_text_count(count, m->cut_objects),
			       hi_text_bytes(bytes, m->cut_bytes));
}

static enum hi_status stored_labels(struct hi_export *x, hi_node node, const char **texts,
				    struct hi_error *err)
{
	uint32_t n = hi_graph_edges(x->in->graph, node).count;

	if (!hi_vector_reserve(&x->names, n))
		return hi_fail_memory(err, "labels");
	for (uint32_t i = 0; i < n; i++)
		x->names.items[i] = hi_snapshot_edge_name(x->in->stored->snapshot,
							  x->in->graph, node, i);
	return hi_edge_names_texts(&x->texts, x->names.items, n, texts)
		       ? HI_OK
		       : hi_fail_memory(err, "labels");
}

static enum hi_status own_labels(struct hi_export *x, hi_node node, const char **texts,
				 struct hi_error *err)
{
	return hi_edge_labels_of(x->own_labels, node, texts, err);
}

static enum hi_status open_export_labels(struct hi_export *x, struct hi_error *err)
{
	x->labels = x->in->stored ? stored_labels : own_labels;
	if (x->in->stored)
		return hi_snapshot_open_labels(x->in->stored->snapshot, x->in->graph,
					       err);
	return hi_edge_labels_create(x->in->typing, x->in->graph, &x->own_labels, err);
}

enum hi_status hi_export_refuse_terminal(const char *format, FILE *out,
					 struct hi_error *err)
{
	bool is_binary = false;

	for (size_t i = 0; i < FORMATS; i++)
		is_binary |= formats[i].is_binary && strcmp(formats[i].name, format) == 0;
	if (!is_binary || !isatty(fileno(out)))
		return HI_OK;
	return hi_fail(err, HI_USAGE, 0,
		       "-f %s is binary, and standard output is a terminal; use -o FILE",
		       format);
}

enum hi_status hi_export_write(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output,
			       const struct hi_export_limits *limits,
			       struct hi_error *err)
{
	struct hi_export x = {
		.limits = limits, .in = in, .header = header, .out = output->file};
	enum hi_status status;

	hi_inspect_phase(in, "export");
	if (hi_heap_known(header) != HI_HEAP_KNOWN)
		hi_export_warn(&x,
			       "%s; leaks there are unknown, what is live is a "
			       "lower bound",
			       header->not_decoded && *header->not_decoded
				       ? "the heap of another allocator or runtime is "
					 "not decoded"
				       : "this heap belongs to no known allocator");
	status = hi_export_refuse_terminal(in->options->format, x.out, err);
	if (status == HI_OK)
		status = open_export_labels(&x, err);
	for (size_t i = 0; i < FORMATS && status == HI_OK; i++)
		if (strcmp(formats[i].name, in->options->format) == 0)
			status = formats[i].write(&x, err);
	hi_edge_labels_destroy(x.own_labels);
	hi_vector_free(&x.names);
	hi_vector_free(&x.texts);
	return status;
}

static enum hi_status write_export(struct hi_inspection *in,
				   const struct hi_report_header *header,
				   struct hi_output *output, struct hi_error *err)
{
	static const struct hi_export_limits limits = {.heapsnapshot = UINT32_MAX,
						       .pprof = HI_PROTOBUF_MAX};

	return hi_export_write(in, header, output, &limits, err);
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
		"  parquet       the same for DuckDB, ClickHouse, Spark\n"
		"  folded        flame graphs: bytes by the way down the dominator tree\n"
		"  speedscope    the same for speedscope\n"
		"  massif        the same for ms_print and massif-visualizer\n"
		"  pprof         the same and what is leaked, for pprof, Pyroscope, "
		"Parca\n"
		"  hp            bytes by type, for hp2ps\n"
		"  dot           the top of the dominator tree, for Graphviz\n"
		"  prometheus    gauges for a textfile collector\n\n"
		"Of a file of many censuses (snap --every), over time:\n"
		"  hp, massif, prometheus   unless --census says which one\n"
		"  csv, ndjson, parquet   --table censuses, or sums: by type and "
		"census\n\n"
		"Examples:\n"
		"  heapinspect export app.hisnap -f heapsnapshot -o app.heapsnapshot\n"
		"  heapinspect export app.hisnap -f csv --table types\n"
		"  heapinspect export app.hisnap -f pprof -o app.pb.gz && go tool pprof "
		"app.pb.gz\n"
		"  heapinspect export series.hisnap -f csv --table censuses\n"
		"  heapinspect export --pid 4242 -f folded | flamegraph.pl > heap.svg",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_LEDGER,
	.write = write_export,
	.wants_series = hi_series_file_is_wanted,
	.write_series = hi_series_file_export,
};
