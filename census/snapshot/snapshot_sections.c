/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of sections, part by part as the document has them. */
#include "census/snapshot/snapshot_sections.h"

#include <string.h>

#include "census/analysis/ledger.h"
#include "census/analysis/waste.h"
#include "census/biography/summary.h"
#include "census/events/births.h"
#include "census/events/marked_totals.h"
#include "census/events/pieces.h"
#include "census/snapshot/snapshot_format.h"
#include "census/space/space_kept.h"

#define COLUMN(row, member, what, ...)                                                   \
	{                                                                                \
		.name = #member, .offset = offsetof(row, member),                        \
		.width = sizeof(((row *)NULL)->member),                                  \
		.meaning = what __VA_OPT__(, ) __VA_ARGS__                               \
	}
#define ARRAY(row, member, what, ...)                                                    \
	{                                                                                \
		.name = #member, .offset = offsetof(row, member),                        \
		.width = sizeof(((row *)NULL)->member[0]),                               \
		.times = sizeof(((row *)NULL)->member) /                                 \
			 sizeof(((row *)NULL)->member[0]),                               \
		.meaning = what __VA_OPT__(, ) __VA_ARGS__                               \
	}
#define TEXT .kind = HI_STORED_TEXT
#define REAL .kind = HI_STORED_REAL
#define BYTES .kind = HI_STORED_BYTES
#define REFERS(bound) .below = HI_BOUND_##bound
#define ASCENDS .ascends = true
#define SECTION(its_name, its_part, its_presence, what)                                  \
	.name = its_name, .part = HI_SECTIONS_##its_part,                                \
	.presence = HI_SECTION_##its_presence, .meaning = what
#define ROWS_OF(row, list)                                                               \
	.item = sizeof(row), .columns = list,                                            \
	.n_columns = sizeof(list) / sizeof((list)[0])
/* One number to a row. */
#define NUMBERS(bytes, ...)                                                              \
	.item = bytes,                                                                   \
	.columns = (const struct hi_stored_column[]){{.width = bytes __VA_OPT__(, )      \
							      __VA_ARGS__}},             \
	.n_columns = 1
#define COUNT(bound) .count = HI_BOUND_##bound
#define SETS(bound) .sets = HI_BOUND_##bound

/* ---- the heap ---- */

static const struct hi_stored_column properties[] = {
	COLUMN(struct hi_snapshot_property, name, "", TEXT),
	COLUMN(struct hi_snapshot_property, kind, "1 number, 2 string"),
	COLUMN(struct hi_snapshot_property, value,
	       "the number, or the string's offset in `strings`"),
};

static const struct hi_stored_column types[] = {
	COLUMN(struct hi_snapshot_type, name, "", TEXT),
	COLUMN(struct hi_snapshot_type, module, "", TEXT),
	COLUMN(struct hi_snapshot_type, owner, "", TEXT),
	COLUMN(struct hi_snapshot_type, field, "", TEXT),
	COLUMN(struct hi_snapshot_type, size, "bytes of one element"),
	COLUMN(struct hi_snapshot_type, size_class, ""),
	COLUMN(struct hi_snapshot_type, klass,
	       "0 unknown, 1 record, 2 array, 3 string, 4 pointer array, 5 scalar, 6 "
	       "what a field leads to: then owner, field and size class say which",
	       .most = HI_TYPE_CLASSES - 1),
	COLUMN(struct hi_snapshot_type, flags,
	       "1 only through other objects without a type, 2 a hint calls it a "
	       "retainer; bits 8 to 15: a runtime's objects begin so many bytes after "
	       "the start of their blocks, and that is the address by which the program "
	       "refers to them"),
};

static const struct hi_stored_column roots[] = {
	COLUMN(struct hi_snapshot_root, name, "", TEXT),
	COLUMN(struct hi_snapshot_root, detail, "file and line, or module", TEXT),
	COLUMN(struct hi_snapshot_root, type, "", TEXT),
	COLUMN(struct hi_snapshot_root, module, "", TEXT),
	COLUMN(struct hi_snapshot_root, address, ""),
	COLUMN(struct hi_snapshot_root, size, "bytes"),
	COLUMN(struct hi_snapshot_root, kind, "of roots, as above",
	       .most = HI_ROOT_KINDS - 1),
	COLUMN(struct hi_snapshot_root, rank,
	       "how well it says whose an object is: 1 nobody's words, 2 the C "
	       "library's and the loader's, 3 words of mapped memory, 4 those of frames "
	       "and threads, 5 the program's; 0: words without a variable and registers "
	       "1, others 5"),
};

static const struct hi_stored_column windows[] = {
	COLUMN(struct hi_snapshot_window, base, "", ASCENDS,
	       .most = UINT64_MAX - UINT32_MAX),
	COLUMN(struct hi_snapshot_window, first, "object; of the first row 0", ASCENDS,
	       REFERS(OBJECTS)),
};

static bool window_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_window *row = at;

	(void)bounds;
	return before || !row->first;
}

static const struct hi_stored_column large[] = {
	COLUMN(struct hi_snapshot_large, object, "", ASCENDS, REFERS(OBJECTS)),
	COLUMN(struct hi_snapshot_large, usable, "bytes"),
};

static const struct hi_stored_column fates[] = {
	COLUMN(struct hi_snapshot_unreachable, object, "", REFERS(OBJECTS)),
	COLUMN(struct hi_snapshot_unreachable, unreachable_class,
	       "1 garbage, 2 uncollectable, also where it is live: the collector has put "
	       "it aside, 3 held by a lost reference",
	       .most = HI_UNREACHABLE_CLASSES - 1),
};

static const struct hi_stored_column leak_groups[] = {
	COLUMN(struct hi_snapshot_leak_row, usable, "bytes of each"),
	COLUMN(struct hi_snapshot_leak_row, n_like, "live objects of the type `like`"),
	COLUMN(struct hi_snapshot_leak_row, pointers,
	       "words that are pointers in some of them, of the first 64"),
	COLUMN(struct hi_snapshot_leak_row, text, "1: they begin with text"),
	COLUMN(struct hi_snapshot_leak_row, like,
	       "row of `types` whose live objects look the same in memory; 0: none",
	       REFERS(TYPES)),
	COLUMN(struct hi_snapshot_leak_row, n_fits, "number of fits",
	       .most = HI_LEAK_FITS),
	ARRAY(struct hi_snapshot_leak_row, fits,
	      "records of the program that fit, the likeliest first", TEXT),
};

static const struct hi_stored_column leak_sites[] = {
	COLUMN(struct hi_snapshot_site_row, size,
	       "bytes of kind 1; of kind 0 the bytes are a multiple of it"),
	COLUMN(struct hi_snapshot_site_row, extra, "of kind 0: bytes beside them"),
	COLUMN(struct hi_snapshot_site_row, function, "", TEXT),
	COLUMN(struct hi_snapshot_site_row, file, "of its source", TEXT),
	COLUMN(struct hi_snapshot_site_row, module, "", TEXT),
	COLUMN(struct hi_snapshot_site_row, type, "of the object", TEXT),
	COLUMN(struct hi_snapshot_site_row, line, "0: unknown"),
	COLUMN(struct hi_snapshot_site_row, kind, "1: of one size",
	       .most = HI_ALLOC_OF_SIZE),
	COLUMN(struct hi_snapshot_site_row, type_grade,
	       "0: without a type; 1: it is likely, 2: certain, 3: certain, with a table "
	       "of "
	       "virtual functions",
	       .most = HI_ALLOC_VIRTUAL_TYPE),
	COLUMN(struct hi_snapshot_site_row, gives_text,
	       "1: it copies a string; 2: its type begins with no characters",
	       .most = HI_ALLOC_NO_TEXT),
};

static const struct hi_stored_column leak_nodes[] = {
	COLUMN(struct hi_snapshot_leak_node, object, "", ASCENDS, REFERS(OBJECTS)),
	COLUMN(struct hi_snapshot_leak_node, group,
	       "row of `leaks.groups`, counted from 1", REFERS(LEAK_GROUPS),
	       .from_one = true),
};

