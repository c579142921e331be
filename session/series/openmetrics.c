/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The censuses of a file as OpenMetrics: gauges with the time of each census, for
 * `promtool tsdb create-blocks-from openmetrics`. The format wants all samples of one
 * series of numbers together, so that the largest types are kept over all censuses.
 */
#include "session/series/openmetrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/text.h"
#include "report/exports/prometheus_labels.h"
#include "report/parts/report_node.h"
#include "session/operands.h"
#include "session/series/file.h"

enum { TOP_TYPES = 50, KEY = 4096 };

struct value {
	uint64_t bytes, objects;
};

struct metrics {
	FILE *out;
	const struct hi_options *options;
	struct hi_arena arena;
	const char *exe; /* of the process; NULL: not read yet */
	int pid;
	const struct hi_snapshots *series;
	struct hi_interner names;
	struct HI_VECTOR(uint64_t) most; /* bytes in any census, by name - 1 */
	uint32_t *order;		 /* names, most bytes first */
	uint32_t *row_of;		 /* by name - 1: its row of values, or shown */
	size_t shown;			 /* rows of names; the next is of the others */
	struct value *values;		 /* (shown + 1) rows of n_entries */
	/* By entry; UINT64_MAX: unknown. */
	uint64_t *times_ms, *rss;
	struct hi_leak_totals *leaks;
	size_t entry; /* that is read */
};

static void metrics_free(struct metrics *m)
{
	hi_interner_free(&m->names);
	hi_arena_free(&m->arena);
	hi_vector_free(&m->most);
	free(m->order);
	free(m->row_of);
	free(m->values);
	free(m->times_ms);
	free(m->rss);
	free(m->leaks);
}

/* ---- which types ---- */

/* "TYPE\nMODULE": one series for types of one displayed name and module. */
static const char *key_of_row(const struct hi_series_file_census *c, size_t row,
			      char key[KEY])
{
	const struct hi_type_name *type = &c->graph->types[c->census->rows[row].type];
	char shown[HI_TYPE_SHORT_SIZE];

	snprintf(key, KEY, "%.3000s\n%.900s", hi_prometheus_type(type->name, shown),
		 hi_text_or_empty(type->module));
	return key;
}

static enum hi_status note_most(void *arg, const struct hi_series_file_census *c,
				struct hi_error *err)
{
	struct metrics *m = arg;
	char key[KEY];

	for (size_t i = 0; i < c->census->n_rows; i++) {
		uint32_t name = hi_interner_add(&m->names, key_of_row(c, i, key));

		if (!name || (name > m->most.count && !hi_vector_push(&m->most, 0)))
			return hi_fail_memory(err, "types");
		if (c->census->rows[i].shallow > m->most.items[name - 1])
			m->most.items[name - 1] = c->census->rows[i].shallow;
	}
	if (!m->exe) {
		m->exe = hi_arena_printf(&m->arena, "%s",
					 hi_snapshot_text(c->snapshot, "head.exe", ""));
		m->pid = (int)hi_snapshot_number(c->snapshot, "head.pid", 0);
	}
	return m->exe ? HI_OK : hi_fail_memory(err, "metrics");
}

/* Most bytes first; of equal ones the first. */
static int by_most(const void *a, const void *b, void *arg)
{
	const struct metrics *m = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t more = m->most.items[x - 1], less = m->most.items[y - 1];

	return more != less ? (more < less ? 1 : -1) : (x > y) - (x < y);
}

static enum hi_status choose_types(struct metrics *m, size_t top, struct hi_error *err)
{
	size_t n = m->most.count, entries = m->series->n_entries;

