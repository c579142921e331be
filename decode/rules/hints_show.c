/* SPDX-License-Identifier: BSD-2-Clause */
/* How paths write a type. */
#include "decode/rules/hints_internal.h"

static bool parse_shown_place(struct hi_hints_parser *p, bool is_element,
			      struct hi_hint_show *ret)
{
	if (ret->value.length)
		return hi_hints_wrong(p, p->p, "more than one 'value' or 'element'");
	ret->is_element = is_element;
	if (!hi_hints_expression(p, &ret->value))
		return false;
	return !is_element || !hi_hints_take_word(p, "key") ||
	       hi_hints_expression(p, &ret->key);
}

static bool parse_shown_text(struct hi_hints_parser *p, struct hi_hint_show *ret)
{
	if (ret->text.length)
		return hi_hints_wrong(p, p->p, "more than one 'text'");
	ret->is_wide = hi_hints_take_word(p, "wide");
	return hi_hints_expression(p, &ret->text) && hi_hints_need_word(p, "length") &&
	       hi_hints_expression(p, &ret->length);
}

/* "EXPR", "EXPR in EXPR .. EXPR" */
static bool parse_shown_count(struct hi_hints_parser *p, struct hi_hint_show *ret)
{
	if (ret->count.length)
		return hi_hints_wrong(p, p->p, "more than one 'count'");
	if (!hi_hints_expression(p, &ret->count))
		return false;
	return !hi_hints_take_word(p, "in") ||
	       (hi_hints_expression(p, &ret->first) &&
		(hi_hints_take_text(p, "..") || hi_hints_expected(p, "'..'")) &&
		hi_hints_expression(p, &ret->last));
}

static bool parse_show_statement(struct hi_hints_parser *p, struct hi_hint_show *ret)
{
	bool ok;

	if (hi_hints_take_word(p, "hidden"))
		ok = ret->hidden = true;
	else if (hi_hints_take_word(p, "link"))
		ok = ret->link = true;
	else if (hi_hints_take_word(p, "element"))
		ok = parse_shown_place(p, true, ret);
	else if (hi_hints_take_word(p, "value"))
		ok = parse_shown_place(p, false, ret);
	else if (hi_hints_take_word(p, "text"))
		ok = parse_shown_text(p, ret);
	else if (hi_hints_take_word(p, "count"))
		ok = parse_shown_count(p, ret);
	else
		return hi_hints_expected(p,
					 "hidden, link, element, value, text or count");
	return ok && hi_hints_need(p, ';');
}

bool hi_hints_show(struct hi_hints_parser *p, struct hi_hint_show *ret)
{
	*ret = (struct hi_hint_show){};
	hi_hints_blanks(p);
	ret->at = (struct hi_text_piece){p->p, 1};
	if (!hi_hints_type(p, &ret->pattern) || !hi_hints_need(p, '{'))
		return false;
	while (!hi_hints_take(p, '}'))
		if (p->failed || !parse_show_statement(p, ret))
			return false;
	return true;
}
