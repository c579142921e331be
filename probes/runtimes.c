/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known runtimes: the code where each of them has just collected, or is about to. In both
 * cases its heap is consistent.
 */
#include <stdio.h>
#include <string.h>

#include "attach/running_image.h"
#include "base/alloc.h"
#include "probes/target_code.h"

/* Each is recognised by a symbol that its library or program exports, stripped or
 * not; functions are looked for in that module alone. */
static const struct runtime {
	const char *name, *marker;
} runtimes[] = {
	{"CPython", "Py_BytesMain"},
	{"OCaml", "caml_startup"},
	{"Lua", "lua_gc"},
	{"GHC", "hs_init"},
	{"Ruby", "ruby_init"},
	{"JVM", "JNI_CreateJavaVM"},
	{"Node.js", "node_module_register"},
	{"Boehm", "GC_gcollect"},
};

/*
 * "gc" takes a runtime's first site with is_gc that exists. Functions that a compiler may
 * inline are listed only where they are found; that a site exists does not prove that it
 * is ever reached.
 */
static const char end_of_collection[] = "end of a collection";
static const struct known {
	const char *runtime, *text, *purpose;
	bool is_gc;
} table[] = {
	{"CPython", "usdt:python:gc__done", end_of_collection, true},
	{"CPython", "usdt:python:gc__start", "start of a collection", false},
	/* Builds without USDT. */
	{"CPython", "gc_collect_main%return", end_of_collection, true},
	{"CPython", "collect%return", end_of_collection, true}, /* 3.8 */
	{"CPython", "gc_collect_main", "start of a collection", true},
	{"CPython", "PyGC_Collect", "start of a collection that is asked for", true},
	{"OCaml", "caml_empty_minor_heap", "a minor collection", true},
	{"OCaml", "caml_empty_minor_heap_promote", "a minor collection", true},
	{"OCaml", "caml_finish_major_cycle", "a major collection is finished", false},
	{"Lua", "luaC_step", "a step of the collector", true},
	{"Lua", "luaC_fullgc", "a full collection", true},
	{"Lua", "lua_gc", "the program speaks to the collector", false},
	{"Lua", "atomic", "the atomic phase of a collection", false},
	{"GHC", "stat_endGC", end_of_collection, true},
	{"GHC", "heapCensus", "the runtime takes a census", false},
	{"GHC", "GarbageCollect", "start of a collection", true},
	{"Ruby", "usdt:ruby:gc__sweep__end", end_of_collection, true},
	{"Ruby", "usdt:ruby:gc__mark__end", "end of marking", false},
	{"JVM", "usdt:hotspot:gc__end", end_of_collection, true},
	{"JVM", "usdt:hotspot:gc__begin", "start of a collection", false},
	{"Node.js", "usdt:node:gc__done", end_of_collection, true},
	{"Node.js", "usdt:node:gc__start", "start of a collection", false},
	{"Boehm", "GC_gcollect", "start of a collection that is asked for", false},
};

enum {
	TABLE = sizeof(table) / sizeof(table[0]),
	RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]),
	USDT_MAX = 500, /* probes that are listed */
};
_Static_assert(USDT_MAX + TABLE + 1 <= HI_SAFEPOINTS_MAX);

struct list {
	struct HI_VECTOR(struct hi_known_safepoint) all;
	size_t left_out;
	struct hi_target_code *code;
	enum hi_status status;
	struct hi_error *err;
};

/* ---- known sites ---- */

static bool has_runtime(struct hi_target_code *code, const struct runtime *runtime,
			struct hi_module **ret)
{
	uint64_t addr;

	for (size_t i = 0; i < hi_modules_count(code->modules); i++) {
		struct hi_module *module = hi_modules_get(code->modules, i);

		if (hi_modules_symbol(code->modules, module, runtime->marker, &addr, NULL,
				      NULL) != HI_OK)
			continue;
		*ret = module;
		return true;
	}
	return false;
}

static void mark_end(struct hi_probe_site *site, const struct known *known)
{
	snprintf(site->ends, sizeof(site->ends), "%s", known->runtime);
}

void hi_probe_sites_mark_ends(const struct hi_safepoint *usdt,
			      struct hi_probe_site_list *sites)
{
	struct hi_safepoint known;

