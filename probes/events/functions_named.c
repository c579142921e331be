/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/functions_named.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "probes/prologue.h"

/* ---- --calls, --frees ---- */

static enum hi_status fail_too_many(const char *name, struct hi_error *err)
{
	return hi_fail(err, HI_LIMIT, 0, "%.80s: too many functions are followed", name);
}

static enum hi_status add_named_sites(const struct hi_call_spec *spec,
				      const struct hi_bpf_function *does,
				      const struct hi_probe_site_list *sites,
				      struct hi_event_functions *ret,
				      struct hi_error *err)
{
	for (size_t i = 0; i < sites->count; i++)
		if (!hi_event_functions_add_site(spec->function.name, &sites->items[i],
						 does, ret))
			return fail_too_many(spec->function.name, err);
	return HI_OK;
}

static enum hi_status add_named_function(struct hi_target_code *code,
					 const struct hi_call_spec *spec, uint8_t source,
					 struct hi_event_functions *ret,
					 struct hi_error *err)
{
	struct hi_bpf_function does = spec->does;
	struct hi_safepoint function = spec->function;
	struct hi_probe_site_list sites = {};
	enum hi_status status;

	does.source = source;
	does.family = HI_FAMILY_CALLS;
	function.kept = hi_event_function_arguments(&does) | HI_PROLOGUE_STACK;
	status = hi_find_function(code, &function, &sites, err);
	if (status == HI_OK)
		status = add_named_sites(spec, &does, &sites, ret, err);
	hi_vector_free(&sites);
	return status;
}

/* Functions that give out memory are sources of their own; all others belong to the
 * family. */
static enum hi_status add_calls(struct hi_target_code *code,
				const struct hi_followed *followed,
				struct hi_event_functions *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint8_t source = 0;

	for (size_t i = 0; i < followed->n_calls && status == HI_OK; i++) {
		const struct hi_call_spec *spec = &followed->calls[i];

		if (!spec->does.result)
			continue;
		if (!hi_event_functions_add_source(ret, spec->function.name,
						   HI_FAMILY_CALLS, &source))
			return fail_too_many(spec->function.name, err);
		ret->sources[source].is_whole = !spec->does.unit;
		status = add_named_function(code, spec, source, ret, err);
	}
	for (size_t i = 0; i < followed->n_calls && status == HI_OK; i++)
		if (!followed->calls[i].does.result)
			status = add_named_function(code, &followed->calls[i], source,
						    ret, err);
	return status;
}

/* ---- --mappings ---- */

enum { MAPPING_FLAGS = HI_BPF_NOT_OWN | HI_BPF_ALWAYS };

static const struct mapping_function {
	const char *name;
	struct hi_bpf_function does;
} mapping_functions[] = {
	{"mmap", {.size = 2, .result = HI_BPF_RETURNED, .unit = 1}},
	{"mmap64", {.size = 2, .result = HI_BPF_RETURNED, .unit = 1}},
	{"mremap",
	 {.block = 1, .block_size = 2, .size = 3, .result = HI_BPF_RETURNED, .unit = 1}},
	{"munmap", {.block = 1, .block_size = 2}},
};
enum { MAPPING_FUNCTIONS = sizeof(mapping_functions) / sizeof(mapping_functions[0]) };

struct mapping_symbols {
	struct mapping_symbol {
		uint64_t addr, size;
	} found[MAPPING_FUNCTIONS];
};

static bool keep_mapping_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct mapping_symbols *symbols = arg;

	for (size_t i = 0; i < MAPPING_FUNCTIONS; i++)
		if (symbol->is_code && !symbol->is_ifunc &&
		    strcmp(symbol->name, mapping_functions[i].name) == 0)
			symbols->found[i] =
				(struct mapping_symbol){symbol->addr, symbol->size};
	return true;
}

/* The dynamic linker's are for itself. */
static bool is_linker(const struct hi_module *module)
{
	return strncmp(module->name, "ld-linux", 8) == 0 ||
	       strncmp(module->name, "ld-2.", 5) == 0;
}

/* Finds those of the program if it has them, else of the first library that does:
 * libc. */
static enum hi_status find_mapping_symbols(struct hi_target_code *code,
					   struct mapping_symbols *ret,
					   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(code->modules) && status == HI_OK; i++) {
		struct hi_module *module = hi_modules_get(code->modules, i);
		struct mapping_symbols found = {};

		if (is_linker(module))
			continue;
		status = hi_module_each_symbol(module, keep_mapping_symbol, &found, err);
		if (found.found[0].addr && (!ret->found[0].addr || module->is_executable))
			*ret = found;
	}
	if (status == HI_OK && !ret->found[0].addr)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "--mappings: no mapped file has a symbol of mmap");
	return status;
}

static bool is_mapping_alias(const struct mapping_symbols *symbols, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (symbols->found[k].addr == symbols->found[i].addr)
			return true;
	return false;
}

static enum hi_status add_mapping_functions(struct hi_target_code *code,
					    struct hi_event_functions *ret,
					    struct hi_error *err)
{
	struct mapping_symbols symbols = {};
	enum hi_status status = find_mapping_symbols(code, &symbols, err);
	uint8_t source = 0;

	if (status != HI_OK)
		return status;
	if (!hi_event_functions_add_source(ret, "mmap", HI_FAMILY_MAPPINGS, &source))
		return fail_too_many("mmap", err);
	ret->sources[source].is_whole = 1;
	for (size_t i = 0; i < MAPPING_FUNCTIONS && status == HI_OK; i++) {
		struct hi_found_function found = {.entry = symbols.found[i].addr,
						  .size = symbols.found[i].size,
						  .does = mapping_functions[i].does};

		if (!found.entry || is_mapping_alias(&symbols, i))
			continue;
		found.does.source = source;
		found.does.family = HI_FAMILY_MAPPINGS;
		found.does.flags = MAPPING_FLAGS;
		snprintf(found.name, sizeof(found.name), "%s", mapping_functions[i].name);
		status = hi_event_functions_add(code, &found, ret, err);
	}
	return status;
}

enum hi_status hi_event_functions_add_named(struct hi_target_code *code,
					    const struct hi_followed *followed,
					    struct hi_event_functions *ret,
					    struct hi_error *err)
{
	enum hi_status status = add_calls(code, followed, ret, err);

	return status == HI_OK && followed->mappings
		       ? add_mapping_functions(code, ret, err)
		       : status;
}
