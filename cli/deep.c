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
#include "census/deep/merge.h"
#include "report/views/deep_report.h"
#include "session/deep/build.h"
#include "session/inspect.h"
#include "session/lookup.h"

enum { MOST_CONTOUR = 1 << 20, TOP = 20 };
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
static bool take_deep_file(char *word, struct hi_deep_file *ret)
{
	char *at = strrchr(word, '@');

	*ret = (struct hi_deep_file){.path = word};
	if (is_deep_file(word))
		return true;
	if (!at || at == word || !at[1])
		return false;
	*at = '\0';
	ret->census = at + 1;
	if (is_deep_file(word))
		return true;
	*at = '@';
	return false;
}

static bool take_deep_verb(const char *word, struct hi_deep_operands *to)
{
	static const char *const verbs[] = {[HI_DEEP_VERB_QUERY] = "query",
					    [HI_DEEP_VERB_MERGE] = "merge",
					    [HI_DEEP_VERB_DIFF] = "diff",
					    [HI_DEEP_VERB_ADVISE] = "advise"};

	for (unsigned i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!to->has_verb && strcmp(word, verbs[i]) == 0) {
			to->verb = (enum hi_deep_verb)i;
			to->has_verb = true;
			return true;
		}
	return false;
}

int hi_deep_take_operand(char *word, struct hi_deep_operands *to)
{
	struct hi_deep_file file;

	if (take_deep_verb(word, to))
		return 0;
	if (take_deep_file(word, &file)) {
		if (to->n_files == 2)
			return hi_option_wrong("%s: there are two files already", word);
		to->files[to->n_files++] = file;
		return 0;
	}
	if (access(word, F_OK) == 0)
		return hi_option_wrong("%s: neither a recording of heapinspect record "
				       "nor a Deep.data of Mercury",
				       word);
	if (to->query)
		return hi_option_wrong("%s: there is the query %s already", word,
				       to->query);
	to->query = word;
	return 0;
}

int hi_deep_check_operands(const struct hi_deep_operands *o)
{
	unsigned wanted =
		o->verb == HI_DEEP_VERB_MERGE || o->verb == HI_DEEP_VERB_DIFF ? 2 : 1;

	if (o->n_files < wanted && o->query && strchr(o->query, '.'))
		return hi_option_wrong("%s: no such file", o->query);
	if (o->n_files < wanted)
		return hi_option_wrong("deep: %s is missing; see heapinspect deep --help",
				       wanted == 2 ? "one of two files" : "FILE");
	if (o->n_files > wanted)
		return hi_option_wrong("%s and %s: two files only with merge or diff",
				       o->files[0].path, o->files[1].path);
	return 0;
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
					    const struct hi_deep_file *from,
					    struct hi_deep_profile *ret,
					    struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct hi_options o = *options;
	enum hi_status status;

	o.argument = NULL;
	o.target.file = from->path;
	o.target.census = from->census;
	status = hi_inspect_open(&o, HI_WANT_DOMINATORS, &in, err);
	return status == HI_OK ? hi_deep_build(in, ret, err) : status;
}

static enum hi_status read_deep_profile(const struct hi_options *options,
					const struct hi_deep_file *from,
					struct hi_deep_profile *ret, struct hi_error *err)
{
	return is_mercury_file(from->path)
		       ? open_mercury_file(from->path, ret, err)
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

static uint32_t count_deep_rows(const struct hi_options *options)
{
	return (uint32_t)hi_lookup_top(options, TOP);
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
		status = options->deep.operands.verb == HI_DEEP_VERB_ADVISE
				 ? hi_deep_advice_report(&index, query,
							 count_deep_rows(options),
							 &report, err)
				 : hi_deep_report_create(&index, query, &report, err);
	if (status == HI_OK)
		status = write_deep_report(options, report, output, err);
	hi_deep_contour_free(&contour);
	hi_deep_index_free(&index);
	return status;
}

/* ---- two profiles ---- */

struct two_profiles {
	struct hi_deep_profile of[2];
};

static void free_two_profiles(struct two_profiles *two)
{
	hi_deep_profile_free(&two->of[0]);
	hi_deep_profile_free(&two->of[1]);
}

static enum hi_status read_two_profiles(const struct hi_options *options,
					struct two_profiles *ret, struct hi_error *err)
{
	const struct hi_deep_file *files = options->deep.operands.files;
	enum hi_status status;

	*ret = (struct two_profiles){};
	status = read_deep_profile(options, &files[0], &ret->of[0], err);
	if (status != HI_OK)
		return status;
	status = read_deep_profile(options, &files[1], &ret->of[1], err);
	if (status != HI_OK)
		hi_deep_profile_free(&ret->of[0]);
	return status;
}

static enum hi_status merge_deep_files(const struct hi_options *options,
				       struct hi_deep_profile *ret, struct hi_error *err)
{
	struct two_profiles two;
	enum hi_status status = read_two_profiles(options, &two, err);

	if (status != HI_OK)
		return status;
	status = hi_deep_profile_merge(&two.of[0], &two.of[1], ret, err);
	free_two_profiles(&two);
	return status;
}

static enum hi_status diff_deep_files(const struct hi_options *options,
				      const struct hi_deep_query *query,
				      struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_deep_report_destroy) struct hi_deep_report *report = NULL;
	struct two_profiles two;
	struct hi_deep_diff diff;
	enum hi_status status = read_two_profiles(options, &two, err);

	if (status != HI_OK)
		return status;
	status = hi_deep_diff(&two.of[0], &two.of[1], &diff, err);
	free_two_profiles(&two);
	if (status != HI_OK)
		return status;
	status =
		hi_deep_diff_report(&diff, query, count_deep_rows(options), &report, err);
	if (status == HI_OK)
		status = write_deep_report(options, report, output, err);
	hi_deep_diff_free(&diff);
	return status;
}

/* ---- all of it ---- */

static enum hi_status read_asked_profile(const struct hi_options *options,
					 struct hi_deep_profile *ret,
					 struct hi_error *err)
{
	const struct hi_deep_operands *o = &options->deep.operands;

	return o->verb == HI_DEEP_VERB_MERGE
		       ? merge_deep_files(options, ret, err)
		       : read_deep_profile(options, &o->files[0], ret, err);
}

static enum hi_status run_deep_command(const struct hi_options *options,
				       struct hi_output *output, struct hi_error *err)
{
	const struct hi_deep_operands *o = &options->deep.operands;
	struct hi_deep_profile profile;
	struct hi_deep_query query;
	enum hi_status status = HI_OK;

	hi_deep_query_init(&query);
	if (o->query)
		status = hi_deep_query_parse(o->query, &query, err);
	if (status != HI_OK)
		return status;
	if (options->deep.contour)
		query.contour = query.prefs.contour = true;
	if (o->verb == HI_DEEP_VERB_DIFF)
		return diff_deep_files(options, &query, output, err);
	status = read_asked_profile(options, &profile, err);
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
	.arguments = "[query|merge|diff|advise] FILE [FILE] [QUERY]",
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
		"  heapinspect deep diff app.hirec@1 app.hirec\n"
		"  heapinspect deep merge monday.hirec tuesday.hirec root/90\n"
		"  heapinspect deep advise app.hirec\n"
		"  heapinspect deep app.hirec --format mercury -o Deep.data",
	.run_alone = run_deep_command,
};
