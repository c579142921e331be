/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of one inspection, which every command reads: one struct for each subject.
 * Only the results that the command requests (HI_WANT_...) are computed, the rest stays
 * NULL. session/inspect/inspect.h makes it and frees it.
 */
#ifndef HI_SESSION_INSPECTION_H
#define HI_SESSION_INSPECTION_H

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"
#include "census/analysis/ledger.h"
#include "decode/allocator.h"
#include "decode/inference/typing.h"
#include "decode/rules/rulebook.h"
#include "decode/runtime.h"
#include "report/parts/phases.h"
#include "report/parts/report_header.h"
#include "session/options.h"
#include "session/process_use.h"
#include "session/run.h"
#include "session/source.h"

struct hi_alloc_sites;
struct hi_bio_summary;
struct hi_kept_tree;
struct hi_nearest;
struct hi_owners;
struct hi_snapshot_contents;
struct hi_snapshot_names;

enum hi_wanted {
	HI_WANT_DOMINATORS = 1,
	HI_WANT_LEAKS = 2,
	HI_WANT_CENSUS = 4, /* with retained sizes if dominators are wanted */
	HI_WANT_SUSPECTS = 8,
	HI_WANT_LEDGER = 16,
	/* Nothing but the table of `census`, or of `retained`: a source that has it
	 * stored need not load the graph. */
	HI_WANT_ONLY_CENSUS = 32,
	HI_WANT_ONLY_RETAINED = 64,
	/* For hi_kept_owners(), with dominators: computed beside the other results. */
	HI_WANT_OWNERS = 128,
	/* Little is read of the image after this: it may be packed. */
	HI_WANT_PACKED = 256,
	/* Results that a snapshot file alone has (session/snapshot/prepared.h): made beside
	 * the others if there are threads for it. */
	HI_WANT_PREPARED = 512,
	/* Nothing shows which leaks are certain. Only where no other command has the
	 * inspection afterwards. */
	HI_WANT_NO_VERDICTS = 1024,
};

enum { HI_PHASE = 64 };

/* The process and where it stood; all empty for a core or a file. */
struct hi_inspection_stop {
	struct hi_target *target;	 /* NULL: none */
	bool is_of_gone;		 /* it has exited, and its memory was kept */
	struct hi_range *allocator_text; /* where no thread should stand */
	size_t n_allocator_text;
	struct hi_stop_site *site; /* of --at, the series' or own_site; NULL: none */
	struct hi_stop_site *own_site;
	bool is_observed;	      /* until the end of the census */
	const struct hi_stopped *hit; /* of the site's probe; NULL: stopped at once */
	struct hi_timestamp resumed;  /* when the pause was over */
};

/* Decoders of the image; all NULL for a snapshot file. */
struct hi_inspection_decoders {
	struct hi_modules *modules;
	struct hi_types *types;		/* NULL: no debug information could be opened */
	struct hi_rulebook *rulebook;	/* containers and hints; NULL without types */
	struct hi_allocator *allocator; /* NULL: none is known */
	/* Allocators that are there and cannot be walked; of the arena. */
	const struct hi_allocator_refusal *refused;
	size_t n_refused;
	struct hi_runtime *runtime;  /* NULL: none is known */
	const char *refused_runtime; /* that is there and cannot be decoded; "" */
	const char *not_decoded; /* other allocators and runtimes; ""; of a file: NULL */
	struct hi_typing *typing;
};

/* With --conservative: what is leaked when types are believed. */
struct hi_typed_leaks {
	bool known;
	uint64_t objects, bytes;
};

/* Results of the whole heap. A result that is not wanted is NULL. */
struct hi_inspection_results {
	struct hi_reach *reach;
	struct hi_typed_leaks by_types;
	struct hi_dominators *dominators;
	struct hi_leak_groups *leak_groups; /* outlives leaks */
	struct hi_leaks *leaks;
	struct hi_census *census;
	struct hi_suspects *suspects;
	struct hi_ledger ledger;
	bool ledger_known;
};

/* The part of the heap that --under and --retained-by leave
 * (census/analysis/subgraph.h). */
struct hi_inspection_shown {
	/* For counts of live objects, and of leaked ones. Without a restriction they are
	 * the ones of the results. */
	struct hi_reach *reach, *leaks_reach;
	struct hi_report_restriction restriction;
	/* As hi_kept_shown_dominators() fills them; with a restriction retained is its
	 * own. */
	struct hi_dominators dominators;
};

/* Profiles by roots and retainers. */
struct hi_inspection_profile {
	struct hi_named_roots *roots;	/* --root; NULL: none */
	struct hi_retaining *retaining; /* when something asked for it */
	bool retainers_may_miss;	/* a type or field that this heap has not */
};

/* Results of session/computed.h; NULL until the first question. */
struct hi_kept {
	struct hi_path_index *paths;
	struct hi_owners *owners;
	struct hi_nearest *nearest;
	struct hi_alloc_sites *alloc_sites; /* NULL: not asked for, or none are known */
	bool has_alloc_sites;		    /* these were looked for */
	bool has_names;			    /* of edges, checked */
	bool has_failed;		    /* to prepare some of it */
};

