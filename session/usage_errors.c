/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/usage_errors.h"

static FILE *complaints;

FILE *hi_complaints(void)
{
	return complaints ? complaints : stderr;
}

void hi_complaints_to(FILE *stream)
{
	complaints = stream;
}
