/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read from a snapshot is what was written. The truth is the graph itself. */
#include "tests/census/snapshots.h"

static void check_types(const struct hi_graph *a, const struct hi_graph *b)
{
	HI_ASSERT_EQ(a->n_types, b->n_types);
	for (uint32_t i = 0; i < a->n_types; i++) {
		HI_ASSERT_STREQ(a->types[i].name, b->types[i].name);
		HI_ASSERT_STREQ(a->types[i].module, b->types[i].module);
		HI_ASSERT_STREQ(a->types[i].owner, b->types[i].owner);
		HI_ASSERT_STREQ(a->types[i].field, b->types[i].field);
		HI_ASSERT_EQ(a->types[i].size, b->types[i].size);
		HI_ASSERT_EQ(a->types[i].size_class, b->types[i].size_class);
		HI_ASSERT_EQ(a->types[i].klass, b->types[i].klass);
		HI_ASSERT_EQ(a->types[i].indirect, b->types[i].indirect);
	}
}

static void check_roots(const struct hi_graph *a, const struct hi_graph *b,
			const struct hi_snapshot *s)
{
	HI_ASSERT_EQ(a->n_roots, b->n_roots);
	for (uint32_t i = 0; i < a->n_roots; i++) {
		HI_ASSERT_STREQ(a->roots[i].name, b->roots[i].name);
		HI_ASSERT_STREQ(a->roots[i].detail, b->roots[i].detail);
		HI_ASSERT_STREQ(a->roots[i].type, b->roots[i].type);
		HI_ASSERT_EQ(a->roots[i].kind, b->roots[i].kind);
		HI_ASSERT_EQ(a->roots[i].address, b->roots[i].address);
		HI_ASSERT_EQ(a->roots[i].size, b->roots[i].size);
		HI_ASSERT_EQ(a->roots[i].rank, b->roots[i].rank);
		HI_ASSERT_STREQ(drawn_module(NULL, i), hi_snapshot_root_module(s, i));
	}
	for (uint32_t i = 1; i < a->n_types; i++)
		HI_ASSERT_EQ(drawn_retains(NULL, i), hi_snapshot_type_retains(s, i));
}

static void check_objects(const struct hi_graph *a, const struct hi_graph *b)
{
	HI_ASSERT_EQ(a->n_objects, b->n_objects);
	for (hi_node i = 0; i < a->n_objects; i++) {
		uint64_t address = hi_objects_address(a->objects, i), offset = 7;

		HI_ASSERT_EQ(address, hi_objects_address(b->objects, i));
		HI_ASSERT_EQ(hi_objects_usable(a->objects, i),
			     hi_objects_usable(b->objects, i));
		HI_ASSERT_EQ(hi_objects_cost(a->objects, i),
			     hi_objects_cost(b->objects, i));
		HI_ASSERT_EQ(a->objects->type[i], b->objects->type[i]);
		HI_ASSERT_EQ(a->objects->flags[i], b->objects->flags[i]);
		for (int k = -8; k <= 264; k += 4) {
			uint64_t other = 7;
			hi_node found = hi_objects_find(a->objects, address + (uint64_t)k,
							&offset);

			HI_ASSERT_EQ(found,
				     hi_objects_find(b->objects, address + (uint64_t)k,
						     &other));
			if (found != HI_NODE_NONE)
				HI_ASSERT_EQ(offset, other);
		}
	}
	HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(b->objects, UINT64_MAX, NULL));
	HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(b->objects, 0, NULL));
}

static void check_edges(const struct hi_graph *a, const struct hi_graph *b,
			const struct hi_snapshot *s)
{
	char buffer[HI_EDGE_TEXT];

	HI_ASSERT_EQ(a->n_edges, b->n_edges);
	for (hi_node i = 0; i < a->n_nodes; i++) {
		struct hi_edges x = hi_graph_edges(a, i), y = hi_graph_edges(b, i);

		HI_ASSERT_EQ(x.count, y.count);
		for (uint32_t k = 0; k < x.count; k++) {
			HI_ASSERT_EQ(x.to[k], y.to[k]);
			HI_ASSERT_EQ(x.grade[k], y.grade[k]);
			HI_ASSERT_STREQ(i < a->first_kind ? drawn_label(i, k) : "",
					hi_snapshot_label(s, b, i, k, buffer));
		}
	}
}

