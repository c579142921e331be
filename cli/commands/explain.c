/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/commands/explain.h"
#include "cli/options/option_take.h"
#include "report/reports/explain/explain_report.h"
#include "session/lives_of_file.h"
#include "session/computed.h"
#include "session/inspect/restrictions.h"
#include "session/leak_sites.h"
#include "session/named_object.h"
#include "session/operands.h"
#include "session/path_text.h"
#include "session/recorded.h"

/* Usual and greatest numbers of rows. */
enum { FIELDS = 40, REFERRERS = 10, DOMINATORS = 12, MANY = 1 << 16 };

static size_t rows_to_explain(const struct hi_inspection *in, size_t usual)
{
	size_t top = hi_lookup_top(in->options, usual);

	return top < MANY ? top : MANY;
}

static enum hi_status add_fields(struct hi_inspection *in, hi_node node,
				 struct hi_explain_report *r, struct hi_error *err)
{
	size_t max = rows_to_explain(in, FIELDS), n = 0;
	struct hi_field *fields = hi_arena_alloc(&in->arena, max * sizeof(*fields));
	struct hi_explain_field *shown = hi_arena_alloc(&in->arena, max * sizeof(*shown));
	enum hi_status status;

	if (!fields || !shown)
		return hi_fail_memory(err, "fields");
	status = in->source->texts->list_fields(in, node, fields, max, &n,
						&r->n_fields_total, err);
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		const struct hi_field *f = &fields[i];

		shown[i] = (struct hi_explain_field){.path = f->path,
						     .type = f->type ? f->type : "",
						     .value = f->value,
						     .offset = f->offset,
						     .size = f->size,
						     .points = f->to != HI_NODE_NONE,
						     .grade = (uint8_t)f->grade};
		if (shown[i].points)
			shown[i].to =
				hi_node_info(in->graph, in->results.dominators, f->to);
	}
	r->values_missing = !in->source->texts->has_values(in);
	r->fields = shown;
	r->n_fields = n;
	return HI_OK;
}

static enum hi_status add_referrers(struct hi_inspection *in, hi_node node,
				    struct hi_explain_report *r, struct hi_error *err)
{
	HI_GUARD(hi_referrers_destroy) struct hi_referrers *found = NULL;
	struct hi_explain_link *links;
	size_t max = rows_to_explain(in, REFERRERS), n = 0;
	/* Of a restriction's many may be hidden: it looks at more than it shows. */
	enum hi_status status = hi_kept_referrers(
		in, node, in->shown.reach == in->results.reach ? max : MANY, &found, err);

	if (status != HI_OK)
		return status;
	links = hi_arena_alloc(&in->arena, (found->count + 1) * sizeof(*links));
	if (!links)
		return hi_fail_memory(err, "referrers");
	r->n_referrers_total = found->total;
	for (size_t i = 0; i < found->count; i++) {
		if (!hi_naming_shows(in, found->from[i])) {
			r->n_referrers_hidden++;
			r->n_referrers_total--;
			continue;
		}
		if (n == max)
			continue;
		links[n++] = (struct hi_explain_link){
			.info = hi_node_info(in->graph, in->results.dominators,
					     found->from[i]),
			.text = hi_path_text_of_edge(in, found->from[i], node),
			.grade = found->grade[i]};
	}
	r->referrers = links;
	r->n_referrers = n;
	return HI_OK;
}

/* How the next one refers to it; of the last one, what leads there from a root. */
static const char *name_in_chain(struct hi_inspection *in, hi_node node, hi_node next)
{
	return next == HI_NODE_NONE || next == in->graph->super_root
		       ? hi_path_text_from_root(in, node)
		       : hi_path_text_of_edge(in, next, node);
}

static enum hi_status add_dominators(struct hi_inspection *in, hi_node node,
				     struct hi_explain_report *r, struct hi_error *err)
{
	size_t max = rows_to_explain(in, DOMINATORS);
	struct hi_node_info *chain = hi_arena_alloc(&in->arena, max * sizeof(*chain));
	hi_node up = in->results.dominators->idom[node];

