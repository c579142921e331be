/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes, counts and offsets that cannot be. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit
int:	base_type "int", 5, 4
wide:	base_type "wide", 5, 200
endless:
	array int, 0x7fffffffffffffff
negative:
	array int, -7
large:	array int, 0x3fffffffff
larger:	array large, 0x3fffffffff
	struct "huge", 0x4000000000000000
	member "n", int, 0
	end
	struct "small", 8
	member "n", int, 4
	member "outside", int, 4096
	member "wide", wide, 0
	member "endless", endless, 0
	member "negative", negative, 0
	member "larger", larger, 0
	end
	end
unit_end:
