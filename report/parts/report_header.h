/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of every report: which target, how its memory was frozen, how much of it is
 * decoded. The caller fills it in from image, modules and allocator. Strings are borrowed
 * and hostile unless marked otherwise.
 */
#ifndef HI_REPORT_PARTS_REPORT_HEADER_H
#define HI_REPORT_PARTS_REPORT_HEADER_H

#include "census/retainers/type_evidence.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/parts/phases.h"
#include "report/parts/report_limit.h"
#include "report/parts/stop_place.h"

struct hi_report_child {
	int pid;
	const char *name;
	uint64_t rss, shared; /* UINT64_MAX: not permitted */
};

/* One allocator of the process. Strings are hostile; "" or NULL: not known. */
struct hi_report_allocator {
	const char *name;	       /* "jemalloc" */
	const char *version;	       /* or layout, "5.3.0" */
	const char *module;	       /* that has its variables */
	const char *found_by, *checks; /* that passed */
	const char *refused; /* the check that failed: it is not decoded; or "" */
	uint64_t arenas;
	uint64_t live_objects, live_bytes; /* its blocks, with the leaked ones */
	uint64_t damaged, skipped_bytes;
};

struct hi_report_module_counts {
	uint64_t total;
	uint64_t with_debug;
	uint64_t in_file, by_build_id, by_link, by_debuginfod; /* where it was found */
	uint64_t mismatched;  /* a file with another build-id was refused */
	uint64_t from_memory; /* no file could be reached */
};

/* A module whose types are unknown. */
struct hi_report_plain_module {
	const char *name;  /* hostile */
	char build_id[65]; /* hex; "" unknown */
};
enum { HI_REPORT_PLAIN_MODULES = 3 };

/* A restriction by the user: --under, --retained-by, and --type of some commands. */
struct hi_report_restriction {
	const char *type;		 /* as typed; NULL: not asked */
	const char *under, *retained_by; /* as typed; NULL: not asked */
	const char *era;		 /* of their births, as typed; NULL: not asked */
	const char *bands; /* of biographies: "DRAG, VOID"; NULL: not asked */
	const char
		*births; /* "allocated in the recording, by make_node"; NULL: not asked */
	uint64_t objects, bytes; /* live, and shown */
	uint64_t hidden_objects, hidden_bytes;
	/* Of the objects hidden by --retained-by: those in MANY, whose retainers are
	 * not known. */
	uint64_t many_objects, many_bytes;
	uint64_t system_bytes; /* in sets with SYSTEM */
};

