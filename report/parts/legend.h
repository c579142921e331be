/* SPDX-License-Identifier: BSD-2-Clause */
/* What words and signs of a page's tables mean: one line, only of those that are there.
 */
#ifndef HI_REPORT_PARTS_LEGEND_H
#define HI_REPORT_PARTS_LEGEND_H

#include "report/display.h"

/* Adds the line to a finished page, in front of the commands at its end. Nothing where no
 * word needs it, or where the page explains the word itself ("retained: …"). */
void hi_legend_add(struct hi_page *page);

#endif
