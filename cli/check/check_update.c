/* SPDX-License-Identifier: BSD-2-Clause */
/* `check --update-baseline`: this heap becomes the baseline file. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/check/check.h"
#include "session/snapshot/snapshot_source.h"

static enum hi_status copy_range(const char *path, uint64_t offset, uint64_t size,
				 FILE *out, struct hi_error *err)
{
	__attribute__((cleanup(hi_guard_close))) int fd = hi_files_open(path);
	char bytes[65536];

	if (fd < 0)
		return hi_fail_errno(err, "%s", path);
	while (size) {
		size_t most = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);
		ssize_t n = pread(fd, bytes, most, (off_t)offset);

		if (n < 0)
			return hi_fail_errno(err, "%s", path);
		if (n == 0)
			return size == UINT64_MAX
				       ? HI_OK
				       : hi_fail(err, HI_BAD_DATA, 0,
						 "%.200s: shorter than it was", path);
		if (fwrite(bytes, 1, (size_t)n, out) != (size_t)n)
			return hi_fail_errno(err, "baseline");
		offset += (uint64_t)n;
		size -= size == UINT64_MAX ? 0 : (uint64_t)n;
	}
	return HI_OK;
}

/* The census alone: a part of such a file is a snapshot itself. */
static enum hi_status copy_census(const struct hi_inspection *in, FILE *out,
				  struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *s = NULL;
	const char *path = in->options->target.file;
	enum hi_status status = hi_snapshots_open(path, &s, err);

	for (size_t i = 0; status == HI_OK && i < s->n_entries; i++) {
		const struct hi_snapshots_part *part =
			&s->entries[i].parts[HI_SNAPSHOTS_WHOLE];

		if (s->entries[i].point.number == in->census_number && part->size)
			return copy_range(path, part->offset, part->size, out, err);
	}
	return status == HI_OK ? hi_fail(err, HI_NOT_FOUND, 0,
					 "--update-baseline: %.120s: the census has no "
					 "graph",
					 path)
			       : status;
}

static enum hi_status write_heap(struct hi_inspection *in,
				 const struct hi_report_header *header, FILE *out,
				 struct hi_error *err)
{
	struct hi_snapshot_options options = {.threads = hi_inspection_threads(in)};

	if (in->options->target.file)
		return in->census_number ? copy_census(in, out, err)
					 : copy_range(in->options->target.file, 0,
						      UINT64_MAX, out, err);
	return hi_snapshot_save(in, header, fileno(out), &options, err);
}

enum hi_status hi_check_update_baseline(struct hi_check_heaps *h, struct hi_error *err)
{
	struct hi_options other = *h->in->options;
	struct hi_output output;
	enum hi_status status;

	other.output.file = other.comparison.baseline;
	status = hi_output_open(&other, &output, err);
	if (status != HI_OK)
		return status;
	hi_inspect_phase(h->in, "writing the baseline");
	status = write_heap(h->in, h->header, output.file, err);
	if (status == HI_OK)
		status = hi_output_commit(&output, err);
	hi_output_close(&output);
	return status;
}
