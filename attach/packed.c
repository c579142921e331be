/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/packed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attach/word_pack.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"

/*
 * Note [Packing]
 *
 * The area is cut as the pager cuts it, into blocks at whole multiples of HI_PAGER_BLOCK;
 * each block that has contents is packed by itself (word_pack.h). Blocks are given back by
 * strides, as large as a huge page: of one that is given back in part, the kernel keeps all
 * of it for a while.
 *
 * The pager watches the area before the first stride is given back, so that threads may
 * read all the time. A block that is not packed (memory ran out, its data does not shrink)
 * stays where it is.
 */
enum { BLOCK = HI_PAGER_BLOCK, STRIDE = 2 << 20, CHUNK = 4 << 20 };

/* Less is not worth the faults. */
enum { WORTH_NUMERATOR = 3, WORTH_DENOMINATOR = 4, TRIED = 8 << 20 };

static_assert(HI_PAGER_BLOCK <= (size_t)HI_WORD_PACK_MOST, "a block is packed at once");

struct piece {
	const unsigned char *at;
	size_t size; /* 0: not packed; that of the block: as it is */
};

struct hi_packed {
	unsigned char *area;
	size_t size;
	uint64_t first; /* number of the first block: host address / block */
	size_t n_blocks;
	struct piece *pieces; /* n_blocks */
	struct HI_VECTOR(unsigned char *) chunks;
	size_t used; /* of the last one */
	struct hi_pager_range *ranges;
	size_t n_ranges;
	size_t next_range, next_block; /* to pack; 0: from the beginning of the range */
	struct hi_pager *pager;
	struct hi_packed_stats stats;
};

/* ---- where blocks are ---- */

static unsigned char *block_begin(const struct hi_packed *p, size_t block)
{
	uintptr_t start = (p->first + block) * BLOCK, area = (uintptr_t)p->area;

	return p->area + (start > area ? start - area : 0);
}

/* A block at an end of the area is smaller. */
static size_t block_size(const struct hi_packed *p, size_t block)
{
	uintptr_t end = (p->first + block + 1) * BLOCK;
	uintptr_t area_end = (uintptr_t)p->area + p->size;

	return (end < area_end ? end : area_end) - (uintptr_t)block_begin(p, block);
}

static size_t packed_block_at(const struct hi_packed *p, uintptr_t host)
{
	return host / BLOCK - p->first;
}

/* ---- packing ---- */

/* Room for a block that does not shrink. */
static bool have_room(struct hi_packed *p)
{
	unsigned char *chunk;

	if (p->chunks.count && p->used + HI_WORD_PACK_ROOM <= CHUNK)
		return true;
	chunk = hi_pages_alloc(CHUNK);
	if (chunk && hi_vector_push(&p->chunks, chunk)) {
		p->used = 0;
		return true;
	}
	hi_pages_free(chunk, chunk ? CHUNK : 0);
	return false;
}

static bool pack_one_block(struct hi_packed *p, size_t block)
{
	const unsigned char *from = block_begin(p, block);
	size_t size = block_size(p, block), n;
	unsigned char *to;

	if (p->pieces[block].size)
		return true;
	if (!have_room(p))
		return false;
	to = p->chunks.items[p->chunks.count - 1] + p->used;
	n = hi_word_pack(from, size, to);
	if (n >= size) {
		memcpy(to, from, size);
		n = size;
	}
	p->pieces[block] = (struct piece){to, n};
	p->used += n;
	p->stats.packed += size;
	p->stats.stored += n;
	return true;
}

/* Gives back the packed blocks [first, end), which all have contents. */
static void give_back(struct hi_packed *p, size_t first, size_t end)
{
	const unsigned char *from = block_begin(p, first);

	if (first < end)
		hi_pager_give_back(p->pager, from,
				   (size_t)(block_begin(p, end - 1) +
					    block_size(p, end - 1) - from));
}

static bool is_packing_worth_it(const struct hi_packed *p)
{
	return p->stats.packed < TRIED ||
	       p->stats.stored < p->stats.packed / WORTH_DENOMINATOR * WORTH_NUMERATOR;
}

/* The blocks of one range from next_block on, until `most` bytes are packed. A block that the
 * range before ended in is packed already, but not given back before all that is in it was.
 * False: no more is packed now. */
static bool pack_range(struct hi_packed *p, const struct hi_pager_range *range,
		       uint64_t most)
{
	size_t block = packed_block_at(p, (uintptr_t)range->host);
	size_t end = packed_block_at(p, (uintptr_t)range->host + range->size - 1) + 1;
	size_t given;

	if (p->next_block)
		block = p->next_block;
	for (given = block; block < end; block++) {
		if ((p->first + block) * BLOCK % STRIDE == 0) {
			give_back(p, given, block);
			given = block;
			if (p->stats.packed >= most)
				break;
		}
		if (!is_packing_worth_it(p) || !pack_one_block(p, block)) {
			p->next_range = p->n_ranges;
			break;
		}
	}
	give_back(p, given, block);
	p->next_block = block == end ? 0 : block;
	return block == end;
}

