/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/header.h"

#include <stdio.h>
#include <string.h>

#include "attach/target.h"
#include "base/cleanup.h"
#include "session/live/decoding.h"
#include "session/process_limits.h"

/* Few objects of a heap have a type that these define. */
static bool is_runtime_library(const struct hi_module *m)
{
	static const char *const names[] = {
		"libc.",      "libc-", "libm.",	 "libm-",      "ld-",	     "libgcc_s",
		"libpthread", "libdl", "librt.", "libresolv.", "libstdc++.", "libc++."};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(m->name, names[i], strlen(names[i])) == 0)
			return !m->is_executable;
	return false;
}

static void print_build_id(const struct hi_module *m, char out[65])
{
	for (size_t i = 0; i < m->build_id_size && i < sizeof(m->build_id); i++)
		snprintf(out + 2 * i, 3, "%02x", m->build_id[i]);
}

/* The program pushes the others behind it. */
static void add_plain_module(const struct hi_module *m, struct hi_report_header *header)
{
	struct hi_report_plain_module plain = {.name = m->name};
	size_t n = header->n_plain, last = HI_REPORT_PLAIN_MODULES - 1;

	if (is_runtime_library(m) || (n > last && !m->is_executable))
		return;
	print_build_id(m, plain.build_id);
	if (n <= last)
		header->n_plain = ++n;
	if (m->is_executable)
		memmove(&header->plain[1], &header->plain[0], (n - 1) * sizeof(plain));
	header->plain[m->is_executable ? 0 : n - 1] = plain;
}

static void count_modules(struct hi_inspection *in, struct hi_report_header *header)
{
	struct hi_report_module_counts *c = &header->modules;

	for (size_t i = 0; i < hi_modules_count(in->decoders.modules); i++) {
		struct hi_module *m = hi_modules_get(in->decoders.modules, i);
		struct hi_error quiet;

		/* The vdso is the kernel's: its debug information is not looked for. */
		if (!m->path || !*m->path || m->path[0] == '[' ||
		    strcmp(m->name, "linux-vdso.so.1") == 0)
			continue;
		c->total++;
		c->mismatched += m->file_mismatch;
		c->from_memory += m->from_memory;
		if (m->debug == HI_DEBUG_NONE && hi_module_debug(m, &quiet) != HI_OK) {
			add_plain_module(m, header);
			continue;
		}
		c->with_debug += m->debug != HI_DEBUG_NONE;
		c->in_file += m->debug == HI_DEBUG_IN_FILE;
		c->by_build_id += m->debug == HI_DEBUG_BUILD_ID;
		c->by_link += m->debug == HI_DEBUG_LINK;
		c->by_debuginfod += m->debug == HI_DEBUG_INFOD;
	}
}

static void set_build_id(struct hi_inspection *in, struct hi_report_header *header)
{
	struct hi_module *m = hi_modules_executable(in->decoders.modules);

	if (m)
		print_build_id(m, header->build_id);
}

static void warn_of_modules(struct hi_inspection *in)
{
	for (size_t i = 0; i < hi_modules_count(in->decoders.modules); i++) {
		struct hi_module *m = hi_modules_get(in->decoders.modules, i);

		/* The vdso is the kernel's own. */
		if (m->note[0] && m->path && m->path[0] != '[')
			hi_inspect_warn(in, "%s: %s", m->name, m->note);
	}
}

static void warn_of_types(struct hi_inspection *in)
{
	uint64_t broken =
		in->decoders.types ? hi_types_stats(in->decoders.types).broken : 0;

	if (broken)
		hi_inspect_warn(in,
				"%llu entries of debug information have an unknown form: "
				"their types are unknown",
				(unsigned long long)broken);
}

static enum hi_status set_target(struct hi_inspection *in,
				 struct hi_report_header *header, struct hi_error *err)
{
	const struct hi_target *t = in->stop.target;
	struct hi_report_child *children;

