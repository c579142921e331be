/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a report as properties of a snapshot.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "census/snapshot/snapshot_sections.h"
#include "report/parts/decoded_share.h"
#include "session/snapshot/snapshot_source.h"

/* In the order of the file; `mode` and what else is never NULL in a report is set when it
 * is read. */
static const struct hi_property head_fields[] = {
#define HEAD(field, ...)                                                                 \
	HI_PROPERTY("head." #field, struct hi_report_header,                             \
		    field __VA_OPT__(, ) __VA_ARGS__)
	HEAD(pid),
	HEAD(start_ticks),
	HEAD(exe),
	HEAD(cmdline),
	HEAD(script),
	HEAD(exe_deleted),
	HEAD(threads),
	HEAD(time_ns),
	HEAD(pause_ns),
	HEAD(mode),
	HEAD(safepoint),
	HEAD(copied_on_write, .otherwise = UINT64_MAX),
	HEAD(bytes_live),
	HEAD(not_forked),
	HEAD(complete),
	HEAD(bytes_copied),
	HEAD(pages_never_touched),
	HEAD(pages_swapped),
	HEAD(bytes_unreadable),
	HEAD(segments_missing),
	HEAD(threads_in_allocator),
	HEAD(allocator),
	HEAD(allocator_version),
	HEAD(allocator_found_by),
	HEAD(arenas),
	HEAD(damaged),
	HEAD(skipped_bytes),
	HEAD(runtime),
	HEAD(runtime_version),
	HEAD(runtime_found_by),
	HEAD(runtime_tracked),
	HEAD(runtime_cut),
	HEAD(collector_generations, .most = HI_RUNTIME_GENERATIONS),
	HEAD(collector_is_on),
	HEAD(collector_thresholds[0]),
	HEAD(collector_thresholds[1]),
	HEAD(collector_thresholds[2]),
	HEAD(collector_thresholds[3]),
	HEAD(collector_counts[0]),
	HEAD(collector_counts[1]),
	HEAD(collector_counts[2]),
	HEAD(collector_counts[3]),
	HEAD(outside_objects),
	HEAD(outside_bytes),
	HEAD(not_decoded),
	HEAD(modules.total),
	HEAD(modules.with_debug),
	HEAD(modules.in_file),
	HEAD(modules.by_build_id),
	HEAD(modules.by_link),
	HEAD(modules.by_debuginfod),
	HEAD(modules.mismatched),
	HEAD(modules.from_memory),
	HEAD(conservative),
	HEAD(leaks_by_types),
	HEAD(leaked_by_types),
	HEAD(leaks_by_words),
	HEAD(leaked_by_words),
	HEAD(limit.kind, .most = HI_LIMIT_KINDS - 1),
	HEAD(limit.most),
	HEAD(limit.used),
#undef HEAD
};

static const struct hi_property share_fields[] = {
#define SHARE(name)                                                                      \
	HI_PROPERTY("typed." #name ".objects", struct hi_shares, name.objects),          \
		HI_PROPERTY("typed." #name ".bytes", struct hi_shares, name.bytes)
	SHARE(exact),	SHARE(inferred),	  SHARE(by_field),
	SHARE(unnamed), SHARE(conservative_only),
#undef SHARE
};

/* Of each allocator, after head.allocators.N; of each child, after head.child.N. */
static const struct hi_property allocator_fields[] = {
#define ALLOCATOR(name)                                                                  \
	HI_PROPERTY("." #name, struct hi_report_allocator, name, .is_never_null = true)
	ALLOCATOR(name),     ALLOCATOR(version),       ALLOCATOR(module),
	ALLOCATOR(found_by), ALLOCATOR(checks),	       ALLOCATOR(refused),
	ALLOCATOR(arenas),   ALLOCATOR(live_objects),  ALLOCATOR(live_bytes),
	ALLOCATOR(damaged),  ALLOCATOR(skipped_bytes),
#undef ALLOCATOR
};
static const struct hi_property child_fields[] = {
	HI_PROPERTY("", struct hi_report_child, name, .is_never_null = true),
	HI_PROPERTY(".pid", struct hi_report_child, pid, .otherwise = UINT64_MAX),
	HI_PROPERTY(".rss", struct hi_report_child, rss, .otherwise = UINT64_MAX),
	HI_PROPERTY(".shared", struct hi_report_child, shared, .otherwise = UINT64_MAX),
};

/* Where --at stopped it; nothing of that else. */
static const struct hi_property stop_fields[] = {
#define STOP(name, field, ...)                                                           \
	HI_PROPERTY("stop." name, struct hi_stopped, field __VA_OPT__(, ) __VA_ARGS__)
	STOP("thread", thread, .is_read_empty = true),
	STOP("module", place.module, .is_read_empty = true),
	STOP("function", place.function, .is_read_empty = true),
	STOP("instruction", place.instruction, .is_read_empty = true),
	STOP("near", near),
	STOP("tid", tid),
	STOP("waited_ns", waited_ns),
	STOP("every", every),
	STOP("hits", hits),
	STOP("place", place_known),
	STOP("into_function", place.into_function),
	STOP("offset", place.offset),
	STOP("address", place.address),
	STOP("single_stepped", place.single_stepped),
#undef STOP
};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))
enum { MOST_ALLOCATORS = 64, NAME = 48, MOST = 1 << 16 };

/* ---- writing ---- */

static enum hi_status put_children(struct hi_snapshot_writer *w,
				   const struct hi_report_header *header,
				   struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "head.children", header->n_children, err);
	char prefix[NAME];

	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "head.children_total",
						header->n_children_total, err);
	for (size_t i = 0; i < header->n_children && status == HI_OK; i++) {
		snprintf(prefix, sizeof(prefix), "head.child.%zu", i);
		status = hi_snapshot_put_properties(w, prefix, child_fields,
						    COUNT_OF(child_fields),
						    &header->children[i], err);
	}
	return status;
}

