/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation contexts: the stacks at which memory was allocated. A context is one stack
 * and has a number, counted from 1; 0 is "no stack". Frames are return addresses, each
 * with a number; what they mean is in frames.h.
 *
 * Stacks share their outer frames: they are leaves and inner nodes of one tree, in which
 * the parent of a node is the caller. Node 0 is the root and has no frame; the parent of
 * a node has a lower number. A node takes 8 bytes and at most 43 in the index, a context
 * 16 and as many.
 */
#ifndef HI_CENSUS_EVENTS_CONTEXTS_H
#define HI_CENSUS_EVENTS_CONTEXTS_H

#include "base/error.h"
#include "census/event.h"

struct hi_context_node {
	uint32_t parent, frame; /* frame of node 0: HI_FRAME_NONE */
};
#define HI_FRAME_NONE UINT32_MAX

enum hi_context_flags {
	HI_CONTEXT_CUT = 1,	/* outer frames are missing */
	HI_CONTEXT_MISSING = 2, /* events named it, but its stack did not come */
};
struct hi_context {
	uint64_t stack; /* hash of the frames, as in events */
	uint32_t node;	/* its innermost frame; 0: it has none */
	uint32_t flags; /* enum hi_context_flags */
};

/* The tree as columns: of a recording, or of a file. Borrowed. */
struct hi_context_view {
	const struct hi_context_node *nodes;
	const struct hi_context *contexts; /* [0]: no stack */
	uint32_t n_nodes, n_contexts, n_frames;
};
/* Writes the frames of a context, innermost first, and returns how many there are; 0 if
 * there is no such context. */
unsigned hi_context_frames(const struct hi_context_view *view, uint32_t context,
			   uint32_t frames[HI_STACK_FRAMES]);
/* Checks what hi_context_frames() relies on: numbers in range, parents before their
 * children, and at most HI_STACK_FRAMES frames to a stack. For files. */
bool hi_contexts_are_valid(const struct hi_context_view *view);

struct hi_contexts;
/* *ret: hi_contexts_destroy(). */
enum hi_status hi_contexts_create(struct hi_contexts **ret, struct hi_error *err);
void hi_contexts_destroy(struct hi_contexts *contexts);
/* The number of the context with this hash, a new one if the stack did not come yet.
 * Hash 0 is context 0. HI_NO_MEMORY; HI_LIMIT: 2^31 of them. */
enum hi_status hi_contexts_number(struct hi_contexts *contexts, uint64_t stack,
				  uint32_t *ret, struct hi_error *err);
/* Adds the frames of a stack; a stack that was added before is left as it is. */
enum hi_status hi_contexts_add(struct hi_contexts *contexts,
			       const struct hi_event_stack *stack, struct hi_error *err);
/* Valid until the next number or stack is added. */
void hi_contexts_view(const struct hi_contexts *contexts, struct hi_context_view *ret);
/* Return addresses by number of the frame, n_frames of the view; borrowed likewise. */
const uint64_t *hi_contexts_addresses(const struct hi_contexts *contexts);

#endif
