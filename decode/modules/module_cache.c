/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache directory, and in it inflated copies of compressed debug files: inflating one
 * costs more than reading what is needed of it, and two readers would do it, that of
 * types and libdw. Where no directory is, they share a copy in memory.
 *
 * A copy is named BUILDID-IDENTITY.debug (identity: size and times of the file that
 * it was made of), made under another name, closed with a footer and renamed; one
 * whose length or footer is wrong is made anew.
 */
#include "decode/modules/module.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/own_directory.h"
#include "base/parallel.h"

enum { PATH_BYTES = 4096, SECTIONS_MAX = 4096 };
#define INFLATE_MIN (2ull << 20) /* each reader inflates smaller files itself */
#define MEMORY_MAX (64ull << 20) /* of a copy in memory */
#define INFLATE_MAX (8ull << 30)
static const char footer_magic[8] = "hidebug1";

struct footer {
	char magic[8];
	uint64_t size; /* of everything before the footer */
};

/* ---- the directory ---- */

static bool cache_path(const char *given, char out[PATH_BYTES])
{
	const char *home = getenv("HOME");
	const char *xdg = getenv("XDG_CACHE_HOME");
	int n;

	if (given && !*given)
		return false;
	if (given)
		n = snprintf(out, PATH_BYTES, "%s", given);
	else if (xdg && xdg[0] == '/')
		n = snprintf(out, PATH_BYTES, "%s/heapinspect", xdg);
	else if (home && home[0] == '/')
		n = snprintf(out, PATH_BYTES, "%s/.cache/heapinspect", home);
	else
		return false;
	return n > 0 && n < PATH_BYTES;
}

/* A directory that others may write to is not trusted. */
int hi_cache_open_directory(const char *given)
{
	char path[PATH_BYTES];
	int fd = -1;

	if (!cache_path(given, path) ||
	    hi_own_directory_open(path, 022, &fd, NULL) != HI_OK)
		return -1;
	return fd;
}

int hi_cache_open(const struct hi_modules *modules)
{
	if (hi_files_are_served() && !modules->cache_dir)
		return hi_files_ask(HI_FILES_CACHE, "", "", NULL);
	return hi_cache_open_directory(modules->cache_dir);
}

int hi_cache_open_in(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -1;
}

int hi_cache_open_file(int dir, const char *name)
{
	if (hi_files_are_served())
		return hi_files_ask(HI_FILES_CACHE_OPEN, name, "", NULL);
	return hi_cache_open_in(dir, name);
}

int hi_cache_create_as(int dir, const char *temporary)
{
	return openat(dir, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      0600);
}

int hi_cache_create(int dir, char temporary[80])
{
	static _Atomic unsigned counter;
	char served[HI_FILES_NAME];
	int fd;

	if (hi_files_are_served()) {
		fd = hi_files_ask(HI_FILES_CACHE_CREATE, "", "", served);
		snprintf(temporary, 80, "%.79s", fd < 0 ? "" : served);
		return fd;
	}
	snprintf(temporary, 80, ".%d-%u.tmp", (int)getpid(),
		 atomic_fetch_add(&counter, 1));
	return hi_cache_create_as(dir, temporary);
}

bool hi_cache_rename(int dir, const char *temporary, const char *name, bool complete)
{
	if (complete && renameat(dir, temporary, dir, name) == 0)
		return true;
	unlinkat(dir, temporary, 0);
	return false;
}

bool hi_cache_commit(int dir, const char *temporary, const char *name, bool complete)
{
	if (!hi_files_are_served())
		return hi_cache_rename(dir, temporary, name, complete);
	(void)hi_files_ask(complete ? HI_FILES_CACHE_COMMIT : HI_FILES_CACHE_DROP,
			   temporary, name, NULL);
	return complete && errno == 0;
}

