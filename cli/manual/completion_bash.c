/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/manual/manual.h"

static void put_bash_options(FILE *out, const struct hi_command *command)
{
	const char *space = "";

	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *e = &hi_option_table[i];

		if (!hi_manual_takes(e, command))
			continue;
		fprintf(out, "%s--%s%s", space, e->name, e->arg ? "=" : "");
		space = " ";
	}
	fprintf(out, "%s--help --help-all --usage --version", space);
}

static void put_bash_word(FILE *out, const char *word)
{
	fputs(word, out);
}

/* Writes what completes the value of an option: a word of _heapinspect_value. */
static void put_bash_value(FILE *out, const struct hi_option_row *row)
{
	switch (hi_manual_value(row)) {
	case HI_VALUE_FILE:
		fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$2\"))", out);
		break;
	case HI_VALUE_DIR:
		fputs("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$2\"))", out);
		break;
	case HI_VALUE_PID:
		fputs("COMPREPLY=($(cd /proc && compgen -G '[0-9]*' -- \"$2\" | "
		      "grep \"^$2\"))",
		      out);
		break;
	case HI_VALUE_WORDS:
		fputs("COMPREPLY=($(compgen -W '", out);
		hi_manual_words(out, row, put_bash_word);
		fputs("' -- \"$2\"))", out);
		break;
	case HI_VALUE_NONE:
	case HI_VALUE_ANY:
	default:
		fputs(":", out);
	}
}

static void put_values(FILE *out, const struct hi_command *command)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *e = &hi_option_table[i];

		if (!hi_manual_takes(e, command) || !e->arg)
			continue;
		fprintf(out, "\t%s:--%s", command->name, e->name);
		if (e->letter)
			fprintf(out, "|%s:-%c", command->name, e->letter);
		fputs(") ", out);
		put_bash_value(out, e);
		fputs(" ;;\n", out);
	}
}

void hi_completion_bash(FILE *out)
{
	fputs("# SPDX-License-Identifier: BSD-2-Clause\n"
	      "# bash completion for heapinspect\n"
	      "_heapinspect_commands='",
	      out);
	for (size_t i = 0; hi_commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", hi_commands[i]->name);
	fputs("'\n"
	      "# COMMAND:OPTION WORD: the values of an option\n"
	      "_heapinspect_value()\n{\n\tcase $1 in\n",
	      out);
	for (size_t i = 0; hi_commands[i]; i++)
		put_values(out, hi_commands[i]);
	fputs("\t*) return 1 ;;\n\tesac\n}\n"
	      "_heapinspect_options()\n{\n\tcase $1 in\n",
	      out);
	for (size_t i = 0; hi_commands[i]; i++) {
		fprintf(out, "\t%s) echo '", hi_commands[i]->name);
		put_bash_options(out, hi_commands[i]);
		fputs("' ;;\n", out);
	}
	/* '=' is a word of its own to readline: --color = al */
	fputs("\tesac\n}\n"
	      "_heapinspect()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} command=summary i\n"
	      "\tlocal option=${COMP_WORDS[COMP_CWORD - 1]} has=\n"
	      "\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase \" $_heapinspect_commands \" in\n"
	      "\t\t*\" ${COMP_WORDS[i]} \"*) command=${COMP_WORDS[i]} has=1; break ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\t[ \"$word\" = = ] && word= && option==\n"
	      "\t[ \"$option\" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]} &&\n"
	      "\t\t[ \"${COMP_WORDS[COMP_CWORD]}\" = = ] && "
	      "option=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\t_heapinspect_value \"$command:$option\" \"$word\" && return\n"
	      "\tcase $word in\n"
	      "\t-*)\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$(_heapinspect_options \"$command\")\" "
	      "-- \"$word\"))\n"
	      "\t\t[ \"${COMPREPLY[0]: -1}\" = = ] && compopt -o nospace\n"
	      "\t\treturn ;;\n"
	      "\tesac\n"
	      "\tcompopt -o filenames\n"
	      "\tCOMPREPLY=($(compgen -f -X '!*.hisnap' -- \"$word\") "
	      "$(compgen -f -X '!*.hp' -- \"$word\") "
	      "$(compgen -d -- \"$word\"))\n"
	      "\t[ \"$has\" ] || COMPREPLY+=($(compgen -W \"$_heapinspect_commands\" "
	      "-- \"$word\"))\n"
	      "}\n"
	      "complete -F _heapinspect heapinspect\n",
	      out);
}
