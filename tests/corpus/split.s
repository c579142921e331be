/* SPDX-License-Identifier: BSD-2-Clause */
/* A skeleton whose types are in split_dwo.s. DW_AT_dwo_name is 0x76. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbrev 1, 0x4a, 0
	attr 0x76, 0x08
	attr 0x1b, 0x08
	done
	.byte 0
	.section .debug_info, "", @progbits
	unit5 4
	.quad 0x1122334455667788
	.uleb128 1
	.asciz "split_dwo.o"
	.asciz "@DIR@"
unit_end:
