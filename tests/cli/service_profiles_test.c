/* SPDX-License-Identifier: BSD-2-Clause */
/* The databases of a redis as named roots. Needs scripts/build-targets. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/json.h"
#include "tests/support/service.h"

enum { DATABASES = 4, KEYS = 20000, ROOTS = 6 };

static const char *const names[ROOTS] = {"db0", "db1", "db2", "db3", "clients", "lua"};

struct bins {
	long long bytes[ROOTS], objects[ROOTS]; /* of bins that a root is the first of */
	long long shared;			/* by databases */
	long long noroot, leak, all, difference;
};

/* Clients reach their database, and Lua keeps its last arguments: what counts is
 * that no two databases share anything. */
static void take_row(struct bins *b, const json_t *row)
{
	const char *bin = doc_text(row, "bin");
	const char *first = json_string_value(doc_find(row, "roots.0"));
	const char *second = json_string_value(doc_find(row, "roots.1"));
	long long bytes = doc_number(row, "bytes");

	if (second && strncmp(second, "db", 2) == 0) {
		b->shared += bytes;
		return;
	}
	for (size_t i = 0; first && i < ROOTS; i++)
		if (strcmp(first, names[i]) == 0) {
			b->bytes[i] += bytes;
			b->objects[i] += doc_number(row, "objects");
		}
	if (strcmp(bin, "NOROOT") == 0)
		b->noroot = bytes;
	else if (strcmp(bin, "LEAK") == 0)
		b->leak = bytes;
}

static struct bins look(const struct hi_service *s)
{
	char pid[16];
	struct hi_command *c;
	struct bins b = {};
	json_t *doc, *row;

	snprintf(pid, sizeof(pid), "%d", (int)s->pid);
	c = hi_heapinspect("roots", "--pid", pid, "--json", "--max-pause=30s",
			   "--root=db0=server.db[0].dict", "--root=db1=server.db[1].dict",
			   "--root=db2=server.db[2].dict", "--root=db3=server.db[3].dict",
			   "--root=clients=server.clients", "--root=lua=lctx.lua");
	doc = doc_of(c);
	doc_each (row, doc_at(doc, "rows"))
		take_row(&b, row);
	b.all = doc_number(doc, "allocated.bytes");
	b.difference = doc_number(doc, "sanity.difference");
	return b;
}

static void check_sum(const struct bins *b)
{
	long long sum = b->shared + b->noroot + b->leak;

	for (size_t i = 0; i < ROOTS; i++)
		sum += b->bytes[i];
	HI_ASSERT_EQ(b->all, sum);
	HI_ASSERT_EQ(0, b->difference);
}

/* Values of 10, 30, 50, 70 bytes: those up to 44 are in one block with their
 * object. */
static void fill(struct hi_service *s, unsigned database)
{
	char text[200];

	snprintf(text, sizeof(text), "SELECT %u\r\n", database);
	hi_service_ask(s, text, "+OK\r\n");
	snprintf(text, sizeof(text), "DEBUG POPULATE %d key %u\r\n", KEYS,
		 database * 20 + 10);
	hi_service_ask(s, text, "+OK\r\n");
}

/* Tables that grow are moved in the background. */
static void await_tables(struct hi_service *s, unsigned database)
{
	char text[64];

	snprintf(text, sizeof(text), "DEBUG HTSTATS %u\r\n", database);
	for (int i = 0; i < 6000; i++) {
		if (!strstr(hi_service_ask(s, text, "\n\r\n"), "rehashing target"))
			return;
		usleep(10000);
	}
	hi_test_fail(__FILE__, __LINE__, "database %u is moved without end", database);
}

HI_TEST_SLOW(profiles, databases_of_a_redis_are_bins_that_add_up)
{
	struct hi_service *s = hi_service_start_redis(
		"redis-server", "--enable-debug-command", "yes", NULL);
	struct bins before, after;

	for (unsigned i = 0; i < DATABASES; i++)
		fill(s, i);
	for (unsigned i = 0; i < DATABASES; i++)
		await_tables(s, i);
	before = look(s);
	check_sum(&before);
	/* The dictionary and its table; entry, key, value object, and its text. */
	for (unsigned i = 0; i < DATABASES; i++)
		HI_ASSERT_EQ(2 + KEYS * (i < 2 ? 3 : 4), before.objects[i]);
	HI_ASSERT_EQ(0, before.shared);

	hi_service_ask(s, "SELECT 2\r\n", "+OK\r\n");
	hi_service_ask(s, "FLUSHDB\r\n", "+OK\r\n");
	after = look(s);
	check_sum(&after);
	HI_ASSERT_EQ(1, after.objects[2]); /* the dictionary alone */
	for (unsigned i = 0; i < DATABASES; i++)
		if (i != 2)
			HI_ASSERT(llabs(before.bytes[i] - after.bytes[i]) <
				  before.bytes[i] / 1000);
	/* What is gone from the heap is what is gone from the bin, within 1 %. */
	HI_ASSERT(llabs((before.all - after.all) - (before.bytes[2] - after.bytes[2])) <
		  before.all / 100);
}
