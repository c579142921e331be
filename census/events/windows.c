/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/windows.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vector.h"

enum { MOST_ENTRIES = 1 << 21, NO_ENTRY = 0, MOST_OLD_FREES = 1 << 16 };

/* A context in a batch of windows. Sums of the windows' rates a second. */
struct window_entry {
	uint32_t batch, context;
	uint64_t allocs;
	double alloc_rates, byte_rates;
	double alloc_chance, byte_chance; /* see struct hi_window_sum */
};

/* In the window that is open. */
struct open_count {
	uint64_t allocs, bytes;
	double squares; /* of sizes */
};

struct window_time {
	uint64_t from_ns, length_ns;
};

struct hi_windows {
	size_t most_entries;
	uint32_t batch_length; /* windows */
	struct HI_VECTOR(struct window_time) times;
	struct HI_VECTOR(struct window_entry) entries; /* by batch */
	struct HI_VECTOR(uint32_t) entry_of; /* by context, its last one and 1; 0: none */
	struct HI_VECTOR(struct open_count) open; /* by context */
	struct HI_VECTOR(uint32_t) touched;	  /* contexts of the open window */
	struct HI_VECTOR(uint64_t) reused;	  /* by context */
	struct hi_window_totals totals;
	uint64_t *old_frees; /* MOST_OLD_FREES; their addresses */
	size_t n_old_frees;
	uint64_t each_old_free, all_old_frees;
};

void hi_windows_destroy(struct hi_windows *w)
{
	if (!w)
		return;
	hi_vector_free(&w->times);
	hi_vector_free(&w->entries);
	hi_vector_free(&w->entry_of);
	hi_vector_free(&w->open);
	hi_vector_free(&w->touched);
	hi_vector_free(&w->reused);
	free(w->old_frees);
	free(w);
}

enum hi_status hi_windows_create(size_t most_entries, struct hi_windows **ret,
				 struct hi_error *err)
{
	struct hi_windows *w = hi_calloc(1, sizeof(*w));

	if (w)
		w->old_frees = hi_calloc(MOST_OLD_FREES, sizeof(*w->old_frees));
	if (!w || !w->old_frees) {
		free(w);
		return hi_fail_memory(err, "windows");
	}
	w->each_old_free = 1;
	w->most_entries = most_entries ? most_entries : (size_t)MOST_ENTRIES;
	w->batch_length = 1;
	*ret = w;
	return HI_OK;
}

static enum hi_status fail_by_windows(struct hi_error *err)
{
	return hi_fail_memory(err, "windows");
}

enum hi_status hi_windows_count(struct hi_windows *w, uint32_t context, uint64_t size,
				struct hi_error *err)
{
	struct open_count *count;

	while (w->open.count <= context)
		if (!hi_vector_push(&w->entry_of, NO_ENTRY) ||
		    !hi_vector_push(&w->reused, 0) ||
		    !hi_vector_push(&w->open, (struct open_count){}))
			return fail_by_windows(err);
	count = &w->open.items[context];
	if (!count->allocs && !hi_vector_push(&w->touched, context))
		return fail_by_windows(err);
	count->allocs++;
	count->bytes += size;
	count->squares += (double)size * (double)size;
	return HI_OK;
}

void hi_windows_note_reuse(struct hi_windows *w, uint32_t context)
{
	if (context < w->reused.count)
		w->reused.items[context]++;
}

uint64_t hi_windows_reused(const struct hi_windows *w, uint32_t context)
{
	return context < w->reused.count ? w->reused.items[context] : 0;
}

/* Leaves out each second one when there is no room for more. */
void hi_windows_note_old_free(struct hi_windows *w, uint64_t addr)
{
	uint64_t number = w->all_old_frees++;

	if (w->n_old_frees == MOST_OLD_FREES) {
		for (size_t i = 0; i < MOST_OLD_FREES / 2; i++)
			w->old_frees[i] = w->old_frees[2 * i];
		w->n_old_frees = MOST_OLD_FREES / 2;
		w->each_old_free *= 2;
	}
	if (number % w->each_old_free == 0)
		w->old_frees[w->n_old_frees++] = addr;
}

struct hi_window_frees hi_windows_old_frees(const struct hi_windows *w)
{
	return (struct hi_window_frees){w->old_frees, w->n_old_frees, w->each_old_free};
}

/* ---- batches ---- */

static void add_window_entry(struct window_entry *to, const struct window_entry *more)
{
	to->allocs += more->allocs;
	to->alloc_rates += more->alloc_rates;
	to->byte_rates += more->byte_rates;
	to->alloc_chance += more->alloc_chance;
	to->byte_chance += more->byte_chance;
}

