/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roots of threads: local variables, the rest of the used stack, registers,
 * thread-local variables, and the rest of the thread-local blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/roots/roots.h"

enum { RED_ZONE = 128, MAX_LOCAL = 64 << 20 };

struct tls_variable {
	struct hi_variable variable;
	uint64_t offset; /* in the module's block */
};

/* Thread-local variables of a module, cached. */
struct tls_module {
	struct HI_VECTOR(struct tls_variable) variables;
	bool asked;
};

/* The part of a stack that a function has. */
struct frame_range {
	uint64_t start, end;
	const char *name; /* "main() stack"; in the typing's arena */
	const char *module;
	enum hi_root_rank rank;
};

/* A module's thread-local block. */
struct tls_range {
	uint64_t start, end;
	const struct hi_module *module;
};

struct thread_scan {
	struct hi_roots *roots;
	uint32_t index;
	const struct hi_thread *thread;
	uint64_t low, high;	    /* used part of its stack */
	uint64_t alt_low, alt_high; /* of another stack that it is on; 0,0: none */
	uint64_t tls_low, tls_high; /* thread-local blocks at the stack's end */
	uint64_t registers;	    /* bits of those that locals cover */
	struct hi_ranges covered;   /* by locals and thread-local variables */
	struct HI_VECTOR(struct tls_range) tls;
	struct HI_VECTOR(struct frame_range) frames; /* the innermost first */
	bool truncated;				     /* frames of callers are missing */
	struct tls_module *tls_modules;
	struct HI_VECTOR(struct hi_section_range) rest;
};

static void cover_frame_bytes(struct thread_scan *t, uint64_t start, uint64_t end)
{
	if (start < end &&
	    !hi_vector_push(&t->covered, ((struct hi_section_range){start, end, false})))
		hi_roots_no_memory(t->roots);
}

/* ---- local variables ---- */

/* Words of a variable from its bytes; only words of which all bytes are known. */
struct value_words {
	struct hi_roots *roots;
	const struct hi_local *local;
};

static void add_value_word(void *arg, uint64_t offset, struct hi_pointer_slot *slot)
{
	struct value_words *v = arg;
	uint64_t word;

	if (offset + 8 > sizeof(v->local->value) ||
	    (v->local->value_mask >> offset & 0xff) != 0xff)
		return;
	memcpy(&word, v->local->value + offset, sizeof(word));
	hi_roots_add_word(v->roots, word, slot);
}

static void add_value(struct hi_roots *r, const struct hi_local *local, uint64_t size,
		      uint32_t layout)
{
	struct value_words v = {r, local};
	const struct hi_layout *p = layout >= HI_LAYOUT_FIRST
					    ? hi_layouts_get(r->typing->layouts, layout)
					    : NULL;

	if (p)
		hi_layout_words(p, false, size, add_value_word, &v);
	if (!p || p->n_rule_sites)
		for (uint64_t offset = 0; offset + 8 <= size; offset += 8)
			add_value_word(&v, offset, NULL);
	if (p && p->n_rule_sites)
		hi_roots_add_rule_sites_of_value(r, p, local->value, size);
}

/* "main()", or for code without a symbol "sqlite3+0x1f2a0", which is its file. */
static const char *name_frame(struct hi_roots *r, const struct hi_frame *frame)
{
	const char *name;

	if (frame->function)
		name = hi_arena_printf(&r->typing->arena, "%.150s() stack",
				       frame->function);
	else if (frame->module)
		name = hi_arena_printf(
			&r->typing->arena, "%.100s+0x%llx stack", frame->module->name,
			(unsigned long long)(frame->pc - frame->module->bias));
	else
		name = "stack of unknown code";
	if (!name)
		hi_roots_no_memory(r);
	return name;
}

/* Functions of the C library keep nothing for the program; what is on the stack of code
 * in no file (made at run time) is the program's. */
