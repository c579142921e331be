/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the report goes: stdout, or a file of mode 0600 that appears under its
 * name only when it is complete. A full disk or a closed pipe is an error.
 */
#ifndef HI_CLI_OUTPUT_H
#define HI_CLI_OUTPUT_H

#include <stdio.h>

#include "report/formats/text.h"
#include "report/views/display.h"
#include "session/options.h"

struct hi_output {
	FILE *file;
	const char *path; /* NULL: stdout */
	char *temporary;  /* renamed to path at the end; NULL: written directly */
	bool served;	  /* its name is another process's to give (cli/decoder.h) */
};

/* Before anything is stopped, so that a bad path costs the target nothing. */
enum hi_status hi_output_open(const struct hi_options *options, struct hi_output *ret,
			      struct hi_error *err);
/* How to write for the terminal at fd, the locale and the options. */
struct hi_text_options hi_output_looks(const struct hi_options *options, int fd);
/* Text that looks so. */
enum hi_status hi_output_page(struct hi_output *output, const struct hi_options *options,
			      const struct hi_page *page, struct hi_error *err);
/* Everything has reached the file, under its name. */
enum hi_status hi_output_commit(struct hi_output *output, struct hi_error *err);
/* Gives the file its name: the part of a commit that needs rights. */
enum hi_status hi_output_rename(struct hi_output *output, struct hi_error *err);
/* In a fork without rights: the other process gives it its name. */
void hi_output_serve(struct hi_output *output);
/* Removes what was not committed. */
void hi_output_close(struct hi_output *output);

#endif
