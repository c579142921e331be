/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what cpython_walk.h has. */
#ifndef HI_RUNTIMES_CPYTHON_WALK_FIND_H
#define HI_RUNTIMES_CPYTHON_WALK_FIND_H

#include "decode/modules/modules.h"
#include "decode/runtimes/cpython_walk.h"

/* Fills all but the evals. modules: of a process that runs, or not. False: there is no
 * CPython, or none whose layout is known; *ret is all 0. */
bool hi_python_find(struct hi_modules *modules, struct hi_python_walk *ret);
/* The file that the interpreter is in; NULL: there is none. */
struct hi_module *hi_python_module(struct hi_modules *modules);
/* Returns the address of the allocators of the domains raw, mem and obj (each struct
 * PyMemAllocatorEx); 0: they are variables of their own, up to 3.11. minor: of
 * hi_python_find(). */
uint64_t hi_python_allocators(struct hi_modules *modules, unsigned minor);
/* Sizes of pymalloc, in bytes; 0: not known. minor: of hi_python_find(). */
uint32_t hi_python_pool_size(struct hi_modules *modules, unsigned minor);
/* Does a debug allocator put marks around the blocks (PYTHONMALLOC=debug)? memory: of the
 * process. */
bool hi_python_has_marks(struct hi_modules *modules, struct hi_memory *memory,
			 unsigned minor);
/* Of one that another process has found: may it be used? */
bool hi_python_walk_is_valid(const struct hi_python_walk *walk);

#endif
