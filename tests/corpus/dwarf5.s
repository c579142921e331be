/* SPDX-License-Identifier: BSD-2-Clause */
/* What a C compiler says, in DWARF 5. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	.include "typical.inc"
