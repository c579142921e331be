/* SPDX-License-Identifier: BSD-2-Clause */
/* One ELF file's debug sections and the list of its units. */
#include "decode/dwarf/dwarf.h"

#include <gelf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/modules/elf_mapped.h"
#include "decode/modules/elf_unpacked.h"

enum { UNITS_MAX = 1 << 24 };

static const char *const section_names[HI_DW_SECTIONS] = {
	[HI_DW_INFO] = "debug_info",	     [HI_DW_TYPES] = "debug_types",
	[HI_DW_ABBREV] = "debug_abbrev",     [HI_DW_STR] = "debug_str",
	[HI_DW_LINE_STR] = "debug_line_str", [HI_DW_STR_OFFSETS] = "debug_str_offsets",
	[HI_DW_ADDR] = "debug_addr",	     [HI_DW_LINE] = "debug_line",
	[HI_DW_CU_INDEX] = "debug_cu_index", [HI_DW_TU_INDEX] = "debug_tu_index",
};

/* Which section a name means: ".debug_x", ".zdebug_x"; in split files
 * ".debug_x.dwo", but for a package's indexes. HI_DW_SECTIONS: none. */
static enum hi_dw_section_kind section_kind_of_name(const char *name, bool is_dwo)
{
	if (*name++ != '.')
		return HI_DW_SECTIONS;
	if (*name == 'z')
		name++;
	for (unsigned i = 0; i < HI_DW_SECTIONS; i++) {
		size_t n = strlen(section_names[i]);
		bool suffix = is_dwo && i != HI_DW_CU_INDEX && i != HI_DW_TU_INDEX;

		if (strncmp(name, section_names[i], n) == 0 &&
		    strcmp(name + n, suffix ? ".dwo" : "") == 0)
			return (enum hi_dw_section_kind)i;
	}
	return HI_DW_SECTIONS;
}

/* In place, as libdw does it too; sections that cannot be inflated stay empty. */
static bool inflate_section(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name)
{
	if (shdr->sh_flags & SHF_COMPRESSED)
		return elf_compress(scn, 0, 0) >= 0;
	if (strncmp(name, ".zdebug", 7) == 0)
		return elf_compress_gnu(scn, 0, 0) >= 0;
	return true;
}

struct section_part {
	enum hi_dw_section_kind kind;
	struct hi_dw_section bytes;
};
struct section_parts HI_VECTOR(struct section_part);

/* GCC gives each type unit of a split file a section of its own, all of one name.
 * References between units are by signature, so one behind the other they are what a
 * linker would make of them. */
static bool join_parts(struct hi_dw_file *file, enum hi_dw_section_kind kind,
		       const struct section_parts *parts, size_t size)
{
	size_t used = 0;

	file->joined[kind] = hi_alloc(size);
	if (!file->joined[kind])
		return false;
	for (size_t i = 0; i < parts->count; i++) {
		const struct hi_dw_section *bytes = &parts->items[i].bytes;

		if (parts->items[i].kind != kind)
			continue;
		memcpy(file->joined[kind] + used, bytes->data, bytes->size);
		used += bytes->size;
	}
	file->sections[kind] = (struct hi_dw_section){file->joined[kind], size};
	return true;
}

/* Where there are several, the first counts, but of units in split files all. */
static bool take_parts(struct hi_dw_file *file, const struct section_parts *parts)
{
	size_t size[HI_DW_SECTIONS] = {}, n[HI_DW_SECTIONS] = {};
	bool ok = true;

	for (size_t i = 0; i < parts->count; i++) {
		const struct section_part *p = &parts->items[i];

		if (n[p->kind]++ == 0)
			file->sections[p->kind] = p->bytes;
		size[p->kind] += p->bytes.size;
	}
	if (file->is_dwo && n[HI_DW_INFO] > 1)
		ok = join_parts(file, HI_DW_INFO, parts, size[HI_DW_INFO]);
	if (file->is_dwo && n[HI_DW_TYPES] > 1)
		ok = ok && join_parts(file, HI_DW_TYPES, parts, size[HI_DW_TYPES]);
	return ok;
}

static bool find_parts(struct hi_dw_file *file, struct section_parts *parts)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(file->elf, &strings) != 0)
		return true;
	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		enum hi_dw_section_kind kind;
		GElf_Shdr shdr;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(file->elf, strings, shdr.sh_name);
		kind = name ? section_kind_of_name(name, file->is_dwo) : HI_DW_SECTIONS;
		if (kind == HI_DW_SECTIONS || !inflate_section(scn, &shdr, name))
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf && data->d_size > 0 &&
		    !hi_vector_push(parts, ((struct section_part){
						   kind, {data->d_buf, data->d_size}})))
			return false;
	}
	return true;
}

static bool read_sections(struct hi_dw_file *file)
{
	struct section_parts parts = {};
	bool ok = find_parts(file, &parts) && take_parts(file, &parts);

	hi_vector_free(&parts);
	return ok;
}

/* The header at the cursor; false where the section makes no more sense. */
static bool read_header(struct hi_dw_file *file, struct hi_dw_unit *unit,
			struct hi_dw_cursor *cursor, const struct hi_dw_section *section)
{
	uint64_t length;

