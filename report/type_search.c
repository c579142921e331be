/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/type_search.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "base/text.h"
#include "census/graph/type_payload.h"
#include "report/type_name.h"

/* ---- the names of a type ---- */

/* "(untyped)" for type 0, "" for other types without a name. */
static const char *name_of_type(const struct hi_graph *g, uint32_t type)
{
	const char *name = hi_graph_type_name(g, type);

	return *name || type ? name : "(untyped)";
}

/* The name of a payload as a string; NULL: it is too long. */
static const char *copy_payload_name(const struct hi_payload *payload,
				     char out[HI_TYPE_SHORT_SIZE])
{
	if (payload->length >= HI_TYPE_SHORT_SIZE)
		return NULL;
	memcpy(out, payload->name, payload->length);
	out[payload->length] = '\0';
	return out;
}

/* ---- what is near ---- */

/* Short names, each once. Out of memory: some are missing. */
static void add_near_name(struct hi_interner *names, const char *full)
{
	char out[HI_TYPE_SHORT_SIZE];

	if (*full &&
	    strlen(hi_type_short(full, out, sizeof(out))) < HI_NAMES_NEAREST_SIZE)
		(void)hi_interner_add(names, out);
}

static void add_near_names(const struct hi_graph *g, struct hi_interner *names)
{
	struct hi_payload found[HI_PAYLOADS_MAX];
	char out[HI_TYPE_SHORT_SIZE];

	for (uint32_t i = 1; i < g->n_types; i++) {
		size_t n = hi_type_payloads(g->types[i].name, found);

		add_near_name(names, hi_text_or_empty(g->types[i].name));
		for (size_t k = 0; k < n; k++)
			if (copy_payload_name(&found[k], out))
				add_near_name(names, out);
	}
}

struct near_names {
	struct hi_interner shown;
	struct hi_arena compared; /* names without qualifiers */
	bool is_qualified;	  /* compare with qualifiers */
};

static const char *nth_near_name(void *arg, uint32_t i)
{
	struct near_names *names = arg;
	const char *shown = hi_interner_name(&names->shown, i + 1);
	char out[HI_TYPE_SHORT_SIZE];

	return names->is_qualified
		       ? shown
		       : hi_arena_strdup(&names->compared,
					 hi_type_unqualified(shown, out, sizeof(out)));
}

static void find_nearest(const struct hi_graph *g, const char *pattern,
			 struct hi_types_near *near)
{
	struct near_names names = {.is_qualified = strstr(pattern, "::") != NULL};
	uint32_t nearest[HI_NAMES_NEAREST];
	char out[HI_TYPE_SHORT_SIZE];

	add_near_names(g, &names.shown);
	hi_names_rank(hi_type_short(pattern, out, sizeof(out)), nth_near_name, &names,
		      (uint32_t)names.shown.names.count, nearest);
	for (size_t i = 0; i < HI_NAMES_NEAREST; i++)
		if (nearest[i] != UINT32_MAX)
			snprintf(near->name[i], sizeof(near->name[i]), "%s",
				 hi_interner_name(&names.shown, nearest[i] + 1));
	hi_interner_free(&names.shown);
	hi_arena_free(&names.compared);
}

void hi_types_near_append(char *text, size_t size, const struct hi_types_near *near)
{
	const char *before = "; near it: ";
	size_t used = strlen(text);

	for (size_t i = 0; i < HI_NAMES_NEAREST && near->name[i][0]; i++) {
		if (used + strlen(before) + strlen(near->name[i]) >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", before,
					 near->name[i]);
		before = ", ";
	}
}

/* ---- matches ---- */

static bool is_in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Are they equal but for blanks that divide no words? */
static bool equal_but_blanks(const char *a, const char *b)
{
	char last = 0;

	for (;;) {
		bool space_a = *a == ' ', space_b = *b == ' ';

		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b ||
		    (space_a != space_b && is_in_word(last) && is_in_word(*a)))
			return false;
		if (!*a)
			return true;
		last = *a++;
		b++;
	}
}

enum match { MATCH_FULL, MATCH_SHORT, MATCH_SHELL };

/* want: for MATCH_SHORT a short name. */
static bool name_matches(const char *want, const char *name, enum match how)
{
	char out[HI_TYPE_SHORT_SIZE];

	if (how == MATCH_FULL)
		return strcmp(want, hi_type_bare(name)) == 0;
	if (how == MATCH_SHELL && fnmatch(want, hi_type_bare(name), 0) == 0)
		return true;
	hi_type_short(name, out, sizeof(out));
	if (how == MATCH_SHELL)
		return fnmatch(want, hi_type_bare(out), 0) == 0;
	return equal_but_blanks(want, hi_type_bare(out));
}

/* Is the short name also the full one of each type that has it? Names of libraries and
 * templates may have others (type_name.h). */
