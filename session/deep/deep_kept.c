/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/deep/deep_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "session/deep/read.h"

enum { MOST_CONTOUR = 1 << 20 };

/* ---- what it is of ---- */

static void free_stamp(struct hi_deep_stamp *stamp)
{
	free(stamp->path);
	free(stamp->census);
	*stamp = (struct hi_deep_stamp){};
}

static bool are_same_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A file that cannot be opened has changed: reading it says why. */
static bool is_stamp_of(const struct hi_deep_stamp *stamp, const char *path,
			const char *census)
{
	struct stat st;
	int fd;
	bool is;

	if (!are_same_texts(stamp->path, path) || !are_same_texts(stamp->census, census))
		return false;
	if (!path)
		return true;
	fd = hi_files_open(path);
	is = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == stamp->device &&
	     st.st_ino == stamp->inode && st.st_size == stamp->size &&
	     st.st_mtim.tv_sec == stamp->changed.tv_sec &&
	     st.st_mtim.tv_nsec == stamp->changed.tv_nsec;
	hi_close_fd(fd);
	return is;
}

/* path: NULL: none. */
static enum hi_status set_stamp(struct hi_deep_stamp *stamp, const char *path,
				const char *census, struct hi_error *err)
{
	struct stat st = {};
	int fd;

	if (!path)
		return HI_OK;
	stamp->path = strdup(path);
	stamp->census = census ? strdup(census) : NULL;
	if (!stamp->path || (census && !stamp->census))
		return hi_fail_memory(err, "deep profile");
	fd = hi_files_open(path);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		stamp->device = st.st_dev;
		stamp->inode = st.st_ino;
		stamp->size = st.st_size;
		stamp->changed = st.st_mtim;
	}
	hi_close_fd(fd);
	return HI_OK;
}

/* The files that the options name; a path is NULL where there is none. */
static void find_kept_files(const struct hi_options *options, struct hi_deep_file ret[2])
{
	const struct hi_deep_operands *o = &options->deep.operands;

	ret[0] = o->n_files > 0 ? o->files[0]
				: (struct hi_deep_file){options->target.file,
							options->target.census};
	ret[1] = o->n_files > 1 ? o->files[1] : (struct hi_deep_file){};
}

static enum hi_deep_verb find_kept_verb(const struct hi_options *options)
{
	enum hi_deep_verb verb = options->deep.operands.verb;

	return verb == HI_DEEP_VERB_MERGE || verb == HI_DEEP_VERB_DIFF
		       ? verb
		       : HI_DEEP_VERB_QUERY;
}

static bool is_kept(const struct hi_deep_kept *kept, const struct hi_options *options,
		    const struct hi_deep_file files[2])
{
	return kept->state != HI_DEEP_KEPT_NOTHING &&
	       kept->verb == find_kept_verb(options) &&
	       is_stamp_of(&kept->files[0], files[0].path, files[0].census) &&
	       is_stamp_of(&kept->files[1], files[1].path, files[1].census) &&
	       is_stamp_of(&kept->contour_file, options->deep.contour, NULL);
}

/* Before the files are read: one that changes meanwhile is read again. */
static enum hi_status set_kept_stamps(struct hi_deep_kept *kept,
				      const struct hi_options *options,
				      const struct hi_deep_file files[2],
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	kept->verb = find_kept_verb(options);
	for (int i = 0; status == HI_OK && i < 2; i++)
		status = set_stamp(&kept->files[i], files[i].path, files[i].census, err);
	if (status == HI_OK)
		status = set_stamp(&kept->contour_file, options->deep.contour, NULL, err);
	return status;
}

/* ---- making it ---- */

static enum hi_status make_kept_contour(struct hi_deep_kept *kept, const char *path,
					struct hi_error *err)
{
	HI_GUARD(free) uint8_t *text = NULL;
	size_t size = 0;
	enum hi_status status = hi_deep_read_bytes(path, MOST_CONTOUR, &text, &size, err);

	if (status == HI_OK)
		status = hi_deep_contour_parse(&kept->profile, (const char *)text, size,
					       &kept->contour, err);
	if (status == HI_OK)
		kept->index.contour = &kept->contour;
	return status;
}

/* Both are freed when it fails. */
static enum hi_status read_two_profiles(const struct hi_options *options,
					const struct hi_deep_file files[2],
					struct hi_deep_profile ret[2],
					struct hi_error *err)
{
	enum hi_status status = hi_deep_read(options, &files[0], &ret[0], err);

	if (status != HI_OK)
		return status;
	status = hi_deep_read(options, &files[1], &ret[1], err);
	if (status != HI_OK)
		hi_deep_profile_free(&ret[0]);
	return status;
}

