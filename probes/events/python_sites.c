/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Places in copies of pymalloc]
 *
 * A compiler that copies pymalloc into its callers leaves the same few steps in each of
 * them, as its structure demands. A block is given out by
 *
 *	block = pool->freeblock; pool->count++;
 *	next = *block; pool->freeblock = next;
 *	if (next == NULL) ...
 *
 * and given back by
 *
 *	first = pool->freeblock; *block = first;
 *	pool->freeblock = block; pool->count--;
 *	if (first == NULL) ...
 *
 * where freeblock is the pool's second word. The conditional jump is executed by each
 * call and comes after the step; the kernel emulates it; and the block is in a register
 * there, which the steps name, or still in memory (the pool's first free block is the one
 * that was given back last; a block that was given out may be on the stack). All of it
 * happens with the interpreter's lock, so that the events of a block have the order in
 * which it was given out and back.
 *
 * An object that comes from a free list of its type has a block all the time. But up to
 * 3.12 the interpreter reports each new object to tracemalloc, and so tests a variable
 * there; the function that it calls if that is set gets the object, which shows its
 * register. Whether the object can be one of a free list is seen where the register was
 * written last: it was loaded from a list, and not given out by pymalloc or returned by a
 * call. A place that is taken for one by mistake makes no event, as its block has just
 * been given out (bpf/events.bpf.c).
 */
#include "probes/events/python_sites.h"

#include <capstone/capstone.h>
#include <string.h>

#include "decode/modules/module.h"
#include "probes/prologue.h"

enum {
	KEPT_STEPS = 64,    /* of the straight line before a place */
	PATTERN_STEPS = 16, /* from the first of its steps to the jump */
	SLOW_STEPS = 12,    /* from the jump to the call */
	SLOW_BYTES = 96,
	LIST_DISTANCE = 0x100, /* of lists in the interpreter's structure, at least */
	FREEBLOCK = 8,	       /* offset in a pool; the count is at 0 */
	OFFSET_MAX = 0x3fff,   /* of a value in memory */
	NO_REGISTER = 0xff,
	REGISTER_STACK = 4,
	REGISTER_FIRST_ARGUMENT = 7,
};

enum step_kind {
	STEP_OTHER,
	STEP_LOAD,    /* reg = memory */
	STEP_ADDRESS, /* reg = the address of a variable */
	STEP_STORE,   /* memory = reg; 8 bytes */
	STEP_CHANGE,  /* of 4 bytes of memory */
	STEP_COMPARE, /* memory with a number */
	STEP_COPY,    /* reg = base */
	STEP_TEST,    /* of reg with itself */
	STEP_BRANCH,  /* conditional, to target */
	STEP_JUMP,    /* to target; 0: elsewhere, or the function returns */
	STEP_CALL,    /* of target; 0: of a pointer */
};

struct step {
	uint64_t addr, target; /* target: also the address of a variable */
	int64_t distance;
	enum step_kind kind;
	uint16_t written; /* a bit for each register */
	uint8_t reg, base, index;
	bool is_emulated, is_if_zero; /* of a branch: je */
};

struct code_walk {
	csh cs;
	cs_insn *insn;
	const uint8_t *at;
	size_t left;
	uint64_t addr;
	struct step steps[KEPT_STEPS]; /* a ring */
	size_t n;
};

/* ---- instructions ---- */

static uint8_t number_register(unsigned reg)
{
	static const unsigned words[][16] = {
		{X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP,
		 X86_REG_RBP, X86_REG_RSI, X86_REG_RDI, X86_REG_R8, X86_REG_R9,
		 X86_REG_R10, X86_REG_R11, X86_REG_R12, X86_REG_R13, X86_REG_R14,
		 X86_REG_R15},
		{X86_REG_EAX, X86_REG_ECX, X86_REG_EDX, X86_REG_EBX, X86_REG_ESP,
		 X86_REG_EBP, X86_REG_ESI, X86_REG_EDI, X86_REG_R8D, X86_REG_R9D,
		 X86_REG_R10D, X86_REG_R11D, X86_REG_R12D, X86_REG_R13D, X86_REG_R14D,
		 X86_REG_R15D},
		{X86_REG_AL, X86_REG_CL, X86_REG_DL, X86_REG_BL, X86_REG_SPL, X86_REG_BPL,
		 X86_REG_SIL, X86_REG_DIL, X86_REG_R8B, X86_REG_R9B, X86_REG_R10B,
		 X86_REG_R11B, X86_REG_R12B, X86_REG_R13B, X86_REG_R14B, X86_REG_R15B},
		{X86_REG_AX, X86_REG_CX, X86_REG_DX, X86_REG_BX, X86_REG_SP, X86_REG_BP,
		 X86_REG_SI, X86_REG_DI, X86_REG_R8W, X86_REG_R9W, X86_REG_R10W,
		 X86_REG_R11W, X86_REG_R12W, X86_REG_R13W, X86_REG_R14W, X86_REG_R15W},
	};

	for (size_t width = 0; width < 4; width++)
		for (uint8_t i = 0; i < 16; i++)
			if (words[width][i] == reg)
				return i;
	return NO_REGISTER;
}

