/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the command line's parser: the table of all options
 * (option_table.c), what takes their values (option_take.c, option_take_*.c) and
 * what holds them together (option_check.c).
 *
 * To add an option: a key here, a line in the table with the commands that take
 * it, a case where values of its subject are taken, a member of struct hi_options,
 * in option_check.c what it does not go with, and a question with it in
 * tests/support/questions.c.
 */
#ifndef HI_CLI_OPTIONS_OPTION_TABLE_H
#define HI_CLI_OPTIONS_OPTION_TABLE_H

#include <argp.h>

#include "session/options.h"

enum hi_option_key {
	HI_OPT_CORE = 0x100,
	HI_OPT_NAME,
	HI_OPT_EXE,
	HI_OPT_JSON,
	HI_OPT_ALL,
	HI_OPT_FULL_NAMES,
	HI_OPT_TOP,
	HI_OPT_COLOR,
	HI_OPT_WIDTH,
	HI_OPT_DEBUG_DIR,
	HI_OPT_CONSERVATIVE,
	HI_OPT_SWAP,
	HI_OPT_MAX_PAUSE,
	HI_OPT_THREADS,
	HI_OPT_TYPE,
	HI_OPT_MIN_SIZE,
	HI_OPT_STRICT,
	HI_OPT_BY,
	HI_OPT_UNTYPED,
	HI_OPT_GROUP,
	HI_OPT_SUGGEST_HINTS,
	HI_OPT_HINTS,
	HI_OPT_NO_HINTS,
	HI_OPT_NO_SANDBOX,
	HI_OPT_BANDS,
	HI_OPT_MIN_PCT,
	HI_OPT_SORT,
	HI_OPT_LIKE,
	HI_OPT_FROM,
	HI_OPT_TO,
	HI_OPT_Y_MAX,
	HI_OPT_SHAPE,
	HI_OPT_LABEL,
	HI_OPT_EVERY,
	HI_OPT_FOR,
	HI_OPT_SAMPLE,
	HI_OPT_CALLS,
	HI_OPT_FREES,
	HI_OPT_MAPPINGS,
	HI_OPT_KEEP_EVENTS,
	HI_OPT_CHILDREN,
	HI_OPT_HP,
	HI_OPT_TIME,
	HI_OPT_ROOT,
	HI_OPT_UNDER,
	HI_OPT_ALL_BINS,
	HI_OPT_JOIN,
	HI_OPT_RETAINER,
	HI_OPT_IDENTITY,
	HI_OPT_MAX_SET,
	HI_OPT_COUNT,
	HI_OPT_PURE,
	HI_OPT_WEAK_AS_ROOTS,
	HI_OPT_RETAINED_BY,
	HI_OPT_COMPRESS,
	HI_OPT_REDACT,
	HI_OPT_EACH,
	HI_OPT_WITH_CONTENTS,
	HI_OPT_AT,
	HI_OPT_TIMEOUT,
	HI_OPT_SNAPSHOT,
	HI_OPT_MAX_IMAGE,
	HI_OPT_MAX_MEMORY,
	HI_OPT_FORCE,
	HI_OPT_THREE,
	HI_OPT_COMPARE_BY,
	HI_OPT_BASELINE,
	HI_OPT_FAIL_ON,
	HI_OPT_BUDGET,
	HI_OPT_UPDATE_BASELINE,
	HI_OPT_ACCEPT,
	HI_OPT_JUNIT,
	HI_OPT_GITHUB,
	HI_OPT_TABLE,
	HI_OPT_FULL,
	HI_OPT_MAX_FILE,
	HI_OPT_CENSUS,
	HI_OPT_SCHEMA,
	HI_OPT_BORN_BY,
	HI_OPT_SITE_BY,
	HI_OPT_SITE,
	HI_OPT_SITE_ANY,
	HI_OPT_AGE,
	HI_OPT_BORN,
	HI_OPT_THREAD,
	HI_OPT_LIVES_BY,
	HI_OPT_BIO,
	HI_OPT_LIVE,
	HI_OPT_BIRTH_USE,
	HI_OPT_DEATH_USE,
	HI_OPT_INHERENT,
	HI_OPT_ERA,
	HI_OPT_WATCH,
	HI_OPT_USES,
	HI_OPT_SELECT,
	HI_OPT_CENTRE,
	HI_OPT_FROM_MARK,
	HI_OPT_TO_MARK,
	HI_OPT_ALLOC_BY,
	HI_OPT_MANNER,
	HI_OPT_PAUSE,
	HI_OPT_RESUME,
	HI_OPT_CALLERS,
	HI_OPT_BARS,
	HI_OPT_WEIGHT,
	HI_OPT_PEAKS,
	HI_OPT_CONTOUR,
	HI_OPT_BANDS_BY,
	HI_OPT_ALLOC_SORT,
	HI_OPT_EDIT,
	HI_OPT_SCAN,
	HI_OPT_DEPTH,
	HI_OPT_PORT,
	HI_OPT_IDLE,
};

/* Flags of options that take a file, beside argp's own, which it does not look at: each
 * FILE has one. An option that writes has a line in tests/support/writings.c. */
enum hi_option_file {
	HI_OPTION_READS = 0x1000,
	HI_OPTION_WRITES = 0x2000, /* or with another option: --update-baseline */
};

struct hi_option_entry {
	struct argp_option option;
	unsigned commands; /* that take it: bits of enum hi_command_id */
};
extern const struct hi_option_entry hi_option_table[];
extern const size_t hi_option_table_size;

/* Prints the error on stderr, in one line: argp's own would add a second one. Returns 2.
 */
int hi_option_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* argp stops at any error but ARGP_ERR_UNKNOWN; this one means that the error was
 * printed. */
enum { HI_OPTION_SAID = 1000 };

/* argp's parser for all of them; state->input is the struct hi_options. */
error_t hi_option_take(int key, char *arg, struct argp_state *state);
/* The values of one subject; ARGP_ERR_UNKNOWN: the key is not theirs. */
int hi_option_take_drawn(int key, char *arg, struct hi_options *o);
/* Those of profiles (--root, --retainer, …). most: upper bound for how many of one option
 * there can be. */
int hi_option_take_profile(int key, char *arg, struct hi_options *o, size_t most);
/* Those of a series. */
int hi_option_take_series(int key, char *arg, struct hi_options *o);
/* Those of a recording. */
int hi_option_take_births(int key, char *arg, struct hi_options *o);
/* Those of space profiles. */
int hi_option_take_alloc(int key, char *arg, struct hi_options *o);
/* Those of stopping the target. */
int hi_option_take_stop(int key, char *arg, struct hi_options *o);

/* A second one would silently replace the first. */
int hi_option_take_once(const char *name, const char *arg, const char **ret);
/* Parses a number in [low, high] into *ret. 0, or HI_OPTION_SAID when the error was
 * printed. */
int hi_option_take_number(const char *option, const char *text, uint64_t low,
			  uint64_t high, uint64_t *ret);

/* Checks all options together, when all are taken: 0, or 2 when an error was printed. */
int hi_option_check(const struct hi_options *o);

#endif
