/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable names of mangled ones: C++ (Itanium ABI) and Rust. Time and memory are bounded
 * for any input; see Note [Leaving the demangler] in demangle.c.
 */
#ifndef HI_DECODE_MODULES_DEMANGLE_H
#define HI_DECODE_MODULES_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

enum { HI_MANGLED_MAX = 2048 }; /* bytes of a name that hi_demangle() takes */

/* "ns::C::member(int)" of a mangled name, as a string in out. False: it is no mangled
 * name, or is too long, or too long for out. */
bool hi_demangle(const char *mangled, char *out, size_t out_size);
/* The same without parameters: "ns::C::member". */
bool hi_demangle_name(const char *mangled, char *out, size_t out_size);

#endif
