/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To add a command: an entry in enum hi_command_id, a file cli/commands/NAME.c with a
 * `const struct hi_command hi_command_NAME`, a line in the list of cli/commands.c, its
 * bit at the options that it takes (cli/options/option_table.c), a JSON Schema's name in
 * docs/schema, docs/man/NAME.roff for its manual page, scenario tests in
 * tests/cli/commands_test.c, and a question in tests/support/questions.c.
 */
#ifndef HI_CLI_COMMAND_COMMAND_H
#define HI_CLI_COMMAND_COMMAND_H

#include "cli/command/output.h"
#include "report/parts/report_header.h"
#include "report/reports/series/series_sample.h"
#include "session/inspect/inspect.h"

enum hi_command_id {
	HI_COMMAND_SUMMARY,
	HI_COMMAND_CENSUS,
	HI_COMMAND_RETAINED,
	HI_COMMAND_LEAKS,
	HI_COMMAND_PATHS,
	HI_COMMAND_EXPLAIN,
	HI_COMMAND_WASTE,
	HI_COMMAND_GRAPH,
	HI_COMMAND_RETAINERS,
	HI_COMMAND_UP,
	HI_COMMAND_ROOTS,
	HI_COMMAND_MARK,
	HI_COMMAND_SNAP,
	HI_COMMAND_SAFEPOINTS,
	HI_COMMAND_DIFF,
	HI_COMMAND_CHECK,
	HI_COMMAND_EXPORT,
	HI_COMMAND_AUDIT,
	HI_COMMAND_SNAPSHOTS,
	HI_COMMAND_QUERY,
	HI_COMMAND_RECORD,
	HI_COMMAND_BIO,
	HI_COMMAND_ERA,
	HI_COMMAND_ALLOC,
	HI_COMMAND_PEAKS,
	HI_COMMAND_SPACETIME,
	HI_COMMAND_BROWSE,
	HI_COMMAND_DEEP,
	HI_COMMAND_REPORT,
	HI_COMMAND_TREE,
	HI_COMMAND_SERVE,
	HI_COMMAND_TICKET,
	HI_COMMANDS,
};

/* Parts of the address of a page of the command beside options. */
enum hi_command_page {
	HI_COMMAND_NO_PAGE,
	HI_COMMAND_PAGE,	       /* nothing: of one census */
	HI_COMMAND_PAGE_WITH_ARGUMENT, /* the command's argument */
	HI_COMMAND_PAGE_OF_FILE,       /* nothing: of all censuses */
	HI_COMMAND_PAGE_OF_TWO,	       /* which census of the file is the earlier heap */
	HI_COMMAND_PAGE_OF_DEEP,       /* a verb and a query */
};

#define HI_COMMAND_TARGETS "--pid PID|--core FILE|FILE.hisnap|-- PROGRAM"

struct hi_deep_kept;
struct hi_given;
struct hi_outcome;
struct hi_run;

struct hi_command {
	enum hi_command_id id;
	const char *name;
	const char *arguments; /* "ADDRESS|TYPE"; "" none; one, required unless in [] */
	const char *purpose;   /* one line */
	const char *help;      /* after the options: examples */
	const char *targets;  /* after them in the usage line; NULL: HI_COMMAND_TARGETS */
	unsigned wanted;      /* bits of enum hi_wanted */
	bool has_no_verdicts; /* it does not show which leaks are certain */

	/* ---- the command line (cli/options) ---- */
	bool compares;		/* of two snapshot files the first is the earlier heap */
	bool takes_expression;	/* as its argument, which becomes a root then */
	bool takes_roots_alone; /* --root without --under */
	bool groups_by_retainers; /* --retainer without --retained-by */
	bool follows;		  /* allocations: --for is not of a series */
	/* Takes a word that is no option; NULL: a snapshot file, or the one argument.
	 * Returns 0, or 2 when it is wrong, which was printed. */
	int (*take_word)(char *word, struct hi_options *o);
	/* Fills in what depends on other options, and may set o->command to another way
	 * to run. NULL: nothing to do. */
	void (*settle)(struct hi_options *o);
	/* Checks what rows of options do not say. Returns 0, or 2 when an error was
	 * printed. NULL: nothing to check. */
	int (*check)(const struct hi_given *given);

