/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/html_pack.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
	TOGETHER = 96 << 10, /* bytes of pages that are unpacked at once: some ms */
	RAW_WINDOW = -15,    /* zlib.h, deflateInit2: negative means no header */
	MEMORY_LEVEL = 8,
	LEVEL = 6,
	ELEMENT = 80, /* bytes around a packed page: its id, the element */
};

/* A text that grows. */
struct packed_text {
	FILE *out;
	char *bytes;
	size_t size; /* once flushed */
};

struct hi_html_pack {
	FILE *out;
	struct packed_text ids, pages;
};

static enum hi_status open_packed_text(struct packed_text *t, struct hi_error *err)
{
	t->out = open_memstream(&t->bytes, &t->size);
	return t->out ? HI_OK : hi_fail_memory(err, "report");
}

static enum hi_status close_packed_text(struct packed_text *t, struct hi_error *err)
{
	FILE *out = hi_take(t->out);

	return !out || fclose(out) == 0 ? HI_OK : hi_fail_memory(err, "report");
}

static void free_packed_text(struct packed_text *t)
{
	struct hi_error unused;

	(void)!close_packed_text(t, &unused);
	free(t->bytes);
	*t = (struct packed_text){};
}

/* ---- bytes ---- */

/* *size_ret: of what is returned. NULL: out of memory. */
static unsigned char *deflate_text(const void *text, size_t size, size_t *size_ret)
{
	z_stream z = {};
	unsigned char *ret;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	*size_ret = deflateBound(&z, size);
	ret = *size_ret > UINT32_MAX ? NULL : hi_alloc(*size_ret);
	if (ret) {
		z.next_in = (unsigned char *)(uintptr_t)text;
		z.avail_in = (unsigned)size;
		z.next_out = ret;
		z.avail_out = (unsigned)*size_ret;
		(void)deflate(&z, Z_FINISH);
		*size_ret = z.total_out;
	}
	deflateEnd(&z);
	return ret;
}

/* RFC 4648. */
static void put_base64(const unsigned char *bytes, size_t n, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned after = (unsigned)(n - i < 3 ? n - i : 3);
		unsigned three = (unsigned)bytes[i] << 16 |
				 (after > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
				 (after > 2 ? (unsigned)bytes[i + 2] : 0);

		for (unsigned k = 0; k < 4; k++)
			putc(k <= after ? digits[three >> (18 - 6 * k) & 63] : '=', out);
	}
}

uint64_t hi_html_packed_size(const void *text, size_t size)
{
	size_t packed = 0;
	HI_GUARD(free) unsigned char *bytes = deflate_text(text, size, &packed);

	return bytes ? (packed + 2) / 3 * 4 + ELEMENT : size;
}

/* ---- pages ---- */

enum hi_status hi_html_pack_create(FILE *out, struct hi_html_pack **ret,
				   struct hi_error *err)
{
	*ret = hi_calloc(1, sizeof(**ret));
	if (!*ret)
		return hi_fail_memory(err, "report");
	(*ret)->out = out;
	return HI_OK;
}

void hi_html_pack_destroy(struct hi_html_pack *pack)
{
	if (!pack)
		return;
	free_packed_text(&pack->ids);
	free_packed_text(&pack->pages);
	free(pack);
}

static enum hi_status write_packed(struct hi_html_pack *pack, struct hi_error *err)
{
	size_t size = 0;
	HI_GUARD(free)
	unsigned char *bytes = deflate_text(pack->pages.bytes, pack->pages.size, &size);

	if (!bytes)
		return hi_fail_memory(err, "report");
	fprintf(pack->out, "<template class=\"packed\" data-ids=\"%s\">",
		pack->ids.bytes);
	put_base64(bytes, size, pack->out);
	fputs("</template>\n", pack->out);
	return HI_OK;
}

enum hi_status hi_html_pack_finish(struct hi_html_pack *pack, struct hi_error *err)
{
	enum hi_status status;

	if (!pack->pages.out)
		return HI_OK;
	status = close_packed_text(&pack->pages, err);
	if (status == HI_OK)
		status = close_packed_text(&pack->ids, err);
	if (status == HI_OK)
		status = write_packed(pack, err);
	free_packed_text(&pack->pages);
	free_packed_text(&pack->ids);
	return status;
}

enum hi_status hi_html_pack_page(struct hi_html_pack *pack, const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 const char *address, struct hi_error *err)
{
	bool is_first = !pack->pages.out;
	enum hi_status status = HI_OK;

	if (is_first)
		status = open_packed_text(&pack->pages, err);
	if (is_first && status == HI_OK)
		status = open_packed_text(&pack->ids, err);
	if (status != HI_OK)
		return status;
	fprintf(pack->ids.out, "%s%s", is_first ? "" : " ", id);
	status = hi_html_file_page(page, site, id, address, pack->pages.out, err);
	if (status != HI_OK)
		return status;
	if (fflush(pack->pages.out) != 0)
		return hi_fail_memory(err, "report");
	return pack->pages.size >= TOGETHER ? hi_html_pack_finish(pack, err) : HI_OK;
}
