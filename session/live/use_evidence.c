/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Budget of probes of uses]
 *
 * A hit takes the target the time that was measured (use_probes.h), and where the kernel
 * single-steps the instruction that of a trap of a watchpoint, too: in virtual machines
 * that takes tens of microseconds. How often a function is called is measured before it
 * gets a probe (use_rates.h). Of the functions that are wanted those are chosen that have
 * most bytes for what they cost, until half of the budget is used, which is
 * HI_PROBE_PERCENT of a processor; the rest is for calls that become more frequent. The others are dropped, for
 * good.
 *
 * The account (Note [Budget of probes] in probe_account.h) pays for what was measured,
 * too. If it is empty all probes are taken away (those of a file are one link of the
 * kernel). They are chosen anew, by the rates that were seen, after the first census at
 * which the account has gained what it owes.
 */
#include "session/live/use_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/search.h"
#include "base/vector.h"
#include "probes/use_probes.h"
#include "session/inspection.h"
#include "session/live/keeper_messages.h"
#include "session/live/probe_account.h"
#include "session/live/symbols.h"
#include "session/live/use_rates.h"

enum {
	CANDIDATES = 2 * HI_BPF_USE_SITES, /* that are measured for one choice */
	PATIENCE_NS = 500000000,	   /* for a target that does not run */
	/* Probes are changed where functions that have none take a part of the bytes. */
	CHANGE_PART = 8,
};

/* Requests to the keeper. */
enum { COUNT_USES, CHOOSE_USES };

/* A function of the list. */
struct chosen {
	uint32_t function;
	uint64_t bytes; /* on the heap, of types that it takes */
};

/* What is known of each. */
struct known {
	bool is_dropped, is_measured;
	uint64_t rate; /* calls a second */
};

struct hi_use_evidence {
	struct hi_probe_account account; /* first; its lock is of `probed` to `calls` */
	struct hi_target *target;
	struct hi_use_functions *functions;
	struct known *known; /* by function */
	struct hi_use_probes *probes;
	struct hi_watchpoints *breakpoints; /* to measure */
	struct hi_use_rates rates;	    /* by them */
	struct chosen probed[HI_BPF_USE_SITES];
	uint64_t seen[HI_BPF_USE_SITES]; /* hits that are paid */
	size_t n_probed;
	uint64_t set_ns; /* when */
	struct hi_use_counts counts;
	/* Of the period that the last stop ended, by address; those since are carried. */
	struct HI_VECTOR(uint64_t) calls;
	struct HI_VECTOR(struct hi_use_call) carried;
	uint64_t stopped_ns;
};

HI_DEFINE_GUARD(struct hi_use_evidence *, hi_use_evidence_close)

/* ---- the account; locked ---- */

static uint64_t cost_of_hit(const struct hi_use_evidence *e, uint32_t function)
{
	uint64_t ns = hi_use_probes_hit_ns(e->probes);

	if (e->functions->items[function].single_stepped)
		ns += hi_watchpoints_hit_ns(e->breakpoints);
	return ns;
}

/* more: by probed function, the time of the hits since the last time. */
static void pay_calls(struct hi_use_evidence *e, uint64_t more[HI_BPF_USE_SITES])
{
	hi_probe_account_gain(&e->account);
	for (size_t i = 0; i < e->n_probed; i++) {
		uint64_t hits = hi_use_probes_hits(e->probes, i);

		more[i] = (hits - e->seen[i]) * cost_of_hit(e, e->probed[i].function);
		e->counts.hits += hits - e->seen[i];
		e->seen[i] = hits;
		e->account.left_ns -= (int64_t)more[i];
	}
}

static void drop_function(struct hi_use_evidence *e, uint32_t function)
{
	e->known[function].is_dropped = true;
	e->counts.dropped++;
}

static void take_probes_away(struct hi_use_evidence *e)
{
	uint64_t rest[HI_BPF_USE_SITES];

	hi_use_probes_end(e->probes);
	pay_calls(e, rest);
	e->n_probed = 0;
}

