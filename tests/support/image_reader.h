/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A forked process that has dropped its rights and receives images and targets
 * (attach/image_send.h), and text that says all that one answers: the same text in both
 * processes is the same image.
 */
#ifndef HI_TESTS_SUPPORT_IMAGE_READER_H
#define HI_TESTS_SUPPORT_IMAGE_READER_H

#include <sys/types.h>

#include "attach/target.h"

/* For each mapping its fields, bytes, residency and file; all other parts, and the
 * figures. To be freed. */
char *hi_test_describe_image(struct hi_image *image);
char *hi_test_describe_target(const struct hi_target *target);

struct hi_image_reader;

/* Forks it; it ends with the test. */
struct hi_image_reader *hi_image_reader_start(void);
pid_t hi_image_reader_pid(const struct hi_image_reader *reader);
/* Sends one, which the other process keeps until the close. Returns what that says of it,
 * until the next call; files that it asks for are opened meanwhile. */
const char *hi_image_reader_send(struct hi_image_reader *reader, struct hi_image *image);
/* Sends one, which the other process destroys at once. */
void hi_image_reader_pass(struct hi_image_reader *reader, struct hi_image *image);
/* As hi_image_reader_send() for a target. */
const char *hi_image_reader_send_target(struct hi_image_reader *reader,
					const struct hi_target *target);
/* The other process describes the image once more. */
const char *hi_image_reader_again(struct hi_image_reader *reader);
/* The other process destroys the image. */
void hi_image_reader_close(struct hi_image_reader *reader);
/* How many descriptors it has. */
int hi_image_reader_descriptors(struct hi_image_reader *reader);
/* Fails where the texts differ, with the first line that does. */
void hi_test_same_text(const char *expected, const char *actual);

#endif
