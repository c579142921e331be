/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of a module by name and by address: .symtab of its file, else of its
 * debug file, always with .dynsym (found by PT_DYNAMIC where section headers
 * are missing). Loaded at the first question.
 */
#include "decode/modules/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/hash.h"

enum {
	SYMBOLS_MAX = 16 << 20, /* of one module */
	COVER_STEPS = 32,	/* nested symbols that are looked through */
};

static uint8_t rank_of_binding(unsigned bind)
{
	return bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 2 : bind == STB_WEAK;
}

static bool is_wanted_symbol(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	if (type == STT_TLS)
		return sym->st_size > 0;
	if (sym->st_value == 0)
		return false;
	return type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC ||
	       type == STT_COMMON || type == STT_GNU_IFUNC;
}

/* Adds one; false when out of memory. Names stay in the ELF unless versioned. */
static bool add_symbol(struct hi_module *module, const GElf_Sym *sym, const char *name)
{
	struct hi_symbols *symbols = &module->priv->symbols;
	const char *version = strchr(name, '@');

	if (!is_wanted_symbol(sym) || *name == '\0' || symbols->all.count >= SYMBOLS_MAX)
		return true;
	if (version && version != name) {
		char *copy =
			hi_arena_alloc(&symbols->names, (size_t)(version - name) + 1);

		if (!copy)
			return false;
		memcpy(copy, name, (size_t)(version - name));
		name = copy;
	}
	if (GELF_ST_TYPE(sym->st_info) == STT_TLS)
		return hi_vector_push(&symbols->tls,
				      ((struct hi_symbol){.addr = sym->st_value,
							  .size = sym->st_size,
							  .name = name}));
	return hi_vector_push(&symbols->all,
			      ((struct hi_symbol){
				      .addr = sym->st_value + module->bias,
				      .size = sym->st_size,
				      .name = name,
				      .type = GELF_ST_TYPE(sym->st_info),
				      .rank = rank_of_binding(GELF_ST_BIND(sym->st_info)),
			      }));
}

/* All symbols of the first section of this type; false when out of memory. */
static bool add_table(struct hi_module *module, Elf *elf, uint32_t type, bool *found_ret)
{
	Elf_Scn *scn = NULL;

	*found_ret = false;
	while (elf && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		Elf_Data *data;
		int n;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			return true;
		n = (int)(data->d_size / sizeof(GElf_Sym) > SYMBOLS_MAX
				  ? SYMBOLS_MAX
				  : data->d_size / sizeof(GElf_Sym));
		for (int i = 1; i < n; i++) {
			GElf_Sym sym;
			const char *name;

			if (!gelf_getsym(data, i, &sym) || !is_wanted_symbol(&sym))
				continue;
			name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			if (name && !add_symbol(module, &sym, name))
				return false;
		}
		*found_ret = true;
		return true;
	}
	return true;
}

/* ---- no section headers: PT_DYNAMIC ---- */

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash; /* ELF addresses */
};

static bool read_elf(struct hi_module *module, uint64_t vaddr, void *buf, size_t size)
{
	return hi_modules_read(module->priv->modules, vaddr + module->bias, buf, size,
			       NULL) == HI_OK;
}

static bool read_dynamic(struct hi_module *module, struct dynamic *ret)
{
	const struct hi_elf_header *header = &module->priv->header;
	const GElf_Phdr *ph = NULL;

	for (size_t i = 0; i < header->n_phdrs; i++)
		if (header->phdrs[i].p_type == PT_DYNAMIC)
			ph = &header->phdrs[i];
	if (!ph)
		return false;
	for (uint64_t i = 0; i < ph->p_memsz / sizeof(GElf_Dyn) && i < 512; i++) {
		GElf_Dyn dyn;

		if (!read_elf(module, ph->p_vaddr + i * sizeof(dyn), &dyn, sizeof(dyn)) ||
		    dyn.d_tag == DT_NULL)
			break;
		/* ld.so has relocated the pointers where the segment is writable. */
		if (dyn.d_un.d_val >= module->start && dyn.d_un.d_val < module->end &&
		    dyn.d_tag != DT_STRSZ)
			dyn.d_un.d_val -= module->bias;
		switch (dyn.d_tag) {
		case DT_SYMTAB:
			ret->symtab = dyn.d_un.d_val;
			break;
		case DT_STRTAB:
			ret->strtab = dyn.d_un.d_val;
			break;
		case DT_STRSZ:
			ret->strsz = dyn.d_un.d_val;
			break;
		case DT_HASH:
			ret->hash = dyn.d_un.d_val;
			break;
		case DT_GNU_HASH:
			ret->gnu_hash = dyn.d_un.d_val;
			break;
		default:
			break;
		}
	}
	return ret->symtab && ret->strtab && ret->strsz > 0 &&
	       ret->strsz < HI_ELF_SPAN_MAX;
}