/* By what was seen since they have probes; or now, where that is much more. */
static void correct_rates(struct hi_use_evidence *e, const uint64_t *more,
			  uint64_t since_ns)
{
	uint64_t set_for = e->account.looked_ns - e->set_ns,
		 looked_for = e->account.looked_ns - since_ns;

	for (size_t i = 0; i < e->n_probed; i++) {
		uint32_t function = e->probed[i].function;
		uint64_t hits = more[i] / cost_of_hit(e, function);
		uint64_t all = hi_use_rate(e->seen[i], set_for);
		uint64_t now = hi_use_rate(hits, looked_for) / 2;

		e->known[function].rate = all > now ? all : now;
	}
}

static void look_at_calls(struct hi_use_evidence *e)
{
	uint64_t more[HI_BPF_USE_SITES], since_ns = e->account.looked_ns;

	pay_calls(e, more);
	if (e->account.left_ns >= 0 || !e->n_probed)
		return;
	correct_rates(e, more, since_ns);
	take_probes_away(e);
	e->counts.waited++;
}

static void look_at_uses(struct hi_probe_account *account)
{
	look_at_calls((struct hi_use_evidence *)account);
}

static const struct hi_probe_account_request account_of_uses = {
	.name = "probes", .most_ns = 50000000, .look = look_at_uses};

/* ---- what was called ---- */

static bool is_within(uint64_t time, uint64_t after, uint64_t until)
{
	return time > after && time <= until;
}

static bool sort_call(struct hi_use_evidence *e, const struct hi_use_call *call,
		      uint64_t at_ns)
{
	const struct hi_use_call later = {call->address, call->last_ns, call->last_ns};

	if (call->last_ns > at_ns && !hi_vector_push(&e->carried, later))
		return false;
	if (!is_within(call->first_ns, e->stopped_ns, at_ns) &&
	    !is_within(call->last_ns, e->stopped_ns, at_ns))
		return true;
	return hi_vector_push(&e->calls, call->address);
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Those that were carried belong to this period. */
static bool sort_calls(struct hi_use_evidence *e, const struct hi_use_call *calls,
		       size_t n, uint64_t at_ns)
{
	size_t carried = e->carried.count;
	bool is_done = true;

	e->calls.count = 0;
	for (size_t i = 0; i < carried && is_done; i++)
		is_done = hi_vector_push(&e->calls, e->carried.items[i].address);
	e->carried.count = 0;
	for (size_t i = 0; i < n && is_done; i++)
		is_done = sort_call(e, &calls[i], at_ns);
	if (e->calls.count)
		qsort(e->calls.items, e->calls.count, sizeof(*e->calls.items),
		      compare_addresses);
	return is_done;
}

void hi_use_evidence_end_period(struct hi_use_evidence *e, uint64_t at_ns)
{
	struct hi_use_call *calls = NULL;
	size_t n = 0;

	pthread_mutex_lock(&e->account.lock);
	look_at_calls(e);
	if (hi_use_probes_turn(e->probes, &calls, &n, NULL) != HI_OK ||
	    !sort_calls(e, calls, n, at_ns))
		e->calls.count = e->carried.count = 0;
	e->stopped_ns = at_ns;
	pthread_mutex_unlock(&e->account.lock);
	free(calls);
}

bool hi_use_evidence_is_called(const struct hi_use_evidence *e, uint64_t start,
			       uint64_t end)
{
	size_t first = hi_search(i, e->calls.count, e->calls.items[i] < start);

	return first < e->calls.count && e->calls.items[first] < end;
}

/* ---- which functions ---- */

static int compare_use_types(const void *a, const void *b)
{
	return strcmp(((const struct hi_use_type *)a)->name,
		      ((const struct hi_use_type *)b)->name);
}

/* types: by name. */
static uint64_t bytes_of_type(const char *name, const struct hi_use_type *types, size_t n)
{
	uint64_t bytes = 0;
	size_t at = hi_search(i, n, strcmp(types[i].name, name) < 0);

	for (; at < n && strcmp(types[at].name, name) == 0; at++)
		bytes += types[at].bytes;
	return bytes;
}

/* By type of the list of functions; free *ret. */
static enum hi_status find_bytes_of_types(const struct hi_use_functions *f,
					  const struct hi_use_type *types, size_t n,
					  uint64_t **ret, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_use_type *sorted = hi_realloc_array(NULL, n + 1, sizeof(*sorted));
	uint64_t *bytes = hi_calloc(f->n_types + 1u, sizeof(*bytes));

	*ret = bytes;
	if (!sorted || !bytes)
		return hi_fail_memory(err, "types");
	if (n)
		memcpy(sorted, types, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_use_types);
	for (uint32_t i = 0; i < f->n_types; i++)
		bytes[i] = bytes_of_type(f->type_names[i], sorted, n);
	return HI_OK;
}

/* Saturates: another process may have given the bytes. */
static uint64_t bytes_of_function(const struct hi_use_function *f, const uint64_t *bytes)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < HI_BPF_USE_REGISTERS; i++)
		if ((f->registers >> i & 1) &&
		    __builtin_add_overflow(sum, bytes[f->types[i]], &sum))
			sum = UINT64_MAX;
	return sum;
}

