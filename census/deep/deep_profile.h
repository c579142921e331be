/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A deep profile as reports, files and differences have it: the graph (deep.h), and what
 * its functions and call sites are. Functions and call sites of the graph are indexes of
 * the tables here.
 */
#ifndef HI_CENSUS_DEEP_DEEP_PROFILE_H
#define HI_CENSUS_DEEP_DEEP_PROFILE_H

#include <stdio.h>

#include "base/interner.h"
#include "census/deep/depths.h"

/* How a call site finds its callee. In brackets: Mercury's kind, and its number in files
 * is the value. */
enum hi_deep_site_kind {
	HI_DEEP_DIRECT,	  /* [normal] */
	HI_DEEP_SPECIAL,  /* [special]: unification and comparison; only of Mercury */
	HI_DEEP_INDIRECT, /* [higher_order]: through a function pointer */
	HI_DEEP_VIRTUAL,  /* [method] */
	HI_DEEP_CALLBACK, /* [callback]: of the root, and signal handlers */
	/* Mercury does not have these: */
	HI_DEEP_TAIL,	 /* direct, to a function that jumped to the callee */
	HI_DEEP_INLINED, /* no call: the callee's code is there */
	HI_DEEP_UNKNOWN, /* the code was not there */
	HI_DEEP_SITE_KINDS
};
/* Does a call site lead to the same function each time, as far as is known? */
static inline bool hi_deep_is_one_callee(uint32_t kind)
{
	return kind == HI_DEEP_DIRECT || kind > HI_DEEP_CALLBACK;
}

/* Texts are numbers of the profile's interner; 0 is "". */
struct hi_deep_procedure {
	uint32_t name; /* as it is shown */
	uint32_t
		module; /* of a process: the file with its code; of Mercury: its module */
	uint32_t file;	/* of the source */
	uint32_t line;
	bool is_exported; /* [in the interface] */
};
struct hi_deep_call_site {
	uint32_t function; /* that it is in */
	uint32_t kind;	   /* enum hi_deep_site_kind */
	uint32_t callee;   /* function, if hi_deep_is_one_callee() and it is known; else
			      HI_DEEP_NONE */
	uint32_t file, line;
	uint32_t place; /* text that distinguishes it from others of the line: +0x12, a
			 * goal path */
};

struct hi_deep_profile {
	struct hi_interner texts;
	/* [0]: the root. */
	struct HI_VECTOR(struct hi_deep_procedure) functions;
	/* [0]: of the root. */
	struct HI_VECTOR(struct hi_deep_call_site) sites;
	struct hi_deep_graph graph;
	struct hi_deep_depths depths; /* data of Mercury have none */
	uint32_t program;	      /* text */
	uint64_t ticks_per_second;    /* 0: there are no timer samples */
	uint64_t tool_ticks;	      /* that fell into the profiler itself */
	uint64_t sequence;	      /* [callseqs]: events of the allocator in all */
	bool has[HI_DEEP_COSTS];      /* which costs are known */
	/* Bytes and objects that are not in the graph: live from before the recording. */
	uint64_t before_bytes, before_objects;
	uint64_t sample_bytes; /* mean distance of samples; 0: all are recorded */
	/* Modules whose files are not there, or of another build, and one of them, as a
	 * text: kinds of calls, and which functions are exported, are unknown there. */
	uint32_t n_missing, first_missing;
	bool lacks_end; /* of Mercury's data: the file ends without its end token */
};

/* Empty, with the root's function and call site. hi_deep_profile_free(). HI_NO_MEMORY. */
enum hi_status hi_deep_profile_init(struct hi_deep_profile *ret, struct hi_error *err);
void hi_deep_profile_free(struct hi_deep_profile *profile);
/* "" for 0. */
const char *hi_deep_profile_text(const struct hi_deep_profile *profile, uint32_t text);
/* The number of a text; false: out of memory. */
bool hi_deep_profile_intern(struct hi_deep_profile *profile, const char *text,
			    uint32_t *ret);

/* ---- files of Mercury's deep profiler ---- */

/*
 * Reads a file Deep.data of version 8 or 9 (the former has no file names of call sites).
 *
 * Reads a profile. Its graph is folded by Note [Canonical folding]: Mercury lets a
 * function that is called back through a closure or a method have a node of its own,
 * although it is active. The call that enters a clique is on the stack for certain: its
 * caller and its callee. A graph that no stacks can have made is refused: a clique with
 * two entries.
 *
 * [words] become bytes by the file's bytes a word, [quanta] ticks; without quanta there
 * are no timer samples. Functions and call sites are in the order of their ids, but the
 * root's come first; the root has the name that hi_deep_profile_init() gives it. Mercury
 * does not say where in a function it allocated: own costs are leaves at a call site of
 * that function without a callee and a place (HI_DEEP_DIRECT, HI_DEEP_NONE, 0), which
 * stands for the function itself. These sites come last, by function.
 *
 * hi_deep_profile_free(). HI_BAD_DATA: it is none, or is damaged or truncated;
 * err->address: the offset, where there is one. HI_UNSUPPORTED: of another version, or
 * compressed. HI_LIMIT: 2^31 nodes of a kind. HI_NO_MEMORY.
 */
enum hi_status hi_deep_mercury_read(const uint8_t *data, size_t size,
				    struct hi_deep_profile *ret, struct hi_error *err);

/*
 * Writes version 9. Costs that Mercury does not have (live, leaked, drag, retained) are
 * left out; bytes become words of 8, rounded up so that no cost becomes 0. Mercury counts
 * calls as exits + fails + exceptions - redos. If calls of all kinds are not known, calls
 * replace them. A direct call site that leads to several functions becomes an indirect
 * one; one that leads to none (it only allocates) is left out. Places +0xN become goal
 * paths c0;cN; with N in decimal, which Mercury itself never has, and are read back;
 * others that are no goal paths are left out. HI_OS; HI_NO_MEMORY.
 */
enum hi_status hi_deep_mercury_write(const struct hi_deep_profile *profile, FILE *file,
				     struct hi_error *err);

#endif
