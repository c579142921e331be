/* SPDX-License-Identifier: BSD-2-Clause */
/* The treemap of the report `tree`. */
#include <string.h>

#include "report/address.h"
#include "report/reports/tree/tree_report.h"

enum {
	ROWS = 150,	   /* of the level, each a box; the others are one */
	BEST = 48,	   /* boxes in a box of a level below */
	DEEPEST = 4,	   /* levels */
	LEAST_SHARE = 150, /* of the picture, that a box is opened for: 1/150 */
	MOST_BOXES = 1000,
	/* Nodes that are looked at for one picture, so that a page takes as long as it
	 * takes for any heap. */
	MOST_VISITS = 100000,
	MOST_CHILDREN = 30000, /* of a box: of one with more nothing is in it */
};

/* How much a picture has. */
struct map_limits {
	size_t rows, boxes;
	uint64_t least_share;
	unsigned depth;
	double height; /* 0: usual */
	const char *caption;
};
static const struct map_limits whole_map = {ROWS,
					    MOST_BOXES,
					    LEAST_SHARE,
					    DEEPEST,
					    0,
					    "A box is as large as what it retains; in it "
					    "is what it keeps alive. The table has "
					    "the same figures."};
static const struct map_limits small_map = {
	40,
	200,
	60,
	3,
	300,
	"A box is as large as what it retains; in it is what it keeps alive. It leads to "
	"its place in the dominator tree."};

/* A box whose inside is still to come. */
struct unopened {
	int32_t box;
	hi_node node; /* HI_NODE_NONE: a group */
	const struct hi_group *group;
	uint64_t bytes;
	unsigned depth;
};

struct mapping {
	const struct hi_tree_report *r;
	struct hi_page *page;
	struct hi_page_picture *picture;
	const struct map_limits *limits;
	struct unopened queue[MOST_BOXES];
	size_t n_queue;
	size_t visits;
	uint64_t least;
};

struct best_children {
	hi_node nodes[BEST];
	size_t count;
	uint64_t n_all, bytes_all;
};

static void keep_best_child(const struct mapping *m, struct best_children *best,
			    hi_node node)
{
	const uint64_t *retained = m->r->tree->heap.dominators->retained;
	size_t at = best->count;

	best->n_all++;
	best->bytes_all += retained[node];
	if (at == BEST && retained[node] <= retained[best->nodes[BEST - 1]])
		return;
	at = at < BEST ? at : BEST - 1;
	for (; at > 0 && retained[best->nodes[at - 1]] < retained[node]; at--)
		best->nodes[at] = best->nodes[at - 1];
	best->nodes[at] = node;
	best->count += best->count < BEST;
}

static void add_to_queue(struct mapping *m, struct unopened box)
{
	if (box.box != HI_PAGE_BOX_NONE && box.bytes >= m->least &&
	    box.depth < m->limits->depth && m->n_queue < MOST_BOXES)
		m->queue[m->n_queue++] = box;
}

static const char *title_of_box(const struct mapping *m, const char *name,
				const char *type, uint64_t members, uint64_t bytes)
{
	char size[24], percent[16], n[32];
	const char *gap = *name && *type ? ": " : "";

	hi_percent(percent, bytes, m->r->level.list->bytes);
	if (members > 1)
		return hi_page_printf(m->page, "%s%s%s\n%s together: %s (%s)", name, gap,
				      type, hi_count(n, members), hi_bytes(size, bytes),
				      percent);
	return hi_page_printf(m->page, "%s%s%s\n%s (%s)", name, gap, type,
			      hi_bytes(size, bytes), percent);
}

static void add_rest_box(struct mapping *m, int32_t parent, uint64_t count,
			 uint64_t bytes)
{
	char n[32];
	const char *label = hi_page_printf(m->page, "%s smaller", hi_count(n, count));

	if (count && bytes)
		hi_page_box(m->picture, parent,
			    &(struct hi_page_box){
				    .label = label,
				    .title = title_of_box(m, label, "", 1, bytes),
				    .bytes = bytes,
				    .kind = HI_PICTURE_REST});
}

static const char *link_of_node(const struct mapping *m, hi_node node, bool opens)
{
	const struct hi_graph *g = m->r->tree->heap.graph;

	if (opens)
		return hi_tree_address(m->r->tree, node, 0, m->page);
	return hi_graph_is_object(g, node)
		       ? hi_address_of_object(m->page, hi_graph_address(g, node))
		       : "";
}

/* ---- the rows of the level ---- */

static void add_row_box(struct mapping *m, size_t at)
{
	const struct hi_browse_list *list = m->r->level.list;
	const struct hi_browse_row *row = &list->rows.items[at];
	const struct hi_graph *g = m->r->tree->heap.graph;
	bool is_node = row->kind == HI_BROWSE_NODE,
	     is_group = row->kind == HI_BROWSE_GROUP;
	struct hi_page_box box = {
		.label = hi_page_printf(m->page, "%s%s%s", row->name,
					*row->name && *row->what ? ": " : "", row->what),
		.title = title_of_box(m, row->name, row->what, row->members, row->bytes),
		.bytes = row->bytes,
		.kind = row->node == HI_NODE_NONE
				? HI_PICTURE_REST
				: hi_picture_kind_of_node(g, row->node)};
	int32_t added;

	if (!row->bytes)
		return;
	if (is_node)
		box.link = link_of_node(m, row->node, row->opens);
	else if (row->opens && !m->r->level.group)
		box.link = hi_tree_address(m->r->tree, m->r->level.node, at + 1, m->page);
	added = hi_page_box(m->picture, 0, &box);
	if (row->opens && (is_node || is_group))
		add_to_queue(m,
			     (struct unopened){
				     .box = added,
				     .node = is_node ? row->node : HI_NODE_NONE,
				     .group = is_group ? &list->groups.items[row->group]
						       : NULL,
				     .bytes = row->bytes,
				     .depth = 1});
}

