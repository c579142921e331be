/* SPDX-License-Identifier: BSD-2-Clause */
/* What live objects hold: identical, zero and unused bytes. */
#ifndef HI_DECODE_CONTENTS_H
#define HI_DECODE_CONTENTS_H

#include "census/analysis.h"
#include "census/waste.h"
#include "decode/typing/typing.h"

struct hi_contents_options {
	unsigned threads; /* 0: hi_parallel_threads() */
	/* The groups to list; rows are of all types. */
	size_t top;	   /* at most */
	uint64_t min_size; /* with so many bytes to save */
	const bool *types; /* NULL: of every type */
	uint32_t n_types;  /* of types */
};

/*
 * Reads the bytes of every live object once. Contents are equal when 112 bits of
 * a hash over type, size and bytes are. At most 16 bytes an object while it works.
 * Deterministic, whatever the number of threads.
 */
enum hi_status hi_contents_compare(const struct hi_image *image,
				   const struct hi_typing *typing,
				   const struct hi_graph *graph,
				   const struct hi_reach *reach,
				   const struct hi_contents_options *options,
				   struct hi_waste **ret, struct hi_error *err);
void hi_waste_destroy(struct hi_waste *waste);

#endif
