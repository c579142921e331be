/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of CPython 3.9, x86-64, release builds. Source: Include/internal/pycore_*.h,
 * Include/cpython and the .c file that has the structure, v3.9; compared with the DWARF
 * of 3.9.18.
 */
#include "decode/runtimes/cpython_rows.h"

/* struct _is. Borrowed references are none. */
static const struct hi_py_field interp_fields[] = {
	STRONG(616, "gc.trash_delete_later"),
	STRONG(824, "gc.garbage"),
	STRONG(832, "gc.callbacks"),
	STRONG(856, "modules"),
	STRONG(864, "modules_by_index"),
	STRONG(872, "sysdict"),
	STRONG(880, "builtins"),
	STRONG(888, "importlib"),
	STRONG(912, "codec_search_path"),
	STRONG(920, "codec_search_cache"),
	STRONG(928, "codec_error_registry"),
	STRONG(1376, "dict"),
	STRONG(1384, "builtins_copy"),
	STRONG(1392, "import_func"),
	STRONG(3456, "before_forkers"),
	STRONG(3464, "after_forkers_parent"),
	STRONG(3472, "after_forkers_child"),
	STRONG(3488, "pyexitmodule"),
	STRONG(3504, "warnings.filters"),
	STRONG(3512, "warnings.once_registry"),
	STRONG(3520, "warnings.default_action"),
	STRONG(3536, "audit_hooks"),
	END};

static const struct hi_py_field thread_fields[] = {STRONG(72, "c_profileobj"),
						   STRONG(80, "c_traceobj"),
						   STRONG(88, "curexc_type"),
						   STRONG(96, "curexc_value"),
						   STRONG(104, "curexc_traceback"),
						   STRONG(112, "exc_state.exc_type"),
						   STRONG(120, "exc_state.exc_value"),
						   STRONG(128, "exc_state.exc_traceback"),
						   STRONG(152, "dict"),
						   STRONG(168, "async_exc"),
						   STRONG(192, "trash_delete_later"),
						   STRONG(224, "async_gen_firstiter"),
						   STRONG(232, "async_gen_finalizer"),
						   STRONG(240, "context"),
						   END};

/* They are static variables of their types' files. */
static const struct hi_py_free_list free_lists[] = {{}};

/* The collector's lists, free lists, borrowed references, memory of the allocator. */
static const struct hi_py_skip interp_skip[] = {
	{616, 856, "gc"},
};

const struct hi_py_layout hi_py_layout_3_9 = {
	.minor = 9,
	.runtime_core_initialized = 8,
	.runtime_initialized = 12,
	.runtime_finalizing = 16,
	.runtime_interpreters_head = 32,
	.runtime_interpreters_main = 40,
	.runtime_words_end = 656,
	.runtime_size = 656,
	.interp_next = 0,
	.interp_threads = 8,
	.interp_runtime = 16,
	.interp_id = 24,
	.interp_gc = 616,
	.interp_modules = 856,
	.interp_sysdict = 872,
	.interp_size = 5656,
	.interp_fields = interp_fields,
	.free_lists = free_lists,
	.interp_skip = interp_skip,
	.n_interp_skip = sizeof(interp_skip) / sizeof(interp_skip[0]),
	.thread_next = 8,
	.thread_interp = 16,
	.thread_frame = 24,
	.thread_id = 176,
	.thread_size = 264,
	.thread_fields = thread_fields,
	.frame_code = 32,
	.frame_previous = 24,
	.frame_values = 64,
	.frame_stacktop = 72,
	.frame_instr = 104,
	.frame_localsplus = 360,
	.heap_qualname = 856,
	.heap_module = 872,
	.heap_cached_keys = 864,
	.type_basic = 880,
	TYPE_OFFSETS,
	COLLECTOR_OFFSETS,
	KEYS_WITH_SIZE,
	STR_WITH_WSTR,
	SMALL_ARENAS,
	CODE_WITH_LNOTAB,
	.frame_at = hi_py_old_frame_at,
	.local_name = hi_py_old_local,
	.line = hi_py_lnotab_line,
	.read_keys = hi_py_sized_keys,
};
