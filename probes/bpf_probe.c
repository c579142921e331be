/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe by BPF: bpf/probe.bpf.c on an uprobe for each site. The arming, the data of a
 * hit and the counters are in memory that the program, this process and the tracer that
 * is forked from it all map. One descriptor per site keeps everything alive: the link,
 * which holds the event and the program; the program holds the maps. The links are made
 * by the holder (holder.h).
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "probes/bpf_link.h"
#include "probes/bpf_load.h"
#include "probes/bpf_probe.h"
#include "probes/bpf_process.h"
#include "probes/probe_holder.h"
#include "probes/probe_kind.h"

extern const unsigned char hi_bpf_probe_start[], hi_bpf_probe_end[];
extern const unsigned char hi_bpf_probe_old_start[], hi_bpf_probe_old_end[];

enum {
	PAGE = 4096,
	/* By all but the program for old kernels. */
	NEEDED = HI_BPF_NEEDS_RINGS | HI_BPF_NEEDS_FETCHES | HI_BPF_NEEDS_COOKIES,
};

struct bpf_probe {
	struct hi_probe probe;
	struct bpf_object *object;
	struct hi_bpf_shared *shared;
	struct hi_bpf_hits *hits;
	unsigned long *ring_read; /* the reader's position in the ring of events */
	const unsigned long *ring_written; /* the program's */
	size_t shared_size, hits_size;
	uint64_t ptrace_offset; /* of task_struct.ptrace; 0: not known */
	pid_t pid;
	enum hi_bpf_link link;
	bool has_foreign_tids; /* the program reports ids of another namespace */
	struct hi_probe_holder holder;
	size_t n_links;
	int links[];
};

static struct bpf_probe *to_bpf_probe(struct hi_trigger *trigger)
{
	return (struct bpf_probe *)trigger;
}

/* ---- in the tracer ---- */

static size_t bpf_fds(struct hi_trigger *trigger, int *fds, size_t max)
{
	struct bpf_probe *probe = to_bpf_probe(trigger);
	size_t n = 0;

	if (n < max)
		fds[n++] = trigger->poll_fd;
	if (n < max)
		fds[n++] = probe->holder.socket;
	return n;
}

static void bpf_disarm(struct hi_trigger *trigger)
{
	__atomic_store_n(&to_bpf_probe(trigger)->shared->armed, HI_BPF_OFF,
			 __ATOMIC_SEQ_CST);
}

