/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what the process without rights has found about the allocator's functions. */
#include <string.h>

#include "decode/runtimes/cpython_walk_find.h"
#include "session/live/symbols.h"

static const char reading_functions[] = "searching for the functions of the allocator";

static enum hi_status find_event_functions(struct hi_target *target,
					   struct hi_image *image, const void *arg,
					   void *found, struct hi_error *err)
{
	return hi_event_functions_find_in(target, image, arg, found, err);
}

#define END_TEXT(text) ((text)[sizeof(text) - 1] = 0)

static bool is_argument(uint8_t number)
{
	return number <= HI_BPF_ARGUMENTS;
}

static bool is_effect(const struct hi_event_functions *functions,
		      const struct hi_bpf_function *does)
{
	return is_argument(does->size) && is_argument(does->count) &&
	       is_argument(does->block) && is_argument(does->block_size) &&
	       does->result <= HI_BPF_RETURNED && (does->result || does->block) &&
	       does->family < HI_FAMILIES && does->source < functions->n_sources;
}

static bool is_event_function(const struct hi_target *target,
			      const struct hi_event_functions *functions,
			      struct hi_event_function *f)
{
	END_TEXT(f->name);
	END_TEXT(f->site.function);
	END_TEXT(f->site.instruction);
	END_TEXT(f->site.ends);
	f->site.single_stepped = *(const unsigned char *)&f->site.single_stepped != 0;
	return is_effect(functions, &f->does) &&
	       hi_symbols_site_is_valid(target, &f->site);
}

static bool are_event_sites(const struct hi_target *target,
			    struct hi_event_functions *functions)
{
	if (functions->n_sites > HI_EVENT_SITES_MAX ||
	    (functions->pool_size & (functions->pool_size - 1)))
		return false;
	for (size_t i = 0; i < functions->n_sites; i++) {
		struct hi_event_site *site = &functions->sites[i];
		struct hi_probe_site place = hi_event_site_probe(site);

		site->value.in_memory =
			*(const unsigned char *)&site->value.in_memory != 0;
		if (site->function >= functions->count || site->value.reg > 15 ||
		    site->value.offset >> 14 || !hi_symbols_site_is_valid(target, &place))
			return false;
	}
	return true;
}

static enum hi_status check_found_functions(const struct hi_target *target,
					    struct hi_event_functions *functions,
					    struct hi_error *err)
{
	END_TEXT(functions->module);
	if (functions->count == 0 || functions->count > HI_BPF_EVENT_FUNCTIONS ||
	    functions->n_own > HI_BPF_EVENT_OWN ||
	    functions->n_sources > HI_EVENT_SOURCES)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "no such number of functions of an allocator");
	if (functions->heap >= HI_PYTHON_HEAPS ||
	    functions->n_heap_text > HI_PYTHON_HEAP_TEXT ||
	    !hi_python_walk_is_valid(&functions->python))
		return hi_fail(err, HI_BAD_DATA, 0, "no such layout of CPython");
	for (size_t i = 0; i < functions->n_sources; i++) {
		END_TEXT(functions->sources[i].name);
		if (functions->sources[i].family >= HI_FAMILIES)
			return hi_fail(err, HI_BAD_DATA, 0, "no such allocator");
	}
	for (size_t i = 0; i < functions->count; i++)
		if (!is_event_function(target, functions, &functions->items[i]))
			return hi_fail(err, HI_BAD_DATA, functions->items[i].site.address,
				       "a function of the allocator is outside the "
				       "target's code");
	if (!are_event_sites(target, functions))
		return hi_fail(
			err, HI_BAD_DATA, 0,
			"a place in copies of pymalloc is outside the target's code");
	return HI_OK;
}

enum hi_status hi_symbols_event_functions(struct hi_target *target, bool verbose,
					  const struct hi_followed *followed,
					  struct hi_event_functions *ret,
					  struct hi_error *err)
{
	const struct hi_symbols_job job = {.read = find_event_functions,
					   .arg = followed,
					   .size = sizeof(struct hi_event_functions),
					   .wants_image = true,
					   .message = verbose ? reading_functions : NULL};
	void *found = NULL;
	struct hi_event_functions functions;
	enum hi_status status = hi_symbols_read(target, &job, &found, err);

	if (status != HI_OK)
		return status;
	memcpy(&functions, found, sizeof(functions));
	hi_symbols_free(found, job.size);
	status = check_found_functions(target, &functions, err);
	if (status == HI_OK)
		*ret = functions;
	return status;
}
