/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Frames of Python, for the walk over a stack: where that comes to the interpreter's
 * loop, the frames that this call of the loop runs take its place (cpython_walk.h).
 *
 * Note [Which frames are of a call]
 *
 * The frames of a thread are one list, the innermost first. Up to 3.10 the loop has a
 * call for each. From 3.11 on a call goes on as long as Python calls Python: up to the
 * frame that it was entered with (is_entry, 3.11), or up to one that stands for the C
 * code that called it (3.12). So the list is followed along with the stack.
 *
 * A frame that cannot be read, or is invalid, ends this: then the loop's own frames stay
 * in the stack, also those further out.
 */
#ifndef HI_PROBES_BPF_PYTHON_WALK_H
#define HI_PROBES_BPF_PYTHON_WALK_H

#include "decode/runtimes/cpython_walk.h"

enum python_state {
	PYTHON_NOT_LOOKED_FOR,
	PYTHON_BETWEEN, /* two calls of the loop */
	PYTHON_INSIDE,
	PYTHON_ENDS, /* the call's last frame was shown */
	PYTHON_FAILED,
};

/* Results of next_python_frame() other than a frame. */
enum { PYTHON_NO_MORE, PYTHON_NONE, PYTHON_SKIPPED };

/* State of one walk over a stack. */
struct python_walk {
	__u64 frame; /* the next one to be shown */
	__u64 state; /* enum python_state */
	__u64 check; /* of the code of the last one */
};

/* Offsets are the loader's: each is masked for the verifier. */
struct python_scratch {
	struct python_walk walk;
	__u8 frame[HI_PYTHON_FRAME_MAX + 8];
	__u8 code[256 + 8];
	struct hi_python_lines lines;
};

static __always_inline __u64 user_word(__u64 addr)
{
	__u64 word = 0;

	return addr && !bpf_probe_read_user(&word, 8, (const void *)addr) ? word : 0;
}

static __always_inline __u64 frame_word(const struct python_scratch *s, __u32 offset)
{
	return *(const __u64 *)(s->frame + (offset & (HI_PYTHON_FRAME_MAX - 1)));
}

static __always_inline __u64 code_word(const struct python_scratch *s, __u32 offset)
{
	return *(const __u64 *)(s->code + (offset & 255));
}

static __always_inline int is_python_loop(const struct hi_bpf_events_shared *shared,
					  __u64 pc)
{
	const struct hi_python_range *evals = shared->python.evals;

	if (!shared->fs_base)
		return 0;
	for (int i = 0; i < HI_PYTHON_EVALS; i++)
		if (pc - evals[i].start < evals[i].end - evals[i].start)
			return 1;
	return 0;
}

/* The state of this thread; 0: not known. */
static __always_inline __u64 find_python_thread(const struct hi_bpf_events_shared *shared)
{
	const struct hi_python_walk *py = &shared->python;
	__u64 task = bpf_get_current_task(), base = 0, at, thread;

	if (bpf_probe_read_kernel(&base, 8, (const void *)(task + shared->fs_base)) ||
	    !base)
		return 0;
	if (py->current) {
		thread = user_word(py->current);
		if (thread && user_word(thread + py->thread_pthread) == base)
			return thread;
		at = user_word(py->interpreters);
		if (!at || user_word(at + py->interp_next))
			return 0;
	}
	if (!py->tss)
		return 0;
	at = py->tss_block ? user_word(base + py->tss_block) : base;
	thread = at ? user_word(at + py->tss) : 0;
	return thread && user_word(thread + py->thread_pthread) == base ? thread : 0;
}

static __always_inline __u64 find_python_frame(const struct hi_bpf_events_shared *shared)
{
	__u64 thread = find_python_thread(shared), at;

	if (!thread)
		return 0;
	at = user_word(thread + shared->python.thread_frame);
	return shared->python.has_cframe && at
		       ? user_word(at + shared->python.cframe_current)
		       : at;
}

