/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The separate debug file of a module: by build-id, by .gnu_debuglink, by debuginfod. A
 * file is used only if its build-id or CRC matches the module's.
 */
#include "decode/modules/module.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "decode/modules/elf_unpacked.h"
#include "decode/modules/file_server.h"

enum { PATH_BYTES = 4096 };

static const char default_dirs[] = "/usr/lib/debug";

Elf *hi_module_elf(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;

	if (priv->elf_tried)
		return priv->elf;
	priv->elf_tried = true;
	if (priv->fd >= 0) {
		priv->elf = elf_begin(priv->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	} else if (module->from_memory &&
		   hi_elf_from_memory(priv->modules->image->memory, module->start,
				      &priv->header, &priv->memory_elf,
				      &priv->memory_elf_size, NULL) == HI_OK) {
		priv->elf = elf_memory(priv->memory_elf, priv->memory_elf_size);
	}
	if (priv->elf && elf_kind(priv->elf) != ELF_K_ELF) {
		elf_end(priv->elf);
		priv->elf = NULL;
	}
	return priv->elf;
}

/* A section by name; NULL if there is none. Bounded by libelf's section count. */
static Elf_Scn *section_named(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (!elf || elf_getshdrstrndx(elf, &strings) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *s;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		s = elf_strptr(elf, strings, shdr.sh_name);
		if (s && strcmp(s, name) == 0 && shdr.sh_type != SHT_NOBITS)
			return scn;
	}
	return NULL;
}

/* ---- is it the right file? ---- */

/* .gnu_debuglink has the CRC-32 of zlib. */
static bool crc_matches(int fd, uint32_t want)
{
	HI_GUARD(free) uint8_t *buf = hi_alloc(1 << 16);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	if (!buf)
		return false;
	while ((n = pread(fd, buf, 1 << 16, at)) > 0) {
		crc = crc32(crc, buf, (uInt)n);
		at += n;
	}
	return n == 0 && crc == want;
}

/* crc NULL: only a build-id counts. */
static bool belongs_to_module(const struct hi_module *module, int fd, const uint32_t *crc)
{
	struct hi_elf_source source = {fd, NULL, 0};
	struct hi_elf_header header;
	bool same;

	if (module->build_id_size == 0)
		return crc && crc_matches(fd, *crc);
	if (hi_elf_header_read(&source, &header, NULL) != HI_OK)
		return false;
	same = header.build_id_size == module->build_id_size &&
	       memcmp(header.build_id, module->build_id, header.build_id_size) == 0;
	hi_elf_header_free(&header);
	return same;
}

/* Takes fd, the file at path, as the module's debug file, if it is the right one. */
static bool try_file(struct hi_module *module, int fd, const char *path,
		     const uint32_t *crc, enum hi_debug_source source)
{
	struct hi_module_private *priv = module->priv;
	struct stat debug, own;

	/* A debug link may name the file that has it. */
	if (fstat(fd, &debug) == 0 && priv->fd >= 0 && fstat(priv->fd, &own) == 0 &&
	    debug.st_ino == own.st_ino && debug.st_dev == own.st_dev) {
		close(fd);
		return false;
	}
	if (!belongs_to_module(module, fd, crc)) {
		if (module->note[0] == '\0')
			snprintf(module->note, sizeof(module->note),
				 "a debug file of another build was refused");
		close(fd);
		return false;
	}
	module->debug_path = hi_arena_strdup(&priv->modules->arena, path);
	if (!module->debug_path) {
		close(fd);
		return false;
	}
	priv->debug_fd = fd;
	module->debug = source;
	return true;
}

/* In the target's own root first, if that is not the root of this process. --debug-dir
 * names directories of our root only. */
static bool try_path(struct hi_module *module, const char *path, const uint32_t *crc,
		     enum hi_debug_source source)
{
	const struct hi_modules *modules = module->priv->modules;
	int fd = -1;

	if (!modules->debug_dir &&
	    hi_image_open_path(modules->image, path, &fd, NULL) == HI_OK &&
	    try_file(module, fd, path, crc, source))
		return true;
	fd = hi_file_open_regular(path);
	return fd >= 0 && try_file(module, fd, path, crc, source);
}

/* ---- where to look ---- */

typedef bool dir_fn(struct hi_module *module, const char *dir, void *arg);

/* Calls fn for each directory until it returns true. */
static bool each_dir(struct hi_module *module, dir_fn *fn, void *arg)
{
	const char *dirs = module->priv->modules->debug_dir;

	if (!dirs)
		dirs = default_dirs;
	while (*dirs) {
		size_t n = strcspn(dirs, ":");
		char dir[PATH_BYTES];

		if (n > 0 && n < sizeof(dir)) {
			memcpy(dir, dirs, n);
			dir[n] = '\0';
			if (fn(module, dir, arg))
				return true;
		}
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

static void build_id_hex(const struct hi_module *module, char out[65])
{
	for (size_t i = 0; i < module->build_id_size; i++)
		snprintf(out + 2 * i, 3, "%02x", module->build_id[i]);
}

static bool by_build_id(struct hi_module *module, const char *dir, void *arg)
{
	char hex[65] = "", path[PATH_BYTES];

	(void)arg;
	build_id_hex(module, hex);
	if ((size_t)snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, hex,
			     hex + 2) >= sizeof(path))
		return false;
	return try_path(module, path, NULL, HI_DEBUG_BUILD_ID);
}

struct debug_link {
	char dir[PATH_BYTES]; /* of the module, with closing slash */
	char name[256];
	uint32_t crc;
};

/* Name and CRC out of .gnu_debuglink. A name with a slash is refused. */
static bool read_link(struct hi_module *module, struct debug_link *ret)
{
	Elf_Scn *scn = section_named(hi_module_elf(module), ".gnu_debuglink");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t n, dir;

	if (!data || !data->d_buf)
		return false;
	n = strnlen(data->d_buf, data->d_size);
	if (n == 0 || n >= sizeof(ret->name) || n == data->d_size ||
	    ((n + 4) & ~3ul) + 4 > data->d_size || memchr(data->d_buf, '/', n))
		return false;
	memcpy(ret->name, data->d_buf, n + 1);
	memcpy(&ret->crc, (char *)data->d_buf + ((n + 4) & ~3ul), 4);
	dir = (size_t)(module->name - module->path);
	if (dir >= sizeof(ret->dir) || module->path[0] != '/')
		return false;
	memcpy(ret->dir, module->path, dir);
	ret->dir[dir] = '\0';
	return true;
}

static bool by_link(struct hi_module *module, const char *dir, void *arg)
{
	const struct debug_link *link = arg;
	char path[PATH_BYTES];

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", dir, link->dir, link->name) >=
	    sizeof(path))
		return false;
	return try_path(module, path, &link->crc, HI_DEBUG_LINK);
}

static bool by_any_link(struct hi_module *module)
{
	struct debug_link link;
	char path[PATH_BYTES];

	if (!read_link(module, &link))
		return false;
	/* Beside the program and in .debug, unless --debug-dir replaces it all. */
	if (!module->priv->modules->debug_dir) {
		if (by_link(module, "", &link))
			return true;
		if ((size_t)snprintf(path, sizeof(path), "%s.debug/%s", link.dir,
				     link.name) < sizeof(path) &&
		    try_path(module, path, &link.crc, HI_DEBUG_LINK))
			return true;
	}
	return each_dir(module, by_link, &link);
}

static bool by_debuginfod(struct hi_module *module)
{
	char hex[65] = "", path[HI_FILES_NAME];
	int fd;

	if (module->build_id_size == 0)
		return false;
	build_id_hex(module, hex);
	fd = hi_files_are_served() ? hi_files_ask(HI_FILES_DEBUGINFOD, hex, "", path)
				   : hi_debuginfod_open(hex, path);
	return fd >= 0 && try_file(module, fd, path, NULL, HI_DEBUG_INFOD);
}

static void look_for_debug(struct hi_module *module)
{
	if (section_named(hi_module_elf(module), ".debug_info") ||
	    section_named(hi_module_elf(module), ".zdebug_info")) {
		module->debug = HI_DEBUG_IN_FILE;
		module->debug_path = module->path;
		return;
	}
	if (module->build_id_size > 0 && each_dir(module, by_build_id, NULL))
		return;
	if (by_any_link(module))
		return;
	by_debuginfod(module);
}

/* Opens the file that was found. */
static Elf *open_debug_elf(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;

	if (priv->debug_elf_tried || priv->debug_fd < 0)
		return priv->debug_elf;
	priv->debug_elf_tried = true;
	priv->debug_elf = elf_begin(priv->debug_fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	return priv->debug_elf;
}

/* The DWARF must not inflate to more than the memory that may be used. A file
 * that is no ELF file, which a link by CRC may name, is one that libdwfl would unpack as
 * a whole (gzip, xz) without any bound. */
static bool fits_memory(struct hi_module *module)
{
	Elf *elf = module->debug == HI_DEBUG_IN_FILE ? hi_module_elf(module)
						     : open_debug_elf(module);
	struct hi_unpacked unpacked = {};
	struct hi_error err = {};
	uint64_t bytes;

	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		snprintf(module->note, sizeof(module->note),
			 "the debug file is no ELF file");
		return false;
	}
	if (hi_elf_unpacked_take(elf, "the debug file", &unpacked, &bytes, &err) ==
	    HI_OK) {
		hi_unpacked_release(&unpacked, bytes);
		return true;
	}
	snprintf(module->note, sizeof(module->note), "%.*s",
		 (int)sizeof(module->note) - 1, err.text);
	return false;
}

static void forget_debug(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;

	module->debug = HI_DEBUG_NONE;
	if (priv->debug_elf)
		elf_end(hi_take(priv->debug_elf));
	if (priv->debug_fd >= 0)
		close(priv->debug_fd);
	priv->debug_fd = -1;
}

void hi_module_find_debug(struct hi_module *module)
{
	struct hi_module_private *priv = module->priv;

	if (priv->debug_tried)
		return;
	priv->debug_tried = true;
	look_for_debug(module);
	if (module->debug != HI_DEBUG_NONE && !fits_memory(module))
		forget_debug(module);
}

Elf *hi_module_debug_elf(struct hi_module *module)
{
	hi_module_find_debug(module);
	return open_debug_elf(module);
}

enum hi_status hi_module_debug(struct hi_module *module, struct hi_error *err)
{
	struct hi_modules *modules = module->priv->modules;

	hi_modules_lock(modules);
	hi_module_find_debug(module);
	hi_modules_unlock(modules);
	if (module->debug == HI_DEBUG_NONE)
		return hi_fail(err, HI_NOT_FOUND, 0, "%s: no debug information",
			       module->name);
	return HI_OK;
}
