/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/explain/explain_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "census/analysis/block_states.h"
#include "report/parts/made_by.h"
#include "report/parts/report_links.h"

static const struct {
	const char *state, *text;
} states[] = {
	{"live", "live: reachable from a root"},
	{"leak", "leaked: allocated, but unreachable"},
	{"internal", "the allocator's or libc's own block"},
	{"variable", "a variable"},
	{"mapped", "mapped, but no block of the allocator"},
	{"unmapped", "not mapped"},
};

static const char *state_text(const char *state)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(states[i].state, state) == 0)
			return states[i].text;
	for (int s = HI_BLOCK_FREE_FIRST; s < HI_BLOCK_STATES; s++)
		if (strcmp(hi_block_state_key((enum hi_block_state)s), state) == 0)
			return hi_block_state_text((enum hi_block_state)s);
	return state;
}

static const char *unreachable_class_text(const struct hi_explain_report *r)
{
	static const char *const texts[HI_UNREACHABLE_CLASSES] = {
		[HI_UNREACHABLE_GARBAGE] =
			"garbage: unreachable, and the next collection frees it",
		[HI_UNREACHABLE_UNCOLLECTABLE] =
			"uncollectable: unreachable, and the collector cannot free it",
		[HI_UNREACHABLE_LOST_REFERENCE] =
			"leaked: only a lost reference keeps it"};

	if (r->unreachable_class == HI_UNREACHABLE_UNCOLLECTABLE &&
	    strcmp(r->state, "live") == 0)
		return "live, but uncollectable garbage: it is in the collector's list "
		       "of such objects";
	if (r->is_piece)
		return "live: a part of a block that a root reaches, to which itself "
		       "nothing leads";
	if (r->is_likely)
		return "likely leaked: only values that are not pointers (such as "
		       "integers) refer to it";
	return texts[r->unreachable_class] ? texts[r->unreachable_class]
					   : state_text(r->state);
}

static bool is_node(const struct hi_explain_report *r)
{
	return r->info.sort == HI_NODE_OBJECT || r->info.sort == HI_NODE_ROOT;
}

static void show_block(const struct hi_explain_report *r, struct hi_page *page)
{
	char usable[24], cost[24];

	if (!r->block)
		return;
	hi_page_fact(
		page, "block",
		hi_page_printf(page, "0x%" PRIx64 ", %s usable, costs %s%s", r->block,
			       hi_bytes(usable, r->usable), hi_bytes(cost, r->cost),
			       r->offset ? hi_page_printf(page,
							  "; the address is at +%" PRIu64,
							  r->offset)
					 : ""));
}

static void show_runtime_facts(const struct hi_explain_report *r, struct hi_page *page)
{
	if (!r->id)
		return;
	hi_page_fact(page, "id()", hi_page_printf(page, "0x%" PRIx64, r->id));
	if (*r->name)
		hi_page_fact(page, "name", hi_page_safe(page, r->name));
	if (*r->value)
		hi_page_fact(page, "value", hi_page_safe(page, r->value));
	if (r->counts)
		hi_page_fact(page, "counts",
			     hi_page_printf(page, "%" PRIu64 " reference%s", r->counted,
					    r->counted == 1 ? "" : "s"));
}

static void show_object_facts(const struct hi_explain_report *r, struct hi_page *page)
{
	char retained[24], percent[16], n[32];

	show_block(r, page);
	if (r->is_likely && r->because && *r->because)
		hi_page_fact(page, "leads there",
			     hi_page_sentence(page, r->because, false));
	if (*r->mapping)
		hi_page_fact(page, "mapping", hi_page_safe(page, r->mapping));
	if (!is_node(r))
		return;
	hi_page_fact(page, "type",
		     hi_page_printf(page, "%s%s%s", hi_type_label(r->info.type, page),
				    r->info.array ? " [], an array" : "",
				    r->conflict ? " (two pointers give different types)"
						: ""));
	if (r->info.sort == HI_NODE_OBJECT)
		hi_page_link(page, hi_address_of_any_type(page, r->info.type));
	show_runtime_facts(r, page);
	if (*r->evidence)
		hi_page_fact(page, "evidence",
			     hi_page_sentence(page, r->evidence, false));
	if (r->info.sort == HI_NODE_OBJECT)
		hi_birth_show_fact(&r->birth, page);
	if (hi_made_by_is_named(&r->made_by))
		hi_page_fact(page, "made",
			     hi_made_by_text(&r->made_by, *r->info.type != 0, page));
	hi_life_show_facts(r->lives, r->life, page);
	if (*r->info.detail)
		hi_page_fact(page, "where", hi_page_safe(page, r->info.detail));
	if (r->reachable.objects && r->reachable.bytes != UINT64_MAX)
		hi_page_fact(page, "reaches",
			     hi_page_printf(page, "%s in %s object%s, others' with them",
					    hi_bytes(retained, r->reachable.bytes),
					    hi_count(n, r->reachable.objects),
					    r->reachable.objects == 1 ? "" : "s"));
	if (r->info.retained == UINT64_MAX || !r->info.retained)
		return;
	hi_page_fact(
		page, "retains",
		hi_page_printf(page, "%s (%s of live)",
			       hi_bytes(retained, r->info.retained),
			       hi_percent(percent, r->info.retained, r->live_bytes)));
	hi_page_link(page, hi_address_of_level(page, &r->info));
}