	if (!chain)
		return hi_fail_memory(err, "dominators");
	while (up != HI_NODE_NONE && up != in->graph->super_root) {
		if (r->n_dominators == max) {
			r->dominators_cut = true;
			break;
		}
		chain[r->n_dominators] =
			hi_node_info(in->graph, in->results.dominators, up);
		if (hi_graph_is_object(in->graph, up))
			chain[r->n_dominators].name =
				name_in_chain(in, up, in->results.dominators->idom[up]);
		r->n_dominators++;
		up = in->results.dominators->idom[up];
	}
	r->dominators = chain;
	return HI_OK;
}

static enum hi_status explain_node(struct hi_inspection *in, hi_node node,
				   struct hi_explain_report *r, struct hi_error *err)
{
	enum hi_status status;

	r->info = hi_node_info(in->graph, in->results.dominators, node);
	if (r->info.sort == HI_NODE_OBJECT)
		r->conflict = in->graph->objects->flags[node] & HI_OBJECT_CONFLICT;
	status = add_fields(in, node, r, err);
	if (status == HI_OK && r->info.sort == HI_NODE_OBJECT)
		status = in->source->texts->explain_object(in, node, r, err);
	if (status == HI_OK)
		status = add_referrers(in, node, r, err);
	if (status == HI_OK)
		status = add_dominators(in, node, r, err);
	if (status == HI_OK && r->info.sort == HI_NODE_OBJECT &&
	    hi_bit(in->results.reach->any, node))
		status = hi_within_sum(in->graph, in->results.reach, &node, 1,
				       &r->reachable, err);
	return status;
}

/* Where it was allocated, and its biography. */
static enum hi_status add_past_of_object(struct hi_inspection *in, hi_node node,
					 struct hi_explain_report *r,
					 struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	if (status == HI_OK)
		status = hi_inspect_lives_if_any(in, &r->lives, err);
	if (status != HI_OK)
		return status;
	r->birth = hi_birth_info(recorded, node);
	/* A recording has the truth. */
	if (!recorded)
		status = hi_object_sites_fit(in, node, &r->made_by, err);
	if (r->lives)
		r->life = hi_bio_summary_find(r->lives, node);
	return status;
}

static enum hi_status explain_object(struct hi_inspection *in, hi_node node,
				     uint64_t offset, struct hi_explain_report *r,
				     struct hi_error *err)
{
	const struct hi_objects *o = in->graph->objects;
	enum hi_status status;
	uint64_t front;

	r->state = o->flags[node] & HI_OBJECT_INTERNAL	  ? "internal"
		   : hi_bit(in->results.reach->any, node) ? "live"
							  : "leak";
	r->unreachable_class = in->graph->unreachable_classes
				       ? in->graph->unreachable_classes[node]
				       : HI_UNREACHABLE_NO_CLASS;
	r->is_piece = hi_reach_is_piece(in->graph, in->results.reach, node);
	r->is_likely =
		in->results.reach->likely && hi_bit(in->results.reach->likely, node);
	if (r->is_likely && in->results.reach->is_doubtful)
		r->because = "some of the live memory could not be read, or the heap is "
			     "damaged: "
			     "what is missing may lead there";
	else if (r->is_likely)
		r->because = in->source->texts->explain_likely(in, node);
	status = add_past_of_object(in, node, r, err);
	if (status != HI_OK)
		return status;
	r->block = hi_objects_address(o, node);
	r->usable = hi_objects_usable(o, node);
	r->cost = hi_objects_cost(o, node);
	/* A header in front of it belongs to no other object. */
	front = hi_graph_address(in->graph, node) - r->block;
	if (offset < front)
		r->address += front - offset;
	r->offset = offset < front ? 0 : offset - front;
	return explain_node(in, node, r, err);
}

/* The root variable that covers address; roots are few beside objects. */
static hi_node find_root_at_address(const struct hi_graph *g, uint64_t address,
				    uint64_t *offset)
{
	for (hi_node i = 0; i < g->n_roots; i++) {
		const struct hi_root *root = &g->roots[i];
		uint64_t size = root->size ? root->size : 8;

		if (root->address && address >= root->address &&
		    address - root->address < size) {
			*offset = address - root->address;
			return g->first_root + i;
		}
	}
	return HI_NODE_NONE;
}

