/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot file of any bytes, and the pages of it: the commands' own reading of its
 * sections, their computations and their reports, as text, HTML and JSON. Checksums are
 * made to hold (fuzz/sign.h); the first byte, of the magic bytes before that, is which
 * page. All are made of a file that has its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census/snapshot/snapshot_format.h"
#include "cli/pages/pages.h"
#include "fuzz/sign.h"
#include "report/render/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const addresses[] = {
	"",
	"summary",
	"census",
	"census?by=module",
	"census?by=site",
	"census?by=age",
	"retained",
	"retained?type=struct%20session",
	"retainers?count=",
	"retainers?retainer=struct%20session",
	"roots?root=all=all",
	"leaks",
	"paths/struct%20session",
	"explain/0x5555555592e0",
	"explain?of=all",
	"waste",
	"tree",
	"up?type=struct%20session",
	"bio",
	"bio?by=site",
	"alloc",
	"alloc?by=type",
	"peaks",
	"spacetime",
	"deep",
	"deep/top_procs/1-100/bytes/self/oa",
	"deep/clique/1",
	"query?sql=SELECT%20*%20FROM%20objects%20LIMIT%2050",
	"query?sql=SELECT%20*%20FROM%20allocations,%20contexts%20LIMIT%2050",
	"query?sql=SELECT%20*%20FROM%20events%20LIMIT%2050",
	"json/summary",
	"json/census",
	"json/leaks",
	"json/waste",
	"json/retained",
	"json/bio",
	"json/alloc",
	"json/explain/0x5555555592e0",
};
enum { ADDRESSES = sizeof(addresses) / sizeof(*addresses) };

/* Each line can be shown: what is hostile was escaped. */
static void check_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n' &&
		     text[i] != '\t') ||
		    text[i] == 127)
			abort();
}

/* As a terminal gets it. */
static void write_text(struct hi_pages *pages, const char *address)
{
	static const struct hi_text_options options = {.width = 100, .utf8 = true};
	struct hi_page *page = NULL;
	struct hi_error err = {};
	char *text = NULL;
	size_t n = 0;
	unsigned code;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	if (hi_pages_make(pages, address, &page, &code, &err) == HI_OK)
		(void)!hi_text_render(page, &options, out, &err);
	hi_page_destroy(page);
	fclose(out);
	check_text(text, n);
	free(text);
}

static void write_page(const char *path, const char *address)
{
	struct hi_options options = {.target = {.file = path}};
	struct hi_pages_answer answer = {};
	struct hi_pages *pages = NULL;
	struct hi_error err = {};
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		abort();
	options.decoding.threads = 1;
	if (hi_pages_open(&options, &pages, &err) == HI_OK &&
	    hi_pages_write(pages, address, "/t/", out, &answer, &err) == HI_OK &&
	    (answer.code < 200 || answer.code >= 600 || !answer.type))
		abort();
	if (pages && strncmp(address, "json/", strlen("json/")) != 0)
		write_text(pages, address);
	hi_pages_close(pages);
	fclose(out);
	check_text(text, n);
	free(text);
}

static void write_pages(const char *path, uint8_t which)
{
	static const uint8_t magic[] = HI_SNAPSHOT_MAGIC_BYTES;

	if (which != magic[0])
		write_page(path, addresses[which % ADDRESSES]);
	for (size_t i = 0; which == magic[0] && i < ADDRESSES; i++)
		write_page(path, addresses[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = signed_file(data, size, 1, sign_snapshot);

	if (path)
		write_pages(path, data[0]);
	return 0;
}
