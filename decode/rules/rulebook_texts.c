/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts in use (files, shipped ones), and their unused statements. */
#include "decode/rules/rulebook_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"

enum { FILE_MAX = 16 << 20 };

enum hi_status hi_rulebook_add_file(struct hi_rulebook *book, const char *path,
				    struct hi_error *err)
{
	HI_GUARD(close) int fd = hi_files_open(path);
	HI_GUARD(free) char *text = NULL;
	struct stat st;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return hi_fail_errno(err, "hints %.100s", path);
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "%.100s: hints are a file of at most 16 MiB", path);
	text = hi_alloc((size_t)st.st_size + 1);
	if (!text)
		return hi_fail_memory(err, "hints");
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, text + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return hi_fail_errno(err, "hints %.100s", path);
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return hi_rulebook_add(book, path, text, n, err);
}

/* ---- shipped ---- */

enum { MAX_ASKED_DWARF = 48 << 20 };

static bool for_program(struct hi_rulebook *book, const struct hi_hints *hints,
			const char *exe_name)
{
	const char *slash = exe_name ? strrchr(exe_name, '/') : NULL;

	for (uint32_t i = 0; exe_name && i < hints->n_programs; i++) {
		const char *pattern = hi_book_piece(book, hints->programs[i]);

		if (pattern && fnmatch(pattern, slash ? slash + 1 : exe_name, 0) == 0)
			return true;
	}
	/* Containers without `for` are for every program. */
	return hints->containers && !hints->n_programs && !hints->n_types;
}

/* Shipped hints are tried for every program: that alone reads no large debug information.
 */
static bool has_type(struct hi_rulebook *book, struct hi_text_piece name)
{
	const char *text = book->types ? hi_book_piece(book, name) : NULL;

	return text ? hi_types_has(book->types, text, MAX_ASKED_DWARF)
		    : hi_type_by_name(&book->base, name.at, name.length) != 0;
}

static bool for_type(struct hi_rulebook *book, const struct hi_hints *hints)
{
	for (uint32_t i = 0; i < hints->n_types; i++)
		if (has_type(book, hints->types[i]))
			return true;
	return false;
}

struct parsed HI_VECTOR(struct hi_hints *);

static enum hi_status parse_shipped(struct hi_rulebook *book, struct parsed *parsed,
				    struct hi_error *err)
{
	for (const struct hi_shipped_hints *s = hi_shipped_hints; s->name; s++) {
		struct hi_hints *hints = NULL;
		enum hi_status status = hi_hints_parse(&book->arena, s->name, s->text,
						       s->size, &hints, err);

		if (status != HI_OK)
			return status;
		if (!hi_vector_push(parsed, hints))
			return hi_fail_memory(err, "hints");
	}
	return HI_OK;
}

/* Programs before types: a type is looked up when their typedefs are kept. Hints before
 * containers: hints are more specific. */
enum hi_status hi_rulebook_add_shipped(struct hi_rulebook *book, const char *exe_name,
				       struct hi_error *err)
{
	struct parsed parsed = {};
	enum hi_status status = parse_shipped(book, &parsed, err);

	for (unsigned pass = exe_name ? 0 : 2; pass < 4; pass++)
		for (size_t i = 0; status == HI_OK && i < parsed.count; i++) {
			struct hi_hints *hints = parsed.items[i];

			if (!hints || hints->containers != (pass >= 2) ||
			    !(pass % 2 ? for_type(book, hints)
				       : for_program(book, hints, exe_name)))
				continue;
			parsed.items[i] = NULL;
			status = hi_rulebook_add_parsed(book, hints, true, err);
		}
	hi_vector_free(&parsed);
	return status;
}

/* ---- unused ---- */

static void report_unused_hint(const struct hi_book_text *text,
			       const struct hi_hint *hint, struct hi_text_piece of,
			       void (*fn)(void *arg, const char *text), void *arg)
{
	static const char *const kinds[] = {"word", "place", "each", "pool",	"variant",
					    "is",   "tail",  "size", "retainer"};
	char line[400];
	struct hi_text_piece what = hint->lvalue;

	if (atomic_load(hint->hits))
		return;
	if (!what.length)
		what = (struct hi_text_piece){kinds[hint->kind],
					      (uint32_t)strlen(kinds[hint->kind])};
	snprintf(line, sizeof(line), "%s:%u: %.*s%s%.*s", text->hints->file,
		 hi_hints_position(text->hints, hint->at.at).line,
		 (int)(of.length < 150 ? of.length : 150), of.at, of.length ? "." : "",
		 (int)(what.length < 150 ? what.length : 150), what.at);
	fn(arg, line);
}

void hi_rulebook_unused(struct hi_rulebook *book, void (*fn)(void *arg, const char *text),
			void *arg)
{
	for (size_t t = 0; t < book->n_own; t++) {
		const struct hi_book_text *text = book->texts.items[t];
		const struct hi_hints *hints = text->hints;

		for (uint32_t i = 0; i < hints->n_typedefs; i++) {
			struct hi_hint hint = hints->typedefs[i].hint;

			hint.lvalue = hints->typedefs[i].name;
			report_unused_hint(text, &hint, (struct hi_text_piece){}, fn,
					   arg);
		}
		for (uint32_t i = 0; i < hints->n_roots; i++)
			report_unused_hint(text, &hints->roots[i].hint,
					   (struct hi_text_piece){}, fn, arg);
		for (uint32_t i = 0; i < hints->n_records; i++)
			for (uint32_t k = 0; k < hints->records[i].n; k++)
				report_unused_hint(text, &hints->records[i].items[k],
						   hints->records[i].pattern, fn, arg);
	}
}
