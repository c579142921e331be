/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/page_process.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command/exit_codes.h"
#include "cli/decoder/decoder.h"
#include "cli/pages/pages.h"
#include "server/page_loop.h"

static enum hi_status open_process_pages(void *arg, void **ret, struct hi_error *err)
{
	struct hi_pages *pages;
	enum hi_status status = hi_pages_open(arg, &pages, err);

	if (status == HI_OK)
		*ret = pages;
	return status;
}

static enum hi_status write_process_page(void *pages, const char *address,
					 const char *base, FILE *out,
					 struct hi_page_answer *ret, struct hi_error *err)
{
	struct hi_pages_answer answer = {};
	enum hi_status status = hi_pages_write(pages, address, base, out, &answer, err);

	*ret = (struct hi_page_answer){.code = answer.code, .type = answer.type};
	return status;
}

static bool warm_up_process_pages(void *pages)
{
	return hi_pages_warm_up(pages);
}

static void close_process_pages(void *pages)
{
	hi_pages_close(pages);
}

static const struct hi_page_ops ops = {.open = open_process_pages,
				       .write = write_process_page,
				       .warm_up = warm_up_process_pages,
				       .close = close_process_pages};

int hi_page_process_run(const struct hi_options *options, int socket, const char *base)
{
	struct hi_options own = *options;
	struct hi_output output = {.file = stderr};
	struct hi_decoder decoder = {};
	struct hi_error err = {};
	char text[4 * sizeof(err.text)];
	int code;

	if (!own.decoding.no_sandbox &&
	    hi_decoder_start(&decoder, &own, NULL, &output, &err) != HI_OK) {
		hi_text_escape(text, sizeof(text), err.text, strlen(err.text));
		fprintf(stderr, "heapinspect: %s\n", text);
		return HI_EXIT_ERROR;
	}
	if (decoder.pid) {
		close(socket);
		code = hi_decoder_wait(&decoder);
		return decoder.ended_by ? 128 + decoder.ended_by : code;
	}
	hi_page_loop(socket, base, HI_PAGE_LOOP_GROWTH, &ops, &own);
	return HI_EXIT_FINE;
}
