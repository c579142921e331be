/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/series/series_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/parts/report_node.h"

const char *hi_series_end_key(enum hi_series_end end)
{
	static const char *const keys[] = {"over", "exited", "stopped", "failed"};

	return end < sizeof(keys) / sizeof(keys[0]) ? keys[end] : "running";
}

const char *hi_series_unit(enum hi_series_axis axis)
{
	return axis == HI_SERIES_CENSUS ? "census" : "seconds";
}

const char *hi_series_name(const struct hi_series_header *header,
			   const struct hi_series_row *row)
{
	if (row->name && *row->name)
		return row->name;
	return strcmp(header->by, "type") == 0 ? hi_type_key(row->name) : "(unknown)";
}

struct hi_leak_total hi_series_leaked(const struct hi_series_sample *s,
				      enum hi_leak_kind kind)
{
	const struct hi_leak_total totals[HI_LEAK_KINDS] = {
		[HI_LEAK_CERTAIN] = s->leaks.certain,
		[HI_LEAK_LIKELY] = s->leaks.likely,
		[HI_LEAK_GARBAGE] = s->leaks.garbage};

	if (totals[kind].bytes == UINT64_MAX)
		return (struct hi_leak_total){};
	/* The rows of `roots` have all of it. */
	for (size_t i = 0; i < s->n_rows; i++)
		if (!s->rows[i].set && s->rows[i].name &&
		    strcmp(s->rows[i].name, "LEAK") == 0)
			return (struct hi_leak_total){};
	return totals[kind];
}

const char *hi_series_restriction_text(const struct hi_series_sample *s, char *out,
				       size_t size)
{
	const struct hi_report_restriction *only = s->only;

	const char *const parts[][2] = {
		{"of type ", only ? only->type : NULL},
		{"under ", only ? only->under : NULL},
		{"retained by ", only ? only->retained_by : NULL}};
	size_t n = 0;

	*out = 0;
	for (size_t i = 0; i < 3; i++)
		if (parts[i][1] && n < size)
			n += (size_t)snprintf(out + n, size - n, "%s%s%s", n ? ", " : "",
					      parts[i][0], parts[i][1]);
	return out;
}

static int compare_series_names(const void *a, const void *b)
{
	const struct hi_series_row *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_series_bytes(const void *a, const void *b)
{
	const struct hi_series_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return compare_series_names(a, b);
}

/* Two types of one name, for example of two files, are one row. */
static void merge_series_rows(struct hi_series_sample *sample)
{
	struct hi_series_row *rows = sample->rows;
	size_t n = 0;

	for (size_t i = 0; i < sample->n_rows; i++) {
		if (n && compare_series_names(&rows[n - 1], &rows[i]) == 0) {
			rows[n - 1].bytes += rows[i].bytes;
			rows[n - 1].objects += rows[i].objects;
		} else {
			rows[n++] = rows[i];
		}
	}
	sample->n_rows = n;
}

void hi_series_sort_rows(struct hi_series_sample *sample, uint64_t min_size, size_t top)
{
	size_t n = 0;

	if (!sample->n_rows)
		return;
	qsort(sample->rows, sample->n_rows, sizeof(*sample->rows), compare_series_names);
	merge_series_rows(sample);
	qsort(sample->rows, sample->n_rows, sizeof(*sample->rows), compare_series_bytes);
	while (n < sample->n_rows && n < top && sample->rows[n].bytes >= min_size)
		n++;
	for (size_t i = n; i < sample->n_rows; i++) {
		sample->hidden.rows++;
		sample->hidden.bytes += sample->rows[i].bytes;
	}
	sample->n_rows = n;
}
