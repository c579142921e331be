/* SPDX-License-Identifier: BSD-2-Clause */
/* A second heap to compare with: an earlier snapshot of the same program. */
#ifndef HI_CLI_OPTIONS_BASELINE_H
#define HI_CLI_OPTIONS_BASELINE_H

#include "session/inspect/inspect.h"

struct hi_baseline {
	struct hi_options options; /* of `in`, with the other file */
	struct hi_inspection *in;
	struct hi_report_header header;
};

/* Opens the file (census: which of many, NULL: the last), to compare it with `in`, whose
 * header is given. HI_USAGE when it is of another program, unless --force. */
enum hi_status hi_baseline_open(const struct hi_inspection *in,
				const struct hi_report_header *header, const char *file,
				const char *census, unsigned wanted,
				struct hi_baseline *ret, struct hi_error *err);
void hi_baseline_close(struct hi_baseline *b); /* also of a zeroed one */
/* Are both heaps of one process? Compares pid, program and start time, and the addresses
 * of variables: a pid may be used again, for example in a container. */
enum hi_status hi_baseline_is_same_process(const struct hi_baseline *before,
					   const struct hi_inspection *in,
					   const struct hi_report_header *header,
					   bool *ret, struct hi_error *err);

#endif
