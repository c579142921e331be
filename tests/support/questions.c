/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/questions.h"

#include <string.h>

#define RETAINED_BY                                                                      \
	"--retainer", "@retainer", "--identity", "var", "--max-set", "3",                \
		"--retained-by", "*"
#define UNDER "--root", "@root", "--under", "r"
#define FEW QUESTION_OF_FEW

static const struct question questions[] = {
	{.words = {"summary", "--json", "--all"}},
	{.words = {"summary", "--json", "--top", "2", UNDER}},
	{.words = {"summary", "--full-names", "--max-memory", "1GiB"}},
	{.words = {"census", "--json", "--all"}},
	{.words = {"census", "--json", "--all", "--by", "type"}},
	{.words = {"census", "--json", "--all", "--by", "type2"}},
	{.words = {"census", "--json", "--all", "--by", "module"}},
	{.words = {"census", "--json", "--all", "--by", "class"}},
	{.words = {"census", "--json", "--all", "--by", "size"}},
	{.words = {"census", "--json", "--all", "--by", "owner"}},
	{.words = {"census", "--json", "--top", "2", "--type", "@type", "--min-size",
		   "1"}},
	{.words = {"census", "--json", RETAINED_BY}},
	{.words = {"census", "--json", UNDER, "--retained-by", "*"}},
	{.words = {"census", "--full-names"}},
	{.words = {"retained", "--json", "--all"}},
	{.words = {"retained", "--json", "--by", "type"}},
	{.words = {"retained", "--json", "--top", "2", "--type", "@type", "--min-size",
		   "1"}},
	{.words = {"retained", "--json", RETAINED_BY}},
	{.words = {"retained", "--json", UNDER}},
	{.words = {"retained", "--full-names"}},
	{.words = {"leaks", "--json", "--all"}, .is = FEW},
	{.words = {"leaks", "--json", "--top", "2", "--type", "*", "--min-size", "64"},
	 .is = FEW},
	{.words = {"leaks", "--json", RETAINED_BY, UNDER}, .is = FEW},
	{.words = {"leaks", "--full-names"}},
	{.words = {"paths", "@type", "--json", "-k", "20"}},
	{.words = {"paths", "@address0", "--json", "--ways", "5", "--each", "--all"}},
	{.words = {"paths", "@type", "--json", "--top", "2", UNDER}},
	{.words = {"paths", "@type", "--json", RETAINED_BY}, .is = FEW},
	{.words = {"paths", "@address2", "--full-names"}},
	{.words = {"explain", "@address0", "--json", "--all"}},
	{.words = {"explain", "@address1", "--json", "--all"}},
	{.words = {"explain", "@address2", "--json", "--top", "2"}},
	{.words = {"explain", "@address3", "--json", UNDER}},
	{.words = {"explain", "@address0", "--full-names"}},
	{.words = {"waste", "--json", "--all"}, .is = FEW},
	{.words = {"waste", "--json", "--by", "type"}, .is = FEW},
	{.words = {"waste", "--json", "--top", "2", "--type", "@type", "--min-size", "1"},
	 .is = FEW},
	{.words = {"waste", "--json", RETAINED_BY, UNDER}, .is = FEW},
	{.words = {"waste", "--full-names"}},
	{.words = {"roots", "--json", "--all", "--root", "@root", "--all-bins", "--join",
		   "+", "--pure"}},
	{.words = {"roots", "--json", "--top", "2", UNDER, "--type", "*", "--min-size",
		   "1"}},
	{.words = {"roots", "--root", "@root", "--full-names"}},
	{.words = {"retainers", "--json", "--all"}},
	{.words = {"retainers", "--json", "--identity", "var"}},
	{.words = {"retainers", "--json", "--all", "--retainer", "@retainer",
		   "--identity", "type", "--weak-as-roots", "--pure"}},
	{.words = {"retainers", "--json", "--top", "4", "--retainer", "auto",
		   "--identity", "addr", "--count", "--min-size", "1"}},
	{.words = {"retainers", "--json", RETAINED_BY, UNDER, "--type", "*"}},
	{.words = {"retainers", "--identity", "module", "--full-names"}},
	{.words = {"up", "--json", "--all", "--type", "@type"}},
	{.words = {"up", "--json", "--top", "2", "--type", "@type", "--retainer", "auto",
		   "--max-set", "4", "--weak-as-roots"}},
	{.words = {"up", "--json", "--type", "@type", UNDER, "--retained-by", "*"},
	 .is = FEW},
	{.words = {"up", "--type", "@type", "--full-names"}},
	{.words = {"tree", "--json", "--all"}},
	{.words = {"tree", "@expression", "--json", "--top", "2"}},
	{.words = {"tree", "@expression", "--json", "--group", "1"},
	 .is = QUESTION_OF_GROUPS},
	{.words = {"tree", "--json", UNDER}},
	{.words = {"tree", "--full-names"}},
	{.words = {"graph", "--shape", "flame"}},
	{.words = {"graph", "--shape", "treemap", "--min-pct", "1"}},
	{.words = {"audit", "--json", "--all"},
	 .is = QUESTION_OF_MEMORY | QUESTION_OF_COUNTS},
	{.words = {"audit", "--json", "--top", "2"},
	 .is = QUESTION_OF_MEMORY | QUESTION_OF_COUNTS},
	{.words = {"audit", "--full-names"},
	 .is = QUESTION_OF_MEMORY | QUESTION_OF_COUNTS},
	/* diff finds nothing. */
	{.words = {"diff", "@file", "@", "--json", "--all", "--by", "type", "--force"},
	 .is = FEW},
	{.words = {"diff", "@file", "@", "--json", "--by", "module", "--min-size", "1"},
	 .is = FEW},
	{.words = {"diff", "@file", "@", "--json", "--by", "root", "--top", "2", UNDER},
	 .is = FEW},
	{.words = {"diff", "@file", "@", "--json", "--by", "retainers", "--retainer",
		   "@retainer", "--identity", "type", "--max-set", "4"},
	 .is = FEW},
	{.words = {"diff", "--three", "@file", "@file", "@", "--full-names"}},
	{.words = {"check", "--json", "--fail-on", "leak.bytes > 0", "--fail-on",
		   "live.bytes < 1"}},
	{.words = {"check", "-f", "json", "--baseline", "@file", "--min-size", "1",
		   "--force", "--fail-on", "growth(live.bytes) > 0%"}},
	{.words = {"check", "-f", "text", "--three", "@file", "@file", "@", "--fail-on",
		   "survived.bytes > 0", "--full-names"}},
	{.words = {"check", "-f", "junit", "--fail-on", "leak.count > 0", "--strict"}},
	{.words = {"check", "-f", "github", "--allow-missing", "--fail-on",
		   "leak.roots > 0", "--fail-on", "type(\"no such type\").count > 0"},
	 .is = FEW},
	{.words = {"check", "-f", "markdown", "--fail-on", "total.bytes > 1"}},
	{.words = {"export", "-f", "heapsnapshot"}},
	{.words = {"export", "-f", "csv", "--table", "objects"}},
	{.words = {"export", "-f", "csv", "--table", "edges"}},
	{.words = {"export", "-f", "ndjson", "--table", "types"}},
	{.words = {"export", "-f", "ndjson", "--table", "roots"}},
	{.words = {"export", "-f", "parquet", "--compression", "zstd"}},
	{.words = {"export", "-f", "sqlite"}},
	{.words = {"export", "-f", "folded"}},
	{.words = {"export", "-f", "speedscope"}},
	{.words = {"export", "-f", "massif"}},
	{.words = {"export", "-f", "pprof"}},
	{.words = {"export", "-f", "hp"}},
	{.words = {"export", "-f", "dot", "--top", "20"}},
	{.words = {"export", "-f", "prometheus", "--label", "a=b", "--all"}},
	{.words = {"query", "-f", "json",
		   "SELECT state, evidence, count(*) AS n FROM objects GROUP BY 1, 2"}},
	{.words = {"query", "-f", "table", "--top", "3",
		   "SELECT type, count FROM types"}},
	{.words = {"query", "-f", "csv", "--all", "SELECT label, grade FROM edges"}},
	{.words = {"query", "--json", "--retainer", "@retainer", "--identity", "var",
		   "--max-set", "4", "--weak-as-roots", "--pure",
		   "SELECT * FROM retainer_sets"}},
	{.words = {"query", "--json", "--root", "@root", "--join", "+",
		   "SELECT * FROM bins"}},
	{.words = {"query", "--json", "SELECT * FROM ledger"}},
	{.words = {"query", "--json", "SELECT * FROM censuses"}},
	{.words = {"query", "--schema", "--json"}, .is = FEW},
	{.words = {"query", "--full-names", "SELECT name, retained FROM roots"}},
	{.words = {"census", "--json", "--all", "--by", "namespace"}},
	{.words = {"ticket", UNDER}},
	{.words = {"ticket", "--addresses", "--full-names"}},
	{.words = {"export", "-f", "parquet", "--compression", "none"}},
};

