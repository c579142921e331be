/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of Mercury's deep profiler, made byte by byte: what is read, and refused. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "census/deep/mercury_format.h"
#include "tests/census/deep_profiles.h"

enum { FILE_SIZE = 1024 };

struct bytes {
	uint8_t of[FILE_SIZE];
	size_t n;
};

static void put(struct bytes *b, uint64_t byte)
{
	HI_ASSERT(b->n < FILE_SIZE);
	b->of[b->n++] = (uint8_t)byte;
}

static void put_coded(struct bytes *b, uint64_t n)
{
	uint8_t groups[10];
	int k = 0;

	do {
		groups[k++] = n & 0x7f;
		n >>= 7;
	} while (n);
	while (k > 1)
		put(b, groups[--k] | 0x80);
	put(b, groups[0]);
}

/* Words of a text: 'string', @fixed, =bytes in hex, and numbers. The first one is the
 * version. */
static struct bytes make_file(const char *text)
{
	struct bytes b = {};
	char *end;

	b.n = (size_t)snprintf((char *)b.of, FILE_SIZE,
			       "Mercury deep profiler data version %lu\n",
			       strtoul(text, &end, 10));
	for (; *end;) {
		text = end;
		if (*text == ' ') {
			end += 1;
		} else if (*text == '\'') {
			end = strchr(text + 1, '\'');
			HI_ASSERT(end != NULL);
			put_coded(&b, (uint64_t)(end - text - 1));
			while (++text < end)
				put(&b, *text);
			end++;
		} else if (*text == '@') {
			uint64_t n = strtoull(text + 1, &end, 0);

			for (int i = 0; i < 8; i++)
				put(&b, n >> 8 * i & 0xff);
		} else if (*text == '=') {
			for (end++; isxdigit((unsigned char)*end); end += 2) {
				char pair[] = {end[0], end[1], '\0'};

				put(&b, strtoul(pair, NULL, 16));
			}
		} else {
			put_coded(&b, strtoull(text, &end, 0));
			HI_ASSERT_MSG(end != text, "%s", text);
		}
	}
	return b;
}

/* The root calls main, which calls f directly and through a closure; f calls itself.
 * Counts are CSD, CSS, PD, PS. */
#define HEADER "'prog' @0x108 @5 @4 @4 @3 100 1 2 33 1 "
#define STATICS                                                                          \
	"3 1 0 'rt' 'rt' 'rt' 0 0 'rt' 0 0 1 1 "                                         \
	"1 1 4 '' 0 '' "                                                                 \
	"3 2 0 'app' 'app' 'main' 2 0 'app.m' 10 1 2 2 3 "                               \
	"1 2 0 3 '' 'app.m' 12 'c1;' 1 3 2 'app.m' 13 'c2;' "                            \
	"3 3 1 'lib' 'lib2' 'f' 1 0 'lib.m' 20 0 1 4 "                                   \
	"1 4 0 3 'T' 'lib.m' 21 's1-na;' "
#define DYNAMICS                                                                         \
	"4 1 1 1 4 1 0 "                                                                 \
	"2 1 2 0x32 1 3 5 "                                                              \
	"4 2 2 2 0 2 2 3 5 0 "                                                           \
	"2 2 3 0x1fe 4 2 1 0 1 9 2 300 "                                                 \
	"4 3 3 1 0 4 "                                                                   \
	"2 4 3 0x20 1000 "                                                               \
	"2 3 4 0x12 7 1 "                                                                \
	"4 4 3 1 0 0 "                                                                   \
	"2 5 0 0 "
static const char valid[] = "9 " HEADER STATICS DYNAMICS;

/* Its text with the first such part replaced. */
static const char *with_part(const char *text, const char *part, const char *by)
{
	static char other[2 * FILE_SIZE];
	const char *at = strstr(text, part);

	HI_ASSERT_MSG(at != NULL, "no \"%s\" in the text", part);
	HI_ASSERT((size_t)snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - text),
				   text, by, at + strlen(part)) < sizeof(other));
	return other;
}

static void read_text(const char *text, struct hi_deep_profile *ret)
{
	struct bytes b = make_file(text);
	struct hi_error err;

	HI_ASSERT_MSG(hi_deep_mercury_read(b.of, b.n, ret, &err) == HI_OK, "%s: %s",
		      err.text, text);
	check_deep_profile(ret);
}

