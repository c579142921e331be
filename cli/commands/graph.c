/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `graph`: draws one heap, or a series of censuses over time. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/options/operand_words.h"
#include "cli/options/option_check.h"
#include "report/pictures/graph_svg.h"
#include "report/pictures/picture_svg.h"
#include "session/merged_heap.h"
#include "session/series/file.h"
#include "session/snapshot/snapshot_source.h"

/* ---- a series: no process is needed ---- */

/* A heap profile, or the censuses of a snapshot file. */
static enum hi_status read_series(const char *path, struct hi_hp_series **ret,
				  struct hi_error *err)
{
	return hi_snapshots_is_one(path) ? hi_series_file_read(path, ret, err)
					 : hi_hp_read(path, ret, err);
}

/* The bands of the other profile, in its own scale. */
static enum hi_status read_like(const struct hi_options *o, struct hi_hp_series **series,
				struct hi_bands **bands, struct hi_error *err)
{
	enum hi_status status = read_series(o->drawing.like, series, err);

	if (status == HI_OK)
		status = hi_bands_create(*series, &o->drawing.bands, bands, err);
	return status;
}

/* FILE.prof beside FILE.hp has the whole names; a series without it is drawn too. */
static void read_key(const char *path, const struct hi_hp_series *series,
		     struct hi_hp_key **ret)
{
	HI_GUARD(free) char *name = NULL;
	size_t n = strlen(path);

	if (n < 3 || strcmp(path + n - 3, ".hp") != 0)
		return;
	name = hi_alloc(n + 3);
	if (!name)
		return;
	memcpy(name, path, n - 2);
	memcpy(name + n - 2, "prof", 5);
	if (hi_hp_key_read(name, series, ret, NULL) != HI_OK)
		*ret = NULL;
}

static enum hi_status run_graph_command(const struct hi_options *o,
					struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *series = NULL;
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *other = NULL;
	HI_GUARD(hi_bands_destroy) struct hi_bands *like = NULL, *bands = NULL;
	HI_GUARD(hi_hp_key_destroy) struct hi_hp_key *key = NULL;
	struct hi_bands_options options = o->drawing.bands;
	char note[HI_GRAPH_NOTE_SIZE], safe[2 * HI_GRAPH_NOTE_SIZE];
	enum hi_status status = HI_OK;

	if (o->drawing.like)
		status = read_like(o, &other, &like, err);
	if (status == HI_OK)
		status = read_series(o->argument, &series, err);
	options.like = like;
	if (status == HI_OK)
		status = hi_bands_create(series, &options, &bands, err);
	if (status == HI_OK)
		read_key(o->argument, series, &key);
	if (key)
		hi_bands_name_labels(bands, key);
	if (status == HI_OK)
		status = hi_graph_svg_write(bands, output->file, err);
	if (status != HI_OK)
		return status;
	hi_graph_note(bands, note);
	hi_text_escape(safe, sizeof(safe), note, strlen(note));
	if (!o->output.quiet)
		fprintf(stderr, "heapinspect: %s\n", safe);
	return HI_OK;
}

/* ---- one heap ---- */

static const double least_share = 0.0005;

static enum hi_status write_heap_graph(struct hi_inspection *in,
				       const struct hi_report_header *header,
				       struct hi_output *output, struct hi_error *err)
{
	const struct hi_drawing_options *drawing = &in->options->drawing;
	HI_GUARD(hi_merged_destroy) struct hi_merged *merged = NULL;
	HI_GUARD(hi_picture_destroy) struct hi_picture *picture = NULL;
	enum hi_status status = hi_inspect_merge(in, &merged, err);

	if (status == HI_OK)
		status = hi_picture_make(header, in->graph, merged, in->results.leaks,
					 drawing->has_min_share ? drawing->bands.min_share
								: least_share,
					 &picture, err);
	if (status == HI_OK)
		status = hi_picture_svg_write(
			picture, drawing->treemap ? HI_PICTURE_TREEMAP : HI_PICTURE_FLAME,
			output->file, err);
	if (status == HI_OK)
		status = hi_inspect_check(in, err);
	return status;
}

