/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/kernel_words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"

enum {
	MAX_DESCRIPTORS = 8192, /* of a process, times its epolls: some 10 ms */
	LINE = 128,		/* bytes for each, at most */
};

struct word_list HI_VECTOR(struct hi_kernel_word);

static void find_epolls(struct hi_kernel_text *text, pid_t pid)
{
	DIR *fds HI_GUARD(closedir) = NULL;
	char path[64], link[64];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	while (fds && text->n_descriptors <= MAX_DESCRIPTORS && (entry = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, link, sizeof(link) - 1);

		text->n_descriptors++;
		link[n > 0 ? n : 0] = 0;
		if (strcmp(link, "anon_inode:[eventpoll]") != 0)
			continue;
		if (text->n_epolls == HI_MAX_EPOLLS)
			text->is_cut = true;
		else
			text->epolls[text->n_epolls++] = atoi(entry->d_name);
	}
	text->is_cut |= text->n_descriptors > MAX_DESCRIPTORS;
	text->is_cut |= text->n_epolls * text->n_descriptors > MAX_DESCRIPTORS;
}

enum hi_status hi_kernel_text_prepare(struct hi_kernel_text *text, pid_t pid,
				      struct hi_error *err)
{
	find_epolls(text, pid);
	if (text->is_cut)
		text->n_epolls = 0;
	text->capacity = (text->n_epolls + 1) * (text->n_descriptors + 256) * LINE;
	text->bytes = hi_alloc(text->capacity);
	return text->bytes ? HI_OK : hi_fail_memory(err, "words of the kernel");
}

/* Appends /proc/PID/name, as far as there is room. */
static void append_file(struct hi_kernel_text *text, pid_t pid, const char *name)
{
	HI_GUARD(close) int fd = hi_proc_open(pid, name);
	ssize_t got = fd < 0 ? 0 : 1;

	while (got > 0 && text->size < text->capacity) {
		got = read(fd, text->bytes + text->size, text->capacity - text->size);
		text->size += got > 0 ? (size_t)got : 0;
	}
	text->is_cut |= text->size == text->capacity;
}

void hi_kernel_text_read(struct hi_kernel_text *text, pid_t pid)
{
	char name[32];

	text->size = 0;
	for (size_t i = 0; i < text->n_epolls; i++) {
		snprintf(name, sizeof(name), "fdinfo/%d", text->epolls[i]);
		append_file(text, pid, name);
		text->ends[i] = text->size;
	}
	append_file(text, pid, "timers");
	text->ends[text->n_epolls] = text->size;
}

/* "tfd:  16 events:  19 data:  564da51d1990  pos:0 …", "signal: 10/0000564da51d19d0" */
static bool parse_line(const char *line, bool is_timer, uint64_t *word_ret)
{
	const char *data = is_timer ? strchr(line, '/') : strstr(line, "data:");
	unsigned long long word;

	if (!data ||
	    strncmp(line, is_timer ? "signal:" : "tfd:", is_timer ? 7 : 4) != 0 ||
	    sscanf(data + (is_timer ? 1 : 5), "%llx", &word) != 1)
		return false;
	*word_ret = word;
	return true;
}

static bool parse_lines(const struct hi_kernel_text *text, size_t start, size_t end,
			int descriptor, struct word_list *words)
{
	char line[160];
	uint64_t word;

	while (start < end) {
		const char *at = text->bytes + start;
		const char *newline = memchr(at, '\n', end - start);
		size_t n = newline ? (size_t)(newline - at) : end - start;

		snprintf(line, sizeof(line), "%.*s", n < 159 ? (int)n : 159, at);
		if (newline && parse_line(line, descriptor < 0, &word) && word &&
		    !hi_vector_push(words, ((struct hi_kernel_word){word, descriptor})))
			return false;
		start += n + 1;
	}
	return true;
}

static bool parse_text(const struct hi_kernel_text *text, struct word_list *words)
{
	size_t start = 0;
	bool ok = true;

	for (size_t i = 0; i <= text->n_epolls && ok; i++) {
		ok = parse_lines(text, start, text->ends[i],
				 i < text->n_epolls ? text->epolls[i] : -1, words);
		start = text->ends[i];
	}
	return ok;
}

enum hi_status hi_kernel_text_words(const struct hi_kernel_text *text,
				    struct hi_kernel_word **ret, size_t *n_ret,
				    uint64_t *unread_ret, struct hi_error *err)
{
	struct word_list words = {};

	if (!parse_text(text, &words)) {
		hi_vector_free(&words);
		return hi_fail_memory(err, "words of the kernel");
	}
	*ret = words.items;
	*n_ret = words.count;
	*unread_ret = text->is_cut ? text->n_descriptors * sizeof(uint64_t) : 0;
	return HI_OK;
}

void hi_kernel_text_outdate(struct hi_kernel_text *text)
{
	text->is_cut |= text->n_epolls > 0;
}

void hi_kernel_text_free(struct hi_kernel_text *text)
{
	free(text->bytes);
	*text = (struct hi_kernel_text){};
}
