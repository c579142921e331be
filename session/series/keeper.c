/* SPDX-License-Identifier: BSD-2-Clause */
/* The side of a keeper that has the rights (keeper.h). Requests are hostile. */
#include "session/series/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/exit_watch.h"
#include "attach/image_send.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/census_cache.h"
#include "session/inspect/inspect.h"
#include "session/live/keeper_messages.h"

/* ---- an image ---- */

static void put_warnings(const struct hi_inspection *in, char out[HI_KEEPER_WARNINGS])
{
	size_t at = 0;

	for (size_t i = 0; i < in->diagnostics.warnings.count; i++) {
		const char *line = in->diagnostics.warnings.items[i];
		size_t n = strlen(line);

		if (at + n + 2 > HI_KEEPER_WARNINGS)
			return;
		memcpy(out + at, line, n);
		at += n;
		out[at++] = '\n';
	}
}

static bool send_ranges(const struct hi_inspection *in, int socket)
{
	size_t n = in->stop.n_allocator_text;

	if (n > HI_KEEPER_RANGES)
		n = HI_KEEPER_RANGES;
	return hi_packet_send_bytes(socket, in->stop.allocator_text,
				    n * sizeof(struct hi_range));
}

static bool send_image(const struct hi_keeper *k)
{
	struct hi_error ignored;

	if (hi_image_send(k->in->image, k->socket, &ignored) != HI_OK)
		return false;
	hi_image_give_away(k->in->image);
	return true;
}

static bool send_frozen(const struct hi_keeper *k)
{
	struct hi_error ignored;

	return hi_target_send(k->in->stop.target, k->socket, &ignored) == HI_OK &&
	       send_image(k) && send_ranges(k->in, k->socket) &&
	       hi_stop_observers_send(&k->run.observers, k->socket);
}

static void end_image(struct hi_keeper *k)
{
	if (k->in)
		hi_inspect_close(hi_take(k->in));
}

/* Nothing but limits is taken from the client. */
static void freeze_target(struct hi_keeper *k, const struct hi_keeper_request *request,
			  struct hi_keeper_answer *answer)
{
	struct hi_census_cache *cache = k->run.census_cache;
	const struct hi_stop_site *before = cache->site;

	k->run.site_timeout_ns = request->timeout_ns;
	k->run.threads =
		request->threads < k->options->decoding.threads ? request->threads : 0;
	cache->samples = request->samples;
	answer->status = hi_inspect_begin(k->options, &k->run, &k->in, &answer->error);
	if (answer->status != HI_OK)
		return;
	answer->resumed = k->in->stop.resumed;
	answer->has_new_site = before != cache->site;
	put_warnings(k->in, answer->warnings);
}

static bool serve_freeze(struct hi_keeper *k, const struct hi_keeper_request *request,
			 struct hi_keeper_answer *answer)
{
	end_image(k);
	freeze_target(k, request, answer);
	return hi_packet_send(k->socket, answer, sizeof(*answer), -1) &&
	       (answer->status != HI_OK || send_frozen(k));
}

/* ---- the rest ---- */

static bool serve_operation(struct hi_keeper *k, const struct hi_keeper_request *request,
			    struct hi_keeper_answer *answer)
{
	switch (request->operation) {
	case HI_KEEPER_END_IMAGE:
		/* Files of what it maps may still be asked for. */
		if (k->in)
			hi_image_end_child(k->in->image);
		return true;
	case HI_KEEPER_EXIT:
		if (k->run.exit_watch)
			answer->exit_state = hi_exit_watch_look(k->run.exit_watch);
		return true;
	case HI_KEEPER_OBSERVER:
		return hi_stop_observers_serve(&k->run.observers, request->observer,
					       request->detail, k->socket, answer);
	default:
		return false;
	}
}

bool hi_keeper_serve(struct hi_keeper *k)
{
	HI_GUARD(free) struct hi_keeper_answer *answer = hi_calloc(1, sizeof(*answer));
	struct hi_keeper_request request;
	int fd = -1;

	if (!answer || !hi_packet_receive(k->socket, &request, sizeof(request), 0, &fd))
		return false;
	hi_close_fd(fd);
	if (request.operation == HI_KEEPER_FREEZE)
		return serve_freeze(k, &request, answer);
	return serve_operation(k, &request, answer) &&
	       hi_packet_send(k->socket, answer, sizeof(*answer), -1);
}

void hi_keeper_close(struct hi_keeper *k)
{
	end_image(k);
}