static bool has_one_spelling(const char *want)
{
	return !strpbrk(want, "<( ") && strstr(want, "::") &&
	       strncmp(want, "std::", 5) != 0 && strncmp(want, "absl::", 6) != 0 &&
	       strncmp(want, "boost::", 7) != 0;
}

/* The values of the name in one object: of the outermost payload that has it. */
static uint32_t count_payload(const char *want, const char *name, enum match how)
{
	struct hi_payload found[HI_PAYLOADS_MAX];
	char out[HI_TYPE_SHORT_SIZE];
	size_t n = hi_type_payloads(name, found);

	if (how == MATCH_SHORT && has_one_spelling(want))
		how = MATCH_FULL;
	for (size_t i = 0; i < n; i++)
		if (copy_payload_name(&found[i], out) && name_matches(want, out, how))
			return found[i].count < UINT32_MAX ? (uint32_t)found[i].count
							   : UINT32_MAX;
	return 0;
}

/* Returns how many match: by their names, or by their payloads. */
static uint32_t select_where(const struct hi_graph *g, const char *want, enum match how,
			     bool by_payload, struct hi_type_set *set)
{
	char want_short[HI_TYPE_SHORT_SIZE];
	uint32_t n = 0;

	/* A pasted name, of this compiler or another. */
	if (how == MATCH_SHORT)
		want = hi_type_short(want, want_short, sizeof(want_short));
	for (uint32_t i = 0; i < g->n_types && *want; i++) {
		const char *name = name_of_type(g, i);

		uint32_t values = by_payload ? count_payload(want, name, how)
					     : name_matches(want, name, how);

		if (!values)
			continue;
		if (!set->has[i] && set->values)
			set->values[i] = values;
		set->count += !set->has[i];
		set->has[i] = true;
		n++;
	}
	return n;
}

/* ---- names without qualifiers ---- */

/* Is it the name with some of its qualifiers: "shop::Session", "app.Session"? */
static bool lacks_qualifiers(const char *want, const char *shown)
{
	char out[HI_TYPE_SHORT_SIZE];
	size_t n = strlen(want), length = strlen(shown);

	if (equal_but_blanks(want,
			     hi_type_bare(hi_type_unqualified(shown, out, sizeof(out)))))
		return true;
	return length > n + 1 && strcmp(shown + length - n, want) == 0 &&
	       (shown[length - n - 1] == '.' ||
		(shown[length - n - 1] == ':' && shown[length - n - 2] == ':')) &&
	       strcspn(shown, "<( ,") > length - n - 1;
}

static bool add_candidate(struct hi_interner *names, const char *want, const char *name)
{
	char out[HI_TYPE_SHORT_SIZE];
	const char *shown = hi_type_bare(hi_type_short(name, out, sizeof(out)));

	return !lacks_qualifiers(want, shown) || hi_interner_add(names, shown);
}

/* The short names of types and payloads that may be meant. False: out of memory. */
static bool list_candidates(const struct hi_graph *g, const char *want, bool payloads,
			    struct hi_interner *names)
{
	struct hi_payload found[HI_PAYLOADS_MAX];
	char out[HI_TYPE_SHORT_SIZE];
	bool ok = true;

	for (uint32_t i = 1; i < g->n_types && *want && ok; i++) {
		const char *name = name_of_type(g, i);
		size_t n = payloads ? hi_type_payloads(name, found) : 0;

		ok = g->types[i].klass == HI_TYPE_FIELD ||
		     add_candidate(names, want, name);
		for (size_t k = 0; k < n && ok; k++)
			ok = !copy_payload_name(&found[k], out) ||
			     add_candidate(names, want, out);
	}
	return ok;
}

/* "Order is the last name of 2 types: shop::Order, bill::Order". */
static enum hi_status refuse_ambiguous(const char *want, const struct hi_interner *names,
				       struct hi_error *err)
{
	char text[sizeof(((struct hi_error *)NULL)->text)];
	size_t used = 0, shown = 0;

	for (; shown < names->names.count; shown++) {
		const char *name = names->names.items[shown];

		if (used + strlen(name) + 2 > sizeof(text) - 100)
			break;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 shown ? ", " : "", name);
	}
	text[used] = '\0';
	return hi_fail(err, HI_USAGE, 0, "%.40s is the last name of %zu types: %s%s",
		       want, names->names.count, text,
		       shown < names->names.count ? ", …" : "");
}

/* Selects the types of the one name that has `want` as its last part. HI_NOT_FOUND: there
 * is none; HI_USAGE: there are several. */
static enum hi_status select_unqualified(const struct hi_graph *g, const char *want,
					 bool payloads, struct hi_type_set *set,
					 struct hi_error *err)
{
	struct hi_interner names = {};
	enum hi_status status = HI_NOT_FOUND;