struct hi_inspection_diagnostics {
	struct hi_warning_list HI_VECTOR(const char *) warnings;
	struct hi_warning_list notes; /* below the report */
	bool has_finding;	  /* a difference, or a gate that failed: exit code 1 */
	uint64_t failures_before; /* hi_alloc_failures() at the beginning */
	bool short_of_memory;	  /* some part did without; there is a warning */
};

/* How long each step took, and which one runs. */
struct hi_inspection_phases {
	struct hi_phases list; /* as they began */
	size_t running;	       /* that of hi_inspect_phase(), if it runs */
	bool runs;
	char *shown; /* HI_PHASE bytes that another process reads; NULL: none */
	struct hi_progress *progress;
};

struct hi_inspection {
	const struct hi_options *options;
	const struct hi_run *run; /* never NULL */
	const struct hi_source_ops *source;
	unsigned wanted; /* bits of enum hi_wanted */
	struct hi_inspection_stop stop;
	struct hi_image *image; /* of a snapshot file: NULL */
	struct hi_inspection_decoders decoders;
	struct hi_snapshot_source *snapshot; /* of a snapshot file; its own affair */
	uint32_t census_number;		     /* of a file of many censuses; else 0 */
	struct hi_graph *graph;		     /* owns the objects */
	struct hi_recorded *recorded; /* NULL: none, or not read yet (recorded.h) */
	struct hi_bio_summary *lives; /* the same (biography/kept.h); owned */
	struct hi_kept_tree
		*tree; /* of session/dominator_tree.h; NULL: not asked for yet */
	struct hi_snapshot_contents *contents; /* of session/snapshot/prepared.h; */
	struct hi_snapshot_names *names;       /* NULL: not made yet */
	struct hi_inspection_results results;
	struct hi_inspection_shown shown;
	struct hi_inspection_profile profile;
	struct hi_kept kept;
	struct hi_inspection_diagnostics diagnostics;
	struct hi_inspection_phases phases;
	struct hi_arena arena; /* of the warnings, and for the commands */
	/* For path_text.c: edges that were read together, and paths. */
	struct hi_table step_texts, object_texts;
};

/* Bytes that the allocator has given away, by its own lists, and of objects beside
 * it; UINT64_MAX: no allocator is known. */
uint64_t hi_inspect_allocated(const struct hi_inspection *in);

/* Was the allocator walked, and is there no other heap beside its own? Else leaks
 * are unknown, and what is live is a lower bound (report/parts/decoded_share.h). */
bool hi_inspect_heap_is_known(const struct hi_inspection *in);
/* Is a stored table the only wanted result (HI_WANT_ONLY_...)? Then the graph has types
 * alone, and reach counts alone. */
static inline bool hi_inspect_has_answer(const struct hi_inspection *in)
{
	return in->source->stored && in->source->stored->has_answer(in);
}
/* A line for the header; dropped when out of memory. */
void hi_inspect_warn(struct hi_inspection *in, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A line below the report, once; dropped when out of memory. */
void hi_inspect_note(struct hi_inspection *in, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Memory ran out since this was opened, and there is no warning about it yet. */
bool hi_inspect_lost_something(const struct hi_inspection *in);
/* Returns the path of the program: the one by which it was started where that is known,
 * else that of its file; "" unknown. Hostile. Borrowed from the target or the image. */
const char *hi_inspection_program(const struct hi_inspection *in);
/* Before the stop: no thread should stand in this range. Dropped when out of memory. */
void hi_inspection_avoid(struct hi_inspection *in, const struct hi_range *range);

/* Reports to the user that a root of the options is wrong at byte `column` of its
 * expression, with the text of err. Returns HI_USAGE. */
enum hi_status hi_inspection_wrong_root(struct hi_inspection *in,
					const struct hi_root_text *root, size_t column,
					struct hi_error *err);

/* Threads that compute; 0: as many as there are processors. */
static inline unsigned hi_inspection_threads(const struct hi_inspection *in)
{
	return in->run->threads ? in->run->threads : in->options->decoding.threads;
}

/* How long the site of --at is waited for; 0: for ever. */
static inline uint64_t hi_inspection_site_timeout_ns(const struct hi_inspection *in)
{
	return in->run->site_timeout_ns ? in->run->site_timeout_ns
					: in->options->safepoint.timeout_ns;
}

/* Are there to be no lines on stderr beside the report? */
static inline bool hi_inspection_is_quiet(const struct hi_inspection *in)
{
	return in->run->is_quiet || in->options->output.quiet;
}

/* Ends the phase before and begins this one; NULL just ends. */
void hi_inspect_phase(struct hi_inspection *in, const char *name);
/* For phases that run beside each other (session/inspect/steps.h): begins one, which the
 * other function ends. One thread at a time. NULL: there is nothing to begin or to end. */
size_t hi_inspect_open_phase(struct hi_inspection *in, const char *name);
void hi_inspect_close_phase(struct hi_inspection *in, size_t phase);

/* Damage that could not be returned where it was found: of what was read up to now no
 * report may be made. */
enum hi_status hi_inspect_check(const struct hi_inspection *in, struct hi_error *err);
/* The header of every report. Borrows from the inspection, whose arena it uses. With -v it
 * has the phases, also those that end later. */
enum hi_status hi_inspect_make_header(struct hi_inspection *in,
				      struct hi_report_header *ret, struct hi_error *err);

#endif
