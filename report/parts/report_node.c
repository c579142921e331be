/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/report_node.h"

#include <inttypes.h>
#include <string.h>

#include "report/document.h"

/* Text is always of many characters; pointers whose name is not theirs have one that a
 * hint gives to all of them. */
static bool says_many(const struct hi_type_name *type)
{
	size_t n = type->name ? strlen(type->name) : 0;

	return type->klass == HI_TYPE_STRING ||
	       (type->klass == HI_TYPE_POINTER_ARRAY && n && type->name[n - 1] != '*');
}

static void fill_object(const struct hi_graph *g, struct hi_node_info *info)
{
	const struct hi_objects *o = g->objects;

	info->sort = HI_NODE_OBJECT;
	info->type = hi_graph_type_name(g, o->type[info->node]);
	info->address = hi_graph_address(g, info->node);
	info->shallow = hi_objects_cost(o, info->node);
	info->evidence = o->flags[info->node] & HI_OBJECT_EVIDENCE_MASK;
	info->array = (o->flags[info->node] & HI_OBJECT_ARRAY) &&
		      !says_many(&g->types[o->type[info->node]]);
	info->internal = o->flags[info->node] & HI_OBJECT_INTERNAL;
}

struct hi_node_info hi_node_info(const struct hi_graph *g,
				 const struct hi_dominators *dominators, hi_node node)
{
	struct hi_node_info info = {.node = node,
				    .sort = HI_NODE_SUPER,
				    .name = "",
				    .detail = "",
				    .type = "",
				    .retained = UINT64_MAX};

	if (dominators && node < g->n_nodes)
		info.retained = dominators->retained[node];
	if (hi_graph_is_object(g, node)) {
		fill_object(g, &info);
	} else if (node < g->first_kind) {
		const struct hi_root *root = &g->roots[node - g->first_root];

		info.sort = HI_NODE_ROOT;
		info.kind = root->kind;
		info.name = root->name ? root->name : "";
		info.detail = root->detail ? root->detail : "";
		info.type = root->type ? root->type : "";
		info.address = root->address;
	} else if (node < g->super_root) {
		info.sort = HI_NODE_KIND;
		info.kind = (enum hi_root_kind)(node - g->first_kind);
	}
	return info;
}

const char *hi_type_label(const char *type, struct hi_page *page)
{
	return hi_page_type(page, hi_type_key(type));
}

/* Is the short name that of an array already? */
static bool is_of_many(const char *shown, const char *full)
{
	size_t n = strlen(full);

	return n > 0 && full[n - 1] == '*' && strchr(shown, '*') == NULL;
}

static const char *object_type(const struct hi_node_info *info, struct hi_page *page)
{
	size_t n = strlen(info->type);
	const char *type;

	if (info->internal && n == 0)
		return "(the allocator's own)";
	/* Some type names have it already: "char []". */
	if (!info->array || n == 0 || info->type[n - 1] == ']')
		return hi_type_label(info->type, page);
	type = hi_page_type(page, info->type);
	/* "hash buckets" says it. */
	return is_of_many(type, info->type) ? type : hi_page_printf(page, "%s []", type);
}

static const char *object_label(const struct hi_node_info *info, struct hi_page *page)
{
	if (!*info->name)
		return object_type(info, page);
	return hi_page_printf(page, "%s (%s)", hi_page_safe(page, info->name),
			      object_type(info, page));
}

const char *hi_node_label(const struct hi_node_info *info, struct hi_page *page)
{
	if (info->sort != HI_NODE_OBJECT)
		return hi_node_short_label(info, page);
	if (!*info->name)
		return hi_page_printf(page, "%s 0x%" PRIx64, object_type(info, page),
				      info->address);
	return hi_page_printf(page, "%s (%s%s0x%" PRIx64 ")",
			      hi_page_safe(page, info->name),
			      *info->type ? object_type(info, page) : "",
			      *info->type ? " " : "", info->address);
}

const char *hi_node_short_label(const struct hi_node_info *info, struct hi_page *page)
{
	switch (info->sort) {
	case HI_NODE_ROOT:
		return *info->name ? hi_page_safe(page, info->name) : "(unnamed)";
	case HI_NODE_KIND:
		return hi_root_kind_name(info->kind);
	case HI_NODE_SUPER:
		return "all roots";
	case HI_NODE_OBJECT:
	default:
		return object_label(info, page);
	}
}

const char *hi_node_type_label(const struct hi_node_info *info, struct hi_page *page)
{
	return info->sort == HI_NODE_OBJECT ? object_type(info, page)
					    : hi_type_label(info->type, page);
}

const char *hi_where_label(const char *detail, struct hi_page *page)
{
	const char *slash = strrchr(detail, '/');

	return hi_page_safe(page, slash && slash[1] ? slash + 1 : detail);
}

static const char *sort_word(unsigned sort)
{
	static const char *const sorts[] = {"object", "root", "kind", "all"};

	return sorts[sort];
}
static const char *root_kind_word(unsigned kind)
{
	return hi_root_kind_key((enum hi_root_kind)kind);
}

static struct hi_doc_value root_kind_of_node(const struct hi_doc_row *row)
{
	const struct hi_node_info *info = row->row;

