/* SPDX-License-Identifier: BSD-2-Clause */
/* The operands of `deep`. */
#ifndef HI_CLI_DEEP_H
#define HI_CLI_DEEP_H

#include "session/options.h"

/* Takes an operand, whose text stays where it is and may be cut. 2: it is wrong, which
 * was said. */
int hi_deep_take_operand(char *word, struct hi_deep_operands *to);
/* 2: something is missing, which was said. */
int hi_deep_check_operands(const struct hi_deep_operands *operands);

#endif
