/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/unwind_builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

enum {
	PAGE_BITS = HI_UNWIND_PAGE_BITS,
	PAGE_BYTES = 1 << PAGE_BITS,
	PAGES_MAX = 1 << 20,
	ROWS_MAX = 12 << 20,
	/* Between functions, to align them: never runs. */
	PADDING_MAX = 15,
};

static const struct hi_unwind_rule no_rule = {.kind = HI_UNWIND_NONE};

/* ---- rules ---- */

/* 0, which is no rule, where there is no room. */
static uint32_t number_of_rule(struct hi_unwind_builder *b,
			       const struct hi_unwind_rule *rule)
{
	uint64_t key, number = 0;

	if (rule->kind == HI_UNWIND_NONE)
		return 0;
	memcpy(&key, rule, sizeof(key));
	if (hi_table_get(&b->rule_numbers, key, &number))
		return (uint32_t)number;
	if (b->rules.count >= HI_UNWIND_RULES_MAX || key == UINT64_MAX)
		return 0;
	number = b->rules.count;
	if (!hi_vector_push(&b->rules, *rule) ||
	    !hi_table_put(&b->rule_numbers, key, number)) {
		b->no_memory = true;
		return 0;
	}
	return (uint32_t)number;
}

/* ---- rows ---- */

static uint32_t encode_row(uint64_t address, uint32_t rule)
{
	return (uint32_t)(address & (PAGE_BYTES - 1)) << HI_UNWIND_RULE_BITS | rule;
}

static void push_row(struct hi_unwind_builder *b, uint64_t address, uint32_t rule)
{
	if (!hi_vector_push(&b->rows, encode_row(address, rule)))
		b->no_memory = true;
}

/* The pages up to `until` that have no entry yet begin with the next row. */
static void push_pages(struct hi_unwind_builder *b, size_t until)
{
	for (; b->n_pages < until; b->n_pages++)
		if (!hi_vector_push(&b->pages, (uint32_t)b->rows.count))
			b->no_memory = true;
}

static bool has_room(struct hi_unwind_builder *b)
{
	if (b->rows.count >= ROWS_MAX)
		b->is_full = true;
	return !b->is_full && !b->no_memory;
}

static bool begin_tables(struct hi_unwind_builder *b)
{
	if (b->rules.count == 0 && !hi_vector_push(&b->rules, no_rule))
		b->no_memory = true;
	if (b->rows.count == 0)
		push_row(b, 0, 0);
	return has_room(b);
}

bool hi_unwind_builder_begin(struct hi_unwind_builder *b, uint64_t start, uint64_t end)
{
	struct hi_unwind_module module = {start, end, b->pages.count};

	if (!begin_tables(b) || start >= end || (start | end) & (PAGE_BYTES - 1) ||
	    (b->modules.count && b->modules.items[b->modules.count - 1].end > start) ||
	    b->modules.count >= HI_UNWIND_MODULES_MAX ||
	    (end - start) >> PAGE_BITS > PAGES_MAX - b->pages.count)
		return false;
	if (!hi_vector_push(&b->modules, module)) {
		b->no_memory = true;
		return false;
	}
	b->start = b->at = start;
	b->end = end;
	b->first_row = b->rows.count;
	b->n_pages = 0;
	push_pages(b, 1);
	push_row(b, start, 0);
	return !b->no_memory;
}

bool hi_unwind_builder_row(struct hi_unwind_builder *b, uint64_t address,
			   const struct hi_unwind_rule *rule)
{
	uint32_t number = number_of_rule(b, rule), last;

	if (address < b->start)
		address = b->start;
	if (address < b->at || address >= b->end || !has_room(b))
		return false;
	if (address == b->at) {
		b->rows.items[b->rows.count - 1] = encode_row(address, number);
		return true;
	}
	last = b->rows.items[b->rows.count - 1] & (HI_UNWIND_RULES_MAX - 1);
	if (number == last)
		return true;
	push_pages(b, ((address - b->start) >> PAGE_BITS) + 1);
	push_row(b, address, number);
	b->at = address;
	return !b->no_memory;
}

void hi_unwind_builder_end(struct hi_unwind_builder *b)
{
	push_pages(b, ((b->end - b->start) >> PAGE_BITS) + 1);
	if (!b->is_full)
		return;
	b->rows.count = b->first_row;
	b->pages.count = (size_t)b->modules.items[--b->modules.count].pages;
}

/* ---- of call frame information ---- */

struct cfi_rows {
	struct hi_unwind_builder *builder;
	uint64_t bias;
};

static bool add_cfi_row(void *arg, uint64_t address, const struct hi_unwind_rule *rule)
{
	struct cfi_rows *rows = arg;

	return hi_unwind_builder_row(rows->builder, address + rows->bias, rule);
}

