/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/stop_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "session/live/symbols.h"
#include "session/options.h"

HI_DEFINE_GUARD(struct hi_stop_site *, hi_stop_site_close)

static const char *file_name(const struct hi_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');

	return slash ? slash + 1 : mapping->path;
}

struct hi_probed *hi_stop_site_describe(const struct hi_target *target,
					const struct hi_probe_sites *sites,
					struct hi_arena *arena)
{
	struct hi_probed *described =
		hi_arena_alloc(arena, (sites->count + 1) * sizeof(*described));

	for (size_t i = 0; described && i < sites->count; i++) {
		const struct hi_probe_site *p = &sites->items[i];

		described[i] = (struct hi_probed){
			.module = file_name(&target->mappings[p->mapping]),
			.function = p->function,
			.into_function = p->into_function,
			.offset = p->file_offset,
			.address = p->address,
			.instruction = p->instruction,
			.single_stepped = p->single_stepped,
		};
	}
	return described;
}

static enum hi_status find_stop_sites(const struct hi_options *options,
				      struct hi_stop_site *site, struct hi_error *err)
{
	return options->decoding.no_sandbox
		       ? hi_safepoint_find(site->target, site->safepoint, &site->sites,
					   err)
		       : hi_symbols_probe_sites(site->target, options->output.verbose,
						site->safepoint, &site->sites, err);
}

enum hi_status hi_stop_site_open(const struct hi_options *options,
				 const struct hi_safepoint *safepoint,
				 struct hi_stop_site **ret, struct hi_error *err)
{
	HI_GUARD(hi_stop_site_close)
	struct hi_stop_site *site = hi_calloc(1, sizeof(*site));
	enum hi_status status;

	if (!site)
		return hi_fail_memory(err, "probe");
	site->safepoint = safepoint;
	status = hi_target_open(options->target.pid, &site->target, err);
	if (status == HI_OK)
		status = find_stop_sites(options, site, err);
	if (status != HI_OK)
		return status;
	site->described = hi_stop_site_describe(site->target, &site->sites, &site->arena);
	if (!site->described)
		return hi_fail_memory(err, "probe");
	status = hi_probe_open(site->target, safepoint, &site->sites, &site->probe, err);
	if (status == HI_OK)
		*ret = hi_take(site);
	return status;
}

static bool is_mapped(const struct hi_target *target, const struct hi_mapping *was,
		      uint64_t address)
{
	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (address >= m->start && address < m->end)
			return m->inode == was->inode && m->dev_major == was->dev_major &&
			       m->dev_minor == was->dev_minor &&
			       m->file_offset - m->start == was->file_offset - was->start;
	}
	return false;
}

bool hi_stop_site_is_mapped(const struct hi_stop_site *site,
			    const struct hi_target *target)
{
	for (size_t i = 0; i < site->sites.count; i++) {
		const struct hi_probe_site *p = &site->sites.items[i];

		if (!is_mapped(target, &site->target->mappings[p->mapping], p->address))
			return false;
	}
	return true;
}

char *hi_stop_site_text(const struct hi_stop_site *site, char out[HI_STOP_SITE_TEXT])
{
	char text[HI_PROBED_TEXT], more[64] = "";
	size_t n = site->sites.count;

	if (n > 1)
		snprintf(more, sizeof(more), " and %zu more place%s", n - 1,
			 n == 2 ? "" : "s");
	snprintf(out, HI_STOP_SITE_TEXT, "%s%s",
		 n ? hi_probed_text(text, &site->described[0]) : "nothing", more);
	return out;
}

uint64_t hi_stop_site_hits(const struct hi_stop_site *site)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < site->sites.count; i++) {
		uint64_t hits = hi_probe_hits(site->probe, i);

		if (hits == UINT64_MAX)
			return hits;
		sum += hits;
	}
	return sum;
}

void hi_stop_site_begin(struct hi_stop_site *site)
{
	site->hits_before = hi_stop_site_hits(site);
}

enum hi_status hi_stop_site_missed(const struct hi_stop_site *site, struct hi_error *err)
{
	const struct hi_safepoint *s = site->safepoint;
	uint64_t hits = hi_stop_site_hits(site);
	char why[sizeof(err->text)], often[96] = "", count[32];

	if (hits != UINT64_MAX && site->hits_before != UINT64_MAX)
		hits -= site->hits_before;
	if (hits == 0)
		snprintf(often, sizeof(often), "; the place was not reached%s",
			 s->kind == HI_SAFEPOINT_FUNCTION
				 ? "; inlined calls do not reach it"
				 : "");
	else if (hits != UINT64_MAX && s->condition)
		snprintf(often, sizeof(often), "; without the condition: %s hit%s",
			 hi_text_count(count, hits), hits == 1 ? "" : "s");
	else if (hits != UINT64_MAX && s->every > 1)
		snprintf(often, sizeof(often), "; %s hits of %" PRIu64,
			 hi_text_count(count, hits), s->every);
	snprintf(why, sizeof(why), "%s", err->text);
	return hi_fail(err, HI_MISSED, 0, "--at %.40s: %s%s; nothing was stopped",
		       s->text, why, often);
}

const struct hi_probed *hi_stop_site_at(const struct hi_stop_site *site, uint64_t pc)
{
	for (size_t i = 0; pc && i < site->sites.count; i++)
		if (site->described[i].address == pc)
			return &site->described[i];
	return site->sites.count == 1 ? &site->described[0] : NULL;
}

const char *hi_stop_site_ends(const struct hi_stop_site *site, uint64_t pc)
{
	const struct hi_probed *at = hi_stop_site_at(site, pc);

	const char *ends = at ? site->sites.items[at - site->described].ends : "";

	return *ends ? ends : NULL;
}

void hi_stop_site_release(struct hi_stop_site *site)
{
	if (site)
		hi_probe_close(hi_take(site->probe));
}

void hi_stop_site_close(struct hi_stop_site *site)
{
	if (!site)
		return;
	hi_probe_close(site->probe);
	hi_probe_sites_free(&site->sites);
	hi_target_close(site->target);
	hi_arena_free(&site->arena);
	free(site);
}
