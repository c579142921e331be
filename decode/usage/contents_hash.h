/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash of the bytes of each object, by which two images of one process tell whether an
 * object was written between them.
 *
 * It is of what the program sees of the object: without the header that a runtime puts in
 * front (CPython's collector links its objects there, which is no use of them).
 */
#ifndef HI_DECODE_USAGE_CONTENTS_HASH_H
#define HI_DECODE_USAGE_CONTENTS_HASH_H

#include "attach/image.h"
#include "census/graph/graph.h"

#define HI_CONTENTS_UNREAD 0 /* as a hash: some bytes are not in the image */

/*
 * hash: n_objects of the graph; those whose bit in `wanted` is not set become
 * HI_CONTENTS_UNREAD. Hashes that differ prove that bytes differ. threads 0:
 * hi_parallel_threads(). HI_NO_MEMORY.
 */
enum hi_status hi_contents_hash(struct hi_image *image, const struct hi_graph *graph,
				const uint64_t *wanted, unsigned threads, uint64_t *hash,
				struct hi_error *err);

#endif
