/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The space profile as the profiler of MLWorks prints it, line by line, with censuses in
 * place of collections and types of the program in place of those of its runtime. Unlike
 * there, the line of survivors has all ages, also behind the first one without any.
 */
#ifndef HI_REPORT_REPORTS_ALLOC_MLWORKS_H
#define HI_REPORT_REPORTS_ALLOC_MLWORKS_H

#include <stdio.h>

#include "report/reports/alloc/alloc_report.h"

/* Types of a function beside their total; what more have is added up in the last. */
enum { HI_MLWORKS_TYPES = 8 };

void hi_mlworks_write(const struct hi_alloc_report *report, FILE *out);
/* As its tool shows bytes: "10240 bytes", "10.00 kbytes", "94.76 Mbytes"; a larger unit
 * only above 10 of it. Returns out. */
char *hi_mlworks_bytes(char out[32], uint64_t bytes);

#endif
