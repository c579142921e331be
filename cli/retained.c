/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/words.h"
#include "report/retained_report.h"

enum { TOP = 15 };

/* Exact where one type is asked for: a walk that leaves its objects out. */
static enum hi_status exact_bytes(struct hi_inspection *in, const struct hi_type_set *set,
				  uint64_t *ret, struct hi_error *err)
{
	*ret = UINT64_MAX;
	if (set->count != 1)
		return HI_OK;
	for (uint32_t i = 0; i < set->n_types; i++)
		if (set->has[i])
			return hi_census_retained_by_type(in->graph, in->reach, i, ret,
							  err);
	return HI_OK;
}

/* Objects get a name: the way from a root for those on top, how the parent leads
 * there for the others. Each may cost a search: only for what a person reads. */
static void name_rows(struct hi_inspection *in, struct hi_retained_report *r)
{
	enum { NAMED = 200, DEEPEST = 16 };
	hi_node above[DEEPEST] = {};

	for (size_t i = 0; r->tree && i < r->n_rows && i < NAMED; i++) {
		struct hi_node_info *info = &r->rows[i].info;
		unsigned depth = r->rows[i].depth;

		if (depth >= DEEPEST)
			continue;
		above[depth] = info->node;
		if (info->sort != HI_NODE_OBJECT)
			continue;
		info->name = depth ? hi_words_chain(in, above[depth - 1], info->node)
				   : hi_words_name(in, info->node);
	}
}

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_retained_report *report = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	uint64_t exact = UINT64_MAX;
	enum hi_status status = hi_lookup_restrict(in, TOP, &set, &only, err);

	if (status == HI_OK)
		status = exact_bytes(in, &set, &exact, err);
	if (status == HI_OK)
		status = hi_retained_report_create(head, in->graph, in->shown,
						   in->dominators, in->census, &only,
						   exact, &report, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	name_rows(in, report);
	if (json)
		hi_retained_json(report, json);
	else
		hi_retained_display(report, page);
	hi_retained_report_destroy(report);
	return HI_OK;
}

const struct hi_command hi_command_retained = {
	.id = HI_COMMAND_RETAINED,
	.name = "retained",
	.arguments = "",
	.purpose = "Who holds how much: variables and objects by the bytes that would go "
		   "with them.",
	.help = "Examples:\n"
		"  heapinspect retained --pid 4242\n"
		"  heapinspect retained --pid 4242 --type 'struct conn'",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS,
	.run = run,
};
