/* SPDX-License-Identifier: BSD-2-Clause */
/* The documents that an installation has. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/snapshots.h"

/* Prints "FILE: LINK" of each relative link that leads nowhere, and how many there are. */
static const char script[] =
	"cmake --install '%s' --component docs --prefix '%s' >/dev/null || exit 1\n"
	"cd '%s/share/doc/heapinspect' || exit 1\n"
	"find . -name '*.md' -exec grep -oH ']([^)]*)' {} + |\n"
	"sed 's/:](/ /; s/)$//; s/#.*//' | grep -v ' http' | grep -v ' $' >links\n"
	"while read -r file link; do\n"
	"\t[ -e \"${file%%/*}/$link\" ] || echo \"$file: $link\"\n"
	"done <links\n"
	"grep -c '^./README.md' links";

HI_TEST_SCENARIO(install, links_between_installed_documents_lead_to_files)
{
	const char *in = snapshot_directory();
	char text[2048];
	struct hi_command *c;
	int links = 0;

	snprintf(text, sizeof(text), script, HI_BINARY_DIR, in, in);
	c = hi_command_run(0, "sh", "-c", text, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s%s", c->out, c->err);
	HI_ASSERT_MSG(sscanf(c->out, "%d", &links) == 1 && !strchr(c->out, ':'), "%s",
		      c->out);
	HI_ASSERT(links > 20);
}
