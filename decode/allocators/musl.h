/* SPDX-License-Identifier: BSD-2-Clause */
/* Common parts of mallocng and oldmalloc: musl. For this folder and its tests. */
#ifndef HI_DECODE_ALLOCATORS_MUSL_H
#define HI_DECODE_ALLOCATORS_MUSL_H

#include "attach/stop.h"
#include "decode/modules/modules.h"

/* False: the process runs on glibc's libc.so.6, which excludes another C library. */
bool hi_musl_may_be_in(struct hi_modules *modules);
/* musl is module, and its text names its version: "1.2.3" into ret, which stays as it is
 * else. */
void hi_musl_find_version(const struct hi_image *image, struct hi_modules *modules,
			  const struct hi_module *module, char ret[64]);

/* A thread that may be in malloc by its stack: the system call that it is in is none of
 * malloc's, whose code is text. Note [Stacks of musl] in recheck_musl.c. */
bool hi_musl_waits_outside(const struct hi_thread *thread, struct hi_modules *modules,
			   const struct hi_range *text, size_t n_text);

#endif
