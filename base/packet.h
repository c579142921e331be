/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of a fixed size on a socket pair, with or without a descriptor. */
#ifndef HI_BASE_PACKET_H
#define HI_BASE_PACKET_H

#include <stdbool.h>
#include <stddef.h>

/* Sends one packet. fd: -1: none; it stays the caller's. False: the other end is
 * closed. */
bool hi_packet_send(int socket, const void *bytes, size_t size, int fd);
/* Receives one packet. flags: of recvmsg(2). *fd_ret: for the caller to close; -1:
 * none. False: the other end is closed, or the packet has another size or several
 * descriptors, which are closed. */
bool hi_packet_receive(int socket, void *bytes, size_t size, int flags, int *fd_ret);

#endif