	if (!list_candidates(g, want, payloads, &names)) {
		status = hi_fail_memory(err, "names of types");
	} else if (names.names.count > 1) {
		status = refuse_ambiguous(want, &names, err);
	} else if (names.names.count) {
		const char *name = names.names.items[0];

		select_where(g, name, MATCH_SHORT, false, set);
		if (payloads)
			select_where(g, name, MATCH_SHORT, true, set);
		snprintf(set->taken, sizeof(set->taken), "%s", name);
		status = HI_OK;
	}
	hi_interner_free(&names);
	return status;
}

/* ---- patterns and lists ---- */

/* HI_NOT_FOUND fills no error in. */
static enum hi_status select_one(const struct hi_graph *g, const char *pattern,
				 struct hi_type_set *set, struct hi_error *err)
{
	bool payloads = *pattern != '=';
	const char *want = hi_type_bare(pattern + !payloads);
	uint32_t n = select_where(g, want, MATCH_FULL, false, set);
	enum hi_status status;

	if (!n)
		n = select_where(g, want, MATCH_SHORT, false, set);
	if (payloads)
		n += select_where(g, want, MATCH_SHORT, true, set);
	if (n)
		return HI_OK;
	status = select_unqualified(g, want, payloads, set, err);
	if (status != HI_NOT_FOUND || !strpbrk(want, "*?["))
		return status;
	n = select_where(g, want, MATCH_SHELL, false, set);
	if (payloads)
		n += select_where(g, want, MATCH_SHELL, true, set);
	return n ? HI_OK : HI_NOT_FOUND;
}

/* Length of the first name of a list: to a comma outside of template arguments. */
static size_t first_of_list(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] && (text[n] != ',' || depth > 0); n++) {
		depth += strchr("<([{", text[n]) != NULL;
		depth -= strchr(">)]}", text[n]) != NULL && depth > 0;
	}
	return n;
}

/* Takes the types of a name away again; of a list that begins so, from all of them. */
static enum hi_status select_without(const struct hi_graph *g, const char *name,
				     struct hi_type_set *set, struct hi_error *err)
{
	struct hi_type_set gone = {.n_types = set->n_types};
	enum hi_status status;

	gone.has = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*gone.has));
	status = gone.has ? select_one(g, name, &gone, err)
			  : hi_fail_memory(err, "set of types");
	for (uint32_t i = 0; status == HI_OK && i < g->n_types; i++) {
		set->count -= set->has[i] && gone.has[i];
		set->has[i] &= !gone.has[i];
	}
	if (*gone.taken)
		memcpy(set->taken, gone.taken, sizeof(set->taken));
	hi_type_set_free(&gone);
	return status;
}

static void select_all(struct hi_type_set *set)
{
	for (uint32_t i = 0; i < set->n_types; i++) {
		set->has[i] = true;
		set->values[i] = 1;
	}
	set->count = set->n_types;
}

static enum hi_status select_part(const struct hi_graph *g, const char *name,
				  struct hi_type_set *set, struct hi_error *err)
{
	return *name == '!' ? select_without(g, name + 1, set, err)
			    : select_one(g, name, set, err);
}

/* Every name of a list must be there: a misspelt one would pass unseen. */
static enum hi_status select_list(const struct hi_graph *g, const char *list,
				  struct hi_type_set *set, char *name, size_t size,
				  struct hi_error *err)
{
	if (*list == '!')
		select_all(set);
	for (;;) {
		enum hi_status status;
		size_t n, length;

		list += strspn(list, " ");
		length = n = first_of_list(list);
		while (length && list[length - 1] == ' ')
			length--;
		snprintf(name, size, "%.*s", (int)length, list);
		status = length >= size ? HI_NOT_FOUND : select_part(g, name, set, err);
		if (status != HI_OK || !list[n])
			return status;
		list += n + 1;
	}
}

enum hi_status hi_types_select(const struct hi_graph *g, const char *pattern,
			       struct hi_type_set *ret, struct hi_types_near *near,
			       struct hi_error *err)
{
	struct hi_type_set set = {.n_types = g->n_types};
	char missing[512];
	enum hi_status status;

	if (near)
		*near = (struct hi_types_near){};
	set.has = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*set.has));
	set.values = hi_calloc(g->n_types ? g->n_types : 1, sizeof(*set.values));
	status = set.has && set.values ? select_one(g, pattern, &set, err)
				       : hi_fail_memory(err, "set of types");
	if (status == HI_NOT_FOUND)
		status = select_list(g, pattern, &set, missing, sizeof(missing), err);
	if (status == HI_OK) {
		*ret = set;
		return HI_OK;
	}
	hi_type_set_free(&set);
	if (status != HI_NOT_FOUND)
		return status;
	if (near)
		find_nearest(g, missing, near);
	return hi_fail(err, HI_NOT_FOUND, 0, "no object has the type %.100s", missing);
}

void hi_type_set_free(struct hi_type_set *set)
{
	free(set->has);
	free(set->values);
	*set = (struct hi_type_set){};
}
