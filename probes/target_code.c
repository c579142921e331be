/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/target_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/running_image.h"
#include "base/alloc.h"
#include "decode/modules/demangle.h"
#include "probes/prologue.h"

enum { FUNCTION_MAX = 1 << 20, INSTRUCTION_MAX = 15 };

enum hi_status hi_target_code_open(const struct hi_target *target, struct hi_image *image,
				   struct hi_target_code **ret, struct hi_error *err)
{
	HI_GUARD(hi_target_code_close)
	struct hi_target_code *code = hi_calloc(1, sizeof(*code));
	struct hi_modules_options options = {};
	enum hi_status status;

	if (!code) {
		hi_image_destroy(image);
		return hi_fail_memory(err, "code of the target");
	}
	code->target = target;
	code->image = image;
	status = hi_modules_open(code->image, &options, &code->modules, err);
	if (status == HI_OK)
		*ret = hi_take(code);
	return status;
}

enum hi_status hi_target_code_types(struct hi_target_code *code, struct hi_error *err)
{
	return code->types ? HI_OK : hi_types_open(code->modules, &code->types, err);
}

void hi_target_code_close(struct hi_target_code *code)
{
	if (!code)
		return;
	if (code->types)
		hi_types_close(code->types);
	if (code->modules)
		hi_modules_close(code->modules);
	hi_image_destroy(code->image);
	free(code);
}

/* ---- a site ---- */

/* The mapping of code at addr that has a file; false: none. */
static bool find_mapping(const struct hi_target *target, uint64_t addr, size_t *ret)
{
	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (addr < m->start || addr >= m->end)
			continue;
		*ret = i;
		return m->kind == HI_MAPPING_FILE && (m->prot & HI_PROT_EXEC);
	}
	return false;
}

static void name_function(struct hi_target_code *code, struct hi_probe_site *site)
{
	uint64_t offset;
	const char *symbol = hi_modules_symbol_at(code->modules, site->address, &offset);
	char plain[512];

	if (!symbol)
		return;
	site->into_function = offset;
	snprintf(site->function, sizeof(site->function), "%.159s",
		 hi_demangle(symbol, plain, sizeof(plain)) ? plain : symbol);
}

static enum hi_status add_probe_place(struct hi_target_code *code,
				      struct hi_probe_site_list *sites, uint64_t addr,
				      const struct hi_prologue_site *at,
				      uint64_t semaphore, struct hi_error *err)
{
	struct hi_probe_site site = {.address = addr, .semaphore = semaphore};
	const struct hi_mapping *m;

	for (size_t i = 0; i < sites->count; i++)
		if (sites->items[i].address == addr)
			return HI_OK;
	if (!find_mapping(code->target, addr, &site.mapping))
		return HI_OK;
	if (sites->count == HI_PROBE_SITES_MAX)
		return hi_fail(err, HI_LIMIT, 0,
			       "more than %d probe sites: name a module",
			       HI_PROBE_SITES_MAX);
	m = &code->target->mappings[site.mapping];
	site.file_offset = addr - m->start + m->file_offset;
	site.single_stepped = at->single_stepped;
	snprintf(site.instruction, sizeof(site.instruction), "%.63s", at->instruction);
	name_function(code, &site);
	if (!hi_vector_push(sites, site))
		return hi_fail_memory(err, "probe sites");
	return HI_OK;
}

/* As many of max bytes as the file has. */
static size_t read_code(struct hi_target_code *code, uint64_t addr, void *buf, size_t max)
{
	struct hi_module *module = hi_modules_at(code->modules, addr);

	while (module && max > 0) {
		if (hi_module_read_file(module, addr, buf, max, NULL) == HI_OK)
			return max;
		max /= 2;
	}
	return 0;
}

enum hi_status hi_probe_sites_add_exact(struct hi_target_code *code,
					struct hi_probe_site_list *sites, uint64_t addr,
					uint64_t semaphore, struct hi_error *err)
{
	struct hi_prologue_site at;
	uint8_t bytes[INSTRUCTION_MAX];
	size_t n = read_code(code, addr, bytes, sizeof(bytes));

	hi_prologue_look(bytes, n, addr, &at);
	return add_probe_place(code, sites, addr, &at, semaphore, err);
}

