/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/user.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command/complaints.h"
#include "cli/command/progress.h"
#include "report/json_writer.h"
#include "session/options.h"
#include "session/user.h"

static void print_user_line(const char *text)
{
	char safe[2048];

	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

static void print_root_json(const struct hi_root_text *root, size_t column,
			    const char *why)
{
	struct hi_json json;

	hi_json_init(&json, stdout);
	hi_json_object(&json, NULL);
	hi_json_text(&json, "schema", "heapinspect/error/v1");
	hi_json_text(&json, "error", why);
	hi_json_text(&json, "root", root->name);
	hi_json_text(&json, "expression", root->expression);
	hi_json_number(&json, "column", column);
	hi_json_end(&json);
	(void)hi_json_finish(&json);
}

static void print_wrong_root(const struct hi_options *o, const struct hi_root_text *root,
			     size_t column, struct hi_error *err)
{
	char why[4 * sizeof(err->text)], name[200];

	hi_text_escape(why, sizeof(why), err->text, strlen(err->text));
	hi_text_escape(name, sizeof(name), root->name, strlen(root->name));
	if (root->name == root->expression)
		fprintf(hi_complaints(), "heapinspect: explain: %s\n", why);
	else
		fprintf(hi_complaints(), "heapinspect: --root %s: %s\n", name, why);
	hi_complaints_point_at(root->expression, column);
	if (o->output.json && hi_complaints() == stderr &&
	    (!o->output.file || strcmp(o->output.file, "-") == 0))
		print_root_json(root, column, err->text);
	err->text[0] = 0;
}

static const struct hi_user_ops cli_user = {.line = print_user_line,
					    .wrong_root = print_wrong_root,
					    .start_progress = hi_progress_start,
					    .show_phase = hi_progress_phase,
					    .end_progress = hi_progress_end};

void hi_cli_user_be(void)
{
	hi_user_be(&cli_user);
}
