/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and core files as sources: what is decoded from an image of memory. They
 * differ in how the image is made.
 */
#include "session/live/live_source.h"

#include <stdlib.h>

#include "attach/image_kept.h"
#include "base/cleanup.h"
#include "decode/rules/rulebook.h"
#include "session/census_cache.h"
#include "session/live/decoding.h"
#include "session/live/freeze.h"
#include "session/live/keeper_client.h"

static enum hi_status begin_process(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_freeze(in, err);

	if (status == HI_OK)
		hi_freeze_report(in);
	return status;
}

/* Not where something of them may be missing because memory ran out. */
static void return_modules(struct hi_inspection *in)
{
	struct hi_census_cache *census_cache = in->run->census_cache;

	if (!census_cache || !in->decoders.types || in->diagnostics.short_of_memory ||
	    hi_inspect_lost_something(in))
		return;
	census_cache->modules = hi_take(in->decoders.modules);
	census_cache->types = hi_take(in->decoders.types);
}

/* Not if the rulebook has something to warn of, as a warning is of one census, and not
 * with files of hints, which may change between censuses. */
static bool may_keep_typing(struct hi_inspection *in)
{
	return in->decoders.typing && in->graph && in->decoders.rulebook &&
	       in->decoders.types && !in->diagnostics.short_of_memory &&
	       !hi_inspect_lost_something(in) && !in->options->decoding.n_hints &&
	       hi_rulebook_renew(in->decoders.rulebook);
}

/* Bytes: an eighth of what --max-memory gives at the most. */
static uint64_t room_for_rows(const struct hi_inspection *in)
{
	uint64_t room = hi_image_room_to_keep(in->image);
	uint64_t given = in->options->decoding.max_memory;

	return given && given / 8 < room ? given / 8 : room;
}

/* Replaces what was kept, which is of the image before this one. */
static void keep_typing(struct hi_inspection *in)
{
	struct hi_census_cache *census_cache = in->run->census_cache;

	if (!census_cache || !in->image)
		return;
	hi_kept_typing_free(&census_cache->kept_typing);
	if (!may_keep_typing(in))
		return;
	hi_typing_keep(in->decoders.typing, &in->graph, room_for_rows(in),
		       &census_cache->kept_typing);
	if (census_cache->kept_typing.layouts)
		census_cache->rulebook = hi_take(in->decoders.rulebook);
}

static void close_image(struct hi_inspection *in)
{
	keep_typing(in);
	hi_typing_destroy(in->decoders.typing);
	hi_graph_destroy(in->graph);
	hi_rulebook_destroy(in->decoders.rulebook);
	hi_runtime_release(in->decoders.runtime);
	hi_allocator_release(in->decoders.allocator);
	return_modules(in);
	hi_types_close(in->decoders.types);
	hi_modules_close(in->decoders.modules);
	if (in->image && in->run->census_cache)
		hi_image_keep(in->image, &in->run->census_cache->kept_image);
	hi_image_destroy(in->image);
	if (in->run->keeper)
		hi_keeper_end_image(in->run->keeper);
	free(in->stop.allocator_text);
	hi_stop_site_close(in->stop.own_site);
	if (in->stop.is_observed)
		hi_stop_observers_end_census(&in->run->observers);
	hi_target_close(in->stop.target);
}

static enum hi_status check_image(const struct hi_inspection *in, struct hi_error *err)
{
	return hi_image_check(in->image, err);
}

static enum hi_status have_image(const struct hi_inspection *in, const char *what,
				 struct hi_error *err)
{
	(void)in, (void)what, (void)err;
	return HI_OK;
}

#define IMAGE_OPERATIONS                                                                 \
	.open = hi_decoding_run, .close = close_image, .check = check_image,             \
	.require_image = have_image, .results = &hi_live_results,                        \
	.contents = &hi_live_contents, .texts = &hi_live_texts,                          \
	.retainers = &hi_live_retainers

const struct hi_source_ops hi_source_process = {
	.name = "process", .begin = begin_process, IMAGE_OPERATIONS};

const struct hi_source_ops hi_source_core = {.name = "core", IMAGE_OPERATIONS};
