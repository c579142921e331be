/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of profile.proto that every profile has: strings, mappings, functions, and
 * messages that go out one by one, gzipped. Ids of functions and locations are the
 * caller's.
 *
 * Source: google/pprof, proto/profile.proto.
 */
#ifndef HI_REPORT_EXPORTS_PPROF_WRITER_H
#define HI_REPORT_EXPORTS_PPROF_WRITER_H

#include "base/interner.h"
#include "report/exports/export.h"
#include "report/exports/gzip_writer.h"
#include "report/exports/protobuf.h"

/* Fields of the messages. */
enum {
	HI_PPROF_SAMPLE_TYPE = 1,
	HI_PPROF_SAMPLE,
	HI_PPROF_MAPPING,
	HI_PPROF_LOCATION,
	HI_PPROF_FUNCTION,
	HI_PPROF_STRING_TABLE,
	HI_PPROF_DROP_FRAMES,
	HI_PPROF_TIME_NANOS = 9,
	HI_PPROF_DURATION_NANOS,
	HI_PPROF_PERIOD_TYPE,
	HI_PPROF_PERIOD,
	HI_PPROF_COMMENT,
	HI_PPROF_DEFAULT_SAMPLE_TYPE
};
enum { HI_PPROF_SAMPLE_LOCATION_ID = 1, HI_PPROF_SAMPLE_VALUE, HI_PPROF_SAMPLE_LABEL };
enum { HI_PPROF_LABEL_KEY = 1, HI_PPROF_LABEL_STR };
enum {
	HI_PPROF_LOCATION_ID = 1,
	HI_PPROF_LOCATION_MAPPING_ID,
	HI_PPROF_LOCATION_ADDRESS,
	HI_PPROF_LOCATION_LINE
};
enum { HI_PPROF_LINE_FUNCTION_ID = 1, HI_PPROF_LINE_LINE };

struct hi_pprof {
	struct hi_gzip *gzip;
	struct hi_protobuf field, message, inner; /* one in the other */
	struct hi_interner strings;
	const struct hi_mapped_file *mappings; /* their ids: index + 1. Borrowed */
	size_t n_mappings;
	uint64_t limit; /* bytes before compression */
	bool failed;	/* out of memory */
};

/* Asks for the mapped files; nothing is written yet. Close it, also on failure. */
enum hi_status hi_pprof_open(struct hi_pprof *p, struct hi_export *x,
			     struct hi_error *err);
/* Returns the index of the text in the string table; it is escaped. */
uint64_t hi_pprof_string(struct hi_pprof *p, const char *text);
/* What is in `field` goes out. */
void hi_pprof_flush(struct hi_pprof *p);
/* What is in `message` goes out as a field of the profile. */
void hi_pprof_put(struct hi_pprof *p, uint32_t field);
/* A type of value and its unit: HI_PPROF_SAMPLE_TYPE, HI_PPROF_PERIOD_TYPE. */
void hi_pprof_put_value_type(struct hi_pprof *p, uint32_t field, const char *type,
			     const char *unit);
/* system_name NULL: as the name, and pprof takes it as demangled. */
void hi_pprof_put_function(struct hi_pprof *p, uint64_t id, const char *name,
			   const char *system_name, const char *file);
void hi_pprof_put_mappings(struct hi_pprof *p);
/* HI_NO_MEMORY; HI_LIMIT: the profile is too large. */
enum hi_status hi_pprof_check(const struct hi_pprof *p, struct hi_error *err);
/* Writes the strings and ends the stream. Errors as hi_pprof_check(). */
enum hi_status hi_pprof_finish(struct hi_pprof *p, struct hi_error *err);
void hi_pprof_close(struct hi_pprof *p);

#endif
