/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/token.h"

#include <errno.h>
#include <sys/random.h>

enum { BYTES = (HI_TOKEN_TEXT - 1) / 2 };

enum hi_status hi_token_make(char out[HI_TOKEN_TEXT], struct hi_error *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[BYTES];
	ssize_t n;

	do
		n = getrandom(bytes, sizeof(bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n != BYTES)
		return hi_fail_errno(err, "make a token: getrandom");
	for (size_t i = 0; i < BYTES; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[HI_TOKEN_TEXT - 1] = 0;
	return HI_OK;
}

bool hi_token_is(const char *token, const char *text, size_t n)
{
	volatile unsigned char differ = n != HI_TOKEN_TEXT - 1;

	for (size_t i = 0; i < n && i < HI_TOKEN_TEXT - 1; i++)
		differ |= (unsigned char)(token[i] ^ text[i]);
	return !differ;
}
