/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cleanup.h"
#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/words.h"
#include "report/diff_report.h"

enum { TOP = 20, HOLDERS = 10 };

HI_DEFINE_GUARD(struct hi_comparison *, hi_comparison_destroy)

static struct hi_heap_side side_of(const struct hi_inspection *in)
{
	return (struct hi_heap_side){in->graph, in->reach, in->dominators, NULL};
}

static const char *name_of(struct hi_inspection *in, hi_node node)
{
	if (node >= in->graph->first_root)
		return hi_words_way(in, &node, 1);
	return hi_words_name(in, node);
}

static enum hi_status find_holders(struct hi_inspection *in,
				   const struct hi_comparison *c,
				   struct hi_diff_report *r, struct hi_error *err)
{
	struct hi_growth found[HOLDERS];
	const struct hi_graph *g = in->graph;
	struct hi_heap_side side = side_of(in);
	struct hi_diff_holder *holders =
		hi_arena_alloc(&in->arena, HOLDERS * sizeof(*holders));
	enum hi_status status;

	if (!holders)
		return hi_fail_memory(err, "growth");
	status = hi_growth_find(&side, c->born, HOLDERS, found, &r->n_holders, &r->leaked,
				err);
	for (size_t i = 0; status == HI_OK && i < r->n_holders; i++) {
		hi_node node = found[i].holder;
		bool is_object = hi_graph_is_object(g, node);

		holders[i] = (struct hi_diff_holder){
			.name = name_of(in, node),
			.type = is_object ? g->types[g->objects->type[node]].name
					  : g->roots[node - g->first_root].type,
			.address = is_object ? hi_objects_address(g->objects, node) : 0,
			.objects = found[i].objects,
			.bytes = found[i].bytes};
	}
	r->holders = holders;
	return status;
}

static enum hi_status tell(struct hi_inspection *in, struct hi_baseline *before,
			   const struct hi_head *head, struct hi_page *page,
			   struct hi_json *json, struct hi_error *err)
{
	static const char *const words[] = {"type", "module", "root"};
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	struct hi_heap_side a = side_of(before->in), b = side_of(in);
	struct hi_diff_report r = {.before = &before->head,
				   .after = head,
				   .by = words[in->options->compare_by],
				   .live_before = before->in->reach->live_bytes,
				   .live_after = in->reach->live_bytes,
				   .leak_before = before->in->reach->leak_bytes,
				   .leak_after = in->reach->leak_bytes,
				   .top = hi_lookup_top(in->options, TOP),
				   .min_size = in->options->min_size};
	enum hi_status status =
		hi_compare(&a, &b, hi_baseline_is_same_process(&before->head, head),
			   in->options->compare_by, &c, err);

	if (status == HI_OK)
		status = find_holders(in, c, &r, err);
	if (status != HI_OK)
		return status;
	r.c = c;
	in->has_finding = !hi_diff_is_none(&r);
	if (json)
		hi_diff_json(&r, json);
	else
		hi_diff_display(&r, page);
	return HI_OK;
}

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_baseline before = {};
	enum hi_status status =
		hi_baseline_open(in, head, HI_WANT_DOMINATORS, &before, err);

	hi_inspect_phase(in, "comparing");
	if (status == HI_OK)
		status = tell(in, &before, head, page, json, err);
	hi_baseline_close(&before);
	return status;
}

const struct hi_command hi_command_diff = {
	.id = HI_COMMAND_DIFF,
	.name = "diff",
	.arguments = "",
	.purpose = "Two snapshots of one program: what was born, what died, and what "
		   "holds the growth.",
	.help = "The first file is the earlier one; a process or a core may be the later "
		"one. Of\none process objects match by address and type, of two by type "
		"and the way to\nthem. Exit status 1: there is a difference.\n\n"
		"Examples:\n"
		"  heapinspect diff before.hisnap after.hisnap\n"
		"  heapinspect diff before.hisnap --pid 4242 --by root\n"
		"  heapinspect diff v1.hisnap v2.hisnap --min-size 64KiB --json",
	.wanted = HI_WANT_DOMINATORS,
	.run = run,
};