static int compare_chosen(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

/* Most bytes first. Returns their number. */
static size_t list_wanted(const struct hi_use_evidence *e, const uint64_t *bytes,
			  struct chosen *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->functions->count; i++) {
		uint64_t sum = bytes_of_function(&e->functions->items[i], bytes);

		if (sum)
			ret[n++] = (struct chosen){i, sum};
	}
	qsort(ret, n, sizeof(*ret), compare_chosen);
	return n;
}

/* The first ones that were not dropped. */
static size_t take_first(const struct hi_use_evidence *e, const struct chosen *wanted,
			 size_t n_wanted, struct chosen ret[CANDIDATES])
{
	size_t n = 0;

	for (size_t i = 0; i < n_wanted && n < CANDIDATES; i++)
		if (!e->known[wanted[i].function].is_dropped)
			ret[n++] = wanted[i];
	return n;
}

/* ---- what they cost; locked ---- */

static enum hi_status measure_functions(struct hi_use_evidence *e,
					const uint32_t *functions, unsigned n,
					struct hi_error *err)
{
	uint64_t addresses[HI_WATCHPOINTS_MAX] = {}, rates[HI_WATCHPOINTS_MAX], cost_ns;
	enum hi_status status;

	for (unsigned i = 0; i < n; i++)
		addresses[i] = e->functions->items[functions[i]].address;
	status = hi_use_rates_measure(&e->rates, addresses, n, rates, &cost_ns, err);
	e->account.left_ns -= (int64_t)cost_ns;
	look_at_calls(e);
	for (unsigned i = 0; i < n && status == HI_OK; i++) {
		e->known[functions[i]].rate = rates[i];
		e->known[functions[i]].is_measured = true;
	}
	return status;
}

/* Others may have some of the breakpoints. */
static enum hi_status measure_together(struct hi_use_evidence *e,
				       const uint32_t *functions, unsigned n,
				       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (measure_functions(e, functions, n, NULL) == HI_OK)
		return HI_OK;
	for (unsigned i = 0; i < n && status == HI_OK; i++)
		status = measure_functions(e, &functions[i], 1, err);
	return status;
}

static enum hi_status measure_candidates(struct hi_use_evidence *e,
					 const struct chosen *candidates, size_t n,
					 struct hi_error *err)
{
	uint32_t functions[HI_WATCHPOINTS_MAX];
	unsigned count = 0;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i <= n && status == HI_OK; i++) {
		if (count == HI_WATCHPOINTS_MAX || (i == n && count)) {
			status = measure_together(e, functions, count, err);
			count = 0;
		}
		if (i < n && !e->known[candidates[i].function].is_measured)
			functions[count++] = candidates[i].function;
	}
	return status;
}

/* In ns a second; 1: nothing. */
static uint64_t cost_of_function(const struct hi_use_evidence *e, uint32_t function)
{
	return e->known[function].rate * cost_of_hit(e, function) + 1;
}

struct candidate {
	struct chosen chosen;
	double worth; /* bytes for its cost */
};

static int compare_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	return compare_chosen(&x->chosen, &y->chosen);
}

static void sort_by_worth(const struct hi_use_evidence *e, const struct chosen *chosen,
			  size_t n, struct candidate ret[CANDIDATES])
{
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct candidate){
			chosen[i],
			(double)chosen[i].bytes /
				(double)cost_of_function(e, chosen[i].function)};
	qsort(ret, n, sizeof(*ret), compare_worth);
}

