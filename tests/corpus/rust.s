/* SPDX-License-Identifier: BSD-2-Clause */
/* Enums of Rust: tagged; in a niche; a tuple. DW_LANG_Rust is 0x1c. */
	.include "dwarf.inc"
	.section .debug_abbrev, "", @progbits
	abbreviations
	.byte 0
	.section .debug_info, "", @progbits
	unit5
	compile_unit 0x1c
u8:	base_type "u8", 7, 1
u32:	base_type "u32", 7, 4
u64:	base_type "u64", 7, 8
	namespace "app"
node:	struct "Node", 32
	member "value", u64, 0
	member "next", option, 8
	member "pair", tuple, 16
	end
boxed:	pointer node
	/* enum Shape { Dot(u32), Owner { name: u64, node: Box<Node> } } */
	struct "Shape", 24
	variant_part tag
tag:	unnamed_member u32, 0
	variant 0
	member "Dot", dot, 0
	end
	variant 1
	member "Owner", owner, 0
	end
	end
dot:	struct "Dot", 24
	member "__0", u32, 4
	end
owner:	struct "Owner", 24
	member "name", u64, 8
	member "node", boxed, 16
	end
	end
	end
	namespace "core"
	namespace "option"
option:	struct "Option<alloc::boxed::Box<app::Node, alloc::alloc::Global>>", 8
	variant_part niche
niche:	unnamed_member u64, 0
	variant 0
	member "None", none, 0
	end
	variant 1
	member "Some", some, 0
	end
	end
none:	struct "None", 8
	template_type "T", boxed
	end
some:	struct "Some", 8
	template_type "T", boxed
	member "__0", boxed, 0
	end
	end
	end
	end
tuple:	struct "(u8, alloc::boxed::Box<app::Node, alloc::alloc::Global>)", 16
	member "__0", u8, 8
	member "__1", boxed, 0
	end
	end
unit_end:
