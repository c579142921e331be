/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON schemas from described fields (document.h). */
#include <string.h>

#include "report/document.h"

/* Members of one object: fields with a key, those of HI_DOC_MEMBERS among them. The first
 * of two with one key, which are of different forms, is described. */
enum { MEMBERS_MAX = 128 };
struct member_list {
	unsigned form; /* bits that all of the objects have */
	const struct hi_doc_field *items[MEMBERS_MAX];
	size_t count;
};

static bool has_member_before(const struct member_list *members, size_t end,
			      const char *key)
{
	for (size_t i = 0; i < end; i++)
		if (strcmp(members->items[i]->key, key) == 0)
			return true;
	return false;
}

/* Depth: of the tables of fields, which are constants.
 * NOLINTBEGIN(misc-no-recursion) */
static void collect_members(struct member_list *members,
			    const struct hi_doc_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct hi_doc_field *f = &fields->items[i];

		if (members->form && f->variants && !(f->variants & members->form))
			continue;
		if (f->unit == HI_DOC_MEMBERS)
			collect_members(members, f->nested);
		else if (f->key && members->count < MEMBERS_MAX)
			members->items[members->count++] = f;
	}
}

static void put_schema_text(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void put_description(FILE *out, const char *meaning)
{
	if (!meaning)
		return;
	fputs(", \"description\": ", out);
	put_schema_text(out, meaning);
}

static void put_word_schema(const struct hi_doc_field *f, FILE *out)
{
	fputs("\"enum\": [", out);
	for (unsigned i = 0; i < f->n_words; i++) {
		fputs(i ? ", " : "", out);
		put_schema_text(out, f->word(i));
	}
	fprintf(out, "%s]", f->nullable ? ", null" : "");
}

/* Writes the members of the schema of a value that has no parts. */
static void put_plain_schema(const struct hi_doc_field *f, FILE *out)
{
	const char *type = f->unit == HI_DOC_FLAG			       ? "boolean"
			   : f->unit == HI_DOC_SHARE || f->unit == HI_DOC_REAL ? "number"
			   : f->unit == HI_DOC_BYTES || f->unit == HI_DOC_COUNT ||
					   f->unit == HI_DOC_TIME ||
					   f->unit == HI_DOC_FIGURE
				   ? "integer"
				   : "string";

	if (f->word) {
		put_word_schema(f, out);
		return;
	}
	if (f->nullable)
		fprintf(out, "\"type\": [\"%s\", \"null\"]", type);
	else
		fprintf(out, "\"type\": \"%s\"", type);
	if (strcmp(type, "integer") == 0 && !f->is_signed)
		fprintf(out, ", \"minimum\": %u", f->least);
	if (f->unit == HI_DOC_ADDRESS)
		fputs(", \"pattern\": \"^0x[0-9a-f]+$\"", out);
}

static void put_object_schema(const struct hi_doc_fields *fields, const char *document,
			      const char *title, const char *meaning, bool is_nullable,
			      unsigned indent, FILE *out);

static void put_field_schema(const struct hi_doc_field *f, unsigned indent, FILE *out)
{
	bool is_array = f->unit == HI_DOC_ROWS || f->unit == HI_DOC_LIST;

	if (f->unit == HI_DOC_OBJECT && !f->schema) {
		put_object_schema(f->nested, NULL, NULL,
				  f->meaning ? f->meaning : f->nested->meaning,
				  f->nullable, indent, out);
		return;
	}
	putc('{', out);
	if (f->schema)
		fputs(f->schema, out);
	else if (!is_array)
		put_plain_schema(f, out);
	else
		fputs("\"type\": \"array\"", out);
	put_description(out, f->meaning);
	if (is_array && !f->schema) {
		if (f->least)
			fprintf(out, ", \"minItems\": %u", f->least);
		if (f->most)
			fprintf(out, ", \"maxItems\": %u", f->most);
		fputs(", \"items\": ", out);
		if (f->unit == HI_DOC_LIST)
			put_field_schema(&f->nested->items[0], indent, out);
		else
			put_object_schema(f->nested, NULL, NULL, f->nested->meaning,
					  false, indent, out);
	}
	putc('}', out);
}

/* Returns the forms that have the field, 0: all that there are. */
static unsigned forms_of_member(const struct member_list *members,
				const struct hi_doc_field *f)
{
	return f->variants & members->form ? 0 : f->variants;
}

static bool is_not_required(const struct hi_doc_field *f)
{
	return f->optional || f->may_be_missing;
}

/* Writes the keys that an object of this form has, ["a", "b"]; form 0: of every one.
 * first: one before them, or "". */
static void put_required(const struct member_list *members, unsigned form,
			 const char *first, FILE *out)
{
	const char *comma = *first ? ", " : "";

	fprintf(out, "[%s", first);
	for (size_t i = 0; i < members->count; i++) {
		const struct hi_doc_field *f = members->items[i];
		unsigned forms = forms_of_member(members, f);

		if (is_not_required(f) || (form ? !(forms & form) : forms != 0))
			continue;
		fputs(comma, out);
		put_schema_text(out, f->key);
		comma = ", ";
	}
	putc(']', out);
}

static bool are_forms_alike(const struct member_list *members, unsigned a, unsigned b)
{
	for (size_t i = 0; i < members->count; i++) {
		const struct hi_doc_field *f = members->items[i];
		bool is_other = false;

		if (is_not_required(f) || !(f->variants & a) == !(f->variants & b))
			continue;
		/* The other form may have a field of its own with this key. */
		for (size_t k = 0; k < members->count; k++)
			is_other |=
				k != i && strcmp(members->items[k]->key, f->key) == 0 &&
				members->items[k]->variants & (f->variants & a ? b : a);
		if (!is_other)
			return false;
	}
	return true;
}

/* Returns the forms that require other keys than those before them do, a bit each. */
static unsigned different_forms(const struct member_list *members)
{
	unsigned all = 0, found = 0;

	for (size_t i = 0; i < members->count; i++)
		if (!is_not_required(members->items[i]))
			all |= forms_of_member(members, members->items[i]);
	for (unsigned form = 1; form; form <<= 1) {
		bool is_new = all & form;

		for (unsigned other = 1; other < form; other <<= 1)
			is_new &= !(found & other) ||
				  !are_forms_alike(members, form, other);
		if (is_new)
			found |= form;
	}
	return found;
}

/* Writes the keys of each form beside those that all have. One form alone
 * requires nothing: the others have none of its keys. */
static void put_forms(const struct member_list *members, unsigned indent, FILE *out)
{
	unsigned forms = different_forms(members);
	const char *comma = "";

	if (!(forms & (forms - 1)))
		return;
	fprintf(out, ",\n%*s\"oneOf\": [", (int)indent + 2, "");
	for (unsigned form = 1; form; form <<= 1) {
		if (!(forms & form))
			continue;
		fprintf(out, "%s\n%*s{\"required\": ", comma, (int)indent + 4, "");
		put_required(members, form, "", out);
		putc('}', out);
		comma = ",";
	}
	fprintf(out, "\n%*s]", (int)indent + 2, "");
}

static void put_object_schema(const struct hi_doc_fields *fields, const char *document,
			      const char *title, const char *meaning, bool is_nullable,
			      unsigned indent, FILE *out)
{
	struct member_list members = {.form = fields->form};
	int in = (int)indent + 2;
	const char *comma = "";

	collect_members(&members, fields);
	fputc('{', out);
	if (title)
		fprintf(out,
			"\n%*s\"$schema\": \"http://json-schema.org/draft-07/schema#\","
			"\n%*s\"title\": \"%s\",",
			in, "", in, "", title);
	fprintf(out, "\n%*s\"type\": %s", in, "",
		is_nullable ? "[\"object\", \"null\"]" : "\"object\"");
	put_description(out, meaning);
	fprintf(out, ",\n%*s\"properties\": {", in, "");
	if (document) {
		fprintf(out, "\n%*s\"schema\": {\"const\": \"heapinspect/%s\"}", in + 2,
			"", document);
		comma = ",";
	}
	for (size_t i = 0; i < members.count; i++) {
		const struct hi_doc_field *f = members.items[i];

		if (has_member_before(&members, i, f->key))
			continue;
		fprintf(out, "%s\n%*s\"%s\": ", comma, in + 2, "", f->key);
		put_field_schema(f, indent + 4, out);
		comma = ",";
	}
	fprintf(out, "\n%*s},\n%*s\"required\": ", in, "", in, "");
	put_required(&members, 0, document ? "\"schema\"" : "", out);
	put_forms(&members, indent, out);
	fprintf(out, ",\n%*s\"additionalProperties\": %s\n%*s}", in, "",
		fields->is_open ? "true" : "false", (int)indent, "");
}

void hi_doc_put_schema(const struct hi_doc_fields *fields, const char *name,
		       const char *title, unsigned indent, FILE *out)
{
	put_object_schema(fields, name, title, fields->meaning, false, indent, out);
}
/* NOLINTEND(misc-no-recursion) */
