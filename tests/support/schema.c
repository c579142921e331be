/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"

/* Writes the document where python finds it. */
void hi_check_schema(const struct hi_command *c, const char *schema)
{
	char name[] = "/tmp/heapinspect-json-XXXXXX", program[640];
	struct hi_command *python;
	int fd = mkstemp(name);

	HI_ASSERT(fd >= 0);
	HI_ASSERT(write(fd, c->out, c->out_size) == (ssize_t)c->out_size);
	close(fd);
	snprintf(program, sizeof(program),
		 "import json, sys\n"
		 "try:\n    import jsonschema\n"
		 "except ImportError:\n    sys.exit(77)\n"
		 "jsonschema.validate(json.load(open('%s', encoding='utf-8')),\n"
		 "    json.load(open('%s/docs/schema/%s')))\n",
		 name, HI_SOURCE_DIR, schema);
	python = hi_command_run(0, "/usr/bin/python3", "-c", program, NULL);
	unlink(name);
	if (python->exit_code == 77)
		HI_SKIP("needs python3-jsonschema");
	HI_ASSERT_MSG(python->exit_code == 0, "%s", python->err);
}
