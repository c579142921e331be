/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/near_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/vector.h"
#include "cli/command/command.h"
#include "cli/options/option_take.h"

enum { ENTRIES_MOST = 5000 };

struct folder {
	struct file_names HI_VECTOR(const char *) names; /* hostile */
	struct hi_arena arena;
};

static void free_folder(struct folder *f)
{
	hi_vector_free(&f->names);
	hi_arena_free(&f->arena);
}

static DIR *open_folder_of(const char *path)
{
	const char *name = hi_base_name(path);
	char folder[4096];

	if (name == path)
		return opendir(".");
	snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
	return (size_t)(name - path) < sizeof(folder) ? opendir(folder) : NULL;
}

static void list_folder_of(struct folder *f, const char *path)
{
	HI_GUARD(closedir) DIR *dir = open_folder_of(path);
	const struct dirent *entry;

	for (size_t n = 0; dir && n < ENTRIES_MOST && (entry = readdir(dir)); n++) {
		const char *copy = entry->d_name[0] == '.' || entry->d_type == DT_DIR
					   ? NULL
					   : hi_arena_strdup(&f->arena, entry->d_name);

		if (copy)
			(void)!hi_vector_push(&f->names, copy);
	}
}

static const char *nth_file(void *arg, uint32_t i)
{
	return ((const struct folder *)arg)->names.items[i];
}

const char *hi_near_files_text(const char *path, char out[HI_NEAR_TEXT])
{
	struct folder f = {};

	list_folder_of(&f, path);
	hi_names_near_text(hi_base_name(path), nth_file, &f, (uint32_t)f.names.count,
			   out);
	free_folder(&f);
	return out;
}

int hi_option_no_file(const char *path)
{
	char near[HI_NEAR_TEXT];

	return hi_option_wrong("%.150s: no such file%s", path,
			       hi_near_files_text(path, near));
}

static int check_file_of(const char *option, const char *path)
{
	char near[HI_NEAR_TEXT];

	if (!path || strcmp(path, "-") == 0 || access(path, F_OK) == 0 || errno != ENOENT)
		return 0;
	return hi_option_wrong("cannot read %s%.150s: No such file or directory%s",
			       option, path, hi_near_files_text(path, near));
}

int hi_options_check_files(const struct hi_options *o)
{
	const struct hi_comparison_options *c = &o->comparison;
	bool is_argument = strstr(o->command->arguments, "FILE") != NULL;

	if (check_file_of("", o->target.file) != 0 || check_file_of("", c->middle) != 0 ||
	    check_file_of("", o->check.update_baseline ? NULL : c->baseline) != 0 ||
	    check_file_of("", is_argument ? o->argument : NULL) != 0 ||
	    check_file_of("--core ", o->target.core) != 0 ||
	    check_file_of("--exe ", o->target.exe) != 0 ||
	    check_file_of("--like ", o->drawing.like) != 0 ||
	    check_file_of("--contour ", o->deep.contour) != 0)
		return 2;
	for (size_t i = 0; i < o->decoding.n_hints; i++)
		if (check_file_of("--hints ", o->decoding.hints[i]) != 0)
			return 2;
	return 0;
}
