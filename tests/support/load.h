/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data for real services, in their own text protocols, and how much of what it
 * makes: counts follow from the data and from the service's own thresholds.
 */
#ifndef HI_TESTS_SUPPORT_LOAD_H
#define HI_TESTS_SUPPORT_LOAD_H

#include <stddef.h>

/* Where the text goes; buffered. */
struct hi_load {
	void (*send)(void *arg, const char *text, size_t size);
	void *arg;
	size_t used;
	char buffer[1 << 16];
};
void hi_load_flush(struct hi_load *load);
__attribute__((format(printf, 2, 3))) void hi_load_say(struct hi_load *load,
						       const char *fmt, ...);

/*
 * redis 7.0 as it starts by default. Of 20 keys: 9 strings (embedded, raw,
 * integers, shared integers), 3 hashes (a listpack or a dictionary), 2 lists (few
 * of several nodes), 2 sets (of integers, of strings), 2 sorted sets (a listpack,
 * a skiplist), 2 streams (some with groups). Every fifth string expires one day.
 */
struct hi_redis_truth {
	long keys, objects; /* keys whose value is a redisObject of its own */
	long embedded, raw, integers;
	long expires;
	long dict_entries; /* in db 0: keys, expires, and in its values */
	long skiplist_nodes, quicklists, streams, groups, consumers, pending;
};
/* Between "CLIENT REPLY OFF" and "ON": the only reply is "+OK\r\n" at the end. */
void hi_load_redis(struct hi_load *load, long keys, struct hi_redis_truth *truth);

/* memcached: items of 10 to 200 bytes and `chunked` ones of 700 KB; every 17th of the
 * small ones is deleted again. No replies. */
struct hi_memcached_truth {
	long items; /* that are left, chunked ones too */
	long chunked;
};
void hi_load_memcached(struct hi_load *load, long items, long chunked,
		       struct hi_memcached_truth *truth);

#endif