static const struct hi_stored_column ledger[] = {
	COLUMN(struct hi_snapshot_ledger_row, key, "", TEXT),
	COLUMN(struct hi_snapshot_ledger_row, label, "", TEXT),
	COLUMN(struct hi_snapshot_ledger_row, level,
	       "0 a term of the sum, 1 a part of the row above"),
	COLUMN(struct hi_snapshot_ledger_row, resident, "all ones: unknown, also below"),
	COLUMN(struct hi_snapshot_ledger_row, virtual_size, ""),
	COLUMN(struct hi_snapshot_ledger_row, swapped, ""),
	COLUMN(struct hi_snapshot_ledger_row, count, ""),
};

static const struct hi_stored_column census[] = {
	COLUMN(struct hi_snapshot_census_row, type, "row of `types`", REFERS(TYPES)),
	COLUMN(struct hi_snapshot_census_row, count, "objects"),
	COLUMN(struct hi_snapshot_census_row, shallow, "bytes"),
	COLUMN(struct hi_snapshot_census_row, retained, "retained bytes, a lower bound"),
	COLUMN(struct hi_snapshot_census_row, largest, "bytes of the largest"),
	ARRAY(struct hi_snapshot_census_row, by_evidence, "bytes by evidence"),
};

static const struct hi_stored_column retained_tree[] = {
	COLUMN(struct hi_snapshot_retained_row, depth,
	       "0: top level; at most one more than the row before"),
	COLUMN(struct hi_snapshot_retained_row, sort, "0 object, 1 root variable",
	       .most = HI_SNAPSHOT_RETAINED_SORTS - 1),
	COLUMN(struct hi_snapshot_retained_row, kind, "of root",
	       .most = HI_ROOT_KINDS - 1),
	COLUMN(struct hi_snapshot_retained_row, flags,
	       "as `objects.flags`: evidence, internal, array; 256: linked one after the "
	       "other"),
	COLUMN(struct hi_snapshot_retained_row, name,
	       "of an object: how the row above leads there, or a way from a root", TEXT),
	COLUMN(struct hi_snapshot_retained_row, detail, "", TEXT),
	COLUMN(struct hi_snapshot_retained_row, type, "", TEXT),
	COLUMN(struct hi_snapshot_retained_row, node,
	       "of several the one that retains most"),
	COLUMN(struct hi_snapshot_retained_row, address, "of several 0"),
	COLUMN(struct hi_snapshot_retained_row, shallow, "bytes"),
	COLUMN(struct hi_snapshot_retained_row, retained, "bytes"),
	COLUMN(struct hi_snapshot_retained_row, more, "children that are in no row"),
	COLUMN(struct hi_snapshot_retained_row, more_bytes, "bytes that those retain"),
	COLUMN(struct hi_snapshot_retained_row, count, "objects"),
};

static bool retained_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_retained_row *row = at, *above = before;

	(void)bounds;
	return row->depth <= (above ? (uint64_t)above->depth + 1 : 0) &&
	       (row->flags & HI_OBJECT_EVIDENCE_MASK) <= HI_EVIDENCE_RUNTIME;
}

static const struct hi_stored_column suspects[] = {
	COLUMN(struct hi_snapshot_suspect_row, top, "root variable or object"),
	COLUMN(struct hi_snapshot_suspect_row, accumulation,
	       "node that holds the elements; the super-root: several roots hold them"),
	COLUMN(struct hi_snapshot_suspect_row, child_type, "type of the elements",
	       REFERS(TYPES)),
	COLUMN(struct hi_snapshot_suspect_row, held, "an element; 0xffffffff: none"),
	COLUMN(struct hi_snapshot_suspect_row, holder,
	       "the node whose edge leads to it; 0xffffffff: none"),
	COLUMN(struct hi_snapshot_suspect_row, example,
	       "the element that retains most; 0xffffffff: none"),
	COLUMN(struct hi_snapshot_suspect_row, threads,
	       "number of threads whose variable `top` is; 0: of none"),
	COLUMN(struct hi_snapshot_suspect_row, flags, "1 linked one after the other"),
	COLUMN(struct hi_snapshot_suspect_row, retained, "by `top`"),
	COLUMN(struct hi_snapshot_suspect_row, accumulation_retained,
	       "by the accumulation"),
	COLUMN(struct hi_snapshot_suspect_row, children, "elements"),
	COLUMN(struct hi_snapshot_suspect_row, children_bytes, "that they retain"),
};

static bool suspect_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_suspect_row *row = at;
	uint64_t first_root = bounds[HI_BOUND_OBJECTS];
	uint64_t first_kind = first_root + bounds[HI_BOUND_ROOTS];
	bool has_held = row->held != HI_NODE_NONE;

	(void)before;
	return row->top < first_kind &&
	       (row->accumulation < first_kind ||
		(uint64_t)row->accumulation + 1 == bounds[HI_BOUND_NODES]) &&
	       has_held == (row->holder != HI_NODE_NONE) &&
	       (!has_held || (row->held < first_root && row->holder < first_kind)) &&
	       (row->example == HI_NODE_NONE || row->example < first_kind) &&
	       (!row->threads || row->top >= first_root);
}

static const struct hi_stored_column owners[] = {
	COLUMN(struct hi_snapshot_owner_row, bytes, ""),
	COLUMN(struct hi_snapshot_owner_row, largest_bytes, "retained by the largest"),
	COLUMN(struct hi_snapshot_owner_row, largest, "variable or object"),
	COLUMN(struct hi_snapshot_owner_row, n, "number of variables",
	       .most = HI_OWNERS_MAX),
	COLUMN(struct hi_snapshot_owner_row, flags,
	       "1 more than 16 variables, which are not listed; 2 variables of the "
	       "program, not untyped words"),
	ARRAY(struct hi_snapshot_owner_row, variables, "ascending"),
};

static bool owner_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_owner_row *row = at;
	uint64_t first_root = bounds[HI_BOUND_OBJECTS];
	uint64_t first_kind = first_root + bounds[HI_BOUND_ROOTS];

	(void)before;
	if ((row->flags & HI_SNAPSHOT_OWNER_MANY && row->n) || row->largest >= first_kind)
		return false;
	for (uint32_t i = 0; i < row->n; i++)
		if (row->variables[i] < first_root || row->variables[i] >= first_kind ||
		    (i && row->variables[i] <= row->variables[i - 1]))
			return false;
	return true;
}

static const struct hi_stored_column conflicts[] = {
	COLUMN(struct hi_snapshot_conflict_row, type, "", TEXT),
	COLUMN(struct hi_snapshot_conflict_row, other, "the other type", TEXT),
	COLUMN(struct hi_snapshot_conflict_row, objects, ""),
	COLUMN(struct hi_snapshot_conflict_row, example, "address of one"),
};

static const struct hi_stored_column modules[] = {
	COLUMN(struct hi_snapshot_module_row, path, "", TEXT),
	COLUMN(struct hi_snapshot_module_row, build_id, "in hex; \"\" unknown", TEXT),
	COLUMN(struct hi_snapshot_module_row, start, "address of the first byte"),
	COLUMN(struct hi_snapshot_module_row, end, "address after the last one"),
};

static const struct hi_stored_column live_functions[] = {
	COLUMN(struct hi_snapshot_function_row, function, "", TEXT),
	COLUMN(struct hi_snapshot_function_row, file, "of its source", TEXT),
	COLUMN(struct hi_snapshot_function_row, module, "path", TEXT),
	COLUMN(struct hi_snapshot_function_row, kind,
	       "0 a function; 1 older than the recording, or of samples without a "
	       "record; 2 of a heap that is not recorded; 3 recorded, and the function "
	       "is not known; of 1 to 3 one row each, without names",
	       .most = HI_LIVE_FUNCTION_KINDS - 1),
	COLUMN(struct hi_snapshot_function_row, objects, "of samples an estimate"),
	COLUMN(struct hi_snapshot_function_row, bytes, "of samples an estimate"),
};

/* ---- a recording ---- */

