/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/heap_profile/hp_writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/heap_profile/hp_label.h"

enum { TEXT_MAX = 64 << 10, MICRO = 1000000 };

/* What is not written yet. */
struct buffer HI_VECTOR(char);

struct hi_hp {
	int fd, key_fd;
	off_t written, key_written; /* bytes of complete writes; -1: cannot seek */
	bool zeros, in_sample;
	uint64_t time_us;
	struct buffer sample, key;
	struct hi_hp_labels labels;
};

static bool append_text(struct buffer *buffer, const char *text)
{
	return hi_vector_append(buffer, text, strlen(text));
}

/* A short line. */
static bool append_line(struct buffer *buffer, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static bool append_line(struct buffer *buffer, const char *fmt, ...)
{
	char line[HI_HP_LABEL_SIZE + 128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < sizeof(line) &&
	       hi_vector_append(buffer, line, (size_t)n);
}

/* "0.500000": never with the locale's decimal mark. */
static bool append_time(struct buffer *buffer, const char *word, uint64_t us)
{
	return append_line(buffer, "%s %" PRIu64 ".%06" PRIu64 "\n", word, us / MICRO,
			   us % MICRO);
}

/* Appends the whole text on one line, escaped for terminals. */
static bool append_escaped(struct buffer *buffer, const char *text)
{
	size_t n = strnlen(text, TEXT_MAX);

	if (!hi_vector_reserve(buffer, buffer->count + n * 4 + 8))
		return false;
	buffer->count +=
		hi_text_escape(buffer->items + buffer->count, n * 4 + 8, text, n);
	return true;
}

static enum hi_status write_hp_bytes(int fd, const char *text, size_t n,
				     struct hi_error *err)
{
	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return hi_fail_errno(err, "cannot write the heap profile");
		text += done;
		n -= (size_t)done;
	}
	return HI_OK;
}

/* The buffer becomes empty, also on failure: nothing is written twice. */
static enum hi_status flush_hp_buffer(int fd, struct buffer *buffer, off_t *written,
				      struct hi_error *err)
{
	size_t n = buffer->count;
	enum hi_status status = write_hp_bytes(fd, buffer->items, n, err);

	buffer->count = 0;
	if (status == HI_OK && *written >= 0)
		*written += (off_t)n;
	/* A full disk took a part: the file ends with the last whole sample again. */
	if (status != HI_OK && *written >= 0 && ftruncate(fd, *written) == 0)
		(void)lseek(fd, *written, SEEK_SET);
	return status;
}

static enum hi_status flush_both(struct hi_hp *hp, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (hp->key_fd >= 0)
		status = flush_hp_buffer(hp->key_fd, &hp->key, &hp->key_written, err);
	hp->key.count = 0;
	if (status == HI_OK)
		status = flush_hp_buffer(hp->fd, &hp->sample, &hp->written, err);
	return status;
}

/* A string of the header. GHC doubles the quotes inside. */
static bool append_string(struct buffer *buffer, const char *word, const char *text)
{
	char safe[1024];
	bool fine = append_text(buffer, word) && append_text(buffer, " \"");

	hi_text_escape(safe, sizeof(safe), text, strnlen(text, sizeof(safe)));
	for (const char *s = safe; fine && *s; s++)
		fine = hi_vector_append(buffer, s, 1) &&
		       (*s != '"' || hi_vector_append(buffer, s, 1));
	return fine && append_text(buffer, "\"\n");
}

/* "Sat Nov 21 09:20 2026" in every locale. */
static void format_date(char out[64], time_t date)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct tm tm = {};

	if (!localtime_r(&date, &tm)) {
		strcpy(out, "?");
		return;
	}
	snprintf(out, 64, "%.3s %.3s %2d %02d:%02d %d", days + tm.tm_wday * 3,
		 months + tm.tm_mon * 3, tm.tm_mday, tm.tm_hour, tm.tm_min,
		 tm.tm_year + 1900);
}

