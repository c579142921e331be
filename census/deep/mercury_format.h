/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file Deep.data of Mercury's deep profiler, versions 8 and 9. The facts are from its
 * public sources: runtime/mercury_deep_profiling.c, which writes it, and
 * deep_profiler/read_profile.m and mdbcomp/goal_path.m, which read it.
 *
 *	file	= line of text: prefix, version
 *		  string program; fixed flags, CSDs, CSSs, PDs, PSs (counts of ids)
 *		  number ticks a second, quanta of the profiler, quanta of the program,
 *		  calls of all kinds, root PD; nodes; [byte 0]
 *	node	= byte 1, CSS: number id; byte kind; of a normal one: number callee's PS,
 *		  string of its types; of version 9: string file; number line;
 *		  string goal path
 *		| byte 2, CSD: number id, callee's PD or 0, mask, and a number for each
 *		  bit
 *		| byte 3, PS: number id; label; string file; number line; byte exported;
 *		  numbers n, n CSSs; with coverage: number n, n points: string goal path,
 *		  number type, and with static coverage number count
 *		| byte 4, PD: numbers id, PS, n; with dynamic coverage: numbers k,
 *		  k counts; n slots: byte kind; of a normal one: number CSD or 0;
 *		  of others: CSDs (numbers) until a byte 0
 *	label	= byte 0 or 1, strings declaring and defining module, name
 *		| byte 2, strings type, its module, defining module, name
 *		  both then: numbers arity, mode
 *	fixed	= 8 bytes, little-endian
 *	number	= groups of 7 bits, most significant first, the high bit set where more
 *		  follow
 *	string	= number length, bytes
 *
 * Ids count from 1. Mercury itself writes no byte 0 at the end.
 */
#ifndef HI_CENSUS_DEEP_MERCURY_FORMAT_H
#define HI_CENSUS_DEEP_MERCURY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "census/deep/deep.h"

#define HI_MERCURY_PREFIX "Mercury deep profiler data version "

enum { HI_MERCURY_OLD = 8, HI_MERCURY_NEW = 9 };

enum hi_mercury_token {
	HI_MERCURY_END,
	HI_MERCURY_CSS,
	HI_MERCURY_CSD,
	HI_MERCURY_PS,
	HI_MERCURY_PD,
	HI_MERCURY_TOKENS
};

/* Flags: bits 0-7 are the bytes of a word. */
enum {
	HI_MERCURY_WORD = 0xff,
	HI_MERCURY_CANONICAL = 0x100,
	HI_MERCURY_COMPRESSION = 0xc00,
	HI_MERCURY_STATIC_COVERAGE = 0x1000,
	HI_MERCURY_DYNAMIC_COVERAGE = 0x2000
};

/* Bits of a CSD's mask, in the order in which their numbers follow. */
static const struct hi_mercury_cost {
	uint16_t bit;
	enum hi_deep_cost cost;
} hi_mercury_costs[] = {
	{0x001, HI_DEEP_CALLS},	   {0x002, HI_DEEP_EXITS},	{0x004, HI_DEEP_FAILS},
	{0x040, HI_DEEP_REDOS},	   {0x080, HI_DEEP_EXCEPTIONS}, {0x100, HI_DEEP_TICKS},
	{0x008, HI_DEEP_CALLSEQS}, {0x010, HI_DEEP_ALLOCS},	{0x020, HI_DEEP_BYTES},
};
enum { HI_MERCURY_COSTS = sizeof(hi_mercury_costs) / sizeof(*hi_mercury_costs) };

/* ---- names ---- */

/* Part of another text. */
struct hi_mercury_piece {
	const char *at;
	size_t n;
};

enum hi_mercury_label_kind {
	HI_MERCURY_PREDICATE,
	HI_MERCURY_FUNCTION,
	HI_MERCURY_SPECIAL,
	HI_MERCURY_LABELS
};
struct hi_mercury_label {
	enum hi_mercury_label_kind kind;
	struct hi_mercury_piece name;
	struct hi_mercury_piece type, type_module; /* of a special one */
	uint32_t arity, mode;
};

/* Text that grows; not terminated. hi_vector_free(). */
struct hi_mercury_text HI_VECTOR(char);

/*
 * Names are those that Mercury's tools show: append/3-0, of a function append/2+1-0, of
 * special ones "Unify for list.list/1" and "... mode 2". Arity 0 and mode 0 are not
 * shown, so that names of other languages stay as they are. Each of the two functions
 * reverses the other. False: out of memory.
 */
bool hi_mercury_name(const struct hi_mercury_label *label, struct hi_mercury_text *ret);
/* Pieces of name. */
struct hi_mercury_label hi_mercury_label(const char *name);

/* Likewise a goal path and the place of a call site: see hi_deep_mercury_write(). */
bool hi_mercury_place(struct hi_mercury_piece goal_path, struct hi_mercury_text *ret);
bool hi_mercury_goal_path(const char *place, struct hi_mercury_text *ret);

#endif
