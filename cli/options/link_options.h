/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that a report by roots or retainers was made with, for its links. */
#ifndef HI_CLI_OPTIONS_LINK_OPTIONS_H
#define HI_CLI_OPTIONS_LINK_OPTIONS_H

#include "report/parts/report_links.h"
#include "session/inspect/inspect.h"

/* --root, --join, --retainer, --identity, --max-set, --weak-as-roots as they were given:
 * query takes them all. Of more than an address has room for there is no link. The arena
 * of the inspection has them. */
enum hi_status hi_link_options_of(struct hi_inspection *in, struct hi_link_options *ret,
				  struct hi_error *err);
/* --root alone. */
enum hi_status hi_link_options_of_roots(struct hi_inspection *in,
					struct hi_link_options *ret,
					struct hi_error *err);

#endif
