/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "server/error_page.h"
#include "server/request.h"
#include "server/server_internal.h"

/* ---- clients ---- */

static struct hi_client *add_client(struct hi_server *s, int fd)
{
	struct hi_client *client = hi_calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->fd = fd;
	client->since_ns = hi_clock_ns();
	client->next = s->clients;
	if (client->next)
		client->next->previous = client;
	s->clients = client;
	s->n_clients++;
	return client;
}

static void remove_client(struct hi_server *s, struct hi_client *client)
{
	*(client->previous ? &client->previous->next : &s->clients) = client->next;
	if (client->next)
		client->next->previous = client->previous;
	s->n_clients--;
	s->has_work = true;
	free(client);
}

void hi_client_notify(void *server, struct MHD_Connection *connection, void **context,
		      enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*context = add_client(server, info ? info->connect_fd : -1);
	else if (*context)
		remove_client(server, hi_take(*context));
}

/* NULL: there was no memory for it. */
static struct hi_client *find_client(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* ---- the life of an exchange ---- */

/*
 * Note [Arguments of addresses]
 *
 * libmicrohttpd makes a record in the memory of the connection for each argument after
 * the '?'. If there is no more, at some 900 of them, it sends no answer: it closes the
 * connection or lets it hang. Pages take the whole address, which was copied here, so
 * libmicrohttpd gets none of its arguments: the address ends at the '?' for it. The text
 * is in the buffer into which it has read the request, and which it changes itself to
 * take the arguments out, as the next step.
 */
static void hide_arguments(const char *target)
{
	char *arguments = strchr((char *)(uintptr_t)target, '?');

	if (arguments)
		arguments[1] = '\0';
}

void *hi_exchange_begin(void *server, const char *target,
			struct MHD_Connection *connection)
{
	struct hi_exchange *x = hi_calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->server = server;
	x->connection = connection;
	x->target = hi_strndup(target, HI_SERVER_TARGET + 1);
	hide_arguments(target);
	x->server->n_exchanges++;
	return x;
}

static void begin_waiting(struct hi_exchange *x)
{
	struct hi_server *s = x->server;

	x->waits = true;
	x->previous = NULL;
	x->next = s->waiting;
	if (x->next)
		x->next->previous = x;
	s->waiting = x;
	MHD_suspend_connection(x->connection);
}

static void leave_waiting(struct hi_exchange *x)
{
	*(x->previous ? &x->previous->next : &x->server->waiting) = x->next;
	if (x->next)
		x->next->previous = x->previous;
	x->waits = false;
}

void hi_exchange_end(void *server, struct MHD_Connection *connection, void **exchange,
		     enum MHD_RequestTerminationCode code)
{
	struct hi_server *s = server;
	struct hi_client *client = find_client(connection);
	struct hi_exchange *x = hi_take(*exchange);

	(void)code;
	if (client)
		client->since_ns = hi_clock_ns();
	if (!x)
		return;
	if (x->waits)
		leave_waiting(x);
	if (x->address)
		s->last_ns = hi_clock_ns();
	s->n_exchanges--;
	s->ends |= x->ends_server;
	hi_answer_release(x->answer);
	free(x->target);
	free(x);
}

static void finish_waiting(struct hi_exchange *x, struct hi_answer *answer)
{
	leave_waiting(x);
	x->answer = answer ? hi_answer_keep(answer)
			   : hi_error_page(500, x->server->base,
					   "The server is out of memory.");
	MHD_resume_connection(x->connection);
	x->server->has_work = true;
}

void hi_exchange_page_done(void *server, const char *address, struct hi_answer *answer)
{
	struct hi_server *s = server;

	if (answer && answer->code == 200)
		hi_cache_put(&s->cache, address, answer);
	for (struct hi_exchange *x = s->waiting, *next; x; x = next) {
		next = x->next;
		if (strcmp(x->address, address) == 0)
			finish_waiting(x, answer);
	}
}

void hi_exchange_answer_all(struct hi_server *s, struct hi_answer *answer)
{
	while (s->waiting)
		finish_waiting(s->waiting, answer);
}

/* ---- is it permitted? ---- */

struct named_value {
	const char *name, *value;
	size_t size; /* of the value as it was sent */
	unsigned count;
};

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *name,
				    size_t name_size, const char *value, size_t size)
{
	struct named_value *wanted = arg;

	(void)kind, (void)name_size;
	if (strcasecmp(name, wanted->name) == 0) {
		wanted->value = value ? value : "";
		wanted->size = value ? size : 0;
		wanted->count++;
	}
	return MHD_YES;
}

/* More than one: what stands for it could be understood in two ways. */
static struct named_value find_header(const struct hi_exchange *x, const char *name)
{
	struct named_value found = {.name = name};

	(void)MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, count_header,
					  &found);
	return found;
}

/* A form of a page whose policy is to send no referrer has the origin "null". Scripts
 * cannot set Sec-Fetch-Site. */
static bool is_own_form(const struct hi_exchange *x, const char *origin)
{
	struct named_value site = find_header(x, "Sec-Fetch-Site");

	return strcmp(origin, "null") == 0 && site.count == 1 &&
	       strcmp(site.value, "same-origin") == 0;
}

