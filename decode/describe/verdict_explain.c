/* SPDX-License-Identifier: BSD-2-Clause */
/* Which word leads to a likely leak. */
#include <string.h>

#include "base/search.h"
#include "decode/describe/describe.h"
#include "decode/inference/verdict.h"

static const struct hi_witness *find_witness(const struct hi_typing *typing, hi_node node)
{
	size_t low = hi_search(i, typing->witnesses.count,
			       typing->witnesses.items[i].node < node);

	return low < typing->witnesses.count && typing->witnesses.items[low].node == node
		       ? &typing->witnesses.items[low]
		       : NULL;
}

/* "unsigned long (addresses[3])"; a pointer is in a dead part of a container. */
static void describe_member(struct hi_typing *typing, hi_type_id type, uint64_t offset,
			    struct hi_out *out)
{
	char path[200] = "";
	struct hi_out at = {path, sizeof(path), 0};
	const struct hi_type_source *types = &typing->source.types;
	const struct hi_type *member =
		hi_type_source_get(types, hi_path_to(types, type, offset, &at));

	if (member->kind == HI_KIND_POINTER)
		hi_out_add(out, "a dead ");
	if (*member->name)
		hi_out_escaped(out, member->name);
	else
		hi_out_add(out, "a word that is not a pointer");
	if (*path)
		hi_out_add(out, " (%s)", path + (*path == '.'));
}

static void describe_holder(struct hi_typing *typing, const struct hi_graph *graph,
			    hi_node holder, uint64_t offset, struct hi_out *out)
{
	struct hi_node_bytes place;
	bool is_live = hi_node_bytes_of(typing, graph, holder, &place);

	if (is_live && place.layout && place.type && place.layout->size) {
		uint64_t within =
			offset < place.layout->lead ? 0 : offset - place.layout->lead;

		describe_member(typing, place.type,
				place.array ? within % place.layout->size : within, out);
		hi_out_add(out, " in ");
		hi_out_escaped(out, place.layout->name);
	} else {
		hi_out_add(out, "a word in a block");
	}
	hi_out_add(out, " 0x%llx +%llu",
		   (unsigned long long)hi_objects_address(graph->objects, holder),
		   (unsigned long long)offset);
}

static void describe_root_word(struct hi_typing *typing, uint64_t place,
			       struct hi_out *out)
{
	const struct hi_typing_source *source = &typing->source;
	struct hi_variable v;

	if (source->variable_at &&
	    source->variable_at(source->types.arg, place, &v, NULL) == HI_OK &&
	    place >= v.address && v.name) {
		describe_member(typing, v.type, place - v.address, out);
		hi_out_add(out, " in the variable ");
		hi_out_escaped(out, v.name);
		return;
	}
	hi_out_add(out, "a word at 0x%llx, outside of the heap",
		   (unsigned long long)place);
}

size_t hi_typing_explain_likely(struct hi_typing *typing, const struct hi_graph *graph,
				hi_node node, char *text, size_t text_size)
{
	struct hi_out out = {text, text_size, 0};
	const struct hi_witness *w = find_witness(typing, node);
	uint64_t offset = 0;
	hi_node holder;

	if (text_size)
		text[0] = 0;
	if (!w)
		return 0;
	holder = hi_objects_find(graph->objects, w->place, &offset);
	if (w->place == HI_WITNESS_REGISTER)
		hi_out_add(&out, "a register");
	else if (holder != HI_NODE_NONE)
		describe_holder(typing, graph, holder, offset, &out);
	else
		describe_root_word(typing, w->place, &out);
	hi_out_add(&out, " has a value that leads there");
	return out.length;
}
