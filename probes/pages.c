/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Readings]
 *
 * The hook runs in the tracer, at each stop, and stops may be repeated. So it appends
 * a reading to memory that it shares with the inspector, and only then clears the bits:
 * wherever it is killed, either nothing was cleared, or the reading is there. A reading
 * whose clearing was not completed ends a period, but begins none. The inspector takes
 * the readings after the stop: each one with the one before it is a part of the period.
 *
 * The counters of reclaim are read between reading and clearing. They end the period that
 * the reading ends, and begin that of the clearing, so that no reclaim falls in between.
 *
 * Note [Which addresses]
 *
 * The heap may grow until the stop, so it is not looked up before. All of the address
 * space is read but large mappings of files and shared memory, which have no heap. The
 * kernel has the number of page tables (VmPTE).
 */
#include "probes/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/maps.h"
#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "probes/page_reclaim.h"
#include "probes/page_trial.h"

enum {
	READINGS = 8,	  /* of one period: more than a stop is repeated */
	RANGES_MAX = 512, /* beyond them large mappings are read, too */
	SPARE_TABLES = 64,
	PAGE = 4096,
};
#define LARGE_MAPPING (64ull << 20)
#define USER_END (1ull << 47)
#define CLEAR_NS_PER_TABLE 50000u /* what 512 pages may take: 32 us were measured */

enum reading_result {
	READ_AND_CLEARED,
	READ_NOT_CLEARED, /* the period has ended, and none has begun */
};

struct reading {
	uint64_t n_tables, reclaim, read_ns, clear_ns;
	bool is_whole; /* no table is missing in the ranges */
	_Atomic uint32_t result;
	struct hi_error error; /* of READ_NOT_CLEARED */
};

/* Written by the hook; the tables of reading i are at tables + i * capacity. */
struct shared_readings {
	_Atomic uint32_t n;
	_Atomic uint32_t n_failed; /* calls that left no reading, and cleared nothing */
	struct hi_error error;	   /* of the last one that failed */
	size_t capacity;
	struct reading items[READINGS];
	struct hi_bpf_page_table tables[];
};

/* The state at the beginning of a period. */
struct baseline {
	bool is_valid;
	struct hi_error why; /* it is not valid */
	uint64_t reclaim, generations;
	struct page_table_list HI_VECTOR(struct hi_bpf_page_table) tables;
	struct hi_range ranges[RANGES_MAX]; /* without missing tables */
	size_t n_ranges;
};

struct hi_page_watch {
	const struct hi_target *target;
	struct hi_page_tables *tables;
	int link, clear_fd, vmstat_fd;
	struct hi_stop_hook hook;
	int hook_fds[3];
	struct hi_range ranges[RANGES_MAX];
	size_t n_ranges;
	struct shared_readings *shared;
	size_t shared_size;
	bool is_of_gone; /* the process is gone, and its memory is kept */
	bool with_young; /* accessed bits may be in PG_young, and are found there */
	/* Before the stop that is prepared. */
	struct hi_page_clearers clearers;
	enum hi_status clearers_status;
	struct hi_error clearers_error;
	struct baseline baseline;
	struct hi_page_states states, part;
	struct hi_page_watch_cost cost;
};

HI_DEFINE_GUARD(struct hi_page_watch *, hi_page_watch_close)

#define EXIT_READ_NS 5000000000ull /* what reading may take while an exit is held */

/* ---- in the tracer ---- */

