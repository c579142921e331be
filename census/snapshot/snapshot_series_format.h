/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a file with many censuses. docs/SNAPSHOT_FORMAT.md describes the same for
 * other programs: change both.
 *
 *	first page | snapshot, its record | snapshot, its record | … | end record
 *
 * A part is a whole snapshot (snapshot_format.h) at a multiple of 4096 bytes. Behind it,
 * at the next multiple of 64, is the record that marks it as complete.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_FORMAT_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_FORMAT_H

#include <stdint.h>

#define HI_SNAPSHOTS_MAGIC_BYTES                                                         \
	{                                                                                \
		0x89, 'H', 'I', 'S', 'E', 'R', 'S', '\n'                                 \
	}
#define HI_SNAPSHOTS_RECORD_BYTES                                                        \
	{                                                                                \
		0x89, 'H', 'I', 'P', 'A', 'R', 'T', '\n'                                 \
	}

enum {
	HI_SNAPSHOTS_MAJOR = 1, /* a reader refuses a greater one */
	HI_SNAPSHOTS_MINOR = 1,
	HI_SNAPSHOTS_PAGE = 4096,
	HI_SNAPSHOTS_ID = 16,
};

struct hi_snapshots_header {
	uint8_t magic[8];
	uint32_t major, minor;
	uint8_t id[HI_SNAPSHOTS_ID]; /* random; in every record of the file */
	uint8_t reserved[24];
	uint64_t hash; /* XXH3 of the 56 bytes before */
};

/* Kinds of records; readers pass over those that they do not know. */
enum {
	HI_SNAPSHOTS_AGGREGATES = 1,
	HI_SNAPSHOTS_GRAPH = 2,
	HI_SNAPSHOTS_END = 3,
	HI_SNAPSHOTS_MARKS = 4,
};

struct hi_snapshots_record {
	uint8_t magic[8];
	uint32_t kind;
	uint32_t number;   /* of the census, from 1; END: how it ended; MARKS: row */
	uint64_t sequence; /* of the record in the file, from 0 */
	uint64_t offset;   /* where the part begins; END: where the record does */
	uint64_t size;	   /* of the snapshot; END: 0 */
	uint8_t id[HI_SNAPSHOTS_ID];
	uint64_t part_hash; /* the one in the snapshot's header; END: 0 */
	uint64_t time_ns, wall_ns, cpu_ns, pause_ns, objects, bytes, leaked;
	uint64_t hash; /* XXH3 of the 120 bytes before */
};

_Static_assert(sizeof(struct hi_snapshots_header) == 64, "header");
_Static_assert(sizeof(struct hi_snapshots_record) == 128, "record");

#endif
