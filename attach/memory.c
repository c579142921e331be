/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/memory.h"

#include <string.h>

enum hi_status hi_memory_read(struct hi_memory *mem, uint64_t addr, void *buf,
			      size_t size, struct hi_error *err)
{
	if (size == 0)
		return HI_OK;
	if (addr + size < addr)
		return hi_fail(err, HI_FAULT, addr, "range 0x%llx+0x%zx wraps",
			       (unsigned long long)addr, size);
	return mem->ops->read(mem, addr, buf, size, err);
}

enum hi_status hi_memory_read_u64(struct hi_memory *mem, uint64_t addr, uint64_t *ret,
				  struct hi_error *err)
{
	return hi_memory_read(mem, addr, ret, sizeof(*ret), err);
}

const void *hi_memory_view(struct hi_memory *mem, uint64_t addr, size_t *avail_ret)
{
	return mem->ops->view ? mem->ops->view(mem, addr, avail_ret) : NULL;
}

void hi_memory_destroy(struct hi_memory *mem)
{
	if (mem)
		mem->ops->destroy(mem);
}
