/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retainers/pure.h"
#include "session/retainers/retaining.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/type_search.h"
#include "session/birth_sites.h"
#include "session/recorded.h"
#include "session/retainers/retaining_heap.h"

/* ---- what a series keeps ---- */

static void borrow_census_cache(struct hi_census_cache *census_cache,
				struct hi_retaining *r)
{
	if (!census_cache || census_cache->is_borrowed)
		return;
	census_cache->is_borrowed = true;
	r->owner = census_cache;
	r->names = census_cache->names;
	r->pool = census_cache->pool;
}

static void return_census_cache(struct hi_retaining *r)
{
	struct hi_census_cache own = {};
	struct hi_census_cache *to = r->owner ? r->owner : &own;

	to->names = r->names;
	to->pool = r->pool;
	to->is_borrowed = false;
	hi_census_cache_free(&own);
}

/* ---- names ---- */

struct naming {
	struct hi_inspection *in;
	struct hi_retaining *r;
	const struct hi_graph *g;
	enum hi_identity by;
	uint32_t *of_type;  /* numbers by graph type; 0: not asked */
	hi_node *variables; /* by node: the variable that retains it; NULL: not asked */
	struct hi_compare_groups sites; /* of HI_IDENTITY_SITE */
};

static const char *name_of_retainer_type(const struct hi_graph *g, uint32_t type)
{
	const char *name = type < g->n_types ? g->types[type].name : NULL;

	return name && *name ? name : "(untyped)";
}

static const char *module_of_retainer_type(const struct hi_graph *g, uint32_t type)
{
	const char *name = type < g->n_types ? g->types[type].module : NULL;

	return name && *name ? name : "(unknown module)";
}

static uint32_t number_of_type(struct naming *n, uint32_t type)
{
	uint32_t *number = &n->of_type[type < n->g->n_types ? type : 0];

	if (!*number)
		*number = hi_interner_add(&n->r->names,
					  n->by == HI_IDENTITY_MODULE
						  ? module_of_retainer_type(n->g, type)
						  : name_of_retainer_type(n->g, type));
	return *number;
}

/* Two objects that a recording has at one address were allocated at different times. */
static void print_birth(const struct naming *n, hi_node node, char out[40])
{
	const struct hi_recorded *recorded = n->in->recorded;
	uint64_t ms;

	*out = 0;
	if (!recorded || !hi_birth_is_known(recorded->births, node))
		return;
	ms = recorded->births->time_ns[node] / 1000000;
	snprintf(out, 40, " (%" PRIu64 ".%03" PRIu64 " s)", ms / 1000, ms % 1000);
}

/* In a series, an object of a name that the census before did not have is another one. */
static uint32_t count_serial(struct naming *n, uint32_t name)
{
	struct hi_census_cache *cache = n->r->owner;
	uint64_t was = 0, serial = 1;

	if (!cache)
		return 1;
	if (hi_table_get(&cache->serials, name, &was))
		serial = (was & UINT32_MAX) + ((was >> 32) + 1 < cache->samples);
	return hi_table_put(&cache->serials, name, cache->samples << 32 | serial)
		       ? (uint32_t)serial
		       : 0;
}

static uint32_t number_of_address(struct naming *n, hi_node node)
{
	char name[300], birth[40], later[320];
	uint32_t number, serial;

	print_birth(n, node, birth);
	snprintf(name, sizeof(name), "%.220s 0x%" PRIx64 "%s",
		 name_of_retainer_type(n->g, n->g->objects->type[node]),
		 hi_graph_address(n->g, node), birth);
	number = hi_interner_add(&n->r->names, name);
	serial = number ? count_serial(n, number) : 0;
	if (serial < 2)
		return serial ? number : 0;
	snprintf(later, sizeof(later), "%s #%" PRIu32, name, serial);
	return hi_interner_add(&n->r->names, later);
}

static const char *module_of_root(const struct naming *n, const struct hi_root *root)
{
	const char *name = root->kind == HI_ROOT_GLOBAL && root->address
				   ? n->in->source->retainers->root_module(n->in, root)
				   : "";

	if (*name)
		return name;
	if (root->kind == HI_ROOT_STACK && *root->detail)
		return root->detail;
	return hi_root_kind_name(root->kind);
}

