/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a module: names of types, addresses of variables. One pass over
 * .debug_info by abbreviations only, on all threads, by ranges of units.
 */
#include "decode/types/types_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"

enum {
	TASK_BYTES = 1 << 20, /* of .debug_info a task */
	DEPTH_MAX = 256,
	SIZE_MAX_BITS = 40,
};

/* Definitions that one worker found, one per (hash, size, kind). */
struct type_set {
	struct hi_index_type *slots; /* hash 0: empty */
	size_t n, used;
};

struct declared {
	uint64_t offset, hash;
};

struct worker {
	struct type_set types;
	struct HI_VECTOR(struct hi_index_variable) variables;
	struct HI_VECTOR(struct hi_index_variable) tls;
	struct HI_VECTOR(struct declared) declared; /* of the unit, by offset */
	struct hi_dw_abbrevs abbrevs;
	bool no_memory;
};

struct task {
	struct hi_dw_file *file;
	size_t first, end; /* units */
};

struct scan {
	struct HI_VECTOR(struct task) tasks;
	struct worker *workers;
};

/* ---- the set ---- */

static bool set_grow(struct type_set *set)
{
	size_t n = set->n ? set->n * 2 : 1024;
	struct hi_index_type *slots = hi_calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t k = 0; k < set->n; k++)
		if (set->slots[k].hash)
			slots[hi_probe(i, n, set->slots[k].hash, !slots[i].hash)] =
				set->slots[k];
	free(set->slots);
	set->slots = slots;
	set->n = n;
	return true;
}

static bool is_same_type(const struct hi_index_type *a, const struct hi_index_type *b)
{
	return a->hash == b->hash && a->size_kind == b->size_kind;
}

/* The smallest DIE wins, so that the result does not depend on the threads. */
static bool set_add(struct type_set *set, const struct hi_index_type *type)
{
	struct hi_index_type *slot;

	if (set->used * 2 >= set->n && !set_grow(set))
		return false;
	slot = &set->slots[hi_probe(i, set->n, type->hash,
				    !set->slots[i].hash ||
					    is_same_type(&set->slots[i], type))];
	if (!slot->hash) {
		*slot = *type;
		set->used++;
	} else if (type->die < slot->die) {
		slot->die = type->die;
	}
	return true;
}

/* ---- one unit ---- */

struct scanned { /* the wanted attributes of one DIE */
	const char *name;
	uint64_t size, sibling, specification;
	struct hi_dw_block location;
	bool declaration;
};

struct unit_scan {
	struct worker *worker;
	struct hi_dw_unit *unit;
	struct hi_dw_cursor cursor;
	const uint8_t *base;	   /* of the section */
	uint64_t scope[DEPTH_MAX]; /* hash; HI_SCOPE_FUNCTION inside functions */
	unsigned depth;
};

static bool read_op(struct unit_scan *scan, const struct hi_dw_op *op,
		    struct scanned *ret)
{
	struct hi_dw_value value;

	if (op->attr == 0) {
		if (op->form)
			return hi_dw_form_skip(scan->unit, &scan->cursor, op->form);
		hi_dw_skip(&scan->cursor, op->size);
		return !scan->cursor.bad;
	}
	if (!hi_dw_form_read(scan->unit, &scan->cursor, op->form, op->implicit, &value))
		return false;
	switch (op->attr) {
	case DW_AT_name:
		ret->name = value.string;
		break;
	case DW_AT_byte_size:
		ret->size = value.class == HI_DW_CONSTANT ? value.u : 0;
		break;
	case DW_AT_declaration:
		ret->declaration = value.u != 0;
		break;
	case DW_AT_sibling:
		ret->sibling = value.ref.file ? value.ref.offset : 0;
		break;
	case DW_AT_specification:
	case DW_AT_abstract_origin:
		/* In the same unit, or not resolved here. */
		if (value.ref.file == scan->unit->file &&
		    value.ref.in_types == scan->unit->in_types)
			ret->specification = value.ref.offset;
		break;
	case DW_AT_location:
		ret->location = value.block;
		break;
	default:
		break;
	}
	return true;
}

