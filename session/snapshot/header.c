/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a report as properties of a snapshot. One table serves the writer and
 * the reader.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "session/snapshot/snapshot_source.h"

/* KNOWN: UINT64_MAX where it is not. GENERATIONS: of arrays of the header, whatever a
 * file contains. */
enum kind { NUMBER, KNOWN, GENERATIONS, BOOL, INT, TEXT };

static const struct {
	const char *name;
	size_t offset;
	enum kind kind;
} fields[] = {
#define FIELD(name, kind)                                                                \
	{                                                                                \
		"head." #name, offsetof(struct hi_report_header, name), kind             \
	}
	FIELD(pid, INT),
	FIELD(start_ticks, NUMBER),
	FIELD(exe, TEXT),
	FIELD(cmdline, TEXT),
	FIELD(script, TEXT),
	FIELD(exe_deleted, BOOL),
	FIELD(threads, NUMBER),
	FIELD(time_ns, NUMBER),
	FIELD(pause_ns, NUMBER),
	FIELD(mode, TEXT),
	FIELD(safepoint, TEXT),
	FIELD(copied_on_write, KNOWN),
	FIELD(bytes_live, NUMBER),
	FIELD(not_forked, TEXT),
	FIELD(complete, BOOL),
	FIELD(bytes_copied, NUMBER),
	FIELD(pages_never_touched, NUMBER),
	FIELD(pages_swapped, NUMBER),
	FIELD(bytes_unreadable, NUMBER),
	FIELD(segments_missing, NUMBER),
	FIELD(threads_in_allocator, NUMBER),
	FIELD(allocator, TEXT),
	FIELD(allocator_version, TEXT),
	FIELD(allocator_found_by, TEXT),
	FIELD(arenas, NUMBER),
	FIELD(damaged, NUMBER),
	FIELD(skipped_bytes, NUMBER),
	FIELD(runtime, TEXT),
	FIELD(runtime_version, TEXT),
	FIELD(runtime_found_by, TEXT),
	FIELD(runtime_tracked, NUMBER),
	FIELD(runtime_cut, NUMBER),
	FIELD(collector_generations, GENERATIONS),
	FIELD(collector_is_on, BOOL),
	FIELD(collector_thresholds[0], NUMBER),
	FIELD(collector_thresholds[1], NUMBER),
	FIELD(collector_thresholds[2], NUMBER),
	FIELD(collector_thresholds[3], NUMBER),
	FIELD(collector_counts[0], NUMBER),
	FIELD(collector_counts[1], NUMBER),
	FIELD(collector_counts[2], NUMBER),
	FIELD(collector_counts[3], NUMBER),
	FIELD(outside_objects, NUMBER),
	FIELD(outside_bytes, NUMBER),
	FIELD(not_decoded, TEXT),
	FIELD(modules.total, NUMBER),
	FIELD(modules.with_debug, NUMBER),
	FIELD(modules.in_file, NUMBER),
	FIELD(modules.by_build_id, NUMBER),
	FIELD(modules.by_link, NUMBER),
	FIELD(modules.by_debuginfod, NUMBER),
	FIELD(modules.mismatched, NUMBER),
	FIELD(modules.from_memory, NUMBER),
	FIELD(conservative, BOOL),
	FIELD(leaks_by_types, NUMBER),
	FIELD(leaked_by_types, NUMBER),
	FIELD(leaks_by_words, NUMBER),
	FIELD(leaked_by_words, NUMBER),
#undef FIELD
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const struct {
	const char *name;
	size_t offset;
} shares[] = {
#define SHARE(name)                                                                      \
	{"typed." #name ".objects", offsetof(struct hi_shares, name.objects)},           \
	{                                                                                \
		"typed." #name ".bytes", offsetof(struct hi_shares, name.bytes)          \
	}
	SHARE(exact),	SHARE(inferred),	  SHARE(by_field),
	SHARE(unnamed), SHARE(conservative_only),
#undef SHARE
};
/* Of each allocator: head.allocators.N and a member. */
static const struct {
	const char *name;
	size_t offset;
	bool is_text;
} allocator_fields[] = {
#define ALLOCATOR(name, is_text)                                                         \
	{                                                                                \
#name, offsetof(struct hi_report_allocator, name), is_text               \
	}
	ALLOCATOR(name, true),		 ALLOCATOR(version, true),
	ALLOCATOR(module, true),	 ALLOCATOR(found_by, true),
	ALLOCATOR(checks, true),	 ALLOCATOR(refused, true),
	ALLOCATOR(arenas, false),	 ALLOCATOR(live_objects, false),
	ALLOCATOR(live_bytes, false),	 ALLOCATOR(damaged, false),
	ALLOCATOR(skipped_bytes, false),
#undef ALLOCATOR
};
enum { ALLOCATOR_FIELDS = sizeof(allocator_fields) / sizeof(allocator_fields[0]) };
enum { MOST_ALLOCATORS = 64 };
enum { SHARES = sizeof(shares) / sizeof(shares[0]), NAME = 48, MOST = 1 << 16 };

/* ---- writing ---- */

static enum hi_status put_field(struct hi_snapshot_writer *w, size_t i,
				const struct hi_report_header *header,
				struct hi_error *err)
{
	const void *at = (const char *)header + fields[i].offset;
	const char *text;

	switch (fields[i].kind) {
	case NUMBER:
	case KNOWN:
	case GENERATIONS:
		return hi_snapshot_put_number(w, fields[i].name, *(const uint64_t *)at,
					      err);
	case BOOL:
		return hi_snapshot_put_number(w, fields[i].name, *(const bool *)at, err);
	case INT:
		return hi_snapshot_put_number(w, fields[i].name,
					      (uint64_t) * (const int *)at, err);
	case TEXT:
	default:
		text = *(const char *const *)at;
		return text ? hi_snapshot_put_text(w, fields[i].name, text, err) : HI_OK;
	}
}

static enum hi_status put_indexed(struct hi_snapshot_writer *w, const char *name,
				  size_t i, const char *member, uint64_t value,
				  struct hi_error *err)
{
	char full[NAME];

	snprintf(full, sizeof(full), "%s.%zu.%s", name, i, member);
	return hi_snapshot_put_number(w, full, value, err);
}

static enum hi_status put_header_text(struct hi_snapshot_writer *w, const char *name,
				      size_t i, const char *text, struct hi_error *err)
{
	char full[NAME];

	snprintf(full, sizeof(full), "%s.%zu", name, i);
	return hi_snapshot_put_text(w, full, text ? text : "", err);
}

static enum hi_status put_children(struct hi_snapshot_writer *w,
				   const struct hi_report_header *header,
				   struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "head.children", header->n_children, err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "head.children_total",
						header->n_children_total, err);
	for (size_t i = 0; i < header->n_children && status == HI_OK; i++) {
		const struct hi_report_child *c = &header->children[i];

		status = put_header_text(w, "head.child", i, c->name, err);
		if (status == HI_OK)
			status = put_indexed(w, "head.child", i, "pid", (uint64_t)c->pid,
					     err);
		if (status == HI_OK)
			status = put_indexed(w, "head.child", i, "rss", c->rss, err);
		if (status == HI_OK)
			status =
				put_indexed(w, "head.child", i, "shared", c->shared, err);
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
		status = put_header_text(w, "head.plain", i, header->plain[i].name, err);
		snprintf(name, sizeof(name), "head.plain.%zu.build_id", i);
		if (status == HI_OK)
			status = hi_snapshot_put_text(w, name, header->plain[i].build_id,
						      err);
	}
	return status;
}

static void name_allocator_field(char name[NAME], size_t i, size_t field)
{
	snprintf(name, NAME, "head.allocators.%zu.%s", i, allocator_fields[field].name);
}

static enum hi_status put_one_allocator(struct hi_snapshot_writer *w, size_t i,
					const struct hi_report_allocator *a,
					struct hi_error *err)
{
	enum hi_status status = HI_OK;
	char name[NAME];

	for (size_t k = 0; k < ALLOCATOR_FIELDS && status == HI_OK; k++) {
		const void *at = (const char *)a + allocator_fields[k].offset;

		name_allocator_field(name, i, k);
		if (allocator_fields[k].is_text)
			status = hi_snapshot_put_text(
				w, name, hi_text_or_empty(*(const char *const *)at), err);
		else
			status = hi_snapshot_put_number(w, name, *(const uint64_t *)at,
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

	for (size_t i = 0; i < header->n_allocators && status == HI_OK; i++)
		status = put_one_allocator(w, i, &header->allocators[i], err);
	return status;
}

/* Where --at stopped it; nothing of that else. */
static enum hi_status put_stop(struct hi_snapshot_writer *w, const struct hi_stopped *s,
			       struct hi_error *err)
{
	const struct {
		const char *name, *text;
	} texts[] = {{"stop.thread", s->thread},
		     {"stop.module", s->place.module},
		     {"stop.function", s->place.function},
		     {"stop.instruction", s->place.instruction}};
	const struct {
		const char *name;
		uint64_t number;
	} numbers[] = {{"stop.near", s->near},
		       {"stop.tid", (uint64_t)s->tid},
		       {"stop.waited_ns", s->waited_ns},
		       {"stop.every", s->every},
		       {"stop.place", s->place_known},
		       {"stop.into_function", s->place.into_function},
		       {"stop.offset", s->place.offset},
		       {"stop.address", s->place.address},
		       {"stop.single_stepped", s->place.single_stepped}};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && status == HI_OK; i++)
		if (texts[i].text)
			status = hi_snapshot_put_text(w, texts[i].name, texts[i].text,
						      err);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && status == HI_OK; i++)
		status = hi_snapshot_put_number(w, numbers[i].name, numbers[i].number,
						err);
	return status;
}

enum hi_status hi_snapshot_save_header(struct hi_snapshot_writer *w,
				       const struct hi_report_header *header,
				       struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_text(w, "head.build_id", header->build_id, err);

	for (size_t i = 0; i < FIELDS && status == HI_OK; i++)
		status = put_field(w, i, header, err);
	for (size_t i = 0; i < SHARES && header->shares && status == HI_OK; i++)
		status = hi_snapshot_put_number(
			w, shares[i].name,
			*(const uint64_t *)(const void *)((const char *)header->shares +
							  shares[i].offset),
			err);
	if (status == HI_OK && header->stopped)
		status = put_stop(w, header->stopped, err);
	if (status == HI_OK)
		status = put_children(w, header, err);
	if (status == HI_OK)
		status = put_plain_modules(w, header, err);
	if (status == HI_OK)
		status = put_allocators(w, header, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "head.warnings", header->n_warnings,
						err);
	for (size_t i = 0; i < header->n_warnings && status == HI_OK; i++)
		status = put_header_text(w, "head.warning", i, header->warnings[i], err);
	return status;
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

static void get_field(const struct hi_snapshot *s, size_t i,
		      struct hi_report_header *header)
{
	void *at = (char *)header + fields[i].offset;
	const char *name = fields[i].name;

	switch (fields[i].kind) {
	case NUMBER:
		*(uint64_t *)at = hi_snapshot_number(s, name, 0);
		break;
	case GENERATIONS:
		*(uint64_t *)at = hi_snapshot_number(s, name, 0);
		if (*(uint64_t *)at > HI_RUNTIME_GENERATIONS)
			*(uint64_t *)at = 0;
		break;
	case KNOWN:
		*(uint64_t *)at = hi_snapshot_number(s, name, UINT64_MAX);
		break;
	case BOOL:
		*(bool *)at = hi_snapshot_number(s, name, 0) != 0;
		break;
	case INT:
		*(int *)at = (int)hi_snapshot_number(s, name, 0);
		break;
	case TEXT:
	default:
		*(const char **)at = hi_snapshot_text(s, name, NULL);
	}
}

static uint64_t get_indexed(const struct hi_snapshot *s, const char *name, size_t i,
			    const char *member)
{
	char full[NAME];

	snprintf(full, sizeof(full), "%s.%zu.%s", name, i, member);
	return hi_snapshot_number(s, full, UINT64_MAX);
}

static const char *get_text(const struct hi_snapshot *s, const char *name, size_t i)
{
	char full[NAME];

	snprintf(full, sizeof(full), "%s.%zu", name, i);
	return hi_snapshot_text(s, full, "");
}

static enum hi_status get_children(struct hi_inspection *in,
				   struct hi_report_header *header, struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = hi_snapshot_number(s, "head.children", 0);
	struct hi_report_child *children;

	if (n > MOST)
		n = MOST;
	children = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*children));
	if (!children)
		return hi_fail_memory(err, "children");
	for (size_t i = 0; i < n; i++)
		children[i] = (struct hi_report_child){
			.pid = (int)get_indexed(s, "head.child", i, "pid"),
			.name = get_text(s, "head.child", i),
			.rss = get_indexed(s, "head.child", i, "rss"),
			.shared = get_indexed(s, "head.child", i, "shared")};
	header->children = children;
	header->n_children = n;
	header->n_children_total = hi_snapshot_number(s, "head.children_total", 0);
	return HI_OK;
}