	/* ---- pages of report and serve ---- */
	enum hi_command_page page;
	const char *page_form; /* the argument's name in an address; NULL: it has none */

	/* ---- how it runs ---- */
	/* Fills the page or the document (one of them is NULL). */
	enum hi_status (*run)(struct hi_inspection *in,
			      const struct hi_report_header *header, struct hi_page *page,
			      struct hi_json *json, struct hi_error *err);
	/* Instead of run, for a command whose output is no report: a file. */
	enum hi_status (*write)(struct hi_inspection *in,
				const struct hi_report_header *header,
				struct hi_output *output, struct hi_error *err);
	/* Beside run, with -o FILE: writes that file. The report goes to stdout. */
	enum hi_status (*save)(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output, struct hi_error *err);
	/* For --every, NULL: not in series. Fills rows, n_rows, hidden, objects and
	 * bytes of the sample, out of the inspection's arena. */
	enum hi_status (*sample)(struct hi_inspection *in, struct hi_series_sample *ret,
				 struct hi_error *err);
	unsigned wanted_in_series; /* instead of wanted */
	/* Instead of write, for output about all censuses of a file together. */
	bool (*wants_series)(const struct hi_options *options);
	enum hi_status (*write_series)(const struct hi_options *options,
				       struct hi_output *output, struct hi_error *err);
	bool keeps_rights; /* run_alone talks to a process, or reads no file */
	/* Instead of run, for a process that is followed from now on: writes the report
	 * itself. */
	enum hi_status (*follow)(const struct hi_options *options, struct hi_run *run,
				 struct hi_outcome *ret, struct hi_error *err);
	bool records;	 /* the stop of the inspection ends a recording */
	bool reads_keys; /* from the terminal, until it ends */
	/* Instead of run, for a command that makes no image of a target. */
	enum hi_status (*run_alone)(const struct hi_options *options,
				    struct hi_output *output, struct hi_error *err);
	/* The same for pages, NULL: run_alone. Data that were read stay in *kept for the
	 * next page. */
	enum hi_status (*run_kept)(const struct hi_options *options,
				   struct hi_deep_kept *kept, struct hi_output *output,
				   struct hi_error *err);
};

extern const struct hi_command hi_command_summary, hi_command_census, hi_command_retained,
	hi_command_leaks, hi_command_paths, hi_command_explain, hi_command_waste,
	hi_command_graph, hi_command_retainers, hi_command_up, hi_command_roots,
	hi_command_mark, hi_command_snap, hi_command_safepoints, hi_command_diff,
	hi_command_check, hi_command_export, hi_command_audit, hi_command_snapshots,
	hi_command_query, hi_command_record, hi_command_bio, hi_command_era,
	hi_command_alloc, hi_command_peaks, hi_command_spacetime, hi_command_browse,
	hi_command_deep, hi_command_report, hi_command_tree, hi_command_serve,
	hi_command_ticket;
/* Instead of bio and alloc, of a file. */
extern const struct hi_command hi_command_bio_file, hi_command_alloc_file;
/* Instead of alloc of a process, with --sample windows: as record runs it. */
extern const struct hi_command hi_command_alloc_windows;
/* Instead of alloc, with --pause or --resume. */
extern const struct hi_command hi_command_alloc_pause;
/* Instead of graph, when there is one heap to draw and no series. */
extern const struct hi_command hi_command_graph_heap;
/* Instead of census, with --suggest-hints. */
extern const struct hi_command hi_command_census_hints;
/* Instead of query, when there is no statement. */
extern const struct hi_command hi_command_query_schema;

/* By id; NULL ends. */
extern const struct hi_command *const hi_commands[];
const struct hi_command *hi_command_find(const char *name); /* NULL: none */

#endif
