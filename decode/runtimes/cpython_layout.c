/* SPDX-License-Identifier: BSD-2-Clause */
/* The versions that are known, newest first: for those up to 3.10, which do not say
 * their version, the order in which they are tried. */
#include "decode/runtimes/cpython_rows.h"

const struct hi_py_layout *const hi_py_layouts[] = {&hi_py_layout_3_13,
						    &hi_py_layout_3_12,
						    &hi_py_layout_3_11,
						    &hi_py_layout_3_10,
						    &hi_py_layout_3_9,
						    &hi_py_layout_3_8,
						    NULL};
