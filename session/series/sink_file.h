/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that a sink writes event by event. Each event is written whole: what a full disk
 * cut is taken back where the file allows it.
 */
#ifndef HI_SESSION_SERIES_SINK_FILE_H
#define HI_SESSION_SERIES_SINK_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/output_file.h"

struct hi_sink_file {
	int fd;		  /* -1: none */
	const char *path; /* borrowed; "standard output" */
	int64_t written;  /* bytes of whole events; -1: cannot be taken back */
	struct hi_output_file target; /* of path; its descriptor is fd */
};

/* A new file of mode 0600 (base/output_file.h); one that has the name stays for now. */
enum hi_status hi_sink_file_open(const char *path, struct hi_sink_file *ret,
				 struct hi_error *err);
struct hi_sink_file hi_sink_file_stdout(void);
struct hi_sink_file hi_sink_file_stderr(void);
/* Gives it its name, under which it grows: what has the name goes when something comes in
 * its place. */
enum hi_status hi_sink_file_commit(struct hi_sink_file *file, struct hi_error *err);
/* Closes it, but for the standard streams; without a name, it is gone. */
void hi_sink_file_close(struct hi_sink_file *file);

/* Text in memory, so that it can be written at once. */
struct hi_sink_text {
	char *text;
	size_t size;
	FILE *file; /* for the text */
};
enum hi_status hi_sink_text_open(struct hi_sink_text *ret, struct hi_error *err);
/* Writes and frees it. fine: the text is complete; false: HI_NO_MEMORY. */
enum hi_status hi_sink_text_write(struct hi_sink_text *text, bool fine,
				  struct hi_sink_file *to, struct hi_error *err);

#endif
