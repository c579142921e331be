/* SPDX-License-Identifier: BSD-2-Clause */
/* The server with mock pages, and clients that say what they like. */
#include "server/server.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/harness.h"
#include "tests/support/mock_pages.h"

#define MS 1000000ull

static void check_page(struct http_url url, const char *address, const char *body)
{
	struct http_answer a = http_get(url, address);

	HI_ASSERT_EQ(200, a.code);
	if (body)
		HI_ASSERT_STREQ(body, a.body);
}

static void check_lives(struct http_url url)
{
	static unsigned n;
	char address[32];

	snprintf(address, sizeof(address), "alive/%u", n++);
	check_page(url, address, NULL);
}

/* ---- pages ---- */

HI_TEST_SCENARIO(server, second_request_is_equal_and_makes_no_page)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	check_page(s.url, "count/a", "1");
	check_page(s.url, "count/b", "2");
	check_page(s.url, "count/a", "1");
	check_page(s.url, "count/c", "3");
}

HI_TEST_SCENARIO(server, pages_know_their_address_and_base)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer a = http_get(s.url, "a/b%20c?d=e&f");
	char body[256];

	snprintf(body, sizeof(body), "a/b%%20c?d=e&f of %s", s.url.base);
	HI_ASSERT_STREQ(body, a.body);
	snprintf(body, sizeof(body), " of %s", s.url.base);
	check_page(s.url, "", body);
}

HI_TEST_SCENARIO(server, codes_of_pages_are_passed_on)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	HI_ASSERT_EQ(404, http_get(s.url, "none").code);
	HI_ASSERT_EQ(MOCK_BIG, http_get(s.url, "big").size);
	HI_ASSERT_EQ(500, http_get(s.url, "huge").code);
	check_lives(s.url);
}

static void check_safety_headers(struct http_answer a)
{
	HI_ASSERT_STREQ("default-src 'none'", http_header(&a, "Content-Security-Policy"));
	HI_ASSERT_STREQ("nosniff", http_header(&a, "X-Content-Type-Options"));
	HI_ASSERT_STREQ("no-referrer", http_header(&a, "Referrer-Policy"));
	HI_ASSERT_STREQ("DENY", http_header(&a, "X-Frame-Options"));
	HI_ASSERT_STREQ("same-origin", http_header(&a, "Cross-Origin-Resource-Policy"));
	HI_ASSERT_STREQ("same-origin", http_header(&a, "Cross-Origin-Opener-Policy"));
}

HI_TEST_SCENARIO(server, every_answer_has_the_headers_that_keep_others_out)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static const char *const addresses[] = {"",	 "x",	    "none",  "quit",
						"touch", "restart", "crash", "asset.css"};
	struct http_url wrong = s.url;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct http_answer a = http_get(s.url, addresses[i]);

		check_safety_headers(a);
		if (strcmp(addresses[i], "asset.css") != 0)
			HI_ASSERT_STREQ("no-store", http_header(&a, "Cache-Control"));
	}
	check_safety_headers(http_ask(s.url, "PUT", "", ""));
	wrong.base[1] ^= 1;
	check_safety_headers(http_get(wrong, ""));
}

HI_TEST_SCENARIO(server, assets_have_a_version)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer a = http_get(s.url, "asset.css");
	char header[64];

	HI_ASSERT(http_header(&a, "ETag"));
	HI_ASSERT_STREQ("private, no-cache", http_header(&a, "Cache-Control"));
	snprintf(header, sizeof(header), "If-None-Match: %s\r\n",
		 http_header(&a, "ETag"));
	HI_ASSERT_EQ(304, http_ask(s.url, "GET", "asset.css", header).code);
	HI_ASSERT_EQ(
		200,
		http_ask(s.url, "GET", "asset.css", "If-None-Match: \"other\"\r\n").code);
	a = http_get(s.url, "x");
	HI_ASSERT(!http_header(&a, "ETag"));
}

HI_TEST_SCENARIO(server, head_has_the_headers_of_get)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer get = http_get(s.url, "x"),
			   head = http_ask(s.url, "HEAD", "x", "");

	HI_ASSERT_EQ(200, head.code);
	HI_ASSERT_STREQ(http_header(&get, "Content-Length"),
			http_header(&head, "Content-Length"));
}

