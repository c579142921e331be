/* SPDX-License-Identifier: BSD-2-Clause */
/* For zsh's _arguments: see zshcompsys(1). */
#include <string.h>

#include "cli/manual/manual.h"

/* Inside '...' and in the brackets or behind the colons of a specification. */
static void put_plain(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static void put_zsh_value(FILE *out, const struct hi_option_row *row)
{
	enum hi_option_value value = hi_manual_value(row);

	if (value == HI_VALUE_NONE)
		return;
	fputc(':', out);
	put_plain(out, row->arg);
	fputc(':', out);
	switch (value) {
	case HI_VALUE_FILE:
		fputs("_files", out);
		break;
	case HI_VALUE_DIR:
		fputs("_directories", out);
		break;
	case HI_VALUE_PID:
		fputs("_pids", out);
		break;
	case HI_VALUE_WORDS:
		fputc('(', out);
		hi_manual_words(out, row, put_plain);
		fputc(')', out);
		break;
	case HI_VALUE_NONE:
	case HI_VALUE_ANY:
	default:
		fputc(' ', out);
	}
}

static void put_zsh_option(FILE *out, const struct hi_option_row *row)
{
	if (row->letter)
		fprintf(out, "\t\t'-%c[", row->letter);
	else
		fprintf(out, "\t\t'*--%s%s[", row->name, row->arg ? "=" : "");
	put_plain(out, row->help);
	fputc(']', out);
	put_zsh_value(out, row);
	fputs("' \\\n", out);
}

static void put_command(FILE *out, const struct hi_command *command)
{
	fprintf(out, "\t%s)\n\t_arguments -S \\\n", command->name);
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *e = &hi_option_table[i];
		struct hi_option_row letterless = *e;

		if (!hi_manual_takes(e, command))
			continue;
		put_zsh_option(out, e);
		if (e->letter) {
			letterless.letter = 0;
			put_zsh_option(out, &letterless);
		}
	}
	fputs("\t\t'(- *)--help[the options, in short]' \\\n"
	      "\t\t'(- *)--help-all[all options]' \\\n"
	      "\t\t'(- *)--version[the version]' \\\n"
	      "\t\t'*:file:_files' ;;\n",
	      out);
}

void hi_completion_zsh(FILE *out)
{
	fputs("#compdef heapinspect\n"
	      "# SPDX-License-Identifier: BSD-2-Clause\n"
	      "local -a commands\n"
	      "local word command=summary\n"
	      "commands=(\n",
	      out);
	for (size_t i = 0; hi_commands[i]; i++) {
		fprintf(out, "\t'%s:", hi_commands[i]->name);
		put_plain(out, hi_commands[i]->purpose);
		fputs("'\n", out);
	}
	fputs(")\n"
	      "for word in ${words[2,CURRENT-1]}; do\n"
	      "\t(( ${commands[(I)$word:*]} )) && command=$word && break\n"
	      "done\n"
	      "if [[ ${words[CURRENT]} != -* && $command == summary && "
	      "${words[CURRENT-1]} != -* ]]; then\n"
	      "\t_describe command commands\n"
	      "\t_files -g '*.hisnap'\n"
	      "\treturn\n"
	      "fi\n"
	      "case $command in\n",
	      out);
	for (size_t i = 0; hi_commands[i]; i++)
		put_command(out, hi_commands[i]);
	fputs("esac\n", out);
}