static bool append_header(struct hi_hp *hp, const struct hi_hp_header *header)
{
	const char *unit = header->sample_unit ? header->sample_unit : "seconds";
	const char *value = header->value_unit ? header->value_unit : "bytes";
	char date[64];

	format_date(date, header->date);
	return append_string(&hp->sample, "JOB", header->job) &&
	       append_string(&hp->sample, "DATE", date) &&
	       append_string(&hp->sample, "SAMPLE_UNIT", unit) &&
	       append_string(&hp->sample, "VALUE_UNIT", value) &&
	       append_text(&hp->key, "Key of a heap profile\n") &&
	       append_string(&hp->key, "JOB", header->job) &&
	       append_string(&hp->key, "DATE", date) && append_text(&hp->key, "\n");
}

/* Where the descriptor writes; -1: nothing that is written can be taken back. */
static off_t writing_position(int fd)
{
	int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;

	return flags >= 0 && !(flags & O_APPEND) ? lseek(fd, 0, SEEK_CUR) : -1;
}

enum hi_status hi_hp_create(int fd, int key_fd, const struct hi_hp_header *header,
			    struct hi_hp **ret, struct hi_error *err)
{
	HI_GUARD(hi_hp_destroy) struct hi_hp *hp = hi_calloc(1, sizeof(*hp));
	enum hi_status status;

	if (!hp)
		return hi_fail_memory(err, "heap profile");
	hp->fd = fd;
	hp->key_fd = key_fd;
	hp->zeros = header->zeros;
	hp->written = writing_position(fd);
	hp->key_written = writing_position(key_fd);
	if (!append_header(hp, header))
		return hi_fail_memory(err, "heap profile");
	status = flush_both(hp, err);
	if (status == HI_OK)
		*ret = hi_take(hp);
	return status;
}

void hi_hp_destroy(struct hi_hp *hp)
{
	if (!hp)
		return;
	hi_hp_labels_free(&hp->labels);
	hi_vector_free(&hp->sample);
	hi_vector_free(&hp->key);
	free(hp);
}

static uint64_t advance_hp_time(struct hi_hp *hp, uint64_t time_ns)
{
	if (time_ns / 1000 > hp->time_us)
		hp->time_us = time_ns / 1000;
	return hp->time_us;
}

void hi_hp_sample_begin(struct hi_hp *hp, uint64_t time_ns)
{
	assert(!hp->in_sample);
	hp->in_sample = true;
	advance_hp_time(hp, time_ns);
}

/* The first line of a sample is written with its first band, so that running out of
 * memory can be reported. */
static bool begin_sample(struct hi_hp *hp)
{
	return hp->sample.count > 0 ||
	       append_time(&hp->sample, "BEGIN_SAMPLE", hp->time_us);
}

/* hp2ps and others read a signed number. */
static bool append_band(struct hi_hp *hp, const char *label, uint64_t value)
{
	if (value > INT64_MAX)
		value = INT64_MAX;
	return begin_sample(hp) &&
	       append_line(&hp->sample, "%s\t%" PRIu64 "\n", label, value);
}

enum hi_status hi_hp_band(struct hi_hp *hp, const char *name, uint64_t value,
			  struct hi_error *err)
{
	struct hi_hp_label label;

	assert(hp->in_sample);
	if (value == 0 && !hp->zeros)
		return HI_OK;
	if (!hi_hp_label_of_name(&hp->labels, name, &label))
		return hi_fail_memory(err, "heap profile");
	if (label.is_new && label.number &&
	    (!append_line(&hp->key, "NAME n%" PRIu64 " = ", label.number) ||
	     !append_escaped(&hp->key, name) || !append_text(&hp->key, "\n")))
		return hi_fail_memory(err, "heap profile");
	if (!append_band(hp, label.text, value))
		return hi_fail_memory(err, "heap profile");
	return HI_OK;
}

static bool append_set(struct buffer *key, uint64_t set, const char *const *members,
		       size_t n)
{
	bool fine = append_line(key, "SET %" PRIu64 " = {", set);

	for (size_t i = 0; fine && i < n; i++)
		fine = append_text(key, i ? ", <" : "<") &&
		       append_escaped(key, members[i]) && append_text(key, ">");
	return fine && append_text(key, "}\n");
}

