/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive descent over what a person typed, to a bounded depth. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/reports/check/gate.h"

struct parser {
	const char *text, *at;
	struct hi_arena *arena;
	struct hi_gate *gate;
	struct hi_error *err;
	const char *wrong_at;
	unsigned depth;
	bool failed;
};

static void parse_gate_sum(struct parser *p);

/* The first thing that is wrong counts. */
static void fail_gate_parse(struct parser *p, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void fail_gate_parse(struct parser *p, const char *at, const char *fmt, ...)
{
	char text[240];
	va_list ap;

	if (p->failed)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->failed = true;
	p->wrong_at = at;
	(void)hi_fail(p->err, HI_USAGE, 0, "%s", text);
}

static void skip_gate_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take_gate_token(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip_gate_blanks(p);
	if (strncmp(p->at, token, n) != 0)
		return false;
	p->at += n;
	return true;
}

static size_t word_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			  "0123456789_");
}

static bool take_gate_word(struct parser *p, const char *word)
{
	skip_gate_blanks(p);
	if (word_length(p->at) != strlen(word) || strncmp(p->at, word, strlen(word)) != 0)
		return false;
	p->at += strlen(word);
	return true;
}

static void add_gate_step(struct parser *p, const char *at, struct hi_gate_step step)
{
	struct hi_gate *g = p->gate;

	if (p->failed)
		return;
	if (g->n_steps == HI_GATE_STEPS) {
		fail_gate_parse(p, p->at, "too long");
		return;
	}
	step.column = (size_t)(at - p->text);
	g->steps[g->n_steps++] = step;
}

static void add_gate_operator(struct parser *p, const char *at, enum hi_gate_op op)
{
	add_gate_step(p, at, (struct hi_gate_step){.op = op});
}

static void add_gate_metric(struct parser *p, const char *at, struct hi_gate_metric m)
{
	p->gate->needs_baseline |= m.baseline;
	p->gate->needs_three |= m.subject == HI_GATE_SURVIVED;
	p->gate->needs_series |= m.slope;
	add_gate_step(p, at, (struct hi_gate_step){.op = HI_GATE_METRIC, .metric = m});
}

/* ---- numbers ---- */

static const struct {
	const char *text;
	double factor;
	enum hi_gate_unit unit;
} units[] = {{"", 1, HI_GATE_PLAIN},
	     {"B", 1, HI_GATE_OF_BYTES},
	     {"KiB", 1024, HI_GATE_OF_BYTES},
	     {"MiB", 1048576, HI_GATE_OF_BYTES},
	     {"GiB", 1073741824, HI_GATE_OF_BYTES},
	     {"TiB", 1099511627776, HI_GATE_OF_BYTES},
	     {"K", 1024, HI_GATE_OF_BYTES},
	     {"M", 1048576, HI_GATE_OF_BYTES},
	     {"G", 1073741824, HI_GATE_OF_BYTES},
	     {"KB", 1024, HI_GATE_OF_BYTES},
	     {"MB", 1048576, HI_GATE_OF_BYTES},
	     {"GB", 1073741824, HI_GATE_OF_BYTES},
	     {"us", 1e3, HI_GATE_NS},
	     {"ms", 1e6, HI_GATE_NS},
	     {"s", 1e9, HI_GATE_NS},
	     {"%", 0.01, HI_GATE_SHARE}};
/* What no heap has: 16 EiB. */
static const double most = 18446744073709551616.0;

static void parse_gate_number(struct parser *p)
{
	const char *start = p->at, *unit;
	double value = strtod(p->at, (char **)(uintptr_t)&p->at);
	size_t n;

	skip_gate_blanks(p);
	unit = p->at;
	n = *unit == '%' ? 1 : isalpha((unsigned char)*unit) ? word_length(unit) : 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].text) != n || strncmp(unit, units[i].text, n) != 0)
			continue;
		p->at += n;
		if (!(value * units[i].factor <= most))
			fail_gate_parse(p, start, "the number is too large");
		add_gate_step(p, start,
			      (struct hi_gate_step){.op = HI_GATE_PUSH,
						    .number = value * units[i].factor,
						    .unit = units[i].unit});
		return;
	}
	fail_gate_parse(
		p, n ? unit : start,
		"unknown unit %.*s; the units are B, KiB, MiB, GiB, TiB, %%, us, ms, s",
		n < 20 ? (int)n : 20, unit);
}

/* ---- metrics ---- */

