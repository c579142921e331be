/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --suggest-hints`: a file for --hints, of what `census --untyped` finds. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "cli/commands/untyped.h"
#include "decode/describe/tagged_unions.h"

/* Fields that are looked at; a hint for each would be no help. */
enum { FIELDS = 50 };

/* Only what the language of hints can name: such text is also harmless in a file. */
static bool is_plain_name(const char *name)
{
	static const char others[] = "_:<>,.* ";

	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(others, *p))
			return false;
	return *name;
}

static bool is_plain_union(const struct hi_tagged_union *u)
{
	for (size_t i = 0; i < u->n_cases; i++)
		if (!is_plain_name(u->cases[i].enumerator) ||
		    (u->cases[i].target && !is_plain_name(u->cases[i].target)))
			return false;
	return is_plain_name(u->record) && is_plain_name(u->word) &&
	       is_plain_name(u->tag);
}

/* "		VALUE_LIST: list;  # 25 fit, 0 do not" */
static const char *line_of_case(const struct hi_tagged_case *c, struct hi_arena *arena)
{
	if (!c->target)
		return hi_arena_printf(arena,
				       "    # %s: no member of one word has such a name",
				       c->enumerator);
	return hi_arena_printf(arena,
			       "    %s%s: %s; # %" PRIu64 " fit, %" PRIu64 " do not",
			       hi_tagged_case_holds(c) ? "" : "# ", c->enumerator,
			       c->target, c->fits, c->misfits);
}

static bool has_a_case(const struct hi_tagged_union *u)
{
	for (size_t i = 0; i < u->n_cases; i++)
		if (hi_tagged_case_holds(&u->cases[i]))
			return true;
	return false;
}

static bool make_lines(const struct hi_tagged_union *u, struct hi_arena *arena,
		       struct hi_suggested_record *ret)
{
	const char **lines = hi_arena_alloc(arena, (u->n_cases + 5) * sizeof(*lines));
	const char *record = u->record;
	/* A switch without a case is none. */
	const char *out = has_a_case(u) ? "" : "# ";
	size_t n = 0;

	if (!lines)
		return false;
	if (strncmp(record, "struct ", 7) == 0)
		record += 7;
	lines[n++] = hi_arena_printf(arena, "%srecord %s {", out, record);
	lines[n++] = hi_arena_printf(arena, "%s  %s switch %s {", out, u->word, u->tag);
	for (size_t i = 0; i < u->n_cases; i++)
		lines[n++] = line_of_case(&u->cases[i], arena);
	if (u->unknown)
		lines[n++] = hi_arena_printf(
			arena, "    # %" PRIu64 " have a value that has no name",
			u->unknown);
	lines[n++] = *out ? "#   }" : "  }";
	lines[n++] = *out ? "# }" : "}";
	for (size_t i = 0; i < n; i++)
		if (!lines[i])
			return false;
	*ret = (struct hi_suggested_record){u->record, lines, n};
	return true;
}

/* "const VALUE_NUMBER = 0, VALUE_STRING = 1;", of names that had none yet. */
static bool make_constants(const struct hi_tagged_unions *all, struct hi_arena *arena,
			   struct hi_suggested_record *ret)
{
	struct seen_constants HI_VECTOR(const char *) seen = {};
	const char *text = "";
	bool ok = true;

	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; ok && k < all->items[i].n_cases; k++) {
			const struct hi_tagged_case *c = &all->items[i].cases[k];
			bool known = !is_plain_union(&all->items[i]);

			for (size_t m = 0; m < seen.count && !known; m++)
				known = strcmp(seen.items[m], c->enumerator) == 0;
			if (known)
				continue;
			ok = hi_vector_push(&seen, c->enumerator);
			text = hi_arena_printf(arena, "%s%s%s = %" PRId64, text,
					       *text ? ", " : "const ", c->enumerator,
					       c->value);
			ok = ok && text;
		}
	hi_vector_free(&seen);
	if (ok && *text) {
		const char **line = hi_arena_alloc(arena, sizeof(*line));

		ok = line && (*line = hi_arena_printf(arena, "%s;", text));
		*ret = (struct hi_suggested_record){"", line, ok};
	}
	return ok;
}

enum hi_status hi_suggest_unions(struct hi_inspection *in,
				 const struct hi_suggested_record **ret, size_t *n_ret,
				 struct hi_error *err)
{
	struct hi_tagged_unions all = {};
	struct hi_suggested_record *records;
	enum hi_status status;
	size_t n = 0;

	*n_ret = 0;
	if (!in->decoders.types || !in->decoders.typing)
		return HI_OK;
	status = hi_tagged_unions_find(in->decoders.typing, in->decoders.types, in->graph,
				       in->shown.reach, &in->arena, &all, err);
	if (status != HI_OK || !all.n)
		return status;
	records = hi_arena_alloc(&in->arena, (all.n + 1) * sizeof(*records));
	if (!records || !make_constants(&all, &in->arena, &records[0]))
		return hi_fail_memory(err, "hints");
	n = 1;
	for (size_t i = 0; i < all.n; i++)
		if (is_plain_union(&all.items[i]) &&
		    !make_lines(&all.items[i], &in->arena, &records[n++]))
			return hi_fail_memory(err, "hints");
	*ret = records;
	*n_ret = n > 1 ? n : 0;
	return HI_OK;
}

/* ---- the file ---- */

static bool is_suggested(const struct hi_untyped_report *r, const char *record)
{
	for (size_t i = 0; i < r->n_unions; i++)
		if (*record && strcmp(r->unions[i].record, record) == 0)
			return true;
	return false;
}

/* A statement about a field; a comment where the type is for a person to choose. */
static enum hi_status write_field(const struct hi_untyped_line *line, bool is_first,
				  FILE *out, struct hi_error *err)
{
	struct hi_arena arena = {};
	const char *hint = hi_untyped_hint(line, &arena);
	bool is_open = !hint || !*hint || !is_first || strstr(hint, "TYPE") ||
		       strstr(hint, "NAME") || strstr(hint, "\xe2\x80\xa6") ||
		       strstr(hint, "0 .. N");

	if (hint && *hint) {
		fprintf(out, "%s", is_open ? "# " : "");
		for (const char *p = hint; *p; p++)
			fputc(*p == '\n' || *p == '\r' ? ' ' : *p, out);
		fprintf(out, "\n");
	}
	hi_arena_free(&arena);
	return hint ? HI_OK : hi_fail_memory(err, "hints");
}

/* Is it the first line about its record? A second block would not count. */
static bool is_first_of_record(const struct hi_untyped_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (*r->rows[i].record &&
		    strcmp(r->rows[k].record, r->rows[i].record) == 0)
			return false;
	return true;
}

enum hi_status hi_suggest_hints_write(struct hi_inspection *in,
				      const struct hi_report_header *header,
				      struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_untyped_report_destroy) struct hi_untyped_report *r = NULL;
	enum hi_status status = hi_untyped_make(in, header, FIELDS, &r, err);

	if (status != HI_OK)
		return status;
	fprintf(output->file,
		"# Suggested by heapinspect census --suggest-hints. Look through it "
		"before "
		"use: names\n# and sizes of types are all that it rests on.\n"
		"hints suggested\n\n");
	for (size_t i = 0; i < r->n_unions; i++)
		for (size_t k = 0; k < r->unions[i].n_lines; k++)
			fprintf(output->file, "%s\n", r->unions[i].lines[k]);
	if (r->n_rows)
		fprintf(output->file, "\n# Fields that lead to memory without a type.\n");
	for (size_t i = 0; i < r->n_rows && status == HI_OK; i++)
		if (!is_suggested(r, r->rows[i].record))
			status = write_field(&r->rows[i], is_first_of_record(r, i),
					     output->file, err);
	return status;
}
