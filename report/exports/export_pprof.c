/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.proto: what pprof, Pyroscope and Parca read.
 *
 * Note [A heap as a profile]
 *
 * A profile has totals by stack; a heap has no stacks. Here a stack is the path
 * down the dominator tree, with like objects made one (census/analysis/merged.h), the
 * object itself innermost: root kind, variable, object, object, ... So what pprof calls
 * cumulative is what the object and all below it retain. The name of a function is how
 * the object is referred to and its type ("->index: hash node"), its system name the
 * whole name of the type. What nothing leads to is below "(leaked)", by type. Three
 * values a sample:
 *	inuse_objects	objects of the innermost type, there
 *	inuse_space	their bytes
 *	retained_space	the bytes that they retain, unless one of the same name further
 *			out retains these already: the flat value of a name is what all
 *			of that name retain. Not to be summed over different names.
 * A variable is a sample without objects, for what it retains.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/merged.h"
#include "report/exports/pprof_writer.h"
#include "report/pictures/merged_text.h"

enum { VALUES = 3 };

struct writer {
	struct hi_export *x;
	const struct hi_graph *g;
	const struct hi_merged *m;
	struct hi_pprof p;
	uint64_t *below; /* by merged node */
	struct leaked {
		uint64_t objects, bytes, retained;
	} * leaked;	 /* by type */
	uint64_t *names; /* by frame: its name in strings */
	bool *is_used;	 /* by location */
	uint32_t n_locations;
};

/* ---- locations: the frames of the merged tree; then what is leaked, by type, and
 * "(leaked)" itself ---- */

static uint32_t leaked_location(const struct writer *w)
{
	return w->n_locations - 1;
}

static uint32_t leaked_type_location(const struct writer *w, uint32_t type)
{
	return (uint32_t)w->m->n_frames + type;
}

/* The key of a location: as hi_merged_key(); UINT32_MAX: "(leaked)". */
static uint32_t key_of_location(const struct writer *w, uint32_t location)
{
	if (location < w->m->n_frames)
		return w->m->frames[location].key;
	return location == leaked_location(w) ? UINT32_MAX
					      : location - (uint32_t)w->m->n_frames;
}

static const char *name_of_location(const struct writer *w, uint32_t location,
				    char out[HI_MERGED_TEXT])
{
	if (location == leaked_location(w))
		return "(leaked)";
	return location < w->m->n_frames
		       ? hi_merged_text(w->g, w->m, location, out)
		       : hi_merged_type_text(w->g, key_of_location(w, location), out);
}

static const char *type_of_location(const struct writer *w, uint32_t location)
{
	uint32_t key = key_of_location(w, location);

	if (key == HI_MERGED_PLAIN)
		return w->m->frames[location].label;
	return key == UINT32_MAX ? "(leaked)" : hi_merged_name(w->g, key);
}

static const struct hi_root *root_of(const struct writer *w, uint32_t key)
{
	uint32_t root = key - w->g->n_types;

	return key >= w->g->n_types && key != UINT32_MAX && root < w->g->n_roots
		       ? &w->g->roots[root]
		       : NULL;
}

