/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc may be built with any prefix for its interface (--with-jemalloc-prefix: "je_",
 * "_rjem_") and has another for its internal functions (--with-private-namespace: "je_",
 * "_rjem_je_"): both are read off functions that every version has.
 */
#include "decode/allocators/malloc_text_signs.h"

#include <string.h>

#include "base/text.h"

enum { SYMBOLS_MAX = 1 << 24 };

/* ---- the symbols of a file ---- */

static bool is_function_symbol(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF;
}

/* Hidden functions of all files come at the end, behind an STT_FILE without a name. */
static bool each_in_table(Elf *elf, Elf_Data *data, size_t strings,
			  hi_malloc_symbol_fn *fn, void *arg)
{
	size_t n = data->d_size / sizeof(Elf64_Sym);
	unsigned n_files = 0, file = 0;

	for (size_t i = 0; i < n && i < SYMBOLS_MAX; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			continue;
		name = elf_strptr(elf, strings, sym.st_name);
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
			n_files++;
			file = name && *name ? n_files : 0;
		}
		if (!is_function_symbol(&sym))
			continue;
		if (name && !fn(&sym, name,
				GELF_ST_BIND(sym.st_info) == STB_LOCAL ? file : 0, arg))
			return false;
	}
	return true;
}

bool hi_malloc_each_function(Elf *elf, GElf_Word type, hi_malloc_symbol_fn *fn, void *arg)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && !each_in_table(elf, data, shdr.sh_link, fn, arg))
			return false;
	}
	return true;
}

/* ---- which allocators ---- */

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "je_mallctlbymib" → "je_"; false if name does not end so. */
static bool read_prefix(const char *name, const char *end, char prefix[16])
{
	size_t n = strlen(name), m = strlen(end);

	if (n < m || n - m > 15 || strcmp(name + n - m, end) != 0)
		return false;
	memcpy(prefix, name, n - m);
	prefix[n - m] = '\0';
	return true;
}

struct sign_search {
	struct hi_malloc_signs *signs;
	bool has_malloc, has_free;
};

static bool note_sign(const GElf_Sym *sym, const char *name, unsigned file, void *arg)
{
	struct sign_search *search = arg;
	struct hi_malloc_signs *signs = search->signs;
	char prefix[16];

	(void)sym;
	(void)file;
	search->has_malloc |= strcmp(name, "malloc") == 0;
	search->has_free |= strcmp(name, "free") == 0;
	if (read_prefix(name, "mallctlbymib", prefix)) {
		/* Of two names of it the one with a prefix is not malloc's. */
		if (!(signs->kinds & HI_MALLOC_JEMALLOC) || !*prefix)
			memcpy(signs->api, prefix, sizeof(prefix));
		signs->kinds |= HI_MALLOC_JEMALLOC;
	}
	if (read_prefix(name, "arena_choose_hard", prefix) ||
	    read_prefix(name, "arena_boot", prefix))
		memcpy(signs->internal, prefix, sizeof(prefix));
	if (strcmp(name, "tc_malloc") == 0 || has_prefix(name, "_ZN8tcmalloc"))
		signs->kinds |= HI_MALLOC_TCMALLOC;
	if (strcmp(name, "mi_malloc") == 0)
		signs->kinds |= HI_MALLOC_MIMALLOC;
	return true;
}

void hi_malloc_signs_read(Elf *elf, GElf_Word type, struct hi_malloc_signs *signs)
{
	struct sign_search search = {.signs = signs};

	(void)hi_malloc_each_function(elf, type, note_sign, &search);
	signs->has_malloc |= search.has_malloc && search.has_free;
}

/* ---- which functions ---- */