/* ---- the command line ---- */

/* A file of many censuses is drawn as a series, unless one of them is chosen. */
static int take_drawn_file(char *word, struct hi_options *o)
{
	const char *census = NULL;

	hi_operand_split_census(word, &census);
	return hi_snapshot_is_one(word) || (census && hi_snapshots_is_one(word))
		       ? hi_operand_take_snapshot(word, census, o)
		       : hi_operand_take_argument(word, census, o);
}

/* One heap is inspected; a series is read. */
static void settle_graph(struct hi_options *o)
{
	if (o->argument && o->target.census && hi_snapshots_is_one(o->argument)) {
		o->target.file = o->argument;
		o->argument = NULL;
	}
	if (o->target.pid || o->target.core || o->target.file)
		o->command = &hi_command_graph_heap;
}

static int check_drawn_heap(const struct hi_given *given)
{
	const char *argument = given->options->argument,
		   *of_series = hi_given_for(given, HI_FOR_SERIES);

	if (argument)
		return hi_option_wrong("%s: not a snapshot file, and there is another "
				       "target already",
				       argument);
	if (of_series)
		return hi_option_wrong("--%s: only for a series: a file of snap --every, "
				       "or FILE.hp",
				       of_series);
	return 0;
}

static int check_drawn_series(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const struct hi_bands_options *bands = &o->drawing.bands;
	const char *of_decoding = hi_given_for(given, HI_FOR_DECODING);

	if (!o->argument)
		return hi_option_wrong(
			"graph: give --pid N, --core FILE, a snapshot file "
			"or FILE.hp; see heapinspect graph --help");
	if (o->drawing.has_shape)
		return hi_option_wrong("--shape: only of one heap; %s is a series "
				       "(--census N selects a census of a snapshot file)",
				       o->argument);
	if (o->selection.has_born_by)
		return hi_option_wrong("--by context: only of one heap with a recording; "
				       "%s is a series",
				       o->argument);
	if (of_decoding)
		return hi_option_wrong("--%s: %s is a series, and not decoded",
				       of_decoding, o->argument);
	if (o->target.census)
		return hi_option_wrong("--census: %s is no file of many censuses",
				       o->argument);
	if (bands->to > 0 && bands->to < bands->from)
		return hi_option_wrong("--from and --to: the range is empty");
	return 0;
}

#define ABOUT                                                                            \
	.id = HI_COMMAND_GRAPH, .name = "graph", .arguments = "[FILE]",                  \
	.purpose = "Draw what a heap retains as a flame graph or a treemap, or a "       \
		   "series over time as stacked bands; one SVG file.",                   \
	.help = "One heap (--pid, --core, or a snapshot file) is drawn as a flame "      \
		"graph: below\n"                                                         \
		"each frame is what it retains, grouped by field and type. Of a file "   \
		"with many\n"                                                            \
		"censuses (snap --every), --census N draws one; without it, the series " \
		"is drawn\n"                                                             \
		"over time, and so is FILE.hp, a heap profile in GHC's format from any " \
		"program.\n"                                                             \
		"\n"                                                                     \
		"Examples:\n"                                                            \
		"  heapinspect graph --pid 4242 -o heap.svg\n"                           \
		"  heapinspect graph app.hisnap --shape treemap -o heap.svg\n"           \
		"  heapinspect graph app.hirec --by context -o sites.svg\n"              \
		"  heapinspect graph series.hisnap -o series.svg\n"                      \
		"  heapinspect graph after.hp --like before.hp -o after.svg\n"           \
		"  heapinspect graph series.hp --sort slope --from 30 -o growth.svg"

const struct hi_command hi_command_graph = {
	ABOUT,
	.run_alone = run_graph_command,
	.targets = "",
	.take_word = take_drawn_file,
	.settle = settle_graph,
	.check = check_drawn_series,
};

const struct hi_command hi_command_graph_heap = {
	ABOUT,
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS,
	.write = write_heap_graph,
	.check = check_drawn_heap,
};
