/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats why an object has its type. */
#include <string.h>

#include "decode/describe/describe.h"
#include "decode/inference/field_names.h"
#include "decode/describe/evidence_chain.h"
#include "decode/describe/object_text.h"

enum { MAX_REFERRERS = 4096 }; /* that are tried for one that infers the type */

/* The type that an edge has to infer to be the evidence. */
enum wanted { THE_TYPE, ITS_BEGINNING };

/* Writes to out that this edge infers the type that the object has, or one that it begins
 * with. False: it does not. */
static bool explain_by_edge(struct hi_typing *typing, const struct hi_graph *graph,
			    hi_node from, hi_node node, enum wanted wanted,
			    struct hi_out *out)
{
	struct hi_inferred_type inferred;
	struct hi_node_bytes place;
	char path[300];

	if (!hi_inferred_type_of(typing, graph, from, node, &inferred) ||
	    inferred.is_accepted != (wanted == THE_TYPE) ||
	    !hi_node_bytes_of(typing, graph, from, &place))
		return false;
	hi_typing_describe_edge(typing, graph, from, node, path, sizeof(path));
	hi_out_add(out, wanted == THE_TYPE ? "pointed to by "
					   : "it begins with what is pointed to by ");
	if (!place.is_root) {
		hi_out_escaped(out, place.layout->name);
		hi_out_add(out, " 0x%llx", (unsigned long long)place.address);
	}
	hi_out_add(out, "%s (%s)", path, inferred.type);
	if (*inferred.origin) {
		hi_out_add(out, " by ");
		hi_out_escaped(out, inferred.origin);
	}
	return true;
}

static bool find_referrer(struct hi_typing *typing, const struct hi_graph *graph,
			  hi_node node, enum wanted wanted, struct hi_out *out)
{
	unsigned tried = 0;
	hi_node n = graph->n_objects + graph->n_roots;

	/* Roots first: they have names. */
	for (hi_node i = 0; i < n && tried < MAX_REFERRERS; i++) {
		hi_node from =
			i < graph->n_roots ? graph->first_root + i : i - graph->n_roots;
		struct hi_edges edges = hi_graph_edges(graph, from);
		bool leads_here = false;

		for (uint32_t e = 0; e < edges.count && !leads_here; e++)
			leads_here = edges.to[e] == node &&
				     hi_grade_is_precise(edges.grade[e]);
		if (!leads_here)
			continue;
		tried++;
		if (explain_by_edge(typing, graph, from, node, wanted, out))
			return true;
	}
	return false;
}

/* What is named by a field only. */
static void explain_field(const struct hi_type_name *type, struct hi_out *out)
{
	hi_out_add(out, "it has no type: no typed pointer and no vtable leads to it; %s ",
		   type->indirect ? "through others of no type,"
				  : "it is what this field leads to:");
	if (type->indirect)
		hi_out_add(out, "the nearest field that leads there is ");
	hi_out_escaped(out, type->owner);
	hi_out_add(out, "%s", hi_field_joint(type->owner, type->field));
	hi_out_escaped(out, type->field);
}

static void explain_nothing(const struct hi_graph *graph, hi_node node,
			    struct hi_out *out)
{
	uint32_t type = graph->objects->type[node];

	if (type < graph->n_types && graph->types[type].klass == HI_TYPE_FIELD)
		explain_field(&graph->types[type], out);
	else
		hi_out_add(out,
			   "it has no type: no typed pointer and no vtable leads to it");
}

static void explain_vtable(const struct hi_node_bytes *place, struct hi_out *out)
{
	uint64_t vptr = 0;

	hi_out_add(out, "vtable of ");
	hi_out_escaped(out, place->layout->name);
	if (hi_node_bytes_read(place, 0, &vptr, sizeof(vptr)))
		hi_out_add(out, " at 0x%llx", (unsigned long long)vptr);
	if (place->layout->opaque)
		hi_out_add(out, "; no debug information has its layout");
}

/* The vtable of something at the block's start that does not fill the block. */
static bool explain_member_vtable(const struct hi_node_bytes *place, unsigned evidence,
				  struct hi_out *out)
{
	if (evidence != HI_EVIDENCE_SHAPE || !place->layout->type ||
	    !place->layout->type->has_vtable)
		return false;
	explain_vtable(place, out);
	return true;
}

size_t hi_typing_explain_type(struct hi_typing *typing, const struct hi_graph *graph,
			      hi_node node, char *text, size_t text_size)
{
	struct hi_out out = {text, text_size, 0};
	struct hi_node_bytes place;
	unsigned evidence;

	if (text_size)
		text[0] = 0;
	if (node >= graph->n_objects || !hi_node_bytes_of(typing, graph, node, &place))
		return 0;
	evidence = graph->objects->flags[node] & HI_OBJECT_EVIDENCE_MASK;
	if (!place.layout)
		explain_nothing(graph, node, &out);
	else if (place.layout->managed)
		hi_out_add(
			&out,
			"%s %s determines it: by its own type, or as part of its owner",
			typing->runtime->ops->name, typing->runtime->version);
	else if (evidence == HI_EVIDENCE_VTABLE)
		explain_vtable(&place, &out);
	else if (!find_referrer(typing, graph, node, THE_TYPE, &out)) {
		if (!explain_member_vtable(&place, evidence, &out) &&
		    (evidence != HI_EVIDENCE_SHAPE ||
		     !find_referrer(typing, graph, node, ITS_BEGINNING, &out)))
			hi_out_add(&out, "a pointer in an object whose type changed "
					 "during inference");
	}
	if (evidence == HI_EVIDENCE_BASE)
		hi_out_add(&out, "; it may be only the beginning of a larger record");
	else if (evidence == HI_EVIDENCE_SHAPE)
		hi_out_add(&out,
			   hi_fit_is(&typing->layouts->sizes, place.layout->size,
				     hi_object_usable(graph->objects, node))
				   ? "; inferred by the size of the block and its words"
				   : "; inferred: it does not cover all of the block");
	if (place.array)
		hi_out_add(&out, "; an array by its size");
	if (graph->objects->flags[node] & HI_OBJECT_CONFLICT)
		hi_out_add(&out, "; another pointer has another type");
	return out.length;
}