static uint64_t current_scope(const struct unit_scan *scan)
{
	return scan->depth ? scan->scope[scan->depth - 1] : 0;
}

/* Types inside functions are known by their own name. */
static uint64_t type_scope(const struct unit_scan *scan)
{
	uint64_t scope = current_scope(scan);

	return scope == HI_SCOPE_FUNCTION ? 0 : scope;
}

static uint64_t declared_hash(const struct worker *worker, uint64_t offset)
{
	size_t low = hi_search(i, worker->declared.count,
			       worker->declared.items[i].offset < offset);

	return low < worker->declared.count &&
			       worker->declared.items[low].offset == offset
		       ? worker->declared.items[low].hash
		       : 0;
}

static void add_declared(struct unit_scan *scan, uint64_t offset, uint64_t hash)
{
	if (hash &&
	    !hi_vector_push(&scan->worker->declared, ((struct declared){offset, hash})))
		scan->worker->no_memory = true;
}

/* Hash of a type's qualified name; 0: anonymous. */
static uint64_t type_hash(const struct unit_scan *scan, const struct scanned *die)
{
	if (die->specification)
		return declared_hash(scan->worker, die->specification);
	return die->name
		       ? hi_type_hash_part(type_scope(scan), die->name, strlen(die->name))
		       : 0;
}

static void add_index_type(struct unit_scan *scan, uint16_t tag, uint64_t offset,
			   const struct scanned *die)
{
	enum hi_index_kind kind;
	struct hi_index_type type;

	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		kind = HI_INDEX_RECORD;
		break;
	case DW_TAG_union_type:
		kind = HI_INDEX_UNION;
		break;
	case DW_TAG_enumeration_type:
		kind = HI_INDEX_ENUM;
		break;
	case DW_TAG_typedef:
		kind = HI_INDEX_TYPEDEF;
		break;
	default:
		kind = HI_INDEX_BASE;
		break;
	}
	type.hash = type_hash(scan, die);
	if (die->declaration) {
		add_declared(scan, offset, type.hash);
		return;
	}
	if (die->size >> SIZE_MAX_BITS || !type.hash)
		return;
	type.size_kind = die->size << 4 | kind;
	type.die = hi_die_ref_make(0, scan->unit->in_types, offset);
	/* The number of the file in its module is in `number` during the scan. */
	type.die |= (uint64_t)scan->unit->file->number << 48;
	if (!set_add(&scan->worker->types, &type))
		scan->worker->no_memory = true;
}

/*
 * `addr X` is a variable's address; `addr X` or `constN X`, then a TLS operation, an
 * offset in the thread's block. Anything else is no location.
 */
static bool static_address_of(struct hi_dw_unit *unit, const struct hi_dw_block *location,
			      uint64_t *address_ret, bool *tls_ret)
{
	struct hi_dw_cursor cursor = {location->data, location->data + location->size,
				      false};
	uint64_t op = hi_dw_uint(&cursor, 1);
	bool constant = false;

	switch (op) {
	case DW_OP_addr:
		*address_ret = hi_dw_uint(&cursor, unit->address_size);
		break;
	case DW_OP_const4u:
		*address_ret = hi_dw_uint(&cursor, 4);
		constant = true;
		break;
	case DW_OP_const8u:
		*address_ret = hi_dw_uint(&cursor, 8);
		constant = true;
		break;
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		constant = op == DW_OP_constx || op == DW_OP_GNU_const_index;
		if (!hi_dw_address_at(unit, hi_dw_uleb(&cursor), address_ret))
			return false;
		break;
	default:
		return false;
	}
	*tls_ret = false;
	if (!cursor.bad && cursor.at < cursor.end) {
		op = hi_dw_uint(&cursor, 1);
		*tls_ret =
			op == DW_OP_GNU_push_tls_address || op == DW_OP_form_tls_address;
		if (!*tls_ret)
			return false;
	}
	return !cursor.bad && cursor.at == cursor.end && (*tls_ret || !constant);
}

