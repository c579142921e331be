/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/biography/bio_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/heap_profile/hp_writer.h"
#include "report/reports/bio/bio_report.h"
#include "session/inspect/inspect.h"
#include "session/series/sink_file.h"

struct hi_lives_sink {
	struct hi_lives *lives;
	struct hi_lives_profile options;
	struct HI_VECTOR(uint64_t) at_ns; /* of each census, on the axis of the profile */
	struct hi_sink_file profile;	  /* its fd -1: none */
	struct hi_bio_summary *before_exit; /* NULL: none */
	char *exe;
	char news[256];
};

/* ---- censuses ---- */

/* Keeps what a page shows, before the census of the exit is added. */
static enum hi_status keep_before_exit(struct hi_lives_sink *s, struct hi_error *err)
{
	size_t n;

	hi_lives_censuses(s->lives, &n);
	return n < 2 || s->before_exit
		       ? HI_OK
		       : hi_lives_summarize(s->lives, &s->before_exit, err);
}

static enum hi_status add_census_to_lives(void *sink,
					  const struct hi_series_header *header,
					  const struct hi_series_census_event *event,
					  struct hi_error *err)
{
	struct hi_lives_sink *s = sink;
	struct hi_bio_census_row line;
	size_t n;
	enum hi_status status =
		event->in->image->stats.at_exit ? keep_before_exit(s, err) : HI_OK;

	if (status == HI_OK)
		status = hi_lives_add(s->lives, event->in, event->sample->wall_ns, err);
	if (status != HI_OK)
		return status;
	if (!hi_vector_push(&s->at_ns, event->sample->at_ns))
		return hi_fail_memory(err, "biographies");
	free(s->exe);
	s->exe = hi_strdup(header->exe);
	if (!s->exe)
		return hi_fail_memory(err, "biographies");
	hi_lives_censuses(s->lives, &n);
	if (n == 1) {
		snprintf(s->news, sizeof(s->news), "the first period begins");
		return HI_OK;
	}
	status = hi_lives_last_line(s->lives, &line, err);
	if (status == HI_OK)
		hi_bio_line_text(&line, s->news);
	return status;
}

static enum hi_status take_mark_of_lives(void *sink,
					 const struct hi_series_header *header,
					 const struct hi_series_mark_event *event,
					 struct hi_error *err)
{
	struct hi_lives_sink *s = sink;
	enum hi_status status;

	(void)header;
	s->news[0] = '\0';
	if (!event->is_era)
		return HI_OK;
	status = hi_lives_begin_era(s->lives, event->text, err);
	if (status == HI_OK)
		snprintf(s->news, sizeof(s->news), "era %.100s begins", event->text);
	return status;
}

static const char *news_of_lives(const void *sink)
{
	return ((const struct hi_lives_sink *)sink)->news;
}

/* ---- the heap profile ---- */

/* One number a band, which add up to what is live, in the order of GHC: what is proved,
 * and USE has what is not known; then what is not used in one of several bands. */
static enum hi_status put_profile_sample(struct hi_hp *hp, uint64_t at_ns,
					 const struct hi_bio_row *row,
					 struct hi_error *err)
{
	uint64_t bytes[HI_BIO_PARTS];
	enum hi_status status = HI_OK;

	hi_bio_row_parts(row, bytes);
	bytes[HI_BIO_USE] += bytes[HI_BIO_PART_NOT_KNOWN];
	hi_hp_sample_begin(hp, at_ns);
	for (unsigned part = 0; status == HI_OK && part < HI_BIO_PART_NOT_KNOWN; part++)
		status = hi_hp_band(hp, hi_bio_part_name(part), bytes[part], err);
	return status == HI_OK ? hi_hp_sample_end(hp, err) : status;
}

/* Bytes of each text of the groups at census t. */
static void sum_profile_groups(const struct hi_lives_sink *s,
			       const struct hi_bio_view *view, uint64_t t,
			       uint64_t *bytes)
{
	const struct hi_object_groups *groups = hi_lives_groups(s->lives);
	const uint32_t bands = s->options.bands ? s->options.bands : HI_BIO_NOT_USED;
	struct hi_bio_row row;

	memset(bytes, 0, (groups->texts.names.count + 1) * sizeof(*bytes));
	for (uint32_t g = 0; g < groups->list.count; g++) {
		if (groups->list.items[g].is_hidden)
			continue;
		hi_bio_view_row(view, g, t, &row);
		bytes[hi_object_group_text(&groups->list.items[g], s->options.by)] +=
			hi_bio_row_sum(&row, bands).bytes.proved;
	}
}

static enum hi_status put_group_sample(const struct hi_lives_sink *s, struct hi_hp *hp,
				       uint64_t at_ns, const uint64_t *bytes,
				       struct hi_error *err)
{
	const struct hi_interner *texts = &hi_lives_groups(s->lives)->texts;
	enum hi_status status = HI_OK;

	hi_hp_sample_begin(hp, at_ns);
	for (uint32_t i = 0; status == HI_OK && i <= texts->names.count; i++) {
		const char *name = i ? hi_interner_name(texts, i) : "(unknown)";

		if (bytes[i])
			status = hi_hp_band(hp, name, bytes[i], err);
	}
	return status == HI_OK ? hi_hp_sample_end(hp, err) : status;
}