/* What an allocator may put in the place of libc's. */
static bool is_interface_name(const char *name)
{
	static const char *const names[] = {
		"malloc",
		"free",
		"cfree",
		"calloc",
		"realloc",
		"reallocf",
		"reallocarray",
		"reallocarr",
		"memalign",
		"valloc",
		"pvalloc",
		"aligned_alloc",
		"posix_memalign",
		"malloc_size",
		"malloc_stats",
		"malloc_usable_size",
		"malloc_good_size",
		"mallopt",
		"mallinfo",
		"mallinfo2",
		"vfree",
		"free_sized",
		"malloc_trim",
		"free_aligned_sized",
	};

	if (has_prefix(name, "__libc_"))
		name += strlen("__libc_");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return has_prefix(name, "malloc_stats_");
}

bool hi_malloc_has_prefix(const char *name)
{
	for (name = strchr(name, '_'); name; name = strchr(name, '_'))
		if (is_interface_name(++name))
			return true;
	return false;
}

/* operator new and delete: "_Znwm", "_ZdaPv…". */
static bool is_operator_name(const char *name)
{
	return has_prefix(name, "_Znw") || has_prefix(name, "_Zna") ||
	       has_prefix(name, "_Zdl") || has_prefix(name, "_Zda");
}

static bool is_jemalloc_name(const struct hi_malloc_signs *signs, const char *name)
{
	static const char *const own[] = {"mallctl",  "mallocx",  "rallocx",  "xallocx",
					  "sallocx",  "dallocx",  "sdallocx", "nallocx",
					  "smallocx", "jemalloc_"};

	if ((*signs->api && has_prefix(name, signs->api)) ||
	    (*signs->internal && has_prefix(name, signs->internal)))
		return true;
	for (size_t i = 0; !*signs->api && i < sizeof(own) / sizeof(own[0]); i++)
		if (has_prefix(name, own[i]))
			return true;
	return false;
}

static bool is_tcmalloc_name(const char *name)
{
	static const char *const parts[] = {"8tcmalloc", "MallocExtension", "MallocHook",
					    "TCMalloc", "8SpinLock"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return has_prefix(name, "tc_");
}

bool hi_malloc_signs_has_name(const struct hi_malloc_signs *signs, const char *name)
{
	if ((signs->kinds & HI_MALLOC_JEMALLOC) && is_jemalloc_name(signs, name))
		return true;
	if ((signs->kinds & HI_MALLOC_TCMALLOC) && is_tcmalloc_name(name))
		return true;
	if ((signs->kinds & HI_MALLOC_MIMALLOC) &&
	    (has_prefix(name, "mi_") || has_prefix(name, "_mi_")))
		return true;
	return signs->has_malloc && (is_interface_name(name) || is_operator_name(name));
}

/* ---- libraries ---- */

bool hi_malloc_is_library_name(const char *name)
{
	static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_prefix(name, names[i]))
			return true;
	return false;
}

/* DT_SONAME; NULL if there is none. */
static const char *read_soname(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++)
			if (dyn.d_tag == DT_SONAME)
				return elf_strptr(elf, shdr.sh_link, dyn.d_un.d_val);
	}
	return NULL;
}

struct share {
	const struct hi_malloc_signs *signs;
	size_t own, all;
};

/* Instances of templates (weak) are those of whatever they are instances of. */
static bool count_export(const GElf_Sym *sym, const char *name, unsigned file, void *arg)
{
	struct share *share = arg;

	(void)file;
	if (GELF_ST_BIND(sym->st_info) != STB_GLOBAL)
		return true;
	share->all++;
	share->own += hi_malloc_signs_has_name(share->signs, name);
	return true;
}

bool hi_malloc_signs_is_library(Elf *elf, const struct hi_malloc_signs *signs)
{
	const char *soname = read_soname(elf);
	struct share share = {.signs = signs};

	if (!signs->kinds)
		return false;
	if (soname && hi_malloc_is_library_name(hi_base_name(soname)))
		return true;
	(void)hi_malloc_each_function(elf, SHT_DYNSYM, count_export, &share);
	return share.own > share.all / 2;
}
