/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of the rows of a table in a snapshot file. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_TEXTS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_TEXTS_H

#include "census/snapshot/snapshot_file.h"

/*
 * Checks that all texts of a table exist: of each of n rows of `item` bytes the first
 * `texts` numbers, offsets in "strings". Each text is looked at once for each row that
 * has it, here and by those who show or compare them: so rows that share long texts are
 * refused where these are far longer together than the rows are. HI_BAD_DATA.
 */
enum hi_status hi_snapshot_check_texts(const struct hi_snapshot *s, const char *section,
				       const void *rows, uint64_t n, uint32_t item,
				       unsigned texts, struct hi_error *err);

#endif
