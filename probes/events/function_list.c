/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/function_list.h"

#include <stdio.h>

#include "probes/prologue.h"

unsigned hi_event_function_arguments(const struct hi_bpf_function *does)
{
	const uint8_t numbers[] = {does->size, does->count, does->block, does->result,
				   does->block_size};
	unsigned used = 0;

	for (size_t i = 0; i < sizeof(numbers); i++)
		if (numbers[i] >= 1 && numbers[i] <= HI_BPF_ARGUMENTS)
			used |= 1u << (numbers[i] - 1);
	return used;
}

bool hi_event_functions_add_site(const char *name, const struct hi_probe_site *site,
				 const struct hi_bpf_function *does,
				 struct hi_event_functions *ret)
{
	struct hi_event_function *function = &ret->items[ret->count];

	if (ret->count == HI_BPF_EVENT_FUNCTIONS)
		return false;
	function->does = *does;
	function->site = *site;
	snprintf(function->name, sizeof(function->name), "%s", name);
	ret->count++;
	return true;
}

/* A probe at a return replaces the return address, which is at the stack pointer only as
 * long as that is what it was at the entry. */
enum hi_status hi_event_functions_add(struct hi_target_code *code,
				      const struct hi_found_function *found,
				      struct hi_event_functions *ret,
				      struct hi_error *err)
{
	struct hi_probe_site_list sites = {};
	enum hi_status status;

	if (ret->count == HI_BPF_EVENT_FUNCTIONS)
		return HI_OK;
	status = hi_probe_sites_add_function(
		code, &sites, found->entry, found->size,
		hi_event_function_arguments(&found->does) | HI_PROLOGUE_STACK, err);
	if (status == HI_OK && sites.count)
		(void)hi_event_functions_add_site(found->name, &sites.items[0],
						  &found->does, ret);
	hi_vector_free(&sites);
	return status;
}

bool hi_event_functions_add_source(struct hi_event_functions *functions, const char *name,
				   enum hi_event_family family, uint8_t *ret)
{
	struct hi_event_source_name *source = &functions->sources[functions->n_sources];

	if (functions->n_sources == HI_EVENT_SOURCES)
		return false;
	*ret = (uint8_t)functions->n_sources++;
	source->family = family;
	snprintf(source->name, sizeof(source->name), "%s", name);
	return true;
}

/* That of the target which has it as code of a file; n_mappings: none. */
static size_t find_place_mapping(const struct hi_target *target, uint64_t addr)
{
	size_t i = 0;

	while (i < target->n_mappings &&
	       !(target->mappings[i].start <= addr && addr < target->mappings[i].end &&
		 target->mappings[i].kind == HI_MAPPING_FILE &&
		 target->mappings[i].prot & HI_PROT_EXEC))
		i++;
	return i;
}

bool hi_event_functions_add_place(const struct hi_target *target, size_t function,
				  uint64_t addr, const struct hi_python_value *value,
				  struct hi_event_functions *ret)
{
	struct hi_event_site *site = &ret->sites[ret->n_sites];
	size_t mapping = find_place_mapping(target, addr);
	const struct hi_mapping *m;

	if (mapping == target->n_mappings || ret->n_sites == HI_EVENT_SITES_MAX)
		return false;
	m = &target->mappings[mapping];
	*site = (struct hi_event_site){.address = addr,
				       .file_offset = addr - m->start + m->file_offset,
				       .mapping = (uint32_t)mapping,
				       .function = (uint32_t)function,
				       .value = *value};
	ret->n_sites++;
	return true;
}

struct hi_probe_site hi_event_site_probe(const struct hi_event_site *site)
{
	return (struct hi_probe_site){.mapping = site->mapping,
				      .file_offset = site->file_offset,
				      .address = site->address};
}
