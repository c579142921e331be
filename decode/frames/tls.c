/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a module's thread-local block lies. The executable's is at a fixed
 * distance below the thread pointer (ELF TLS, variant II); the others' are found
 * as libthread_db does it, by the layout that libc itself exports.
 *
 * Descriptors _thread_db_*: u32 {size in bits, number, offset in bytes}; in
 * .dynsym of libc.so.6 (libpthread.so.0 before 2.34), stripped or not.
 * Source: nptl_db/structs.def, nptl_db/td_thr_tlsbase.c, nptl/descr.h.
 *   thread pointer +8   dtv (by _thread_db_pthread_dtvp)
 *   dtv[-1].counter     number of slots;  dtv[0].counter  generation
 *   dtv[id].pointer.val the block, or -1 while the thread has not touched it
 * link_map: +0 l_addr, +8 l_name, +16 l_ld, +24 l_next   (elf/link.h)
 * r_debug:  +0 r_version, +8 r_map; version 2: +40 r_next (one a namespace)
 */
#include <elf.h>

#include "decode/frames/frames_internal.h"

enum { LINK_MAPS_MAX = 1 << 16, NAMESPACES_MAX = 64, SLOT_LISTS_MAX = 1 << 12 };

static bool read_at(struct hi_modules *modules, uint64_t addr, void *buf, size_t size)
{
	return hi_modules_read(modules, addr, buf, size, NULL) == HI_OK;
}

static bool read_tls_word(struct hi_modules *modules, uint64_t addr, uint64_t *ret)
{
	return read_at(modules, addr, ret, sizeof(*ret));
}

/* ---- layout ---- */

struct field {
	uint32_t bits, number, offset;
};

/* An exported descriptor of a word-sized field, or of an array of `bits`. */
static bool find_field(struct hi_modules *modules, const char *name, uint32_t bits,
		       struct field *ret)
{
	uint64_t addr;

	return hi_modules_symbol(modules, NULL, name, &addr, NULL, NULL) == HI_OK &&
	       read_at(modules, addr, ret, sizeof(*ret)) && ret->bits == bits &&
	       ret->offset < 1 << 20;
}

static const GElf_Phdr *find_tls_header(const struct hi_module *module)
{
	size_t n;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n);

	for (size_t i = 0; i < n; i++)
		if (phdrs[i].p_type == PT_TLS && phdrs[i].p_memsz > 0)
			return &phdrs[i];
	return NULL;
}

/* ---- the module's id ---- */

/* The module's entry in one namespace's list; 0: not in it. l_ld is the address of
 * its dynamic section, so it lies in the module. */
static uint64_t find_in_list(struct hi_modules *modules, const struct hi_module *module,
			     uint64_t map)
{
	uint64_t words[4];

	for (int i = 0; i < LINK_MAPS_MAX && map != 0; i++) {
		if (!read_at(modules, map, words, sizeof(words)))
			return 0;
		if (words[2] >= module->start && words[2] < module->end)
			return map;
		map = words[3];
	}
	return 0;
}

static uint64_t find_link_map(struct hi_modules *modules, const struct hi_module *module)
{
	uint64_t debug, map, found, version;

	if (hi_modules_symbol(modules, NULL, "_r_debug", &debug, NULL, NULL) != HI_OK)
		return 0;
	for (int i = 0; i < NAMESPACES_MAX && debug != 0; i++) {
		if (!read_tls_word(modules, debug, &version) ||
		    !read_tls_word(modules, debug + 8, &map))
			return 0;
		found = find_in_list(modules, module, map);
		if (found)
			return found;
		if ((uint32_t)version < 2 || !read_tls_word(modules, debug + 40, &debug))
			return 0;
	}
	return 0;
}

/* Generation in which the id was given to this module: a thread whose dtv is older
 * may still hold the block of a module that was closed. 0 if it cannot be found. */
