/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_row.h"

#include <string.h>

#include "base/clock.h"
#include "census/snapshot/graphs_wanted.h"
#include "cli/command/command.h"
#include "cli/options/option_values.h"
#include "probes/watchpoints.h"

/* ---- which commands ---- */

#define BIT(name) (1u << HI_COMMAND_##name)
#define EVERY (~0u)
#define TARGETED                                                                         \
	(~(BIT(MARK) | BIT(ERA) | BIT(SAFEPOINTS) | BIT(SNAPSHOTS) | ON_FILES |          \
	   PAGES))			     /* make an image of it */
#define LOOKING (TARGETED | BIT(SAFEPOINTS)) /* at a target */
#define NAMING (LOOKING | BIT(ERA))	     /* name a process */
#define SHOWING                                                                          \
	(LOOKING & ~(BIT(SNAP) | BIT(GRAPH) | BIT(BROWSE))) /* and print a report */
#define PAGED (SHOWING & ~(BIT(EXPORT) | BIT(TICKET)))	    /* as a page or a document */
#define STOPPED (TARGETED & ~BIT(RECORD)) /* which has a stop of its own */
#define PROFILED                                                                         \
	((SHOWING &                                                                      \
	  ~(BIT(DIFF) | BIT(CHECK) | BIT(EXPORT) | BIT(SAFEPOINTS) | RECORDING)) |       \
	 BIT(BROWSE))
#define ROOTED ((PROFILED & ~BIT(AUDIT)) | BIT(DIFF)) /* of named roots */
#define OVER_TIME (BIT(PEAKS) | BIT(SPACETIME))	      /* of a file of many censuses */
#define ON_FILES (OVER_TIME | BIT(DEEP))	      /* of files alone */
#define PAGES (BIT(REPORT) | BIT(SERVE))	      /* of many commands */
#define LISTING (BIT(SNAPSHOTS) | ON_FILES)
#define SERIES (BIT(CENSUS) | BIT(RETAINERS) | BIT(ROOTS) | BIT(SNAP))
#define RECORDING (BIT(RECORD) | BIT(BIO) | BIT(ALLOC)) /* follow allocations */
#define ROWS (BIT(CENSUS) | BIT(RETAINED) | BIT(LEAKS) | BIT(WASTE))
#define BY_SETS (BIT(RETAINERS) | BIT(UP)) /* profiles by retainers */
#define RESTRICTED (ROWS | BIT(PATHS) | BY_SETS)
#define BORN (PROFILED & ~(BIT(AUDIT) | BIT(QUERY) | BIT(EXPLAIN))) /* of a recording */

/* ---- kinds ---- */

#define AT(field)                                                                        \
	.at = offsetof(struct hi_options, field),                                        \
	.size = sizeof(((struct hi_options *)0)->field)
#define HAS(field) .has = offsetof(struct hi_options, field)
#define WORDS(...)                                                                       \
	.words = (const char *const[])                                                   \
	{                                                                                \
		__VA_ARGS__, NULL                                                        \
	}
#define FLAG(field) .kind = HI_OPTION_FLAG, AT(field)
#define TEXT(field) .kind = HI_OPTION_TEXT, AT(field)
#define LAST_TEXT(field) .kind = HI_OPTION_LAST_TEXT, AT(field)
#define WORD(field, ...) .kind = HI_OPTION_WORD, AT(field), WORDS(__VA_ARGS__)
#define CHOICE(field, ...) .kind = HI_OPTION_CHOICE, AT(field), WORDS(__VA_ARGS__)
#define NUMBER(field, from, to)                                                          \
	.kind = HI_OPTION_NUMBER, AT(field), .low = (from), .high = (to)
#define DECIMAL(field, to) .kind = HI_OPTION_DECIMAL, AT(field), .high = (to)
#define SIZE(field, from, example)                                                       \
	.kind = HI_OPTION_SIZE, AT(field), .low = (from), .like = (example)
#define TIME(field, example) .kind = HI_OPTION_TIME, AT(field), .like = (example)
#define LIST(field, count, item)                                                         \
	.kind = HI_OPTION_LIST, AT(field), HAS(count), .like = (item)
#define TAKE(function) .take = (function)

#define REFUSED HI_PAGES_REFUSED
#define SHOWS HI_PAGES_SHOWS
#define CHOOSES HI_PAGES_CHOOSES
#define READS HI_OPTION_READS
#define WRITES HI_OPTION_WRITES

#define YEAR_NS (366 * 24 * 3600 * HI_NS_PER_S)
#define TIME_MOST 1000000000000000u /* seconds on an axis */
/* Formats whose rows are stacks. */
#define STACKS                                                                           \
	"format=folded format=speedscope format=massif format=pprof format=dhat "        \
	"format=dot"
/* Options that --pause and --resume leave to the running command. */
#define OF_PROFILES                                                                      \
	"select centre from-mark to-mark by callers manner bars weight for every "       \
	"sample format json output"
#define BORN_BY(first)                                                                   \
	[(first) + HI_BORN_BY_SITE] = "site",                                            \
		   [(first) + HI_BORN_BY_CONTEXT] = "context",                           \
		   [(first) + HI_BORN_BY_THREAD] = "thread",                             \
		   [(first) + HI_BORN_BY_AGE] = "age",                                   \
		   [(first) + HI_BORN_BY_MODULE] = "site-module"

const char *const hi_option_identities[] = {
	[HI_IDENTITY_TYPE] = "type", [HI_IDENTITY_VAR] = "var",
	[HI_IDENTITY_SITE] = "site", [HI_IDENTITY_MODULE] = "module",
	[HI_IDENTITY_ADDR] = "addr", NULL};

