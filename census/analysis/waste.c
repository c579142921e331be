/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/waste.h"

#include <stdlib.h>

void hi_slab_class_add(struct hi_slab_class *sum, const struct hi_slab_class *c)
{
	sum->slabs += c->slabs;
	sum->bytes += c->bytes;
	sum->slots += c->slots;
	sum->live += c->live;
	sum->cached += c->cached;
	sum->empty += c->empty;
	sum->sparse += c->sparse;
	sum->sparse_bytes += c->sparse_bytes;
	sum->slack += c->slack;
}

void hi_heap_use_free(struct hi_heap_use *use)
{
	free(use->slab_classes);
	use->slab_classes = NULL;
	use->n_slab_classes = 0;
}
