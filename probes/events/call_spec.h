/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of a program that a user names as its allocators: --calls, --frees. */
#ifndef HI_PROBES_EVENTS_CALL_SPEC_H
#define HI_PROBES_EVENTS_CALL_SPEC_H

#include "probes/bpf/events_shared.h"
#include "probes/safepoint.h"

enum { HI_CALL_SPECS_MAX = 24 };

struct hi_call_spec {
	struct hi_safepoint function; /* NAME, MODULE:NAME */
	struct hi_bpf_function does;  /* source and family are not set */
};

/*
 * Parses "FUNCTION:ret,size=$2", where `ret` means that the result is returned
 * (`ret=*$1`: it is where the first argument points to), `size` is a product of numbers
 * and at most two arguments, and `old=$1` is the block that a reallocation is given. text
 * must outlive *ret. HI_USAGE: err has what was expected, *column_ret the place (from 0).
 */
enum hi_status hi_call_spec_parse(const char *text, struct hi_call_spec *ret,
				  size_t *column_ret, struct hi_error *err);
/* "FUNCTION:$1", the argument that is the block. */
enum hi_status hi_free_spec_parse(const char *text, struct hi_call_spec *ret,
				  size_t *column_ret, struct hi_error *err);

/* Functions that are followed beside the supported allocators. Zeros: none. */
struct hi_followed {
	const struct hi_call_spec *calls; /* frees as well; borrowed */
	size_t n_calls;
	bool mappings; /* mmap and its relatives */
};

#endif