static enum hi_status write_sample(const struct hi_lives_sink *s, struct hi_hp *hp,
				   const struct hi_bio_view *view, uint64_t t,
				   uint64_t *bytes, struct hi_error *err)
{
	const uint64_t at_ns = s->at_ns.items[t];
	struct hi_bio_row row;

	if (s->options.has_groups) {
		sum_profile_groups(s, view, t, bytes);
		return put_group_sample(s, hp, at_ns, bytes, err);
	}
	hi_lives_row(s->lives, view, t, &row);
	return put_profile_sample(hp, at_ns, &row, err);
}

static enum hi_status write_samples(struct hi_lives_sink *s, struct hi_hp *hp,
				    uint64_t end_ns, struct hi_error *err)
{
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	HI_GUARD(free)
	uint64_t *bytes = hi_calloc(hi_lives_groups(s->lives)->texts.names.count + 1,
				    sizeof(*bytes));
	enum hi_status status =
		hi_bio_view_make(hi_lives_bio(s->lives), HI_BIO_AT_CENSUS, &view, err);

	if (status == HI_OK && !bytes)
		status = hi_fail_memory(err, "heap profile");
	for (uint64_t t = 1; status == HI_OK && t <= hi_bio_view_censuses(view); t++)
		status = write_sample(s, hp, view, t, bytes, err);
	return status == HI_OK ? hi_hp_finish(hp, end_ns, err) : status;
}

/* "drag,void by type" */
static void describe_profile(const struct hi_lives_profile *p, char out[100])
{
	const uint32_t bands = p->bands ? p->bands : HI_BIO_NOT_USED;
	int used = 0;

	snprintf(out, 100, "use (USE has what is not known)");
	if (!p->has_groups)
		return;
	used = snprintf(out, 100, "%s:", hi_lives_by_name(p->by));
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (bands & HI_BIO_BIT(band))
			used += snprintf(out + used, (size_t)(100 - used), " %s",
					 hi_bio_band_name((enum hi_bio_band)band));
}

static enum hi_status end_lives(void *sink, const struct hi_series_header *header,
				const struct hi_series_end_event *event,
				struct hi_error *err)
{
	HI_GUARD(hi_hp_destroy) struct hi_hp *hp = NULL;
	const char *slash = strrchr(header->exe, '/');
	struct hi_lives_sink *s = sink;
	char job[300], by[100];
	struct hi_hp_header head = {.job = job,
				    .date = time(NULL),
				    .sample_unit = hi_series_unit(header->axis),
				    .zeros = !s->options.has_groups};
	enum hi_status status;

	s->news[0] = '\0';
	if (s->profile.fd < 0)
		return HI_OK;
	describe_profile(&s->options, by);
	snprintf(job, sizeof(job), "%.160s pid %d by %s", slash ? slash + 1 : header->exe,
		 header->pid, by);
	status = hi_hp_create(s->profile.fd, -1, &head, &hp, err);
	if (status == HI_OK)
		status = write_samples(s, hp, event->at_ns, err);
	return status == HI_OK ? hi_sink_file_commit(&s->profile, err) : status;
}

/* ---- all of it ---- */

/* The sink lives longer than the series. */
static void leave_lives(void *sink)
{
	(void)sink;
}

static const struct hi_series_sink_ops lives_sink_ops = {
	.census = add_census_to_lives,
	.mark = take_mark_of_lives,
	.end = end_lives,
	.has_axis = true,
	.news = news_of_lives,
	.destroy = leave_lives,
};

struct hi_series_sink hi_lives_sink_of_series(struct hi_lives_sink *sink)
{
	return (struct hi_series_sink){&lives_sink_ops, sink};
}

enum hi_status hi_lives_sink_open(const struct hi_lives_options *options,
				  const struct hi_lives_profile *profile,
				  struct hi_lives_sink **ret, struct hi_error *err)
{
	HI_GUARD(hi_lives_sink_close) struct hi_lives_sink *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "biographies");
	s->profile.fd = -1;
	s->options = *profile;
	status = hi_lives_create(options, &s->lives, err);
	if (status == HI_OK && profile->path)
		status = hi_sink_file_open(profile->path, &s->profile, err);
	if (status == HI_OK)
		*ret = hi_take(s);
	return status;
}

struct hi_lives *hi_lives_sink_lives(struct hi_lives_sink *sink)
{
	return sink->lives;
}

const struct hi_bio_summary *hi_lives_sink_before_exit(const struct hi_lives_sink *sink)
{
	return sink->before_exit;
}

const char *hi_lives_sink_exe(const struct hi_lives_sink *sink)
{
	return sink->exe ? sink->exe : "";
}

void hi_lives_sink_close(struct hi_lives_sink *sink)
{
	if (!sink)
		return;
	hi_sink_file_close(&sink->profile);
	hi_vector_free(&sink->at_ns);
	hi_bio_summary_destroy(sink->before_exit);
	hi_lives_destroy(sink->lives);
	free(sink->exe);
	free(sink);
}
