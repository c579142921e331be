/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/pprof_writer.h"

#include <string.h>

enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINE_NUMBERS
};
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

enum hi_status hi_pprof_open(struct hi_pprof *p, struct hi_export *x,
			     struct hi_error *err)
{
	enum hi_status status;

	*p = (struct hi_pprof){.limit = x->limits->pprof};
	status = hi_gzip_create(x->out, &p->gzip, err);
	if (status == HI_OK)
		status = x->source->mapped_files(x->arg, &p->mappings, &p->n_mappings,
						 err);
	hi_pprof_string(p, ""); /* the first must be that */
	return status;
}

uint64_t hi_pprof_string(struct hi_pprof *p, const char *text)
{
	char safe[HI_EXPORT_TEXT];
	uint32_t number = hi_interner_add(&p->strings, hi_export_safe(safe, text));

	p->failed |= !number;
	return number ? number - 1 : 0;
}

void hi_pprof_flush(struct hi_pprof *p)
{
	hi_gzip_write(p->gzip, p->field.bytes.items, p->field.bytes.count);
	hi_protobuf_clear(&p->field);
}

void hi_pprof_put(struct hi_pprof *p, uint32_t field)
{
	hi_protobuf_message(&p->field, field, &p->message);
	hi_pprof_flush(p);
}

void hi_pprof_put_value_type(struct hi_pprof *p, uint32_t field, const char *type,
			     const char *unit)
{
	hi_protobuf_number(&p->message, VALUE_TYPE_TYPE, hi_pprof_string(p, type));
	hi_protobuf_number(&p->message, VALUE_TYPE_UNIT, hi_pprof_string(p, unit));
	hi_pprof_put(p, field);
}

void hi_pprof_put_function(struct hi_pprof *p, uint64_t id, const char *name,
			   const char *system_name, const char *file)
{
	hi_protobuf_number(&p->message, FUNCTION_ID, id);
	hi_protobuf_number(&p->message, FUNCTION_NAME, hi_pprof_string(p, name));
	/* With two equal names pprof would demangle them. */
	if (system_name && strcmp(name, system_name) != 0)
		hi_protobuf_number(&p->message, FUNCTION_SYSTEM_NAME,
				   hi_pprof_string(p, system_name));
	hi_protobuf_number(&p->message, FUNCTION_FILENAME, hi_pprof_string(p, file));
	hi_pprof_put(p, HI_PPROF_FUNCTION);
}

void hi_pprof_put_mappings(struct hi_pprof *p)
{
	for (size_t i = 0; i < p->n_mappings; i++) {
		const struct hi_mapped_file *m = &p->mappings[i];
		struct hi_protobuf *to = &p->message;

		hi_protobuf_number(to, MAPPING_ID, i + 1);
		hi_protobuf_number(to, MAPPING_START, m->start);
		hi_protobuf_number(to, MAPPING_LIMIT, m->end);
		hi_protobuf_number(to, MAPPING_FILENAME, hi_pprof_string(p, m->path));
		hi_protobuf_number(to, MAPPING_BUILD_ID, hi_pprof_string(p, m->build_id));
		/* The viewer need not symbolize: the names are in the profile. */
		hi_protobuf_number(to, MAPPING_HAS_FUNCTIONS, 1);
		hi_protobuf_number(to, MAPPING_HAS_FILENAMES, 1);
		hi_protobuf_number(to, MAPPING_HAS_LINE_NUMBERS, 1);
		hi_pprof_put(p, HI_PPROF_MAPPING);
	}
}

enum hi_status hi_pprof_check(const struct hi_pprof *p, struct hi_error *err)
{
	if (p->failed || p->field.failed || p->message.failed || p->inner.failed)
		return hi_fail_memory(err, "export");
	if (hi_gzip_given(p->gzip) > p->limit)
		return hi_fail(err, HI_LIMIT, 0,
			       "export: the profile would be larger than 2 GiB, the "
			       "limit of protocol buffers; -f ndjson has no such limit");
	return HI_OK;
}

enum hi_status hi_pprof_finish(struct hi_pprof *p, struct hi_error *err)
{
	enum hi_status status;

	for (size_t i = 0; i < p->strings.names.count; i++) {
		const char *text = p->strings.names.items[i];

		hi_protobuf_bytes(&p->field, HI_PPROF_STRING_TABLE, text, strlen(text));
		hi_pprof_flush(p);
	}
	status = hi_pprof_check(p, err);
	if (status == HI_OK)
		hi_gzip_finish(p->gzip);
	return status;
}

void hi_pprof_close(struct hi_pprof *p)
{
	hi_gzip_destroy(p->gzip);
	hi_protobuf_free(&p->field);
	hi_protobuf_free(&p->message);
	hi_protobuf_free(&p->inner);
	hi_interner_free(&p->strings);
}
