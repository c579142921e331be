/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a report as a page. */
#include "report/address.h"
#include "report/parts/report_header.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/address.h"
#include "report/parts/decoded_share.h"

const char *hi_report_header_target(const struct hi_report_header *header,
				    struct hi_page *page)
{
	if (header->file)
		return header->census
			       ? hi_page_printf(page, "%s@%u",
						hi_page_shell_word(page, header->file),
						header->census)
			       : hi_page_shell_word(page, header->file);
	if (!header->core)
		return hi_page_printf(page, "--pid %d", header->pid);
	return hi_page_printf(page, "--core %s", hi_page_shell_word(page, header->core));
}

/* The command line without the directory of the program, whose name stands before it:
 * what is run must fit in. "" unknown. */
static const char *command_text(const struct hi_report_header *header)
{
	const char *line = hi_text_or_empty(header->cmdline), *slash = NULL;

	for (const char *c = line; *c && *c != ' ' && *c != '\''; c++)
		if (*c == '/')
			slash = c;
	return slash && *line != '\'' ? slash + 1 : line;
}

void hi_report_header_title(const struct hi_report_header *header, struct hi_page *page)
{
	const char *exe = header->exe && *header->exe ? header->exe : "(unknown program)";
	const char *name = hi_page_safe(page, hi_base_name(exe));
	const char *command = command_text(header);
	const char *aside = hi_page_safe(page, *command ? command : exe);

	if (header->census)
		name = hi_page_printf(page, "%s, pid %d, snapshot %s, census %u of %u",
				      name, header->pid,
				      hi_page_safe(page, hi_base_name(header->file)),
				      header->census, header->censuses);
	else if (header->file)
		name = hi_page_printf(page, "%s, pid %d, snapshot %s", name, header->pid,
				      hi_page_safe(page, hi_base_name(header->file)));
	else if (header->core)
		name = hi_page_printf(page, "%s, core %s", name,
				      hi_page_safe(page, hi_base_name(header->core)));
	else
		name = hi_page_printf(page, "%s, pid %d", name, header->pid);
	if (header->exe_deleted)
		name = hi_page_printf(page, "%s (deleted or replaced on disk)", name);
	hi_page_title(page, name, aside);
	/* Without an option, links lead to the last one. */
	if (header->census && header->census != header->censuses)
		hi_page_link_census(page, header->census);
	if (header->at_exit)
		hi_page_replace_commands(page,
					 "heapinspect snap -o heap.hisnap -- PROGRAM",
					 "keeps the heap, to look into it");
}

/* "7.52 ms, to copy 21.6 MiB of 4 threads". */
static const char *paused_text(const struct hi_report_header *header,
			       struct hi_page *page)
{
	const char *plural = header->threads == 1 ? "" : "s";
	char pause[24], bytes[24], threads[32];

	hi_text_duration(pause, header->pause_ns);
	hi_count(threads, header->threads);
	hi_bytes(bytes, header->bytes_copied);
	if (header->pause_ns == UINT64_MAX)
		return hi_page_printf(page, "never: a %s of %s", header->mode, bytes);
	if (strcmp(header->mode, "fork") != 0)
		return hi_page_printf(page, "%s, to copy %s of %s thread%s", pause, bytes,
				      threads, plural);
	if (header->copied_on_write == UINT64_MAX)
		return hi_page_printf(page, "%s, to fork (%s thread%s)", pause, threads,
				      plural);
	return hi_page_printf(page,
			      "%s, to fork (%s thread%s); the target has copied %s on "
			      "write since",
			      pause, threads, plural,
			      hi_bytes(bytes, header->copied_on_write));
}

static void show_snapshot(const struct hi_report_header *header, struct hi_page *page)
{
	char bytes[24];

	hi_page_fact(page, "paused", paused_text(header, page));
	if (header->stopped)
		hi_page_fact(page, "stopped", hi_stopped_text(header->stopped, page));
	if (header->not_forked && *header->not_forked)
		hi_page_fact(page, "not forked", hi_page_safe(page, header->not_forked));
	if (header->bytes_live)
		hi_page_fact(page, "read live",
			     hi_page_printf(page,
					    "%s of shared memory, which a fork does not "
					    "freeze: read after the target was resumed",
					    hi_bytes(bytes, header->bytes_live)));
}

