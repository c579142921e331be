/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order the report `alloc` has its functions. */
#ifndef HI_REPORT_REPORTS_ALLOC_ALLOC_ORDER_H
#define HI_REPORT_REPORTS_ALLOC_ALLOC_ORDER_H

/* Of functions: by the height of their bars, what they allocated, what survived, what is
 * live, or their names. */
enum hi_alloc_order {
	HI_ALLOC_BY_WEIGHT, /* without bars: as by alloc */
	HI_ALLOC_BY_ALLOC,
	HI_ALLOC_BY_SURVIVED,
	HI_ALLOC_BY_LIVE,
	HI_ALLOC_BY_NAME,
};

#endif
