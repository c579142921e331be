/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.proto, gzipped: what pprof, Pyroscope and Parca read.
 *
 * Note [A heap as a profile]
 *
 * A profile has totals by stack; a heap has no stacks. Here a stack is the path
 * down the dominator tree, with like objects made one (census/graph/merged.h), the object
 * itself innermost: root kind, variable, type, type, ... So what pprof calls cumulative
 * is what the object and all below it retain. What nothing leads to is below
 * "(leaked)", by type. Three values a sample:
 *	inuse_objects	objects of the innermost type, there
 *	inuse_space	their bytes
 *	retained_space	the bytes that they retain, unless one of the same name further
 *			out retains these already: the flat value of a name is what all
 *			of that name retain. Not to be summed over different names.
 * A variable is a sample without objects, for what it retains.
 *
 * Source: google/pprof, proto/profile.proto.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "census/graph/merged.h"
#include "report/formats/export.h"
#include "report/formats/gzip_writer.h"
#include "report/formats/protobuf.h"

HI_DEFINE_GUARD(struct hi_merged *, hi_merged_destroy)
HI_DEFINE_GUARD(struct hi_gzip *, hi_gzip_destroy)

/* Fields of the messages. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	TIME_NANOS = 9,
	COMMENT = 13,
	DEFAULT_SAMPLE_TYPE
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
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
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILENAME = 4 };
enum { VALUES = 3 };

struct writer {
	struct hi_export *x;
	const struct hi_graph *g;
	const struct hi_merged *m;
	struct hi_gzip *gzip;
	struct hi_protobuf field, message, inner; /* one in the other */
	struct hi_interner strings;
	uint64_t *below; /* by merged node */
	struct leaked {
		uint64_t objects, bytes, retained;
	} * leaked;    /* by type */
	bool *is_used; /* by key: has a location */
	uint32_t n_keys;
	const struct hi_mapped_file *mappings;
	size_t n_mappings;
	bool failed;
};

/* ---- pieces ---- */

/* Returns the index of the text in the string table. */
static uint64_t index_of_string(struct writer *w, const char *text)
{
	char safe[HI_EXPORT_TEXT];
	uint32_t number = hi_interner_add(&w->strings, hi_export_safe(safe, text));

	w->failed |= !number;
	return number ? number - 1 : 0;
}

/* What is in `field` goes out. */
static void flush_pprof_field(struct writer *w)
{
	hi_gzip_write(w->gzip, w->field.bytes.items, w->field.bytes.count);
	hi_protobuf_clear(&w->field);
}

/* What is in `message` goes out as a field of the profile. */
static void put_pprof_message(struct writer *w, uint32_t field)
{
	hi_protobuf_message(&w->field, field, &w->message);
	flush_pprof_field(w);
}

static void put_value_type(struct writer *w, const char *type, const char *unit)
{
	hi_protobuf_number(&w->message, VALUE_TYPE_TYPE, index_of_string(w, type));
	hi_protobuf_number(&w->message, VALUE_TYPE_UNIT, index_of_string(w, unit));
	put_pprof_message(w, SAMPLE_TYPE);
}

/* ---- keys: types, variables, kinds, the last one what is leaked ---- */

static uint32_t leaked_key(const struct writer *w)
{
	return w->n_keys - 1;
}

static const char *name_of_location(const struct writer *w, uint32_t key)
{
	return key == leaked_key(w) ? "(leaked)" : hi_merged_name(w->g, key);
}

static const struct hi_root *root_of(const struct writer *w, uint32_t key)
{
	uint32_t root = key - w->g->n_types;

	return key >= w->g->n_types && root < w->g->n_roots ? &w->g->roots[root] : NULL;
}

/* The number of a mapping; 0: none. */
static uint64_t mapping_of(const struct writer *w, uint32_t key)
{
	const struct hi_root *root = root_of(w, key);
	const char *module = key < w->g->n_types ? w->g->types[key].module : "";

	for (size_t i = 0; i < w->n_mappings; i++) {
		const struct hi_mapped_file *m = &w->mappings[i];

		if (root ? root->address >= m->start && root->address < m->end
			 : *module && strcmp(module, m->name) == 0)
			return i + 1;
	}
	return 0;
}

/* "src/server.c:120" of a variable as file and line; false: it is none. */
static bool split_place(const char *detail, char file[HI_EXPORT_TEXT], uint64_t *line_ret)
{
	const char *colon = strrchr(detail, ':');
	char *end;

	if (!colon || colon[1] < '0' || colon[1] > '9' ||
	    colon - detail >= HI_EXPORT_TEXT)
		return false;
	*line_ret = strtoul(colon + 1, &end, 10);
	if (*end)
		return false;
	memcpy(file, detail, (size_t)(colon - detail));
	file[colon - detail] = 0;
	return true;
}

