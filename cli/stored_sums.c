/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of a census: a snapshot without objects. */
#include "base/cleanup.h"
#include "cli/stored.h"
#include "census/snapshot_series_format.h"

HI_DEFINE_GUARD(struct hi_snapshot_writer *, hi_snapshot_writer_destroy)

static enum hi_status put_numbers(const struct hi_inspection *in,
				  struct hi_snapshot_writer *w, struct hi_error *err)
{
	const struct hi_reach *r = in->reach;
	const struct {
		const char *name;
		uint64_t number;
	} numbers[] = {{"allocated", hi_inspect_allocated(in)},
		       {"live.objects", r->live_objects},
		       {"live.bytes", r->live_bytes},
		       {"leak.objects", r->leak_objects},
		       {"leak.bytes", r->leak_bytes}};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && status == HI_OK; i++)
		status = hi_snapshot_put_number(w, numbers[i].name, numbers[i].number,
						err);
	return status;
}

static enum hi_status put_sums(const struct hi_inspection *in,
			       struct hi_snapshot_writer *w, struct hi_error *err)
{
	const struct hi_census *c = in->census;
	struct sums HI_VECTOR(struct hi_snapshots_sum) rows = {};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < c->n_rows && status == HI_OK; i++) {
		const struct hi_census_row *row = &c->rows[i];
		const struct hi_type_name *type = &in->graph->types[row->type];
		struct hi_snapshots_sum sum = {.objects = row->count,
					       .bytes = row->shallow,
					       .retained = row->retained};

		status = hi_snapshot_put_string(w, type->name ? type->name : "",
						&sum.name, err);
		if (status == HI_OK)
			status = hi_snapshot_put_string(
				w, type->module ? type->module : "", &sum.module, err);
		if (status == HI_OK && !hi_vector_push(&rows, sum))
			status = hi_fail_memory(err, "sums");
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, "sums", rows.items, sizeof(*rows.items),
					 rows.count, err);
	hi_vector_free(&rows);
	return status;
}

enum hi_status hi_stored_write_sums(const struct hi_inspection *in,
				    const struct hi_head *head, int fd, uint64_t at,
				    struct hi_error *err)
{
	/* They are small: the names in them are most of it. */
	struct hi_snapshot_options options = {.compress = true, .at = at};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	enum hi_status status = hi_snapshot_create(fd, &options, &w, err);

	if (status == HI_OK)
		status = hi_stored_put_head(w, head, err);
	if (status == HI_OK)
		status = put_numbers(in, w, err);
	if (status == HI_OK)
		status = hi_stored_put_ledger(in, w, err);
	if (status == HI_OK)
		status = put_sums(in, w, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}