bool hi_file_write_at(int fd, uint64_t offset, const void *buf, size_t size)
{
	const char *from = buf;

	while (size > 0) {
		ssize_t n = pwrite(fd, from, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

void hi_cache_name(const struct hi_module *module, uint64_t identity, const char *suffix,
		   char out[128])
{
	size_t n = 0;

	for (size_t i = 0; i < module->build_id_size; i++)
		n += (size_t)snprintf(out + n, 128 - n, "%02x", module->build_id[i]);
	snprintf(out + n, 128 - n, "-%016llx.%s", (unsigned long long)identity, suffix);
}

/* ---- inflating ---- */

struct copy {
	struct hi_module *module;
	Elf *elf;
	int to;
	GElf_Ehdr ehdr;
	GElf_Shdr shdrs[SECTIONS_MAX]; /* as they will be */
	size_t n;
	uint64_t size; /* up to the footer */
	_Atomic bool failed;
};

/* Lays the sections out one after the other; false: nothing worth inflating. */
static bool plan_inflated_copy(struct copy *copy)
{
	uint64_t at, compressed = 0;
	Elf_Scn *scn = NULL;

	if (!gelf_getehdr(copy->elf, &copy->ehdr) ||
	    gelf_getclass(copy->elf) != ELFCLASS64 ||
	    copy->ehdr.e_phnum > HI_ELF_PHDRS_MAX)
		return false;
	at = sizeof(GElf_Ehdr) + copy->ehdr.e_phnum * sizeof(GElf_Phdr);
	copy->n = 1;
	while ((scn = elf_nextscn(copy->elf, scn)) != NULL) {
		GElf_Shdr *shdr = &copy->shdrs[copy->n];
		GElf_Chdr chdr;

		if (copy->n == SECTIONS_MAX || elf_ndxscn(scn) != copy->n ||
		    !gelf_getshdr(scn, shdr))
			return false;
		copy->n++;
		if (shdr->sh_type == SHT_NOBITS)
			continue;
		if (shdr->sh_flags & SHF_COMPRESSED) {
			if (!gelf_getchdr(scn, &chdr) || chdr.ch_size > INFLATE_MAX)
				return false;
			compressed += chdr.ch_size;
			shdr->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
			shdr->sh_size = chdr.ch_size;
			shdr->sh_addralign = chdr.ch_addralign;
		}
		at = (at + 15) & ~15ull;
		shdr->sh_offset = at;
		at += shdr->sh_size;
		if (shdr->sh_size > INFLATE_MAX || at > INFLATE_MAX)
			return false;
	}
	copy->ehdr.e_shoff = (at + 15) & ~15ull;
	copy->size = copy->ehdr.e_shoff + copy->n * sizeof(GElf_Shdr);
	return compressed >= INFLATE_MIN && copy->ehdr.e_shnum == copy->n;
}

/* One section by a handle of its own: libelf keeps what it inflated until the
 * end, and is not for two threads. */
static void copy_section(void *arg, size_t task, unsigned worker)
{
	struct copy *copy = arg;
	const GElf_Shdr *to = &copy->shdrs[task + 1];
	GElf_Shdr shdr;
	Elf_Scn *scn;
	Elf_Data *data;
	Elf *elf;

	(void)worker;
	if (to->sh_type == SHT_NOBITS || to->sh_size == 0 || copy->failed)
		return;
	elf = elf_begin(copy->module->priv->debug_fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	scn = elf ? elf_getscn(elf, task + 1) : NULL;
	if (!scn || !gelf_getshdr(scn, &shdr) ||
	    ((shdr.sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0))
		copy->failed = true;
	data = copy->failed ? NULL : elf_rawdata(scn, NULL);
	if (!data || data->d_size != to->sh_size ||
	    !hi_file_write_at(copy->to, to->sh_offset, data->d_buf, data->d_size))
		copy->failed = true;
	if (elf)
		elf_end(elf);
}

static bool write_elf_headers(struct copy *copy)
{
	uint64_t at = sizeof(GElf_Ehdr);
	struct footer footer = {.size = copy->size};

	memcpy(footer.magic, footer_magic, sizeof(footer.magic));
	for (int i = 0; i < copy->ehdr.e_phnum; i++, at += sizeof(GElf_Phdr)) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(copy->elf, i, &phdr) ||
		    !hi_file_write_at(copy->to, at, &phdr, sizeof(phdr)))
			return false;
	}
	copy->ehdr.e_phoff = copy->ehdr.e_phnum ? sizeof(GElf_Ehdr) : 0;
	return hi_file_write_at(copy->to, 0, &copy->ehdr, sizeof(copy->ehdr)) &&
	       hi_file_write_at(copy->to, copy->ehdr.e_shoff, copy->shdrs,
				copy->n * sizeof(GElf_Shdr)) &&
	       hi_file_write_at(copy->to, copy->size, &footer, sizeof(footer));
}

static bool is_complete(int fd)
{
	struct footer footer;
	struct stat st;

	return fstat(fd, &st) == 0 && (uint64_t)st.st_size > sizeof(footer) &&
	       hi_file_read_at(fd, (uint64_t)st.st_size - sizeof(footer), &footer,
			       sizeof(footer)) &&
	       memcmp(footer.magic, footer_magic, sizeof(footer.magic)) == 0 &&
	       footer.size == (uint64_t)st.st_size - sizeof(footer);
}

static bool fill_copy(struct copy *copy)
{
	off_t size = (off_t)(copy->size + sizeof(struct footer));

	if (posix_fallocate(copy->to, 0, size) != 0)
		return false;
	hi_parallel(hi_parallel_threads(), copy->n - 1, copy_section, copy);
	return !copy->failed && write_elf_headers(copy);
}

static int make_copy(struct copy *copy, int dir, const char *name)
{
	char temporary[80];

	copy->to = hi_cache_create(dir, temporary);
	if (copy->to < 0)
		return -1;
	if (!hi_cache_commit(dir, temporary, name, fill_copy(copy))) {
		close(copy->to);
		return -1;
	}
	return copy->to;
}

/* The module has it until it is closed; under the lock. */
static int make_copy_in_memory(struct copy *copy)
{
	struct hi_module_private *priv = copy->module->priv;

	if (priv->inflated_fd < 0 && copy->size <= MEMORY_MAX) {
		copy->to = memfd_create("heapinspect-debug", MFD_CLOEXEC);
		if (copy->to >= 0 && fill_copy(copy))
			priv->inflated_fd = copy->to;
		else if (copy->to >= 0)
			close(copy->to);
	}
	return priv->inflated_fd < 0 ? -1 : fcntl(priv->inflated_fd, F_DUPFD_CLOEXEC, 3);
}

static uint64_t identity_of_debug_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return 0;
	return ((uint64_t)st.st_size * 0x9e3779b97f4a7c15ull) ^
	       ((uint64_t)st.st_mtim.tv_sec << 20) ^ (uint64_t)st.st_mtim.tv_nsec;
}

int hi_module_inflated(struct hi_module *module)
{
	HI_GUARD(free) struct copy *copy = hi_calloc(1, sizeof(*copy));
	HI_GUARD(close) int dir = -1;
	char name[128];
	int fd;

	if (!copy || module->build_id_size == 0)
		return -1;
	copy->module = module;
	copy->elf = hi_module_debug_elf(module);
	if (!copy->elf || !plan_inflated_copy(copy))
		return -1;
	dir = hi_cache_open(module->priv->modules);
	if (dir < 0) {
		hi_modules_lock(module->priv->modules);
		fd = make_copy_in_memory(copy);
		hi_modules_unlock(module->priv->modules);
		return fd;
	}
	hi_cache_name(module, identity_of_debug_file(module->priv->debug_fd), "debug",
		      name);
	fd = hi_cache_open_file(dir, name);
	if (fd >= 0 && is_complete(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return make_copy(copy, dir, name);
}
