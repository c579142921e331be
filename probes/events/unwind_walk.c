/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/unwind_walk.h"

struct hi_unwind_reader {
	const struct hi_unwind_tables *tables;
	const struct hi_unwind_memory *memory;
};

static __u64 word_of_tables(const struct hi_unwind_tables *tables, size_t index)
{
	return index < tables->n_words ? tables->words[index] : 0;
}

static bool word_of_memory(const struct hi_unwind_memory *memory, __u64 addr, __u64 *ret)
{
	uint64_t word;

	if (!memory->read(memory->arg, addr, &word))
		return false;
	*ret = word;
	return true;
}

#define HI_UNWIND_NOTHING 0
#define HI_UNWIND_WORD(reader, index) word_of_tables((reader)->tables, index)
#define HI_UNWIND_STACK(reader, addr, ret) word_of_memory((reader)->memory, addr, ret)
#define HI_UNWIND_RULE(reader, pc) hi_unwind_rule(reader, hi_unwind_search(reader, pc))
#include "probes/bpf/unwind_walk.h"

size_t hi_unwind_walk(const struct hi_unwind_tables *tables,
		      const struct hi_unwind_memory *memory,
		      const struct hi_unwind_start *start, uint64_t *ret, size_t max,
		      bool *cut_ret)
{
	struct hi_unwind_reader reader = {tables, memory};
	struct hi_unwind_regs regs = {.rip = start->rip,
				      .rsp = start->rsp,
				      .rbp = start->rbp,
				      .is_exact = !start->is_return};
	enum hi_unwind_step step = HI_UNWIND_ON;
	size_t n = 0;

	while (step == HI_UNWIND_ON && n < max) {
		ret[n++] = regs.rip;
		step = hi_unwind_step(&reader, &regs);
	}
	*cut_ret = step != HI_UNWIND_OUTERMOST;
	return n;
}
