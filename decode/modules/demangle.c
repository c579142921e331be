/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct demangled {
	jmp_buf too_long;
	char *out;
	size_t used, max;
};

/*
 * Note [Leaving the demangler]
 *
 * A mangled name of a few hundred bytes may stand for one that is longer than any memory:
 * each substitution (C++) or back reference (Rust) may double it. libiberty bounds the
 * depth of its recursion, not the length of its output, and its callback returns nothing
 * that would end it: a callback that only ignores the rest would wait for ever. So a name
 * that does not fit is left by longjmp. The functions that take a callback keep their
 * state on the stack (cplus_demangle_v3_callback of cp-demangle.c, rust_demangle_callback
 * of rust-demangle.c), but for the characters of a punycode identifier, which are lost.
 */
static void append_demangled(const char *text, size_t n, void *arg)
{
	struct demangled *d = arg;

	if (n >= d->max - d->used)
		longjmp(d->too_long, 1);
	memcpy(d->out + d->used, text, n);
	d->used += n;
	d->out[d->used] = '\0';
}

/* C++ names take `options`; older names of Rust are C++ names that end in a hash, and are
 * tried first. */
static bool demangle_bounded(const char *mangled, int options, char *out, size_t out_size)
{
	struct demangled d = {.out = out, .max = out_size};

	out[0] = '\0';
	if (setjmp(d.too_long))
		return false;
	if (mangled[0] == '_' && (mangled[1] == 'R' || mangled[1] == 'Z') &&
	    rust_demangle_callback(mangled, DMGL_NO_OPTS, append_demangled, &d) != 0)
		return true;
	d.used = 0;
	out[0] = '\0';
	return cplus_demangle_v3_callback(mangled, options, append_demangled, &d) != 0;
}

bool hi_demangle(const char *mangled, char *out, size_t out_size)
{
	out[0] = '\0';
	return strlen(mangled) <= HI_MANGLED_MAX &&
	       demangle_bounded(mangled, DMGL_PARAMS | DMGL_ANSI, out, out_size);
}

bool hi_demangle_name(const char *mangled, char *out, size_t out_size)
{
	return demangle_bounded(mangled, DMGL_NO_OPTS, out, out_size);
}
