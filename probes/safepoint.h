/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Safepoints: code of a running target where its heap is consistent, or where the user
 * wants to inspect it. Parses --at, finds the probe sites in the target, and makes a
 * trigger (attach/trigger.h) that stops the target there. Reads the target's files (never
 * its memory for code: the kernel's own probe bytes may stand there) and its /proc; stops
 * nothing.
 */
#ifndef HI_PROBES_SAFEPOINT_H
#define HI_PROBES_SAFEPOINT_H

#include "attach/stop.h"
#include "probes/bpf/shared.h"

enum {
	HI_PROBE_SITES_MAX = 64, /* of one safepoint */
	HI_SAFEPOINTS_MAX = 600, /* that are listed */
};

enum hi_safepoint_kind {
	HI_SAFEPOINT_NOW,
	HI_SAFEPOINT_GC, /* the runtime's own end of a collection */
	/* NAME, MODULE:NAME; C++ names without parameters too; NAME%return */
	HI_SAFEPOINT_FUNCTION,
	HI_SAFEPOINT_LINE, /* FILE:LINE */
	HI_SAFEPOINT_USDT, /* usdt:PROVIDER:NAME */
};

struct hi_safepoint {
	enum hi_safepoint_kind kind;
	const char *text;      /* as it was given, borrowed */
	char name[256];	       /* function, file or provider */
	char detail[128];      /* module, USDT name; "" none */
	unsigned line;	       /* LINE */
	bool at_return;	       /* FUNCTION: where it is left, not its entry */
	const char *condition; /* after " if ", borrowed; NULL: none */
	unsigned kept;	/* FUNCTION: what must still be as at the entry, as of prologue.h,
			   beside what the condition needs */
	uint64_t every; /* the n-th hit that satisfies it; 1: the first */
};

/*
 * Parses "gc", "NAME", "NAME%return", "FILE:LINE", "usdt:P:N", "NAME if EXPR" or "now".
 * text must outlive *ret, which borrows it. HI_USAGE: err->text has what was expected,
 * and the column. ret->every is 1: the caller sets another number.
 */
enum hi_status hi_safepoint_parse(const char *text, struct hi_safepoint *ret,
				  struct hi_error *err);

/* One site of a safepoint in the target (a line, an inlined USDT probe and a
 * C++ constructor may have several). */
struct hi_probe_site {
	size_t mapping;		/* index in target->mappings: the file, for its path */
	uint64_t file_offset;	/* of the probed instruction */
	uint64_t address;	/* the same in the target */
	uint64_t semaphore;	/* file offset of the USDT semaphore; 0: none */
	char function[160];	/* that it is in, demangled; "" unknown; hostile */
	uint64_t into_function; /* bytes after its entry */
	char instruction[64];	/* "push %rbx" */
	unsigned line; /* FILE:LINE: that it is, or the next that has code; else 0 */
	bool single_stepped; /* the kernel does not emulate it: far dearer */
	char ends[16]; /* the runtime ("CPython") that has finished a collection here; "":
			  none that is known */
};

/* The condition that the BPF program evaluates (condition.h). */
struct hi_condition {
	unsigned kept; /* bit n: the n-th integer argument register is used */
	size_t n_terms;
	struct hi_bpf_term terms[HI_BPF_TERMS];
};

struct hi_probe_sites {
	struct hi_probe_site *items;
	size_t count;
	struct hi_condition condition; /* of the safepoint, for these sites */
};

/*
 * Finds all sites of a safepoint. *ret: freed by hi_probe_sites_free(). HI_NOT_FOUND:
 * err->text names what there is instead: the nearest names of functions, where calls were
 * inlined, the USDT probes that exist, the known runtimes. HI_LIMIT: more than
 * HI_PROBE_SITES_MAX. For conditions on arguments the site is one where the argument
 * registers still hold them.
 */
enum hi_status hi_safepoint_find(const struct hi_target *target,
				 const struct hi_safepoint *safepoint,
				 struct hi_probe_sites *ret, struct hi_error *err);
/* The same in a process without rights (base/rights.h): its files are in the image
 * (attach/running_image.h), which this takes. */
enum hi_status hi_safepoint_find_in(const struct hi_target *target,
				    struct hi_image *image,
				    const struct hi_safepoint *safepoint,
				    struct hi_probe_sites *ret, struct hi_error *err);
/* Frees the items; zero-initialised sites are fine. */
void hi_probe_sites_free(struct hi_probe_sites *sites);

/* A safepoint that this target has, known by its runtime or its USDT notes. */
struct hi_known_safepoint {
	char text[192]; /* what --at takes; "": purpose is the number of those left out */
	char runtime[32];  /* "CPython"; "" for a USDT probe of an unknown provider */
	char purpose[128]; /* "end of a collection"; "" unknown */
	bool is_gc;	   /* what --at gc would take */
	struct hi_probe_sites sites;
};

/* Lists the safepoints of the target, at most HI_SAFEPOINTS_MAX. *ret: *n_ret items,
 * freed by hi_safepoints_free(). */
enum hi_status hi_safepoints_list(const struct hi_target *target,
				  struct hi_known_safepoint **ret, size_t *n_ret,
				  struct hi_error *err);
/* As hi_safepoint_find_in. */
enum hi_status hi_safepoints_list_in(const struct hi_target *target,
				     struct hi_image *image,
				     struct hi_known_safepoint **ret, size_t *n_ret,
				     struct hi_error *err);
/* Frees the list with its sites. NULL is fine. */
void hi_safepoints_free(struct hi_known_safepoint *list, size_t n);

#endif
