/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of a process without rights to one that has some: requests for files, as
 * packets of any size, and the answer of a process that makes pages, as a stream. The
 * first byte is the kind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "server/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 16, PART = 2048 };
static int ends[2] = {-1, -1};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void open_ends(int type)
{
	const int room = 1 << 20;

	expect(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0);
	(void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

static void close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

/* A whole request of these bytes, as they are, or a packet of another size. */
static void send_request(const uint8_t *data, size_t size)
{
	struct hi_files_request request;
	bool is_whole = size && data[0] & 1;

	if (!is_whole) {
		(void)!send(ends[1], data, size, MSG_DONTWAIT);
		return;
	}
	memset(&request, data[0], sizeof(request));
	memcpy(&request, data, size < sizeof(request) ? size : sizeof(request));
	(void)!send(ends[1], &request, sizeof(request), MSG_DONTWAIT);
}

static void receive_request(const uint8_t *data, size_t size)
{
	struct hi_files_request request;
	struct hi_files_answer answer = {.error = EACCES};

	open_ends(SOCK_SEQPACKET);
	send_request(data, size);
	(void)shutdown(ends[1], SHUT_WR);
	while (hi_files_receive(ends[0], &request)) {
		expect(memchr(request.name, 0, sizeof(request.name)) &&
		       memchr(request.other, 0, sizeof(request.other)));
		if (!hi_files_answer(ends[0], &answer, -1))
			break;
	}
	close_ends();
}

static void check_answer(const struct hi_worker *w)
{
	expect(w->answer->code >= 200 && w->answer->code < 600);
	expect(w->answer->size <= MOST_BYTES);
	for (const char *c = w->answer->type; *c; c++)
		expect(*c >= ' ' && *c <= '~');
}

/* The answer comes in parts, after a request or without one. */
static void receive_page(const uint8_t *data, size_t size, bool is_asked)
{
	struct hi_worker w = {.pidfd = -1, .end_by_ns = UINT64_MAX};
	enum hi_worker_event event = HI_WORKER_WAITS;

	open_ends(SOCK_STREAM);
	w.socket = ends[0];
	w.address = is_asked ? strdup("census") : NULL;
	while (event == HI_WORKER_WAITS && size) {
		size_t part = size < PART ? size : PART;

		expect(send(ends[1], data, part, MSG_DONTWAIT) == (ssize_t)part);
		data += part;
		size -= part;
		event = hi_worker_exchange(&w, MOST_BYTES);
	}
	if (event == HI_WORKER_ANSWERED)
		check_answer(&w);
	hi_worker_forget(&w);
	close_ends();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] % 3 == 0)
		receive_request(data + 1, size - 1);
	else
		receive_page(data + 1, size - 1, data[0] % 3 == 1);
	return 0;
}
