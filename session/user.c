/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/user.h"

static const struct hi_user_ops nobody;
static const struct hi_user_ops *user = &nobody;

void hi_user_be(const struct hi_user_ops *ops)
{
	user = ops ? ops : &nobody;
}

void hi_user_tell(const char *line)
{
	if (user->line)
		user->line(line);
}

enum hi_status hi_user_refuse_root(const struct hi_options *options,
				   const struct hi_root_text *root, size_t column,
				   struct hi_error *err)
{
	if (user->wrong_root)
		user->wrong_root(options, root, column, err);
	return HI_USAGE;
}

struct hi_progress *hi_user_start_progress(void)
{
	return user->start_progress ? user->start_progress() : NULL;
}

void hi_user_show_phase(struct hi_progress *progress, const char *name)
{
	if (user->show_phase)
		user->show_phase(progress, name);
}

void hi_user_end_progress(struct hi_progress *progress)
{
	if (user->end_progress)
		user->end_progress(progress);
}
