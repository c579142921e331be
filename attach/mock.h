/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory made of literals, for tests. Segments may not overlap. */
#ifndef HI_ATTACH_MOCK_H
#define HI_ATTACH_MOCK_H

#include "attach/memory.h"

/* An empty memory. *ret: freed by hi_memory_destroy(). HI_NO_MEMORY. */
enum hi_status hi_memory_create_mock(struct hi_memory **ret, struct hi_error *err);
/* Copies size bytes (zeroes if bytes is NULL) to target address addr. */
enum hi_status hi_memory_mock_add(struct hi_memory *mock, uint64_t addr,
				  const void *bytes, size_t size, struct hi_error *err);
/* Host address of a byte that was added, to poke into; NULL if none. */
void *hi_memory_mock_at(struct hi_memory *mock, uint64_t addr);
/* From now on the nth read or view (1 = next) and all later ones fault; 0 = off. */
void hi_memory_mock_fail_at(struct hi_memory *mock, uint64_t nth);
/* Makes one page [page, page+4096) of what was added unreadable. */
void hi_memory_mock_poison(struct hi_memory *mock, uint64_t page);

#endif
