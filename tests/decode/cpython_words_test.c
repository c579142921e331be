/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of 3.14 that are more than an address or a count: of frames, of objects, of what
 * free lists keep. */
#include <string.h>

#include "decode/runtimes/cpython_rows.h"
#include "harness.h"
#include "support/mock_python.h"

enum {
	SLOTS = 4, /* of a frame of the mock: two locals, two of its stack */
	COUNTED = 3,
	FREE_LISTS = 11120, /* struct _Py_freelists, in the interpreter's state */
	FREE_LISTS_END = 11744,
	FREE_LIST_OF_LISTS = 11472,
	ATTACHED = 1, /* state of a thread */
	BORROWED = 1,
	INT_TAG = 3,
	NULL_SLOT = 1,
};

static struct mock_python *create(void)
{
	struct mock_python *m = mock_python_create(&hi_py_layout_3_14);

	hi_test_defer(mock_python_destroy, m);
	return m;
}

/* References to one object, by how sure they are. */
struct tally {
	uint64_t to;
	unsigned grades[HI_GRADE_WEAK + 1], owned, others;
};

static bool count_edge(void *arg, const struct hi_runtime_edge *edge)
{
	struct tally *t = arg;

	t->others += edge->to != t->to;
	if (edge->to != t->to)
		return true;
	t->grades[edge->grade]++;
	t->owned += edge->owned;
	return true;
}

static bool count_root(void *arg, const struct hi_runtime_root *root)
{
	for (size_t i = 0; i < root->n_edges; i++)
		count_edge(arg, &root->edges[i]);
	return true;
}

static uint64_t slot(const struct mock_python *m, uint64_t i)
{
	return m->frame + m->layout->frame_localsplus + i * HI_PY_PTR;
}

/* Of the frames of the thread. */
static struct tally read_frames(struct mock_python *m, uint64_t to)
{
	struct tally t = {.to = to};
	struct hi_runtime_cursor *c;

	mock_python_read(m);
	c = hi_runtime_cursor(&m->py->base);
	HI_ASSERT(c);
	HI_ASSERT_OK(hi_py_frame_roots(m->py, c, count_root, &t, NULL),
		     &(struct hi_error){});
	hi_runtime_cursor_free(&m->py->base, c);
	return t;
}

HI_TEST(cpython_words, a_frame_does_not_count_what_it_borrows)
{
	struct mock_python *m = create();
	struct tally t, before = read_frames(m, m->lists);

	mock_python_set(m, slot(m, 0), m->lists);
	mock_python_set(m, slot(m, 1), m->lists | BORROWED);
	mock_python_set(m, slot(m, 2), 7 << 2 | INT_TAG);
	mock_python_set(m, slot(m, 3), NULL_SLOT);
	mock_python_set(m, m->frame + m->layout->frame_stacktop, slot(m, SLOTS));
	t = read_frames(m, m->lists);
	HI_ASSERT_EQ(1, t.grades[HI_GRADE_EXACT]);
	HI_ASSERT_EQ(1, t.owned);
	HI_ASSERT_EQ(1, t.grades[HI_GRADE_WEAK]);
	/* The slots that were counted before are others no more. */
	HI_ASSERT_EQ(before.others - COUNTED, t.others);
	/* An immortal object is one that nobody counts. */
	mock_python_set(m, m->lists, UINT64_C(3) << 30 | UINT64_C(1) << 48);
	t = read_frames(m, m->lists);
	HI_ASSERT_EQ(2, t.grades[HI_GRADE_EXACT]);
}

HI_TEST(cpython_words, code_and_function_of_a_frame_may_be_borrowed)
{
	struct mock_python *m = create();
	uint64_t code = mock_python_get(m, m->frame + m->layout->frame_code);
	struct tally t = read_frames(m, code);

	HI_ASSERT_EQ(2, t.grades[HI_GRADE_EXACT]); /* of two frames */
	mock_python_set(m, m->frame + m->layout->frame_code, code | BORROWED);
	t = read_frames(m, code);
	HI_ASSERT_EQ(1, t.grades[HI_GRADE_EXACT]);
	HI_ASSERT_EQ(1, t.grades[HI_GRADE_WEAK]);
}

