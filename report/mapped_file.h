/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that the target maps, identified by its build. */
#ifndef HI_REPORT_MAPPED_FILE_H
#define HI_REPORT_MAPPED_FILE_H

#include <stdint.h>

struct hi_mapped_file {
	const char *path;    /* as the target maps it; hostile */
	const char *name;    /* last component of the path */
	char build_id[65];   /* hexadecimal; "" unknown */
	uint64_t start, end; /* addresses: [start, end) */
};

#endif