/* ---- clients ---- */

/* The request is refused, and the answer does not have the token. */
static void check_refused(struct http_answer a, struct http_url url)
{
	char token[33];

	HI_ASSERT_EQ(403, a.code);
	snprintf(token, sizeof(token), "%.32s", url.base + 1);
	HI_ASSERT(!strstr(a.body, token) && !strstr(a.head, token));
}

HI_TEST_SCENARIO(server, without_the_token_there_is_nothing)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static const char *const bases[] = {"/", "/x/", "//", "/../", "/style.css"};

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		struct http_url url = s.url;

		snprintf(url.base, sizeof(url.base), "%s", bases[i]);
		check_refused(http_get(url, "count/a"), s.url);
		check_refused(http_ask(url, "POST", "quit", "Content-Length: 0\r\n"),
			      s.url);
	}
	for (size_t i = 1; i < 33; i++) {
		struct http_url url = s.url;

		url.base[i] = url.base[i] == '0' ? '1' : '0';
		check_refused(http_get(url, "count/a"), s.url);
	}
	check_page(s.url, "count/a", "1"); /* no page was made */
}

HI_TEST_SCENARIO(server, the_slash_behind_the_token_may_be_missing)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_url url = s.url;
	struct http_answer a;

	url.base[33] = 0;
	a = http_get(url, "");
	HI_ASSERT_EQ(308, a.code);
	HI_ASSERT_STREQ(s.url.base, http_header(&a, "Location"));
}

/* The lines between "GET" and the end. */
static struct http_answer ask_with(struct http_url url, const char *version,
				   const char *headers)
{
	int fd = http_connect(url.port);

	HI_ASSERT(
		http_sendf(fd, "GET %sx HTTP/%s\r\n%s\r\n", url.base, version, headers));
	return http_receive(fd, false);
}

HI_TEST_SCENARIO(server, answers_only_under_names_of_this_machine)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static const char *const foreign[] = {
		"Host: evil.example\r\n", "Host: evil.example:80\r\n",
		"Host: 127.0.0.1.evil.example\r\n", "Host: 192.168.0.1\r\n"};
	static const char *const malformed[] = {
		"Host: \r\n",
		"Host: localhost:\r\n",
		"Host: localhost:99999\r\n",
		"Host: local host\r\n",
		"Host: localhost, evil.example\r\n",
		"Host: a@localhost\r\n",
		"Host: [::1\r\n",
		"Host: localhost\r\nHost: evil.example\r\n",
		"Host: evil.example\r\nHost: localhost\r\n"};
	static const char *const local[] = {"Host: localhost\r\n", "Host: [::1]:99\r\n",
					    "host: 127.0.0.1:5000\r\n"};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		check_refused(ask_with(s.url, "1.1", foreign[i]), s.url);
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		HI_ASSERT_EQ(400, ask_with(s.url, "1.1", malformed[i]).code);
	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		HI_ASSERT_EQ(200, ask_with(s.url, "1.1", local[i]).code);
	check_refused(ask_with(s.url, "1.0", ""), s.url);
	HI_ASSERT_EQ(400, ask_with(s.url, "1.1", "").code);
}

HI_TEST_SCENARIO(server, answers_no_requests_of_other_sites)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	const struct {
		const char *headers;
		int code;
	} cases[] = {
		{"Origin: http://evil.example\r\n", 403},
		{"Origin: https://127.0.0.1:%u\r\n", 403},
		{"Origin: http://127.0.0.1:1\r\n", 403},
		{"Origin: null\r\n", 403},
		{"Origin: null\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"Origin: null\r\nSec-Fetch-Site: same-origin\r\n", 200},
		{"Origin: http://127.0.0.1:%u\r\n", 200},
		{"Origin: http://localhost:%u\r\n", 200},
		{"Origin: http://127.0.0.1:%u\r\nOrigin: http://evil.example\r\n", 403},
		{"Origin: http://evil.example\r\nOrigin: http://127.0.0.1:%u\r\n", 403},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char headers[256];
		const char *at = strstr(cases[i].headers, "%u");

		snprintf(headers, sizeof(headers), "%s", cases[i].headers);
		if (at)
			snprintf(headers, sizeof(headers), "%.*s%u%s",
				 (int)(at - cases[i].headers), cases[i].headers,
				 s.url.port, at + 2);
		HI_ASSERT_EQ(cases[i].code, http_ask(s.url, "GET", "x", headers).code);
	}
}

