/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files whose bytes are changed at random and then read, thousands of times, in a
 * forked child, so that a crash or an endless loop is seen and named.
 */
#ifndef HI_TESTS_SUPPORT_VICTIM_H
#define HI_TESTS_SUPPORT_VICTIM_H

#include <stddef.h>
#include <stdint.h>

/* A file kept in memory, copied into a memfd for each variant. */
struct victim {
	unsigned char *bytes; /* freed when the test ends */
	size_t size;
	uint64_t min_types; /* that the unchanged file has */
	struct {
		size_t start, size;
	} parts[12]; /* where bytes are changed */
	unsigned n_parts;
};

void victim_load(struct victim *victim, const char *path);
void victim_part(struct victim *victim, size_t start, size_t size);
/* Sections by name, up to NULL; those that are not there are passed over. */
void victim_sections(struct victim *victim, const char *const *names);
/* Every section that DWARF is in. */
void victim_debug(struct victim *victim);
/* The unchanged file, then variants 1 to n - 1: the same ones in every run. */
void victim_survive(const struct victim *victim, uint64_t n);

#endif