	if (!t)
		return HI_OK;
	children = hi_arena_alloc(&in->arena, (t->n_children + 1) * sizeof(*children));
	if (!children)
		return hi_fail_memory(err, "children");
	for (size_t i = 0; i < t->n_children; i++)
		children[i] = (struct hi_report_child){.pid = t->children[i].pid,
						       .name = t->children[i].name,
						       .rss = t->children[i].rss,
						       .shared = t->children[i].shared};
	header->exe_deleted = t->exe_deleted;
	if (!in->image->stats.at_exit)
		header->limit = hi_process_limit("", t->pid);
	header->start_ticks = t->start_time;
	header->children = children;
	header->n_children = t->n_children;
	header->n_children_total = t->n_children_total;
	return HI_OK;
}

/* With --redact the arguments are left out, as strings of the heap are. */
static enum hi_status set_command_line(struct hi_inspection *in,
				       struct hi_report_header *header,
				       struct hi_error *err)
{
	const struct hi_command_line *line = in->stop.target
						     ? &in->stop.target->command_line
						     : &in->image->command_line;
	bool redact = in->options->snap.redact;
	HI_GUARD(free) char *text = hi_command_line_text(line, redact);
	/* By its file: a link to an interpreter may have any name. */
	HI_GUARD(free)
	char *script = hi_command_line_script(in->image->exe ? in->image->exe : "", line);

	if (!text || !script)
		return hi_fail_memory(err, "command line");
	header->cmdline = hi_arena_strdup(&in->arena, text);
	if (!redact && line->size)
		header->script = hi_arena_strdup(&in->arena, script);
	if (!header->cmdline || (!redact && line->size && !header->script))
		return hi_fail_memory(err, "command line");
	return HI_OK;
}

static void set_snapshot(const struct hi_inspection *in, struct hi_report_header *header)
{
	static const char *const modes[] = {[HI_SNAPSHOT_COPY] = "copy",
					    [HI_SNAPSHOT_CORE] = "core",
					    [HI_SNAPSHOT_MOCK] = "mock",
					    [HI_SNAPSHOT_FORK] = "fork"};
	const struct hi_image_stats *s = &in->image->stats;

	header->mode = in->image->mode == HI_SNAPSHOT_MOCK && in->stop.target
			       ? "events" /* of a recording whose process was killed */
			       : modes[in->image->mode];
	header->safepoint = in->stop.hit      ? in->stop.hit->safepoint
			    : in->stop.target ? "now"
					      : NULL;
	header->stopped = in->stop.hit;
	/* As late as can be: the target goes on writing. */
	header->copied_on_write = hi_image_copied_on_write(in->image);
	header->bytes_live = s->bytes_live;
	header->not_forked = s->not_forked;
	header->time_ns = s->time_ns;
	header->pause_ns = in->stop.target ? s->pause_ns : UINT64_MAX;
	header->complete = in->image->complete;
	header->threads = in->image->n_threads;
	header->bytes_copied = s->bytes_copied;
	header->pages_never_touched = s->pages_never_touched;
	header->pages_swapped = s->pages_swapped;
	header->bytes_unreadable = s->bytes_unreadable;
	header->segments_missing = s->segments_missing;
	header->threads_in_allocator = s->threads_in_allocator;
}

/* What typed pointers alone have found is all typed: a share of it would mean nothing
 * about the heap. */
static enum hi_status set_shares(struct hi_inspection *in,
				 struct hi_report_header *header, struct hi_error *err)
{
	struct hi_shares *shares = hi_arena_alloc(&in->arena, sizeof(*shares));

	if (!shares)
		return hi_fail_memory(err, "shares");
	hi_shares_count(in->graph, in->shown.reach, shares);
	if (in->decoders.allocator || in->decoders.runtime)
		header->shares = shares;
	return HI_OK;
}

static void set_runtime(const struct hi_inspection *in, struct hi_report_header *header)
{
	const struct hi_runtime_collector *c;

	if (!in->decoders.runtime)
		return;
	c = &in->decoders.runtime->collector;
	header->runtime = in->decoders.runtime->ops->name;
	header->runtime_version = in->decoders.runtime->version;
	header->runtime_found_by = in->decoders.runtime->found_by;
	header->runtime_tracked = in->decoders.runtime->tracked;
	header->runtime_cut = in->decoders.runtime->n_cut;
	header->collector_generations = c->n_generations;
	header->collector_is_on = c->is_on;
	for (size_t i = 0; i < c->n_generations; i++) {
		header->collector_thresholds[i] = c->threshold[i];
		header->collector_counts[i] = c->count[i];
	}
}