static const struct hi_stored_column window_sites[] = {
#define WINDOW_COLUMN(member, ...)                                                       \
	COLUMN(struct hi_snapshot_window_site, member, __VA_ARGS__)
#define ESTIMATE(member, what) ARRAY(struct hi_snapshot_window_site, member, what, REAL)
	WINDOW_COLUMN(module, "path of the file", TEXT),
	WINDOW_COLUMN(function, "demangled", TEXT),
	WINDOW_COLUMN(file, "of the source; \"\" unknown", TEXT),
	WINDOW_COLUMN(line, "0 unknown"),
	WINDOW_COLUMN(offset, "from where the module begins"),
	WINDOW_COLUMN(flags, "as of `frames`"),
	WINDOW_COLUMN(has_site, "0: allocations without a stack", .most = 1),
	WINDOW_COLUMN(seen, "allocations that windows saw"),
	WINDOW_COLUMN(seen_live, "live blocks of these"),
	WINDOW_COLUMN(seen_leaked, "leaked ones"),
	WINDOW_COLUMN(unseen_frees, "blocks that were freed between windows"),
	ESTIMATE(allocations, "a second; this and the next: value, low and high end of "
			      "the interval of 95 %"),
	ESTIMATE(bytes, "a second"),
	ESTIMATE(live_bytes, ""),
	ESTIMATE(leaked, "blocks"),
	ESTIMATE(leaked_bytes, ""),
	WINDOW_COLUMN(open,
		      "bits: 1 allocations, 2 bytes, 4 live bytes, 8 leaked, 16 leaked "
		      "bytes have no known high end",
		      .most = 31),
#undef WINDOW_COLUMN
#undef ESTIMATE
};

static bool estimate_is_ordered(const double e[3])
{
	return e[1] <= e[0] && e[0] <= e[2];
}

static bool window_site_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_window_site *row = at;

	(void)before, (void)bounds;
	return estimate_is_ordered(row->allocations) && estimate_is_ordered(row->bytes) &&
	       estimate_is_ordered(row->live_bytes) && estimate_is_ordered(row->leaked) &&
	       estimate_is_ordered(row->leaked_bytes);
}

static const struct hi_stored_column frames[] = {
	COLUMN(struct hi_snapshot_frame, module, "path of the file", TEXT),
	COLUMN(struct hi_snapshot_frame, function, "demangled", TEXT),
	COLUMN(struct hi_snapshot_frame, file, "of the source; \"\" unknown", TEXT),
	COLUMN(struct hi_snapshot_frame, line, "0 unknown"),
	COLUMN(struct hi_snapshot_frame, offset, "from where the module begins"),
	COLUMN(struct hi_snapshot_frame, frame, "number of the frame"),
	COLUMN(struct hi_snapshot_frame, flags,
	       "1 the function only allocates for its caller, 2 inlined: the next row of "
	       "the frame is its caller, 4 of the file of an interpreter, or of its "
	       "library in C, 8 code that an interpreter runs, in place of the "
	       "interpreter's own frame"),
};

/* Rows of one frame follow each other; no frame is left out. */
static bool frame_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_frame *row = at, *above = before;

	(void)bounds;
	if (!above)
		return !row->frame;
	return row->frame == above->frame || row->frame == (uint64_t)above->frame + 1;
}

static const struct hi_stored_column context_nodes[] = {
	COLUMN(struct hi_context_node, parent, "an item before this one"),
	COLUMN(struct hi_context_node, frame, ""),
};

static const struct hi_stored_column context_stacks[] = {
	COLUMN(struct hi_context, stack, "hash of the frames"),
	COLUMN(struct hi_context, node,
	       "item of `contexts`: its innermost frame; 0: none"),
	COLUMN(struct hi_context, flags,
	       "1 outer frames are missing, 2 the stack is not known"),
};

static const struct hi_stored_column context_totals[] = {
	COLUMN(struct hi_context_totals, allocs, "allocations"),
	COLUMN(struct hi_context_totals, bytes, ""),
	COLUMN(struct hi_context_totals, frees, ""),
	COLUMN(struct hi_context_totals, freed_bytes, ""),
	COLUMN(struct hi_context_totals, most_live,
	       "allocations that were live at a time"),
	COLUMN(struct hi_context_totals, most_bytes, "the same in bytes"),
};

static bool totals_hold(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_context_totals *row = at;

	(void)before, (void)bounds;
	return row->frees <= row->allocs && row->freed_bytes <= row->bytes;
}

static const struct hi_stored_column context_ports[] = {
	COLUMN(struct hi_context_ports, fails,
	       "calls of malloc and its like that gave no block although one was asked "
	       "for",
	       .most = HI_TICKS_MAX),
	COLUMN(struct hi_context_ports, moves, "reallocations that have moved a block",
	       .most = HI_TICKS_MAX),
};

static const struct hi_stored_column sources[] = {
	COLUMN(struct hi_snapshot_source_row, name, "", TEXT),
	COLUMN(struct hi_snapshot_source_row, family,
	       "0 a general allocator, 1 functions that were named, 2 mappings",
	       .most = HI_FAMILIES - 1),
	COLUMN(struct hi_snapshot_source_row, is_whole,
	       "1: all of its blocks have a record, also of samples"),
	COLUMN(struct hi_snapshot_source_row, totals,
	       "as in `contexts.totals`, where those of `contexts.totals` are of family "
	       "0 only",
	       BYTES),
};

static bool source_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	return totals_hold(&((const struct hi_snapshot_source_row *)at)->totals, before,
			   bounds);
}

static const struct hi_stored_column pieces[] = {
	COLUMN(struct hi_piece, addr, ""),
	COLUMN(struct hi_piece, size, "0: not known"),
	COLUMN(struct hi_piece, time_ns, "nanoseconds since the recording began"),
	COLUMN(struct hi_piece, context, "", REFERS(CONTEXTS)),
	COLUMN(struct hi_piece, tid, "thread id"),
	COLUMN(struct hi_piece, source, "item of `sources`", REFERS(SOURCES), ASCENDS,
	       .may_repeat = true),
};

static const struct hi_stored_column recording_marks[] = {
	COLUMN(struct hi_snapshot_mark_row, time_ns,
	       "nanoseconds since the recording began", ASCENDS, .may_repeat = true),
	COLUMN(struct hi_snapshot_mark_row, text, "", TEXT),
	COLUMN(struct hi_snapshot_mark_row, n_rows, "items of `marks.totals`"),
	COLUMN(struct hi_snapshot_mark_row, is_era, "1: an era"),
};

static const struct hi_stored_column mark_totals[] = {
	COLUMN(struct hi_recorded_mark_row, context, "", REFERS(CONTEXTS)),
	COLUMN(struct hi_recorded_mark_row, allocs, "allocations"),
	COLUMN(struct hi_recorded_mark_row, bytes, ""),
	COLUMN(struct hi_recorded_mark_row, overhead, "costs beside them"),
};

static const struct hi_stored_column pauses[] = {
	COLUMN(struct hi_recording_pause, from_ns,
	       "nanoseconds since the recording began"),
	COLUMN(struct hi_recording_pause, to_ns, "the same"),
	COLUMN(struct hi_recording_pause, calls, "allocations that were not recorded"),
	COLUMN(struct hi_recording_pause, bytes, "that these requested"),
};

static bool pause_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_recording_pause *row = at, *above = before;

	(void)bounds;
	return row->to_ns >= row->from_ns && (!above || row->from_ns >= above->to_ns);
}

/* ---- biographies ---- */

static const struct hi_stored_column lives[] = {
	COLUMN(struct hi_bio_life_row, object, "", ASCENDS, REFERS(OBJECTS)),
	COLUMN(struct hi_bio_life_row, group, "item of `lives.groups`", REFERS(GROUPS)),
	COLUMN(struct hi_bio_life_row, size, "bytes that count; of samples an estimate"),
	COLUMN(struct hi_bio_life_row, from,
	       "the period in which it was born; of an older one 1"),
	COLUMN(struct hi_bio_life_row, first_proved,
	       "the first period of which a use is proved"),
	COLUMN(struct hi_bio_life_row, last_proved, "the last one"),
	COLUMN(struct hi_bio_life_row, first_possible,
	       "the first period in which a use is not excluded"),
	COLUMN(struct hi_bio_life_row, last_possible, "the last one"),
	COLUMN(struct hi_bio_life_row, quiet_from,
	       "the period from which on it is proved to be unused"),
	COLUMN(struct hi_bio_life_row, era, "of its birth"),
	COLUMN(struct hi_bio_life_row, first_evidence,
	       "of the first use: 1 a watchpoint, 2 a call, 3 its contents differ; 0 "
	       "where no use is proved"),
	COLUMN(struct hi_bio_life_row, last_evidence, "of the last use"),
	COLUMN(struct hi_bio_life_row, flags,
	       "1 it is older than period 1, 2 its use cannot be seen",
	       .most = HI_BIO_LIFE_FLAGS),
	COLUMN(struct hi_bio_life_row, state,
	       "0 its use cannot be seen, 1 proved to be unused since it is followed, 2 "
	       "no use is proved and none excluded, 3 used in the last period, 4 proved "
	       "to be unused since the period above, 5 used, and not known since",
	       .most = HI_BIO_STATES - 1),
};

