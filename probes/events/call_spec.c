/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/call_spec.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parse.h"

enum { WORD = 64 };

struct spec_parser {
	const char *text, *at; /* at: of what is read next */
	struct hi_call_spec *ret;
	struct hi_error *err;
};

static enum hi_status expect_in_spec(const struct spec_parser *p, const char *what)
{
	return hi_fail(p->err, HI_USAGE, 0, "%s", what);
}

/* Returns the ':' before the description of the function: the last one that is not one of
 * "::". */
static const char *end_of_function(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon > text && colon[-1] != ':' ? colon : NULL;
}

static enum hi_status parse_spec_function(struct spec_parser *p, const char *usage)
{
	const char *colon = end_of_function(p->text);
	struct hi_safepoint *function = &p->ret->function;
	char name[sizeof(function->name) + sizeof(function->detail)];
	size_t n = colon ? (size_t)(colon - p->text) : 0;

	if (n == 0 || n >= sizeof(name)) {
		p->at = p->text + strlen(p->text);
		return expect_in_spec(p, usage);
	}
	memcpy(name, p->text, n);
	name[n] = '\0';
	if (hi_safepoint_parse(name, function, NULL) != HI_OK ||
	    function->kind != HI_SAFEPOINT_FUNCTION || function->at_return ||
	    function->condition)
		return expect_in_spec(p, "the name of a function is expected: NAME or "
					 "MODULE:NAME");
	function->text = p->text;
	p->at = colon + 1;
	return HI_OK;
}

static bool skip_in_spec(struct spec_parser *p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* $1 to $6 */
static enum hi_status parse_spec_argument(struct spec_parser *p, uint8_t *ret)
{
	if (p->at[0] != '$' || p->at[1] < '1' || p->at[1] > '0' + HI_BPF_ARGUMENTS ||
	    isdigit((unsigned char)p->at[2]))
		return expect_in_spec(p, "an argument is expected: $1 to $6");
	*ret = (uint8_t)(p->at[1] - '0');
	p->at += 2;
	return HI_OK;
}

static enum hi_status parse_spec_number(struct spec_parser *p)
{
	struct hi_bpf_function *does = &p->ret->does;
	size_t n = strcspn(p->at, "*,");
	char word[WORD];
	uint64_t number;

	if (n == 0 || n >= sizeof(word))
		return expect_in_spec(p, "a size is expected: an argument ($1 to $6), a "
					 "number (64, 4KiB), or a product ($2*$3)");
	memcpy(word, p->at, n);
	word[n] = '\0';
	if (!hi_parse_size(word, &number) || number == 0 ||
	    __builtin_mul_overflow(does->unit, number, &number) || number >> 47)
		return expect_in_spec(p, "a size is expected: an argument ($1 to $6), a "
					 "number (64, 4KiB), or a product ($2*$3)");
	does->unit = number;
	p->at += n;
	return HI_OK;
}

static enum hi_status parse_spec_size(struct spec_parser *p)
{
	struct hi_bpf_function *does = &p->ret->does;
	enum hi_status status = HI_OK;

	does->unit = 1;
	do {
		if (*p->at != '$')
			status = parse_spec_number(p);
		else if (!does->size)
			status = parse_spec_argument(p, &does->size);
		else if (!does->count)
			status = parse_spec_argument(p, &does->count);
		else
			status = expect_in_spec(p, "a size has at most two arguments");
	} while (status == HI_OK && skip_in_spec(p, "*"));
	return status;
}

static enum hi_status parse_spec_item(struct spec_parser *p)
{
	struct hi_bpf_function *does = &p->ret->does;
	const char *start = p->at;

	if (skip_in_spec(p, "ret=*") && !does->result)
		return parse_spec_argument(p, &does->result);
	p->at = start;
	if (skip_in_spec(p, "size=") && !does->unit)
		return parse_spec_size(p);
	p->at = start;
	if (skip_in_spec(p, "old=") && !does->block)
		return parse_spec_argument(p, &does->block);
	p->at = start;
	if (!skip_in_spec(p, "ret") || does->result) {
		p->at = start;
		return expect_in_spec(p, "one of ret, ret=*$N, size=..., old=$N is "
					 "expected, each once");
	}
	does->result = HI_BPF_RETURNED;
	return HI_OK;
}

static enum hi_status finish_spec(const struct spec_parser *p, enum hi_status status,
				  size_t *column_ret)
{
	*column_ret = (size_t)(p->at - p->text);
	return status;
}

enum hi_status hi_call_spec_parse(const char *text, struct hi_call_spec *ret,
				  size_t *column_ret, struct hi_error *err)
{
	struct spec_parser p = {.text = text, .at = text, .ret = ret, .err = err};
	enum hi_status status;

	*ret = (struct hi_call_spec){};
	status = parse_spec_function(&p, "FUNCTION:ret,size=$N is expected");
	if (status != HI_OK)
		return finish_spec(&p, status, column_ret);
	do
		status = parse_spec_item(&p);
	while (status == HI_OK && skip_in_spec(&p, ","));
	if (status == HI_OK && *p.at)
		status = expect_in_spec(&p, "',' or the end is expected");
	if (status == HI_OK && !ret->does.result)
		status = expect_in_spec(&p, "where the result is: ret, or ret=*$N");
	/* Pieces without a size are no part of the bytes of which samples are drawn. */
	if (status == HI_OK && !ret->does.unit)
		ret->does.flags |= HI_BPF_ALWAYS;
	return finish_spec(&p, status, column_ret);
}

enum hi_status hi_free_spec_parse(const char *text, struct hi_call_spec *ret,
				  size_t *column_ret, struct hi_error *err)
{
	struct spec_parser p = {.text = text, .at = text, .ret = ret, .err = err};
	enum hi_status status;

	*ret = (struct hi_call_spec){};
	status = parse_spec_function(&p, "FUNCTION:$N is expected");
	if (status == HI_OK)
		status = parse_spec_argument(&p, &ret->does.block);
	if (status == HI_OK && *p.at)
		status = expect_in_spec(&p, "the end is expected");
	return finish_spec(&p, status, column_ret);
}
