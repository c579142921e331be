/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads GHC's heap profile (FILE.hp), from whatever wrote it. The file is hostile
 * input: sizes are bounded, nothing recurses, every refusal names its line.
 *
 * Accepted beyond the strict format (hp_writer.h): a header with lines missing,
 * unknown or repeated, blank lines, CR before LF, white space in labels (the value
 * stands behind the last tab, or else the last blank), times without a decimal
 * point, a label twice in one sample (summed). A file that ends within a sample, a
 * line or in NUL bytes was cut: what is complete is read, `truncated` says so. A sample
 * with a line that is none (a value that is no whole number, a decimal comma, a sample
 * within it, a NUL byte) is left out where there are others, and counted.
 *
 * Refused: times that decrease, bands outside samples, a decimal comma there, no whole
 * sample at all, more than the limits.
 */
#ifndef HI_REPORT_HEAP_PROFILE_HP_READER_H
#define HI_REPORT_HEAP_PROFILE_HP_READER_H

#include "base/cleanup.h"
#include "base/error.h"

enum {
	HI_HP_MAX_SAMPLES = 1 << 20,
	HI_HP_MAX_BANDS = 1 << 20,
	HI_HP_MAX_POINTS = 1 << 26,
	HI_HP_MAX_LINE = 64 << 10,
	HI_HP_MAX_MARKS = 1 << 16,
};
#define HI_HP_MAX_BYTES (1ull << 30)

struct hi_hp_point {
	uint32_t band;
	uint64_t value;
};

struct hi_hp_series {
	/* From the header, "" where it has no such line; raw bytes. */
	const char *job, *date, *sample_unit, *value_unit;
	size_t n_samples;
	const double *times;  /* non-decreasing, in sample units */
	const size_t *starts; /* n_samples + 1: where a sample's points begin */
	const struct hi_hp_point *points; /* a band at most once a sample */
	size_t n_bands;
	const char *const *bands; /* names, raw bytes, in the order of the file */
	size_t n_marks;
	const double *marks; /* in the order of the file */
	/* NULL: a heap profile has none, but its key may; raw bytes. */
	const char *const *mark_texts;
	bool truncated;
	size_t n_damaged;   /* samples that are left out */
	const char *damage; /* of the first one, "line N: …"; "" none */
};

/* text need not end in NUL and is not kept. HI_BAD_DATA with "line N: …",
 * HI_LIMIT, HI_NO_MEMORY. No sample at all is HI_BAD_DATA. */
enum hi_status hi_hp_parse(const char *text, size_t size, struct hi_hp_series **ret,
			   struct hi_error *err);
/* All of a file or a pipe, up to HI_HP_MAX_BYTES; the text is the caller's to free. */
enum hi_status hi_hp_read_text(const char *path, char **text_ret, size_t *size_ret,
			       struct hi_error *err);
/* Both in one; errors begin with the file's name. */
enum hi_status hi_hp_read(const char *path, struct hi_hp_series **ret,
			  struct hi_error *err);
void hi_hp_series_destroy(struct hi_hp_series *series); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_hp_series *, hi_hp_series_destroy)

/*
 * A series that is not read from a text: names and texts of marks are whole. Times do
 * not decrease; a sample ends where the next one begins, or at finish. job and date are
 * copied. *ret: hi_hp_series_destroy(). The limits are those of a file: HI_LIMIT;
 * HI_NO_MEMORY.
 */
enum hi_status hi_hp_series_create(const char *job, const char *date,
				   struct hi_hp_series **ret, struct hi_error *err);
enum hi_status hi_hp_series_sample(struct hi_hp_series *series, double time,
				   struct hi_error *err);
enum hi_status hi_hp_series_band(struct hi_hp_series *series, const char *name,
				 uint64_t value, struct hi_error *err);
/* The same in two steps, for a caller that keeps the numbers of names. */
enum hi_status hi_hp_series_name(struct hi_hp_series *series, const char *name,
				 uint32_t *band_ret, struct hi_error *err);
enum hi_status hi_hp_series_value(struct hi_hp_series *series, uint32_t band,
				  uint64_t value, struct hi_error *err);
enum hi_status hi_hp_series_mark(struct hi_hp_series *series, double time,
				 const char *text, struct hi_error *err);
enum hi_status hi_hp_series_finish(struct hi_hp_series *series, struct hi_error *err);

/* Digits with at most one decimal point, up to 1e15; all n bytes of them. */
bool hi_hp_parse_time(const char *text, size_t n, double *ret);

#endif