/* What the budget has no room for is dropped. Returns the number of the others. */
static size_t take_worthy(struct hi_use_evidence *e, const struct chosen *candidates,
			  size_t n, struct chosen ret[HI_BPF_USE_SITES])
{
	const uint64_t budget = HI_NS_PER_S / 100 * HI_PROBE_PERCENT / 2;
	struct candidate sorted[CANDIDATES];
	uint64_t sum = 0;
	size_t taken = 0;

	sort_by_worth(e, candidates, n, sorted);
	for (size_t i = 0; i < n; i++) {
		uint64_t cost = cost_of_function(e, sorted[i].chosen.function);

		if (sum + cost > budget) {
			drop_function(e, sorted[i].chosen.function);
		} else if (taken < HI_BPF_USE_SITES) {
			sum += cost;
			ret[taken++] = sorted[i].chosen;
		}
	}
	return taken;
}

/* ---- probing them; locked ---- */

static bool is_probed_function(const struct hi_use_evidence *e, uint32_t function)
{
	for (size_t i = 0; i < e->n_probed; i++)
		if (e->probed[i].function == function)
			return true;
	return false;
}

/* To change the probes costs more than they bring where little is new. */
static bool is_worth_changing(const struct hi_use_evidence *e,
			      const struct chosen *chosen, size_t n)
{
	uint64_t all = 0, new = 0;

	for (size_t i = 0; i < n; i++) {
		all += chosen[i].bytes;
		if (!is_probed_function(e, chosen[i].function))
			new += chosen[i].bytes;
	}
	return new > all / CHANGE_PART;
}

static enum hi_status probe_chosen(struct hi_use_evidence *e, const struct chosen *chosen,
				   size_t n, struct hi_error *err)
{
	struct hi_use_site sites[HI_BPF_USE_SITES];
	enum hi_status status;

	for (size_t i = 0; i < n; i++) {
		const struct hi_use_function *f =
			&e->functions->items[chosen[i].function];

		sites[i] = (struct hi_use_site){.mapping = f->mapping,
						.address = f->address,
						.file_offset = f->file_offset,
						.registers = f->registers};
	}
	take_probes_away(e);
	status = hi_use_probes_set(e->probes, sites, n, err);
	if (status != HI_OK)
		return status;
	memcpy(e->probed, chosen, n * sizeof(*chosen));
	memset(e->seen, 0, sizeof(e->seen));
	e->n_probed = n;
	e->set_ns = hi_clock_ns();
	e->counts.changes++;
	return HI_OK;
}

static void probe_wanted(struct hi_use_evidence *e, const struct chosen *wanted,
			 size_t n_wanted, struct hi_error *err)
{
	struct chosen candidates[CANDIDATES], chosen[HI_BPF_USE_SITES];
	size_t n = take_first(e, wanted, n_wanted, candidates);

	e->rates = (struct hi_use_rates){e->target->pid, e->breakpoints, PATIENCE_NS};
	if (measure_candidates(e, candidates, n, err) != HI_OK)
		return;
	n = take_worthy(e, candidates, n, chosen);
	if (!is_worth_changing(e, chosen, n))
		return;
	if (e->account.left_ns >= 0)
		(void)probe_chosen(e, chosen, n, err);
	else
		(void)hi_fail(err, HI_LIMIT, 0,
			      "calls have used up the time that probes may take (%d %% "
			      "of a processor): they come back later",
			      HI_PROBE_PERCENT);
}

static void count_wanted_functions(struct hi_use_evidence *e, const struct chosen *wanted,
				   size_t n)
{
	size_t dropped = 0;

	for (size_t i = 0; i < n; i++)
		dropped += e->known[wanted[i].function].is_dropped;
	e->counts.wanted = n;
	e->counts.probed = e->n_probed;
	e->counts.left_out =
		n - dropped > HI_BPF_USE_SITES ? n - dropped - HI_BPF_USE_SITES : 0;
}

static void say_what_is_missing(struct hi_use_evidence *e, size_t wanted)
{
	if (e->n_probed)
		e->account.missing = (struct hi_error){};
	if (e->account.missing.status != HI_OK || e->n_probed)
		return;
	if (!wanted)
		(void)hi_fail(&e->account.missing, HI_NOT_FOUND, 0,
			      "no function takes objects of the types on the heap");
	else
		(void)hi_fail(&e->account.missing, HI_LIMIT, 0,
			      "all functions that take objects are called too often");
}