static void keep_frames(struct thread_scan *t, const struct hi_stack *stack)
{
	struct hi_roots *r = t->roots;

	t->truncated = stack->truncated;
	for (size_t i = 0; i < stack->n_frames && r->status == HI_OK; i++) {
		const struct hi_frame *frame = &stack->frames[i];
		struct frame_range range = {
			.start = i ? frame->sp : frame->sp - RED_ZONE,
			.end = frame->cfa,
			.name = name_frame(r, frame),
			.module = frame->module ? frame->module->name : "",
			.rank = frame->module && hi_module_is_system(frame->module)
					? HI_RANK_NOBODY
					: HI_RANK_FRAME};

		if (range.start < range.end && range.name &&
		    !hi_vector_push(&t->frames, range))
			hi_roots_no_memory(r);
	}
}

static const char *frame_place(const struct hi_stack *stack, const struct hi_local *local)
{
	const struct hi_frame *frame =
		local->frame < stack->n_frames ? &stack->frames[local->frame] : NULL;

	return frame && frame->module ? frame->module->name : "";
}

static uint8_t rank_of_local(const struct hi_stack *stack, const struct hi_local *local)
{
	return local->frame < stack->n_frames
		       ? hi_roots_module_rank(stack->frames[local->frame].module)
		       : HI_RANK_BY_KIND;
}

static void root_of_local(struct thread_scan *t, const struct hi_stack *stack,
			  const struct hi_local *local)
{
	struct hi_roots *r = t->roots;
	uint64_t limit = local->in_memory ? MAX_LOCAL : sizeof(local->value);
	uint64_t size = hi_roots_size(r, local->size, local->type, limit);
	struct hi_root_info info = {.type = local->type,
				    .layout = hi_roots_layout(r, local->type),
				    .address = local->in_memory ? local->address : 0,
				    .size = size};
	char name[300];

	if (local->in_memory && local->address + size >= local->address) {
		hi_roots_add_variable(r, local->address, size, info.layout);
		cover_frame_bytes(t, local->address, local->address + size);
	} else if (!local->in_memory) {
		info.value = hi_arena_alloc(&r->typing->arena, sizeof(local->value));
		if (!info.value) {
			hi_roots_no_memory(r);
			return;
		}
		memcpy((void *)(uintptr_t)info.value, local->value, sizeof(local->value));
		add_value(r, local, size, info.layout);
	}
	snprintf(name, sizeof(name), "thread %d %.120s(): %.120s", (int)t->thread->tid,
		 local->function ? local->function : "?", local->name);
	hi_roots_end(r,
		     &(struct hi_root){.kind = HI_ROOT_STACK,
				       .name = name,
				       .detail = frame_place(stack, local),
				       .type = hi_roots_type_name(r, local->type),
				       .address = info.address,
				       .size = size,
				       .rank = rank_of_local(stack, local)},
		     &info);
}

static void roots_of_locals(struct thread_scan *t)
{
	struct hi_typing *typing = t->roots->typing;
	HI_GUARD(hi_stack_destroy) struct hi_stack *stack = NULL;

	if (typing->conservative || !typing->source.stack ||
	    typing->source.stack(typing->source.types.arg, typing->image, t->index,
				 &stack, NULL) != HI_OK)
		return;
	typing->stats.frames += stack->n_frames;
	typing->stats.truncated_stacks += stack->truncated;
	t->low = stack->low;
	t->high = stack->high;
	t->alt_low = stack->alt_low;
	t->alt_high = stack->alt_high;
	t->tls_low = stack->tls_low;
	t->tls_high = stack->tls_high;
	t->registers = stack->registers_in_locals;
	keep_frames(t, stack);
	for (size_t i = 0; i < stack->n_locals && t->roots->status == HI_OK; i++)
		root_of_local(t, stack, &stack->locals[i]);
}

/* ---- thread-local variables ---- */

static bool keep_tls_variable(const struct hi_variable *var, uint64_t tls_offset,
			      void *arg)
{
	struct tls_module *m = arg;

	return hi_vector_push(&m->variables, ((struct tls_variable){*var, tls_offset}));
}

