/* SPDX-License-Identifier: BSD-2-Clause */
/* The split unit of split.s; stays an object file. */
	.include "dwarf.inc"
	.section .debug_abbrev.dwo, "e", @progbits
	abbreviations
	.byte 0
	.section .debug_info.dwo, "e", @progbits
	unit5 5
	.quad 0x1122334455667788
	.include "typical.inc"