static void check_reach(const struct hi_graph *g, const struct hi_reach *a,
			const struct hi_reach *b)
{
	for (hi_node i = 0; i < g->n_nodes; i++) {
		HI_ASSERT_EQ(hi_bit(a->any, i), hi_bit(b->any, i));
		HI_ASSERT_EQ(hi_bit(a->exact, i), hi_bit(b->exact, i));
	}
	HI_ASSERT_EQ(a->live_objects, b->live_objects);
	HI_ASSERT_EQ(a->live_bytes, b->live_bytes);
	HI_ASSERT_EQ(a->exact_objects, b->exact_objects);
	HI_ASSERT_EQ(a->exact_bytes, b->exact_bytes);
	HI_ASSERT_EQ(a->leak_objects, b->leak_objects);
	HI_ASSERT_EQ(a->leak_bytes, b->leak_bytes);
	HI_ASSERT_EQ(a->internal_objects, b->internal_objects);
	HI_ASSERT_EQ(a->internal_bytes, b->internal_bytes);
	HI_ASSERT_EQ(a->n_internal_roots, b->n_internal_roots);
	for (size_t i = 0; i < a->n_internal_roots; i++)
		HI_ASSERT_EQ(a->internal_roots[i], b->internal_roots[i]);
}

static void check_dominators(const struct hi_dominators *a, const struct hi_dominators *b)
{
	HI_ASSERT_EQ(a->n_nodes, b->n_nodes);
	HI_ASSERT_EQ(a->n_order, b->n_order);
	for (hi_node i = 0; i < a->n_nodes; i++) {
		HI_ASSERT_EQ(a->idom[i], b->idom[i]);
		HI_ASSERT_EQ(a->retained[i], b->retained[i]);
	}
	for (hi_node i = 0; i < a->n_order; i++) {
		HI_ASSERT_EQ(a->order[i], b->order[i]);
		HI_ASSERT_EQ(a->span[i], b->span[i]);
	}
}

static void check_event(const struct hi_stored_events *stored,
			const struct hi_kept_event *e, uint32_t i)
{
	struct hi_event drawn = drawn_event(i);

	HI_ASSERT_EQ(drawn.time_ns, e->time_ns);
	HI_ASSERT_EQ(drawn.addr, e->addr);
	HI_ASSERT_EQ(drawn.size, e->size);
	HI_ASSERT_EQ(drawn.kind, e->kind);
	HI_ASSERT_EQ(drawn.source, e->source);
	HI_ASSERT_EQ(drawn.tid, stored->threads[e->thread]);
	HI_ASSERT_EQ(i % 3, e->context);
}

static void check_events(struct hi_snapshot *s, const struct hi_recorded *r)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_stored_events stored;
	HI_GUARD(hi_stored_events_free) struct hi_stored_events *owned = &stored;
	struct hi_error err;
	uint32_t n = 0;

	HI_ASSERT(r->has_events && !r->kept);
	HI_ASSERT(r->event_counts.left_out);
	HI_ASSERT_EQ(DRAWN_EVENTS, r->event_counts.kept + r->event_counts.left_out);
	HI_ASSERT_OK(hi_snapshot_events(s, 3, owned, &err), &err);
	HI_ASSERT_EQ(r->event_counts.kept, stored.list.count);
	HI_ASSERT_OK(hi_stored_events_read(owned, 0, events, &n, &err), &err);
	HI_ASSERT_EQ(r->event_counts.kept, n);
	HI_ASSERT(n > 10);
	for (uint32_t i = 0; i < n; i++)
		check_event(owned, &events[i], i);
}

static void check_marked(const struct hi_recorded *r)
{
	HI_ASSERT_EQ(2, r->marked.n_marks);
	for (unsigned i = 0; i < 2; i++) {
		const struct hi_recorded_mark *a = &drawn_marks[i],
					      *b = &r->marked.marks[i];

		HI_ASSERT_STREQ(a->text, b->text);
		HI_ASSERT(a->time_ns == b->time_ns && a->first_row == b->first_row &&
			  a->n_rows == b->n_rows && a->is_era == b->is_era);
	}
	HI_ASSERT_EQ(3, r->marked.n_rows);
	HI_ASSERT(memcmp(r->marked.rows, drawn_marked_rows, sizeof(drawn_marked_rows)) ==
		  0);
	HI_ASSERT_EQ(2, r->n_pauses);
	HI_ASSERT(memcmp(r->pauses, drawn_pauses, sizeof(drawn_pauses)) == 0);
}

