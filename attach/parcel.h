/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flat data (flat.h) and descriptors, from one process to a forked one over a socket pair
 * of packets. The sender trusts nothing and receives nothing; the receiver trusts the
 * sender. Internal to attach/.
 */
#ifndef HI_ATTACH_PARCEL_H
#define HI_ATTACH_PARCEL_H

#include "attach/flat.h"
#include "base/error.h"

enum { HI_PARCEL_FDS = 64 };

/* Tells what was sent from what was expected. */
enum hi_parcel_kind { HI_PARCEL_IMAGE = 0x696d6731, HI_PARCEL_TARGET = 0x74677431 };

/* Zero-initialised is empty; hi_parcel_free(). */
struct hi_parcel {
	struct hi_flat flat;
	int fds[HI_PARCEL_FDS];
	bool owned[HI_PARCEL_FDS];
	size_t n_fds;
	bool is_full; /* more descriptors were added */
};

/* Adds a descriptor; -1: none, which the receiver gets, too. It stays the caller's, or is
 * closed with the parcel. */
void hi_parcel_add_fd(struct hi_parcel *parcel, int fd, bool owned);
/*
 * Blocks until the other process has taken most of it. HI_NO_MEMORY, HI_OS, HI_LIMIT:
 * nothing was sent. HI_GONE: the other end is closed, or SO_SNDTIMEO of the socket is
 * over.
 */
enum hi_status hi_parcel_send(const struct hi_parcel *parcel, int socket,
			      enum hi_parcel_kind kind, struct hi_error *err);
void hi_parcel_free(struct hi_parcel *parcel);

/* One that was received; hi_parcel_close(). */
struct hi_parcel_reader {
	struct hi_flat_reader flat;
	void *pages;
	size_t size;
	int fds[HI_PARCEL_FDS];
	size_t n_fds, next_fd;
};

/* HI_GONE: the other end is closed. HI_BAD_DATA: it is another kind. On failure there is
 * nothing to close. */
enum hi_status hi_parcel_receive(int socket, enum hi_parcel_kind kind,
				 struct hi_parcel_reader *ret, struct hi_error *err);
/* The next descriptor, in the order in which they were added: the caller's. -1: none. */
int hi_parcel_take_fd(struct hi_parcel_reader *reader);
/* Frees the data, and closes the descriptors that were not taken. */
void hi_parcel_close(struct hi_parcel_reader *reader);

#endif
