/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pure bytes: what the program uses of an object, without an allocator's header and
 * padding: what it requested, where a recording has that; else the size of its type
 * (times the elements of an array), of what has no type the usable bytes. One meaning
 * for --pure, JSON and SQL.
 */
#ifndef HI_SESSION_RETAINERS_PURE_H
#define HI_SESSION_RETAINERS_PURE_H

#include "session/inspection.h"

/* Before hi_pure_bytes: reads what a snapshot file and its recording have of it. */
enum hi_status hi_pure_open(struct hi_inspection *in, struct hi_error *err);
/* A hi_pure_fn; arg is the inspection. */
uint64_t hi_pure_bytes(void *arg, hi_node object);

#endif
