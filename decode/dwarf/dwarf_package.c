/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packages (.dwp): the split files of a program as one. Their sections are one behind the
 * other, and two indexes, of units and of type units, have the offset of each unit's part
 * of a section; offsets in a unit are relative to that.
 *
 * Source: DWARF 5, §7.3.5.3; version 2 is GNU's for DWARF 4
 * (gcc.gnu.org/wiki/DebugFissionDWP). Header: version u32 (5: u16 and padding),
 * columns u32, units u32, slots u32; then a u64 signature a slot, a u32 row a slot
 * (from 1; 0: empty), a u32 section number a column, and rows of u32 offsets.
 */
#include "decode/dwarf/dwarf.h"

#include "base/search.h"

enum { HEADER = 16, COLUMNS_MAX = 16 };

/* Numbers of sections that both versions have in common, and version 2's own. */
enum {
	SECTION_INFO = 1,
	SECTION_TYPES = 2, /* version 2 */
	SECTION_ABBREV = 3,
	SECTION_LINE = 4,
	SECTION_STR_OFFSETS = 6,
};

struct package_index {
	const uint8_t *data;
	uint32_t version, n_columns, n_units, n_slots;
	uint64_t rows, columns, offsets; /* where these begin */
};

static uint64_t uint_at(const uint8_t *data, uint64_t offset, unsigned size)
{
	struct hi_dw_cursor cursor = {data + offset, data + offset + size, false};

	return hi_dw_uint(&cursor, size);
}

static bool open_index(const struct hi_dw_section *section, struct package_index *ret)
{
	const uint8_t *data = section->data;
	uint64_t end;

	if (section->size < HEADER)
		return false;
	*ret = (struct package_index){.data = data,
				      .version = (uint32_t)uint_at(data, 0, 4),
				      .n_columns = (uint32_t)uint_at(data, 4, 4),
				      .n_units = (uint32_t)uint_at(data, 8, 4),
				      .n_slots = (uint32_t)uint_at(data, 12, 4)};
	if ((ret->version != 2 && ret->version != 5) || ret->n_columns > COLUMNS_MAX)
		return false;
	ret->rows = HEADER + 8ull * ret->n_slots;
	ret->columns = ret->rows + 4ull * ret->n_slots;
	ret->offsets = ret->columns + 4ull * ret->n_columns;
	end = ret->offsets + 4ull * ret->n_columns * ret->n_units;
	return end <= section->size;
}

/* The unit that begins there. */
static struct hi_dw_unit *unit_at(struct hi_dw_file *file, bool in_types, uint64_t offset)
{
	size_t low = in_types ? file->n_info_units : 0;
	size_t start = low, high = in_types ? file->units.count : file->n_info_units;

	low = hi_search_from(i, low, high, file->units.items[i].offset <= offset);
	if (low == start || file->units.items[low - 1].offset != offset)
		return NULL;
	return &file->units.items[low - 1];
}

static void place_unit(struct hi_dw_file *file, const struct package_index *index,
		       uint32_t row, uint64_t signature)
{
	uint64_t starts[8] = {};
	struct hi_dw_unit *unit;
	bool in_types = false;

	for (uint32_t i = 0; i < index->n_columns; i++) {
		uint64_t number = uint_at(index->data, index->columns + 4ull * i, 4);
		uint64_t at =
			index->offsets + 4ull * ((uint64_t)row * index->n_columns + i);

		if (number < sizeof(starts) / sizeof(starts[0]))
			starts[number] = uint_at(index->data, at, 4);
		in_types |= index->version == 2 && number == SECTION_TYPES;
	}
	unit = unit_at(file, in_types, starts[in_types ? SECTION_TYPES : SECTION_INFO]);
	if (!unit || unit->packed)
		return;
	unit->packed = true;
	unit->signature = signature;
	unit->abbrev_offset += starts[SECTION_ABBREV];
	unit->line_start = starts[SECTION_LINE];
	unit->str_offsets_start = starts[SECTION_STR_OFFSETS];
}

static void read_index(struct hi_dw_file *file, enum hi_dw_section_kind kind)
{
	struct package_index index;

	if (!open_index(&file->sections[kind], &index))
		return;
	for (uint32_t i = 0; i < index.n_slots; i++) {
		uint64_t row = uint_at(index.data, index.rows + 4ull * i, 4);

		if (row > 0 && row <= index.n_units)
			place_unit(file, &index, (uint32_t)row - 1,
				   uint_at(index.data, HEADER + 8ull * i, 8));
	}
}

bool hi_dw_package_read(struct hi_dw_file *file)
{
	if (file->sections[HI_DW_CU_INDEX].size == 0)
		return false;
	read_index(file, HI_DW_CU_INDEX);
	read_index(file, HI_DW_TU_INDEX);
	/* What no index names cannot be read. */
	for (size_t i = 0; i < file->units.count; i++)
		if (!file->units.items[i].packed)
			file->units.items[i].prepared = true;
	return true;
}
