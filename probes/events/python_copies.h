/* SPDX-License-Identifier: BSD-2-Clause */
/* All places of a module at which copies of pymalloc give out and take back blocks. */
#ifndef HI_PROBES_EVENTS_PYTHON_COPIES_H
#define HI_PROBES_EVENTS_PYTHON_COPIES_H

#include "probes/events/cfi_rows.h"
#include "probes/events/python_sites.h"
#include "probes/target_code.h"

struct hi_python_copies {
	/* Owned by the caller. */
	struct hi_target_code *code;
	struct hi_module *module;	      /* of the interpreter */
	const struct hi_cfi_entries *entries; /* its functions */
	struct hi_range free;		      /* pymalloc's own function */
	uint64_t new_pool; /* the function that copies call when a pool is full */
	/* The result of hi_python_copies_find(). */
	struct hi_python_site_list sites; /* by address; hi_vector_free() */
	size_t n_of[HI_PYTHON_SITE_KINDS];
	size_t n_calls; /* of new_pool, in all the module: one for each copy */
};

/* HI_OK also where none is found. HI_NO_MEMORY. */
enum hi_status hi_python_copies_find(struct hi_python_copies *copies,
				     struct hi_error *err);

#endif