static void check_births(struct hi_snapshot *s, uint32_t n)
{
	HI_GUARD(hi_recorded_destroy) struct hi_recorded *r = NULL;
	const struct hi_births *b;
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshot_births(s, n, &r, &err), &err);
	check_events(s, r);
	b = r->births;
	HI_ASSERT_EQ(n, b->n_objects);
	for (uint32_t i = 0; i < n; i++) {
		bool known = drawn_context(i) != HI_BIRTH_NONE;

		HI_ASSERT_EQ(drawn_context(i), b->context[i]);
		HI_ASSERT_EQ(known ? (uint64_t)i << 33 : 0, b->time_ns[i]);
		HI_ASSERT_EQ(known ? i : 0, b->size[i]);
		if (known)
			HI_ASSERT_EQ(i / 2 % 2 ? 4000 : 7, b->threads[b->thread[i]]);
	}
	HI_ASSERT_EQ(1000, b->start_ns);
	HI_ASSERT_EQ(2000, b->end_ns);
	HI_ASSERT_EQ(11, b->joined);
	HI_ASSERT_EQ(1, b->sample_bytes);
	HI_ASSERT_EQ(12, b->without_object);
	HI_ASSERT_EQ(13, b->too_large);
	HI_ASSERT(memcmp(&r->counts, &drawn_counts, sizeof(drawn_counts)) == 0);
	HI_ASSERT(memcmp(r->overheads, drawn_overheads, sizeof(drawn_overheads)) == 0);
	HI_ASSERT(memcmp(r->ticks, drawn_ticks, sizeof(drawn_ticks)) == 0);
	HI_ASSERT(memcmp(r->ports, drawn_ports, sizeof(drawn_ports)) == 0);
	HI_ASSERT(memcmp(&r->time, &drawn_time, sizeof(drawn_time)) == 0);
	HI_ASSERT_EQ(2, r->pieces.n_sources);
	HI_ASSERT_STREQ("pool_get", r->pieces.sources[1].name);
	HI_ASSERT(r->pieces.sources[1].is_whole && !r->pieces.sources[0].is_whole);
	HI_ASSERT(memcmp(&r->pieces.sources[1].totals, &drawn_sources[1].totals,
			 sizeof(drawn_sources[1].totals)) == 0);
	HI_ASSERT_EQ(2, r->pieces.count);
	HI_ASSERT(memcmp(r->pieces.items, drawn_pieces, sizeof(drawn_pieces)) == 0);
	check_marked(r);
	HI_ASSERT_EQ(3, r->contexts.n_contexts);
	HI_ASSERT_EQ(4, r->contexts.n_frames);
	HI_ASSERT(memcmp(r->contexts.nodes, drawn_nodes, sizeof(drawn_nodes)) == 0);
	HI_ASSERT(memcmp(r->contexts.contexts, drawn_contexts, sizeof(drawn_contexts)) ==
		  0);
	HI_ASSERT(memcmp(r->totals, drawn_totals, sizeof(drawn_totals)) == 0);
	HI_ASSERT(memcmp(r->frames.first, drawn_first, sizeof(drawn_first)) == 0);
	HI_ASSERT_EQ(5, r->frames.n_rows);
	for (uint32_t i = 0; i < 5; i++) {
		HI_ASSERT_STREQ(drawn_rows[i].module, r->frames.rows[i].module);
		HI_ASSERT_STREQ(drawn_rows[i].function, r->frames.rows[i].function);
		HI_ASSERT_STREQ(drawn_rows[i].file, r->frames.rows[i].file);
		HI_ASSERT_EQ(drawn_rows[i].offset, r->frames.rows[i].offset);
		HI_ASSERT_EQ(drawn_rows[i].line, r->frames.rows[i].line);
		HI_ASSERT_EQ(drawn_rows[i].flags, r->frames.rows[i].flags);
	}
}

