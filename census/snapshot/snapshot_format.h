/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a snapshot file, for its writer and its reader. docs/SNAPSHOT_FORMAT.md
 * describes the same for other programs: change both.
 *
 *	header (64 bytes) | directory (63 entries of 64 bytes) | sections …
 *
 * All numbers are little-endian. A section begins at a multiple of 64 bytes and is one
 * column, or one table of fixed rows.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_FORMAT_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_FORMAT_H

#include <stdint.h>

#include "census/analysis/alloc_sites.h"
#include "census/analysis/leak_groups.h"
#include "census/analysis/owners.h"
#include "census/biography/sample_bands.h"
#include "census/events/recording.h"
#include "census/space/space.h"

#define HI_SNAPSHOT_MAGIC_BYTES                                                          \
	{                                                                                \
		0x89, 'H', 'I', 'S', 'N', 'A', 'P', '\n'                                 \
	}

enum {
	HI_SNAPSHOT_MAJOR = 1, /* a reader refuses a greater one */
	HI_SNAPSHOT_MINOR = 5, /* sections were added, which older readers ignore */
	HI_SNAPSHOT_SECTIONS = 63,
	HI_SNAPSHOT_ALIGN = 64,
	HI_SNAPSHOT_NAME = 16,
	HI_SNAPSHOT_ZSTD = 1, /* flag of a section: its bytes are zstd frames */
	HI_SNAPSHOT_FIRST = 4096,
};

struct hi_snapshot_header {
	uint8_t magic[8];
	uint32_t major, minor;
	uint64_t file_size;
	uint32_t n_sections, spare;
	uint64_t directory_hash; /* XXH3 of the n_sections entries */
	uint8_t reserved[16];
	uint64_t hash; /* XXH3 of the 56 bytes before */
};

struct hi_snapshot_section {
	char name[HI_SNAPSHOT_NAME]; /* NUL-terminated */
	uint32_t flags, item;	     /* bytes of one item */
	uint64_t offset, stored;     /* in the file */
	uint64_t size;		     /* of the items: = stored unless compressed */
	uint64_t hash;		     /* XXH3 of the stored bytes */
	uint64_t reserved;
};

_Static_assert(sizeof(struct hi_snapshot_header) == 64, "header");
_Static_assert(sizeof(struct hi_snapshot_section) == 64, "section");
_Static_assert(sizeof(struct hi_snapshot_header) +
			       HI_SNAPSHOT_SECTIONS *
				       sizeof(struct hi_snapshot_section) ==
		       HI_SNAPSHOT_FIRST,
	       "the first page");

/* ---- rows of sections; those that are the same in memory have their struct there.
 * snapshot_sections.c has the meaning of columns ---- */

enum { HI_SNAPSHOT_NUMBER = 1, HI_SNAPSHOT_TEXT = 2 };
struct hi_snapshot_property {
	uint32_t name, kind;
	uint64_t value;
};

struct hi_snapshot_type {
	uint32_t name, module, owner, field;
	uint64_t size, size_class;
	uint32_t klass, flags;
};
/* Bits 8 to 15: hi_type_name.front. */
enum {
	HI_SNAPSHOT_TYPE_INDIRECT = 1,
	HI_SNAPSHOT_TYPE_RETAINS = 2,
	HI_SNAPSHOT_TYPE_FRONT = 8,
};

struct hi_snapshot_root {
	uint32_t name, detail, type, module;
	uint64_t address, size;
	uint32_t kind, rank;
};
struct hi_snapshot_window {
	uint64_t base;
	uint32_t first, spare;
};
struct hi_snapshot_large {
	uint32_t object, spare;
	uint64_t usable;
};
struct hi_snapshot_unreachable {
	uint32_t object, unreachable_class;
};
enum { HI_SNAPSHOT_EVIDENCES = HI_EVIDENCE_RUNTIME + 1 };
struct hi_snapshot_census_row {
	uint32_t type, spare;
	uint64_t count, shallow, retained, largest;
	uint64_t by_evidence[HI_SNAPSHOT_EVIDENCES];
};
struct hi_snapshot_ledger_row {
	uint32_t key, label, level, spare;
	uint64_t resident, virtual_size, swapped, count;
};
struct hi_snapshot_retained_row {
	uint32_t depth, sort, kind, flags;
	uint32_t name, detail, type, node;
	uint64_t address, shallow, retained, more, more_bytes, count;
};
enum { HI_SNAPSHOT_RETAINED_LIST = 1 << 8 }; /* a flag beside those of an object */
struct hi_snapshot_suspect_row {
	uint32_t top, accumulation, child_type, held, holder, example, threads, flags;
	uint64_t retained, accumulation_retained, children, children_bytes;
};
struct hi_snapshot_owner_row {
	uint64_t bytes, largest_bytes;
	uint32_t largest, n, flags, spare;
	uint32_t variables[HI_OWNERS_MAX];
};
enum { HI_SNAPSHOT_OWNER_MANY = 1, HI_SNAPSHOT_OWNER_NAMED = 2 };
struct hi_snapshot_leak_row {
	uint64_t usable, n_like;
	uint32_t pointers, text, like, n_fits;
	uint32_t fits[HI_LEAK_FITS];
	uint32_t spare;
};
struct hi_snapshot_leak_node {
	uint32_t object, group;
};
struct hi_snapshot_site_row {
	uint64_t size, extra;
	uint32_t function, file, module, type;
	uint32_t line, kind, type_grade, gives_text;
};
struct hi_snapshot_conflict_row {
	uint32_t type, other;
	uint64_t objects, example;
};
struct hi_snapshot_module_row {
	uint32_t path, build_id;
	uint64_t start, end;
};
enum hi_live_function_kind {
	HI_LIVE_FUNCTION_NAMED,
	HI_LIVE_FUNCTION_BEFORE, /* older than the recording; of samples: without a record
				  */
	HI_LIVE_FUNCTION_OTHER,	 /* of a heap that is not recorded */
	HI_LIVE_FUNCTION_NO_STACK, /* recorded, but the function is not known */
	HI_LIVE_FUNCTION_KINDS
};
struct hi_snapshot_function_row {
	uint32_t function, file, module, kind;
	uint64_t objects, bytes;
};
struct hi_snapshot_frame {
	uint32_t module, function, file;
	uint32_t line;
	uint64_t offset;
	uint32_t frame, flags;
};
/* An estimate is its value and the ends of its interval. */
struct hi_snapshot_window_site {
	uint32_t module, function, file, line;
	uint64_t offset;
	uint32_t flags, has_site;
	uint64_t seen, seen_live, seen_leaked, unseen_frees;
	double allocations[3], bytes[3], live_bytes[3], leaked[3], leaked_bytes[3];
	uint32_t open, spare;
};
/* Samples in one context, or calls of one kind: of more a file is damaged, so that any
 * sum of them has no more than 64 bits. */
