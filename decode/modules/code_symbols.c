/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_symbols.h"

#include <string.h>

#include "base/search.h"
#include "decode/modules/module.h"

enum {
	SECTIONS_MAX = 1 << 20,
	COVER_STEPS = 64, /* symbols that are looked through for one address */
};

/* ---- sections ---- */

static bool add_code_segments(struct hi_module *module, struct hi_code_ranges *sections)
{
	size_t n = 0;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n);
	bool ok = true;

	for (size_t i = 0; ok && i < n; i++)
		if (phdrs[i].p_type == PT_LOAD && (phdrs[i].p_flags & PF_X))
			ok = hi_code_ranges_add(
				sections, phdrs[i].p_vaddr + module->bias,
				phdrs[i].p_vaddr + module->bias + phdrs[i].p_memsz, i);
	return ok;
}

static bool add_code_sections(struct hi_module *module, Elf *elf,
			      struct hi_code_ranges *sections)
{
	Elf_Scn *scn = NULL;
	bool ok = true;

	for (size_t i = 0; ok && i < SECTIONS_MAX; i++) {
		GElf_Shdr shdr;

		scn = elf ? elf_nextscn(elf, scn) : NULL;
		if (!scn)
			break;
		if (gelf_getshdr(scn, &shdr) && (shdr.sh_flags & SHF_EXECINSTR) &&
		    (shdr.sh_flags & SHF_ALLOC))
			ok = hi_code_ranges_add(
				sections, shdr.sh_addr + module->bias,
				shdr.sh_addr + module->bias + shdr.sh_size, i);
	}
	return ok;
}

enum hi_status hi_code_symbols_read(struct hi_module *module,
				    struct hi_code_ranges *sections, struct hi_error *err)
{
	bool ok = hi_module_symbols(module) &&
		  add_code_sections(module, hi_module_elf(module), sections);

	if (ok && sections->all.count == 0)
		ok = add_code_segments(module, sections);
	if (ok && hi_code_ranges_seal(sections))
		return HI_OK;
	return hi_fail_memory(err, "symbols of a module");
}

/* ---- symbols ---- */

static bool is_code_symbol(const struct hi_symbol *symbol)
{
	return symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
	       symbol->type == STT_NOTYPE;
}

/* One without size that nothing else comes behind, up to addr. */
static bool reaches_address(const struct hi_code_ranges *sections,
			    const struct hi_symbol *symbol, uint64_t addr)
{
	uint64_t section = hi_code_ranges_find(sections, addr);

	return section != HI_CODE_NOTHING &&
	       section == hi_code_ranges_find(sections, symbol->addr);
}

/* Of two names of one function: "malloc" is what its callers call __libc_malloc. */
static bool is_better_alias(const struct hi_symbol *a, const struct hi_symbol *b)
{
	if ((a->rank > 0) != (b->rank > 0))
		return a->rank > 0;
	return strspn(a->name, "_") < strspn(b->name, "_");
}

/* The best of the symbols that begin where `found` does and cover addr as well. */
static const struct hi_symbol *choose_alias(const struct hi_symbols *symbols,
					    const struct hi_symbol *found, uint64_t addr)
{
	const struct hi_symbol *best = found, *symbol = found;

	for (size_t i = 0; i < COVER_STEPS && symbol > symbols->all.items; i++) {
		if ((--symbol)->addr != found->addr)
			break;
		if (is_code_symbol(symbol) && addr - symbol->addr < symbol->size &&
		    is_better_alias(symbol, best))
			best = symbol;
	}
	return best;
}

static const struct hi_symbol *find_code_symbol(const struct hi_symbols *symbols,
						const struct hi_code_ranges *sections,
						uint64_t addr)
{
	size_t low = hi_search(i, symbols->all.count, symbols->all.items[i].addr <= addr);
	const struct hi_symbol *unsized = NULL, *nearest = NULL;

	for (size_t step = 0; step < COVER_STEPS && low > 0; step++, low--) {
		const struct hi_symbol *symbol = &symbols->all.items[low - 1];

		if (!is_code_symbol(symbol))
			continue;
		if (addr - symbol->addr < symbol->size)
			return choose_alias(symbols, symbol, addr);
		if (!nearest)
			nearest = symbol;
		if (!unsized && symbol->size == 0 && symbol->addr == nearest->addr)
			unsized = symbol;
	}
	return unsized && reaches_address(sections, unsized, addr) ? unsized : NULL;
}

const char *hi_code_symbol_at(struct hi_module *module,
			      const struct hi_code_ranges *sections, uint64_t addr,
			      uint64_t *start_ret)
{
	const struct hi_symbols *symbols = hi_module_symbols(module);
	const struct hi_symbol *symbol =
		symbols ? find_code_symbol(symbols, sections, addr) : NULL;

	if (!symbol)
		return NULL;
	*start_ret = symbol->addr;
	return symbol->name;
}
