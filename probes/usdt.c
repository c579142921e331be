/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * USDT probes: .note.stapsdt of the target's files. A note has the address of the probe,
 * where .stapsdt.base was when it was linked (prelink may have moved it since), and a
 * counter that the program tests before it computes the probe's arguments. See
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation.
 */
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/target_code.h"

enum {
	NT_STAPSDT = 3,
	NOTES_MAX = 1 << 20, /* of one module */
	LIST_MAX = 4,	     /* probes that an error names */
};

HI_DEFINE_GUARD(Elf *, elf_end)

/* One file with notes, and how its addresses become the target's. */
struct file {
	Elf *elf;
	uint64_t bias;
	uint64_t base; /* of .stapsdt.base in the file; 0: it has none */
};

/* File offset of an ELF address; 0: it is in no part of the file. */
static uint64_t offset_of(Elf *elf, uint64_t vaddr)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return 0;
	for (size_t i = 0; i < n && i < 512; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    vaddr >= ph.p_vaddr && vaddr - ph.p_vaddr < ph.p_filesz)
			return vaddr - ph.p_vaddr + ph.p_offset;
	}
	return 0;
}

static bool section_is(Elf *elf, const GElf_Shdr *shdr, const char *name)
{
	size_t strings;
	const char *s;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	s = elf_strptr(elf, strings, shdr->sh_name);
	return s && strcmp(s, name) == 0;
}

/* Reads three strings after three words; false: they do not end in the note. */
static bool read_note(const struct file *file, const char *desc, size_t size,
		      struct hi_usdt_note *ret)
{
	uint64_t words[3];
	const char *provider = desc + sizeof(words), *end = desc + size, *name;

	if (size <= sizeof(words))
		return false;
	memcpy(words, desc, sizeof(words));
	name = memchr(provider, '\0', (size_t)(end - provider));
	if (!name || ++name == end || !memchr(name, '\0', (size_t)(end - name)))
		return false;
	snprintf(ret->provider, sizeof(ret->provider), "%.63s", provider);
	snprintf(ret->name, sizeof(ret->name), "%.95s", name);
	ret->addr = words[0];
	ret->semaphore = words[2];
	if (file->base && words[1]) {
		ret->addr += file->base - words[1];
		ret->semaphore += words[2] ? file->base - words[1] : 0;
	}
	ret->addr += file->bias;
	ret->semaphore = ret->semaphore ? offset_of(file->elf, ret->semaphore) : 0;
	return true;
}

static bool each_note(const struct file *file, Elf_Data *data, hi_usdt_fn *fn, void *arg)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr header;

	for (unsigned i = 0; i < NOTES_MAX; i++) {
		struct hi_usdt_note note = {};

		offset = gelf_getnote(data, offset, &header, &name, &desc);
		if (offset == 0)
			break;
		if (header.n_type != NT_STAPSDT || header.n_namesz != 8 ||
		    memcmp((char *)data->d_buf + name, "stapsdt", 8) != 0)
			continue;
		if (read_note(file, (char *)data->d_buf + desc, header.n_descsz, &note) &&
		    !fn(&note, arg))
			return false;
	}
	return true;
}

static bool each_in_file(struct file *file, hi_usdt_fn *fn, void *arg)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(file->elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    section_is(file->elf, &shdr, ".stapsdt.base"))
			file->base = shdr.sh_addr;
	scn = NULL;
	while ((scn = elf_nextscn(file->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE ||
		    !section_is(file->elf, &shdr, ".note.stapsdt"))
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && !each_note(file, data, fn, arg))
			return false;
	}
	return true;
}

/* The mapping that a module begins with. */
static const struct hi_mapping *first_mapping(const struct hi_target *target,
					      const struct hi_module *module)
{
	for (size_t i = 0; i < target->n_mappings; i++)
		if (target->mappings[i].start == module->start)
			return &target->mappings[i];
	return NULL;
}

enum hi_status hi_usdt_each(struct hi_target_code *code, hi_usdt_fn *fn, void *arg,
			    struct hi_error *err)
{
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < hi_modules_count(code->modules); i++) {
		struct hi_module *module = hi_modules_get(code->modules, i);
		const struct hi_mapping *m = first_mapping(code->target, module);
		HI_GUARD(close) int fd = -1;
		HI_GUARD(elf_end) Elf *elf = NULL;
		struct file file = {.bias = module->bias};

		(void)err;
		if (!m || module->from_memory ||
		    hi_target_open_file(code->target, m, &fd, NULL) != HI_OK)
			continue;
		elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
		if (!elf || elf_kind(elf) != ELF_K_ELF)
			continue;
		file.elf = elf;
		if (!each_in_file(&file, fn, arg))
			break;
	}
	return HI_OK;
}

/* ---- one of them ---- */

struct search {
	struct hi_target_code *code;
	const struct hi_safepoint *safepoint;
	struct hi_probe_site_list *sites;
	enum hi_status status;
	struct hi_error *err;
	size_t total;
	struct hi_near_names near;
	char of_provider[160]; /* some of the provider's probes */
};

static void remember_usdt_name(struct search *search, const struct hi_usdt_note *note)
{
	size_t used = strlen(search->of_provider);
	char full[170], name[40];

	search->total++;
	snprintf(full, sizeof(full), "%s:%s", note->provider, note->name);
	hi_near_names_offer(&search->near, full);
	if (strcmp(note->provider, search->safepoint->name) != 0 || used > 100)
		return;
	hi_text_escape(name, sizeof(name), note->name, strlen(note->name));
	if (strstr(search->of_provider, name))
		return;
	snprintf(search->of_provider + used, sizeof(search->of_provider) - used, "%s%s",
		 used ? ", " : "", name);
}

static bool look_at_note(const struct hi_usdt_note *note, void *arg)
{
	struct search *search = arg;

	if (strcmp(note->provider, search->safepoint->name) == 0 &&
	    strcmp(note->name, search->safepoint->detail) == 0)
		search->status =
			hi_probe_sites_add_exact(search->code, search->sites, note->addr,
						 note->semaphore, search->err);
	else
		remember_usdt_name(search, note);
	return search->status == HI_OK;
}

enum hi_status hi_find_usdt(struct hi_target_code *code,
			    const struct hi_safepoint *safepoint,
			    struct hi_probe_site_list *sites, struct hi_error *err)
{
	struct search search = {.code = code,
				.safepoint = safepoint,
				.sites = sites,
				.status = HI_OK,
				.err = err};
	char wanted[400], near[220];
	enum hi_status status;

	snprintf(wanted, sizeof(wanted), "%s:%s", safepoint->name, safepoint->detail);
	search.near.wanted = wanted;
	status = hi_usdt_each(code, look_at_note, &search, err);
	if (status != HI_OK || search.status != HI_OK)
		return status != HI_OK ? status : search.status;
	if (sites->count > 0)
		return HI_OK;
	hi_near_names_text(&search.near, near, sizeof(near));
	if (search.near.count == 0 && search.of_provider[0])
		snprintf(near, sizeof(near), "; %.40s has %.150s", safepoint->name,
			 search.of_provider);
	return hi_fail(err, HI_NOT_FOUND, 0, "no USDT probe %.90s%s%s", wanted, near,
		       search.total == 0 ? ": the target has none" : "");
}