static struct hi_answer *refuse_foreign_names(const struct hi_exchange *x)
{
	struct named_value host = find_header(x, "Host"),
			   origin = find_header(x, "Origin");

	if (host.count > 1 ||
	    (host.count && !hi_request_host_is_well_formed(host.value, host.size)))
		return hi_error_page(400, NULL,
				     "The request has no Host that could be one.");
	if (host.count != 1 || !hi_request_host_is_local(host.value))
		return hi_error_page(403, NULL,
				     "This server answers requests to 127.0.0.1 and "
				     "localhost only.");
	if (origin.count > 1 ||
	    (origin.count &&
	     !hi_request_origin_is_local(origin.value, x->server->port, host.value) &&
	     !is_own_form(x, origin.value)))
		return hi_error_page(403, NULL,
				     "This server answers no requests of other sites.");
	return NULL;
}

static struct hi_answer *refuse_method(const struct hi_exchange *x)
{
	const char *method = x->method;

	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	    (strcmp(method, "POST") == 0 && hi_control_is_one(x->address)))
		return NULL;
	return hi_error_page(405, x->server->base,
			     "Pages are read by GET and HEAD; only quit, restart and "
			     "timeout are sent by POST.");
}

/* Fills x->address. NULL: go on. */
static struct hi_answer *refuse_request(struct hi_exchange *x)
{
	struct hi_answer *refused = refuse_foreign_names(x);
	struct hi_server *s = x->server;

	if (refused)
		return refused;
	switch (hi_request_split(x->target, s->token, &x->address)) {
	case HI_REQUEST_PAGE:
		break;
	case HI_REQUEST_BASE:
		return hi_redirection(308, s->base);
	case HI_REQUEST_NOT_TEXT:
		return hi_error_page(400, NULL, "An address has bytes that are no text.");
	case HI_REQUEST_FOREIGN:
	default:
		return hi_error_page(
			403, NULL,
			"The address does not have the token of this server. "
			"The program has printed the whole address when it "
			"started.");
	}
	if (strlen(x->target) > HI_SERVER_TARGET)
		return hi_error_page(414, s->base, "The address has more than %d bytes.",
				     HI_SERVER_TARGET);
	return refuse_method(x);
}

/* ---- what a request gets ---- */

static bool body_is_too_long(const struct hi_exchange *x)
{
	struct named_value length = find_header(x, "Content-Length");
	uint64_t n;

	return length.count && !hi_parse_number(length.value, 0, HI_SERVER_BODY, &n);
}

static enum MHD_Result begin_exchange(struct hi_exchange *x, const char *method)
{
	x->has_begun = true;
	x->method = method;
	if (!x->target)
		return MHD_NO;
	if (!body_is_too_long(x))
		return MHD_YES;
	x->answer = hi_error_page(413, NULL, "A request has more than %d bytes of data.",
				  HI_SERVER_BODY);
	return x->answer ? hi_respond(x, x->answer) : MHD_NO;
}

/* Data of forms: there is nothing to read in it. */
static enum MHD_Result skip_body(struct hi_exchange *x, size_t *size)
{
	x->body += *size;
	*size = 0;
	return x->body > HI_SERVER_BODY ? MHD_NO : MHD_YES;
}

/* NULL: it waits for the page, or there is no memory. */
static struct hi_answer *ask_for_page(struct hi_exchange *x)
{
	struct hi_server *s = x->server;
	struct hi_answer *answer;
	struct hi_error err;

	if (s->options.has_changed && s->options.has_changed(s->options.arg))
		hi_control_restart(s);
	answer = hi_cache_get(&s->cache, x->address);
	if (answer)
		return hi_answer_keep(answer);
	if (hi_workers_ask(s->workers, x->address, &err) != HI_OK)
		return hi_error_page(503, s->base,
				     "The page was not made: %s. Ask again.", err.text);
	begin_waiting(x);
	return NULL;
}

static void note_token(struct hi_exchange *x)
{
	struct hi_client *client = find_client(x->connection);

	x->server->last_ns = hi_clock_ns();
	if (client)
		client->has_token = true;
}

static struct hi_answer *find_answer(struct hi_exchange *x)
{
	struct hi_answer *answer = refuse_request(x);

	if (x->address)
		note_token(x);
	if (answer || !x->address)
		return answer;
	return hi_control_answer(x, &answer) ? answer : ask_for_page(x);
}

enum MHD_Result hi_exchange_handle(void *server, struct MHD_Connection *connection,
				   const char *url, const char *method,
				   const char *version, const char *data,
				   size_t *data_size, void **exchange)
{
	struct hi_exchange *x = *exchange;

	(void)server, (void)connection, (void)url, (void)version, (void)data;
	if (!x)
		return MHD_NO;
	if (!x->has_begun)
		return begin_exchange(x, method);
	if (*data_size)
		return skip_body(x, data_size);
	if (!x->answer)
		x->answer = find_answer(x);
	if (x->waits)
		return MHD_YES;
	return x->answer ? hi_respond(x, x->answer) : MHD_NO;
}