HI_TEST_SCENARIO(server, other_methods_are_refused)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static const char *const methods[] = {"PUT", "DELETE", "OPTIONS", "TRACE",
					      "BREW"};

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		HI_ASSERT_EQ(405, http_ask(s.url, methods[i], "x", "").code);
	HI_ASSERT_EQ(405, http_ask(s.url, "POST", "x", "Content-Length: 0\r\n").code);
	check_lives(s.url);
}

/* ---- too much ---- */

static void send_long_target(struct http_url url, size_t size, int code)
{
	char *text = malloc(size);
	int fd = http_connect(url.port);
	struct http_answer a;

	HI_ASSERT(text);
	hi_test_defer(free, text);
	memset(text, 'x', size);
	HI_ASSERT(http_sendf(fd, "GET %s", url.base));
	/* It may close the connection before all is sent. */
	(void)(http_send(fd, text, size) &&
	       http_sendf(fd, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	a = http_receive(fd, false);
	HI_ASSERT_MSG(a.code == code || (a.code == 0 && size > 60000), "%zu bytes: %d",
		      size, a.code);
}

HI_TEST_SCENARIO(server, long_addresses_do_no_harm)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	send_long_target(s.url, 31000, 200);
	send_long_target(s.url, 32001, 414);
	send_long_target(s.url, 50000, 414);
	send_long_target(s.url, 1 << 20, 414);
	send_long_target(s.url, 20 << 20, 414);
	check_lives(s.url);
}

/* As many arguments as there are, on a connection of its own. */
static int ask_with_arguments(struct http_url url, const char *argument, size_t n)
{
	int fd = http_connect(url.port);
	size_t size = strlen(argument);

	HI_ASSERT(http_sendf(fd, "GET %sx?", url.base));
	for (size_t i = 0; i < n; i++)
		HI_ASSERT(http_send(fd, argument, size));
	HI_ASSERT(http_sendf(fd, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
	return http_receive(fd, false).code;
}

/* So many that a record for each would not fit into the memory of a connection. */
HI_TEST_SCENARIO(server, an_address_may_have_any_number_of_arguments)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	for (size_t n = 100; n <= 10000; n *= 10)
		HI_ASSERT_EQ(200, ask_with_arguments(s.url, "a&", n));
	HI_ASSERT_EQ(200, ask_with_arguments(s.url, "a=1&", 5000));
	HI_ASSERT_EQ(200, ask_with_arguments(s.url, "&", 31000));
	HI_ASSERT_EQ(414, ask_with_arguments(s.url, "a&", 20000));
	check_lives(s.url);
}

HI_TEST_SCENARIO(server, long_headers_do_no_harm)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	int fd = http_connect(s.url.port);
	struct http_answer a;
	bool sent = http_sendf(fd, "GET %sx HTTP/1.1\r\nHost: localhost\r\n", s.url.base);

	for (unsigned i = 0; sent && i < 20000; i++)
		sent = http_sendf(fd, "X-%u: 0123456789012345678901234567890\r\n", i);
	a = http_receive(fd, false);
	HI_ASSERT_MSG(a.code == 431 || a.code == 413 || a.code == 0, "%d", a.code);
	check_lives(s.url);
}

HI_TEST_SCENARIO(server, data_of_requests_is_limited)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static char data[200000];
	int fd;

	HI_ASSERT_EQ(413,
		     http_ask(s.url, "POST", "restart", "Content-Length: 99999999999\r\n")
			     .code);
	fd = http_connect(s.url.port);
	HI_ASSERT(http_sendf(fd,
			     "POST %srestart HTTP/1.1\r\nHost: localhost\r\n"
			     "Content-Length: 5\r\n\r\na=bcd",
			     s.url.base));
	HI_ASSERT_EQ(303, http_receive(fd, false).code);
	fd = http_connect(s.url.port);
	(void)(http_sendf(fd,
			  "POST %srestart HTTP/1.1\r\nHost: localhost\r\n"
			  "Transfer-Encoding: chunked\r\n\r\n30d40\r\n",
			  s.url.base) &&
	       http_send(fd, data, sizeof(data)) && http_sendf(fd, "\r\n0\r\n\r\n"));
	HI_ASSERT_EQ(0, http_receive(fd, false).code);
	check_lives(s.url);
}

