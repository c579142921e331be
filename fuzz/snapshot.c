/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot file of any bytes: all that a reader can ask of it, and analyses over what
 * is accepted. Checksums are made to hold (fuzz/sign.h).
 */
#include <stdlib.h>
#include <string.h>

#include "census/analysis/compare.h"
#include "census/analysis/subset_totals.h"
#include "census/analysis/merged.h"
#include "census/events/birth_choice.h"
#include "census/events/birth_groups.h"
#include "census/analysis/merged_births.h"
#include "census/snapshot/snapshot_births.h"
#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_lives.h"
#include "census/snapshot/snapshot_sections.h"
#include "census/snapshot/snapshot_space.h"
#include "census/snapshot/snapshot_windows.h"
#include "fuzz/sign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void analyse(const struct hi_graph *g, const struct hi_reach *r,
		    const struct hi_dominators *d)
{
	struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};
	struct hi_comparison *compared = NULL, *twice = NULL;
	struct hi_marked *marked = NULL;
	struct hi_suspects *suspects = NULL;
	struct hi_census *census = NULL;
	struct hi_merged *merged = NULL;
	struct hi_leaks *leaks = NULL;
	struct hi_paths *paths = NULL;
	hi_node target = 0;
	struct hi_error err;

	(void)hi_leaks_compute(g, r, NULL, &leaks, &err);
	(void)hi_census_by_type(g, r, d, &census, &err);
	(void)hi_suspects_find(g, r, d, 0.2, NULL, &suspects, &err);
	(void)hi_merged_make(g, r, d, NULL, &merged, &err);
	(void)hi_compare(&side, &side, false, HI_COMPARE_BY_ROOT, &compared, &err);
	(void)hi_compare(&side, &side, true, HI_COMPARE_BY_TYPE, &twice, &err);
	(void)hi_marked_by_type(&side, r->any, &marked, &err);
	if (g->n_objects)
		(void)hi_paths_find(g, r, &target, 1, 3, &paths, &err);
	hi_leaks_destroy(leaks);
	hi_census_destroy(census);
	hi_suspects_destroy(suspects);
	hi_merged_destroy(merged);
	hi_comparison_destroy(compared);
	hi_comparison_destroy(twice);
	hi_marked_destroy(marked);
	hi_paths_destroy(paths);
}

static void use_births(const struct hi_recorded *r, const struct hi_graph *g)
{
	const struct hi_birth_choice choice = {.site_any = "*", .age = {true, 1, 1000}};
	uint64_t *bits = calloc(1, g->n_objects / 8 + 16);
	struct hi_merged *merged = NULL;
	struct hi_error err;

	if (!bits)
		return;
	(void)hi_births_choose(r->births, &r->contexts, &r->frames, &choice, bits, &err);
	memset(bits, 0xff, g->n_objects / 8 + 1);
	if (hi_merged_births_make(g, bits, r->births, &r->contexts, &r->frames, &merged,
				  &err) == HI_OK)
		hi_merged_destroy(merged);
	free(bits);
}

static void read_events(struct hi_snapshot *s, const struct hi_recorded *r)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_stored_events stored;
	struct hi_error err;
	uint32_t n;

	if (hi_snapshot_events(s, r->contexts.n_contexts, &stored, &err) == HI_OK)
		for (uint64_t i = 0; i < stored.list.n_blocks; i++) {
			if (hi_stored_events_read(&stored, i, events, &n, &err) != HI_OK)
				continue;
			for (uint32_t k = 0; k < n; k++)
				if (events[k].thread >= stored.list.bounds.n_threads ||
				    events[k].context >= r->contexts.n_contexts)
					abort();
		}
	hi_stored_events_free(&stored);
}

static void read_births(struct hi_snapshot *s, const struct hi_graph *g)
{
	struct hi_recorded *r = NULL;
	struct hi_error err;

	if (hi_snapshot_births(s, g->n_objects, &r, &err) != HI_OK)
		return;
	for (int by = HI_BORN_BY_SITE; by <= HI_BORN_BY_AGE; by++) {
		struct hi_birth_groups *groups = NULL;

		(void)hi_birth_groups_make(r->births, &r->contexts, &r->frames,
					   (enum hi_born_by)by, &groups, &err);
		hi_birth_groups_destroy(groups);
	}
	use_births(r, g);
	read_events(s, r);
	hi_recorded_destroy(r);
}

static void read_lives(struct hi_snapshot *s, const struct hi_graph *g)
{
	struct hi_bio_summary *lives = NULL;
	struct hi_error err;

	if (hi_snapshot_lives(s, g->n_objects, &lives, &err) != HI_OK)
		return;
	for (size_t i = 0; i < lives->n_lives; i++) {
		const struct hi_bio_life_row *row = &lives->lives[i];

		(void)hi_bio_summary_bands(lives, row);
		if (hi_bio_summary_find(lives, row->object) != row ||
		    row->group >= lives->n_groups || row->quiet_from >= lives->n_censuses)
			abort();
	}
	for (uint32_t i = 0; i < lives->n_groups; i++)
		(void)strlen(hi_interner_name(lives->texts, lives->groups[i].root));
	hi_bio_summary_destroy(lives);
}