static void root_of_tls(struct thread_scan *t, const struct tls_variable *v,
			uint64_t start, uint64_t size)
{
	struct hi_roots *r = t->roots;
	const struct hi_variable *var = &v->variable;
	struct hi_root_info info = {.type = var->type,
				    .layout = hi_roots_layout(r, var->type)};
	char name[300];

	if (v->offset >= size)
		return;
	info.address = start + v->offset;
	info.size = hi_roots_size(r, var->size, var->type, size - v->offset);
	hi_roots_add_variable(r, info.address, info.size, info.layout);
	cover_frame_bytes(t, info.address, info.address + info.size);
	snprintf(name, sizeof(name), "thread %d %.200s", (int)t->thread->tid, var->name);
	hi_roots_end(r,
		     &(struct hi_root){.kind = HI_ROOT_TLS,
				       .name = name,
				       .detail = var->file && *var->file ? var->file
						 : var->module ? var->module->name
							       : "",
				       .type = hi_roots_type_name(r, var->type),
				       .address = info.address,
				       .size = info.size,
				       .rank = hi_roots_module_rank(var->module)},
		     &info);
}

/* Is there any word in [start, end) that refers to the heap? At any byte: Note [Packed
 * variables] in roots_data.c. */
static bool any_hit(struct hi_roots *r, uint64_t start, uint64_t end)
{
	struct hi_spans spans = {.image = r->typing->image,
				 .addr = start,
				 .end = end,
				 .scratch = r->scratch};
	const uint8_t *host;
	uint64_t addr, size, word;

	while (hi_spans_next(&spans, &host, &addr, &size))
		for (uint64_t i = 0; i + 8 <= size; i++) {
			memcpy(&word, host + i, sizeof(word));
			if (word - r->low < r->span &&
			    (hi_objects_find(r->typing->objects, word, NULL) !=
				     HI_NODE_NONE ||
			     hi_roots_may_refer(r, word)))
				return true;
		}
	return false;
}

static void roots_of_tls_block(struct thread_scan *t, struct hi_module *module,
			       struct tls_module *m, uint64_t start, uint64_t size)
{
	struct hi_typing *typing = t->roots->typing;

	hi_roots_note(t->roots, start, start + size);
	if (!hi_vector_push(&t->tls, ((struct tls_range){start, start + size, module})))
		hi_roots_no_memory(t->roots);
	if (!typing->source.tls_variables || !any_hit(t->roots, start, start + size))
		return;
	if (!m->asked) {
		enum hi_status status = typing->source.tls_variables(
			typing->source.types.arg, module, keep_tls_variable, m, NULL);

		m->asked = true;
		if (status == HI_NO_MEMORY)
			hi_roots_no_memory(t->roots);
	}
	for (size_t i = 0; i < m->variables.count && t->roots->status == HI_OK; i++)
		root_of_tls(t, &m->variables.items[i], start, size);
}

static void roots_of_tls(struct thread_scan *t)
{
	struct hi_typing *typing = t->roots->typing;
	size_t n = typing->modules ? hi_modules_count(typing->modules) : 0;

	for (size_t i = 0; i < n && t->roots->status == HI_OK; i++) {
		struct hi_module *module = hi_modules_get(typing->modules, i);
		uint64_t start, size;

		if (hi_tls_block(typing->modules, typing->image, module, t->index, &start,
				 &size, NULL) == HI_OK &&
		    size && start + size > start)
			roots_of_tls_block(t, module, &t->tls_modules[i], start, size);
	}
}

/* ---- what no variable covers ---- */

static void add_rest(struct thread_scan *t, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	hi_roots_add_uncovered(t->roots, start, end, t->covered.items, t->covered.count);
	if (!hi_vector_push(&t->rest, ((struct hi_section_range){start, end, false})))
		hi_roots_no_memory(t->roots);
}