/* By the bytes of each type that functions take, which may be hostile. */
static void choose_by_bytes(struct hi_use_evidence *e, const uint64_t *bytes)
{
	HI_GUARD(free)
	struct chosen *wanted =
		hi_realloc_array(NULL, e->functions->count + 1u, sizeof(*wanted));
	size_t n_wanted;

	pthread_mutex_lock(&e->account.lock);
	e->account.missing = (struct hi_error){};
	if (!wanted) {
		(void)hi_fail_memory(&e->account.missing, "functions");
	} else {
		n_wanted = list_wanted(e, bytes, wanted);
		hi_probe_account_gain(&e->account);
		probe_wanted(e, wanted, n_wanted, &e->account.missing);
		count_wanted_functions(e, wanted, n_wanted);
		say_what_is_missing(e, n_wanted);
	}
	pthread_mutex_unlock(&e->account.lock);
}

void hi_use_evidence_choose(struct hi_use_evidence *e, const struct hi_use_type *types,
			    size_t n)
{
	HI_GUARD(free) uint64_t *bytes = NULL;
	struct hi_error failure = {};

	if (find_bytes_of_types(e->functions, types, n, &bytes, &failure) != HI_OK) {
		pthread_mutex_lock(&e->account.lock);
		e->account.missing = failure;
		pthread_mutex_unlock(&e->account.lock);
	} else if (e->account.served_by) {
		(void)hi_probe_account_ask(&e->account, CHOOSE_USES, bytes,
					   e->functions->n_types * sizeof(*bytes));
	} else {
		choose_by_bytes(e, bytes);
	}
}

/* ---- what there is to tell ---- */

static void ask_for_use_counts(struct hi_use_evidence *e)
{
	hi_probe_account_ask_counts(&e->account, COUNT_USES, &e->counts,
				    sizeof(e->counts));
}

struct hi_use_counts hi_use_evidence_counts(struct hi_use_evidence *e)
{
	struct hi_use_counts counts;

	if (e->account.served_by)
		ask_for_use_counts(e);
	if (e->account.served_by)
		return e->counts;
	pthread_mutex_lock(&e->account.lock);
	look_at_calls(e);
	counts = e->counts;
	counts.probed = e->n_probed;
	counts.hit_ns = hi_use_probes_hit_ns(e->probes);
	counts.not_stored = hi_use_probes_not_stored(e->probes);
	pthread_mutex_unlock(&e->account.lock);
	return counts;
}

void hi_use_evidence_missing(struct hi_use_evidence *e, char out[240])
{
	if (e->account.served_by)
		ask_for_use_counts(e);
	hi_probe_account_missing(&e->account, out);
}

/* ---- of another process ---- */

#define CALLS_MOST ((size_t)4 * HI_BPF_USE_ADDRESSES)

static void have_uses_served(struct hi_stop_observer *observer,
			     const struct hi_keeper_client *client)
{
	((struct hi_use_evidence *)observer)->account.served_by = client;
}

static bool send_uses(struct hi_stop_observer *observer, int socket)
{
	const struct hi_use_evidence *e = (struct hi_use_evidence *)observer;
	size_t n = e->calls.count < CALLS_MOST ? e->calls.count : CALLS_MOST;

	return hi_packet_send_bytes(socket, e->calls.items, n * sizeof(*e->calls.items));
}

static enum hi_status receive_uses(struct hi_stop_observer *observer, int socket,
				   struct hi_error *err)
{
	struct hi_use_evidence *e = (struct hi_use_evidence *)observer;
	void *calls = NULL;
	size_t n = 0;

	if (!hi_packet_receive_bytes(socket, CALLS_MOST * sizeof(*e->calls.items), &calls,
				     &n))
		return hi_fail(err, HI_GONE, 0, "calls: there is no answer");
	hi_vector_free(&e->calls);
	e->calls.items = calls;
	e->calls.count = e->calls.capacity = n / sizeof(*e->calls.items);
	return HI_OK;
}

