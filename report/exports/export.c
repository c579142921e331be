/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/export.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "report/exports/protobuf.h"
#include "report/parts/decoded_share.h"

static const struct {
	const char *name;
	hi_export_fn *write;
	bool is_binary;
} formats[] = {
	{.name = "heapsnapshot", .write = hi_export_heapsnapshot},
	{.name = "csv", .write = hi_export_tables},
	{.name = "ndjson", .write = hi_export_tables},
	{.name = "folded", .write = hi_export_folded},
	{.name = "speedscope", .write = hi_export_speedscope},
	{.name = "massif", .write = hi_export_massif},
	{.name = "dot", .write = hi_export_dot},
	{.name = "prometheus", .write = hi_export_prometheus},
	{.name = "pprof", .write = hi_export_pprof, .is_binary = true},
	{.name = "hp", .write = hi_export_hp},
	{.name = "dhat", .write = hi_export_dhat},
	{.name = "sqlite", .is_binary = true}, /* query/database.h writes it */
	{.name = "parquet", .write = hi_export_tables, .is_binary = true},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct hi_export_limits hi_export_format_limits = {.heapsnapshot = UINT32_MAX,
							 .pprof = HI_PROTOBUF_MAX};

const char *hi_export_safe(char buffer[HI_EXPORT_TEXT], const char *text)
{
	hi_text_escape(buffer, HI_EXPORT_TEXT, text, strlen(text));
	return buffer;
}

void hi_export_put_quoted(FILE *out, const char *text)
{
	char safe[HI_EXPORT_TEXT];

	for (const char *c = hi_export_safe(safe, text); *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
}

void hi_export_put_json(FILE *out, const char *text)
{
	fputc('"', out);
	hi_export_put_quoted(out, text);
	fputc('"', out);
}

void hi_export_warn(const struct hi_export *x, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	x->source->warn(x->arg, text);
}

void hi_export_warn_leaked(const struct hi_export *x)
{
	const struct hi_reach *r = x->reach;
	char bytes[24], count[32];

	if (hi_heap_known(x->header) != HI_HEAP_KNOWN)
		return; /* hi_export_write() has warned of that */
	if (r->leak_objects)
		hi_export_warn(x, "without unreachable objects: %s leaked, %s",
			       hi_text_count(count, r->leak_objects),
			       hi_text_bytes(bytes, r->leak_bytes));
}

void hi_export_warn_cut(const struct hi_export *x, const struct hi_merged *m)
{
	char bytes[24], count[32];

	if (m->cut_objects)
		hi_export_warn(x,
			       "stacks are cut after %d frames: %s objects below that, "
			       "%s, are counted at the cut",
			       HI_MERGED_DEPTH, hi_text_count(count, m->cut_objects),
			       hi_text_bytes(bytes, m->cut_bytes));
}

enum hi_status hi_export_refuse_terminal(const char *format, FILE *out,
					 struct hi_error *err)
{
	bool is_binary = false;

	for (size_t i = 0; i < FORMATS; i++)
		is_binary |= formats[i].is_binary && strcmp(formats[i].name, format) == 0;
	if (!is_binary || !isatty(fileno(out)))
		return HI_OK;
	return hi_fail(err, HI_USAGE, 0,
		       "-f %s is binary, and standard output is a terminal; use -o FILE",
		       format);
}

/* Part of a heap that is not decoded makes every format incomplete. */
static void warn_of_unknown_heap(const struct hi_export *x)
{
	const char *not_decoded = x->header->not_decoded;

	if (hi_heap_known(x->header) != HI_HEAP_KNOWN)
		hi_export_warn(x,
			       "%s; leaks there are unknown, what is live is a "
			       "lower bound",
			       not_decoded && *not_decoded
				       ? "the heap of another allocator or runtime is "
					 "not decoded"
				       : "this heap belongs to no known allocator");
}

enum hi_status hi_export_write(struct hi_export *x, struct hi_error *err)
{
	enum hi_status status = hi_export_refuse_terminal(x->format, x->out, err);

	warn_of_unknown_heap(x);
	for (size_t i = 0; i < FORMATS && status == HI_OK; i++)
		if (formats[i].write && strcmp(formats[i].name, x->format) == 0)
			status = formats[i].write(x, err);
	return status;
}
