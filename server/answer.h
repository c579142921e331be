/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer to a request. Several may share it: it is counted. */
#ifndef HI_SERVER_ANSWER_H
#define HI_SERVER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HI_ANSWER_TYPE = 100 };

struct hi_answer {
	unsigned code;
	unsigned owners;
	char type[HI_ANSWER_TYPE]; /* content type */
	char location[64];	   /* of another page, for codes 3xx; "": none */
	size_t size;
	char body[];
};

/* Makes an answer of size bytes, which are zero. NULL: out of memory. */
struct hi_answer *hi_answer_create(unsigned code, const char *type, size_t size);
/* One more owner. Returns answer. */
struct hi_answer *hi_answer_keep(struct hi_answer *answer);
/* One owner less; the last one frees it. NULL is fine. */
void hi_answer_release(struct hi_answer *answer);
/* Whether it is a style, a script, a font or a picture, which a browser may keep. */
bool hi_answer_is_asset(const struct hi_answer *answer);

#endif
