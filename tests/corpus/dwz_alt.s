/* SPDX-License-Identifier: BSD-2-Clause */
/* What dwz.s shares with others. Its first type must be at offset 15; its
 * build-id is given to ld. */
	.include "dwarf.inc"
	.section .debug_str, "MS", @progbits, 1
	.asciz "pad"
	.asciz "own"
	.section .debug_abbrev, "", @progbits
	abbrev 1, 0x3c, 1
	attr 0x03, 0x08
	attr 0x13, 0x0b
	done
	abbrev 3, 0x13, 1
	attr 0x03, 0x08
	attr 0x0b, 0x0f
	done
	abbrev 12, 0x0d, 0
	attr 0x49, 0x13
	attr 0x38, 0x0f
	done
	abbrev 5, 0x0f, 0
	attr 0x49, 0x13
	done
	.byte 0
	.section .debug_info, "", @progbits
	unit4
	.uleb128 1
	.asciz "u"
	.byte 0x0c
shared:	struct "shared", 8
	unnamed_member shared_pointer, 0
	end
shared_pointer:
	pointer shared
	end
unit_end:
	.if (shared - unit) - 15
	.error "shared has moved"
	.endif