/* The location of a key and its function; their ids are key + 1. */
static void put_location(struct writer *w, uint32_t key)
{
	const struct hi_root *root = root_of(w, key);
	char file[HI_EXPORT_TEXT] = "";
	uint64_t line = 0;

	if (root && !split_place(root->detail, file, &line))
		snprintf(file, sizeof(file), "%s", root->detail);
	if (key < w->g->n_types)
		snprintf(file, sizeof(file), "%s", w->g->types[key].module);
	hi_protobuf_number(&w->message, LOCATION_ID, key + 1ull);
	hi_protobuf_number(&w->message, LOCATION_MAPPING_ID, mapping_of(w, key));
	hi_protobuf_number(&w->inner, LINE_FUNCTION_ID, key + 1ull);
	hi_protobuf_number(&w->inner, LINE_LINE, line);
	hi_protobuf_message(&w->message, LOCATION_LINE, &w->inner);
	put_pprof_message(w, LOCATION);
	hi_protobuf_number(&w->message, FUNCTION_ID, key + 1ull);
	hi_protobuf_number(&w->message, FUNCTION_NAME,
			   index_of_string(w, name_of_location(w, key)));
	hi_protobuf_number(&w->message, FUNCTION_FILENAME, index_of_string(w, file));
	put_pprof_message(w, FUNCTION);
}

/* ---- samples ---- */

static void put_pprof_sample(struct writer *w, const uint64_t *locations, size_t depth,
			     const uint64_t values[VALUES])
{
	uint32_t key = (uint32_t)(locations[0] - 1);

	for (size_t i = 0; i < depth; i++)
		w->is_used[locations[i] - 1] = true;
	hi_protobuf_packed(&w->message, SAMPLE_LOCATION_ID, locations, depth);
	hi_protobuf_packed(&w->message, SAMPLE_VALUE, values, VALUES);
	if (key < w->g->n_types) {
		hi_protobuf_number(&w->inner, LABEL_KEY, index_of_string(w, "type"));
		hi_protobuf_number(&w->inner, LABEL_STR,
				   index_of_string(w, name_of_location(w, key)));
		hi_protobuf_message(&w->message, SAMPLE_LABEL, &w->inner);
	}
	put_pprof_message(w, SAMPLE);
}

/* Note [A heap as a profile]. Names, not keys: pprof distinguishes functions by these. */
static void put_live(struct writer *w, uint32_t at)
{
	const struct hi_merged_node *node = &w->m->nodes[at];
	const char *name = name_of_location(w, node->key);
	uint64_t locations[HI_MERGED_DEPTH + 1];
	uint64_t values[VALUES] = {node->objects, node->bytes, w->below[at]};
	size_t depth = 0;

	for (uint32_t up = at; up; up = w->m->nodes[up].parent) {
		uint32_t key = w->m->nodes[up].key;

		locations[depth++] = key + 1ull;
		if (up != at &&
		    (key == node->key || strcmp(name_of_location(w, key), name) == 0))
			values[2] = 0;
	}
	if (values[0] || values[1] || values[2])
		put_pprof_sample(w, locations, depth, values);
}

static bool count_leaked(struct writer *w)
{
	const struct hi_export *x = w->x;

	w->leaked = hi_calloc(w->g->n_types, sizeof(*w->leaked));
	if (!w->leaked)
		return false;
	for (hi_node i = 0; i < w->g->n_objects; i++) {
		struct leaked *row = &w->leaked[w->g->objects->type[i]];

		if (hi_bit(x->reach->any, i) ||
		    w->g->objects->flags[i] & HI_OBJECT_INTERNAL)
			continue;
		row->objects++;
		row->bytes += hi_objects_cost(w->g->objects, i);
	}
	for (size_t i = 0; i < x->leaks->n_rows; i++)
		w->leaked[x->leaks->rows[i].type].retained += x->leaks->rows[i].bytes;
	return true;
}

static void put_leaked(struct writer *w)
{
	uint64_t locations[2] = {0, leaked_key(w) + 1ull};
	uint64_t all[VALUES] = {0, 0, w->x->leaks->bytes};

	for (uint32_t i = 0; i < w->g->n_types; i++) {
		const struct leaked *row = &w->leaked[i];
		uint64_t values[VALUES] = {row->objects, row->bytes, row->retained};

		locations[0] = i + 1ull;
		if (row->objects)
			put_pprof_sample(w, locations, 2, values);
	}
	if (all[2])
		put_pprof_sample(w, &locations[1], 1, all);
}

/* ---- the rest ---- */