/* As hi_bio_uses_are_ordered() has them, in periods that have ended. A life that is older
 * than the first period begins there, also when none has ended. */
static bool life_is_ordered(const struct hi_bio_life_row *row, uint64_t periods)
{
	if (!row->from || (row->from > periods && row->from != 1) ||
	    row->quiet_from > periods || (row->quiet_from && row->quiet_from < row->from))
		return false;
	if (!row->first_possible)
		return !row->first_proved && !row->last_proved && !row->last_possible;
	if (row->first_possible < row->from || row->last_possible > periods ||
	    row->first_possible > row->last_possible)
		return false;
	if (!row->first_proved)
		return !row->last_proved;
	return row->first_possible <= row->first_proved &&
	       row->first_proved <= row->last_proved &&
	       row->last_proved <= row->last_possible;
}

static bool proves_use(uint8_t evidence)
{
	return evidence >= HI_BIO_WATCH && evidence <= HI_BIO_CONTENT;
}

static bool life_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_bio_life_row *row = at;

	(void)before;
	return (!row->first_proved ||
		(proves_use(row->first_evidence) && proves_use(row->last_evidence))) &&
	       life_is_ordered(row, bounds[HI_BOUND_PERIODS]);
}

static const struct hi_stored_column life_groups[] = {
	COLUMN(struct hi_bio_group_row, type, "", TEXT),
	COLUMN(struct hi_bio_group_row, module, "of the type", TEXT),
	COLUMN(struct hi_bio_group_row, site,
	       "the function that allocated, with file and line", TEXT),
	COLUMN(struct hi_bio_group_row, era, "", TEXT),
	COLUMN(struct hi_bio_group_row, root,
	       "the root variable that alone keeps it alive", TEXT),
	COLUMN(struct hi_bio_group_row, retainers, "the retainer set", TEXT),
	COLUMN(struct hi_bio_group_row, is_inherent, "1: its use cannot be seen"),
	{.name = "bands",
	 .offset = offsetof(struct hi_bio_group_row, row),
	 .width = offsetof(struct hi_bio_row, sets),
	 .meaning = "*bands* at the last census",
	 BYTES},
};

static const struct hi_stored_column life_censuses[] = {
	COLUMN(struct hi_bio_census_row, at_ns, "nanoseconds since the first census",
	       ASCENDS, .may_repeat = true),
	COLUMN(struct hi_bio_census_row, unseen,
	       "bytes and objects that were born and died in its period", BYTES),
	COLUMN(struct hi_bio_census_row, evidence,
	       "5 × (u64 bytes, u64 objects) by the evidence of its period: none, a "
	       "watchpoint, a call, contents that differ, pages that were not referenced",
	       BYTES),
	COLUMN(struct hi_bio_census_row, has_pages, "1: there is evidence from pages"),
	{.name = "bands",
	 .offset = offsetof(struct hi_bio_census_row, row),
	 .width = offsetof(struct hi_bio_row, sets),
	 .meaning = "*bands*",
	 BYTES},
};

static const struct hi_stored_column life_eras[] = {
	COLUMN(struct hi_snapshot_era_row, number, ""),
	COLUMN(struct hi_snapshot_era_row, name, "", TEXT),
	COLUMN(struct hi_snapshot_era_row, period, ""),
};

static const struct hi_stored_column life_estimates[] = {
	COLUMN(struct hi_snapshot_estimate_row, proved, "of objects whose band is proved",
	       REAL),
	COLUMN(struct hi_snapshot_estimate_row, possible, "of those that may be in it",
	       REAL),
	COLUMN(struct hi_snapshot_estimate_row, interval, "of 95 %: u64 and u64", BYTES),
};

static bool estimate_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_estimate_row *row = at;

	(void)before, (void)bounds;
	return row->interval.low <= row->interval.high;
}

static const struct hi_stored_column life_likely[] = {
	COLUMN(struct hi_snapshot_likely_row, estimate, "", REAL),
	COLUMN(struct hi_snapshot_likely_row, range, "interval of 95 %: u64 and u64",
	       BYTES),
};

static bool likely_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_likely_row *row = at;

	(void)before, (void)bounds;
	return row->range.low <= row->range.high;
}

static const struct hi_stored_column life_watched[] = {
	COLUMN(struct hi_bio_watched, address, ""),
	COLUMN(struct hi_bio_watched, size, "bytes that count"),
	COLUMN(struct hi_bio_watched, hits, "that prove a use"),
	COLUMN(struct hi_bio_watched, periods, "in which it was watched"),
	COLUMN(struct hi_bio_watched, group, "", REFERS(GROUPS)),
};

/* ---- a space profile ---- */

static const struct hi_stored_column space_steps[] = {
	COLUMN(struct hi_space_kept_step, context, "", REFERS(CONTEXTS)),
	COLUMN(struct hi_space_kept_step, type, "", REFERS(NAMES)),
	COLUMN(struct hi_space_kept_step, age, "", REFERS(PERIODS), .from_one = true),
	COLUMN(struct hi_space_kept_step, ended,
	       "*amount* that has ended after just this many censuses had found it",
	       BYTES),
	COLUMN(struct hi_space_kept_step, live,
	       "*amount* that is live and has just this age", BYTES),
};

static const struct hi_stored_column part_steps[] = {
	COLUMN(struct hi_space_kept_step, context, "item of `space.parts`",
	       REFERS(PARTS)),
	COLUMN(struct hi_space_kept_step, type, "", REFERS(NAMES)),
	COLUMN(struct hi_space_kept_step, age, "", REFERS(PERIODS), .from_one = true),
	COLUMN(struct hi_space_kept_step, ended, "*amount*", BYTES),
	COLUMN(struct hi_space_kept_step, live, "*amount*", BYTES),
};

static bool step_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_space_kept_step *row = at, *above = before;

	(void)bounds;
	return !above || above->context != row->context || above->type != row->type ||
	       above->age < row->age;
}

static const struct hi_stored_column space_unseen[] = {
	COLUMN(struct hi_space_kept_unseen, context, "", REFERS(CONTEXTS)),
	COLUMN(struct hi_space_kept_unseen, amount, "*amount*", BYTES),
};

static const struct hi_stored_column part_unseen[] = {
	COLUMN(struct hi_space_kept_unseen, context, "item of `space.parts`",
	       REFERS(PARTS)),
	COLUMN(struct hi_space_kept_unseen, amount, "*amount*", BYTES),
};

static const struct hi_stored_column space_phases[] = {
	COLUMN(struct hi_snapshot_phase_row, from_ns,
	       "nanoseconds from the beginning of the recording to the mark", ASCENDS,
	       .may_repeat = true),
	COLUMN(struct hi_snapshot_phase_row, label, "of the mark", TEXT),
	COLUMN(struct hi_snapshot_phase_row, is_wanted,
	       "1: what was allocated from this mark to the next one counts; 0: only "
	       "what is between other marks does"),
};

static const struct hi_stored_column space_parts[] = {
	COLUMN(struct hi_snapshot_space_part, context, "", REFERS(CONTEXTS)),
	COLUMN(struct hi_snapshot_space_part, phase, "item of `space.phases`",
	       REFERS(PHASES)),
};

static const struct hi_stored_column part_periods[] = {
	COLUMN(struct hi_space_kind_period, period, "from 1 on", REFERS(PERIODS),
	       .from_one = true),
	{.name = "phase",
	 .offset = offsetof(struct hi_space_kind_period, kind),
	 .width = sizeof(uint32_t),
	 .meaning = "",
	 REFERS(PHASES)},
	COLUMN(struct hi_space_kind_period, amounts,
	       "three *amounts*: born, died and live in the period of what was allocated "
	       "in the phase",
	       BYTES),
};