static void add_index_variable(struct unit_scan *scan, uint64_t offset,
			       const struct scanned *die)
{
	struct worker *worker = scan->worker;
	struct hi_index_variable variable = {};
	bool tls;

	if (die->name)
		variable.hash = hi_type_hash_part(current_scope(scan), die->name,
						  strlen(die->name));
	if (!die->location.data) {
		/* Declared here; a later DIE of this unit may have the location. */
		add_declared(scan, offset, variable.hash);
		return;
	}
	if (!static_address_of(scan->unit, &die->location, &variable.address, &tls))
		return;
	if (!tls && variable.address == 0)
		return; /* the linker threw it away */
	if (!variable.hash && die->specification)
		variable.hash = declared_hash(worker, die->specification);
	variable.die =
		hi_die_ref_make(scan->unit->file->number, scan->unit->in_types, offset);
	if (tls ? !hi_vector_push(&worker->tls, variable)
		: !hi_vector_push(&worker->variables, variable))
		worker->no_memory = true;
}

/* Subtrees without types and static variables are skipped by their sibling attribute. */
static bool is_barren(uint16_t tag, const struct scanned *die)
{
	switch (tag) {
	case DW_TAG_enumeration_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_array_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return true;
	case DW_TAG_subprogram:
		return die->declaration;
	default:
		return false;
	}
}

/* The scope hash that this DIE's children live in. */
static uint64_t child_scope(const struct unit_scan *scan, uint16_t tag,
			    const struct scanned *die)
{
	static const char anonymous[] = "(anonymous namespace)";
	uint64_t scope = current_scope(scan);

	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return die->name
			       ? hi_dw_hash_name(scope, die->name, strlen(die->name))
			       : hi_dw_hash_name(scope, anonymous, sizeof(anonymous) - 1);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return type_hash(scan, die) ? type_hash(scan, die) : type_scope(scan);
	case DW_TAG_subprogram:
		return HI_SCOPE_FUNCTION;
	default:
		return scope;
	}
}

static void take_die(struct unit_scan *scan, uint16_t tag, uint64_t offset,
		     const struct scanned *die)
{
	switch (tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		add_index_type(scan, tag, offset, die);
		break;
	case DW_TAG_member:
		if (!die->declaration)
			break;
		[[fallthrough]];
	case DW_TAG_variable:
		add_index_variable(scan, offset, die);
		break;
	default:
		break;
	}
}

/* One DIE; false: the unit ends, or is broken. */
static bool scan_die(struct unit_scan *scan)
{
	uint64_t offset = (uint64_t)(scan->cursor.at - scan->base);
	uint64_t code = hi_dw_uleb(&scan->cursor);
	const struct hi_dw_abbrev *abbrev;
	struct scanned die = {};

	if (code == 0) {
		if (scan->depth > 0)
			scan->depth--;
		return !scan->cursor.bad;
	}
	abbrev = hi_dw_abbrev_find(&scan->worker->abbrevs, code);
	if (!abbrev || scan->cursor.bad)
		return false;
	for (uint32_t i = 0; i < abbrev->n_ops; i++)
		if (!read_op(scan, &scan->worker->abbrevs.ops.items[abbrev->first_op + i],
			     &die))
			return false;
	take_die(scan, abbrev->tag, offset, &die);
	if (!abbrev->children)
		return true;
	if (is_barren(abbrev->tag, &die) &&
	    die.sibling > (uint64_t)(scan->cursor.at - scan->base) &&
	    die.sibling < scan->unit->end) {
		scan->cursor.at = scan->base + die.sibling;
		return true;
	}
	if (scan->depth == DEPTH_MAX)
		return false;
	/* The order matters: child_scope looks at the current one. */
	scan->scope[scan->depth] = child_scope(scan, abbrev->tag, &die);
	scan->depth++;
	return true;
}