/* "typed otherwise" where the field has another type. */
static const char *text_of_step_origin(const struct hi_explain_step *step,
				       struct hi_page *page)
{
	const char *origin =
		*step->origin ? hi_page_safe(page, step->origin) : "its declaration";

	if (!*step->says)
		return "";
	return step->is_believed ? origin : "not used";
}

static void show_evidence_steps(const struct hi_explain_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"field", HI_COLUMN_TEXT},
						   {"says", HI_COLUMN_TEXT},
						   {"by", HI_COLUMN_TEXT}};
	struct hi_report_table *t;

	if (r->n_steps == 0)
		return;
	hi_page_heading(page,
			r->info.evidence ? "Why it has this type"
					 : "How precise pointers lead there",
			"each field gives the type of the next one");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct hi_explain_step *step = &r->steps[i];
		bool root = step->info.sort == HI_NODE_ROOT;

		if (r->left_out && i == r->gap) {
			hi_cell_text(t, hi_page_printf(page, "… %zu more …", r->left_out),
				     0);
			for (unsigned k = 0; k < 3; k++)
				hi_cell_empty(t);
		}
		hi_cell_text(t,
			     root ? hi_root_kind_key(step->info.kind)
				  : hi_type_label(step->info.type, page),
			     0);
		hi_cell_link(t, hi_address_of_node(page, &step->info));
		hi_cell_text(t, hi_page_sentence(page, step->text, true), 0);
		hi_cell_text(t, hi_page_sentence(page, step->says, true), 0);
		hi_cell_text(t, text_of_step_origin(step, page), 0);
	}
}

static bool has_offsets(const struct hi_explain_report *r)
{
	for (size_t i = 0; i < r->n_fields; i++)
		if (r->fields[i].offset != UINT64_MAX)
			return true;
	return false;
}

static void show_object_fields(const struct hi_explain_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"offset", HI_COLUMN_COUNT},
						   {"field", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"value", HI_COLUMN_TEXT},
						   {"leads to", HI_COLUMN_TEXT}};
	struct hi_report_table *t;

	if (r->n_fields == 0)
		return;
	hi_page_heading(page, "Fields",
			r->values_missing ? "values need snap --with-contents" : NULL);
	t = has_offsets(r) ? hi_page_table(page, columns, 5)
			   : hi_page_table(page, columns + 1, 4);
	for (size_t i = 0; i < r->n_fields; i++) {
		const struct hi_explain_field *f = &r->fields[i];

		if (has_offsets(r))
			hi_cell_number(t, f->offset);
		hi_cell_text(t, hi_page_safe_again(page, f->path), 0);
		hi_cell_text(t, hi_page_type(page, f->type), 0);
		hi_cell_text(t, hi_page_safe_again(page, f->value), 0);
		if (!f->points)
			hi_cell_empty(t);
		else
			hi_cell_text(
				t,
				hi_page_printf(page, "%s%s",
					       hi_type_label(f->to.type, page),
					       hi_grade_is_precise(f->grade) ? "" : " ?"),
				0);
		if (f->points)
			hi_cell_link(t, hi_address_of_node(page, &f->to));
	}
	if (r->n_fields_total > r->n_fields)
		hi_page_note(page, hi_page_printf(page, "and %zu more (--all)",
						  r->n_fields_total - r->n_fields));
}

static const char *text_of_restriction(const struct hi_explain_report *r)
{
	return r->header->only && r->header->only->under ? r->header->only->under : "it";
}