static enum hi_status read_ranges(const struct hi_page_watch *watch, size_t slot,
				  uint64_t deadline_ns, struct hi_error *err)
{
	struct shared_readings *shared = watch->shared;
	struct hi_page_tables_read read = {
		.deadline_ns = deadline_ns,
		.with_young = watch->with_young,
		.tables = shared->tables + slot * shared->capacity,
		.max = shared->capacity,
	};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < watch->n_ranges && status == HI_OK; i++) {
		read.start = watch->ranges[i].start;
		read.end = watch->ranges[i].end;
		status = watch->is_of_gone
				 ? hi_page_tables_read_kept(watch->tables, &read, err)
				 : hi_page_tables_read(watch->tables, watch->link, &read,
						       err);
	}
	shared->items[slot].n_tables = read.n;
	shared->items[slot].is_whole = status == HI_OK && !read.faults;
	/* Pages that do not fit are unknown. */
	return status == HI_LIMIT ? HI_OK : status;
}

static void clear_bits(const struct hi_page_watch *watch, struct reading *reading,
		       const struct hi_stop_moment *moment)
{
	uint64_t start_ns = hi_clock_ns();

	if (start_ns + reading->n_tables * CLEAR_NS_PER_TABLE > moment->deadline_ns) {
		(void)hi_fail(&reading->error, HI_TIMEOUT, 0,
			      "the pause budget is too short for clearing the accessed "
			      "bits: use a longer --max-pause");
		return;
	}
	if (!hi_page_clear(watch->clear_fd, false)) {
		(void)hi_fail_errno(&reading->error, "/proc/PID/clear_refs");
		return;
	}
	if (moment->is_torn(moment)) {
		(void)hi_fail(&reading->error, HI_TIMEOUT, 0,
			      "a thread that slept woke up while the accessed bits were "
			      "cleared");
		return;
	}
	reading->clear_ns = hi_clock_ns() - start_ns;
	atomic_store(&reading->result, READ_AND_CLEARED);
}

/* Appends a reading, of which nothing was cleared yet; NULL: it failed. */
static struct reading *add_reading(const struct hi_page_watch *watch,
				   uint64_t deadline_ns)
{
	struct shared_readings *shared = watch->shared;
	uint32_t slot = atomic_load(&shared->n);
	struct reading *reading = &shared->items[slot % READINGS];
	uint64_t start_ns = hi_clock_ns();
	enum hi_status status = HI_OK;

	if (slot >= READINGS)
		status = hi_fail(&shared->error, HI_LIMIT, 0,
				 "the target was stopped too often in one period");
	if (status == HI_OK)
		status = read_ranges(watch, slot, deadline_ns, &shared->error);
	if (status != HI_OK) {
		atomic_fetch_add(&shared->n_failed, 1);
		return NULL;
	}
	reading->read_ns = hi_clock_ns() - start_ns;
	reading->reclaim = hi_page_reclaim_read(watch->vmstat_fd);
	(void)hi_fail(&reading->error, HI_GONE, 0,
		      "the tracer process ended while the accessed bits were cleared");
	atomic_store(&reading->result, READ_NOT_CLEARED);
	atomic_store(&shared->n, slot + 1);
	return reading;
}

static void run_page_hook(void *arg, const struct hi_stop_moment *moment)
{
	const struct hi_page_watch *watch = arg;
	struct reading *reading = add_reading(watch, moment->deadline_ns);

	if (reading)
		clear_bits(watch, reading, moment);
}

/* ---- in the inspector ---- */

/* The target is stopped at its end, or is gone: no period begins, so that nothing is
 * cleared. */
static void read_pages_at_exit(void *arg)
{
	const struct hi_page_watch *watch = arg;
	struct reading *reading = add_reading(watch, hi_clock_ns() + EXIT_READ_NS);

	if (reading)
		(void)hi_fail(&reading->error, HI_GONE, 0, "the process has exited");
}

static int open_process_file(pid_t pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, flags | O_CLOEXEC);
}

/* Opens that of a thread that lives: if the main thread has exited its own file does
 * nothing. */
static enum hi_status open_clear_refs(struct hi_page_watch *watch, struct hi_error *err)
{
	pid_t pid = hi_target_live_thread(watch->target->pid);

