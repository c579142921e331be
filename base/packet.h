/* SPDX-License-Identifier: BSD-2-Clause */
/* One packet of a fixed size on a socket pair, with a descriptor or without. */
#ifndef HI_BASE_PACKET_H
#define HI_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>

/* fd: -1: none; it stays the caller's. False: the other end is closed. */
bool hi_packet_send(int socket, const void *bytes, size_t size, int fd);
/* flags: of recvmsg. *fd_ret: the caller's; -1: none came, or there was no room for it.
 * False: not a whole packet. */
bool hi_packet_receive(int socket, void *bytes, size_t size, int flags, int *fd_ret);

#endif
