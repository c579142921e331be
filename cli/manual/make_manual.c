/* SPDX-License-Identifier: BSD-2-Clause */
/* make_manual BY_HAND_DIR OUT_DIR: heapinspect*.1, heapinspect.bash, _heapinspect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/manual/manual.h"

static void end_with_message(const char *what)
{
	perror(what);
	exit(1);
}

static FILE *open_or_die(const char *path, const char *mode)
{
	FILE *file = fopen(path, mode);

	if (!file)
		end_with_message(path);
	return file;
}

static void close_or_die(FILE *file, const char *path)
{
	if (ferror(file) | fclose(file))
		end_with_message(path);
}

static void write_page(const struct hi_command *command, const char *from, const char *to)
{
	char in[4096], out[4096], text[32768];
	FILE *file;
	size_t n;

	snprintf(in, sizeof(in), "%s/%s.roff", from, command->name);
	file = open_or_die(in, "r");
	n = fread(text, 1, sizeof(text), file);
	if (n == sizeof(text))
		end_with_message("a page is too long");
	text[n] = '\0';
	close_or_die(file, in);
	snprintf(out, sizeof(out), "%s/heapinspect%s%s.1", to,
		 command->id == HI_COMMAND_SUMMARY ? "" : "-",
		 command->id == HI_COMMAND_SUMMARY ? "" : command->name);
	file = open_or_die(out, "w");
	hi_manual_page(file, command, text);
	close_or_die(file, out);
}

static void write_completion(void (*write)(FILE *), const char *to, const char *name)
{
	char out[4096];
	FILE *file;

	snprintf(out, sizeof(out), "%s/%s", to, name);
	file = open_or_die(out, "w");
	write(file);
	close_or_die(file, out);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: make_manual BY_HAND_DIR OUT_DIR\n");
		return 2;
	}
	for (size_t i = 0; hi_commands[i]; i++)
		write_page(hi_commands[i], argv[1], argv[2]);
	write_completion(hi_completion_bash, argv[2], "heapinspect.bash");
	write_completion(hi_completion_zsh, argv[2], "_heapinspect");
	return 0;
}
