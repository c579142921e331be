/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of profiles by roots and retainers, and of restrictions to them. */
#ifndef HI_CLI_PROFILE_OPTIONS_H
#define HI_CLI_PROFILE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/roots/named_roots.h"

/* What stands for a retainer. Root variables always stand for themselves. */
enum hi_identity {
	HI_IDENTITY_TYPE,
	HI_IDENTITY_VAR,    /* the variable that holds it alone, else its type */
	HI_IDENTITY_SITE,   /* where it was allocated */
	HI_IDENTITY_MODULE, /* of its type, or of the variable */
	HI_IDENTITY_ADDR,   /* itself */
};

enum { HI_PROFILE_MAX_SET = 8 };

struct hi_profile_options {
	/* --root NAME=EXPR, in the order given. */
	struct hi_root_text *roots;
	size_t n_roots;
	/* --under, as typed: names of roots; none: everything. */
	const char **under;
	size_t n_under;
	bool all_bins;
	const char *join; /* NULL: "-" */
	/* --retainer, as typed. */
	const char **retainers;
	size_t n_retainers;
	enum hi_identity identity;
	uint32_t max_set; /* 0: HI_PROFILE_MAX_SET */
	bool count, pure, weak_as_roots;
	const char *retained_by; /* names of retainers; NULL: everything */
};

/*
 * All keep `text`, and have room for `most` of them. hi_profile_take_root cuts it
 * at the "=". False: *why_ret (static) is what is wrong, "" for no memory.
 */
bool hi_profile_take_root(struct hi_profile_options *p, size_t most, char *text,
			  const char **why_ret);
bool hi_profile_take_retainer(struct hi_profile_options *p, size_t most, const char *text,
			      const char **why_ret);
bool hi_profile_take_under(struct hi_profile_options *p, size_t most, const char *text,
			   const char **why_ret);
bool hi_profile_take_identity(struct hi_profile_options *p, const char *text);
/* A name that two roots have, NULL: none. */
const char *hi_profile_duplicate(const struct hi_profile_options *p);
bool hi_profile_has_root(const struct hi_profile_options *p, const char *name);
/* The first of --under that is no root's name, NULL: none. */
const char *hi_profile_unknown_under(const struct hi_profile_options *p);
bool hi_profile_is_under(const struct hi_profile_options *p, const char *name);
void hi_profile_options_free(struct hi_profile_options *p);

#endif
