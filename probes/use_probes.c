/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/use_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "probes/bpf_link.h"
#include "probes/bpf_load.h"
#include "probes/bpf_process.h"
#include "probes/probe_holder.h"
#include "probes/trial_site.h"

extern const unsigned char hi_bpf_uses_start[], hi_bpf_uses_end[];
extern const unsigned char hi_bpf_uses_old_start[], hi_bpf_uses_old_end[];

enum {
	PAGE = 4096,
	TRIAL_CALLS = 200,
	HIT_NS = 1500,	/* before the trial */
	STORE_NS = 300, /* what the trial leaves out: to keep an address */
};

struct hi_use_probes {
	const struct hi_target *target;
	struct bpf_object *object;
	struct hi_bpf_uses_shared *shared;
	struct hi_bpf_use_hits *hits;
	bool by_perf; /* a link for each site, by a perf event; else one for each file */
	bool is_old;  /* by_perf, and the kernel has no cookies of probes */
	bool is_checked; /* Note [Links that miss threads] in own_site.c */
	struct hi_use_site sites[HI_BPF_USE_SITES];
	size_t n_sites;
	/* The first site of each link. */
	size_t plan[HI_BPF_USE_SITES], n_planned;
	struct hi_probe_holder holder;
	int links[HI_BPF_USE_SITES];
	size_t n_links;
};

HI_DEFINE_GUARD(struct hi_use_probes *, hi_use_probes_close)

/* ---- the program ---- */

static struct bpf_program *use_program(const struct hi_use_probes *p)
{
	return bpf_object__find_program_by_name(p->object, "enter_with_objects");
}

static enum hi_status load_uses_program(struct hi_use_probes *p, struct hi_error *err)
{
	enum hi_status status =
		p->is_old ? hi_bpf_open(hi_bpf_uses_old_start, hi_bpf_uses_old_end,
					&p->object, err)
			  : hi_bpf_open(hi_bpf_uses_start, hi_bpf_uses_end, &p->object,
					err);
	int error = 0;

	if (status != HI_OK)
		return status;
	if (!p->by_perf)
		error = bpf_program__set_expected_attach_type(
			use_program(p), (enum bpf_attach_type)HI_BPF_UPROBE_MULTI);
	if (error)
		return hi_bpf_refused(-error, err);
	return hi_bpf_load(p->object, p->is_old ? 0 : HI_BPF_NEEDS_COOKIES, err);
}

static int uses_map(const struct hi_use_probes *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->object, name);
}

static size_t hits_size(void)
{
	return sizeof(struct hi_bpf_use_hits) * HI_BPF_USE_SITES;
}

