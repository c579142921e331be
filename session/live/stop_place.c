/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/stop_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "session/live/symbols.h"
#include "session/options.h"

HI_DEFINE_GUARD(struct hi_stop_place *, hi_stop_place_close)

static const char *file_name(const struct hi_mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');

	return slash ? slash + 1 : mapping->path;
}

struct hi_probed *hi_stop_place_tell(const struct hi_target *target,
				     const struct hi_probe_sites *places,
				     struct hi_arena *arena)
{
	struct hi_probed *told =
		hi_arena_alloc(arena, (places->count + 1) * sizeof(*told));

	for (size_t i = 0; told && i < places->count; i++) {
		const struct hi_probe_site *p = &places->items[i];

		told[i] = (struct hi_probed){
			.module = file_name(&target->mappings[p->mapping]),
			.function = p->function,
			.into_function = p->into_function,
			.offset = p->file_offset,
			.address = p->address,
			.instruction = p->instruction,
			.single_stepped = p->single_stepped,
		};
	}
	return told;
}

static enum hi_status find_stop_places(const struct hi_options *options,
				       struct hi_stop_place *place, struct hi_error *err)
{
	return options->no_sandbox
		       ? hi_safepoint_find(place->target, place->safepoint,
					   &place->places, err)
		       : hi_symbols_places(place->target, options->verbose,
					   place->safepoint, &place->places, err);
}

enum hi_status hi_stop_place_open(const struct hi_options *options,
				  const struct hi_safepoint *safepoint,
				  struct hi_stop_place **ret, struct hi_error *err)
{
	HI_GUARD(hi_stop_place_close)
	struct hi_stop_place *place = hi_calloc(1, sizeof(*place));
	enum hi_status status;

	if (!place)
		return hi_fail_memory(err, "probe");
	place->safepoint = safepoint;
	status = hi_target_open(options->pid, &place->target, err);
	if (status == HI_OK)
		status = find_stop_places(options, place, err);
	if (status != HI_OK)
		return status;
	place->told = hi_stop_place_tell(place->target, &place->places, &place->arena);
	if (!place->told)
		return hi_fail_memory(err, "probe");
	status = hi_probe_open(place->target, safepoint, &place->places, &place->probe,
			       err);
	if (status == HI_OK)
		*ret = hi_take(place);
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

bool hi_stop_place_holds(const struct hi_stop_place *place,
			 const struct hi_target *target)
{
	for (size_t i = 0; i < place->places.count; i++) {
		const struct hi_probe_site *p = &place->places.items[i];

		if (!is_mapped(target, &place->target->mappings[p->mapping], p->address))
			return false;
	}
	return true;
}

char *hi_stop_place_text(const struct hi_stop_place *place, char out[HI_STOP_PLACE_TEXT])
{
	char text[HI_PROBED_TEXT], more[64] = "";
	size_t n = place->places.count;

	if (n > 1)
		snprintf(more, sizeof(more), " and %zu more place%s", n - 1,
			 n == 2 ? "" : "s");
	snprintf(out, HI_STOP_PLACE_TEXT, "%s%s",
		 n ? hi_probed_text(text, &place->told[0]) : "nothing", more);
	return out;
}

uint64_t hi_stop_place_hits(const struct hi_stop_place *place)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < place->places.count; i++) {
		uint64_t hits = hi_probe_hits(place->probe, i);

		if (hits == UINT64_MAX)
			return hits;
		sum += hits;
	}
	return sum;
}

void hi_stop_place_begin(struct hi_stop_place *place)
{
	place->hits_before = hi_stop_place_hits(place);
}

enum hi_status hi_stop_place_missed(const struct hi_stop_place *place,
				    struct hi_error *err)
{
	const struct hi_safepoint *s = place->safepoint;
	uint64_t hits = hi_stop_place_hits(place);
	char why[sizeof(err->text)], often[96] = "", count[32];

	if (hits != UINT64_MAX && place->hits_before != UINT64_MAX)
		hits -= place->hits_before;
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

const struct hi_probed *hi_stop_place_at(const struct hi_stop_place *place, uint64_t pc)
{
	for (size_t i = 0; pc && i < place->places.count; i++)
		if (place->told[i].address == pc)
			return &place->told[i];
	return place->places.count == 1 ? &place->told[0] : NULL;
}

const char *hi_stop_place_ends(const struct hi_stop_place *place, uint64_t pc)
{
	const struct hi_probed *at = hi_stop_place_at(place, pc);

	const char *ends = at ? place->places.items[at - place->told].ends : "";

	return *ends ? ends : NULL;
}

void hi_stop_place_release(struct hi_stop_place *place)
{
	if (place)
		hi_probe_close(hi_take(place->probe));
}

void hi_stop_place_close(struct hi_stop_place *place)
{
	if (!place)
		return;
	hi_probe_close(place->probe);
	hi_probe_sites_free(&place->places);
	hi_target_close(place->target);
	hi_arena_free(&place->arena);
	free(place);
}
