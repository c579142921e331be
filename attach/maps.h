/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings of a process, by the text of /proc/PID/maps (proc(5)). */
#ifndef HI_ATTACH_MAPS_H
#define HI_ATTACH_MAPS_H

#include "attach/image.h"

/*
 * Parses a whole /proc/PID/maps, text[0, n), which need not end in NUL. *ret: *n_ret
 * mappings, sorted and disjoint, freed by hi_mappings_free(). HI_BAD_DATA: a line has an
 * unknown format; HI_LIMIT: too many lines; HI_NO_MEMORY. The text is hostile.
 */
enum hi_status hi_maps_parse(const char *text, size_t n, struct hi_mapping **ret,
			     size_t *n_ret, struct hi_error *err);
/* Frees what hi_maps_parse() returned. NULL is fine. */
void hi_mappings_free(struct hi_mapping *mappings, size_t n);
/* The kind of a mapping, by its path and flags: Note [Kinds of mappings] in maps.c. */
enum hi_mapping_kind hi_mapping_kind_of(const struct hi_mapping *mapping);
/* Cuts " (deleted)" off path, a string of n bytes. Returns its new length. */
size_t hi_path_cut_deleted(char *path, size_t n, bool *deleted_ret);

#endif
