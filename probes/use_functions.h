/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a running target that take pointers to structs, unions or classes, as the
 * debug information of its files has them: a call uses the object that is passed.
 *
 * Which of them are probed is chosen later (session/live/use_evidence.h). Functions that
 * were inlined everywhere have no entry, and clones with other arguments are left out
 * (Note [Functions with another signature] in decode/types/function_records.c).
 */
#ifndef HI_PROBES_USE_FUNCTIONS_H
#define HI_PROBES_USE_FUNCTIONS_H

#include "probes/bpf/uses_shared.h"
#include "probes/safepoint.h"

enum {
	HI_USE_FUNCTIONS = 16384,
	HI_USE_TYPES = 4096,
	HI_USE_TYPE_NAME = 192, /* types with longer names are left out */
	HI_USE_NAME = 64,
};

struct hi_use_function {
	uint64_t address; /* of the instruction to probe */
	uint64_t file_offset;
	uint32_t mapping; /* index in target->mappings */
	/* Bit n: the n-th integer argument register has a pointer to a record there,
	 * whose name is type_names[types[n]]. Never 0. */
	uint8_t registers;
	uint8_t single_stepped;
	uint16_t types[HI_BPF_USE_REGISTERS];
	char name[HI_USE_NAME]; /* demangled, cut; hostile */
};

/* Some 2.5 MB. */
struct hi_use_functions {
	uint32_t count, n_types;
	uint32_t n_modules;    /* of those that have code, */
	uint32_t n_with_dwarf; /* those with debug information */
	uint32_t is_full;      /* there may be more functions */
	struct hi_use_function items[HI_USE_FUNCTIONS];
	char type_names[HI_USE_TYPES][HI_USE_TYPE_NAME]; /* "struct conn"; hostile */
};

/* Finds them; *ret is zeros. Takes the image (attach/running_image.h), also on failure.
 * HI_OK where there are none; HI_NO_MEMORY. */
enum hi_status hi_use_functions_find_in(const struct hi_target *target,
					struct hi_image *image,
					struct hi_use_functions *ret,
					struct hi_error *err);

#endif