/* Symbols in the dynamic table, through the last chain of the GNU hash table. */
static uint64_t gnu_hash_count(struct hi_module *module, uint64_t table)
{
	uint32_t header[4], last = 0;
	uint64_t buckets;

	if (!read_elf(module, table, header, sizeof(header)) || header[0] > SYMBOLS_MAX)
		return 0;
	buckets = table + 16 + 8ull * header[2];
	for (uint32_t i = 0; i < header[0]; i++) {
		uint32_t bucket;

		if (!read_elf(module, buckets + 4ull * i, &bucket, 4))
			return 0;
		if (bucket > last)
			last = bucket;
	}
	if (last < header[1])
		return header[1];
	for (; last < SYMBOLS_MAX; last++) {
		uint32_t chain;

		if (!read_elf(module,
			      buckets + 4ull * header[0] + 4ull * (last - header[1]),
			      &chain, 4))
			return 0;
		if (chain & 1)
			return last + 1ull;
	}
	return 0;
}

static bool add_dynamic(struct hi_module *module)
{
	struct dynamic dynamic = {};
	uint32_t hash[2] = {};
	uint64_t count = 0;
	char *strings;

	if (!read_dynamic(module, &dynamic) || dynamic.strsz > 64 << 20)
		return true;
	if (dynamic.hash && read_elf(module, dynamic.hash, hash, sizeof(hash)))
		count = hash[1];
	else if (dynamic.gnu_hash)
		count = gnu_hash_count(module, dynamic.gnu_hash);
	strings = hi_arena_alloc(&module->priv->symbols.names, dynamic.strsz + 1);
	if (!strings)
		return false;
	if (!read_elf(module, dynamic.strtab, strings, dynamic.strsz))
		return true;
	for (uint64_t i = 1; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym sym;

		if (!read_elf(module, dynamic.symtab + i * sizeof(sym), &sym,
			      sizeof(sym)))
			break;
		if (sym.st_name < dynamic.strsz &&
		    !add_symbol(module, &sym, strings + sym.st_name))
			return false;
	}
	return true;
}

/* ---- tables ---- */

static int compare_symbol_addresses(const void *left, const void *right)
{
	const struct hi_symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if ((a->size > 0) != (b->size > 0))
		return a->size > 0 ? 1 : -1; /* the best one last */
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(b->name, a->name);
}

static bool is_better(const struct hi_symbol *a, const struct hi_symbol *b)
{
	if ((a->type != STT_NOTYPE) != (b->type != STT_NOTYPE))
		return a->type != STT_NOTYPE;
	return a->rank > b->rank;
}

/* The slot of the symbol with this name, or the empty one where it belongs. */
static size_t probe_name(const struct hi_symbols *symbols, const char *name)
{
	const uint32_t *slots = symbols->by_name;

	return hi_probe(i, symbols->n_by_name, hi_hash_name(name),
			!slots[i] ||
				strcmp(symbols->all.items[slots[i] - 1].name, name) == 0);
}

static bool index_names(struct hi_symbols *symbols)
{
	size_t n = 16;

	while (n < symbols->all.count * 2)
		n *= 2;
	symbols->by_name = hi_calloc(n, sizeof(*symbols->by_name));
	if (!symbols->by_name)
		return false;
	symbols->n_by_name = n;
	for (size_t i = 0; i < symbols->all.count; i++) {
		const struct hi_symbol *symbol = &symbols->all.items[i];
		size_t at = probe_name(symbols, symbol->name);

		if (!symbols->by_name[at] ||
		    is_better(symbol, &symbols->all.items[symbols->by_name[at] - 1]))
			symbols->by_name[at] = (uint32_t)i + 1;
	}
	return true;
}

void hi_module_symbols_free(struct hi_symbols *symbols)
{
	hi_vector_free(&symbols->all);
	hi_vector_free(&symbols->tls);
	free(symbols->by_name);
	hi_arena_free(&symbols->names);
	*symbols = (struct hi_symbols){};
}

static bool load_tables(struct hi_module *module)
{
	Elf *elf = hi_module_elf(module);
	bool full = false, dynamic = false;

	if (!add_table(module, elf, SHT_SYMTAB, &full))
		return false;
	if (!full && !add_table(module, hi_module_debug_elf(module), SHT_SYMTAB, &full))
		return false;
	if (!add_table(module, elf, SHT_DYNSYM, &dynamic))
		return false;
	return dynamic || full || add_dynamic(module);
}

