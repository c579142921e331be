/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hi_load_flush(struct hi_load *load)
{
	if (load->used)
		load->send(load->arg, load->buffer, load->used);
	load->used = 0;
}

void hi_load_say(struct hi_load *load, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (load->used > sizeof(load->buffer) / 2)
		hi_load_flush(load);
	va_start(ap, fmt);
	n = vsnprintf(load->buffer + load->used, sizeof(load->buffer) - load->used, fmt,
		      ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(load->buffer) - load->used)
		abort();
	load->used += (size_t)n;
}

/* Text of a given length that nobody else has. */
static const char *text_of(long i, int length)
{
	static char text[1024];

	snprintf(text, sizeof(text), "%0*ld", length, i);
	return text;
}

/* ---- redis ---- */

static void load_string(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	int what = (int)(i % 20);

	t->objects += what != 7;
	if (what < 4 || (what == 8 && i % 100 != 8)) {
		hi_load_say(l, "SET s:%ld value-%s", i, text_of(i, 4 + (int)(i % 30)));
		t->embedded++;
	} else if (what < 6 || what == 8) {
		hi_load_say(l, "SET s:%ld %s", i,
			    text_of(i, what == 8 ? 1000 : 60 + (int)(i % 100)));
		/* Up to 20 digits would be an integer; these are longer. */
		t->raw++;
	} else {
		hi_load_say(l, "SET s:%ld %ld", i, what == 6 ? 1000000 + i : i % 10000);
		t->integers += what == 6;
	}
	if (i % 5 == 0) {
		hi_load_say(l, " EX 86400");
		t->expires++;
		t->dict_entries++;
	}
	hi_load_say(l, "\r\n");
}

/* A value longer than 64 bytes makes a dictionary of it. */
static void load_hash(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	hi_load_say(l, "HSET h:%ld", i);
	for (int f = 0; f < 5; f++)
		hi_load_say(l, " field-%d value-%ld", f, i + f);
	if (i % 20 == 11) {
		hi_load_say(l, " long %s", text_of(i, 80));
		t->dict_entries += 6;
	}
	hi_load_say(l, "\r\n");
}

/* Nodes of 8 KB. */
static void load_list(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	int n = i % 2000 == 13 ? 200 : i % 20 == 13 ? 20 : 3;

	hi_load_say(l, "RPUSH l:%ld", i);
	for (int e = 0; e < n; e++)
		hi_load_say(l, " %s", n == 200 ? text_of(i + e, 150) : text_of(i, 10));
	hi_load_say(l, "\r\n");
	t->quicklists++;
}

static void load_set(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	hi_load_say(l, "SADD t:%ld", i);
	for (int e = 0; e < 6; e++)
		hi_load_say(l, i % 20 == 14 ? " %ld" : " member-%ld", i * 10 + e);
	hi_load_say(l, "\r\n");
	if (i % 20 == 15)
		t->dict_entries += 6;
}

/* A member longer than 64 bytes makes a skiplist of it, which has a head. */
static void load_sorted_set(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	hi_load_say(l, "ZADD z:%ld", i);
	for (int e = 0; e < 5; e++)
		hi_load_say(l, " %d.5 member-%ld", e, i * 10 + e);
	if (i % 20 == 17) {
		hi_load_say(l, " 9 %s", text_of(i, 80));
		t->dict_entries += 6;
		t->skiplist_nodes += 7;
	}
	hi_load_say(l, "\r\n");
}

static void load_stream(struct hi_load *l, long i, struct hi_redis_truth *t)
{
	for (int e = 0; e < 3; e++)
		hi_load_say(l, "XADD x:%ld %d-1 field value-%ld\r\n", i, e + 1, i);
	t->streams++;
	if (i % 40 != 19)
		return;
	hi_load_say(l, "XGROUP CREATE x:%ld group 0\r\n", i);
	hi_load_say(l, "XREADGROUP GROUP group consumer COUNT 2 STREAMS x:%ld >\r\n", i);
	t->groups++;
	t->consumers++;
	t->pending += 2;
}

void hi_load_redis(struct hi_load *l, long keys, struct hi_redis_truth *t)
{
	*t = (struct hi_redis_truth){.keys = keys, .dict_entries = keys};
	hi_load_say(l, "CLIENT REPLY OFF\r\n");
	for (long i = 0; i < keys; i++) {
		int what = (int)(i % 20);

		if (what < 9) {
			load_string(l, i, t);
			continue;
		}
		t->objects++;
		if (what < 12)
			load_hash(l, i, t);
		else if (what < 14)
			load_list(l, i, t);
		else if (what < 16)
			load_set(l, i, t);
		else if (what < 18)
			load_sorted_set(l, i, t);
		else
			load_stream(l, i, t);
	}
	hi_load_say(l, "CLIENT REPLY ON\r\n");
	hi_load_flush(l);
}

/* ---- memcached ---- */

static void load_chunked(struct hi_load *l, long i, struct hi_memcached_truth *t)
{
	enum { SIZE = 700 * 1000, PIECE = 1000 };

	hi_load_say(l, "set big:%ld 0 0 %d noreply\r\n", i, SIZE);
	for (int at = 0; at < SIZE; at += PIECE)
		hi_load_say(l, "%s", text_of(i, PIECE));
	hi_load_say(l, "\r\n");
	t->chunked++;
}

void hi_load_memcached(struct hi_load *l, long items, long chunked,
		       struct hi_memcached_truth *t)
{
	*t = (struct hi_memcached_truth){.items = chunked};
	for (long i = 0; i < items; i++) {
		int length = 10 + (int)(i * 7919 % 191);

		hi_load_say(l, "set key:%ld %d 0 %d noreply\r\n%s\r\n", i, i % 3 == 0,
			    length, text_of(i, length));
		t->items++;
	}
	for (long i = 0; i < items; i += 17) {
		hi_load_say(l, "delete key:%ld noreply\r\n", i);
		t->items--;
	}
	for (long i = 0; i < chunked; i++)
		load_chunked(l, i, t);
	hi_load_flush(l);
}
