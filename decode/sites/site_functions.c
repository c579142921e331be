/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/site_functions.h"

#include <string.h>

#include "census/events/frames.h"

enum { NONE = HI_SITE_NO_ARGUMENT };

#define GIVES(argument)                                                                  \
	{                                                                                \
		.size = (argument), .count = NONE, .mul = 1, .type = ""                  \
	}
#define GIVES_PRODUCT(n, argument)                                                       \
	{                                                                                \
		.size = (argument), .count = (n), .mul = 1, .type = ""                   \
	}
#define GIVES_TEXT                                                                       \
	{                                                                                \
		.size = NONE, .count = NONE, .is_any = true, .gives_text = true,         \
		.mul = 1, .type = ""                                                     \
	}

/* Arguments are counted from 0. */
static const struct named_site_function {
	const char *name;
	struct hi_site_function does;
} named_site_functions[] = {
	{"malloc", GIVES(0)},
	{"calloc", GIVES_PRODUCT(0, 1)},
	{"realloc", GIVES(1)},
	{"reallocarray", GIVES_PRODUCT(1, 2)},
	{"memalign", GIVES(1)},
	{"aligned_alloc", GIVES(1)},
	{"posix_memalign", GIVES(2)},
	{"valloc", GIVES(0)},
	{"__libc_malloc", GIVES(0)},
	{"__libc_calloc", GIVES_PRODUCT(0, 1)},
	{"__libc_realloc", GIVES(1)},
	{"strdup", GIVES_TEXT},
	{"__strdup", GIVES_TEXT},
	{"strndup", GIVES_TEXT},
	{"__strndup", GIVES_TEXT},
	{"asprintf", GIVES_TEXT},
	{"vasprintf", GIVES_TEXT},
	{"__asprintf_chk", GIVES_TEXT},
	{"__vasprintf_chk", GIVES_TEXT},
	{"getline", GIVES_TEXT},
	{"getdelim", GIVES_TEXT},
	{"__getdelim", GIVES_TEXT},
	{"realpath", GIVES_TEXT},
	{"_Znwm", GIVES(0)},
	{"_Znam", GIVES(0)},
	{"_ZnwmRKSt9nothrow_t", GIVES(0)},
	{"_ZnamRKSt9nothrow_t", GIVES(0)},
	{"_ZnwmSt11align_val_t", GIVES(0)},
	{"_ZnamSt11align_val_t", GIVES(0)},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", GIVES(0)},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", GIVES(0)},
	{"__rust_alloc", GIVES(0)},
	{"__rust_alloc_zeroed", GIVES(0)},
	{"__rust_realloc", GIVES(3)},
	{"__rdl_alloc", GIVES(0)},
	{"__rdl_alloc_zeroed", GIVES(0)},
	{"__rdl_realloc", GIVES(3)},
	{"g_malloc", GIVES(0)},
	{"g_malloc0", GIVES(0)},
	{"g_try_malloc", GIVES(0)},
	{"g_try_malloc0", GIVES(0)},
	{"g_realloc", GIVES(1)},
	{"g_malloc_n", GIVES_PRODUCT(0, 1)},
	{"g_malloc0_n", GIVES_PRODUCT(0, 1)},
	{"g_slice_alloc", GIVES(0)},
	{"g_slice_alloc0", GIVES(0)},
	{"g_strdup", GIVES_TEXT},
	{"g_strndup", GIVES_TEXT},
	{"g_strdup_printf", GIVES_TEXT},
	{"g_memdup2", GIVES(1)},
};

/* "_RNvCsKoa…_7___rustc12___rust_alloc": newer compilers mangle them. */
static const char *plain_symbol(const char *symbol)
{
	const char *rust =
		strncmp(symbol, "_R", 2) == 0 ? strstr(symbol, "___rust") : NULL;

	rust = rust ? strstr(rust + 1, "___r") : NULL;
	return rust ? rust + 1 : symbol;
}

/* Members of std::string that the C++ library has compiled. */
static bool is_text_of_cxx(const char *symbol)
{
	static const char string[] =
		"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";

	return strncmp(symbol, string, sizeof(string) - 1) == 0 &&
	       (strstr(symbol, "_M_create") || strstr(symbol, "_M_append") ||
		strstr(symbol, "_M_assign") || strstr(symbol, "_M_replace") ||
		strstr(symbol, "_M_mutate") || strstr(symbol, "_M_construct") ||
		strstr(symbol, "C1E") || strstr(symbol, "C2E") ||
		strstr(symbol, "reserve"));
}

