/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/deep/deep_profile.h"

bool hi_deep_profile_intern(struct hi_deep_profile *profile, const char *text,
			    uint32_t *ret)
{
	*ret = *text ? hi_interner_add(&profile->texts, text) : 0;
	return *ret || !*text;
}

enum hi_status hi_deep_profile_init(struct hi_deep_profile *ret, struct hi_error *err)
{
	struct hi_deep_procedure root = {};

	*ret = (struct hi_deep_profile){};
	if (hi_deep_profile_intern(ret, "(root)", &root.name) &&
	    hi_vector_push(&ret->functions, root) &&
	    hi_vector_push(&ret->sites,
			   (struct hi_deep_call_site){.kind = HI_DEEP_CALLBACK,
						      .callee = HI_DEEP_NONE}))
		return HI_OK;
	hi_deep_profile_free(ret);
	return hi_fail_memory(err, "deep profile");
}

void hi_deep_profile_free(struct hi_deep_profile *profile)
{
	hi_interner_free(&profile->texts);
	hi_vector_free(&profile->functions);
	hi_vector_free(&profile->sites);
	hi_deep_graph_free(&profile->graph);
	hi_deep_depths_free(&profile->depths);
}

const char *hi_deep_profile_text(const struct hi_deep_profile *profile, uint32_t text)
{
	return hi_interner_name(&profile->texts, text);
}