	m->shown = n < top ? n : top;
	m->order = hi_calloc(n + 1, sizeof(*m->order));
	m->row_of = hi_calloc(n + 1, sizeof(*m->row_of));
	m->values = hi_calloc((m->shown + 1) * entries, sizeof(*m->values));
	m->times_ms = hi_calloc(entries, sizeof(*m->times_ms));
	m->rss = hi_calloc(entries, sizeof(*m->rss));
	m->leaks = hi_calloc(entries, sizeof(*m->leaks));
	if (!m->order || !m->row_of || !m->values || !m->times_ms || !m->rss || !m->leaks)
		return hi_fail_memory(err, "metrics");
	for (size_t i = 0; i < n; i++)
		m->order[i] = (uint32_t)i + 1;
	qsort_r(m->order, n, sizeof(*m->order), by_most, m);
	for (size_t i = 0; i < n; i++)
		m->row_of[m->order[i] - 1] = (uint32_t)(i < m->shown ? i : m->shown);
	return HI_OK;
}

/* ---- what they were ---- */

/* The clock on the wall may be set back meanwhile, and no moment may come twice. */
static void time_of_census(struct metrics *m)
{
	const struct hi_census_point *first = &m->series->entries[0].point;
	uint64_t since = m->series->entries[m->entry].point.wall_ns - first->wall_ns;
	uint64_t ms = (first->time_ns + since) / 1000000;

	if (m->entry && ms <= m->times_ms[m->entry - 1])
		ms = m->times_ms[m->entry - 1] + 1;
	m->times_ms[m->entry] = ms;
}

static enum hi_status take_values(void *arg, const struct hi_series_file_census *c,
				  struct hi_error *err)
{
	struct metrics *m = arg;
	char key[KEY];

	(void)err;
	time_of_census(m);
	m->rss[m->entry] = hi_snapshot_number(c->snapshot, "ledger.rss", UINT64_MAX);
	m->leaks[m->entry] = hi_series_file_leaks(c->entry, c->snapshot);
	for (size_t i = 0; i < c->census->n_rows; i++) {
		uint32_t name = hi_interner_find(&m->names, key_of_row(c, i, key));
		size_t row = name ? m->row_of[name - 1] : m->shown;
		struct value *value = &m->values[row * m->series->n_entries + m->entry];

		value->bytes += c->census->rows[i].shallow;
		value->objects += c->census->rows[i].count;
	}
	m->entry++;
	return HI_OK;
}

/* ---- writing ---- */

static void write_metric_family(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# TYPE heapinspect_%s gauge\n# HELP heapinspect_%s %s\n", name,
		name, help);
}

static void put_time(const struct metrics *m, size_t entry)
{
	fprintf(m->out, " %" PRIu64 ".%03" PRIu64 "\n", m->times_ms[entry] / 1000,
		m->times_ms[entry] % 1000);
}

enum {
	LIVE_BYTES,
	LIVE_OBJECTS,
	LEAK_BYTES,
	LIKELY_BYTES,
	GARBAGE_BYTES,
	UNCOLLECTABLE_BYTES,
	LOST_BYTES,
	RSS_BYTES,
	SUMS
};

static uint64_t sum_of(const struct metrics *m, int which, size_t entry)
{
	const struct hi_census_point *p = &m->series->entries[entry].point;
	const struct hi_leak_totals *leaks = &m->leaks[entry];
	const uint64_t values[SUMS] = {[LIVE_BYTES] = p->bytes,
				       [LIVE_OBJECTS] = p->objects,
				       [LEAK_BYTES] = leaks->certain.bytes,
				       [LIKELY_BYTES] = leaks->likely.bytes,
				       [GARBAGE_BYTES] = leaks->garbage.bytes,
				       [UNCOLLECTABLE_BYTES] = leaks->uncollectable.bytes,
				       [LOST_BYTES] = leaks->lost.bytes,
				       [RSS_BYTES] = m->rss[entry]};

	return values[which];
}

static void put_process_labels(const struct metrics *m, const char *type,
			       const char *module)
{
	const struct hi_prometheus_labels labels = {.exe = m->exe,
						    .pid = m->pid,
						    .added = m->options->output.labels,
						    .n_added =
							    m->options->output.n_labels};

	hi_prometheus_put_labels(m->out, &labels, type, module);
}