static void put_mappings(struct writer *w)
{
	for (size_t i = 0; i < w->n_mappings; i++) {
		const struct hi_mapped_file *m = &w->mappings[i];
		struct hi_protobuf *to = &w->message;

		hi_protobuf_number(to, MAPPING_ID, i + 1);
		hi_protobuf_number(to, MAPPING_START, m->start);
		hi_protobuf_number(to, MAPPING_LIMIT, m->end);
		hi_protobuf_number(to, MAPPING_FILENAME, index_of_string(w, m->path));
		hi_protobuf_number(to, MAPPING_BUILD_ID, index_of_string(w, m->build_id));
		/* The viewer need not symbolize: the names are in the profile. */
		hi_protobuf_number(to, MAPPING_HAS_FUNCTIONS, 1);
		hi_protobuf_number(to, MAPPING_HAS_FILENAMES, 1);
		hi_protobuf_number(to, MAPPING_HAS_LINE_NUMBERS, 1);
		put_pprof_message(w, MAPPING);
	}
}

static void put_strings(struct writer *w)
{
	for (size_t i = 0; i < w->strings.names.count; i++) {
		const char *text = w->strings.names.items[i];

		hi_protobuf_bytes(&w->field, STRING_TABLE, text, strlen(text));
		flush_pprof_field(w);
	}
}

static void put_pprof_header(struct writer *w)
{
	const struct hi_report_header *header = w->x->header;

	index_of_string(w, ""); /* the first must be that */
	put_value_type(w, "inuse_objects", "count");
	put_value_type(w, "inuse_space", "bytes");
	put_value_type(w, "retained_space", "bytes");
	if (header->time_ns != UINT64_MAX)
		hi_protobuf_number(&w->field, TIME_NANOS, header->time_ns);
	hi_protobuf_number(
		&w->field, COMMENT,
		index_of_string(
			w,
			"stacks are paths down the dominator tree; retained_space counts "
			"a byte once for each name, so its values cannot be added up"));
	hi_protobuf_number(&w->field, DEFAULT_SAMPLE_TYPE,
			   index_of_string(w, "inuse_space"));
	flush_pprof_field(w);
}

static enum hi_status check_pprof_size(const struct writer *w, struct hi_error *err)
{
	if (w->failed || w->field.failed || w->message.failed || w->inner.failed)
		return hi_fail_memory(err, "export");
	if (hi_gzip_given(w->gzip) > w->x->limits->pprof)
		return hi_fail(err, HI_LIMIT, 0,
			       "export: the profile would be larger than 2 GiB, the "
			       "limit of protocol buffers; -f ndjson has no such limit");
	return HI_OK;
}

static enum hi_status put_pprof_profile(struct writer *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	put_pprof_header(w);
	put_mappings(w);
	for (size_t i = 1; i < w->m->count && status == HI_OK; i++) {
		put_live(w, (uint32_t)i);
		status = check_pprof_size(w, err);
	}
	put_leaked(w);
	for (uint32_t i = 0; i < w->n_keys && status == HI_OK; i++)
		if (w->is_used[i])
			put_location(w, i);
	put_strings(w);
	return status == HI_OK ? check_pprof_size(w, err) : status;
}

static void warn_of_missing_mappings(const struct writer *w)
{
	hi_export_warn_cut(w->x, w->m);
	if (!w->n_mappings)
		hi_export_warn(w->x, "without mappings and build ids: the snapshot was "
				     "written by a version that did not record them");
}

enum hi_status hi_export_pprof(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	HI_GUARD(hi_gzip_destroy) struct hi_gzip *gzip = NULL;
	struct writer w = {.x = x, .g = x->graph};
	enum hi_status status =
		hi_merged_make(x->graph, x->reach, x->dominators, &m, err);

	if (status == HI_OK)
		status = hi_gzip_create(x->out, &gzip, err);
	if (status == HI_OK)
		status = x->source->mapped_files(x->arg, &w.mappings, &w.n_mappings, err);
	if (status != HI_OK)
		return status;
	w.m = m;
	w.gzip = gzip;
	w.n_keys = w.g->n_types + w.g->n_roots + HI_ROOT_KINDS + 2;
	w.is_used = hi_calloc(w.n_keys, sizeof(*w.is_used));
	w.below = hi_merged_below(m);
	if (!w.is_used || !w.below || !count_leaked(&w))
		status = hi_fail_memory(err, "export");
	if (status == HI_OK)
		status = put_pprof_profile(&w, err);
	if (status == HI_OK) {
		hi_gzip_finish(gzip);
		warn_of_missing_mappings(&w);
	}
	free(w.leaked);
	free(w.below);
	free(w.is_used);
	hi_protobuf_free(&w.field);
	hi_protobuf_free(&w.message);
	hi_protobuf_free(&w.inner);
	hi_interner_free(&w.strings);
	return status;
}