enum hi_status hi_probe_sites_add_function(struct hi_target_code *code,
					   struct hi_probe_site_list *sites,
					   uint64_t entry, uint64_t size, unsigned kept,
					   struct hi_error *err)
{
	HI_GUARD(free) uint8_t *bytes = NULL;
	struct hi_prologue_site at;
	struct hi_module *module = hi_modules_at(code->modules, entry);

	if (!module)
		return HI_OK;
	if (size == 0 || size > FUNCTION_MAX)
		return hi_probe_sites_add_exact(code, sites, entry, 0, err);
	bytes = hi_alloc(size);
	if (!bytes)
		return hi_fail_memory(err, "code of a function");
	if (hi_module_read_file(module, entry, bytes, size, NULL) != HI_OK)
		return hi_probe_sites_add_exact(code, sites, entry, 0, err);
	hi_prologue_choose(bytes, size, entry, kept, &at);
	/* Another symbol in between is another entry. */
	if (hi_module_next_symbol(module, entry) <= entry + at.offset)
		hi_prologue_look(bytes, size, entry, &at);
	return add_probe_place(code, sites, entry + at.offset, &at, 0, err);
}

/* ---- where a function is left ---- */

struct function_parts {
	struct hi_target_code *code;
	const char *name;
	size_t length; /* without suffixes (.cold, .isra.0) */
};

/* Compilers move rarely executed code to NAME.cold, which jumps back. */
static bool is_part_of_function(void *arg, uint64_t target)
{
	const struct function_parts *parts = arg;
	uint64_t offset;
	const char *symbol = hi_modules_symbol_at(parts->code->modules, target, &offset);

	return symbol && parts->name &&
	       strncmp(symbol, parts->name, parts->length) == 0 &&
	       symbol[parts->length] == '.';
}

enum hi_status hi_probe_sites_add_returns(struct hi_target_code *code,
					  struct hi_probe_site_list *sites,
					  uint64_t entry, uint64_t size,
					  struct hi_error *err)
{
	struct hi_module *module = hi_modules_at(code->modules, entry);
	HI_GUARD(free) uint8_t *bytes = NULL;
	struct function_parts parts = {.code = code};
	uint64_t offsets[HI_PROBE_SITES_MAX];
	enum hi_status status = HI_OK;
	size_t n;

	parts.name = hi_modules_symbol_at(code->modules, entry, &offsets[0]);
	parts.length = parts.name ? strcspn(parts.name, ".") : 0;
	bytes = module && size && size <= FUNCTION_MAX ? hi_alloc(size) : NULL;
	if (!bytes || hi_module_read_file(module, entry, bytes, size, NULL) != HI_OK)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the code of the function at 0x%llx cannot be read",
			       (unsigned long long)entry);
	n = hi_function_exits(bytes, size, entry, is_part_of_function, &parts, offsets,
			      HI_PROBE_SITES_MAX);
	if (n == 0 || n > HI_PROBE_SITES_MAX)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the returns of the function at 0x%llx cannot be found",
			       (unsigned long long)entry);
	for (size_t i = 0; i < n && status == HI_OK; i++)
		status =
			hi_probe_sites_add_exact(code, sites, entry + offsets[i], 0, err);
	return status;
}

/* ---- a safepoint ---- */

enum hi_status hi_safepoint_find_in(const struct hi_target *target,
				    struct hi_image *image,
				    const struct hi_safepoint *safepoint,
				    struct hi_probe_sites *ret, struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	struct hi_probe_site_list sites = {};
	struct hi_condition condition;
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	if (status == HI_OK)
		status = hi_find_probe_sites(code, safepoint, &sites, err);
	if (status == HI_OK)
		status = hi_condition_of_sites(code, safepoint, &sites, &condition, err);
	if (status != HI_OK) {
		hi_vector_free(&sites);
		return status;
	}
	*ret = (struct hi_probe_sites){sites.items, sites.count, condition};
	return HI_OK;
}

enum hi_status hi_safepoint_find(const struct hi_target *target,
				 const struct hi_safepoint *safepoint,
				 struct hi_probe_sites *ret, struct hi_error *err)
{
	struct hi_image *image;
	enum hi_status status = hi_image_unstopped(target, &image, err);

	return status == HI_OK ? hi_safepoint_find_in(target, image, safepoint, ret, err)
			       : status;
}