static void show_header_runtime(const struct hi_report_header *header,
				struct hi_page *page)
{
	char n[32];

	if (header->runtime)
		hi_page_fact(
			page, "runtime",
			hi_page_printf(page, "%s %s, %s objects in its collector (%s)",
				       header->runtime,
				       hi_page_safe(page, header->runtime_version),
				       hi_count(n, header->runtime_tracked),
				       hi_page_safe(page, header->runtime_found_by)));
}

/* "700, 10, 10" */
static const char *list_numbers(const uint64_t *numbers, uint64_t n, struct hi_page *page)
{
	const char *text = "";
	char number[32];

	for (uint64_t i = 0; i < n; i++)
		text = hi_page_printf(page, "%s%s%s", text, i ? " / " : "",
				      hi_count(number, numbers[i]));
	return text;
}

void hi_report_header_collector(const struct hi_report_header *header,
				struct hi_page *page)
{
	uint64_t n = header->collector_generations;

	if (!n)
		return;
	hi_page_fact(page, "collector",
		     hi_page_printf(page, "%s; by generation %s, due above %s",
				    header->collector_is_on
					    ? "on"
					    : "off: garbage stays until the program "
					      "collects it",
				    list_numbers(header->collector_counts, n, page),
				    list_numbers(header->collector_thresholds, n, page)));
}

/* "jemalloc 5.3.0 in redis-server"; "glibc 2.36": that the only one is libc's is clear.
 */
static const char *allocator_text(const struct hi_report_allocator *a, bool is_only,
				  struct hi_page *page)
{
	const char *version = hi_text_or_empty(a->version);
	const char *module = hi_text_or_empty(a->module), *in;

	if (is_only && strncmp(module, "libc.so.", 8) == 0)
		module = "";
	in = !*module ? "" : strchr(version, ',') ? ", in " : " in ";

	return hi_page_printf(page, "%s%s%s%s%s", hi_page_safe(page, a->name),
			      *version ? " " : "", hi_page_safe(page, version), in,
			      hi_page_safe(page, module));
}

/* How it was found, and which checks of its layout hold. */
static const char *proof_text(const struct hi_report_allocator *a, struct hi_page *page)
{
	const char *found_by = hi_text_or_empty(a->found_by);
	const char *checks = hi_text_or_empty(a->checks);

	if (!*found_by && !*checks)
		return "";
	return hi_page_printf(page, " (%s%s%s%s%s)", *found_by ? "found by " : "",
			      hi_page_safe(page, found_by),
			      *found_by && *checks ? "; " : "",
			      *checks ? "checked: " : "", hi_page_safe(page, checks));
}

static void show_one_allocator(const struct hi_report_header *header,
			       const struct hi_report_allocator *a, struct hi_page *page)
{
	const char *text = allocator_text(a, header->n_allocators < 2, page);
	const char *blocks = "";
	char arenas[32], live[32], bytes[24];

	if (a->refused && *a->refused) {
		hi_page_fact(page, "allocator",
			     hi_page_printf(page, "%s: heap not decoded: %s", text,
					    hi_page_safe(page, a->refused)));
		return;
	}
	if (header->n_allocators > 1)
		blocks = hi_page_printf(
			page, ", %s live block%s of %s", hi_count(live, a->live_objects),
			a->live_objects == 1 ? "" : "s", hi_bytes(bytes, a->live_bytes));
	hi_page_fact(page, "allocator",
		     hi_page_printf(page, "%s%s, %s arena%s%s", text, blocks,
				    hi_count(arenas, a->arenas),
				    a->arenas == 1 ? "" : "s", proof_text(a, page)));
}

/* Of a file that has no list of them. */
static void show_old_allocator(const struct hi_report_header *header,
			       struct hi_page *page)
{
	const struct hi_report_allocator only = {.name = header->allocator,
						 .version = header->allocator_version,
						 .found_by = header->allocator_found_by,
						 .arenas = header->arenas};

	show_one_allocator(header, &only, page);
}

