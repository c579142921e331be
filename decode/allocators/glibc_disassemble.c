/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of malloc's variables out of the code of exported functions, for a libc
 * without symbols. They are candidates, which glibc_probe.c checks.
 *
 * mallopt locks main_arena, whose mutex is its first member, by `lock cmpxchg
 * %edx,D(%rip)`; of its 64-bit stores to fixed addresses the lowest is
 * mp_.trim_threshold, the first member of mp_; it sets no_dyn_threshold by
 * `movl $1,D(%rip)`. malloc loads a GOT slot and then %fs:(register), first
 * for tcache, then for thread_arena; a static program has the offset itself
 * as an immediate. Checked against libc6-dbg of 2.36.
 */
#include <capstone/capstone.h>

#include "decode/allocators/glibc.h"

#define MAX_INSTRUCTIONS 4096

struct decoder {
	csh handle;
	cs_insn *insn;
	const uint8_t *code;
	size_t left;
	uint64_t addr;
	unsigned done;
};

static enum hi_status open_disassembler(struct decoder *d, const void *code, size_t size,
					uint64_t addr, struct hi_error *err)
{
	*d = (struct decoder){.code = code, .left = size, .addr = addr};
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK)
		return hi_fail_memory(err, "disassembler");
	if (cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		cs_close(&d->handle);
		return hi_fail_memory(err, "disassembler");
	}
	return HI_OK;
}

static void close_disassembler(struct decoder *d)
{
	cs_free(d->insn, 1);
	cs_close(&d->handle);
}

static bool disassemble_next(struct decoder *d)
{
	return d->done++ < MAX_INSTRUCTIONS &&
	       cs_disasm_iter(d->handle, &d->code, &d->left, &d->addr, d->insn);
}

/* The address that a rip-relative memory operand means; false if it is none. */
static bool rip_address(const cs_insn *insn, const cs_x86_op *op, uint64_t *ret)
{
	if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
	    op->mem.segment == X86_REG_FS)
		return false;
	*ret = insn->address + insn->size + (uint64_t)op->mem.disp;
	return true;
}

struct mallopt_facts {
	uint64_t arena, lowest_store, flag_store;
};

static void note_mallopt(struct mallopt_facts *f, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	uint64_t addr;

	if (x->op_count != 2 || !rip_address(insn, &x->operands[0], &addr))
		return;
	if (insn->id == X86_INS_CMPXCHG && x->prefix[0] == X86_PREFIX_LOCK && !f->arena)
		f->arena = addr;
	if (insn->id != X86_INS_MOV)
		return;
	if (x->operands[0].size == 8 && addr < f->lowest_store)
		f->lowest_store = addr;
	if (x->operands[0].size == 4 && x->operands[1].type == X86_OP_IMM &&
	    x->operands[1].imm == 1)
		f->flag_store = addr;
}

enum hi_status hi_glibc_read_mallopt(const void *code, size_t size, uint64_t addr,
				     uint64_t *main_arena_ret, uint64_t *mp_ret,
				     unsigned *distance_ret, struct hi_error *err)
{
	struct mallopt_facts f = {.lowest_store = UINT64_MAX};
	struct decoder d;
	enum hi_status status = open_disassembler(&d, code, size, addr, err);

	if (status != HI_OK)
		return status;
	while (disassemble_next(&d))
		note_mallopt(&f, d.insn);
	close_disassembler(&d);
	if (!f.arena || f.lowest_store == UINT64_MAX)
		return hi_fail(err, HI_NOT_FOUND, addr,
			       "mallopt's code does not look like glibc's");
	*main_arena_ret = f.arena;
	*mp_ret = f.lowest_store;
	*distance_ret =
		f.flag_store > f.lowest_store && f.flag_store - f.lowest_store < 256
			? (unsigned)(f.flag_store - f.lowest_store)
			: 0;
	return HI_OK;
}

/* What a register holds, as far as thread-local offsets are concerned. */
struct tls_register {
	enum { NOTHING, SLOT, OFFSET } kind;
	uint64_t value;
};

static void note_load(struct tls_register *regs, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	uint64_t addr;
	unsigned reg;

	if (x->op_count != 2 || x->operands[0].type != X86_OP_REG)
		return;
	reg = x->operands[0].reg;
	if (reg >= X86_REG_ENDING || insn->id == X86_INS_CMP || insn->id == X86_INS_TEST)
		return;
	regs[reg].kind = NOTHING;
	if (insn->id != X86_INS_MOV && insn->id != X86_INS_MOVABS)
		return;
	if (rip_address(insn, &x->operands[1], &addr))
		regs[reg] = (struct tls_register){SLOT, addr};
	else if (x->operands[1].type == X86_OP_IMM)
		regs[reg] = (struct tls_register){OFFSET, (uint64_t)x->operands[1].imm};
}

/* True if the instruction reads or writes %fs:… by a known offset. */
static bool read_tls_use(const struct tls_register *regs, const cs_insn *insn,
			 struct hi_glibc_tls_use *ret)
{
	const cs_x86 *x = &insn->detail->x86;

	for (unsigned i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];
		struct tls_register r;

		if (op->type != X86_OP_MEM || op->mem.segment != X86_REG_FS ||
		    op->size != 8)
			continue;
		if (op->mem.base == X86_REG_INVALID)
			r = (struct tls_register){OFFSET, (uint64_t)op->mem.disp};
		else if (op->mem.base < X86_REG_ENDING && !op->mem.disp)
			r = regs[op->mem.base];
		else
			continue;
		/* Positive offsets are the thread's own block: the stack guard … */
		if (r.kind == NOTHING || (r.kind == OFFSET && (int64_t)r.value >= 0))
			continue;
		ret->is_slot = r.kind == SLOT;
		ret->slot = ret->is_slot ? r.value : 0;
		ret->offset = ret->is_slot ? 0 : (int64_t)r.value;
		return true;
	}
	return false;
}

enum hi_status hi_glibc_read_malloc(const void *code, size_t size, uint64_t addr,
				    struct hi_glibc_tls_use uses[2], unsigned *n_ret,
				    struct hi_error *err)
{
	struct tls_register regs[X86_REG_ENDING] = {};
	struct hi_glibc_tls_use use;
	struct decoder d;
	unsigned n = 0;
	enum hi_status status = open_disassembler(&d, code, size, addr, err);

	if (status != HI_OK)
		return status;
	while (n < 2 && disassemble_next(&d)) {
		if (read_tls_use(regs, d.insn, &use) &&
		    (n == 0 || use.slot != uses[0].slot || use.offset != uses[0].offset))
			uses[n++] = use;
		note_load(regs, d.insn);
	}
	close_disassembler(&d);
	*n_ret = n;
	return HI_OK;
}

uint64_t hi_glibc_read_getter(const void *code, size_t size, uint64_t addr)
{
	struct decoder d;
	uint64_t found = 0;

	if (open_disassembler(&d, code, size, addr, NULL) != HI_OK)
		return 0;
	for (int i = 0; i < 4 && !found && disassemble_next(&d); i++)
		if (d.insn->id == X86_INS_LEA && d.insn->detail->x86.op_count == 2 &&
		    !rip_address(d.insn, &d.insn->detail->x86.operands[1], &found))
			found = 0;
	close_disassembler(&d);
	return found;
}
