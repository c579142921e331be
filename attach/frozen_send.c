/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/frozen_send.h"

#include "attach/dense.h"
#include "attach/frozen_memory_internal.h"
#include "attach/sealed.h"
#include "base/alloc.h"

struct sent_block {
	size_t size;
	uint64_t pages; /* where they are, for a like alignment */
};

struct sent_span {
	uint64_t start, end;
	uint64_t block, offset; /* of its bytes */
	bool has_holes;		/* its bitmaps follow */
};

size_t hi_frozen_blocks(const struct hi_frozen *frozen)
{
	return frozen->owned.count;
}

int hi_frozen_block_fd(const struct hi_frozen *frozen, size_t block)
{
	return frozen->owned.items[block].fd;
}

unsigned char *hi_frozen_block_pages(const struct hi_frozen *frozen, size_t block)
{
	return frozen->owned.items[block].pages;
}

size_t hi_frozen_block_size(const struct hi_frozen *frozen, size_t block)
{
	return frozen->owned.items[block].size;
}

/* ---- put ---- */

static struct sent_span locate_span(const struct hi_frozen *frozen,
				    const struct hi_frozen_span *span)
{
	struct sent_span sent = {.start = span->start,
				 .end = span->end,
				 .block = UINT64_MAX,
				 .has_holes = span->block};

	for (size_t i = 0; i < frozen->owned.count; i++) {
		const struct hi_frozen_block *block = &frozen->owned.items[i];
		uintptr_t offset = (uintptr_t)span->host - (uintptr_t)block->pages;

		if ((uintptr_t)span->host < (uintptr_t)block->pages ||
		    offset >= block->size)
			continue;
		sent.block = i;
		sent.offset = offset;
	}
	return sent;
}

void hi_frozen_put(const struct hi_frozen *frozen, struct hi_flat *flat)
{
	uint64_t n_blocks = frozen->owned.count, n_spans = frozen->spans.count;

	hi_flat_put(flat, &n_blocks, sizeof(n_blocks));
	for (size_t i = 0; i < n_blocks; i++) {
		const struct hi_frozen_block *block = &frozen->owned.items[i];
		struct sent_block sent = {block->size, (uintptr_t)block->pages};

		hi_flat_put(flat, &sent, sizeof(sent));
	}
	hi_flat_put(flat, &n_spans, sizeof(n_spans));
	for (size_t i = 0; i < n_spans; i++) {
		const struct hi_frozen_span *span = &frozen->spans.items[i];
		struct sent_span sent = locate_span(frozen, span);

		hi_flat_put(flat, &sent, sizeof(sent));
		if (span->block)
			hi_flat_put(flat, span->block,
				    hi_frozen_bitmaps_size(hi_frozen_words(span)));
	}
	hi_flat_put_array(flat, frozen->zeros.items, frozen->zeros.count,
			  sizeof(*frozen->zeros.items));
	hi_flat_put_array(flat, frozen->held.items, frozen->held.count,
			  sizeof(*frozen->held.items));
	hi_flat_put(flat, &frozen->knows_residency, sizeof(frozen->knows_residency));
}

/* ---- get ---- */

static enum hi_status get_block(struct hi_flat_reader *reader, struct hi_frozen *frozen,
				int fd, struct hi_error *err)
{
	struct sent_block sent;
	enum hi_status status;
	void *pages;

	hi_flat_get(reader, &sent, sizeof(sent));
	if (fd < 0)
		pages = hi_dense_alloc(sent.size, sent.pages);
	else
		pages = hi_sealed_map(fd, sent.size);
	if (!pages && fd < 0)
		return hi_fail_memory(err, "address space for the image");
	if (!pages)
		return hi_fail_errno(err, "memory of an image that was sent");
	status = hi_frozen_own(frozen, pages, sent.size, err);
	if (status != HI_OK)
		hi_pages_free(pages, sent.size);
	return status;
}

static enum hi_status get_blocks(struct hi_flat_reader *reader, struct hi_frozen *frozen,
				 const int *fds, size_t n_fds, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t n;

	hi_flat_get(reader, &n, sizeof(n));
	if (n != n_fds)
		return hi_fail(err, HI_BAD_DATA, 0, "memory of an image that was sent");
	for (size_t i = 0; status == HI_OK && i < n; i++)
		status = get_block(reader, frozen, fds[i], err);
	return status;
}

static bool lies_in_block(const struct hi_frozen *frozen, const struct sent_span *sent)
{
	const struct hi_frozen_block *block;

	if (sent->block >= frozen->owned.count || sent->start >= sent->end)
		return false;
	block = &frozen->owned.items[sent->block];
	return sent->offset <= block->size &&
	       sent->end - sent->start <= block->size - sent->offset;
}

static enum hi_status get_span(struct hi_flat_reader *reader, struct hi_frozen *frozen,
			       struct hi_error *err)
{
	struct hi_frozen_span *span;
	struct sent_span sent;
	uint64_t n_words;

	hi_flat_get(reader, &sent, sizeof(sent));
	if (reader->is_short || !lies_in_block(frozen, &sent))
		return hi_fail(err, HI_BAD_DATA, 0, "spans of an image that was sent");
	if (!hi_vector_push(&frozen->spans,
			    (struct hi_frozen_span){
				    .start = sent.start,
				    .end = sent.end,
				    .host = hi_frozen_block_pages(frozen, sent.block) +
					    sent.offset}))
		return hi_fail_memory(err, "frozen memory");
	if (!sent.has_holes)
		return HI_OK;
	span = &frozen->spans.items[frozen->spans.count - 1];
	n_words = hi_frozen_words(span);
	if (!hi_frozen_alloc_bitmaps(span, n_words))
		return hi_fail_memory(err, "frozen memory");
	hi_flat_get(reader, span->block, hi_frozen_bitmaps_size(n_words));
	return HI_OK;
}

static bool get_ranges(struct hi_flat_reader *reader, struct hi_frozen_range **items,
		       size_t *count, size_t *capacity)
{
	*items = hi_flat_copy_array(reader, count, sizeof(**items));
	*capacity = *count;
	return *items;
}

static enum hi_status get_frozen_parts(struct hi_flat_reader *reader,
				       struct hi_frozen *frozen, const int *fds,
				       size_t n_fds, struct hi_error *err)
{
	enum hi_status status = get_blocks(reader, frozen, fds, n_fds, err);
	uint64_t n_spans = 0;

	if (status == HI_OK)
		hi_flat_get(reader, &n_spans, sizeof(n_spans));
	for (uint64_t i = 0; status == HI_OK && i < n_spans; i++)
		status = get_span(reader, frozen, err);
	if (status != HI_OK)
		return status;
	if (!get_ranges(reader, &frozen->zeros.items, &frozen->zeros.count,
			&frozen->zeros.capacity) ||
	    !get_ranges(reader, &frozen->held.items, &frozen->held.count,
			&frozen->held.capacity))
		return hi_fail_memory(err, "frozen memory");
	hi_flat_get(reader, &frozen->knows_residency, sizeof(frozen->knows_residency));
	hi_frozen_fill_lookup(frozen);
	return reader->is_short
		       ? hi_fail(err, HI_BAD_DATA, 0, "memory of an image that was sent")
		       : HI_OK;
}

enum hi_status hi_frozen_get(struct hi_flat_reader *reader, const char *name,
			     const int *fds, size_t n_fds, struct hi_frozen **ret,
			     struct hi_error *err)
{
	struct hi_frozen *frozen = NULL;
	enum hi_status status = hi_frozen_create(name, &frozen, err);

	if (status != HI_OK)
		return status;
	status = get_frozen_parts(reader, frozen, fds, n_fds, err);
	if (status != HI_OK) {
		hi_memory_destroy(hi_frozen_memory(frozen));
		return status;
	}
	*ret = frozen;
	return HI_OK;
}
