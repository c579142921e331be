/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `graph`: draws a heap profile (.hp). It inspects no process. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/views/graph_svg.h"
#include "session/series/file.h"

HI_DEFINE_GUARD(struct hi_hp_series *, hi_hp_series_destroy)
HI_DEFINE_GUARD(struct hi_bands *, hi_bands_destroy)
HI_DEFINE_GUARD(struct hi_hp_key *, hi_hp_key_destroy)

/* A heap profile, or the censuses of a snapshot file as one; *key_ret then has the whole
 * names, -1: nothing has. */
static enum hi_status read_series(const char *path, struct hi_hp_series **ret,
				  int *key_ret, struct hi_error *err)
{
	__attribute__((cleanup(hi_guard_close))) int fd = -1;
	enum hi_status status;
	char name[64];

	if (!hi_snapshots_is_one(path))
		return hi_hp_read(path, ret, err);
	fd = memfd_create("series", MFD_CLOEXEC);
	*key_ret = memfd_create("key", MFD_CLOEXEC);
	if (fd < 0 || *key_ret < 0)
		return hi_fail_errno(err, "heap profile");
	status = hi_series_file_profile(path, fd, *key_ret, err);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return status == HI_OK ? hi_hp_read(name, ret, err) : status;
}

/* The bands of the other profile, in its own scale. */
static enum hi_status read_like(const struct hi_options *o, struct hi_hp_series **series,
				struct hi_bands **bands, struct hi_error *err)
{
	__attribute__((cleanup(hi_guard_close))) int key = -1;
	enum hi_status status = read_series(o->drawing.like, series, &key, err);

	if (status == HI_OK)
		status = hi_bands_create(*series, &o->drawing.bands, bands, err);
	return status;
}

/* FILE.prof beside FILE.hp has the whole names; a series without it is drawn too. */
static void read_key(const char *path, int key_fd, const struct hi_hp_series *series,
		     struct hi_hp_key **ret)
{
	HI_GUARD(free) char *name = NULL;
	size_t n = strlen(path);

	if (key_fd >= 0) {
		char own[64];

		snprintf(own, sizeof(own), "/proc/self/fd/%d", key_fd);
		if (hi_hp_key_read(own, series, ret, NULL) != HI_OK)
			*ret = NULL;
		return;
	}
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
	__attribute__((cleanup(hi_guard_close))) int key_fd = -1;
	enum hi_status status = HI_OK;

	if (o->drawing.like)
		status = read_like(o, &other, &like, err);
	if (status == HI_OK)
		status = read_series(o->argument, &series, &key_fd, err);
	options.like = like;
	if (status == HI_OK)
		status = hi_bands_create(series, &options, &bands, err);
	if (status == HI_OK)
		read_key(o->argument, key_fd, series, &key);
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

const struct hi_command hi_command_graph = {
	.id = HI_COMMAND_GRAPH,
	.name = "graph",
	.arguments = "FILE.hp",
	.purpose = "Draw a heap profile over time as stacked bands, in one SVG file. No "
		   "process is needed.",
	.help = "FILE is a heap profile in GHC's format, from any program, or a file of\n"
		"snap --every. Long names are read from the key FILE.prof, if "
		"heapinspect has\n"
		"written one beside the heap profile.\n"
		"\n"
		"Examples:\n"
		"  heapinspect graph series.hp -o series.svg\n"
		"  heapinspect graph series.hisnap -o series.svg\n"
		"  heapinspect graph after.hp --like before.hp -o after.svg\n"
		"  heapinspect graph series.hp --sort slope --from 30 -o growth.svg",
	.run_alone = run_graph_command,
};
