/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/contexts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

enum { CONTEXTS_MOST = INT32_MAX };

struct hi_contexts {
	struct HI_VECTOR(uint64_t) addresses;
	struct hi_table frames; /* address -> number */
	struct HI_VECTOR(struct hi_context_node) nodes;
	struct hi_table children; /* parent << 32 | frame -> node */
	struct HI_VECTOR(struct hi_context) contexts;
	struct hi_table stacks; /* hash -> context */
};

HI_DEFINE_GUARD(struct hi_contexts *, hi_contexts_destroy)

void hi_contexts_destroy(struct hi_contexts *c)
{
	if (!c)
		return;
	hi_vector_free(&c->addresses);
	hi_vector_free(&c->nodes);
	hi_vector_free(&c->contexts);
	hi_table_free(&c->frames);
	hi_table_free(&c->children);
	hi_table_free(&c->stacks);
	free(c);
}

enum hi_status hi_contexts_create(struct hi_contexts **ret, struct hi_error *err)
{
	HI_GUARD(hi_contexts_destroy) struct hi_contexts *c = hi_calloc(1, sizeof(*c));

	if (!c ||
	    !hi_vector_push(&c->nodes, (struct hi_context_node){0, HI_FRAME_NONE}) ||
	    !hi_vector_push(&c->contexts, (struct hi_context){}))
		return hi_fail_memory(err, "contexts");
	*ret = hi_take(c);
	return HI_OK;
}

/* The table has no key UINT64_MAX: such a hash or address shares the number of the one
 * below. */
static uint64_t storable_key(uint64_t key)
{
	return key == UINT64_MAX ? key - 1 : key;
}

enum hi_status hi_contexts_number(struct hi_contexts *c, uint64_t stack, uint32_t *ret,
				  struct hi_error *err)
{
	uint64_t number = c->contexts.count;

	if (!stack) {
		*ret = 0;
		return HI_OK;
	}
	if (hi_table_get(&c->stacks, storable_key(stack), &number)) {
		*ret = (uint32_t)number;
		return HI_OK;
	}
	if (number >= CONTEXTS_MOST)
		return hi_fail(err, HI_LIMIT, 0, "too many allocation contexts");
	if (!hi_vector_reserve(&c->contexts, number + 1) ||
	    !hi_table_put(&c->stacks, storable_key(stack), number))
		return hi_fail_memory(err, "contexts");
	c->contexts.items[c->contexts.count++] =
		(struct hi_context){stack, 0, HI_CONTEXT_MISSING};
	*ret = (uint32_t)number;
	return HI_OK;
}

static bool number_frame(struct hi_contexts *c, uint64_t address, uint32_t *ret)
{
	uint64_t number = c->addresses.count;

	if (!hi_table_get(&c->frames, storable_key(address), &number)) {
		if (number >= CONTEXTS_MOST ||
		    !hi_vector_reserve(&c->addresses, number + 1) ||
		    !hi_table_put(&c->frames, storable_key(address), number))
			return false;
		c->addresses.items[c->addresses.count++] = address;
	}
	*ret = (uint32_t)number;
	return true;
}

static bool number_child(struct hi_contexts *c, uint32_t parent, uint32_t frame,
			 uint32_t *ret)
{
	uint64_t number = c->nodes.count, key = (uint64_t)parent << 32 | frame;

	if (!hi_table_get(&c->children, key, &number)) {
		if (number >= CONTEXTS_MOST ||
		    !hi_vector_reserve(&c->nodes, number + 1) ||
		    !hi_table_put(&c->children, key, number))
			return false;
		c->nodes.items[c->nodes.count++] =
			(struct hi_context_node){parent, frame};
	}
	*ret = (uint32_t)number;
	return true;
}

enum hi_status hi_contexts_add(struct hi_contexts *c, const struct hi_event_stack *stack,
			       struct hi_error *err)
{
	unsigned n = stack->n < HI_STACK_FRAMES ? stack->n : HI_STACK_FRAMES;
	uint32_t number, frame, node = 0;
	enum hi_status status = hi_contexts_number(c, stack->stack, &number, err);

	if (status != HI_OK || !number ||
	    !(c->contexts.items[number].flags & HI_CONTEXT_MISSING))
		return status;
	while (n--)
		if (!number_frame(c, stack->frames[n], &frame) ||
		    !number_child(c, node, frame, &node))
			return hi_fail_memory(err, "contexts");
	c->contexts.items[number].node = node;
	c->contexts.items[number].flags = stack->cut ? HI_CONTEXT_CUT : 0;
	return HI_OK;
}

void hi_contexts_view(const struct hi_contexts *c, struct hi_context_view *ret)
{
	*ret = (struct hi_context_view){
		.nodes = c->nodes.items,
		.contexts = c->contexts.items,
		.n_nodes = (uint32_t)c->nodes.count,
		.n_contexts = (uint32_t)c->contexts.count,
		.n_frames = (uint32_t)c->addresses.count,
	};
}

const uint64_t *hi_contexts_addresses(const struct hi_contexts *c)
{
	return c->addresses.items;
}

/* ---- views ---- */

unsigned hi_context_frames(const struct hi_context_view *view, uint32_t context,
			   uint32_t frames[HI_STACK_FRAMES])
{
	unsigned n = 0;
	uint32_t node = context < view->n_contexts ? view->contexts[context].node : 0;

	for (; node && n < HI_STACK_FRAMES; node = view->nodes[node].parent)
		frames[n++] = view->nodes[node].frame;
	return n;
}

static bool nodes_are_valid(const struct hi_context_view *view, uint8_t *depths)
{
	if (!view->n_nodes || view->nodes[0].parent ||
	    view->nodes[0].frame != HI_FRAME_NONE)
		return false;
	for (uint32_t i = 1; i < view->n_nodes; i++) {
		const struct hi_context_node *node = &view->nodes[i];

		if (node->parent >= i || node->frame >= view->n_frames ||
		    depths[node->parent] == HI_STACK_FRAMES)
			return false;
		depths[i] = (uint8_t)(depths[node->parent] + 1);
	}
	return true;
}

bool hi_contexts_are_valid(const struct hi_context_view *view)
{
	HI_GUARD(free) uint8_t *depths = hi_calloc((size_t)view->n_nodes + 1, 1);

	if (!depths || !nodes_are_valid(view, depths))
		return false;
	if (!view->n_contexts || view->contexts[0].node || view->contexts[0].stack)
		return false;
	for (uint32_t i = 0; i < view->n_contexts; i++)
		if (view->contexts[i].node >= view->n_nodes)
			return false;
	return true;
}