static bool serve_uses(struct hi_stop_observer *observer, uint32_t detail, int socket,
		       struct hi_keeper_answer *answer)
{
	struct hi_use_evidence *e = (struct hi_use_evidence *)observer;
	HI_GUARD(free) void *bytes = NULL;
	struct hi_use_counts counts;

	_Static_assert(sizeof(counts) <= HI_KEEPER_COUNTS, "room");
	if (detail == COUNT_USES) {
		counts = hi_use_evidence_counts(e);
		hi_probe_account_answer(&e->account, &counts, sizeof(counts), answer);
		return true;
	}
	if (detail != CHOOSE_USES ||
	    !hi_probe_account_receive(socket, e->functions->n_types * sizeof(uint64_t),
				      &bytes))
		return false;
	choose_by_bytes(e, bytes);
	return true;
}

static enum hi_status take_uses_of_period(struct hi_stop_observer *observer,
					  struct hi_inspection *in, struct hi_error *err)
{
	struct hi_use_evidence *e = (struct hi_use_evidence *)observer;

	(void)err;
	if (!e->account.served_by)
		hi_use_evidence_end_period(e, in->image->stats.monotonic_ns);
	return HI_OK;
}

static void close_uses(struct hi_stop_observer *observer)
{
	hi_use_evidence_close((struct hi_use_evidence *)observer);
}

static const struct hi_stop_observer_ops use_observer_ops = {
	.name = "uses",
	.census = take_uses_of_period,
	.be_served = have_uses_served,
	.send = send_uses,
	.receive = receive_uses,
	.serve = serve_uses,
	.close = close_uses,
};

struct hi_stop_observer *hi_use_evidence_observer(struct hi_use_evidence *e)
{
	return e ? &e->account.observer : NULL;
}

/* ---- open and close ---- */

static enum hi_status check_processor(struct hi_error *err)
{
#if defined(__x86_64__)
	(void)err;
	return HI_OK;
#else
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "which registers have arguments is known of x86-64 alone");
#endif
}

static enum hi_status find_functions_of_uses(struct hi_use_evidence *e, bool verbose,
					     struct hi_error *err)
{
	enum hi_status status =
		hi_symbols_use_functions(e->target, verbose, &e->functions, err);

	if (status != HI_OK)
		return status;
	if (!e->functions->n_with_dwarf)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "none of the target's %u files has debug information "
			       "(DWARF), which says what functions take",
			       e->functions->n_modules);
	if (!e->functions->count)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the debug information has no function of C or C++ that "
			       "takes pointers to structs");
	e->known = hi_calloc(e->functions->count, sizeof(*e->known));
	e->counts.functions = e->functions->count;
	return e->known ? HI_OK : hi_fail_memory(err, "functions");
}

enum hi_status hi_use_evidence_open(pid_t pid, bool verbose, struct hi_use_evidence **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_use_evidence_close)
	struct hi_use_evidence *e = hi_calloc(1, sizeof(*e));
	enum hi_status status = check_processor(err);

	if (!e)
		return hi_fail_memory(err, "probes");
	e->account.observer.ops = &use_observer_ops;
	hi_probe_account_open(&e->account, &account_of_uses);
	if (status == HI_OK)
		status = hi_target_open(pid, &e->target, err);
	if (status == HI_OK)
		status = find_functions_of_uses(e, verbose, err);
	if (status == HI_OK)
		status = hi_use_probes_open(e->target, &e->probes, err);
	if (status == HI_OK)
		status = hi_watchpoints_open_code(pid, HI_WATCHPOINTS_MAX,
						  &e->breakpoints, err);
	if (status == HI_OK)
		status = hi_probe_account_start(&e->account, err);
	if (status == HI_OK)
		*ret = hi_take(e);
	return status;
}

void hi_use_evidence_close(struct hi_use_evidence *e)
{
	/* Else all is the other process's. */
	if (!e || e->account.served_by)
		return;
	hi_probe_account_close(&e->account);
	hi_use_probes_close(e->probes);
	hi_watchpoints_close(e->breakpoints);
	free(e->functions);
	free(e->known);
	hi_vector_free(&e->calls);
	hi_vector_free(&e->carried);
	hi_target_close(e->target);
	free(e);
}
