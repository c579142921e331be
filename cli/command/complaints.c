/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/complaints.h"

#include <string.h>

#include "base/text.h"

enum { SHOWN_BEFORE = 60, SHOWN = 76 }; /* bytes of a long expression */

static FILE *complaints;

FILE *hi_complaints(void)
{
	return complaints ? complaints : stderr;
}

void hi_complaints_to(FILE *stream)
{
	complaints = stream;
}

void hi_complaints_point_at(const char *expression, size_t column)
{
	size_t n = strlen(expression), from = 0, used;
	char text[4 * SHOWN + 8];

	if (column > n)
		column = n;
	if (column > SHOWN_BEFORE)
		from = column - SHOWN_BEFORE;
	/* Escaped text takes more room: the caret is as far as the text is. */
	used = hi_text_escape(text, sizeof(text), expression + from, column - from);
	used += 2 + 3 * (from > 0);
	n -= from;
	hi_text_escape(text, sizeof(text), expression + from, n > SHOWN ? SHOWN : n);
	fprintf(hi_complaints(), "  %s%s%s\n  %*s\n", from ? "..." : "", text,
		n > SHOWN ? "..." : "", (int)used - 1, "^");
}
