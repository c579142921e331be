/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The smallest DWARF that libdw reads, made in memory: one unit with three base
 * types and one variable, whose location is an expression given as bytes.
 */
#ifndef HI_TESTS_SUPPORT_TINY_DWARF_H
#define HI_TESTS_SUPPORT_TINY_DWARF_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets of the base types in the unit, for DW_OP_convert and the like. */
enum { HI_TINY_INT32 = 13, HI_TINY_UINT8 = 16, HI_TINY_DOUBLE = 19 };

struct hi_tiny_dwarf {
	uint8_t file[4096];
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Attribute location; /* of the variable */
};

/* n < 2048. Fails the test if libdw refuses it (never because of the expression). */
void hi_tiny_dwarf_open(struct hi_tiny_dwarf *tiny, const uint8_t *expression, size_t n);
void hi_tiny_dwarf_close(struct hi_tiny_dwarf *tiny);

#endif
