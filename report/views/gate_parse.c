/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive descent over what a person typed, to a bounded depth. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/views/gate.h"

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
	char text[160];
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

static void add_gate_step(struct parser *p, enum hi_gate_op op, double number,
			  struct hi_gate_metric metric)
{
	struct hi_gate *g = p->gate;

	if (p->failed)
		return;
	if (g->n_steps == HI_GATE_STEPS) {
		fail_gate_parse(p, p->at, "too long");
		return;
	}
	g->steps[g->n_steps].op = op;
	g->steps[g->n_steps].number = number;
	g->steps[g->n_steps++].metric = metric;
	g->needs_baseline |= metric.baseline;
}

/* ---- numbers ---- */

static void parse_gate_number(struct parser *p)
{
	static const struct {
		const char *text;
		double factor;
	} units[] = {{"", 1},
		     {"B", 1},
		     {"KiB", 1024},
		     {"MiB", 1048576},
		     {"GiB", 1073741824},
		     {"TiB", 1099511627776},
		     {"K", 1024},
		     {"M", 1048576},
		     {"G", 1073741824},
		     {"KB", 1024},
		     {"MB", 1048576},
		     {"GB", 1073741824},
		     {"us", 1e3},
		     {"ms", 1e6},
		     {"s", 1e9}};
	const char *start = p->at, *unit;
	double value = strtod(p->at, (char **)(uintptr_t)&p->at);
	size_t n;

	unit = p->at;
	n = word_length(unit);
	if (*unit == '%') {
		p->at++;
		add_gate_step(p, HI_GATE_PUSH, value / 100, (struct hi_gate_metric){});
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].text) == n && strncmp(unit, units[i].text, n) == 0) {
			p->at += n;
			add_gate_step(p, HI_GATE_PUSH, value * units[i].factor,
				      (struct hi_gate_metric){});
			return;
		}
	fail_gate_parse(p, n ? unit : start,
			"unknown unit %.20s; the units are B, KiB, MiB, GiB, TiB, %%, ms",
			unit);
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

	if (!take_gate_token(p, "(") || !take_gate_token(p, "\"")) {
		fail_gate_parse(p, p->at,
				"expected a name in quotes, as in (\"struct conn\")");
		return "";
	}
	end = strchr(p->at, '"');
	if (!end) {
		fail_gate_parse(p, p->at, "the closing quote is missing");
		return "";
	}
	text = hi_arena_printf(p->arena, "%.*s", (int)(end - p->at), p->at);
	p->at = end + 1;
	if (!take_gate_token(p, ")"))
		fail_gate_parse(p, p->at, "expected )");
	return text ? text : "";
}

static void parse_gate_field(struct parser *p, size_t subject, struct hi_gate_metric *m)
{
	const char *start;

	if (!take_gate_token(p, ".")) {
		fail_gate_parse(p, p->at, "expected a field, as in .bytes");
		return;
	}
	start = p->at;
	if (take_gate_word(p, "objects")) {
		m->field = HI_GATE_COUNT;
		return;
	}
	for (unsigned i = 0; i < FIELDS; i++)
		if (subjects[subject].fields >> i & 1 && take_gate_word(p, fields[i])) {
			m->field = (enum hi_gate_field)i;
			return;
		}
	fail_gate_parse(p, start, "%s has no such field; its fields: %s%s%s",
			subjects[subject].word,
			subjects[subject].fields & 1 ? "bytes, count" : "",
			subjects[subject].fields >> HI_GATE_RETAINED & 1 ? " retained"
									 : "",
			subjects[subject].fields >> HI_GATE_PAUSE & 1 ? " pause" : "");
}

static bool parse_gate_metric(struct parser *p, struct hi_gate_metric *m)
{
	const char *start;

	*m = (struct hi_gate_metric){.name = ""};
	if (take_gate_word(p, "baseline")) {
		m->baseline = true;
		if (!take_gate_token(p, "."))
			fail_gate_parse(p, p->at,
					"expected a metric, as in baseline.live.bytes");
	}
	skip_gate_blanks(p);
	start = p->at;
	for (size_t i = 0; i < SUBJECTS && !p->failed; i++) {
		if (!take_gate_word(p, subjects[i].word))
			continue;
		m->subject = subjects[i].subject;
		if (subjects[i].named)
			m->name = parse_quoted_name(p);
		parse_gate_field(p, i, m);
		return !p->failed;
	}
	fail_gate_parse(p, start,
			"not a metric; the metrics are live, leak, total, garbage, "
			"uncollectable, "
			"lost, type(\"NAME\"), module(\"NAME\"), root(\"NAME\"), "
			"ledger(\"NAME\"), "
			"snapshot");
	return false;
}

/* growth(M): (M - baseline.M) / baseline.M */
static void parse_gate_growth(struct parser *p)
{
	const char *start = p->at;
	struct hi_gate_metric m, before;

	if (!take_gate_token(p, "("))
		fail_gate_parse(p, p->at, "expected (");
	if (p->failed || !parse_gate_metric(p, &m))
		return;
	if (m.baseline)
		fail_gate_parse(p, start, "growth already compares with the baseline");
	if (!take_gate_token(p, ")"))
		fail_gate_parse(p, p->at, "expected )");
	before = m;
	before.baseline = true;
	add_gate_step(p, HI_GATE_METRIC, 0, m);
	add_gate_step(p, HI_GATE_METRIC, 0, before);
	add_gate_step(p, HI_GATE_SUBTRACT, 0, (struct hi_gate_metric){});
	add_gate_step(p, HI_GATE_METRIC, 0, before);
	add_gate_step(p, HI_GATE_DIVIDE, 0, (struct hi_gate_metric){});
}

/* NOLINTBEGIN(misc-no-recursion): HI_GATE_DEPTH. */
static void parse_gate_factor(struct parser *p)
{
	struct hi_gate_metric m;

	skip_gate_blanks(p);
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
		parse_gate_growth(p);
	} else if (parse_gate_metric(p, &m)) {
		add_gate_step(p, HI_GATE_METRIC, 0, m);
	}
}

static void parse_gate_product(struct parser *p)
{
	parse_gate_factor(p);
	while (!p->failed) {
		if (take_gate_token(p, "*")) {
			parse_gate_factor(p);
			add_gate_step(p, HI_GATE_MULTIPLY, 0, (struct hi_gate_metric){});
		} else if (take_gate_token(p, "/")) {
			parse_gate_factor(p);
			add_gate_step(p, HI_GATE_DIVIDE, 0, (struct hi_gate_metric){});
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
		if (take_gate_token(p, "+")) {
			parse_gate_product(p);
			add_gate_step(p, HI_GATE_ADD, 0, (struct hi_gate_metric){});
		} else if (take_gate_token(p, "-")) {
			parse_gate_product(p);
			add_gate_step(p, HI_GATE_SUBTRACT, 0, (struct hi_gate_metric){});
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

	*ret = (struct hi_gate){.text = text};
	parse_gate_sum(&p);
	ret->n_left = ret->n_steps;
	if (!p.failed)
		parse_gate_order(&p);
	parse_gate_sum(&p);
	skip_gate_blanks(&p);
	if (!p.failed && *p.at)
		fail_gate_parse(&p, p.at, "unexpected text after the comparison");
	if (!p.failed)
		return HI_OK;
	*column_ret = (size_t)(p.wrong_at - text);
	return HI_USAGE;
}
/* NOLINTEND(misc-no-recursion) */
