/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running target's code, shared by the files of this room: its modules, opened once,
 * the list of probe sites that is collected, and what finds them.
 */
#ifndef HI_PROBES_TARGET_CODE_H
#define HI_PROBES_TARGET_CODE_H

#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/modules/functions.h"
#include "decode/types/function_types.h"
#include "probes/safepoint.h"

struct hi_target_code {
	const struct hi_target *target;
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_types *types; /* NULL until hi_target_code_types */
};

/* Takes the image, of hi_image_unstopped; also on failure. */
enum hi_status hi_target_code_open(const struct hi_target *target, struct hi_image *image,
				   struct hi_target_code **ret, struct hi_error *err);
/* code->types, opened now if need be. */
enum hi_status hi_target_code_types(struct hi_target_code *code, struct hi_error *err);
/* Frees the code with its image. NULL is fine. */
void hi_target_code_close(struct hi_target_code *code);
HI_DEFINE_GUARD(struct hi_target_code *, hi_target_code_close)

struct hi_probe_site_list HI_VECTOR(struct hi_probe_site);

/* Adds the function at entry, at its cheapest site (prologue.h), once. HI_OK also
 * where it is not in a file that is mapped as code: nothing is added. */
enum hi_status hi_probe_sites_add_function(struct hi_target_code *code,
					   struct hi_probe_site_list *sites,
					   uint64_t entry, uint64_t size, unsigned kept,
					   struct hi_error *err);
/* Adds its returns, and the jumps out of it. HI_NOT_FOUND: its code cannot be read or
 * decoded, or is not left by any. */
enum hi_status hi_probe_sites_add_returns(struct hi_target_code *code,
					  struct hi_probe_site_list *sites,
					  uint64_t entry, uint64_t size,
					  struct hi_error *err);
/* Adds exactly this instruction, once. */
enum hi_status hi_probe_sites_add_exact(struct hi_target_code *code,
					struct hi_probe_site_list *sites, uint64_t addr,
					uint64_t semaphore, struct hi_error *err);

/* Adds all sites of the safepoint, of any kind. Errors as hi_safepoint_find(). */
enum hi_status hi_find_probe_sites(struct hi_target_code *code,
				   const struct hi_safepoint *safepoint,
				   struct hi_probe_site_list *sites,
				   struct hi_error *err);
/* Resolves the condition of a safepoint whose sites were found. */
enum hi_status hi_condition_of_sites(struct hi_target_code *code,
				     const struct hi_safepoint *safepoint,
				     const struct hi_probe_site_list *sites,
				     struct hi_condition *ret, struct hi_error *err);

/* ---- finding sites; on HI_NOT_FOUND err->text names what there is instead ---- */

/* Adds the sites of a function by its name, in all modules or in one. */
enum hi_status hi_find_function(struct hi_target_code *code,
				const struct hi_safepoint *safepoint,
				struct hi_probe_site_list *sites, struct hi_error *err);
/* The same, but without near names and inlined calls in the error text. */
enum hi_status hi_find_function_only(struct hi_target_code *code,
				     const struct hi_safepoint *safepoint,
				     struct hi_probe_site_list *sites,
				     struct hi_error *err);
/* HI_NOT_FOUND always; *found_ret: err lists the places where its calls were inlined. */
enum hi_status hi_find_inlined(struct hi_target_code *code,
			       const struct hi_safepoint *safepoint, bool *found_ret,
			       struct hi_error *err);
/* Adds the sites of FILE:LINE, or of the next line that has code. */
enum hi_status hi_find_line(struct hi_target_code *code,
			    const struct hi_safepoint *safepoint,
			    struct hi_probe_site_list *sites, struct hi_error *err);
/* The end of a collection, of all runtimes that are there. */
enum hi_status hi_find_gc(struct hi_target_code *code, struct hi_probe_site_list *sites,
			  struct hi_error *err);
/* Sets the `ends` of a USDT probe's sites where a runtime's collection has ended. */
void hi_probe_sites_mark_ends(const struct hi_safepoint *usdt,
			      struct hi_probe_site_list *sites);
/* Adds the sites of a USDT probe. */
enum hi_status hi_find_usdt(struct hi_target_code *code,
			    const struct hi_safepoint *safepoint,
			    struct hi_probe_site_list *sites, struct hi_error *err);

/* ---- names.c ---- */

/* Is symbol (mangled or not) the function that the user calls name: itself, a clone of
 * the whole of it (.isra, .constprop), or, demangled, with or without parameters. */
bool hi_name_matches(const char *symbol, const char *name);
/* The same for a name of a source language: "ns::f(int)" is f and ns::f(int). */
bool hi_plain_name_matches(const char *plain, const char *name);
/* Is symbol a clone with other arguments (.isra, .constprop)? */
bool hi_name_is_clone(const char *symbol);
/* "libc", "libc.so.6" or the whole path. */
bool hi_module_is_named(const struct hi_module *module, const char *name);

/* The best few of many names for one that does not exist. */
struct hi_near_names {
	const char *wanted;
	struct {
		char text[96];
		unsigned distance;
	} best[3];
	unsigned count;
};
/* Keeps name if it is among the three nearest so far. */
void hi_near_names_offer(struct hi_near_names *near, const char *name);
/* " (there is a, b, c)", or "". */
void hi_near_names_text(const struct hi_near_names *near, char *out, size_t out_size);

/* ---- usdt.c ---- */

struct hi_usdt_note {
	char provider[64], name[96]; /* hostile */
	uint64_t addr;		     /* target address */
	uint64_t semaphore;	     /* file offset; 0: none */
};
/* Every note of every module; false stops. */
typedef bool hi_usdt_fn(const struct hi_usdt_note *note, void *arg);
/* Calls fn for every USDT note of the target's files, until it returns false. */
enum hi_status hi_usdt_each(struct hi_target_code *code, hi_usdt_fn *fn, void *arg,
			    struct hi_error *err);

#endif