static void check_file(const char *path, const struct hi_graph *g,
		       const struct hi_reach *r, const struct hi_dominators *d)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *copy = NULL;
	OWN(reach) *reach = NULL;
	OWN(dominators) *tree = NULL;
	const uint32_t *used = NULL;
	struct hi_error err;

	HI_ASSERT(hi_snapshot_is_one(path));
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	HI_ASSERT_EQ(4242, hi_snapshot_number(s, "pid", 0));
	HI_ASSERT_EQ(7, hi_snapshot_number(s, "exe", 7));
	HI_ASSERT_STREQ("/usr/bin/drawn", hi_snapshot_text(s, "exe", ""));
	HI_ASSERT_STREQ("none", hi_snapshot_text(s, "no such", "none"));
	HI_ASSERT_OK(hi_snapshot_graph(s, &copy, &err), &err);
	HI_ASSERT(hi_graph_is_valid(copy));
	HI_ASSERT_OK(hi_snapshot_open_labels(s, &err), &err);
	HI_ASSERT_OK(hi_snapshot_reach(s, copy, &reach, &err), &err);
	HI_ASSERT_OK(hi_snapshot_dominators(s, copy, &tree, &err), &err);
	HI_ASSERT_OK(hi_snapshot_used(s, &used, &err), &err);
	check_types(g, copy);
	check_roots(g, copy, s);
	check_objects(g, copy);
	check_edges(g, copy, s);
	check_reach(g, r, reach);
	check_dominators(d, tree);
	check_births(s, g->n_objects);
	for (hi_node i = 0; i < g->n_objects; i++)
		HI_ASSERT_EQ(drawn_used(NULL, i), used[i]);
}

static void check_round_trip(uint64_t seed, uint32_t n, bool compress)
{
	OWN(graph) *g = drawn_graph(seed, n);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	HI_ASSERT_OK(try_write(fd, g, r, d, compress, &err), &err);
	check_file(path, g, r, d);
	close(fd);
}

HI_TEST(census_snapshot, gives_back_what_was_written)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		check_round_trip(seed, (uint32_t)(seed % 20 * 3), seed % 2);
}

/* Rows of more than one part, and more than one buffer. */
HI_TEST(census_snapshot, gives_back_a_large_graph)
{
	check_round_trip(1, 3 * 50000, false);
	check_round_trip(2, 3 * 50000, true);
}

static void check_kept_names(uint64_t seed, uint32_t size, unsigned threads)
{
	OWN(graph) *g = drawn_graph(seed, size);
	OWN(reach) *r = reach_of(g);
	struct hi_snapshot_options options = {};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_labels_end) struct hi_snapshot_labels *kept = NULL;
	struct hi_snapshot_graph in = {.graph = g,
				       .reach = r,
				       .label = drawn_edge_names,
				       .kept = &kept,
				       .threads = threads,
				       .arg = g};
	char buffer[HI_EDGE_TEXT];
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_graph(w, &in, &err), &err);
	for (hi_node i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; k < hi_graph_edges(g, i).count; k++) {
			struct hi_edge_name name =
				hi_snapshot_label_put(w, kept, g, i, k);

			HI_ASSERT_STREQ(i < g->first_kind ? drawn_label(i, k) : "",
					hi_edge_name_text(&name, buffer));
		}
	close(fd);
}

/* The last ones have several parts. */
HI_TEST(census_snapshot, keeps_the_names_of_edges_that_it_wrote)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		check_kept_names(seed, (uint32_t)seed * 3, 1 + (unsigned)(seed % 3));
	check_kept_names(1, 3 * 50000, 1);
	check_kept_names(2, 3 * 50000, 2);
}

/* The reader's own computations may be asked for instead. */
HI_TEST(census_snapshot, of_a_graph_answers_as_the_graph_does)
{
	OWN(graph) *g = drawn_graph(5, 3000), *copy = NULL;
	OWN(reach) *r = reach_of(g), *again = NULL;
	OWN(leaks) *a = leaks_of(g, r), *b = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_dominators *none = NULL;
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	HI_ASSERT_OK(try_write(fd, g, r, NULL, false, &err), &err);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
	close(fd);
	HI_ASSERT_OK(hi_snapshot_graph(s, &copy, &err), &err);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_snapshot_dominators(s, copy, &none, &err));
	again = reach_of(copy);
	check_reach(g, r, again);
	b = leaks_of(copy, again);
	HI_ASSERT_EQ(a->n_roots, b->n_roots);
	HI_ASSERT_EQ(a->bytes, b->bytes);
	for (size_t i = 0; i < a->n_roots; i++)
		HI_ASSERT_EQ(a->roots[i].node, b->roots[i].node);
}

HI_TEST(census_snapshot, is_written_into_regular_files_only)
{
	OWN(graph) *g = drawn_graph(1, 30);
	OWN(reach) *r = reach_of(g);
	struct hi_error err;
	int ends[2];

	HI_ASSERT(pipe(ends) == 0);
	HI_ASSERT_STATUS(HI_USAGE, try_write(ends[1], g, r, NULL, false, &err));
	HI_ASSERT(strstr(err.text, "regular file"));
	close(ends[0]);
	close(ends[1]);
}
