/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offsets of CPython 3.10, x86-64, release builds. Source: Include/internal/pycore_*.h,
 * Include/cpython and the .c file that has the structure, v3.10; compared with the DWARF
 * of 3.10.13.
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
	STRONG(1344, "dict"),
	STRONG(1352, "builtins_copy"),
	STRONG(1360, "import_func"),
	STRONG(3424, "before_forkers"),
	STRONG(3432, "after_forkers_parent"),
	STRONG(3440, "after_forkers_child"),
	STRONG(3456, "warnings.filters"),
	STRONG(3464, "warnings.once_registry"),
	STRONG(3472, "warnings.default_action"),
	STRONG(3504, "audit_hooks"),
	STRONG(5608, "bytes.empty_string"),
	STRONG(7664, "unicode.empty_string"),
	STRONG(9752, "unicode.unused_interned"),
	STRONG(13312, "exc_state.errnomap"),
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

/* Tuples hang on ob_item[0], exceptions on their dict, contexts on the list of weak
 * references, frames on f_back; floats on ob_type, so that they are no objects any more.
 */
static const struct hi_py_free_list free_lists[] = {
	{.lists = 9784, .n = 1, .link = 8, .what = "float", .is_memory = true},
	{.lists = 9800, .n = 20, .link = 24, .what = "tuple"},
	{.lists = 10040, .n = 80, .count = 10680, .what = "list"},
	{.lists = 10688, .n = 80, .count = 11328, .what = "dict"},
	{.lists = 11336, .n = 80, .count = 11976, .what = "dict keys", .is_memory = true},
	{.lists = 11984, .n = 1, .link = 24, .what = "frame"},
	{.lists = 12000,
	 .n = 80,
	 .count = 12640,
	 .what = "async_generator_wrapped_value"},
	{.lists = 12648, .n = 80, .count = 13288, .what = "async_generator_asend"},
	{.lists = 13296, .n = 1, .link = 32, .what = "Context"},
	{.lists = 13320, .n = 1, .link = 16, .what = "MemoryError"},
	{}};

/* signalmodule.c: atomic integers. */
static const struct hi_py_global globals[] = {
	{"Handlers", {8, 65, 16, "signal handlers"}}, {}};

/* The collector's lists, free lists, borrowed references, memory of the allocator. */
static const uint32_t interp_skip[][2] = {
	{616, 856}, {9776, 9792}, {9800, 13304}, {13320, 13328}, {15216, 113520},
};

const struct hi_py_layout hi_py_layout_3_10 = {
	.minor = 10,
	.runtime_core_initialized = 8,
	.runtime_initialized = 12,
	.runtime_finalizing = 16,
	.runtime_interpreters_head = 32,
	.runtime_interpreters_main = 40,
	.runtime_words_end = 672,
	.runtime_size = 672,
	.interp_next = 0,
	.interp_threads = 8,
	.interp_runtime = 16,
	.interp_id = 24,
	.interp_gc = 616,
	.interp_modules = 856,
	.interp_sysdict = 872,
	.interp_size = 113528,
	.interp_fields = interp_fields,
	.free_lists = free_lists,
	.globals = globals,
	.interp_skip = interp_skip,
	.n_interp_skip = sizeof(interp_skip) / sizeof(interp_skip[0]),
	.type_cache = 15216,
	.type_cache_entries = 4096,
	.type_cache_entry_size = 24,
	.type_cache_name = 8,
	.thread_next = 8,
	.thread_interp = 16,
	.thread_frame = 24,
	.thread_id = 176,
	.thread_size = 280,
	.thread_fields = thread_fields,
	.frame_code = 32,
	.frame_previous = 24,
	.frame_values = 64,
	.frame_stackdepth = 80,
	.frame_instr = 96,
	.frame_localsplus = 352,
	.heap_qualname = 864,
	.heap_module = 880,
	.heap_cached_keys = 872,
	.type_basic = 888,
	TYPE_OFFSETS,
	COLLECTOR_OFFSETS,
	KEYS_WITH_SIZE,
	STR_WITH_WSTR,
	LARGE_ARENAS,
	CODE_WITH_LNOTAB,
	.frame_at = hi_py_old_frame_at,
	.local_name = hi_py_old_local,
	.line = hi_py_pairs_line,
	.read_keys = hi_py_sized_keys,
};