static struct hi_report_allocator describe_allocator(const struct hi_allocator *a)
{
	return (struct hi_report_allocator){
		.name = a->ops->name,
		.version = a->version,
		.module = a->module,
		.found_by = a->found_by,
		.checks = a->checks,
		.refused = "",
		.arenas = a->n_arenas,
		.live_objects = a->count[HI_BLOCK_LIVE],
		.live_bytes = a->bytes[HI_BLOCK_LIVE],
		.damaged = a->n_damage_total,
		.skipped_bytes = a->skipped_bytes,
	};
}

/* Those that were walked, then those that were refused. */
static enum hi_status set_allocators(struct hi_inspection *in,
				     struct hi_report_header *header,
				     struct hi_error *err)
{
	const struct hi_allocator *a = in->decoders.allocator;
	size_t n_parts = a ? a->n_parts : 0, n = 0;
	struct hi_report_allocator *list = hi_arena_alloc(
		&in->arena, (n_parts + in->decoders.n_refused + 1) * sizeof(*list));

	if (!list)
		return hi_fail_memory(err, "allocators");
	for (size_t i = 0; i < n_parts; i++)
		list[n++] = describe_allocator(a->parts[i]);
	if (a && !n_parts)
		list[n++] = describe_allocator(a);
	for (size_t i = 0; i < in->decoders.n_refused; i++)
		list[n++] = (struct hi_report_allocator){
			.name = in->decoders.refused[i].name,
			.version = "",
			.module = in->decoders.refused[i].module,
			.found_by = "",
			.checks = "",
			.refused = in->decoders.refused[i].text};
	header->allocators = list;
	header->n_allocators = n;
	return HI_OK;
}

static void set_allocator(const struct hi_inspection *in, struct hi_report_header *header)
{
	const struct hi_allocator *a = in->decoders.allocator;
	struct hi_typing_stats stats = hi_typing_stats(in->decoders.typing);

	header->not_decoded = in->decoders.not_decoded;
	if (hi_decoding_has_much_outside(in)) {
		header->outside_objects = stats.subobjects.outside - stats.outside_loader;
		header->outside_bytes = stats.outside_bytes;
	}
	if (!a)
		return;
	header->allocator = a->name;
	header->allocator_version = a->version;
	header->allocator_found_by = a->found_by;
	header->arenas = a->n_arenas;
	header->damaged = a->n_damage_total;
	header->skipped_bytes = a->skipped_bytes;
}

enum hi_status hi_live_make_header(struct hi_inspection *in, struct hi_report_header *ret,
				   struct hi_error *err)
{
	struct hi_report_header header = {
		.pid = in->options->target.pid ? (int)in->options->target.pid
					       : (int)in->image->pid,
		.exe = hi_inspection_program(in),
		.at_exit = in->image->stats.at_exit,
		.core = in->options->target.core,
		.conservative = in->options->decoding.conservative,
		.leaks_by_types = UINT64_MAX,
	};
	enum hi_status status = set_target(in, &header, err);

	if (status == HI_OK)
		status = set_command_line(in, &header, err);
	if (status == HI_OK)
		status = set_shares(in, &header, err);
	if (status == HI_OK)
		status = set_allocators(in, &header, err);
	if (status != HI_OK)
		return status;
	if (in->results.by_types.known) {
		header.leaks_by_types = in->results.by_types.objects;
		header.leaked_by_types = in->results.by_types.bytes;
		header.leaks_by_words = in->results.reach->leak_objects;
		header.leaked_by_words = in->results.reach->leak_bytes;
	}
	set_snapshot(in, &header);
	set_allocator(in, &header);
	set_runtime(in, &header);
	count_modules(in, &header);
	set_build_id(in, &header);
	warn_of_modules(in);
	warn_of_types(in);
	if (in->shown.reach != in->results.reach)
		header.only = &in->shown.restriction;
	header.warnings = in->diagnostics.warnings.items;
	header.n_warnings = in->diagnostics.warnings.count;
	*ret = header;
	return HI_OK;
}
