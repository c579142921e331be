/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/types_probe.h"

#include <stdio.h>
#include <stdlib.h>

#include "attach/mock.h"

enum { TYPES_LOOKED_AT = 3000 };

#define CHECK(cond)                                                                      \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);       \
			abort();                                                         \
		}                                                                        \
	} while (0)

struct hi_image *types_probe_image(int fd, size_t size)
{
	struct hi_memory *memory;
	struct hi_mapping mapping = {.start = 0x555500000000,
				     .end = 0x555500000000 + ((size + 4095) & ~4095ul),
				     .prot = HI_PROT_READ | HI_PROT_EXEC,
				     .kind = HI_MAPPING_FILE,
				     .inode = 1};
	struct hi_image *image;
	char path[64];

	CHECK(hi_memory_create_mock(&memory, NULL) == HI_OK);
	CHECK(hi_image_create_mock(memory, &image, NULL) == HI_OK);
	image->mode = HI_SNAPSHOT_CORE; /* files are opened by their paths */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	mapping.path = path;
	CHECK(hi_image_add_mapping(image, &mapping, NULL) == HI_OK);
	return image;
}

static void look_at(struct hi_types *types, const struct hi_type *type)
{
	CHECK(type && type->name && type->file && type->module);
	CHECK(type->size <= 1ull << 40 && type->kind <= HI_KIND_DECLARATION);
	CHECK(hi_type_get(types, type->id) == type || type->id == 0);
	CHECK(hi_type_get(types, type->target));
	for (uint32_t i = 0; i < type->n_members; i++) {
		CHECK(type->members[i].name && type->members[i].bit_offset < 8);
		CHECK(hi_type_get(types, type->members[i].type));
	}
	for (uint32_t i = 0; i < type->n_args; i++) {
		CHECK(type->args[i].name);
		CHECK(hi_type_get(types, type->args[i].type));
	}
}

static bool look_at_record(const struct hi_type *type, void *arg)
{
	CHECK(type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION);
	look_at(arg, type);
	return true;
}

static bool count_tls(const struct hi_variable *var, uint64_t offset, void *arg)
{
	(void)var, (void)offset;
	return ++*(unsigned *)arg < 1000;
}

void types_probe_all(struct hi_modules *modules, struct hi_types *types)
{
	static const char *const names[] = {
		"struct everything",	   "point *", "ns::Derived", "ns::Box<int, 3>",
		"ns::(anonymous)::Hidden", "handler", "union value", "kept_t *"};
	struct hi_module *module = hi_modules_get(modules, 0);
	struct hi_section_range ranges[8];
	struct hi_variable var;
	uint64_t addr, size;
	hi_type_id id;
	unsigned n_tls = 0;
	size_t n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (hi_types_find(types, names[i], &id, NULL) == HI_OK)
			hi_types_pointer_to(types, id);
	if (!module)
		return;
	n = hi_module_data(module, ranges, 8);
	for (size_t i = 0; i < n; i++)
		for (addr = ranges[i].start;
		     addr < ranges[i].end && addr < ranges[i].start + 8192; addr += 8)
			(void)!hi_types_variable_at(types, addr, &var, NULL);
	(void)!hi_types_variable_named(types, "counter()::inside", &var, NULL);
	(void)!hi_types_tls_variables(types, module, count_tls, &n_tls, NULL);
	(void)!hi_modules_symbol(modules, module, "main", &addr, &size, NULL);
	hi_modules_symbol_at(modules, module->start + 4000, &addr);
	(void)!hi_types_each_record(types, 1, NULL, UINT64_MAX, look_at_record, types,
				    NULL, NULL);
	for (id = 0; id < TYPES_LOOKED_AT; id++)
		look_at(types, hi_type_get(types, id));
}

uint64_t types_probe_file(int fd, size_t size)
{
	struct hi_modules_options options = {.cache_dir = "", .debug_dir = "/nowhere"};
	struct hi_image *image = types_probe_image(fd, size);
	struct hi_modules *modules = NULL;
	struct hi_types *types = NULL;
	uint64_t made = 0;

	if (hi_modules_open(image, &options, &modules, NULL) == HI_OK &&
	    hi_types_open(modules, &types, NULL) == HI_OK &&
	    hi_types_keep_typedef(types, "kept_t", NULL) == HI_OK) {
		types_probe_all(modules, types);
		made = hi_types_stats(types).types;
	}
	hi_types_close(types);
	hi_modules_close(modules);
	hi_image_destroy(image);
	return made;
}