static void bpf_arm(struct hi_trigger *trigger)
{
	struct bpf_probe *probe = to_bpf_probe(trigger);
	struct hi_bpf_shared *shared = probe->shared;

	bpf_disarm(trigger);
	shared->ptrace_offset = trigger->traced_only ? probe->ptrace_offset : 0;
	shared->satisfied = 0;
	shared->arming++;
	__atomic_store_n(&shared->was_hit, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(probe->ring_read,
			 __atomic_load_n(probe->ring_written, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	__atomic_store_n(&shared->armed, HI_BPF_ARMED, __ATOMIC_SEQ_CST);
}

static bool bpf_was_hit(struct hi_trigger *trigger, struct hi_trigger_hit *ret)
{
	const struct bpf_probe *probe = to_bpf_probe(trigger);
	const struct hi_bpf_shared *shared = probe->shared;

	if (!__atomic_load_n(&shared->was_hit, __ATOMIC_ACQUIRE))
		return false;
	ret->time_ns = shared->hit_time;
	ret->pc = shared->hit_pc;
	ret->tid = (pid_t)shared->hit_tid;
	ret->unsent = shared->hit_unsent;
	if (probe->has_foreign_tids)
		ret->tid = hi_bpf_process_tid(probe->pid, ret->tid);
	return true;
}

static const struct hi_trigger_ops bpf_ops = {
	.fds = bpf_fds,
	.arm = bpf_arm,
	.disarm = bpf_disarm,
	.was_hit = bpf_was_hit,
};

/* ---- in the inspector ---- */

static uint64_t bpf_hits(const struct hi_probe *base, size_t site)
{
	const struct bpf_probe *probe = (const struct bpf_probe *)base;
	uint64_t sum = 0;

	for (size_t i = 0; i < HI_BPF_HIT_SLOTS; i++)
		sum += __atomic_load_n(&probe->hits[site * HI_BPF_HIT_SLOTS + i].count,
				       __ATOMIC_RELAXED);
	return sum;
}

static void unmap_bpf_memory(const void *memory, size_t size)
{
	if (memory && memory != MAP_FAILED)
		munmap((void *)(uintptr_t)memory, size);
}

static void bpf_close(struct hi_probe *base)
{
	struct bpf_probe *probe = (struct bpf_probe *)base;

	hi_probe_holder_close(&probe->holder, probe->links, probe->n_links);
	unmap_bpf_memory(probe->shared, probe->shared_size);
	unmap_bpf_memory(probe->hits, probe->hits_size);
	unmap_bpf_memory(probe->ring_read, PAGE);
	unmap_bpf_memory(probe->ring_written, PAGE);
	bpf_object__close(probe->object);
	free(probe);
}

static bool is_multi(const struct bpf_probe *probe)
{
	return probe->link != HI_BPF_LINK_EVENT && probe->link != HI_BPF_LINK_EVENT_OLD;
}

static struct bpf_program *find_program(const struct bpf_probe *probe)
{
	return bpf_object__find_program_by_name(
		probe->object, probe->link == HI_BPF_LINK_MULTI_OF_MAIN_THREAD
				       ? "probe_main_thread"
				       : "probe");
}

/* Loads only the requested program of the object. */
static int choose_program(const struct bpf_probe *probe)
{
	struct bpf_program *wanted = find_program(probe), *program;
	int error = wanted ? 0 : -ENOENT;

	bpf_object__for_each_program(program, probe->object) if (!error) error =
		bpf_program__set_autoload(program, program == wanted);
	if (!error && is_multi(probe))
		error = bpf_program__set_expected_attach_type(
			wanted, (enum bpf_attach_type)HI_BPF_UPROBE_MULTI);
	return error;
}

static enum hi_status load_bpf_program(struct bpf_probe *probe, struct hi_error *err)
{
	bool is_old = probe->link == HI_BPF_LINK_EVENT_OLD;
	enum hi_status status =
		is_old ? hi_bpf_open(hi_bpf_probe_old_start, hi_bpf_probe_old_end,
				     &probe->object, err)
		       : hi_bpf_open(hi_bpf_probe_start, hi_bpf_probe_end, &probe->object,
				     err);
	struct bpf_map *hits;
	int error;

	if (status != HI_OK)
		return status;
	hits = bpf_object__find_map_by_name(probe->object, "hits_map");
	error = bpf_map__set_max_entries(
		hits, (unsigned)(probe->probe.n_sites * HI_BPF_HIT_SLOTS));
	if (!error && is_old)
		error = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(probe->object, "sites_map"),
			(unsigned)probe->probe.n_sites);
	if (!error)
		error = choose_program(probe);
	if (error)
		return hi_bpf_refused(-error, err);
	return hi_bpf_load(probe->object,
			   (is_old ? HI_BPF_NEEDS_RINGS : NEEDED) |
				   (is_multi(probe) ? HI_BPF_TRIAL : 0),
			   err);
}

/* See Note [Without cookies] in bpf/events_old.h. */
static enum hi_status tell_site_addresses(const struct bpf_probe *probe,
					  const struct hi_probe_sites *sites,
					  struct hi_error *err)
{
	int map = bpf_object__find_map_fd_by_name(probe->object, "sites_map");

	for (uint32_t i = 0; map >= 0 && i < sites->count; i++)
		if (bpf_map_update_elem(map, &sites->items[i].address, &i, BPF_ANY) != 0)
			return hi_fail_errno(err, "probe sites for a BPF program");
	return HI_OK;
}

static void *map_bpf_memory(struct bpf_probe *probe, const char *name, size_t size,
			    int prot, off_t offset)
{
	int fd = bpf_object__find_map_fd_by_name(probe->object, name);

	return mmap(NULL, size, prot, MAP_SHARED, fd, offset);
}

static enum hi_status map_program_memory(struct bpf_probe *probe, struct hi_error *err)
{
	const int both = PROT_READ | PROT_WRITE;

	/* The kernel maps whole pages. */
	probe->shared_size = (sizeof(struct hi_bpf_shared) + PAGE - 1) & ~(PAGE - 1ul);
	probe->hits_size =
		(probe->probe.n_sites * HI_BPF_HIT_SLOTS * sizeof(struct hi_bpf_hits) +
		 PAGE - 1) &
		~(PAGE - 1ul);
	probe->shared = map_bpf_memory(probe, "shared_map", probe->shared_size, both, 0);
	probe->hits = map_bpf_memory(probe, "hits_map", probe->hits_size, PROT_READ, 0);
	/* The first page of a ring is the reader's, the second the writer's. */
	probe->ring_read = map_bpf_memory(probe, "events_map", PAGE, both, 0);
	probe->ring_written = map_bpf_memory(probe, "events_map", PAGE, PROT_READ, PAGE);
	if (probe->shared == MAP_FAILED || probe->hits == MAP_FAILED ||
	    probe->ring_read == MAP_FAILED || probe->ring_written == MAP_FAILED)
		return hi_fail_errno(err, "memory of a BPF program");
	probe->probe.trigger.poll_fd =
		bpf_object__find_map_fd_by_name(probe->object, "events_map");
	return HI_OK;
}

static enum hi_status set_target_process(struct bpf_probe *probe, struct hi_error *err)
{
	struct hi_bpf_process process;
	enum hi_status status = hi_bpf_process_find(probe->pid, &process, err);

	if (status != HI_OK)
		return status;
	probe->shared->tgid = process.tgid;
	probe->shared->ns_device = process.ns_device;
	probe->shared->ns_inode = process.ns_inode;
	probe->has_foreign_tids = process.has_foreign_tids;
	return HI_OK;
}

/* Returns the offset of a member of task_struct, by the kernel's own type information; 0:
 * unknown. */
static uint64_t task_offset(const struct btf *btf, const char *wanted)
{
	int id = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (unsigned)id) : NULL;

	for (unsigned i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = btf__name_by_offset(btf, member->name_off);

		if (name && strcmp(name, wanted) == 0)
			return btf_member_bit_offset(type, i) / 8;
	}
	return 0;
}

static void find_offsets(struct bpf_probe *probe)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (libbpf_get_error(btf))
		return;
	probe->shared->blocked_offset = task_offset(btf, "blocked");
	probe->ptrace_offset = task_offset(btf, "ptrace");
	btf__free(btf);
}