/* Adds to the entry of the batch, which may be a new one: there is room for it. */
static void put_window_entry(struct hi_windows *w, size_t *n,
			     const struct window_entry *entry)
{
	uint32_t *last = &w->entry_of.items[entry->context];

	if (*last && *last <= *n && w->entries.items[*last - 1].batch == entry->batch &&
	    w->entries.items[*last - 1].context == entry->context) {
		add_window_entry(&w->entries.items[*last - 1], entry);
		return;
	}
	w->entries.items[(*n)++] = *entry;
	*last = (uint32_t)*n;
}

/* Two batches become one. */
static void merge_batches(struct hi_windows *w)
{
	size_t n = 0;

	w->batch_length *= 2;
	for (size_t i = 0; i < w->entry_of.count; i++)
		w->entry_of.items[i] = NO_ENTRY;
	for (size_t i = 0; i < w->entries.count; i++) {
		struct window_entry entry = w->entries.items[i];

		entry.batch /= 2;
		put_window_entry(w, &n, &entry);
	}
	w->entries.count = n;
}

static struct window_entry entry_of_count(const struct open_count *count, double seconds)
{
	double square = seconds * seconds;

	return (struct window_entry){.allocs = count->allocs,
				     .alloc_rates = (double)count->allocs / seconds,
				     .byte_rates = (double)count->bytes / seconds,
				     .alloc_chance = (double)count->allocs / square,
				     .byte_chance = count->squares / square};
}

static void add_window_totals(struct hi_window_totals *t, uint64_t length_ns)
{
	t->n++;
	t->covered_ns += length_ns;
	if (!t->shortest_ns || length_ns < t->shortest_ns)
		t->shortest_ns = length_ns;
	if (length_ns > t->longest_ns)
		t->longest_ns = length_ns;
}

enum hi_status hi_windows_end(struct hi_windows *w, uint64_t from_ns, uint64_t to_ns,
			      struct hi_error *err)
{
	uint64_t length_ns = to_ns > from_ns ? to_ns - from_ns : 1;
	uint32_t batch = (uint32_t)(w->times.count / w->batch_length);

	if (!hi_vector_push(&w->times, (struct window_time){from_ns, length_ns}) ||
	    !hi_vector_reserve(&w->entries, w->entries.count + w->touched.count))
		return fail_by_windows(err);
	for (size_t i = 0; i < w->touched.count; i++) {
		struct open_count *count = &w->open.items[w->touched.items[i]];
		struct window_entry entry =
			entry_of_count(count, (double)length_ns / HI_NS_PER_S);

		entry.batch = batch;
		entry.context = w->touched.items[i];
		put_window_entry(w, &w->entries.count, &entry);
		w->totals.allocs += count->allocs;
		w->totals.bytes += count->bytes;
		*count = (struct open_count){};
	}
	w->touched.count = 0;
	add_window_totals(&w->totals, length_ns);
	if (w->entries.count > w->most_entries && w->times.count > w->batch_length)
		merge_batches(w);
	return HI_OK;
}

struct hi_window_totals hi_windows_totals(const struct hi_windows *w)
{
	return w->totals;
}