static const struct hi_stored_column space_censuses[] = {
	COLUMN(struct hi_snapshot_space_census, at_ns,
	       "nanoseconds since the first census", ASCENDS, .may_repeat = true),
	COLUMN(struct hi_snapshot_space_census, end_ns, "since the recording began"),
	COLUMN(struct hi_snapshot_space_census, lost, "events that were lost until then"),
	COLUMN(struct hi_snapshot_space_census, older,
	       "*amount* that is live from before the recording", BYTES),
	COLUMN(struct hi_snapshot_space_census, period,
	       "three *amounts*: born, died and live in the period that ends here",
	       BYTES),
};

/* ---- what `waste` shows ---- */

static const struct hi_stored_column waste_used[] = {
	COLUMN(struct hi_snapshot_used_row, object, ""),
	COLUMN(struct hi_snapshot_used_row, bytes, "0xffffffff: all usable ones"),
};

static const struct hi_stored_column waste_texts[] = {
	COLUMN(struct hi_snapshot_text_row, object, "the first of its group"),
	COLUMN(struct hi_snapshot_text_row, text, "", TEXT),
	COLUMN(struct hi_snapshot_text_row, cut, "1: there is more of it"),
};

/* Bounds amounts that are added up: their sums stay below 2^63. */
#define AMOUNT_MOST (1ull << 56)

static const struct hi_stored_column waste_slabs[] = {
	COLUMN(struct hi_snapshot_slab_row, allocator, "", TEXT),
	COLUMN(struct hi_snapshot_slab_row, size, "of a slot", .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, slabs, "", .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, bytes, "of them", .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, slots, "", .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, live, "slots", .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, cached, "slots in caches",
	       .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, empty, "slabs without a live block",
	       .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, sparse,
	       "slabs with live blocks in under a quarter of the slots",
	       .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, sparse_bytes, "of these",
	       .most = AMOUNT_MOST),
	COLUMN(struct hi_snapshot_slab_row, slack,
	       "bytes of live slots beyond what was requested; 0: not known",
	       .most = AMOUNT_MOST),
};

static const struct hi_stored_column waste_blocks[] = {
	COLUMN(struct hi_snapshot_blocks_row, table,
	       "0 allocated blocks by size; 1 free blocks; 2 pages by how much of them "
	       "is allocated",
	       .most = HI_SNAPSHOT_BLOCKS_TABLES - 1),
	COLUMN(struct hi_snapshot_blocks_row, row,
	       "of table 1: thread caches, fast bins, bins, top, slots of slabs, "
	       "transfer caches, freed by other threads, quarantine, slots never used, "
	       "free pages, dirty pages, pages given back lazily, retained addresses; "
	       "from the fifth on only those that are there. Of table 2: nothing, under "
	       "a quarter, under a half, more"),
	ARRAY(struct hi_snapshot_blocks_row, n,
	      "of table 0: the largest size, blocks, bytes, bytes of headers; of table "
	      "1: blocks, bytes, the largest, 0; of table 2: pages, bytes, bytes "
	      "allocated, 0",
	      .most = AMOUNT_MOST),
};

static bool blocks_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	static const uint32_t ends[HI_SNAPSHOT_BLOCKS_TABLES] = {
		HI_SIZE_CLASSES, HI_FREE_KINDS, HI_PAGE_FILLS};
	const struct hi_snapshot_blocks_row *row = at;

	(void)before, (void)bounds;
	return row->row < ends[row->table];
}

/* ---- contents ---- */

static const struct hi_stored_column layouts[] = {
	COLUMN(struct hi_snapshot_layout_row, kind,
	       "0 words, 1 record, 2 text, 3 its edges are its fields",
	       .most = HI_SNAPSHOT_LAYOUT_KINDS - 1),
	COLUMN(struct hi_snapshot_layout_row, first, "of its rows of `fields`"),
	COLUMN(struct hi_snapshot_layout_row, n, "number of them"),
	COLUMN(struct hi_snapshot_layout_row, size, "bytes of an element",
	       .most = UINT32_MAX - 1),
};

static bool layout_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_layout_row *row = at;

	(void)before;
	return (uint64_t)row->first + row->n <= bounds[HI_BOUND_FIELDS];
}

static const struct hi_stored_column fields[] = {
	COLUMN(struct hi_snapshot_field_row, path, "", TEXT),
	COLUMN(struct hi_snapshot_field_row, type, "", TEXT),
	COLUMN(struct hi_snapshot_field_row, how,
	       "how its bytes are to be read: 0 unknown, 1 bits, 2 text, 3 pointer, 4 a "
	       "word that may be one, 5 floating point, 6 signed, 7 unsigned integer",
	       .most = HI_SNAPSHOT_FIELD_HOWS - 1),
	COLUMN(struct hi_snapshot_field_row, offset, "in the element",
	       .most = UINT32_MAX - 1),
	COLUMN(struct hi_snapshot_field_row, size,
	       "bytes; 0 of a text: up to the object's end", .most = UINT32_MAX - 1),
};

static const struct hi_stored_column extents[] = {
	{.name = "object",
	 .offset = offsetof(struct hi_snapshot_extent_row, id),
	 .width = sizeof(uint32_t),
	 .meaning = ""},
	COLUMN(struct hi_snapshot_extent_row, lead, "bytes before the first element",
	       .most = UINT32_MAX),
	COLUMN(struct hi_snapshot_extent_row, start, "of those that are live"),
	COLUMN(struct hi_snapshot_extent_row, end, "the same"),
};

static bool extent_row_holds(const void *at, const void *before, const uint64_t *bounds)
{
	const struct hi_snapshot_extent_row *row = at;

	(void)before, (void)bounds;
	return row->start >= row->lead && row->start <= row->end;
}

static const struct hi_stored_column values[] = {
	{.name = "object",
	 .offset = offsetof(struct hi_snapshot_value_row, id),
	 .width = sizeof(uint32_t),
	 .meaning = "in ascending order, then by field",
	 .ascends = true,
	 .may_repeat = true,
	 REFERS(OBJECTS)},
	COLUMN(struct hi_snapshot_value_row, field,
	       "of its fields: those of its first element, then of the next one"),
	COLUMN(struct hi_snapshot_value_row, value, "", TEXT),
	COLUMN(struct hi_snapshot_value_row, to,
	       "the object that it leads to; 0xffffffff: none", REFERS(OBJECTS),
	       .special = UINT32_MAX),
	COLUMN(struct hi_snapshot_value_row, grade, "of that reference",
	       .most = HI_GRADE_WEAK),
};

static const struct hi_stored_column outside[] = {
	{.name = "object",
	 .offset = offsetof(struct hi_snapshot_outside_row, id),
	 .width = sizeof(uint32_t),
	 .meaning = "in ascending order, then by field",
	 .ascends = true,
	 .may_repeat = true,
	 REFERS(OBJECTS)},
	COLUMN(struct hi_snapshot_outside_row, field,
	       "its place among these references and the object's edges"),
	COLUMN(struct hi_snapshot_outside_row, path, "", TEXT),
	COLUMN(struct hi_snapshot_outside_row, grade, "", .most = HI_GRADE_WEAK),
	COLUMN(struct hi_snapshot_outside_row, to, "address"),
};

static const struct hi_stored_column series_marks[] = {
	COLUMN(struct hi_snapshots_mark_row, text, "at most 4096 bytes", TEXT),
	COLUMN(struct hi_snapshots_mark_row, census,
	       "number of the last census before it; 0: none yet; that census may be "
	       "missing by now"),
	COLUMN(struct hi_snapshots_mark_row, wall_ns,
	       "nanoseconds since the first census"),
	COLUMN(struct hi_snapshots_mark_row, cpu_ns, "CPU time of the target since then"),
};

/* ---- all ---- */

