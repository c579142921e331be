/* SPDX-License-Identifier: BSD-2-Clause */
/* The secret in the addresses of a server. Requests without it are refused. */
#ifndef HI_SERVER_TOKEN_H
#define HI_SERVER_TOKEN_H

#include "base/error.h"

enum { HI_TOKEN_TEXT = 33 };

/* 128 random bits as text of hexadecimal digits. HI_OS. */
enum hi_status hi_token_make(char out[HI_TOKEN_TEXT], struct hi_error *err);
/* Whether n bytes of text are the token, in a time that depends on n alone. */
bool hi_token_is(const char *token, const char *text, size_t n);

#endif
