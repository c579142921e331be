/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a glibc heap, beside one memcpy of the same bytes.
 *
 *	bench_glibc [chunks, in millions]
 * Chunks as malloc makes them (32 to 80 bytes, 1 in 16 free, one in 40 in a
 * fastbin), all resident. Median of five runs after a dropped one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/frozen_memory.h"
#include "base/alloc.h"
#include "base/parallel.h"
#include "decode/allocators/glibc.h"

#define HEAP 0x555500000000ull
#define LIBC 0x7f0000000000ull
#define ARENA (LIBC + 0xc60)
#define PAR (LIBC + 0x340)
#define TLS (LIBC + 0x8000)
enum { RUNS = 6, LIBC_SIZE = 0x10000 };

struct bench {
	uint8_t *heap, *libc;
	uint64_t size; /* of the heap in use, top included */
	uint64_t n_chunks;
	struct hi_image *image;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(uint8_t *base, uint64_t offset, uint64_t value)
{
	memcpy(base + offset, &value, sizeof(value));
}

static uint64_t get(const uint8_t *base, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, base + offset, sizeof(value));
	return value;
}

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* One chunk at p; free ones keep a clear bit in their successor. */
static uint64_t put_chunk(struct bench *b, uint64_t p, bool prev_in_use, bool *in_use)
{
	uint64_t r = next_random(), size = 32 + r % 4 * 16;

	put(b->heap, p + 8, size | prev_in_use);
	*in_use = (r >> 8) % 16 != 0 || !prev_in_use;
	if (!*in_use)
		put(b->heap, p + size, size);
	else if ((r >> 16) % 40 == 0) { /* to its fastbin */
		uint64_t head = 0xc60 + 16 + (size - 32) / 16 * 8;

		put(b->heap, p + 16, get(b->libc, head) ^ (HEAP + p + 16) >> 12);
		put(b->libc, head, HEAP + p);
	}
	return size;
}

static void make_heap(struct bench *b)
{
	uint64_t p = 0;
	bool in_use = true;

	for (uint64_t i = 0; i < b->n_chunks; i++)
		p += put_chunk(b, p, in_use, &in_use);
	b->size = (p + 0x20000 + 4095) & ~4095ull;
	put(b->heap, p + 8, (b->size - p) | in_use);
	for (unsigned bin = 0; bin < 254; bin++)
		put(b->libc, 0xc60 + 112 + bin * 8, ARENA + 112 + bin / 2 * 16 - 16);
	put(b->libc, 0xc60 + 96, HEAP + p);
	put(b->libc, 0xc60 + 2160, ARENA);
	put(b->libc, 0xc60 + 2184, b->size);
	put(b->libc, 0x340 + 96, HEAP);
	put(b->libc, 0x340 + 104, 64);
	put(b->libc, 0x340 + 112, 1032);
	put(b->libc, 0x340 + 120, 7);
}

static void check(enum hi_status status, const struct hi_error *err)
{
	if (status != HI_OK) {
		fprintf(stderr, "%s\n", err->text);
		exit(1);
	}
}

static void make_image(struct bench *b)
{
	struct hi_thread thread = {.tid = 1, .regs.fs_base = TLS};
	struct hi_mapping heap = {.start = HEAP,
				  .end = HEAP + b->size,
				  .prot = HI_PROT_READ | HI_PROT_WRITE,
				  .kind = HI_MAPPING_HEAP,
				  .path = "[heap]",
				  .held = true};
	struct hi_mapping libc = {.start = LIBC,
				  .end = LIBC + LIBC_SIZE,
				  .prot = HI_PROT_READ | HI_PROT_WRITE,
				  .kind = HI_MAPPING_FILE,
				  .path = "libc",
				  .held = true};
	struct hi_frozen *frozen;
	struct hi_error err;

	check(hi_frozen_create("bench", &frozen, &err), &err);
	check(hi_frozen_add_span(frozen, HEAP, HEAP + b->size, b->heap, &err), &err);
	check(hi_frozen_add_span(frozen, LIBC, LIBC + LIBC_SIZE, b->libc, &err), &err);
	check(hi_frozen_seal(frozen, NULL, 0, &err), &err);
	check(hi_image_create_mock(hi_frozen_memory(frozen), &b->image, &err), &err);
	check(hi_image_add_mapping(b->image, &heap, &err), &err);
	check(hi_image_add_mapping(b->image, &libc, &err), &err);
	check(hi_image_add_thread(b->image, &thread, &err), &err);
}

static bool count_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			 void *arg)
{
	_Atomic uint64_t *sum = arg;

	(void)region;
	*sum += n + (blocks[0].addr & 1);
	return true;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *times)
{
	qsort(times + 1, RUNS - 1, sizeof(*times), by_value);
	return times[1 + (RUNS - 1) / 2];
}

static void run(struct bench *b)
{
	struct hi_glibc_where where = {.main_arena = ARENA,
				       .mp = PAR,
				       .minor = 36,
				       .version = "2.36",
				       .n_tcache_offsets = 1,
				       .tcache_offset = {-0x40}};
	double probe[RUNS], walk[RUNS], walk2[RUNS], copy[RUNS];
	uint8_t *to = hi_pages_alloc(b->size);
	struct hi_allocator *a = NULL;
	_Atomic uint64_t sum = 0;
	struct hi_error err;

	for (int i = 0; i < RUNS; i++) {
		double t0 = now(), t1, t2, t3;

		hi_allocator_release(a);
		check(hi_glibc_open(b->image, &where, &a, &err), &err);
		t1 = now();
		check(hi_allocator_walk(a, count_blocks, &sum, &err), &err);
		t2 = now();
		check(hi_allocator_walk_parallel(a, 2, count_blocks, &sum, &err), &err);
		t3 = now();
		probe[i] = t1 - t0;
		walk[i] = t2 - t1;
		walk2[i] = t3 - t2;
		t0 = now();
		memcpy(to, b->heap, b->size);
		copy[i] = now() - t0;
	}
	printf("%lu chunks, %lu MB, %zu regions, damage %zu\n", b->n_chunks,
	       b->size >> 20, a->n_regions, a->n_damage_total);
	printf("memcpy                %7.1f ms\n", median(copy) * 1e3);
	printf("probe and outline     %7.1f ms  %5.2f x memcpy\n", median(probe) * 1e3,
	       median(probe) / median(copy));
	printf("walk, one thread      %7.1f ms  %5.2f x memcpy  %.1f ns a chunk\n",
	       median(walk) * 1e3, median(walk) / median(copy),
	       median(walk) * 1e9 / (double)b->n_chunks);
	printf("walk, two threads     %7.1f ms  %5.2f x memcpy\n", median(walk2) * 1e3,
	       median(walk2) / median(copy));
	hi_allocator_release(a);
	hi_pages_free(to, b->size);
}

int main(int argc, char **argv)
{
	struct bench b = {.n_chunks = 1000000ull *
				      (argc > 1 ? strtoul(argv[1], NULL, 10) : 10)};
	uint64_t reserve = b.n_chunks * 80 + (1 << 20);

	b.heap = hi_pages_alloc(reserve);
	b.libc = hi_pages_alloc(LIBC_SIZE);
	if (!b.heap || !b.libc)
		return 1;
	make_heap(&b);
	make_image(&b);
	run(&b);
	hi_image_destroy(b.image);
	hi_pages_free(b.heap, reserve);
	hi_pages_free(b.libc, LIBC_SIZE);
	return 0;
}
