/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `deep`: what each function costs in each calling context. Its operands are
 * files and a query, in any order: a word that is a file is one.
 */
#include "cli/deep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "report/views/deep_report.h"
#include "session/deep/build.h"
#include "session/inspect.h"

enum { MOST_CONTOUR = 1 << 20 };
#define MOST_DATA (1ull << 32)

HI_DEFINE_GUARD(struct hi_page *, hi_page_destroy)
HI_DEFINE_GUARD(struct hi_inspection *, hi_inspect_close)
HI_DEFINE_GUARD(struct hi_deep_report *, hi_deep_report_destroy)

/* ---- operands ---- */

/* By its first bytes; any version. */
static bool is_mercury_file(const char *word)
{
	static const char id[] = "Mercury deep profiler data version ";
	char head[sizeof(id)] = "";
	int fd = hi_files_open(word);
	bool is = fd >= 0 && read(fd, head, sizeof(id) - 1) == sizeof(id) - 1 &&
		  strcmp(head, id) == 0;

	hi_close_fd(fd);
	return is;
}

static bool is_deep_file(const char *word)
{
	return hi_snapshot_is_one(word) || hi_snapshots_is_one(word) ||
	       is_mercury_file(word);
}

/* FILE@CENSUS; the census is NULL if there is none. */
static bool take_deep_file(char *word, struct hi_deep_operands *to)
{
	char *at = strrchr(word, '@');

	to->census = NULL;
	if (is_deep_file(word)) {
		to->file = word;
		return true;
	}
	if (!at || at == word || !at[1])
		return false;
	*at = '\0';
	if (is_deep_file(word)) {
		to->file = word;
		to->census = at + 1;
		return true;
	}
	*at = '@';
	return false;
}

int hi_deep_take_operand(char *word, struct hi_deep_operands *to)
{
	struct hi_deep_operands found = *to;

	if (take_deep_file(word, &found)) {
		if (to->file)
			return hi_option_wrong("%s and %s: one file at a time", to->file,
					       word);
		*to = found;
		return 0;
	}
	if (access(word, F_OK) == 0)
		return hi_option_wrong("%s: neither a recording of heapinspect record "
				       "nor a Deep.data of Mercury",
				       word);
	if (!to->query && strcmp(word, "query") == 0)
		return 0;
	if (to->query)
		return hi_option_wrong("%s: there is the query %s already", word,
				       to->query);
	to->query = word;
	return 0;
}

int hi_deep_check_operands(const struct hi_deep_operands *operands)
{
	if (operands->file)
		return 0;
	if (operands->query && strchr(operands->query, '.'))
		return hi_option_wrong("%s: no such file", operands->query);
	return hi_option_wrong("deep: FILE is missing; see heapinspect deep --help");
}

/* ---- files ---- */