	hi_close_fd(watch->clear_fd);
	watch->clear_fd = pid ? open_process_file(pid, "clear_refs", O_WRONLY) : -1;
	if (!pid || (watch->clear_fd < 0 && errno == ENOENT))
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited",
			       (int)watch->target->pid);
	if (watch->clear_fd < 0 && errno == EACCES)
		return hi_fail(err, HI_CANNOT_ATTACH, 0,
			       "/proc/%d/clear_refs may not be written to: run as root, "
			       "or as the target's user with CAP_BPF and CAP_PERFMON",
			       (int)pid);
	if (watch->clear_fd < 0)
		return hi_fail_errno(err, "/proc/%d/clear_refs", (int)pid);
	return HI_OK;
}

static enum hi_status open_vmstat(struct hi_page_watch *watch, struct hi_error *err)
{
	watch->vmstat_fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	if (watch->vmstat_fd < 0)
		return hi_fail_errno(err, "/proc/vmstat");
	if (hi_page_reclaim_read(watch->vmstat_fd) == HI_PAGE_RECLAIM_UNKNOWN)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "/proc/vmstat has no counters of reclaim, which clears "
			       "the accessed bits of pages");
	return HI_OK;
}

static enum hi_status open_page_watch(struct hi_page_watch *watch,
				      const struct hi_page_faults *faults,
				      struct hi_error *err)
{
	enum hi_status status = hi_page_tables_open(&watch->tables, err);

	if (status == HI_OK)
		status = open_clear_refs(watch, err);
	if (status == HI_OK)
		status = open_vmstat(watch, err);
	if (status == HI_OK)
		status = hi_page_clearers_look("/sys", &watch->clearers, err);
	watch->with_young = watch->clearers.uses_young;
	if (status == HI_OK)
		status = hi_page_trial_run(watch->tables, faults, watch->with_young, err);
	if (status == HI_OK)
		status = hi_page_tables_link(watch->tables, watch->target->pid,
					     &watch->link, err);
	return status;
}

enum hi_status hi_page_watch_open_with(const struct hi_target *target,
				       const struct hi_page_faults *faults,
				       struct hi_page_watch **ret, struct hi_error *err)
{
	HI_GUARD(hi_page_watch_close)
	struct hi_page_watch *watch = hi_calloc(1, sizeof(*watch));
	enum hi_status status;

	if (!watch)
		return hi_fail_memory(err, "page watch");
	watch->target = target;
	watch->link = watch->clear_fd = watch->vmstat_fd = -1;
	(void)hi_fail(&watch->baseline.why, HI_NOT_FOUND, 0,
		      "this was the first stop: the accessed bits of pages were cleared, "
		      "and are read at the next one");
	status = open_page_watch(watch, faults, err);
	if (status != HI_OK)
		return status;
	*ret = hi_take(watch);
	return HI_OK;
}

enum hi_status hi_page_watch_open(const struct hi_target *target,
				  struct hi_page_watch **ret, struct hi_error *err)
{
	return hi_page_watch_open_with(target, NULL, ret, err);
}

static void unmap_readings(struct hi_page_watch *watch)
{
	if (watch->shared)
		munmap(watch->shared, watch->shared_size);
	watch->shared = NULL;
}

void hi_page_watch_close(struct hi_page_watch *watch)
{
	if (!watch)
		return;
	hi_close_fd(watch->link);
	hi_close_fd(watch->clear_fd);
	hi_close_fd(watch->vmstat_fd);
	hi_page_tables_close(watch->tables);
	unmap_readings(watch);
	hi_vector_free(&watch->baseline.tables);
	hi_page_states_free(&watch->states);
	hi_page_states_free(&watch->part);
	free(watch);
}

/* ---- before a stop ---- */

static bool is_unwanted(const struct hi_mapping *mapping)
{
	return mapping->inode && (mapping->shared || !(mapping->prot & HI_PROT_WRITE)) &&
	       mapping->end - mapping->start >= LARGE_MAPPING;
}

