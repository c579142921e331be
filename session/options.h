/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of a command: plain data, one struct for each subject. cli/ fills them in
 * from the command line, and nothing changes them after that. Strings are borrowed from
 * there. A running command carries its objects in session/run.h.
 */
#ifndef HI_SESSION_OPTIONS_H
#define HI_SESSION_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "census/analysis/census_by.h"
#include "census/analysis/compare.h"
#include "census/events/birth_choice.h"
#include "census/events/birth_groups.h"
#include "census/snapshot/graphs_wanted.h"
#include "decode/roots/named_roots.h"
#include "probes/events/call_spec.h"
#include "probes/safepoint.h"
#include "report/pictures/bands.h"
#include "report/reports/alloc/alloc_manner.h"
#include "report/reports/alloc/alloc_order.h"
#include "report/reports/check/gate.h"
#include "report/reports/series/series_sample.h"

/* ---- profiles by roots and retainers, and restrictions to them ---- */

/* The name under which a retainer counts. A root variable always counts as itself. */
enum hi_identity {
	HI_IDENTITY_TYPE,
	HI_IDENTITY_VAR,    /* the variable that holds it alone, else its type */
	HI_IDENTITY_SITE,   /* where it was allocated */
	HI_IDENTITY_MODULE, /* of its type, or of the variable */
	HI_IDENTITY_ADDR,   /* itself */
};

enum { HI_PROFILE_MAX_SET = 8 };

struct hi_profile_options {
	/* --root NAME=EXPR, in the order given. */
	struct hi_root_text *roots;
	size_t n_roots;
	/* --under, as typed: names of roots; none: everything. */
	const char **under;
	size_t n_under;
	bool all_bins;
	const char *join; /* NULL: "-" */
	/* --retainer, as typed. */
	const char **retainers;
	size_t n_retainers;
	enum hi_identity identity;
	uint32_t max_set; /* 0: HI_PROFILE_MAX_SET */
	bool count, pure, weak_as_roots;
	const char *retained_by; /* names of retainers; NULL: everything */
};

/* Is there a --root of this name? */
bool hi_profile_has_root(const struct hi_profile_options *p, const char *name);
/* Is it one of --under? */
bool hi_profile_is_under(const struct hi_profile_options *p, const char *name);

/* ---- when a target is stopped, and how its memory is kept ---- */

struct hi_safepoint_options {
	struct hi_safepoint at; /* its text NULL: --at was not given; NOW then too */
	const char *every_text; /* "every:10"; NULL: not given */
	uint64_t every;
	uint64_t timeout_ns; /* 0: wait for ever */
	enum hi_snapshot_request snapshot;
	bool has_snapshot;
	uint64_t max_image;    /* bytes; 0: not given */
	uint64_t max_pause_ns; /* 0: the default */
};

/* Is there something to wait for? */
static inline bool hi_safepoint_asked(const struct hi_safepoint_options *s)
{
	return s->at.kind != HI_SAFEPOINT_NOW;
}

/* ---- a series of censuses ---- */

struct hi_series_options {
	uint64_t every_ns, every_bytes; /* at most one of them */
	uint64_t for_ns;		/* 0: until the target or a signal ends it */
	const char *hp;			/* a heap profile; NULL: none */
	enum hi_series_axis axis;
	bool has_axis;
	/* For snap: the censuses whose graphs stay; and bytes of the file, 0: any. The
	 * latter is for record --keep-events, too. */
	struct hi_graphs_wanted full;
	bool has_full;
	uint64_t max_file;
	bool at_place; /* --at: each census waits for the target to come by */
	bool each_hit; /* without --for, too, there is a census whenever it does */
};

/* Is a census taken each time the target reaches the site, until --for is over? */
static inline bool hi_series_at_each_hit(const struct hi_series_options *s)
{
	return s->at_place && (s->for_ns || s->each_hit) && !s->every_ns &&
	       !s->every_bytes;
}

static inline bool hi_series_asked(const struct hi_series_options *s)
{
	return s->every_ns || s->every_bytes || hi_series_at_each_hit(s);
}

/* ---- a recording ---- */

