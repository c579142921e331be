/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/kept.h"

enum hi_status hi_inspect_lives_if_any(struct hi_inspection *in,
				       const struct hi_bio_summary **ret,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!in->lives)
		status = in->source->read_lives(in, err);
	*ret = in->lives;
	return status == HI_NOT_FOUND ? HI_OK : status;
}

enum hi_status hi_inspect_lives(struct hi_inspection *in,
				const struct hi_bio_summary **ret, struct hi_error *err)
{
	enum hi_status status = hi_inspect_lives_if_any(in, ret, err);

	if (status != HI_OK || *ret)
		return status;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%.120s has no biographies of its objects: make a file that has "
		       "them with heapinspect bio --pid N -o FILE",
		       in->options->target.file ? in->options->target.file
						: "this target");
}
