/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/heap_picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/function_name.h"
#include "report/parts/leak_name.h"
#include "report/pictures/merged_text.h"

unsigned hi_picture_module_color(const char *module)
{
	const char *version = strstr(module, ".so");
	size_t n = version ? (size_t)(version - module) : strlen(module);

	return (unsigned)(hi_hash_more(HI_HASH_START, module, n) % HI_PICTURE_COLORS);
}

const char *hi_picture_color_text(unsigned color)
{
	static const char *const colors[HI_PICTURE_COLORS] = {
		"#f2b366", "#8fc98a", "#7fc4c9", "#e3d16f", "#c9a98b", "#e8a0a8",
		"#a9b8ea", "#c6a6dc", "#b5cf6b", "#f0a58a", "#9fd3b4", "#d8bf8e"};

	return colors[color % HI_PICTURE_COLORS];
}

const char *hi_picture_kind_name(enum hi_picture_kind kind)
{
	static const char *const names[HI_PICTURE_KINDS] = {
		[HI_PICTURE_ROOT] = "variables and other roots",
		[HI_PICTURE_RECORD] = "records and objects",
		[HI_PICTURE_STRING] = "strings",
		[HI_PICTURE_SCALAR] = "numbers and bytes",
		[HI_PICTURE_POINTERS] = "arrays of pointers",
		[HI_PICTURE_ARRAY] = "arrays",
		[HI_PICTURE_UNTYPED] = "without a type",
		[HI_PICTURE_LEAKED] = "leaked",
		[HI_PICTURE_REST] = "smaller ones",
	};

	return names[kind];
}

void hi_picture_destroy(struct hi_picture *picture)
{
	if (!picture)
		return;
	free(picture->nodes);
	hi_arena_free(&picture->arena);
	free(picture);
}

/* The merged tree with its children by parent. */
struct sketch {
	const struct hi_graph *g;
	const struct hi_merged *m;
	const struct hi_leaks *leaks;
	struct hi_picture *picture;
	uint64_t *below;
	uint32_t *first, *child; /* children of i: child[first[i] .. first[i + 1]) */
	uint32_t *source;	 /* by node of the picture: the merged node */
	uint64_t least;		 /* bytes of what is drawn */
	size_t capacity;
	bool failed;
};

static bool sort_children(struct sketch *s);

/* Objects from before a recording have no stack that could be drawn. */
static void leave_out_before(struct sketch *s)
{
	uint32_t before = s->m->before;

	if (!before)
		return;
	s->picture->before_bytes = s->below[before];
	s->picture->before_objects = s->m->nodes[before].objects;
	s->below[0] -= s->below[before];
	s->below[before] = 0;
}

static bool list_children(struct sketch *s)
{
	s->below = hi_merged_below(s->m);
	if (s->below)
		leave_out_before(s);
	return s->below && hi_merged_list_children(s->m, &s->first, &s->child) &&
	       sort_children(s);
}

/* Most bytes first; of equal ones the first. */
static int by_bytes_below(const void *a, const void *b, void *arg)
{
	const uint64_t *below = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return below[x] != below[y] ? (below[x] < below[y] ? 1 : -1) : (x > y) - (x < y);
}

static bool sort_children(struct sketch *s)
{
	for (size_t i = 0; i < s->m->count; i++)
		qsort_r(&s->child[s->first[i]], s->first[i + 1] - s->first[i],
			sizeof(*s->child), by_bytes_below, s->below);
	return true;
}

static int most_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* What has fewer bytes is not drawn. */
static bool find_least_drawn(struct sketch *s, double min_share)
{
	HI_GUARD(free) uint64_t *sorted = hi_calloc(s->m->count, sizeof(*sorted));
	uint64_t all = s->picture->live_bytes + s->picture->leak_bytes;

	if (!sorted)
		return false;
	memcpy(sorted, s->below, s->m->count * sizeof(*sorted));
	qsort(sorted, s->m->count, sizeof(*sorted), most_first);
	s->least = (uint64_t)((double)all * min_share);
	if (s->m->count > HI_PICTURE_NODES && s->least <= sorted[HI_PICTURE_NODES])
		s->least = sorted[HI_PICTURE_NODES] + 1;
	if (!s->least)
		s->least = 1;
	return true;
}

