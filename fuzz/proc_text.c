/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of /proc/PID of any bytes, which a process with all rights parses: the first byte
 * is the kind, the rest the text. A target names its files, its threads and itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/command_line.h"
#include "attach/kernel_words.h"
#include "attach/maps.h"
#include "attach/procfs.h"
#include "attach/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_mapping(const struct hi_mapping *m)
{
	size_t n = strlen(m->path);
	char *copy = strdup(m->path);
	bool deleted = false;

	expect(copy && m->start < m->end && m->kind <= HI_MAPPING_OTHER);
	expect(hi_mapping_kind_of(m) == m->kind);
	expect(hi_path_cut_deleted(copy, n, &deleted) <= n);
	free(copy);
}

static void parse_maps(const char *text, size_t n)
{
	struct hi_mapping *mappings = NULL;
	size_t n_mappings = 0;
	struct hi_error err;

	if (hi_maps_parse(text, n, &mappings, &n_mappings, &err) != HI_OK)
		return;
	for (size_t i = 0; i < n_mappings; i++) {
		check_mapping(&mappings[i]);
		expect(!i || mappings[i - 1].end <= mappings[i].start);
	}
	hi_mappings_free(mappings, n_mappings);
}

static void parse_smaps(char *text)
{
	struct hi_smaps_sizes sizes = {};
	struct hi_error err;

	(void)!hi_smaps_parse_sizes(text, &sizes, &err);
	hi_vector_free(&sizes);
}

static void parse_stat(const char *text, size_t n)
{
	struct hi_proc_stat stat;

	if (hi_proc_parse_stat(text, n, &stat))
		expect(memchr(stat.name, 0, sizeof(stat.name)) != NULL);
	(void)hi_proc_field_bytes(text, "Rss", 0);
	(void)hi_proc_field(text, "Seccomp");
}

static void parse_command_line(char *text, size_t n)
{
	struct hi_command_line line = {text, n < HI_COMMAND_LINE_MAX ? n : 4096, n & 1},
			       note = {};

	free(hi_command_line_text(&line, false));
	free(hi_command_line_text(&line, true));
	free(hi_command_line_script(n ? text : "", &line));
	free(hi_command_line_script("/usr/bin/python3.11", &line));
	free(hi_command_line_script("java", &line));
	free(hi_command_line_script("bash", &line));
	if (hi_command_line_of_note(&note, text, n < 80 ? n : 80))
		free(hi_command_line_text(&note, false));
	hi_command_line_free(&note);
}

/* Lines of an epoll, and timers after them; the lines of each begin anywhere. */
static void parse_kernel_words(char *text, size_t n)
{
	struct hi_kernel_text words = {.epolls = {5},
				       .ends = {n / 2, n},
				       .n_epolls = 1,
				       .bytes = text,
				       .size = n};
	struct hi_kernel_word *found = NULL;
	uint64_t unread;
	size_t n_found = 0;

	if (hi_kernel_text_words(&words, &found, &n_found, &unread, NULL) != HI_OK)
		return;
	for (size_t i = 0; i < n_found; i++)
		expect(found[i].word &&
		       (found[i].descriptor == 5 || found[i].descriptor == -1));
	free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size ? size - 1 : 0;
	char *text = malloc(n + 1);

	if (!text)
		return 0;
	memcpy(text, data + (size > 0), n);
	text[n] = 0;
	switch (size ? data[0] % 5 : 0) {
	case 0:
		parse_maps(text, n);
		break;
	case 1:
		parse_smaps(text);
		break;
	case 2:
		parse_stat(text, n);
		break;
	case 3:
		parse_command_line(text, n);
		break;
	default:
		parse_kernel_words(text, n);
		break;
	}
	free(text);
	return 0;
}