struct hi_report_header {
	/* target */
	int pid;	      /* 0: unknown (a core) */
	bool at_exit;	      /* it was about to exit, and is gone by now */
	uint64_t start_ticks; /* when it started, since boot; 0 unknown */
	const char *exe;      /* "" unknown */
	const char *cmdline;  /* one line; NULL or "" unknown; secrets may be in it */
	const char *script;   /* what an interpreter runs; NULL: not known; "" none */
	const char *core;     /* --core FILE as given; NULL for a process */
	const char *file;     /* a snapshot of it, as given; NULL: looked at directly */
	unsigned census, censuses; /* of a file with many: this one, the last; else 0 */
	bool has_totals_alone;	   /* of it, by type: the file has no graph of it */
	char build_id[65];	   /* hex; "" unknown */
	bool exe_deleted;
	uint64_t threads;
	struct hi_report_limit limit; /* of its memory, at that time */
	/* snapshot */
	uint64_t time_ns, pause_ns; /* UINT64_MAX unknown */
	const char *mode;      /* "copy", "fork", "core", "mock"; text of this program */
	const char *safepoint; /* "now", or as typed; NULL unknown */
	const struct hi_stopped *stopped; /* NULL: at once */
	/* Mode fork: of the target, since then and because of it; UINT64_MAX unknown. */
	uint64_t copied_on_write;
	uint64_t bytes_live;	/* read from the target when it ran again */
	const char *not_forked; /* why it was copied although a fork was requested; "" */
	bool complete;
	uint64_t bytes_copied, pages_never_touched, pages_swapped, bytes_unreadable;
	uint64_t segments_missing, threads_in_allocator;
	/* what is known */
	/* "glibc", of several "jemalloc, glibc"; NULL: none was found; text of this
	 * program. */
	const char *allocator;
	const char *allocator_version, *allocator_found_by;
	uint64_t arenas;
	/* Each of them, and those that were refused. None in files of earlier versions:
	 * then the members above are all that is known. */
	const struct hi_report_allocator *allocators;
	size_t n_allocators;
	/* "CPython"; NULL: none was found; text of this program */
	const char *runtime, *runtime_version, *runtime_found_by;
	uint64_t runtime_tracked; /* objects in its collector's lists */
	uint64_t runtime_cut; /* objects whose contents are shorter than their size field
			       */
	/* By generation, the youngest first; of 0 of them: it is not known. */
	uint64_t collector_generations, collector_thresholds[4], collector_counts[4];
	bool collector_is_on;
	uint64_t damaged, skipped_bytes; /* places where the heap is damaged */
	/* Objects found by typed pointers alone, where no allocator that is known
	 * is: leaks and free memory there are unknown. */
	uint64_t outside_objects, outside_bytes;
	/* Other allocators and runtimes, whose heap is not decoded: "jemalloc, Go
	 * runtime"; "" or NULL: none was found. See report/parts/decoded_share.h. */
	const char *not_decoded;
	struct hi_report_module_counts modules;
	/* Those without debug information, the program first; libraries that hardly any
	 * type of the heap comes from (libc, …) are left out. */
	struct hi_report_plain_module plain[HI_REPORT_PLAIN_MODULES];
	size_t n_plain;
	bool conservative; /* types were not requested */
	/* What is leaked when types are believed, and when every word is; only with
	 * conservative; UINT64_MAX: not found out. */
	uint64_t leaks_by_types, leaked_by_types, leaks_by_words, leaked_by_words;
	/* How much of the live heap has a type; NULL: no heap is known. */
	const struct hi_shares *shares;
	const struct hi_report_restriction *only; /* NULL: no restriction */
	const struct hi_report_child *children;
	size_t n_children, n_children_total;
	/* One line each, whole sentences without a full stop; hostile. */
	const char *const *warnings;
	size_t n_warnings;
	const struct hi_phases *phases; /* of -v; NULL: not asked for */
};

/* The first line: which target. Then the caller's most important line, then: */
void hi_report_header_title(const struct hi_report_header *header, struct hi_page *page);
enum { HI_REPORT_HEADER_WARNINGS = 2 }; /* shown in a whole header; the rest is counted */
/* Adds whether the runtime's collector is enabled; nothing where that is unknown. */
void hi_report_header_collector(const struct hi_report_header *header,
				struct hi_page *page);
/* Adds the facts. whole: false for commands other than summary, which show only the
 * pause, gaps, warnings, and how much is in doubt where that is over a tenth. */
void hi_report_header_facts(const struct hi_report_header *header, struct hi_page *page,
			    bool whole);
/* Returns "5.0 MiB by conservative edges alone" where types were read; else "". */
const char *hi_report_header_conservative(const struct hi_report_header *header,
					  struct hi_page *page);
/* Returns whether most bytes have no type, as without debug information. */
bool hi_report_header_is_untyped(const struct hi_report_header *header);
/* Returns whether the header shows how much of the heap is typed. */
bool hi_report_header_has_shares(const struct hi_report_header *header);
/* Opens the document and writes schema, target, snapshot, unit, allocator, debug_info
 * and typed. The caller adds its members and closes it by hi_json_end(). */
void hi_report_header_json(const struct hi_report_header *header, const char *schema,
			   struct hi_json *json);

/* Writes the member "only"; nothing if only is NULL. */
void hi_report_restriction_json(const struct hi_report_restriction *only,
				struct hi_json *json);

/* Returns "--pid 4242" or "--core FILE" as the user would type it. Safe. */
const char *hi_report_header_target(const struct hi_report_header *header,
				    struct hi_page *page);

#endif