uint32_t hi_windows_at(const struct hi_windows *w, uint64_t time_ns, uint64_t *length_ret)
{
	size_t low = 0, high = w->times.count;

	while (low < high) { /* the first one that begins later */
		size_t middle = low + (high - low) / 2;

		if (w->times.items[middle].from_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*length_ret = low ? w->times.items[low - 1].length_ns : 0;
	return low ? (uint32_t)(low - 1) : 0;
}

/* ---- the speed in windows ---- */

static const double trap_error = 0.15, least_speed = 0.02;

static double limit_speed(double speed)
{
	return speed > 1 ? 1 : speed < least_speed ? least_speed : speed;
}

/* The usage of a processor in windows may be larger by so much, by how they differ. */
static double chance_of_usage(const struct hi_window_load *l, double usage)
{
	double squares = (double)l->cpu_squares_ns - usage * (double)l->cpu_ns;

	if (l->n < 2 || squares <= 0)
		return 0;
	return hi_student_quantile(l->n - 1) *
	       sqrt(squares / (double)(l->n - 1) / (double)l->cpu_of_ns);
}

struct hi_bounded hi_window_speed(const struct hi_window_load *l)
{
	double usage, gaps, cost, most;

	if (!l->cpu_of_ns || !l->gap_ns || !l->gap_cpu_ns || !l->covered_ns)
		return (struct hi_bounded){1, 1, 1};
	usage = (double)l->cpu_ns / (double)l->cpu_of_ns;
	gaps = (double)l->gap_cpu_ns / (double)l->gap_ns;
	cost = ((double)l->hits * (double)l->trap_ns + (double)l->program_ns) /
	       (double)l->covered_ns;
	most = cost * trap_error + chance_of_usage(l, usage);
	return (struct hi_bounded){limit_speed((usage - cost) / gaps),
				   limit_speed((usage - cost * (1 + trap_error)) / gaps),
				   limit_speed((usage - cost + most) / gaps)};
}

struct hi_bounded hi_window_at_speed(struct hi_bounded estimate,
				     const struct hi_bounded *speed)
{
	return (struct hi_bounded){estimate.value / speed->value,
				   estimate.low / speed->high,
				   speed->low > least_speed ? estimate.high / speed->low
				   : estimate.high > 0	    ? INFINITY
							    : 0};
}

/* ---- estimates ---- */

double hi_student_quantile(uint64_t degrees)
{
	static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571,
					   2.447,  2.365, 2.306, 2.262, 2.228};
	const double z = 1.959964;
	double n = (double)degrees;

	if (degrees == 0)
		degrees = 1;
	if (degrees <= sizeof(quantiles) / sizeof(*quantiles))
		return quantiles[degrees - 1];
	/* The first terms of the series of Cornish and Fisher. */
	return z + (z * z * z + z) / (4 * n) +
	       (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

struct hi_bounded hi_window_mean(const struct hi_window_sum *sum, uint64_t n_windows,
				 uint64_t n_batches)
{
	double n = (double)n_windows, mean = n_windows ? sum->rates / n : 0;
	double between = 0, chance = n_windows ? sum->chance / (n * n) : 0;
	double q = hi_student_quantile(n_batches > 1 ? n_batches - 1 : 1);
	double variance, off, half;

	if (n_batches > 1)
		between = (sum->squares - n * mean * mean) / (double)(n_batches - 1) / n;
	variance = between > chance ? between : chance;
	if (mean <= 0)
		return (struct hi_bounded){};
	off = q * q * variance / mean / 2;
	half = sqrt(q * q * variance + off * off);
	return (struct hi_bounded){mean, mean + off > half ? mean + off - half : 0,
				   mean + off + half};
}

/* The sums of a group. */
struct rate_sums {
	struct hi_window_sum allocs, bytes;
	double batch_allocs, batch_bytes; /* sums of rates of the batch under way */
	uint64_t seen;
};

static uint64_t windows_of_batch(const struct hi_windows *w, uint32_t batch)
{
	uint64_t from = (uint64_t)batch * w->batch_length, n = w->times.count;

	return n - from < w->batch_length ? n - from : w->batch_length;
}

static void end_batch_of_group(struct rate_sums *s, uint64_t n)
{
	s->allocs.squares += s->batch_allocs * s->batch_allocs / (double)n;
	s->bytes.squares += s->batch_bytes * s->batch_bytes / (double)n;
	s->batch_allocs = s->batch_bytes = 0;
}

static void add_entry_to_group(struct rate_sums *s, const struct window_entry *entry)
{
	s->seen += entry->allocs;
	s->batch_allocs += entry->alloc_rates;
	s->batch_bytes += entry->byte_rates;
	s->allocs.rates += entry->alloc_rates;
	s->bytes.rates += entry->byte_rates;
	s->allocs.chance += entry->alloc_chance;
	s->bytes.chance += entry->byte_chance;
}

/* Entries are in the order of batches. touched: groups, with room for n_groups. */
static void sum_group_rates(const struct hi_windows *w, const uint32_t *group_of,
			    uint32_t n_contexts, struct rate_sums *sums,
			    uint32_t *touched)
{
	size_t n_touched = 0;

	for (size_t i = 0; i < w->entries.count; i++) {
		const struct window_entry *entry = &w->entries.items[i];
		uint32_t group = entry->context < n_contexts ? group_of[entry->context]
							     : UINT32_MAX;

		if (group != UINT32_MAX) {
			if (sums[group].batch_allocs <= 0)
				touched[n_touched++] = group;
			add_entry_to_group(&sums[group], entry);
		}
		if (i + 1 < w->entries.count && entry[1].batch == entry->batch)
			continue;
		while (n_touched)
			end_batch_of_group(&sums[touched[--n_touched]],
					   windows_of_batch(w, entry->batch));
	}
}

enum hi_status hi_windows_rates(const struct hi_windows *w, const uint32_t *group_of,
				uint32_t n_contexts, uint32_t n_groups,
				struct hi_window_rate *ret, struct hi_error *err)
{
	HI_GUARD(free) struct rate_sums *sums = hi_calloc(n_groups + 1u, sizeof(*sums));
	HI_GUARD(free) uint32_t *touched = hi_calloc(n_groups + 1u, sizeof(*touched));
	uint64_t n = w->times.count;
	uint64_t n_batches = (n + w->batch_length - 1) / w->batch_length;

	if (!sums || !touched)
		return fail_by_windows(err);
	sum_group_rates(w, group_of, n_contexts, sums, touched);
	for (uint32_t i = 0; i < n_groups; i++)
		ret[i] = (struct hi_window_rate){
			.allocs = hi_window_mean(&sums[i].allocs, n, n_batches),
			.bytes = hi_window_mean(&sums[i].bytes, n, n_batches),
			.seen = sums[i].seen};
	return HI_OK;
}