static void add_level_boxes(struct mapping *m)
{
	const struct hi_browse_list *list = m->r->level.list;
	uint64_t count = 0, bytes = 0;

	for (size_t i = 0; i < list->rows.count; i++) {
		if (i < m->limits->rows) {
			add_row_box(m, i);
			continue;
		}
		count += list->rows.items[i].members;
		bytes += list->rows.items[i].bytes;
	}
	add_rest_box(m, 0, count, bytes);
}

/* ---- levels below ---- */

/* The rest of a list, or of a tree that is one: nothing is learned from box in box. */
static bool has_next_level(const struct mapping *m, const struct unopened *above,
			   hi_node node)
{
	const struct hi_graph *g = m->r->tree->heap.graph;
	const uint64_t *retained = m->r->tree->heap.dominators->retained;

	return above->node != HI_NODE_NONE && hi_graph_is_object(g, above->node) &&
	       hi_graph_is_object(g, node) &&
	       g->objects->type[node] == g->objects->type[above->node] &&
	       retained[node] >= above->bytes / 10 * 9;
}

static void add_child_box(struct mapping *m, const struct unopened *above, hi_node node)
{
	const struct hi_tree *tree = m->r->tree;
	struct hi_node_info info =
		hi_node_info(tree->heap.graph, tree->heap.dominators, node);
	hi_node at = tree->browser.place[node];
	bool opens = tree->heap.dominators->span[at] > 1;
	const char *type = hi_node_type_label(&info, m->page);
	const char *name =
		info.sort == HI_NODE_OBJECT ? "" : hi_node_short_label(&info, m->page);
	struct hi_page_box box = {
		.label = *name ? name : type,
		.title = title_of_box(m, name, type, 1, info.retained),
		.link = link_of_node(m, node, opens),
		.bytes = info.retained,
		.kind = hi_picture_kind_of_node(tree->heap.graph, node)};

	add_to_queue(m,
		     (struct unopened){.box = hi_page_box(m->picture, above->box, &box),
				       .node = opens && !has_next_level(m, above, node)
						       ? node
						       : HI_NODE_NONE,
				       .bytes = info.retained,
				       .depth = above->depth + 1});
}

/* False: there are too many to look at. */
static bool find_children(struct mapping *m, hi_node node, struct best_children *best)
{
	const struct hi_tree *tree = m->r->tree;
	const struct hi_dominators *d = tree->heap.dominators;
	hi_node at = tree->browser.place[node], end = at + d->span[at], n = 0;

	for (hi_node c = at + 1; c < end; c += d->span[c]) {
		if (++m->visits > MOST_VISITS || ++n > MOST_CHILDREN)
			return false;
		if (d->retained[d->order[c]])
			keep_best_child(m, best, d->order[c]);
	}
	return true;
}

static bool find_members(struct mapping *m, const struct hi_group *group,
			 struct best_children *best)
{
	const struct hi_dominators *d = m->r->tree->heap.dominators;

	if (group->at.count > MOST_CHILDREN || m->visits + group->at.count > MOST_VISITS)
		return false;
	m->visits += group->at.count;
	for (size_t i = 0; i < group->at.count; i++)
		if (d->retained[d->order[group->at.items[i]]])
			keep_best_child(m, best, d->order[group->at.items[i]]);
	return true;
}

static void open_box(struct mapping *m, const struct unopened *box)
{
	struct best_children best = {};
	uint64_t bytes;

	if (m->picture->n_boxes + BEST + 1 > m->limits->boxes ||
	    (box->node == HI_NODE_NONE && !box->group))
		return;
	if (!(box->group ? find_members(m, box->group, &best)
			 : find_children(m, box->node, &best)))
		return;
	bytes = best.bytes_all;
	for (size_t i = 0; i < best.count; i++) {
		bytes -= m->r->tree->heap.dominators->retained[best.nodes[i]];
		add_child_box(m, box, best.nodes[i]);
	}
	add_rest_box(m, box->box, best.n_all - best.count, bytes);
}

static void draw_tree_map(const struct hi_tree_report *r, const struct map_limits *limits,
			  struct hi_page *page)
{
	const struct hi_browse_list *list = r->level.list;
	struct mapping *m;
	const char *whole = *list->title ? list->title : "the whole heap";
	char bytes[24];

	if (!list->rows.count || !list->bytes)
		return;
	m = hi_arena_alloc(&page->arena, sizeof(*m));
	if (!m) {
		page->failed = true;
		return;
	}
	*m = (struct mapping){.r = r,
			      .page = page,
			      .limits = limits,
			      .least = list->bytes / limits->least_share};
	m->picture = hi_page_picture(page, HI_PAGE_TREEMAP,
				     hi_page_printf(page, "Treemap of %s: %s", whole,
						    hi_bytes(bytes, list->bytes)),
				     limits->caption);
	m->picture->height = limits->height;
	hi_page_box(
		m->picture, HI_PAGE_BOX_NONE,
		&(struct hi_page_box){.label = whole,
				      .title = title_of_box(m, whole, "", 1, list->bytes),
				      .bytes = list->bytes,
				      .kind = HI_PICTURE_ROOT});
	add_level_boxes(m);
	for (size_t i = 0; i < m->n_queue; i++)
		open_box(m, &m->queue[i]);
}

void hi_tree_picture(const struct hi_tree_report *r, struct hi_page *page)
{
	draw_tree_map(r, &whole_map, page);
}

void hi_tree_overview(const struct hi_tree_report *r, struct hi_page *page)
{
	draw_tree_map(r, &small_map, page);
}
