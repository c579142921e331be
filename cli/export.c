/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/export.h"

#include "cli/command.h"
#include "cli/series_export.h"
#include "session/edge_text.h"
#include "session/mapped_files.h"

/* What the writers need: names of edges, mapped files, a function for warnings. */
struct export_feed {
	struct hi_inspection *in;
	struct hi_edge_text_reader labels;
};

static enum hi_status feed_labels(void *arg, hi_node node, const char **texts,
				  struct hi_error *err)
{
	struct export_feed *feed = arg;

	return hi_edge_text_read(&feed->labels, node, texts, err);
}

static enum hi_status feed_mapped_files(void *arg, const struct hi_mapped_file **ret,
					size_t *n_ret, struct hi_error *err)
{
	return hi_mapped_files_of(((struct export_feed *)arg)->in, ret, n_ret, err);
}

static void print_export_warning(void *arg, const char *text)
{
	if (!((struct export_feed *)arg)->in->options->output.quiet)
		fprintf(stderr, "heapinspect: %s\n", text);
}

static const struct hi_export_source source = {
	.labels = feed_labels,
	.mapped_files = feed_mapped_files,
	.warn = print_export_warning,
};

enum hi_status hi_export_inspection(struct hi_inspection *in,
				    const struct hi_report_header *header,
				    struct hi_output *output,
				    const struct hi_export_limits *limits,
				    struct hi_error *err)
{
	struct export_feed feed = {.in = in};
	struct hi_export x = {.format = in->options->output.format,
			      .table = in->options->output.table,
			      .top = in->options->selection.top,
			      .all = in->options->selection.all,
			      .limits = limits,
			      .header = header,
			      .graph = in->graph,
			      .reach = in->results.reach,
			      .dominators = in->results.dominators,
			      .leaks = in->results.leaks,
			      .census = in->results.census,
			      .ledger = in->results.ledger_known ? &in->results.ledger
								 : NULL,
			      .out = output->file,
			      .source = &source,
			      .arg = &feed};
	enum hi_status status;

	hi_inspect_phase(in, "export");
	status = hi_edge_text_open(in, &feed.labels, err);
	if (status == HI_OK)
		status = hi_export_write(&x, err);
	hi_edge_text_close(&feed.labels);
	return status;
}

static enum hi_status write_export(struct hi_inspection *in,
				   const struct hi_report_header *header,
				   struct hi_output *output, struct hi_error *err)
{
	return hi_export_inspection(in, header, output, &hi_export_format_limits, err);
}

const struct hi_command hi_command_export = {
	.id = HI_COMMAND_EXPORT,
	.name = "export",
	.arguments = "",
	.purpose = "Write the heap in the formats of other programs.",
	.help = "Formats (-f):\n"
		"  heapsnapshot  Chrome's developer tools, memlab\n"
		"  csv, ndjson   a table: --table objects, edges, types or roots\n"
		"  parquet       the same for DuckDB, ClickHouse, Spark\n"
		"  folded        flame graphs: bytes by path down the dominator tree\n"
		"  speedscope    the same for speedscope\n"
		"  massif        the same for ms_print and massif-visualizer\n"
		"  pprof         the same, and leaked objects, for pprof, Pyroscope, "
		"Parca\n"
		"  hp            bytes by type, for hp2ps\n"
		"  dot           the top of the dominator tree, for Graphviz\n"
		"  prometheus    gauges for a textfile collector\n"
		"\n"
		"Formats over time, for a file of many censuses (snap --every):\n"
		"  hp, massif, prometheus   all censuses, unless --census selects one\n"
		"  csv, ndjson, parquet     --table censuses (one row per census) or\n"
		"                           --table sums (one row per census and type)\n"
		"\n"
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
