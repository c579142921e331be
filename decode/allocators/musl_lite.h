/* SPDX-License-Identifier: BSD-2-Clause */
/* The malloc of static musl programs without free(). For registry.c. */
#ifndef HI_DECODE_ALLOCATORS_MUSL_LITE_H
#define HI_DECODE_ALLOCATORS_MUSL_LITE_H

#include "decode/allocator.h"

/* Adds a refusal if the program has it: its blocks have no bounds. For processes in which
 * no other allocator was found. */
enum hi_status hi_musl_lite_refuse(const struct hi_image *image,
				   struct hi_modules *modules,
				   struct hi_allocator_list *list, struct hi_error *err);

#endif
