/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Verdicts]
 *
 * An object that no root reaches is a leak. Types decide which words are pointers, and
 * they may be wrong, so each leak has a verdict:
 *
 *   certain  no word in live memory, in a stack, a register, thread-local storage, a
 *            module's data or the kernel's memory leads to it or into it, of whatever
 *            type, aligned or not (Note [Words at any byte] in verdict.c). LeakSanitizer
 *            would report it too.
 *   likely   some word does, but by its type it is no pointer: an integer, the dead part
 *            of a container, bytes after the end of a text. An object to which such
 *            an object leads, by any of its words, is likely as well.
 *
 * One more pass over all words finds them: the words of live objects, then those of the
 * ranges that roots were read from. The allocator's free memory and its own data are in
 * neither. A filter of pages drops words that lead to no leak, so that the pass costs
 * little more than reading. It runs only where there are leaks. The class that a runtime
 * gives an object (unreachable_classes.h) takes precedence.
 *
 * If live memory could not be read, nothing is certain; of shared memory that depends
 * on what can be read of it (unseen_pages.h).
 */
#ifndef HI_DECODE_INFERENCE_VERDICT_H
#define HI_DECODE_INFERENCE_VERDICT_H

#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/* Fills in the likely leaks of reach. The result does not depend on the number of
 * threads.
 */
enum hi_status hi_leak_verdicts(struct hi_typing *typing, const struct hi_graph *graph,
				struct hi_reach *reach, struct hi_error *err);

/* Writes which word leads to a likely leak: "unsigned long (addresses[3]) in numbers
 * 0x55… +24 has a value that leads there". Returns the length; 0: no word is known. */
size_t hi_typing_explain_likely(struct hi_typing *typing, const struct hi_graph *graph,
				hi_node node, char *out, size_t out_size);

#endif