static void put_type_labels(const struct metrics *m, size_t row)
{
	const char *key =
		row < m->shown ? hi_interner_name(&m->names, m->order[row]) : "(other)\n";
	const char *end = strrchr(key, '\n');
	char type[KEY];

	snprintf(type, sizeof(type), "%.*s", (int)(end - key), key);
	put_process_labels(m, type, end + 1);
}

static void put_total_gauges(const struct metrics *m)
{
	static const struct {
		const char *name, *help;
	} sums[SUMS] = {
		[LIVE_BYTES] = {"live_bytes", "Bytes of live objects."},
		[LIVE_OBJECTS] = {"live_objects", "Objects that a root leads to."},
		[LEAK_BYTES] = {"leak_bytes",
				"Bytes that nothing leads to, whatever types say, and no "
				"collector will take; absent where unknown."},
		[LIKELY_BYTES] = {"leak_likely_bytes",
				  "Bytes that only words which are no pointers by their "
				  "types lead to; absent where unknown."},
		[GARBAGE_BYTES] = {"garbage_bytes",
				   "Bytes that the next collection takes; absent where "
				   "unknown."},
		[UNCOLLECTABLE_BYTES] = {"uncollectable_bytes",
					 "Bytes that the collector cannot take; absent "
					 "where unknown."},
		[LOST_BYTES] = {"lost_bytes",
				"Bytes that references which were lost hold; absent "
				"where unknown."},
		[RSS_BYTES] = {"rss_bytes", "Resident bytes of the process."},
	};

	for (int which = 0; which < SUMS; which++) {
		write_metric_family(m->out, sums[which].name, sums[which].help);
		for (size_t i = 0; i < m->series->n_entries; i++) {
			uint64_t value = sum_of(m, which, i);

			if (value == UINT64_MAX)
				continue; /* unknown */
			fprintf(m->out, "heapinspect_%s", sums[which].name);
			put_process_labels(m, NULL, NULL);
			fprintf(m->out, " %" PRIu64, value);
			put_time(m, i);
		}
	}
	write_metric_family(m->out, "pause_seconds",
			    "Duration of the pause of a census.");
	for (size_t i = 0; i < m->series->n_entries; i++) {
		uint64_t ns = m->series->entries[i].point.pause_ns;

		fputs("heapinspect_pause_seconds", m->out);
		put_process_labels(m, NULL, NULL);
		fprintf(m->out, " %" PRIu64 ".%09" PRIu64, ns / 1000000000,
			ns % 1000000000);
		put_time(m, i);
	}
}

static void put_types(const struct metrics *m, const char *name, const char *help,
		      bool bytes)
{
	size_t rows = m->shown + (m->shown < m->most.count);

	write_metric_family(m->out, name, help);
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < m->series->n_entries; i++) {
			const struct value *value =
				&m->values[row * m->series->n_entries + i];

			fprintf(m->out, "heapinspect_%s", name);
			put_type_labels(m, row);
			fprintf(m->out, " %" PRIu64,
				bytes ? value->bytes : value->objects);
			put_time(m, i);
		}
}

enum hi_status hi_series_file_openmetrics(const struct hi_snapshots *s,
					  const struct hi_options *o, FILE *out,
					  struct hi_error *err)
{
	struct metrics m = {.out = out, .options = o, .series = s};
	enum hi_status status = hi_series_file_each(s, note_most, &m, err);

	if (status == HI_OK)
		status = choose_types(&m, hi_lookup_top(o, TOP_TYPES), err);
	if (status == HI_OK)
		status = hi_series_file_each(s, take_values, &m, err);
	if (status == HI_OK) {
		put_total_gauges(&m);
		put_types(&m, "type_bytes", "Live bytes by type.", true);
		put_types(&m, "type_objects", "Live objects by type.", false);
		fputs("# EOF\n", out);
	}
	metrics_free(&m);
	return status;
}
