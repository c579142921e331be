/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/lives_of_file.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "session/era_choice.h"

enum hi_status hi_inspect_lives_if_any(struct hi_inspection *in,
				       const struct hi_bio_summary **ret,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!in->lives && in->source->stored)
		status = in->source->stored->read_lives(in, err);
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

/* Which of the eras count: the first one, then those that have begun. */
static enum hi_status choose_eras(const struct hi_bio_summary *lives, const char *text,
				  bool *counts, struct hi_error *err)
{
	struct hi_era_choice choice;
	enum hi_status status = hi_era_choice_parse(text, &choice, err);

	if (status != HI_OK)
		return status;
	counts[0] = hi_era_choice_begin(&choice, 1, "1");
	for (uint32_t i = 0; i < lives->n_eras; i++)
		counts[i + 1] = hi_era_choice_begin(&choice, lives->eras[i].era,
						    lives->eras[i].name);
	return hi_era_choice_check(&choice, lives->eras, lives->n_eras, err);
}

static bool is_era_counted(const struct hi_bio_summary *lives, const bool *counts,
			   uint32_t era)
{
	bool is_counted = era == 1 && counts[0];

	for (uint32_t i = 0; i < lives->n_eras; i++)
		is_counted |= lives->eras[i].era == era && counts[i + 1];
	return is_counted;
}

enum hi_status hi_lives_mark_eras(struct hi_inspection *in, const char *text,
				  uint64_t *bits, struct hi_error *err)
{
	const struct hi_bio_summary *lives = NULL;
	HI_GUARD(free) bool *counts = NULL;
	enum hi_status status = hi_inspect_lives(in, &lives, err);

	if (status == HI_OK && !lives->has_eras)
		status =
			hi_fail(err, HI_NOT_FOUND, 0,
				"--era: the file is of an earlier version, which did not "
				"keep the eras");
	if (status != HI_OK)
		return status;
	counts = hi_calloc((size_t)lives->n_eras + 1, sizeof(*counts));
	if (!counts)
		return hi_fail_memory(err, "eras of biographies");
	status = choose_eras(lives, text, counts, err);
	for (size_t i = 0; status == HI_OK && i < lives->n_lives; i++)
		if (is_era_counted(lives, counts, lives->lives[i].era))
			hi_bit_set(bits, lives->lives[i].object);
	return status;
}