static uint16_t registers_written(const struct code_walk *w)
{
	uint8_t n_read, n_written;
	cs_regs read, written;
	uint16_t bits = 0;

	if (cs_regs_access(w->cs, w->insn, read, &n_read, written, &n_written) !=
	    CS_ERR_OK)
		return 0xffff;
	for (unsigned i = 0; i < n_written; i++) {
		uint8_t reg = number_register(written[i]);

		if (reg != NO_REGISTER)
			bits |= (uint16_t)(1u << reg);
	}
	return bits;
}

static void take_memory(const struct code_walk *w, const cs_x86_op *op, struct step *ret)
{
	ret->base = number_register(op->mem.base);
	ret->index = number_register(op->mem.index);
	ret->distance = op->mem.disp;
	if (op->mem.base == X86_REG_RIP)
		ret->target = w->insn->address + w->insn->size + (uint64_t)op->mem.disp;
	else if (op->mem.base == X86_REG_INVALID)
		ret->target = (uint64_t)op->mem.disp;
}

static void take_move(const struct code_walk *w, const cs_x86_op *to,
		      const cs_x86_op *from, struct step *ret)
{
	if (to->type == X86_OP_REG && from->type == X86_OP_MEM && to->size >= 4) {
		ret->kind = STEP_LOAD;
		ret->reg = number_register(to->reg);
		take_memory(w, from, ret);
	} else if (to->type == X86_OP_REG && from->type == X86_OP_REG && to->size == 8) {
		ret->kind = STEP_COPY;
		ret->reg = number_register(to->reg);
		ret->base = number_register(from->reg);
	} else if (to->type == X86_OP_MEM && to->size == 4) {
		ret->kind = STEP_CHANGE;
		take_memory(w, to, ret);
	} else if (to->type == X86_OP_MEM && to->size == 8 && from->type == X86_OP_REG) {
		ret->kind = STEP_STORE;
		ret->reg = number_register(from->reg);
		take_memory(w, to, ret);
	}
}

static void take_branch(const struct code_walk *w, const cs_x86 *x86, struct step *ret)
{
	bool is_call = cs_insn_group(w->cs, w->insn, CS_GRP_CALL);

	ret->kind = is_call			 ? STEP_CALL
		    : w->insn->id == X86_INS_JMP ? STEP_JUMP
						 : STEP_BRANCH;
	ret->is_if_zero = w->insn->id == X86_INS_JE;
	ret->is_emulated = hi_instruction_is_emulated(w->insn->bytes, w->insn->size);
	if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM)
		ret->target = (uint64_t)x86->operands[0].imm;
}

static void take_other(const struct code_walk *w, const cs_x86 *x86, struct step *ret)
{
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];

	switch (w->insn->id) {
	case X86_INS_MOV:
		take_move(w, to, from, ret);
		break;
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_INC:
	case X86_INS_DEC:
		if (to->type != X86_OP_MEM || to->size != 4)
			break;
		ret->kind = STEP_CHANGE;
		take_memory(w, to, ret);
		break;
	case X86_INS_LEA:
		ret->kind = STEP_ADDRESS;
		take_memory(w, from, ret);
		break;
	case X86_INS_CMP:
		if (to->type != X86_OP_MEM || from->type != X86_OP_IMM)
			break;
		ret->kind = STEP_COMPARE;
		take_memory(w, to, ret);
		break;
	case X86_INS_TEST:
		if (to->type != X86_OP_REG || from->type != X86_OP_REG ||
		    to->reg != from->reg)
			break;
		ret->kind = STEP_TEST;
		ret->reg = number_register(to->reg);
		break;
	default:
		break;
	}
}