static void show_allocators(const struct hi_report_header *header, struct hi_page *page)
{
	if (!header->allocator && !header->n_allocators)
		hi_page_fact(page, "allocator", hi_heap_no_allocator_text);
	else if (!header->n_allocators)
		show_old_allocator(header, page);
	for (size_t i = 0; i < header->n_allocators; i++)
		show_one_allocator(header, &header->allocators[i], page);
}

/* What the numbers below cannot have. */
static void show_unknown(const struct hi_report_header *header, struct hi_page *page)
{
	const char *why = hi_heap_unknown_text(header, page);

	if (*why)
		hi_page_fact(
			page, "unknown",
			hi_page_printf(page,
				       "%s; leaks and free memory there are unknown, "
				       "what is live is a lower bound",
				       why));
}

static void show_debug_info(const struct hi_report_header *header, struct hi_page *page)
{
	const struct hi_report_module_counts *m = &header->modules;
	const struct {
		uint64_t n;
		const char *where;
	} found[] = {{m->in_file, "in the file itself"},
		     {m->by_build_id, "by build-id"},
		     {m->by_link, "by debuglink"},
		     {m->by_debuginfod, "by debuginfod"},
		     {m->mismatched, "of another build, refused"},
		     {m->from_memory, "without a file"}};
	const char *text =
		hi_page_printf(page, "%" PRIu64 " of %" PRIu64 " module%s", m->with_debug,
			       m->total, m->total == 1 ? "" : "s");

	for (size_t i = 0, n = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (found[i].n)
			text = hi_page_printf(page, "%s%s%" PRIu64 " %s", text,
					      n++ ? ", " : ": ", found[i].n,
					      found[i].where);
	if (header->conservative)
		text = "not read (--conservative): every word may be a pointer";
	hi_page_fact(page, "debug info", text);
}

bool hi_report_header_is_untyped(const struct hi_report_header *header)
{
	const struct hi_shares *s = header->shares;

	return hi_report_header_has_shares(header) &&
	       s->by_field.bytes + s->unnamed.bytes > s->exact.bytes + s->inferred.bytes;
}

/* "app (build-id 12ab…), libx.so.1 (no build-id)", and what helps; a short header has the
 * names alone. Where most of the heap is typed, it is not from them. */
static void show_plain_modules(const struct hi_report_header *header,
			       struct hi_page *page, bool whole)
{
	const char *text = "";

	if (!header->n_plain || header->conservative ||
	    !hi_report_header_is_untyped(header))
		return;
	for (size_t i = 0; i < header->n_plain; i++) {
		const struct hi_report_plain_module *m = &header->plain[i];

		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      hi_page_safe(page, m->name));
		if (whole)
			text = hi_page_printf(page, "%s (%s%s)", text,
					      *m->build_id ? "build-id " : "no build-id",
					      hi_page_safe(page, m->build_id));
	}
	if (!whole) {
		hi_page_fact(page, "no types",
			     hi_page_printf(page,
					    "%s: no debug information (heapinspect "
					    "summary has what helps)",
					    text));
		return;
	}
	hi_page_fact(page, "no types", text);
	hi_page_fact(page, "what helps",
		     "debug information: install the package with it (PACKAGE-dbg or "
		     "PACKAGE-dbgsym), set DEBUGINFOD_URLS, or give --debug-dir DIR");
}

bool hi_report_header_has_shares(const struct hi_report_header *header)
{
	const struct hi_shares *s = header->shares;

	return s && !header->conservative &&
	       s->exact.objects + s->inferred.objects + s->by_field.objects +
		       s->unnamed.objects;
}

const char *hi_report_header_conservative(const struct hi_report_header *header,
					  struct hi_page *page)
{
	char bytes[24];

	if (!hi_report_header_has_shares(header) ||
	    !header->shares->conservative_only.bytes)
		return "";
	return hi_page_printf(page, "%s by conservative edges alone",
			      hi_bytes(bytes, header->shares->conservative_only.bytes));
}