/* "f(): mine" for "thread 42 f(): mine", and so for each thread: the function's variable,
 * not the thread's, is the retainer. "thread-local cache" for "thread 42 cache". */
static uint32_t number_of_thread_root(struct naming *n, const struct hi_root *root)
{
	const char *name = root->name;
	char text[320];

	if (strncmp(name, "thread ", 7) != 0)
		return hi_interner_add(&n->r->names, name);
	name += 7;
	name += strspn(name, "0123456789");
	name += strspn(name, " ");
	if (root->kind != HI_ROOT_TLS)
		return hi_interner_add(&n->r->names, name);
	snprintf(text, sizeof(text), "thread-local %s", name);
	return hi_interner_add(&n->r->names, text);
}

/* Words without a variable retain as SYSTEM. */
static uint32_t number_of_root(struct naming *n, const struct hi_root *root)
{
	if (root->kind == HI_ROOT_UNTYPED || root->kind == HI_ROOT_REGISTER)
		return 0;
	if (n->by == HI_IDENTITY_VAR)
		return number_of_thread_root(n, root);
	return hi_interner_add(&n->r->names, n->by == HI_IDENTITY_MODULE
						     ? module_of_root(n, root)
						     : root->name);
}

static uint32_t number_of_object(struct naming *n, hi_node node)
{
	hi_node variable = n->variables ? n->variables[node] : HI_NODE_NONE;

	if (n->by == HI_IDENTITY_ADDR)
		return number_of_address(n, node);
	if (n->by == HI_IDENTITY_SITE)
		return hi_interner_add(&n->r->names,
				       n->sites.names[n->sites.of_object[node]]);
	if (variable != HI_NODE_NONE && n->r->identities[variable])
		return n->r->identities[variable];
	return number_of_type(n, n->g->objects->type[node]);
}

/* The root variable above each node of the dominator tree. */
static enum hi_status find_variables(struct naming *n, struct hi_error *err)
{
	const struct hi_dominators *d = n->in->results.dominators;
	const struct hi_graph *g = n->g;

	if (n->by != HI_IDENTITY_VAR)
		return HI_OK;
	n->variables = hi_alloc((size_t)g->n_nodes * sizeof(*n->variables) + 1);
	if (!n->variables)
		return hi_fail_memory(err, "retainers");
	memset(n->variables, 0xff, (size_t)g->n_nodes * sizeof(*n->variables));
	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i], up = d->idom[node];

		if (node >= g->first_root && node < g->first_kind)
			n->variables[node] = node;
		else if (up != HI_NODE_NONE)
			n->variables[node] = n->variables[up];
	}
	return HI_OK;
}

/* What a runtime calls a root ("module app") are objects that others lead to as well:
 * they stand for it, whichever path is found. Else all modules that know each other would
 * be in every set. */
static void name_as_root(struct naming *n, hi_node root)
{
	struct hi_edges edges = hi_graph_edges(n->g, root);

	for (uint32_t i = 0; i < edges.count; i++)
		if (hi_grade_is_precise(edges.grade[i]) &&
		    edges.to[i] < n->g->n_objects && !n->r->identities[edges.to[i]])
			n->r->identities[edges.to[i]] = n->r->identities[root];
}

static enum hi_status name_all(struct naming *n, struct hi_error *err)
{
	struct hi_retaining *r = n->r;
	const struct hi_graph *g = n->g;
	bool failed = false;

	for (hi_node i = g->first_root; i < g->first_kind && !failed; i++) {
		const struct hi_root *root = &g->roots[i - g->first_root];

		r->identities[i] = number_of_root(n, root);
		failed = !r->identities[i] && root->kind != HI_ROOT_UNTYPED &&
			 root->kind != HI_ROOT_REGISTER;
	}
	for (hi_node i = 0; i < g->n_objects && !failed; i++) {
		if (!hi_bit(r->heap, i))
			continue;
		r->heap_objects += hi_bit(n->in->results.reach->any, i);
		r->identities[i] = number_of_object(n, i);
		failed = !r->identities[i];
	}
	for (hi_node i = g->first_root; i < g->first_kind && !failed; i++)
		if (g->roots[i - g->first_root].kind == HI_ROOT_RUNTIME)
			name_as_root(n, i);
	return failed ? hi_fail_memory(err, "retainers") : HI_OK;
}

