/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/module_calls.h"

#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "decode/modules/dwfl.h"
#include "decode/modules/functions.h"

enum {
	SECTIONS_MAX = 1 << 20,
	CODE_MAX = 128 << 20,
	IMPORTS_MAX = 1 << 20,
	CALL_SIZE = 5, /* call rel32 */
	CALL_SIZE_MOST = 7,
	SHORT_JUMP = 2, /* jmp rel8 */
	STUB_SIZE = 16, /* bytes of a stub that are looked at */
};

/* ---- functions ---- */

static bool take_called_function(const struct hi_function_symbol *symbol, void *arg)
{
	struct hi_module_calls *m = arg;
	struct hi_called_function f = {.start = symbol->addr,
				       .end = symbol->addr + symbol->size,
				       .symbol = symbol->name};

	if (!symbol->is_code || symbol->is_ifunc || !symbol->size || f.end < f.start)
		return true;
	/* Aliases begin at the same place: the last one is the longest. */
	if (m->functions.count &&
	    m->functions.items[m->functions.count - 1].start == f.start)
		m->functions.count--;
	return hi_vector_push(&m->functions, f);
}

static const struct hi_called_function *
find_called_function(const struct hi_module_calls *m, uint64_t addr)
{
	const struct hi_called_function *f = m->functions.items;
	size_t n = hi_search(i, m->functions.count, f[i].start <= addr);

	return n && addr < f[n - 1].end ? &f[n - 1] : NULL;
}

static bool begins_function(const struct hi_module_calls *m, uint64_t addr)
{
	const struct hi_called_function *f = find_called_function(m, addr);

	return f && f->start == addr;
}

/* ---- imports ---- */

static int compare_imports(const void *a, const void *b)
{
	const struct hi_import *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static const struct hi_import *find_import(const struct hi_module_calls *m, uint64_t slot)
{
	const struct hi_import *all = m->imports.items;
	size_t n = hi_search(i, m->imports.count, all[i].slot < slot);

	return n < m->imports.count && all[n].slot == slot ? &all[n] : NULL;
}

static int compare_own_slots(const void *a, const void *b)
{
	const struct hi_own_slot *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

/* The function of this module whose address the loader writes there; 0: none. */
static uint64_t function_of_slot(const struct hi_module_calls *m, uint64_t slot)
{
	const struct hi_own_slot *all = m->own_slots.items;
	size_t n = hi_search(i, m->own_slots.count, all[i].slot < slot);

	return n < m->own_slots.count && all[n].slot == slot ? all[n].function : 0;
}

static bool add_own_slot(struct hi_module_calls *m, const GElf_Rela *rela)
{
	struct hi_own_slot own = {.slot = rela->r_offset + m->module->bias,
				  .function = (uint64_t)rela->r_addend + m->module->bias};

	return m->own_slots.count >= IMPORTS_MAX || !begins_function(m, own.function) ||
	       hi_vector_push(&m->own_slots, own);
}

static bool add_import(struct hi_module_calls *m, Elf *elf, const GElf_Shdr *symbols,
		       Elf_Data *table, const GElf_Rela *rela)
{
	unsigned type = GELF_R_TYPE(rela->r_info);
	const char *name;
	GElf_Sym sym;

	if (type == R_X86_64_RELATIVE)
		return add_own_slot(m, rela);
	/* R_X86_64_64: a variable that begins with the function's address */
	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
	     (type != R_X86_64_64 || rela->r_addend != 0)) ||
	    m->imports.count >= IMPORTS_MAX ||
	    !gelf_getsym(table, (int)GELF_R_SYM(rela->r_info), &sym))
		return true;
	name = elf_strptr(elf, symbols->sh_link, sym.st_name);
	return !name || !*name ||
	       hi_vector_push(
		       &m->imports,
		       ((struct hi_import){rela->r_offset + m->module->bias, name}));
}

