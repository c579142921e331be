/* SPDX-License-Identifier: BSD-2-Clause */
/* Call frame information of a module as bytes, for tables that are made of all of it. */
#ifndef HI_DECODE_FRAMES_CFI_SECTION_H
#define HI_DECODE_FRAMES_CFI_SECTION_H

#include "decode/modules/modules.h"

struct hi_cfi_section {
	const uint8_t *bytes; /* hostile; until the modules are closed */
	size_t size;
	uint64_t address; /* of its first byte, as an ELF address */
	bool is_debug;	  /* .debug_frame; else .eh_frame */
};

/* .eh_frame, also of a file without section headers. False: it has none. Takes the
 * lock. */
bool hi_module_eh_frame(struct hi_module *module, struct hi_cfi_section *ret);
/* .debug_frame of the file or of its debug file, which is looked for. */
bool hi_module_debug_frame(struct hi_module *module, struct hi_cfi_section *ret);

#endif