bool hi_site_function_named(const char *symbol, struct hi_site_function *ret)
{
	static const struct hi_site_function text = GIVES_TEXT;
	const char *plain = plain_symbol(symbol);

	for (size_t i = 0;
	     i < sizeof(named_site_functions) / sizeof(*named_site_functions); i++)
		if (strcmp(plain, named_site_functions[i].name) == 0) {
			*ret = named_site_functions[i].does;
			return true;
		}
	if (!is_text_of_cxx(symbol))
		return false;
	*ret = text;
	return true;
}

/* ---- sizes ---- */

static struct hi_code_value multiply_sizes(struct hi_code_value a, struct hi_code_value b)
{
	if (a.kind == HI_VALUE_CONSTANT && a.add >= 0)
		return hi_code_value_scale(b, (uint64_t)a.add, 0);
	if (b.kind == HI_VALUE_CONSTANT && b.add >= 0)
		return hi_code_value_scale(a, (uint64_t)b.add, 0);
	return (struct hi_code_value){.kind = HI_VALUE_ANY, .mul = 1};
}

struct hi_code_value hi_site_function_size(const struct hi_site_function *function,
					   const struct hi_code_call *call)
{
	struct hi_code_value v = {.kind = HI_VALUE_ANY, .mul = 1};

	if (function->size < HI_CODE_ARGUMENTS) {
		v = call->arguments[function->size];
		if (function->count < HI_CODE_ARGUMENTS)
			v = multiply_sizes(v, call->arguments[function->count]);
	} else if (!function->is_any) {
		v.kind = HI_VALUE_CONSTANT;
		v.add = function->add;
		return v;
	}
	if (v.kind == HI_VALUE_STACK || v.kind == HI_VALUE_RESULT ||
	    v.kind == HI_VALUE_MEMORY)
		v = (struct hi_code_value){.kind = HI_VALUE_ANY, .mul = 1};
	return hi_code_value_scale(v, function->mul, function->add);
}

/* ---- libraries ---- */

static bool begins_with_one(const char *text, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Members of slices and strings, and of traits that only Rust's library can see: it makes
 * copies of them for a program's types. "<[app::T]>::to_vec",
 * "<app::T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem". */
static bool is_part_of_rust(const char *name)
{
	static const char *const traits[] = {
		" as alloc::vec::spec_", " as alloc::slice::", " as <[_]>::to_vec_in::",
		" as alloc::string::Spec"};
	const char *end;

	if (*name != '<')
		return false;
	for (size_t i = 0; i < sizeof(traits) / sizeof(*traits); i++)
		if (strstr(name, traits[i]))
			return true;
	end = name[1] == '[' ? strstr(name, "]>::") : NULL;
	return (end && !memmem(name, (size_t)(end - name), " as ", 4)) ||
	       strncmp(name, "<str>::", 7) == 0;
}

bool hi_site_is_library(const char *name)
{
	static const char *const prefixes[] = {
		"core::", "alloc::", "hashbrown::", "<alloc::", "<core::", "<std::"};

	return begins_with_one(name, prefixes, sizeof(prefixes) / sizeof(*prefixes)) ||
	       is_part_of_rust(name) || hi_frame_allocates(name);
}

bool hi_site_comes_with_rust(const char *name)
{
	static const char *const crates[] = {"gimli::", "addr2line::", "miniz_oxide::",
					     "rustc_demangle::", "__rustc::"};

	return begins_with_one(*name == '<' ? name + 1 : name, crates,
			       sizeof(crates) / sizeof(*crates));
}

bool hi_site_is_library_file(const char *file)
{
	static const char *const parts[] = {"/include/c++/",	  "/rustc/",
					    "/rustlib/src/rust/", "/library/alloc/",
					    "/library/core/",	  "/library/std/"};
	/* As the library that comes with the compiler was built. */
	static const char *const beginnings[] = {
		"/usr/include/",	 "/rust/deps/",	     "library/alloc/src/",
		"library/core/src/",	 "library/std/src/", "library/panic_unwind/src/",
		"library/backtrace/src/"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return begins_with_one(file, beginnings,
			       sizeof(beginnings) / sizeof(*beginnings));
}