static const struct hi_section sections[] = {
	{SECTION("strings", HEAP, KEY,
		 "strings ended by NUL, UTF-8 as the target has it. The first is \"\""),
	 NUMBERS(1), .is_large = true},
	{SECTION("properties", HEAP, KEY, "names with a number or a string"),
	 ROWS_OF(struct hi_snapshot_property, properties), .is_large = true,
	 .has_long_texts = true},
	{SECTION("types", HEAP, KEY, "row 0 is \"no type\""),
	 ROWS_OF(struct hi_snapshot_type, types), .least = 1, SETS(TYPES)},
	{SECTION("roots", HEAP, KEY, "root variables"),
	 ROWS_OF(struct hi_snapshot_root, roots), SETS(ROOTS)},
	{SECTION("windows", HEAP, KEY, "addresses, by object"),
	 ROWS_OF(struct hi_snapshot_window, windows), .count_most = HI_BOUND_OBJECTS,
	 .holds = window_holds},
	{SECTION("large", HEAP, KEY, "usable sizes of 4 GiB - 1 and more, by object"),
	 ROWS_OF(struct hi_snapshot_large, large)},
	{SECTION("objects.address", HEAP, KEY,
		 "address, less the base of the last window that begins at or before the "
		 "object"),
	 NUMBERS(4), SETS(OBJECTS)},
	{SECTION("objects.usable", HEAP, NEEDED,
		 "bytes that the program may use; 0xffffffff: see `large`"),
	 NUMBERS(4), COUNT(OBJECTS)},
	{SECTION("objects.type", HEAP, NEEDED, "row of `types`"),
	 NUMBERS(4, REFERS(TYPES)), COUNT(OBJECTS)},
	{SECTION("objects.flags", HEAP, NEEDED,
		 "bits 0-2 evidence of the type (0 none, 1 shape, 2 base: a typed "
		 "pointer "
		 "to what may be only the beginning, 3 container or hint, 4 typed "
		 "pointer, "
		 "5 vtable, 6 runtime); 3-4 which `overhead.N`; 5 the allocator's own; 6 "
		 "array of elements; 7 conflicting types were inferred"),
	 NUMBERS(1), COUNT(OBJECTS)},
	{SECTION("objects.used", HEAP, OPTIONAL,
		 "bytes that the type uses; 0xffffffff: all usable ones"),
	 NUMBERS(4), COUNT(OBJECTS)},
	{SECTION("fates", HEAP, OPTIONAL,
		 "objects that a collector has classified, ascending"),
	 ROWS_OF(struct hi_snapshot_unreachable, fates)},
	{SECTION("edges.row", HEAP, NEEDED,
		 "for each chunk of 65536 objects (the last may be shorter): where each "
		 "object's row begins in the chunk, and where the last one ends. The "
		 "first "
		 "is 0"),
	 NUMBERS(4), COUNT(EDGE_ROWS)},
	{SECTION("edges.to", HEAP, NEEDED,
		 "the object that an edge leads to, chunk after chunk"),
	 NUMBERS(4), COUNT(EDGES)},
	{SECTION("edges.grade", HEAP, NEEDED,
		 "0 exact, 1 to the inside of an object, 2 a word that looks like a "
		 "pointer, 3 weak (retains nothing)"),
	 NUMBERS(1), COUNT(EDGES)},
	{SECTION("edges.name", HEAP, OPTIONAL,
		 "the edge as C writes it, \"->next\", \"[3].key\", \" +0x18\" "
		 "([below](#names-of-edges))"),
	 NUMBERS(4), COUNT(EDGES)},
	{SECTION("edges.label", HEAP, OPTIONAL,
		 "in place of it in files of minor version 0"),
	 NUMBERS(4), COUNT(EDGES)},
	{SECTION("edges.tail", HEAP, OPTIONAL, "what follows \"[3]\" in names"),
	 NUMBERS(4, TEXT), .most = HI_SNAPSHOT_TAILS},
	{SECTION("roots.row", HEAP, NEEDED,
		 "as `edges.row` for root variables, as one chunk"),
	 NUMBERS(4), COUNT(ROOT_ROWS)},
	{SECTION("roots.to", HEAP, NEEDED, "as `edges.to`"), NUMBERS(4),
	 COUNT(ROOT_EDGES)},
	{SECTION("roots.grade", HEAP, NEEDED, "as `edges.grade`"), NUMBERS(1),
	 COUNT(ROOT_EDGES)},
	{SECTION("roots.name", HEAP, OPTIONAL,
		 "as `edges.name`; a name begins with the variable's"),
	 NUMBERS(4), COUNT(ROOT_EDGES)},
	{SECTION("roots.label", HEAP, OPTIONAL,
		 "in place of it in files of minor version 0"),
	 NUMBERS(4), COUNT(ROOT_EDGES)},
	{SECTION("reach.any", HEAP, NEEDED, "a bit for each node: a root leads there"),
	 NUMBERS(8), COUNT(NODE_WORDS)},
	{SECTION("reach.exact", HEAP, NEEDED, "the same over grades 0 and 1 alone"),
	 NUMBERS(8), COUNT(NODE_WORDS)},
	{SECTION("reach.likely", HEAP, OPTIONAL,
		 "the same: a leak that is likely, not certain; missing: there is none"),
	 NUMBERS(8), COUNT(NODE_WORDS)},
	{SECTION("reach.internal", HEAP, KEY,
		 "blocks of the allocator that no root leads to, and that count as "
		 "roots; "
		 "ascending"),
	 NUMBERS(4, REFERS(OBJECTS), ASCENDS)},
	{SECTION("leaks.groups", HEAP, OPTIONAL,
		 "leaks without a type by size and by which words are pointers, with the "
		 "types that they may have"),
	 ROWS_OF(struct hi_snapshot_leak_row, leak_groups), SETS(LEAK_GROUPS)},
	{SECTION("leaks.nodes", HEAP, OPTIONAL, "each such leak"),
	 ROWS_OF(struct hi_snapshot_leak_node, leak_nodes)},
	{SECTION("leaks.sites", HEAP, OPTIONAL,
		 "calls in the code of the program that allocate, where something is "
		 "leaked or a suspect; not in files of several censuses"),
	 ROWS_OF(struct hi_snapshot_site_row, leak_sites)},
	{SECTION("dom.idom", HEAP, NEEDED,
		 "immediate dominator; 0xffffffff: none (the super-root, and nodes that "
		 "are not reached)"),
	 NUMBERS(4), COUNT(NODES)},
	{SECTION("dom.retained", HEAP, NEEDED, "bytes that would become free with it"),
	 NUMBERS(8), COUNT(NODES)},
	{SECTION("dom.order", HEAP, KEY, "nodes of the dominator tree in preorder"),
	 NUMBERS(4), .count_most = HI_BOUND_NODES, SETS(ORDER)},
	{SECTION("dom.span", HEAP, NEEDED, "nodes of the subtree that begins there"),
	 NUMBERS(4), COUNT(ORDER)},
	{SECTION("ledger", HEAP, OPTIONAL, "rows of the ledger"),
	 ROWS_OF(struct hi_snapshot_ledger_row, ledger)},
	{SECTION("census", HEAP, KEY,
		 "live objects by type, most bytes first (optional)"),
	 ROWS_OF(struct hi_snapshot_census_row, census), .count_most = HI_BOUND_TYPES},
	{SECTION("retained.tree", HEAP, KEY,
		 "the top of the dominator tree with names (optional): depth first, the "
		 "largest first, at most 100 of the top level; a row is a variable, an "
		 "object, or several objects of one type that the same field leads to. "
		 "Files of older versions have a section `retained` of other rows, which "
		 "is not read"),
	 ROWS_OF(struct hi_snapshot_retained_row, retained_tree),
	 .holds = retained_row_holds},
	{SECTION("suspects", HEAP, KEY,
		 "where much of the heap is held, most bytes first (optional). Property "
		 "`suspects.below`: 1 if none holds a fifth of the heap, and the row is "
		 "the largest"),
	 ROWS_OF(struct hi_snapshot_suspect_row, suspects), .most = 64,
	 .holds = suspect_row_holds},
	{SECTION("suspects.lesser", HEAP, OPTIONAL,
		 "with `suspects`: other holders of a twentieth of the heap and more"),
	 ROWS_OF(struct hi_snapshot_suspect_row, suspects), .most = 64,
	 .holds = suspect_row_holds},
	{SECTION("owners", HEAP, KEY,
		 "live bytes by the set of variables that reach them, most bytes first "
		 "(optional)"),
	 ROWS_OF(struct hi_snapshot_owner_row, owners), .most = 1 << 16,
	 .holds = owner_row_holds},
	{SECTION("owners.many", HEAP, KEY,
		 "with `owners`: objects directly below the super-root or a kind of "
		 "roots "
		 "that more than 16 variables reach"),
	 NUMBERS(4, REFERS(OBJECTS)), .count_most = HI_BOUND_OBJECTS},
	{SECTION("owners.near", HEAP, KEY,
		 "with `owners.many`, where that is not empty: of each object directly "
		 "below the super-root or a kind of roots, in the order of `dom.order`, "
		 "the root variable (0 … R-1) with the fewest steps to it, of the best "
		 "rank that has one and in it of the first sort of variables; "
		 "0xffffffff: "
		 "none"),
	 NUMBERS(4, REFERS(ROOTS), .special = UINT32_MAX)},
	{SECTION("conflicts", HEAP, OPTIONAL, "objects with two types"),
	 ROWS_OF(struct hi_snapshot_conflict_row, conflicts)},
	{SECTION("modules", HEAP, OPTIONAL,
		 "files that the target had mapped, the main program first"),
	 ROWS_OF(struct hi_snapshot_module_row, modules)},
	{SECTION("live.functions", HEAP, KEY,
		 "of a recording, in the totals of a census of a series: live bytes by "
		 "the "
		 "function that allocated them (optional)"),
	 ROWS_OF(struct hi_snapshot_function_row, live_functions)},

	{SECTION("frames", RECORDING, KEY,
		 "the meaning of return addresses of stacks: rows of frame 0, then of "
		 "frame 1 and so on, at least one of each; of one frame the innermost "
		 "inlined function first. Of code of Python, module is `python`, "
		 "function "
		 "the qualified name, and offset 0"),
	 ROWS_OF(struct hi_snapshot_frame, frames), .holds = frame_row_holds},
	{SECTION("windows.sites", RECORDING, KEY,
		 "a recording by windows (optional): estimates by the function that "
		 "allocates. A file that has it has none of the other sections of a "
		 "recording"),
	 ROWS_OF(struct hi_snapshot_window_site, window_sites),
	 .holds = window_site_holds},
	{SECTION("contexts", RECORDING, NEEDED,
		 "the tree of stacks. Item 0 is the root and has frame 0xffffffff; a "
		 "child "
		 "is called by its parent. At most 127 items are on the way to the root"),
	 ROWS_OF(struct hi_context_node, context_nodes), .most = INT32_MAX},
	{SECTION("contexts.stacks", RECORDING, NEEDED,
		 "contexts, a stack each. Context 0 is \"no stack\""),
	 ROWS_OF(struct hi_context, context_stacks), .most = INT32_MAX, SETS(CONTEXTS)},
	{SECTION("contexts.totals", RECORDING, NEEDED,
		 "totals of each; of samples (`recording.sample_bytes` is not 0) "
		 "estimates, in which a sample of `s` bytes counts for 1/p allocations, "
		 "p "
		 "= 1 - exp(-s/R), s at least 1"),
	 ROWS_OF(struct hi_context_totals, context_totals), COUNT(CONTEXTS),
	 .holds = totals_hold},
	{SECTION("contexts.costs", RECORDING, OPTIONAL,
		 "bytes that the allocations of a context cost beside those requested, "
		 "computed from the sizes that were requested as glibc rounds them "
		 "(missing where the allocator is another one, and in files of earlier "
		 "versions)"),
	 NUMBERS(8), COUNT(CONTEXTS)},
	{SECTION("contexts.ticks", RECORDING, OPTIONAL,
		 "samples of time that found a thread in the context, at most 2^40 "
		 "(missing where no samples were taken, and in files of earlier "
		 "versions)"),
	 NUMBERS(8, .most = HI_TICKS_MAX), COUNT(CONTEXTS)},
	{SECTION("contexts.ports", RECORDING, OPTIONAL,
		 "calls of each that are counted, each at most 2^40 (missing in files of "
		 "earlier versions)"),
	 ROWS_OF(struct hi_context_ports, context_ports), COUNT(CONTEXTS)},
	{SECTION("births.context", RECORDING, NEEDED,
		 "the context that allocated the object; 0xffffffff: it has no record "
		 "(allocated before the recording, or of samples none of them), "
		 "0xfffffffe: it is in no block of the allocator (not recorded); both "
		 "have "
		 "0 in the columns below"),
	 NUMBERS(4, REFERS(CONTEXTS), .special = HI_BIRTH_OTHER), COUNT(OBJECTS)},
	{SECTION("births.thread", RECORDING, NEEDED, "item of `births.threads`"),
	 NUMBERS(4), COUNT(OBJECTS)},
	{SECTION("births.time", RECORDING, NEEDED,
		 "nanoseconds since the recording began"),
	 NUMBERS(8), COUNT(OBJECTS)},
	{SECTION("births.size", RECORDING, NEEDED,
		 "bytes that were requested; of pieces of a block: for the block"),
	 NUMBERS(8), COUNT(OBJECTS)},
	{SECTION("births.threads", RECORDING, NEEDED, "thread ids, ascending"),
	 NUMBERS(4, ASCENDS), SETS(THREADS)},
	{SECTION("sources", RECORDING, OPTIONAL,
		 "which functions were followed (with `sources.pieces`)"),
	 ROWS_OF(struct hi_snapshot_source_row, sources), .most = HI_EVENT_SOURCES,
	 .holds = source_row_holds, SETS(SOURCES)},
	{SECTION("sources.pieces", RECORDING, OPTIONAL,
		 "live pieces of the sources without an object that begins there; by "
		 "source, then by address"),
	 ROWS_OF(struct hi_piece, pieces), .is_large = true},
	{SECTION("recording.marks", RECORDING, OPTIONAL,
		 "marks that came while it was recorded (with `marks.totals`), by time"),
	 ROWS_OF(struct hi_snapshot_mark_row, recording_marks), .most = HI_MARKED_MOST,
	 .has_long_texts = true},
	{SECTION("marks.totals", RECORDING, NEEDED,
		 "totals of contexts at marks, of the first mark, then of the second and "
		 "so on, each from the beginning of the recording, as in "
		 "`contexts.totals` "
		 "and `contexts.costs`. Of a mark only contexts that have allocated "
		 "since "
		 "the mark before it"),
	 ROWS_OF(struct hi_recorded_mark_row, mark_totals), .most = HI_MARKED_ROWS_MOST},
	{SECTION("pauses", RECORDING, OPTIONAL,
		 "times in which allocations were not recorded, in their order"),
	 ROWS_OF(struct hi_recording_pause, pauses), .most = HI_RECORDING_PAUSES_MOST,
	 .holds = pause_holds},
	{SECTION("events", RECORDING, KEY,
		 "each event of the recording (optional, with `events.threads`; `record "
		 "--keep-events`), in blocks, below"),
	 NUMBERS(1), .is_large = true},
	{SECTION("events.threads", RECORDING, KEY, "thread ids, as events name them"),
	 NUMBERS(4)},

	{SECTION("lives", LIVES, KEY,
		 "objects that the last census counted, ascending by object. Periods "
		 "count "
		 "from 1; 0: none. The possible uses have the proved ones between their "
		 "ends, and nothing is before the birth or above P"),
	 ROWS_OF(struct hi_bio_life_row, lives), .is_large = true, .holds = life_holds},
	{SECTION("lives.groups", LIVES, NEEDED,
		 "objects that have type, module, function, era, root variable and "
		 "retainer set in common; \"\": unknown"),
	 .item = HI_BIO_GROUP_ROW_SIZE, .columns = life_groups,
	 .n_columns = sizeof(life_groups) / sizeof(*life_groups), .most = HI_BIO_GROUPS,
	 SETS(GROUPS)},
	{SECTION("lives.censuses", LIVES, NEEDED,
		 "the censuses; the first one is where period 1 begins"),
	 .item = HI_BIO_CENSUS_ROW_SIZE, .columns = life_censuses,
	 .n_columns = sizeof(life_censuses) / sizeof(*life_censuses), .least = 1},
	{SECTION("lives.sets", LIVES, OPTIONAL,
		 "*bands* of the censuses and then of the groups once more, by sets of "
		 "bands, below (missing in files of earlier versions)"),
	 .item = sizeof(struct hi_bio_amount[HI_BIO_SETS]), COUNT(LIFE_SETS)},
	{SECTION("lives.eras", LIVES, OPTIONAL,
		 "eras as they began, without the first one where it has no name "
		 "(missing "
		 "in files of earlier versions)"),
	 ROWS_OF(struct hi_snapshot_era_row, life_eras), .has_long_texts = true},
	{SECTION("lives.variances", LIVES, OPTIONAL,
		 "of samples: an IEEE 754 double, the variance of the live bytes of the "
		 "group, in bytes squared (missing in files of earlier versions)"),
	 NUMBERS(8, REAL), COUNT(GROUPS)},
	{SECTION("lives.estimates", LIVES, NEEDED,
		 "with watchpoints: an estimate from the sample of the bytes of each "
		 "band, "
		 "then of the objects of each"),
	 ROWS_OF(struct hi_snapshot_estimate_row, life_estimates),
	 .least = 2 * HI_BIO_BANDS, .most = 2 * HI_BIO_BANDS, .holds = estimate_holds},
	{SECTION("lives.likely", LIVES, OPTIONAL,
		 "the same rows, by the words that were watched (missing in files of "
		 "earlier versions)"),
	 ROWS_OF(struct hi_snapshot_likely_row, life_likely), .least = 2 * HI_BIO_BANDS,
	 .most = 2 * HI_BIO_BANDS, .holds = likely_row_holds},
	{SECTION("lives.watched", LIVES, OPTIONAL,
		 "objects that were watched (missing in files of earlier versions)"),
	 ROWS_OF(struct hi_bio_watched, life_watched), .is_large = true},

	{SECTION("space.names", SPACE, NEEDED,
		 "offsets in `strings`; the first is \"\". A type of a step is an item "
		 "of "
		 "these"),
	 NUMBERS(4, TEXT), SETS(NAMES)},
	{SECTION("space.steps", SPACE, NEEDED,
		 "of all that the context has allocated of this type. Ages are 1 to P; "
		 "steps of one context and type follow each other, by ascending age"),
	 ROWS_OF(struct hi_space_kept_step, space_steps), .holds = step_holds},
	{SECTION("space.unseen", SPACE, NEEDED,
		 "of it, the amount that no census has found"),
	 ROWS_OF(struct hi_space_kept_unseen, space_unseen)},
	{SECTION("space.phases", SPACE, OPTIONAL,
		 "where there are marks. The first row is before all marks"),
	 ROWS_OF(struct hi_snapshot_phase_row, space_phases), .has_long_texts = true,
	 SETS(PHASES)},
	{SECTION("space.parts", SPACE, NEEDED,
		 "with `space.phases`: all that the context has allocated in it"),
	 ROWS_OF(struct hi_snapshot_space_part, space_parts), SETS(PARTS)},
	{SECTION("parts.steps", SPACE, NEEDED,
		 "as `space.steps`, by part; `space.steps` has the sums of its phases"),
	 ROWS_OF(struct hi_space_kept_step, part_steps), .holds = step_holds},
	{SECTION("parts.unseen", SPACE, NEEDED, "as `space.unseen`, in the same way"),
	 ROWS_OF(struct hi_space_kept_unseen, part_unseen)},
	{SECTION("parts.periods", SPACE, NEEDED, "amounts of periods by phase"),
	 ROWS_OF(struct hi_space_kind_period, part_periods)},
	{SECTION("space.censuses", SPACE, KEY,
		 "the censuses; the first one is where period 1 begins"),
	 ROWS_OF(struct hi_snapshot_space_census, space_censuses), .least = 1},

	{SECTION("waste.equal", WASTE, OPTIONAL,
		 "of each object the first one with the same type, size and bytes in "
		 "use, "
		 "maybe itself; 0xffffffff: no other has them (or they were not "
		 "compared: "
		 "leaks, the allocator's own); 0xfffffffe: they are all zero; "
		 "0xfffffffd: "
		 "not all could be read"),
	 NUMBERS(4, REFERS(OBJECTS), .special = HI_SNAPSHOT_EQUAL_SPECIAL),
	 COUNT(OBJECTS)},
	{SECTION("waste.used", WASTE, NEEDED,
		 "where more or fewer bytes are in use than in `objects.used`: up to the "
		 "NUL of a text; ascending"),
	 ROWS_OF(struct hi_snapshot_used_row, waste_used)},
	{SECTION("waste.texts", WASTE, OPTIONAL,
		 "of groups that hold text, how it begins, at most 63 bytes; ascending. "
		 "Only with contents"),
	 ROWS_OF(struct hi_snapshot_text_row, waste_texts)},
	{SECTION("waste.slabs", WASTE, OPTIONAL,
		 "slabs of allocators that have them, by size of a slot. Missing in "
		 "files "
		 "of earlier versions"),
	 ROWS_OF(struct hi_snapshot_slab_row, waste_slabs), .most = HI_SLAB_CLASSES},
	{SECTION("waste.sizes", WASTE, OPTIONAL,
		 "usable sizes that the allocator rounds requests up to, ascending; "
		 "beyond "
		 "the last one to multiples of `waste.size_step`. Missing: as glibc "
		 "does"),
	 NUMBERS(8)},
	{SECTION("waste.blocks", WASTE, NEEDED, "the allocator's blocks as totals"),
	 ROWS_OF(struct hi_snapshot_blocks_row, waste_blocks), .holds = blocks_row_holds},

	{SECTION("contents", CONTENTS, NEEDED,
		 "the usable bytes of all objects, one object after the other; of each "
		 "at "
		 "most the first 16 MiB"),
	 NUMBERS(1), .is_large = true},
	{SECTION("contents.unread", CONTENTS, NEEDED,
		 "a bit for each object: not all of it could be read, and its bytes mean "
		 "nothing"),
	 NUMBERS(8), COUNT(OBJECT_WORDS)},
	{SECTION("layouts", CONTENTS, NEEDED, "of types"),
	 ROWS_OF(struct hi_snapshot_layout_row, layouts), COUNT(TYPES),
	 .holds = layout_row_holds},
	{SECTION("fields", CONTENTS, NEEDED, "of records"),
	 ROWS_OF(struct hi_snapshot_field_row, fields), .has_long_texts = true,
	 SETS(FIELDS)},
	{SECTION("extents", CONTENTS, NEEDED,
		 "by object, where elements do not begin at the object or do not fill an "
		 "array"),
	 ROWS_OF(struct hi_snapshot_extent_row, extents), .holds = extent_row_holds},

	{SECTION("values", CONTENTS, OPTIONAL,
		 "the values of fields that are not in their bytes: the texts of strings "
		 "and the numbers of elements of containers, by object and field; other "
		 "fields of how 0 have none (missing in files of earlier versions)"),
	 ROWS_OF(struct hi_snapshot_value_row, values), .has_long_texts = true},

	{SECTION("outside", CONTENTS, OPTIONAL,
		 "references of a runtime's objects to addresses where no object begins; "
		 "one into an object is an edge too (missing in files of earlier "
		 "versions)"),
	 ROWS_OF(struct hi_snapshot_outside_row, outside), .has_long_texts = true},

	{SECTION("marks", SERIES, KEY,
		 "the moments that `heapinspect mark` named, as time passed; at most "
		 "65,536 in a file"),
	 ROWS_OF(struct hi_snapshots_mark_row, series_marks), .is_large = true,
	 .has_long_texts = true},
};