static enum hi_picture_kind kind_of_key(const struct hi_graph *g, uint32_t key)
{
	static const enum hi_picture_kind kinds[HI_TYPE_CLASSES] = {
		[HI_TYPE_UNKNOWN] = HI_PICTURE_UNTYPED,
		[HI_TYPE_RECORD] = HI_PICTURE_RECORD,
		[HI_TYPE_ARRAY] = HI_PICTURE_ARRAY,
		[HI_TYPE_STRING] = HI_PICTURE_STRING,
		[HI_TYPE_POINTER_ARRAY] = HI_PICTURE_POINTERS,
		[HI_TYPE_SCALAR] = HI_PICTURE_SCALAR,
		[HI_TYPE_FIELD] = HI_PICTURE_UNTYPED,
	};

	if (key >= g->n_types)
		return HI_PICTURE_ROOT;
	return g->types[key].klass < HI_TYPE_CLASSES ? kinds[g->types[key].klass]
						     : HI_PICTURE_UNTYPED;
}

enum hi_picture_kind hi_picture_kind_of_node(const struct hi_graph *g, hi_node node)
{
	return hi_graph_is_object(g, node) ? kind_of_key(g, g->objects->type[node])
					   : HI_PICTURE_ROOT;
}

static const char *copy_text(struct sketch *s, const char *text)
{
	const char *copy = hi_arena_printf(&s->picture->arena, "%s", text);

	s->failed |= !copy;
	return copy ? copy : "";
}

static struct hi_picture_node *add_picture_node(struct sketch *s, int32_t parent,
						uint32_t source)
{
	struct hi_picture *p = s->picture;
	struct hi_picture_node *node;

	if (p->count >= s->capacity) {
		s->failed = true;
		return NULL;
	}
	s->source[p->count] = source;
	node = &p->nodes[p->count++];
	node->parent = parent;
	node->label = node->type = "";
	node->depth = parent < 0 ? 0 : p->nodes[parent].depth + 1;
	if (node->depth > p->deepest)
		p->deepest = node->depth;
	return node;
}

static void name_type(struct sketch *s, struct hi_picture_node *node, uint32_t key)
{
	char text[HI_MERGED_TEXT];
	const char *full = hi_merged_name(s->g, key);

	node->type = copy_text(s, hi_merged_type_text(s->g, key, text));
	if (strcmp(node->type, full) != 0)
		node->full_type = copy_text(s, full);
}

static void name_picture_function(struct sketch *s, struct hi_picture_node *node,
				  const struct hi_merged_frame *frame)
{
	char text[HI_FUNCTION_SHORT_SIZE];

	node->type = copy_text(s, hi_function_short(frame->label, text, sizeof(text)));
	if (strcmp(node->type, frame->label) != 0)
		node->full_type = copy_text(s, frame->label);
	node->module = frame->module ? copy_text(s, frame->module) : NULL;
}

static void add_merged_node(struct sketch *s, int32_t parent, uint32_t i)
{
	const struct hi_merged_node *from = &s->m->nodes[i];
	struct hi_picture_node *node = add_picture_node(s, parent, i);

	if (!node)
		return;
	node->kind = kind_of_key(s->g, from->key);
	if (from->key == HI_MERGED_PLAIN) {
		name_picture_function(s, node, &s->m->frames[from->frame]);
	} else {
		node->label = copy_text(s, s->m->frames[from->frame].label);
		name_type(s, node, from->key);
	}
	node->count = from->objects;
	node->bytes = s->below[i];
	node->own = from->bytes;
}

static void add_rest_of_siblings(struct sketch *s, int32_t parent, uint64_t count,
				 uint64_t bytes)
{
	struct hi_picture_node *node =
		bytes >= s->least ? add_picture_node(s, parent, UINT32_MAX) : NULL;

	if (!node)
		return;
	node->kind = HI_PICTURE_REST;
	node->count = count;
	node->bytes = node->own = bytes;
}

/* All children of a node stand together: the tree goes out level by level. */
static void add_children(struct sketch *s, int32_t at)
{
	uint32_t source = s->source[at];
	uint64_t count = 0, bytes = 0;

	s->picture->nodes[at].children = (int32_t)s->picture->count;
	for (uint32_t i = s->first[source]; i < s->first[source + 1] && !s->failed; i++) {
		uint32_t child = s->child[i];

		if (s->below[child] >= s->least) {
			add_merged_node(s, at, child);
		} else if (s->below[child]) {
			count++;
			bytes += s->below[child];
		}
	}
	if (!s->failed)
		add_rest_of_siblings(s, at, count, bytes);
	s->picture->nodes[at].after = (int32_t)s->picture->count;
}

