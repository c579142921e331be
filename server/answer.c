/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct hi_answer *hi_answer_create(unsigned code, const char *type, size_t size)
{
	struct hi_answer *answer =
		size < SIZE_MAX / 2 ? hi_calloc(1, sizeof(*answer) + size) : NULL;

	if (!answer)
		return NULL;
	answer->code = code;
	answer->owners = 1;
	answer->size = size;
	snprintf(answer->type, sizeof(answer->type), "%s", type);
	return answer;
}

struct hi_answer *hi_answer_keep(struct hi_answer *answer)
{
	answer->owners++;
	return answer;
}

void hi_answer_release(struct hi_answer *answer)
{
	if (answer && --answer->owners == 0)
		free(answer);
}

bool hi_answer_is_asset(const struct hi_answer *answer)
{
	static const char *const types[] = {"text/css", "text/javascript", "font/",
					    "image/"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strncmp(answer->type, types[i], strlen(types[i])) == 0)
			return answer->code == 200;
	return false;
}
