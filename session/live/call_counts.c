/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/call_counts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/running_image.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "probes/use_probes.h"
#include "session/live/symbols.h"

/* Memory that the tracer shares. */
struct counts_at_stop {
	uint64_t hits[HI_CALL_SITES];
	bool is_known;
};

struct hi_call_counts {
	struct hi_stop_observer observer; /* first */
	struct hi_target *target;
	struct counts_at_stop *at_stop;
	struct hi_probe_sites sites;
	struct hi_use_probes *probes;
	struct hi_call_count list[HI_CALL_SITES];
	bool is_served; /* the probes are another process's */
};

HI_DEFINE_GUARD(struct hi_call_counts *, hi_call_counts_close)

void hi_call_counts_close(struct hi_call_counts *counts)
{
	if (!counts || counts->is_served)
		return;
	hi_use_probes_close(counts->probes);
	hi_probe_sites_free(&counts->sites);
	if (counts->at_stop)
		munmap(counts->at_stop, sizeof(*counts->at_stop));
	hi_target_close(counts->target);
	free(counts);
}

static enum hi_status find_counted_sites(struct hi_call_counts *c,
					 const struct hi_options *options,
					 const struct hi_call_patterns *patterns,
					 struct hi_error *err)
{
	struct hi_image *image = NULL;
	enum hi_status status;

	if (!options->decoding.no_sandbox)
		return hi_symbols_call_sites(c->target, options->output.verbose, patterns,
					     &c->sites, err);
	status = hi_image_unstopped(c->target, &image, err);
	return status == HI_OK
		       ? hi_call_sites_find_in(c->target, image, patterns, &c->sites, err)
		       : status;
}

/* No register: nothing is kept but the number of hits. */
static enum hi_status probe_counted_sites(struct hi_call_counts *c, struct hi_error *err)
{
	struct hi_use_site sites[HI_CALL_SITES];

	for (size_t i = 0; i < c->sites.count; i++)
		sites[i] = (struct hi_use_site){
			.mapping = (uint32_t)c->sites.items[i].mapping,
			.address = c->sites.items[i].address,
			.file_offset = c->sites.items[i].file_offset};
	return hi_use_probes_set(c->probes, sites, c->sites.count, err);
}

/* ---- at a stop ---- */

static void take_counts(struct hi_call_counts *c)
{
	for (size_t i = 0; i < c->sites.count; i++)
		c->at_stop->hits[i] = hi_use_probes_hits(c->probes, i);
	c->at_stop->is_known = true;
}

static void take_counts_at_stop(struct hi_stop_observer *observer,
				const struct hi_stop_moment *moment)
{
	(void)moment;
	take_counts((struct hi_call_counts *)observer);
}

static void have_counts_served(struct hi_stop_observer *observer,
			       const struct hi_keeper_client *client)
{
	(void)client;
	((struct hi_call_counts *)observer)->is_served = true;
}

static void close_counts(struct hi_stop_observer *observer)
{
	hi_call_counts_close((struct hi_call_counts *)observer);
}

static const struct hi_stop_observer_ops count_observer_ops = {
	.name = "calls",
	.at_stop = take_counts_at_stop,
	.be_served = have_counts_served,
	.close = close_counts,
};

struct hi_stop_observer *hi_call_counts_observer(struct hi_call_counts *counts)
{
	return counts ? &counts->observer : NULL;
}

/* ---- all of it ---- */

static enum hi_status share_counts(struct hi_call_counts *c, struct hi_error *err)
{
	void *memory = mmap(NULL, sizeof(*c->at_stop), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return hi_fail_memory(err, "counts of calls");
	c->at_stop = memory;
	return HI_OK;
}

enum hi_status hi_call_counts_open(const struct hi_options *options,
				   const struct hi_call_patterns *patterns,
				   struct hi_call_counts **ret, struct hi_error *err)
{
	HI_GUARD(hi_call_counts_close)
	struct hi_call_counts *c = hi_calloc(1, sizeof(*c));
	enum hi_status status;

	if (!c)
		return hi_fail_memory(err, "counts of calls");
	c->observer.ops = &count_observer_ops;
	status = share_counts(c, err);
	if (status == HI_OK)
		status = hi_target_open(options->target.pid, &c->target, err);
	if (status == HI_OK)
		status = find_counted_sites(c, options, patterns, err);
	if (status == HI_OK)
		status = hi_use_probes_open(c->target, &c->probes, err);
	if (status == HI_OK)
		status = probe_counted_sites(c, err);
	if (status == HI_OK)
		*ret = hi_take(c);
	return status;
}

static int compare_call_counts(const void *a, const void *b)
{
	const struct hi_call_count *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name, y->name);
}

const struct hi_call_count *hi_call_counts_end(struct hi_call_counts *counts,
					       size_t *n_ret)
{
	*n_ret = counts->sites.count;
	if (!counts->at_stop->is_known)
		take_counts(counts);
	for (size_t i = 0; i < counts->sites.count; i++) {
		const struct hi_probe_site *site = &counts->sites.items[i];
		const char *path = counts->target->mappings[site->mapping].path;

		counts->list[i] = (struct hi_call_count){site->function, path ? path : "",
							 counts->at_stop->hits[i]};
	}
	if (!counts->is_served)
		hi_use_probes_end(counts->probes);
	qsort(counts->list, counts->sites.count, sizeof(*counts->list),
	      compare_call_counts);
	return counts->list;
}

uint64_t hi_call_counts_cost_ns(const struct hi_call_counts *counts)
{
	return hi_use_probes_hit_ns(counts->probes);
}
