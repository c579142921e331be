/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/source_editor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { EDITOR_WORDS = 16, NO_PROGRAM = 127 };

static const char *find_editor(void)
{
	static const char *const names[] = {"VISUAL", "EDITOR"};

	for (size_t i = 0; i < 2; i++) {
		const char *editor = getenv(names[i]);

		if (editor && editor[strspn(editor, " \t")])
			return editor;
	}
	return NULL;
}

bool hi_edit_has_editor(void)
{
	return find_editor() != NULL;
}

enum hi_status hi_edit_prepare(struct hi_edit_place **ret, struct hi_error *err)
{
	void *shared = mmap(NULL, sizeof(**ret), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return hi_fail_memory(err, "place of the source");
	*ret = shared;
	return HI_OK;
}

/* A name that is cut is another file. */
static void note_path(char to[PATH_MAX], const char *path)
{
	snprintf(to, PATH_MAX, "%s", strlen(path) < PATH_MAX ? path : "");
}

void hi_edit_note(struct hi_edit_place *place, const struct hi_edit_source *source)
{
	if (!place)
		return;
	note_path(place->file, source->file);
	note_path(place->module, source->module);
	snprintf(place->function, sizeof(place->function), "%s", source->function);
	place->line = source->line;
}

/* ---- opening ---- */

/* The process without rights has written it. */
static struct hi_edit_place copy_edit_place(const struct hi_edit_place *place)
{
	struct hi_edit_place copy = *place;

	copy.file[sizeof(copy.file) - 1] = '\0';
	copy.module[sizeof(copy.module) - 1] = '\0';
	copy.function[sizeof(copy.function) - 1] = '\0';
	return copy;
}

/* Relative to a directory, as a path without . and .. */
static bool find_source_in(const char *directory, size_t length, const char *file,
			   char ret[PATH_MAX])
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)length, directory,
				file) < sizeof(path) &&
	       realpath(path, ret);
}

static bool find_source(const struct hi_edit_place *place, char ret[PATH_MAX])
{
	const char *module = place->module;

	if (*place->file == '/')
		return realpath(place->file, ret);
	if (find_source_in(".", 1, place->file, ret))
		return true;
	if (*module != '/')
		return false;
	for (size_t n = strlen(module); n-- > 1;)
		if (module[n] == '/' && find_source_in(module, n, place->file, ret))
			return true;
	return false;
}

static enum hi_status find_edited_file(const struct hi_edit_place *place,
				       char ret[PATH_MAX], struct hi_error *err)
{
	char function[4 * sizeof(place->function)], file[1024];
	struct stat st;

	hi_text_escape(function, sizeof(function), place->function,
		       strlen(place->function));
	hi_text_escape(file, sizeof(file), place->file, strnlen(place->file, 250));
	if (!*place->function)
		return hi_fail(err, HI_NOT_FOUND, 0, "--edit: no function is shown");
	if (!*place->file)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "--edit: the source of %.120s is not known: no debug "
			       "information names it",
			       function);
	if (!find_source(place, ret))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "--edit: the source of %.120s is %.250s, which is not "
			       "there",
			       function, file);
	if (stat(ret, &st) != 0 || !S_ISREG(st.st_mode))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "--edit: the source of %.120s is %.250s, which is no "
			       "regular file",
			       function, file);
	return HI_OK;
}

/* Of the editor, which it cuts into words. */
static size_t split_editor(char *editor, char *words[EDITOR_WORDS])
{
	char *rest = NULL;
	size_t n = 0;

	for (char *word = strtok_r(editor, " \t", &rest); word && n < EDITOR_WORDS;
	     word = strtok_r(NULL, " \t", &rest))
		words[n++] = word;
	return n;
}

static enum hi_status run_editor(char *const argv[], struct hi_error *err)
{
	pid_t pid = fork();
	int how = 0;

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(NO_PROGRAM);
	}
	if (pid < 0)
		return hi_fail_errno(err, "--edit: %.200s", argv[0]);
	while (waitpid(pid, &how, 0) < 0)
		if (errno != EINTR)
			return hi_fail_errno(err, "--edit: %.200s", argv[0]);
	if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
		return HI_OK;
	if (WIFEXITED(how) && WEXITSTATUS(how) == NO_PROGRAM)
		return hi_fail(err, HI_NOT_FOUND, 0, "--edit: cannot run %.200s",
			       argv[0]);
	return hi_fail(err, HI_OS, 0, "--edit: %.200s ended with %s %d", argv[0],
		       WIFEXITED(how) ? "status" : "signal",
		       WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how));
}

enum hi_status hi_edit_open(const struct hi_edit_place *shared, struct hi_error *err)
{
	struct hi_edit_place place = copy_edit_place(shared);
	const char *editor = find_editor();
	HI_GUARD(free) char *words = editor ? hi_strdup(editor) : NULL;
	char *argv[EDITOR_WORDS + 3] = {}, line[16], file[PATH_MAX];
	size_t n;
	enum hi_status status = find_edited_file(&place, file, err);

	if (status != HI_OK)
		return status;
	if (!words)
		return hi_fail_memory(err, "editor");
	n = split_editor(words, argv);
	snprintf(line, sizeof(line), "+%u", place.line ? place.line : 1);
	argv[n++] = line;
	argv[n] = file;
	return run_editor(argv, err);
}
