/* SPDX-License-Identifier: BSD-2-Clause */
/* How an edge of a cycle counts as a reference, and so what would not. */
#ifndef HI_CENSUS_ANALYSIS_CYCLE_POINTER_H
#define HI_CENSUS_ANALYSIS_CYCLE_POINTER_H

enum hi_cycle_pointer {
	HI_CYCLE_PLAIN, /* no count is known: nothing frees the cycle by itself */
	HI_CYCLE_SHARED_PTR,
	HI_CYCLE_RUST,	  /* Rc, Arc */
	HI_CYCLE_RUNTIME, /* a reference of a runtime that counts them */
};

#endif
