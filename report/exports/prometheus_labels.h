/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of the samples for Prometheus. They are the same from one snapshot to the next
 * for the same process, so that its series go on: the process, what the user adds, a
 * type and its module; no numbers of this program.
 */
#ifndef HI_REPORT_EXPORTS_PROMETHEUS_LABELS_H
#define HI_REPORT_EXPORTS_PROMETHEUS_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/type_name.h"

struct hi_prometheus_labels {
	const char *exe; /* a path, of which the last part is written; "" unknown */
	int pid;	 /* 0 unknown */
	const char *const *added; /* "name=value", checked */
	size_t n_added;
};

/* "{exe="server",pid="42",env="prod"}", with type and module unless type is NULL;
 * nothing where there are no labels. Strings are hostile. */
void hi_prometheus_put_labels(FILE *out, const struct hi_prometheus_labels *labels,
			      const char *type, const char *module);
/* Writes the displayed name of a type, which is the same in each snapshot. Returns out. */
static inline const char *hi_prometheus_type(const char *full,
					     char out[HI_TYPE_SHORT_SIZE])
{
	return hi_type_short(hi_type_key(full), out, HI_TYPE_SHORT_SIZE);
}
/* Returns what is wrong with "name=value", NULL if nothing is. */
const char *hi_prometheus_check_label(const char *text);

#endif