struct hi_record_options {
	bool has_sample;       /* else it is chosen by how much the target allocates */
	uint64_t sample_bytes; /* mean distance of samples; 0: all allocations */
	bool has_windows;      /* in windows alone; all allocations of them */
	bool is_none;	       /* of bio: allocations are not followed */
	/* For bio, if nothing was chosen: they are not if that costs the target more than
	 * this share of a processor; 0: they are. */
	double most_cost;
	struct hi_call_spec calls[HI_CALL_SPECS_MAX]; /* and frees, as given */
	size_t n_calls;
	bool mappings;
	bool children;	  /* in files of their own */
	bool keep_events; /* in the file, each one; --max-file limits them */
	bool has_scan;	  /* it was given */
	uint64_t scan_ns; /* CPU time between two samples of time; 0: none */
};

/* ---- biographies ---- */

enum hi_lives_by {
	HI_LIVES_BY_TYPE,
	HI_LIVES_BY_SITE,
	HI_LIVES_BY_MODULE,
	HI_LIVES_BY_ERA,
	HI_LIVES_BY_ROOT,
	HI_LIVES_BY_RETAINERS /* their set */
};

/* The meaning of live: a root reaches the object, or it is not freed. */
enum hi_lives_live { HI_LIVES_REACHABLE, HI_LIVES_ALLOCATED };

/* Uses in the period in which an object is born, or dies: filling and tearing down, which
 * count for nothing; those that are seen count; or they may be uses. */
enum hi_lives_ends { HI_LIVES_ENDS_NO, HI_LIVES_ENDS_SEEN, HI_LIVES_ENDS_MAYBE };

struct hi_biography_options {
	enum hi_lives_by by;
	bool has_by;	/* --by was given */
	uint32_t bands; /* bits of enum hi_bio_band; 0: not given */
	enum hi_lives_live live;
	enum hi_lives_ends birth_use, death_use; /* the latter is never ..._SEEN */
	const char *inherent; /* types whose use cannot be seen; NULL: none */
	const char *era;      /* FROM[-TO] (era_choice.h); NULL: all */
	unsigned watch;	      /* hardware watchpoints on objects of a sample; 0: none */
	bool uses;	      /* probes on functions that take objects */
};

/* ---- space profiles ---- */

enum { HI_CHAIN_MAX = 15 };

struct hi_alloc_options {
	const char *select; /* a part of names of functions, or a pattern; NULL: all */
	/* Patterns of --centre, one after the other; the list is owned. */
	const char **centres;
	size_t n_centres;
	const char *from_mark, *to_mark; /* what was allocated between; NULL: any */
	bool by_mark;
	/* Manners of --manner, in the order given; the list is owned. */
	struct hi_manner *manners;
	size_t n_manners;
	bool pause, resume; /* instead of a profile: sends this to a running one */
	bool callers;
	bool has_depth;
	uint64_t depth; /* of chains of callers, 0 to HI_CHAIN_MAX */
	bool bars;
	double weight; /* of space in the bars, 0 to 1 */
	bool has_order;
	enum hi_alloc_order order;
	bool edit;
};

/* ---- files of many censuses ---- */

enum hi_bands_by {
	HI_BANDS_BY_TYPE,
	HI_BANDS_BY_FUNCTION,
	HI_BANDS_BY_RETAINER,
	HI_BANDS_BY_BIOGRAPHY
};

struct hi_over_time_options {
	size_t peaks; /* local maxima; 0: not given */
	enum hi_bands_by by;
	bool has_by;
};

/* ---- deep profiles ---- */

enum hi_deep_verb {
	HI_DEEP_VERB_QUERY,
	HI_DEEP_VERB_MERGE,
	HI_DEEP_VERB_DIFF,
	HI_DEEP_VERB_ADVISE,
	HI_DEEP_VERB_CHECK
};

struct hi_deep_operands {
	enum hi_deep_verb verb;
	bool has_verb;
	struct hi_deep_file {
		const char *path;   /* a recording, or data of Mercury's deep profiler */
		const char *census; /* of it; NULL: the last */
	} files[2];
	unsigned n_files;
	const char *query; /* NULL: menu */
};

struct hi_deep_options {
	struct hi_deep_operands operands;
	const char *contour; /* a file of modules to leave out; NULL: none */
};

/* ---- serve ---- */

struct hi_serve_options {
	bool has_port;
	unsigned port;	     /* 0: any that is free */
	uint64_t timeout_ns; /* without a request; 0: 30 min */
};

/* ---- all ---- */

/* Which heap. One of pid, core and file. */
enum { HI_TARGET_TO_START = -1 }; /* instead of a pid, until the program was started */
struct hi_target_options {
	pid_t pid;	      /* 0: a core or a file; HI_TARGET_TO_START */
	char *const *program; /* that is started, with its arguments; NULL: none */
	const char *name;     /* --name as given; its process is pid */
	const char *core, *exe;
	const char *file; /* a snapshot; NULL: a process or a core */
	/* Which one of a file with many: a number, first, last, peak; NULL: last. */
	const char *census;
};