#define HI_TICKS_MAX (1ull << 40)
struct hi_snapshot_source_row {
	uint32_t name, family, is_whole, spare;
	struct hi_context_totals totals;
};
struct hi_snapshot_mark_row {
	uint64_t time_ns;
	uint32_t text, n_rows, is_era, spare;
};
struct hi_snapshot_era_row {
	uint32_t number, name;
	uint64_t period;
};
struct hi_snapshot_estimate_row {
	double proved, possible;
	struct hi_interval interval;
};
struct hi_snapshot_likely_row {
	double estimate;
	struct hi_interval range;
};
/* The start of period 1, and then the end of each period, whose amounts are `period`. */
struct hi_snapshot_space_census {
	uint64_t at_ns, end_ns, lost; /* as struct hi_space_census has them */
	struct hi_space_amount older;
	struct hi_space_period period;
};
/* Bytes that a context has allocated in a phase. */
struct hi_snapshot_space_part {
	uint32_t context, phase;
};
struct hi_snapshot_phase_row {
	uint64_t from_ns;
	uint32_t label, is_wanted;
};
struct hi_snapshot_used_row {
	uint32_t object, bytes;
};
struct hi_snapshot_text_row {
	uint32_t object, text, cut, spare;
};
struct hi_snapshot_slab_row {
	uint32_t allocator, spare;
	uint64_t size, slabs, bytes, slots, live, cached, empty, sparse, sparse_bytes,
		slack;
};
enum hi_snapshot_blocks {
	HI_SNAPSHOT_BLOCKS_CLASSES,
	HI_SNAPSHOT_BLOCKS_FREE,
	HI_SNAPSHOT_BLOCKS_PAGES,
	HI_SNAPSHOT_BLOCKS_TABLES
};
struct hi_snapshot_blocks_row {
	uint32_t table, row;
	uint64_t n[4];
};
struct hi_snapshot_layout_row {
	uint32_t kind, first, n, spare;
	uint64_t size;
};
struct hi_snapshot_field_row {
	uint32_t path, type, how, spare;
	uint64_t offset, size;
};
struct hi_snapshot_extent_row {
	uint32_t id, spare;
	uint64_t lead, start, end;
};
struct hi_snapshot_value_row {
	uint32_t id, field, value, to, grade, spare;
};
struct hi_snapshot_outside_row {
	uint32_t id, field, path, grade;
	uint64_t to;
};
/* Ends of kinds that other rooms have. */
enum {
	HI_SNAPSHOT_LAYOUT_KINDS = 4,
	HI_SNAPSHOT_FIELD_HOWS = 8,
	HI_SNAPSHOT_RETAINED_SORTS = 2,
};
#define HI_SNAPSHOT_EQUAL_SPECIAL (UINT32_MAX - 2)

/* "marks" of a part of a series (snapshot_series_format.h). */
struct hi_snapshots_mark_row {
	uint32_t text, census;
	uint64_t wall_ns, cpu_ns;
};

/*
 * "edges.name", "roots.name": an offset in "strings", below HI_SNAPSHOT_INDEX; or one of
 * these with a number: "[number]", " +0x…" (8 × number), or "[number]" and the string
 * that is named by one of "edges.tail".
 */
#define HI_SNAPSHOT_INDEX 0x80000000u
#define HI_SNAPSHOT_OFFSET 0xa0000000u
#define HI_SNAPSHOT_TAILED 0xc0000000u
#define HI_SNAPSHOT_NUMBER_MOST 0x1fffffffu
#define HI_SNAPSHOT_TAILED_MOST 0x00ffffffu
enum { HI_SNAPSHOT_TAIL_SHIFT = 24, HI_SNAPSHOT_TAILS = 64 };

#endif