	for (size_t i = 0; i < TABLE; i++) {
		if (table[i].purpose != end_of_collection ||
		    hi_safepoint_parse(table[i].text, &known, NULL) != HI_OK ||
		    known.kind != HI_SAFEPOINT_USDT ||
		    strcmp(known.name, usdt->name) != 0 ||
		    strcmp(known.detail, usdt->detail) != 0)
			continue;
		for (size_t p = 0; p < sites->count; p++)
			mark_end(&sites->items[p], &table[i]);
	}
}

/* HI_NOT_FOUND: this target does not have it. */
static enum hi_status find_known(struct hi_target_code *code, const struct known *known,
				 const struct hi_module *module,
				 struct hi_probe_site_list *sites, struct hi_error *err)
{
	struct hi_safepoint safepoint;
	enum hi_status status = hi_safepoint_parse(known->text, &safepoint, err);
	size_t before = sites->count;

	if (status != HI_OK)
		return status;
	if (safepoint.kind == HI_SAFEPOINT_USDT) {
		status = hi_find_usdt(code, &safepoint, sites, err);
	} else if (strlen(module->name) >= sizeof(safepoint.detail)) {
		return HI_NOT_FOUND;
	} else {
		strcpy(safepoint.detail, module->name);
		status = hi_find_function_only(code, &safepoint, sites, err);
	}
	for (size_t i = before; i < sites->count; i++)
		if (known->purpose == end_of_collection)
			mark_end(&sites->items[i], known);
	return status;
}

static enum hi_status keep_known_safepoint(struct list *list, const struct known *known,
					   bool is_gc, struct hi_probe_site_list *sites)
{
	struct hi_known_safepoint item = {.is_gc = is_gc};

	snprintf(item.text, sizeof(item.text), "%s", known->text);
	snprintf(item.runtime, sizeof(item.runtime), "%s", known->runtime);
	snprintf(item.purpose, sizeof(item.purpose), "%s", known->purpose);
	item.sites =
		(struct hi_probe_sites){.items = sites->items, .count = sites->count};
	if (hi_vector_push(&list->all, item))
		return HI_OK;
	hi_vector_free(sites);
	return hi_fail_memory(list->err, "safepoints");
}

static enum hi_status list_runtime(struct list *list, const struct runtime *runtime,
				   const struct hi_module *module)
{
	bool has_gc = false;

	for (size_t i = 0; i < TABLE; i++) {
		struct hi_probe_site_list sites = {};
		enum hi_status status;

		if (strcmp(table[i].runtime, runtime->name) != 0)
			continue;
		status = find_known(list->code, &table[i], module, &sites, list->err);
		if (status == HI_OK) {
			bool is_gc = table[i].is_gc && !has_gc;

			has_gc |= is_gc;
			status = keep_known_safepoint(list, &table[i], is_gc, &sites);
		} else {
			hi_vector_free(&sites);
		}
		if (status == HI_NO_MEMORY)
			return status;
	}
	return HI_OK;
}

/* ---- all other USDT probes ---- */

static struct hi_known_safepoint *find_listed(struct list *list, const char *text)
{
	for (size_t i = 0; i < list->all.count; i++)
		if (strcmp(list->all.items[i].text, text) == 0)
			return &list->all.items[i];
	return NULL;
}

static bool list_note(const struct hi_usdt_note *note, void *arg)
{
	struct hi_known_safepoint made = {}, *item;
	struct hi_probe_site_list sites = {};
	struct list *list = arg;

	snprintf(made.text, sizeof(made.text), "usdt:%s:%s", note->provider, note->name);
	item = find_listed(list, made.text);
	if (item && item->runtime[0])
		return true;
	if (!item && list->all.count >= USDT_MAX + TABLE) {
		list->left_out++;
		return true;
	}
	if (!item) {
		if (!hi_vector_push(&list->all, made)) {
			list->status = hi_fail_memory(list->err, "safepoints");
			return false;
		}
		item = &list->all.items[list->all.count - 1];
	}
	sites.items = item->sites.items;
	sites.count = sites.capacity = item->sites.count;
	/* A probe with more than HI_PROBE_SITES_MAX sites is listed with the first ones.
	 */
	list->status = hi_probe_sites_add_exact(list->code, &sites, note->addr,
						note->semaphore, list->err);
	item->sites = (struct hi_probe_sites){.items = sites.items, .count = sites.count};
	if (list->status == HI_LIMIT)
		list->status = HI_OK;
	return list->status == HI_OK;
}

