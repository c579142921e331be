/* SPDX-License-Identifier: BSD-2-Clause */
/* Links between the programs of allocation events and the allocator's functions. All but
 * the last function run in the probe holder. */
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "probes/bpf_link.h"
#include "probes/events/bpf_source_internal.h"
#include "probes/events/filtered_return.h"

enum { PLACES_MAX = HI_BPF_EVENT_FUNCTIONS + HI_EVENT_SITES_MAX };

struct attachment {
	const struct hi_bpf_source *source;
	int entry_program, return_program;
	size_t first;		     /* of the plan */
	struct hi_uprobe *prepared;  /* of windows: of the plan; else NULL */
	int check_link, filter_link; /* closed with the anchors */
};

static bool has_places(const struct hi_bpf_source *source, size_t function)
{
	return source->functions.items[function].does.flags & HI_BPF_AT_PLACES;
}

static bool has_return(const struct hi_bpf_source *source, size_t function)
{
	return source->functions.items[function].does.result != 0 &&
	       !has_places(source, function);
}

uint32_t hi_bpf_cookie_of_site(const struct hi_event_site *site)
{
	return site->function | (uint32_t)site->value.reg << HI_BPF_REGISTER_SHIFT |
	       (site->value.in_memory ? HI_BPF_IN_MEMORY : 0) |
	       (uint32_t)site->value.offset << HI_BPF_OFFSET_SHIFT;
}

static bool are_in_one_file(const struct hi_bpf_source *source, size_t f, size_t g)
{
	const struct hi_event_function *items = source->functions.items;

	return hi_uprobe_is_one_file(source->target, items[f].site.mapping,
				     items[g].site.mapping);
}

static bool is_optional(const struct hi_bpf_source *source, size_t function)
{
	return source->functions.items[function].does.flags & HI_BPF_OPTIONAL;
}

/* May one link have both? */
static bool are_linked_together(const struct hi_bpf_source *source, size_t f, size_t g)
{
	return are_in_one_file(source, f, g) &&
	       is_optional(source, f) == is_optional(source, g);
}

/* Has an earlier link of the plan this function as well? */
static bool is_planned(const struct hi_bpf_source *source, size_t f, bool at_return)
{
	for (size_t i = 0; i < source->n_planned && !source->by_perf; i++)
		if (source->plan[i].at_return == at_return &&
		    are_linked_together(source, source->plan[i].function, f))
			return true;
	return false;
}

static void plan_links_of_places(struct hi_bpf_source *source, size_t function)
{
	const struct hi_event_functions *functions = &source->functions;

	for (size_t i = 0; i < functions->n_sites; i++)
		if (functions->sites[i].function == function)
			source->plan[source->n_planned++] = (struct hi_planned_link){
				.function = function, .site = &functions->sites[i]};
}

static void plan_links_at(struct hi_bpf_source *source, bool optional, bool at_return)
{
	for (size_t f = 0; f < source->functions.count; f++) {
		if (is_optional(source, f) != optional ||
		    (at_return && !has_return(source, f)) ||
		    is_planned(source, f, at_return))
			continue;
		if (source->by_perf && has_places(source, f))
			plan_links_of_places(source, f);
		else
			source->plan[source->n_planned++] = (struct hi_planned_link){
				.function = f, .at_return = at_return};
	}
}

/* Returns first: a call whose entry was seen is then seen to return. */
static void plan_links(struct hi_bpf_source *source, bool optional)
{
	plan_links_at(source, optional, true);
	plan_links_at(source, optional, false);
}

static enum hi_status link_functions_of_file(const struct attachment *a, pid_t pid,
					     const struct hi_planned_link *link,
					     const struct hi_uprobe *uprobe,
					     int *link_ret, struct hi_error *err)
{
	uint64_t offsets[PLACES_MAX], cookies[PLACES_MAX];
	const struct hi_event_functions *functions = &a->source->functions;
	struct hi_bpf_places places = {.offsets = offsets, .cookies = cookies};

	for (size_t f = 0; f < functions->count; f++) {
		if (has_places(a->source, f) ||
		    (link->at_return && !has_return(a->source, f)) ||
		    !are_linked_together(a->source, link->function, f))
			continue;
		offsets[places.count] = functions->items[f].site.file_offset;
		cookies[places.count++] = f;
	}
	for (size_t i = 0; i < functions->n_sites && !link->at_return; i++) {
		const struct hi_event_site *site = &functions->sites[i];

		if (!are_linked_together(a->source, link->function, site->function))
			continue;
		offsets[places.count] = site->file_offset;
		cookies[places.count++] = hi_bpf_cookie_of_site(site);
	}
	return hi_bpf_link_places(link->at_return ? a->return_program : a->entry_program,
				  pid, uprobe, &places, link_ret, err);
}

