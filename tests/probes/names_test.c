/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions as people write them: which functions are meant. */
#include <stdio.h>

#include "probes/target_code.h"
#include "tests/harness.h"
#include "tests/support/probed.h"

/* Exactly the functions of which the fixture says the addresses. */
static void expect(struct probed *p, const char *at, const char *a, const char *b)
{
	const struct hi_probe_sites *places = probed_find(p, at);
	uint64_t wanted[2] = {probed_function(p, a), b ? probed_function(p, b) : 0};
	size_t n = b ? 2 : 1;

	HI_ASSERT_MSG(places->count == n, "%s: %zu places", at, places->count);
	for (size_t i = 0; i < n; i++) {
		uint64_t entry =
			places->items[i].address - places->items[i].into_function;

		HI_ASSERT_MSG(entry == wanted[0] || entry == wanted[1], "%s: %#lx (%s)",
			      at, (unsigned long)entry, places->items[i].function);
	}
}

HI_TEST_SCENARIO(probe_names, of_cxx_go_with_parameters_and_without)
{
	struct probed *p = probed_start_program("probe_names");

	expect(p, "shop::Order::price", "amount", "rate");
	expect(p, "shop::Order::price(int) const", "amount", NULL);
	expect(p, "shop::Order::price(double) const", "rate", NULL);
	expect(p, "_ZNK4shop5Order5priceEi", "amount", NULL);
	expect(p, "shop::twice", "twice_int", "twice_double");
	expect(p, "shop::twice<int>", "twice_int", NULL);
	expect(p, "first::twin", "twin1", NULL);
	expect(p, "plain_c", "plain_c", NULL);
	expect(p, "probe_names:plain_c", "plain_c", NULL);
	probed_find_nothing(p, "shop::Order::prize", "shop::Order::price");
	probed_find_nothing(p, "Order::price", "no function");
}

HI_TEST(probe_names, match_symbols_as_they_should)
{
	static const struct {
		const char *symbol, *name;
		bool matches;
	} cases[] = {
		{"malloc", "malloc", true},
		{"malloc", "mallo", false},
		{"helper.isra.0", "helper", true},
		{"helper.constprop.0.isra.1", "helper", true},
		{"helper.part.0", "helper", false},
		{"helper.cold", "helper", false},
		{"helper.isra.0", "help", false},
		{"_ZN2ns1fEi", "ns::f", true},
		{"_ZN2ns1fEi", "ns::f(int)", true},
		{"_ZN2ns1fEi", "ns::f(long)", false},
		{"_ZN2ns1fEi", "f", false},
		{"_ZN2ns1fEi", "_ZN2ns1fEi", true},
		{"_ZN2ns1gIiEEvT_", "ns::g", true},
		{"_ZN2ns1gIiEEvT_", "ns::g<int>", true},
		{"_ZN2ns1gIiEEvT_", "ns::g<long>", false},
		{"_ZN2ns1gIiEEvT_", "void ns::g<int>(int)", true},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back", true},
		{"_ZN2ns1CC1Ev", "ns::C::C", true},
		{"_ZN2ns1CD1Ev", "ns::C::~C", true},
		{"_ZN2ns1fEi.cold", "ns::f", false},
		{"_ZN2ns1CplEi", "ns::C::operator+", true},
		{"_Z", "f", false},
		{"_Z1fPFvvE", "f", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		HI_ASSERT_MSG(hi_name_matches(cases[i].symbol, cases[i].name) ==
				      cases[i].matches,
			      "%s and %s", cases[i].symbol, cases[i].name);
}

HI_TEST(probe_names, safepoints_are_parsed)
{
	static const struct {
		const char *text;
		int kind; /* -1: refused */
		const char *name, *detail;
		unsigned line;
		const char *condition;
	} cases[] = {
		{"now", HI_SAFEPOINT_NOW, "", "", 0, NULL},
		{"gc", HI_SAFEPOINT_GC, "", "", 0, NULL},
		{"gcx", HI_SAFEPOINT_FUNCTION, "gcx", "", 0, NULL},
		{"usdt:python:gc__done", HI_SAFEPOINT_USDT, "python", "gc__done", 0,
		 NULL},
		{"usdt:python", -1, "", "", 0, NULL},
		{"usdt::x", -1, "", "", 0, NULL},
		{"usdt:a:", -1, "", "", 0, NULL},
		{"malloc", HI_SAFEPOINT_FUNCTION, "malloc", "", 0, NULL},
		{"libc.so.6:malloc", HI_SAFEPOINT_FUNCTION, "malloc", "libc.so.6", 0,
		 NULL},
		{"ns::f", HI_SAFEPOINT_FUNCTION, "ns::f", "", 0, NULL},
		{"app:ns::f(int)", HI_SAFEPOINT_FUNCTION, "ns::f(int)", "app", 0, NULL},
		{"main.c:12", HI_SAFEPOINT_LINE, "main.c", "", 12, NULL},
		{"src/a.cc:1", HI_SAFEPOINT_LINE, "src/a.cc", "", 1, NULL},
		{"main.c:0", HI_SAFEPOINT_FUNCTION, "0", "main.c", 0, NULL},
		{"f if x == 1", HI_SAFEPOINT_FUNCTION, "f", "", 0, "x == 1"},
		{"a.c:3 if g != 0", HI_SAFEPOINT_LINE, "a.c", "", 3, "g != 0"},
		{"f if  ", -1, "", "", 0, NULL},
		{"now if x == 1", -1, "", "", 0, NULL},
		{"", -1, "", "", 0, NULL},
		{":f", -1, "", "", 0, NULL},
		{"f\n", -1, "", "", 0, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_safepoint got;
		struct hi_error err;
		enum hi_status status = hi_safepoint_parse(cases[i].text, &got, &err);

		HI_ASSERT_MSG((status == HI_OK) == (cases[i].kind >= 0), "%s",
			      cases[i].text);
		if (status != HI_OK) {
			HI_ASSERT_EQ(HI_USAGE, status);
			continue;
		}
		HI_ASSERT_EQ(cases[i].kind, got.kind);
		HI_ASSERT_STREQ(cases[i].name, got.name);
		HI_ASSERT_STREQ(cases[i].detail, got.detail);
		HI_ASSERT_EQ(cases[i].line, got.line);
		HI_ASSERT((got.condition == NULL) == (cases[i].condition == NULL));
		if (got.condition)
			HI_ASSERT_STREQ(cases[i].condition, got.condition);
	}
}
