/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `census --by site|context|thread|age` of a recording, and that of `record`:
 * live bytes by where or when they were allocated.
 */
#ifndef HI_REPORT_PARTS_BIRTHS_REPORT_H
#define HI_REPORT_PARTS_BIRTHS_REPORT_H

#include "base/cleanup.h"
#include "census/events/birth_groups.h"
#include "census/snapshot/snapshot_births.h"
#include "report/parts/recorded_children.h"
#include "report/parts/recording_sources.h"
#include "report/parts/report_header.h"
#include "report/parts/row_selection.h"

struct hi_births_line {
	uint32_t group;		     /* of the groups */
	uint64_t objects, bytes;     /* estimates, of samples */
	struct hi_interval interval; /* of the bytes, 95 % */
	uint64_t first_ns, last_ns;  /* births, since the start of the recording */
	/* Of all allocations of the recording; UINT64_MAX: not known by this key. */
	uint64_t allocs, frees, alloc_bytes;
};

struct hi_births_report {
	const struct hi_report_header *header;
	const struct hi_recorded *recorded;
	const struct hi_birth_groups *groups;
	uint64_t objects, bytes; /* live */
	/* Of these: allocated in the recording, before it, in no recorded block. The
	 * first two are estimates, of samples; without_record is then what has none,
	 * before the recording or not sampled. */
	struct hi_birth_sum known, before, other, without_record;
	struct hi_births_line *rows; /* of the known ones, by bytes */
	size_t n_rows;
	struct hi_pieces_report pieces;
	struct hi_hidden below, beyond;
	bool is_of_record;     /* the report of `record` */
	const char *file;      /* that `record` has written; NULL: none */
	const char *allocator; /* of `record`: what was followed; NULL: not known */
	struct hi_recorded_children children;
};

/* Has the recording samples only? */
static inline bool hi_recorded_is_sampled(const struct hi_recorded *recorded)
{
	return recorded->births->sample_bytes;
}
/* mask: bits of the objects that count. Borrows its inputs. HI_NO_MEMORY. */
enum hi_status hi_births_report_create(
	const struct hi_report_header *header, const struct hi_objects *objects,
	const uint64_t *mask, const struct hi_recorded *recorded,
	const struct hi_birth_groups *groups, const struct hi_restrict *only,
	struct hi_births_report **ret, struct hi_error *err);
void hi_births_report_destroy(struct hi_births_report *report); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_births_report *, hi_births_report_destroy)
/* Adds the report to a page. */
void hi_births_display(const struct hi_births_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/births/v1". */
void hi_births_json(const struct hi_births_report *report, struct hi_json *json);

/* How one object was allocated, for other reports. */
enum hi_birth_known { HI_BIRTH_UNRECORDED, HI_BIRTH_BEFORE, HI_BIRTH_RECORDED };
struct hi_birth_info {
	enum hi_birth_known known;
	const struct hi_recorded *recorded; /* NULL: there is no recording */
	uint32_t context, thread;	    /* of HI_BIRTH_RECORDED, as the others */
	uint64_t age_ns, size;		    /* at the end; as requested */
};
/* recorded may be NULL. */
struct hi_birth_info hi_birth_info(const struct hi_recorded *recorded, hi_node object);
/* The function that allocated it; "before the recording", of samples "before the
 * recording or not sampled", "not recorded". Safe. */
const char *hi_birth_site_text(const struct hi_birth_info *birth, struct hi_page *page);
/* The name of that function; "" where none is known. Raw. */
const char *hi_birth_site_name(const struct hi_birth_info *birth);
/* Adds a fact and the stack; nothing where there is no recording. */
void hi_birth_show_fact(const struct hi_birth_info *birth, struct hi_page *page);
void hi_birth_show_stack(const struct hi_birth_info *birth, struct hi_page *page);
/* Writes the member "allocation"; null where it is not recorded, nothing where there is
 * no recording. */
void hi_birth_json(const struct hi_birth_info *birth, struct hi_json *json);

/* The sites of some objects, for other reports: at most `most` of the largest. */
struct hi_births_sites {
	const struct hi_recorded *recorded;
	struct hi_birth_sum before, other, known;
	struct hi_births_line *rows; /* their groups are rows of the frames; UINT32_MAX:
					no stack */
	size_t n_rows;
	struct hi_hidden beyond;
};
enum hi_status hi_births_sites_find(const struct hi_recorded *recorded,
				    const struct hi_objects *objects,
				    const uint64_t *mask, size_t most,
				    struct hi_births_sites *ret, struct hi_error *err);
void hi_births_sites_free(struct hi_births_sites *sites);
/* Adds a table under a heading. Functions lead to what `command` says of what they
 * allocated. */
void hi_births_sites_show(const struct hi_births_sites *sites, const char *heading,
			  const char *command, struct hi_page *page);
/* Writes the member "sites". */
void hi_births_sites_json(const struct hi_births_sites *sites, struct hi_json *json);

#endif