static void *map_uses_memory(const struct hi_use_probes *p, const char *name, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    uses_map(p, name), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static enum hi_status tell_uses_target(struct hi_use_probes *p, struct hi_error *err)
{
	struct hi_bpf_process process;
	enum hi_status status = hi_bpf_process_find(p->target->pid, &process, err);

	p->shared = map_uses_memory(p, "shared_map", PAGE);
	p->hits = map_uses_memory(p, "hits_map", hits_size());
	if (!p->shared || !p->hits)
		return hi_fail_errno(err, "memory of a BPF program");
	if (status != HI_OK)
		return status;
	p->shared->tgid = process.tgid;
	p->shared->ns_device = process.ns_device;
	p->shared->ns_inode = process.ns_inode;
	p->shared->is_stored = 1;
	return HI_OK;
}

static void unload_program(struct hi_use_probes *p)
{
	if (p->shared)
		munmap(p->shared, PAGE);
	if (p->hits)
		munmap(p->hits, hits_size());
	p->shared = NULL;
	p->hits = NULL;
	bpf_object__close(p->object);
	p->object = NULL;
}

static enum hi_status load_for_uses(struct hi_use_probes *p, bool by_perf,
				    struct hi_error *err)
{
	enum hi_status status;

	unload_program(p);
	p->by_perf = by_perf;
	status = load_uses_program(p, err);
	return status == HI_OK ? tell_uses_target(p, err) : status;
}

/* ---- links: in the holder ---- */

struct linking {
	const struct hi_use_probes *probes;
	int check_link; /* closed with the anchors, so that opening does not wait */
};

static struct hi_probe_site place_of_use(const struct hi_use_site *site)
{
	return (struct hi_probe_site){.mapping = site->mapping,
				      .address = site->address,
				      .file_offset = site->file_offset};
}

static bool are_sites_in_one_file(const struct hi_use_probes *p, size_t a, size_t b)
{
	return hi_uprobe_is_one_file(p->target, p->sites[a].mapping, p->sites[b].mapping);
}

static enum hi_status link_uses_of_file(const struct hi_use_probes *p, pid_t pid,
					size_t first, const struct hi_uprobe *uprobe,
					int *link_ret, struct hi_error *err)
{
	uint64_t offsets[HI_BPF_USE_SITES], cookies[HI_BPF_USE_SITES];
	struct hi_bpf_places places = {.offsets = offsets, .cookies = cookies};

	for (size_t i = first; i < p->n_sites; i++) {
		if (!are_sites_in_one_file(p, first, i))
			continue;
		offsets[places.count] = p->sites[i].file_offset;
		cookies[places.count++] = i;
	}
	return hi_bpf_link_places(bpf_program__fd(use_program(p)), pid, uprobe, &places,
				  link_ret, err);
}

/* The site has a link of this program still. */
static void measure_hit(const struct hi_use_probes *p)
{
	uint64_t start = hi_clock_ns();

	for (unsigned i = 0; i < TRIAL_CALLS; i++)
		hi_own_site_call();
	p->shared->hit_ns = (hi_clock_ns() - start) / TRIAL_CALLS + STORE_NS;
}

static enum hi_status check_uses(void *arg, struct hi_error *err)
{
	struct linking *l = arg;
	const struct hi_use_probes *p = l->probes;
	enum hi_status status =
		hi_bpf_link_check(bpf_program__fd(use_program(p)), &p->shared->own_hits,
				  &l->check_link, err);

	if (status == HI_OK)
		measure_hit(p);
	return status;
}

static enum hi_status link_planned_uses(const struct hi_use_probes *p, pid_t pid,
					size_t i, int *link_ret, struct hi_error *err)
{
	size_t first = p->plan[i];
	struct hi_probe_site place = place_of_use(&p->sites[first]);
	struct hi_uprobe uprobe = {.fd = -1};
	enum hi_status status = hi_uprobe_prepare(p->target, &place, &uprobe, err);

	if (status == HI_OK && p->by_perf)
		status = hi_bpf_link_event(bpf_program__fd(use_program(p)), p->target,
					   p->is_old ? HI_BPF_NO_COOKIE : first, &uprobe,
					   link_ret, err);
	else if (status == HI_OK)
		status = link_uses_of_file(p, pid, first, &uprobe, link_ret, err);
	hi_uprobe_release(&uprobe);
	return status;
}

static enum hi_status link_uses(void *arg, size_t i, int *link_ret, struct hi_error *err)
{
	const struct linking *l = arg;

	return link_planned_uses(l->probes, l->probes->target->pid, i, link_ret, err);
}

/* By perf the i-th is that of a site, else of a link. */
static enum hi_status anchor_use(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const struct linking *l = arg;
	const struct hi_use_probes *p = l->probes;
	struct hi_probe_site place = place_of_use(&p->sites[i]);

	return p->by_perf ? hi_uprobe_anchor_site(p->target, &place, fd_ret, err)
			  : link_planned_uses(p, HI_BPF_NOBODY, i, fd_ret, err);
}

/* ---- in the inspector ---- */

static void plan_links_of_uses(struct hi_use_probes *p)
{
	p->n_planned = 0;
	for (size_t i = 0; i < p->n_sites; i++) {
		bool is_planned = false;

		for (size_t k = 0; k < p->n_planned && !p->by_perf; k++)
			is_planned |= are_sites_in_one_file(p, p->plan[k], i);
		if (!is_planned)
			p->plan[p->n_planned++] = i;
	}
}

/* See Note [Without cookies] in bpf/events_old.h. */
static enum hi_status tell_use_sites(const struct hi_use_probes *p, struct hi_error *err)
{
	for (uint32_t i = 0; p->is_old && i < p->n_sites; i++)
		if (bpf_map_update_elem(uses_map(p, "sites_map"), &p->sites[i].address,
					&i, BPF_ANY) != 0)
			return hi_fail_errno(err, "functions for a BPF program");
	return HI_OK;
}

static enum hi_status open_uses(struct hi_use_probes *p, struct hi_error *err)
{
	struct linking linking = {.probes = p, .check_link = -1};
	struct hi_probe_opening opening = {
		.open = link_uses, .anchor = anchor_use, .arg = &linking};
	enum hi_status status;

	plan_links_of_uses(p);
	opening.n = p->n_planned;
	opening.n_anchors = p->by_perf ? p->n_sites : p->n_planned;
	opening.check = p->by_perf || p->is_checked ? NULL : check_uses;
	memset(p->hits, 0, hits_size());
	for (size_t i = 0; i < p->n_sites; i++)
		p->shared->registers[i] = p->sites[i].registers;
	status = tell_use_sites(p, err);
	if (status == HI_OK)
		status = hi_probe_holder_start(&p->holder, &opening, p->links, err);
	if (status != HI_OK)
		return status;
	p->n_links = p->n_planned;
	p->is_checked = true;
	return HI_OK;
}

static enum hi_status check_use_sites(const struct hi_use_probes *p,
				      const struct hi_use_site *sites, size_t n,
				      struct hi_error *err)
{
	if (n > HI_BPF_USE_SITES)
		return hi_fail(err, HI_LIMIT, 0, "more than %d functions",
			       HI_BPF_USE_SITES);
	for (size_t i = 0; i < n; i++)
		if (sites[i].mapping >= p->target->n_mappings)
			return hi_fail(err, HI_BAD_DATA, sites[i].address,
				       "a function is in no mapped file");
	return HI_OK;
}

enum hi_status hi_use_probes_set(struct hi_use_probes *p, const struct hi_use_site *sites,
				 size_t n, struct hi_error *err)
{
	enum hi_status status = check_use_sites(p, sites, n, err);

	hi_use_probes_end(p);
	if (status != HI_OK || n == 0)
		return status;
	memcpy(p->sites, sites, n * sizeof(*sites));
	p->n_sites = n;
	status = open_uses(p, err);
	if (status != HI_OK && !p->by_perf && !p->is_checked) {
		status = load_for_uses(p, true, err);
		if (status == HI_OK)
			status = open_uses(p, err);
	}
	if (status != HI_OK)
		p->n_sites = 0;
	return status;
}

void hi_use_probes_end(struct hi_use_probes *p)
{
	if (p->n_links)
		hi_probe_holder_close(&p->holder, p->links, p->n_links);
	for (size_t i = 0; p->is_old && i < p->n_sites; i++)
		(void)bpf_map_delete_elem(uses_map(p, "sites_map"), &p->sites[i].address);
	p->n_links = p->n_sites = 0;
}

uint64_t hi_use_probes_hits(const struct hi_use_probes *p, size_t i)
{
	return __atomic_load_n(&p->hits[i].count, __ATOMIC_RELAXED);
}

uint64_t hi_use_probes_hit_ns(const struct hi_use_probes *p)
{
	return p->shared->hit_ns ? p->shared->hit_ns : HIT_NS;
}

uint64_t hi_use_probes_not_stored(const struct hi_use_probes *p)
{
	return __atomic_load_n(&p->shared->not_stored, __ATOMIC_RELAXED);
}

/* ---- periods ---- */

/* Reads the map, and leaves it empty. keys, times: room for all that it may have. */
static size_t drain_calls(int map, uint64_t *keys, struct hi_bpf_use_times *times)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t in, out, count;
	size_t n = 0;
	int error = 0;

	while (!error && n < HI_BPF_USE_ADDRESSES) {
		count = (uint32_t)(HI_BPF_USE_ADDRESSES - n);
		error = bpf_map_lookup_and_delete_batch(
			map, n ? &in : NULL, &out, keys + n, times + n, &count, &options);
		if (error && error != -ENOENT)
			break;
		n += count;
		in = out;
	}
	return n;
}