static void add_page_range(struct hi_page_watch *watch, uint64_t start, uint64_t end)
{
	const uint64_t mask = HI_PAGE_TABLE_BYTES - 1;

	/* The tables at the edges also have other pages. */
	start &= ~mask;
	end = (end + mask) & ~mask;
	if (watch->n_ranges && start < watch->ranges[watch->n_ranges - 1].end)
		start = watch->ranges[watch->n_ranges - 1].end;
	if (start < end)
		watch->ranges[watch->n_ranges++] = (struct hi_range){start, end};
}

/* See Note [Which addresses]. */
static void choose_ranges(struct hi_page_watch *watch, const struct hi_mapping *mappings,
			  size_t n)
{
	uint64_t start = 0;

	watch->n_ranges = 0;
	for (size_t i = 0; i < n && watch->n_ranges < RANGES_MAX - 1; i++) {
		if (!is_unwanted(&mappings[i]))
			continue;
		add_page_range(watch, start, mappings[i].start);
		start = mappings[i].end;
	}
	if (start < USER_END)
		add_page_range(watch, start, USER_END);
}

static enum hi_status find_page_ranges(struct hi_page_watch *watch, struct hi_error *err)
{
	HI_GUARD(close)
	int fd = hi_proc_open(hi_target_live_thread(watch->target->pid), "maps");
	HI_GUARD(free) char *text = NULL;
	struct hi_mapping *mappings = NULL;
	size_t capacity = 0, size = 0, n = 0;
	enum hi_status status;

	if (fd < 0)
		return hi_fail_errno(err, "/proc/%d/maps", (int)watch->target->pid);
	status = hi_proc_read(fd, &text, &capacity, &size, err);
	if (status == HI_OK)
		status = hi_maps_parse(text, size, &mappings, &n, err);
	if (status != HI_OK)
		return status;
	choose_ranges(watch, mappings, n);
	hi_mappings_free(mappings, n);
	return HI_OK;
}

static size_t estimate_tables(const struct hi_page_watch *watch)
{
	char text[8192];
	uint64_t bytes = 0;

	if (hi_proc_read_small(hi_target_live_thread(watch->target->pid), "status", text,
			       sizeof(text), NULL))
		bytes = hi_proc_field_bytes(text, "VmPTE", 0);
	return bytes / PAGE + bytes / PAGE / 4 + SPARE_TABLES;
}

/* Empty. The memory of the first reading is touched now and not during the stop. */
static enum hi_status make_readings(struct hi_page_watch *watch, struct hi_error *err)
{
	size_t capacity = estimate_tables(watch);
	size_t first = sizeof(*watch->shared) + capacity * sizeof(*watch->shared->tables);
	void *pages;

	if (!watch->shared || watch->shared->capacity < capacity) {
		unmap_readings(watch);
		watch->shared_size = first + (READINGS - 1) * capacity *
						     sizeof(*watch->shared->tables);
		pages = mmap(NULL, watch->shared_size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (pages == MAP_FAILED)
			return hi_fail_memory(err, "readings of page tables");
		watch->shared = pages;
		watch->shared->capacity = capacity;
	}
	(void)madvise(watch->shared, first, MADV_POPULATE_WRITE);
	atomic_store(&watch->shared->n, 0);
	atomic_store(&watch->shared->n_failed, 0);
	return HI_OK;
}

static void invalidate_baseline(struct hi_page_watch *watch, const struct hi_error *why)
{
	watch->baseline.is_valid = false;
	watch->baseline.why = *why;
}

/* Bits that were cleared and whose reading is lost now. */
static void drop_untaken_readings(struct hi_page_watch *watch)
{
	struct hi_error why;

	if (!watch->shared || !atomic_load(&watch->shared->n))
		return;
	(void)hi_fail(&why, HI_NOT_FOUND, 0,
		      "what was read at the stop before was not taken");
	invalidate_baseline(watch, &why);
}

/* A mechanism that was off when the watch was opened cannot be followed later. */
static enum hi_status look_at_clearers(const struct hi_page_watch *watch,
				       struct hi_page_clearers *ret, struct hi_error *err)
{
	enum hi_status status = hi_page_clearers_look("/sys", ret, err);

