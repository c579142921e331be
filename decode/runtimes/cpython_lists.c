/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of the collector: rings through the heads of all tracked objects.
 *
 * Note [Odd objects]
 *
 * A program may have an object that is none by our rules: of a class that is not
 * understood, or with a word that somebody has overwritten. That costs this object and
 * what only it leads to, never the heap. It is counted and named, and its words are read
 * as those of a block of C. A link that leads astray tears one list: from both ends all
 * other objects of it are found. A wrong layout shows otherwise: a list leads to nothing
 * from either end, nothing in the lists is an object, or what is odd has many classes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum { MIN_OBJECT = 32, MAX_ODD_CLASSES = 16, MAX_NAME = 64 };

struct walk {
	struct hi_runtime_cursor *c;
	struct hi_py_interpreter *in;
	uint64_t left; /* each object is in one list */
	uint64_t no_flags;
	uint64_t tracked, odd, first_odd;
	uint64_t classes[MAX_ODD_CLASSES]; /* words that should be classes of odd ones */
	size_t n_classes;
};

static void describe_odd(struct walk *w, uint64_t addr, char *out, size_t size)
{
	const struct hi_py_layout *l = w->c->py->layout;
	uint64_t class = hi_py_word(&w->c->reader, addr + HI_PY_TYPE);
	uint64_t count = hi_py_refcnt(l, hi_py_word(&w->c->reader, addr));
	char name[MAX_NAME];

	if (hi_py_type_at(w->c, class) && count >= HI_PY_MAX_REFCNT)
		snprintf(out, size, "0x%" PRIx64 " counts 0x%" PRIx64 " references", addr,
			 count);
	else if (hi_py_type_at(w->c, class))
		snprintf(out, size,
			 "0x%" PRIx64 " is tracked, but not of a class that is", addr);
	else if (class && hi_py_type_name(w->c, class, name, sizeof(name)) && *name)
		snprintf(out, size,
			 "the class of 0x%" PRIx64 ", \"%s\" at 0x%" PRIx64
			 ", is not understood",
			 addr, name, class);
	else
		snprintf(out, size, "the class of 0x%" PRIx64 " at 0x%" PRIx64 " is none",
			 addr, class);
}

static void count_class(struct walk *w, uint64_t class)
{
	for (size_t i = 0; i < w->n_classes; i++)
		if (w->classes[i] == class)
			return;
	if (w->n_classes < MAX_ODD_CLASSES)
		w->classes[w->n_classes++] = class;
}

static void count_member(struct walk *w, uint64_t at)
{
	struct hi_runtime *runtime = &w->c->py->base;
	uint64_t addr = at + HI_PY_GC_HEAD;
	struct hi_py_object o;

	if (hi_py_object_at(w->c, addr, &o) && (o.type->flags & HI_PY_HAVE_GC)) {
		w->tracked++;
		w->in->tracked++;
		return;
	}
	if (!w->odd++) {
		w->first_odd = addr;
		describe_odd(w, addr, runtime->odd, sizeof(runtime->odd));
	}
	count_class(w, hi_py_word(&w->c->reader, addr + HI_PY_TYPE));
}

static void note_torn(struct walk *w, uint64_t at)
{
	struct hi_runtime *runtime = &w->c->py->base;

	if (w->odd++)
		return;
	w->first_odd = at;
	snprintf(runtime->odd, sizeof(runtime->odd), "a list is torn at 0x%" PRIx64, at);
}

/* From the head on, while each link goes back. False: it does not come back to the head;
 * *last_ret is the last one that was reached, or the head. A collector that runs has
 * counts in the place of links back. */
static bool walk_forward(struct walk *w, uint64_t head, uint64_t *last_ret)
{
	uint64_t at = hi_py_word(&w->c->reader, head) & w->no_flags;
	struct hi_py_chain chain = {};
	uint64_t links[2];

	for (*last_ret = head; at != head; w->left--) {
		if (!w->left || hi_py_is_cycle(&chain, at) ||
		    !hi_py_read(&w->c->reader, at, links, sizeof(links)) ||
		    (!w->in->collecting &&
		     (links[1] & ~(uint64_t)HI_PY_GC_PREV_FLAGS) != *last_ret))
			return false;
		count_member(w, at);
		*last_ret = at;
		at = links[0] & w->no_flags;
	}
	return true;
}

