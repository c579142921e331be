/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of single objects by their vtable; for one thread. */
#ifndef HI_DECODE_INFERENCE_VTABLES_H
#define HI_DECODE_INFERENCE_VTABLES_H

#include "decode/inference/typing_state.h"

struct hi_vtables;

/* NULL: out of memory. Borrows typing. hi_vtables_close(). */
struct hi_vtables *hi_vtables_open(struct hi_typing *typing);
void hi_vtables_close(struct hi_vtables *vtables); /* NULL is fine */
/* Layout of the class of an object at addr, by its first word; HI_LAYOUT_NOTHING: that is
 * the address of no vtable, or the object is part of another one. */
uint32_t hi_vtables_layout_at(struct hi_vtables *vtables, uint64_t addr);

#endif