/* Entries of functions that were left out of the file are at 0, or elsewhere outside. */
void hi_unwind_builder_add_cfi(struct hi_unwind_builder *b, uint64_t start, uint64_t end,
			       const struct hi_cfi_entries *entries, uint64_t bias)
{
	struct cfi_rows rows = {b, bias};
	uint64_t low = start - bias, high = end - bias, known_to = low;
	size_t first = hi_search(i, entries->count, entries->items[i].start < low);

	if (!hi_unwind_builder_begin(b, start, end))
		return;
	while (first > 0 && entries->items[first - 1].end > low)
		first--;
	for (size_t i = first; i < entries->count && has_room(b); i++) {
		const struct hi_cfi_entry *entry = &entries->items[i];

		if (entry->start >= high)
			break;
		if (entry->start < known_to && i > first)
			continue;
		if (entry->start > known_to && entry->start - known_to > PADDING_MAX)
			add_cfi_row(&rows, known_to, &no_rule);
		hi_cfi_entry_rows(entry, add_cfi_row, &rows);
		known_to = entry->end;
	}
	if (known_to < high)
		add_cfi_row(&rows, known_to, &no_rule);
	hi_unwind_builder_end(b);
}

/* ---- tables ---- */

static size_t words_of_halves(size_t n)
{
	return (n + 1) / 2;
}

static struct hi_unwind_head lay_out(const struct hi_unwind_builder *b, size_t *n_ret)
{
	struct hi_unwind_head head = {
		.n_rules = (uint32_t)b->rules.count,
		.n_modules = (uint32_t)b->modules.count,
		.n_pages = (uint32_t)b->pages.count,
		.n_rows = (uint32_t)b->rows.count,
	};

	head.modules = HI_UNWIND_HEAD_WORDS + head.n_rules;
	head.pages = head.modules + head.n_modules * HI_UNWIND_MODULE_WORDS;
	head.rows = head.pages + (uint32_t)words_of_halves(head.n_pages);
	*n_ret = head.rows + words_of_halves(head.n_rows);
	return head;
}

static void copy_items(uint64_t *to, const void *items, size_t n, size_t size)
{
	if (n)
		memcpy(to, items, n * size);
}

enum hi_status hi_unwind_builder_finish(struct hi_unwind_builder *b,
					struct hi_unwind_tables *ret,
					struct hi_error *err)
{
	struct hi_unwind_head head;
	uint64_t *words = NULL;
	size_t n;

	begin_tables(b);
	head = lay_out(b, &n);
	if (!b->no_memory)
		words = hi_calloc(n, sizeof(*words));
	if (!words)
		return hi_fail_memory(err, "tables of stacks");
	copy_items(words, &head, 1, sizeof(head));
	copy_items(words + HI_UNWIND_HEAD_WORDS, b->rules.items, head.n_rules,
		   sizeof(*b->rules.items));
	copy_items(words + head.modules, b->modules.items, head.n_modules,
		   sizeof(*b->modules.items));
	copy_items(words + head.pages, b->pages.items, head.n_pages, sizeof(uint32_t));
	copy_items(words + head.rows, b->rows.items, head.n_rows, sizeof(uint32_t));
	*ret = (struct hi_unwind_tables){words, n};
	return HI_OK;
}

void hi_unwind_builder_free(struct hi_unwind_builder *b)
{
	hi_vector_free(&b->rules);
	hi_vector_free(&b->modules);
	hi_vector_free(&b->pages);
	hi_vector_free(&b->rows);
	hi_table_free(&b->rule_numbers);
}

/* ---- merging them ---- */

static void copy_row(struct hi_unwind_builder *b, const struct hi_unwind_tables *from,
		     uint64_t page, uint32_t row)
{
	struct hi_unwind_rule rule;

	memcpy(&rule,
	       from->words + HI_UNWIND_HEAD_WORDS + (row & (HI_UNWIND_RULES_MAX - 1)),
	       sizeof(rule));
	hi_unwind_builder_row(b, page + (row >> HI_UNWIND_RULE_BITS), &rule);
}

static void copy_module(struct hi_unwind_builder *b, const struct hi_unwind_tables *from,
			size_t i)
{
	const struct hi_unwind_head head = hi_unwind_tables_head(from);
	const struct hi_unwind_module module = hi_unwind_tables_module(from, i);
	size_t entry = module.pages;
	uint32_t row = hi_unwind_tables_half(from, head.pages, entry);

	if (!hi_unwind_builder_begin(b, module.start, module.end))
		return;
	for (uint64_t page = module.start; page < module.end; page += PAGE_BYTES) {
		uint32_t end = hi_unwind_tables_half(from, head.pages, ++entry);

		for (; row < end; row++)
			copy_row(b, from, page,
				 hi_unwind_tables_half(from, head.rows, row));
	}
	hi_unwind_builder_end(b);
}

enum hi_status hi_unwind_tables_merge(const struct hi_unwind_tables *earlier,
				      const struct hi_unwind_tables *later,
				      struct hi_unwind_tables *ret, struct hi_error *err)
{
	size_t n_earlier = hi_unwind_tables_head(earlier).n_modules;
	size_t n_later = hi_unwind_tables_head(later).n_modules, j = 0;
	struct hi_unwind_builder builder = {};
	enum hi_status status;

	for (size_t i = 0; i < n_earlier; i++) {
		struct hi_unwind_module module = hi_unwind_tables_module(earlier, i);

		while (j < n_later &&
		       hi_unwind_tables_module(later, j).end <= module.start)
			copy_module(&builder, later, j++);
		if (!(j < n_later &&
		      hi_unwind_tables_module(later, j).start < module.end))
			copy_module(&builder, earlier, i);
	}
	while (j < n_later)
		copy_module(&builder, later, j++);
	status = hi_unwind_builder_finish(&builder, ret, err);
	hi_unwind_builder_free(&builder);
	return status;
}
