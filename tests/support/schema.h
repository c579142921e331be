/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON documents against docs/schema: JSON Schema, draft 7, as far as these files use it;
 * a schema that uses more fails the test. */
#ifndef HI_TESTS_SUPPORT_SCHEMA_H
#define HI_TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>

#include "tests/support/command.h"

/* Fails the test unless a command printed one document, as docs/schema/NAME says. */
void hi_check_schema(const struct hi_command *c, const char *name);
/* Returns it; the command must have ended with 0. Until the test ends. */
json_t *doc_checked(const struct hi_command *c, const char *name);
void hi_check_schema_of(const json_t *doc, const char *name);

/* Reads docs/schema/NAME. */
json_t *hi_schema_read(const char *name);
/* Says where a document is not as the schema says, until the next call; NULL: nowhere. */
const char *hi_schema_fault(const json_t *schema, const json_t *doc);

#endif