static void scan_unit(struct worker *worker, struct hi_dw_unit *unit)
{
	struct unit_scan scan = {.worker = worker, .unit = unit};

	worker->declared.count = 0;
	if (!hi_dw_unit_prepare(unit, &worker->abbrevs)) {
		atomic_fetch_add(&unit->file->broken, 1);
		return;
	}
	scan.cursor = hi_dw_unit_cursor(unit, unit->first_die);
	scan.base = scan.cursor.at - unit->first_die;
	while (scan.cursor.at < scan.cursor.end) {
		if (!scan_die(&scan)) {
			atomic_fetch_add(&unit->file->broken, 1);
			return;
		}
	}
}

static void run_task(void *arg, size_t number, unsigned index)
{
	struct scan *scan = arg;
	struct task *task = &scan->tasks.items[number];

	for (size_t i = task->first; i < task->end; i++)
		scan_unit(&scan->workers[index], &task->file->units.items[i]);
}

/* ---- putting it together ---- */

static bool make_tasks(struct scan *scan, struct hi_dw_file *file)
{
	size_t first = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < file->units.count; i++) {
		bytes += file->units.items[i].end - file->units.items[i].offset;
		if (bytes < TASK_BYTES && i + 1 < file->units.count)
			continue;
		if (!hi_vector_push(&scan->tasks, ((struct task){file, first, i + 1})))
			return false;
		first = i + 1;
		bytes = 0;
	}
	return true;
}

static int compare_index_keys(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_index_types(const void *left, const void *right)
{
	const struct hi_index_type *a = left, *b = right;

	if (a->hash != b->hash)
		return compare_index_keys(a->hash, b->hash);
	if ((a->size_kind & 15) != (b->size_kind & 15))
		return compare_index_keys(a->size_kind & 15, b->size_kind & 15);
	if (a->size_kind != b->size_kind)
		return compare_index_keys(a->size_kind, b->size_kind);
	return compare_index_keys(a->die, b->die);
}

static int compare_index_variables(const void *left, const void *right)
{
	const struct hi_index_variable *a = left, *b = right;

	if (a->address != b->address)
		return compare_index_keys(a->address, b->address);
	return compare_index_keys(a->die, b->die);
}

static int compare_names(const void *left, const void *right, void *arg)
{
	const struct hi_index_variable *variables = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (variables[a].hash != variables[b].hash)
		return compare_index_keys(variables[a].hash, variables[b].hash);
	return compare_index_keys(a, b);
}

/* Sorts variables and makes by_name; HI_NO_MEMORY. */
static enum hi_status seal_type_index(struct hi_type_index *index, struct hi_error *err)
{
	if (index->n_variables > UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "too many variables");
	if (index->n_variables > 1)
		qsort(index->variables, index->n_variables, sizeof(*index->variables),
		      compare_index_variables);
	if (index->n_tls > 1)
		qsort(index->tls, index->n_tls, sizeof(*index->tls),
		      compare_index_variables);
	index->by_name = hi_realloc_array(NULL, index->n_variables + 1, sizeof(uint32_t));
	if (!index->by_name)
		return hi_fail_memory(err, "variables by name");
	for (size_t i = 0; i < index->n_variables; i++)
		index->by_name[i] = (uint32_t)i;
	if (index->n_variables > 1)
		qsort_r(index->by_name, index->n_variables, sizeof(uint32_t),
			compare_names, index->variables);
	return HI_OK;
}

static bool gather_types(struct hi_type_index *index, struct worker *workers, unsigned n)
{
	size_t total = 0, kept = 0;

	for (unsigned i = 0; i < n; i++)
		total += workers[i].types.used;
	index->types = hi_realloc_array(NULL, total + 1, sizeof(*index->types));
	if (!index->types)
		return false;
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < workers[i].types.n; k++)
			if (workers[i].types.slots[k].hash)
				index->types[index->n_types++] =
					workers[i].types.slots[k];
	if (index->n_types > 1)
		qsort(index->types, index->n_types, sizeof(*index->types),
		      compare_index_types);
	for (size_t i = 0; i < index->n_types; i++) {
		const struct hi_index_type *type = &index->types[i];

		if (kept > 0 && index->types[kept - 1].hash == type->hash &&
		    index->types[kept - 1].size_kind == type->size_kind)
			continue;
		index->types[kept++] = *type;
	}
	index->n_types = kept;
	return true;
}