static bool is_untyped_root(const struct hi_graph *g, hi_node root)
{
	return g->roots[root - g->first_root].kind == HI_ROOT_UNTYPED;
}

/* Free blocks are no objects: the allocator is walked once more. */
static enum hi_status explain_other(struct hi_inspection *in, struct hi_explain_report *r,
				    struct hi_error *err)
{
	struct hi_block block;
	bool found = false;
	enum hi_status status;
	hi_node root = find_root_at_address(in->graph, r->address, &r->offset);

	/* Untyped words are a root by their whole mapping, heap and all. */
	if (root != HI_NODE_NONE && !is_untyped_root(in->graph, root)) {
		r->state = "variable";
		return explain_node(in, root, r, err);
	}
	status = in->source->contents->find_block(in, r->address, &block, &found, err);
	if (status != HI_OK && (status != HI_NOT_FOUND || root == HI_NODE_NONE))
		return status;
	if (!found && root != HI_NODE_NONE) {
		r->state = "variable";
		return explain_node(in, root, r, err);
	}
	if (found) {
		r->state = hi_block_state_key(block.state);
		r->block = block.addr;
		r->usable = block.usable;
		r->cost = block.cost;
		r->offset = r->address - block.addr;
	} else {
		r->state = *r->mapping ? "mapped" : "unmapped";
	}
	return HI_OK;
}

/* Of what is in no object, the variables of --under alone. */
static bool is_asked_for(const struct hi_inspection *in, hi_node node, uint64_t address)
{
	uint64_t offset = 0;

	if (node == HI_NODE_NONE)
		node = find_root_at_address(in->graph, address, &offset);
	return node != HI_NODE_NONE && hi_naming_shows(in, node);
}

/* Finds the object at the end of a path. */
static enum hi_status find_named_address(struct hi_inspection *in, uint64_t *ret,
					 struct hi_error *err)
{
	const struct hi_graph *g = in->graph;
	hi_node node = HI_NODE_NONE;
	enum hi_status status =
		hi_named_object_find(in, in->options->argument, &node, err);

	if (status != HI_OK)
		return status;
	*ret = hi_graph_is_object(g, node) ? hi_graph_address(g, node)
					   : g->roots[node - g->first_root].address;
	return *ret ? HI_OK
		    : hi_fail(err, HI_NOT_FOUND, 0, "explain %.100s: it has no address",
			      in->options->argument);
}

/* Of an expression: where the pointer leads, or where the record lies. */
static enum hi_status find_explained_address(struct hi_inspection *in, uint64_t *ret,
					     struct hi_error *err)
{
	const struct hi_named_roots *roots = in->profile.roots;
	const struct hi_named_root *root;

	if (hi_lookup_is_address(in->options->argument, ret))
		return HI_OK;
	if (hi_named_object_is_path(in->options->argument))
		return find_named_address(in, ret, err);
	/* The last one: cli/options/options.c added it after those of --root. */
	root = &roots->items[roots->count - 1];
	if (root->is_path)
		return find_named_address(in, ret, err);
	*ret = root->address;
	if (!*ret && root->n_starts)
		*ret = hi_graph_address(in->graph, root->starts[0]);
	return *ret ? HI_OK
		    : hi_fail(err, HI_NOT_FOUND, 0, "explain %.100s: %s",
			      root->text.expression,
			      root->warning ? root->warning : "it has no address");
}

static enum hi_status add_piece_at(struct hi_inspection *in, struct hi_explain_report *r,
				   struct hi_error *err)
{
	enum hi_status status = hi_inspect_recorded_if_any(in, &r->recorded, err);

	if (status == HI_OK && r->recorded)
		r->piece = hi_piece_at(&r->recorded->pieces, r->address);
	return status;
}

static struct hi_explain_report begin_report(const struct hi_inspection *in,
					     const struct hi_report_header *header)
{
	return (struct hi_explain_report){.header = header,
					  .info = {.sort = HI_NODE_SUPER,
						   .type = "",
						   .name = "",
						   .detail = "",
						   .retained = UINT64_MAX},
					  .reachable = {UINT64_MAX, UINT64_MAX},
					  .evidence = "",
					  .name = "",
					  .value = "",
					  .live_bytes = in->shown.reach->live_bytes};
}

