/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images and targets for a process that has given up its rights (base/rights.h) and reads
 * many of them, one after another.
 *
 * Note [Images that are sent]
 *
 * One socket pair of packets (base/packet.h) leads from the process with the rights, the
 * sender, to the one without, the receiver.
 *
 * Memory of a copy is sent as pages that only the sender can write to (sealed.h), to be
 * mapped; of a fork the receiver gets the memory of the copy-on-write child, which it
 * reads into pages of its own, at once or in place: pages of a memfd are small ones, and
 * cost more than twice the time.
 *
 * Descriptors of that child go with it: its memory and smaps_rollup for reading, pidfds
 * to be polled, and the socket of the tracer, which takes only "end the child" from it.
 * All else is flat data (flat.h) of the same program's structures.
 *
 * There is nothing by which the receiver could reach the target: files that the target
 * maps are opened by the sender (HI_FILES_MAPPING, by the address of the mapping;
 * HI_FILES_OPEN_IN_ROOT). The sender receives nothing here. It keeps its image, given
 * away (hi_image_give_away), until the receiver is done with its own, to open such files,
 * and to end the child whatever the receiver did. For a fork it has not read the private
 * memory, and must not read its image.
 */
#ifndef HI_ATTACH_IMAGE_SEND_H
#define HI_ATTACH_IMAGE_SEND_H

#include "attach/image_kept.h"
#include "attach/target.h"

/*
 * Sends an image: one of a live process that was made `sendable` (stop_options.h), of
 * unstopped.h. It stays as it is. Blocks while the receiver does not receive, unless the
 * socket has a limit (SO_SNDTIMEO). HI_GONE: the receiver has ended, or the limit was
 * over. HI_UNSUPPORTED: such an image cannot be sent; HI_NO_MEMORY, HI_OS, HI_LIMIT; then
 * nothing was sent.
 */
enum hi_status hi_image_send(struct hi_image *image, int socket, struct hi_error *err);
/*
 * Receives one; of a fork, reads the child and ends it, unless that is to be read in
 * place. kept: pages of the image before, which this one then has; empty afterwards.
 * NULL: neither has this one pages that can be kept. *ret: freed by hi_image_destroy().
 * HI_GONE: the sender has ended, or the child
 * before it was read. HI_UNSUPPORTED: it cannot be read in place here. HI_BAD_DATA:
 * something else was sent. HI_NO_MEMORY, HI_OS.
 */
enum hi_status hi_image_receive(int socket, struct hi_image_kept *kept,
				struct hi_image **ret, struct hi_error *err);

/* Can images of this process be sent? False: the size of files is limited (ulimit -f) for
 * it, and it may not change that. */
bool hi_images_can_be_sent(void);

/* Sends what is known of a target, with its pidfd. Fails as hi_image_send(). */
enum hi_status hi_target_send(const struct hi_target *target, int socket,
			      struct hi_error *err);
/* Receives one, as it is after hi_target_release(), but with a pidfd. *ret: closed by
 * hi_target_close(). */
enum hi_status hi_target_receive(int socket, struct hi_target **ret,
				 struct hi_error *err);

#endif
