/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the report goes: stdout (stderr with -- PROG), or a file of mode 0600 that
 * appears under its name only when it is complete. A full disk is an error with a
 * message. A closed pipe of stdout is one without: the status is 128 + SIGPIPE.
 */
#ifndef HI_CLI_COMMAND_OUTPUT_H
#define HI_CLI_COMMAND_OUTPUT_H

#include <stdio.h>

#include "base/output_file.h"
#include "report/display.h"
#include "report/render/text.h"
#include "session/options.h"

struct hi_edit_place;

struct hi_output {
	FILE *file;
	const char *path;		  /* NULL: stdout or stderr */
	struct hi_output_file target;	  /* of path; its descriptor is the FILE's */
	bool has_finding;		  /* what was written is one: HI_EXIT_FINDING */
	struct hi_edit_place *edit_place; /* where a report leaves what --edit opens */
	bool served; /* another process gives it its name (cli/decoder/decoder.h) */
	/* Takes pages instead of the file, which has only what is no page (JSON); NULL:
	 * they are written as text. It may take the contents: hi_page_move(). */
	enum hi_status (*show)(void *arg, struct hi_page *page, struct hi_error *err);
	void *arg;
};

/* Opens the output. Called before the target is stopped, so that a wrong path costs it
 * nothing. ret: hi_output_close(). HI_OS. */
enum hi_status hi_output_open(const struct hi_options *options, struct hi_output *ret,
			      struct hi_error *err);
/* How to write for the terminal at fd, the locale and the options. */
struct hi_text_options hi_output_looks(const struct hi_options *options, int fd);
/* Writes the page as text, with these options; or gives it to output->show. */
enum hi_status hi_output_page(struct hi_output *output, const struct hi_options *options,
			      struct hi_page *page, struct hi_error *err);
/* Flushes the file and gives it its name; afterwards it is complete. HI_OS. */
enum hi_status hi_output_commit(struct hi_output *output, struct hi_error *err);
/* Gives the file its name: the part of a commit that needs rights. */
enum hi_status hi_output_rename(struct hi_output *output, struct hi_error *err);
/* In a fork without rights: leaves hi_output_rename() to the other process. */
void hi_output_serve(struct hi_output *output);
/* Closes the file, and removes it unless it was committed. */
void hi_output_close(struct hi_output *output);

#endif