	if (status != HI_OK || !ret->uses_young || watch->with_young)
		return status;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "DAMON or idle page tracking was switched on meanwhile, which "
		       "clears the accessed bits of pages: begin anew");
}

enum hi_status hi_page_watch_prepare(struct hi_page_watch *watch,
				     struct hi_stop_options *options,
				     struct hi_error *err)
{
	enum hi_status status;

	drop_untaken_readings(watch);
	watch->is_of_gone = !hi_target_is_alive(watch->target);
	/* For one that is gone the addresses are those of the stop before. */
	status = watch->is_of_gone ? HI_OK : find_page_ranges(watch, err);
	if (status == HI_OK)
		status = make_readings(watch, err);
	watch->clearers_status =
		look_at_clearers(watch, &watch->clearers, &watch->clearers_error);
	if (status == HI_OK && !watch->is_of_gone)
		status = open_clear_refs(watch, err);
	if (status != HI_OK)
		return status;
	watch->hook_fds[0] = watch->link;
	watch->hook_fds[1] = watch->clear_fd;
	watch->hook_fds[2] = watch->vmstat_fd;
	watch->hook = (struct hi_stop_hook){
		.run = run_page_hook,
		.at_exit = read_pages_at_exit,
		.arg = watch,
		.fds = watch->hook_fds,
		.n_fds = 3,
		.next = watch->hook.next,
	};
	hi_stop_hook_add(&options->hook, &watch->hook);
	return HI_OK;
}

/* ---- after a stop ---- */

/* Nothing else than the target and the processor has changed the bits since. */
static enum hi_status check_reclaim(const struct hi_page_watch *watch,
				    const struct reading *reading, struct hi_error *err)
{
	struct hi_page_clearers now;
	enum hi_status status;

	if (reading->reclaim == HI_PAGE_RECLAIM_UNKNOWN ||
	    reading->reclaim != watch->baseline.reclaim)
		return hi_fail(
			err, HI_NOT_FOUND, 0,
			"the kernel reclaimed memory in this period (/proc/vmstat: "
			"pgscan, pgrefill), which clears the accessed bits of "
			"pages");
	status = look_at_clearers(watch, &now, err);
	if (status == HI_OK && now.generations != watch->baseline.generations)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the kernel's multi-generational LRU has made a new "
			       "generation in this period, which clears the accessed "
			       "bits of pages");
	return status;
}

static enum hi_status keep_baseline(struct hi_page_watch *watch, size_t slot,
				    struct hi_error *err)
{
	const struct shared_readings *shared = watch->shared;
	const struct reading *reading = &shared->items[slot];
	const struct hi_bpf_page_table *from = shared->tables + slot * shared->capacity;
	struct baseline *baseline = &watch->baseline;

	if (atomic_load(&reading->result) != READ_AND_CLEARED) {
		invalidate_baseline(watch, &reading->error);
		return HI_OK;
	}
	if (watch->clearers_status != HI_OK) {
		invalidate_baseline(watch, &watch->clearers_error);
		return HI_OK;
	}
	baseline->tables.count = 0;
	baseline->is_valid = false; /* if memory runs out */
	(void)hi_fail_memory(&baseline->why, "page tables");
	if (!hi_vector_append(&baseline->tables, from, reading->n_tables))
		return hi_fail_memory(err, "page tables");
	baseline->n_ranges = reading->is_whole ? watch->n_ranges : 0;
	memcpy(baseline->ranges, watch->ranges,
	       baseline->n_ranges * sizeof(*baseline->ranges));
	baseline->is_valid = true;
	baseline->reclaim = reading->reclaim;
	baseline->generations = watch->clearers.generations;
	return HI_OK;
}