static const struct {
	const char *word;
	enum hi_gate_subject subject;
	bool named;	 /* ("…") follows */
	unsigned fields; /* bits */
} subjects[] = {
#define FIELD(name) (1u << HI_GATE_##name)
	{"live", HI_GATE_LIVE, false, FIELD(BYTES) | FIELD(COUNT)},
	{"leak", HI_GATE_LEAK, false,
	 FIELD(BYTES) | FIELD(COUNT) | FIELD(ROOTS) | FIELD(LIKELY)},
	{"total", HI_GATE_TOTAL, false, FIELD(BYTES) | FIELD(COUNT)},
	{"garbage", HI_GATE_GARBAGE, false, FIELD(BYTES) | FIELD(COUNT)},
	{"uncollectable", HI_GATE_UNCOLLECTABLE, false, FIELD(BYTES) | FIELD(COUNT)},
	{"lost", HI_GATE_LOST, false, FIELD(BYTES) | FIELD(COUNT)},
	{"type", HI_GATE_TYPE, true, FIELD(BYTES) | FIELD(COUNT) | FIELD(RETAINED)},
	{"module", HI_GATE_MODULE, true, FIELD(BYTES) | FIELD(COUNT)},
	{"root", HI_GATE_ROOT, true, FIELD(RETAINED)},
	{"ledger", HI_GATE_LEDGER, true, FIELD(BYTES) | FIELD(COUNT)},
	{"snapshot", HI_GATE_SNAPSHOT, false, FIELD(PAUSE)},
	{"survived", HI_GATE_SURVIVED, false, FIELD(BYTES) | FIELD(COUNT)},
#undef FIELD
};
enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

static const char *const fields[] = {"bytes", "count", "retained",
				     "roots", "pause", "likely"};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

/* "…", up to the next quote. */
static const char *parse_quoted_name(struct parser *p)
{
	const char *end, *text;

	if (!take_gate_token(p, "\"")) {
		fail_gate_parse(p, p->at,
				"expected a name in quotes, as in (\"struct conn\")");
		return "";
	}
	end = strchr(p->at, '"');
	if (!end) {
		fail_gate_parse(p, p->at, "the closing quote is missing");
		return "";
	}
	if (end == p->at)
		fail_gate_parse(p, p->at, "the name is empty");
	text = hi_arena_printf(p->arena, "%.*s", (int)(end - p->at), p->at);
	p->at = end + 1;
	return text ? text : "";
}

/* ("NAME"), or (type="NAME") of what survived. */
static const char *parse_gate_name(struct parser *p, enum hi_gate_subject subject)
{
	const char *name;

	if (!take_gate_token(p, "("))
		fail_gate_parse(p, p->at,
				"expected a name in quotes, as in (\"struct conn\")");
	if (subject == HI_GATE_SURVIVED && take_gate_word(p, "type") &&
	    !take_gate_token(p, "="))
		fail_gate_parse(p, p->at, "expected =, as in (type=\"struct conn\")");
	name = parse_quoted_name(p);
	if (!take_gate_token(p, ")"))
		fail_gate_parse(p, p->at, "expected )");
	return name;
}

/* "bytes, count, retained" */
static void list_gate_fields(size_t subject, char *text, size_t size)
{
	size_t used = 0;

	*text = 0;
	for (unsigned i = 0; i < FIELDS && used < size; i++)
		if (subjects[subject].fields >> i & 1)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? ", " : "", fields[i]);
}

static void parse_gate_field(struct parser *p, size_t subject, struct hi_gate_metric *m)
{
	const char *start;
	char list[64];

	skip_gate_blanks(p);
	start = p->at;
	if (subjects[subject].fields >> HI_GATE_COUNT & 1 &&
	    take_gate_word(p, "objects")) {
		m->field = HI_GATE_COUNT;
		return;
	}
	for (unsigned i = 0; i < FIELDS; i++)
		if (subjects[subject].fields >> i & 1 && take_gate_word(p, fields[i])) {
			m->field = (enum hi_gate_field)i;
			return;
		}
	list_gate_fields(subject, list, sizeof(list));
	fail_gate_parse(p, start, "%s has no such field; its fields: %s",
			subjects[subject].word, list);
}

static void keep_gate_text(struct parser *p, const char *start, struct hi_gate_metric *m)
{
	const char *text = hi_arena_printf(p->arena, m->slope ? "slope(%.*s)" : "%.*s",
					   (int)(p->at - start), start);

	m->text = text ? text : "";
}

