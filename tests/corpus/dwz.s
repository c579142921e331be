/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that dwz made smaller: "shared" and the name of "own" are in dwz_alt.s. */
	.include "dwarf.inc"
	.section .gnu_debugaltlink, "", @progbits
	.asciz "@DIR@/dwz_alt"
	.byte 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef
	.byte 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef
	.byte 0x01, 0x23, 0x45, 0x67
	.section .debug_abbrev, "", @progbits
	abbreviations
	abbrev 30, 0x0d, 0
	attr 0x03, 0x08
	attr 0x49, 0x1f20 /* DW_FORM_GNU_ref_alt */
	attr 0x38, 0x0f
	done
	abbrev 31, 0x13, 1
	attr 0x03, 0x1f21 /* DW_FORM_GNU_strp_alt */
	attr 0x0b, 0x0f
	done
	.byte 0
	.section .debug_info, "", @progbits
	unit4
	compile_unit
int:	base_type "int", 5, 4
	struct "user", 16
	.uleb128 30
	.asciz "it"
	.long 15
	.uleb128 8
	member "n", int, 0
	end
	.uleb128 31
	.long 4
	.uleb128 8
	member "n", int, 0
	end
	end
unit_end:
