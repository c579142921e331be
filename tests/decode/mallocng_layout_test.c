/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mallocng read by tables of offsets that are wrong in one field: refused, or said to be
 * damaged, never miscounted. Then the right table, and a heap that its program has
 * overwritten.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "decode/allocators/mallocng.h"
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/live_image.h"

struct musl_heap {
	struct hi_fixture *fx;
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_mallocng_where where;
	unsigned n_found;
};

struct musl_sums {
	uint64_t live, bytes, damage;
	uint64_t some; /* address of a live block */
	enum hi_status status;
	struct hi_error err;
	char damage_text[120];
};

static enum hi_status keep_where(const struct hi_mallocng_where *where, void *arg,
				 struct hi_error *err)
{
	struct musl_heap *h = arg;

	(void)err;
	h->where = *where;
	h->n_found++;
	return HI_OK;
}

static void look_at_musl(struct musl_heap *h)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_error err;

	h->image = hi_live_image(h->fx->pid);
	HI_ASSERT_OK(hi_modules_open(h->image, &options, &h->modules, &err), &err);
	hi_test_defer(hi_modules_close, h->modules);
	h->n_found = 0;
	HI_ASSERT_OK(hi_mallocng_find(h->image, h->modules, &hi_mallocng_layout,
				      keep_where, h, &err),
		     &err);
	HI_ASSERT_EQ(1, h->n_found);
}

static struct musl_heap start_musl(void)
{
	static const struct allocator_run run = {.program = "allocator_churn_musl_static",
						 .arguments = {"2", "4000"},
						 .shim = "",
						 .parts = "musl"};
	struct musl_heap h = {.fx = allocator_churn_start(&run)};

	look_at_musl(&h);
	return h;
}

static bool sum_live(const struct hi_block *blocks, size_t n, unsigned region, void *arg)
{
	struct musl_sums *s = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].state != HI_BLOCK_LIVE)
			continue;
		s->live++;
		s->bytes += blocks[i].usable;
		if (blocks[i].usable > 32)
			s->some = blocks[i].addr;
	}
	return true;
}

static struct musl_sums read_musl(const struct musl_heap *h,
				  const struct hi_mallocng_layout *layout)
{
	struct hi_allocator *a = NULL;
	struct musl_sums s = {};

	s.status = hi_mallocng_open(h->image, &h->where, layout, &a, &s.err);
	if (s.status != HI_OK)
		return s;
	HI_ASSERT_OK(hi_allocator_walk(a, sum_live, &s, &s.err), &s.err);
	s.damage = a->n_damage_total;
	if (a->n_damage)
		memcpy(s.damage_text, a->damage[0].text, sizeof(s.damage_text));
	hi_allocator_release(a);
	return s;
}

/* True: it was noticed. */
static bool try_wrong(const struct musl_heap *h, const struct hi_mallocng_layout *wrong,
		      const struct musl_sums *right, const char *what, size_t at)
{
	struct musl_sums s = read_musl(h, wrong);

	if (s.status != HI_OK) {
		HI_ASSERT_EQ(HI_BAD_DATA, s.status);
		HI_ASSERT_MSG(s.err.text[0], "%s %zu: no check is named", what, at);
		return true;
	}
	HI_ASSERT_MSG(s.damage || (s.live == right->live && s.bytes == right->bytes),
		      "%s %zu: %lu live instead of %lu, and nothing is said", what, at,
		      (unsigned long)s.live, (unsigned long)right->live);
	if (!s.damage)
		hi_test_note("%s %zu is harmless", what, at);
	return s.damage;
}

HI_TEST_SCENARIO(mallocng_layout, no_wrong_field_miscounts)
{
	struct musl_heap h = start_musl();
	struct musl_sums right = read_musl(&h, &hi_mallocng_layout);
	size_t first = offsetof(struct hi_mallocng_layout, secret);
	size_t end = offsetof(struct hi_mallocng_layout, classes) +
		     sizeof(hi_mallocng_layout.classes);
	unsigned noticed = 0, n = 0;

	HI_ASSERT_OK(right.status, &right.err);
	HI_ASSERT(right.live > 2000 && !right.damage);
	for (size_t at = first; at < end; at += 2) {
		bool is_bits = at >= offsetof(struct hi_mallocng_layout, last_idx) &&
			       at < offsetof(struct hi_mallocng_layout, group_meta);
		bool is_class = at >= offsetof(struct hi_mallocng_layout, classes);

		for (int sign = -1; sign <= 1; sign += 2) {
			struct hi_mallocng_layout wrong = hi_mallocng_layout;
			uint16_t *field = (uint16_t *)(void *)((char *)&wrong + at);
			int step = is_bits || is_class ? 1 : 8;

			/* A shift of -1, a unit of 8: not what a release could have. */
			if (*field < step || (sign < 0 && is_bits && !(*field & 255)) ||
			    (is_class && *field + sign * step < 1))
				continue;
			*field = (uint16_t)(*field + sign * step);
			if (wrong.unit != hi_mallocng_layout.unit || wrong.meta_size == 0)
				continue;
			n++;
			noticed += try_wrong(&h, &wrong, &right, "field", at);
		}
	}
	HI_ASSERT_MSG(noticed > n / 2, "%u of %u", noticed, n);
}

static void overwrite(const struct musl_heap *h, uint64_t addr, const void *bytes,
		      size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)h->fx->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ((ssize_t)n, pwrite(fd, bytes, n, (off_t)addr));
	close(fd);
}

static void check_one_damage(struct musl_heap *h, const struct musl_sums *right,
			     const char *text)
{
	struct musl_sums s;

	look_at_musl(h);
	s = read_musl(h, &hi_mallocng_layout);
	HI_ASSERT_OK(s.status, &s.err);
	HI_ASSERT_EQ(1, s.damage);
	HI_ASSERT_EQ(right->live, s.live);
	HI_ASSERT_MSG(strstr(s.damage_text, text), "%s", s.damage_text);
}

HI_TEST_SCENARIO(mallocng_layout, an_overwritten_slot_is_damage_at_its_place)
{
	static const uint8_t freed = 255, one = 1;
	struct musl_heap h = start_musl();
	struct musl_sums right = read_musl(&h, &hi_mallocng_layout);
	uint8_t was;
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_read(h.image->memory, right.some - 3, &was, 1, &err),
		     &err);
	overwrite(&h, right.some - 3, &freed, 1);
	check_one_damage(&h, &right, "header is of a freed slot");
	overwrite(&h, right.some - 3, &was, 1);
	HI_ASSERT_OK(hi_memory_read(h.image->memory, right.some - 2, &was, 1, &err),
		     &err);
	was ^= one;
	overwrite(&h, right.some - 2, &was, 1);
	check_one_damage(&h, &right, "header is not its own");
}

HI_TEST_SCENARIO(mallocng_layout, a_wrong_secret_is_refused_by_name)
{
	static const uint64_t other = 0x123456789abcdefull;
	struct musl_heap h = start_musl();
	struct musl_sums s;
	uint64_t area, next;
	struct hi_error err;

	HI_ASSERT_OK(
		hi_memory_read_u64(h.image->memory,
				   h.where.context + hi_mallocng_layout.meta_area_head,
				   &area, &err),
		&err);
	HI_ASSERT_OK(hi_memory_read_u64(h.image->memory,
					area + hi_mallocng_layout.area_next, &next, &err),
		     &err);
	HI_ASSERT(next);
	overwrite(&h, next, &other, sizeof(other));
	look_at_musl(&h);
	s = read_musl(&h, &hi_mallocng_layout);
	HI_ASSERT_EQ(HI_BAD_DATA, s.status);
	HI_ASSERT_MSG(strstr(s.err.text, "another secret"), "%s", s.err.text);
}