static bool open_code_walk(struct code_walk *w, const uint8_t *code, size_t size,
			   uint64_t addr)
{
	*w = (struct code_walk){.at = code, .left = size, .addr = addr};
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &w->cs) != CS_ERR_OK)
		return false;
	cs_option(w->cs, CS_OPT_DETAIL, CS_OPT_ON);
	w->insn = cs_malloc(w->cs);
	if (!w->insn)
		cs_close(&w->cs);
	return w->insn != NULL;
}

static void close_code_walk(struct code_walk *w)
{
	cs_free(w->insn, 1);
	cs_close(&w->cs);
}

/* Behind what cannot be decoded the walk ends. NULL: it has. */
static const struct step *next_code_step(struct code_walk *w)
{
	struct step *step = &w->steps[w->n % KEPT_STEPS];
	const cs_x86 *x86;

	if (!cs_disasm_iter(w->cs, &w->at, &w->left, &w->addr, w->insn))
		return NULL;
	x86 = &w->insn->detail->x86;
	*step = (struct step){.addr = w->insn->address,
			      .written = registers_written(w),
			      .reg = NO_REGISTER,
			      .base = NO_REGISTER,
			      .index = NO_REGISTER};
	if (cs_insn_group(w->cs, w->insn, CS_GRP_CALL) ||
	    cs_insn_group(w->cs, w->insn, CS_GRP_JUMP))
		take_branch(w, x86, step);
	else if (cs_insn_group(w->cs, w->insn, CS_GRP_RET))
		step->kind = STEP_JUMP;
	else
		take_other(w, x86, step);
	w->n++;
	return step;
}

/* The last one is 0; NULL: it is not kept, or there was none. */
static const struct step *step_before(const struct code_walk *w, size_t back)
{
	return back < w->n && back < KEPT_STEPS
		       ? &w->steps[(w->n - 1 - back) % KEPT_STEPS]
		       : NULL;
}

/* ---- blocks ---- */

/* The pattern that is looked for: NO_REGISTER and ANYWHERE are any. */
struct wanted {
	enum step_kind kind;
	uint8_t reg, base;
	int64_t distance;
};
#define ANYWHERE INT64_MAX

static bool is_wanted(const struct step *step, const struct wanted *wanted)
{
	return step->kind == wanted->kind &&
	       (wanted->reg == NO_REGISTER || step->reg == wanted->reg) &&
	       (wanted->base == NO_REGISTER || step->base == wanted->base) &&
	       (wanted->distance == ANYWHERE || step->distance == wanted->distance) &&
	       step->index == NO_REGISTER;
}

/* How many steps back it is, from `back` on; 0: there is none on this straight line. */
static size_t find_code_step(const struct code_walk *w, size_t back,
			     const struct wanted *wanted)
{
	for (; back < PATTERN_STEPS; back++) {
		const struct step *step = step_before(w, back);

		if (!step || step->kind == STEP_JUMP || step->kind == STEP_CALL)
			return 0;
		if (is_wanted(step, wanted))
			return back;
	}
	return 0;
}

/* Is the register the same from that step on? */
static bool keeps_register(const struct code_walk *w, size_t back, uint8_t reg)
{
	for (size_t i = 0; i < back; i++)
		if (step_before(w, i)->written >> reg & 1)
			return false;
	return true;
}

static bool counts_blocks(const struct code_walk *w, uint8_t pool)
{
	const struct wanted count = {STEP_CHANGE, NO_REGISTER, pool, 0};

	return find_code_step(w, 1, &count);
}

/* A block that was loaded so many steps ago: its register, or where that was saved on the
 * stack. */
static bool find_loaded_block(const struct code_walk *w, size_t back, uint8_t reg,
			      struct hi_python_value *ret)
{
	const struct wanted saving = {STEP_STORE, reg, REGISTER_STACK, ANYWHERE};
	const struct step *save;
	size_t saved;

	*ret = (struct hi_python_value){.reg = reg};
	if (keeps_register(w, back, reg))
		return true;
	saved = find_code_step(w, 1, &saving);
	save = saved && saved < back ? step_before(w, saved) : NULL;
	if (!save || !keeps_register(w, saved, REGISTER_STACK) || save->distance < 0 ||
	    save->distance > OFFSET_MAX)
		return false;
	for (size_t i = saved; i < back; i++)
		if (step_before(w, i)->written >> reg & 1)
			return false;
	*ret = (struct hi_python_value){.in_memory = true,
					.reg = REGISTER_STACK,
					.offset = (uint16_t)save->distance};
	return true;
}

