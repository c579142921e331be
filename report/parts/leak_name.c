/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/leak_name.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "report/document.h"
#include "report/parts/report_node.h"

static void add_group(const struct hi_graph *g, const struct hi_leak_group *group,
		      struct hi_leak_name *name)
{
	if (!group)
		return;
	name->usable = group->usable;
	name->pointers = group->pointers;
	name->text = group->text;
	name->like = group->like ? hi_graph_type_name(g, group->like) : "";
	name->n_like = group->n_like;
	name->n_fits = group->n_fits;
	for (uint32_t i = 0; i < group->n_fits; i++)
		name->fits[i] = group->fits[i];
}

static void add_held_name(const struct hi_graph *g, const struct hi_leaks *leaks,
			  uint32_t type, uint32_t group, struct hi_leak_name *name)
{
	const struct hi_leak_group *held = hi_leak_groups_get(leaks->groups, group);

	if (type) {
		name->held = hi_graph_type_name(g, type);
	} else if (held && held->like) {
		name->held = hi_graph_type_name(g, held->like);
		name->held_fits = true;
	} else if (held && held->n_fits == 1) {
		name->held = held->fits[0];
		name->held_fits = true;
	}
}

struct hi_leak_name hi_leak_name_of_row(const struct hi_graph *g,
					const struct hi_leaks *leaks,
					const struct hi_leak_row *row)
{
	struct hi_leak_name name = {.type = hi_graph_type_name(g, row->type),
				    .like = "",
				    .held = "",
				    .least_members = row->least_members,
				    .most_members = row->most_members};

	add_group(g, hi_leak_groups_get(leaks->groups, row->group), &name);
	add_held_name(g, leaks, row->held_type, row->held_group, &name);
	return name;
}

struct hi_leak_name hi_leak_name_of_root(const struct hi_graph *g,
					 const struct hi_leaks *leaks,
					 const struct hi_leak_root *root)
{
	struct hi_leak_row row = {.type = g->objects->type[root->named],
				  .group = root->group,
				  .least_members = root->members,
				  .most_members = root->members,
				  .held_type = root->held_type,
				  .held_group = root->held_group};

	return hi_leak_name_of_row(g, leaks, &row);
}

/* "fits struct a or b" */
static const char *fits_text(const struct hi_leak_name *name, struct hi_page *page)
{
	const char *text =
		hi_page_printf(page, "fits %s", hi_type_label(name->fits[0], page));

	for (uint32_t i = 1; i < name->n_fits; i++)
		text = hi_page_printf(page, "%s%s%s", text,
				      i + 1 < name->n_fits ? ", " : " or ",
				      hi_type_label(hi_type_bare(name->fits[i]), page));
	return text;
}

/* "text of 40 B, \"user=anna\""; 20 characters of it, as wide as escapes are shown, so that
 * a terminal has room for the example. */
static const char *beginning_text(const struct hi_leak_name *name, const char *size,
				  struct hi_page *page)
{
	char shown[21];

	if (!*name->beginning)
		return hi_page_printf(page, "text%s of %s",
				      name->beginnings_differ ? "s" : "", size);
	hi_text_escape(shown, sizeof(shown), name->beginning, strlen(name->beginning));
	return hi_page_printf(page,
			      name->beginnings_differ ? "texts of %s, as \"%s\""
						      : "text of %s, \"%s\"",
			      size, shown);
}

static const char *layout_text(const struct hi_leak_name *name, struct hi_page *page)
{
	char size[24];

	if (!name->usable)
		return "(untyped)";
	hi_bytes(size, name->usable);
	if (name->held && *name->held)
		return hi_page_printf(page, "(untyped) %s, holds %s", size,
				      hi_type_label(name->held, page));
	if (name->text && name->beginning)
		return beginning_text(name, size, page);
	if (name->text)
		return hi_page_printf(page, "(untyped) %s, text", size);
	if (!name->pointers)
		return hi_page_printf(page, "(untyped) %s, no pointers", size);
	return hi_page_printf(page, "(untyped) %s, %u pointer%s", size, name->pointers,
			      name->pointers == 1 ? "" : "s");
}