HI_TEST_SCENARIO(server, garbage_does_no_harm)
{
	struct mock_server s = mock_server_start(0, 0, 1000 * MS);
	static const char *const garbage[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"\x16\x03\x01\x02",
		"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"A B C D E\r\n:::\r\n\r\n"};
	unsigned seed = 7;

	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		int fd = http_connect(s.url.port);

		HI_ASSERT(http_send(fd, garbage[i], strlen(garbage[i])));
		shutdown(fd, SHUT_WR);
		HI_ASSERT(http_receive(fd, false).code != 200);
	}
	for (unsigned i = 0; i < 200; i++) {
		int fd = http_connect(s.url.port);
		char bytes[512];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			seed = seed * 1103515245 + 12345;
			bytes[k] = (char)(seed >> 16);
		}
		(void)http_send(fd, bytes, sizeof(bytes));
		shutdown(fd, SHUT_RDWR);
	}
	check_lives(s.url);
}

HI_TEST_SCENARIO(server, requests_may_follow_each_other_at_once)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	int fd = http_connect(s.url.port);
	char text[1024];
	const char *b = s.url.base;

	HI_ASSERT(http_sendf(fd,
			     "GET %sp1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
			     "GET %sslow/100 HTTP/1.1\r\nHost: localhost\r\n\r\n"
			     "GET %sp3 HTTP/1.1\r\nHost: localhost\r\n\r\n"
			     "\x01garbage\r\n\r\n",
			     b, b, b));
	snprintf(text, sizeof(text), "p1 of %s", b);
	HI_ASSERT_STREQ(text, http_receive(fd, false).body);
	snprintf(text, sizeof(text), "slow/100 of %s", b);
	HI_ASSERT_STREQ(text, http_receive(fd, false).body);
	snprintf(text, sizeof(text), "p3 of %s", b);
	HI_ASSERT_STREQ(text, http_receive(fd, false).body);
	HI_ASSERT(http_receive(fd, false).code != 200);
	check_lives(s.url);
}

/* ---- slow clients ---- */

static unsigned count_descriptors(pid_t pid)
{
	char path[64];
	DIR *dir;
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Whether they were still there when others had been answered; else nothing is said. */
static bool ask_beside_slow_readers(uint64_t limit_ns)
{
	enum { READERS = 50 };
	struct mock_server s = mock_server_start(0, 0, limit_ns);
	unsigned before = count_descriptors(s.pid), n;
	uint64_t end;
	bool are_there;
	char byte;

	for (unsigned i = 0; i < READERS; i++) {
		int small = 4096, fd = http_connect(s.url.port);

		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		HI_ASSERT(http_sendf(fd, "GET %swide HTTP/1.1\r\nHost: localhost\r\n\r\n",
				     s.url.base));
		if (recv(fd, &byte, 1, 0) != 1)
			return false;
	}
	for (unsigned i = 0; i < 20; i++)
		check_lives(s.url);
	are_there = count_descriptors(s.pid) >= before + READERS;
	/* And they are not waited for. */
	end = hi_clock_ns() + limit_ns + 60 * HI_NS_PER_S;
	do {
		hi_clock_pause_ns(50 * MS);
		n = count_descriptors(s.pid);
	} while (n >= before + READERS / 2 && hi_clock_ns() < end);
	HI_ASSERT_MSG(n < before + READERS / 2, "%u descriptors are open, not %u", n,
		      before);
	check_lives(s.url);
	return are_there;
}

HI_TEST_SCENARIO(server, slow_readers_hold_nobody_up)
{
	HI_ASSERT(ask_beside_slow_readers(2000 * MS) ||
		  ask_beside_slow_readers(8000 * MS) ||
		  ask_beside_slow_readers(32000 * MS));
}

HI_TEST_SCENARIO(server, slow_senders_are_ended)
{
	struct mock_server s = mock_server_start(0, 0, 1500 * MS);
	int fd = http_connect(s.url.port);
	uint64_t start = hi_clock_ns();
	unsigned sent = 0;
	char byte;

	/* A byte at a time, so that something happens on the connection. */
	while (http_send(fd, "G", 1) && recv(fd, &byte, 1, MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN && hi_clock_ns() - start < 300 * HI_NS_PER_S) {
		hi_clock_pause_ns(50 * MS);
		if (sent++ % 10 == 0)
			check_lives(s.url);
	}
	HI_ASSERT(hi_clock_ns() - start >= 1400 * MS);
	HI_ASSERT(hi_clock_ns() - start < 300 * HI_NS_PER_S);
}

HI_TEST_SCENARIO(server, a_crowd_without_the_token_keeps_nobody_out)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	for (unsigned i = 0; i < 600; i++) {
		(void)http_connect(s.url.port);
		if (i % 100 == 99)
			check_lives(s.url);
	}
}

/* ---- processes that make pages ---- */

HI_TEST_SCENARIO(server, a_crash_becomes_a_page)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer a;

	for (unsigned i = 0; i < 3; i++) {
		a = http_get(s.url, "crash");
		HI_ASSERT_EQ(500, a.code);
		HI_ASSERT(strstr(a.body, "signal 11 (Segmentation fault)"));
		HI_ASSERT(strstr(a.body, s.url.base)); /* a link to the first page */
		check_lives(s.url);
	}
	a = http_get(s.url, "exit");
	HI_ASSERT_EQ(500, a.code);
	HI_ASSERT(strstr(a.body, "status 3"));
	check_lives(s.url);
}

