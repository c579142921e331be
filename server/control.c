/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the server itself, as Mercury's deep profiler has them. A link only asks;
 * the form of its page does it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/text.h"
#include "server/error_page.h"
#include "server/server_internal.h"
#include "server/touch.h"

#define MOST_MINUTES (365u * 24 * 60)
#define MINUTE_NS (60 * HI_NS_PER_S)

static bool is_post(const struct hi_exchange *x)
{
	return strcmp(x->method, "POST") == 0;
}

static struct hi_answer *answer_quit(struct hi_exchange *x)
{
	if (!is_post(x))
		return hi_question_page(x->server->base, x->address, "End the server",
					"The server ends, and this address with it.");
	x->ends_server = true;
	return hi_error_page(200, NULL, "The server has ended.");
}

static struct hi_answer *answer_restart(struct hi_exchange *x)
{
	if (!is_post(x))
		return hi_question_page(x->server->base, x->address, "Read it again",
					"The pages are read again from their file.");
	hi_control_restart(x->server);
	return hi_redirection(303, x->server->base);
}

char *hi_server_timeout_text(char out[24], uint64_t ns)
{
	if (ns % MINUTE_NS)
		return hi_text_duration(out, ns);
	snprintf(out, 24, "%llu min", (unsigned long long)(ns / MINUTE_NS));
	return out;
}

/* "30": minutes; "90s". */
static bool parse_timeout(const char *text, uint64_t *ns_ret)
{
	uint64_t minutes;

	if (hi_parse_number(text, 1, MOST_MINUTES, &minutes)) {
		*ns_ret = minutes * MINUTE_NS;
		return true;
	}
	return hi_parse_duration(text, ns_ret) && *ns_ret <= MOST_MINUTES * MINUTE_NS;
}

static struct hi_answer *answer_timeout(struct hi_exchange *x, const char *text)
{
	struct hi_server *s = x->server;
	char question[128], time[24];
	uint64_t ns;

	if (!parse_timeout(text, &ns))
		return hi_error_page(400, s->base,
				     "timeout/N: N is no number of minutes from 1 to %u, "
				     "and no time as 90s.",
				     MOST_MINUTES);
	hi_server_timeout_text(time, ns);
	snprintf(question, sizeof(question),
		 "The server ends after %s without a request.", time);
	if (!is_post(x))
		return hi_question_page(s->base, x->address, "Set this time", question);
	s->options.timeout_ns = ns;
	return hi_error_page(200, s->base, "%s", question);
}

static const char timeout_prefix[] = "timeout/";

bool hi_control_is_one(const char *address)
{
	return strcmp(address, "quit") == 0 || strcmp(address, "restart") == 0 ||
	       strncmp(address, timeout_prefix, sizeof(timeout_prefix) - 1) == 0;
}

bool hi_control_answer(struct hi_exchange *x, struct hi_answer **ret)
{
	if (strcmp(x->address, HI_TOUCH_ADDRESS) == 0)
		*ret = hi_answer_create(204, "text/plain", 0);
	else if (!hi_control_is_one(x->address))
		return false;
	else if (strcmp(x->address, "quit") == 0)
		*ret = answer_quit(x);
	else if (strcmp(x->address, "restart") == 0)
		*ret = answer_restart(x);
	else
		*ret = answer_timeout(x, x->address + sizeof(timeout_prefix) - 1);
	return true;
}

void hi_control_restart(struct hi_server *s)
{
	hi_cache_clear(&s->cache);
	hi_workers_restart(s->workers);
	hi_workers_prepare(s->workers);
}
