/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vector.h"
#include "session/live/frame_lookup.h"

enum {
	ASK_CONTEXTS = 64, /* stacks whose names are looked up at a time */
	UNKNOWN_SITE = UINT32_MAX,
	FINISH_ROUNDS = 64,
};

/* A stack that has no site yet, and how much it matters. */
struct unnamed_stack {
	uint32_t context;
	uint64_t bytes, allocs;
};

struct hi_live_sites {
	struct hi_frame_lookup *lookup;
	struct HI_VECTOR(struct hi_live_site) sites;
	struct HI_VECTOR(uint32_t) of_context; /* site of each, UNKNOWN_SITE */
	struct hi_table by_name;	       /* hash of a site -> its index */
	struct hi_live_site unnamed;
	struct hi_arena names;
	struct unnamed_stack most[ASK_CONTEXTS];
	size_t n_most;
};

HI_DEFINE_GUARD(struct hi_live_sites *, hi_live_sites_destroy)

void hi_live_sites_destroy(struct hi_live_sites *s)
{
	if (!s)
		return;
	hi_frame_lookup_destroy(s->lookup);
	hi_vector_free(&s->sites);
	hi_vector_free(&s->of_context);
	hi_table_free(&s->by_name);
	hi_arena_free(&s->names);
	free(s);
}

enum hi_status hi_live_sites_create(const struct hi_options *options,
				    struct hi_recorder *recorder,
				    struct hi_live_sites **ret, struct hi_error *err)
{
	HI_GUARD(hi_live_sites_destroy)
	struct hi_live_sites *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "sites of allocations");
	status = hi_frame_lookup_create(options, recorder, &s->lookup, err);
	if (status == HI_OK)
		*ret = hi_take(s);
	return status;
}

/* ---- the site of a stack ---- */

/* Flags of rows that are no site: see hi_context_site(). */
static uint32_t flags_of_no_site(const uint64_t *addresses, const uint32_t *frames,
				 unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (addresses[frames[i]] & HI_PYTHON_FRAME)
			return HI_FRAME_ALLOCATES | HI_FRAME_INTERPRETER;
	return HI_FRAME_ALLOCATES;
}

/* The row that is the site, as birth_groups.h has it. NULL: some name is not known yet,
 * and *address_ret is what has to be looked up. */