static void expect_function(const struct hi_deep_profile *p, uint32_t function,
			    const char *name, const char *module, const char *file,
			    uint32_t line)
{
	const struct hi_deep_procedure *f = &p->functions.items[function];

	HI_ASSERT_STREQ(name, hi_deep_profile_text(p, f->name));
	HI_ASSERT_STREQ(module, hi_deep_profile_text(p, f->module));
	HI_ASSERT_STREQ(file, hi_deep_profile_text(p, f->file));
	HI_ASSERT_EQ(line, f->line);
}

static void expect_site(const struct hi_deep_profile *p, uint32_t site, uint32_t function,
			uint32_t kind, uint32_t callee, uint32_t line, const char *place)
{
	const struct hi_deep_call_site *s = &p->sites.items[site];

	HI_ASSERT_EQ(function, s->function);
	HI_ASSERT_EQ(kind, s->kind);
	HI_ASSERT_EQ(callee, s->callee);
	HI_ASSERT_EQ(line, s->line);
	HI_ASSERT_STREQ(place, hi_deep_profile_text(p, s->place));
}

static void expect_total(const struct hi_deep_profile *p)
{
	static const uint64_t wanted[HI_DEEP_COSTS] = {
		[HI_DEEP_CALLS] = 1 + (4 + 2 + 0 - 1) + 7,
		[HI_DEEP_EXITS] = 12,
		[HI_DEEP_FAILS] = 2,
		[HI_DEEP_REDOS] = 1,
		[HI_DEEP_TICKS] = 1,
		[HI_DEEP_ALLOCS] = 3 + 2 + 1,
		[HI_DEEP_BYTES] = 8 * (5 + 300 + 1000),
		[HI_DEEP_CALLSEQS] = 9,
	};

	for (int i = 0; i < HI_DEEP_COSTS; i++)
		HI_ASSERT_MSG(p->graph.total.of[i] == wanted[i], "cost %d: %lu, not %lu",
			      i, (unsigned long)p->graph.total.of[i],
			      (unsigned long)wanted[i]);
}

HI_TEST(deep_mercury_bytes, a_file_is_read_as_drawn)
{
	struct hi_deep_profile p;

	read_text(valid, &p);
	HI_ASSERT_STREQ("prog", hi_deep_profile_text(&p, p.program));
	HI_ASSERT_EQ(100, p.ticks_per_second);
	HI_ASSERT_EQ(1, p.tool_ticks);
	HI_ASSERT_EQ(33, p.sequence);
	HI_ASSERT(p.has[HI_DEEP_TICKS] && p.has[HI_DEEP_CALLSEQS]);
	HI_ASSERT_EQ(3, p.functions.count);
	expect_function(&p, 0, "(root)", "", "", 0);
	expect_function(&p, 1, "main/2-0", "app", "app.m", 10);
	expect_function(&p, 2, "f/1+1-0", "lib", "lib.m", 20);
	HI_ASSERT(p.functions.items[1].is_exported && !p.functions.items[2].is_exported);
	HI_ASSERT_EQ(6, p.sites.count);
	expect_site(&p, 0, 0, HI_DEEP_CALLBACK, HI_DEEP_NONE, 0, "");
	expect_site(&p, 1, 1, HI_DEEP_DIRECT, 2, 12, "c1;");
	expect_site(&p, 2, 1, HI_DEEP_INDIRECT, HI_DEEP_NONE, 13, "c2;");
	expect_site(&p, 3, 2, HI_DEEP_DIRECT, 2, 21, "s1-na;");
	expect_site(&p, 4, 1, HI_DEEP_DIRECT, HI_DEEP_NONE, 10, "");
	expect_site(&p, 5, 2, HI_DEEP_DIRECT, HI_DEEP_NONE, 20, "");
	HI_ASSERT_STREQ("lib.m", hi_deep_profile_text(&p, p.sites.items[3].file));
	HI_ASSERT_EQ(4, p.graph.n_nodes);
	HI_ASSERT_EQ(4, p.graph.n_edges);
	HI_ASSERT_EQ(4, p.graph.n_cliques);
	HI_ASSERT_EQ(3, p.graph.n_leaves);
	expect_total(&p);
	hi_deep_profile_free(&p);
}

