/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/frame_library.h"

#include <stdio.h>
#include <string.h>

#include "base/system_files.h"
#include "base/text.h"

struct library_mark {
	const char *mark, *library;
};
#define N_MARKS(table) (sizeof(table) / sizeof((table)[0]))

/* Parts of the path of a source file. */
static const struct library_mark source_marks[] = {
	{"/include/c++/v1/", "libc++"},	 {"/include/c++/", "libstdc++"},
	{"/libstdc++-v3/", "libstdc++"}, {"/include/boost/", "boost"},
	{"/include/absl/", "Abseil"},	 {"/include/qt", "Qt"},
};

/* Begins of names of functions, for code without a source file that is compiled into the
 * program. */
static const struct library_mark name_marks[] = {
	{"std::rt::", "Rust's std"},
	{"std::sys::", "Rust's std"},
	{"std::panic", "Rust's std"},
	{"core::ops::", "Rust's std"},
	{"core::ptr::", "Rust's std"},
	{"core::iter::", "Rust's std"},
	{"core::fmt::", "Rust's std"},
	{"core::option::", "Rust's std"},
	{"core::result::", "Rust's std"},
	{"core::slice::", "Rust's std"},
	{"core::str::", "Rust's std"},
	{"alloc::alloc::", "Rust's std"},
	{"alloc::boxed::", "Rust's std"},
	{"alloc::collections::", "Rust's std"},
	{"alloc::raw_vec::", "Rust's std"},
	{"alloc::rc::", "Rust's std"},
	{"alloc::slice::", "Rust's std"},
	{"alloc::string::", "Rust's std"},
	{"alloc::sync::", "Rust's std"},
	{"alloc::vec::", "Rust's std"},
	{"<alloc::", "Rust's std"},
	{"hashbrown::", "Rust's std"},
	{"__rust_", "Rust's std"},
	{"__rdl_", "Rust's std"},
	{"std::", "libstdc++"},
	{"__gnu_cxx::", "libstdc++"},
	{"operator new", "libstdc++"},
	{"__libc_", "libc"},
	{"_start", "libc"},
};

static bool keep_library(char out[HI_FRAME_LIBRARY_SIZE], const char *name, size_t n)
{
	snprintf(out, HI_FRAME_LIBRARY_SIZE, "%.*s",
		 (int)(n < HI_FRAME_LIBRARY_SIZE ? n : HI_FRAME_LIBRARY_SIZE - 1), name);
	return true;
}

/* Standard libraries of scripts: packages that were installed beside them are none. */
static bool is_script_library(const char *file)
{
	return strncmp(file, "<frozen ", 8) == 0 ||
	       (strstr(file, "/lib/python") && !strstr(file, "/site-packages/") &&
		!strstr(file, "/dist-packages/"));
}

static bool library_of_source(const char *file, char out[HI_FRAME_LIBRARY_SIZE])
{
	if (strncmp(file, "/rustc/", 7) == 0)
		return keep_library(out, "Rust's std", HI_FRAME_LIBRARY_SIZE);
	for (size_t i = 0; i < N_MARKS(source_marks); i++)
		if (strstr(file, source_marks[i].mark))
			return keep_library(out, source_marks[i].library,
					    HI_FRAME_LIBRARY_SIZE);
	return hi_is_system_file(file) &&
	       keep_library(out, "system headers", HI_FRAME_LIBRARY_SIZE);
}

/* "libc" of /usr/lib/libc.so.6 and of /lib/libc-2.31.so. A program is no library, wherever
 * it is. */
static bool library_of_module(const char *module, char out[HI_FRAME_LIBRARY_SIZE])
{
	const char *name = hi_base_name(module), *end = strstr(name, ".so");
	const char *version = strstr(name, "-2.");

	if (!end || !hi_is_system_file(module))
		return false;
	if (version && version < end && strncmp(name, "libc-", 5) == 0)
		end = version;
	return end > name && keep_library(out, name, (size_t)(end - name));
}

static bool library_of_name(const char *function, char out[HI_FRAME_LIBRARY_SIZE])
{
	size_t size;
	const char *name = hi_frame_bare_name(function, &size);

	for (size_t i = 0; i < N_MARKS(name_marks); i++) {
		size_t n = strlen(name_marks[i].mark);

		if (size >= n && memcmp(name, name_marks[i].mark, n) == 0)
			return keep_library(out, name_marks[i].library,
					    HI_FRAME_LIBRARY_SIZE);
	}
	return false;
}

bool hi_frame_library(const struct hi_frame_row *row, char out[HI_FRAME_LIBRARY_SIZE])
{
	if (row->flags & HI_FRAME_SCRIPT)
		return is_script_library(row->file) &&
		       keep_library(out, "the script's library", HI_FRAME_LIBRARY_SIZE);
	if (row->flags & HI_FRAME_INTERPRETER)
		return keep_library(out, "the interpreter", HI_FRAME_LIBRARY_SIZE);
	if (library_of_source(row->file, out) || library_of_module(row->module, out))
		return true;
	return !*row->file && library_of_name(row->function, out);
}
