/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/safepoint_options.h"

#include <string.h>

#include "base/parse.h"

static const char every_word[] = "every:";
enum { EVERY_LENGTH = sizeof(every_word) - 1 };

static enum hi_status take_every(struct hi_safepoint_options *s, const char *text,
				 struct hi_error *err)
{
	if (s->every_text)
		return hi_fail(err, HI_USAGE, 0, "--at: given twice (%s, %s)",
			       s->every_text, text);
	if (!hi_parse_number(text + EVERY_LENGTH, 1, 1000000000000, &s->every))
		return hi_fail(err, HI_USAGE, 0,
			       "--at %s: not a number from 1 to 1000000000000", text);
	s->every_text = text;
	return HI_OK;
}

static enum hi_status take_at_place(struct hi_safepoint_options *s, const char *text,
				    struct hi_error *err)
{
	struct hi_safepoint at = {};
	struct hi_error why;

	if (s->at.text)
		return hi_fail(err, HI_USAGE, 0,
			       "--at: given twice (%s, %s); only every:N goes with "
			       "another one",
			       s->at.text, text);
	if (hi_safepoint_parse(text, &at, &why) != HI_OK)
		return hi_fail(err, HI_USAGE, 0, "--at %s", why.text);
	at.text = text;
	s->at = at;
	return HI_OK;
}

enum hi_status hi_safepoint_take_at(struct hi_safepoint_options *s, const char *text,
				    struct hi_error *err)
{
	enum hi_status status;

	if (strncmp(text, every_word, EVERY_LENGTH) == 0)
		status = take_every(s, text, err);
	else
		status = take_at_place(s, text, err);
	s->at.every = s->every_text ? s->every : 1;
	return status;
}

bool hi_safepoint_take_snapshot(struct hi_safepoint_options *s, const char *text)
{
	static const char *const words[] = {[HI_REQUEST_AUTO] = "auto",
					    [HI_REQUEST_COPY] = "copy",
					    [HI_REQUEST_FORK] = "fork"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			s->snapshot = (enum hi_snapshot_request)i;
			s->has_snapshot = true;
			return true;
		}
	return false;
}

const char *hi_safepoint_check(const struct hi_safepoint_options *s)
{
	if (s->every_text && !s->at.text)
		return "--at every:N: needs a place, too: add --at gc or --at FUNCTION";
	if (s->every_text && !hi_safepoint_asked(s))
		return "--at every:N: not with --at now, which waits for nothing";
	if (s->timeout_ns && !s->at.text)
		return "--timeout: only with --at";
	if (s->timeout_ns && !hi_safepoint_asked(s))
		return "--timeout: not with --at now, which waits for nothing";
	if (s->max_image && s->has_snapshot && s->snapshot == HI_REQUEST_COPY)
		return "--max-image: not with --snapshot copy, which keeps the whole "
		       "image";
	return NULL;
}
