/* SPDX-License-Identifier: BSD-2-Clause */
/* A running process, frozen, with its modules and types; given back when the
 * test ends. Fails the test if any step does. */
#ifndef HI_TESTS_SUPPORT_INSPECTED_H
#define HI_TESTS_SUPPORT_INSPECTED_H

#include "decode/types/types.h"

struct inspected {
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types;
};

/* options NULL: no cache. */
struct inspected *inspected_open(pid_t pid, const struct hi_modules_options *options);
/* The same over an image that somebody else owns. */
struct inspected *inspected_image(struct hi_image *image,
				  const struct hi_modules_options *options);
/* Truth that fixtures print: "kind a|b|c", cut at the bars; at most 4 parts. */
struct truth {
	char kind[16], part[4][128];
	unsigned parts;
};
struct truths {
	struct truth items[256];
	size_t count;
};
/* Reads a fixture's lines up to "ready"; freed when the test ends. */
struct hi_fixture;
struct truths *truths_read(struct hi_fixture *fx);

#endif
