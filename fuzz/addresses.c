/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of pages of any text, as a client of the server sends them, and queries of
 * deep profiles: one that is taken is the same when it is written and read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/pages/pages_request.h"
#include "report/reports/deep/deep_query.h"
#include "cli/command/complaints.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void read_address(const char *text)
{
	struct hi_arena arena = {};
	struct hi_address address;
	struct hi_error err = {};

	if (hi_address_parse(text, &arena, &address, &err) == HI_OK) {
		expect(address.name && address.n_options <= HI_ADDRESS_OPTIONS);
		for (size_t i = 0; i < address.n_options; i++)
			expect(address.options[i].name && address.options[i].value);
	} else {
		expect(*err.text);
	}
	hi_arena_free(&arena);
}

/* Nothing that a page may not do comes through: other files, outputs, processes. */
static void check_options(const struct hi_options *o)
{
	expect(!o->output.file && !o->target.pid && !o->target.core && !o->target.exe &&
	       !o->check.junit && !o->check.update_baseline && !o->decoding.n_hints &&
	       !o->decoding.debug_dir);
}

static void read_request(const char *text, FILE *complaints)
{
	static const struct hi_pages_files files = {.file = "/nowhere/x.hisnap",
						    .threads = 1};
	struct hi_pages_request *r = NULL;
	struct hi_error why = {};

	rewind(complaints);
	hi_complaints_to(complaints);
	if (hi_pages_request_read(text, &files, &r, &why) == HI_OK) {
		expect(r && r->key);
		if (r->is_parsed)
			check_options(&r->options);
	}
	hi_complaints_to(NULL);
	hi_pages_request_destroy(r);
}

static void read_query(const char *text)
{
	struct hi_deep_query first, second;
	struct hi_arena arena = {};
	struct hi_error err = {};
	char *again, *once_more;

	if (hi_deep_query_parse(text, &first, &err) == HI_OK) {
		again = hi_deep_query_text(&first, &arena);
		expect(again && hi_deep_query_parse(again, &second, &err) == HI_OK);
		once_more = hi_deep_query_text(&second, &arena);
		expect(once_more && strcmp(again, once_more) == 0);
	}
	hi_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static FILE *complaints;
	char *text = malloc(size + 1);

	if (!complaints)
		complaints = fopen("/dev/null", "w");
	expect(complaints && text);
	memcpy(text, data, size);
	text[size] = 0;
	read_address(text);
	read_request(text, complaints);
	read_query(text);
	free(text);
	return 0;
}
