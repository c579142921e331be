/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of a process, as bytes in which a NUL ends each argument (that is
 * /proc/PID/cmdline). Hostile, and secrets may be in it.
 */
#ifndef HI_ATTACH_COMMAND_LINE_H
#define HI_ATTACH_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are kept of a longer command line. */
enum { HI_COMMAND_LINE_MAX = 4096 };

struct hi_command_line {
	char *bytes;
	size_t size;
	bool is_cut; /* there was more */
};

/* Returns it as one line, arguments in quotes where a shell would split or expand them,
 * "..." after it if it was cut; "" for none. first_only: the program's name alone. To be
 * freed; NULL: out of memory. */
char *hi_command_line_text(const struct hi_command_line *line, bool first_only);
/*
 * Returns what an interpreter runs: the script's path, "-m MODULE" of Python, a class or
 * "-jar FILE" of Java. "" for programs that are no interpreters, for code on the command
 * line (-c), and where it is not known. exe: path of the executable. To be freed; NULL:
 * out of memory.
 */
char *hi_command_line_script(const char *exe, const struct hi_command_line *line);
/* Sets *ret to the command line of a core's note: n bytes that end at a NUL, where blanks
 * separate arguments. False: out of memory. */
bool hi_command_line_of_note(struct hi_command_line *ret, const char *text, size_t n);
/* Frees the bytes; a zero-initialised one is fine. */
void hi_command_line_free(struct hi_command_line *line);

#endif
