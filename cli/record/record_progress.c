/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_progress.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/vector.h"
#include "cli/command/output.h"
#include "cli/record/record_rates.h"
#include "cli/terminal/terminal_screen.h"
#include "report/reports/record/record_live.h"
#include "report/reports/record/record_rates_live.h"
#include "session/live/live_sites.h"
#include "session/series/sink_file.h"

/* Between two lines: on a terminal, where one replaces the other, and elsewhere. */
static const uint64_t screen_period_ns = HI_NS_PER_S, line_period_ns = 10 * HI_NS_PER_S;
/* How often sites are added up where lines are shown: names come in time for them. */
static const uint64_t names_period_ns = HI_NS_PER_S;

/* How long a note is shown. */
static const uint64_t note_ns = 10 * HI_NS_PER_S;

enum { MOST_SITES = 20 };

struct hi_record_progress {
	const struct hi_options *options;
	bool is_quiet;
	const struct hi_recorder *recorder;
	struct hi_live_sites *sites;
	char followed[512]; /* what is recorded, escaped */
	uint64_t shown_ns, added_ns, period_ns;
	/* Lines: */
	bool replaces_line, is_open; /* a line of the screen has no end yet */
	uint64_t allocs;	     /* when it was shown last */
	/* The live view; NULL: lines. */
	struct hi_record_live *live;
	struct hi_sink_file screen;
	struct HI_VECTOR(struct hi_record_live_row) rows; /* with `texts` */
	struct hi_arena texts;
	char note[200];
	uint64_t noted_ns;
	bool pauses, is_ended;
	/* Windows: as of the last look. */
	struct hi_record_rates rates;
	struct hi_window_totals windows;
	uint64_t time_ns;
	enum hi_record_rates_order order;
	bool is_blind; /* windows see nothing, and that was noted */
};

/* It may have none at first. */
static const struct hi_windows *windows_of(const struct hi_record_progress *p)
{
	return hi_recording_windows(hi_recorder_recording(p->recorder));
}

bool hi_record_progress_is_ended(const struct hi_record_progress *p)
{
	return p->is_ended;
}

bool hi_record_progress_pauses(const struct hi_record_progress *p)
{
	return p->pauses;
}

int hi_record_progress_keys_fd(const struct hi_record_progress *p)
{
	return p->live ? hi_terminal_screen_keys_fd() : -1;
}

void hi_record_progress_note(struct hi_record_progress *p, const char *text)
{
	char safe[2048];

	if (p->live && hi_terminal_screen_is_open()) {
		snprintf(p->note, sizeof(p->note), "%s", text);
		p->noted_ns = hi_clock_ns();
		return;
	}
	if (p->is_open)
		fprintf(stderr, "\n");
	p->is_open = false;
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
}

/* ---- lines ---- */

/* Estimates are marked. */
static const char *mark_of_samples(const struct hi_recording *recording)
{
	return hi_recording_sample_bytes(recording) ? "~" : "";
}

/* ", most by make_node (list.c:39): 1.2 MiB"; "" if nothing is known. */
static void put_top_site(char *out, size_t size, const struct hi_record_progress *p)
{
	const struct hi_live_site *top = hi_live_sites_largest(p->sites);
	const char *mark = mark_of_samples(hi_recorder_recording(p->recorder));
	char name[100], where[80], bytes[24], raw[300];

	out[0] = '\0';
	if (!top)
		return;
	hi_live_site_name(top, name, sizeof(name));
	hi_live_site_where(top, where, sizeof(where));
	snprintf(raw, sizeof(raw), "; most by %s%s%s%s: %s%s", name, *where ? " (" : "",
		 where, *where ? ")" : "", mark, hi_text_bytes(bytes, top->bytes));
	hi_text_escape(out, size, raw, strlen(raw));
}

