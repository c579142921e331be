/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings and command lines as flat data (flat.h). Internal to attach/. */
#ifndef HI_ATTACH_MAPPINGS_SEND_H
#define HI_ATTACH_MAPPINGS_SEND_H

#include "attach/flat.h"
#include "attach/image.h"

void hi_mappings_put(struct hi_flat *flat, const struct hi_mapping *mappings, size_t n);
/* *ret: *n_ret mappings in one block with their paths, freed by hi_mappings_free().
 * HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_mappings_get(struct hi_flat_reader *reader, struct hi_mapping **ret,
			       size_t *n_ret, struct hi_error *err);

void hi_command_line_put(struct hi_flat *flat, const struct hi_command_line *line);
/* HI_NO_MEMORY. */
enum hi_status hi_command_line_get(struct hi_flat_reader *reader,
				   struct hi_command_line *ret, struct hi_error *err);

#endif
