/* SPDX-License-Identifier: BSD-2-Clause */
/* An attribute in a form that no standard knows (0x7e): its DIE ends there, and so
 * does what can be read of the unit. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	abbrev 30, 0x13, 0
	attr 0x03, 0x08
	attr 0x0b, 0x7e
	done
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit
int:	base_type "int", 5, 4
	struct "before", 8
	member "n", int, 0
	end
	.uleb128 30
	.asciz "odd"
	.byte 8
	struct "behind", 8
	member "n", int, 0
	end
	end
unit_end:
