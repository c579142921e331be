/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/usage/contents_hash.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/parallel.h"
#include "decode/inference/memory_windows.h"
#include "decode/usage/digest_bytes.h"

enum { MAX_THREADS = 64 };

struct hash_worker {
	struct hi_memory_window window;
	struct hi_digest_buffers buffers;
};

struct hashing {
	const struct hi_image *image;
	const struct hi_graph *graph;
	const uint64_t *wanted;
	uint64_t *hash;
	struct hi_memory_windows windows;
	struct hash_worker *workers;
	unsigned n_workers;
};

static uint64_t hash_object(const struct hashing *h, struct hash_worker *w,
			    hi_node object)
{
	const struct hi_objects *objects = h->graph->objects;
	uint64_t addr = hi_graph_address(h->graph, object);
	uint64_t size = hi_objects_usable(objects, object) -
			(addr - hi_objects_address(objects, object));
	const uint8_t *host = hi_memory_windows_at(&h->windows, &w->window, addr, size);
	struct hi_digest d = hi_digest_begin(0, size);

	if (host)
		hi_digest_host(&d, host, size);
	else if (!hi_digest_spans(&d, h->image, &w->buffers, addr, size))
		return HI_CONTENTS_UNREAD;
	hi_digest_end(&d);
	return d.a == HI_CONTENTS_UNREAD ? 1 : d.a;
}

static void hash_chunk(void *arg, size_t task, unsigned worker)
{
	const struct hashing *h = arg;
	hi_node first = (hi_node)task * HI_CHUNK_NODES;
	hi_node end = h->graph->n_objects - first < HI_CHUNK_NODES
			      ? h->graph->n_objects
			      : first + HI_CHUNK_NODES;

	for (hi_node i = first; i < end; i++)
		h->hash[i] = hi_bit(h->wanted, i) ? hash_object(h, &h->workers[worker], i)
						  : HI_CONTENTS_UNREAD;
}

static void free_hashing(struct hashing *h)
{
	for (unsigned i = 0; h->workers && i < h->n_workers; i++) {
		free(h->workers[i].buffers.piece);
		free(h->workers[i].buffers.scratch);
	}
	free(h->workers);
	hi_memory_windows_deinit(&h->windows);
}

static enum hi_status make_workers(struct hashing *h, unsigned threads,
				   struct hi_error *err)
{
	h->n_workers = threads ? threads : hi_parallel_threads();
	if (h->n_workers > MAX_THREADS)
		h->n_workers = MAX_THREADS;
	h->workers = hi_calloc(h->n_workers, sizeof(*h->workers));
	if (!h->workers)
		return hi_fail_memory(err, "hashes of objects");
	for (unsigned i = 0; i < h->n_workers; i++) {
		struct hi_digest_buffers *b = &h->workers[i].buffers;

		b->piece = hi_alloc(HI_DIGEST_PIECE);
		b->scratch = hi_alloc(HI_SPAN_SCRATCH);
		if (!b->piece || !b->scratch)
			return hi_fail_memory(err, "hashes of objects");
	}
	return HI_OK;
}

enum hi_status hi_contents_hash(struct hi_image *image, const struct hi_graph *graph,
				const uint64_t *wanted, unsigned threads, uint64_t *hash,
				struct hi_error *err)
{
	struct hashing h = {
		.image = image, .graph = graph, .wanted = wanted, .hash = hash};
	size_t chunks = ((size_t)graph->n_objects + HI_CHUNK_NODES - 1) / HI_CHUNK_NODES;
	enum hi_status status =
		hi_memory_windows_init(&h.windows, image->memory, graph->objects, err);

	if (status == HI_OK)
		status = make_workers(&h, threads, err);
	if (status == HI_OK)
		hi_parallel(h.n_workers, chunks, hash_chunk, &h);
	free_hashing(&h);
	return status;
}