static const struct hi_frame_row *find_site_row(const struct hi_live_sites *s,
						const struct hi_context_view *view,
						const uint64_t *addresses,
						uint32_t context, uint64_t *address_ret)
{
	uint32_t frames[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(view, context, frames);
	uint32_t passed = flags_of_no_site(addresses, frames, n);
	const struct hi_frame_row *row = NULL;

	for (unsigned i = 0; i < n; i++) {
		uint32_t n_rows = 0;
		const struct hi_frame_row *rows =
			hi_frame_lookup_find(s->lookup, addresses[frames[i]], &n_rows);

		*address_ret = addresses[frames[i]];
		if (!rows)
			return NULL;
		for (uint32_t k = 0; k < n_rows; k++) {
			row = &rows[k];
			if (!(row->flags & passed))
				return row;
		}
	}
	return row;
}

static uint64_t hash_site_row(const struct hi_frame_row *row)
{
	uint64_t hash = HI_HASH_START;

	hash = hi_hash_more(hash, row->module, strlen(row->module) + 1);
	hash = hi_hash_more(hash, row->function, strlen(row->function) + 1);
	hash = hi_hash_more(hash, row->file, strlen(row->file) + 1);
	hash = hi_hash_more(hash, &row->line, sizeof(row->line));
	/* Code without a name is told apart by its place. */
	return *row->function ? hash
			      : hi_hash_more(hash, &row->offset, sizeof(row->offset));
}

static enum hi_status fail_sites(struct hi_error *err)
{
	return hi_fail_memory(err, "sites of allocations");
}

static enum hi_status number_live_site(struct hi_live_sites *s,
				       const struct hi_frame_row *row, uint32_t *ret,
				       struct hi_error *err)
{
	uint64_t hash = hash_site_row(row), i;
	struct hi_live_site site = {
		.function = hi_arena_strdup(&s->names, row->function),
		.file = hi_arena_strdup(&s->names, hi_base_name(row->file)),
		.module = hi_arena_strdup(&s->names, hi_base_name(row->module)),
		.line = row->line,
		.offset = row->offset,
	};

	if (hi_table_get(&s->by_name, hash, &i)) {
		*ret = (uint32_t)i;
		return HI_OK;
	}
	*ret = (uint32_t)s->sites.count;
	if (!site.function || !site.file || !site.module ||
	    !hi_vector_push(&s->sites, site) || !hi_table_put(&s->by_name, hash, *ret))
		return fail_sites(err);
	return HI_OK;
}

/* ---- stacks without a site ---- */

/* Where the least of the most is. */
static size_t find_least_stack(const struct hi_live_sites *s)
{
	size_t least = 0;

	for (size_t i = 1; i < s->n_most; i++)
		if (s->most[i].bytes < s->most[least].bytes ||
		    (s->most[i].bytes == s->most[least].bytes &&
		     s->most[i].allocs < s->most[least].allocs))
			least = i;
	return least;
}

static void keep_unnamed_stack(struct hi_live_sites *s, struct unnamed_stack stack)
{
	size_t least;

	if (s->n_most < ASK_CONTEXTS) {
		s->most[s->n_most++] = stack;
		return;
	}
	least = find_least_stack(s);
	if (stack.bytes > s->most[least].bytes)
		s->most[least] = stack;
}

static void add_to_site(struct hi_live_site *site, const struct hi_context_totals *t)
{
	site->live += hi_totals_live(t);
	site->bytes += hi_totals_live_bytes(t);
	site->allocs += t->allocs;
}

static void add_context(struct hi_live_sites *s, uint32_t context,
			const struct hi_context_totals *t)
{
	uint32_t site = s->of_context.items[context];

	if (site != UNKNOWN_SITE) {
		add_to_site(&s->sites.items[site], t);
		return;
	}
	add_to_site(&s->unnamed, t);
	if (context)
		keep_unnamed_stack(s, (struct unnamed_stack){context,
							     hi_totals_live_bytes(t),
							     t->allocs});
}

/* ---- a refresh ---- */

/* Names the stacks whose names have come, or asks for what is missing: one frame more
 * with each look, for the site is near. */
static enum hi_status name_unnamed_stacks(struct hi_live_sites *s,
					  const struct hi_recording *recording,
					  struct hi_error *err)
{
	const struct hi_contexts *contexts = hi_recording_contexts(recording);
	const uint64_t *addresses = hi_contexts_addresses(contexts);
	enum hi_status status = HI_OK;
	struct hi_context_view view;

	hi_contexts_view(contexts, &view);
	for (size_t i = 0; status == HI_OK && i < s->n_most; i++) {
		uint32_t context = s->most[i].context, frames[HI_STACK_FRAMES];
		uint64_t address = 0;
		const struct hi_frame_row *row =
			find_site_row(s, &view, addresses, context, &address);

		if (row) {
			status = number_live_site(s, row, &s->of_context.items[context],
						  err);
			continue;
		}
		unsigned n = hi_context_frames(&view, context, frames);
		for (unsigned k = 0, more = 4; k < n && more; k++) {
			uint32_t rows;

			if (hi_frame_lookup_find(s->lookup, addresses[frames[k]], &rows))
				continue;
			more--;
			if (!hi_frame_lookup_ask(s->lookup, addresses[frames[k]]))
				break;
		}
	}
	return status;
}

static void add_all_contexts(struct hi_live_sites *s, const struct hi_recording *r)
{
	const struct hi_context_totals *totals = hi_recording_by_context(r);

	s->n_most = 0;
	s->unnamed = (struct hi_live_site){.function = "", .file = "", .module = ""};
	for (size_t i = 0; i < s->sites.count; i++)
		s->sites.items[i].live = s->sites.items[i].bytes =
			s->sites.items[i].allocs = 0;
	for (size_t i = 0; i < s->of_context.count; i++)
		add_context(s, (uint32_t)i, &totals[i]);
}

enum hi_status hi_live_sites_refresh(struct hi_live_sites *s,
				     const struct hi_recording *recording,
				     struct hi_error *err)
{
	enum hi_status status = hi_frame_lookup_work(s->lookup, err);
	struct hi_context_view view;

	hi_contexts_view(hi_recording_contexts(recording), &view);
	while (s->of_context.count < view.n_contexts)
		if (!hi_vector_push(&s->of_context, UNKNOWN_SITE))
			return fail_sites(err);
	add_all_contexts(s, recording);
	if (status == HI_OK)
		status = name_unnamed_stacks(s, recording, err);
	if (status == HI_OK)
		add_all_contexts(s, recording);
	return status == HI_OK ? hi_frame_lookup_work(s->lookup, err) : status;
}

enum hi_status hi_live_sites_finish(struct hi_live_sites *s,
				    const struct hi_recording *recording,
				    const struct hi_image *image, struct hi_error *err)
{
	enum hi_status status;
	uint64_t before;

	hi_frame_lookup_wait(s->lookup);
	hi_frame_lookup_use(s->lookup, image);
	for (size_t i = 0; i < s->of_context.count; i++)
		s->of_context.items[i] = UNKNOWN_SITE;
	status = hi_live_sites_refresh(s, recording, err);
	/* Each round names some more stacks, or the next frames of some. */
	for (unsigned i = 0; status == HI_OK && s->unnamed.bytes && i < FINISH_ROUNDS;
	     i++) {
		before = s->unnamed.bytes;
		hi_frame_lookup_wait(s->lookup);
		status = hi_live_sites_refresh(s, recording, err);
		if (s->unnamed.bytes == before && i % 8 == 7)
			break;
	}
	return status;
}

/* ---- answers ---- */

const struct hi_live_site *hi_live_sites_all(const struct hi_live_sites *s, size_t *n_ret)
{
	*n_ret = s->sites.count;
	return s->sites.items;
}

const uint32_t *hi_live_sites_of_contexts(const struct hi_live_sites *s, uint32_t *n_ret)
{
	*n_ret = (uint32_t)s->of_context.count;
	return s->of_context.items;
}

struct hi_live_site hi_live_sites_unnamed(const struct hi_live_sites *s)
{
	return s->unnamed;
}

const struct hi_live_site *hi_live_sites_largest(const struct hi_live_sites *s)
{
	const struct hi_live_site *ret = NULL;

	for (size_t i = 0; i < s->sites.count; i++)
		if (s->sites.items[i].bytes > (ret ? ret->bytes : 0))
			ret = &s->sites.items[i];
	return ret;
}

char *hi_live_site_name(const struct hi_live_site *site, char *out, size_t size)
{
	if (*site->function)
		snprintf(out, size, "%s", site->function);
	else if (*site->module)
		snprintf(out, size, "%s+0x%" PRIx64, site->module, site->offset);
	else
		snprintf(out, size, "(no symbol)");
	return out;
}

char *hi_live_site_where(const struct hi_live_site *site, char *out, size_t size)
{
	if (*site->file && site->line)
		snprintf(out, size, "%s:%u", site->file, site->line);
	else
		snprintf(out, size, "%s", *site->function ? site->module : "");
	return out;
}