/* The words that add_rest() added since the last one are a root. */
static void end_rest(struct thread_scan *t, const char *what, const char *module,
		     enum hi_root_rank rank)
{
	struct hi_section_range *ranges;
	struct hi_root_info info = {};
	char name[300];

	ranges = hi_arena_alloc(&t->roots->typing->arena,
				(t->rest.count + 1) * sizeof(*ranges));
	if (!ranges) {
		hi_roots_no_memory(t->roots);
		return;
	}
	if (t->rest.count)
		memcpy(ranges, t->rest.items, t->rest.count * sizeof(*ranges));
	info.ranges = ranges;
	info.n_ranges = t->rest.count;
	/* Words of one range have offsets, which are the same in every process. */
	if (t->rest.count == 1) {
		info.address = ranges[0].start;
		info.size = ranges[0].end - ranges[0].start;
	}
	snprintf(name, sizeof(name), "thread %d %s", (int)t->thread->tid, what);
	hi_roots_end(
		t->roots,
		&(struct hi_root){.kind = HI_ROOT_UNTYPED,
				  .name = name,
				  .detail = module ? module : t->thread->name,
				  .type = "",
				  .address = t->rest.count ? t->rest.items[0].start : 0,
				  .rank = (uint8_t)rank},
		&info);
	t->rest.count = 0;
}

static void limit_to(uint64_t *start, uint64_t *end, uint64_t low, uint64_t high)
{
	*start = *start < low ? low : *start > high ? high : *start;
	*end = *end < *start ? *start : *end > high ? high : *end;
}

/* The rest of each frame, on either stack. A hostile stack may have frames that
 * overlap: no word counts twice, as each is covered then. */
static void roots_of_frames(struct thread_scan *t)
{
	uint64_t done_low = 0, done_high = 0;

	for (size_t i = 0; i < t->frames.count && t->roots->status == HI_OK; i++) {
		const struct frame_range *f = &t->frames.items[i];
		bool on_own = f->start >= t->low && f->start < t->high;
		uint64_t start = f->start, end = f->end;

		limit_to(&start, &end, on_own ? t->low : t->alt_low,
			 on_own ? t->high : t->alt_high);
		if (start < done_high && end > done_low)
			start = done_high;
		if (start >= end)
			continue;
		add_rest(t, start, end);
		end_rest(t, f->name, f->module, f->rank);
		if (start != done_high)
			done_low = start;
		done_high = end;
		cover_frame_bytes(t, start, end);
	}
	hi_ranges_sort(&t->covered);
}

/* The rest of each module's block. */
static void roots_of_tls_blocks(struct thread_scan *t)
{
	char what[200];

	for (size_t i = 0; i < t->tls.count; i++) {
		const struct tls_range *b = &t->tls.items[i];

		add_rest(t, b->start, b->end);
		snprintf(what, sizeof(what), "thread-local data of %.100s",
			 b->module->name);
		end_rest(t, what, b->module->name,
			 hi_module_is_system(b->module) ? HI_RANK_SYSTEM : HI_RANK_FRAME);
		cover_frame_bytes(t, b->start, b->end);
		hi_roots_take(t->roots, b->start, b->end);
	}
	hi_ranges_sort(&t->covered);
}

static void roots_of_rest(struct thread_scan *t)
{
	bool split = t->tls_low < t->tls_high && t->tls_low >= t->low &&
		     t->tls_high <= t->high;

	hi_ranges_sort(&t->covered);
	roots_of_tls_blocks(t);
	roots_of_frames(t);
	add_rest(t, t->low, split ? t->tls_low : t->high);
	if (split)
		add_rest(t, t->tls_high, t->high);
	add_rest(t, t->alt_low, t->alt_high);
	/* Callers that are not known may be the program's. */
	end_rest(t, "stack (no variable)", NULL,
		 t->truncated || !t->frames.count ? HI_RANK_MEMORY : HI_RANK_NOBODY);
	add_rest(t, t->tls_low, t->tls_high);
	end_rest(t, "thread-local storage (no variable)", NULL, HI_RANK_NOBODY);
}