/* Before the first probe at a return. */
static enum hi_status try_filter(struct attachment *a, struct hi_error *err)
{
	/* Kernels that need the old programs return without a system call. */
	if (a->source->is_old || !hi_process_is_filtered(a->source->target->pid))
		return HI_OK;
	return hi_filtered_return_check(a->return_program, a->source->by_perf,
					&a->filter_link, err);
}

static enum hi_status try_means(void *arg, struct hi_error *err)
{
	struct attachment *a = arg;
	enum hi_status status = HI_OK;

	if (!a->source->by_perf)
		status = hi_bpf_link_check(a->entry_program, &a->source->shared->own_hits,
					   &a->check_link, err);
	return status == HI_OK ? try_filter(a, err) : status;
}

static struct hi_probe_site site_of_link(const struct hi_bpf_source *source,
					 const struct hi_planned_link *link)
{
	return link->site ? hi_event_site_probe(link->site)
			  : source->functions.items[link->function].site;
}

static uint64_t cookie_of_link(const struct hi_bpf_source *source,
			       const struct hi_planned_link *link)
{
	if (source->is_old)
		return HI_BPF_NO_COOKIE;
	return link->site ? hi_bpf_cookie_of_site(link->site) : link->function;
}

static enum hi_status attach_link(const struct attachment *a, pid_t pid, size_t i,
				  int *link_ret, struct hi_error *err)
{
	const struct hi_planned_link *link = &a->source->plan[a->first + i];
	struct hi_probe_site site = site_of_link(a->source, link);
	struct hi_uprobe uprobe = {.fd = -1};
	enum hi_status status;

	if (a->prepared)
		return link_functions_of_file(a, pid, link, &a->prepared[i], link_ret,
					      err);
	status = hi_uprobe_prepare(a->source->target, &site, &uprobe, err);
	uprobe.at_return = link->at_return;
	if (status == HI_OK && a->source->by_perf)
		status = hi_bpf_link_event(
			link->at_return ? a->return_program : a->entry_program,
			a->source->target, cookie_of_link(a->source, link), &uprobe,
			link_ret, err);
	else if (status == HI_OK)
		status = link_functions_of_file(a, pid, link, &uprobe, link_ret, err);
	hi_uprobe_release(&uprobe);
	return status;
}

static enum hi_status attach_planned(void *arg, size_t i, int *link_ret,
				     struct hi_error *err)
{
	const struct attachment *a = arg;

	return attach_link(a, a->source->target->pid, i, link_ret, err);
}

static enum hi_status anchor_link(void *arg, size_t i, int *link_ret,
				  struct hi_error *err)
{
	return attach_link(arg, HI_BPF_NOBODY, i, link_ret, err);
}

/* With perf events each function and each place of copies has one. */
static size_t count_anchors(const struct hi_bpf_source *source, size_t n_links)
{
	return source->by_perf ? source->functions.count + source->functions.n_sites
			       : n_links;
}

static enum hi_status anchor_function(void *arg, size_t i, int *fd_ret,
				      struct hi_error *err)
{
	const struct attachment *a = arg;
	const struct hi_event_functions *functions = &a->source->functions;
	const struct hi_event_site *place =
		i < functions->count ? NULL : &functions->sites[i - functions->count];
	size_t f = place ? place->function : i;
	struct hi_probe_site site =
		place ? hi_event_site_probe(place) : functions->items[f].site;

	if (is_optional(a->source, f) != (a->first != 0) ||
	    (!place && has_places(a->source, f)))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "it is another holder's, or has no anchor");
	return hi_uprobe_anchor_site(a->source->target, &site, fd_ret, err);
}

