/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of records by name: anonymous members belong to their record, base
 * classes come after it, one generation after the other. */
#include "decode/expressions/expression_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/near_names.h"
#include "base/text.h"

enum {
	SUBRECORDS_MAX = 128,  /* records of one generation */
	GENERATIONS_MAX = 32,  /* a hostile class may be its own base */
	MEMBERS_MAX = 1 << 17, /* looked at for one name */
	NAME_MAX_COMPARED = 48,
};

struct subrecord {
	const struct hi_type *record;
	uint64_t offset;
};
struct generation {
	struct subrecord subrecords[SUBRECORDS_MAX];
	unsigned n;
};

/* False stops. */
typedef bool member_fn(void *arg, const struct hi_member *member, uint64_t offset);

static void add_subrecord(struct generation *g, const struct hi_type *record,
			  uint64_t offset)
{
	if (g->n < SUBRECORDS_MAX && record &&
	    (record->kind == HI_KIND_STRUCT || record->kind == HI_KIND_UNION))
		g->subrecords[g->n++] = (struct subrecord){record, offset};
}

static const struct hi_type *type_from_source(struct hi_parser *p, hi_type_id id)
{
	return p->scope->source->type(p->scope->source->arg, id);
}

/* All of one generation; its bases go into *next. */
static bool each_of_generation(struct hi_parser *p, struct generation *now,
			       struct generation *next, unsigned *left, member_fn *fn,
			       void *arg)
{
	for (unsigned i = 0; i < now->n; i++) {
		const struct subrecord subrecord = now->subrecords[i];

		for (uint32_t k = 0; k < subrecord.record->n_members && *left;
		     k++, --*left) {
			const struct hi_member *m = &subrecord.record->members[k];
			uint64_t offset = subrecord.offset + m->offset;

			if (m->is_base)
				add_subrecord(next, type_from_source(p, m->type), offset);
			else if (m->name[0] == '\0' && !m->bit_size)
				add_subrecord(now, type_from_source(p, m->type), offset);
			else if (!fn(arg, m, offset))
				return false;
		}
	}
	return true;
}

/* after: called behind each generation (may be NULL); false stops. */
static void each_member(struct hi_parser *p, const struct hi_type *record, member_fn *fn,
			bool (*after)(void *arg), void *arg)
{
	struct generation g[2];
	unsigned left = MEMBERS_MAX;

	g[0].n = 0;
	add_subrecord(&g[0], record, 0);
	for (unsigned i = 0; i < GENERATIONS_MAX && g[i & 1].n > 0; i++) {
		g[~i & 1].n = 0;
		if (!each_of_generation(p, &g[i & 1], &g[~i & 1], &left, fn, arg) ||
		    (after && !after(arg)))
			return;
	}
}

/* ---- one by its name ---- */

struct search {
	const char *name;
	size_t length;
	struct hi_found_member *ret;
	bool found;
};

static bool compare_member(void *arg, const struct hi_member *m, uint64_t offset)
{
	struct search *s = arg;

	if (strncmp(m->name, s->name, s->length) != 0 || m->name[s->length] != '\0')
		return true;
	if (s->found) {
		s->ret->ambiguous |= s->ret->offset != offset;
		return true;
	}
	*s->ret = (struct hi_found_member){.member = *m, .offset = offset};
	s->found = true;
	return true;
}

static bool go_on(void *arg)
{
	return !((struct search *)arg)->found;
}

bool hi_expr_member(struct hi_parser *p, const struct hi_type *record, const char *name,
		    size_t length, struct hi_found_member *ret)
{
	struct search search = {.name = name, .length = length, .ret = ret};

	if (record && length > 0)
		each_member(p, record, compare_member, go_on, &search);
	return search.found;
}

static bool constant_of(const struct hi_type *record, const char *name, size_t length,
			int64_t *ret)
{
	for (uint32_t i = 0; i < record->n_constants; i++) {
		const struct hi_constant *c = &record->constants[i];

		if (strncmp(c->name, name, length) == 0 && c->name[length] == '\0') {
			*ret = c->value;
			return true;
		}
	}
	return false;
}