/* The part of the period from the baseline to this reading. */
static enum hi_status take_reading(struct hi_page_watch *watch, size_t slot,
				   struct hi_page_states *states, struct hi_error *err)
{
	const struct shared_readings *shared = watch->shared;
	const struct baseline *baseline = &watch->baseline;
	struct hi_page_reading before = {baseline->tables.items, baseline->tables.count,
					 baseline->ranges, baseline->n_ranges};
	struct hi_page_reading after = {
		shared->tables + slot * shared->capacity, shared->items[slot].n_tables,
		watch->ranges, shared->items[slot].is_whole ? watch->n_ranges : 0};
	enum hi_status status;

	if (!baseline->is_valid) {
		if (err)
			*err = baseline->why;
		return HI_NOT_FOUND;
	}
	status = check_reclaim(watch, &shared->items[slot], err);
	return status == HI_OK ? hi_page_states_compare(states, before, after, err)
			       : status;
}

/*
 * All readings of a period; the last one is the next baseline, whatever happens. A stop
 * without one may be the last of the period: then the pages' states up to there are not
 * known.
 */
static enum hi_status take_readings(struct hi_page_watch *watch, struct hi_error *err)
{
	struct shared_readings *shared = watch->shared;
	enum hi_status status = HI_OK, kept = HI_OK;
	size_t n = atomic_load(&shared->n);

	if (atomic_load(&shared->n_failed)) {
		if (err)
			*err = shared->error;
		status = HI_NOT_FOUND;
	}
	for (size_t i = 0; i < n && kept == HI_OK; i++) {
		if (status == HI_OK)
			status = take_reading(watch, i, i ? &watch->part : &watch->states,
					      err);
		if (status == HI_OK && i)
			hi_page_states_join(&watch->states, &watch->part);
		kept = keep_baseline(watch, i, status == HI_OK ? err : NULL);
	}
	return status == HI_OK ? kept : status;
}

static void forget_states(struct hi_page_watch *watch)
{
	watch->states.addresses.count = watch->states.bits.count = 0;
	watch->states.untouched.count = 0;
}

bool hi_page_watch_has_read(const struct hi_page_watch *watch)
{
	const struct shared_readings *shared = watch->shared;

	return shared && (atomic_load(&shared->n) || atomic_load(&shared->n_failed));
}

enum hi_status hi_page_watch_take(struct hi_page_watch *watch, struct hi_error *err)
{
	struct shared_readings *shared = watch->shared;
	size_t n = shared ? atomic_load(&shared->n) : 0;
	enum hi_status status;

	forget_states(watch);
	if (!hi_page_watch_has_read(watch))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the accessed bits of pages were not read at this stop");
	if (n)
		watch->cost = (struct hi_page_watch_cost){
			.read_ns = shared->items[n - 1].read_ns,
			.clear_ns = shared->items[n - 1].clear_ns,
			.n_tables = shared->items[n - 1].n_tables,
		};
	status = take_readings(watch, err);
	atomic_store(&shared->n, 0);
	atomic_store(&shared->n_failed, 0);
	if (status == HI_OK)
		return HI_OK;
	forget_states(watch);
	return status == HI_NO_MEMORY ? status : HI_NOT_FOUND;
}

enum hi_page_state hi_page_watch_get(const struct hi_page_watch *watch, uint64_t address)
{
	return hi_page_states_get(&watch->states, address);
}

enum hi_page_state hi_page_watch_of_range(const struct hi_page_watch *watch,
					  uint64_t start, uint64_t end)
{
	return hi_page_states_of_range(&watch->states, start, end);
}

const struct hi_page_states *hi_page_watch_states(const struct hi_page_watch *watch)
{
	return &watch->states;
}

struct hi_page_watch_cost hi_page_watch_cost(const struct hi_page_watch *watch)
{
	return watch->cost;
}