/* The same in version 8, with coverage, explicit counts of calls, words of 4 bytes, and
 * with an end token. */
HI_TEST(deep_mercury_bytes, other_forms_are_read)
{
	static const struct {
		const char *part, *by;
	} forms[] = {
		{"2 5 0 0 ", "2 5 0 0 0"},
		{"@0x108", "@8"},
		{"2 3 4 0x12 7 1", "2 3 4 0x13 7 7 1"},
		{"2 3 4 0x12 7 1", "2 3 4 0x12 =808007 1"},
		{"4 3 3 1 0 4 2 4 3 0x20 1000 ", "2 4 3 0x20 1000 4 3 3 1 0 4 "},
		{"4 1 1 1 4 1 0", "4 1 1 1 4 1 =808000"},
	};
	static const char coverage1[] =
		"8 'prog' @0x1108 @2 @2 @2 @2 100 0 0 0 2 "
		"3 2 0 'rt' 'rt' 'rt' 0 0 'rt' 0 0 1 2 0 1 2 4 0 '' "
		"3 1 2 't' 'tm' 'dm' '__Unify__' 1 0 'x.m' 1 0 1 1 2 'c1;' 3 77 '' 0 0 "
		"1 1 1 5 'c1;' 4 2 2 1 4 1 0 2 1 1 0x20 5 4 1 1 1 1 2 0 2 2 1 0x20 6";
	static const char coverage2[] =
		"8 'prog' @0x2104 @2 @2 @2 @2 100 0 0 0 2 "
		"3 2 0 'rt' 'rt' 'rt' 0 0 'rt' 0 0 1 2 0 1 2 4 0 '' "
		"3 1 2 't' 'tm' 'dm' '__Unify__' 1 0 'x.m' 1 0 1 1 2 'c1;' 3 '' 0 "
		"1 1 1 5 'c1;' 4 2 2 1 0 4 1 0 2 1 1 0x20 5 4 1 1 1 2 500 0 1 2 0 "
		"2 2 1 0x20 6";
	struct hi_deep_profile p;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		read_text(with_part(valid, forms[i].part, forms[i].by), &p);
		expect_total(&p);
		hi_deep_profile_free(&p);
	}
	for (int i = 0; i < 2; i++) {
		read_text(i ? coverage2 : coverage1, &p);
		HI_ASSERT_EQ(11 * (i ? 4 : 8), p.graph.total.of[HI_DEEP_BYTES]);
		expect_function(&p, 1, "Unify for tm.t/1", "dm", "x.m", 1);
		expect_site(&p, 1, 1, HI_DEEP_SPECIAL, HI_DEEP_NONE, 5, "c1;");
		HI_ASSERT_EQ(2, p.graph.n_nodes);
		HI_ASSERT_EQ(0, p.sites.items[1].file);
		HI_ASSERT(!p.ticks_per_second && !p.has[HI_DEEP_TICKS]);
		hi_deep_profile_free(&p);
	}
}

/* ---- files that are refused ---- */

static void expect_refused(const char *text, enum hi_status status, const char *why)
{
	struct bytes b = make_file(text);
	struct hi_deep_profile p;
	struct hi_error err = {};
	enum hi_status got = hi_deep_mercury_read(b.of, b.n, &p, &err);

	HI_ASSERT_MSG(got == status && strstr(err.text, why), "%s (%s), not %s (%s): %s",
		      hi_status_text(got), err.text, hi_status_text(status), why, text);
}

