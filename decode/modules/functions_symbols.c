/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/search.h"
#include "decode/modules/functions.h"
#include "decode/modules/module.h"

enum hi_status hi_module_each_symbol(struct hi_module *module, hi_function_symbol_fn *fn,
				     void *arg, struct hi_error *err)
{
	const struct hi_symbols *symbols = hi_module_symbols(module);

	if (!symbols)
		return hi_fail_memory(err, "symbols");
	for (size_t i = 0; i < symbols->all.count; i++) {
		const struct hi_symbol *s = &symbols->all.items[i];
		struct hi_function_symbol symbol = {
			.name = s->name,
			.addr = s->addr,
			.size = s->size,
			.is_ifunc = s->type == STT_GNU_IFUNC,
			.is_code = s->type == STT_FUNC || s->type == STT_GNU_IFUNC,
		};

		if (!fn(&symbol, arg))
			break;
	}
	return HI_OK;
}

uint64_t hi_module_next_symbol(struct hi_module *module, uint64_t addr)
{
	const struct hi_symbols *symbols = hi_module_symbols(module);
	size_t low = hi_search(i, symbols ? symbols->all.count : 0,
			       symbols->all.items[i].addr <= addr);

	return symbols && low < symbols->all.count ? symbols->all.items[low].addr
						   : UINT64_MAX;
}