/* The word that was tested becomes the pool's first free block, and is the block's. */
static bool find_given(const struct code_walk *w, uint8_t tested,
		       struct hi_python_value *ret)
{
	struct wanted wanted = {STEP_STORE, tested, NO_REGISTER, FREEBLOCK};
	size_t back = find_code_step(w, 1, &wanted);
	uint8_t pool, block;

	if (!back)
		return false;
	pool = step_before(w, back)->base;
	wanted = (struct wanted){STEP_LOAD, tested, NO_REGISTER, 0};
	back = find_code_step(w, back + 1, &wanted);
	if (!back || !keeps_register(w, back, tested))
		return false;
	block = step_before(w, back)->base;
	wanted = (struct wanted){STEP_LOAD, block, pool, FREEBLOCK};
	back = find_code_step(w, back + 1, &wanted);
	return back && block != NO_REGISTER && counts_blocks(w, pool) &&
	       find_loaded_block(w, back, block, ret);
}

/* The word that was tested was the pool's first free block, and becomes the block's,
 * which another register may lead to as well (an object after its collector's head). */
static bool find_taken(const struct code_walk *w, uint8_t tested,
		       struct hi_python_value *ret)
{
	struct wanted wanted = {STEP_STORE, NO_REGISTER, NO_REGISTER, FREEBLOCK};
	size_t stored = find_code_step(w, 1, &wanted), back;
	uint8_t pool, block;

	if (!stored)
		return false;
	pool = step_before(w, stored)->base;
	block = step_before(w, stored)->reg;
	wanted = (struct wanted){STEP_LOAD, tested, pool, FREEBLOCK};
	back = find_code_step(w, stored + 1, &wanted);
	wanted = (struct wanted){STEP_STORE, tested, NO_REGISTER, ANYWHERE};
	*ret = (struct hi_python_value){.reg = block};
	if (!back || !keeps_register(w, back, tested) || !find_code_step(w, 1, &wanted) ||
	    !counts_blocks(w, pool) || block == NO_REGISTER)
		return false;
	if (!keeps_register(w, stored, block))
		*ret = (struct hi_python_value){
			.in_memory = true, .reg = pool, .offset = FREEBLOCK};
	return keeps_register(w, stored, ret->reg);
}

/* ---- objects of free lists ---- */

/* Is the branch taken, or not, by whether the variable is set? */
static bool tests_variable(const struct code_walk *w, uint64_t flag)
{
	const struct step *step = step_before(w, 1), *load = step_before(w, 2);

	if (!step)
		return false;
	if (step->kind == STEP_COMPARE)
		return step->target == flag;
	for (size_t back = 2; step->kind == STEP_TEST && load && back <= 4;
	     load = step_before(w, ++back))
		if (load->kind == STEP_LOAD && load->reg == step->reg)
			return load->target == flag;
	return false;
}

/* The register whose value the first argument has, from the jump on; NO_REGISTER: the
 * function is not called. */
static uint8_t find_argument(struct code_walk *w, uint64_t function)
{
	uint8_t reg = REGISTER_FIRST_ARGUMENT;
	const struct step *step = NULL;
	size_t n = 0;

	while (n < SLOW_STEPS && (step = next_code_step(w)) && step->kind != STEP_CALL &&
	       step->kind != STEP_JUMP)
		n++;
	if (!step || step->kind != STEP_CALL || step->target != function)
		return NO_REGISTER;
	for (size_t back = 1; back <= n; back++) {
		step = step_before(w, back);
		if (step->kind == STEP_COPY && step->reg == reg)
			reg = step->base;
		else if (step->written >> reg & 1)
			return NO_REGISTER;
	}
	return reg;
}

struct search {
	const uint8_t *code;
	size_t size;
	uint64_t addr;
	struct hi_module *module;
	const struct hi_python_births *births;
	struct hi_python_site_list *ret;
};

/* As find_argument(), of code at an address: of the function, or of another part. */
static uint8_t find_argument_at(uint64_t at, const struct search *s)
{
	uint8_t bytes[SLOW_BYTES], reg;
	const uint8_t *code = bytes;
	size_t size = sizeof(bytes);
	struct code_walk w;

	if (at - s->addr < s->size) {
		code = s->code + (at - s->addr);
		size = s->size - (at - s->addr);
	} else if (!s->module ||
		   hi_module_read_file(s->module, at, bytes, size, NULL) != HI_OK) {
		return NO_REGISTER;
	}
	if (!open_code_walk(&w, code, size, at))
		return NO_REGISTER;
	reg = find_argument(&w, s->births->function);
	close_code_walk(&w);
	return reg;
}

/* Was it loaded from a list? */
static bool is_from_list(const struct code_walk *w, uint8_t reg)
{
	for (size_t back = 1; back < KEPT_STEPS; back++) {
		const struct step *step = step_before(w, back);

		if (!step)
			return false;
		if (step->written >> reg & 1)
			return step->kind == STEP_LOAD && step->base != REGISTER_STACK &&
			       step->base != NO_REGISTER &&
			       (step->index != NO_REGISTER ||
				step->distance >= LIST_DISTANCE);
	}
	return false;
}

/* ---- all together ---- */

static bool find_reused(const struct code_walk *w, const struct search *s,
			const struct step *branch, struct hi_python_value *ret)
{
	uint64_t slow = branch->is_if_zero ? w->addr : branch->target;

	if (!s->births || !tests_variable(w, s->births->flag))
		return false;
	*ret = (struct hi_python_value){.reg = find_argument_at(slow, s)};
	return ret->reg != NO_REGISTER && is_from_list(w, ret->reg);
}

/* The register that was tested for 0, just before the branch. */
static uint8_t find_tested(const struct code_walk *w)
{
	const struct step *step = step_before(w, 1);

	return step && step->kind == STEP_TEST ? step->reg : NO_REGISTER;
}

static bool add_place(const struct code_walk *w, const struct search *s,
		      const struct step *branch)
{
	struct hi_python_site site = {.address = branch->addr};
	uint8_t tested = find_tested(w);

	if (tested != NO_REGISTER && find_given(w, tested, &site.value))
		site.kind = HI_PYTHON_SITE_GIVES;
	else if (tested != NO_REGISTER && find_taken(w, tested, &site.value))
		site.kind = HI_PYTHON_SITE_TAKES;
	else if (find_reused(w, s, branch, &site.value))
		site.kind = HI_PYTHON_SITE_REUSES;
	else
		return true;
	return hi_vector_push(s->ret, site);
}

bool hi_python_sites_find(const uint8_t *code, size_t size, uint64_t addr,
			  struct hi_module *module, const struct hi_python_births *births,
			  struct hi_python_site_list *ret)
{
	const struct search s = {code, size, addr, module, births, ret};
	const struct step *step;
	struct code_walk w;
	bool goes_on = true;

	if (!open_code_walk(&w, code, size, addr))
		return false;
	while (goes_on && (step = next_code_step(&w)))
		if (step->kind == STEP_BRANCH && step->is_emulated)
			goes_on = add_place(&w, &s, step);
	close_code_walk(&w);
	return goes_on;
}

/* The variable that decides a branch is the first that is looked at. */
bool hi_python_births_find(const uint8_t *code, size_t size, uint64_t addr,
			   struct hi_python_births *ret)
{
	const struct step *step;
	struct code_walk w;

	*ret = (struct hi_python_births){};
	if (!open_code_walk(&w, code, size, addr))
		return false;
	while (!ret->function && (step = next_code_step(&w))) {
		if (!ret->flag && step->target &&
		    (step->kind == STEP_LOAD || step->kind == STEP_COMPARE))
			ret->flag = step->target;
		if (ret->flag && step->kind == STEP_CALL)
			ret->function = step->target;
	}
	close_code_walk(&w);
	return ret->function != 0;
}

size_t hi_python_sites_variables(const uint8_t *code, size_t size, uint64_t addr,
				 uint64_t *targets, size_t max)
{
	const struct step *step;
	struct code_walk w;
	size_t n = 0;

	if (!open_code_walk(&w, code, size, addr))
		return 0;
	while (n < max && (step = next_code_step(&w)))
		if ((step->kind == STEP_LOAD || step->kind == STEP_ADDRESS) &&
		    step->target)
			targets[n++] = step->target;
	close_code_walk(&w);
	return n;
}