	unit->file = file;
	unit->offset = (uint64_t)(cursor->at - section->data);
	unit->offset_size = 4;
	length = hi_dw_uint(cursor, 4);
	if (length == 0xffffffff) {
		unit->offset_size = 8;
		length = hi_dw_uint(cursor, 8);
	} else if (length >= 0xfffffff0) {
		return false;
	}
	if (cursor->bad || length < 7 || length > (uint64_t)(cursor->end - cursor->at))
		return false;
	unit->end = (uint64_t)(cursor->at - section->data) + length;
	cursor->end = section->data + unit->end;
	unit->version = (uint8_t)hi_dw_uint(cursor, 2);
	unit->unit_type = unit->in_types ? DW_UT_type : DW_UT_compile;
	if (unit->version >= 5) {
		unit->unit_type = (uint8_t)hi_dw_uint(cursor, 1);
		unit->address_size = (uint8_t)hi_dw_uint(cursor, 1);
		unit->abbrev_offset = hi_dw_uint(cursor, unit->offset_size);
	} else {
		unit->abbrev_offset = hi_dw_uint(cursor, unit->offset_size);
		unit->address_size = (uint8_t)hi_dw_uint(cursor, 1);
	}
	switch (unit->unit_type) {
	case DW_UT_type:
	case DW_UT_split_type:
		unit->signature = hi_dw_uint(cursor, 8);
		unit->type_offset = hi_dw_uint(cursor, unit->offset_size);
		unit->type_offset = unit->type_offset < unit->end - unit->offset
					    ? unit->type_offset + unit->offset
					    : 0;
		break;
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		unit->signature = hi_dw_uint(cursor, 8);
		break;
	default:
		break;
	}
	unit->first_die = (uint64_t)(cursor->at - section->data);
	return true;
}

static bool is_known_unit_format(const struct hi_dw_unit *unit)
{
	return unit->version >= 2 && unit->version <= 5 &&
	       (unit->address_size == 8 || unit->address_size == 4) &&
	       unit->first_die < unit->end;
}

static bool list_units(struct hi_dw_file *file, bool in_types)
{
	const struct hi_dw_section *section =
		&file->sections[in_types ? HI_DW_TYPES : HI_DW_INFO];
	uint64_t at = 0;

	while (at < section->size && file->units.count < UNITS_MAX) {
		struct hi_dw_cursor cursor = {section->data + at,
					      section->data + section->size, false};
		struct hi_dw_unit unit = {.in_types = in_types};

		if (!read_header(file, &unit, &cursor, section)) {
			atomic_fetch_add(&file->broken, 1);
			break;
		}
		at = unit.end;
		if (cursor.bad || !is_known_unit_format(&unit)) {
			atomic_fetch_add(&file->broken, 1);
			continue;
		}
		if (!hi_vector_push(&file->units, unit))
			return false;
	}
	return true;
}

/* The file chooses its signatures, so it must not know where they go. */
static size_t hash_signature(const struct hi_dw_file *file, uint64_t signature)
{
	uint64_t hash = (signature ^ file->hash_key) * 0x9e3779b97f4a7c15ull;

	hash ^= hash >> 32 ^ file->hash_key >> 7;
	return (size_t)((hash * 0xd6e8feb86659fd93ull) >> 32);
}

/* The slot of the unit with this signature, or the empty one where it belongs. */
static uint32_t *probe_signature(const struct hi_dw_file *file, uint64_t signature)
{
	uint32_t *slots = file->by_signature;

	return &slots[hi_probe(i, file->n_by_signature, hash_signature(file, signature),
			       !slots[i] || file->units.items[slots[i] - 1].signature ==
						    signature)];
}

/* Of several units with one signature the first counts. */
static void add_signature(struct hi_dw_file *file, size_t index)
{
	uint32_t *slot = probe_signature(file, file->units.items[index].signature);

	if (!*slot)
		*slot = (uint32_t)index + 1;
}

static bool index_signatures(struct hi_dw_file *file)
{
	size_t types = 0, n = 16;

	for (size_t i = 0; i < file->units.count; i++)
		types += file->units.items[i].type_offset != 0;
	if (types == 0)
		return true;
	while (n < types * 2)
		n *= 2;
	file->by_signature = hi_calloc(n, sizeof(*file->by_signature));
	if (!file->by_signature)
		return false;
	file->n_by_signature = n;
	if (getentropy(&file->hash_key, sizeof(file->hash_key)) != 0)
		file->hash_key = (uint64_t)(uintptr_t)file->by_signature;
	for (size_t i = 0; i < file->units.count; i++)
		if (file->units.items[i].type_offset != 0)
			add_signature(file, i);
	return true;
}

struct hi_dw_unit *hi_dw_unit_signed(struct hi_dw_file *file, uint64_t signature)
{
	uint32_t index;

	if (file->n_by_signature == 0)
		return NULL;
	index = *probe_signature(file, signature);
	return index ? &file->units.items[index - 1] : NULL;
}

struct hi_dw_unit *hi_dw_unit_at(struct hi_dw_file *file, bool in_types, uint64_t offset)
{
	size_t low = in_types ? file->n_info_units : 0;
	size_t start = low, high = in_types ? file->units.count : file->n_info_units;

	low = hi_search_from(i, low, high, file->units.items[i].offset <= offset);
	if (low == start || offset >= file->units.items[low - 1].end ||
	    offset < file->units.items[low - 1].first_die)
		return NULL;
	return &file->units.items[low - 1];
}

struct hi_dw_cursor hi_dw_unit_cursor(const struct hi_dw_unit *unit, uint64_t offset)
{
	const struct hi_dw_section *section =
		&unit->file->sections[unit->in_types ? HI_DW_TYPES : HI_DW_INFO];

	return (struct hi_dw_cursor){section->data + offset, section->data + unit->end,
				     false};
}

/* Where the unit's string offsets begin if it has no attribute for it. */
static uint64_t default_str_offsets(const struct hi_dw_unit *unit)
{
	if (unit->version < 5 || !unit->file->is_dwo)
		return unit->str_offsets_start;
	/* Behind the table's header. */
	return unit->str_offsets_start + (unit->offset_size == 8 ? 16 : 8);
}

bool hi_dw_unit_prepare(struct hi_dw_unit *unit, struct hi_dw_abbrevs *abbrevs)
{
	struct hi_dw_abbrevs *table = abbrevs ? abbrevs : &unit->abbrevs;
	struct hi_dw_die die;
	bool null;

	if (!hi_dw_abbrevs_read(unit, unit->abbrev_offset, table))
		return false;
	if (unit->prepared)
		return unit->usable;
	unit->prepared = true;
	unit->str_offsets_base = default_str_offsets(unit);
	if (!hi_dw_die_read_at(unit, table, unit->first_die, &die, &null) || null)
		return false;
	if (die.has_str_offsets_base || die.has_addr_base) {
		/* Strings and addresses of this very DIE may need the bases. */
		if (die.has_str_offsets_base)
			unit->str_offsets_base = die.str_offsets_base;
		if (die.has_addr_base)
			unit->addr_base = die.addr_base;
		if (!hi_dw_die_read_at(unit, table, unit->first_die, &die, &null))
			return false;
	}
	unit->language = (uint16_t)die.language;
	unit->name = die.name;
	unit->comp_dir = die.comp_dir;
	unit->dwo_name = die.dwo_name;
	unit->has_lines = die.has_stmt_list;
	unit->line_offset = unit->line_start + die.stmt_list;
	if (die.has_dwo_id)
		unit->signature = die.dwo_id;
	unit->usable = true;
	return true;
}

void hi_dw_file_close(struct hi_dw_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->units.count; i++) {
		struct hi_dw_unit *unit = &file->units.items[i];

		hi_dw_abbrevs_free(&unit->abbrevs);
		hi_vector_free(&unit->scopes);
		free(unit->files);
	}
	hi_vector_free(&file->units);
	free(file->by_signature);
	for (unsigned i = 0; i < HI_DW_SECTIONS; i++)
		free(file->joined[i]);
	if (file->own_elf)
		hi_elf_unmap(file->elf);
	hi_unpacked_release(&file->unpacked, file->unpacked_bytes);
	free(file);
}

void hi_dw_file_give_back(struct hi_dw_file *file)
{
	for (unsigned i = 0; i < HI_DW_SECTIONS && file->own_elf; i++)
		hi_elf_give_back(file->elf, file->sections[i].data,
				 file->sections[i].size);
}

HI_DEFINE_GUARD(struct hi_dw_file *, hi_dw_file_close)

enum hi_status hi_dw_file_open(Elf *elf, bool is_dwo, struct hi_arena *arena,
			       struct hi_dw_file **ret, struct hi_error *err)
{
	HI_GUARD(hi_dw_file_close)
	struct hi_dw_file *file = hi_calloc(1, sizeof(*file));
	enum hi_status status;

	if (!file)
		return hi_fail_memory(err, "debug file");
	file->elf = elf;
	file->is_dwo = is_dwo;
	file->arena = arena;
	status = hi_elf_unpacked_take(elf, "a debug file", &file->unpacked,
				      &file->unpacked_bytes, err);
	if (status != HI_OK)
		return status;
	if (!read_sections(file))
		return hi_fail_memory(err, "debug file");
	if (!file->sections[HI_DW_INFO].data && !file->sections[HI_DW_TYPES].data)
		return hi_fail(err, HI_NOT_FOUND, 0, "no .debug_info");
	file->abbrev_budget = (int64_t)(16ull << 20) +
			      16 * (int64_t)file->sections[HI_DW_ABBREV].size +
			      8 * (int64_t)(file->sections[HI_DW_INFO].size +
					    file->sections[HI_DW_TYPES].size);
	if (!list_units(file, false))
		return hi_fail_memory(err, "units");
	file->n_info_units = file->units.count;
	if (!list_units(file, true) || !index_signatures(file))
		return hi_fail_memory(err, "type units");
	*ret = hi_take(file);
	return HI_OK;
}
