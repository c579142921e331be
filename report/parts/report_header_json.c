/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a report as JSON. */
#include "report/parts/decoded_share.h"
#include "report/parts/report_header.h"

static void json_children(const struct hi_report_header *header, struct hi_json *json)
{
	hi_json_array(json, "children");
	for (size_t i = 0; i < header->n_children; i++) {
		hi_json_object(json, NULL);
		hi_json_signed(json, "pid", header->children[i].pid);
		hi_json_text(json, "name", header->children[i].name);
		hi_json_number(json, "rss", header->children[i].rss);
		hi_json_number(json, "shared", header->children[i].shared);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void json_snapshot(const struct hi_report_header *header, struct hi_json *json)
{
	hi_json_object(json, "snapshot");
	hi_json_number(json, "time_ns", header->time_ns);
	hi_json_number(json, "pause_ns", header->pause_ns);
	hi_json_text(json, "mode", header->mode);
	hi_json_text(json, "safepoint", header->safepoint);
	hi_stopped_json(header->stopped, json);
	if (header->census) {
		hi_json_number(json, "census", header->census);
		hi_json_number(json, "censuses", header->censuses);
	}
	hi_json_bool(json, "complete", header->complete);
	hi_json_number(json, "threads", header->threads);
	hi_json_number(json, "copied_on_write", header->copied_on_write);
	hi_json_number(json, "bytes_live", header->bytes_live);
	hi_json_text(json, "not_forked",
		     header->not_forked && *header->not_forked ? header->not_forked
							       : NULL);
	hi_json_number(json, "bytes_copied", header->bytes_copied);
	hi_json_number(json, "bytes_unreadable", header->bytes_unreadable);
	hi_json_number(json, "pages_never_touched", header->pages_never_touched);
	hi_json_number(json, "pages_swapped", header->pages_swapped);
	hi_json_number(json, "segments_missing", header->segments_missing);
	hi_json_number(json, "threads_in_allocator", header->threads_in_allocator);
	hi_json_array(json, "warnings");
	for (size_t i = 0; i < header->n_warnings; i++)
		hi_json_text(json, NULL, header->warnings[i]);
	hi_json_end(json);
	hi_json_end(json);
}

static void json_text_if_known(struct hi_json *json, const char *name, const char *text)
{
	hi_json_text(json, name, text && *text ? text : NULL);
}

static void json_one_allocator(const struct hi_report_allocator *a, struct hi_json *json)
{
	bool is_refused = a->refused && *a->refused;

	hi_json_object(json, NULL);
	hi_json_text(json, "name", a->name);
	json_text_if_known(json, "version", a->version);
	json_text_if_known(json, "module", a->module);
	json_text_if_known(json, "found_by", a->found_by);
	json_text_if_known(json, "checks", a->checks);
	json_text_if_known(json, "refused", a->refused);
	hi_json_number(json, "arenas", is_refused ? UINT64_MAX : a->arenas);
	hi_json_number(json, "live_objects", is_refused ? UINT64_MAX : a->live_objects);
	hi_json_number(json, "live_bytes", is_refused ? UINT64_MAX : a->live_bytes);
	hi_json_number(json, "damaged", is_refused ? UINT64_MAX : a->damaged);
	hi_json_number(json, "skipped", is_refused ? UINT64_MAX : a->skipped_bytes);
	hi_json_end(json);
}

static void json_allocators(const struct hi_report_header *header, struct hi_json *json)
{
	hi_json_array(json, "allocators");
	for (size_t i = 0; i < header->n_allocators; i++)
		json_one_allocator(&header->allocators[i], json);
	hi_json_end(json);
}

static void json_allocator(const struct hi_report_header *header, struct hi_json *json)
{
	if (!header->allocator) {
		hi_json_null(json, "allocator");
		return;
	}
	hi_json_object(json, "allocator");
	hi_json_text(json, "name", header->allocator);
	hi_json_text(json, "version", header->allocator_version);
	hi_json_text(json, "found_by", header->allocator_found_by);
	hi_json_number(json, "arenas", header->arenas);
	hi_json_number(json, "damaged", header->damaged);
	hi_json_number(json, "skipped", header->skipped_bytes);
	hi_json_end(json);
}

static void json_collector(const struct hi_report_header *header, struct hi_json *json)
{
	if (!header->collector_generations)
		return;
	hi_json_object(json, "collector");
	hi_json_bool(json, "on", header->collector_is_on);
	hi_json_array(json, "thresholds");
	for (uint64_t i = 0; i < header->collector_generations; i++)
		hi_json_number(json, NULL, header->collector_thresholds[i]);
	hi_json_end(json);
	hi_json_array(json, "counts");
	for (uint64_t i = 0; i < header->collector_generations; i++)
		hi_json_number(json, NULL, header->collector_counts[i]);
	hi_json_end(json);
	hi_json_end(json);
}

/* Absent where there is none. */
static void json_runtime(const struct hi_report_header *header, struct hi_json *json)
{
	if (!header->runtime)
		return;
	hi_json_object(json, "runtime");
	hi_json_text(json, "name", header->runtime);
	hi_json_text(json, "version", header->runtime_version);
	hi_json_text(json, "found_by", header->runtime_found_by);
	hi_json_number(json, "tracked", header->runtime_tracked);
	hi_json_number(json, "cut", header->runtime_cut);
	json_collector(header, json);
	hi_json_end(json);
}

void hi_report_restriction_json(const struct hi_report_restriction *only,
				struct hi_json *json)
{
	if (!only)
		return;
	hi_json_object(json, "only");
	hi_json_text(json, "type", only->type);
	hi_json_text(json, "under", only->under);
	hi_json_text(json, "retained_by", only->retained_by);
	if (only->bands)
		hi_json_text(json, "bio", only->bands);
	if (only->era)
		hi_json_text(json, "era", only->era);
	if (only->births)
		hi_json_text(json, "births", only->births);
	hi_json_number(json, "objects", only->objects);
	hi_json_number(json, "bytes", only->bytes);
	hi_json_number(json, "hidden_objects", only->hidden_objects);
	hi_json_number(json, "hidden_bytes", only->hidden_bytes);
	hi_json_number(json, "many_objects", only->many_objects);
	hi_json_number(json, "many_bytes", only->many_bytes);
	hi_json_number(json, "system_bytes", only->system_bytes);
	hi_json_end(json);
}

static void json_debug_info(const struct hi_report_header *header, struct hi_json *json)
{
	const struct hi_report_module_counts *m = &header->modules;

	hi_json_object(json, "debug_info");
	hi_json_number(json, "modules", m->total);
	hi_json_number(json, "with_debug_info", m->with_debug);
	hi_json_number(json, "in_file", m->in_file);
	hi_json_number(json, "by_build_id", m->by_build_id);
	hi_json_number(json, "by_debuglink", m->by_link);
	hi_json_number(json, "by_debuginfod", m->by_debuginfod);
	hi_json_number(json, "mismatched", m->mismatched);
	hi_json_number(json, "from_memory", m->from_memory);
	hi_json_array(json, "missing");
	for (size_t i = 0; i < header->n_plain; i++) {
		const char *build_id = header->plain[i].build_id;

		hi_json_object(json, NULL);
		hi_json_text(json, "module", header->plain[i].name);
		hi_json_text(json, "build_id", *build_id ? build_id : NULL);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static void json_shares(const struct hi_report_header *header, struct hi_json *json)
{
	static const struct hi_share unknown = {UINT64_MAX, UINT64_MAX};
	const struct hi_shares nothing = {unknown, unknown, unknown, unknown, unknown};
	const struct hi_shares *s = header->shares ? header->shares : &nothing;
	uint64_t untyped =
		header->shares ? s->by_field.bytes + s->unnamed.bytes : UINT64_MAX;

	hi_json_object(json, "typed");
	hi_json_number(json, "exact", s->exact.bytes);
	hi_json_number(json, "inferred", s->inferred.bytes);
	hi_json_number(json, "untyped", untyped);
	hi_json_number(json, "by_field", s->by_field.bytes);
	hi_json_number(json, "unnamed", s->unnamed.bytes);
	hi_json_object(json, "objects");
	hi_json_number(json, "exact", s->exact.objects);
	hi_json_number(json, "inferred", s->inferred.objects);
	hi_json_number(json, "by_field", s->by_field.objects);
	hi_json_number(json, "unnamed", s->unnamed.objects);
	hi_json_end(json);
	hi_json_number(json, "conservative_only", s->conservative_only.bytes);
	hi_json_end(json);
}

void hi_report_header_json(const struct hi_report_header *header, const char *schema,
			   struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", schema);
	hi_json_object(json, "target");
	hi_json_number(json, "pid", header->pid > 0 ? (uint64_t)header->pid : UINT64_MAX);
	hi_json_text(json, "exe", header->exe && *header->exe ? header->exe : NULL);
	hi_json_text(json, "cmdline",
		     header->cmdline && *header->cmdline ? header->cmdline : NULL);
	hi_json_text(json, "build_id", header->build_id[0] ? header->build_id : NULL);
	json_children(header, json);
	hi_json_end(json);
	json_snapshot(header, json);
	hi_phases_json(header->phases, json);
	hi_json_text(json, "unit", "bytes");
	json_allocator(header, json);
	json_allocators(header, json);
	hi_heap_known_json(header, json);
	json_runtime(header, json);
	json_debug_info(header, json);
	hi_report_restriction_json(header->only, json);
	json_shares(header, json);
	if (header->conservative && header->leaks_by_types != UINT64_MAX) {
		hi_json_object(json, "by_types");
		hi_json_number(json, "leak", header->leaked_by_types);
		hi_json_number(json, "leak_objects", header->leaks_by_types);
		hi_json_end(json);
	}
}
