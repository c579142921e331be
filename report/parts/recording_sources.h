/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of a recording in reports, and where their live pieces came from. */
#ifndef HI_REPORT_PARTS_RECORDING_SOURCES_H
#define HI_REPORT_PARTS_RECORDING_SOURCES_H

#include "census/events/birth_groups.h"
#include "census/snapshot/snapshot_births.h"
#include "report/display.h"
#include "report/json_writer.h"

struct hi_pieces_line {
	uint32_t source;
	uint32_t group;		/* of the groups */
	uint64_t pieces, bytes; /* estimates, of samples */
	uint64_t sized;		/* pieces whose size is known */
};
struct hi_pieces_report {
	const struct hi_recorded *recorded;
	const struct hi_birth_groups *groups;
	struct hi_pieces_line *rows; /* by source, then by bytes; none by thread or age */
	size_t n_rows;
	struct hi_pieces_line sums[HI_EVENT_SOURCES]; /* of each source */
	size_t top; /* rows of a source that are shown */
};

/* Borrows its inputs. HI_NO_MEMORY. */
enum hi_status hi_pieces_report_make(const struct hi_recorded *recorded,
				     const struct hi_birth_groups *groups, size_t top,
				     struct hi_pieces_report *ret, struct hi_error *err);
void hi_pieces_report_free(struct hi_pieces_report *report);
/* Adds a table of the sources, if there are several, and one of each that has pieces. */
void hi_pieces_display(const struct hi_pieces_report *report, struct hi_page *page);
/* Writes the member "sources". */
void hi_pieces_json(const struct hi_pieces_report *report, struct hi_json *json);

/* One piece, for other reports; nothing where piece is NULL. */
void hi_piece_show(const struct hi_recorded *recorded, const struct hi_piece *piece,
		   struct hi_page *page);
void hi_piece_json(const struct hi_recorded *recorded, const struct hi_piece *piece,
		   struct hi_json *json);

#endif
