/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/musl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 32768 };

/* "1.2.3", all of a string: its length, else 0. */
static size_t version_length(const char *p, size_t left)
{
	size_t n = 4;

	if (left < 7 || p[0] != '\0' || p[1] != '1' || p[2] != '.' || !isdigit(p[3]) ||
	    p[4] != '.')
		return 0;
	while (n + 1 < left && n < 8 && isdigit(p[n + 1]))
		n++;
	return n > 4 && n + 1 < left && p[n + 1] == '\0' ? n : 0;
}

/* Of libc.so's read-only data, mapped by m: the one string that is a version. */
static void search_version(struct hi_modules *modules, uint64_t start, uint64_t end,
			   char ret[64])
{
	char piece[PIECE + 16];

	for (uint64_t at = start; at < end && end - at > 16; at += PIECE) {
		size_t size = end - at < sizeof(piece) ? end - at : sizeof(piece);

		if (hi_modules_read(modules, at, piece, size, NULL) != HI_OK)
			continue;
		for (size_t i = 0; i < size && i < PIECE; i++) {
			size_t n = version_length(piece + i, size - i);

			if (n) {
				snprintf(ret, 64, "%.*s", (int)n, piece + i + 1);
				return;
			}
		}
	}
}

static bool is_musl_module(const struct hi_module *module)
{
	return strcmp(module->name, "libc.so") == 0 ||
	       strncmp(module->name, "ld-musl-", 8) == 0;
}

void hi_musl_find_version(const struct hi_image *image, struct hi_modules *modules,
			  const struct hi_module *module, char ret[64])
{
	enum { MAX_TEXT = 4 << 20 };
	char found[64] = "";

	if (!is_musl_module(module) || module->end - module->start > MAX_TEXT)
		return;
	for (size_t i = 0; i < image->n_mappings && !found[0]; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (m->start >= module->start && m->end <= module->end &&
		    m->kind == HI_MAPPING_FILE && m->prot == HI_PROT_READ)
			search_version(modules, m->start, m->end, found);
	}
	if (found[0])
		memcpy(ret, found, sizeof(found));
}

bool hi_musl_may_be_in(struct hi_modules *modules)
{
	return !hi_modules_named(modules, "libc.so.6") &&
	       !hi_modules_named(modules, "libc-2.");
}