	return info->sort == HI_NODE_ROOT || info->sort == HI_NODE_KIND
		       ? hi_doc_number(info->kind)
		       : hi_doc_none();
}
static struct hi_doc_value type_of_node_info(const struct hi_doc_row *row)
{
	const struct hi_node_info *info = row->row;

	return hi_doc_text(info->sort == HI_NODE_OBJECT ? hi_type_key(info->type)
							: info->type);
}

static const struct hi_doc_field node_fields[] = {
	{"node", NULL, HI_DOC_WORD, HI_AT(struct hi_node_info, sort), .word = sort_word,
	 .n_words = HI_NODE_SUPER + 1},
	{"kind", NULL, HI_DOC_WORD, .value = root_kind_of_node, .word = root_kind_word,
	 .n_words = HI_ROOT_KINDS, .nullable = true},
	{"name", NULL, HI_DOC_TEXT, HI_AT(struct hi_node_info, name), .nullable = true,
	 .is_escaped = true,
	 .meaning = "of a variable; of an object, where one was looked for: the way to "
		    "it from a variable, in the tree of retained from its parent"},
	{"detail", NULL, HI_DOC_TEXT, HI_AT(struct hi_node_info, detail),
	 .nullable = true},
	{"type", NULL, HI_DOC_TYPE, .value = type_of_node_info, .nullable = true,
	 .meaning = "(untyped): an object of unknown type; null: a variable of unknown "
		    "type"},
	{"address", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_node_info, address),
	 .nullable = true},
	{"shallow", NULL, HI_DOC_BYTES, HI_AT(struct hi_node_info, shallow)},
	{"retained", NULL, HI_DOC_BYTES, HI_AT(struct hi_node_info, retained),
	 .nullable = true, .meaning = "null: unknown"},
};
const struct hi_doc_fields hi_node_fields = HI_DOC_FIELDS(
	node_fields, .row_size = sizeof(struct hi_node_info), .is_open = true);

void hi_node_json(const struct hi_node_info *info, struct hi_json *json)
{
	hi_doc_put_report(&hi_node_fields, info, 0, json);
}

const char *hi_root_kind_key(enum hi_root_kind kind)
{
	static const char *const keys[HI_ROOT_KINDS] = {"global",   "tls",     "stack",
							"register", "runtime", "untyped"};

	return kind < HI_ROOT_KINDS ? keys[kind] : "unknown";
}

const char *hi_evidence_key(enum hi_evidence evidence)
{
	static const char *const keys[] = {"none",    "shape",	"base_of", "container",
					   "pointer", "vtable", "runtime"};

	return evidence <= HI_EVIDENCE_RUNTIME ? keys[evidence] : "unknown";
}

const char *hi_evidence_text(enum hi_evidence evidence)
{
	return evidence == HI_EVIDENCE_BASE ? "base of" : hi_evidence_key(evidence);
}

const char *hi_leak_shape_key(enum hi_leak_shape shape)
{
	static const char *const keys[] = {"single", "chain", "cycle"};

	return shape <= HI_LEAK_CYCLE ? keys[shape] : "unknown";
}

static uint64_t leaked_of(const uint64_t by_class[HI_UNREACHABLE_CLASSES])
{
	return by_class[HI_UNREACHABLE_NO_CLASS] +
	       by_class[HI_UNREACHABLE_LOST_REFERENCE];
}

const char *hi_unreachable_classes_text(const uint64_t by_class[HI_UNREACHABLE_CLASSES],
					uint64_t bytes, struct hi_page *page)
{
	const char *text = "", *comma = "";
	char buf[24];

	if (!by_class)
		return hi_page_printf(page, "%s leaked", hi_bytes(buf, bytes));
	if (leaked_of(by_class)) {
		text = hi_page_printf(page, "%s leaked",
				      hi_bytes(buf, leaked_of(by_class)));
		comma = ", ";
	}
	if (by_class[HI_UNREACHABLE_UNCOLLECTABLE]) {
		text = hi_page_printf(
			page, "%s%s%s uncollectable", text, comma,
			hi_bytes(buf, by_class[HI_UNREACHABLE_UNCOLLECTABLE]));
		comma = ", ";
	}
	if (by_class[HI_UNREACHABLE_GARBAGE])
		text = hi_page_printf(
			page, "%s%s%s garbage that the collector has not freed yet", text,
			comma, hi_bytes(buf, by_class[HI_UNREACHABLE_GARBAGE]));
	return text;
}

const char *hi_leak_verdict_key(bool is_likely)
{
	return is_likely ? "likely" : "certain";
}

const char *hi_likely_text(uint64_t certain, uint64_t likely, struct hi_page *page)
{
	char buf[24];

	return likely ? hi_page_printf(page, "%s%s likely leaked", certain ? ", " : "",
				       hi_bytes(buf, likely))
		      : "";
}

void hi_unreachable_classes_json(const uint64_t by_class[HI_UNREACHABLE_CLASSES],
				 struct hi_json *json)
{
	hi_json_object(json, "by_fate");
	for (unsigned i = 0; i < HI_UNREACHABLE_CLASSES; i++)
		hi_json_number(json,
			       hi_unreachable_class_key((enum hi_unreachable_class)i),
			       by_class[i]);
	hi_json_end(json);
}

const char *hi_grade_key(uint8_t grade)
{
	static const char *const keys[] = {"exact", "interior", "conservative", "weak"};

	return grade <= HI_GRADE_WEAK ? keys[grade] : "unknown";
}
