/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client of the server says: the target, Host and Origin of a request, one a line.
 */
#include <stdlib.h>
#include <string.h>

#include "server/request.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1), *at = text;
	const char *lines[3] = {"", "", ""};
	const char *address = NULL;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (unsigned i = 0; i < 3 && at; i++)
		lines[i] = strsep(&at, "\n");
	/* What is permitted has the token and a name of this machine in it. */
	switch (hi_request_split(lines[0], token, &address)) {
	case HI_REQUEST_PAGE:
	case HI_REQUEST_BASE:
		if (strncmp(lines[0] + 1, token, 32) != 0 || address < lines[0] + 33 ||
		    address > lines[0] + strlen(lines[0]))
			abort();
		break;
	default:
		break;
	}
	if (hi_request_host_is_local(lines[1]) && !strstr(lines[1], "127.0.0.1") &&
	    !strcasestr(lines[1], "localhost") && !strstr(lines[1], "[::1]"))
		abort();
	if (hi_request_origin_is_local(lines[2], 4000, lines[1]) &&
	    !hi_request_host_is_local(lines[1]))
		abort();
	free(text);
	return 0;
}
