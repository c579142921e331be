/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/baseline.h"

#include <string.h>

#include "cli/heading.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Another build of a program is this program; it may lie elsewhere, too. */
static bool is_same_program(const struct hi_head *a, const struct hi_head *b)
{
	return strcmp(base_name(a->exe), base_name(b->exe)) == 0;
}

bool hi_baseline_is_same_process(const struct hi_head *a, const struct hi_head *b)
{
	return a->pid && a->pid == b->pid && strcmp(a->exe, b->exe) == 0 &&
	       strcmp(a->build_id, b->build_id) == 0;
}

enum hi_status hi_baseline_open(const struct hi_inspection *in,
				const struct hi_head *head, unsigned wanted,
				struct hi_baseline *ret, struct hi_error *err)
{
	enum hi_status status;

	*ret = (struct hi_baseline){.options = *in->options};
	ret->options.file = in->options->baseline;
	ret->options.census = in->options->baseline_census;
	ret->options.pid = 0;
	ret->options.core = ret->options.exe = NULL;
	ret->options.profile.n_roots = 0; /* they are of the other one */
	status = hi_inspect_open(&ret->options, wanted, &ret->in, err);
	if (status == HI_OK)
		status = hi_heading_make(ret->in, &ret->head, err);
	if (status == HI_OK && !in->options->force && !is_same_program(head, &ret->head))
		status =
			hi_fail(err, HI_USAGE, 0,
				"%.60s is of another program (%.40s, not %.40s); --force "
				"compares all the same",
				in->options->baseline, base_name(ret->head.exe),
				base_name(head->exe));
	return status;
}

void hi_baseline_close(struct hi_baseline *b)
{
	hi_inspect_close(b->in);
	b->in = NULL;
}
