/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_ATTACH_MAPS_INTERNAL_H
#define HI_ATTACH_MAPS_INTERNAL_H

#include "attach/image.h"

/* What a mapping is by its path and flags: Note [Kinds of mappings], maps.c. */
enum hi_mapping_kind hi_mapping_kind_of(const struct hi_mapping *mapping);
/* Cuts " (deleted)" off path (n bytes); the new length. */
size_t hi_path_cut_deleted(char *path, size_t n, bool *deleted_ret);

#endif
