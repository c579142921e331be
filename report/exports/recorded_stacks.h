/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording as profiles of allocations need it: frames with addresses and files. */
#ifndef HI_REPORT_EXPORTS_RECORDED_STACKS_H
#define HI_REPORT_EXPORTS_RECORDED_STACKS_H

#include "census/snapshot/snapshot_births.h"
#include "report/exports/export.h"

/* The number of the mapped file that a frame is in, counted from 1; 0: none. */
size_t hi_frame_row_file(const struct hi_frame_row *row,
			 const struct hi_mapped_file *files, size_t n_files);
/* An address in the call instruction, which stands before the return address; 0: the
 * file is unknown. */
uint64_t hi_frame_row_address(const struct hi_frame_row *row,
			      const struct hi_mapped_file *files, size_t n_files);
/* Warns of events that the recording lacks, if there are any. */
void hi_export_warn_lost(const struct hi_export *x, const struct hi_recorded *r);

#endif