/* The number of a mapping; 0: none. */
static uint64_t mapping_of(const struct writer *w, uint32_t key)
{
	const struct hi_root *root = root_of(w, key);
	const char *module = key < w->g->n_types ? w->g->types[key].module : "";

	for (size_t i = 0; i < w->p.n_mappings; i++) {
		const struct hi_mapped_file *m = &w->p.mappings[i];

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

/* A location and its function; their ids are its number + 1. */
static void put_location(struct writer *w, uint32_t location)
{
	uint32_t key = key_of_location(w, location);
	const struct hi_root *root = root_of(w, key);
	char file[HI_EXPORT_TEXT] = "", text[HI_MERGED_TEXT];
	const char *name = name_of_location(w, location, text);
	uint64_t line = 0;

	if (root && !split_place(root->detail, file, &line))
		snprintf(file, sizeof(file), "%s", root->detail);
	if (key < w->g->n_types)
		snprintf(file, sizeof(file), "%s", w->g->types[key].module);
	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_ID, location + 1ull);
	hi_protobuf_number(&w->p.message, HI_PPROF_LOCATION_MAPPING_ID,
			   mapping_of(w, key));
	hi_protobuf_number(&w->p.inner, HI_PPROF_LINE_FUNCTION_ID, location + 1ull);
	hi_protobuf_number(&w->p.inner, HI_PPROF_LINE_LINE, line);
	hi_protobuf_message(&w->p.message, HI_PPROF_LOCATION_LINE, &w->p.inner);
	hi_pprof_put(&w->p, HI_PPROF_LOCATION);
	hi_pprof_put_function(&w->p, location + 1ull, name, type_of_location(w, location),
			      file);
}

/* ---- samples ---- */

static void put_pprof_sample(struct writer *w, const uint64_t *locations, size_t depth,
			     const uint64_t values[VALUES])
{
	uint32_t location = (uint32_t)(locations[0] - 1);

	for (size_t i = 0; i < depth; i++)
		w->is_used[locations[i] - 1] = true;
	hi_protobuf_packed(&w->p.message, HI_PPROF_SAMPLE_LOCATION_ID, locations, depth);
	hi_protobuf_packed(&w->p.message, HI_PPROF_SAMPLE_VALUE, values, VALUES);
	if (key_of_location(w, location) < w->g->n_types) {
		hi_protobuf_number(&w->p.inner, HI_PPROF_LABEL_KEY,
				   hi_pprof_string(&w->p, "type"));
		hi_protobuf_number(&w->p.inner, HI_PPROF_LABEL_STR,
				   hi_pprof_string(&w->p, type_of_location(w, location)));
		hi_protobuf_message(&w->p.message, HI_PPROF_SAMPLE_LABEL, &w->p.inner);
	}
	hi_pprof_put(&w->p, HI_PPROF_SAMPLE);
}

/* Two types may have one short name. */
static bool number_frame_names(struct writer *w)
{
	char text[HI_MERGED_TEXT];

	w->names = hi_calloc(w->m->n_frames, sizeof(*w->names));
	for (uint32_t i = 0; w->names && i < w->m->n_frames; i++)
		w->names[i] = hi_pprof_string(&w->p, hi_merged_text(w->g, w->m, i, text));
	return w->names != NULL;
}

/* Note [A heap as a profile]. Names, not frames: pprof distinguishes functions by
 * these. */
static void put_live(struct writer *w, uint32_t at)
{
	const struct hi_merged_node *node = &w->m->nodes[at];
	uint64_t locations[HI_MERGED_DEPTH + 1];
	uint64_t values[VALUES] = {node->objects, node->bytes, w->below[at]};
	size_t depth = 0;

	for (uint32_t up = at; up; up = w->m->nodes[up].parent) {
		uint32_t frame = w->m->nodes[up].frame;

		locations[depth++] = frame + 1ull;
		if (up != at && w->names[frame] == w->names[node->frame])
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
	uint64_t locations[2] = {0, leaked_location(w) + 1ull};
	uint64_t all[VALUES] = {0, 0, w->x->leaks->bytes};

	for (uint32_t i = 0; i < w->g->n_types; i++) {
		const struct leaked *row = &w->leaked[i];
		uint64_t values[VALUES] = {row->objects, row->bytes, row->retained};

		locations[0] = leaked_type_location(w, i) + 1ull;
		if (row->objects)
			put_pprof_sample(w, locations, 2, values);
	}
	if (all[2])
		put_pprof_sample(w, &locations[1], 1, all);
}

/* ---- the rest ---- */

static void put_pprof_header(struct writer *w)
{
	const struct hi_report_header *header = w->x->header;

	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "inuse_objects", "count");
	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "inuse_space", "bytes");
	hi_pprof_put_value_type(&w->p, HI_PPROF_SAMPLE_TYPE, "retained_space", "bytes");
	if (header->time_ns != UINT64_MAX)
		hi_protobuf_number(&w->p.field, HI_PPROF_TIME_NANOS, header->time_ns);
	hi_protobuf_number(
		&w->p.field, HI_PPROF_COMMENT,
		hi_pprof_string(
			&w->p,
			"stacks are paths down the dominator tree; retained_space counts "
			"a byte once for each name, so its values cannot be added up"));
	hi_protobuf_number(&w->p.field, HI_PPROF_DEFAULT_SAMPLE_TYPE,
			   hi_pprof_string(&w->p, "inuse_space"));
	hi_pprof_flush(&w->p);
}

static enum hi_status put_pprof_profile(struct writer *w, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	put_pprof_header(w);
	hi_pprof_put_mappings(&w->p);
	if (!number_frame_names(w))
		return hi_fail_memory(err, "export");
	for (size_t i = 1; i < w->m->count && status == HI_OK; i++) {
		put_live(w, (uint32_t)i);
		status = hi_pprof_check(&w->p, err);
	}
	put_leaked(w);
	for (uint32_t i = 0; i < w->n_locations && status == HI_OK; i++)
		if (w->is_used[i])
			put_location(w, i);
	return status == HI_OK ? hi_pprof_finish(&w->p, err) : status;
}

static void warn_of_missing_mappings(const struct writer *w)
{
	hi_export_warn_cut(w->x, w->m);
	if (!w->p.n_mappings)
		hi_export_warn(w->x, "without mappings and build ids: the snapshot was "
				     "written by a version that did not record them");
}

enum hi_status hi_export_pprof(struct hi_export *x, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *m = NULL;
	struct writer w = {.x = x, .g = x->graph};
	enum hi_status status;

	if (x->by_context)
		return hi_export_pprof_contexts(x, err);
	status = x->source->merge(x->arg, &m, err);
	if (status != HI_OK)
		return status;
	w.m = m;
	w.n_locations = (uint32_t)m->n_frames + w.g->n_types + 1;
	w.is_used = hi_calloc(w.n_locations, sizeof(*w.is_used));
	w.below = hi_merged_below(m);
	if (!w.is_used || !w.below || !count_leaked(&w))
		status = hi_fail_memory(err, "export");
	if (status == HI_OK)
		status = hi_pprof_open(&w.p, x, err);
	if (status == HI_OK)
		status = put_pprof_profile(&w, err);
	if (status == HI_OK)
		warn_of_missing_mappings(&w);
	free(w.leaked);
	free(w.below);
	free(w.names);
	free(w.is_used);
	hi_pprof_close(&w.p);
	return status;
}