static void roots_of_registers(struct thread_scan *t)
{
	uint64_t words[sizeof(struct user_regs_struct) / 8];
	size_t n = sizeof(words) / sizeof(words[0]);
	uint8_t *value = hi_arena_alloc(&t->roots->typing->arena, sizeof(words));
	char name[60];

	if (!value) {
		hi_roots_no_memory(t->roots);
		return;
	}
	memcpy(words, &t->thread->regs, sizeof(words));
	memcpy(value, words, sizeof(words));
	for (size_t i = 0; i < n; i++)
		if (!(t->registers >> i & 1))
			hi_roots_add_word(t->roots, words[i], NULL);
	snprintf(name, sizeof(name), "thread %d registers", (int)t->thread->tid);
	hi_roots_end(t->roots,
		     &(struct hi_root){.kind = HI_ROOT_REGISTER,
				       .name = name,
				       .detail = t->thread->name,
				       .type = "",
				       .size = sizeof(words)},
		     &(struct hi_root_info){.value = value, .size = sizeof(words)});
}

/* The used stack without unwinding: up to the end of the mapping that sp is in. */
static void find_stack(struct thread_scan *t)
{
	struct hi_roots *r = t->roots;
	uint64_t sp = t->thread->regs.rsp, offset;
	const struct hi_mapping *m = hi_image_mapping_at(r->typing->image, sp);
	hi_node in = hi_objects_find(r->typing->objects, sp, &offset);

	if (!m)
		return;
	t->low = sp - m->start > RED_ZONE ? sp - RED_ZONE : m->start;
	t->high = m->end;
	if (in == HI_NODE_NONE)
		return;
	/* A coroutine: its stack is a block of the heap, and ends with it. */
	if (t->low < sp - offset)
		t->low = sp - offset;
	t->high = sp - offset + hi_objects_usable(r->typing->objects, in);
}

/* What is below the used part of a stack is dead: no roots in it. */
static void take_stack(struct thread_scan *t, uint64_t low, uint64_t high)
{
	const struct hi_mapping *m;

	if (low >= high)
		return;
	m = hi_image_mapping_at(t->roots->typing->image, low);
	if (m && m->kind != HI_MAPPING_HEAP)
		hi_roots_take(t->roots, m->start, high);
	else
		hi_roots_take(t->roots, low, high);
}

static void roots_of_thread(struct hi_roots *r, uint32_t index,
			    struct tls_module *tls_modules)
{
	struct thread_scan t = {.roots = r,
				.index = index,
				.thread = &r->typing->image->threads[index],
				.tls_modules = tls_modules};

	find_stack(&t);
	roots_of_locals(&t);
	hi_roots_note(r, t.low, t.high);
	hi_roots_note(r, t.alt_low, t.alt_high);
	hi_roots_note(r, t.tls_low, t.tls_high);
	take_stack(&t, t.low, t.high);
	hi_roots_take(r, t.alt_low, t.alt_high);
	hi_roots_take(r, t.tls_low, t.tls_high);
	roots_of_tls(&t);
	roots_of_rest(&t);
	roots_of_registers(&t);
	hi_vector_free(&t.covered);
	hi_vector_free(&t.tls);
	hi_vector_free(&t.rest);
	hi_vector_free(&t.frames);
}

void hi_roots_of_threads(struct hi_roots *r)
{
	struct hi_modules *modules = r->typing->modules;
	size_t n_modules = modules ? hi_modules_count(modules) : 0;
	struct tls_module *tls = hi_calloc(n_modules, sizeof(*tls));

	if (!tls) {
		hi_roots_no_memory(r);
		return;
	}
	for (size_t i = 0; i < r->typing->image->n_threads && r->status == HI_OK; i++)
		roots_of_thread(r, (uint32_t)i, tls);
	for (size_t i = 0; i < n_modules; i++)
		hi_vector_free(&tls[i].variables);
	free(tls);
}
