/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every record of the target, in the order of modules, files, units and DIEs. Most units
 * repeat others: a record with the name, size and declaration of one that was read
 * already is not read again.
 */
#include "decode/types/types_internal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/system_files.h"
#include "base/table.h"

enum { CHAIN_MAX = 16, RECORDS_MAX = 1 << 22, PLACES_MAX = 1 << 23 };

struct record_ids HI_VECTOR(hi_type_id);

struct each {
	struct hi_types *types;
	uint64_t min_size;
	hi_record_size_fn *wants;	 /* NULL: any size */
	void *arg;			 /* of wants */
	struct hi_type_records *records; /* NULL: nothing is kept */
	/* The unit that is being walked, or NULL, and its abbreviations. Of all modules they
	 * are too many to be kept with their units, and needed once. */
	struct hi_dw_unit *unit;
	struct hi_dw_abbrevs *abbrevs, room;
	struct hi_dw_unit *place_unit; /* of the place that is read */
	bool unit_is_kept;	       /* it had abbreviations before */
	uint32_t module;
	struct hi_table seen_keys, seen; /* by name, size and declaration; by id */
	struct record_ids found;
	bool no_memory;
};

static void each_free(struct each *each)
{
	hi_table_free(&each->seen_keys);
	hi_table_free(&each->seen);
	hi_vector_free(&each->found);
	hi_dw_abbrevs_free(&each->room);
}

static bool is_record_tag(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_interface_type || tag == DW_TAG_union_type;
}

/* True where the key is new. */
static bool insert_new_key(struct each *each, struct hi_table *table, uint64_t key)
{
	uint64_t value;

	key &= UINT64_MAX >> 1;
	if (hi_table_get(table, key, &value))
		return false;
	if (!hi_table_put(table, key, 1))
		each->no_memory = true;
	return true;
}

static bool read_referred_die(const struct each *each, struct hi_dw_ref ref,
			      struct hi_dw_die *ret)
{
	struct hi_dw_unit *unit = each->unit;
	bool null;

	if (!unit || ref.file != unit->file || ref.in_types != unit->in_types ||
	    ref.offset < unit->first_die || ref.offset >= unit->end)
		return hi_dw_die_read(ref, ret);
	return hi_dw_die_read_at(unit, each->abbrevs, ref.offset, ret, &null) && !null &&
	       (!ret->signature.file || hi_dw_die_read(ref, ret));
}

/* A typedef stands for a record that has no other name, or is a type of its own. */
static bool names_record(const struct each *each, const struct hi_dw_die *die,
			 struct hi_dw_die *record)
{
	struct hi_dw_ref ref = die->type;

	for (unsigned i = 0; i < CHAIN_MAX && ref.file; i++) {
		if (!read_referred_die(each, ref, record))
			return false;
		if (is_record_tag(record->tag))
			return (!record->declaration && !hi_type_is_named(record)) ||
			       hi_type_is_kept(each->types, die);
		if (record->tag != DW_TAG_const_type &&
		    record->tag != DW_TAG_volatile_type &&
		    !(record->tag == DW_TAG_typedef && hi_type_is_kept(each->types, die)))
			return false;
		ref = record->type;
	}
	return false;
}

static bool is_wanted_record(const struct each *each, const struct hi_dw_die *record,
			     const char *file)
{
	return !each->wants ||
	       (each->wants(record->byte_size, each->arg) && !hi_is_system_file(file));
}

static struct hi_dw_ref ref_of_die(const struct hi_dw_die *die)
{
	return (struct hi_dw_ref){die->unit->file, die->offset, die->unit->in_types};
}

static void take_record_die(struct each *each, const struct hi_dw_die *die,
			    const struct hi_dw_die *record)
{
	const char *file = hi_dw_file_name(record->unit, record->decl_file);
	const struct hi_type *type;
	char name[HI_DW_NAME_MAX];
	uint64_t key;

	if (!is_wanted_record(each, record, file))
		return;
	hi_type_record_name(die, name, sizeof(name));
	key = hi_type_identity(name, record->byte_size, record->decl_line);
	key = hi_dw_hash_name(key, file, strlen(file));
	if (!insert_new_key(each, &each->seen_keys, key))
		return;
	type = hi_type_get(each->types,
			   hi_slot_of_die(each->types, each->module, ref_of_die(die)));
	if ((type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION) &&
	    type->size >= each->min_size && each->found.count < RECORDS_MAX &&
	    insert_new_key(each, &each->seen, type->id) &&
	    !hi_vector_push(&each->found, type->id))
		each->no_memory = true;
}

/* The record that is at this DIE: itself, or what a typedef names. NULL: none. */
static const struct hi_dw_die *
record_at(const struct each *each, const struct hi_dw_die *die, struct hi_dw_die *room)
{
	if (die->tag == DW_TAG_typedef)
		return die->name && names_record(each, die, room) ? room : NULL;
	return !die->declaration && hi_type_is_named(die) &&
			       die->byte_size >= each->min_size
		       ? die
		       : NULL;
}

