/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON documents against docs/schema. */
#ifndef HI_TESTS_SUPPORT_SCHEMA_H
#define HI_TESTS_SUPPORT_SCHEMA_H

#include "tests/support/command.h"

/* What a command printed is what docs/schema/NAME says; skips where jsonschema for
 * Python is missing. */
void hi_check_schema(const struct hi_command *c, const char *name);

#endif