#define RECORDING "it is of a recording: record_test.c and others of its name"
#define SERIES "it is of a series: graph_test.c, series_file_test.c"
#define DECODING "it needs types and the bytes of a target; files refuse it: snap_test.c"
#define IDENTITY                                                                         \
	"it names the sets that --retained-by takes: all of them are of retainers"
#define WRITTEN "where or how a report is written; it says nothing else"

static const struct question_not_asked not_asked[] = {
	{"browse", NULL, NULL, "it needs a terminal: browse_test.c"},
	{"snap", NULL, NULL, "it has made the files that are asked"},
	{NULL, "census", NULL, "which one of many: snap_series_test.c"},
	{NULL, "bio", NULL, "it is of biographies: bio_file_test.c"},
	{NULL, "era", NULL, "it is of biographies: bio_file_test.c"},
	{NULL, "site", NULL, RECORDING},
	{NULL, "site-any", NULL, RECORDING},
	{NULL, "age", NULL, RECORDING},
	{NULL, "born", NULL, RECORDING},
	{NULL, "thread", NULL, RECORDING},
	{"export", "by", NULL, RECORDING},
	{"graph", "by", NULL, RECORDING},
	{NULL, "by", "site", RECORDING},
	{NULL, "by", "context", RECORDING},
	{NULL, "by", "thread", RECORDING},
	{NULL, "by", "age", RECORDING},
	{NULL, "by", "site-module", RECORDING},
	{"export", "format", "dhat", RECORDING},
	{NULL, "table", "censuses", SERIES},
	{NULL, "table", "sums", SERIES},
	{"graph", "bands", NULL, SERIES},
	{"graph", "sort", NULL, SERIES},
	{"graph", "from", NULL, SERIES},
	{"graph", "to", NULL, SERIES},
	{"graph", "ymax", NULL, SERIES},
	{"graph", "like", NULL, SERIES},
	{NULL, "untyped", NULL, DECODING},
	{NULL, "suggest-hints", NULL, DECODING},
	{"check", "budget", NULL, "the gates of --fail-on out of a file: diff_test.c"},
	{"check", "update-baseline", NULL, "it has made one of the files that are asked"},
	{"check", "accept", NULL, "with --update-baseline alone"},
	{NULL, "junit", NULL, WRITTEN},
	{NULL, "github", NULL, WRITTEN},
	{NULL, "output", NULL, WRITTEN},
	{NULL, "color", NULL, WRITTEN},
	{NULL, "quiet", NULL, WRITTEN},
	{NULL, "verbose", NULL, WRITTEN},
	{"census", "identity", NULL, IDENTITY},
	{"retained", "identity", NULL, IDENTITY},
	{"leaks", "identity", NULL, IDENTITY},
	{"waste", "identity", NULL, IDENTITY},
	{"paths", "identity", NULL, IDENTITY},
	{"diff", "identity", NULL, IDENTITY},
	{"query", "identity", NULL, IDENTITY},
	{NULL, "identity", "site", RECORDING},
	{"retained", "by", "thread",
	 "a process has stacks, a file has none: threads_test.c"},
	{NULL, "width", NULL, "all texts are asked for with it"},
};

size_t question_count(void)
{
	return sizeof(questions) / sizeof(*questions);
}

const struct question *question_at(size_t i)
{
	return &questions[i];
}

size_t question_not_asked_count(void)
{
	return sizeof(not_asked) / sizeof(*not_asked);
}

const struct question_not_asked *question_not_asked_at(size_t i)
{
	return &not_asked[i];
}

bool question_has(const struct question *q, const char *word)
{
	for (size_t i = 0; i < QUESTION_WORDS && q->words[i]; i++)
		if (strcmp(q->words[i], word) == 0)
			return true;
	return false;
}

bool question_has_value(const struct question *q, const char *word, const char *value)
{
	for (size_t i = 0; i + 1 < QUESTION_WORDS && q->words[i + 1]; i++)
		if (strcmp(q->words[i], word) == 0 && strcmp(q->words[i + 1], value) == 0)
			return true;
	return false;
}