/* From the head back to where the other walk ended. */
static void walk_backward(struct walk *w, uint64_t head, uint64_t last)
{
	uint64_t at = 0, after = head, links[2];

	if (!hi_py_u64(&w->c->reader, head + HI_PY_PTR, &at))
		return;
	at &= ~(uint64_t)HI_PY_GC_PREV_FLAGS;
	for (; at != head && at != last && w->left; w->left--) {
		if (!hi_py_read(&w->c->reader, at, links, sizeof(links)) ||
		    (links[0] & w->no_flags) != after)
			return;
		count_member(w, at);
		after = at;
		at = links[1] & ~(uint64_t)HI_PY_GC_PREV_FLAGS;
	}
}

static enum hi_status walk_ring(struct walk *w, uint64_t head, struct hi_error *err)
{
	uint64_t before = w->tracked + w->odd, last;

	if (walk_forward(w, head, &last))
		return HI_OK;
	if (!w->in->collecting)
		walk_backward(w, head, last);
	if (w->tracked + w->odd == before)
		return hi_fail(err, HI_BAD_DATA, head,
			       "CPython: a list of the collector does not close");
	note_torn(w, last);
	return HI_OK;
}

static enum hi_status walk_rings_of(struct walk *w, struct hi_py_interpreter *in,
				    struct hi_error *err)
{
	const struct hi_py_layout *l = w->c->py->layout;
	enum hi_status status = HI_OK;

	w->in = in;
	in->tracked = 0;
	if (!in->gc)
		return HI_OK;
	for (uint32_t g = 0; g < l->gc_n_generations && status == HI_OK; g++)
		status = walk_ring(w,
				   in->gc + l->gc_generations +
					   (uint64_t)g * l->gc_generation_size,
				   err);
	return status == HI_OK ? walk_ring(w, in->gc + l->gc_permanent, err) : status;
}

/* See Note [Odd objects]. */
static bool is_another_layout(const struct walk *w)
{
	return w->tracked ? w->n_classes == MAX_ODD_CLASSES : w->odd != 0;
}

/* The collector of the main interpreter, or the one that all share. */
static void read_collector(struct hi_py *py, const struct hi_py_interpreter *in)
{
	const struct hi_py_layout *l = py->layout;
	struct hi_runtime_collector *c = &py->base.collector;

	if (!in->gc || (in->id != 0 && c->n_generations))
		return;
	c->n_generations = l->gc_n_generations < HI_RUNTIME_GENERATIONS
				   ? l->gc_n_generations
				   : HI_RUNTIME_GENERATIONS;
	c->is_on = hi_py_u32(&py->reader, in->gc + l->gc_enabled) != 0;
	for (uint32_t i = 0; i < c->n_generations; i++) {
		uint64_t at =
			in->gc + l->gc_generations + (uint64_t)i * l->gc_generation_size;
		int32_t count = (int32_t)hi_py_u32(&py->reader, at + l->gc_count);

		c->threshold[i] = hi_py_u32(&py->reader, at + l->gc_threshold);
		c->count[i] = count < 0 ? 0 : (uint64_t)count;
	}
	/* 0 turns it off as well. */
	c->is_on = c->is_on && c->threshold[0];
}

enum hi_status hi_py_check_collector(struct hi_py *py, struct hi_runtime_cursor *c,
				     struct hi_error *err)
{
	struct walk w = {.c = c,
			 .left = py->held / MIN_OBJECT + 1,
			 .no_flags = ~py->layout->gc_next_flags};

	enum hi_status status;

	py->base.collecting = 0;
	for (size_t i = 0; i < py->interpreters.count; i++) {
		struct hi_py_interpreter *in = &py->interpreters.items[i];

		status = walk_rings_of(&w, in, err);
		if (status != HI_OK)
			return status;
		read_collector(py, in);
		py->base.collecting += in->collecting;
		if (in->collecting)
			snprintf(py->base.note, sizeof(py->base.note),
				 "the collector was running: objects may be in none of "
				 "its lists");
	}
	py->base.tracked = w.tracked;
	py->base.n_odd = w.odd;
	if (is_another_layout(&w))
		return hi_fail(err, HI_BAD_DATA, w.first_odd,
			       "CPython: the lists of the collector lead to things that "
			       "are no objects: %s",
			       py->base.odd);
	return HI_OK;
}
