/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries of the system and of languages, so that frames of them can be folded: a call
 * stack is read for the functions of the program. The source file decides where it is
 * known, since headers are compiled into the program; then the module; then the name.
 */
#ifndef HI_CENSUS_EVENTS_FRAME_LIBRARY_H
#define HI_CENSUS_EVENTS_FRAME_LIBRARY_H

#include "census/events/frames.h"

enum { HI_FRAME_LIBRARY_SIZE = 40 };

/* Writes the name of the library that the frame belongs to: "libstdc++", "libc", "boost",
 * "Rust's std", "the interpreter"; cut, hostile. Returns false where it is a function of
 * the program. */
bool hi_frame_library(const struct hi_frame_row *row, char out[HI_FRAME_LIBRARY_SIZE]);

#endif
