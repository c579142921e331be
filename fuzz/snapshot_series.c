/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of many censuses of any bytes: its records, which are made to hold as whoever
 * makes up a file does, and what they lead to. (fuzz/snapshot.c is about the parts.)
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "census/snapshot/graphs_wanted.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_functions.h"
#include "census/snapshot/snapshot_series_format.h"
#include "fuzz/sign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sign_header(uint8_t *file, uint8_t id[HI_SNAPSHOTS_ID])
{
	static const uint8_t magic[] = HI_SNAPSHOTS_MAGIC_BYTES;
	struct hi_snapshots_header h;

	memcpy(&h, file, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.major = HI_SNAPSHOTS_MAJOR;
	h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshots_header, hash));
	memcpy(id, h.id, HI_SNAPSHOTS_ID);
	memcpy(file, &h, sizeof(h));
}

/* A record of the input's numbers, that holds. */
static void sign_record(uint8_t *at, const uint8_t id[HI_SNAPSHOTS_ID], uint64_t hash)
{
	static const uint8_t magic[] = HI_SNAPSHOTS_RECORD_BYTES;
	struct hi_snapshots_record r;

	memcpy(&r, at, sizeof(r));
	memcpy(r.magic, magic, sizeof(magic));
	memcpy(r.id, id, HI_SNAPSHOTS_ID);
	if (r.kind != HI_SNAPSHOTS_END)
		r.part_hash = hash;
	r.hash = XXH3_64bits(&r, offsetof(struct hi_snapshots_record, hash));
	memcpy(at, &r, sizeof(r));
}

/* Every page may begin a part, or be the end. */
static void sign(uint8_t *file, size_t size)
{
	static const uint8_t magic[] = HI_SNAPSHOT_MAGIC_BYTES;
	uint8_t id[HI_SNAPSHOTS_ID];

	sign_header(file, id);
	for (size_t at = HI_SNAPSHOTS_PAGE; at + 128 <= size; at += HI_SNAPSHOTS_PAGE) {
		struct hi_snapshot_header h;
		uint64_t end;

		memcpy(&h, file + at, sizeof(h));
		if (memcmp(h.magic, magic, sizeof(magic)) != 0) {
			sign_record(file + at, id, 0);
			continue;
		}
		h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash));
		memcpy(file + at, &h, sizeof(h));
		if (h.file_size > size)
			continue;
		end = (at + h.file_size + 63) & ~63ull;
		if (end + sizeof(struct hi_snapshots_record) <= size)
			sign_record(file + end, id, h.hash);
	}
}

static void open_part(const struct hi_snapshots *s, size_t i, enum hi_snapshots_kind kind)
{
	struct hi_snapshot *part = NULL;
	struct hi_graph *g = NULL;
	struct hi_graph *outline = NULL;
	struct hi_reach *r = NULL;
	struct hi_census *census = NULL;
	struct hi_live_function *functions = NULL;
	struct hi_error err;
	size_t n;

	if (!s->entries[i].parts[kind].size)
		return;
	if (hi_snapshots_part(s, i, kind, &part, &err) == HI_OK) {
		if (hi_snapshot_outline(part, &outline, &r, &err) == HI_OK)
			(void)hi_snapshot_census(part, &census, &err);
		if (hi_snapshot_functions(part, &functions, &n, &err) == HI_OK)
			free(functions);
		if (hi_snapshot_graph(part, &g, &err) == HI_OK && !hi_graph_is_valid(g))
			abort();
	}
	hi_census_destroy(census);
	hi_reach_destroy(r);
	hi_graph_destroy(outline);
	hi_graph_destroy(g);
	hi_snapshot_close(part);
}

static void read_all(const char *path)
{
	static const struct hi_graphs_wanted wanted = {
		.first = true, .last = true, .every = 3, .peak = true, .peaks = 3};
	struct hi_snapshots *s = NULL;
	struct hi_error err;
	bool *keep;

	if (hi_snapshots_open(path, &s, &err) != HI_OK)
		return;
	keep = calloc(s->n_entries, sizeof(*keep));
	if (keep)
		hi_graphs_choose(&wanted, s->entries, s->n_entries, true, keep);
	free(keep);
	for (size_t i = 0; i < s->n_entries; i++) {
		if (i && s->entries[i].point.number <= s->entries[i - 1].point.number)
			abort();
		open_part(s, i, HI_SNAPSHOTS_TOTALS);
		open_part(s, i, HI_SNAPSHOTS_WHOLE);
	}
	hi_snapshots_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = signed_file(data, size, HI_SNAPSHOTS_PAGE, sign);

	if (path)
		read_all(path);
	return 0;
}