static void pack_ranges(struct hi_packed *p, uint64_t most)
{
	while (p->next_range < p->n_ranges && p->stats.packed < most &&
	       pack_range(p, &p->ranges[p->next_range], most))
		p->next_range++;
}

/* ---- unpacking ---- */

/* The whole block; false: it cannot be unpacked. */
static bool unpack_block(const struct hi_packed *p, size_t block, unsigned char *to)
{
	const struct piece *piece = &p->pieces[block];
	size_t size = block_size(p, block);

	if (piece->size == size) {
		memcpy(to, piece->at, size);
		return true;
	}
	return hi_word_unpack(piece->at, piece->size, to, size);
}

/* The read of struct hi_pager_request; addresses are those of this process. */
static size_t read_packed(void *arg, uint64_t addr, void *to, size_t size)
{
	struct hi_packed *p = arg;
	unsigned char *scratch = NULL, *out = to;
	size_t done = 0;

	while (done < size) {
		size_t block = packed_block_at(p, addr + done);
		size_t skip = addr + done - (uintptr_t)block_begin(p, block);
		size_t n = block_size(p, block) - skip;

		n = n < size - done ? n : size - done;
		if (n == block_size(p, block)) {
			if (!unpack_block(p, block, out + done))
				break;
		} else {
			scratch = scratch ? scratch : hi_alloc(BLOCK);
			if (!scratch || !unpack_block(p, block, scratch))
				break;
			memcpy(out + done, scratch + skip, n);
		}
		done += n;
	}
	free(scratch);
	return done;
}

/* ---- its life ---- */

static bool take_ranges(struct hi_packed *p, const struct hi_packed_request *request)
{
	p->n_ranges = request->n_ranges;
	p->ranges = hi_calloc(request->n_ranges, sizeof(*p->ranges));
	for (size_t i = 0; p->ranges && i < request->n_ranges; i++) {
		p->ranges[i] = request->ranges[i];
		p->ranges[i].addr = (uintptr_t)request->ranges[i].host;
	}
	return p->ranges;
}

static enum hi_status prepare_packing(struct hi_packed *p,
				      const struct hi_packed_request *request,
				      struct hi_error *err)
{
	uintptr_t area = (uintptr_t)request->area;

	p->area = request->area;
	p->size = request->size;
	p->first = area / BLOCK;
	p->n_blocks = (area + request->size - 1) / BLOCK - p->first + 1;
	p->pieces = hi_calloc(p->n_blocks, sizeof(*p->pieces));
	return take_ranges(p, request) && p->pieces ? HI_OK
						    : hi_fail_memory(err, "packed image");
}

enum hi_status hi_packed_create(const struct hi_packed_request *request,
				struct hi_packed **ret, struct hi_error *err)
{
	HI_GUARD(hi_packed_destroy) struct hi_packed *p = hi_calloc(1, sizeof(*p));
	struct hi_pager_request pager;
	enum hi_status status;

	if (!p)
		return hi_fail_memory(err, "packed image");
	status = prepare_packing(p, request, err);
	pager = (struct hi_pager_request){.area = request->area,
					  .size = request->size,
					  .ranges = p->ranges,
					  .n_ranges = request->n_ranges,
					  .budget = request->budget,
					  .threads = 1,
					  .is_filled = true,
					  .read = read_packed,
					  .arg = p};
	if (status == HI_OK)
		status = hi_pager_create(&pager, &p->pager, err);
	if (status != HI_OK)
		return status;
	pack_ranges(p, request->most ? request->most : UINT64_MAX);
	*ret = hi_take(p);
	return HI_OK;
}

void hi_packed_continue(struct hi_packed *packed)
{
	pack_ranges(packed, UINT64_MAX);
}

struct hi_packed_stats hi_packed_stats(const struct hi_packed *packed)
{
	struct hi_packed_stats stats = packed->stats;

	stats.lost = hi_pager_stats(packed->pager).lost;
	return stats;
}

void hi_packed_destroy(struct hi_packed *packed)
{
	if (!packed)
		return;
	hi_pager_destroy(packed->pager);
	for (size_t i = 0; i < packed->chunks.count; i++)
		hi_pages_free(packed->chunks.items[i], CHUNK);
	hi_vector_free(&packed->chunks);
	free(packed->pieces);
	free(packed->ranges);
	free(packed);
}
