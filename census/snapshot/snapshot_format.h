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

/* "properties": a name and a number, or a name and a string. */
enum { HI_SNAPSHOT_NUMBER = 1, HI_SNAPSHOT_TEXT = 2 };
struct hi_snapshot_property {
	uint32_t name, kind; /* name: offset in "strings" */
	uint64_t value;	     /* TEXT: offset in "strings" */
};

struct hi_snapshot_type {
	uint32_t name, module, owner, field; /* offsets in "strings" */
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
	uint32_t name, detail, type, module; /* offsets in "strings" */
	uint64_t address, size;
	uint32_t kind, rank;
};

struct hi_snapshot_window {
	uint64_t base;
	uint32_t first, spare;
};

struct hi_snapshot_large {
	uint32_t id, spare;
	uint64_t usable;
};
struct hi_snapshot_unreachable {
	uint32_t object, unreachable_class;
};

/* "frames": a row of a frame (census/events/frames.h). */
struct hi_snapshot_frame {
	uint32_t module, function, file; /* offsets in "strings" */
	uint32_t line;
	uint64_t offset;
	uint32_t frame, flags;
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

_Static_assert(sizeof(struct hi_snapshot_property) == 16, "property");
_Static_assert(sizeof(struct hi_snapshot_type) == 40, "type");
_Static_assert(sizeof(struct hi_snapshot_root) == 40, "root");
_Static_assert(sizeof(struct hi_snapshot_window) == 16, "window");
_Static_assert(sizeof(struct hi_snapshot_large) == 16, "large");
_Static_assert(sizeof(struct hi_snapshot_unreachable) == 8, "fate");
_Static_assert(sizeof(struct hi_snapshot_frame) == 32, "frame");

#endif
