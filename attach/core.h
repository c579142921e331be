/* SPDX-License-Identifier: BSD-2-Clause */
/* A core file as an image. Hostile input: every offset is checked. */
#ifndef HI_ATTACH_CORE_H
#define HI_ATTACH_CORE_H

#include "attach/image.h"

struct hi_core_options {
	const char *exe;     /* NULL: the path in the core's notes */
	const char *sysroot; /* NULL: "/" */
};

/* HI_BAD_DATA: not an ELF core, damaged; HI_UNSUPPORTED: 32-bit, aarch64, … */
enum hi_status hi_core_open(const char *path, const struct hi_core_options *options,
			    struct hi_image **ret, struct hi_error *err);

#endif