/* Where a thread may be in the loop, the top of the innermost stack is in a register. */
HI_TEST(cpython_words, a_stack_that_may_be_in_use_is_read_by_chance)
{
	struct mock_python *m = create();
	struct tally t;

	for (uint64_t i = 0; i < SLOTS; i++)
		mock_python_set(m, slot(m, i), m->lists);
	t = read_frames(m, m->lists);
	HI_ASSERT_EQ(COUNTED, t.grades[HI_GRADE_EXACT]);
	HI_ASSERT_EQ(0, t.grades[HI_GRADE_CONSERVATIVE]);
	mock_python_set(m, (m->thread + m->layout->thread_state) & ~UINT64_C(7),
			(uint64_t)ATTACHED << 32);
	t = read_frames(m, m->lists);
	HI_ASSERT_EQ(2, t.grades[HI_GRADE_EXACT]);
	HI_ASSERT_EQ(2, t.grades[HI_GRADE_CONSERVATIVE]);
}

static const char *type_at(struct mock_python *m, uint64_t addr)
{
	return m->py->types.items[mock_python_block_at(m, addr)->type].name;
}

HI_TEST(cpython_words, flags_of_an_object_are_no_references)
{
	struct mock_python *m = create();
	const struct mock_python_block *b = mock_python_block_at(m, m->lists);
	struct hi_runtime_cursor *c;
	uint64_t counted = 0;

	mock_python_set(m, m->lists, 5 | UINT64_C(4) << 48);
	mock_python_read(m);
	HI_ASSERT_STREQ("list", type_at(m, m->lists));
	c = hi_runtime_cursor(&m->py->base);
	HI_ASSERT(c);
	HI_ASSERT(hi_py_counted(c, b->addr, b->size, b->type, &counted));
	HI_ASSERT_EQ(5, counted);
	hi_runtime_cursor_free(&m->py->base, c);
}

/* The first list and the next one are free, through the word of their counts. */
HI_TEST(cpython_words, a_free_list_goes_through_the_words_of_counts)
{
	struct mock_python *m = create();
	uint64_t second = (mock_python_block_at(m, m->lists) + 1)->addr + HI_PY_GC_HEAD;
	uint64_t third = (mock_python_block_at(m, second) + 1)->addr + HI_PY_GC_HEAD;
	uint64_t state = m->segments[2].start + 4096 - FREE_LISTS;
	const struct mock_python_block *b;
	struct tally t = {.to = second};
	struct hi_runtime_cursor *c;

	m->interpreter = state;
	for (uint32_t at = FREE_LISTS; at < FREE_LISTS_END; at += HI_PY_PTR)
		mock_python_set(m, state + at, 0);
	mock_python_set(m, state + FREE_LIST_OF_LISTS, m->lists);
	mock_python_set(m, m->lists, second);
	mock_python_set(m, second, 0);
	mock_python_read(m);
	HI_ASSERT_STREQ("list (free list)", type_at(m, m->lists));
	HI_ASSERT_STREQ("list (free list)", type_at(m, second));
	HI_ASSERT_STREQ("list", type_at(m, third));
	b = mock_python_block_at(m, m->lists);
	c = hi_runtime_cursor(&m->py->base);
	HI_ASSERT(c);
	hi_py_edges(c, b->addr, b->size, b->type, count_edge, &t);
	hi_runtime_cursor_free(&m->py->base, c);
	HI_ASSERT_EQ(1, t.grades[HI_GRADE_EXACT]);
	HI_ASSERT_EQ(0, t.others);
}

/* The marks of PYTHONMALLOC=debug, 16 bytes before and 8 after 8 bytes, in a block that
 * has room for more. */
HI_TEST(cpython_words, marks_after_a_short_block_are_not_those_before_another)
{
	struct mock_python *m = create();
	uint64_t block = m->blocks[0].addr, size = 56;
	struct hi_runtime_cursor c;

	mock_python_read(m);
	mock_python_set(m, block, UINT64_C(8) << 56);
	mock_python_set(m, block + 8, UINT64_C(0xfdfdfdfdfdfdfd6f));
	mock_python_set(m, block + 16, m->victim);
	mock_python_set(m, block + 24, UINT64_C(0xfdfdfdfdfdfdfdfd));
	m->py->has_marks = true;
	hi_py_cursor_init(&c, m->py);
	hi_py_skip_marks(&c, &block, &size);
	HI_ASSERT_EQ(m->blocks[0].addr + 16, block);
	HI_ASSERT_EQ(56 - 24, size);
}
