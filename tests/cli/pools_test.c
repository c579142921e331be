/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services that split pools into their objects: nginx and PostgreSQL with debug
 * information (scripts/build-targets) and their hints. Truth: what the test opened,
 * and the server's own view of its memory contexts.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/service.h"

#define TARGETS HI_SOURCE_DIR "/build/targets/"

static void check_grown(json_t *before, json_t *after, const char *type, long by)
{
	long long grown = count_of_type(after, type) - count_of_type(before, type);

	HI_ASSERT_MSG(grown == by, "%s: %ld were made, %lld are seen", type, by, grown);
}

/* ---- nginx ---- */

static void write_config(struct hi_service *s, const char *path)
{
	char page[128], bytes[1 << 16];
	FILE *f = fopen(path, "w");

	HI_ASSERT(f);
	fprintf(f,
		"daemon off; master_process off; pid %s/pid; error_log /dev/null;\n"
		"events { worker_connections 1024; }\n"
		"http { access_log off; client_header_timeout 600s; keepalive_timeout "
		"600s;\n"
		"  client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path "
		"%s/f;\n"
		"  uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
		"  server { listen unix:%s; root %s;\n"
		"    location /slow { limit_rate 1; }\n"
		"    location /a { alias /a; } } }\n",
		s->directory, s->directory, s->directory, s->directory, s->directory,
		s->directory, s->socket_path, s->directory);
	fclose(f);
	snprintf(page, sizeof(page), "%s/slow", s->directory);
	f = fopen(page, "w");
	HI_ASSERT(f);
	memset(bytes, 'x', sizeof(bytes));
	HI_ASSERT_EQ(1, fwrite(bytes, sizeof(bytes), 1, f));
	fclose(f);
}

static void open_requests(struct hi_service *s, int n, const char *text)
{
	for (int i = 0; i < n; i++) {
		int fd = hi_service_connect(s);

		HI_ASSERT_EQ((long)strlen(text), write(fd, text, strlen(text)));
	}
}

/* Pages over the first connection, each a turn of its loop: at a turn it accepts one
 * other connection and reads what has come over those it has. */
static void settle(struct hi_service *s, int connections)
{
	for (int i = 0; i < 2 * connections + 10; i++) {
		hi_service_ask(s, "GET /none HTTP/1.1\r\nHost: x\r\n\r\n", "</html>\r\n");
	}
}