static int program_fd(const struct bpf_probe *probe)
{
	return bpf_program__fd(find_program(probe));
}

/* ---- in the holder ---- */

struct attaching {
	const struct bpf_probe *probe;
	const struct hi_target *target;
	const struct hi_probe_sites *sites;
	/* The first site of each link: by uprobe_multi one has all of a file. */
	size_t plan[HI_PROBE_SITES_MAX], n_planned;
	int check_link; /* closed with the anchors, so that opening does not wait */
};

static enum hi_status check_link_of_probe(void *arg, struct hi_error *err)
{
	struct attaching *a = arg;

	return hi_bpf_link_check(program_fd(a->probe), &a->probe->shared->own_hits,
				 &a->check_link, err);
}

static bool are_probed_together(const struct attaching *a, size_t i, size_t k)
{
	const struct hi_probe_site *items = a->sites->items;
	size_t n = a->target->n_mappings;

	return is_multi(a->probe) && items[i].mapping < n && items[k].mapping < n &&
	       hi_uprobe_is_one_file(a->target, items[i].mapping, items[k].mapping);
}

/* first: a site that is planned. */
static enum hi_status link_sites_of_file(const struct attaching *a, pid_t pid,
					 size_t first, const struct hi_uprobe *uprobe,
					 int *link_ret, struct hi_error *err)
{
	uint64_t offsets[HI_PROBE_SITES_MAX], cookies[HI_PROBE_SITES_MAX];
	uint64_t semaphores[HI_PROBE_SITES_MAX];
	struct hi_bpf_places places = {.offsets = offsets, .cookies = cookies};

	for (size_t i = first; i < a->sites->count; i++) {
		const struct hi_probe_site *site = &a->sites->items[i];

		if (!are_probed_together(a, first, i))
			continue;
		if (site->semaphore)
			places.semaphores = semaphores;
		offsets[places.count] = site->file_offset;
		semaphores[places.count] = site->semaphore;
		cookies[places.count++] = i;
	}
	return hi_bpf_link_places(program_fd(a->probe), pid, uprobe, &places, link_ret,
				  err);
}

static enum hi_status attach_for(const struct attaching *a, pid_t pid, size_t i,
				 int *link_ret, struct hi_error *err)
{
	size_t first = a->plan[i];
	struct hi_uprobe uprobe = {.fd = -1};
	enum hi_status status =
		hi_uprobe_prepare(a->target, &a->sites->items[first], &uprobe, err);
	bool is_old = a->probe->link == HI_BPF_LINK_EVENT_OLD;

	if (status == HI_OK && is_multi(a->probe))
		status = link_sites_of_file(a, pid, first, &uprobe, link_ret, err);
	else if (status == HI_OK)
		status = hi_bpf_link_event(program_fd(a->probe), a->target,
					   is_old ? HI_BPF_NO_COOKIE : first, &uprobe,
					   link_ret, err);
	hi_uprobe_release(&uprobe);
	return status;
}

static enum hi_status attach_place(void *arg, size_t i, int *link_ret,
				   struct hi_error *err)
{
	const struct attaching *a = arg;

	return attach_for(a, a->target->pid, i, link_ret, err);
}

static enum hi_status anchor_place(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const struct attaching *a = arg;

	return is_multi(a->probe) ? attach_for(a, HI_BPF_NOBODY, i, fd_ret, err)
				  : hi_uprobe_anchor_site(a->target, &a->sites->items[i],
							  fd_ret, err);
}