static void print_record_line(struct hi_record_progress *p, uint64_t now)
{
	const struct hi_recording *recording = hi_recorder_recording(p->recorder);
	struct hi_context_totals t = hi_recording_totals(recording);
	uint64_t ns = now - p->shown_ns, start = hi_recorder_start_ns(p->recorder);
	struct hi_recording_counts counts;
	const char *mark = mark_of_samples(recording);
	char rate[32], live[32], bytes[24], lost[32], text[160], top[1280] = "";

	hi_recording_counts(recording, &counts);
	snprintf(
		text, sizeof(text), "%llu s, %s%s allocations/s, %s%s live (%s%s)%s%s%s",
		(now - start) / HI_NS_PER_S, mark,
		hi_text_count(rate, (t.allocs - p->allocs) * HI_NS_PER_S / (ns ? ns : 1)),
		mark, hi_text_count(live, hi_totals_live(&t)), mark,
		hi_text_bytes(bytes, hi_totals_live_bytes(&t)), counts.lost ? ", " : "",
		counts.lost ? hi_text_count(lost, counts.lost) : "",
		counts.lost ? " lost" : "");
	/* One that is replaced must fit into a line. */
	if (!p->replaces_line)
		put_top_site(top, sizeof(top), p);
	fprintf(stderr, p->replaces_line ? "\r\033[K%s%s" : "heapinspect: %s%s\n", text,
		top);
	p->is_open = p->replaces_line;
	p->allocs = t.allocs;
}

/* ---- windows ---- */

static enum hi_status take_window_rates(struct hi_record_progress *p, uint64_t now,
					struct hi_error *err)
{
	p->windows = hi_windows_totals(windows_of(p));
	p->time_ns = now - hi_recorder_start_ns(p->recorder);
	return hi_record_rates_look(&p->rates, p->recorder, p->sites, err);
}

/* "; most by make_node (list.c:39): ~1,200/s"; "" if nothing is known. */
static void put_top_rate(char *out, size_t size, const struct hi_record_progress *p)
{
	struct hi_window_rate rate;
	const struct hi_live_site *top = hi_record_rates_top(&p->rates, p->sites, &rate);
	char name[100], where[80], count[32], raw[300];

	out[0] = '\0';
	if (!top)
		return;
	hi_live_site_name(top, name, sizeof(name));
	hi_live_site_where(top, where, sizeof(where));
	snprintf(raw, sizeof(raw), "; most by %s%s%s%s: ~%s/s", name, *where ? " (" : "",
		 where, *where ? ")" : "", hi_record_rate_text(count, rate.allocs.value));
	hi_text_escape(out, size, raw, strlen(raw));
}

static void print_windows_line(struct hi_record_progress *p)
{
	char n[32], rate[32], range[80], text[256], top[1280] = "";

	snprintf(text, sizeof(text), "%llu s, %s window%s, ~%s allocations/s (95 %%: %s)",
		 p->time_ns / HI_NS_PER_S, hi_text_count(n, p->windows.n),
		 p->windows.n == 1 ? "" : "s",
		 hi_record_rate_text(rate, p->rates.all.allocs.value),
		 hi_record_rate_range(range, &p->rates.all.allocs));
	if (!p->replaces_line)
		put_top_rate(top, sizeof(top), p);
	fprintf(stderr, p->replaces_line ? "\r\033[K%s%s" : "heapinspect: %s%s\n", text,
		top);
	p->is_open = p->replaces_line;
}

/* ---- the live view ---- */

static bool add_live_row(struct hi_record_progress *p, const struct hi_live_site *site)
{
	char name[512], where[256];
	struct hi_record_live_row row = {
		.name = hi_arena_strdup(&p->texts,
					hi_live_site_name(site, name, sizeof(name))),
		.where = hi_arena_strdup(&p->texts,
					 hi_live_site_where(site, where, sizeof(where)))};

	return row.name && row.where && hi_vector_push(&p->rows, row);
}

static struct hi_record_live_sums sums_of_site(const struct hi_live_site *site)
{
	return (struct hi_record_live_sums){site->live, site->bytes, site->allocs};
}

static bool take_live_sites(struct hi_record_progress *p)
{
	size_t n;
	const struct hi_live_site *sites = hi_live_sites_all(p->sites, &n);

	for (size_t i = 0; i < n; i++) {
		if (i == p->rows.count && !add_live_row(p, &sites[i]))
			return false;
		p->rows.items[i].now = sums_of_site(&sites[i]);
	}
	return true;
}