static __always_inline __u64 instruction_of(const struct hi_python_walk *py,
					    const struct python_scratch *s, __u64 code)
{
	__u64 instr = frame_word(s, py->frame_instr), at;

	if (py->instr_unit) {
		at = (__u64)(__s64)(__s32)(__u32)instr;
		if (py->instr_unit == 1)
			at >>= 1;
	} else {
		at = (instr - code - py->code_instructions) >> 1;
	}
	/* Not begun: just before the first. */
	return (__s64)(at << 1) < 0 ? 0 : at;
}

/* Is the frame still being made, or one of the interpreter's own? */
static __always_inline int is_incomplete(const struct hi_python_walk *py,
					 const struct python_scratch *s, __u64 at)
{
	return py->code_first_traceable &&
	       at < (__u32)code_word(s, py->code_first_traceable) &&
	       (frame_word(s, py->frame_owner) & 0xff) != HI_PYTHON_OWNED_BY_GENERATOR;
}

/* The frame's word, or PYTHON_SKIPPED; 0: it is none. */
static __always_inline __u64 encode_python_frame(const struct hi_python_walk *py,
						 struct python_scratch *s,
						 __u64 *check_ret)
{
	/* From 3.14 on the word has a tag. */
	__u64 code = frame_word(s, py->frame_code) & ~7ull, at;
	__u32 size = py->code_size;

	if (size > HI_PYTHON_CODE_MAX ||
	    bpf_probe_read_user(s->code, size, (const void *)code) ||
	    code_word(s, 8) != py->code_type)
		return 0;
	at = instruction_of(py, s, code);
	if (is_incomplete(py, s, at))
		return PYTHON_SKIPPED;
	/* All 0 where it cannot be read. */
	bpf_probe_read_user(
		&s->lines, sizeof(s->lines),
		(const void *)(code_word(s, py->code_lines) + HI_PYTHON_LINES_AT));
	*check_ret = hi_python_check((__u32)code_word(s, py->code_first_line),
				     code_word(s, py->code_filename),
				     code_word(s, py->code_qualname), &s->lines);
	return hi_python_frame(code, at);
}

static __always_inline __u64 fail_python(struct python_walk *walk)
{
	walk->state = PYTHON_FAILED;
	return PYTHON_NONE;
}

/*
 * The walk is at a frame of the loop: the next frame of Python that it runs, or
 * PYTHON_NO_MORE: all of them were shown; PYTHON_SKIPPED: one that is not to be shown;
 * PYTHON_NONE: the loop's own frame is to be shown.
 */
static __always_inline __u64 take_python_frame(const struct hi_bpf_events_shared *shared,
					       struct python_scratch *s)
{
	const struct hi_python_walk *py = &shared->python;
	struct python_walk *walk = &s->walk;
	__u32 size = py->frame_size;
	__u64 frame;

	if (walk->state == PYTHON_FAILED)
		return PYTHON_NONE;
	if (walk->state == PYTHON_ENDS) {
		walk->state = PYTHON_BETWEEN;
		return PYTHON_NO_MORE;
	}
	if (walk->state == PYTHON_NOT_LOOKED_FOR)
		walk->frame = find_python_frame(shared);
	if (!walk->frame || size > HI_PYTHON_FRAME_MAX ||
	    bpf_probe_read_user(s->frame, size, (const void *)walk->frame))
		return fail_python(walk);
	walk->state = PYTHON_INSIDE;
	walk->frame = frame_word(s, py->frame_previous);
	if (py->frame_owner && !py->frame_is_entry &&
	    (frame_word(s, py->frame_owner) & 0xff) >= HI_PYTHON_OWNED_BY_C) {
		walk->state = PYTHON_BETWEEN;
		return PYTHON_NO_MORE;
	}
	frame = encode_python_frame(py, s, &walk->check);
	if (!frame)
		return fail_python(walk);
	if (py->instr_unit ||
	    (py->frame_is_entry && frame_word(s, py->frame_is_entry) & 0xff))
		walk->state = PYTHON_ENDS;
	return frame;
}

#endif
