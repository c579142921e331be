/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layouts of CPython 3.8 to 3.14, x86-64, release builds, as one table.
 * cpython_layout.c includes it once a version, with MINOR (8 for 3.8) and LAYOUT, the
 * name of the object that it defines.
 *
 * The base is 3.8. A block is what its version changes, with the file that declares it;
 * members that it does not name stay as they were. 0: the version has no such member.
 * To add a version, add a block here, and its lists and its line to cpython_layout.c.
 *
 * Compared with the DWARF of 3.8.18, 3.9.18, 3.10.13, 3.11.2, 3.11.7, 3.12.1, 3.13.0
 * and 3.14.10; tests/decode/cpython_layout_test.c compares it with what is installed.
 */
const struct hi_py_layout LAYOUT = {
	.minor = MINOR,

	/* Include/internal/pycore_pystate.h: struct pyruntimestate */
	.runtime_core_initialized = 8,
	.runtime_initialized = 12,
	.runtime_finalizing = 16,
	.runtime_interpreters_head = 32,
	.runtime_interpreters_main = 40,
	.runtime_words_end = 1464,
	.runtime_size = 1464,
	.runtime_gc = 344,
	.runtime_fields = runtime_fields_3_8,
	.runtime_current = 1368,
	.runtime_tss = 1392,
	/* Include/internal/pycore_pystate.h: struct _is */
	.interp_next = 0,
	.interp_threads = 8,
	.interp_id = 16,
	.interp_modules = 56,
	.interp_sysdict = 72,
	.interp_size = 2720,
	.interp_fields = interp_fields_3_8,
	.free_lists = free_lists_3_8,
	/* Include/internal/pycore_pymem.h: struct _gc_runtime_state */
	.gc_generations = 24,
	.gc_generation_size = 24,
	.gc_n_generations = 3,
	.gc_permanent = 104,
	.gc_collecting = 200,
	.gc_enabled = 12,
	.gc_threshold = 16,
	.gc_count = 20,
	.gc_size = 240,
	/* Include/cpython/pystate.h: struct _ts */
	.thread_next = 8,
	.thread_interp = 16,
	.thread_frame = 24,
	.thread_id = 176,
	.thread_pthread = 176,
	.thread_size = 264,
	.thread_fields = thread_fields_3_8,
	/* Include/frameobject.h */
	.frame_previous = 24,
	.frame_code = 32,
	.frame_values = 64,
	.frame_stacktop = 72,
	.frame_instr = 104,
	.frame_localsplus = 360,
	.frame_at = hi_py_old_frame_at,
	/* Include/code.h */
	.code_nlocalsplus = 28,
	.code_stacksize = 32,
	.code_firstlineno = 40,
	.code_names = 72,
	.code_freevars = 80,
	.code_cellvars = 88,
	.code_filename = 104,
	.code_qualname = 112,
	.code_linetable = 120,
	.local_name = hi_py_old_local,
	.line = hi_py_lnotab_line,
	/* Include/cpython/object.h: PyTypeObject, PyHeapTypeObject */
	.type_name = 24,
	.type_basicsize = 32,
	.type_itemsize = 40,
	.type_flags = 168,
	.type_doc = 176,
	.type_weaklist = 208,
	.type_members = 240,
	.type_base = 256,
	.type_dict = 264,
	.type_dictoffset = 288,
	.type_mro = 344,
	.heap_qualname = 864,
	.heap_cached_keys = 872,
	.type_basic = 880,
	/* Include/cpython/dictobject.h, Objects/dict-common.h */
	.dict_used = 16,
	.dict_keys = 32,
	.dict_values = 40,
	.keys_size = 8,
	.keys_nentries = 32,
	.keys_indices = 40,
	.read_keys = hi_py_sized_keys,
	/* Include/cpython/tupleobject.h */
	.tuple_items = 24,
	/* Include/cpython/unicodeobject.h */
	.str_length = 16,
	.str_state = 32,
	.str_wstr = 40,
	.str_ascii_data = 48,
	.str_utf8 = 56,
	.str_compact_data = 72,
	.str_any = 72,
	.str_size = 80,
	/* Objects/obmalloc.c */
	.arena_size = 256 << 10,
	.pool_size = 4 << 10,
	.pool_header = 48,
	.arena_object_size = 48,
	.alignment = 16,
	.small_max = 512,

#if MINOR >= 9
	/* Include/internal/pycore_runtime.h */
	.runtime_words_end = 656,
	.runtime_size = 656,
	.runtime_gc = 0, /* each interpreter has its own */
	.runtime_current = 568,
	.runtime_tss = 584,
	.runtime_fields = NULL,
	/* Include/internal/pycore_interp.h */
	.interp_runtime = 16,
	.interp_id = 24,
	.interp_gc = 616,
	.interp_modules = 856,
	.interp_sysdict = 872,
	.interp_size = 5656,
	.interp_fields = interp_fields_3_9,
	INTERP_SKIP(interp_skip_3_9),
	/* Include/cpython/object.h */
	.heap_qualname = 856,
	.heap_cached_keys = 864,
	.heap_module = 872,
#endif

#if MINOR >= 10
	/* Include/internal/pycore_runtime.h */
	.runtime_words_end = 672,
	.runtime_size = 672,
	/* Include/internal/pycore_interp.h */
	.interp_size = 113528,
	.interp_fields = interp_fields_3_10,
	.free_lists = free_lists_3_10,
	INTERP_SKIP(interp_skip_3_10),
	.type_cache = 15216,
	.type_cache_entries = 4096,
	.type_cache_entry_size = 24,
	.type_cache_name = 8,
	/* Modules/signalmodule.c */
	.globals = globals_3_10,
	/* Include/cpython/pystate.h */
	.thread_size = 280,
	/* Include/cpython/frameobject.h */
	.frame_stacktop = 0, /* the depth instead */
	.frame_stackdepth = 80,
	.frame_instr = 96,
	.frame_localsplus = 352,
	/* Objects/codeobject.c, PEP 626 */
	.line = hi_py_pairs_line,
	/* Include/cpython/object.h */
	.heap_qualname = 864,
	.heap_cached_keys = 872,
	.heap_module = 880,
	.type_basic = 888,
	/* Objects/obmalloc.c */
	.arena_size = 1 << 20,
	.pool_size = 16 << 10,
#endif

#if MINOR >= 11
	/* Include/internal/pycore_runtime.h */
	.runtime_core_initialized = 12,
	.runtime_initialized = 16,
	.runtime_finalizing = 24,
	.runtime_interpreters_head = 40,
	.runtime_interpreters_main = 48,
	.runtime_words_end = 58936,
	.runtime_size = 166688,
	.runtime_current = 576,
	.runtime_tss = 592,
	/* Include/internal/pycore_interp.h */
	.interp_threads = 16,
	.interp_runtime = 40,
	.interp_id = 48,
	.interp_gc = 648,
	.interp_modules = 888,
	.interp_sysdict = 904,
	.interp_size = 107752,
	.interp_fields = interp_fields_3_11,
	.free_lists = free_lists_3_11,
	INTERP_SKIP(interp_skip_3_11),
	.type_cache = 9056,
	/* Include/cpython/pystate.h: _ts, _PyCFrame, _PyStackChunk */
	.thread_frame = 0, /* by its _PyCFrame */
	.thread_cframe = 56,
	.cframe_current = 8,
	.thread_id = 0,
	.thread_pthread = 152,
	.thread_native_id = 160,
	.thread_stack_chunk = 296,
	.chunk_previous = 0,
	.chunk_size = 8,
	.thread_size = 360,
	.thread_fields = thread_fields_3_11,
	/* Include/internal/pycore_frame.h: _PyInterpreterFrame, PyFrameObject */
	.frame_func = 0,
	.frame_locals = 24,
	.frame_object = 40,
	.frame_previous = 48,
	.frame_instr = 56,
	.frame_stacktop = 64,
	.frame_stackdepth = 0,
	.frame_is_entry = 68,
	.frame_owner = 69,
	.frame_values = 0,
	.frame_localsplus = 72,
	.frameobj_frame = 24,
	.frameobj_data = 48,
	.frame_at = hi_py_new_frame_at,
	/* Include/cpython/genobject.h */
	.gen_state = 75,
	.gen_frame = 80,
	/* Include/cpython/code.h */
	.code_stacksize = 68,
	.code_firstlineno = 72,
	.code_nlocalsplus = 76,
	.code_names = 96,
	.code_cellvars = 0,
	.code_freevars = 0,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_first_traceable = 168,
	.code_instructions = 184,
	.local_name = hi_py_new_local,
	.line = hi_py_locations_line,
	/* Include/cpython/object.h */
	.heap_tpname = 888,
	.type_basic = 904,
	.preheader_flags = HI_PY_MANAGED_DICT,
	.managed_size = 16,
	.visit_managed = hi_py_visit_two_words,
	/* Include/internal/pycore_dict.h */
	.keys_size = 0,
	.keys_log2_size = 8,
	.keys_log2_index = 9,
	.keys_kind = 10,
	.keys_nentries = 24,
	.keys_indices = 32,
	.read_keys = hi_py_log2_keys,
	/* Modules/_collectionsmodule.c */
	.deque_n_free = 72,
	.deque_free = 80,
#endif

#if MINOR >= 12
	/* Include/internal/pycore_runtime.h */
	.runtime_words_end = 76392,
	.runtime_size = 459944,
	.runtime_current = 0, /* thread-local */
	.runtime_tss = 1544,
	.runtime_allocators = 96,
	/* Include/internal/pycore_interp.h */
	.interp_id = 8,
	.interp_threads = 72,
	.interp_runtime = 96,
	.interp_gc = 112,
	.interp_sysdict = 352,
	.interp_modules = 944,
	.interp_interned = 382936,
	.interp_size = 383552,
	.interp_fields = interp_fields_3_12,
	.free_lists = free_lists_3_12,
	.arrays = arrays_3_12,
	INTERP_SKIP(interp_skip_3_12),
	.type_cache = 275392,
	/* Modules/signalmodule.c: the handlers are in the state */
	.globals = NULL,
	/* Include/cpython/pystate.h */
	.cframe_current = 0,
	.thread_pthread = 136,
	.thread_native_id = 144,
	.thread_stack_chunk = 232,
	.thread_size = 288,
	.thread_fields = thread_fields_3_12,
	/* Include/internal/pycore_frame.h */
	.frame_code = 0,
	.frame_previous = 8,
	.frame_func = 16,
	.frame_locals = 40,
	.frame_object = 48,
	.frame_is_entry = 0, /* a frame of C code instead */
	.frame_owner = 70,
	/* Include/cpython/genobject.h */
	.gen_state = 67,
	.gen_frame = 72,
	/* Include/cpython/code.h */
	.code_stacksize = 64,
	.code_firstlineno = 68,
	.code_nlocalsplus = 72,
	.code_first_traceable = 176,
	.code_instructions = 192,
	/* Include/cpython/object.h; Objects/typeobject.c, PEP 683 */
	.heap_qualname = 872,
	.heap_cached_keys = 880,
	.heap_module = 888,
	.heap_tpname = 896,
	.type_basic = 920,
	.preheader_flags = HI_PY_MANAGED_DICT | HI_PY_MANAGED_WEAKREF,
	.visit_managed = hi_py_visit_tagged_word,
	.immortal = true,
	/* Include/cpython/unicodeobject.h, PEP 623 */
	.str_wstr = 0,
	.str_ascii_data = 40,
	.str_utf8 = 48,
	.str_compact_data = 56,
	.str_any = 56,
	.str_size = 64,
	/* Include/internal/pycore_long.h */
	.int_tag_bits = 3,
	/* Include/internal/pycore_obmalloc.h */
	.interp_obmalloc = 3960,
	.obmalloc_arenas = 512,
	.obmalloc_n_arenas = 520,
#endif

#if MINOR >= 13
	/* Include/internal/pycore_runtime.h */
	.runtime_core_initialized = 596,
	.runtime_initialized = 600,
	.runtime_finalizing = 608,
	.runtime_interpreters_head = 632,
	.runtime_interpreters_main = 640,
	.runtime_words_end = 88352,
	.runtime_size = 283320,
	.runtime_tss = 2160,
	.runtime_allocators = 704,
	/* Include/internal/pycore_interp.h */
	.interp_next = 7264,
	.interp_id = 7272,
	.interp_threads = 7344,
	.interp_runtime = 7376,
	.interp_gc = 7400,
	.interp_sysdict = 7640,
	.interp_modules = 7656,
	.interp_interned = 194328,
	.interp_size = 194968,
	.interp_fields = interp_fields_3_13,
	.free_lists = free_lists_3_13,
	.arrays = arrays_3_13,
	INTERP_SKIP(interp_skip_3_13),
	.type_cache = 84656,
	/* Include/cpython/pystate.h */
	.thread_cframe = 0, /* _PyCFrame is gone */
	.thread_frame = 72,
	.thread_pthread = 152,
	.thread_native_id = 160,
	.thread_size = 336,
	.thread_fields = thread_fields_3_13,
	/* Include/internal/pycore_frame.h */
	.frameobj_data = 64,
	/* Include/cpython/code.h */
	.code_first_traceable = 184,
	.code_instructions = 200,
	/* Include/cpython/object.h */
	.type_basic = 928,
	.visit_managed = hi_py_visit_inline,
	.tail_size = hi_py_inline_size,
	/* Objects/structseq.c */
	.tuple_hides_more = true,
	/* Include/internal/pycore_dict.h */
	.values_items = 8,
	/* Include/internal/pycore_obmalloc.h */
	.interp_obmalloc = 10800,
	.obmalloc_is_pointer = true,
#endif

#if MINOR >= 14
	/* Include/object.h: the upper half of the word */
	.refcnt_flags = UINT64_C(0xff) << 48,
	/* Include/internal/pycore_runtime_structs.h */
	.runtime_core_initialized = 772,
	.runtime_initialized = 776,
	.runtime_finalizing = 784,
	.runtime_interpreters_head = 808,
	.runtime_interpreters_main = 816,
	.runtime_words_end = 90752,
	.runtime_size = 316616,
	.runtime_tss = 2336,
	.runtime_allocators = 880,
	/* Include/internal/pycore_interp_structs.h */
	.interp_id = 7280,
	.interp_next = 7272,
	.interp_runtime = 7384,
	.interp_gc = 7408,
	.interp_sysdict = 7672,
	.interp_modules = 7688,
	.interp_interned = 224624,
	.interp_size = 225864,
	.interp_fields = interp_fields_3_14,
	.free_lists = free_lists_3_14,
	.arrays = arrays_3_14,
	INTERP_SKIP(interp_skip_3_14),
	.type_cache = 81928,
	.interp_obmalloc = 10904,
	/* Up to 3.14.4 a link of the collector has the half of the old ones that the
	 * object is in. */
	.gc_next_flags = 1,
	.gc_permanent = 96,
	.gc_collecting = 192,
	.gc_size = 264,
	/* Include/cpython/pystate.h, Include/internal/pycore_tstate.h */
	.thread_state = 44,
	.thread_size = 936,
	.thread_fields = thread_fields_3_14,
	/* Include/internal/pycore_interpframe_structs.h, pycore_stackref.h */
	.frame_stack_refs = true,
	.frame_stacktop = 64,
	.frame_owner = 74,
	.frame_localsplus = 80,
	.frameobj_data = 72,
	/* Include/cpython/code.h */
	.code_first_traceable = 192,
	.code_instructions = 208,
	/* Include/cpython/object.h */
	.type_basic = 936,
	/* Objects/dictobject.c: dict_traverse() */
	.dict_has_inline = true,
	/* Include/cpython/tupleobject.h */
	.tuple_items = 32,
#endif
};

#undef MINOR
#undef LAYOUT