static void show_referrers(const struct hi_explain_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"address", HI_COLUMN_ADDRESS},
						   {"field", HI_COLUMN_TEXT},
						   {"grade", HI_COLUMN_WORD}};
	struct hi_report_table *t;

	if (!is_node(r) || r->info.sort == HI_NODE_ROOT)
		return;
	hi_page_heading(page, "Referenced by",
			r->n_referrers ? NULL : "no reference was found");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < r->n_referrers; i++) {
		const struct hi_explain_link *link = &r->referrers[i];

		hi_cell_text(t, hi_node_short_label(&link->info, page), 0);
		hi_cell_link(t, hi_address_of_node(page, &link->info));
		hi_cell_address(t, link->info.address);
		hi_cell_link(t, hi_address_of_node(page, &link->info));
		hi_cell_text(t, hi_page_safe_again(page, link->text), 0);
		hi_cell_text(t, hi_grade_key(link->grade), 0);
	}
	if (r->n_referrers_total > r->n_referrers)
		hi_page_note(page, hi_page_printf(page, "and %zu more (--all)",
						  r->n_referrers_total - r->n_referrers));
	if (r->n_referrers_hidden)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more are not under %s",
					    r->n_referrers_hidden,
					    hi_page_safe(page, text_of_restriction(r))));
}

static void show_dominators(const struct hi_explain_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"address", HI_COLUMN_ADDRESS},
						   {"retained", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	if (r->n_dominators == 0 || r->info.sort != HI_NODE_OBJECT)
		return;
	hi_page_heading(page, "Kept alive by",
			"its dominators: without any one of these it would be freed");
	t = hi_page_table(page, columns, 3);
	for (size_t i = 0; i < r->n_dominators; i++) {
		hi_cell_text(t, hi_node_short_label(&r->dominators[i], page), 0);
		hi_cell_link(t, hi_address_of_node(page, &r->dominators[i]));
		hi_cell_address(t, r->dominators[i].address);
		hi_cell_link(t, hi_address_of_node(page, &r->dominators[i]));
		hi_cell_number(t, r->dominators[i].retained);
		hi_cell_link(t, hi_address_of_level(page, &r->dominators[i]));
	}
	if (r->dominators_cut)
		hi_page_note(page, "and so on");
}

static void suggest_explain_commands(const struct hi_explain_report *r,
				     struct hi_page *page)
{
	if (r->info.sort != HI_NODE_OBJECT || strcmp(r->state, "live") != 0)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect paths 0x%" PRIx64 " %s",
				       r->block,
				       hi_report_header_target(r->header, page)),
			"the paths from a root to it");
}

/* What keeps it alive, or what else is leaked. */
static const char *address_of_liveness(const struct hi_explain_report *r,
				       struct hi_page *page)
{
	bool is_object = r->info.sort == HI_NODE_OBJECT;
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, r->info.address);
	if (is_object && strcmp(r->state, "live") == 0)
		return hi_address(page, "paths", text);
	return is_object && strcmp(r->state, "leak") == 0
		       ? hi_address(page, "leaks", NULL)
		       : "";
}

void hi_explain_display(const struct hi_explain_report *r, struct hi_page *page)
{
	const char *what = "";

	if (r->info.sort == HI_NODE_ROOT)
		what = hi_page_printf(
			page, "%s variable %s%s%s", hi_root_kind_key(r->info.kind),
			hi_node_label(&r->info, page), r->offset ? " +" : "",
			r->offset ? hi_page_printf(page, "%" PRIu64, r->offset) : "");
	else if (r->info.sort == HI_NODE_OBJECT)
		what = hi_page_printf(page, "%s, ", hi_type_label(r->info.type, page));
	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "0x%" PRIx64 ": %s%s", r->address, what,
					  r->info.sort == HI_NODE_ROOT
						  ? ""
						  : unreachable_class_text(r)));
	hi_page_link(page, address_of_liveness(r, page));
	hi_report_header_facts(r->header, page, false);
	show_object_facts(r, page);
	if (r->info.sort == HI_NODE_OBJECT)
		hi_birth_show_stack(&r->birth, page);
	hi_piece_show(r->recorded, r->piece, page);
	show_evidence_steps(r, page);
	show_object_fields(r, page);
	show_referrers(r, page);
	show_dominators(r, page);
	suggest_explain_commands(r, page);
}

