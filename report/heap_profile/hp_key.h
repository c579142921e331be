/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the key of a heap profile (FILE.prof of hp_writer.h): what a label with a
 * number stands for. Hostile input like the profile itself; lines that are none of
 * a key's are skipped. GHC's own FILE.prof is no key: it numbers its sets anew at
 * each census.
 */
#ifndef HI_REPORT_HEAP_PROFILE_HP_KEY_H
#define HI_REPORT_HEAP_PROFILE_HP_KEY_H

#include "base/cleanup.h"
#include "report/heap_profile/hp_reader.h"

struct hi_hp_key;

/* HI_NOT_FOUND: the text is no key, or one of another series (its JOB or DATE
 * differs). text is not kept. */
enum hi_status hi_hp_key_parse(const char *text, size_t size,
			       const struct hi_hp_series *series, struct hi_hp_key **ret,
			       struct hi_error *err);
/* The same for a file. */
enum hi_status hi_hp_key_read(const char *path, const struct hi_hp_series *series,
			      struct hi_hp_key **ret, struct hi_error *err);
void hi_hp_key_destroy(struct hi_hp_key *key); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_hp_key *, hi_hp_key_destroy)

/* Returns what a label stands for: "{<a>, <b>}" for "(71)a,b", the whole name for
 * "(n3)std::map...". NULL: the label is complete, or the key does not have it.
 * Escaped; owned by the key. */
const char *hi_hp_key_find(const struct hi_hp_key *key, const char *label);

/* Returns the text of the i-th mark of the series; "" where the key does not have it.
 * Escaped; owned by the key. */
const char *hi_hp_key_mark(const struct hi_hp_key *key, size_t i);

#endif