/* Of at most so many bytes; free it. */
static enum hi_status read_deep_file(const char *path, uint64_t most, uint8_t **data_ret,
				     size_t *size_ret, struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	struct stat st;
	size_t size, n = 0;

	if (fd < 0 || fstat(fd, &st) != 0)
		return hi_fail(err, errno == ENOENT ? HI_NOT_FOUND : HI_OS, errno,
			       "%.200s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
		return hi_fail(err, HI_LIMIT, 0,
			       "%.200s: not a file of at most %llu bytes", path,
			       (unsigned long long)most);
	size = (size_t)st.st_size;
	*data_ret = hi_calloc(1, size + 1);
	if (!*data_ret)
		return hi_fail_memory(err, "file");
	while (n < size) {
		ssize_t more = read(fd, *data_ret + n, size - n);

		if (more < 0)
			return hi_fail(err, HI_OS, errno, "%.200s: %s", path,
				       strerror(errno));
		if (more == 0)
			break;
		n += (size_t)more;
	}
	*size_ret = n;
	return HI_OK;
}

static enum hi_status open_mercury_file(const char *path, struct hi_deep_profile *ret,
					struct hi_error *err)
{
	HI_GUARD(free) uint8_t *data = NULL;
	size_t size = 0;
	enum hi_status status = read_deep_file(path, MOST_DATA, &data, &size, err);

	return status == HI_OK ? hi_deep_mercury_read(data, size, ret, err) : status;
}

static enum hi_status read_recorded_profile(const struct hi_options *options,
					    const struct hi_deep_operands *from,
					    struct hi_deep_profile *ret,
					    struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct hi_options o = *options;
	enum hi_status status;

	o.argument = NULL;
	o.target.file = from->file;
	o.target.census = from->census;
	status = hi_inspect_open(&o, HI_WANT_DOMINATORS, &in, err);
	return status == HI_OK ? hi_deep_build(in, ret, err) : status;
}

static enum hi_status read_deep_profile(const struct hi_options *options,
					const struct hi_deep_operands *from,
					struct hi_deep_profile *ret, struct hi_error *err)
{
	return is_mercury_file(from->file)
		       ? open_mercury_file(from->file, ret, err)
		       : read_recorded_profile(options, from, ret, err);
}

/* ---- reports ---- */

static enum hi_status read_contour(const char *path,
				   const struct hi_deep_profile *profile,
				   struct hi_deep_contour *ret, struct hi_error *err)
{
	HI_GUARD(free) uint8_t *text = NULL;
	size_t size = 0;
	enum hi_status status = read_deep_file(path, MOST_CONTOUR, &text, &size, err);

	if (status == HI_OK)
		status = hi_deep_contour_parse(profile, (const char *)text, size, ret,
					       err);
	if (status == HI_OK && ret->n_unknown)
		fprintf(stderr,
			"heapinspect: --contour: %u of %u lines name a module that the "
			"profile does not have: %s\n",
			ret->n_unknown, ret->n_lines, ret->first_unknown);
	return status;
}

static enum hi_status write_deep_report(const struct hi_options *options,
					const struct hi_deep_report *report,
					struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = NULL;
	struct hi_json json;

	if (options->output.json) {
		hi_json_init(&json, output->file);
		hi_deep_json(report, &json);
		return hi_json_finish(&json) ? HI_OK : hi_fail_memory(err, "JSON");
	}
	page = hi_page_create();
	if (!page)
		return hi_fail_memory(err, "page");
	hi_deep_display(report, page);
	return hi_output_page(output, options, page, err);
}

static enum hi_status report_deep_profile(const struct hi_options *options,
					  const struct hi_deep_profile *profile,
					  const struct hi_deep_query *query,
					  struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_deep_report_destroy) struct hi_deep_report *report = NULL;
	struct hi_deep_contour contour = {};
	struct hi_deep_index index = {};
	enum hi_status status = hi_deep_index_create(profile, &index, err);

	if (status == HI_OK && options->deep.contour) {
		status = read_contour(options->deep.contour, profile, &contour, err);
		index.contour = &contour;
	}
	if (status == HI_OK)
		status = hi_deep_report_create(&index, query, &report, err);
	if (status == HI_OK)
		status = write_deep_report(options, report, output, err);
	hi_deep_contour_free(&contour);
	hi_deep_index_free(&index);
	return status;
}

static enum hi_status run_deep_command(const struct hi_options *options,
				       struct hi_output *output, struct hi_error *err)
{
	struct hi_deep_profile profile;
	struct hi_deep_query query;
	enum hi_status status;

	hi_deep_query_init(&query);
	if (options->deep.operands.query) {
		status = hi_deep_query_parse(options->deep.operands.query, &query, err);
		if (status != HI_OK)
			return status;
	}
	if (options->deep.contour)
		query.contour = query.prefs.contour = true;
	status = read_deep_profile(options, &options->deep.operands, &profile, err);
	if (status != HI_OK)
		return status;
	status = options->output.format
			 ? hi_deep_mercury_write(&profile, output->file, err)
			 : report_deep_profile(options, &profile, &query, output, err);
	hi_deep_profile_free(&profile);
	return status;
}

const struct hi_command hi_command_deep = {
	.id = HI_COMMAND_DEEP,
	.name = "deep",
	.arguments = "FILE [QUERY]",
	.purpose = "Show what each function costs in each calling context, by itself and "
		   "with all that it calls.",
	.help = "FILE is a recording (heapinspect record -o FILE), a census of one\n"
		"(FILE@2), or a Deep.data of Mercury's deep profiler. Functions that "
		"call\n"
		"each other in a circle are a clique; a recursive call leads back to the "
		"node\n"
		"that is active. Without QUERY: menu, which has the others.\n"
		"\n"
		"Examples:\n"
		"  heapinspect record --pid 4242 --for 60s -o app.hirec\n"
		"  heapinspect deep app.hirec\n"
		"  heapinspect deep app.hirec root/90\n"
		"  heapinspect deep app.hirec top_procs/1-20/live_bytes/both/oa\n"
		"  heapinspect deep app.hirec proc/7 --json\n"
		"  heapinspect deep app.hirec --format mercury -o Deep.data",
	.run_alone = run_deep_command,
};
