/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a series goes, sample by sample: JSON lines, lines of text or a live view
 * to stdout (or --output), and a heap profile with its key. Each sample is written
 * whole: what a full disk cut is taken back where the file allows it.
 */
#ifndef HI_CLI_SERIES_SINKS_H
#define HI_CLI_SERIES_SINKS_H

#include "report/formats/hp_writer.h"
#include "report/formats/series_live.h"
#include "report/formats/series_text.h"
#include "report/views/series.h"
#include "session/options.h"

struct hi_series_file {
	int fd;		  /* -1: none */
	const char *path; /* "standard output" */
	int64_t written;  /* bytes of whole samples; -1: cannot be taken back */
};

struct hi_series_sinks {
	const struct hi_options *options;
	struct hi_series_file lines, profile, key;
	char *key_path;		     /* FILE.prof of FILE.hp */
	bool made_profile, made_key; /* by us: removed if nothing comes */
	struct hi_hp *hp;	     /* NULL until the first sample */
	uint64_t bytes_before;	     /* of the sample before */
	struct hi_series_live *live; /* instead of lines, on a terminal; else NULL */
};

/* Before anything is stopped: a bad path costs the target nothing. A heap profile
 * that exists keeps what it has until the first sample. */
enum hi_status hi_series_sinks_open(const struct hi_options *options,
				    struct hi_series_sinks *ret, struct hi_error *err);
enum hi_status hi_series_sinks_sample(struct hi_series_sinks *sinks,
				      const struct hi_series_header *header,
				      const struct hi_series_sample *sample,
				      struct hi_error *err);
enum hi_status hi_series_sinks_mark(struct hi_series_sinks *sinks,
				    const struct hi_series_header *header, uint64_t at_ns,
				    const char *text, struct hi_error *err);
enum hi_status hi_series_sinks_end(struct hi_series_sinks *sinks,
				   const struct hi_series_header *header,
				   enum hi_series_end end, uint64_t at_ns,
				   uint64_t samples, struct hi_error *err);
void hi_series_sinks_close(struct hi_series_sinks *sinks);

/* A line for a person: on stderr, or in the live view. */
void hi_series_sinks_note(struct hi_series_sinks *sinks, const char *text);
/* For handlers of signals: the terminal as it was before the live view, and back. */
void hi_series_screen_leave(void);
void hi_series_screen_enter(void);

#endif
