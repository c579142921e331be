/* SPDX-License-Identifier: BSD-2-Clause */
/* GHC's heap profile of one census: live bytes by type. A series of them is what
 * `census --every` writes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/interner.h"
#include "base/text.h"
#include "report/exports/export.h"
#include "report/heap_profile/hp_label.h"
#include "report/heap_profile/hp_writer.h"
#include "report/parts/decoded_share.h"
#include "report/parts/report_node.h"
#include "report/reports/series/series_sample.h"

/* hp2ps draws from the first sample to the last: the census stands for a second. */
enum { END_NS = 1000000000 };

struct writer {
	struct hi_export *x;
	struct hi_hp *hp;
	struct hi_interner names; /* two types may have one */
	uint64_t *bytes;	  /* by number - 1 */
};

static bool is_short(const char *name)
{
	return strlen(name) <= HI_HP_LABEL_MAX && !strpbrk(name, " \t\r\n\"");
}

static enum hi_status sum_bands_by_type(struct writer *w, struct hi_error *err)
{
	const struct hi_census *c = w->x->census;

	w->bytes = hi_calloc(c->n_rows + 1, sizeof(*w->bytes));
	if (!w->bytes)
		return hi_fail_memory(err, "export");
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct hi_type_name *type = &w->x->graph->types[c->rows[i].type];
		uint32_t number = hi_interner_add(&w->names, hi_type_key(type->name));

		if (!number)
			return hi_fail_memory(err, "export");
		w->bytes[number - 1] += c->rows[i].shallow;
	}
	return HI_OK;
}

static enum hi_status put_hp_sample(struct writer *w, uint64_t at_ns,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	hi_hp_sample_begin(w->hp, at_ns);
	for (size_t i = 0; i < w->names.names.count && status == HI_OK; i++)
		status = hi_hp_band(w->hp, w->names.names.items[i], w->bytes[i], err);
	return status == HI_OK ? hi_hp_sample_end(w->hp, err) : status;
}

static enum hi_status create_hp_export(struct writer *w, struct hi_error *err)
{
	const struct hi_report_header *header = w->x->header;
	char job[256];
	struct hi_hp_header hp_header = {.job = job, .date = time(NULL)};

	if (header->time_ns != UINT64_MAX)
		hp_header.date = (time_t)(header->time_ns / 1000000000);
	snprintf(job, sizeof(job), "%.160s pid %d by type%s", hi_base_name(header->exe),
		 header->pid,
		 hi_heap_known(header) == HI_HEAP_KNOWN ? "" : HI_SERIES_LOWER_BOUND);
	if (fflush(w->x->out) != 0)
		return hi_fail_errno(err, "export");
	return hi_hp_create(fileno(w->x->out), -1, &hp_header, &w->hp, err);
}

static void warn_of_short_names(const struct writer *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->names.names.count; i++)
		n += !is_short(w->names.names.items[i]);
	if (n)
		hi_export_warn(w->x,
			       "%" PRIu64
			       " type names were cut or written without blanks: labels "
			       "of this format have at most %d bytes and no blanks",
			       n, HI_HP_LABEL_MAX);
	hi_export_warn_leaked(w->x);
}

enum hi_status hi_export_hp(struct hi_export *x, struct hi_error *err)
{
	struct writer w = {.x = x};
	enum hi_status status = sum_bands_by_type(&w, err);

	if (status == HI_OK)
		status = create_hp_export(&w, err);
	if (status == HI_OK)
		status = put_hp_sample(&w, 0, err);
	if (status == HI_OK)
		status = put_hp_sample(&w, END_NS, err);
	if (status == HI_OK)
		warn_of_short_names(&w);
	hi_hp_destroy(w.hp);
	hi_interner_free(&w.names);
	free(w.bytes);
	return status;
}
