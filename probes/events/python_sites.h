/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places in CPython's code at which a block of pymalloc has just been given out or given
 * back, or an object of a free list is used again: see Note [Places in copies of
 * pymalloc] in python_sites.c.
 */
#ifndef HI_PROBES_EVENTS_PYTHON_SITES_H
#define HI_PROBES_EVENTS_PYTHON_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

struct hi_module;

enum hi_python_site_kind {
	HI_PYTHON_SITE_GIVES,  /* the block */
	HI_PYTHON_SITE_TAKES,  /* the same: it is free now */
	HI_PYTHON_SITE_REUSES, /* an object (PyObject *) in a block that was not free */
	HI_PYTHON_SITE_KINDS
};

/* The place of the block: in a register, or in memory at an offset from it. */
struct hi_python_value {
	uint16_t offset;
	uint8_t reg; /* as instructions encode it, 0 rax to 15 r15 */
	bool in_memory;
};

/* An instruction that the kernel emulates. */
struct hi_python_site {
	uint64_t address;
	struct hi_python_value value;
	uint8_t kind;
};
struct hi_python_site_list HI_VECTOR(struct hi_python_site);

/* The call by which the interpreter announces a new object to tracemalloc: if the
 * variable at `flag` is set, it calls `function`. Addresses in the target. */
struct hi_python_births {
	uint64_t flag, function;
};

/* By the code of _Py_NewReference, which begins at addr. False: it does nothing that is
 * known. */
bool hi_python_births_find(const uint8_t *code, size_t size, uint64_t addr,
			   struct hi_python_births *ret);
/* Adds the places of a function, whose code begins at addr; module (NULL: none) has the
 * parts of it that are elsewhere. births NULL: not known, and nothing of free lists is
 * found. False: no memory. */
bool hi_python_sites_find(const uint8_t *code, size_t size, uint64_t addr,
			  struct hi_module *module, const struct hi_python_births *births,
			  struct hi_python_site_list *ret);
/* The addresses of variables that the function uses, also those that are the begin of an
 * array; as hi_function_operands() otherwise. */
size_t hi_python_sites_variables(const uint8_t *code, size_t size, uint64_t addr,
				 uint64_t *targets, size_t max);

#endif
