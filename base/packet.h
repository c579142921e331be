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

/*
 * Bytes of any number in packets of their own. Receive: at most `most` bytes of them;
 * *ret is for the caller to free, with *n_ret bytes, and NULL where there are none.
 * False: the other end is closed, there are more, or memory ran out.
 */
bool hi_packet_send_bytes(int socket, const void *bytes, size_t n);
bool hi_packet_receive_bytes(int socket, size_t most, void **ret, size_t *n_ret);

#endif