static void use_space(const struct hi_snapshot_space *kept, uint32_t n_contexts)
{
	uint32_t *zeros = calloc((size_t)n_contexts + 1, sizeof(*zeros));
	const struct hi_space_sites sites = {.of_context = zeros,
					     .n_contexts = n_contexts,
					     .function = zeros,
					     .n_sites = n_contexts};
	struct hi_space_result rows;
	struct hi_space *space = NULL;
	struct hi_error err;

	if (!zeros || hi_space_restore(&kept->kept, &space, &err) != HI_OK) {
		free(zeros);
		return;
	}
	if (hi_space_result(space, &sites, &rows, &err) == HI_OK) {
		for (size_t i = 0; i < rows.n_rows; i++) {
			if (rows.rows[i].type >= kept->n_names ||
			    hi_space_last_age(&rows.rows[i]) > kept->kept.n_periods)
				abort();
			(void)hi_space_survived(&rows.rows[i]);
		}
		hi_space_result_free(&rows);
	}
	hi_space_destroy(space);
	free(zeros);
}

static void read_space(struct hi_snapshot *s, const struct hi_graph *g)
{
	struct hi_recorded *r = NULL;
	struct hi_snapshot_space kept;
	struct hi_arena arena = {};
	struct hi_error err;

	if (hi_snapshot_births(s, g->n_objects, &r, &err) != HI_OK)
		return;
	if (hi_snapshot_space(s, r->contexts.n_contexts, &arena, &kept, &err) == HI_OK)
		use_space(&kept, r->contexts.n_contexts);
	hi_arena_free(&arena);
	hi_recorded_destroy(r);
}

static void read_windows(struct hi_snapshot *s)
{
	struct hi_window_row *rows = NULL;
	struct hi_window_result result;
	struct hi_error err;

	if (hi_snapshot_windows(s, &rows, &result, &err) != HI_OK)
		return;
	for (size_t i = 0; i < result.n_rows; i++) {
		const struct hi_window_site *figures = &rows[i].figures;

		(void)strlen(rows[i].site.function);
		if (!(figures->lost.low <= figures->lost.value) ||
		    !(figures->live_bytes.value <= figures->live_bytes.high))
			abort();
	}
	(void)hi_window_speed(&result.load);
	free(rows);
}

/* The tables alone, without the heap. */
static void read_tables(const char *path)
{
	struct hi_snapshot *s = NULL;
	struct hi_graph *g = NULL;
	struct hi_reach *r = NULL;
	struct hi_census *c = NULL;
	struct hi_error err;

	if (hi_snapshot_open(path, &s, &err) == HI_OK &&
	    hi_snapshot_outline(s, &g, &r, &err) == HI_OK) {
		if (!hi_graph_is_valid(g))
			abort();
		(void)hi_snapshot_census(s, &c, &err);
	}
	hi_census_destroy(c);
	hi_reach_destroy(r);
	hi_graph_destroy(g);
	hi_snapshot_close(s);
}

/* All sections of the table, also those that other rooms read. Texts of what is accepted
 * are there. */
static void read_sections(struct hi_snapshot *s)
{
	const struct hi_section *sections;
	struct hi_error err;
	uint64_t n = 0;
	size_t n_sections;

	sections = hi_snapshot_sections(&n_sections);
	for (size_t i = 0; i < n_sections; i++) {
		const struct hi_stored_column *c = sections[i].columns;
		const char *rows;

		if (hi_snapshot_rows(s, sections[i].name, &rows, &n, &err) != HI_OK)
			continue;
		for (size_t k = 0; k < sections[i].n_columns; k++)
			for (uint64_t row = 0; row < n && c[k].kind == HI_STORED_TEXT;
			     row++) {
				uint32_t at;

				memcpy(&at, rows + row * sections[i].item + c[k].offset,
				       sizeof(at));
				(void)strlen(hi_snapshot_string(s, at));
			}
	}
}

static void read_all(const char *path)
{
	struct hi_snapshot *s = NULL;
	struct hi_graph *g = NULL;
	struct hi_reach *r = NULL;
	struct hi_dominators *d = NULL;
	char buffer[HI_EDGE_TEXT];
	const uint32_t *used;
	struct hi_error err;

	if (hi_snapshot_open(path, &s, &err) == HI_OK &&
	    hi_snapshot_graph(s, &g, &err) == HI_OK) {
		if (!hi_graph_is_valid(g))
			abort();
		(void)hi_snapshot_used(s, &used, &err);
		read_births(s, g);
		read_lives(s, g);
		read_space(s, g);
		if (hi_snapshot_open_labels(s, &err) == HI_OK)
			for (hi_node i = 0; i < g->n_nodes; i++)
				for (uint32_t k = 0; k < hi_graph_edges(g, i).count; k++)
					(void)strlen(
						hi_snapshot_label(s, g, i, k, buffer));
		read_windows(s);
		read_sections(s);
		if (hi_snapshot_reach(s, g, &r, &err) == HI_OK &&
		    hi_snapshot_dominators(s, g, &d, &err) == HI_OK)
			analyse(g, r, d);
	}
	hi_dominators_destroy(d);
	hi_reach_destroy(r);
	hi_graph_destroy(g);
	hi_snapshot_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = signed_file(data, size, 1, sign_snapshot);

	if (path) {
		read_all(path);
		read_tables(path);
	}
	return 0;
}
