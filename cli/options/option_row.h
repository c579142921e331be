/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of all options. The parser (option_take.h), the checks of what goes
 * together (option_check.c), near names, --help, manual pages, completions and what an
 * address of a page may contain are made from its rows.
 *
 * To add an option: a row in option_table.c, a member of struct hi_options that the row
 * names, and a question with it in tests/support/questions.c. An option whose value is
 * not of one of the kinds below has a function (option_values.h); what holds between
 * options beyond only_with and not_with is checked by the command (struct hi_command).
 * A new word of an option is in `words` and `help`, and has a question, too.
 */
#ifndef HI_CLI_OPTIONS_OPTION_ROW_H
#define HI_CLI_OPTIONS_OPTION_ROW_H

#include "session/options.h"

/* How the value is parsed, and the type of the member that takes it. */
enum hi_option_kind {
	HI_OPTION_FUNCTION,  /* by `take` */
	HI_OPTION_FLAG,	     /* bool: no value */
	HI_OPTION_TEXT,	     /* const char *; given twice is an error */
	HI_OPTION_LAST_TEXT, /* const char *; the last one counts */
	HI_OPTION_WORD,	     /* const char *, one of `words`; given twice is an error */
	HI_OPTION_CHOICE,    /* bool or enum: low + the index in `words` */
	HI_OPTION_NUMBER,    /* an unsigned number from low to high, of 4 or 8 bytes */
	HI_OPTION_DECIMAL,   /* double, from 0 to high */
	HI_OPTION_SIZE,	     /* uint64_t, bytes, at least low; `like` is an example */
	HI_OPTION_TIME,	     /* uint64_t, ns, at most high (0: any); `like` */
	HI_OPTION_LIST,	     /* const char **, owned; `has` is its size_t count. `like`
			      * is missing where a value is empty */
};

/* Each FILE is read or written. An option that writes has a line in
 * tests/support/writings.c. */
enum hi_option_file {
	HI_OPTION_NO_FILE,
	HI_OPTION_READS = 1,
	HI_OPTION_WRITES = 2, /* or with another option: --update-baseline */
};

/* Whether the address of a page may have the option. */
enum hi_option_page {
	HI_PAGES_UNDECIDED, /* there is no such option: refused */
	HI_PAGES_REFUSED,   /* other heaps, files and processes, and how they are read */
	HI_PAGES_SHOWS,	    /* what is shown of the objects, and how */
	HI_PAGES_CHOOSES,   /* which objects count */
};

/* Which targets the option is for, as bits: it changes nothing for others. */
enum hi_option_for {
	HI_FOR_PROCESS = 1,   /* it is read when it is stopped */
	HI_FOR_BYTES = 2,     /* a process or a core: not of a snapshot file */
	HI_FOR_DECODING = 4,  /* what is stopped or decoded: not of a drawn series */
	HI_FOR_SERIES = 8,    /* a series that is drawn: not of one heap */
	HI_FOR_FOLLOWING = 16 /* of bio and alloc: not of what was followed earlier */
};

struct hi_option_row;
/* Takes the value of an option, which may be cut into pieces. Returns 0, or 2 when it is
 * wrong, which was printed. */
typedef int hi_option_take_fn(const struct hi_option_row *row, char *value,
			      struct hi_options *o);

struct hi_option_row {
	const char *name; /* NULL: a heading for the rows up to the next one */
	char letter;
	const char *arg; /* the name of the value in --help; NULL: there is none */
	const char *help;
	unsigned commands; /* bits of enum hi_command_id; no two rows of a name share one
			    */
	enum hi_option_page page; /* the same in all rows of a name */
	enum hi_option_kind kind;
	hi_option_take_fn *take;
	size_t at, size; /* the member of struct hi_options */
	size_t has;	 /* a bool that says that it was given; 0: there is none */
	uint64_t low, high;
	const char *like;
	/* In the order of the values, NULL ends; of FUNCTION: what completion offers. */
	const char *const *words;
	unsigned file;	 /* bits of enum hi_option_file */
	unsigned is_for; /* bits of enum hi_option_for; 0: all */
	/* Names of options, separated by spaces: "format=html" is one with this value.
	 * The option needs one of these. */
	const char *only_with;
	/* It goes with none of these; why: NULL, or a clause beside the general text. */
	const char *not_with, *why;
};

extern const struct hi_option_row hi_option_table[];
extern const size_t hi_option_table_size;

/* Returns the row of the option of this name that the command takes; NULL: none. */
const struct hi_option_row *hi_option_find(unsigned command, const char *name);

/* Words of --identity, by enum hi_identity. */
extern const char *const hi_option_identities[];

#endif
