/* SPDX-License-Identifier: BSD-2-Clause */
/* Two images of one target that stood still: the same mappings, residency, held
 * ranges, bytes and figures; fails the test where they differ. Bytes below the
 * stack pointer of a's threads do not count. */
#ifndef HI_TESTS_SUPPORT_COMPARE_IMAGES_H
#define HI_TESTS_SUPPORT_COMPARE_IMAGES_H

#include "attach/image.h"

void hi_test_compare_images(struct hi_image *a, struct hi_image *b);

#endif
