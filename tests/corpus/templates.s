/* SPDX-License-Identifier: BSD-2-Clause */
/* Templates: types, values, packs; names with all kinds of spaces. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit 0x1a
int:	base_type "int", 5, 4
	namespace "ns"
node:	struct "node", 8
	member "n", int, 0
	end
wide:	struct "Pair<int, ns::Wrap<ns::node*> >", 16
	template_type "A", int
	template_type "B", wrap
	template_value "N", int, -12345678901
	template_pack "Rest"
	pack_type int
	pack_type node
	end
	member "a", int, 0
	member "b", wrap, 8
	end
wrap:	struct "Wrap<ns::node*>", 8
	template_type "T", node_pointer
	member "p", node_pointer, 0
	end
node_pointer:
	pointer node
	end
	end
unit_end:
