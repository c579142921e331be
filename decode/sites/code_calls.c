/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Following values]
 *
 * The steps are cut into blocks, where jumps lead to. A block has one state when it is
 * entered: the meet of the states at the ends of the blocks before it. A value in it can
 * only become less known, so that the blocks settle after few rounds; each may be run
 * ROUNDS times at most, and where that does not do, calls are still found, with the
 * values of the last run. A block that nothing leads to is the case of a switch, or the
 * code of a handler: all but the stack is unknown there.
 */
#include "decode/sites/code_calls.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"

enum {
	SLOTS = 48,	    /* of the stack that have a value */
	ROUNDS = 8,	    /* of all blocks */
	BLOCKS_MAX = 20000, /* of a function */
	OTHER_FRAME = 1 << 24,
};
/* Multiples beyond are no sizes of elements. */
#define MUL_MAX (1ull << 40)

struct stack_slot {
	int64_t at;
	struct hi_code_value value;
};

struct code_state {
	struct hi_code_value registers[HI_CODE_REGISTERS];
	struct stack_slot slots[SLOTS];
	uint8_t n_slots;
	bool is_reached;
};

struct code_block {
	uint32_t first, end; /* steps [first, end) */
	struct code_state in;
	bool is_changed;
};

struct call_finder {
	const struct hi_code_steps *steps;
	struct code_block *blocks;
	size_t n_blocks;
	struct code_state now;
	struct code_state beside; /* at the last jump to an unknown place */
	struct hi_code_calls *calls;
	uint32_t *call_of; /* by step: number + 1 */
};

/* ---- values ---- */

static const struct hi_code_value any_value = {.kind = HI_VALUE_ANY, .mul = 1};

static struct hi_code_value constant_value(int64_t number)
{
	return (struct hi_code_value){.kind = HI_VALUE_CONSTANT, .mul = 1, .add = number};
}

static bool is_same_value(const struct hi_code_value *a, const struct hi_code_value *b)
{
	return a->kind == b->kind && a->index == b->index && a->mul == b->mul &&
	       a->add == b->add;
}

static bool is_null_value(const struct hi_code_value *v)
{
	return v->kind == HI_VALUE_CONSTANT && v->add == 0;
}

/* A result or NULL is a result. */
static struct hi_code_value meet_values(struct hi_code_value a, struct hi_code_value b)
{
	if (is_same_value(&a, &b) || (a.kind == HI_VALUE_RESULT && is_null_value(&b)))
		return a;
	if (b.kind == HI_VALUE_RESULT && is_null_value(&a))
		return b;
	return any_value;
}

static struct hi_code_value sum_values(struct hi_code_value a, struct hi_code_value b)
{
	if (a.kind == HI_VALUE_MEMORY || b.kind == HI_VALUE_MEMORY)
		return any_value;
	if (a.kind == HI_VALUE_CONSTANT || b.kind == HI_VALUE_CONSTANT) {
		struct hi_code_value *sum = b.kind == HI_VALUE_CONSTANT ? &a : &b;

		sum->add = (int64_t)((uint64_t)a.add + (uint64_t)b.add);
		return *sum;
	}
	/* lea (%rdi,%rdi,2) */
	if (a.kind == b.kind && a.kind == HI_VALUE_PARAMETER && a.index == b.index) {
		a.mul += b.mul;
		a.add = (int64_t)((uint64_t)a.add + (uint64_t)b.add);
		return a.mul < MUL_MAX ? a : any_value;
	}
	return any_value;
}

struct hi_code_value hi_code_value_scale(struct hi_code_value v, uint64_t mul,
					 int64_t add)
{
	if (v.kind == HI_VALUE_MEMORY && (mul != 1 || add != 0))
		v = any_value;
	if (v.kind == HI_VALUE_MEMORY)
		return v;
	if (v.kind == HI_VALUE_RESULT || v.kind == HI_VALUE_STACK) {
		if (mul != 1)
			v = any_value;
	} else if (mul == 0) {
		v = constant_value(0);
	} else if (mul >= MUL_MAX || v.mul >= MUL_MAX / mul) {
		v = v.kind == HI_VALUE_CONSTANT && mul < MUL_MAX
			    ? constant_value((int64_t)((uint64_t)v.add * mul))
			    : any_value;
	} else {
		v.mul = v.kind == HI_VALUE_CONSTANT ? 1 : v.mul * mul;
		v.add = (int64_t)((uint64_t)v.add * mul);
	}
	v.add = (int64_t)((uint64_t)v.add + (uint64_t)add);
	return v;
}

/* x + 2 * x of an unknown x, by the registers. */
static struct hi_code_value scale_register(struct hi_code_value v, uint64_t mul,
					   int64_t add)
{
	return hi_code_value_scale(v, mul, add);
}

/* ---- states ---- */

static struct hi_code_value *find_slot(struct code_state *s, int64_t at)
{
	for (unsigned i = 0; i < s->n_slots; i++)
		if (s->slots[i].at == at)
			return &s->slots[i].value;
	return NULL;
}

static void set_slot(struct code_state *s, int64_t at, struct hi_code_value value)
{
	struct hi_code_value *slot = find_slot(s, at);

	if (slot)
		*slot = value;
	else if (s->n_slots < SLOTS)
		s->slots[s->n_slots++] = (struct stack_slot){at, value};
}

/* True: `into` has changed. */
static bool meet_states(struct code_state *into, const struct code_state *from)
{
	bool is_changed = false;

	if (!into->is_reached) {
		*into = *from;
		into->is_reached = true;
		return true;
	}
	for (unsigned i = 0; i < HI_CODE_REGISTERS; i++) {
		struct hi_code_value v =
			meet_values(into->registers[i], from->registers[i]);

		is_changed |= !is_same_value(&v, &into->registers[i]);
		into->registers[i] = v;
	}
	for (unsigned i = 0; i < into->n_slots; i++) {
		struct hi_code_value v = any_value, *other = NULL;

		for (unsigned k = 0; k < from->n_slots && !other; k++)
			if (from->slots[k].at == into->slots[i].at)
				v = meet_values(into->slots[i].value,
						from->slots[k].value),
				other = &into->slots[i].value;
		is_changed |= !is_same_value(&v, &into->slots[i].value);
		into->slots[i].value = v;
	}
	return is_changed;
}

static void enter_function(struct code_state *s)
{
	static const uint8_t argument[HI_CODE_ARGUMENTS] = {7, 6, 2, 1, 8, 9};

	*s = (struct code_state){.is_reached = true};
	for (unsigned i = 0; i < HI_CODE_REGISTERS; i++)
		s->registers[i] = any_value;
	for (unsigned i = 0; i < HI_CODE_ARGUMENTS; i++)
		s->registers[argument[i]] = (struct hi_code_value){
			.kind = HI_VALUE_PARAMETER, .index = i, .mul = 1};
	s->registers[HI_CODE_RSP] =
		(struct hi_code_value){.kind = HI_VALUE_STACK, .mul = 1};
}

/* All but addresses of the stack is unknown. */
static void enter_beside(struct code_state *s, const struct code_state *beside)
{
	*s = *beside;
	s->is_reached = true;
	for (unsigned i = 0; i < HI_CODE_REGISTERS; i++)
		if (s->registers[i].kind != HI_VALUE_STACK)
			s->registers[i] = any_value;
}

/* ---- reading and writing ---- */

static struct hi_code_value value_of_register(const struct code_state *s, uint8_t reg)
{
	if (reg == HI_CODE_NO_REGISTER)
		return constant_value(0);
	return reg < HI_CODE_REGISTERS ? s->registers[reg] : any_value;
}

static struct hi_code_value address_of_memory(const struct code_state *s,
					      const struct hi_code_operand *op)
{
	struct hi_code_value base, index;

	if (op->reg == HI_CODE_RIP)
		return constant_value(op->number);
	base = value_of_register(s, op->reg);
	index = scale_register(value_of_register(s, op->index), op->scale ? op->scale : 1,
			       0);
	/* lea (%rax,%rax,2),%rdx of an unknown rax */
	if (base.kind == HI_VALUE_ANY && op->reg == op->index && base.mul < MUL_MAX) {
		base.mul *= op->scale + 1u;
		base.add *= op->scale + 1;
	} else {
		base = sum_values(base, index);
	}
	return hi_code_value_scale(base, 1, op->number);
}

static struct hi_code_value read_operand(struct code_state *s,
					 const struct hi_code_operand *op)
{
	struct hi_code_value at, *slot;

	switch (op->kind) {
	case HI_OPERAND_CONSTANT:
		return constant_value(op->number);
	case HI_OPERAND_REGISTER:
		return op->size >= 4 ? s->registers[op->reg] : any_value;
	case HI_OPERAND_MEMORY:
		if (op->reg == HI_CODE_NO_REGISTER && op->index == HI_CODE_NO_REGISTER)
			return any_value;
		if (op->reg == HI_CODE_RIP && op->size == 8)
			return (struct hi_code_value){
				.kind = HI_VALUE_MEMORY, .mul = 1, .add = op->number};
		at = address_of_memory(s, op);
		slot = at.kind == HI_VALUE_STACK && op->size >= 4 ? find_slot(s, at.add)
								  : NULL;
		return slot ? *slot : any_value;
	default:
		return any_value;
	}
}

static void note_first_word(struct call_finder *f, struct hi_code_value at,
			    struct hi_code_value value)
{
	if (at.kind == HI_VALUE_RESULT && at.add == 0 &&
	    value.kind == HI_VALUE_CONSTANT && value.add > 0 &&
	    at.index < f->calls->count)
		f->calls->items[at.index].first_word = (uint64_t)value.add;
}

static void write_operand(struct call_finder *f, const struct hi_code_operand *op,
			  struct hi_code_value value)
{
	struct hi_code_value at;

	if (op->kind == HI_OPERAND_REGISTER) {
		if (op->size == 4 && value.kind == HI_VALUE_CONSTANT)
			value.add &= UINT32_MAX;
		f->now.registers[op->reg] = op->size >= 4 ? value : any_value;
	} else if (op->kind == HI_OPERAND_MEMORY) {
		at = address_of_memory(&f->now, op);
		if (at.kind == HI_VALUE_STACK)
			set_slot(&f->now, at.add, op->size >= 4 ? value : any_value);
		else if (op->size == 8)
			note_first_word(f, at, value);
	}
}

static void forget_registers(struct code_state *s, unsigned written)
{
	for (unsigned i = 0; i < HI_CODE_REGISTERS; i++)
		if (written >> i & 1)
			s->registers[i] = any_value;
}

/* ---- steps ---- */

static void move_stack(struct code_state *s, int64_t by)
{
	struct hi_code_value *sp = &s->registers[HI_CODE_RSP];

	if (sp->kind == HI_VALUE_STACK)
		sp->add += by;
}

static void take_push(struct call_finder *f, const struct hi_code_op *step)
{
	struct hi_code_value v = read_operand(&f->now, &step->src), sp;

	move_stack(&f->now, -8);
	sp = f->now.registers[HI_CODE_RSP];
	if (sp.kind == HI_VALUE_STACK)
		set_slot(&f->now, sp.add, v);
}

static void take_pop(struct call_finder *f, const struct hi_code_op *step)
{
	struct hi_code_value sp = f->now.registers[HI_CODE_RSP], *slot = NULL;

	if (sp.kind == HI_VALUE_STACK)
		slot = find_slot(&f->now, sp.add);
	move_stack(&f->now, 8);
	write_operand(f, &step->dst, slot ? *slot : any_value);
}

static struct hi_code_value multiply_values(struct hi_code_value a,
					    struct hi_code_value b)
{
	if (b.kind == HI_VALUE_CONSTANT && b.add >= 0)
		return hi_code_value_scale(a, (uint64_t)b.add, 0);
	if (a.kind == HI_VALUE_CONSTANT && a.add >= 0)
		return hi_code_value_scale(b, (uint64_t)a.add, 0);
	return any_value;
}

static struct hi_code_value multiply_step(struct code_state *s,
					  const struct hi_code_op *step)
{
	if (step->factor > 0)
		return hi_code_value_scale(read_operand(s, &step->src),
					   (uint64_t)step->factor, 0);
	if (step->factor < 0)
		return any_value;
	return multiply_values(read_operand(s, &step->dst), read_operand(s, &step->src));
}

/* The frame is elsewhere once the stack was aligned; of a size that is rounded up little
 * is known. */
static struct hi_code_value align_value(struct hi_code_value v, struct hi_code_value mask)
{
	if (mask.kind != HI_VALUE_CONSTANT)
		return any_value;
	if (v.kind == HI_VALUE_CONSTANT)
		return constant_value(v.add & mask.add);
	if (v.kind == HI_VALUE_STACK)
		return hi_code_value_scale(v, 1, -OTHER_FRAME);
	return any_value;
}

static struct hi_code_value shift_left_value(struct hi_code_value v,
					     struct hi_code_value count)
{
	return count.kind == HI_VALUE_CONSTANT && count.add >= 0 && count.add < 40
		       ? hi_code_value_scale(v, 1ull << count.add, 0)
		       : any_value;
}

static struct hi_code_value result_of_step(struct call_finder *f,
					   const struct hi_code_op *step)
{
	struct hi_code_value src = read_operand(&f->now, &step->src), dst;

	if (step->kind == HI_STEP_MOVE)
		return src;
	if (step->kind == HI_STEP_LEA)
		return address_of_memory(&f->now, &step->src);
	dst = read_operand(&f->now, &step->dst);
	switch (step->kind) {
	case HI_STEP_MEET:
		return meet_values(dst, src);
	case HI_STEP_ADD:
		return sum_values(dst, src);
	case HI_STEP_SUBTRACT:
		return src.kind == HI_VALUE_CONSTANT
			       ? hi_code_value_scale(dst, 1, -src.add)
			       : any_value;
	case HI_STEP_SHIFT:
		return shift_left_value(dst, src);
	case HI_STEP_MULTIPLY:
		return multiply_step(&f->now, step);
	default:
		return align_value(dst, src);
	}
}

/* ---- calls ---- */

static void find_target(struct call_finder *f, const struct hi_code_op *step,
			struct hi_code_call *call)
{
	struct hi_code_value v;

	if (step->src.kind == HI_OPERAND_CONSTANT) {
		call->target = (uint64_t)step->src.number;
	} else if (step->src.kind == HI_OPERAND_MEMORY && step->src.reg == HI_CODE_RIP) {
		call->target = (uint64_t)step->src.number;
		call->is_through_memory = true;
	} else {
		v = read_operand(&f->now, &step->src);
		call->is_through_memory = v.kind == HI_VALUE_MEMORY;
		if (v.kind == HI_VALUE_CONSTANT || v.kind == HI_VALUE_MEMORY)
			call->target = (uint64_t)v.add;
	}
}

static void take_call(struct call_finder *f, const struct hi_code_op *step,
		      struct hi_code_call *call)
{
	static const uint8_t argument[HI_CODE_ARGUMENTS] = {7, 6, 2, 1, 8, 9};

	call->end = step->end;
	call->is_jump = step->kind == HI_STEP_JUMP;
	find_target(f, step, call);
	for (unsigned i = 0; i < HI_CODE_ARGUMENTS; i++)
		call->arguments[i] = f->now.registers[argument[i]];
}

/* rax, rcx, rdx, rsi, rdi, r8 to r11 are the callee's. */
static void pass_call(struct call_finder *f, size_t step)
{
	forget_registers(&f->now, 0x0fc7);
	f->now.registers[0] = (struct hi_code_value){
		.kind = HI_VALUE_RESULT, .index = f->call_of[step] - 1, .mul = 1};
}

/* return memset(malloc(n), 0, n) */
static void take_return(struct call_finder *f)
{
	struct hi_code_value v = f->now.registers[0];

	for (unsigned i = 0; i < 4 && v.kind == HI_VALUE_RESULT; i++) {
		struct hi_code_call *call = &f->calls->items[v.index];

		call->is_returned = true;
		v = call->arguments[0];
	}
}

static void run_step(struct call_finder *f, size_t i)
{
	const struct hi_code_op *step = &f->steps->items[i];

	if (f->call_of[i])
		take_call(f, step, &f->calls->items[f->call_of[i] - 1]);
	switch (step->kind) {
	case HI_STEP_MOVE:
	case HI_STEP_MEET:
	case HI_STEP_LEA:
	case HI_STEP_ADD:
	case HI_STEP_SUBTRACT:
	case HI_STEP_SHIFT:
	case HI_STEP_MULTIPLY:
	case HI_STEP_ALIGN:
		write_operand(f, &step->dst, result_of_step(f, step));
		break;
	case HI_STEP_PUSH:
		take_push(f, step);
		break;
	case HI_STEP_POP:
		take_pop(f, step);
		break;
	case HI_STEP_CALL:
		pass_call(f, i);
		break;
	case HI_STEP_RETURN:
		take_return(f);
		break;
	case HI_STEP_OTHER:
		/* leave: as mov %rbp,%rsp; pop %rbp; nothing is read afterwards. */
		forget_registers(&f->now, step->written);
		break;
	default:
		break;
	}
}

/* ---- blocks ---- */

static bool ends_block(const struct hi_code_op *s)
{
	return s->kind == HI_STEP_JUMP || s->kind == HI_STEP_BRANCH ||
	       s->kind == HI_STEP_RETURN || s->kind == HI_STEP_STOP;
}

/* The step at an address; the number of steps: none begins there. */
static size_t find_step_at(const struct hi_code_steps *steps, uint64_t addr)
{
	size_t n = hi_search(i, steps->count, steps->items[i].addr < addr);

	return n < steps->count && steps->items[n].addr == addr ? n : steps->count;
}

static size_t target_of_jump(const struct hi_code_steps *steps,
			     const struct hi_code_op *s)
{
	if ((s->kind != HI_STEP_JUMP && s->kind != HI_STEP_BRANCH) ||
	    s->src.kind != HI_OPERAND_CONSTANT)
		return steps->count;
	return find_step_at(steps, (uint64_t)s->src.number);
}

/* Marks the first steps of blocks. Returns how many there are. */
static size_t mark_code_blocks(const struct hi_code_steps *steps, bool *begins)
{
	size_t n = 0;

	begins[0] = true;
	for (size_t i = 0; i < steps->count; i++) {
		size_t to = target_of_jump(steps, &steps->items[i]);

		if (to < steps->count)
			begins[to] = true;
		if (ends_block(&steps->items[i]) && i + 1 < steps->count)
			begins[i + 1] = true;
	}
	for (size_t i = 0; i < steps->count; i++)
		n += begins[i];
	return n;
}

static bool make_blocks(struct call_finder *f)
{
	size_t n = f->steps->count;
	HI_GUARD(free) bool *begins = hi_calloc(n, sizeof(*begins));
	size_t count = begins ? mark_code_blocks(f->steps, begins) : 0;

	if (count > BLOCKS_MAX)
		count = BLOCKS_MAX;
	f->blocks = count ? hi_calloc(count, sizeof(*f->blocks)) : NULL;
	if (!f->blocks)
		return false;
	for (size_t i = 0; i < n; i++)
		if (begins[i] && f->n_blocks < count)
			f->blocks[f->n_blocks++].first = (uint32_t)i;
	for (size_t i = 0; i < f->n_blocks; i++)
		f->blocks[i].end =
			i + 1 < f->n_blocks ? f->blocks[i + 1].first : (uint32_t)n;
	return true;
}

static struct code_block *find_code_block(struct call_finder *f, size_t step)
{
	size_t n = hi_search(i, f->n_blocks, f->blocks[i].first <= step);

	return n && f->blocks[n - 1].first == step ? &f->blocks[n - 1] : NULL;
}

static void flow_to(struct call_finder *f, size_t step)
{
	struct code_block *block =
		step < f->steps->count ? find_code_block(f, step) : NULL;

	if (block && meet_states(&block->in, &f->now))
		block->is_changed = true;
}

static void run_block(struct call_finder *f, struct code_block *block)
{
	const struct hi_code_op *last = &f->steps->items[block->end - 1];

	block->is_changed = false;
	f->now = block->in;
	for (size_t i = block->first; i < block->end; i++)
		run_step(f, i);
	flow_to(f, target_of_jump(f->steps, last));
	if (last->kind == HI_STEP_JUMP && last->src.kind != HI_OPERAND_CONSTANT)
		f->beside = f->now;
	if (last->kind != HI_STEP_JUMP && last->kind != HI_STEP_RETURN &&
	    last->kind != HI_STEP_STOP)
		flow_to(f, block->end);
	/* A function's handlers have its frame, as its calls have it. */
	if (!f->beside.is_reached && last->kind != HI_STEP_RETURN)
		f->beside = f->now;
}

static bool run_changed_blocks(struct call_finder *f)
{
	bool is_changed = false;

	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].is_changed) {
			run_block(f, &f->blocks[i]);
			is_changed = true;
		}
	return is_changed;
}

static void run_all_blocks(struct call_finder *f)
{
	enter_function(&f->blocks[0].in);
	f->blocks[0].is_changed = true;
	for (unsigned i = 0; i < ROUNDS && run_changed_blocks(f); i++)
		;
	for (size_t i = 0; i < f->n_blocks; i++)
		if (!f->blocks[i].in.is_reached && f->beside.is_reached) {
			enter_beside(&f->blocks[i].in, &f->beside);
			f->blocks[i].is_changed = true;
		}
	for (unsigned i = 0; i < ROUNDS && run_changed_blocks(f); i++)
		;
}

/* ---- all ---- */

/* A jump out of the function is a call. */
static bool is_call_step(const struct hi_code_steps *steps, const struct hi_code_op *s)
{
	uint64_t first = steps->items[0].addr, end = steps->items[steps->count - 1].end;
	uint64_t to = (uint64_t)s->src.number;

	if (s->kind == HI_STEP_CALL)
		return true;
	if (s->kind != HI_STEP_JUMP)
		return false;
	if (s->src.kind == HI_OPERAND_CONSTANT)
		return to < first || to >= end;
	return s->src.kind == HI_OPERAND_MEMORY && s->src.reg == HI_CODE_RIP;
}

static bool number_calls(struct call_finder *f)
{
	f->call_of = hi_calloc(f->steps->count, sizeof(*f->call_of));
	for (size_t i = 0; f->call_of && i < f->steps->count; i++)
		if (is_call_step(f->steps, &f->steps->items[i])) {
			if (!hi_vector_push(f->calls,
					    ((struct hi_code_call){
						    .end = f->steps->items[i].end})))
				return false;
			f->call_of[i] = (uint32_t)f->calls->count;
		}
	return f->call_of != NULL;
}

enum hi_status hi_code_calls_find(const struct hi_code_steps *steps,
				  struct hi_code_calls *ret, struct hi_error *err)
{
	struct call_finder f = {.steps = steps, .calls = ret};
	bool ok;

	ret->count = 0;
	if (!steps->count)
		return HI_OK;
	ok = number_calls(&f) && make_blocks(&f);
	if (ok && ret->count)
		run_all_blocks(&f);
	free(f.blocks);
	free(f.call_of);
	return ok ? HI_OK : hi_fail_memory(err, "calls of a function");
}
