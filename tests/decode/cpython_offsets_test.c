/* SPDX-License-Identifier: BSD-2-Clause */
/* What an interpreter says of its own layout: members that it names, those between them,
 * and words that are wrong, in the core of Debian 13's Python. */
#include <string.h>
#include <sys/mman.h>

#include "attach/core.h"
#include "decode/runtimes/cpython_rows.h"
#include "decode/runtimes/cpython_walk_find.h"
#include "harness.h"
#include "support/inspected.h"
#include "support/stored.h"

enum {
	WORDS_3_13 = 73,
	TRACKED = 10000, /* objects and more */
	/* Bytes of _Py_DebugOffsets of 3.13 */
	VERSION = 8,
	FREE_THREADED = 16,
	RUNTIME_FINALIZING = 32,
	RUNTIME_HEAD = 40,
	INTERP_MODULES = 88,
	INTERP_SYSDICT = 96,
	FRAME_PREVIOUS = 232,
	CODE_FIRSTLINENO = 312,
	CODE_INSTRUCTIONS = 344,
	LIST_ITEMS = 432,
};

struct stored {
	struct inspected *p;
	uint64_t runtime;
};

static struct stored open_stored(void)
{
	struct hi_image *image = NULL;
	struct hi_error err = {};
	struct stored s = {};

	HI_ASSERT_OK(hi_core_open(stored_file("python3.13-debian13.core"),
				  &(struct hi_core_options){}, &image, &err),
		     &err);
	hi_test_defer(hi_image_destroy, image);
	s.p = inspected_image(image, NULL);
	HI_ASSERT_OK(hi_modules_symbol(s.p->modules, NULL, "_PyRuntime", &s.runtime, NULL,
				       &err),
		     &err);
	return s;
}

/* Our private copy of the core. */
static uint64_t *said_words(const struct stored *s)
{
	size_t avail = 0;
	const void *host = hi_memory_view(s->p->image->memory, s->runtime, &avail);
	uintptr_t page = (uintptr_t)host & ~(uintptr_t)4095;

	HI_ASSERT(host && avail >= HI_PY_OFFSETS_WORDS * sizeof(uint64_t));
	HI_ASSERT(mprotect((void *)page, 3 * 4096ul, PROT_READ | PROT_WRITE) == 0);
	return (uint64_t *)(uintptr_t)host;
}

/* ---- words ---- */

HI_TEST_SCENARIO(cpython_offsets, members_without_an_offset_follow_the_one_before)
{
	struct stored s = open_stored();
	const struct hi_py_layout *table = &hi_py_layout_3_13;
	uint64_t *words = said_words(&s);
	struct hi_py_layout as_it_is, l;

	HI_ASSERT(hi_py_apply_offsets(words, table, &as_it_is));
	HI_ASSERT_EQ(table->interp_sysdict, as_it_is.interp_sysdict);
	HI_ASSERT_EQ(table->interp_obmalloc, as_it_is.interp_obmalloc);
	/* By the debug information of this build. */
	HI_ASSERT_EQ(283376, as_it_is.runtime_size);
	HI_ASSERT_EQ(194976, as_it_is.interp_size);
	HI_ASSERT_EQ(88400, as_it_is.runtime_words_end);
	words[RUNTIME_FINALIZING / 8] += 16;
	words[RUNTIME_HEAD / 8] += 32;
	words[INTERP_MODULES / 8] += 48;
	words[CODE_FIRSTLINENO / 8] += 8;
	HI_ASSERT(hi_py_apply_offsets(words, table, &l));
	HI_ASSERT_EQ(table->runtime_finalizing + 16, l.runtime_finalizing);
	HI_ASSERT_EQ(table->runtime_initialized + 16, l.runtime_initialized);
	HI_ASSERT_EQ(table->runtime_interpreters_main + 32, l.runtime_interpreters_main);
	HI_ASSERT_EQ(table->runtime_tss + 32, l.runtime_tss);
	HI_ASSERT_EQ(table->interp_sysdict, l.interp_sysdict);
	HI_ASSERT_EQ(table->interp_obmalloc + 48, l.interp_obmalloc);
	HI_ASSERT_EQ(table->type_cache + 48, l.type_cache);
	HI_ASSERT_EQ(table->code_firstlineno + 8, l.code_firstlineno);
	HI_ASSERT_EQ(table->code_stacksize + 8, l.code_stacksize);
	HI_ASSERT_EQ(table->code_filename, l.code_filename);
}

static uint32_t offset_of(const struct hi_py_field *fields, const char *name)
{
	while (fields->kind != HI_PY_FIELD_END && strcmp(fields->name, name) != 0)
		fields++;
	HI_ASSERT_MSG(fields->kind != HI_PY_FIELD_END, "no field %s", name);
	return fields->offset;
}