static enum hi_status add_live_sample(struct hi_record_progress *p, uint64_t now,
				      struct hi_error *err)
{
	const struct hi_recording *recording = hi_recorder_recording(p->recorder);
	struct hi_context_totals t = hi_recording_totals(recording);
	struct hi_live_site unnamed = hi_live_sites_unnamed(p->sites);
	struct hi_recording_counts counts;
	struct hi_record_live_sample sample = {
		.exe = hi_recorder_exe(p->recorder),
		.followed = p->followed,
		.pid = (int)p->options->target.pid,
		.sample_bytes = hi_recording_sample_bytes(recording),
		.time_ns = now - hi_recorder_start_ns(p->recorder),
		.for_ns = p->options->series.for_ns,
		.all = {hi_totals_live(&t), hi_totals_live_bytes(&t), t.allocs},
		.unnamed = sums_of_site(&unnamed),
		.note = now - p->noted_ns < note_ns ? p->note : ""};

	hi_recording_counts(recording, &counts);
	sample.lost = counts.lost;
	if (!take_live_sites(p))
		return hi_fail_memory(err, "live view");
	sample.rows = p->rows.items;
	sample.n_rows = p->rows.count;
	return hi_record_live_add(p->live, &sample, err);
}

/* Names of rows are those of the sites. */
static enum hi_status draw_rates(struct hi_record_progress *p, bool is_last,
				 const struct hi_text_options *looks, FILE *out,
				 struct hi_error *err)
{
	size_t n = p->rows.count < p->rates.sites.count ? p->rows.count
							: p->rates.sites.count;
	HI_GUARD(free)
	struct hi_record_rates_row *rows = hi_calloc(n + 1, sizeof(*rows));
	const struct hi_record_rates_looks how = {
		.lines = hi_terminal_screen_lines(p->screen.fd),
		.order = p->order,
		.keys = hi_terminal_screen_keys_fd() >= 0,
		.pauses = p->pauses,
		.is_last = is_last};
	struct hi_record_rates_sample sample = {
		.exe = hi_recorder_exe(p->recorder),
		.followed = p->followed,
		.pid = (int)p->options->target.pid,
		.time_ns = p->time_ns,
		.for_ns = p->options->series.for_ns,
		.totals = p->windows,
		.all = p->rates.all,
		.rows = rows,
		.n_rows = n,
		.note = hi_clock_ns() - p->noted_ns < note_ns ? p->note : ""};
	struct hi_recording_counts counts;

	if (!rows)
		return hi_fail_memory(err, "live view");
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct hi_record_rates_row){p->rows.items[i].name,
						       p->rows.items[i].where,
						       p->rates.sites.items[i]};
	hi_recording_counts(hi_recorder_recording(p->recorder), &counts);
	sample.lost = counts.lost;
	return hi_record_rates_draw(&sample, &how, looks, out, err);
}

static enum hi_status draw_live_rows(struct hi_record_progress *p, bool is_last,
				     const struct hi_text_options *looks, FILE *out,
				     struct hi_error *err)
{
	unsigned lines = hi_terminal_screen_lines(p->screen.fd);

	if (windows_of(p))
		return draw_rates(p, is_last, looks, out, err);
	if (is_last)
		return hi_record_live_print(p->live, lines, looks, out, err);
	hi_record_live_show_keys(p->live, hi_terminal_screen_keys_fd() >= 0, p->pauses);
	return hi_record_live_draw(p->live, lines, looks, out, err);
}

static enum hi_status draw_record_view(struct hi_record_progress *p, struct hi_error *err)
{
	struct hi_text_options looks = hi_output_looks(p->options, p->screen.fd);
	struct hi_sink_text text;
	bool fine;

	if (hi_sink_text_open(&text, err) != HI_OK)
		return HI_NO_MEMORY;
	if (!hi_terminal_screen_is_open())
		hi_terminal_screen_open(p->screen.fd, true);
	fine = draw_live_rows(p, false, &looks, text.file, err) == HI_OK;
	return hi_sink_text_write(&text, fine, &p->screen, err);
}

/* On the screen that stays, above the report. */
static void print_last_view(struct hi_record_progress *p)
{
	struct hi_text_options looks = hi_output_looks(p->options, p->screen.fd);
	struct hi_sink_text text;
	struct hi_error quiet;
	bool fine;

	if (hi_sink_text_open(&text, &quiet) != HI_OK)
		return;
	fine = draw_live_rows(p, true, &looks, text.file, &quiet) == HI_OK;
	fputc('\n', text.file);
	(void)!hi_sink_text_write(&text, fine, &p->screen, &quiet);
}

/* ---- without a heap ---- */

