/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of real services has a name: redis, memcached, nginx and PostgreSQL with
 * debug information (scripts/build-targets), their hints, and as much data as
 * HI_SERVICE_KEYS says (20,000; scripts/bench sets a million). Counts come from the
 * loader and from what the services say of themselves.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/load.h"
#include "tests/support/service.h"

#define TARGETS HI_SOURCE_DIR "/build/targets/"

static long keys_wanted(void)
{
	const char *text = getenv("HI_SERVICE_KEYS");

	return text ? atol(text) : 20000;
}

static void send_to_service(void *arg, const char *text, size_t size)
{
	hi_service_send(arg, text, size, 0);
}

static struct hi_load *load_of(struct hi_service *s)
{
	static struct hi_load load;

	load = (struct hi_load){.send = send_to_service, .arg = s};
	return &load;
}

static void note_shares(const char *what, json_t *doc)
{
	double live = (double)doc_number(doc, "bytes.live") / 100;

	hi_test_note("%s: %lld objects, %.1f MB; exact %.2f %%, inferred %.2f %%, "
		     "by field %.2f %%, unnamed %.3f %% of bytes; paused %.1f ms",
		     what, doc_number(doc, "objects.live"), live / 1e4,
		     (double)doc_number(doc, "typed.exact") / live,
		     (double)doc_number(doc, "typed.inferred") / live,
		     (double)doc_number(doc, "typed.by_field") / live,
		     (double)doc_number(doc, "typed.unnamed") / live,
		     (double)doc_number(doc, "snapshot.pause_ns") / 1e6);
}

/* ---- redis ---- */

static void say(int fd, const char *text)
{
	HI_ASSERT_EQ((long)strlen(text), write(fd, text, strlen(text)));
}

/* Clients that wait for something, scripts, users, errors, a slow log. */
static void occupy_redis(struct hi_service *s)
{
	say(hi_service_connect(s), "SUBSCRIBE news weather\r\nPSUBSCRIBE a.* b.*\r\n");
	say(hi_service_connect(s),
	    "WATCH w:1 w:2\r\nMULTI\r\nSET w:3 1\r\nSET w:4 2\r\n");
	say(hi_service_connect(s), "BLPOP w:5 w:6 0\r\n");
	say(hi_service_connect(s), "CLIENT TRACKING ON\r\nGET w:7\r\n");
	say(hi_service_connect(s), "CLIENT SETNAME idle\r\n");
	hi_service_ask(s, "CONFIG SET slowlog-log-slower-than 0\r\n", "+OK\r\n");
	for (int i = 0; i < 20; i++) {
		char text[200];

		snprintf(text, sizeof(text),
			 "EVAL \"local t = {}; for i = 1, %d do t[i] = i .. 'x' end; "
			 "return #t\" 0\r\n",
			 i + 1);
		hi_service_ask(s, text, "\r\n");
		snprintf(text, sizeof(text),
			 "ACL SETUSER user:%d on >secret ~key:* +@all\r\n", i);
		hi_service_ask(s, text, "+OK\r\n");
	}
	hi_service_ask(s,
		       "FUNCTION LOAD \"#!lua name=lib\\n"
		       "redis.register_function('f', function() return 1 end)\"\r\n",
		       "\r\n");
	hi_service_ask(s, "NOSUCHCOMMAND\r\n", "\r\n");
	hi_service_ask(s, "CONFIG SET slowlog-log-slower-than -1\r\n", "+OK\r\n");
}

static void fill_redis(struct hi_service *s, struct hi_redis_truth *truth)
{
	struct hi_load *load = load_of(s);

	hi_load_redis(load, keys_wanted(), truth);
	/* Pending writes of the load are answered by this one line. */
	HI_ASSERT_STREQ("+OK\r\n", hi_service_ask(s, "", "+OK\r\n"));
	HI_ASSERT_EQ(truth->keys, atol(hi_service_ask(s, "DBSIZE\r\n", "\r\n") + 1));
}

static void check_grown(json_t *before, json_t *after, const char *type, long by)
{
	long long grown = count_of_type(after, type) - count_of_type(before, type);

	HI_ASSERT_MSG(grown == by, "%s: %ld were made, %lld are seen", type, by, grown);
}

