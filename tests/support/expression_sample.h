/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct in the test's own memory, and types drawn by hand that describe it to
 * expressions. Names: g and p (the struct, a pointer to it), twice (a function),
 * RED, GREEN, MINUS (constants), ns::total, ns::derived<int, (char)60>::count
 * (variables), packed, where (a reference to a root in sample_table), ctx,
 * owner (context).
 */
#ifndef HI_TESTS_SUPPORT_EXPRESSION_SAMPLE_H
#define HI_TESTS_SUPPORT_EXPRESSION_SAMPLE_H

#include "decode/expressions/expression.h"

enum color { RED, GREEN = 5, BLUE = 200 };
struct opaque;
struct inner {
	int x, y;
	short tag;
	struct inner *next;
};
union number {
	int64_t wide;
	uint32_t low;
	char text[8];
};
struct triple {
	char bytes[3];
};
struct sample {
	signed char c;
	unsigned char uc;
	short s;
	unsigned short us;
	int n;
	unsigned u;
	long l;
	unsigned long ul;
	char ch;
	_Bool truth;
	unsigned f1 : 3;
	int f2 : 5;
	unsigned f3 : 24;
	unsigned long f4 : 40;
	long f5 : 33;
	unsigned f6 : 32;
	struct inner in, arr[4];
	struct inner *ptr, **pp;
	int grid[3][4];
	char *text;
	void *raw;
	union number num;
	struct {
		int anon_a;
		union {
			unsigned anon_b;
			int anon_c;
		};
	};
	int (*fn)(int);
	double real;
	enum color color;
	struct inner *none;
	uintptr_t tagged;
	struct opaque *hidden;
	struct triple triples[5];
	int self; /* a member may have any name */
	unsigned flex[];
};

struct __attribute__((packed)) packed {
	unsigned long low : 7, wide : 60; /* in nine bytes */
	long deep : 62, last : 3;
};

extern union sample_room {
	struct sample s;
	char bytes[sizeof(struct sample) + 64];
} sample_room;
extern struct inner sample_chain[6]; /* a ring */
extern struct sample *sample_pointer;
extern int sample_table[8];
extern struct packed sample_packed;
int twice(int x);

extern hi_type_id sample_type, sample_inner, sample_derived, sample_void;
extern const struct hi_expression_source sample_source;

/* What the tests compile with and into; `this` is the sample, $ sample_chain[4],
 * i is 2, ctx 1234, owner sample_chain[5]. */
extern struct hi_arena sample_arena;
extern struct hi_code_input sample_input;

void sample_start(void); /* first of all in a test: fills everything */
struct hi_scope sample_scope(hi_type_id self);
/* Fail the test where it does not compile, or nothing can be read. */
const struct hi_code *sample_compile(const char *text, hi_type_id self, bool lvalue);
uint64_t sample_run(const struct hi_code *code, const char *text);
uint64_t sample_value(const char *text); /* over the sample */

#endif
