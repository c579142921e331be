/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/export.h"

#include <string.h>

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/option_take.h"
#include "cli/options/query_source.h"
#include "cli/series/series_export.h"
#include "query/database.h"
#include "session/edge_text.h"
#include "session/mapped_files.h"
#include "session/merged_heap.h"
#include "session/recorded.h"

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

static enum hi_status feed_merged_heap(void *arg, struct hi_merged **ret,
				       struct hi_error *err)
{
	return hi_inspect_merge(((struct export_feed *)arg)->in, ret, err);
}

static enum hi_status feed_mapped_files(void *arg, const struct hi_mapped_file **ret,
					size_t *n_ret, struct hi_error *err)
{
	return hi_mapped_files_of(((struct export_feed *)arg)->in, ret, n_ret, err);
}

static enum hi_status feed_recording(void *arg, bool required,
				     const struct hi_recorded **ret, struct hi_error *err)
{
	struct hi_inspection *in = ((struct export_feed *)arg)->in;

	return required ? hi_inspect_recorded(in, ret, err)
			: hi_inspect_recorded_if_any(in, ret, err);
}

static uint64_t *feed_live_bits(void *arg)
{
	return hi_inspect_live_bits(((struct export_feed *)arg)->in);
}

static void print_export_warning(void *arg, const char *text)
{
	if (!((struct export_feed *)arg)->in->options->output.quiet)
		fprintf(stderr, "heapinspect: %s\n", text);
}

static const struct hi_export_source source = {
	.labels = feed_labels,
	.merge = feed_merged_heap,
	.mapped_files = feed_mapped_files,
	.recorded = feed_recording,
	.live_bits = feed_live_bits,
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
			      .uncompressed = in->options->output.uncompressed,
			      .by_context = in->options->selection.has_born_by,
			      .labels = in->options->output.labels,
			      .n_labels = in->options->output.n_labels,
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

static enum hi_status write_database(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_query_close) struct hi_query *q = NULL;
	struct hi_query_feed feed;
	enum hi_status status = hi_export_refuse_terminal("sqlite", output->file, err);

	if (status != HI_OK)
		return status;
	hi_inspect_phase(in, "export");
	hi_query_feed_begin(&feed, in, header->time_ns);
	status = hi_query_open(&feed.source, &q, err);
	if (status == HI_OK)
		status = hi_query_write_database(q, feed.source.leaks_unknown,
						 output->file, err);
	hi_query_close(hi_take(q));
	hi_query_feed_end(&feed);
	return status == HI_OK ? hi_inspect_check(in, err) : status;
}

static enum hi_status write_export(struct hi_inspection *in,
				   const struct hi_report_header *header,
				   struct hi_output *output, struct hi_error *err)
{
	if (strcmp(in->options->output.format, "sqlite") == 0)
		return write_database(in, header, output, err);
	return hi_export_inspection(in, header, output, &hi_export_format_limits, err);
}

static int check_export(const struct hi_given *given)
{
	return given->options->output.format
		       ? 0
		       : hi_option_wrong("export: -f FORMAT is missing; see heapinspect "
					 "export --help");
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
		"  sqlite        a database with the tables of query, for sqlite3\n"
		"  folded        flame graphs: bytes by path down the dominator tree\n"
		"  speedscope    the same for speedscope\n"
		"  massif        the same for ms_print and massif-visualizer\n"
		"  pprof         the same, and leaked objects, for pprof, Pyroscope, "
		"Parca\n"
		"                with --by context: what was allocated, and what is in "
		"use of it\n"
		"  dhat          the allocations of a recording, for DHAT's viewer\n"
		"  hp            bytes by type, for hp2ps\n"
		"  dot           the top of the same tree, for Graphviz\n"
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
		"  heapinspect export app.hisnap -f sqlite -o app.db\n"
		"  heapinspect export app.hisnap -f pprof -o app.pb.gz && go tool pprof "
		"app.pb.gz\n"
		"  heapinspect export app.hirec -f pprof --by context -o app.pb.gz\n"
		"  heapinspect export series.hisnap -f csv --table censuses\n"
		"  heapinspect export --pid 4242 -f folded | flamegraph.pl > heap.svg",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_LEDGER,
	.write = write_export,
	.wants_series = hi_series_file_is_wanted,
	.write_series = hi_series_file_export,
	.check = check_export,
};