/* Probes whose code is in no file that is mapped (dropped sections) are none. */
static void drop_empty(struct list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->all.count; i++)
		if (list->all.items[i].sites.count > 0)
			list->all.items[kept++] = list->all.items[i];
	list->all.count = kept;
}

static enum hi_status add_left_out_note(struct list *list)
{
	struct hi_known_safepoint note = {};

	if (list->left_out == 0)
		return HI_OK;
	snprintf(note.purpose, sizeof(note.purpose),
		 "%zu more USDT probes are not listed", list->left_out);
	return hi_vector_push(&list->all, note) ? HI_OK
						: hi_fail_memory(list->err, "safepoints");
}

static enum hi_status fill_safepoint_list(struct list *list)
{
	enum hi_status status = HI_OK;
	struct hi_module *module;

	for (size_t i = 0; i < RUNTIMES && status == HI_OK; i++)
		if (has_runtime(list->code, &runtimes[i], &module))
			status = list_runtime(list, &runtimes[i], module);
	if (status == HI_OK)
		status = hi_usdt_each(list->code, list_note, list, list->err);
	if (status == HI_OK)
		status = list->status;
	if (status != HI_OK)
		return status;
	drop_empty(list);
	return add_left_out_note(list);
}

enum hi_status hi_safepoints_list_in(const struct hi_target *target,
				     struct hi_image *image,
				     struct hi_known_safepoint **ret, size_t *n_ret,
				     struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	struct list list = {.status = HI_OK, .err = err};
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	if (status != HI_OK)
		return status;
	list.code = code;
	status = fill_safepoint_list(&list);
	if (status != HI_OK) {
		hi_safepoints_free(list.all.items, list.all.count);
		return status;
	}
	*ret = list.all.items;
	*n_ret = list.all.count;
	return HI_OK;
}

enum hi_status hi_safepoints_list(const struct hi_target *target,
				  struct hi_known_safepoint **ret, size_t *n_ret,
				  struct hi_error *err)
{
	struct hi_image *image;
	enum hi_status status = hi_image_unstopped(target, &image, err);

	return status == HI_OK ? hi_safepoints_list_in(target, image, ret, n_ret, err)
			       : status;
}

/* ---- --at gc ---- */

/* Adds the best site of one runtime; HI_NOT_FOUND: none. */
static enum hi_status find_gc_of(struct hi_target_code *code,
				 const struct runtime *runtime,
				 const struct hi_module *module,
				 struct hi_probe_site_list *sites, struct hi_error *err)
{
	for (size_t i = 0; i < TABLE; i++) {
		enum hi_status status;

		if (!table[i].is_gc || strcmp(table[i].runtime, runtime->name) != 0)
			continue;
		status = find_known(code, &table[i], module, sites, err);
		if (status != HI_NOT_FOUND)
			return status;
	}
	return HI_NOT_FOUND;
}

enum hi_status hi_find_gc(struct hi_target_code *code, struct hi_probe_site_list *sites,
			  struct hi_error *err)
{
	const struct runtime *there = NULL;
	struct hi_module *module;

	for (size_t i = 0; i < RUNTIMES; i++) {
		enum hi_status status;

		if (!has_runtime(code, &runtimes[i], &module))
			continue;
		there = &runtimes[i];
		status = find_gc_of(code, there, module, sites, err);
		if (status != HI_OK && status != HI_NOT_FOUND)
			return status;
	}
	if (sites->count > 0)
		return HI_OK;
	if (there)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%s was found, but not the end of a collection: it has no "
			       "USDT probes and is stripped, or the functions are "
			       "inlined (see safepoints)",
			       there->name);
	return hi_fail(
		err, HI_NOT_FOUND, 0,
		"no known runtime (CPython, OCaml, Lua, GHC, Ruby, JVM, Node.js, Boehm)");
}
