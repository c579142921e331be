/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common pattern of the names of edges (census/graph/edge_name.h): "->buckets[17]"
 * and "->buckets[18]" are both "->buckets[]".
 */
#ifndef HI_CENSUS_ANALYSIS_FIELD_PATTERN_H
#define HI_CENSUS_ANALYSIS_FIELD_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the pattern of a name into out (size >= 1; cut there): indices and keys are
 * empty ("[]", or "{}" for the elements of a set), and members that only the C++ library names ("_M_impl", "__table_") are left
 * out: "->index._M_h._M_before_begin._M_nxt" is "->index". The text is hostile. Returns
 * the length of out.
 */
size_t hi_field_pattern(const char *text, char *out, size_t size);
/* The same with indices and keys: "->index._M_h[3]" is "->index[3]". */
size_t hi_field_clean(const char *text, char *out, size_t size);
/* Is it one plain member, with no index or key? "->next", ".next", " +0x8". */
bool hi_field_is_link(const char *text);
/* Is it the offset of a word without a name, " +0x8"? */
bool hi_field_is_offset(const char *text);
/* Is it an inner part that a runtime names, "<keys>" or ".<table>"? */
bool hi_field_is_part(const char *text);
/* The length of a name without the indices, keys and ".<element>" at its end: of
 * `app["s"][3]` that of "app". */
size_t hi_field_container(const char *text);
/* The same without the last one of them only: that of `app["s"]`. */
size_t hi_field_without_index(const char *text);
/* Writes into out the name with "[*]" for each index that is another one in `other`;
 * false: it does not fit, or the two have different patterns. */
bool hi_field_join(const char *text, const char *other, char *out, size_t size);
/* The length of a pattern without the indices at its end: "->buckets" of
 * "->buckets[]"; all of it where nothing else is left. */
size_t hi_field_stem(const char *pattern);

#endif
