/* SPDX-License-Identifier: BSD-2-Clause */
/* The style and the script of a picture of a heap. */
#ifndef HI_REPORT_PICTURES_PICTURE_SCRIPT_H
#define HI_REPORT_PICTURES_PICTURE_SCRIPT_H

extern const char hi_picture_style[];
/* To stand in a CDATA section; without any text of the target. */
extern const char hi_picture_script[];

#endif