static void parse_baseline_prefix(struct parser *p, struct hi_gate_metric *m)
{
	if (!take_gate_word(p, "baseline"))
		return;
	m->baseline = true;
	if (!take_gate_token(p, "."))
		fail_gate_parse(p, p->at, "expected a metric, as in baseline.live.bytes");
}

static bool parse_gate_metric(struct parser *p, struct hi_gate_metric *m)
{
	const char *start, *whole;

	skip_gate_blanks(p);
	whole = p->at;
	parse_baseline_prefix(p, m);
	skip_gate_blanks(p);
	start = p->at;
	for (size_t i = 0; i < SUBJECTS && !p->failed; i++) {
		if (!take_gate_word(p, subjects[i].word))
			continue;
		m->subject = subjects[i].subject;
		if (m->baseline && m->subject == HI_GATE_SURVIVED)
			fail_gate_parse(p, start, "the baseline has no survivors");
		if (subjects[i].named ||
		    (m->subject == HI_GATE_SURVIVED && *p->at == '('))
			m->name = parse_gate_name(p, m->subject);
		if (!p->failed && !take_gate_token(p, "."))
			fail_gate_parse(p, p->at, "expected a field, as in .bytes");
		if (!p->failed)
			parse_gate_field(p, i, m);
		keep_gate_text(p, whole, m);
		return !p->failed;
	}
	fail_gate_parse(p, start,
			"not a metric; the metrics are live, leak, total, garbage, "
			"uncollectable, lost, type(\"NAME\"), module(\"NAME\"), "
			"root(\"NAME\"), ledger(\"NAME\"), snapshot, survived, and "
			"growth(METRIC), slope(METRIC)");
	return false;
}

/* type="NAME", count: what functions take instead of type("NAME").count. */
static bool parse_selected_metric(struct parser *p, struct hi_gate_metric *m)
{
	const char *start = p->at;

	for (size_t i = 0; i < SUBJECTS; i++) {
		if (!subjects[i].named || !take_gate_word(p, subjects[i].word))
			continue;
		if (!take_gate_token(p, "=")) {
			p->at = start;
			return false;
		}
		m->subject = subjects[i].subject;
		m->name = parse_quoted_name(p);
		if (!p->failed && !take_gate_token(p, ","))
			fail_gate_parse(p, p->at,
					"expected a field, as in (type=\"struct conn\", "
					"count)");
		if (!p->failed)
			parse_gate_field(p, i, m);
		keep_gate_text(p, start, m);
		return true;
	}
	return false;
}

/* (METRIC) of growth and slope. */
static bool parse_function_metric(struct parser *p, struct hi_gate_metric *m)
{
	if (!take_gate_token(p, "("))
		fail_gate_parse(p, p->at, "expected (");
	skip_gate_blanks(p);
	if (p->failed || (!parse_selected_metric(p, m) && !parse_gate_metric(p, m)))
		return false;
	if (!take_gate_token(p, ")"))
		fail_gate_parse(p, p->at, "expected )");
	return !p->failed;
}

/* growth(M): (M - baseline.M) / baseline.M */
static void parse_gate_growth(struct parser *p, const char *start)
{
	const char *at = p->at;
	struct hi_gate_metric m = {.name = ""}, before;

	if (!parse_function_metric(p, &m))
		return;
	if (m.baseline || m.subject == HI_GATE_SURVIVED)
		fail_gate_parse(p, at,
				m.baseline ? "growth already compares with the baseline"
					   : "the baseline has no survivors");
	before = m;
	before.baseline = true;
	before.text = hi_arena_printf(p->arena, "baseline.%s", m.text);
	if (!before.text)
		before.text = "";
	add_gate_metric(p, start, m);
	add_gate_metric(p, start, before);
	add_gate_operator(p, start, HI_GATE_SUBTRACT);
	add_gate_metric(p, start, before);
	add_gate_operator(p, start, HI_GATE_DIVIDE);
}

/* Of what every census of a file has. */
static bool may_have_slope(const struct hi_gate_metric *m)
{
	switch (m->subject) {
	case HI_GATE_LIVE:
	case HI_GATE_TYPE:
		return m->field != HI_GATE_RETAINED;
	case HI_GATE_LEAK:
		return m->field == HI_GATE_BYTES || m->field == HI_GATE_LIKELY;
	case HI_GATE_GARBAGE:
		return m->field == HI_GATE_BYTES;
	case HI_GATE_TOTAL:
	case HI_GATE_UNCOLLECTABLE:
	case HI_GATE_LOST:
	case HI_GATE_MODULE:
	case HI_GATE_ROOT:
	case HI_GATE_LEDGER:
	case HI_GATE_SNAPSHOT:
	case HI_GATE_SURVIVED:
	default:
		return false;
	}
}