/* Name, letter, value, help, commands, pages; then how the value is taken. */
const struct hi_option_row hi_option_table[] = {
	{.help = "Target:", .commands = NAMING},
	{"pid", 'p', "PID", "a running process", NAMING, REFUSED,
	 NUMBER(target.pid, 1, INT32_MAX), .is_for = HI_FOR_BYTES},
	{"name", 0, "NAME",
	 "the one running process of this name (its comm, executable or script)", NAMING,
	 REFUSED, TEXT(target.name)},
	{"core", 0, "FILE", "a core file, from gcore or the kernel",
	 STOPPED & ~(BIT(BIO) | BIT(ALLOC)), REFUSED, LAST_TEXT(target.core),
	 .is_for = HI_FOR_BYTES, .file = READS},
	{"exe", 0, "FILE", "the executable of the core, if it has moved",
	 STOPPED & ~(BIT(BIO) | BIT(ALLOC)), REFUSED, LAST_TEXT(target.exe),
	 .is_for = HI_FOR_BYTES | HI_FOR_DECODING, .only_with = "core", .file = READS},
	{"compress", 0, NULL, "compress the file: smaller, but it opens more slowly",
	 BIT(SNAP) | BIT(RECORD), REFUSED, FLAG(snap.compress)},
	{"with-contents", 0, NULL,
	 "also write the bytes of objects, so that explain shows values",
	 BIT(SNAP) | BIT(RECORD), REFUSED, FLAG(snap.with_contents)},
	{"with-contents", 0, NULL,
	 "also write keys of dictionaries and maps, which may be secrets", BIT(TICKET),
	 REFUSED, FLAG(snap.with_contents)},
	{"redact", 0, NULL,
	 "show and write no text of the heap: keys and attributes have no names, strings "
	 "no values",
	 TARGETED, REFUSED, FLAG(snap.redact), .not_with = "with-contents"},
	{"census", 0, "WHICH",
	 "which census of a file: its number, first, last or peak (default: last)",
	 (SHOWING & ~(BIT(SAFEPOINTS) | BIT(RECORD) | BIT(ALLOC))) | BIT(SNAPSHOTS) |
		 BIT(GRAPH) | BIT(BROWSE) | BIT(SERVE),
	 CHOOSES, TAKE(hi_option_take_census), AT(target.census)},
	{.help = "Server:", .commands = BIT(SERVE)},
	{"port", 0, "N", "listen on this port (default: any that is free)", BIT(SERVE),
	 REFUSED, NUMBER(serve.port, 0, 65535), HAS(serve.has_port)},
	{"timeout", 0, "TIME", "end after that time without a request (default: 30min)",
	 BIT(SERVE), REFUSED, TIME(serve.timeout_ns, "90s or 30min, of at most a year"),
	 .high = YEAR_NS},
	{.help = "What to show:", .commands = SHOWING | ON_FILES | BIT(BROWSE)},
	{"peaks", 0, "K",
	 "show the K highest local maxima beside the maximum (default: 3)", BIT(PEAKS),
	 SHOWS, NUMBER(over_time.peaks, 1, HI_GRAPHS_PEAKS_MAX)},
	{"by", 0, "WHAT",
	 "group by type, type2 (with the types of its children), module, namespace (or "
	 "package), class, size or "
	 "owner (by type, tables and items with the object that owns them); of a "
	 "recording: site (the function that allocated), context (its call stack), "
	 "thread, age or site-module (the file with the code of the function)",
	 BIT(CENSUS), SHOWS, TAKE(hi_option_take_by),
	 WORDS(HI_BY_WORDS, BORN_BY(HI_BY_COUNT)), .not_with = "untyped suggest-hints"},
	{"by", 0, "WHAT",
	 "group by type, module, root (the variable that alone holds it), retainers "
	 "(their set) or site (of recordings: the function that allocated)",
	 BIT(DIFF), SHOWS, TAKE(hi_option_take_compare_by),
	 WORDS([HI_COMPARE_BY_TYPE] = "type", [HI_COMPARE_BY_MODULE] = "module",
	       [HI_COMPARE_BY_ROOT] = "root", [HI_COMPARE_BY_GROUP] = "retainers",
	       "site"),
	 .not_with = "three", .why = "which compares by type"},
	{"by", 0, "WHAT",
	 "of a recording: context (live bytes by the call stack that allocated them)",
	 BIT(EXPORT), SHOWS, CHOICE(selection.born_by, "context"),
	 .low = HI_BORN_BY_CONTEXT, HAS(selection.has_born_by), .only_with = STACKS},
	{"by", 0, "WHAT",
	 "group by type, or of a recording by site (the function that allocated)",
	 BIT(WASTE), SHOWS, TAKE(hi_option_take_site_by), WORDS("type", "site")},
	{"by", 0, "WHAT",
	 "group by type, thread (what the variables of each one alone hold, and its "
	 "stack), or of a recording by site (the function that allocated)",
	 BIT(RETAINED), SHOWS, TAKE(hi_option_take_site_by),
	 WORDS("type", "site", "thread")},
	{"by", 0, "WHAT",
	 "group by type, site (the function that allocated), module, era, root (the "
	 "variable that alone holds it at the end) or retainers (their set at the end) "
	 "(default: type)",
	 BIT(BIO), SHOWS,
	 CHOICE(biography.by, [HI_LIVES_BY_TYPE] = "type", [HI_LIVES_BY_SITE] = "site",
		[HI_LIVES_BY_MODULE] = "module", [HI_LIVES_BY_ERA] = "era",
		[HI_LIVES_BY_ROOT] = "root", [HI_LIVES_BY_RETAINERS] = "retainers"),
	 HAS(biography.has_by)},
	{"bio", 0, "BANDS",
	 "show groups by these bands: void, lag, use, inherent, drag, unused (older than "
	 "the command), idle (drag and unused); several with ',' (default: "
	 "void,drag,unused)",
	 BIT(BIO), CHOOSES, TAKE(hi_option_take_bands), AT(biography.bands)},
	{"bio", 0, "BANDS",
	 "of a file of bio -o: only objects that are proved to be in one of these bands "
	 "at its last census: void, lag, use, inherent, drag, unused, idle (drag "
	 "and unused: not used any more); several with ','",
	 BORN, CHOOSES, TAKE(hi_option_take_bands), AT(selection.bands)},
	{"live", 0, "WHAT",
	 "what counts as live: reach (what a root leads to, the default) or alloc (what "
	 "is not freed)",
	 BIT(BIO), REFUSED,
	 CHOICE(biography.live, [HI_LIVES_REACHABLE] = "reach",
		[HI_LIVES_ALLOCATED] = "alloc"),
	 .is_for = HI_FOR_FOLLOWING},
	{"birth-use", 0, "HOW",
	 "what happens to an object in the period of its birth: no (it is filled, which "
	 "is no use; the default), seen (calls that --uses sees are uses, the rest is "
	 "none) or maybe (it may be used, so that no LAG or VOID is proved)",
	 BIT(BIO), REFUSED,
	 CHOICE(biography.birth_use, [HI_LIVES_ENDS_NO] = "no",
		[HI_LIVES_ENDS_SEEN] = "seen", [HI_LIVES_ENDS_MAYBE] = "maybe"),
	 .is_for = HI_FOR_FOLLOWING},
	{"death-use", 0, "HOW",
	 "what happens to an object in the period of its death: no (it is torn down, "
	 "which is no use; the default) or maybe (it may be used until its end)",
	 BIT(BIO), REFUSED, TAKE(hi_option_take_death_use), WORDS("no", "maybe"),
	 .is_for = HI_FOR_FOLLOWING},
	{"inherent", 0, "NAME",
	 "types whose use cannot be seen (a, b or a pattern with *): INHERENT_USE",
	 BIT(BIO), REFUSED, TEXT(biography.inherent), .is_for = HI_FOR_FOLLOWING},
	{"era", 0, "FROM[-TO]",
	 "only objects that were born in these eras (heapinspect era): numbers or names",
	 BIT(BIO), REFUSED, TAKE(hi_option_take_eras), AT(biography.era),
	 .is_for = HI_FOR_FOLLOWING},
	{"era", 0, "FROM[-TO]",
	 "of a file of bio -o: only objects that were born in these eras: numbers or "
	 "names",
	 BORN, REFUSED, TAKE(hi_option_take_eras), AT(selection.era)},
	{"watch", 0, "N",
	 "put N hardware watchpoints (1 to 4) on objects of a random sample, which see "
	 "reads, too",
	 BIT(BIO), REFUSED, NUMBER(biography.watch, 1, HI_WATCHPOINTS_MAX),
	 .is_for = HI_FOR_FOLLOWING},
	{"uses", 0, NULL,
	 "probe functions that take pointers to the types on the heap: a call uses the "
	 "object that it is given",
	 BIT(BIO), REFUSED, FLAG(biography.uses)},
	{"select", 0, "TEXT",
	 "only functions with TEXT in their names, or that match it as a pattern with *",
	 BIT(ALLOC), SHOWS, TEXT(alloc.select)},
	{"centre", 0, "PATTERN",
	 "count what is allocated below a function for that function (a name or a "
	 "pattern with *; several with ','): the outermost one of a stack that matches",
	 BIT(ALLOC), SHOWS, TAKE(hi_option_take_centres), .not_with = "by=mark"},
	{"by", 0, "WHAT",
	 "group by function (the one that allocated, the default) or mark (the last one "
	 "before the allocation)",
	 BIT(ALLOC), SHOWS, CHOICE(alloc.by_mark, "function", "mark")},
	{"from-mark", 0, "TEXT",
	 "only what was allocated behind the mark of this text (heapinspect mark)",
	 BIT(ALLOC), SHOWS, TEXT(alloc.from_mark)},
	{"to-mark", 0, "TEXT", "only what was allocated before the mark of this text",
	 BIT(ALLOC), SHOWS, TEXT(alloc.to_mark)},
	{"manner", 0, "[PATTERN=]COLUMNS",
	 "which of calls, time, space, copies, types and depth=N are shown of functions "
	 "that match PATTERN (a name, or with *), or of all; the last manner that "
	 "matches counts. Calls are counted of what PATTERN names",
	 BIT(ALLOC), SHOWS, TAKE(hi_option_take_manner)},
	{"pause", 0, NULL,
	 "tell a running alloc or record --every of the process to record no allocations "
	 "until --resume",
	 BIT(ALLOC), REFUSED, FLAG(alloc.pause), .not_with = "resume " OF_PROFILES},
	{"resume", 0, NULL, "resume a paused recording", BIT(ALLOC), REFUSED,
	 FLAG(alloc.resume), .not_with = OF_PROFILES},
	{"callers", 0, NULL, "also show which functions have called those that allocated",
	 BIT(ALLOC), SHOWS, FLAG(alloc.callers), .not_with = "by=mark",
	 .why = "since a mark calls nothing"},
	{"depth", 0, "N",
	 "with --callers: chains of up to N callers, 0 to 15 (default: 1)", BIT(ALLOC),
	 SHOWS, NUMBER(alloc.depth, 0, HI_CHAIN_MAX), HAS(alloc.has_depth),
	 .only_with = "callers"},
	{"bars", 0, NULL, "draw a bar for each function, instead of tables", BIT(ALLOC),
	 SHOWS, FLAG(alloc.bars),
	 .not_with = "json callers manner format=mlworks format=html"},
	{"weight", 0, "W",
	 "how much of a bar is space, from 0 (only time) to 1 (only space, the default)",
	 BIT(ALLOC), SHOWS, DECIMAL(alloc.weight, 1), .only_with = "bars format=html"},
	{"contour", 0, "FILE",
	 "leave modules out of lists of callers: lines all MODULE or internal MODULE",
	 BIT(DEEP), REFUSED, LAST_TEXT(deep.contour), .file = READS},
	{"format", 'f', "FORMAT", "mercury: data for Mercury's deep profiler", BIT(DEEP),
	 REFUSED, WORD(output.format, "mercury"), .not_with = "json"},
	{"by", 0, "WHAT",
	 "of html: divide the curve by type (the default) or function (of a recording)",
	 BIT(PEAKS), SHOWS,
	 CHOICE(over_time.by, [HI_BANDS_BY_TYPE] = "type",
		[HI_BANDS_BY_FUNCTION] = "function"),
	 HAS(over_time.has_by), .only_with = "format=html"},
	{"by", 0, "WHAT",
	 "bands by type (the default), function (of a recording), retainer (of the "
	 "graphs in the file) or biography (of a file of bio)",
	 BIT(SPACETIME), SHOWS,
	 CHOICE(over_time.by, [HI_BANDS_BY_TYPE] = "type",
		[HI_BANDS_BY_FUNCTION] = "function", [HI_BANDS_BY_RETAINER] = "retainer",
		[HI_BANDS_BY_BIOGRAPHY] = "biography"),
	 HAS(over_time.has_by)},
	{"format", 'f', "PICTURE", "svg: the graph, as graph draws it", BIT(SPACETIME),
	 REFUSED, WORD(output.format, "svg"), .not_with = "json"},
	{"sort", 0, "ORDER",
	 "order of the functions: alloc (the default), survived, live or name; of bars "
	 "weight (the default), too",
	 BIT(ALLOC), SHOWS,
	 CHOICE(alloc.order, [HI_ALLOC_BY_WEIGHT] = "weight",
		[HI_ALLOC_BY_ALLOC] = "alloc", [HI_ALLOC_BY_SURVIVED] = "survived",
		[HI_ALLOC_BY_LIVE] = "live", [HI_ALLOC_BY_NAME] = "name"),
	 HAS(alloc.has_order)},
	{"edit", 0, NULL,
	 "open the source of the first function that is shown, in the editor that VISUAL "
	 "or EDITOR names",
	 BIT(ALLOC), REFUSED, FLAG(alloc.edit)},
	{"three", 0, NULL,
	 "compare three heaps (after warm-up, under load, after the load): what was born "
	 "under load and is still there",
	 BIT(DIFF), REFUSED, FLAG(comparison.three)},
	{"three", 0, NULL,
	 "take three heaps (after warm-up, under load, after the load), for gates on "
	 "survived",
	 BIT(CHECK), REFUSED, FLAG(comparison.three)},
	{"force", 0, NULL, "compare with a snapshot of another program, too",
	 BIT(DIFF) | BIT(CHECK), SHOWS, FLAG(comparison.force)},
	{"fail-on", 0, "EXPR",
	 "fail when this is true, for example 'leak.bytes > 0'; may be repeated",
	 BIT(CHECK), REFUSED, TAKE(hi_option_take_gate)},
	{"budget", 0, "FILE",
	 "read gates from FILE: one a line, as [NAME:] EXPR, with # comments", BIT(CHECK),
	 REFUSED, TAKE(hi_option_take_budget), AT(check.budget), .file = READS},
	{"baseline", 0, "FILE", "an earlier snapshot to compare with", BIT(CHECK),
	 REFUSED, TAKE(hi_option_take_baseline), AT(comparison.baseline),
	 .file = READS | WRITES},
	{"update-baseline", 0, NULL,
	 "when every gate holds, write this heap to the baseline file; without the file, "
	 "gates that compare are skipped",
	 BIT(CHECK), REFUSED, FLAG(check.update_baseline), .only_with = "baseline",
	 .not_with = "three"},
	{"accept", 0, NULL, "with --update-baseline: also when a gate fails", BIT(CHECK),
	 REFUSED, FLAG(check.accept), .only_with = "update-baseline"},
	{"allow-missing", 0, NULL,
	 "a type, module or variable that is not there counts 0, and is no error",
	 BIT(CHECK), REFUSED, FLAG(check.allow_missing)},
	{"format", 'f', "FORMAT",
	 "heapsnapshot, csv, ndjson, parquet, sqlite, folded, speedscope, massif, pprof, "
	 "dhat, hp, dot or prometheus",
	 BIT(EXPORT), REFUSED,
	 WORD(output.format, "heapsnapshot", "csv", "ndjson", "parquet", "sqlite",
	      "folded", "speedscope", "massif", "pprof", "dhat", "hp", "dot",
	      "prometheus")},
	{"table", 0, "NAME",
	 "for csv, ndjson and parquet: objects (the default), edges, types or roots; for "
	 "a file of many censuses also censuses or sums",
	 BIT(EXPORT), REFUSED,
	 WORD(output.table, "objects", "edges", "types", "roots", "censuses", "sums"),
	 .only_with = "format=csv format=ndjson format=parquet"},
	{"compression", 0, "HOW",
	 "for parquet: zstd (the default) or none, for readers that have no zstd",
	 BIT(EXPORT), REFUSED, CHOICE(output.uncompressed, "zstd", "none"),
	 .only_with = "format=parquet"},
	{"label", 0, "NAME=VALUE",
	 "for prometheus: a label of all samples; may be repeated", BIT(EXPORT), REFUSED,
	 TAKE(hi_option_take_label), .only_with = "format=prometheus"},
	{"format", 'f', "ROWS", "table (the default), json or csv", BIT(QUERY), REFUSED,
	 WORD(output.format, "table", "json", "csv")},
	{"format", 'f', "FORMAT",
	 "text (the default), json, junit, github (annotations) or markdown (a step's "
	 "summary)",
	 BIT(CHECK), REFUSED,
	 WORD(output.format, "text", "json", "junit", "github", "markdown")},
	{"format", 'f', "FORMAT",
	 "mlworks: the lines of the space profiler of MLWorks, of all functions; html: a "
	 "page of bars, each a link to its function, its callers, ages and types; svg: a "
	 "picture of the bars (--bars)",
	 BIT(ALLOC), REFUSED, WORD(output.format, "mlworks", "html", "svg"),
	 .not_with = "json"},
	{"format", 'f', "PAGE",
	 "html: one HTML file, with the curve, in which each peak is a link to what was "
	 "live there",
	 BIT(PEAKS), REFUSED, WORD(output.format, "html"), .not_with = "json"},
	{"schema", 0, NULL, "list the tables and their columns", BIT(QUERY), SHOWS,
	 FLAG(output.schema)},
	{"untyped", 0, NULL,
	 "fields that lead to memory without a type, and hints that would name it",
	 BIT(CENSUS), REFUSED, FLAG(selection.untyped), .is_for = HI_FOR_BYTES},
	{"suggest-hints", 0, NULL,
	 "write hints for tagged unions and for memory without a type, for --hints",
	 BIT(CENSUS), REFUSED, FLAG(selection.suggest_hints), .is_for = HI_FOR_BYTES,
	 .not_with = "json",
	 .why = "which has no hints; census --untyped --json has them"},
	{"type", 0, "NAME",
	 "only these types (a, b or a pattern with *; !a: all but that)", ROWS, SHOWS,
	 TEXT(selection.type)},
	{"type", 0, "NAME",
	 "count only objects of these types (a, b or a pattern with *; !a: all but that)",
	 BIT(RETAINERS) | BIT(ROOTS) | BIT(BIO), SHOWS, TEXT(selection.type),
	 HAS(selection.type_restricts), .is_for = HI_FOR_FOLLOWING},
	{"min-size", 0, "SIZE", "only rows of at least SIZE bytes (64KiB)",
	 ROWS | BIT(RETAINERS) | BIT(ROOTS) | RECORDING, SHOWS,
	 SIZE(selection.min_size, 0, "4096 or 64KiB")},
	{"min-size", 0, "SIZE",
	 "only rows that changed by SIZE bytes or more (64KiB); the exit status is 0 "
	 "when no row did",
	 BIT(DIFF), SHOWS, SIZE(selection.min_size, 0, "4096 or 64KiB")},
	{"min-size", 0, "SIZE",
	 "a gate does not fail for less than SIZE bytes (64KiB), or for less growth",
	 BIT(CHECK), SHOWS, SIZE(selection.min_size, 0, "4096 or 64KiB")},
	{"type", 0, "NAME", "the type to start from (or a pattern with *)", BIT(UP),
	 SHOWS, TEXT(selection.type)},
	{"ways", 'k', "N", "show at most N paths (default: 5)", BIT(PATHS), SHOWS,
	 NUMBER(selection.paths, 1, 1000)},
	{"each", 0, NULL, "list paths one by one that differ in an index or a key only",
	 BIT(PATHS), SHOWS, FLAG(selection.each)},
	{"group", 0, "N", "the objects of row N of the level, which stands for several",
	 BIT(TREE), SHOWS, NUMBER(selection.group, 1, UINT32_MAX)},
	{"top", 0, "N", "show at most N rows per table",
	 (SHOWING & ~(BIT(CHECK) | BIT(TICKET))) | LISTING, SHOWS,
	 NUMBER(selection.top, 1, SIZE_MAX / 2)},
	{"all", 0, NULL, "show every row",
	 (SHOWING & ~(BIT(CHECK) | BIT(TICKET))) | LISTING, SHOWS, FLAG(selection.all),
	 .not_with = "top"},
	{"for", 0, "TIME",
	 "end the recording after this time (default: when the target exits, or at ^C)",
	 RECORDING, REFUSED, TIME(series.for_ns, "60s or 5min"),
	 .is_for = HI_FOR_FOLLOWING},
	{"sample", 0, "SIZE|all|none",
	 "follow one allocation per SIZE bytes on average, by chance (512KiB), all, or "
	 "none: then no use is proved, only that memory was not used; default: chosen by "
	 "how often the target allocates, so that it loses at most about 3% of a "
	 "processor",
	 BIT(BIO), REFUSED, TAKE(hi_option_take_sample),
	 WORDS("all", "none", "64KiB", "512KiB"), .is_for = HI_FOR_FOLLOWING},
	{"sample", 0, "SIZE|all|windows",
	 "record one allocation per SIZE bytes on average, by chance (512KiB), all, or "
	 "all in windows of 20 ms in each second: then a busy target loses hardly more, "
	 "and the report has rates and live bytes by function, with intervals; default: "
	 "all while that takes at most 2% of the target's CPU time, else windows; where "
	 "there are none (--every, --scan, --calls, --mappings, --keep-events), samples, "
	 "so that it loses at most about 5% of a processor",
	 BIT(RECORD), REFUSED, TAKE(hi_option_take_sample),
	 WORDS("all", "windows", "64KiB", "512KiB"), .is_for = HI_FOR_FOLLOWING},
	{"sample", 0, "SIZE|all|windows",
	 "record one allocation per SIZE bytes on average, by chance (512KiB), or all; "
	 "default: chosen by how often the target allocates, so that it loses at most "
	 "about 5% of a processor; windows: the page of record --sample windows, at the "
	 "end",
	 BIT(ALLOC), REFUSED, TAKE(hi_option_take_sample),
	 WORDS("all", "windows", "64KiB", "512KiB"), .is_for = HI_FOR_FOLLOWING},
	{"scan", 0, "MS",
	 "sample where each thread is after each MS milliseconds of its CPU time: alloc "
	 "shows times of the file then; default: 0, which takes no samples",
	 BIT(RECORD), REFUSED, TAKE(hi_option_take_scan), .is_for = HI_FOR_FOLLOWING},
	{"scan", 0, "MS",
	 "sample where each thread is after each MS milliseconds of its CPU time "
	 "(default: 10); 0 takes no samples, and shows no times",
	 BIT(ALLOC), REFUSED, TAKE(hi_option_take_scan), .is_for = HI_FOR_FOLLOWING},
	{"calls", 0, "FUNCTION:ret,size=$N",
	 "follow an allocator of the program as well: its result is returned (ret, or "
	 "ret=*$N: where argument N points to), the size is an argument, a number or a "
	 "product ($2*$3); old=$N: the block that it resizes; may be repeated",
	 BIT(RECORD), REFUSED, TAKE(hi_option_take_calls)},
	{"frees", 0, "FUNCTION:$N",
	 "this function frees the blocks of --calls, which are argument N; may be "
	 "repeated",
	 BIT(RECORD), REFUSED, TAKE(hi_option_take_calls), .only_with = "calls"},
	{"mappings", 0, NULL,
	 "follow mmap, munmap and mremap as well, but for what allocators map",
	 BIT(RECORD), REFUSED, FLAG(record.mappings)},
	{"keep-events", 0, NULL,
	 "keep each allocation and each free in the file, for the table events of query; "
	 "at most 1 GiB of them, or --max-file",
	 BIT(RECORD), REFUSED, FLAG(record.keep_events), .not_with = "every",
	 .why = "whose file has a recording for each census, and events would be in it "
		"once for each of them"},
	{"children", 0, NULL,
	 "record the processes that the target and its children fork as well, each into "
	 "FILE.PID beside the FILE of -o",
	 BIT(RECORD), REFUSED, FLAG(record.children), .not_with = "every"},
	{"for", 0, "TIME", "count for this time (default: 1s)", BIT(SAFEPOINTS), REFUSED,
	 TIME(series.for_ns, "60s or 5min"), .is_for = HI_FOR_FOLLOWING},
	{.help = "What to draw:", .commands = BIT(GRAPH)},
	{"by", 0, "WHAT",
	 "of a recording: context (live bytes by the call stack that allocated them)",
	 BIT(GRAPH), SHOWS, CHOICE(selection.born_by, "context"),
	 .low = HI_BORN_BY_CONTEXT, HAS(selection.has_born_by)},
	{"shape", 0, "SHAPE",
	 "of one heap: flame (a flame graph, the default) or treemap", BIT(GRAPH), SHOWS,
	 CHOICE(drawing.treemap, "flame", "treemap"), HAS(drawing.has_shape)},
	{"bands", 0, "N",
	 "draw at most N bands; the rest are added up in OTHER (default: 20)", BIT(GRAPH),
	 SHOWS, NUMBER(drawing.bands.limit, 1, HI_BANDS_MAX), .is_for = HI_FOR_SERIES},
	{"min-pct", 0, "PERCENT",
	 "leave out the smallest bands that together have less than PERCENT of the area "
	 "(default: 1); of one heap, sum up what is smaller (default: 0.05)",
	 BIT(GRAPH), SHOWS, TAKE(hi_option_take_share), AT(drawing.bands.min_share),
	 HAS(drawing.has_min_share), .high = 50},
	{"sort", 0, "ORDER",
	 "order of the bands: size, deviation, name, slope or number (as in the file)",
	 BIT(GRAPH), SHOWS,
	 CHOICE(drawing.bands.sort, [HI_BANDS_SIZE] = "size",
		[HI_BANDS_DEVIATION] = "deviation", [HI_BANDS_NAME] = "name",
		[HI_BANDS_SLOPE] = "slope", [HI_BANDS_NUMBER] = "number"),
	 .is_for = HI_FOR_SERIES},
	{"from", 0, "TIME", "only samples from this time on", BIT(GRAPH), SHOWS,
	 DECIMAL(drawing.bands.from, TIME_MOST), .is_for = HI_FOR_SERIES},
	{"to", 0, "TIME", "only samples up to this time", BIT(GRAPH), SHOWS,
	 DECIMAL(drawing.bands.to, TIME_MOST), .is_for = HI_FOR_SERIES},
	{"ymax", 0, "SIZE", "the top of the value axis (64MiB)", BIT(GRAPH), SHOWS,
	 TAKE(hi_option_take_y_max), .is_for = HI_FOR_SERIES},
	{"like", 0, "FILE",
	 "colours, order and scale of the graph of another heap profile", BIT(GRAPH),
	 REFUSED, LAST_TEXT(drawing.like), .is_for = HI_FOR_SERIES, .file = READS},
	{.help = "Roots and retainers:", .commands = ROOTED | BIT(BIO)},
	{"root", 0, "NAME=EXPR",
	 "a root by name: a C expression over the program's variables; may be repeated",
	 ROOTED | BIT(BIO), CHOOSES, TAKE(hi_option_take_root)},
	{"all-bins", 0, NULL,
	 "also show empty bins (of up to 10 roots; else of one root each)", BIT(ROOTS),
	 CHOOSES, FLAG(profile.all_bins)},
	{"join", 0, "TEXT", "separator between the names of a bin (default: -)",
	 BIT(ROOTS) | BIT(QUERY), CHOOSES, LAST_TEXT(profile.join)},
	{"retainer", 0, "WHAT",
	 "objects that count as retainers, besides all root variables: TYPE, TYPE.field, "
	 "global, frame or auto; may be repeated",
	 RESTRICTED | BIT(DIFF) | BIT(QUERY) | BIT(BIO), CHOOSES,
	 LIST(profile.retainers, profile.n_retainers,
	      "a type, TYPE.field, global, frame or auto"),
	 WORDS("global", "frame", "auto"), .is_for = HI_FOR_FOLLOWING},
	{"identity", 0, "WHAT",
	 "the identity of a retainer: type, var, site (of a recording), module or addr "
	 "(default: type)",
	 (RESTRICTED & ~BIT(UP)) | BIT(DIFF) | BIT(QUERY) | BIT(BIO), CHOOSES,
	 .kind = HI_OPTION_CHOICE, AT(profile.identity), .words = hi_option_identities,
	 .is_for = HI_FOR_FOLLOWING},
	{"max-set", 0, "N", "sets of more than N retainers become MANY (default: 8)",
	 RESTRICTED | BIT(DIFF) | BIT(QUERY) | BIT(BIO), CHOOSES,
	 NUMBER(profile.max_set, 1, 1000000), .is_for = HI_FOR_FOLLOWING},
	{"weak-as-roots", 0, NULL,
	 "treat weak fields as strong: what they lead to is live, and they retain it",
	 BY_SETS | BIT(QUERY), CHOOSES, FLAG(profile.weak_as_roots)},
	{"count", 0, NULL, "sort by number of objects, not by bytes; --hp has these",
	 BIT(RETAINERS), CHOOSES, FLAG(profile.count)},
	{"pure", 0, NULL, "count the bytes that the program uses, without overhead",
	 BIT(RETAINERS) | BIT(ROOTS) | BIT(QUERY), CHOOSES, FLAG(profile.pure)},
	{"under", 0, "NAME",
	 "only what the --root of this name leads to; may be repeated (the union counts)",
	 (ROOTED & ~BIT(QUERY)) | BIT(BIO), CHOOSES,
	 LIST(profile.under, profile.n_under, "the name of a --root"),
	 .is_for = HI_FOR_FOLLOWING},
	{"retained-by", 0, "NAME",
	 "only objects with this retainer in their set (a,b or a pattern with *)",
	 RESTRICTED | BIT(BIO), CHOOSES, TEXT(profile.retained_by),
	 .is_for = HI_FOR_FOLLOWING},
	{.help = "Of a recording (heapinspect record):", .commands = BORN},
	{"site", 0, "FUNCTION",
	 "only objects that this function allocated (a name or a pattern with *; "
	 "FILE:LINE; @MODULE; or a list): the innermost one that is no allocation "
	 "wrapper",
	 BORN, CHOOSES, TEXT(selection.births.site)},
	{"site-any", 0, "FUNCTION",
	 "only objects with this function anywhere in the stack that allocated them",
	 BORN, CHOOSES, TEXT(selection.births.site_any)},
	{"age", 0, "RANGE",
	 "only objects of this age at the end of the recording: 10s.. or ..1min or "
	 "10s..1min",
	 BORN, CHOOSES, TAKE(hi_option_take_range), AT(selection.births.age)},
	{"born", 0, "RANGE",
	 "only objects that were allocated in this range of time since its start", BORN,
	 CHOOSES, TAKE(hi_option_take_range), AT(selection.births.born)},
	{"thread", 0, "TID", "only objects that this thread allocated", BORN, CHOOSES,
	 NUMBER(selection.births.thread, 1, UINT32_MAX)},
	{.help = "Series:", .commands = SERIES | RECORDING},
	{"every", 0, "TIME|SIZE",
	 "take a census after each time of this length (10s), or each time the target's "
	 "resident memory has grown by this size (10MB), while the recording goes on",
	 BIT(RECORD), REFUSED, TAKE(hi_option_take_every), .is_for = HI_FOR_FOLLOWING},
	{"every", 0, "TIME|SIZE",
	 "repeat after this time (0.5s), or each time the target's resident memory has "
	 "grown by this size (10MB); memory that is allocated and freed again does not "
	 "count",
	 SERIES, REFUSED, TAKE(hi_option_take_every), .is_for = HI_FOR_FOLLOWING},
	{"every", 0, "TIME",
	 "the length of a period: a census ends each one (default: 1s)",
	 BIT(BIO) | BIT(ALLOC), REFUSED, TIME(series.every_ns, "0.5s or 1min"),
	 .is_for = HI_FOR_FOLLOWING},
	{"hp", 0, "FILE",
	 "at the end, write the bands over time as a heap profile for heapinspect graph",
	 BIT(BIO), REFUSED, LAST_TEXT(series.hp), .is_for = HI_FOR_FOLLOWING,
	 .file = WRITES},
	{"for", 0, "TIME",
	 "end the series after this time (default: when the target exits, or at ^C)",
	 SERIES, REFUSED, TIME(series.for_ns, "60s or 5min"), .is_for = HI_FOR_FOLLOWING},
	{"hp", 0, "FILE", "write a heap profile for heapinspect graph, and its key",
	 SERIES, REFUSED, LAST_TEXT(series.hp), .is_for = HI_FOR_FOLLOWING,
	 .file = WRITES},
	{"full", 0, "WHICH",
	 "censuses whose graphs are kept: first, last, every:N, peaks:K (the maximum and "
	 "K local ones), all or none; several with ',' (default: first,last)",
	 BIT(SNAP) | BIT(RECORD), REFUSED, TAKE(hi_option_take_full),
	 HAS(series.has_full)},
	{"max-file", 0, "SIZE",
	 "when the file gets larger, drop every second census and take half as many from "
	 "then on",
	 BIT(SNAP), REFUSED, SIZE(series.max_file, 1, "500MiB")},
	{"max-file", 0, "SIZE",
	 "limit the file of -o: beside the profile, which is of all censuses, it has the "
	 "heap of the last one, and no sums of those before",
	 BIT(ALLOC), REFUSED, SIZE(series.max_file, 1, "500MiB")},
	{"max-file", 0, "SIZE",
	 "when the file gets larger, drop every second census and take half as many from "
	 "then on; with --keep-events: keep at most this much of events",
	 BIT(RECORD), REFUSED, SIZE(series.max_file, 1, "500MiB"),
	 .only_with = "every keep-events"},
	{"max-file", 0, "SIZE",
	 "leave out pages that would make the file larger (default: 20 MiB)", BIT(REPORT),
	 REFUSED, SIZE(series.max_file, 1, "500MiB")},
	{"time", 0, "AXIS",
	 "time axis: wall (the default), cpu (CPU time of the target, as in heap "
	 "profiles of GHC) or census",
	 SERIES | BIT(BIO), REFUSED,
	 CHOICE(series.axis, [HI_SERIES_CPU] = "cpu", [HI_SERIES_WALL] = "wall",
		[HI_SERIES_CENSUS] = "census"),
	 HAS(series.has_axis), .is_for = HI_FOR_FOLLOWING},
	{.help = "Stopping the target:", .commands = TARGETED},
	{"at", 0, "PLACE",
	 "wait until the target reaches this place: gc, FUNCTION, FUNCTION%return, "
	 "FILE:LINE, usdt:PROVIDER:NAME, 'FUNCTION if EXPR' (VALUE == != < <= > >= "
	 "NUMBER, joined by &&; VALUE: an argument's name, $1 to $6, a global variable, "
	 "and -> . * of them); with a second --at every:N at each N-th time only; now "
	 "does not wait",
	 STOPPED, REFUSED, TAKE(hi_option_take_at), WORDS("gc", "now", "every:"),
	 .is_for = HI_FOR_PROCESS | HI_FOR_DECODING},
	{"timeout", 0, "TIME",
	 "limit for the wait of --at; then exit with status 124 (default: none)", STOPPED,
	 REFUSED, TIME(safepoint.timeout_ns, "500ms or 30s"),
	 .is_for = HI_FOR_PROCESS | HI_FOR_DECODING, .only_with = "at"},
	{"snapshot", 0, "HOW",
	 "copy the memory during the pause, or fork the target and read the child; auto "
	 "takes the one with the shorter pause (default)",
	 TARGETED, REFUSED,
	 CHOICE(safepoint.snapshot, [HI_REQUEST_AUTO] = "auto",
		[HI_REQUEST_COPY] = "copy", [HI_REQUEST_FORK] = "fork"),
	 HAS(safepoint.has_snapshot), .is_for = HI_FOR_PROCESS | HI_FOR_DECODING},
	{"max-image", 0, "SIZE",
	 "keep at most SIZE of the memory of a forked child here (default: what is "
	 "free); a larger one is read in place",
	 TARGETED, REFUSED, SIZE(safepoint.max_image, 1, "512MiB or 4GiB"),
	 .is_for = HI_FOR_PROCESS | HI_FOR_DECODING, .not_with = "snapshot=copy",
	 .why = "which keeps the whole image"},
	{"max-pause", 0, "TIME",
	 "give up when the target is paused for longer (for example 200ms; default: 1s)",
	 TARGETED, REFUSED, TIME(safepoint.max_pause_ns, "200ms or 1s"),
	 .is_for = HI_FOR_PROCESS | HI_FOR_BYTES | HI_FOR_DECODING},
	{.help = "Decoding:", .commands = TARGETED | BIT(SERVE)},
	{"debug-dir", 0, "DIR",
	 "search debug files here instead of in /usr/lib/debug (':' separates several)",
	 TARGETED, REFUSED, LAST_TEXT(decoding.debug_dir),
	 .is_for = HI_FOR_BYTES | HI_FOR_DECODING},
	{"hints", 0, "FILE",
	 "read hints on types that debug information lacks (docs/HINTS.md); may be "
	 "repeated",
	 TARGETED, REFUSED, TAKE(hi_option_take_hints),
	 .is_for = HI_FOR_BYTES | HI_FOR_DECODING, .file = READS},
	{"no-hints", 0, NULL, "do not use the built-in hints for known programs",
	 TARGETED, REFUSED, FLAG(decoding.no_hints),
	 .is_for = HI_FOR_BYTES | HI_FOR_DECODING},
	{"conservative", 0, NULL, "do not read types: every word may be a pointer (fast)",
	 TARGETED, REFUSED, FLAG(decoding.conservative),
	 .is_for = HI_FOR_BYTES | HI_FOR_DECODING,
	 .not_with = "hints root untyped suggest-hints", .why = "which needs types"},
	{"swap", 0, NULL, "also copy swapped pages (this swaps them in)", TARGETED,
	 REFUSED, FLAG(decoding.swap),
	 .is_for = HI_FOR_PROCESS | HI_FOR_BYTES | HI_FOR_DECODING},
	{"threads", 0, "N", "number of threads (default: one per processor)",
	 TARGETED | BIT(SERVE), REFUSED, NUMBER(decoding.threads, 1, 1024),
	 .is_for = HI_FOR_DECODING},
	{"strict", 0, NULL, "exit with status 4 if the snapshot is not complete",
	 TARGETED & ~BIT(CHECK), REFUSED, FLAG(decoding.strict),
	 .is_for = HI_FOR_DECODING},
	{"strict", 0, NULL,
	 "with --allow-missing: a gate on a name that matches nothing fails; exit with "
	 "status 4 if the snapshot is not complete",
	 BIT(CHECK), REFUSED, FLAG(decoding.strict), .is_for = HI_FOR_DECODING},
	{"max-memory", 0, "SIZE",
	 "take at most SIZE of memory for what files unpack to, and for what is computed "
	 "of them (default: a quarter of what is free, and three quarters)",
	 EVERY & ~(BIT(MARK) | BIT(ERA)), REFUSED,
	 SIZE(decoding.max_memory, 1, "512MiB or 4GiB")},
	{"no-sandbox", 0, NULL,
	 "decode in this process, with all its privileges (for debugging)",
	 EVERY & ~(BIT(MARK) | BIT(ERA)), REFUSED, FLAG(decoding.no_sandbox)},
	{.help = "Output:", .commands = EVERY},
	{"json", 0, NULL, "print one JSON document", (PAGED | LISTING), REFUSED,
	 FLAG(output.json)},
	{"junit", 0, "FILE", "also write JUnit XML to FILE", BIT(CHECK), REFUSED,
	 TEXT(check.junit), .file = WRITES},
	{"github", 0, NULL, "also write annotations for GitHub, to stderr", BIT(CHECK),
	 REFUSED, FLAG(check.github)},
	{"addresses", 0, NULL, "also write addresses, for explain", BIT(TICKET), REFUSED,
	 FLAG(output.addresses)},
	{"output", 'o', "FILE", "write to FILE (mode 0600)",
	 EVERY & ~(BIT(RECORD) | BIT(BIO) | BIT(BROWSE) | BIT(SERVE)), REFUSED,
	 LAST_TEXT(output.file), .file = WRITES},
	{"output", 'o', "FILE",
	 "of a process: keep the biographies and the last heap in FILE (mode 0600), the "
	 "report goes to standard output; of a file: write the report to FILE",
	 BIT(BIO), REFUSED, LAST_TEXT(output.file), .file = WRITES},
	{"output", 'o', "FILE",
	 "write the recording to FILE (mode 0600); the report goes to standard output",
	 BIT(RECORD), REFUSED, LAST_TEXT(output.file), .file = WRITES},
	{"color", 0, "WHEN", "colour the output: auto, always or never",
	 (PAGED | LISTING), REFUSED,
	 CHOICE(output.color, [HI_COLOR_AUTO] = "auto", [HI_COLOR_ALWAYS] = "always",
		[HI_COLOR_NEVER] = "never")},
	{"width", 0, "N",
	 "width of the text in columns (default: the terminal's, else 80)",
	 (PAGED | LISTING), SHOWS, NUMBER(output.width, 40, 1000)},
	{"full-names", 0, NULL,
	 "show types and functions by their full names, not std::string and the like, "
	 "and "
	 "each frame of a stack; JSON always has full names",
	 (SHOWING & ~BIT(EXPORT)) | LISTING | BIT(BROWSE) | BIT(SERVE), SHOWS,
	 FLAG(output.full_names)},
	{"quiet", 'q', NULL, "print only errors on stderr", EVERY, REFUSED,
	 FLAG(output.quiet)},
	{"verbose", 'v', NULL,
	 "print on stderr the time and memory of each step, with --json also as phases; "
	 "show more detail",
	 LOOKING, REFUSED, FLAG(output.verbose)},
};
const size_t hi_option_table_size = sizeof(hi_option_table) / sizeof(hi_option_table[0]);

const struct hi_option_row *hi_option_find(unsigned command, const char *name)
{
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (hi_option_table[i].name &&
		    strcmp(hi_option_table[i].name, name) == 0 &&
		    hi_option_table[i].commands & 1u << command)
			return &hi_option_table[i];
	return NULL;
}
