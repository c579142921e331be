/* SPDX-License-Identifier: BSD-2-Clause */
/* What hints/glibc.hints knows of the C library's own records: fixtures/nss_module.c,
 * loaded_libraries.c, many_libraries.c, stale_table.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

enum { LEAKED = 640, WORDS_OF_TABLE = 512, STALE_WORDS = 40 };

HI_TEST_SCENARIO(glibc_hints, tables_of_functions_that_were_never_filled_keep_nothing)
{
	struct target *t = target_start("nss_module", NULL);
	const struct hi_command *c;

	HI_ASSERT_EQ(LEAKED, target_number(t, "leaked"));
	/* Some may be reused by the library for what /etc/resolv.conf has. A table that
	 * kept what it refers to would keep 64. */
	HI_ASSERT(target_query(t, "SELECT count(*) FROM objects WHERE state = 'leak' AND "
				  "usable = 56") >= LEAKED - 16);
	c = target_run(t, "census", "--by", "type", "--all");
	HI_ASSERT_MSG(strstr(c->out, "struct nss_module"), "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "via nss_module"), "%s", c->out);
}

HI_TEST_SCENARIO(glibc_hints, the_biased_word_of_a_library_keeps_no_block_of_the_program)
{
	struct target *t = target_start("loaded_libraries", NULL);
	long long block = target_number(t, "block");
	char sql[300];

	/* The block has one reference: the program's. */
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e JOIN objects o ON o.id = e.target WHERE "
		 "o.address = %lld",
		 block - block % 16);
	HI_ASSERT_EQ(1, target_query(t, sql));
}

HI_TEST_SCENARIO(glibc_hints, tables_of_mappings_are_held_by_the_one_that_came_after)
{
	struct target *t = target_start("many_libraries", NULL);

	HI_ASSERT_EQ(
		0, target_query(t, "SELECT count(*) FROM objects WHERE state = 'leak'"));
	/* Two lists of them, with one of each size up to the largest. */
	HI_ASSERT(target_query(t, "SELECT count(*) FROM objects WHERE type = 'struct "
				  "dlfo_mappings_segment' AND state = 'live'") >= 4);
}

/* Behind the entry of the one library that it has, the words of the fixture's old block:
 * as a list for SQL. Their number. */
static unsigned stale_words(const struct hi_fixture *fx, const char *row, char *list,
			    size_t size)
{
	unsigned long long address, usable, words[WORDS_OF_TABLE];
	unsigned n = 0;
	char path[64];
	ssize_t got;
	int fd;

	HI_ASSERT_EQ(2, sscanf(row, "%llu,%llu", &address, &usable));
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)fx->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0);
	HI_ASSERT(usable <= sizeof(words));
	got = pread(fd, words, usable, (off_t)address);
	close(fd);
	HI_ASSERT_EQ((ssize_t)usable, got);
	/* The table may begin up to two lines of the cache behind its block. */
	for (size_t i = (128 + 2 * 32) / 8; i < usable / 8; i++)
		if ((address + 8 * i) % 32 == 16 && words[i])
			n += snprintf(list + strlen(list), size - strlen(list), "%s%llu",
				      n ? "," : "", words[i]) > 0;
	return n;
}

HI_TEST_SCENARIO(glibc_hints, entries_of_mappings_that_were_never_filled_keep_nothing)
{
	struct target *t = target_start("stale_table", NULL);
	char list[WORDS_OF_TABLE * 24] = "", sql[sizeof(list) + 200];
	struct hi_command *c =
		target_run(t, "query", "--format", "csv",
			   "SELECT address + 0, usable FROM objects WHERE type = 'struct "
			   "dlfo_mappings_segment'");
	unsigned n;

	HI_ASSERT_MSG(strchr(c->out, '\n'), "%s", c->out);
	n = stale_words(t->fx, strchr(c->out, '\n') + 1, list, sizeof(list));
	HI_ASSERT_MSG(n >= STALE_WORDS, "%u: %s", n, list);
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM objects WHERE state = 'leak' AND address IN (%s)",
		 list);
	HI_ASSERT_EQ(n, target_query(t, sql));
}

/* Of names that libraries use, too: nothing is said, and nothing is lost. */
HI_TEST_SCENARIO(glibc_hints, hints_for_a_library_are_silent_where_its_types_are_others)
{
	struct target *t = target_start("types_in_part", NULL);

	HI_ASSERT_EQ(0, doc_size(target_ask(t), "snapshot.warnings"));
	HI_ASSERT_EQ(3, target_query(t, "SELECT count(*) FROM objects WHERE state = "
					"'live' AND usable IN (24, 56, 104)"));
}