static bool gather_variables(struct hi_type_index *index, struct worker *workers,
			     unsigned n)
{
	size_t variables = 0, tls = 0;

	for (unsigned i = 0; i < n; i++) {
		variables += workers[i].variables.count;
		tls += workers[i].tls.count;
	}
	index->variables =
		hi_realloc_array(NULL, variables + 1, sizeof(*index->variables));
	index->tls = hi_realloc_array(NULL, tls + 1, sizeof(*index->tls));
	if (!index->variables || !index->tls)
		return false;
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < workers[i].variables.count; k++)
			index->variables[index->n_variables++] =
				workers[i].variables.items[k];
		for (size_t k = 0; k < workers[i].tls.count; k++)
			index->tls[index->n_tls++] = workers[i].tls.items[k];
	}
	return true;
}

static void free_scan(struct scan *scan, unsigned threads)
{
	for (unsigned i = 0; scan->workers && i < threads; i++) {
		struct worker *worker = &scan->workers[i];

		free(worker->types.slots);
		hi_vector_free(&worker->variables);
		hi_vector_free(&worker->tls);
		hi_vector_free(&worker->declared);
		hi_dw_abbrevs_free(&worker->abbrevs);
	}
	free(scan->workers);
	hi_vector_free(&scan->tasks);
}

static bool scan_all_units(struct hi_type_module *module, struct scan *scan,
			   unsigned threads)
{
	bool ok = true;

	scan->workers = hi_calloc(threads, sizeof(*scan->workers));
	if (!scan->workers)
		return false;
	for (size_t i = 0; i < module->n_files; i++) {
		if (!make_tasks(scan, module->files[i]))
			return false;
		module->index.units += module->files[i]->units.count;
	}
	hi_parallel(threads, scan->tasks.count, run_task, scan);
	for (unsigned i = 0; i < threads; i++)
		ok = ok && !scan->workers[i].no_memory;
	return ok && gather_types(&module->index, scan->workers, threads) &&
	       gather_variables(&module->index, scan->workers, threads);
}

/*
 * GCC lets the linker relocate offsets of thread-locals in split DWARF as if they
 * were addresses: they count from where the TLS segment lies.
 */
static void fix_tls(struct hi_type_module *module)
{
	size_t n;
	const GElf_Phdr *phdrs = hi_module_phdrs(module->module, &n);

	for (size_t i = 0; i < n; i++) {
		const GElf_Phdr *ph = &phdrs[i];

		if (ph->p_type != PT_TLS)
			continue;
		for (size_t k = 0; k < module->index.n_tls; k++) {
			uint64_t *offset = &module->index.tls[k].address;

			if (*offset >= ph->p_memsz && *offset - ph->p_vaddr < ph->p_memsz)
				*offset -= ph->p_vaddr;
		}
	}
}

enum hi_status hi_type_index_build(struct hi_type_module *module, unsigned threads,
				   struct hi_error *err)
{
	struct scan scan = {};
	bool ok;

	if (threads == 0)
		threads = 1;
	ok = scan_all_units(module, &scan, threads);
	free_scan(&scan, threads);
	if (!ok) {
		hi_type_index_free(&module->index);
		return hi_fail_memory(err, "index of types");
	}
	fix_tls(module);
	return seal_type_index(&module->index, err);
}

void hi_type_index_free(struct hi_type_index *index)
{
	if (index->mapped) {
		free(index->mapped);
	} else {
		free(index->types);
		free(index->variables);
		free(index->tls);
		free(index->by_name);
	}
	*index = (struct hi_type_index){};
}

const struct hi_index_type *hi_type_index_find(const struct hi_type_index *index,
					       uint64_t hash, size_t *n_ret)
{
	size_t low = 0, high = index->n_types, end;

	low = hi_search_from(i, low, high, index->types[i].hash < hash);
	for (end = low; end < index->n_types && index->types[end].hash == hash; end++)
		;
	*n_ret = end - low;
	return &index->types[low];
}