HI_TEST_SCENARIO(server, nonsense_of_a_page_process_becomes_a_page)
{
	static const char *const addresses[] = {"nonsense", "header", "type"};
	struct mock_server s = mock_server_start(0, 5000 * MS, 0);

	for (size_t i = 0; i < 3; i++) {
		struct http_answer a = http_get(s.url, addresses[i]);

		HI_ASSERT_EQ(500, a.code);
		HI_ASSERT(!http_header(&a, "X-Mock"));
		check_lives(s.url);
	}
}

HI_TEST_SCENARIO(server, a_page_without_memory_says_so)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer first = http_get(s.url, "pid/1"),
			   a = http_get(s.url, "memory"), second;

	HI_ASSERT_EQ(500, a.code);
	HI_ASSERT(strstr(a.body, "&#60;mock&#62; &#38; page"));
	second = http_get(s.url, "pid/2");
	HI_ASSERT_EQ(200, second.code);
	HI_ASSERT(strcmp(first.body, second.body) != 0);
}

HI_TEST_SCENARIO(server, a_page_that_takes_too_long_is_ended)
{
	struct mock_server s = mock_server_start(0, 1000 * MS, 0);
	uint64_t start = hi_clock_ns();
	struct http_answer a = http_get(s.url, "hang");

	HI_ASSERT_EQ(504, a.code);
	HI_ASSERT(strstr(a.body, "after 1 s"));
	HI_ASSERT(hi_clock_ns() - start >= 1000 * MS);
	check_lives(s.url);
}

/* Whether the slow page was still awaited when the others had been answered: else the
 * machine was so busy that nothing is said. */
