/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/unwind_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

_Static_assert(sizeof(struct hi_unwind_rule) == 8, "a word");

struct hi_unwind_head hi_unwind_tables_head(const struct hi_unwind_tables *tables)
{
	struct hi_unwind_head head = {};

	if (tables->n_words >= HI_UNWIND_HEAD_WORDS)
		memcpy(&head, tables->words, sizeof(head));
	return head;
}

struct hi_unwind_module hi_unwind_tables_module(const struct hi_unwind_tables *tables,
						size_t i)
{
	struct hi_unwind_module module;

	memcpy(&module,
	       tables->words + hi_unwind_tables_head(tables).modules +
		       i * HI_UNWIND_MODULE_WORDS,
	       sizeof(module));
	return module;
}

uint32_t hi_unwind_tables_half(const struct hi_unwind_tables *tables, size_t word,
			       size_t i)
{
	return (uint32_t)(tables->words[word + i / 2] >> (i & 1) * 32);
}

/* ---- checking them ---- */

bool hi_unwind_is_code(const struct hi_mapping *m)
{
	return (m->prot & HI_PROT_EXEC) &&
	       (m->kind == HI_MAPPING_FILE || m->kind == HI_MAPPING_VDSO);
}

static bool lies_behind(uint64_t at, uint64_t words, uint64_t *end)
{
	bool behind = at == *end;

	*end += words;
	return behind;
}

static bool head_is_valid(const struct hi_unwind_tables *tables,
			  const struct hi_unwind_head *head)
{
	uint64_t end = HI_UNWIND_HEAD_WORDS + (uint64_t)head->n_rules;

	return tables->n_words >= HI_UNWIND_HEAD_WORDS &&
	       tables->n_words <= HI_UNWIND_WORDS_MAX && head->n_rules > 0 &&
	       head->n_rules <= HI_UNWIND_RULES_MAX && head->n_rows > 0 &&
	       head->n_modules <= HI_UNWIND_MODULES_MAX &&
	       lies_behind(head->modules,
			   head->n_modules * (uint64_t)HI_UNWIND_MODULE_WORDS, &end) &&
	       lies_behind(head->pages, (head->n_pages + 1ull) / 2, &end) &&
	       lies_behind(head->rows, (head->n_rows + 1ull) / 2, &end) &&
	       end == tables->n_words;
}

static bool rules_are_valid(const struct hi_unwind_tables *tables,
			    const struct hi_unwind_head *head)
{
	for (size_t i = 0; i < head->n_rules; i++) {
		struct hi_unwind_rule rule;

		memcpy(&rule, tables->words + HI_UNWIND_HEAD_WORDS + i, sizeof(rule));
		if (rule.kind >= HI_UNWIND_KINDS || (i == 0 && rule.kind))
			return false;
	}
	return true;
}

static bool rows_have_rules(const struct hi_unwind_tables *tables,
			    const struct hi_unwind_head *head)
{
	for (size_t i = 0; i < head->n_rows; i++)
		if ((hi_unwind_tables_half(tables, head->rows, i) &
		     (HI_UNWIND_RULES_MAX - 1)) >= head->n_rules)
			return false;
	return true;
}

static bool module_is_valid(const struct hi_unwind_tables *tables,
			    const struct hi_unwind_head *head,
			    const struct hi_unwind_module *module)
{
	uint64_t n = (module->end - module->start) >> HI_UNWIND_PAGE_BITS, before = 1;

	if (module->start >= module->end ||
	    (module->start | module->end) & ((1u << HI_UNWIND_PAGE_BITS) - 1) ||
	    module->pages >= head->n_pages || n >= head->n_pages - module->pages)
		return false;
	for (size_t i = 0; i <= n; i++) {
		uint32_t row =
			hi_unwind_tables_half(tables, head->pages, module->pages + i);

		if (row < before || row > head->n_rows)
			return false;
		before = row;
	}
	return true;
}

/* Mappings that touch may be one module. */
static bool is_mapped_code(const struct hi_target *target,
			   const struct hi_unwind_module *module)
{
	uint64_t at = module->start;
	size_t i = hi_search(j, target->n_mappings, target->mappings[j].end <= at);

	for (; i < target->n_mappings && at < module->end; i++) {
		if (target->mappings[i].start > at ||
		    !hi_unwind_is_code(&target->mappings[i]))
			return false;
		at = target->mappings[i].end;
	}
	return at >= module->end;
}

static enum hi_status check_modules(const struct hi_unwind_tables *tables,
				    const struct hi_unwind_head *head,
				    const struct hi_target *target, struct hi_error *err)
{
	uint64_t end = 0;

	for (size_t i = 0; i < head->n_modules; i++) {
		struct hi_unwind_module module = hi_unwind_tables_module(tables, i);

		if (module.start < end || !module_is_valid(tables, head, &module))
			return hi_fail(err, HI_BAD_DATA, module.start,
				       "tables of stacks: a module's pages or rows are "
				       "out of range");
		if (target && !is_mapped_code(target, &module))
			return hi_fail(err, HI_BAD_DATA, module.start,
				       "tables of stacks: a module is outside the "
				       "target's code");
		end = module.end;
	}
	return HI_OK;
}

enum hi_status hi_unwind_tables_check(const struct hi_unwind_tables *tables,
				      const struct hi_target *target,
				      struct hi_error *err)
{
	struct hi_unwind_head head = hi_unwind_tables_head(tables);

	if (!head_is_valid(tables, &head) || !rules_are_valid(tables, &head) ||
	    !rows_have_rules(tables, &head))
		return hi_fail(err, HI_BAD_DATA, 0,
			       "tables of stacks: an index is out of range");
	return check_modules(tables, &head, target, err);
}

void hi_unwind_tables_free(struct hi_unwind_tables *tables)
{
	free(tables->words);
	*tables = (struct hi_unwind_tables){};
}