enum hi_status hi_explain_node(struct hi_inspection *in,
			       const struct hi_report_header *header, hi_node node,
			       struct hi_page *page, struct hi_error *err)
{
	struct hi_explain_report r = begin_report(in, header);
	const struct hi_graph *g = in->graph;
	enum hi_status status;

	if (node >= g->first_kind)
		return HI_OK;
	r.address = hi_graph_is_object(g, node) ? hi_graph_address(g, node)
						: g->roots[node - g->first_root].address;
	r.mapping = in->source->contents->mapping_name(in, r.address);
	if (hi_graph_is_object(g, node)) {
		status = explain_object(in, node,
					r.address - hi_objects_address(g->objects, node),
					&r, err);
	} else {
		r.state = "variable";
		status = explain_node(in, node, &r, err);
	}
	if (status == HI_OK)
		status = add_piece_at(in, &r, err);
	if (status == HI_OK)
		hi_explain_display(&r, page);
	return status;
}

static enum hi_status run_explain_command(struct hi_inspection *in,
					  const struct hi_report_header *header,
					  struct hi_page *page, struct hi_json *json,
					  struct hi_error *err)
{
	struct hi_explain_report r = begin_report(in, header);
	uint64_t offset = 0;
	enum hi_status status;
	hi_node node;

	status = find_explained_address(in, &r.address, err);
	if (status != HI_OK)
		return status;
	r.mapping = in->source->contents->mapping_name(in, r.address);
	node = hi_objects_find(in->graph->objects, r.address, &offset);
	if (in->shown.reach != in->results.reach && !is_asked_for(in, node, r.address))
		return hi_fail(err, HI_NOT_FOUND, r.address,
			       "0x%" PRIx64
			       " is not among the objects that --under selects",
			       r.address);
	status = node != HI_NODE_NONE ? explain_object(in, node, offset, &r, err)
				      : explain_other(in, &r, err);
	if (status == HI_OK)
		status = add_piece_at(in, &r, err);
	if (status != HI_OK)
		return status;
	if (json)
		hi_explain_json(&r, json);
	else
		hi_explain_display(&r, page);
	return HI_OK;
}

/* A number that is no address is no expression either. */
static int check_explained(const struct hi_given *given)
{
	const char *text = given->options->argument;
	size_t n = strlen(text);
	uint64_t address;
	bool is_number = isdigit((unsigned char)*text);

	for (size_t i = 0; i < n; i++)
		is_number = is_number && isalnum((unsigned char)text[i]);
	if (hi_lookup_is_address(text, &address))
		return 0;
	if (is_number || !n)
		return hi_option_wrong("explain %s: not an address like 0x55d0c8a412a0",
				       text);
	if (given->options->decoding.conservative)
		return hi_option_wrong("explain %s: an expression needs types, which "
				       "--conservative does not read",
				       text);
	return 0;
}

const struct hi_command hi_command_explain = {
	.id = HI_COMMAND_EXPLAIN,
	.name = "explain",
	.arguments = "ADDRESS|EXPRESSION|PATH",
	.targets = "--pid PID|--core FILE|FILE.hisnap",
	.purpose =
		"Show one address, C expression or path: its block, type, evidence and "
		"fields, and the references to it.",
	.help = "Examples:\n"
		"  heapinspect explain 0x55d0c8a412a0 --pid 4242\n"
		"  heapinspect explain 'server->clients[0]' --pid 4242\n"
		"  heapinspect explain 'app::sessions[\"token-1\"]->cart' --pid 4242\n"
		"  heapinspect explain 0x55d0c8a412a0 --pid 4242 --all --json\n"
		"  heapinspect explain 0x55d0c8a412a0 app.hisnap   (of bio -o: its life)",
	.wanted = HI_WANT_DOMINATORS,
	.run = run_explain_command,
	.takes_expression = true,
	.check = check_explained,
	.page = HI_COMMAND_PAGE_WITH_ARGUMENT,
	.page_form = "of",
};
