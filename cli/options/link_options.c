/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/link_options.h"

enum { MOST = HI_ADDRESS_OPTIONS + 1 }; /* one more than fits: then there is no link */

struct taken {
	struct hi_address_option *items;
	size_t count;
};

static void take_link_option(struct taken *t, const char *name, const char *value)
{
	if (t->count < MOST && value)
		t->items[t->count++] = (struct hi_address_option){name, value};
}

/* False: out of memory. */
static bool take_link_roots(struct hi_inspection *in, struct taken *t)
{
	const struct hi_profile_options *p = &in->options->profile;

	for (size_t i = 0; i < p->n_roots && t->count < MOST; i++) {
		const char *text = hi_arena_printf(&in->arena, "%s=%s", p->roots[i].name,
						   p->roots[i].expression);

		if (!text)
			return false;
		take_link_option(t, "root", text);
	}
	return true;
}

static bool begin_link_options(struct hi_inspection *in, struct taken *t)
{
	*t = (struct taken){.items =
				    hi_arena_alloc(&in->arena, MOST * sizeof(*t->items))};
	return t->items && take_link_roots(in, t);
}

enum hi_status hi_link_options_of_roots(struct hi_inspection *in,
					struct hi_link_options *ret, struct hi_error *err)
{
	struct taken t;

	if (!begin_link_options(in, &t))
		return hi_fail_memory(err, "links");
	*ret = (struct hi_link_options){t.items, t.count};
	return HI_OK;
}

enum hi_status hi_link_options_of(struct hi_inspection *in, struct hi_link_options *ret,
				  struct hi_error *err)
{
	static const char *const identities[] = {"type", "var", "site", "module", "addr"};
	const struct hi_profile_options *p = &in->options->profile;
	struct taken t;

	if (!begin_link_options(in, &t))
		return hi_fail_memory(err, "links");
	for (size_t i = 0; i < p->n_retainers; i++)
		take_link_option(&t, "retainer", p->retainers[i]);
	take_link_option(&t, "join", p->join);
	if (p->identity)
		take_link_option(&t, "identity", identities[p->identity]);
	if (p->max_set)
		take_link_option(&t, "max-set",
				 hi_arena_printf(&in->arena, "%u", p->max_set));
	if (p->weak_as_roots)
		take_link_option(&t, "weak-as-roots", "");
	*ret = (struct hi_link_options){t.items, t.count};
	return HI_OK;
}