const struct hi_section *hi_snapshot_sections(size_t *n_ret)
{
	*n_ret = sizeof(sections) / sizeof(*sections);
	return sections;
}

const struct hi_section *hi_snapshot_section(const char *name)
{
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(sections[i].name, name) == 0)
			return &sections[i];
	return NULL;
}

const char *hi_bound_name(enum hi_bound bound)
{
	static const char *const names[HI_BOUNDS] = {
		[HI_BOUND_OBJECTS] = "N",
		[HI_BOUND_OBJECT_WORDS] = "N/64, rounded up",
		[HI_BOUND_EDGE_ROWS] = "N+C",
		[HI_BOUND_ROOTS] = "R",
		[HI_BOUND_ROOT_ROWS] = "R+1",
		[HI_BOUND_TYPES] = "T",
		[HI_BOUND_NODES] = "V",
		[HI_BOUND_NODE_WORDS] = "V/64, rounded up",
		[HI_BOUND_EDGES] = "E",
		[HI_BOUND_ROOT_EDGES] = "D",
		[HI_BOUND_ORDER] = "O",
		[HI_BOUND_CONTEXTS] = "K",
		[HI_BOUND_GROUPS] = "G",
		[HI_BOUND_LIFE_SETS] = "P+1+G",
	};

	return names[bound] ? names[bound] : "";
}