static bool add_relocations(struct hi_module_calls *m, Elf *elf, Elf_Scn *section,
			    const GElf_Shdr *shdr)
{
	Elf_Scn *linked = elf_getscn(elf, shdr->sh_link);
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *table = linked ? elf_getdata(linked, NULL) : NULL;
	size_t n = data ? data->d_size / sizeof(Elf64_Rela) : 0;
	GElf_Shdr symbols;
	GElf_Rela rela;
	bool ok = true;

	if (!table || !gelf_getshdr(linked, &symbols) || symbols.sh_type != SHT_DYNSYM)
		return true;
	for (size_t i = 0; ok && i < n && i < INT32_MAX; i++)
		ok = !gelf_getrela(data, (int)i, &rela) ||
		     add_import(m, elf, &symbols, table, &rela);
	return ok;
}

/* ---- code ---- */

static void add_code_span(struct hi_module_calls *m, const GElf_Shdr *shdr, uint64_t *end)
{
	uint64_t start = shdr->sh_addr + m->module->bias;

	if (!(shdr->sh_flags & SHF_EXECINSTR) || !(shdr->sh_flags & SHF_ALLOC) ||
	    shdr->sh_size > CODE_MAX || start + shdr->sh_size < start)
		return;
	if (!m->code_start || start < m->code_start)
		m->code_start = start;
	if (start + shdr->sh_size > *end)
		*end = start + shdr->sh_size;
}

static bool read_sections_of_calls(struct hi_module_calls *m, Elf *elf, uint64_t *end)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	bool ok = true;

	for (size_t i = 0; ok && i < SECTIONS_MAX; i++) {
		section = elf_nextscn(elf, section);
		if (!section)
			break;
		if (!gelf_getshdr(section, &shdr))
			continue;
		add_code_span(m, &shdr, end);
		if (shdr.sh_type == SHT_RELA)
			ok = add_relocations(m, elf, section, &shdr);
	}
	if (m->imports.count)
		qsort(m->imports.items, m->imports.count, sizeof(*m->imports.items),
		      compare_imports);
	if (m->own_slots.count)
		qsort(m->own_slots.items, m->own_slots.count, sizeof(*m->own_slots.items),
		      compare_own_slots);
	return ok;
}

/* False: out of memory. What is between sections may be unreadable: then there is no
 * code. */
static bool read_module_code(struct hi_module_calls *m, uint64_t end)
{
	struct hi_error quiet;
	uint64_t size = end - m->code_start;

	if (!m->code_start || end <= m->code_start || size > CODE_MAX)
		return true;
	m->code = hi_alloc(size);
	if (!m->code)
		return false;
	if (hi_module_read_file(m->module, m->code_start, m->code, size, &quiet) == HI_OK)
		m->code_size = size;
	return true;
}

/* ---- calls ---- */

static int32_t read_offset(const uint8_t *bytes)
{
	int32_t ret;

	memcpy(&ret, bytes, sizeof(ret));
	return ret;
}

/* endbr64 and bnd may be before it: jmp *slot(%rip) */
static uint64_t slot_of_stub(const struct hi_module_calls *m, uint64_t addr)
{
	uint64_t at = addr - m->code_start;

	if (addr < m->code_start || at + STUB_SIZE > m->code_size)
		return 0;
	for (unsigned i = 0; i + 6 <= STUB_SIZE; i++) {
		const uint8_t *code = m->code + at + i;

		if (code[0] == 0xff && code[1] == 0x25)
			return addr + i + 6 + (uint64_t)(int64_t)read_offset(code + 2);
		if (code[0] == 0xc3 || code[0] == 0xe8 || code[0] == 0xe9)
			break;
	}
	return 0;
}

uint64_t hi_module_calls_target(const struct hi_module_calls *m, uint64_t addr)
{
	uint64_t slot;

	if (begins_function(m, addr) || find_import(m, addr))
		return addr;
	if (function_of_slot(m, addr))
		return function_of_slot(m, addr);
	slot = slot_of_stub(m, addr);
	return slot && find_import(m, slot) ? slot : 0;
}

