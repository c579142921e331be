/* SPDX-License-Identifier: BSD-2-Clause */
/* What words and signs of a page's tables mean: one line, only of those that are there.
 */
#ifndef HI_REPORT_PARTS_LEGEND_H
#define HI_REPORT_PARTS_LEGEND_H

#include "report/display.h"

/* Meanings of words in columns of many reports, for their fields (document.h). */
#define HI_MEANING_SHALLOW "bytes of the objects themselves"
#define HI_MEANING_RETAINED "bytes that would be freed with them"

/* Adds the line to a finished page, before the commands at its end. Nothing where no
 * word needs it, or where the page explains the word itself ("retained: …"). */
void hi_legend_add(struct hi_page *page);

#endif