/* Which rows are shown, and what a row stands for. */
struct hi_selection_options {
	/* census of a recording: --by site, context, thread, age. */
	bool has_born_by;
	enum hi_born_by born_by;
	bool by_thread;		       /* retained: threads with what they alone hold */
	struct hi_birth_choice births; /* --site, --site-any, --age, --born, --thread */
	uint32_t bands;	  /* --bio, of biographies: bits of enum hi_bio_band; 0: all */
	const char *era;  /* --era FROM[-TO], of biographies; NULL: all */
	const char *type; /* NULL: all */
	/* --type chooses the objects, as --under does, and not the rows of a table. */
	bool type_restricts;
	uint64_t min_size; /* bytes */
	bool all;
	size_t top;    /* rows a table; 0: the command's usual number */
	size_t paths;  /* at most that many */
	size_t group;  /* tree: the row that is opened, from 1; 0: none */
	enum hi_by by; /* census */
	bool has_by, untyped, suggest_hints, each;
};

enum { HI_OPTIONS_HINTS = 16, HI_OPTIONS_LABELS = 16 };

/* How the memory is read and its types are found. */
struct hi_decoding_options {
	const char *debug_dir;
	const char *hints[HI_OPTIONS_HINTS]; /* files, in the order given */
	size_t n_hints;
	bool no_hints; /* not those that are compiled in either */
	bool conservative, swap, strict;
	bool no_sandbox;     /* decodes in this process, with its rights */
	unsigned threads;    /* 0: all processors */
	uint64_t max_memory; /* bytes; 0: not given */
};

enum hi_color { HI_COLOR_AUTO, HI_COLOR_ALWAYS, HI_COLOR_NEVER };

struct hi_output_options {
	const char *file;		       /* NULL: stdout */
	const char *format;		       /* of export and query */
	const char *table;		       /* of export */
	const char *labels[HI_OPTIONS_LABELS]; /* of export: "name=value" */
	size_t n_labels;
	bool uncompressed; /* of export: parquet without zstd */
	bool schema;	   /* of query */
	bool json, quiet, verbose;
	bool full_names; /* of types, in text */
	bool addresses;	 /* of ticket */
	enum hi_color color;
	unsigned width; /* 0: the terminal's */
};

/* For diff and check: the heaps to compare with, and how. */
struct hi_comparison_options {
	const char *baseline; /* an earlier snapshot; NULL: none */
	/* For diff --three: the heap between the two; NULL: none. */
	const char *middle;
	/* As the target's census. */
	const char *baseline_census, *middle_census;
	enum hi_compare_by by;
	bool by_site; /* by is HI_COMPARE_BY_GROUP: the function that allocated */
	bool has_by, three, force;
};

/* For check. */
struct hi_check_options {
	struct hi_gate *gates; /* owned, with their names */
	size_t n_gates;
	struct hi_arena gate_names;
	const char *junit; /* NULL: none */
	bool github;
	const char *budget; /* a file of gates; NULL: none */
	/* The baseline file becomes this heap: if all gates hold, or anyway. */
	bool update_baseline, accept;
	bool allow_missing; /* a name that nothing has counts 0 */
};

/* For snap. */
struct hi_snap_options {
	bool compress;
	bool with_contents; /* a snapshot file with the bytes of objects */
	bool redact;	    /* no strings of the heap, in reports and files */
};

/* For graph. */
struct hi_drawing_options {
	struct hi_bands_options bands;
	const char *like; /* another file; NULL: none */
	bool has_min_share;
	/* For the graph of one heap. */
	bool has_shape, treemap;
};

struct hi_command;

struct hi_options {
	const struct hi_command *command;
	const char *argument; /* of the command; NULL none */
	struct hi_target_options target;
	struct hi_selection_options selection;
	struct hi_decoding_options decoding;
	struct hi_output_options output;
	struct hi_comparison_options comparison;
	struct hi_check_options check;
	struct hi_snap_options snap;
	struct hi_drawing_options drawing;
	struct hi_profile_options profile;
	struct hi_series_options series;
	struct hi_record_options record;
	struct hi_biography_options biography;
	struct hi_alloc_options alloc;
	struct hi_deep_options deep;
	struct hi_serve_options serve;
	struct hi_over_time_options over_time;
	struct hi_safepoint_options safepoint;
};

#endif