const char *hi_module_calls_symbol(const struct hi_module_calls *m, uint64_t target)
{
	const struct hi_called_function *f = find_called_function(m, target);
	const struct hi_import *import = f ? NULL : find_import(m, target);

	if (f && f->start == target)
		return f->symbol;
	return import ? import->symbol : NULL;
}

/* The address that a call at these bytes leads to, or the memory that has it; 0: they are
 * no call. Jumps count: a call at the end of a function is one. */
static uint64_t called_at(const uint8_t *bytes, uint64_t addr)
{
	if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
		return addr + CALL_SIZE + (uint64_t)(int64_t)read_offset(bytes + 1);
	if (bytes[0] == 0xeb) /* to a function nearby */
		return addr + SHORT_JUMP + (uint64_t)(int64_t)(int8_t)bytes[1];
	if (bytes[0] == 0xff && (bytes[1] == 0x15 || bytes[1] == 0x25))
		return addr + 6 + (uint64_t)(int64_t)read_offset(bytes + 2);
	/* mov slot(%rip),%reg: the register is called later. */
	if ((bytes[0] & 0xfb) == 0x48 && bytes[1] == 0x8b && (bytes[2] & 0xc7) == 0x05)
		return addr + 7 + (uint64_t)(int64_t)read_offset(bytes + 3);
	return 0;
}

static bool find_calls_of_function(struct hi_module_calls *m, uint32_t index)
{
	const struct hi_called_function *f = &m->functions.items[index];
	uint64_t end = m->code_start + m->code_size;

	if (f->start < m->code_start || f->end > end)
		return true;
	for (uint64_t addr = f->start;
	     addr + CALL_SIZE_MOST <= end && addr + SHORT_JUMP <= f->end; addr++) {
		uint64_t to = called_at(m->code + (addr - m->code_start), addr);

		if (!to || (to > f->start && to < f->end))
			continue;
		to = hi_module_calls_target(m, to);
		if (to &&
		    !hi_vector_push(&m->calls, ((struct hi_direct_call){to, index})))
			return false;
	}
	return true;
}

static int compare_direct_calls(const void *a, const void *b)
{
	const struct hi_direct_call *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static bool find_direct_calls(struct hi_module_calls *m)
{
	bool ok = true;

	for (uint32_t i = 0; ok && m->code_size && i < m->functions.count; i++)
		ok = find_calls_of_function(m, i);
	if (m->calls.count)
		qsort(m->calls.items, m->calls.count, sizeof(*m->calls.items),
		      compare_direct_calls);
	return ok;
}

const struct hi_direct_call *hi_module_calls_of(const struct hi_module_calls *m,
						uint64_t target, size_t *n_ret)
{
	const struct hi_direct_call *all = m->calls.items;
	size_t n = m->calls.count;
	size_t first = hi_search(i, n, all[i].target < target);
	size_t end = hi_search(i, n, all[i].target <= target);

	*n_ret = end - first;
	return n ? all + first : NULL;
}

/* ---- all ---- */

enum hi_status hi_module_calls_read(struct hi_module *module, struct hi_module_calls *ret,
				    struct hi_error *err)
{
	struct hi_modules *modules = hi_module_modules(module);
	enum hi_status status;
	uint64_t end = 0;
	Elf *elf;
	bool ok;

	*ret = (struct hi_module_calls){.module = module};
	status = hi_module_each_symbol(module, take_called_function, ret, err);
	if (status != HI_OK)
		return status;
	hi_modules_lock(modules);
	elf = hi_module_elf(module);
	ok = !elf || read_sections_of_calls(ret, elf, &end);
	hi_modules_unlock(modules);
	if (ok && read_module_code(ret, end) && find_direct_calls(ret))
		return HI_OK;
	hi_module_calls_free(ret);
	return hi_fail_memory(err, "calls of a module");
}

void hi_module_calls_free(struct hi_module_calls *m)
{
	hi_vector_free(&m->functions);
	hi_vector_free(&m->imports);
	hi_vector_free(&m->own_slots);
	hi_vector_free(&m->calls);
	free(m->code);
	*m = (struct hi_module_calls){};
}