static struct bpf_program *named_program(const struct hi_bpf_source *source,
					 const char *name)
{
	return bpf_object__find_program_by_name(source->object, name);
}

enum hi_status hi_bpf_source_attach(struct hi_bpf_source *source, struct hi_error *err)
{
	struct attachment a = {
		.source = source,
		.entry_program = bpf_program__fd(named_program(source, "enter")),
		.return_program = bpf_program__fd(named_program(source, "leave")),
		.check_link = -1,
		.filter_link = -1,
	};
	struct hi_probe_opening opening = {.open = attach_planned,
					   .anchor = source->by_perf ? anchor_function
								     : anchor_link,
					   .check = try_means,
					   .arg = &a};
	enum hi_status status;

	plan_links(source, false);
	source->n_kept = source->n_planned;
	plan_links(source, true);
	opening.n = source->n_kept;
	opening.n_anchors = count_anchors(source, opening.n);
	status = hi_probe_holder_start(&source->holder, &opening, source->links, err);
	if (status != HI_OK)
		return status;
	source->n_links = a.first = source->n_kept;
	if (source->n_planned == source->n_kept)
		return HI_OK;
	opening.n = source->n_planned - source->n_kept;
	opening.n_anchors = count_anchors(source, opening.n);
	opening.check = NULL;
	/* Without them there is the rest. */
	if (hi_probe_holder_start(&source->optional_holder, &opening,
				  source->links + source->n_kept,
				  &source->no_optional) == HI_OK)
		source->n_links = source->n_planned;
	return HI_OK;
}

/* ---- windows ---- */

/* The files stay open, as do the programs and the descriptor of the target. */
static enum hi_status prepare_links(void *arg, int *kept, size_t room, size_t *n_ret,
				    struct hi_error *err)
{
	struct attachment *a = arg;
	const int always[] = {a->entry_program, a->return_program,
			      a->source->target->pidfd};
	enum hi_status status = HI_OK;
	size_t n = 0;

	if (room < sizeof(always) / sizeof(*always) + a->source->n_planned)
		return hi_fail(err, HI_LIMIT, 0, "too many files have functions");
	for (; n < sizeof(always) / sizeof(*always); n++)
		kept[n] = always[n];
	for (size_t i = 0; i < a->source->n_planned && status == HI_OK; i++) {
		const struct hi_planned_link *link = &a->source->plan[i];
		struct hi_probe_site site = site_of_link(a->source, link);

		status =
			hi_uprobe_prepare(a->source->target, &site, &a->prepared[i], err);
		a->prepared[i].at_return = link->at_return;
		if (status == HI_OK)
			kept[n++] = a->prepared[i].fd;
	}
	*n_ret = n;
	return status;
}

static bool is_target_alive(void *arg)
{
	const struct attachment *a = arg;

	return hi_target_is_alive(a->source->target);
}

/* Functions that are called too often for a recording may be followed for a moment. */
enum hi_status hi_bpf_source_prepare_windows(struct hi_bpf_source *source,
					     struct hi_error *err)
{
	struct attachment a = {
		.source = source,
		.entry_program = bpf_program__fd(named_program(source, "enter")),
		.return_program = bpf_program__fd(named_program(source, "leave")),
		.check_link = -1,
		.filter_link = -1,
	};
	struct hi_window_opening opening = {.pid = source->target->pid,
					    .links = {.open = attach_planned,
						      .anchor = anchor_link,
						      .check = try_means,
						      .arg = &a},
					    .prepare = prepare_links,
					    .program = a.entry_program,
					    .is_alive = is_target_alive,
					    .shared = source->shared};
	enum hi_status status;

	if (!source->n_planned) {
		plan_links(source, false);
		plan_links(source, true);
	}
	a.prepared = hi_calloc(source->n_planned + 1, sizeof(*a.prepared));
	if (!a.prepared)
		return hi_fail_memory(err, "windows");
	opening.links.n = opening.links.n_anchors = source->n_planned;
	status = hi_window_holder_start(&source->windows.holder, &opening, err);
	free(a.prepared);
	return status;
}