static void fields_json(const struct hi_explain_report *r, struct hi_json *json)
{
	hi_json_array(json, "fields");
	for (size_t i = 0; i < r->n_fields; i++) {
		const struct hi_explain_field *f = &r->fields[i];

		hi_json_object(json, NULL);
		hi_json_number(json, "offset", f->offset);
		hi_json_number(json, "size", f->size);
		hi_json_escaped(json, "path", f->path);
		hi_json_text(json, "type", hi_known(f->type));
		hi_json_escaped(json, "value", f->value);
		hi_json_address(json, "to", f->points ? f->to.address : 0);
		hi_json_text(json, "to_type", f->points ? hi_type_key(f->to.type) : NULL);
		hi_json_text(json, "grade", f->points ? hi_grade_key(f->grade) : NULL);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "fields_total", r->n_fields_total);
}

static void steps_json(const struct hi_explain_report *r, struct hi_json *json)
{
	hi_json_array(json, "proof");
	for (size_t i = 0; i < r->n_steps; i++) {
		const struct hi_explain_step *step = &r->steps[i];

		hi_json_object(json, NULL);
		hi_node_json(&step->info, json);
		hi_json_escaped(json, "field", step->text);
		hi_json_escaped(json, "says", *step->says ? step->says : NULL);
		hi_json_text(json, "origin", hi_known(step->origin));
		hi_json_bool(json, "believed", step->is_believed);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "proof_left_out", r->left_out);
}

static void links_json(const struct hi_explain_report *r, struct hi_json *json)
{
	hi_json_array(json, "referrers");
	for (size_t i = 0; i < r->n_referrers; i++) {
		hi_json_object(json, NULL);
		hi_node_json(&r->referrers[i].info, json);
		hi_json_escaped(json, "field", hi_known(r->referrers[i].text));
		hi_json_text(json, "grade", hi_grade_key(r->referrers[i].grade));
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "referrers_total", r->n_referrers_total);
	hi_json_number(json, "referrers_hidden", r->n_referrers_hidden);
	hi_json_array(json, "dominators");
	for (size_t i = 0; i < r->n_dominators; i++) {
		hi_json_object(json, NULL);
		hi_node_json(&r->dominators[i], json);
		hi_json_end(json);
	}
	hi_json_end(json);
}

void hi_explain_json(const struct hi_explain_report *r, struct hi_json *json)
{
	bool object = r->info.sort == HI_NODE_OBJECT;

	hi_report_header_json(r->header, "heapinspect/explain/v1", json);
	hi_json_array(json, "rows");
	hi_json_object(json, NULL);
	hi_json_address(json, "address", r->address);
	hi_json_text(json, "state", r->state);
	if (r->unreachable_class)
		hi_json_text(json, "fate",
			     hi_unreachable_class_key(r->unreachable_class));
	if (strcmp(r->state, "leak") == 0) {
		hi_json_text(json, "verdict", hi_leak_verdict_key(r->is_likely));
		hi_json_text(json, "because",
			     r->is_likely && r->because ? hi_known(r->because) : NULL);
	}
	if (object)
		hi_birth_json(&r->birth, json);
	hi_made_by_json("made_by", &r->made_by, json);
	hi_life_json(r->lives, r->life, json);
	hi_piece_json(r->recorded, r->piece, json);
	hi_json_text(json, "mapping", hi_known(r->mapping));
	hi_json_address(json, "block", r->block);
	hi_json_number(json, "offset", r->offset);
	hi_json_number(json, "usable", r->block ? r->usable : UINT64_MAX);
	hi_json_number(json, "cost", r->block ? r->cost : UINT64_MAX);
	hi_json_text(json, "variable",
		     r->info.sort == HI_NODE_ROOT ? r->info.name : NULL);
	hi_json_text(json, "type",
		     object ? hi_type_key(r->info.type) : hi_known(r->info.type));
	hi_json_bool(json, "array", r->info.array);
	hi_json_text(json, "evidence", object ? hi_evidence_key(r->info.evidence) : NULL);
	hi_json_text(json, "evidence_text", hi_known(r->evidence));
	if (r->id) {
		hi_json_address(json, "id", r->id);
		hi_json_number(json, "counted", r->counts ? r->counted : UINT64_MAX);
		hi_json_text(json, "name", hi_known(r->name));
		hi_json_text(json, "value", hi_known(r->value));
	}
	hi_json_number(json, "retained", r->info.retained);
	hi_json_number(json, "reachable", r->reachable.bytes);
	steps_json(r, json);
	fields_json(r, json);
	links_json(r, json);
	hi_json_end(json);
	hi_json_end(json);
	hi_json_end(json);
}
