/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/series_profile.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "report/heap_profile/hp_writer.h"
#include "session/series/sink_file.h"

struct profile_sink {
	struct hi_sink_file profile, key;
	char *key_path;	  /* FILE.prof of FILE.hp */
	struct hi_hp *hp; /* NULL until the first census */
};

static char *key_path_of(const char *path)
{
	size_t n = strlen(path);
	char *ret = hi_alloc(n + 6);

	if (!ret)
		return NULL;
	if (n > 3 && strcmp(path + n - 3, ".hp") == 0)
		n -= 3;
	memcpy(ret, path, n);
	memcpy(ret + n, ".prof", 6);
	return ret;
}

static enum hi_status begin_profile_sink(void *sink,
					 const struct hi_series_header *header,
					 const struct hi_series_sample *first,
					 struct hi_error *err)
{
	struct profile_sink *s = sink;
	const char *slash = strrchr(header->exe, '/');
	char job[512], only[200];
	struct hi_hp_header hp_header = {.job = job,
					 .date = time(NULL),
					 .sample_unit = hi_series_unit(header->axis),
					 .value_unit = header->counts ? "objects" : NULL};
	enum hi_status status;

	hi_series_restriction_text(first, only, sizeof(only));
	snprintf(job, sizeof(job), "%.160s pid %d by %s%s%s%s%s",
		 slash ? slash + 1 : header->exe, header->pid, header->by,
		 header->pure ? ", pure bytes" : "", *only ? ", " : "", only,
		 first->lower_bound ? HI_SERIES_LOWER_BOUND : "");
	status = hi_hp_create(s->profile.fd, s->key.fd, &hp_header, &s->hp, err);
	if (status == HI_OK)
		status = hi_sink_file_commit(&s->profile, err);
	return status == HI_OK ? hi_sink_file_commit(&s->key, err) : status;
}

static uint64_t value_of_row(const struct hi_series_header *header,
			     const struct hi_series_row *row)
{
	return header->counts ? row->objects : row->bytes;
}

static enum hi_status add_band(struct hi_hp *hp, const struct hi_series_header *header,
			       const struct hi_series_row *row, struct hi_error *err)
{
	if (row->keyed)
		return hi_hp_set_band(hp, row->set, row->members, row->n_members,
				      value_of_row(header, row), err);
	return hi_hp_band(hp, hi_series_name(header, row), value_of_row(header, row),
			  err);
}

/* What --retained-by cannot tell of, as a band of its own: a profile without it would
 * show less than there may be. The key has all that is hidden. */
static enum hi_status add_hidden(struct hi_hp *hp, const struct hi_series_header *header,
				 const struct hi_series_sample *sample,
				 struct hi_error *err)
{
	const struct hi_report_restriction *only = sample->only;
	enum hi_status status = HI_OK;

	if (only && only->many_bytes)
		status = hi_hp_band(
			hp, "(hidden,MANY)",
			header->counts ? only->many_objects : only->many_bytes, err);
	if (status == HI_OK && only && only->hidden_bytes)
		status = hi_hp_hidden_note(hp, sample->at_ns, only->hidden_bytes,
					   only->many_bytes, err);
	return status;
}

static enum hi_status add_leaked_band(struct hi_hp *hp,
				      const struct hi_series_header *header,
				      const struct hi_series_sample *sample,
				      enum hi_leak_kind kind, struct hi_error *err)
{
	struct hi_leak_total leaked = hi_series_leaked(sample, kind);
	uint64_t value = header->counts ? leaked.objects : leaked.bytes;

	return value ? hi_hp_band(hp, hi_leak_kind_label(kind), value, err) : HI_OK;
}

static enum hi_status note_retainers(struct hi_hp *hp,
				     const struct hi_series_header *header,
				     const struct hi_series_sample *sample,
				     struct hi_error *err)
{
	struct hi_hp_retainer_census note = {.number = sample->number,
					     .time_ns = sample->at_ns,
					     .visits = sample->visits,
					     .waiting = sample->waiting,
					     .objects = sample->objects,
					     .sets = sample->n_rows};

	for (size_t i = 0; i < sample->n_rows; i++)
		note.costs += value_of_row(header, &sample->rows[i]);
	return hi_hp_retainer_note(hp, &note, err);
}

static enum hi_status put_census_in_profile(void *sink,
					    const struct hi_series_header *header,
					    const struct hi_series_census_event *event,
					    struct hi_error *err)
{
	const struct hi_series_sample *sample = event->sample;
	struct hi_hp *hp = ((struct profile_sink *)sink)->hp;
	enum hi_status status = HI_OK;

	hi_hp_sample_begin(hp, sample->at_ns);
	if (sample->visits)
		status = note_retainers(hp, header, sample, err);
	for (size_t i = 0; i < sample->n_rows && status == HI_OK; i++)
		status = add_band(hp, header, &sample->rows[i], err);
	for (unsigned kind = 0; status == HI_OK && kind < HI_LEAK_KINDS; kind++)
		status = add_leaked_band(hp, header, sample, kind, err);
	if (status == HI_OK)
		status = add_hidden(hp, header, sample, err);
	return status == HI_OK ? hi_hp_sample_end(hp, err) : status;
}

static enum hi_status put_mark_in_profile(void *sink,
					  const struct hi_series_header *header,
					  const struct hi_series_mark_event *event,
					  struct hi_error *err)
{
	struct profile_sink *s = sink;

	(void)header;
	return s->hp ? hi_hp_mark(s->hp, event->at_ns, event->text, err) : HI_OK;
}

static enum hi_status end_profile_sink(void *sink, const struct hi_series_header *header,
				       const struct hi_series_end_event *event,
				       struct hi_error *err)
{
	struct profile_sink *s = sink;

	(void)header;
	return s->hp ? hi_hp_finish(s->hp, event->at_ns, err) : HI_OK;
}

static void destroy_profile_sink(void *sink)
{
	struct profile_sink *s = sink;

	hi_hp_destroy(s->hp);
	hi_sink_file_close(&s->profile);
	hi_sink_file_close(&s->key);
	free(s->key_path);
	free(s);
}

static const struct hi_series_sink_ops profile_sink_ops = {
	.has_axis = true,
	.begin = begin_profile_sink,
	.census = put_census_in_profile,
	.mark = put_mark_in_profile,
	.end = end_profile_sink,
	.destroy = destroy_profile_sink,
};

enum hi_status hi_series_profile_open(const char *path, struct hi_series_sink *ret,
				      struct hi_error *err)
{
	struct profile_sink *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "heap profile");
	s->profile.fd = s->key.fd = -1;
	s->key_path = key_path_of(path);
	status = s->key_path ? hi_sink_file_open(path, &s->profile, err)
			     : hi_fail_memory(err, "heap profile");
	if (status == HI_OK)
		status = hi_sink_file_open(s->key_path, &s->key, err);
	if (status == HI_OK)
		*ret = (struct hi_series_sink){&profile_sink_ops, s};
	else
		destroy_profile_sink(s);
	return status;
}
