/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Certain records]
 *
 * That a word is no pointer needs as much evidence as that it is one. A word is left out
 * of the scan only where the record that covers it is certain:
 *
 *   - a runtime or a container describes it, or the number of elements is known;
 *   - a vtable or a typed pointer to the block's start names it, and the allocator would
 *     give a block of this size for it (decode/layouts/block_sizes.h), or for n of them
 * where no record begins with it and has that size (inference_rounds.c); or its last
 * member goes on to the end of the block.
 *
 * A pointer to an integer, a character or an enumerator describes one element and nothing
 * after it. A record that is smaller than its block may be the first member or a base
 * class of a larger record. In such a block every word that is no pointer member is
 * scanned conservatively, and the type counts as inferred.
 */
#ifndef HI_DECODE_INFERENCE_TRUST_H
#define HI_DECODE_INFERENCE_TRUST_H

#include "decode/inference/typing_state.h"

/* Does the key's type describe the whole of a block of `usable` bytes? Not for text, of
 * which that depends on the contents. */
bool hi_record_is_certain(const struct hi_block_sizes *sizes,
			  const struct hi_layout *layout, uint32_t key, uint64_t usable,
			  bool tail_known);

/* Words of one block, marked as they are scanned; for one thread. */
struct hi_cover {
	uint64_t *bits;
	size_t capacity; /* in elements of bits */
	uint64_t n;	 /* words of the block */
};
/* Clears the marks, for a block of `usable` bytes. False: out of memory. */
[[nodiscard]] bool hi_cover_begin(struct hi_cover *cover, uint64_t usable);
/* Frees the memory of the marks. */
void hi_cover_end(struct hi_cover *cover);

/* Marks the word at `offset` of the block; nothing if it is not aligned or not inside. */
static inline void hi_cover_mark(struct hi_cover *cover, uint64_t offset)
{
	uint64_t i = offset / 8;

	if (i < cover->n && offset % 8 == 0)
		cover->bits[i >> 6] |= 1ull << (i & 63);
}
/* Is word i marked? i is below cover->n. */
static inline bool hi_cover_has(const struct hi_cover *cover, uint64_t i)
{
	return cover->bits[i >> 6] >> (i & 63) & 1;
}
/* Marks the words of records with rules: the rules have read all of them. */
void hi_cover_rule_sites(struct hi_cover *cover, const struct hi_typing *typing,
			 const struct hi_layout *layout, bool array, uint64_t usable);

#endif
