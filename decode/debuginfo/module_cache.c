/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/debuginfo/modules_internal.h"

int hi_module_inflated(struct hi_module *module)
{
	(void)module;
	return -1;
}