static int compare_sites_by_bytes(const void *a, const void *b)
{
	const struct hi_live_site *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return strcmp(x->function, y->function);
}

static void print_site_row(const struct hi_live_site *site, const char *mark)
{
	char name[200], where[120], safe[4 * 200], place[4 * 120];
	char bytes[26], live[34], allocs[32], size[24], count[32];

	hi_live_site_name(site, name, sizeof(name));
	hi_live_site_where(site, where, sizeof(where));
	hi_text_escape(safe, sizeof(safe), name, strlen(name));
	hi_text_escape(place, sizeof(place), where, strlen(where));
	snprintf(bytes, sizeof(bytes), "%s%s", mark, hi_text_bytes(size, site->bytes));
	snprintf(live, sizeof(live), "%s%s", mark, hi_text_count(count, site->live));
	printf("  %-22.22s %11s %9s %10s  %.22s\n", safe, bytes, live,
	       hi_text_count(allocs, site->allocs), place);
}

enum hi_status hi_record_progress_print(struct hi_record_progress *p,
					struct hi_error *err)
{
	const struct hi_recording *recording = hi_recorder_recording(p->recorder);
	const char *mark = mark_of_samples(recording);
	struct hi_live_site unnamed;
	struct hi_live_site *rows;
	size_t n;
	enum hi_status status = hi_live_sites_finish(
		p->sites, recording, hi_recorder_code(p->recorder)->now, err);
	const struct hi_live_site *all = hi_live_sites_all(p->sites, &n);

	rows = hi_realloc_array(NULL, n + 1, sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "sites of allocations");
	if (n)
		memcpy(rows, all, n * sizeof(*rows));
	unnamed = hi_live_sites_unnamed(p->sites);
	qsort(rows, n, sizeof(*rows), compare_sites_by_bytes);
	printf("Live by the events alone, without objects: requested bytes\n"
	       "  %-22s %11s %9s %10s  %s\n",
	       "function", "bytes", "blocks", "allocated", "where");
	for (size_t i = 0; i < n && i < MOST_SITES && rows[i].bytes; i++)
		print_site_row(&rows[i], mark);
	if (unnamed.bytes)
		print_site_row(&unnamed, mark);
	free(rows);
	return fflush(stdout) == 0 || status != HI_OK
		       ? status
		       : hi_fail_errno(err, "standard output");
}

static void sort_record_view(struct hi_record_progress *p)
{
	if (windows_of(p))
		p->order = p->order == HI_RATES_BY_BYTES ? HI_RATES_BY_ALLOCATIONS
							 : HI_RATES_BY_BYTES;
	else
		hi_record_live_sort(p->live);
}

enum hi_status hi_record_progress_take_keys(struct hi_record_progress *p,
					    struct hi_error *err)
{
	struct pollfd keys_fd = {.fd = hi_record_progress_keys_fd(p), .events = POLLIN};
	char keys[16];
	ssize_t n;

	if (keys_fd.fd < 0 || poll(&keys_fd, 1, 0) <= 0)
		return HI_OK;
	n = read(keys_fd.fd, keys, sizeof(keys));
	for (ssize_t i = 0; i < n; i++) {
		p->is_ended |= keys[i] == 'q' || keys[i] == 'Q';
		p->pauses ^= keys[i] == 'p' || keys[i] == ' ';
		if (keys[i] == 's')
			sort_record_view(p);
	}
	return n > 0 ? draw_record_view(p, err) : HI_OK;
}

/* ---- both ---- */

static enum hi_status refresh_sites(struct hi_record_progress *p, uint64_t now,
				    struct hi_error *err)
{
	if (now - p->added_ns < names_period_ns)
		return HI_OK;
	p->added_ns = now;
	return hi_live_sites_refresh(p->sites, hi_recorder_recording(p->recorder), err);
}

/* Once. */
static void note_blind_windows(struct hi_record_progress *p)
{
	if (p->is_blind || !windows_of(p) || !hi_recorder_is_blind(p->recorder))
		return;
	p->is_blind = true;
	hi_record_progress_note(p, "the first thread of the program has ended, which "
				   "probes of windows need: they see nothing from now "
				   "on, and figures are of the time before");
}

static enum hi_status show_record_view(struct hi_record_progress *p, uint64_t now,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (p->pauses)
		return HI_OK;
	if (!windows_of(p))
		status = add_live_sample(p, now, err);
	else if (!take_live_sites(p))
		status = hi_fail_memory(err, "live view");
	else
		status = take_window_rates(p, now, err);
	return status == HI_OK ? draw_record_view(p, err) : status;
}

