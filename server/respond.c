/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer as libmicrohttpd sends it, with the headers that keep others out. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "server/server_internal.h"

static void release_sent_answer(void *answer)
{
	hi_answer_release(answer);
}

static void name_version(const struct hi_answer *answer, char out[24])
{
	snprintf(out, 24, "\"%016llx\"",
		 (unsigned long long)hi_hash_more(HI_HASH_START, answer->body,
						  answer->size));
}

/* Other pages must neither read, nor show, nor open these. */
static bool add_safety_headers(struct MHD_Response *r, const char *policy)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{"Content-Security-Policy", policy},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Frame-Options", "DENY"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
	};
	bool is_complete = true;

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		is_complete &= MHD_add_response_header(r, headers[i].name,
						       headers[i].value) == MHD_YES;
	return is_complete;
}

static bool add_content_headers(struct MHD_Response *r, const struct hi_answer *answer,
				const char *version)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{"Content-Type", answer->type},
		{"Cache-Control", *version ? "private, no-cache" : "no-store"},
		{"ETag", version},
		{"Location", answer->location},
		{"Allow", answer->code == 405 ? "GET, HEAD" : ""},
	};
	bool is_complete = true;

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (*headers[i].value)
			is_complete &=
				MHD_add_response_header(r, headers[i].name,
							headers[i].value) == MHD_YES;
	return is_complete;
}

static bool has_version(struct MHD_Connection *connection, const char *version)
{
	const char *known =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");

	return known && *version && strstr(known, version);
}

static struct MHD_Response *make_response(struct hi_answer *answer, bool has_body)
{
	struct MHD_Response *r;

	if (!has_body)
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	r = MHD_create_response_from_buffer_with_free_callback_cls(
		answer->size, answer->body, release_sent_answer, hi_answer_keep(answer));
	if (!r)
		hi_answer_release(answer);
	return r;
}

enum MHD_Result hi_respond(struct hi_exchange *x, struct hi_answer *answer)
{
	char version[24] = "";
	enum MHD_Result result = MHD_NO;
	struct MHD_Response *r;
	bool is_known;

	if (hi_answer_is_asset(answer))
		name_version(answer, version);
	is_known = has_version(x->connection, version);
	r = make_response(answer, !is_known && answer->size);
	if (!r)
		return MHD_NO;
	if (add_safety_headers(r, x->server->options.policy) &&
	    add_content_headers(r, answer, version))
		result = MHD_queue_response(x->connection, is_known ? 304 : answer->code,
					    r);
	MHD_destroy_response(r);
	return result;
}
