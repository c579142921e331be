/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/leak_cycle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "report/parts/report_links.h"
#include "report/parts/report_node.h"

enum hi_status hi_leak_cycles_take(const struct hi_graph *g,
				   const struct hi_cycle_edges *edges,
				   struct hi_arena *arena, struct hi_leak_cycles *ret,
				   struct hi_error *err)
{
	*ret = (struct hi_leak_cycles){};
	if (!edges)
		return HI_OK;
	ret->rows = hi_arena_alloc(arena, (edges->count + 1) * sizeof(*ret->rows));
	if (!ret->rows)
		return hi_fail_memory(err, "cycles of leaks");
	ret->cycles = edges->cycles;
	ret->unclosed = edges->unclosed;
	ret->is_partial = edges->is_partial;
	for (; ret->n_rows < edges->count; ret->n_rows++) {
		const struct hi_cycle_edge *e = &edges->items[ret->n_rows];
		struct hi_leak_cycle *row = &ret->rows[ret->n_rows];

		*row = (struct hi_leak_cycle){
			.type = hi_graph_type_name(g, e->type),
			.field = hi_arena_strdup(arena, e->field),
			.back_type = hi_graph_type_name(g, e->back_type),
			.back_field = hi_arena_strdup(arena, e->back_field),
			.pointer = e->pointer,
			.cycles = e->cycles,
			.objects = e->objects,
			.bytes = e->bytes,
			.address = hi_graph_address(g, e->from),
		};
		if (!row->field || !row->back_field)
			return hi_fail_memory(err, "cycles of leaks");
	}
	return HI_OK;
}

/* ---- as text ---- */

/* The type that a block of a counted pointer is made for: T of "shared_ptr<T> block". */
static const char *label_of_counted(const char *type, struct hi_page *page)
{
	static const char *const fronts[] = {"shared_ptr<", "Rc<", "Arc<"};
	static const char end[] = "> block";
	const char *label = hi_type_label(type, page);
	size_t n = strlen(label), m = sizeof(end) - 1;

	for (size_t i = 0; i < sizeof(fronts) / sizeof(*fronts); i++) {
		size_t front = strlen(fronts[i]);

		if (n > front + m && strncmp(label, fronts[i], front) == 0 &&
		    strcmp(label + n - m, end) == 0)
			return hi_page_printf(page, "%.*s", (int)(n - front - m),
					      label + front);
	}
	return label;
}

/* "Cart.owner" of "->owner". */
static const char *text_of_field(const char *type, const char *field,
				 struct hi_page *page)
{
	const char *member = hi_page_safe(page, field);

	if (strncmp(member, "->", 2) == 0)
		member = hi_page_printf(page, ".%s", member + 2);
	return hi_page_printf(page, "%s%s", label_of_counted(type, page), member);
}

/* A pointer that is not counted frees nothing, so there is nothing to put there. */
static const char *text_of_remedy(const struct hi_leak_cycle *c, struct hi_page *page)
{
	char bytes[24];

	hi_bytes(bytes, c->bytes);
	switch (c->pointer) {
	case HI_CYCLE_SHARED_PTR:
		return hi_page_printf(page, ": a weak_ptr there frees %s", bytes);
	case HI_CYCLE_RUST:
		return hi_page_printf(page, ": a Weak there frees %s", bytes);
	case HI_CYCLE_RUNTIME:
		return hi_page_printf(
			page, ": a weak reference there frees %s without the collector",
			bytes);
	case HI_CYCLE_PLAIN:
		break;
	}
	return hi_page_printf(page, " of %s: plain pointers", bytes);
}

const char *hi_leak_cycle_text(const struct hi_leak_cycle *c, struct hi_page *page)
{
	const char *back =
		*c->back_field ? text_of_field(c->back_type, c->back_field, page) : "";
	char n[32];

	return hi_page_printf(page, "%s%s%s closes %s cycle%s%s",
			      text_of_field(c->type, c->field, page), *back ? " → " : "",
			      back, hi_count(n, c->cycles), c->cycles == 1 ? "" : "s",
			      text_of_remedy(c, page));
}

void hi_leak_cycles_show(const struct hi_leak_cycles *cycles, size_t most,
			 struct hi_page *page)
{
	for (size_t i = 0; i < cycles->n_rows && i < most; i++) {
		hi_page_text(page, hi_leak_cycle_text(&cycles->rows[i], page));
		hi_page_link(page, hi_address_of_object(page, cycles->rows[i].address));
	}
}

/* ---- fields ---- */

static const char *pointer_word(unsigned pointer)
{
	static const char *const words[] = {
		[HI_CYCLE_PLAIN] = "plain",
		[HI_CYCLE_SHARED_PTR] = "shared_ptr",
		[HI_CYCLE_RUST] = "rust",
		[HI_CYCLE_RUNTIME] = "runtime",
	};

	return pointer < sizeof(words) / sizeof(*words) ? words[pointer] : "plain";
}
static struct hi_doc_value pointer_of_cycle(const struct hi_doc_row *row)
{
	const struct hi_leak_cycle *c = row->row;

	return hi_doc_number(c->pointer);
}

static const struct hi_doc_field leak_cycle_fields[] = {
	{"type", NULL, HI_DOC_TYPE, HI_AT(struct hi_leak_cycle, type),
	 .meaning = "of the objects that have the field"},
	{"field", NULL, HI_DOC_TEXT, HI_AT(struct hi_leak_cycle, field),
	 .meaning = "without whose references there is no cycle; \"[]\" is an element"},
	{"back_type", NULL, HI_DOC_TYPE, HI_AT(struct hi_leak_cycle, back_type),
	 .optional = true, .meaning = "of what the field refers to"},
	{"back_field", NULL, HI_DOC_TEXT, HI_AT(struct hi_leak_cycle, back_field),
	 .optional = true, .meaning = "that leads on from there"},
	{"pointer", NULL, HI_DOC_WORD, .value = pointer_of_cycle, .word = pointer_word,
	 .n_words = HI_CYCLE_RUNTIME + 1,
	 .meaning = "how the reference counts; plain: not that is known"},
	{"cycles", NULL, HI_DOC_COUNT, HI_AT(struct hi_leak_cycle, cycles),
	 .meaning = "leak roots that it closes"},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_leak_cycle, bytes),
	 .meaning = "that would be free without it"},
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_leak_cycle, objects)},
	{"example", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_leak_cycle, address),
	 .nullable = true},
};
const struct hi_doc_fields hi_leak_cycle_fields =
	HI_DOC_FIELDS(leak_cycle_fields, .row_size = sizeof(struct hi_leak_cycle));
