/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Split DWARF: the files (.dwo) that a module's skeletons name, or the package (.dwp)
 * beside the module that has them all.
 */
#include "decode/modules/module.h"
#include "decode/types/types_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/table.h"

enum { PATH_BYTES = 4096 };

/* While the files of a module are opened. */
struct split_search {
	struct hi_types *types;
	struct hi_type_module *module;
	struct hi_dw_abbrevs abbrevs; /* scratch */
	struct hi_table missing;      /* dwo id -> index of the skeleton in `main` */
	struct hi_dw_file *main;
	size_t n_missing;
};

static bool is_skeleton(struct hi_dw_unit *unit)
{
	if (unit->version >= 5)
		return unit->unit_type == DW_UT_skeleton;
	/* DWARF 4 with GNU's extension is recognised by its address table. */
	return unit->file->sections[HI_DW_ADDR].size > 0 && !unit->in_types;
}

static bool is_split_of(struct hi_dw_file *file, const struct hi_dw_unit *skeleton)
{
	for (size_t i = 0; i < file->units.count; i++) {
		struct hi_dw_unit *unit = &file->units.items[i];

		if (unit->type_offset == 0 && hi_dw_unit_prepare(unit, NULL) &&
		    unit->signature == skeleton->signature)
			return true;
	}
	return false;
}

static bool open_split(struct split_search *search, struct hi_dw_unit *skeleton)
{
	const char *dir = skeleton->comp_dir ? skeleton->comp_dir : ".";
	struct hi_dw_file *file;
	char path[PATH_BYTES];

	if (skeleton->dwo_name[0] == '/')
		dir = "";
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "",
			     skeleton->dwo_name) >= sizeof(path))
		return false;
	file = hi_type_module_open_elf(search->types, search->module,
				       hi_type_elf_open(hi_file_open_regular(path)),
				       true);
	if (!file)
		return false;
	file->skeleton = skeleton;
	if (is_split_of(file, skeleton))
		return true;
	search->module->n_files--;
	hi_dw_file_close(file);
	return false;
}

/* ---- packages ---- */

/* Skeletons of units that are in the package; those that are not missed are left out:
 * their file was there, or they are of another program. */
static size_t match_package(struct split_search *search, struct hi_dw_file *package)
{
	size_t found = 0;

	for (size_t i = 0; i < package->n_info_units; i++) {
		struct hi_dw_unit *unit = &package->units.items[i];
		uint64_t index;

		if (!unit->packed || unit->type_offset != 0)
			continue;
		if (unit->signature == UINT64_MAX ||
		    !hi_table_get(&search->missing, unit->signature, &index)) {
			unit->prepared = true;
			continue;
		}
		unit->skeleton = &search->main->units.items[index];
		found++;
	}
	return found;
}

static void try_package(struct split_search *search, const char *program)
{
	struct hi_dw_file *file;
	char path[PATH_BYTES];
	size_t found;

	if ((size_t)snprintf(path, sizeof(path), "%s.dwp", program) >= sizeof(path))
		return;
	file = hi_type_module_open_elf(search->types, search->module,
				       hi_type_elf_open(hi_file_open_regular(path)),
				       true);
	if (!file)
		return;
	found = hi_dw_package_read(file) ? match_package(search, file) : 0;
	if (found == 0) {
		search->module->n_files--;
		hi_dw_file_close(file);
		return;
	}
	search->n_missing -= found < search->n_missing ? found : search->n_missing;
}

/* Beside the file with the skeletons, then beside the module. */
static void open_package(struct split_search *search)
{
	const struct hi_module *module = search->module->module;

	if (module->debug_path)
		try_package(search, module->debug_path);
	if (search->n_missing && module->path &&
	    (!module->debug_path || strcmp(module->path, module->debug_path) != 0))
		try_package(search, module->path);
}

static void miss_split(struct split_search *search, const struct hi_dw_unit *unit)
{
	size_t index = (size_t)(unit - search->main->units.items);

	search->n_missing++;
	if (unit->signature != UINT64_MAX)
		(void)hi_table_put(&search->missing, unit->signature, index);
}

void hi_type_module_open_splits(struct hi_types *types, struct hi_type_module *module,
				struct hi_dw_file *main)
{
	struct split_search search = {.types = types, .module = module, .main = main};
	char text[96];

	for (size_t i = 0; i < main->units.count; i++) {
		struct hi_dw_unit *unit = &main->units.items[i];

		if (is_skeleton(unit) && hi_dw_unit_prepare(unit, &search.abbrevs) &&
		    unit->dwo_name && !open_split(&search, unit))
			miss_split(&search, unit);
	}
	if (search.n_missing)
		open_package(&search);
	hi_dw_abbrevs_free(&search.abbrevs);
	hi_table_free(&search.missing);
	if (search.n_missing == 0)
		return;
	snprintf(text, sizeof(text), "%zu split debug files (.dwo) were not found",
		 search.n_missing);
	hi_type_module_note(module->module, text);
}
