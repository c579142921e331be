/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash of names: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/. A target may
 * choose names of one hash: tables have to compare them, too. */
#ifndef HI_BASE_HASH_H
#define HI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HI_HASH_START 0xcbf29ce484222325ull

/* Goes on from hash, of what came before. */
uint64_t hi_hash_more(uint64_t hash, const void *bytes, size_t n);
/* Returns the hash of a NUL-terminated name. */
uint64_t hi_hash_name(const char *name);
/* The same as a key of a table (base/table.h): never UINT64_MAX. */
uint64_t hi_hash_key(const char *name);

#endif