static bool ask_beside_slow_page(uint64_t limit_ns)
{
	struct mock_server s = mock_server_start(0, limit_ns, 0);
	int fd = http_connect(s.url.port);
	bool is_awaited;
	char byte;

	check_page(s.url, "cached", NULL);
	HI_ASSERT(http_sendf(fd, "GET %shang HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	hi_clock_pause_ns(100 * MS);
	check_page(s.url, "cached", NULL);
	check_lives(s.url);
	is_awaited = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
	HI_ASSERT_EQ(504, http_receive(fd, false).code);
	return is_awaited;
}

HI_TEST_SCENARIO(server, a_second_process_works_beside_a_slow_one)
{
	HI_ASSERT(ask_beside_slow_page(3000 * MS) || ask_beside_slow_page(12000 * MS) ||
		  ask_beside_slow_page(48000 * MS));
}

HI_TEST_SCENARIO(server, a_process_that_has_grown_is_replaced)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer a = http_get(s.url, "pid/1"), same = http_get(s.url, "pid/2"),
			   other;

	HI_ASSERT_STREQ(a.body, same.body);
	HI_ASSERT_EQ(200, http_get(s.url, "grow").code);
	other = http_get(s.url, "pid/3");
	HI_ASSERT_EQ(200, other.code);
	HI_ASSERT(strcmp(a.body, other.body) != 0);
}

HI_TEST_SCENARIO(server, a_page_process_that_is_killed_while_idle_is_replaced)
{
	struct mock_server s = mock_server_start(0, 0, 0);

	for (unsigned i = 0; i < 10; i++) {
		char address[16];
		struct http_answer a;

		snprintf(address, sizeof(address), "pid/%u", i);
		a = http_get(s.url, address);
		HI_ASSERT_EQ(200, a.code);
		kill((pid_t)atoi(a.body), SIGKILL);
		if (i % 2)
			hi_clock_pause_ns(20 * MS);
	}
}

HI_TEST_SCENARIO(server, page_processes_end_with_the_server)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	pid_t pid = (pid_t)atoi(http_get(s.url, "pid/1").body);

	HI_ASSERT(pid > 0 && kill(pid, 0) == 0);
	/* It does not look at its socket. */
	HI_ASSERT(http_sendf(http_connect(s.url.port),
			     "GET %shang HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	hi_clock_pause_ns(100 * MS);
	kill(s.pid, SIGKILL);
	HI_ASSERT(WIFSIGNALED(mock_server_await_end(&s)));
	for (unsigned i = 0; i < 1000 && kill(pid, 0) == 0; i++)
		hi_clock_pause_ns(10 * MS);
	HI_ASSERT(kill(pid, 0) != 0);
}

/* A connection that it kept would not end for its client. */
HI_TEST_SCENARIO(server, page_processes_have_no_descriptors_of_the_server)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	pid_t pid;

	for (unsigned i = 0; i < 20; i++)
		(void)http_connect(s.url.port);
	HI_ASSERT_EQ(303,
		     http_ask(s.url, "POST", "restart", "Content-Length: 0\r\n").code);
	pid = (pid_t)atoi(http_get(s.url, "pid/1").body);
	HI_ASSERT(count_descriptors(s.pid) >= 20);
	/* 0 to 3, "." and "..". */
	HI_ASSERT_EQ(6, count_descriptors(pid));
}

/* ---- many ---- */

struct asker {
	pthread_t thread;
	struct http_url url;
	char address[32];
	char body[64];
	uint64_t ns;
	bool is_fine;
};

/* Not by the functions of tests: another thread. */
static void *ask_for_page_in_thread(void *arg)
{
	struct asker *a = arg;
	char request[256], answer[8192];
	size_t n = 0;
	ssize_t more;
	uint64_t start = hi_clock_ns();
	int fd, length = snprintf(request, sizeof(request),
				  "GET %s%s HTTP/1.1\r\nHost: localhost\r\n"
				  "Connection: close\r\n\r\n",
				  a->url.base, a->address);

	fd = (int)(intptr_t)a->ns; /* connected before */
	if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
		return NULL;
	while (n < sizeof(answer) - 1 &&
	       (more = recv(fd, answer + n, sizeof(answer) - 1 - n, 0)) > 0)
		n += (size_t)more;
	answer[n] = 0;
	a->is_fine =
		strncmp(answer, "HTTP/1.1 200", 12) == 0 && strstr(answer, "\r\n\r\n");
	if (a->is_fine)
		snprintf(a->body, sizeof(a->body), "%.63s",
			 strstr(answer, "\r\n\r\n") + 4);
	a->ns = hi_clock_ns() - start;
	return NULL;
}

static void ask_in_parallel(struct mock_server *s, struct asker *askers, unsigned n,
			    const char *fmt)
{
	for (unsigned i = 0; i < n; i++) {
		askers[i] = (struct asker){.url = s->url};
		askers[i].ns = (uint64_t)http_connect(s->url.port);
		snprintf(askers[i].address, sizeof(askers[i].address), "%s%u", fmt,
			 strcmp(fmt, "count/") == 0 ? 0 : i);
	}
	for (unsigned i = 0; i < n; i++)
		HI_ASSERT(pthread_create(&askers[i].thread, NULL, ask_for_page_in_thread,
					 &askers[i]) == 0);
	for (unsigned i = 0; i < n; i++)
		HI_ASSERT(pthread_join(askers[i].thread, NULL) == 0);
}

HI_TEST_SCENARIO(server, fifty_that_ask_for_one_page_get_it_made_once)
{
	enum { N = 50 };
	struct mock_server s = mock_server_start(0, 0, 0);
	static struct asker askers[N];

	ask_in_parallel(&s, askers, N, "count/");
	for (unsigned i = 0; i < N; i++) {
		HI_ASSERT(askers[i].is_fine);
		HI_ASSERT_STREQ("1", askers[i].body);
	}
	check_page(s.url, "count/b", "2");
}

HI_TEST_SCENARIO(server, fifty_that_ask_for_fifty_pages_get_them)
{
	enum { N = 50 };
	struct mock_server s = mock_server_start(0, 0, 0);
	static struct asker askers[N];
	uint64_t worst = 0;

	ask_in_parallel(&s, askers, N, "slow/");
	for (unsigned i = 0; i < N; i++) {
		char body[128];

		HI_ASSERT(askers[i].is_fine);
		snprintf(body, sizeof(body), "slow/%u of %s", i, s.url.base);
		body[63] = 0;
		HI_ASSERT_STREQ(body, askers[i].body);
		worst = askers[i].ns > worst ? askers[i].ns : worst;
	}
	hi_test_note("50 clients, pages of 0 to 49 ms: the last one after %.0f ms",
		     (double)worst / 1e6);
}

HI_TEST_SCENARIO(server, more_than_it_can_wait_for_are_told_to_come_again)
{
	enum { N = 230 };
	struct mock_server s = mock_server_start(0, 3000 * MS, 0);
	int fds[N], hang = http_connect(s.url.port), hang2 = http_connect(s.url.port);
	unsigned refused = 0;

	HI_ASSERT(http_sendf(hang, "GET %shang HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	hi_clock_pause_ns(100 * MS);
	HI_ASSERT(http_sendf(hang2, "GET %sslow/2900 HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	hi_clock_pause_ns(500 * MS);
	for (unsigned i = 0; i < N; i++) {
		fds[i] = http_connect(s.url.port);
		HI_ASSERT(http_sendf(fds[i],
				     "GET %sw/%u HTTP/1.1\r\nHost: localhost\r\n\r\n",
				     s.url.base, i));
	}
	for (unsigned i = 0; i < N; i++) {
		int code = http_receive(fds[i], false).code;

		HI_ASSERT_MSG(code == 200 || code == 503, "%d", code);
		refused += code == 503;
	}
	HI_ASSERT_EQ(N - 200, refused);
}

/* ---- quit, restart, timeout ---- */

HI_TEST_SCENARIO(server, a_link_to_quit_asks_first)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer a = http_get(s.url, "quit");
	char form[128];

	snprintf(form, sizeof(form), "<form method=\"post\" action=\"%squit\">",
		 s.url.base);
	HI_ASSERT_EQ(200, a.code);
	HI_ASSERT(strstr(a.body, form));
	check_lives(s.url);
	HI_ASSERT_EQ(403, http_ask(s.url, "POST", "quit",
				   "Content-Length: 0\r\nOrigin: http://evil.example\r\n")
				  .code);
	check_lives(s.url);
	a = http_ask(s.url, "POST", "quit", "Content-Length: 0\r\n");
	HI_ASSERT_EQ(200, a.code);
	HI_ASSERT(strstr(a.body, "has ended"));
	HI_ASSERT_EQ(0, mock_server_await_end(&s));
}

HI_TEST_SCENARIO(server, restart_makes_pages_again)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	struct http_answer first = http_get(s.url, "pid/1"), a;

	HI_ASSERT_EQ(200, http_get(s.url, "restart").code);
	check_page(s.url, "pid/1", first.body);
	a = http_ask(s.url, "POST", "restart", "Content-Length: 0\r\n");
	HI_ASSERT_EQ(303, a.code);
	HI_ASSERT_STREQ(s.url.base, http_header(&a, "Location"));
	a = http_get(s.url, "pid/1");
	HI_ASSERT_EQ(200, a.code);
	HI_ASSERT(strcmp(first.body, a.body) != 0);
}

HI_TEST_SCENARIO(server, requests_waiting_at_a_restart_are_answered)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	int fd = http_connect(s.url.port);

	HI_ASSERT(http_sendf(fd, "GET %sslow/500 HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	hi_clock_pause_ns(100 * MS);
	HI_ASSERT_EQ(303,
		     http_ask(s.url, "POST", "restart", "Content-Length: 0\r\n").code);
	HI_ASSERT_EQ(200, http_receive(fd, false).code);
}

HI_TEST_SCENARIO(server, ends_when_nothing_was_asked_for)
{
	/* So long that it is asked before, also where others have the processors. */
	struct mock_server s = mock_server_start(3000 * MS, 0, 0);
	uint64_t start;
	struct http_url wrong = s.url;

	for (unsigned i = 0; i < 10; i++) {
		check_lives(s.url);
		hi_clock_pause_ns(400 * MS);
	}
	/* Requests without the token do not count. */
	wrong.base[1] ^= 1;
	start = hi_clock_ns();
	check_lives(s.url);
	for (;;) {
		int fd = http_try_connect(wrong.port);

		if (fd < 0)
			break;
		HI_ASSERT(hi_clock_ns() - start < 300 * HI_NS_PER_S);
		(void)http_sendf(fd, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
				 wrong.base);
		HI_ASSERT(http_receive(fd, false).code != 200);
		hi_clock_pause_ns(100 * MS);
	}
	HI_ASSERT_EQ(0, mock_server_await_end(&s));
	HI_ASSERT(hi_clock_ns() - start >= 3000 * MS);
}

HI_TEST_SCENARIO(server, does_not_end_while_a_page_is_waited_for)
{
	struct mock_server s = mock_server_start(300 * MS, 0, 0);

	struct http_url wrong = s.url;
	int fd = http_connect(s.url.port);

	HI_ASSERT(http_sendf(fd, "GET %sslow/1500 HTTP/1.1\r\nHost: localhost\r\n\r\n",
			     s.url.base));
	wrong.base[1] ^= 1;
	for (unsigned i = 0; i < 10; i++) {
		hi_clock_pause_ns(100 * MS);
		HI_ASSERT_EQ(403, http_get(wrong, "").code);
	}
	HI_ASSERT_EQ(200, http_receive(fd, false).code);
	HI_ASSERT_EQ(0, mock_server_await_end(&s));
}

HI_TEST_SCENARIO(server, its_time_can_be_set)
{
	struct mock_server s = mock_server_start(0, 0, 0);
	static const char *const wrong[] = {
		"timeout/0",	   "timeout/",	     "timeout/x",   "timeout/-1",
		"timeout/1000000", "timeout/99999h", "timeout/1%20"};
	struct http_answer a;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		HI_ASSERT_EQ(
			400,
			http_ask(s.url, "POST", wrong[i], "Content-Length: 0\r\n").code);
	a = http_ask(s.url, "POST", "timeout/45", "Content-Length: 0\r\n");
	HI_ASSERT_EQ(200, a.code);
	HI_ASSERT(strstr(a.body, "after 45 min without"));
	a = http_get(s.url, "timeout/500ms");
	HI_ASSERT(strstr(a.body, "<form"));
	a = http_ask(s.url, "POST", "timeout/500ms", "Content-Length: 0\r\n");
	HI_ASSERT_EQ(200, a.code);
	HI_ASSERT_EQ(0, mock_server_await_end(&s));
}

HI_TEST_SCENARIO(server, a_signal_ends_it_and_what_waits_is_told)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < 3; i++) {
		struct mock_server s = mock_server_start(0, 0, 0);
		int fd = http_connect(s.url.port);

		HI_ASSERT(http_sendf(fd, "GET %shang HTTP/1.1\r\nHost: localhost\r\n\r\n",
				     s.url.base));
		hi_clock_pause_ns(200 * MS);
		kill(s.pid, numbers[i]);
		HI_ASSERT_EQ(503, http_receive(fd, false).code);
		HI_ASSERT_EQ(0, mock_server_await_end(&s));
	}
}