static void get_one_allocator(const struct hi_snapshot *s, size_t i,
			      struct hi_report_allocator *ret)
{
	char name[NAME];

	for (size_t k = 0; k < ALLOCATOR_FIELDS; k++) {
		void *at = (char *)ret + allocator_fields[k].offset;

		name_allocator_field(name, i, k);
		if (allocator_fields[k].is_text)
			*(const char **)at = hi_snapshot_text(s, name, "");
		else
			*(uint64_t *)at = hi_snapshot_number(s, name, 0);
	}
}

/* Files of earlier versions have none. */
static enum hi_status get_allocators(struct hi_inspection *in,
				     struct hi_report_header *header,
				     struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = hi_snapshot_number(s, "head.allocators", 0);
	struct hi_report_allocator *list;

	if (n > MOST_ALLOCATORS)
		n = MOST_ALLOCATORS;
	list = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*list));
	if (!list)
		return hi_fail_memory(err, "allocators");
	for (size_t i = 0; i < n; i++)
		get_one_allocator(s, i, &list[i]);
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

		plain->name = get_text(s, "head.plain", i);
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
	*ret = (struct hi_stopped){
		.safepoint = header->safepoint ? header->safepoint : "",
		.near = hi_snapshot_number(s, "stop.near", 0) != 0,
		.place_known = hi_snapshot_number(s, "stop.place", 0) != 0,
		.place = {.module = hi_snapshot_text(s, "stop.module", ""),
			  .function = hi_snapshot_text(s, "stop.function", ""),
			  .instruction = hi_snapshot_text(s, "stop.instruction", ""),
			  .into_function = hi_snapshot_number(s, "stop.into_function", 0),
			  .offset = hi_snapshot_number(s, "stop.offset", 0),
			  .address = hi_snapshot_number(s, "stop.address", 0),
			  .single_stepped =
				  hi_snapshot_number(s, "stop.single_stepped", 0) != 0},
		.tid = (int)hi_snapshot_number(s, "stop.tid", 0),
		.thread = hi_snapshot_text(s, "stop.thread", ""),
		.waited_ns = hi_snapshot_number(s, "stop.waited_ns", 0),
		.every = hi_snapshot_number(s, "stop.every", 0)};
	header->stopped = ret;
	return HI_OK;
}

static enum hi_status get_shares(struct hi_inspection *in,
				 struct hi_report_header *header, struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_shares *ret;

	if (hi_snapshot_number(s, shares[0].name, UINT64_MAX) == UINT64_MAX)
		return HI_OK;
	ret = hi_arena_alloc(&in->arena, sizeof(*ret));
	if (!ret)
		return hi_fail_memory(err, "shares");
	for (size_t i = 0; i < SHARES; i++)
		*(uint64_t *)(void *)((char *)ret + shares[i].offset) =
			hi_snapshot_number(s, shares[i].name, 0);
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

	for (size_t i = 0; i < FIELDS; i++)
		get_field(s, i, &header);
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