static enum hi_status name_retainers(struct hi_inspection *in, struct hi_retaining *r,
				     struct hi_error *err)
{
	struct naming n = {
		.in = in, .r = r, .g = in->graph, .by = in->options->profile.identity};
	const struct hi_recorded *recorded;
	enum hi_status status;

	r->identities = hi_calloc((size_t)n.g->first_kind + 1, sizeof(*r->identities));
	n.of_type = hi_calloc((size_t)n.g->n_types + 1, sizeof(*n.of_type));
	r->system = hi_interner_add(&r->names, "SYSTEM");
	if (in->options->profile.weak_as_roots)
		r->weak = hi_interner_add(&r->names, "WEAK");
	if (!r->identities || !n.of_type || !r->system)
		status = hi_fail_memory(err, "retainers");
	else
		status = find_variables(&n, err);
	if (status == HI_OK && n.by == HI_IDENTITY_ADDR)
		status = hi_inspect_recorded_if_any(in, &recorded, err);
	if (status == HI_OK && n.by == HI_IDENTITY_SITE)
		status = hi_birth_sites_of(in, &n.sites, err);
	if (status == HI_OK)
		status = name_all(&n, err);
	free(n.of_type);
	free(n.variables);
	return status;
}

/* ---- sets ---- */

static enum hi_status compute_sets_of_retainers(struct hi_inspection *in,
						struct hi_retaining *r,
						struct hi_error *err)
{
	const struct hi_profile_options *p = &in->options->profile;
	struct hi_retainer_options options = {
		.identities = r->identities,
		.system = r->system,
		.weak = r->weak,
		.max_set = p->max_set ? p->max_set : HI_PROFILE_MAX_SET,
		.prefer_precise = true,
		.arg = in,
	};
	enum hi_status status = r->pool ? HI_OK : hi_set_pool_create(&r->pool, err);

	if (p->pure || in->options->output.json)
		options.pure = hi_pure_bytes;
	if (status == HI_OK && options.pure)
		status = hi_pure_open(in, err);
	if (status == HI_OK)
		status = hi_retainers_compute(in->graph, in->results.reach, &options,
					      r->pool, &r->sets, err);
	return status;
}

enum hi_status hi_retaining_of(struct hi_inspection *in, uint64_t *heap,
			       struct hi_retaining **ret, struct hi_error *err)
{
	HI_GUARD(hi_retaining_destroy)
	struct hi_retaining *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r) {
		free(heap);
		return hi_fail_memory(err, "retainers");
	}
	r->heap = heap;
	borrow_census_cache(in->run->census_cache, r);
	status = name_retainers(in, r, err);
	if (status == HI_OK)
		status = compute_sets_of_retainers(in, r, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

enum hi_status hi_retaining_compute(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_retaining_heap heap = {};
	enum hi_status status;

	if (in->profile.retaining)
		return HI_OK;
	status = hi_retaining_heap_find(in, &heap, err);
	if (status == HI_OK)
		status = hi_retaining_of(in, hi_take(heap.bits), &in->profile.retaining,
					 err);
	if (status == HI_OK) {
		in->profile.retaining->auto_types = hi_take(heap.auto_types);
		in->profile.retaining->auto_by_hints = heap.auto_by_hints;
	}
	free(heap.bits);
	free(heap.auto_types);
	return status;
}

/* ---- restriction ---- */

/* "session" is "struct session" too. */
static uint32_t find_name(const struct hi_retaining *r, const char *name)
{
	static const char *const words[] = {"", "struct ", "class ", "union "};
	uint32_t found = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !found; i++) {
		char full[512];

		snprintf(full, sizeof(full), "%s%s", words[i], name);
		found = hi_interner_find(&r->names, full);
	}
	return found;
}

struct wanted_names {
	uint32_t *items; /* of the inspection's arena */
	size_t count;
};

static const char *nth_name(void *arg, uint32_t i)
{
	return hi_interner_name(arg, i + 1);
}

static enum hi_status unknown_name(struct hi_retaining *r, const char *name,
				   struct hi_error *err)
{
	const char *near[HI_NAMES_NEAREST];

