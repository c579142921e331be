/* SPDX-License-Identifier: BSD-2-Clause */
/* Records that contain themselves: as a member, as a base, by way of others. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit 0x04
matryoshka:
	struct "matryoshka", 8
	member "inner", matryoshka, 0
	end
many:	array matryoshka, 9
crowd:	struct "crowd", 80
	member "all", many, 0
	member "self", crowd, 0
	end
ouroboros:
	struct "ouroboros", 16
	inheritance ouroboros, 0
	end
a:	struct "a", 8
	inheritance b, 0
	end
b:	struct "b", 8
	inheritance a, 0
	end
	end
unit_end:
