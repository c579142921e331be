/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of CPython 3.8, x86-64, release builds. Source: Include/internal/pycore_*.h,
 * Include/cpython and the .c file that has the structure, v3.8; compared with the DWARF
 * of 3.8.18.
 */
#include "decode/runtimes/cpython_rows.h"

/* struct _is. Borrowed references are none. */
static const struct hi_py_field interp_fields[] = {
	STRONG(56, "modules"),
	STRONG(64, "modules_by_index"),
	STRONG(72, "sysdict"),
	STRONG(80, "builtins"),
	STRONG(88, "importlib"),
	STRONG(120, "codec_search_path"),
	STRONG(128, "codec_search_cache"),
	STRONG(136, "codec_error_registry"),
	STRONG(544, "dict"),
	STRONG(552, "builtins_copy"),
	STRONG(560, "import_func"),
	STRONG(2624, "before_forkers"),
	STRONG(2632, "after_forkers_parent"),
	STRONG(2640, "after_forkers_child"),
	STRONG(2656, "pyexitmodule"),
	STRONG(2672, "warnings.filters"),
	STRONG(2680, "warnings.once_registry"),
	STRONG(2688, "warnings.default_action"),
	STRONG(2704, "audit_hooks"),
	END};

/* _PyRuntimeState: one collector for all interpreters. */
static const struct hi_py_field runtime_fields[] = {STRONG(344, "gc.trash_delete_later"),
						    STRONG(552, "gc.garbage"),
						    STRONG(560, "gc.callbacks"), END};

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

const struct hi_py_layout hi_py_layout_3_8 = {
	.minor = 8,
	.runtime_core_initialized = 8,
	.runtime_initialized = 12,
	.runtime_finalizing = 16,
	.runtime_interpreters_head = 32,
	.runtime_interpreters_main = 40,
	.runtime_words_end = 1464,
	.runtime_size = 1464,
	.runtime_gc = 344,
	.runtime_fields = runtime_fields,
	.interp_next = 0,
	.interp_threads = 8,
	.interp_id = 16,
	.interp_modules = 56,
	.interp_sysdict = 72,
	.interp_size = 2720,
	.interp_fields = interp_fields,
	.free_lists = free_lists,
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
	.heap_qualname = 864,
	.heap_cached_keys = 872,
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