static enum hi_status print_progress_line(struct hi_record_progress *p, uint64_t now,
					  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!windows_of(p)) {
		print_record_line(p, now);
		return HI_OK;
	}
	status = take_window_rates(p, now, err);
	if (status == HI_OK)
		print_windows_line(p);
	return status;
}

enum hi_status hi_record_progress_show(struct hi_record_progress *p, struct hi_error *err)
{
	uint64_t now = hi_clock_ns();
	enum hi_status status = HI_OK;

	if (p->is_quiet && !p->live)
		return HI_OK;
	note_blind_windows(p);
	status = refresh_sites(p, now, err);
	if (status != HI_OK || now - p->shown_ns < p->period_ns)
		return status;
	status = p->live ? show_record_view(p, now, err)
			 : print_progress_line(p, now, err);
	p->shown_ns = now;
	return status;
}

void hi_record_progress_close(struct hi_record_progress *p)
{
	bool was_shown = p && p->live && hi_terminal_screen_is_open();

	if (!p)
		return;
	if (was_shown) {
		hi_terminal_screen_close();
		print_last_view(p);
	}
	if (p->is_open)
		fprintf(stderr, "\n");
	hi_record_live_destroy(p->live);
	hi_record_rates_free(&p->rates);
	hi_vector_free(&p->rows);
	hi_arena_free(&p->texts);
	hi_live_sites_destroy(p->sites);
	free(p);
}

/* "malloc of libc.so.6, pool_get, mmap" */
static void name_followed(const struct hi_recorder *recorder, char *out, size_t size)
{
	const struct hi_event_source_name *sources;
	const char *module = hi_recorder_module(recorder);
	char name[4 * sizeof(sources->name)];
	size_t n = 0, used = 0;

	sources = hi_recording_sources(hi_recorder_recording(recorder), &n);
	out[0] = '\0';
	if (*module) {
		hi_text_escape(name, sizeof(name), module, strlen(module));
		used = (size_t)snprintf(out, size, "malloc of %s", name);
	}
	if (hi_recorder_follows_python_heap(recorder) && used < size)
		used += (size_t)snprintf(out + used, size - used, ", pymalloc");
	for (size_t i = 0; i < n && used < size; i++) {
		if (sources[i].family == HI_FAMILY_MALLOC)
			continue;
		hi_text_escape(name, sizeof(name), sources[i].name,
			       strlen(sources[i].name));
		used += (size_t)snprintf(out + used, size - used, "%s%s",
					 used ? ", " : "", name);
	}
}

static void say_begun(const struct hi_record_progress *p)
{
	if (p->is_quiet)
		return;
	fprintf(stderr, "heapinspect: recording pid %d: %s%s\n",
		(int)p->options->target.pid, p->followed,
		p->options->series.for_ns || p->options->target.program ? ""
									: "; ^C ends it");
}

enum hi_status hi_record_progress_open(const struct hi_options *options, bool is_shown,
				       struct hi_recorder *recorder,
				       struct hi_record_progress **ret,
				       struct hi_error *err)
{
	HI_GUARD(hi_record_progress_close)
	struct hi_record_progress *p = hi_calloc(1, sizeof(*p));
	bool is_quiet = !is_shown || options->output.quiet;
	bool is_view =
		!is_quiet && !options->output.json && hi_terminal_screen_is_possible();
	enum hi_status status;

	if (!p)
		return hi_fail_memory(err, "recording");
	p->options = options;
	p->is_quiet = is_quiet;
	p->recorder = recorder;
	p->shown_ns = p->added_ns = hi_recorder_start_ns(recorder);
	p->replaces_line = isatty(STDERR_FILENO);
	p->period_ns = is_view || p->replaces_line ? screen_period_ns : line_period_ns;
	p->screen = hi_sink_file_stdout();
	if (is_view && !(p->live = hi_record_live_create()))
		return hi_fail_memory(err, "live view");
	name_followed(recorder, p->followed, sizeof(p->followed));
	say_begun(p);
	status = hi_live_sites_create(options, recorder, &p->sites, err);
	if (status == HI_OK)
		*ret = hi_take(p);
	return status;
}
