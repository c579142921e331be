/* SPDX-License-Identifier: BSD-2-Clause */
/* How to leave a frame: libdw runs the CFI program, its result is kept by pc. */
#include <dwarf.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/frames/frames_internal.h"

/* The two tables that a module may have; unwinders at run time use .eh_frame, so it comes
 * first. */
struct hi_cfi_module {
	bool tried, debug_tried;
	Dwarf_CFI *eh, *debug;
	Dwarf_CFI *owned; /* eh, where no Dwfl_Module holds it */
	Dwarf_Addr eh_bias, debug_bias;
};

static void find_eh_cfi(struct hi_cfi_module *cfi, struct hi_module *module)
{
	Dwfl_Module *dwfl = hi_module_dwfl(module);
	Elf *elf;

	cfi->tried = true;
	if (dwfl) {
		cfi->eh = dwfl_module_eh_cfi(dwfl, &cfi->eh_bias);
		return;
	}
	elf = hi_module_elf(module);
	cfi->owned = cfi->eh = elf ? dwarf_getcfi_elf(elf) : NULL;
	cfi->eh_bias = module->bias;
}

static void find_debug_cfi(struct hi_cfi_module *cfi, struct hi_module *module)
{
	Dwarf *dwarf = hi_module_dwarf(module, &cfi->debug_bias);

	cfi->debug_tried = true;
	cfi->debug = dwarf ? dwarf_getcfi(dwarf) : NULL;
}

/* The shapes that dwarf_frame_register makes in ops_mem; everything else is an
 * expression that libdw keeps. */
static struct hi_cfi_rule simple_rule(const Dwarf_Op *ops, size_t n_ops)
{
	struct hi_cfi_rule rule = {.kind = HI_CFI_UNDEFINED};
	size_t next = 1;

	if (n_ops == 1 && ops[0].atom == DW_OP_regx) {
		rule.kind = HI_CFI_REGISTER;
		rule.offset = ops[0].number;
		return rule;
	}
	if (n_ops == 0 || ops[0].atom != DW_OP_call_frame_cfa)
		return rule;
	if (next < n_ops && ops[next].atom == DW_OP_plus_uconst)
		rule.offset = ops[next++].number;
	if (next == n_ops)
		rule.kind = HI_CFI_AT;
	else if (next + 1 == n_ops && ops[next].atom == DW_OP_stack_value)
		rule.kind = HI_CFI_VALUE;
	return rule;
}

static struct hi_cfi_rule register_rule(Dwarf_Frame *frame, int regno)
{
	struct hi_cfi_rule rule = {.kind = HI_CFI_UNDEFINED};
	Dwarf_Op memory[3], *ops = NULL;
	size_t n_ops = 0;

	if (dwarf_frame_register(frame, regno, memory, &ops, &n_ops) != 0)
		return rule;
	if (n_ops == 0) {
		/* libdw up to 0.188 at least takes rbx for a scratch register where it
		 * has no rule, and rax for one that callees save. */
		rule.kind = ops && regno != HI_DWARF_RBX ? HI_CFI_UNDEFINED : HI_CFI_SAME;
		return rule;
	}
	if (ops == memory)
		return simple_rule(ops, n_ops);
	/* By the last operation it is a value or an address. */
	rule.kind = ops[n_ops - 1].atom == DW_OP_stack_value ? HI_CFI_VALUE_EXPR
							     : HI_CFI_AT_EXPR;
	rule.ops = ops;
	rule.n_ops = n_ops;
	return rule;
}

static bool cfa_rule(Dwarf_Frame *frame, struct hi_cfi_row *row)
{
	Dwarf_Op *ops = NULL;
	size_t n_ops = 0;

	if (dwarf_frame_cfa(frame, &ops, &n_ops) != 0 || n_ops == 0)
		return false;
	if (n_ops == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		row->cfa_reg = ops[0].atom - DW_OP_breg0;
		row->cfa.offset = ops[0].number;
	} else if (n_ops == 1 && ops[0].atom == DW_OP_bregx) {
		row->cfa_reg = ops[0].number;
		row->cfa.offset = ops[0].number2;
	} else {
		row->cfa_is_expr = true;
		row->cfa.ops = ops;
		row->cfa.n_ops = n_ops;
	}
	return true;
}

static bool read_row(Dwarf_CFI *cfi, Dwarf_Addr addr, struct hi_cfi_row *row)
{
	HI_GUARD(free) Dwarf_Frame *frame = NULL;
	int return_address;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr, &frame) != 0)
		return false;
	return_address = dwarf_frame_info(frame, NULL, NULL, &row->is_signal);
	if (return_address < 0 || !cfa_rule(frame, row))
		return false;
	for (int i = 0; i < HI_DWARF_RIP; i++)
		row->regs[i] = register_rule(frame, i);
	row->regs[HI_DWARF_RIP] = register_rule(frame, return_address);
	row->present = true;
	return true;
}

void hi_cfi_read(struct hi_frame_cache *cache, struct hi_pc *pc)
{
	struct hi_cfi_module *cfi;

	if (!pc->module)
		return;
	cfi = &cache->cfi[hi_module_index(pc->module)];
	if (!cfi->tried)
		find_eh_cfi(cfi, pc->module);
	if (read_row(cfi->eh, pc->pc - cfi->eh_bias, &pc->row))
		return;
	if (!cfi->debug_tried)
		find_debug_cfi(cfi, pc->module);
	pc->row = (struct hi_cfi_row){};
	if (!read_row(cfi->debug, pc->pc - cfi->debug_bias, &pc->row))
		pc->row = (struct hi_cfi_row){};
}

enum hi_status hi_cfi_init(struct hi_frame_cache *cache, struct hi_error *err)
{
	cache->cfi =
		hi_calloc(cache->n_modules ? cache->n_modules : 1, sizeof(*cache->cfi));
	return cache->cfi ? HI_OK : hi_fail_memory(err, "frame rules");
}

void hi_cfi_free(struct hi_frame_cache *cache)
{
	for (size_t i = 0; cache->cfi && i < cache->n_modules; i++)
		if (cache->cfi[i].owned)
			dwarf_cfi_end(cache->cfi[i].owned);
	free(cache->cfi);
}
