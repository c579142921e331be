/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of the functions that are followed, and how one comes into it. */
#ifndef HI_PROBES_EVENTS_FUNCTION_LIST_H
#define HI_PROBES_EVENTS_FUNCTION_LIST_H

#include "attach/stop.h"
#include "probes/bpf/events_shared.h"
#include "probes/events/python_sites.h"
#include "probes/target_code.h"

struct hi_event_function {
	char name[64]; /* "malloc", "_ZdlPv" */
	struct hi_bpf_function does;
	struct hi_probe_site site; /* argument registers and stack pointer are still as at
				      the entry */
};

/* State of the functions by which CPython allocates its objects. */
enum hi_python_heap {
	HI_PYTHON_HEAP_NONE,	  /* there is no CPython */
	HI_PYTHON_HEAP_UNKNOWN,	  /* they were not found */
	HI_PYTHON_HEAP_OF_MALLOC, /* its objects are blocks of malloc */
	HI_PYTHON_HEAP_MARKED,	/* a debug allocator gives out addresses inside blocks */
	HI_PYTHON_HEAP_TRACED,	/* tracemalloc allocates within its functions */
	HI_PYTHON_HEAP_COPIED,	/* the compiler has copied them into others, and not all
				   of these are understood */
	HI_PYTHON_HEAP_REFUSED, /* the kernel has refused the probes */
	HI_PYTHON_HEAP_DROPPED, /* they are called too often */
	HI_PYTHON_HEAP_FOLLOWED,
	HI_PYTHON_HEAPS
};
enum { HI_PYTHON_HEAP_TEXT = 24 };

/* A place of a function with HI_BPF_AT_PLACES. */
struct hi_event_site {
	uint64_t address, file_offset;
	uint32_t mapping;  /* as of struct hi_probe_site */
	uint32_t function; /* index in the list */
	struct hi_python_value value;
};
enum { HI_EVENT_SITES_MAX = 1024 };

/* Plain data, also to be handed from process to process. */
struct hi_event_functions {
	size_t count;
	struct hi_event_function items[HI_BPF_EVENT_FUNCTIONS];
	size_t n_sources; /* the number of each is hi_bpf_function.source */
	struct hi_event_source_name sources[HI_EVENT_SOURCES];
	char module[128]; /* that malloc is in: "libc.so.6"; several in words; hostile */
	size_t n_own;
	struct hi_range own[HI_BPF_EVENT_OWN]; /* the allocator's own text */
	struct hi_python_walk python;	       /* whose frames are shown in stacks */
	uint32_t heap;			       /* enum hi_python_heap */
	/* Its text, where no thread may stand at the census. */
	uint32_t n_heap_text;
	struct hi_range heap_text[HI_PYTHON_HEAP_TEXT];
	uint32_t n_heap_copies; /* functions with copies, of HI_PYTHON_HEAP_COPIED */
	uint32_t pool_size;	/* of pymalloc; 0: not known */
	uint32_t n_sites;
	struct hi_event_site sites[HI_EVENT_SITES_MAX];
};

/* One that was found. */
struct hi_found_function {
	char name[64]; /* as reports call it */
	uint64_t entry, size;
	struct hi_bpf_function does;
};
/* Adds it with the place for its probes. HI_OK also where there is no room, or its code
 * is in no file that is mapped: nothing is added then. */
enum hi_status hi_event_functions_add(struct hi_target_code *code,
				      const struct hi_found_function *found,
				      struct hi_event_functions *ret,
				      struct hi_error *err);
/* The same at a site that was found. False: there is no room. */
bool hi_event_functions_add_site(const char *name, const struct hi_probe_site *site,
				 const struct hi_bpf_function *does,
				 struct hi_event_functions *ret);
/* A place of the function with this index, and where its block is there. False: there
 * is no room, or no file has this code. */
bool hi_event_functions_add_place(const struct hi_target *target, size_t function,
				  uint64_t addr, const struct hi_python_value *value,
				  struct hi_event_functions *ret);
/* The place as probes take it. */
struct hi_probe_site hi_event_site_probe(const struct hi_event_site *site);
/* A bit for each argument that is used, from 0: see hi_prologue_choose(). */
unsigned hi_event_function_arguments(const struct hi_bpf_function *does);
/* Numbers a source, for hi_bpf_function.source. False: there is no room for more. */
bool hi_event_functions_add_source(struct hi_event_functions *functions, const char *name,
				   enum hi_event_family family, uint8_t *ret);

#endif