/* "exactly 85.2 % of bytes, inferred …; of objects 71.0 %, …": in one order. */
static const char *shares_text(const struct hi_shares *s, struct hi_page *page)
{
	static const char *const how[] = {"exactly", ", inferred", ", by field", ", not"};
	const struct hi_share parts[] = {s->exact, s->inferred, s->by_field, s->unnamed};
	const char *bytes = "", *objects = "";
	struct hi_share all = {};
	char percent[16];

	for (unsigned i = 0; i < 4; i++) {
		all.objects += parts[i].objects;
		all.bytes += parts[i].bytes;
	}
	for (unsigned i = 0; i < 4; i++) {
		bytes = hi_page_printf(page, "%s%s %s%s", bytes, how[i],
				       hi_percent(percent, parts[i].bytes, all.bytes),
				       i ? "" : " of bytes");
		objects = hi_page_printf(
			page, "%s%s%s", objects, i ? ", " : "",
			hi_percent(percent, parts[i].objects, all.objects));
	}
	return hi_page_printf(page, "%s; of objects %s", bytes, objects);
}

/* How much the conservative reading keeps alive. */
static void show_readings(const struct hi_report_header *header, struct hi_page *page)
{
	char more[24], by_types[24], n[32];

	if (!header->conservative || header->leaks_by_types == UINT64_MAX)
		return;
	if (header->leaked_by_types <= header->leaked_by_words)
		hi_page_fact(page, "reading", "with types, no more leaks are found");
	else
		hi_page_fact(
			page, "reading",
			hi_page_printf(
				page,
				"with types, %s are leaked: %s more, in %s objects, "
				"which words that look like pointers keep alive here",
				hi_bytes(by_types, header->leaked_by_types),
				hi_bytes(more, header->leaked_by_types -
						       header->leaked_by_words),
				hi_count(n, header->leaks_by_types -
						    header->leaks_by_words)));
}

/* What a short header says of types: nothing where there is nothing to doubt. */
static void show_weak_spots(const struct hi_shares *s, struct hi_page *page)
{
	uint64_t untyped = s->by_field.bytes + s->unnamed.bytes;
	uint64_t all = s->exact.bytes + s->inferred.bytes + untyped;
	char percent[16];

	if (untyped > all / 10)
		hi_page_fact(page, "untyped",
			     hi_page_printf(page, "%s of the live bytes have no type",
					    hi_percent(percent, untyped, all)));
	if (s->conservative_only.bytes > all / 10)
		hi_page_fact(page, "alive",
			     hi_page_printf(page, "%s by conservative edges alone",
					    hi_percent(percent,
						       s->conservative_only.bytes, all)));
}

static void show_shares(const struct hi_report_header *header, struct hi_page *page,
			bool whole)
{
	show_readings(header, page);
	if (!hi_report_header_has_shares(header))
		return;
	if (whole)
		hi_page_fact(page, "typed", shares_text(header->shares, page));
	else
		show_weak_spots(header->shares, page);
}

static void show_children(const struct hi_report_header *header, struct hi_page *page)
{
	enum { SHOWN = 2 };
	const char *text = "";
	char rss[24], shared[24];

	if (!header->n_children_total)
		return;
	for (size_t i = 0; i < header->n_children && i < SHOWN; i++) {
		const struct hi_report_child *c = &header->children[i];

		text = hi_page_printf(page, "%s%s%s %d: %s, %s shared", text,
				      i ? "; " : "", hi_page_safe(page, c->name), c->pid,
				      hi_bytes(rss, c->rss), hi_bytes(shared, c->shared));
	}
	if (header->n_children_total > SHOWN)
		text = hi_page_printf(page, "%s; and %zu more", text,
				      header->n_children_total - SHOWN);
	hi_page_fact(page, "children", text);
}

/* What the copy lacks, in a sentence; "" if it lacks nothing worth a word. */
static const char *missing_text(const struct hi_report_header *header,
				struct hi_page *page)
{
	char n[32];
	const char *text = "";