HI_TEST(deep_mercury_bytes, damaged_files_are_refused)
{
	static const struct {
		const char *part, *by, *why;
	} damages[] = {
		/* ids */
		{"2 1 2 0x32", "2 0 2 0x32", "is call 0"},
		{"2 1 2 0x32", "2 6 2 0x32", "is call 6, the highest is 5"},
		{"2 1 2 0x32", "2 2 2 0x32", "is call 2 for the second time"},
		{"4 2 2 2", "4 1 2 2", "is node 1 for the second time"},
		{"1 4 0 3", "1 2 0 3", "is call site 2 for the second time"},
		{"3 3 1 'lib'", "3 2 1 'lib'", "is procedure 2 for the second time"},
		{"2 1 2 0x32", "2 1 5 0x32", "is node 5, the highest is 4"},
		{"4 2 2 2", "4 2 4 2", "is procedure 4"},
		{"4 2 2 2", "4 2 0 2", "is procedure 0"},
		{"1 2 0 3", "1 2 0 0", "is procedure 0"},
		{"1 2 0 3", "1 2 0 9", "is procedure 9"},
		{"1 1 4 ''", "1 1 5 ''", "a call site of kind 5"},
		{"4 3 3 1 0 4", "4 3 3 1 7 4", "a call site of kind 7"},
		{"33 1 ", "33 0 ", "is node 0"},
		{"33 1 ", "33 5 ", "is node 5"},
		{"4 3 3 1", "9 3 3 1", "a node of kind 9"},
		{"3 2 0 'app'", "3 2 3 'app'", "a name of kind 3"},
		/* numbers and strings */
		{"0x32 1 3", "0x32 =82808080808080808080 3", "above 2^64"},
		{"0x32 1 3", "0x32 =81808080808080808080808000 3", "above 2^64"},
		{"'app.m' 10", "'app.m' 4294967296", "is line 4294967296"},
		{"'prog'", "=03610062", "has a zero byte"},
		{"'lib2'", "=ffffffff7f", "truncated"},
		{"'lib2'", "=81ffffffffffffffff7f", "truncated"},
		/* flags */
		{"@0x108", "@0x109", "words have 9 bytes"},
		{"@0x108", "@0x100", "words have 0 bytes"},
		/* counts */
		{"@5 @4", "@0xffffffffffffffff @4",
		 "no room for 18446744073709551615 calls"},
		{"@5 @4", "@5 @80", "no room for"},
		{"@5 @4", "@30 @30", "no room for 30 calls"},
		{"@5 @4", "@6 @4", "truncated: it has 5 of 6 calls"},
		{"@4 @3 100", "@4 @4 100", "truncated: it has 3 of 4 procedures"},
		{"2 5 0 0 ", "2 5 0 0 0 0", "1 bytes follow the end"},
		/* costs */
		{"0x20 1000", "0x220 1000", "unknown costs 0x220"},
		{"0x1fe 4 2 1 0", "0x1fe 4 2 7 0", "7 redos"},
		{"0x20 1000", "0x20 2305843009213693952", "2^64 or more"},
		{"0x20 1000", "0x20 2305843009213693951", "2^64 or more"},
		{"2 5 0 0 ", "2 5 0 2 1", "costs and no callee"},
		/* what belongs to what */
		{"10 1 2 2 3", "10 1 2 2 4", "call site 4 is in procedure 2 and in 3"},
		{"10 1 2 2 3", "10 1 1 2", "call site 3 is in no procedure"},
		{"10 1 2 2 3", "10 1 5 2", "a number of call sites 5"},
		{"10 1 2 2 3", "10 1 4 2 3 2 3", "has two places"},
		{"4 2 2 2 0 2 2 3 5 0", "4 2 2 1 0 2", "node 2 has 1 slots"},
		{"4 3 3 1 0 4", "4 3 3 2 0 4 0 0", "node 3 has 2 slots"},
		{"4 3 3 1 0 4", "4 3 3 0", "node 3 has 0 slots"},
		{"4 3 3 1 0 4", "4 3 3 1 2 4 0",
		 "slot of kind 2 at call site 4 of kind 0"},
		{"2 3 5 0", "2 3 2 0", "call 2 is in two slots"},
		{"2 3 5 0", "2 3 3 5 1 0", "has two places"},
		{"2 2 3 0x1fe", "2 2 2 0x1fe", "call 2 leads to procedure 2"},
		{"2 3 4 0x12", "2 3 1 0x12", "call 3 calls the root"},
		{"1 2 0 3", "1 2 0 1", "call site 2 calls the root"},
		{"4 4 3 1 0 0", "4 4 1 1 4 0", "node 4 is a second root"},
		{"33 1 ", "33 3 ", "calls the root"},
		{"33 1 ", "33 2 ", "has 2 call sites, not one"},
		/* the graph */
		{"2 3 5 0", "2 5 0", "not reached"},
		{"2 3 4 0x12", "2 3 3 0x12", "two calls lead into one clique"},
		{"4 1 1 1 4 1 0", "4 1 1 1 4 0", "not reached"},
	};

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		expect_refused(with_part(valid, damages[i].part, damages[i].by),
			       HI_BAD_DATA, damages[i].why);
	expect_refused("9 'p' @0x108 @0 @0 @0 @0 100 0 0 0 1", HI_BAD_DATA, "node 1");
}

