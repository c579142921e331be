/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, sizes and durations as people type them. */
#ifndef HI_BASE_PARSE_H
#define HI_BASE_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* "200ms", "1s", "1.5s", "500us"; false if it is none, or is 0. */
bool hi_parse_duration(const char *text, uint64_t *ns_ret);
/* "64", "64K", "64KiB", "1.5MiB", "2GB" (powers of 1024); false if it is none. */
bool hi_parse_size(const char *text, uint64_t *bytes_ret);
/* A whole number in [low, high]; false else. */
bool hi_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret);

#endif
