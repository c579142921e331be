/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where __malloc_context is: a scan of modules' data for words whose secret of 64 bits
 * stands again in the areas that they point at. No symbol, no code.
 */
#include "decode/allocators/mallocng.h"

#include <stdio.h>

#include "decode/allocators/musl.h"
#include "decode/allocators/window.h"

enum { MAX_RANGES = 16 };

static bool read_context_area(struct hi_memory *memory,
			      const struct hi_mallocng_layout *l, uint64_t context,
			      uint16_t field, uint64_t secret)
{
	uint64_t area, check;

	return hi_memory_read_u64(memory, context + field, &area, NULL) == HI_OK &&
	       area && area % HI_MALLOCNG_PAGE == 0 &&
	       hi_memory_read_u64(memory, area + l->area_check, &check, NULL) == HI_OK &&
	       check == secret;
}

bool hi_mallocng_is_context(struct hi_memory *memory, const struct hi_mallocng_layout *l,
			    uint64_t addr)
{
	uint64_t secret, init;

	return hi_memory_read_u64(memory, addr + l->secret, &secret, NULL) == HI_OK &&
	       hi_memory_read_u64(memory, addr + l->init_done, &init, NULL) == HI_OK &&
	       secret && (uint32_t)init == 1 &&
	       read_context_area(memory, l, addr, l->meta_area_head, secret) &&
	       read_context_area(memory, l, addr, l->meta_area_tail, secret);
}

/* ---- the scan ---- */

struct context_scan {
	const struct hi_image *image;
	struct hi_modules *modules;
	const struct hi_mallocng_layout *layout;
	hi_mallocng_found_fn *fn;
	void *arg;
	struct hi_module *module;
	struct hi_window window;
};

static enum hi_status report_context(struct context_scan *s, uint64_t addr,
				     struct hi_error *err)
{
	struct hi_mallocng_where where = {.context = addr};

	snprintf(where.module, sizeof(where.module), "%s", s->module->name);
	snprintf(where.version, sizeof(where.version), "%s", s->layout->versions);
	hi_musl_find_version(s->image, s->modules, s->module, where.version);
	return s->fn(&where, s->arg, err);
}

/* Addresses [start, end) are held. */
static enum hi_status scan_held(struct context_scan *s, uint64_t start, uint64_t end,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t offset = s->layout->init_done;
	uint32_t init;

	for (uint64_t at = (start + 7) & ~7ull; at + 8 <= end && status == HI_OK;
	     at += 8) {
		if (!hi_window_u32(&s->window, at + offset, &init) || init != 1 ||
		    !hi_mallocng_is_context(s->image->memory, s->layout, at))
			continue;
		status = report_context(s, at, err);
	}
	return status;
}

static enum hi_status scan_module(struct context_scan *s, struct hi_error *err)
{
	struct hi_section_range ranges[MAX_RANGES];
	size_t n = hi_module_data(s->module, ranges, MAX_RANGES);
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = ranges[i].start, start, end;

		while (!ranges[i].relro && status == HI_OK &&
		       hi_image_next_held(s->image, at, ranges[i].end, &start, &end)) {
			status = scan_held(s, start, end, err);
			at = end;
		}
	}
	return status;
}

enum hi_status hi_mallocng_find(const struct hi_image *image, struct hi_modules *modules,
				const struct hi_mallocng_layout *layout,
				hi_mallocng_found_fn *fn, void *arg, struct hi_error *err)
{
	struct context_scan s = {.image = image,
				 .modules = modules,
				 .layout = layout,
				 .fn = fn,
				 .arg = arg,
				 .window.memory = image->memory};
	enum hi_status status = HI_OK;

	if (!hi_musl_may_be_in(modules))
		return HI_OK;
	for (size_t i = 0; i < hi_modules_count(modules) && status == HI_OK; i++) {
		s.module = hi_modules_get(modules, i);
		status = scan_module(&s, err);
	}
	if (status == HI_OK && s.window.out_of_memory)
		status = hi_fail_memory(err, "window");
	hi_window_free(&s.window);
	return status;
}