static enum hi_status make_kept_diff(struct hi_deep_kept *kept,
				     const struct hi_options *options,
				     const struct hi_deep_file files[2],
				     struct hi_error *err)
{
	struct hi_deep_profile two[2];
	enum hi_status status = read_two_profiles(options, files, two, err);

	if (status != HI_OK)
		return status;
	status = hi_deep_diff(&two[0], &two[1], &kept->diff, err);
	hi_deep_profile_free(&two[0]);
	hi_deep_profile_free(&two[1]);
	if (status == HI_OK)
		kept->state = HI_DEEP_KEPT_DIFF;
	return status;
}

static enum hi_status make_merged_profile(const struct hi_options *options,
					  const struct hi_deep_file files[2],
					  struct hi_deep_profile *ret,
					  struct hi_error *err)
{
	struct hi_deep_profile two[2];
	enum hi_status status = read_two_profiles(options, files, two, err);

	if (status != HI_OK)
		return status;
	status = hi_deep_profile_merge(&two[0], &two[1], ret, err);
	hi_deep_profile_free(&two[0]);
	hi_deep_profile_free(&two[1]);
	return status;
}

static enum hi_status make_kept_profile(struct hi_deep_kept *kept,
					const struct hi_options *options,
					const struct hi_deep_file files[2],
					struct hi_error *err)
{
	enum hi_status status =
		kept->verb == HI_DEEP_VERB_MERGE
			? make_merged_profile(options, files, &kept->profile, err)
			: hi_deep_read(options, &files[0], &kept->profile, err);

	if (status != HI_OK)
		return status;
	kept->state = HI_DEEP_KEPT_PROFILE;
	status = hi_deep_index_create(&kept->profile, &kept->index, err);
	if (status == HI_OK && options->deep.contour)
		status = make_kept_contour(kept, options->deep.contour, err);
	return status;
}

enum hi_status hi_deep_kept_open(struct hi_deep_kept *kept,
				 const struct hi_options *options, struct hi_error *err)
{
	struct hi_deep_file files[2];
	enum hi_status status;

	find_kept_files(options, files);
	if (is_kept(kept, options, files))
		return HI_OK;
	hi_deep_kept_free(kept);
	if (!files[0].path)
		return hi_fail(err, HI_USAGE, 0,
			       "a deep profile is made of a file: a recording, or a "
			       "Deep.data of Mercury");
	status = set_kept_stamps(kept, options, files, err);
	if (status == HI_OK)
		status = kept->verb == HI_DEEP_VERB_DIFF
				 ? make_kept_diff(kept, options, files, err)
				 : make_kept_profile(kept, options, files, err);
	if (status == HI_OK)
		kept->n_made++;
	else
		hi_deep_kept_free(kept);
	return status;
}

void hi_deep_kept_free(struct hi_deep_kept *kept)
{
	uint64_t n_made = kept->n_made;

	if (kept->state == HI_DEEP_KEPT_DIFF)
		hi_deep_diff_free(&kept->diff);
	if (kept->state == HI_DEEP_KEPT_PROFILE) {
		hi_deep_index_free(&kept->index);
		hi_deep_contour_free(&kept->contour);
		hi_deep_profile_free(&kept->profile);
	}
	free_stamp(&kept->files[0]);
	free_stamp(&kept->files[1]);
	free_stamp(&kept->contour_file);
	*kept = (struct hi_deep_kept){.n_made = n_made};
}

/* ---- queries ---- */

static enum hi_status find_asked_query(const struct hi_options *options,
				       struct hi_deep_query *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	hi_deep_query_init(ret);
	if (options->deep.operands.query)
		status = hi_deep_query_parse(options->deep.operands.query, ret, err);
	if (status == HI_OK && options->deep.contour)
		ret->contour = ret->prefs.contour = true;
	return status;
}

enum hi_status hi_deep_kept_report(const struct hi_deep_kept *kept,
				   const struct hi_options *options, uint32_t top,
				   struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_query query;
	enum hi_status status = find_asked_query(options, &query, err);

	if (status != HI_OK)
		return status;
	if (kept->state == HI_DEEP_KEPT_DIFF)
		return hi_deep_diff_report(&kept->diff, &query, top, ret, err);
	if (options->deep.operands.verb == HI_DEEP_VERB_CHECK)
		return hi_deep_check_report(&kept->index, &query, top, ret, err);
	if (options->deep.operands.verb == HI_DEEP_VERB_ADVISE)
		return hi_deep_advice_report(&kept->index, &query, top, ret, err);
	return hi_deep_report_create(&kept->index, &query, ret, err);
}
