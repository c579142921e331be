/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: one argp parser a command, all from one table. */
#ifndef HI_CLI_OPTIONS_H
#define HI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "census/analysis/census_by.h"
#include "census/analysis/compare.h"
#include "cli/profile_options.h"
#include "cli/safepoint_options.h"
#include "cli/series_options.h"
#include "report/views/bands.h"
#include "report/views/gate.h"

enum hi_color { HI_COLOR_AUTO, HI_COLOR_ALWAYS, HI_COLOR_NEVER };

enum { HI_OPTIONS_HINTS = 16 };

struct hi_command;
struct hi_keep;

struct hi_options {
	const struct hi_command *command;
	const char *argument; /* of the command; NULL none */
	pid_t pid;	      /* 0: a core */
	const char *core, *exe;
	const char *baseline; /* an earlier snapshot, to compare with; NULL: none */
	/* Of diff --three: between the two; NULL: none. */
	const char *middle, *middle_census;
	enum hi_compare_by compare_by; /* diff */
	bool has_compare_by, three;
	bool force, github;
	struct hi_gate *gates; /* of check; owned, with their names */
	size_t n_gates;
	struct hi_arena gate_names;
	const char *junit;  /* NULL: none */
	const char *format; /* of export and query */
	const char *table;  /* of export */
	bool schema;	    /* of query */
	/* Which one of a file with many: a number, first, last, peak; NULL: last. */
	const char *census, *baseline_census;
	const char *file; /* a snapshot; NULL: a process or a core */
	bool json, all, quiet, verbose, strict;
	bool no_sandbox; /* decodes in this process, with its rights */
	bool conservative, swap, compress;
	bool with_contents; /* a snapshot file with the bytes of objects */
	bool redact;	    /* a snapshot file without strings of the heap */
	const char *hints[HI_OPTIONS_HINTS]; /* files, in the order given */
	size_t n_hints;
	bool no_hints; /* not those that are compiled in either */
	enum hi_by by; /* census */
	bool has_by, untyped;
	enum hi_color color;
	unsigned width;	    /* 0: the terminal's */
	size_t top;	    /* 0: the command's usual number */
	size_t k;	    /* paths */
	const char *output; /* NULL: stdout */
	const char *debug_dir;
	const char *type;      /* NULL: all */
	uint64_t min_size;     /* bytes */
	uint64_t max_pause_ns; /* 0: the default */
	unsigned threads;      /* 0: all processors */
	const char *like;      /* graph: another file; NULL: none */
	struct hi_bands_options bands;
	struct hi_profile_options profile;
	struct hi_series_options series;
	struct hi_safepoint_options safepoint;
	struct hi_keep *keep; /* no word: of a series, for its censuses; else NULL */
};

/*
 * Fills *ret from argv; strings are borrowed from it. On a wrong usage it has
 * said so on stderr, in one line, and returns 2; 0 is fine; -1: --help or
 * --version was answered. argv may be permuted, and cut into pieces.
 */
int hi_options_parse(int argc, char **argv, struct hi_options *ret);
void hi_options_free(struct hi_options *options);

/* "200ms", "1s", "1.5s", "500us"; false if it is none, or is 0. */
bool hi_parse_duration(const char *text, uint64_t *ns_ret);
/* "64", "64K", "64KiB", "1.5MiB", "2GB" (powers of 1024); false if it is none. */
bool hi_parse_size(const char *text, uint64_t *bytes_ret);
/* A whole number in [low, high]; false else. */
bool hi_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret);

#endif