enum hi_status hi_use_probes_turn(struct hi_use_probes *p, struct hi_use_call **ret,
				  size_t *n_ret, struct hi_error *err)
{
	uint32_t was_odd = p->shared->is_odd;
	HI_GUARD(free)
	uint64_t *keys = hi_realloc_array(NULL, HI_BPF_USE_ADDRESSES, sizeof(*keys));
	HI_GUARD(free)
	struct hi_bpf_use_times *times =
		hi_realloc_array(NULL, HI_BPF_USE_ADDRESSES, sizeof(*times));
	struct hi_use_call *calls;
	size_t n;

	__atomic_store_n(&p->shared->is_odd, !was_odd, __ATOMIC_SEQ_CST);
	if (!keys || !times)
		return hi_fail_memory(err, "calls");
	n = drain_calls(uses_map(p, was_odd ? "odd_map" : "even_map"), keys, times);
	calls = hi_realloc_array(NULL, n + 1, sizeof(*calls));
	if (!calls)
		return hi_fail_memory(err, "calls");
	for (size_t i = 0; i < n; i++)
		calls[i] = (struct hi_use_call){keys[i], times[i].first_ns,
						times[i].last_ns};
	*ret = calls;
	*n_ret = n;
	return HI_OK;
}

/* ---- all of it ---- */

enum hi_status hi_use_probes_open(const struct hi_target *target,
				  struct hi_use_probes **ret, struct hi_error *err)
{
	HI_GUARD(hi_use_probes_close)
	struct hi_use_probes *p = hi_calloc(1, sizeof(*p));
	enum hi_status status;

	if (!p)
		return hi_fail_memory(err, "probes");
	p->target = target;
	p->holder = HI_PROBE_HOLDER_NONE;
	p->is_old = !hi_bpf_has(HI_BPF_NEEDS_COOKIES);
	status = load_for_uses(
		p, p->is_old || hi_bpf_process_has_no_main_thread(target->pid), err);
	if (status == HI_OK)
		*ret = hi_take(p);
	return status;
}

void hi_use_probes_close(struct hi_use_probes *p)
{
	if (!p)
		return;
	hi_use_probes_end(p);
	unload_program(p);
	free(p);
}