HI_TEST(deep_mercury_bytes, other_versions_are_named)
{
	static const char *const others[] = {
		"Mercury deep profiler data version 9",
		"Mercury deep profiler data version \n",
		"Mercury deep profiler data version 08\n",
		"Mercury deep profiler data version 9 \n",
		"Mercury deep profiler data version 90000000000\n",
		"Mercury deep",
		"",
		"\x7f"
		"ELF"};
	struct hi_deep_profile p;
	struct hi_error err;

	expect_refused("7 ", HI_UNSUPPORTED, "of version 7;");
	expect_refused("10 ", HI_UNSUPPORTED, "of version 10;");
	expect_refused(with_part(valid, "@0x108", "@0x508"), HI_UNSUPPORTED,
		       "compressed data of Mercury's deep profiler of version 9");
	expect_refused(with_part(valid, "@0x108", "@0x3108"), HI_UNSUPPORTED,
		       "version 9 with unknown flags 0x3108");
	expect_refused(with_part(valid, "@0x108", "@0x4108"), HI_UNSUPPORTED,
		       "unknown flags 0x4108");
	expect_refused(with_part(valid, "@0x108", "@0x208"), HI_UNSUPPORTED,
		       "unknown flags 0x208");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_deep_mercury_read((const uint8_t *)others[i],
						      strlen(others[i]), &p, &err));
		HI_ASSERT_STREQ("no data file of Mercury's deep profiler", err.text);
	}
}

/* A copy of its own size, so that a read behind it is seen. */
static enum hi_status read_copy(const uint8_t *data, size_t size, struct hi_error *err)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct hi_deep_profile p;
	enum hi_status status;

	HI_ASSERT(copy != NULL);
	memcpy(copy, data, size);
	status = hi_deep_mercury_read(copy, size, &p, err);
	if (status == HI_OK) {
		check_deep_profile(&p);
		hi_deep_profile_free(&p);
	}
	free(copy);
	return status;
}

HI_TEST(deep_mercury_bytes, a_cut_file_is_truncated)
{
	struct bytes b = make_file(valid);
	struct hi_error err;
	size_t header = sizeof(HI_MERCURY_PREFIX "9\n") - 1;

	for (size_t n = 0; n < b.n; n++) {
		HI_ASSERT_STATUS(HI_BAD_DATA, read_copy(b.of, n, &err));
		HI_ASSERT_MSG(strstr(err.text, n < header ? "no data" : "truncated"),
			      "%zu: %s", n, err.text);
	}
	HI_ASSERT_OK(read_copy(b.of, b.n, &err), &err);
}

/* The program may have been killed while it wrote: all nodes are there. */
HI_TEST(deep_mercury_bytes, a_file_without_its_end_token_is_read_and_says_so)
{
	struct bytes b = make_file(valid);
	struct hi_deep_profile p;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_mercury_read(b.of, b.n, &p, &err), &err);
	HI_ASSERT(p.lacks_end);
	hi_deep_profile_free(&p);
	b.of[b.n++] = HI_MERCURY_END;
	HI_ASSERT_OK(hi_deep_mercury_read(b.of, b.n, &p, &err), &err);
	HI_ASSERT(!p.lacks_end);
	hi_deep_profile_free(&p);
}

/* Each byte with each value: no more than a refusal. */
HI_TEST(deep_mercury_bytes, no_byte_does_harm)
{
	struct bytes b = make_file(valid);
	struct hi_error err;
	unsigned accepted = 0;

	for (size_t i = 0; i < b.n; i++)
		for (unsigned value = 0; value < 256; value++) {
			uint8_t saved = b.of[i];

			b.of[i] = (uint8_t)value;
			accepted += read_copy(b.of, b.n, &err) == HI_OK;
			b.of[i] = saved;
		}
	hi_test_note("%u of %zu files are accepted", accepted, 256 * b.n);
	HI_ASSERT(accepted > b.n);
}