static uint64_t find_generation(struct hi_modules *modules, uint64_t id)
{
	struct field head, length, next, slots, gen;
	uint64_t list, count, value;

	if (hi_modules_symbol(modules, NULL, "_rtld_global", &list, NULL, NULL) !=
		    HI_OK ||
	    !find_field(modules, "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list", 64,
			&head) ||
	    !find_field(modules, "_thread_db_dtv_slotinfo_list_len", 64, &length) ||
	    !find_field(modules, "_thread_db_dtv_slotinfo_list_next", 64, &next) ||
	    !find_field(modules, "_thread_db_dtv_slotinfo_list_slotinfo", 128, &slots) ||
	    !find_field(modules, "_thread_db_dtv_slotinfo_gen", 64, &gen) ||
	    !read_tls_word(modules, list + head.offset, &list))
		return 0;
	for (int i = 0; i < SLOT_LISTS_MAX && list != 0; i++) {
		if (!read_tls_word(modules, list + length.offset, &count))
			return 0;
		if (id < count)
			return read_tls_word(modules,
					     list + slots.offset + id * 16 + gen.offset,
					     &value)
				       ? value
				       : 0;
		id -= count;
		if (!read_tls_word(modules, list + next.offset, &list))
			return 0;
	}
	return 0;
}

bool hi_tls_find_module(struct hi_modules *modules, struct hi_module *module,
			struct hi_tls_module *ret)
{
	const GElf_Phdr *header = find_tls_header(module);
	struct hi_tls_module tls = {};
	struct field id, dtvp, dtv, value;
	uint64_t map, align, first;

	if (!header)
		return false;
	tls.size = header->p_memsz;
	if (module->is_executable) {
		/* elf/dl-tls.c, _dl_determine_tlsoffset, for the first module */
		align = header->p_align > 1 ? header->p_align : 1;
		if (align & (align - 1))
			return false;
		first = -header->p_vaddr & (align - 1);
		tls.offset = ((tls.size - first + align - 1) & -align) + first;
		*ret = tls;
		return tls.offset >= tls.size;
	}
	map = find_link_map(modules, module);
	if (map == 0 ||
	    !find_field(modules, "_thread_db_link_map_l_tls_modid", 64, &id) ||
	    !find_field(modules, "_thread_db_pthread_dtvp", 64, &dtvp) ||
	    !find_field(modules, "_thread_db_dtv_dtv", 128, &dtv) ||
	    !find_field(modules, "_thread_db_dtv_t_pointer_val", 64, &value) ||
	    !read_tls_word(modules, map + id.offset, &tls.id) || tls.id == 0)
		return false;
	tls.dtvp = dtvp.offset;
	tls.value = dtv.offset + value.offset;
	tls.generation = find_generation(modules, tls.id);
	*ret = tls;
	return true;
}

/* ---- the thread's block ---- */

bool hi_tls_find_block(struct hi_modules *modules, const struct hi_tls_module *tls,
		       const struct hi_thread *thread, uint64_t *start_ret)
{
	uint64_t tp = thread->regs.fs_base, dtv, slots, generation, start;

	if (tp == 0)
		return false;
	if (tls->id == 0) {
		*start_ret = tp - tls->offset;
		return tls->offset < tp;
	}
	if (!read_tls_word(modules, tp + tls->dtvp, &dtv) ||
	    !read_tls_word(modules, dtv - 16, &slots) || tls->id > slots ||
	    !read_tls_word(modules, dtv, &generation) || generation < tls->generation ||
	    tls->id > 1 << 20 ||
	    !read_tls_word(modules, dtv + tls->id * 16 + tls->value, &start))
		return false;
	*start_ret = start;
	return start != 0 && start != UINT64_MAX;
}

enum hi_status hi_tls_block(struct hi_modules *modules, const struct hi_image *image,
			    struct hi_module *module, uint32_t thread,
			    uint64_t *start_ret, uint64_t *size_ret, struct hi_error *err)
{
	struct hi_tls_module tls;

	if (thread >= image->n_threads)
		return hi_fail(err, HI_NOT_FOUND, 0, "thread number %u", thread);
	if (!hi_tls_find_module(modules, module, &tls))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "the thread-local block was not found");
	if (!hi_tls_find_block(modules, &tls, &image->threads[thread], start_ret))
		return hi_fail(
			err, HI_NOT_FOUND, 0,
			"the thread has not allocated this thread-local block yet");
	*size_ret = tls.size;
	return HI_OK;
}