static enum hi_status put_plain_modules(struct hi_snapshot_writer *w,
					const struct hi_report_header *header,
					struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "head.plain", header->n_plain, err);
	char name[NAME];

	for (size_t i = 0; i < header->n_plain && status == HI_OK; i++) {
		snprintf(name, sizeof(name), "head.plain.%zu", i);
		status = hi_snapshot_put_text(w, name, header->plain[i].name, err);
		snprintf(name, sizeof(name), "head.plain.%zu.build_id", i);
		if (status == HI_OK)
			status = hi_snapshot_put_text(w, name, header->plain[i].build_id,
						      err);
	}
	return status;
}

static enum hi_status put_allocators(struct hi_snapshot_writer *w,
				     const struct hi_report_header *header,
				     struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "head.allocators", header->n_allocators, err);
	char prefix[NAME];

	for (size_t i = 0; i < header->n_allocators && status == HI_OK; i++) {
		snprintf(prefix, sizeof(prefix), "head.allocators.%zu", i);
		status = hi_snapshot_put_properties(w, prefix, allocator_fields,
						    COUNT_OF(allocator_fields),
						    &header->allocators[i], err);
	}
	return status;
}

static enum hi_status put_header_warnings(struct hi_snapshot_writer *w,
					  const struct hi_report_header *header,
					  struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "head.warnings", header->n_warnings, err);
	char name[NAME];

	for (size_t i = 0; i < header->n_warnings && status == HI_OK; i++) {
		snprintf(name, sizeof(name), "head.warning.%zu", i);
		status = hi_snapshot_put_text(w, name, header->warnings[i], err);
	}
	return status;
}

enum hi_status hi_snapshot_save_header(struct hi_snapshot_writer *w,
				       const struct hi_report_header *header,
				       struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_text(w, "head.build_id", header->build_id, err);

	if (status == HI_OK && header->at_exit)
		status = hi_snapshot_put_number(w, "head.at_exit", 1, err);
	if (status == HI_OK)
		status = hi_snapshot_put_properties(w, "", head_fields,
						    COUNT_OF(head_fields), header, err);
	if (status == HI_OK && header->shares)
		status = hi_snapshot_put_properties(
			w, "", share_fields, COUNT_OF(share_fields), header->shares, err);
	if (status == HI_OK && header->stopped)
		status = hi_snapshot_put_properties(
			w, "", stop_fields, COUNT_OF(stop_fields), header->stopped, err);
	if (status == HI_OK)
		status = put_children(w, header, err);
	if (status == HI_OK)
		status = put_plain_modules(w, header, err);
	if (status == HI_OK)
		status = put_allocators(w, header, err);
	return status == HI_OK ? put_header_warnings(w, header, err) : status;
}

/* ---- reading ---- */

bool hi_snapshot_source_heap_is_known(const struct hi_snapshot *s)
{
	const struct hi_report_header header = {
		.allocator = hi_snapshot_text(s, "head.allocator", NULL),
		.not_decoded = hi_snapshot_text(s, "head.not_decoded", NULL),
		.outside_objects = hi_snapshot_number(s, "head.outside_objects", 0)};

	return hi_heap_known(&header) == HI_HEAP_KNOWN;
}

