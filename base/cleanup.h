/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scope guards. `HI_GUARD(free) char *p = …` frees p whenever the scope is left;
 * `hi_take(p)` passes it on instead. Every guard accepts NULL and half-built objects.
 */
#ifndef HI_BASE_CLEANUP_H
#define HI_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Defines hi_guard_NAME(T *p): calls NAME(*p). Use as HI_GUARD(hi_graph_destroy). */
#define HI_DEFINE_GUARD(type, destroy)                                                   \
	static inline void hi_guard_##destroy(type *p)                                   \
	{                                                                                \
		if (*p)                                                                  \
			destroy(*p);                                                     \
	}
#define HI_GUARD(destroy) __attribute__((cleanup(hi_guard_##destroy)))

/* Frees what *p points to; NULL is fine. Use as HI_GUARD(free). */
static inline void hi_guard_free(void *p)
{
	free(*(void **)p);
}
/* Closes fd; a negative one is no descriptor. */
static inline void hi_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}
static inline void hi_guard_close(int *fd)
{
	hi_close_fd(*fd);
}
HI_DEFINE_GUARD(FILE *, fclose)
HI_DEFINE_GUARD(DIR *, closedir)

/* The value of p, and p becomes NULL: ownership leaves this scope. */
#define hi_take(p)                                                                       \
	({                                                                               \
		__auto_type hi_taken_ = (p);                                             \
		(p) = NULL;                                                              \
		hi_taken_;                                                               \
	})
/* The same for file descriptors guarded by hi_guard_close. */
#define hi_take_fd(fd)                                                                   \
	({                                                                               \
		int hi_taken_ = (fd);                                                    \
		(fd) = -1;                                                               \
		hi_taken_;                                                               \
	})

#endif