/* Names and files are read once somebody asks for its size. */
static void keep_record_place(struct each *each, const struct hi_dw_die *die,
			      uint64_t size)
{
	const struct hi_record_place place = {
		.die = ref_of_die(die), .size = size, .module = each->module};

	if (each->records->places.count < PLACES_MAX &&
	    !hi_vector_push(&each->records->places, place))
		each->no_memory = true;
}

static void visit_record_die(struct each *each, struct hi_dw_unit *unit, uint64_t offset)
{
	struct hi_dw_die die, room;
	const struct hi_dw_die *record;
	bool null;

	if (!hi_dw_die_read_at(unit, each->abbrevs, offset, &die, &null) || null)
		return;
	record = record_at(each, &die, &room);
	if (record && each->records)
		keep_record_place(each, &die, record->byte_size);
	else if (record)
		take_record_die(each, &die, record);
}

/* All DIEs of the unit, whatever they are nested in; what is broken ends it. */
static void walk_unit_records(struct each *each, struct hi_dw_unit *unit)
{
	struct hi_dw_cursor cursor;
	const uint8_t *base;

	each->unit = unit;
	each->abbrevs = each->records ? &each->room : &unit->abbrevs;
	if (!hi_dw_unit_prepare(unit, each->abbrevs)) {
		atomic_fetch_add(&unit->file->broken, 1);
		return;
	}
	cursor = hi_dw_unit_cursor(unit, unit->first_die);
	base = cursor.at - unit->first_die;
	while (cursor.at < cursor.end && !each->no_memory) {
		uint64_t offset = (uint64_t)(cursor.at - base);
		uint64_t code = hi_dw_uleb(&cursor);
		const struct hi_dw_abbrev *abbrev;

		if (code == 0 && !cursor.bad)
			continue;
		abbrev = hi_dw_abbrev_find(each->abbrevs, code);
		if (cursor.bad || !abbrev ||
		    !hi_dw_attrs_skip(unit, each->abbrevs, &cursor, abbrev)) {
			atomic_fetch_add(&unit->file->broken, 1);
			return;
		}
		if (is_record_tag(abbrev->tag) || abbrev->tag == DW_TAG_typedef)
			visit_record_die(each, unit, offset);
	}
}

/* False: the module has more debug information than is wanted. */
static bool walk_module(struct each *each, struct hi_module *module, uint64_t max_dwarf)
{
	struct hi_type_module *item;

	if (hi_types_dwarf_size(each->types, module) > max_dwarf)
		return false;
	item = hi_types_module(each->types, module);
	if (!item)
		return true;
	/* Its shared and split files count too, and what compression hid. */
	if (hi_types_dwarf_size(each->types, module) > max_dwarf)
		return false;
	each->module = (uint32_t)hi_module_index(module);
	for (size_t i = 0; i < item->n_files; i++)
		for (size_t k = 0; k < item->files[i]->units.count; k++)
			walk_unit_records(each, &item->files[i]->units.items[k]);
	return true;
}

/* The first bytes of a path: what stands before the system's folders. */
struct system_root {
	const char *path;
	size_t length;
};

/* As libc's path shows: seen from outside, the maps of a process in a chroot have the
 * folder that is its root before every path. */
static struct system_root find_system_root(const struct hi_types *types)
{
	static const char *const folders[] = {"/usr/lib/", "/usr/lib64/", "/lib64/",
					      "/lib/x86_64-linux-gnu/"};
	const struct hi_module *libc = hi_modules_named(types->modules, "libc.so");

	if (!libc)
		libc = hi_modules_named(types->modules, "libc-2.");
	for (size_t i = 0; libc && i < sizeof(folders) / sizeof(*folders); i++) {
		const char *folder = strstr(libc->path, folders[i]);

		if (folder)
			return (struct system_root){libc->path,
						    (size_t)(folder - libc->path)};
	}
	return (struct system_root){"", 0};
}

static bool is_own_module(const struct hi_module *module, struct system_root root)
{
	if (module->is_executable)
		return true;
	return !hi_is_system_file(module->path) &&
	       !(strncmp(module->path, root.path, root.length) == 0 &&
		 hi_is_system_file(module->path + root.length));
}

/* Fills in each->found; the modules that were skipped. */
static uint32_t walk_all_records(struct each *each, uint64_t max_dwarf)
{
	struct hi_types *types = each->types;
	struct system_root root = find_system_root(types);
	uint32_t skipped = 0;

	for (size_t i = 0; i < types->n_items && !each->no_memory; i++)
		if (!each->wants || is_own_module(types->items[i].module, root))
			skipped += !walk_module(each, types->items[i].module, max_dwarf);
	return skipped;
}

