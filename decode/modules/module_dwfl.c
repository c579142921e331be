/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules for libdwfl. It does not look for files: which ones are used is decided in
 * modules_open.c and module_debug.c.
 */
#include "decode/modules/module.h"

#include <fcntl.h>

#include "base/alloc.h"

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	struct hi_module *module = *userdata;

	(void)mod, (void)name, (void)base;
	if (!module)
		return -1;
	if (module->priv->fd >= 0) {
		*file_name = hi_strdup(module->path);
		return fcntl(module->priv->fd, F_DUPFD_CLOEXEC, 3);
	}
	if (!hi_module_elf(module))
		return -1;
	/* Its own reference: libdwfl ends it. */
	*elf = elf_memory(module->priv->memory_elf, module->priv->memory_elf_size);
	*file_name = hi_strdup(module->path);
	return -1;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name, const char *link,
			  GElf_Word crc, char **debuginfo_file_name)
{
	struct hi_module *module = *userdata;
	int fd;

	(void)mod, (void)name, (void)base, (void)file_name, (void)link, (void)crc;
	if (!module)
		return -1;
	hi_module_find_debug(module);
	if (module->priv->debug_fd < 0)
		return -1;
	*debuginfo_file_name = hi_strdup(module->debug_path);
	fd = hi_module_inflated(module);
	if (fd >= 0)
		return fd;
	return fcntl(module->priv->debug_fd, F_DUPFD_CLOEXEC, 3);
}

static int no_section_address(Dwfl_Module *mod, void **userdata, const char *name,
			      Dwarf_Addr base, const char *section, GElf_Word index,
			      const GElf_Shdr *shdr, Dwarf_Addr *addr)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)section, (void)index;
	(void)shdr, (void)addr;
	return -1; /* only relocatable files ask */
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = no_section_address,
};

static bool report_modules_to_dwfl(struct hi_modules *modules, Dwfl *dwfl)
{
	dwfl_report_begin(dwfl);
	for (size_t i = 0; i < modules->count; i++) {
		struct hi_module *module = &modules->items[i];
		Dwfl_Module *mod = dwfl_report_module(dwfl, module->name, module->start,
						      module->end);
		void **userdata;

		if (!mod)
			return false;
		dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = module;
		module->priv->dwfl = mod;
	}
	return dwfl_report_end(dwfl, NULL, NULL) == 0;
}

Dwfl *hi_modules_dwfl(struct hi_modules *modules)
{
	if (!modules->dwfl) {
		modules->dwfl = dwfl_begin(&callbacks);
		if (modules->dwfl && !report_modules_to_dwfl(modules, modules->dwfl)) {
			dwfl_end(modules->dwfl);
			modules->dwfl = NULL;
		}
	}
	return modules->dwfl;
}

Dwfl_Module *hi_module_dwfl(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;
	GElf_Addr bias;

	if (!hi_modules_dwfl(priv->modules))
		return NULL;
	if (!priv->dwfl_checked) {
		priv->dwfl_checked = true;
		/* Impossible alignments make libdwfl place it at another address. */
		if (!dwfl_module_getelf(priv->dwfl, &bias) || bias != module->bias)
			priv->dwfl = NULL;
	}
	return priv->dwfl;
}

Dwarf *hi_module_dwarf(struct hi_module *module, Dwarf_Addr *bias_ret)
{
	struct hi_module_private *priv = module->priv;
	Dwfl_Module *mod;

	if (!priv->dwarf_tried) {
		priv->dwarf_tried = true;
		hi_module_find_debug(module);
		mod = module->debug == HI_DEBUG_NONE ? NULL : hi_module_dwfl(module);
		if (mod)
			priv->dwarf = dwfl_module_getdwarf(mod, &priv->dwarf_bias);
	}
	*bias_ret = priv->dwarf_bias;
	return priv->dwarf;
}