enum hi_status hi_hp_set_band(struct hi_hp *hp, uint64_t set, const char *const *members,
			      size_t n_members, uint64_t value, struct hi_error *err)
{
	struct hi_hp_label label;

	assert(hp->in_sample);
	if (value == 0 && !hp->zeros)
		return HI_OK;
	if (!hi_hp_label_of_set(&hp->labels, set, members, n_members, &label))
		return hi_fail_memory(err, "heap profile");
	if (label.is_new && !append_set(&hp->key, set, members, n_members))
		return hi_fail_memory(err, "heap profile");
	if (!append_band(hp, label.text, value))
		return hi_fail_memory(err, "heap profile");
	return HI_OK;
}

enum hi_status hi_hp_sample_end(struct hi_hp *hp, struct hi_error *err)
{
	assert(hp->in_sample);
	hp->in_sample = false;
	if (!begin_sample(hp) || !append_time(&hp->sample, "END_SAMPLE", hp->time_us)) {
		hp->sample.count = 0;
		return hi_fail_memory(err, "heap profile");
	}
	return flush_both(hp, err);
}

enum hi_status hi_hp_mark(struct hi_hp *hp, uint64_t time_ns, const char *text,
			  struct hi_error *err)
{
	uint64_t us = advance_hp_time(hp, time_ns);

	assert(!hp->in_sample);
	if (!append_time(&hp->sample, "MARK", us) ||
	    !append_line(&hp->key, "MARK %" PRIu64 ".%06" PRIu64 " ", us / MICRO,
			 us % MICRO) ||
	    !append_escaped(&hp->key, text ? text : "") || !append_text(&hp->key, "\n")) {
		hp->sample.count = 0;
		return hi_fail_memory(err, "heap profile");
	}
	return flush_both(hp, err);
}

enum hi_status hi_hp_retainer_note(struct hi_hp *hp,
				   const struct hi_hp_retainer_census *census,
				   struct hi_error *err)
{
	uint64_t us = census->time_ns / 1000, n = census->objects;
	uint64_t rest = n ? census->visits % n : 0;
	/* Never wraps: rest is below the number of objects, which memory holds. */
	uint64_t fraction = n ? (uint64_t)((unsigned __int128)rest * MICRO / n) : 0;

	if (!append_line(&hp->key,
			 "Retainer Profiling: %" PRIu64 ", at %" PRIu64 ".%06" PRIu64
			 " seconds\n",
			 census->number, us / MICRO, us % MICRO) ||
	    !append_line(&hp->key, "  Max auxiliary stack size = %" PRIu64 "\n",
			 census->waiting) ||
	    !append_line(&hp->key,
			 "  Average number of visits per object = %" PRIu64 ".%06" PRIu64
			 "\n",
			 n ? census->visits / n : 0, fraction) ||
	    !append_line(&hp->key, "  Current total costs = %" PRIu64 "\n",
			 census->costs) ||
	    !append_line(&hp->key, "  Number of retainer sets = %" PRIu64 "\n",
			 census->sets))
		return hi_fail_memory(err, "heap profile");
	if (hp->in_sample)
		return HI_OK; /* goes with the sample */
	return flush_both(hp, err);
}

enum hi_status hi_hp_hidden_note(struct hi_hp *hp, uint64_t time_ns, uint64_t bytes,
				 uint64_t many, struct hi_error *err)
{
	uint64_t us = time_ns / 1000;

	if (!append_line(&hp->key,
			 "Hidden by a restriction, at %" PRIu64 ".%06" PRIu64
			 " seconds: %" PRIu64 " bytes, of these in MANY: %" PRIu64 "\n",
			 us / MICRO, us % MICRO, bytes, many))
		return hi_fail_memory(err, "heap profile");
	return hp->in_sample ? HI_OK : flush_both(hp, err);
}

enum hi_status hi_hp_finish(struct hi_hp *hp, uint64_t time_ns, struct hi_error *err)
{
	hi_hp_sample_begin(hp, time_ns);
	return hi_hp_sample_end(hp, err);
}