/* ---- in the inspector ---- */

static void plan_links_of_sites(struct attaching *a)
{
	for (size_t i = 0; i < a->sites->count; i++) {
		bool is_planned = false;

		for (size_t k = 0; k < a->n_planned; k++)
			is_planned |= are_probed_together(a, a->plan[k], i);
		if (!is_planned)
			a->plan[a->n_planned++] = i;
	}
}

static enum hi_status attach_all(struct bpf_probe *probe, const struct hi_target *target,
				 const struct hi_probe_sites *sites, struct hi_error *err)
{
	struct attaching a = {.probe = probe, .target = target, .sites = sites};
	struct hi_probe_opening opening = {.open = attach_place,
					   .anchor = anchor_place,
					   .check = is_multi(probe) ? check_link_of_probe
								    : NULL,
					   .arg = &a};
	enum hi_status status;

	if (sites->count > HI_PROBE_SITES_MAX)
		return hi_fail(err, HI_LIMIT, 0, "more than %d places",
			       HI_PROBE_SITES_MAX);
	plan_links_of_sites(&a);
	opening.n = opening.n_anchors = a.n_planned;
	status = hi_probe_holder_start(&probe->holder, &opening, probe->links, err);
	if (status == HI_OK)
		probe->n_links = a.n_planned;
	return status;
}

static enum hi_status open_bpf_probe(struct bpf_probe *probe,
				     const struct hi_target *target,
				     const struct hi_safepoint *safepoint,
				     const struct hi_probe_sites *sites,
				     struct hi_error *err)
{
	enum hi_status status = load_bpf_program(probe, err);
	const struct hi_condition *condition = &sites->condition;

	if (status == HI_OK)
		status = map_program_memory(probe, err);
	if (status == HI_OK)
		status = set_target_process(probe, err);
	if (status == HI_OK)
		status = tell_site_addresses(probe, sites, err);
	if (status != HI_OK)
		return status;
	probe->shared->n_terms = (uint32_t)condition->n_terms;
	memcpy(probe->shared->terms, condition->terms, sizeof(condition->terms));
	probe->shared->every = safepoint->every ? safepoint->every : 1;
	probe->shared->signal = HI_TRIGGER_SIGNAL;
	find_offsets(probe);
	return attach_all(probe, target, sites, err);
}

enum hi_status hi_bpf_probe_open_by(enum hi_bpf_link link, const struct hi_target *target,
				    const struct hi_safepoint *safepoint,
				    const struct hi_probe_sites *sites,
				    struct hi_probe **ret, struct hi_error *err)
{
	struct bpf_probe *probe =
		hi_calloc(1, sizeof(*probe) + sites->count * sizeof(int));
	enum hi_status status;

	if (!probe)
		return hi_fail_memory(err, "probe");
	probe->probe = (struct hi_probe){
		.trigger = {.ops = &bpf_ops, .poll_fd = -1},
		.means = HI_PROBE_BPF,
		.n_sites = sites->count,
		.hits = bpf_hits,
		.close = bpf_close,
	};
	probe->pid = target->pid;
	probe->holder = HI_PROBE_HOLDER_NONE;
	probe->link = link;
	status = open_bpf_probe(probe, target, safepoint, sites, err);
	if (status != HI_OK) {
		bpf_close(&probe->probe);
		return status;
	}
	*ret = &probe->probe;
	return HI_OK;
}

enum hi_bpf_link hi_bpf_probe_link(const struct hi_probe *probe)
{
	return ((const struct bpf_probe *)probe)->link;
}

enum hi_status hi_bpf_probe_open_first(enum hi_bpf_link link,
				       const struct hi_target *target,
				       const struct hi_safepoint *safepoint,
				       const struct hi_probe_sites *sites,
				       struct hi_probe **ret, struct hi_error *err)
{
	if (!hi_bpf_process_has_no_main_thread(target->pid) &&
	    hi_bpf_probe_open_by(link, target, safepoint, sites, ret, NULL) == HI_OK)
		return HI_OK;
	return hi_bpf_probe_open_by(hi_bpf_has(HI_BPF_NEEDS_RINGS) && !hi_bpf_has(NEEDED)
					    ? HI_BPF_LINK_EVENT_OLD
					    : HI_BPF_LINK_EVENT,
				    target, safepoint, sites, ret, err);
}

enum hi_status hi_bpf_probe_open(const struct hi_target *target,
				 const struct hi_safepoint *safepoint,
				 const struct hi_probe_sites *sites,
				 struct hi_probe **ret, struct hi_error *err)
{
	return hi_bpf_probe_open_first(HI_BPF_LINK_MULTI, target, safepoint, sites, ret,
				       err);
}
