/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hash.h"

#include <string.h>

uint64_t hi_hash_more(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ull;
	return hash;
}

uint64_t hi_hash_name(const char *name)
{
	return hi_hash_more(HI_HASH_START, name, strlen(name));
}

uint64_t hi_hash_key(const char *name)
{
	return hi_hash_name(name) >> 1;
}