/* Under the lock. */
static enum hi_status load_symbols(struct hi_module *module, struct hi_error *err)
{
	struct hi_symbols *symbols = &module->priv->symbols;

	if (symbols->loaded)
		return HI_OK;
	if (!load_tables(module)) {
		hi_module_symbols_free(symbols);
		return hi_fail_memory(err, "symbols");
	}
	if (symbols->all.count > 1)
		qsort(symbols->all.items, symbols->all.count, sizeof(struct hi_symbol),
		      compare_symbol_addresses);
	if (symbols->tls.count > 1)
		qsort(symbols->tls.items, symbols->tls.count, sizeof(struct hi_symbol),
		      compare_symbol_addresses);
	if (!index_names(symbols)) {
		hi_module_symbols_free(symbols);
		return hi_fail_memory(err, "symbols by name");
	}
	symbols->loaded = true;
	return HI_OK;
}

static const struct hi_symbol *find_symbol_named(const struct hi_symbols *symbols,
						 const char *name)
{
	uint32_t n = symbols->by_name[probe_name(symbols, name)];

	return n ? &symbols->all.items[n - 1] : NULL;
}

static enum hi_status symbol_in(struct hi_module *module, const char *name,
				uint64_t *addr_ret, uint64_t *size_ret,
				struct hi_error *err)
{
	const struct hi_symbol *symbol;
	enum hi_status status = load_symbols(module, err);

	if (status != HI_OK)
		return status;
	symbol = find_symbol_named(&module->priv->symbols, name);
	if (!symbol)
		return hi_fail(err, HI_NOT_FOUND, 0, "no symbol %s", name);
	*addr_ret = symbol->addr;
	if (size_ret)
		*size_ret = symbol->size;
	return HI_OK;
}

enum hi_status hi_modules_symbol(struct hi_modules *modules, struct hi_module *module,
				 const char *name, uint64_t *addr_ret, uint64_t *size_ret,
				 struct hi_error *err)
{
	struct hi_module *exe = hi_modules_executable(modules);
	enum hi_status status = HI_NOT_FOUND;

	hi_modules_lock(modules);
	if (module)
		status = symbol_in(module, name, addr_ret, size_ret, err);
	else if (exe)
		status = symbol_in(exe, name, addr_ret, size_ret, err);
	for (size_t i = 0; !module && status == HI_NOT_FOUND && i < modules->count; i++)
		status = symbol_in(&modules->items[i], name, addr_ret, size_ret, err);
	hi_modules_unlock(modules);
	if (status == HI_NOT_FOUND)
		return hi_fail(err, HI_NOT_FOUND, 0, "no symbol %s", name);
	return status;
}

/* The innermost symbol that covers addr; one without size reaches up to the next. */
static const struct hi_symbol *find_covering(const struct hi_symbols *symbols,
					     uint64_t addr)
{
	size_t low = hi_search(i, symbols->all.count, symbols->all.items[i].addr <= addr);
	const struct hi_symbol *unsized = NULL;

	for (size_t step = 0; step < COVER_STEPS && low > 0; step++, low--) {
		const struct hi_symbol *symbol = &symbols->all.items[low - 1];

		if (addr - symbol->addr < symbol->size)
			return symbol;
		if (symbol->size == 0 && step == 0)
			unsized = symbol;
	}
	return unsized;
}

const struct hi_symbols *hi_module_symbols(struct hi_module *module)
{
	struct hi_modules *modules = module->priv->modules;
	enum hi_status status;

	hi_modules_lock(modules);
	status = load_symbols(module, NULL);
	hi_modules_unlock(modules);
	return status == HI_OK ? &module->priv->symbols : NULL;
}

const struct hi_symbol *hi_module_symbol_at(struct hi_module *module, uint64_t addr)
{
	struct hi_modules *modules = module->priv->modules;
	const struct hi_symbol *symbol = NULL;

	hi_modules_lock(modules);
	if (load_symbols(module, NULL) == HI_OK)
		symbol = find_covering(&module->priv->symbols, addr);
	hi_modules_unlock(modules);
	return symbol;
}

const char *hi_modules_symbol_at(struct hi_modules *modules, uint64_t addr,
				 uint64_t *offset_ret)
{
	struct hi_module *module = hi_modules_at(modules, addr);
	const struct hi_symbol *symbol =
		module ? hi_module_symbol_at(module, addr) : NULL;

	if (!symbol)
		return NULL;
	if (offset_ret)
		*offset_ret = addr - symbol->addr;
	return symbol->name;
}