HI_TEST_SLOW(pools, nginx_has_a_pool_for_each_connection_and_each_request)
{
	enum { HALF = 40, SENDING = 30, POOLS = 2 * (HALF + SENDING) };
	long long pools;
	struct hi_service *s = hi_service_create();
	char config[96];
	const char *argv[] = {TARGETS "nginx", "-c", config, "-p", s->directory, NULL};
	json_t *before, *after;

	if (access(argv[0], X_OK) != 0)
		HI_SKIP("no nginx: run scripts/build-targets build/targets");
	snprintf(config, sizeof(config), "%s/nginx.conf", s->directory);
	write_config(s, config);
	hi_service_start(s, 1, argv);
	settle(s, 1);
	before = summary_with(s->pid, NULL);
	open_requests(s, HALF, "GET /slow HTTP/1.1\r\nHost: x\r\nX-Half: yes\r\n");
	open_requests(s, SENDING, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
	settle(s, HALF + SENDING);
	after = summary_with(s->pid, NULL);
	/* main() still holds the pool of the first, long freed, configuration. */
	pools = count_of_type(after, "struct ngx_pool_s") -
		count_of_type(before, "struct ngx_pool_s");
	HI_ASSERT_MSG(pools == POOLS || pools == POOLS + 1,
		      "%d pools were made, %lld are seen", POOLS, pools);
	check_grown(before, after, "struct ngx_http_request_s", HALF + SENDING);
	check_grown(before, after, "ngx_http_connection_t", HALF + SENDING);
	HI_ASSERT(per_mille_named(after) >= 990);
	check_ledger(after);
}

/* ---- PostgreSQL ---- */

/* One message of its protocol (version 3); type 0: the first one, which has none. */
static void tell_postgres(struct hi_service *s, char type, const char *text, size_t size)
{
	char message[1024];
	uint32_t length = htonl((uint32_t)size + 4);
	size_t at = 0;

	HI_ASSERT(size + 5 <= sizeof(message));
	if (type)
		message[at++] = type;
	memcpy(message + at, &length, 4);
	memcpy(message + at + 4, text, size);
	hi_service_send(s, message, at + 4 + size, 0);
}

/* Reads until the server waits for a query; the first column of the last row. */
static long long answer_of_postgres(struct hi_service *s)
{
	unsigned char head[5], body[1 << 16];
	long long ret = -1;

	do {
		uint32_t length;

		for (size_t n = 0; n < sizeof(head);)
			n += hi_service_read(s, head + n, sizeof(head) - n);
		memcpy(&length, head + 1, 4);
		length = ntohl(length) - 4;
		HI_ASSERT(length < sizeof(body));
		for (size_t n = 0; n < length;)
			n += hi_service_read(s, body + n, length - n);
		body[length] = 0;
		for (size_t i = 0; head[0] == 'E' && i < length; i++)
			body[i] = body[i] ? body[i] : '|';
		HI_ASSERT_MSG(head[0] != 'E', "%s", (char *)body + 1);
		if (head[0] == 'D' && length > 6)
			ret = atoll((char *)body + 6);
	} while (head[0] != 'Z');
	return ret;
}

static long long ask_postgres(struct hi_service *s, const char *query)
{
	tell_postgres(s, 'Q', query, strlen(query) + 1);
	return answer_of_postgres(s);
}

/* It refuses to run as root. */
static const char *const *as_somebody(const char *argv[])
{
	return geteuid() == 0 ? argv : argv + 4;
}

/* It listens before it is ready; the last line of its lock file says when it is. */
static void await_postgres(const char *data)
{
	char path[128], text[512] = "";

	snprintf(path, sizeof(path), "%s/postmaster.pid", data);
	for (int i = 0; i < 6000 && !strstr(text, "ready"); i++) {
		FILE *f = fopen(path, "r");

		usleep(10000);
		if (f) {
			text[fread(text, 1, sizeof(text) - 1, f)] = 0;
			fclose(f);
		}
	}
	HI_ASSERT_MSG(strstr(text, "ready"), "postgres is not ready: %s", text);
}

static struct hi_service *start_postgres(void)
{
	static const char start[] = "\0\3\0\0user\0postgres\0database\0postgres\0";
	struct hi_service *s = hi_service_create();
	char data[80];
	const char *init[] = {"setpriv",
			      "--reuid=nobody",
			      "--regid=nogroup",
			      "--clear-groups",
			      TARGETS "postgres/bin/initdb",
			      "-D",
			      data,
			      "-A",
			      "trust",
			      "-U",
			      "postgres",
			      "--no-locale",
			      "-N",
			      NULL};
	const char *run[] = {"setpriv",
			     "--reuid=nobody",
			     "--regid=nogroup",
			     "--clear-groups",
			     TARGETS "postgres/bin/postgres",
			     "-D",
			     data,
			     "-k",
			     data,
			     "-h",
			     "",
			     "-c",
			     "shared_buffers=8MB",
			     "-c",
			     "autovacuum=off",
			     NULL};
	struct hi_command *c;

	if (access(init[4], X_OK) != 0)
		HI_SKIP("no postgres: run scripts/build-targets build/targets");
	chmod(s->directory, 0777);
	snprintf(data, sizeof(data), "%s/data", s->directory);
	c = hi_command_runv(0, (char *const *)(uintptr_t)as_somebody(init));
	HI_ASSERT_MSG(c->exit_code == 0, "initdb: %s", c->err);
	snprintf(s->socket_path, sizeof(s->socket_path), "%s/.s.PGSQL.5432", data);
	hi_service_start(s, 0, as_somebody(run));
	await_postgres(data);
	s->fd = hi_service_connect(s);
	tell_postgres(s, 0, start, sizeof(start));
	answer_of_postgres(s);
	return s;
}

HI_TEST_SLOW(pools, postgres_has_the_contexts_and_plans_that_it_says)
{
	enum { WARM = 30, PLANS = 60 };
	static const char contexts[] = "SELECT count(*) FROM pg_backend_memory_contexts";
	struct hi_service *s = start_postgres();
	long long backend, contexts_before = 0, contexts_after, made, seen;
	json_t *before = NULL, *after;

	backend = ask_postgres(s, "SELECT pg_backend_pid()");
	ask_postgres(s, "SET plan_cache_mode = force_generic_plan");
	for (int i = 0; i < WARM + PLANS; i++) {
		char query[200];

		if (i == WARM) {
			ask_postgres(s, contexts);
			contexts_before = ask_postgres(s, contexts);
			before = summary_with((pid_t)backend, NULL);
		}
		snprintf(
			query, sizeof(query),
			"PREPARE p%d(oid) AS SELECT relname FROM pg_class WHERE oid > $1 "
			"AND relpages < %d",
			i, i);
		ask_postgres(s, query);
		snprintf(query, sizeof(query), "EXECUTE p%d(1)", i);
		ask_postgres(s, query);
	}
	contexts_after = ask_postgres(s, contexts);
	after = summary_with((pid_t)backend, NULL);
	check_grown(before, after, "struct CachedPlanSource", PLANS);
	check_grown(before, after, "struct CachedPlan", PLANS);
	/* Some that were deleted are kept to be used again (context_freelists): the
	 * server does not count them. */
	made = contexts_after - contexts_before;
	seen = count_of_type(after, "struct AllocSetContext") -
	       count_of_type(before, "struct AllocSetContext");
	HI_ASSERT_MSG(made >= PLANS && seen >= made && seen <= made + 3,
		      "%lld contexts were made, %lld are seen", made, seen);
	HI_ASSERT(count_of_type(after, "struct AllocSetContext") >= contexts_after - 20);
	HI_ASSERT(per_mille_named(after) >= 990);
	check_ledger(after);
}
