/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_space.h"
#include "report/parts/report_header.h"
#include "session/inspect/inspect.h"
#include "session/space/kept_profile.h"

/* census NULL: the only one. */
static enum hi_status add_space_census(const char *census, uint64_t at_ns,
				       struct hi_space_profile *profile,
				       struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = census ? HI_OK : hi_space_profile_begin(profile, err);

	return status == HI_OK ? hi_space_profile_add(profile, in, at_ns, err) : status;
}

/* census: its number; NULL: the only one. */
static enum hi_status read_space_census(const struct hi_options *options,
					const char *census, uint64_t at_ns,
					struct hi_space_profile *profile,
					struct hi_space_file *ret, struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct hi_options o = *options;
	struct hi_report_header header;
	enum hi_status status;

	o.target.census = census;
	status = hi_inspect_open(&o, NULL, 0, &in, err);
	if (status == HI_OK)
		status = hi_space_profile_is_kept(in)
				 ? hi_space_profile_read(in, profile, err)
				 : add_space_census(census, at_ns, profile, in, err);
	if (status == HI_OK)
		status = hi_inspect_make_header(in, &header, err);
	if (status != HI_OK)
		return status;
	free(ret->exe);
	ret->exe = hi_strdup(header.exe);
	ret->pid = header.pid;
	return ret->exe ? HI_OK : hi_fail_memory(err, "space profile");
}

static enum hi_status read_space_entry(const struct hi_options *options,
				       const struct hi_snapshots_entry *e,
				       struct hi_space_profile *profile,
				       struct hi_space_file *ret, struct hi_error *err)
{
	char number[24];

	snprintf(number, sizeof(number), "%u", e->point.number);
	return read_space_census(options, number, e->point.wall_ns, profile, ret, err);
}

/* The last census with objects, if it has a profile of all until then; n_entries: none
 * has. */
static enum hi_status find_kept_profile(const struct hi_snapshots *series, size_t *ret,
					struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *last = NULL;
	size_t i = series->n_entries;
	enum hi_status status = HI_OK;

	while (i && !series->entries[i - 1].parts[HI_SNAPSHOTS_WHOLE].size)
		i--;
	if (i)
		status = hi_snapshots_part(series, i - 1, HI_SNAPSHOTS_WHOLE, &last, err);
	*ret = status == HI_OK && i && hi_snapshot_has_space(last) ? i - 1
								   : series->n_entries;
	return status;
}

static enum hi_status read_space_series(const struct hi_options *options,
					const struct hi_snapshots *series,
					struct hi_space_profile *profile,
					struct hi_space_file *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < series->n_entries; i++) {
		const struct hi_snapshots_entry *e = &series->entries[i];

		if (!e->parts[HI_SNAPSHOTS_WHOLE].size) {
			ret->left_out++;
			continue;
		}
		status = read_space_entry(options, e, profile, ret, err);
	}
	return status;
}

/* Period 1 begins at a census. */
static enum hi_status check_space_series(const struct hi_options *options,
					 const struct hi_snapshots *series,
					 const struct hi_space_file *file,
					 struct hi_error *err)
{
	size_t whole = series->n_entries - file->left_out;

	if (whole >= 2)
		return HI_OK;
	return hi_fail(
		err, HI_NOT_FOUND, 0,
		"%.200s has the objects of %zu of %zu censuses; alloc needs two at "
		"least: record --every 1s --full all keeps them all",
		options->target.file, whole, series->n_entries);
}

enum hi_status hi_space_file_read(const struct hi_options *options,
				  struct hi_space_profile *profile,
				  struct hi_space_file *ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *series = NULL;
	size_t kept = 0;
	enum hi_status status;

	*ret = (struct hi_space_file){};
	if (!hi_snapshots_is_one(options->target.file))
		return read_space_census(options, NULL, 0, profile, ret, err);
	status = hi_snapshots_open(options->target.file, &series, err);
	if (status == HI_OK)
		status = find_kept_profile(series, &kept, err);
	if (status != HI_OK)
		return status;
	if (kept < series->n_entries)
		return read_space_entry(options, &series->entries[kept], profile, ret,
					err);
	status = read_space_series(options, series, profile, ret, err);
	return status == HI_OK ? check_space_series(options, series, ret, err) : status;
}

void hi_space_file_free(struct hi_space_file *file)
{
	free(file->exe);
	*file = (struct hi_space_file){};
}