static void parse_gate_slope(struct parser *p, const char *start)
{
	const char *at = p->at;
	struct hi_gate_metric m = {.slope = true, .name = ""};

	if (!parse_function_metric(p, &m))
		return;
	if (m.baseline || !may_have_slope(&m))
		fail_gate_parse(p, at,
				"not in every census of a file; slope takes live.bytes, "
				"live.count, leak.bytes, leak.likely, garbage.bytes, "
				"type(\"NAME\").bytes and .count");
	add_gate_metric(p, start, m);
}

/* NOLINTBEGIN(misc-no-recursion): HI_GATE_DEPTH. */
static void parse_gate_factor(struct parser *p)
{
	struct hi_gate_metric m = {.name = ""};
	const char *start;

	skip_gate_blanks(p);
	start = p->at;
	if (p->failed)
		return;
	if (isdigit((unsigned char)*p->at) || *p->at == '.') {
		parse_gate_number(p);
	} else if (take_gate_token(p, "(")) {
		if (p->depth++ >= HI_GATE_DEPTH)
			fail_gate_parse(p, p->at, "nested too deep");
		parse_gate_sum(p);
		p->depth--;
		if (!take_gate_token(p, ")"))
			fail_gate_parse(p, p->at, "expected )");
	} else if (take_gate_word(p, "growth")) {
		parse_gate_growth(p, start);
	} else if (take_gate_word(p, "slope")) {
		parse_gate_slope(p, start);
	} else if (parse_gate_metric(p, &m)) {
		add_gate_metric(p, start, m);
	}
}

static void parse_gate_product(struct parser *p)
{
	parse_gate_factor(p);
	while (!p->failed) {
		const char *at;

		skip_gate_blanks(p);
		at = p->at;
		if (take_gate_token(p, "*")) {
			parse_gate_factor(p);
			add_gate_operator(p, at, HI_GATE_MULTIPLY);
		} else if (take_gate_token(p, "/")) {
			parse_gate_factor(p);
			add_gate_operator(p, at, HI_GATE_DIVIDE);
		} else {
			return;
		}
	}
}

static void parse_gate_sum(struct parser *p)
{
	if (p->failed)
		return;
	parse_gate_product(p);
	while (!p->failed) {
		const char *at;

		skip_gate_blanks(p);
		at = p->at;
		if (take_gate_token(p, "+")) {
			parse_gate_product(p);
			add_gate_operator(p, at, HI_GATE_ADD);
		} else if (take_gate_token(p, "-")) {
			parse_gate_product(p);
			add_gate_operator(p, at, HI_GATE_SUBTRACT);
		} else {
			return;
		}
	}
}

static void parse_gate_order(struct parser *p)
{
	static const struct {
		const char *text;
		enum hi_gate_order order;
	} orders[] = {{">=", HI_GATE_AT_LEAST}, {"<=", HI_GATE_AT_MOST},
		      {"==", HI_GATE_EQUAL},	{"!=", HI_GATE_UNEQUAL},
		      {">", HI_GATE_GREATER},	{"<", HI_GATE_LESS}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (take_gate_token(p, orders[i].text)) {
			p->gate->order = orders[i].order;
			return;
		}
	fail_gate_parse(p, p->at, "expected a comparison: > >= < <= == !=");
}

enum hi_status hi_gate_parse(const char *text, struct hi_arena *arena,
			     struct hi_gate *ret, size_t *column_ret,
			     struct hi_error *err)
{
	struct parser p = {
		.text = text, .at = text, .arena = arena, .gate = ret, .err = err};

	*ret = (struct hi_gate){.text = text, .name = ""};
	parse_gate_sum(&p);
	ret->n_left = ret->n_steps;
	ret->left_length = (size_t)(p.at - text);
	while (ret->left_length && strchr(" \t\n", text[ret->left_length - 1]))
		ret->left_length--;
	if (!p.failed)
		parse_gate_order(&p);
	parse_gate_sum(&p);
	skip_gate_blanks(&p);
	if (!p.failed && *p.at)
		fail_gate_parse(&p, p.at, "unexpected text after the comparison");
	if (!p.failed)
		return hi_gate_find_unit(ret, column_ret, err);
	*column_ret = (size_t)(p.wrong_at - text);
	return HI_USAGE;
}
/* NOLINTEND(misc-no-recursion) */
