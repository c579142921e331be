/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Words that the kernel keeps]
 *
 * The data of a watched descriptor (epoll_event.data) and the value of a timer
 * (sigev_value) are often the only pointer that a program has to an object: the kernel
 * gives it back with each event. They are in no memory of the target, but procfs shows
 * them (fdinfo of epoll descriptors, timers). They are read while the target is stopped.
 * The kernel takes more than a microsecond for each, and holds the epoll's lock
 * meanwhile; so if a process has very many descriptors they are not read at all, and
 * count as memory that could not be read. After its process is gone they are known as of
 * the last look before, and others may have come since.
 */
#ifndef HI_ATTACH_KERNEL_WORDS_H
#define HI_ATTACH_KERNEL_WORDS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct hi_kernel_word {
	uint64_t word;
	int descriptor; /* of the epoll; -1: of a timer */
};

enum { HI_MAX_EPOLLS = 64 };
/* The text that procfs has of them. Zeroed at first; hi_kernel_text_free(). */
struct hi_kernel_text {
	int epolls[HI_MAX_EPOLLS];
	size_t ends[HI_MAX_EPOLLS + 1]; /* of each one's text; then that of timers */
	size_t n_epolls, n_descriptors;
	char *bytes;
	size_t capacity, size;
	bool is_cut; /* not all was read */
};
/* Looks for epoll descriptors, and allocates memory. The target runs. HI_NO_MEMORY. */
enum hi_status hi_kernel_text_prepare(struct hi_kernel_text *text, pid_t pid,
				      struct hi_error *err);
/* Reads the texts; the target is stopped. A file that may not be read is left out. */
void hi_kernel_text_read(struct hi_kernel_text *text, pid_t pid);
/* They were read some time ago: if there are any descriptors, others may have come. */
void hi_kernel_text_outdate(struct hi_kernel_text *text);
/* The words that were read: *ret is free()d by the caller. *unread_ret: bytes of others,
 * at most. HI_NO_MEMORY. */
enum hi_status hi_kernel_text_words(const struct hi_kernel_text *text,
				    struct hi_kernel_word **ret, size_t *n_ret,
				    uint64_t *unread_ret, struct hi_error *err);
void hi_kernel_text_free(struct hi_kernel_text *text);

#endif