/* "(leaked)", below which are the leak roots by type. */
static int32_t add_leaked_node(struct sketch *s)
{
	const struct hi_leaks *leaks = s->leaks;
	struct hi_picture_node *node;

	if (!leaks || leaks->bytes < s->least)
		return HI_PICTURE_NONE;
	node = add_picture_node(s, 0, UINT32_MAX);
	if (!node)
		return HI_PICTURE_NONE;
	node->kind = HI_PICTURE_LEAKED;
	node->type = "(leaked)";
	node->count = leaks->objects;
	node->bytes = leaks->bytes;
	return (int32_t)(node - s->picture->nodes);
}

/* As in the report `leaks`: "like live struct value (2,025)". */
static void name_leaked(struct sketch *s, struct hi_picture_node *node,
			const struct hi_leak_row *row)
{
	struct hi_leak_name name = hi_leak_name_of_row(s->g, s->leaks, row);
	struct hi_page *page;

	if (*name.type) {
		name_type(s, node, row->type);
		return;
	}
	page = hi_page_create();
	if (page)
		node->type = copy_text(s, hi_leak_name_text(&name, row->shape, page));
	else
		s->failed = true;
	hi_page_destroy(page);
}

static void add_leaked_types(struct sketch *s, int32_t at)
{
	const struct hi_leaks *leaks = s->leaks;
	uint64_t count = 0, bytes = 0;

	s->picture->nodes[at].children = (int32_t)s->picture->count;
	for (size_t i = 0; i < leaks->n_rows && !s->failed; i++) {
		const struct hi_leak_row *row = &leaks->rows[i];
		struct hi_picture_node *node;

		if (row->bytes < s->least || i >= HI_PICTURE_NODES) {
			count += row->count;
			bytes += row->bytes;
			continue;
		}
		node = add_picture_node(s, at, UINT32_MAX);
		if (!node)
			return;
		node->kind = HI_PICTURE_LEAKED;
		name_leaked(s, node, row);
		node->count = row->count;
		node->bytes = row->bytes;
		node->own = row->bytes;
	}
	if (!s->failed)
		add_rest_of_siblings(s, at, count, bytes);
	s->picture->nodes[at].after = (int32_t)s->picture->count;
}

/* Level by level; the list of nodes is the queue. */
static bool sketch_tree(struct sketch *s)
{
	struct hi_picture *p = s->picture;
	int32_t leaked = HI_PICTURE_NONE;

	add_merged_node(s, HI_PICTURE_NONE, 0);
	for (size_t i = 0; i < p->count && !s->failed; i++) {
		if ((int32_t)i == leaked && i) {
			add_leaked_types(s, leaked);
			continue;
		}
		if (s->source[i] == UINT32_MAX) {
			p->nodes[i].children = p->nodes[i].after = (int32_t)p->count;
			continue;
		}
		add_children(s, (int32_t)i);
		if (i == 0 && !s->failed) {
			leaked = add_leaked_node(s);
			p->nodes[0].after = (int32_t)p->count;
			p->nodes[0].bytes = p->live_bytes + p->leak_bytes;
		}
	}
	return !s->failed;
}

enum hi_status hi_picture_make(const struct hi_report_header *header,
			       const struct hi_graph *g, const struct hi_merged *m,
			       const struct hi_leaks *leaks, double min_share,
			       struct hi_picture **ret, struct hi_error *err)
{
	HI_GUARD(hi_picture_destroy) struct hi_picture *p = hi_calloc(1, sizeof(*p));
	struct sketch s = {.g = g, .m = m, .leaks = leaks, .picture = p};
	bool ok;

	if (!p)
		return hi_fail_memory(err, "picture");
	/* Each node may have a REST beside its children; twice for what is leaked. */
	s.capacity = 4 * HI_PICTURE_NODES + 16;
	p->header = header;
	p->nodes = hi_calloc(s.capacity, sizeof(*p->nodes));
	s.source = hi_calloc(s.capacity, sizeof(*s.source));
	ok = p->nodes && s.source && list_children(&s);
	if (ok) {
		p->live_bytes = s.below[0];
		for (size_t i = 0; i < m->count; i++)
			p->live_objects += m->nodes[i].objects;
		p->live_objects -= p->before_objects;
		p->leak_bytes = leaks ? leaks->bytes : 0;
		p->leak_objects = leaks ? leaks->objects : 0;
		ok = find_least_drawn(&s, min_share) && sketch_tree(&s);
	}
	free(s.below);
	free(s.first);
	free(s.child);
	free(s.source);
	if (!ok)
		return hi_fail_memory(err, "picture");
	*ret = hi_take(p);
	return HI_OK;
}
