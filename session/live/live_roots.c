/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_roots.h"

#include "session/live/root_check.h"

enum hi_status hi_live_roots_open(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	size_t wrong = 0, column = 0;
	enum hi_status status;

	if (!p->n_roots)
		return HI_OK;
	status = hi_named_roots_open(in->image, in->decoders.modules, in->decoders.types,
				     p->roots, p->n_roots, &in->profile.roots, &wrong,
				     &column, err);
	return status == HI_USAGE
		       ? hi_inspection_wrong_root(in, &p->roots[wrong], column, err)
		       : status;
}

enum hi_status hi_live_roots_check(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	size_t wrong = 0, column = 0;
	enum hi_status status;

	if (!p->n_roots)
		return HI_OK;
	status = hi_root_check(in->stop.target, p->roots, p->n_roots, &wrong, &column,
			       err);
	return status == HI_USAGE
		       ? hi_inspection_wrong_root(in, &p->roots[wrong], column, err)
		       : status;
}