HI_TEST_SLOW(services, redis_is_named_by_its_hints)
{
	struct hi_service *s = hi_service_start_redis("redis-server",
						      "--list-compress-depth", "1", NULL);
	struct hi_redis_truth truth;
	json_t *before, *after, *without;

	occupy_redis(s);
	before = summary_with(s->pid, NULL);
	fill_redis(s, &truth);
	after = summary_with(s->pid, NULL);
	without = summary_with(s->pid, "--no-hints");
	note_shares("redis", after);
	note_shares("redis without hints", without);

	check_grown(before, after, "struct dictEntry", truth.dict_entries);
	check_grown(before, after, "struct redisObject", truth.objects);
	check_grown(before, after, "struct quicklist", truth.quicklists);
	check_grown(before, after, "struct stream", truth.streams);
	check_grown(before, after, "struct streamCG", truth.groups);
	check_grown(before, after, "struct streamConsumer", truth.consumers);
	check_grown(before, after, "struct streamNACK", truth.pending);
	check_grown(before, after, "struct zskiplistNode", truth.skiplist_nodes);
	HI_ASSERT(per_mille_typed(after) >= 980);
	HI_ASSERT(per_mille_named(without) >= 990);
	HI_ASSERT_EQ(0, doc_number(after, "bytes.leak"));
	check_ledger(after);
}

/* Nobody walks its blocks: objects are where typed pointers lead. */
HI_TEST_SLOW(services, redis_on_jemalloc_has_the_same_objects)
{
	struct hi_service *s = hi_service_start_redis("redis-server-jemalloc",
						      "--list-compress-depth", "1", NULL);
	struct hi_redis_truth truth;
	json_t *before, *after;

	occupy_redis(s);
	before = summary_with(s->pid, NULL);
	fill_redis(s, &truth);
	after = summary_with(s->pid, NULL);
	note_shares("redis on jemalloc", after);
	check_grown(before, after, "struct dictEntry", truth.dict_entries);
	check_grown(before, after, "struct redisObject", truth.objects);
}

/* ---- memcached ---- */

static long long stat_of(struct hi_service *s, const char *name)
{
	const char *reply = hi_service_ask(s, "stats\r\n", "END\r\n");
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "STAT %s ", name);
	at = strstr(reply, line);
	HI_ASSERT_MSG(at, "no %s in: %.100s", name, reply);
	return atoll(at + strlen(line));
}

/* Bytes of the slots in use, and pages, of all classes. */
static long long slots_of(struct hi_service *s, long long *pages_ret)
{
	const char *at = hi_service_ask(s, "stats slabs\r\n", "END\r\n");
	long long size = 0, used = 0, pages = 0, sum = 0;

	/* chunk_size comes first in each class. */
	for (; (at = strstr(at, "STAT ")); at++) {
		sscanf(at, "STAT %*d:chunk_size %lld", &size);
		if (sscanf(at, "STAT %*d:used_chunks %lld", &used) == 1)
			sum += used * size;
		if (sscanf(at, "STAT %*d:total_pages %lld", &pages) == 1)
			*pages_ret += pages;
	}
	return sum;
}

HI_TEST_SLOW(services, memcached_has_the_items_that_it_says)
{
	struct hi_service *s = hi_service_create();
	const char *argv[] = {TARGETS "memcached",
			      "-s",
			      s->socket_path,
			      "-u",
			      "root",
			      "-m",
			      "2048",
			      "-o",
			      "slab_automove=0",
			      NULL};
	struct hi_memcached_truth truth;
	long long pages = 0, slots, seen;
	json_t *doc;

	if (access(argv[0], X_OK) != 0)
		HI_SKIP("no memcached: run scripts/build-targets build/targets");
	hi_service_start(s, 1, argv);
	hi_load_memcached(load_of(s), keys_wanted(), 5, &truth);
	HI_ASSERT(strstr(hi_service_ask(s, "version\r\n", "\r\n"), "VERSION"));
	doc = summary_with(s->pid, NULL);
	note_shares("memcached", doc);
	HI_ASSERT_EQ(truth.items, stat_of(s, "curr_items"));
	HI_ASSERT_EQ(truth.items, count_of_type(doc, "struct _stritem"));
	slots = slots_of(s, &pages);
	seen = sum_of_type(doc, "struct _stritem", "shallow") +
	       sum_of_type(doc, "struct _strchunk", "shallow");
	/* A page's first slot has what the page costs its allocator. */
	HI_ASSERT_MSG(seen >= slots && seen < slots + 16 * pages,
		      "%lld bytes of slots in use, %lld are seen", slots, seen);
	HI_ASSERT(seen >= stat_of(s, "bytes"));
	check_ledger(doc);
}