	hi_names_nearest(name, nth_name, &r->names, (uint32_t)r->names.names.count, near);
	if (!near[0])
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "--retained-by %.100s: no retainer has this name; "
			       "heapinspect retainers lists them",
			       name);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--retained-by %.60s: no retainer has this name; near it: "
		       "%.50s%s%.50s",
		       name, near[0], near[1] ? ", " : "", near[1] ? near[1] : "");
}

static void add_wanted_name(struct wanted_names *wanted, uint32_t number)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->items[i] == number)
			return;
	wanted->items[wanted->count++] = number;
}

/* One name, or all that a pattern of the shell matches. Returns whether any is. */
static bool find_wanted_retainers(const struct hi_retaining *r, const char *part,
				  struct wanted_names *wanted)
{
	uint32_t number = find_name(r, part);
	size_t before = wanted->count;

	if (number) {
		add_wanted_name(wanted, number);
		return true;
	}
	for (uint32_t i = 1; strpbrk(part, "*?") && i <= r->names.names.count; i++) {
		const char *name = hi_interner_name((void *)(uintptr_t)&r->names, i);

		if (name && fnmatch(hi_type_bare(part), hi_type_bare(name), 0) == 0)
			add_wanted_name(wanted, i);
	}
	return wanted->count > before;
}

static enum hi_status find_names(struct hi_inspection *in, const char *names,
				 struct wanted_names *ret, struct hi_error *err)
{
	const struct hi_retaining *r = in->profile.retaining;
	char *text, *part, *rest;

	ret->items = hi_arena_alloc(&in->arena,
				    (r->names.names.count + 1) * sizeof(*ret->items));
	if (!ret->items)
		return hi_fail_memory(err, "names");
	/* A name that has a comma itself comes first. */
	ret->items[0] = find_name(r, names);
	ret->count = ret->items[0] != 0;
	if (ret->count)
		return HI_OK;
	text = rest = hi_arena_strdup(&in->arena, names);
	if (!text)
		return hi_fail_memory(err, "names");
	while ((part = strsep(&rest, ",")))
		if (!find_wanted_retainers(r, part, ret) &&
		    !hi_census_cache_has_samples(in->run->census_cache))
			return unknown_name(in->profile.retaining, part, err);
	return HI_OK;
}

/* In sets with SYSTEM and none of these. */
static uint64_t hidden_by_system(const struct hi_retaining *r,
				 const struct wanted_names *wanted)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->sets->table.n_rows; i++) {
		const struct hi_set_row *row = &r->sets->table.rows[i];
		bool hidden = hi_set_has(r->pool, row->set, r->system);

		for (size_t k = 0; k < wanted->count && hidden; k++)
			hidden = !hi_set_has(r->pool, row->set, wanted->items[k]);
		bytes += hidden ? row->cost : 0;
	}
	return bytes;
}

enum hi_status hi_retaining_mark(struct hi_inspection *in, const char *names,
				 uint64_t **bits_ret, struct hi_error *err)
{
	size_t words = ((size_t)in->graph->n_nodes + 63) / 64 + 1;
	HI_GUARD(free) uint64_t *bits = hi_calloc(words, sizeof(*bits));
	struct hi_set_total some, many;
	struct wanted_names wanted = {};
	enum hi_status status = hi_retaining_compute(in, err);

	if (!bits)
		return hi_fail_memory(err, "restriction");
	if (status == HI_OK)
		status = find_names(in, names, &wanted, err);
	if (status == HI_OK)
		status = hi_set_table_mark(&in->profile.retaining->sets->table,
					   in->profile.retaining->pool, HI_SETS_ANY,
					   wanted.items, wanted.count, bits, err);
	if (status == HI_OK)
		status = hi_set_table_total(
			&in->profile.retaining->sets->table, in->profile.retaining->pool,
			HI_SETS_ANY, wanted.items, wanted.count, &some, &many, err);
	if (status != HI_OK)
		return status;
	in->shown.restriction.many_bytes = many.cost;
	in->shown.restriction.many_objects = many.objects;
	in->shown.restriction.system_bytes =
		hidden_by_system(in->profile.retaining, &wanted);
	*bits_ret = hi_take(bits);
	return HI_OK;
}

void hi_retaining_destroy(struct hi_retaining *r)
{
	if (!r)
		return;
	hi_retainers_destroy(r->sets);
	return_census_cache(r);
	free(r->identities);
	free(r->heap);
	free(r->auto_types);
	free(r);
}
