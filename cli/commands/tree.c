/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `tree`: one level of the dominator tree. */
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "report/reports/tree/tree_report.h"
#include "session/dominator_tree.h"
#include "session/operands.h"

/* ADDRESS or the name of a variable; without one the top. */
static enum hi_status find_tree_node(const struct hi_tree *tree, const char *argument,
				     hi_node *ret, struct hi_error *err)
{
	uint64_t address;

	*ret = HI_NODE_NONE;
	if (!argument)
		return HI_OK;
	*ret = hi_lookup_is_address(argument, &address)
		       ? hi_tree_node_at(tree, address)
		       : hi_tree_node_named(tree, argument);
	if (*ret != HI_NODE_NONE)
		return HI_OK;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "tree %.160s: neither the address of an object like "
		       "0x55d0c8a412a0, nor the name of a root variable; without it the "
		       "top of the tree is shown",
		       argument);
}

static enum hi_status run_tree_command(struct hi_inspection *in,
				       const struct hi_report_header *header,
				       struct hi_page *page, struct hi_json *json,
				       struct hi_error *err)
{
	size_t top = hi_lookup_top(in->options, HI_TREE_ROWS);
	struct hi_tree_report report;
	struct hi_tree *tree = NULL;
	hi_node node;
	enum hi_status status = hi_inspect_tree(in, &tree, err);

	if (status == HI_OK)
		status = find_tree_node(tree, in->options->argument, &node, err);
	if (status == HI_OK)
		status = hi_tree_report_make(tree, header, node,
					     in->options->selection.group, top, &report,
					     err);
	if (status != HI_OK)
		return status;
	if (json)
		hi_tree_json(&report, json);
	else
		hi_tree_display(&report, page);
	hi_tree_report_free(&report);
	return HI_OK;
}

const struct hi_command hi_command_tree = {
	.id = HI_COMMAND_TREE,
	.name = "tree",
	.arguments = "[ADDRESS|VARIABLE]",
	.purpose = "Show one level of the dominator tree: what an object or a variable "
		   "keeps alive directly.",
	.help = "Without ADDRESS or VARIABLE: the top, below all roots. Siblings of one "
		"type that\n"
		"one field leads to are one row; --group shows its objects.\n"
		"\n"
		"Examples:\n"
		"  heapinspect tree --pid 4242\n"
		"  heapinspect tree --pid 4242 server\n"
		"  heapinspect tree app.hisnap 0x55d0c8a412a0\n"
		"  heapinspect tree app.hisnap 0x55d0c8a412a0 --group 3 --all",
	.wanted = HI_WANT_DOMINATORS,
	.run = run_tree_command,
	.page = HI_COMMAND_PAGE_WITH_ARGUMENT,
};
