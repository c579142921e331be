/* SPDX-License-Identifier: BSD-2-Clause */
/* The side of a keeper that has no rights (session/series/keeper.h). */
#include <string.h>

#include "attach/image_send.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/census_cache.h"
#include "session/live/keeper_client.h"
#include "session/live/keeper_messages.h"

/* ---- one request ---- */

static enum hi_status fail_without_keeper(struct hi_error *err)
{
	return hi_fail(err, HI_GONE, 0,
		       "the process that stops the target has ended; the target runs on");
}

static bool ask_locked(const struct hi_keeper_client *client,
		       const struct hi_keeper_request *request, const void *bytes,
		       size_t n, struct hi_keeper_answer *answer)
{
	int fd = -1;
	bool is_there =
		hi_packet_send(client->socket, request, sizeof(*request), -1) &&
		(!bytes || hi_packet_send_bytes(client->socket, bytes, n)) &&
		hi_packet_receive(client->socket, answer, sizeof(*answer), 0, &fd);

	hi_close_fd(fd);
	return is_there;
}

static pthread_mutex_t *lock_of(const struct hi_keeper_client *client)
{
	return (pthread_mutex_t *)(uintptr_t)&client->lock;
}

bool hi_keeper_ask(const struct hi_keeper_client *client,
		   const struct hi_keeper_request *request, const void *bytes, size_t n,
		   struct hi_keeper_answer *answer)
{
	bool is_there;

	pthread_mutex_lock(lock_of(client));
	is_there = ask_locked(client, request, bytes, n, answer);
	pthread_mutex_unlock(lock_of(client));
	return is_there;
}

void hi_keeper_end_image(const struct hi_keeper_client *client)
{
	const struct hi_keeper_request request = {.operation = HI_KEEPER_END_IMAGE};
	struct hi_keeper_answer answer;

	(void)hi_keeper_ask(client, &request, NULL, 0, &answer);
}

enum hi_exit_state hi_keeper_exit_state(void *arg)
{
	const struct hi_keeper_request request = {.operation = HI_KEEPER_EXIT};
	struct hi_keeper_answer answer;

	return hi_keeper_ask(arg, &request, NULL, 0, &answer)
		       ? (enum hi_exit_state)answer.exit_state
		       : HI_EXIT_UNWATCHED;
}

/* ---- an image ---- */

static void warn_as_keeper(struct hi_inspection *in, char *lines)
{
	char *rest = NULL;

	lines[HI_KEEPER_WARNINGS - 1] = 0;
	for (char *line = strtok_r(lines, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		hi_inspect_warn(in, "%s", line);
}

static enum hi_status receive_ranges(struct hi_inspection *in, int socket,
				     struct hi_error *err)
{
	void *ranges = NULL;
	size_t n = 0;

	if (!hi_packet_receive_bytes(socket, HI_KEEPER_RANGES * sizeof(struct hi_range),
				     &ranges, &n))
		return fail_without_keeper(err);
	in->stop.allocator_text = ranges;
	in->stop.n_allocator_text = n / sizeof(struct hi_range);
	return HI_OK;
}

/* All that belongs to the image, in the order in which the keeper sends it. */
static enum hi_status receive_frozen(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_run *run = in->run;
	int socket = run->keeper->socket;
	enum hi_status status = hi_target_receive(socket, &in->stop.target, err);

	if (status == HI_OK)
		status = hi_image_receive(socket, &run->census_cache->kept_image,
					  &in->image, err);
	if (status == HI_OK)
		status = receive_ranges(in, socket, err);
	if (status == HI_OK)
		status = hi_stop_observers_receive(&run->observers, socket, err);
	return status;
}

static enum hi_status request_image(struct hi_inspection *in,
				    struct hi_keeper_answer *answer, struct hi_error *err)
{
	const struct hi_keeper_request request = {
		.operation = HI_KEEPER_FREEZE,
		.threads = hi_inspection_threads(in),
		.timeout_ns = hi_inspection_site_timeout_ns(in),
		.samples = in->run->census_cache->samples};

	if (!ask_locked(in->run->keeper, &request, NULL, 0, answer))
		return fail_without_keeper(err);
	if (answer->status != HI_OK) {
		*err = answer->error;
		return err->status;
	}
	in->stop.resumed = answer->resumed;
	warn_as_keeper(in, answer->warnings);
	return receive_frozen(in, err);
}

enum hi_status hi_keeper_freeze(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_run *run = in->run;
	HI_GUARD(free) struct hi_keeper_answer *answer = hi_calloc(1, sizeof(*answer));
	enum hi_status status;

	if (!answer)
		return hi_fail_memory(err, "image");
	hi_stop_observers_before(&run->observers, in, NULL);
	in->stop.is_observed = true;
	pthread_mutex_lock(lock_of(run->keeper));
	status = request_image(in, answer, err);
	pthread_mutex_unlock(lock_of(run->keeper));
	if (status == HI_OK && !answer->has_new_site)
		in->stop.site = in->run->census_cache->site;
	return status;
}
