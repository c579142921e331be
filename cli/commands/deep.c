/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `deep`: what each function costs in each calling context. Its operands are
 * files and a query, in any order: a word that is a file is one.
 */
#include "cli/commands/deep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/options/near_files.h"
#include "cli/options/option_take.h"
#include "report/reports/deep/deep_report.h"
#include "session/deep/read.h"
#include "session/operands.h"

enum { TOP = 20, TOP_CHECKED = 1000 };

HI_DEFINE_GUARD(struct hi_deep_report *, hi_deep_report_destroy)

/* ---- operands ---- */

/* FILE@CENSUS; the census is NULL if there is none. */
static bool take_deep_file(char *word, struct hi_deep_file *ret)
{
	char *at = strrchr(word, '@');

	*ret = (struct hi_deep_file){.path = word};
	if (hi_deep_is_file(word))
		return true;
	if (!at || at == word || !at[1])
		return false;
	*at = '\0';
	ret->census = at + 1;
	if (hi_deep_is_file(word))
		return true;
	*at = '@';
	return false;
}

static bool take_deep_verb(const char *word, struct hi_deep_operands *to)
{
	static const char *const verbs[] = {[HI_DEEP_VERB_QUERY] = "query",
					    [HI_DEEP_VERB_MERGE] = "merge",
					    [HI_DEEP_VERB_DIFF] = "diff",
					    [HI_DEEP_VERB_ADVISE] = "advise",
					    [HI_DEEP_VERB_CHECK] = "check"};

	for (unsigned i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!to->has_verb && strcmp(word, verbs[i]) == 0) {
			to->verb = (enum hi_deep_verb)i;
			to->has_verb = true;
			return true;
		}
	return false;
}

static int take_deep_word(char *word, struct hi_options *o)
{
	struct hi_deep_operands *to = &o->deep.operands;
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
		return !to->n_files && access(to->query, F_OK) != 0
			       ? hi_option_no_file(to->query)
			       : hi_option_wrong("%s: there is the query %s already",
						 word, to->query);
	to->query = word;
	return 0;
}

static int check_deep(const struct hi_given *given)
{
	const struct hi_deep_operands *o = &given->options->deep.operands;
	unsigned wanted =
		o->verb == HI_DEEP_VERB_MERGE || o->verb == HI_DEEP_VERB_DIFF ? 2 : 1;

	if (given->options->output.format && o->query)
		return hi_option_wrong("--format mercury: not with a query, it has no "
				       "reports");
	if (o->n_files < wanted && o->query && strchr(o->query, '.'))
		return hi_option_no_file(o->query);
	if (o->n_files < wanted)
		return hi_option_wrong("deep: %s is missing; see heapinspect deep --help",
				       wanted == 2 ? "one of two files" : "FILE");
	if (o->n_files > wanted)
		return hi_option_wrong("%s and %s: two files only with merge or diff",
				       o->files[0].path, o->files[1].path);
	return 0;
}

/* ---- reports ---- */

static void warn_of_contour(const struct hi_options *options,
			    const struct hi_deep_contour *contour)
{
	if (options->deep.contour && contour->n_unknown)
		fprintf(stderr,
			"heapinspect: --contour: %u of %u lines name a module that the "
			"profile does not have: %s\n",
			contour->n_unknown, contour->n_lines, contour->first_unknown);
}

/* Also beside answers in which it is not seen. */
static void warn_of_profile(const struct hi_options *options,
			    const struct hi_deep_profile *profile)
{
	char path[512];
	const char *text = hi_deep_profile_text(profile, profile->first_missing);

	if (options->output.quiet)
		return;
	if (profile->lacks_end)
		fprintf(stderr, "heapinspect: the file ends without its end token: it "
				"may be truncated\n");
	hi_text_escape(path, sizeof(path), text, strlen(text));
	if (profile->n_missing)
		fprintf(stderr,
			"heapinspect: %" PRIu32 " of the modules are not here, or are of "
			"another build (%s): kinds of their calls, and which of their "
			"functions are exported, are unknown\n",
			profile->n_missing, path);
}

static enum hi_status fill_deep_report(void *report, struct hi_page *page,
				       struct hi_json *json, struct hi_error *)
{
	if (json)
		hi_deep_json(report, json);
	else
		hi_deep_display(report, page);
	return HI_OK;
}

/* Before a file is read. */
static enum hi_status check_deep_query(const struct hi_options *options,
				       struct hi_error *err)
{
	struct hi_deep_query query;

	return options->deep.operands.query
		       ? hi_deep_query_parse(options->deep.operands.query, &query, err)
		       : HI_OK;
}

static enum hi_status ask_kept(struct hi_deep_kept *kept,
			       const struct hi_options *options,
			       struct hi_deep_report **ret, struct hi_error *err)
{
	size_t usual =
		options->deep.operands.verb == HI_DEEP_VERB_CHECK ? TOP_CHECKED : TOP;
	enum hi_status status = check_deep_query(options, err);

	if (status == HI_OK)
		status = hi_deep_kept_open(kept, options, err);
	return status == HI_OK
		       ? hi_deep_kept_report(kept, options,
					     (uint32_t)hi_lookup_top(options, usual), ret,
					     err)
		       : status;
}

enum hi_status hi_deep_page(const struct hi_options *options, struct hi_deep_kept *kept,
			    struct hi_page *page, struct hi_error *err)
{
	HI_GUARD(hi_deep_report_destroy) struct hi_deep_report *report = NULL;
	enum hi_status status = ask_kept(kept, options, &report, err);

	if (status == HI_OK)
		hi_deep_display(report, page);
	return status;
}

static enum hi_status export_deep_profile(struct hi_deep_kept *kept,
					  const struct hi_options *options,
					  struct hi_output *output, struct hi_error *err)
{
	enum hi_status status = hi_deep_kept_open(kept, options, err);

	return status == HI_OK ? hi_deep_mercury_write(&kept->profile, output->file, err)
			       : status;
}

static enum hi_status answer_kept(const struct hi_options *options,
				  struct hi_deep_kept *kept, struct hi_output *output,
				  struct hi_error *err)
{
	HI_GUARD(hi_deep_report_destroy) struct hi_deep_report *report = NULL;
	enum hi_status status;

	if (options->output.format && options->deep.operands.verb != HI_DEEP_VERB_DIFF)
		return export_deep_profile(kept, options, output, err);
	status = ask_kept(kept, options, &report, err);
	if (status != HI_OK)
		return status;
	warn_of_contour(options, &kept->contour);
	warn_of_profile(options, &kept->profile);
	output->has_finding = report->n_failed;
	return hi_write_filled(options, output, fill_deep_report, report, err);
}

static enum hi_status run_deep_command(const struct hi_options *options,
				       struct hi_output *output, struct hi_error *err)
{
	struct hi_deep_kept kept = {};
	enum hi_status status = answer_kept(options, &kept, output, err);

	hi_deep_kept_free(&kept);
	return status;
}

const struct hi_command hi_command_deep = {
	.id = HI_COMMAND_DEEP,
	.name = "deep",
	.arguments = "[query|merge|diff|advise|check] FILE [FILE] [QUERY]",
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
		"  heapinspect deep check app.hirec\n"
		"  heapinspect deep app.hirec --format mercury -o Deep.data",
	.run_alone = run_deep_command,
	.run_kept = answer_kept,
	.targets = "",
	.take_word = take_deep_word,
	.check = check_deep,
	.page = HI_COMMAND_PAGE_OF_DEEP,
};