HI_TEST(deep_mercury_bytes, no_memory_is_an_error)
{
	struct bytes b = make_file(valid);
	enum hi_status status = HI_NO_MEMORY;
	struct hi_deep_profile p;
	struct hi_error err;
	char *text;
	size_t size;

	for (uint64_t nth = 1; status == HI_NO_MEMORY; nth++) {
		hi_alloc_fail_once(nth);
		status = hi_deep_mercury_read(b.of, b.n, &p, &err);
		HI_ASSERT((status == HI_OK) == (hi_alloc_count() < nth));
		hi_alloc_fail_at(0);
	}
	HI_ASSERT_OK(status, &err);
	status = HI_NO_MEMORY;
	for (uint64_t nth = 1; status == HI_NO_MEMORY; nth++) {
		FILE *out = open_memstream(&text, &size);

		hi_alloc_fail_once(nth);
		status = hi_deep_mercury_write(&p, out, &err);
		HI_ASSERT((status == HI_OK) == (hi_alloc_count() < nth));
		hi_alloc_fail_at(0);
		fclose(out);
		free(text);
	}
	HI_ASSERT_OK(status, &err);
	hi_deep_profile_free(&p);
}

/* ---- folding ---- */

/* map calls a closure, which calls map again: for Mercury another node. Both call leaf,
 * and a second closure calls what the first one has called. PS: 1 root, 2 map, 3 closure,
 * 4 leaf; PD: 1 root, 2 map, 3 closure, 4 map, 5 leaf of 2, 6 leaf of 4, 7 closure. */
#define CLOSURES                                                                         \
	"9 'prog' @0x108 @6 @4 @7 @4 100 0 0 0 1 "                                       \
	"3 1 0 'rt' 'rt' 'rt' 0 0 'rt' 0 0 1 1 1 1 4 '' 0 '' "                           \
	"3 2 0 'l' 'l' 'map' 3 0 'l.m' 1 1 2 2 3 "                                       \
	"1 2 2 'l.m' 2 'c1;' 1 3 0 4 '' 'l.m' 3 'c2;' "                                  \
	"3 3 0 'm' 'm' 'closure' 1 0 'm.m' 1 0 1 4 1 4 0 2 '' 'm.m' 4 'c1;' "            \
	"3 4 0 'm' 'm' 'leaf' 1 0 'm.m' 9 0 0 "                                          \
	"4 1 1 1 4 1 0 2 1 2 0x20 1 4 2 2 2 2 2 0 0 3 "                                  \
	"2 2 3 0x20 2 2 3 5 0x20 4 4 3 3 1 0 4 2 4 4 0x20 8 "                            \
	"4 4 2 2 2 6 0 0 5 2 5 6 0x20 16 2 6 7 0x20 32 4 7 3 1 0 0 "                     \
	"4 5 4 0 4 6 4 0 "

HI_TEST(deep_mercury_bytes, recursion_through_a_closure_is_folded)
{
	struct hi_deep_profile p;
	const struct hi_deep_graph *g = &p.graph;

	read_text(CLOSURES, &p);
	/* root, map, closure, leaf; root -> map -> closure -> map -> leaf */
	HI_ASSERT_EQ(4, g->n_nodes);
	HI_ASSERT_EQ(4, g->n_edges);
	HI_ASSERT_EQ(3, g->n_cliques);
	HI_ASSERT_EQ(8 * (2 + 32), g->edges[1].own.of[HI_DEEP_BYTES]); /* closure */
	HI_ASSERT_EQ(8 * (4 + 16), g->edges[2].own.of[HI_DEEP_BYTES]); /* leaf */
	HI_ASSERT_EQ(8 * 8, g->edges[3].own.of[HI_DEEP_BYTES]);	       /* map */
	HI_ASSERT_EQ(8 * 62, g->edges[0].desc.of[HI_DEEP_BYTES]);
	hi_deep_profile_free(&p);
}

/* Both calls of a slot lead to the same node: one edge, as one call makes. */
HI_TEST(deep_mercury_bytes, calls_of_a_slot_with_one_callee_are_one)
{
	struct hi_deep_profile p;

	read_text(with_part(valid, "2 5 0 0", "2 5 4 0x20 3"), &p);
	HI_ASSERT_EQ(4, p.graph.n_edges);
	HI_ASSERT_EQ(8 * 1308, p.graph.total.of[HI_DEEP_BYTES]);
	hi_deep_profile_free(&p);
}
