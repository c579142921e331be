/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels of a heap profile: what hp2ps and its like accept, one for each name and
 * none for two names. See hp_writer.h for how they look.
 */
#ifndef HI_REPORT_HEAP_PROFILE_HP_LABEL_H
#define HI_REPORT_HEAP_PROFILE_HP_LABEL_H

#include "base/text.h"
#include "report/heap_profile/hp_names.h"

enum {
	HI_HP_LABEL_MAX = 60, /* bytes of a label, without its number */
	HI_HP_LABEL_SIZE = 128,
};

struct hi_hp_label {
	const char *text; /* lives as long as the labels */
	uint64_t
		number; /* of a name: 0: the label is the whole name; of a set: its own */
	bool is_new;	/* was not requested before */
};

/* Zero-initialised is empty. */
struct hi_hp_labels {
	struct hi_hp_names names, taken; /* names as they came; labels in use */
	struct HI_VECTOR(struct hi_hp_label) of_name; /* by number in names */
	struct hi_table sets;			      /* set -> number in taken */
	uint64_t numbers;			      /* given out to names */
};

/* False: out of memory. */
bool hi_hp_label_of_name(struct hi_hp_labels *labels, const char *name,
			 struct hi_hp_label *ret);
/* The label of a retainer set by its number and the names of its n members. False: out
 * of memory. */
bool hi_hp_label_of_set(struct hi_hp_labels *labels, uint64_t set,
			const char *const *members, size_t n, struct hi_hp_label *ret);
/* Frees the memory of the labels. */
void hi_hp_labels_free(struct hi_hp_labels *labels);

#endif
