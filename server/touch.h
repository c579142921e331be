/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a server whether it lives. */
#ifndef HI_SERVER_TOUCH_H
#define HI_SERVER_TOUCH_H

#include <stdbool.h>

/* The address that a server answers at once, without a page process. */
#define HI_TOUCH_ADDRESS "touch"

/* url: "http://127.0.0.1:PORT/TOKEN/". True: it has answered, and its time until it ends
 * by itself has begun again. */
bool hi_server_touch(const char *url);

#endif
