/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/request.h"

#include <string.h>

#include "server/token.h"
#include "tests/harness.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

HI_TEST(token, differs_each_time_and_is_32_hexadecimal_digits)
{
	char a[HI_TOKEN_TEXT], b[HI_TOKEN_TEXT];
	struct hi_error err;

	HI_ASSERT_OK(hi_token_make(a, &err), &err);
	HI_ASSERT_OK(hi_token_make(b, &err), &err);
	HI_ASSERT_EQ(32, strlen(a));
	HI_ASSERT_EQ(32, strspn(a, "0123456789abcdef"));
	HI_ASSERT(strcmp(a, b) != 0);
}

HI_TEST(token, comparison_checks_all_digits)
{
	char other[HI_TOKEN_TEXT + 1];

	HI_ASSERT(hi_token_is(token, token, 32));
	for (size_t i = 0; i < 32; i++) {
		memcpy(other, token, HI_TOKEN_TEXT);
		other[i] ^= 1;
		HI_ASSERT_MSG(!hi_token_is(token, other, 32), "digit %zu", i);
		HI_ASSERT_MSG(!hi_token_is(token, token, i), "%zu digits", i);
	}
	memcpy(other, token, 32);
	other[32] = '0';
	HI_ASSERT(!hi_token_is(token, other, 33));
	HI_ASSERT(!hi_token_is(token, "", 0));
}

HI_TEST(request, hosts_of_this_machine_are_local)
{
	static const char *const local[] = {"127.0.0.1",   "localhost",	   "[::1]",
					    "127.0.0.1:1", "LocalHost:80", "[::1]:65535"};
	static const char *const foreign[] = {"",
					      "evil.example",
					      "127.0.0.1.evil.example",
					      "localhost.",
					      "localhost.evil",
					      "127.0.0.1:",
					      "127.0.0.1:0",
					      "127.0.0.1:65536",
					      "127.0.0.1:80x",
					      "127.0.0.1:-1",
					      "127.0.0.1:080000",
					      "127.0.0.1 ",
					      " 127.0.0.1",
					      "127.0.0.2",
					      "::1",
					      "[::1",
					      "[::1]x",
					      "user@127.0.0.1",
					      "127.0.0.1@evil",
					      "evil@localhost:80",
					      "0.0.0.0",
					      "127.0.0.1:80:80",
					      "localhost/",
					      "127.1",
					      "127.0.0.10",
					      "127.0.0.1, localhost"};

	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		HI_ASSERT_MSG(hi_request_host_is_local(local[i]), "%s", local[i]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		HI_ASSERT_MSG(!hi_request_host_is_local(foreign[i]), "%s", foreign[i]);
}

HI_TEST(request, hosts_that_cannot_be_one_are_malformed)
{
	static const char *const fine[] = {"127.0.0.1",	  "localhost",	  "[::1]:65535",
					   "[fe80::1]",	  "evil.example", "a_b-c.d~e:1",
					   "%41.example", "localhost."};
	static const char *const malformed[] = {"",
						" ",
						"localhost:",
						"localhost:0",
						"localhost:x",
						"localhost:65536",
						"local host",
						"localhost ",
						" localhost",
						"localhost/",
						"a@localhost",
						"localhost:80:80",
						"::1",
						"[::1",
						"[]",
						"[::1]x",
						"local\thost",
						"localhost\x01",
						"\xff\xfe",
						"localhost\"",
						"[::1]:",
						"localhost?",
						"localhost#",
						"local\\host"};

	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		HI_ASSERT_MSG(hi_request_host_is_well_formed(fine[i], strlen(fine[i])),
			      "%s", fine[i]);
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		HI_ASSERT_MSG(!hi_request_host_is_well_formed(malformed[i],
							      strlen(malformed[i])),
			      "%s", malformed[i]);
	/* With a zero byte. */
	HI_ASSERT(!hi_request_host_is_well_formed("localhost\0evil", 14));
	HI_ASSERT(!hi_request_host_is_well_formed("localhost\0", 10));
}

HI_TEST(request, an_origin_is_this_server)
{
	const struct {
		const char *origin, *host;
		bool is_local;
	} cases[] = {
		{"http://127.0.0.1:4000", "127.0.0.1:4000", true},
		{"http://localhost:4000", "127.0.0.1:4000", true},
		{"http://127.0.0.1:5000", "127.0.0.1:5000", true}, /* of ssh -L 5000 */
		{"http://127.0.0.1:5000", "127.0.0.1:4000", false},
		{"http://127.0.0.1", "127.0.0.1:4000", false},
		{"http://127.0.0.1", "127.0.0.1", true},
		{"https://127.0.0.1:4000", "127.0.0.1:4000", false},
		{"http://evil.example:4000", "127.0.0.1:4000", false},
		{"http://127.0.0.1:4000/", "127.0.0.1:4000", false},
		{"null", "127.0.0.1:4000", false},
		{"", "127.0.0.1:4000", false},
		{"http://", "127.0.0.1:4000", false},
		{"http://127.0.0.1:4000", "evil.example", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		HI_ASSERT_MSG(hi_request_origin_is_local(cases[i].origin, 4000,
							 cases[i].host) ==
				      cases[i].is_local,
			      "%s of %s", cases[i].origin, cases[i].host);
}

HI_TEST(request, the_address_stands_behind_the_token)
{
	const struct {
		const char *target;
		enum hi_request_target is;
		const char *address;
	} cases[] = {
		{"/0123456789abcdef0123456789abcdef/", HI_REQUEST_PAGE, ""},
		{"/0123456789abcdef0123456789abcdef/a/b?c=d", HI_REQUEST_PAGE, "a/b?c=d"},
		{"/0123456789abcdef0123456789abcdef//x", HI_REQUEST_PAGE, "/x"},
		{"/0123456789abcdef0123456789abcdef", HI_REQUEST_BASE, ""},
		{"/0123456789abcdef0123456789abcdef?x", HI_REQUEST_BASE, "?x"},
		{"/0123456789abcdef0123456789abcdee/a", HI_REQUEST_FOREIGN, NULL},
		{"/0123456789ABCDEF0123456789ABCDEF/a", HI_REQUEST_FOREIGN, NULL},
		{"//0123456789abcdef0123456789abcdef/a", HI_REQUEST_FOREIGN, NULL},
		{"/x/../0123456789abcdef0123456789abcdef/", HI_REQUEST_FOREIGN, NULL},
		{"0123456789abcdef0123456789abcdef/a", HI_REQUEST_FOREIGN, NULL},
		{"http://127.0.0.1/0123456789abcdef0123456789abcdef/", HI_REQUEST_FOREIGN,
		 NULL},
		{"/", HI_REQUEST_FOREIGN, NULL},
		{"", HI_REQUEST_FOREIGN, NULL},
		{"*", HI_REQUEST_FOREIGN, NULL},
		{"/0123456789abcdef0123456789abcdef/a b", HI_REQUEST_NOT_TEXT, NULL},
		{"/0123456789abcdef0123456789abcdef/\x80", HI_REQUEST_NOT_TEXT, NULL},
		{"/0123456789abcdef0123456789abcdef/\x01", HI_REQUEST_NOT_TEXT, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *address = NULL;

		HI_ASSERT_MSG(hi_request_split(cases[i].target, token, &address) ==
				      cases[i].is,
			      "%s", cases[i].target);
		HI_ASSERT(!cases[i].address == !address);
		if (address)
			HI_ASSERT_STREQ(cases[i].address, address);
	}
}
