/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real services: redis and memcached with debug information (built by
 * scripts/build-targets), nginx as Debian ships it, stripped. What they say of
 * themselves is the truth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/service.h"
#include "tests/support/stopping.h"

#define TARGETS HI_SOURCE_DIR "/build/targets/"

static void load_redis(struct hi_service *s, int keys)
{
	char batch[64 * 1000];
	size_t used = 0;

	for (int i = 0; i < keys; i++) {
		used += (size_t)snprintf(batch + used, sizeof(batch) - used,
					 "SET key:%d value-number-%d\r\n", i, i);
		if (i % 1000 == 999 || i == keys - 1) {
			hi_service_send(s, batch, used, (size_t)(i % 1000) + 1);
			used = 0;
		}
	}
}

HI_TEST_SLOW(real_targets, redis_has_as_many_entries_as_it_says)
{
	struct hi_service *s = hi_service_start_redis("redis-server", NULL);
	json_t *before = summary_with(s->pid, NULL), *after;
	long long dbsize;

	load_redis(s, 20000);
	dbsize = atoll(hi_service_ask(s, "DBSIZE\r\n", "\r\n") + 1);
	HI_ASSERT_EQ(20000, dbsize);
	after = summary_with(s->pid, NULL);
	HI_ASSERT_EQ(dbsize, count_of_type(after, "struct dictEntry") -
				     count_of_type(before, "struct dictEntry"));
	HI_ASSERT(has_root(after, "server"));
	check_ledger(after);
	HI_ASSERT_STREQ("+PONG\r\n", hi_service_ask(s, "PING\r\n", "\r\n"));
}

HI_TEST_SLOW(real_targets, redis_shows_the_way_to_an_entry_field_by_field)
{
	struct hi_service *s = hi_service_start_redis("redis-server", NULL);
	struct hi_command *c;
	char pid[16];

	load_redis(s, 1000);
	snprintf(pid, sizeof(pid), "%d", (int)s->pid);
	c = hi_heapinspect("paths", "--pid", pid, "struct dictEntry", "-k", "400");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "dict->ht_table[0]["), "%s", c->out);
}

HI_TEST_SLOW(real_targets, memcached_shows_its_ledger_and_its_roots)
{
	struct hi_service *s = hi_service_create();
	const char *argv[] = {TARGETS "memcached",
			      "-s",
			      s->socket_path,
			      "-u",
			      "root",
			      "-m",
			      "64",
			      NULL};
	json_t *doc;
	char line[128];

	if (access(argv[0], X_OK) != 0)
		HI_SKIP("no memcached: run scripts/build-targets build/targets");
	hi_service_start(s, 1, argv);
	for (int i = 0; i < 2000; i++) {
		snprintf(line, sizeof(line), "set key-%d 0 0 10\r\n0123456789\r\n", i);
		hi_service_ask(s, line, "STORED\r\n");
	}
	doc = summary_with(s->pid, NULL);
	check_ledger(doc);
	HI_ASSERT(has_root(doc, "primary_hashtable") ||
		  has_root(doc, "items.c:primary_hashtable"));
	HI_ASSERT(has_root(doc, "slabclass"));
	/* 2,000 items need more than one slab page of 1 MiB? One is enough to see. */
	HI_ASSERT(doc_number(doc, "ledger.live") > 1 << 20);
	HI_ASSERT(strstr(hi_service_ask(s, "stats\r\n", "END\r\n"),
			 "STAT curr_items 2000"));
}

HI_TEST_SLOW(real_targets, a_stock_stripped_nginx_gives_what_can_be_known)
{
	struct hi_service *s = hi_service_create();
	char config[96];
	const char *argv[] = {"/usr/sbin/nginx", "-c", config, "-p", s->directory, NULL};
	json_t *doc;
	FILE *f;

	if (access(argv[0], X_OK) != 0)
		HI_SKIP("no nginx: apt install nginx-light");
	snprintf(config, sizeof(config), "%s/nginx.conf", s->directory);
	f = fopen(config, "w");
	HI_ASSERT(f);
	fprintf(f,
		"daemon off; worker_processes 2; pid %s/pid; error_log /dev/null;\n"
		"events { worker_connections 64; }\n"
		"http { access_log off; server { listen unix:%s; root %s; } }\n",
		s->directory, s->socket_path, s->directory);
	fclose(f);
	hi_service_start(s, 1, argv);
	/* It listens before it has its workers. */
	for (int i = 0; i < 6000 && hi_test_count_children(s->pid) < 2; i++)
		usleep(10000);
	doc = summary_with(s->pid, NULL);
	check_ledger(doc);
	HI_ASSERT(doc_number(doc, "objects.live") > 50);
	HI_ASSERT_EQ(2, json_array_size(json_object_get(json_object_get(doc, "target"),
							"children")));
	HI_ASSERT(hi_service_ask(s, "GET / HTTP/1.0\r\n\r\n", "</html>\r\n"));
}