static enum hi_status pass_records(struct hi_types *types, const hi_type_id *ids,
				   size_t n, hi_record_fn *fn, void *arg)
{
	for (size_t i = 0; i < n; i++)
		if (!fn(hi_type_get(types, ids[i]), arg))
			break;
	return HI_OK;
}

static bool is_same_search(const struct hi_types *types, uint64_t min_size,
			   uint64_t max_dwarf)
{
	const struct hi_type_records *r = &types->records;

	return r->is_complete && r->min_size == min_size && r->max_dwarf == max_dwarf &&
	       r->n_items == types->n_items && r->n_kept == types->kept.count;
}

/* Under the lock. Modules and the names that are kept decide what is found, so each
 * census of a series, and each round of one, finds the same. False: out of memory. */
static bool keep_record_places(struct hi_types *types, uint64_t min_size,
			       uint64_t max_dwarf)
{
	struct hi_type_records *r = &types->records;
	struct each each = {.types = types, .min_size = min_size, .records = r};

	if (is_same_search(types, min_size, max_dwarf))
		return true;
	hi_vector_free(&r->places);
	*r = (struct hi_type_records){.min_size = min_size, .max_dwarf = max_dwarf};
	r->skipped = walk_all_records(&each, max_dwarf);
	r->n_items = types->n_items;
	r->n_kept = types->kept.count;
	r->is_complete = !each.no_memory;
	each_free(&each);
	return r->is_complete;
}

/* Reads what is there. All places of one size are read together, so that the first one
 * of those that are alike is taken, whichever sizes were asked for before. */
static void read_record_place(struct each *each, struct hi_record_place *place)
{
	struct hi_dw_die die, room;
	const struct hi_dw_die *record;
	size_t before = each->found.count;

	place->is_read = true;
	each->module = place->module;
	if (!hi_dw_die_read(place->die, &die))
		return;
	record = record_at(each, &die, &room);
	if (record)
		take_record_die(each, &die, record);
	if (each->found.count > before)
		place->type = each->found.items[before];
}

/* The unit of the next place that is read, or NULL. Abbreviations that were read for the
 * last one alone are given back. */
static void enter_unit(struct each *each, struct hi_dw_unit *unit)
{
	if (each->place_unit == unit)
		return;
	if (each->place_unit && !each->unit_is_kept)
		hi_dw_abbrevs_free(&each->place_unit->abbrevs);
	each->place_unit = unit;
	each->unit_is_kept = unit && unit->abbrevs.valid;
}

/* Under the lock: the records of the sizes that are wanted. False: out of memory. */
static bool find_records_of_size(struct hi_types *types, hi_record_size_fn *wants,
				 void *arg, struct record_ids *found)
{
	struct each each = {.types = types, .min_size = types->records.min_size};
	bool is_wanted = true;

	for (size_t i = 0; i < types->records.places.count && !each.no_memory; i++) {
		struct hi_record_place *place = &types->records.places.items[i];

		if (wants)
			is_wanted = wants(place->size, arg);
		if (is_wanted && !place->is_read) {
			enter_unit(&each,
				   hi_dw_unit_at(place->die.file, place->die.in_types,
						 place->die.offset));
			read_record_place(&each, place);
		}
		if (is_wanted && place->type && !hi_vector_push(found, place->type))
			each.no_memory = true;
	}
	enter_unit(&each, NULL);
	/* Records that memory did not suffice for are looked for once more. */
	types->records.is_complete = !each.no_memory;
	each_free(&each);
	return !each.no_memory;
}

enum hi_status hi_types_each_record(struct hi_types *types, uint64_t min_size,
				    hi_record_size_fn *wants, uint64_t max_dwarf,
				    hi_record_fn *fn, void *arg, uint32_t *skipped_ret,
				    struct hi_error *err)
{
	struct record_ids found = {};
	enum hi_status status;
	bool ok;

	hi_types_lock(types);
	ok = keep_record_places(types, min_size, max_dwarf) &&
	     find_records_of_size(types, wants, arg, &found);
	if (ok && skipped_ret)
		*skipped_ret = types->records.skipped;
	hi_types_unlock(types);
	status = ok ? pass_records(types, found.items, found.count, fn, arg)
		    : hi_fail_memory(err, "records");
	hi_vector_free(&found);
	return status;
}

enum hi_status hi_types_each_own_record(struct hi_types *types, hi_record_size_fn *wants,
					uint64_t max_dwarf, hi_record_fn *fn, void *arg,
					struct hi_error *err)
{
	struct each each = {.types = types, .min_size = 1, .wants = wants, .arg = arg};
	enum hi_status status;

	hi_types_lock(types);
	(void)walk_all_records(&each, max_dwarf);
	hi_types_unlock(types);
	status = each.no_memory ? hi_fail_memory(err, "records")
				: pass_records(types, each.found.items, each.found.count,
					       fn, arg);
	each_free(&each);
	return status;
}
