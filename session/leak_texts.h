/* SPDX-License-Identifier: BSD-2-Clause */
/* Beginnings of the texts of leaked blocks without a type, for their names. */
#ifndef HI_SESSION_LEAK_TEXTS_H
#define HI_SESSION_LEAK_TEXTS_H

#include "report/parts/leak_name.h"
#include "session/inspection.h"

/* Adds to a name the beginning of the text of the leaked block at an address; it lives in
 * the inspection's arena. Nothing where it is no text, or contents are not known. Errors
 * of files: HI_BAD_DATA. HI_NO_MEMORY. */
enum hi_status hi_leak_text_add(struct hi_inspection *in, uint64_t address,
				struct hi_leak_name *name, struct hi_error *err);
/* The same for a row of in->results.leaks with this example, and whether the texts of the
 * row differ. */
enum hi_status hi_leak_text_add_row(struct hi_inspection *in, uint64_t example,
				    struct hi_leak_name *name, struct hi_error *err);

#endif