static const char *kind_text(const struct hi_leak_name *name, struct hi_page *page)
{
	char count[32];

	if (name->type && *name->type)
		return hi_type_label(name->type, page);
	if (name->like && *name->like)
		return hi_page_printf(page, "like live %s (%s)",
				      hi_type_label(name->like, page),
				      hi_count(count, name->n_like));
	return name->n_fits ? fits_text(name, page) : layout_text(name, page);
}

const char *hi_leak_name_text(const struct hi_leak_name *name, enum hi_leak_shape shape,
			      struct hi_page *page)
{
	const char *kind = kind_text(name, page);
	const char *joint = name->type && *name->type ? " " : ", ";

	/* The column beside it says that it is a cycle. */
	if (shape != HI_LEAK_CYCLE || name->most_members == 1)
		return kind;
	if (name->least_members == name->most_members)
		return hi_page_printf(page, "cycle of %u%s%s", name->most_members, joint,
				      kind);
	return hi_page_printf(page, "cycle of %u to %u%s%s", name->least_members,
			      name->most_members, joint, kind);
}

const char *hi_leak_name_short_text(const struct hi_leak_name *name,
				    enum hi_leak_shape shape, struct hi_page *page)
{
	struct hi_leak_name kind = *name;

	kind.beginning = name->beginning ? "" : NULL;
	return hi_leak_name_text(&kind, shape, page);
}

const char *hi_leak_name_legend(const struct hi_leak_name *name)
{
	if (name->like && *name->like)
		return "like live T (N): a block without a type looks the same in memory "
		       "as the N live objects of type T";
	return name->n_fits
		       ? "fits T: the size and the pointers of a block without a type "
			 "are those of T"
		       : "";
}

static struct hi_doc_value size_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leak_name *name = row->row;

	return name->usable ? hi_doc_number(name->usable) : hi_doc_none();
}
static struct hi_doc_value count_like_leak(const struct hi_doc_row *row)
{
	const struct hi_leak_name *name = row->row;

	return hi_known(name->like) ? hi_doc_number(name->n_like) : hi_doc_none();
}
static struct hi_doc_value fits_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leak_name *name = row->row;

	return hi_doc_nested(name->fits, name->n_fits);
}
static struct hi_doc_value beginning_of_leak(const struct hi_doc_row *row)
{
	const struct hi_leak_name *name = row->row;

	return name->beginning ? hi_doc_text(name->beginning) : hi_doc_none();
}
static struct hi_doc_value differing_beginnings(const struct hi_doc_row *row)
{
	const struct hi_leak_name *name = row->row;

	return name->beginning ? hi_doc_number(name->beginnings_differ) : hi_doc_none();
}

static const struct hi_doc_field leak_name_fields[] = {
	{"type", NULL, HI_DOC_TYPE, HI_AT(struct hi_leak_name, type)},
	{"size", NULL, HI_DOC_BYTES, .value = size_of_leak, .optional = true,
	 .meaning = "usable bytes of each; of those without a type"},
	{"like", NULL, HI_DOC_TEXT, HI_AT(struct hi_leak_name, like), .optional = true,
	 .meaning = "a type whose live objects have the same size and look the same in "
		    "memory; not their type"},
	{"like_count", NULL, HI_DOC_COUNT, .value = count_like_leak, .optional = true,
	 .meaning = "these live objects"},
	{"fits", NULL, HI_DOC_LIST, .value = fits_of_leak, .nested = &hi_doc_texts,
	 .optional = true, .least = 1, .most = HI_LEAK_FITS,
	 .meaning = "records of the program with their size and pointers, the likeliest "
		    "first; not their type"},
	{"text", NULL, HI_DOC_TEXT, .value = beginning_of_leak, .optional = true,
	 .meaning = "its beginning, at most 63 bytes; absent: no text without a type, or "
		    "a file without contents"},
	{"texts_differ", NULL, HI_DOC_FLAG, .value = differing_beginnings,
	 .optional = true, .meaning = "other blocks of the row begin with other text"},
};
const struct hi_doc_fields hi_leak_name_fields = HI_DOC_FIELDS(leak_name_fields);

void hi_leak_name_json(const struct hi_leak_name *name, struct hi_json *json)
{
	hi_doc_put_report(&hi_leak_name_fields, name, 0, json);
}
