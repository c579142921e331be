/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/writings.h"

#define WRITING(option_, is_, ...)                                                       \
	{                                                                                \
		.option = option_, .words = {__VA_ARGS__}, .is = is_                     \
	}

#define OUTPUT "-o", "@out"
/* On a machine that is busy. */
#define PAUSE "-q", "--max-pause", "60s"
#define SERIES "--pid", "@pid", "--every", "0.1s", "--for", "0.2s", PAUSE

static const struct writing of_files[] = {
	WRITING("output", 0, "summary", "@file", OUTPUT),
	WRITING("output", 0, "census", "@file", OUTPUT),
	WRITING("output", 0, "retained", "@file", OUTPUT),
	WRITING("output", 0, "leaks", "@file", OUTPUT),
	WRITING("output", 0, "paths", "struct item", "@file", OUTPUT),
	WRITING("output", 0, "explain", "0x55ac2f3832a0", "@file", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "waste", "@file", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "roots", "--root", "r=list", "@file", OUTPUT),
	WRITING("output", 0, "retainers", "@file", OUTPUT),
	WRITING("output", 0, "up", "--type", "char []", "@file", OUTPUT),
	WRITING("output", 0, "graph", "@file", OUTPUT),
	WRITING("output", 0, "tree", "@file", OUTPUT),
	WRITING("output", 0, "snapshots", "@series", OUTPUT),
	WRITING("output", 0, "diff", "@file", "@file", OUTPUT),
	WRITING("output", 0, "check", "--fail-on", "leak.bytes < 0", "@file", OUTPUT),
	WRITING("junit", 0, "check", "--fail-on", "leak.bytes < 0", "@file", "--junit",
		"@out"),
	WRITING("baseline", WRITING_READS, "check", "--fail-on", "leak.bytes < 0",
		"@file", "--baseline", "@out", "--update-baseline"),
	WRITING("output", 0, "export", "-f", "csv", "@file", OUTPUT),
	WRITING("output", 0, "export", "-f", "prometheus", "@file", OUTPUT),
	WRITING("output", 0, "export", "-f", "sqlite", "@file", OUTPUT),
	WRITING("output", 0, "query", "SELECT 1", "@file", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "audit", "@file", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "era", "--pid", "@pid", "text", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "mark", "--pid", "@pid", "text", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "alloc", "@file", OUTPUT),
	WRITING("output", 0, "peaks", "@series", OUTPUT),
	WRITING("output", 0, "spacetime", "@series", OUTPUT),
	WRITING("output", WRITING_MAY_FAIL, "deep", "@file", OUTPUT),
	WRITING("output", 0, "report", "@file", OUTPUT),
	WRITING("output", 0, "ticket", "@file", OUTPUT),
};

static const struct writing of_processes[] = {
	WRITING("output", 0, "summary", "--pid", "@pid", PAUSE, OUTPUT),
	WRITING("output", 0, "snap", "--pid", "@pid", PAUSE, OUTPUT),
	WRITING("output", 0, "snap", SERIES, OUTPUT),
	WRITING("output", 0, "census", SERIES, OUTPUT),
	WRITING("hp", WRITING_MAY_FAIL, "snap", SERIES, "-o", "/dev/null", "--hp",
		"@out"),
	WRITING("hp", WRITING_HAS_KEY, "census", SERIES, "--hp", "@out"),
	WRITING("hp", WRITING_HAS_KEY, "retainers", SERIES, "--hp", "@out"),
	WRITING("hp", WRITING_MAY_FAIL, "roots", SERIES, "--root", "r=main", "--hp",
		"@out"),
};

/* They follow allocations, or calls. */
static const struct writing as_root[] = {
	WRITING("output", 0, "safepoints", "--pid", "@pid", "--for", "0.1s", OUTPUT),
	WRITING("output", 0, "record", "--pid", "@pid", "--for", "0.2s", PAUSE, OUTPUT),
	WRITING("output", 0, "record", "--pid", "@pid", "--for", "0.2s", PAUSE,
		"--keep-events", OUTPUT),
	WRITING("output", 0, "record", "--pid", "@pid", "--for", "0.3s", PAUSE, "--every",
		"0.1s", OUTPUT),
	WRITING("output", 0, "bio", "--pid", "@pid", "--for", "0.3s", PAUSE, "--every",
		"0.1s", OUTPUT),
	WRITING("hp", 0, "bio", "--pid", "@pid", "--for", "0.3s", PAUSE, "--every",
		"0.1s", "--hp", "@out"),
	WRITING("output", 0, "alloc", "--pid", "@pid", "--for", "0.3s", PAUSE, "--every",
		"0.1s", OUTPUT),
};

#define LIST(list)                                                                       \
	{                                                                                \
		list, sizeof(list) / sizeof((list)[0])                                   \
	}
static const struct {
	const struct writing *list;
	size_t n;
} lists[WRITING_KINDS] = {[WRITING_FILES] = LIST(of_files),
			  [WRITING_PROCESSES] = LIST(of_processes),
			  [WRITING_RECORDINGS] = LIST(as_root)};

size_t writing_count(enum writing_kind kind)
{
	return lists[kind].n;
}

const struct writing *writing_at(enum writing_kind kind, size_t i)
{
	return &lists[kind].list[i];
}