	if (header->bytes_unreadable)
		text = hi_page_printf(page, "%s unreadable",
				      hi_bytes(n, header->bytes_unreadable));
	if (header->pages_swapped)
		text = hi_page_printf(page, "%s%s%s pages swapped out (see --swap)", text,
				      *text ? ", " : "",
				      hi_count(n, header->pages_swapped));
	if (header->segments_missing)
		text = hi_page_printf(page, "%s%s%s segments missing from the core", text,
				      *text ? ", " : "",
				      hi_count(n, header->segments_missing));
	if (header->threads_in_allocator)
		text = hi_page_printf(
			page,
			"%s%s%s thread%s stopped inside the allocator (blocks in "
			"its calls may be counted wrongly)",
			text, *text ? ", " : "",
			hi_count(n, header->threads_in_allocator),
			header->threads_in_allocator == 1 ? "" : "s");
	if (header->damaged)
		text = hi_page_printf(page, "%s%sthe heap is damaged in %s place%s", text,
				      *text ? ", " : "", hi_count(n, header->damaged),
				      header->damaged == 1 ? "" : "s");
	if (header->skipped_bytes)
		text = hi_page_printf(page, "%s%s%s of heap not walked", text,
				      *text ? ", " : "",
				      hi_bytes(n, header->skipped_bytes));
	if (!header->complete && !*text)
		text = "part of it could not be read";
	return text;
}

static void show_only(const struct hi_report_restriction *only, struct hi_page *page)
{
	char shown[24], hidden[24], objects[32], many[24];
	const char *what = "";

	if (!only)
		return;
	if (only->type)
		what = hi_page_printf(page, "of type %s", hi_page_safe(page, only->type));
	if (only->under)
		what = hi_page_printf(page, "%s%sunder %s", what, *what ? ", " : "",
				      hi_page_safe(page, only->under));
	if (only->retained_by)
		what = hi_page_printf(page, "%s%sretained by %s", what, *what ? ", " : "",
				      hi_page_safe(page, only->retained_by));
	if (only->bands)
		what = hi_page_printf(page, "%s%sproved to be %s", what,
				      *what ? ", " : "", only->bands);
	if (only->era)
		what = hi_page_printf(page, "%s%sborn in era %s", what, *what ? ", " : "",
				      hi_page_safe(page, only->era));
	if (only->births)
		what = hi_page_printf(page, "%s%s%s", what, *what ? ", " : "",
				      hi_page_safe(page, only->births));
	hi_page_fact(page, "only",
		     hi_page_printf(page, "%s: %s; hidden: %s in %s object%s", what,
				    hi_bytes(shown, only->bytes),
				    hi_bytes(hidden, only->hidden_bytes),
				    hi_count(objects, only->hidden_objects),
				    only->hidden_objects == 1 ? "" : "s"));
	if (only->many_bytes)
		hi_page_warning(page,
				hi_page_printf(page,
					       "MANY hides %s in %s object%s, whose "
					       "retainers are not known (--max-set)",
					       hi_bytes(many, only->many_bytes),
					       hi_count(objects, only->many_objects),
					       only->many_objects == 1 ? "" : "s"));
	if (only->system_bytes)
		hi_page_note(page,
			     hi_page_printf(page,
					    "of what is hidden, registers and words "
					    "without a variable (SYSTEM) hold %s",
					    hi_bytes(many, only->system_bytes)));
}

void hi_report_header_facts(const struct hi_report_header *header, struct hi_page *page,
			    bool whole)
{
	const size_t most = whole ? HI_REPORT_HEADER_WARNINGS : 5;
	const char *missing;

	show_snapshot(header, page);
	if (whole || !header->allocator)
		show_allocators(header, page);
	show_unknown(header, page);
	if (whole) {
		show_header_runtime(header, page);
		hi_report_header_collector(header, page);
		show_debug_info(header, page);
	}
	show_plain_modules(header, page, whole);
	show_shares(header, page, whole);
	if (whole)
		show_children(header, page);
	show_only(header->only, page);
	missing = missing_text(header, page);
	if (*missing)
		hi_page_fact(page, "incomplete", missing);
	for (size_t i = 0; i < header->n_warnings && i < most; i++)
		hi_page_warning(page, hi_page_safe(page, header->warnings[i]));
	if (header->n_warnings > most)
		hi_page_warning(page,
				hi_page_printf(page, "and %zu more warnings (--json)",
					       header->n_warnings - most));
}
