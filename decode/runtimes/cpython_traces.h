/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of tracemalloc, in a CPython 3.9 to 3.13 that runs it: of each block that
 * Python has allocated since it was started, the lines that did so. Read from its own
 * tables.
 */
#ifndef HI_RUNTIMES_CPYTHON_TRACES_H
#define HI_RUNTIMES_CPYTHON_TRACES_H

#include "attach/image.h"
#include "base/cleanup.h"
#include "decode/modules/modules.h"

enum { HI_PYTHON_TRACE_FRAMES = 127 }; /* more are left out */

struct hi_python_trace {
	uint64_t addr, size; /* of the block, as requested */
	uint64_t traceback;  /* its address */
};
struct hi_python_trace_line {
	uint64_t file; /* a str */
	uint32_t line; /* 0: not known */
};

struct hi_python_traces;
/* *ret: hi_python_traces_close(). Borrows both. HI_NOT_FOUND: no CPython traces here, or
 * its tables are not found; HI_NO_MEMORY. */
enum hi_status hi_python_traces_open(struct hi_modules *modules,
				     const struct hi_image *image,
				     struct hi_python_traces **ret, struct hi_error *err);
void hi_python_traces_close(struct hi_python_traces *traces); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_python_traces *, hi_python_traces_close)
/* The next one, in no order. False: there is no more. */
bool hi_python_traces_next(struct hi_python_traces *traces, struct hi_python_trace *ret);
/* The lines of a traceback, the innermost first; how many were written. *cut_ret: there
 * were more, or they cannot be read. */
unsigned hi_python_traces_lines(struct hi_python_traces *traces, uint64_t traceback,
				struct hi_python_trace_line ret[HI_PYTHON_TRACE_FRAMES],
				bool *cut_ret);
/* A str as UTF-8, cut to size; "": it is none. Hostile. */
void hi_python_traces_file(struct hi_python_traces *traces, uint64_t file, char *out,
			   size_t size);

#endif