/* What is behind all that is said may be in front of what has grown, or behind it. */
HI_TEST_SCENARIO(cpython_offsets, end_of_a_thread_state_may_have_moved)
{
	struct stored s = open_stored();
	const struct hi_py_layout *table = &hi_py_layout_3_13, *before, *behind;
	struct hi_py py = {.runtime = s.runtime, .reader.memory = s.p->image->memory};
	uint64_t *words = said_words(&s);
	uint32_t hooks = offset_of(table->interp_fields, "audit_hooks");

	/* 8 bytes more, at the end of all. */
	before = hi_py_layout_of_offsets(&py, table, false);
	behind = hi_py_layout_of_offsets(&py, table, true);
	HI_ASSERT(before && behind);
	HI_ASSERT_EQ(hooks, offset_of(before->interp_fields, "audit_hooks"));
	HI_ASSERT_EQ(hooks + 8, offset_of(behind->interp_fields, "audit_hooks"));
	HI_ASSERT_EQ(table->free_lists[1].lists + 8, behind->free_lists[1].lists);
	HI_ASSERT_EQ(table->interp_skip[2].from + 8, behind->interp_skip[2].from);
	HI_ASSERT_EQ(table->interp_skip[2].to + 8, behind->interp_skip[2].to);
	HI_ASSERT_EQ(offset_of(table->interp_fields, "gc.garbage"),
		     offset_of(behind->interp_fields, "gc.garbage"));
	/* The collector has 8 bytes more: there is one way to move the rest. */
	words[INTERP_SYSDICT / 8] += 8;
	words[INTERP_SYSDICT / 8 - 1] += 8; /* modules */
	before = hi_py_layout_of_offsets(&py, table, false);
	HI_ASSERT(before && !hi_py_layout_of_offsets(&py, table, true));
	HI_ASSERT_EQ(hooks + 8, offset_of(before->interp_fields, "audit_hooks"));
	HI_ASSERT_EQ(table->arrays[0].first + 8, before->arrays[0].first);
	hi_arena_free(&py.arena);
}

static void expect_nothing(const uint64_t *words, unsigned at, uint64_t value)
{
	uint64_t copy[HI_PY_OFFSETS_WORDS];
	struct hi_py_layout l;

	memcpy(copy, words, sizeof(copy));
	copy[at / 8] = value;
	HI_ASSERT_MSG(!hi_py_apply_offsets(copy, &hi_py_layout_3_13, &l), "word %u", at);
}

HI_TEST_SCENARIO(cpython_offsets, offsets_that_are_not_understood_are_not_used)
{
	struct stored s = open_stored();
	const uint64_t *words = said_words(&s);
	struct hi_py_layout l;

	expect_nothing(words, 0, 0);			 /* xdebugpy */
	expect_nothing(words, VERSION, 0x030e0af0);	 /* 3.14 */
	expect_nothing(words, RUNTIME_HEAD, UINT64_MAX); /* outside of all */
	expect_nothing(words, LIST_ITEMS, 32);		 /* another structure */
	expect_nothing(words, 24, 100);			 /* a runtime smaller than */
	expect_nothing(words, 48, 500000);		 /* its interpreter */
	HI_ASSERT(!hi_py_apply_offsets(words, &hi_py_layout_3_12, &l));
}

/* For stacks of recordings; code that is larger than they copy is not believed. */
HI_TEST_SCENARIO(cpython_offsets, walks_over_frames_use_the_offsets_of_the_target)
{
	struct stored s = open_stored();
	struct hi_python_walk before, after;
	uint64_t *words = said_words(&s);

	HI_ASSERT(hi_python_find(s.p->modules, &before));
	HI_ASSERT_EQ(13, before.minor);
	words[FRAME_PREVIOUS / 8] += 8;
	HI_ASSERT(hi_python_find(s.p->modules, &after));
	HI_ASSERT_EQ(before.frame_previous + 8, after.frame_previous);
	words[CODE_INSTRUCTIONS / 8] = 50000;
	HI_ASSERT(hi_python_find(s.p->modules, &after));
	HI_ASSERT_EQ(before.code_instructions, after.code_instructions);
	HI_ASSERT_EQ(before.frame_previous, after.frame_previous);
}

/* ---- the whole ---- */

static enum hi_status probe(const struct stored *s, struct hi_error *err,
			    uint64_t *tracked_ret)
{
	struct hi_runtime *runtime = NULL;
	enum hi_status status =
		hi_runtime_probe(s->p->image, s->p->modules, NULL, &runtime, NULL, err);

	*tracked_ret = status == HI_OK ? runtime->tracked : 0;
	hi_runtime_release(runtime);
	return status;
}

HI_TEST_SCENARIO(cpython_offsets, a_free_threaded_build_is_refused_in_one_line)
{
	struct stored s = open_stored();
	struct hi_error err = {};
	uint64_t tracked;

	said_words(&s)[FREE_THREADED / 8] = 1;
	HI_ASSERT_STATUS(HI_UNSUPPORTED, probe(&s, &err, &tracked));
	HI_ASSERT_STREQ(
		"CPython 3.13.5 is free-threaded: its objects have another layout "
		"and are not decoded",
		err.text);
}

/* All objects, by another layout that the image proves; or a word of what is wrong. */
HI_TEST_SCENARIO(cpython_offsets, wrong_offsets_are_corrected_or_refused)
{
	struct stored s = open_stored();
	uint64_t *words = said_words(&s), sound, tracked;
	unsigned decoded = 0, refused = 0;
	struct hi_error err = {};

	HI_ASSERT_OK(probe(&s, &err, &sound), &err);
	HI_ASSERT(sound > TRACKED);
	for (size_t i = 3; i < WORDS_3_13; i++) {
		uint64_t kept = words[i];
		const uint64_t wrong[] = {0, kept + 8, kept ^ 1 << 15, UINT64_MAX};

		for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
			words[i] = wrong[k];
			if (probe(&s, &err, &tracked) == HI_OK) {
				HI_ASSERT_EQ(sound, tracked);
				decoded++;
			} else {
				HI_ASSERT(err.text[0]);
				refused++;
			}
		}
		words[i] = kept;
	}
	hi_test_note("%u decoded, %u refused", decoded, refused);
	HI_ASSERT(decoded > refused);
}
