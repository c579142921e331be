/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layouts of CPython: the lists of each version here, its offsets in
 * cpython_layout_table.h. Sources: Include/internal/pycore_*.h, Include/cpython and the
 * .c file that has the structure, of each version.
 *
 * Note [Whole lists]
 *
 * The offsets of a version are differences to the version before. Its lists are whole: a
 * member that is added in the middle moves all that follow, so differences would name
 * nearly every row, and they could not be compared with a structure's declaration line
 * by line. A list that did not change (thread_fields up to 3.10) is there once.
 */
#include "decode/runtimes/cpython_rows.h"

/* ---- _PyRuntimeState: one collector for all interpreters ---- */

static const struct hi_py_field runtime_fields_3_8[] = {
	STRONG(344, "gc.trash_delete_later"), STRONG(552, "gc.garbage"),
	STRONG(560, "gc.callbacks"), END};

/* ---- PyInterpreterState; borrowed references are left out ---- */

static const struct hi_py_field interp_fields_3_8[] = {
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

static const struct hi_py_field interp_fields_3_9[] = {
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

static const struct hi_py_field interp_fields_3_10[] = {
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

static const struct hi_py_field interp_fields_3_11[] = {
	STRONG(648, "gc.trash_delete_later"),
	STRONG(856, "gc.garbage"),
	STRONG(864, "gc.callbacks"),
	STRONG(888, "modules"),
	STRONG(896, "modules_by_index"),
	STRONG(904, "sysdict"),
	STRONG(912, "builtins"),
	STRONG(920, "importlib"),
	STRONG(936, "codec_search_path"),
	STRONG(944, "codec_search_cache"),
	STRONG(952, "codec_error_registry"),
	STRONG(1400, "dict"),
	STRONG(1408, "builtins_copy"),
	STRONG(1416, "import_func"),
	STRONG(3480, "before_forkers"),
	STRONG(3488, "after_forkers_parent"),
	STRONG(3496, "after_forkers_child"),
	STRONG(3504, "warnings.filters"),
	STRONG(3512, "warnings.once_registry"),
	STRONG(3520, "warnings.default_action"),
	STRONG(3552, "audit_hooks"),
	STRONG(7128, "exc_state.errnomap"),
	STRONG(7152, "exc_state.PyExc_ExceptionGroup"),
	END};

static const struct hi_py_field interp_fields_3_12[] = {
	STRONG(112, "gc.trash_delete_later"),
	STRONG(320, "gc.garbage"),
	STRONG(328, "gc.callbacks"),
	STRONG(352, "sysdict"),
	STRONG(360, "builtins"),
	STRONG(944, "imports.modules"),
	STRONG(952, "imports.modules_by_index"),
	STRONG(960, "imports.importlib"),
	STRONG(984, "imports.import_func"),
	STRONG(1248, "codec_search_path"),
	STRONG(1256, "codec_search_cache"),
	STRONG(1264, "codec_error_registry"),
	STRONG(1720, "dict"),
	STRONG(1728, "sysdict_copy"),
	STRONG(1736, "builtins_copy"),
	STRONG(3872, "before_forkers"),
	STRONG(3880, "after_forkers_parent"),
	STRONG(3888, "after_forkers_child"),
	STRONG(3896, "warnings.filters"),
	STRONG(3904, "warnings.once_registry"),
	STRONG(3912, "warnings.default_action"),
	STRONG(267208, "audit_hooks"),
	STRONG(273400, "exc_state.errnomap"),
	STRONG(273424, "exc_state.PyExc_ExceptionGroup"),
	STRONG(381736, "interpreter_trampoline"),
	STRONG(382944, "cached_objects.str_replace_inf"),
	STRONG(382952, "cached_objects.objreduce"),
	STRONG(382960, "cached_objects.type_slots_pname"),
	STRONG(383048, "cached_objects.generic_type"),
	STRONG(383056, "cached_objects.typevar_type"),
	STRONG(383064, "cached_objects.typevartuple_type"),
	STRONG(383072, "cached_objects.paramspec_type"),
	STRONG(383080, "cached_objects.paramspecargs_type"),
	STRONG(383088, "cached_objects.paramspeckwargs_type"),
	END};

static const struct hi_py_field interp_fields_3_13[] = {
	STRONG(7400, "gc.trash_delete_later"),
	STRONG(7608, "gc.garbage"),
	STRONG(7616, "gc.callbacks"),
	STRONG(7640, "sysdict"),
	STRONG(7648, "builtins"),
	STRONG(7656, "imports.modules"),
	STRONG(7664, "imports.modules_by_index"),
	STRONG(7672, "imports.importlib"),
	STRONG(7696, "imports.import_func"),
	STRONG(7960, "codecs.search_path"),
	STRONG(7968, "codecs.search_cache"),
	STRONG(7976, "codecs.error_registry"),
	STRONG(8448, "dict"),
	STRONG(8456, "sysdict_copy"),
	STRONG(8464, "builtins_copy"),
	STRONG(10624, "xi.PyExc_NotShareableError"),
	STRONG(10632, "before_forkers"),
	STRONG(10640, "after_forkers_parent"),
	STRONG(10648, "after_forkers_child"),
	STRONG(10656, "warnings.filters"),
	STRONG(10664, "warnings.once_registry"),
	STRONG(10672, "warnings.default_action"),
	STRONG(10808, "audit_hooks"),
	STRONG(82640, "exc_state.errnomap"),
	STRONG(82664, "exc_state.PyExc_ExceptionGroup"),
	STRONG(194336, "cached_objects.str_replace_inf"),
	STRONG(194344, "cached_objects.objreduce"),
	STRONG(194352, "cached_objects.type_slots_pname"),
	STRONG(194440, "cached_objects.generic_type"),
	STRONG(194448, "cached_objects.typevar_type"),
	STRONG(194456, "cached_objects.typevartuple_type"),
	STRONG(194464, "cached_objects.paramspec_type"),
	STRONG(194472, "cached_objects.paramspecargs_type"),
	STRONG(194480, "cached_objects.paramspeckwargs_type"),
	END};

static const struct hi_py_field interp_fields_3_14[] = {
	STRONG(7408, "gc.trash_delete_later"),
	STRONG(7608, "gc.garbage"),
	STRONG(7616, "gc.callbacks"),
	STRONG(7672, "sysdict"),
	STRONG(7680, "builtins"),
	STRONG(7688, "imports.modules"),
	STRONG(7696, "imports.modules_by_index"),
	STRONG(7704, "imports.importlib"),
	STRONG(7728, "imports.import_func"),
	STRONG(8000, "codecs.search_path"),
	STRONG(8008, "codecs.search_cache"),
	STRONG(8016, "codecs.error_registry"),
	STRONG(8496, "dict"),
	STRONG(8504, "sysdict_copy"),
	STRONG(8512, "builtins_copy"),
	STRONG(10688, "xi.exceptions.PyExc_NotShareableError"),
	STRONG(10696, "before_forkers"),
	STRONG(10704, "after_forkers_parent"),
	STRONG(10712, "after_forkers_child"),
	STRONG(10720, "warnings.filters"),
	STRONG(10728, "warnings.once_registry"),
	STRONG(10736, "warnings.default_action"),
	STRONG(10776, "warnings.context"),
	STRONG(10792, "atexit.callbacks"),
	STRONG(10912, "audit_hooks"),
	STRONG(79888, "exc_state.errnomap"),
	STRONG(79912, "exc_state.PyExc_ExceptionGroup"),
	STRONG(224632, "cached_objects.objreduce"),
	STRONG(224640, "cached_objects.type_slots_pname"),
	STRONG(224728, "cached_objects.generic_type"),
	STRONG(224736, "cached_objects.typevar_type"),
	STRONG(224744, "cached_objects.typevartuple_type"),
	STRONG(224752, "cached_objects.paramspec_type"),
	STRONG(224760, "cached_objects.paramspecargs_type"),
	STRONG(224768, "cached_objects.paramspeckwargs_type"),
	STRONG(224776, "cached_objects.constevaluator_type"),
	END};

/* ---- PyThreadState ---- */

static const struct hi_py_field thread_fields_3_8[] = {
	STRONG(72, "c_profileobj"),
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

static const struct hi_py_field thread_fields_3_11[] = {
	STRONG(80, "c_profileobj"),
	STRONG(88, "c_traceobj"),
	STRONG(96, "curexc_type"),
	STRONG(104, "curexc_value"),
	STRONG(112, "curexc_traceback"),
	STRONG(128, "dict"),
	STRONG(144, "async_exc"),
	STRONG(176, "trash_delete_later"),
	STRONG(208, "async_gen_firstiter"),
	STRONG(216, "async_gen_finalizer"),
	STRONG(224, "context"),
	STRONG(320, "exc_state.exc_value"),
	END};

static const struct hi_py_field thread_fields_3_12[] = {
	STRONG(80, "c_profileobj"),
	STRONG(88, "c_traceobj"),
	STRONG(96, "current_exception"),
	STRONG(112, "dict"),
	STRONG(128, "async_exc"),
	STRONG(160, "trash.delete_later"),
	STRONG(192, "async_gen_firstiter"),
	STRONG(200, "async_gen_finalizer"),
	STRONG(208, "context"),
	STRONG(256, "exc_state.exc_value"),
	END};

static const struct hi_py_field thread_fields_3_13[] = {
	STRONG(96, "c_profileobj"),
	STRONG(104, "c_traceobj"),
	STRONG(112, "current_exception"),
	STRONG(128, "dict"),
	STRONG(144, "async_exc"),
	STRONG(168, "delete_later"),
	STRONG(192, "async_gen_firstiter"),
	STRONG(200, "async_gen_finalizer"),
	STRONG(208, "context"),
	STRONG(256, "exc_state.exc_value"),
	STRONG(272, "previous_executor"),
	STRONG(288, "threading_local_key"),
	STRONG(296, "threading_local_sentinel"),
	END};

static const struct hi_py_field thread_fields_3_14[] = {
	STRONG(96, "c_profileobj"),
	STRONG(104, "c_traceobj"),
	STRONG(112, "current_exception"),
	STRONG(128, "dict"),
	STRONG(144, "async_exc"),
	STRONG(168, "delete_later"),
	STRONG(192, "async_gen_firstiter"),
	STRONG(200, "async_gen_finalizer"),
	STRONG(208, "context"),
	STRONG(256, "exc_state.exc_value"),
	STRONG(272, "current_executor"),
	STRONG(288, "threading_local_key"),
	STRONG(296, "threading_local_sentinel"),
	END};

/* ---- free lists of the interpreter's state ---- */

/*
 * CHAIN: each object has the address of the next one at `link`. Tuples have it in
 * ob_item[0], exceptions in their dict, contexts in the list of weak references, frames
 * in f_back; floats have it in ob_type, and are no objects any more.
 * ARRAY_OF: an array of pointers, of which `count` are in use.
 */
#define CHAIN(type, from, at, heads, next, ...)                                          \
	{                                                                                \
		.path = (from), .lists = (at), .n = (heads), .link = (next),             \
		.what = (type), ##__VA_ARGS__                                            \
	}
#define ARRAY_OF(type, from, at, count_from, count_at, ...)                              \
	{                                                                                \
		.path = (from), .lists = (at), .n = 80, .count_path = (count_from),      \
		.count = (count_at), .what = (type), ##__VA_ARGS__                       \
	}

/* The first word of each, a count before, has the next one (pycore_freelist.h). */
#define FREE_LIST(type, from, at, heads, ...)                                            \
	{                                                                                \
		.path = (from), .lists = (at), .n = (heads), .first_word = true,         \
		.what = (type), ##__VA_ARGS__                                            \
	}

/* Up to 3.9 they are static variables of their types' files. */
static const struct hi_py_free_list free_lists_3_8[] = {{}};

static const struct hi_py_free_list free_lists_3_10[] = {
	CHAIN("float", "float_state.free_list", 9784, 1, 8, .is_memory = true),
	CHAIN("tuple", "tuple.free_list", 9800, 20, 24),
	ARRAY_OF("list", "list.free_list", 10040, "list.numfree", 10680),
	ARRAY_OF("dict", "dict_state.free_list", 10688, "dict_state.numfree", 11328),
	ARRAY_OF("dict keys", "dict_state.keys_free_list", 11336,
		 "dict_state.keys_numfree", 11976, .is_memory = true),
	CHAIN("frame", "frame.free_list", 11984, 1, 24),
	ARRAY_OF("async_generator_wrapped_value", "async_gen.value_freelist", 12000,
		 "async_gen.value_numfree", 12640),
	ARRAY_OF("async_generator_asend", "async_gen.asend_freelist", 12648,
		 "async_gen.asend_numfree", 13288),
	CHAIN("Context", "context.freelist", 13296, 1, 32),
	CHAIN("MemoryError", "exc_state.memerrors_freelist", 13320, 1, 16),
	{}};

static const struct hi_py_free_list free_lists_3_11[] = {
	CHAIN("float", "float_state.free_list", 3616, 1, 8, .is_memory = true),
	CHAIN("tuple", "tuple.free_list", 3632, 20, 24),
	ARRAY_OF("list", "list.free_list", 3872, "list.numfree", 4512),
	ARRAY_OF("dict", "dict_state.free_list", 4520, "dict_state.numfree", 5160),
	ARRAY_OF("dict keys", "dict_state.keys_free_list", 5168,
		 "dict_state.keys_numfree", 5808, .is_memory = true),
	ARRAY_OF("async_generator_wrapped_value", "async_gen.value_freelist", 5816,
		 "async_gen.value_numfree", 6456),
	ARRAY_OF("async_generator_asend", "async_gen.asend_freelist", 6464,
		 "async_gen.asend_numfree", 7104),
	CHAIN("Context", "context.freelist", 7112, 1, 32),
	CHAIN("MemoryError", "exc_state.memerrors_freelist", 7136, 1, 16),
	{}};

static const struct hi_py_free_list free_lists_3_12[] = {
	CHAIN("float", "float_state.free_list", 267416, 1, 8, .is_memory = true),
	CHAIN("tuple", "tuple.free_list", 269832, 20, 24),
	ARRAY_OF("list", "list.free_list", 270072, "list.numfree", 270712),
	ARRAY_OF("dict", "dict_state.free_list", 270736, "dict_state.numfree", 272016),
	ARRAY_OF("dict keys", "dict_state.keys_free_list", 271376,
		 "dict_state.keys_numfree", 272020, .is_memory = true),
	ARRAY_OF("async_generator_wrapped_value", "async_gen.value_freelist", 272088,
		 "async_gen.value_numfree", 272728),
	ARRAY_OF("async_generator_asend", "async_gen.asend_freelist", 272736,
		 "async_gen.asend_numfree", 273376),
	CHAIN("Context", "context.freelist", 273384, 1, 32),
	CHAIN("MemoryError", "exc_state.memerrors_freelist", 273408, 1, 16),
	{}};

static const struct hi_py_free_list free_lists_3_13[] = {
	CHAIN("float", "object_state.freelists.floats.items", 10960, 1, 8,
	      .is_memory = true),
	CHAIN("tuple", "object_state.freelists.tuples.items", 10968, 20, 24),
	ARRAY_OF("list", "object_state.freelists.lists.items", 11208,
		 "object_state.freelists.lists.numfree", 11848),
	ARRAY_OF("dict", "object_state.freelists.dicts.items", 11856,
		 "object_state.freelists.dicts.numfree", 12496),
	ARRAY_OF("dict keys", "object_state.freelists.dictkeys.items", 12504,
		 "object_state.freelists.dictkeys.numfree", 13144, .is_memory = true),
	ARRAY_OF("async_generator_wrapped_value",
		 "object_state.freelists.async_gens.items", 13176,
		 "object_state.freelists.async_gens.numfree", 13816),
	ARRAY_OF("async_generator_asend", "object_state.freelists.async_gen_asends.items",
		 13824, "object_state.freelists.async_gen_asends.numfree", 14464),
	CHAIN("Context", "object_state.freelists.contexts.items", 13160, 1, 32),
	CHAIN("slice", "object_state.freelists.slices.slice_cache", 13152, 1, 0),
	CHAIN("MemoryError", "exc_state.memerrors_freelist", 82648, 1, 16),
	{}};

static const struct hi_py_free_list free_lists_3_14[] = {
	FREE_LIST("float", "object_state.freelists.floats.freelist", 11120, 1),
	FREE_LIST("int", "object_state.freelists.ints.freelist", 11136, 1),
	FREE_LIST("tuple", "object_state.freelists.tuples[].freelist", 11152, 20,
		  .stride = 16),
	FREE_LIST("list", "object_state.freelists.lists.freelist", 11472, 1),
	FREE_LIST("list_iterator", "object_state.freelists.list_iters.freelist", 11488,
		  1),
	FREE_LIST("tuple_iterator", "object_state.freelists.tuple_iters.freelist", 11504,
		  1),
	FREE_LIST("dict", "object_state.freelists.dicts.freelist", 11520, 1),
	FREE_LIST("dict keys", "object_state.freelists.dictkeys.freelist", 11536, 1,
		  .is_memory = true, .buffer = HI_PY_BUFFER_FREE_KEYS),
	FREE_LIST("slice", "object_state.freelists.slices.freelist", 11552, 1),
	FREE_LIST("range", "object_state.freelists.ranges.freelist", 11568, 1),
	FREE_LIST("range_iterator", "object_state.freelists.range_iters.freelist", 11584,
		  1),
	FREE_LIST("Context", "object_state.freelists.contexts.freelist", 11600, 1),
	FREE_LIST("async_generator_wrapped_value",
		  "object_state.freelists.async_gens.freelist", 11616, 1),
	FREE_LIST("async_generator_asend",
		  "object_state.freelists.async_gen_asends.freelist", 11632, 1),
	FREE_LIST("FutureIter", "object_state.freelists.futureiters.freelist", 11648, 1),
	FREE_LIST("str writer", "object_state.freelists.unicode_writers.freelist", 11680,
		  1, .is_memory = true, .buffer = HI_PY_BUFFER_FREE_WRITER),
	FREE_LIST("builtin_function_or_method",
		  "object_state.freelists.pycfunctionobject.freelist", 11696, 1),
	FREE_LIST("builtin_method", "object_state.freelists.pycmethodobject.freelist",
		  11712, 1),
	FREE_LIST("method", "object_state.freelists.pymethodobjects.freelist", 11728, 1),
	CHAIN("MemoryError", "exc_state.memerrors_freelist", 79896, 1, 16),
	{}};

/* ---- variables of modules: atomic integers of signalmodule.c, in 3.10 and 3.11 ---- */

static const struct hi_py_global globals_3_10[] = {
	{"Handlers", {8, 65, 16, "signal handlers"}}, {}};

/* ---- what static types have of each interpreter ---- */

static const struct hi_py_array arrays_3_12[] = {
	{373720, 200, 40, "types.builtins[].tp_dict"},
	{373728, 200, 40, "types.builtins[].tp_subclasses"},
	{}};

static const struct hi_py_array arrays_3_13[] = {
	{182992, 200, 48, "types.builtins.initialized[].tp_dict"},
	{183000, 200, 48, "types.builtins.initialized[].tp_subclasses"},
	{192608, 10, 48, "types.for_extensions.initialized[].tp_dict"},
	{192616, 10, 48, "types.for_extensions.initialized[].tp_subclasses"},
	{}};

static const struct hi_py_array arrays_3_14[] = {
	{180264, 200, 48, "types.builtins.initialized[].tp_dict"},
	{180272, 200, 48, "types.builtins.initialized[].tp_subclasses"},
	{189880, 10, 48, "types.for_extensions.initialized[].tp_dict"},
	{189888, 10, 48, "types.for_extensions.initialized[].tp_subclasses"},
	{}};

/* ---- parts of the state without counted references: the collector's lists, free
 * lists, borrowed references, memory of the allocator ---- */

static const struct hi_py_skip interp_skip_3_9[] = {
	{616, 856, "gc"},
};

static const struct hi_py_skip interp_skip_3_10[] = {
	{616, 856, "gc"},
	{9776, 9792, "float_state"},
	{9800, 10040, "tuple"},
	{10040, 10688, "list"},
	{10688, 11984, "dict_state"},
	{11984, 12000, "frame"},
	{12000, 13296, "async_gen"},
	{13296, 13304, "context.freelist"},
	{13320, 13328, "exc_state.memerrors_freelist"},
	{15216, 113520, "type_cache"},
};

static const struct hi_py_skip interp_skip_3_11[] = {
	{648, 888, "gc"},
	{3608, 3624, "float_state"},
	{3632, 3872, "tuple"},
	{3872, 4520, "list"},
	{4520, 5816, "dict_state"},
	{5816, 7112, "async_gen"},
	{7112, 7120, "context.freelist"},
	{7136, 7144, "exc_state.memerrors_freelist"},
	{9056, 107360, "type_cache"},
	{107360, 107384, "callable_cache"},
};

static const struct hi_py_skip interp_skip_3_12[] = {
	{112, 352, "gc"},
	{267408, 267424, "float_state"},
	{269832, 270072, "tuple"},
	{270072, 270720, "list"},
	{270720, 272088, "dict_state"},
	{272088, 273384, "async_gen"},
	{273384, 273392, "context.freelist"},
	{273408, 273416, "exc_state.memerrors_freelist"},
	{275392, 373696, "types.type_cache"},
	{373704, 381704, "types.builtins"},
	{381704, 381736, "callable_cache"},
};

static const struct hi_py_skip interp_skip_3_13[] = {
	{7400, 7640, "gc"},
	{10952, 14496, "object_state"},
	{17000, 82544, "func_state"},
	{82560, 82640, "dict_state"},
	{82648, 82656, "exc_state.memerrors_freelist"},
	{84656, 182960, "types.type_cache"},
	{182960, 192568, "types.builtins"},
	{192568, 193064, "types.for_extensions"},
	{193072, 193104, "callable_cache"},
};

static const struct hi_py_skip interp_skip_3_14[] = {
	{7408, 7672, "gc"},
	{10880, 10896, "asyncio_tasks_head"},
	{11120, 11752, "object_state"},
	{14256, 79800, "func_state"},
	{79816, 79888, "dict_state"},
	{79896, 79904, "exc_state.memerrors_freelist"},
	{81928, 180232, "types.type_cache"},
	{180232, 189840, "types.builtins"},
	{189840, 190336, "types.for_extensions"},
	{190344, 223112, "types.type_version_cache"},
	{223112, 223144, "callable_cache"},
};

/* ---- the layouts ---- */

#define INTERP_SKIP(list)                                                                \
	.interp_skip = (list), .n_interp_skip = sizeof(list) / sizeof((list)[0])

/* The table needs it: a later initializer of a member replaces an earlier one. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define MINOR 8
#define LAYOUT hi_py_layout_3_8
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 9
#define LAYOUT hi_py_layout_3_9
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 10
#define LAYOUT hi_py_layout_3_10
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 11
#define LAYOUT hi_py_layout_3_11
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 12
#define LAYOUT hi_py_layout_3_12
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 13
#define LAYOUT hi_py_layout_3_13
#include "decode/runtimes/cpython_layout_table.h"

#define MINOR 14
#define LAYOUT hi_py_layout_3_14
#include "decode/runtimes/cpython_layout_table.h"

/* Newest first: the order in which those up to 3.10 are tried, which have no exported
 * version. */
const struct hi_py_layout *const hi_py_layouts[] = {
	&hi_py_layout_3_14, &hi_py_layout_3_13, &hi_py_layout_3_12, &hi_py_layout_3_11,
	&hi_py_layout_3_10, &hi_py_layout_3_9,	&hi_py_layout_3_8,  NULL};