bool hi_expr_constant(struct hi_parser *p, const struct hi_type *record, const char *name,
		      size_t length, int64_t *ret)
{
	struct generation g[2];
	unsigned left = MEMBERS_MAX;

	g[0].n = 0;
	add_subrecord(&g[0], record, 0);
	for (unsigned i = 0; i < GENERATIONS_MAX && g[i & 1].n > 0; i++) {
		struct generation *now = &g[i & 1], *next = &g[~i & 1];

		next->n = 0;
		for (unsigned k = 0; k < now->n; k++) {
			const struct hi_type *r = now->subrecords[k].record;

			if (constant_of(r, name, length, ret))
				return true;
			for (uint32_t m = 0; m < r->n_members && left; m++, left--)
				if (r->members[m].is_base)
					add_subrecord(
						next,
						type_from_source(p, r->members[m].type),
						0);
		}
	}
	return false;
}

/* ---- the nearest for a message ---- */

struct nearest {
	const char *name;
	size_t length, best;
	char near[NAME_MAX_COMPARED + 1];
	char list[HI_NEAREST - 8];
	size_t used;
	unsigned listed, more;
};

static void list_member(struct nearest *n, const char *name, size_t length)
{
	char shown[40];

	hi_text_escape(shown, sizeof(shown), name, length);
	if (n->more || n->used + strlen(shown) + 12 > sizeof(n->list)) {
		n->more++;
		return;
	}
	n->used += (size_t)snprintf(n->list + n->used, sizeof(n->list) - n->used,
				    "%s'%s'", n->listed++ ? ", " : "", shown);
}

static bool measure_member(void *arg, const struct hi_member *m, uint64_t offset)
{
	struct nearest *n = arg;
	size_t length = strlen(m->name), d;

	(void)offset;
	list_member(n, m->name, length);
	if (length > NAME_MAX_COMPARED || n->length > NAME_MAX_COMPARED)
		return true;
	d = hi_edit_distance(n->name, n->length, m->name, length);
	if (d < n->best) {
		n->best = d;
		memcpy(n->near, m->name, length + 1);
	}
	return true;
}

const char *hi_expr_nearest(struct hi_parser *p, const struct hi_type *record,
			    const char *name, size_t length, char out[HI_NEAREST])
{
	struct nearest n = {.name = name, .length = length, .best = SIZE_MAX};
	char shown[HI_NEAREST - 4];

	if (record)
		each_member(p, record, measure_member, NULL, &n);
	if (n.best <= 1 + length / 3) {
		hi_text_escape(shown, sizeof(shown), n.near, strlen(n.near));
		snprintf(out, HI_NEAREST, "'%s'", shown);
	} else {
		snprintf(out, HI_NEAREST, "%s%s", n.listed ? n.list : "no members",
			 n.more ? ", ..." : "");
	}
	return out;
}

static bool measure_variable(void *arg, const char *name)
{
	struct nearest *n = arg;
	size_t length = strlen(name), d;

	if (length > NAME_MAX_COMPARED || length > n->length + n->best ||
	    n->length > length + n->best)
		return true;
	d = hi_edit_distance(n->name, n->length, name, length);
	if (d < n->best) {
		n->best = d;
		memcpy(n->near, name, length + 1);
	}
	return true;
}

const char *hi_expr_near_variable(struct hi_parser *p, const char *name, size_t length,
				  char out[HI_NEAREST])
{
	const struct hi_expression_source *source = p->scope->source;
	/* Nearer than a third of it. */
	struct nearest n = {.name = name, .length = length, .best = 2 + length / 3};
	char shown[HI_NEAREST - 20];

	*out = 0;
	if (!source->each_name || length > NAME_MAX_COMPARED || length < 2)
		return out;
	source->each_name(source->arg, measure_variable, &n);
	if (!*n.near)
		return out;
	hi_text_escape(shown, sizeof(shown), n.near, strlen(n.near));
	snprintf(out, HI_NEAREST, "; near it: '%s'", shown);
	return out;
}
