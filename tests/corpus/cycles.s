/* SPDX-License-Identifier: BSD-2-Clause */
/* Typedefs, constants and pointers that go in circles. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit
one:	typedef "one", two
two:	typedef "two", three
three:	typedef "three", one
self:	typedef "self", self
frozen:	constant frozen
to_one:	pointer one
around:	pointer around
rows:	array rows, 3
	struct "holder", 40
	member "one", one, 0
	member "self", self, 8
	member "frozen", frozen, 16
	member "to_one", to_one, 24
	member "around", around, 32
	end
	struct "rows", 8
	member "rows", rows, 0
	end
	end
unit_end:
