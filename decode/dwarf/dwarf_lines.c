/* SPDX-License-Identifier: BSD-2-Clause */
/* File names out of a line table's header (not its rows). */
#include "decode/dwarf/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FILES_MAX = 1 << 16, FORMATS_MAX = 16 };

struct table {
	struct hi_dw_unit *unit; /* of the line table: its offset size and version */
	struct hi_dw_cursor cursor;
	struct HI_VECTOR(const char *) dirs;
	struct HI_VECTOR(const char *) files;
};

static const char *join_line_path(struct table *table, const char *name, uint64_t dir)
{
	const char *in = dir < table->dirs.count ? table->dirs.items[dir] : "";
	const char *path;

	/* Directory 0 is the one of the compilation: left out. */
	if (!name || name[0] == '/' || dir == 0 || in[0] == '\0')
		return name ? name : "";
	path = hi_arena_printf(table->unit->file->arena, "%.1000s/%.1000s", in, name);
	return path ? path : name;
}

/* DWARF 2-4: lists of strings that end with an empty one. */
static bool read_old(struct table *table)
{
	if (!hi_vector_push(&table->dirs, "") || !hi_vector_push(&table->files, ""))
		return false;
	while (table->dirs.count < FILES_MAX) {
		const char *dir = hi_dw_cstring(&table->cursor);

		if (!dir)
			return false;
		if (*dir == '\0')
			break;
		if (!hi_vector_push(&table->dirs, dir))
			return false;
	}
	while (table->files.count < FILES_MAX) {
		const char *name = hi_dw_cstring(&table->cursor);
		const char *path;
		uint64_t dir;

		if (!name)
			return false;
		if (*name == '\0')
			break;
		dir = hi_dw_uleb(&table->cursor);
		hi_dw_uleb(&table->cursor);
		hi_dw_uleb(&table->cursor);
		path = table->cursor.bad ? NULL : join_line_path(table, name, dir);
		if (!path || !hi_vector_push(&table->files, path))
			return false;
	}
	return true;
}

/* DWARF 5: a list of (content, form) pairs, then that many entries. */
static bool read_list(struct table *table, bool dirs)
{
	struct {
		uint64_t content, form;
	} formats[FORMATS_MAX];
	uint64_t n_formats = hi_dw_uint(&table->cursor, 1), count;

	if (n_formats > FORMATS_MAX)
		return false;
	for (uint64_t i = 0; i < n_formats; i++) {
		formats[i].content = hi_dw_uleb(&table->cursor);
		formats[i].form = hi_dw_uleb(&table->cursor);
	}
	count = hi_dw_uleb(&table->cursor);
	if (table->cursor.bad || count > FILES_MAX || n_formats == 0)
		return count == 0;
	for (uint64_t i = 0; i < count; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (uint64_t k = 0; k < n_formats; k++) {
			struct hi_dw_value value;

			if (formats[k].form > UINT16_MAX ||
			    !hi_dw_form_read(table->unit, &table->cursor,
					     (uint16_t)formats[k].form, 0, &value))
				return false;
			if (formats[k].content == DW_LNCT_path)
				name = value.string;
			else if (formats[k].content == DW_LNCT_directory_index)
				dir = value.u;
		}
		if (dirs ? !hi_vector_push(&table->dirs, name ? name : "")
			 : !hi_vector_push(&table->files,
					   join_line_path(table, name, dir)))
			return false;
	}
	return true;
}

static bool read_line_table(struct table *table)
{
	struct hi_dw_cursor *cursor = &table->cursor;
	uint64_t length = hi_dw_uint(cursor, 4), version;
	unsigned offset_size = 4;

	if (length == 0xffffffff) {
		offset_size = 8;
		length = hi_dw_uint(cursor, 8);
	}
	if (cursor->bad || length > (uint64_t)(cursor->end - cursor->at) ||
	    offset_size != table->unit->offset_size)
		return false;
	cursor->end = cursor->at + length;
	version = hi_dw_uint(cursor, 2);
	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		hi_dw_skip(cursor, 2); /* address and segment selector size */
	hi_dw_skip(cursor, offset_size);
	hi_dw_skip(cursor, version >= 4 ? 5 : 4); /* up to line_range */
	length = hi_dw_uint(cursor, 1);		  /* opcode_base */
	hi_dw_skip(cursor, length > 0 ? length - 1 : 0);
	if (cursor->bad)
		return false;
	if (version < 5)
		return read_old(table);
	return read_list(table, true) && read_list(table, false);
}

static void read_files(struct hi_dw_unit *unit)
{
	const struct hi_dw_section *section = &unit->file->sections[HI_DW_LINE];
	struct table table = {.unit = unit};

	unit->files_read = true;
	if (!unit->has_lines || unit->line_offset >= section->size)
		return;
	table.cursor = (struct hi_dw_cursor){section->data + unit->line_offset,
					     section->data + section->size, false};
	/* What was read before something broke is still true. */
	(void)!read_line_table(&table);
	hi_vector_free(&table.dirs);
	unit->files = table.files.items;
	unit->n_files = table.files.count;
}

const char *hi_dw_file_name(struct hi_dw_unit *unit, uint32_t index)
{
	/* Type units share the line table of the unit that they belong to. */
	if (!hi_dw_unit_prepare(unit, NULL))
		return "";
	if (!unit->files_read)
		read_files(unit);
	return index < unit->n_files ? unit->files[index] : "";
}