static enum hi_status get_children(struct hi_inspection *in,
				   struct hi_report_header *header, struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = hi_snapshot_number(s, "head.children", 0);
	struct hi_report_child *children;
	char prefix[NAME];

	if (n > MOST)
		n = MOST;
	children = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*children));
	if (!children)
		return hi_fail_memory(err, "children");
	for (size_t i = 0; i < n; i++) {
		snprintf(prefix, sizeof(prefix), "head.child.%zu", i);
		hi_snapshot_take_properties(s, prefix, child_fields,
					    COUNT_OF(child_fields), &children[i]);
	}
	header->children = children;
	header->n_children = n;
	header->n_children_total = hi_snapshot_number(s, "head.children_total", 0);
	return HI_OK;
}

/* Files of earlier versions have none. */
static enum hi_status get_allocators(struct hi_inspection *in,
				     struct hi_report_header *header,
				     struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = hi_snapshot_number(s, "head.allocators", 0);
	struct hi_report_allocator *list;
	char prefix[NAME];

	if (n > MOST_ALLOCATORS)
		n = MOST_ALLOCATORS;
	list = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*list));
	if (!list)
		return hi_fail_memory(err, "allocators");
	for (size_t i = 0; i < n; i++) {
		snprintf(prefix, sizeof(prefix), "head.allocators.%zu", i);
		hi_snapshot_take_properties(s, prefix, allocator_fields,
					    COUNT_OF(allocator_fields), &list[i]);
	}
	header->allocators = list;
	header->n_allocators = n;
	return HI_OK;
}

static void get_plain_modules(const struct hi_snapshot *s,
			      struct hi_report_header *header)
{
	size_t n = hi_snapshot_number(s, "head.plain", 0);
	char name[NAME];

	for (size_t i = 0; i < n && i < HI_REPORT_PLAIN_MODULES; i++) {
		struct hi_report_plain_module *plain = &header->plain[header->n_plain++];

		snprintf(name, sizeof(name), "head.plain.%zu", i);
		plain->name = hi_snapshot_text(s, name, "");
		snprintf(name, sizeof(name), "head.plain.%zu.build_id", i);
		snprintf(plain->build_id, sizeof(plain->build_id), "%s",
			 hi_snapshot_text(s, name, ""));
	}
}

static enum hi_status get_stop(struct hi_inspection *in, struct hi_report_header *header,
			       struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_stopped *ret;

	if (hi_snapshot_number(s, "stop.waited_ns", UINT64_MAX) == UINT64_MAX)
		return HI_OK;
	ret = hi_arena_alloc(&in->arena, sizeof(*ret));
	if (!ret)
		return hi_fail_memory(err, "stop");
	*ret = (struct hi_stopped){.safepoint = hi_text_or_empty(header->safepoint)};
	hi_snapshot_take_properties(s, "", stop_fields, COUNT_OF(stop_fields), ret);
	header->stopped = ret;
	return HI_OK;
}

static enum hi_status get_shares(struct hi_inspection *in,
				 struct hi_report_header *header, struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_shares *ret;

	if (hi_snapshot_number(s, share_fields[0].name, UINT64_MAX) == UINT64_MAX)
		return HI_OK;
	ret = hi_arena_alloc(&in->arena, sizeof(*ret));
	if (!ret)
		return hi_fail_memory(err, "shares");
	hi_snapshot_take_properties(s, "", share_fields, COUNT_OF(share_fields), ret);
	/* The file has those of all that is live. */
	if (in->shown.reach != in->results.reach)
		hi_shares_count(in->graph, in->shown.reach, ret);
	header->shares = ret;
	return HI_OK;
}

enum hi_status hi_snapshot_source_make_header(struct hi_inspection *in,
					      struct hi_report_header *ret,
					      struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_report_header header = {.file = in->options->target.file,
					  .census = in->census_number,
					  .censuses = in->snapshot->last_census,
					  .has_totals_alone =
						  in->snapshot->refusal.status != HI_OK};
	enum hi_status status;

	hi_snapshot_take_properties(s, "", head_fields, COUNT_OF(head_fields), &header);
	snprintf(header.build_id, sizeof(header.build_id), "%s",
		 hi_snapshot_text(s, "head.build_id", ""));
	header.exe = header.exe ? header.exe : "";
	header.mode = header.mode ? header.mode : "unknown";
	get_plain_modules(s, &header);
	status = get_children(in, &header, err);
	if (status == HI_OK)
		status = get_allocators(in, &header, err);
	if (status == HI_OK)
		status = get_stop(in, &header, err);
	if (status == HI_OK)
		status = get_shares(in, &header, err);
	if (status != HI_OK)
		return status;
	if (in->shown.reach != in->results.reach)
		header.only = &in->shown.restriction;
	header.warnings = in->diagnostics.warnings.items;
	header.n_warnings = in->diagnostics.warnings.count;
	*ret = header;
	return HI_OK;
}
