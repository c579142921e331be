/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts that are wrong on purpose, and metadata that the program has overwritten: told,
 * never miscounted. A live heap of two threads, read again and again out of one image
 * through a memory that changes some words of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/allocators/jemalloc.h"
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/live_image.h"
#include "tests/support/stopping.h"

/* ---- an image, and words of it that are changed ---- */

enum { MAX_CHANGES = 4 };
struct changed_memory {
	struct hi_memory base;
	struct hi_memory *under;
	struct {
		uint64_t addr, value;
	} changes[MAX_CHANGES];
	size_t n;
};

static enum hi_status read_changed(struct hi_memory *mem, uint64_t addr, void *buf,
				   size_t size, struct hi_error *err)
{
	struct changed_memory *m = (struct changed_memory *)mem;
	enum hi_status status = hi_memory_read(m->under, addr, buf, size, err);

	for (size_t i = 0; i < m->n && status == HI_OK; i++)
		for (size_t k = 0; k < 8; k++) {
			uint64_t at = m->changes[i].addr + k - addr;

			if (at < size)
				((uint8_t *)buf)[at] =
					(uint8_t)(m->changes[i].value >> k * 8);
		}
	return status;
}

static void destroy_changed(struct hi_memory *mem)
{
	(void)mem;
}

static const struct hi_memory_ops changed_ops = {
	.name = "changed", .read = read_changed, .destroy = destroy_changed};

struct jemalloc_process {
	struct hi_fixture *fx;
	struct hi_image *image;
	struct hi_modules *modules;
	struct hi_jemalloc_found found;
	struct changed_memory memory;
	const struct hi_jemalloc_layout *layout;
	uint64_t live; /* by the right layout */
};

static bool is_jemalloc(const struct hi_module *module)
{
	return strncmp(module->name, "libjemalloc", 11) == 0;
}

static enum hi_status open_with(struct jemalloc_process *p,
				const struct hi_jemalloc_layout *layout,
				struct hi_allocator **ret, struct hi_error *err)
{
	unsigned stage;

	return hi_jemalloc_open(p->image, &p->found, &p->found.roots.items[0], layout,
				ret, &stage, err);
}

static bool take_block(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	(void)blocks;
	(void)n;
	(void)region;
	(void)arg;
	return true;
}

/* Opens with this layout, walks, and says how many blocks are live. */
static uint64_t count_live(struct jemalloc_process *p,
			   const struct hi_jemalloc_layout *layout, size_t *damage_ret)
{
	struct hi_allocator *a;
	struct hi_error err;
	uint64_t live;

	HI_ASSERT_OK(open_with(p, layout, &a, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(a, take_block, NULL, &err), &err);
	live = a->count[HI_BLOCK_LIVE];
	*damage_ret = a->n_damage_total;
	if (a->n_damage)
		hi_test_note("damage: 0x%lx: %s", a->damage[0].address,
			     a->damage[0].text);
	hi_allocator_release(a);
	return live;
}

static struct jemalloc_process *start_jemalloc(void)
{
	static const struct allocator_run run = {.arguments = {"2", "20000"},
						 .preload = "libjemalloc.so.2",
						 .parts = "jemalloc"};
	struct jemalloc_process *p = hi_calloc(1, sizeof(*p));
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_error err;
	size_t i = 0, damage;

	HI_ASSERT(p);
	p->fx = allocator_churn_start(&run);
	HI_ASSERT_OK(
		hi_stop_and_copy(hi_live_target(p->fx->pid), &options, &p->image, &err),
		&err);
	HI_ASSERT_OK(hi_modules_open(p->image, NULL, &p->modules, &err), &err);
	while (!is_jemalloc(hi_modules_get(p->modules, i)))
		i++;
	HI_ASSERT_OK(hi_jemalloc_find(p->image, hi_modules_get(p->modules, i), &p->found,
				      &err),
		     &err);
	HI_ASSERT_EQ(1, p->found.roots.count);
	p->memory = (struct changed_memory){.base.ops = &changed_ops,
					    .under = p->image->memory};
	for (i = 0; i < hi_jemalloc_n_layouts && !p->layout; i++) {
		struct hi_allocator *a;

		if (open_with(p, &hi_jemalloc_layouts[i], &a, NULL) != HI_OK)
			continue;
		hi_allocator_release(a);
		p->layout = &hi_jemalloc_layouts[i];
	}
	HI_ASSERT(p->layout);
	p->live = count_live(p, p->layout, &damage);
	HI_ASSERT_EQ(0, damage);
	return p;
}

static void end_jemalloc(struct jemalloc_process *p)
{
	p->image->memory = p->memory.under;
	p->image->mode = HI_SNAPSHOT_COPY;
	hi_jemalloc_found_free(&p->found);
	hi_modules_close(p->modules);
	hi_image_destroy(p->image);
	hi_fixture_end(p->fx);
	free(p);
}

/* ---- layouts ---- */

static void expect_refused(struct jemalloc_process *p, const char *what,
			   const struct hi_jemalloc_layout *layout)
{
	struct hi_allocator *a = NULL;
	struct hi_error err = {};

	if (open_with(p, layout, &a, &err) == HI_OK)
		hi_test_note("%s: %s is taken", what, layout->version);
	HI_ASSERT(!a);
	hi_test_note("%s: %s", what, err.text);
	HI_ASSERT_EQ(HI_BAD_DATA, err.status);
}

HI_TEST_SCENARIO(jemalloc_damage, layouts_of_other_releases)
{
	struct jemalloc_process *p = start_jemalloc();

	for (size_t i = 0; i < hi_jemalloc_n_layouts; i++)
		if (&hi_jemalloc_layouts[i] != p->layout)
			expect_refused(p, hi_jemalloc_layouts[i].version,
				       &hi_jemalloc_layouts[i]);
	end_jemalloc(p);
}

/* The fields that are 8 bytes off, one after the other. */
#define SHIFTED(FIELD)                                                                   \
	{                                                                                \
#FIELD, offsetof(struct hi_jemalloc_layout, FIELD)                       \
	}
static const struct {
	const char *name;
	size_t at;
} shifted[] = {
	SHIFTED(edata_addr),	 SHIFTED(edata_size),	SHIFTED(edata_bitmap),
	SHIFTED(arena_internal), SHIFTED(arena_caches), SHIFTED(arena_base),
	SHIFTED(arena_bins),	 SHIFTED(bin_bytes),	SHIFTED(bin_regions),
	SHIFTED(bin_slabs),	 SHIFTED(base_blocks),	SHIFTED(slow_bins),
	SHIFTED(slow_arena),	 SHIFTED(slow_memory),	SHIFTED(slow_cache),
	SHIFTED(cache_bins),	 SHIFTED(cached_bytes), SHIFTED(cached_head),
};

HI_TEST_SCENARIO(jemalloc_damage, shifted_fields)
{
	struct jemalloc_process *p = start_jemalloc();

	for (size_t i = 0; i < sizeof(shifted) / sizeof(shifted[0]); i++) {
		struct hi_jemalloc_layout layout = *p->layout;
		uint32_t *field = (uint32_t *)(void *)((char *)&layout + shifted[i].at);

		*field += 8;
		expect_refused(p, shifted[i].name, &layout);
	}
	end_jemalloc(p);
}

static void expect_shift_refused(struct jemalloc_process *p, const char *what,
				 uint32_t (*change)(struct hi_jemalloc_layout *l))
{
	struct hi_jemalloc_layout layout = *p->layout;

	(void)change(&layout);
	expect_refused(p, what, &layout);
}

static uint32_t shift_szind(struct hi_jemalloc_layout *l)
{
	return ++l->szind_shift;
}
static uint32_t shift_nfree(struct hi_jemalloc_layout *l)
{
	return ++l->nfree_shift;
}
static uint32_t shift_slab(struct hi_jemalloc_layout *l)
{
	return ++l->slab_shift;
}
static uint32_t shift_junk(struct hi_jemalloc_layout *l)
{
	return (uint32_t)++l->junk_after;
}

HI_TEST_SCENARIO(jemalloc_damage, shifted_bits)
{
	struct jemalloc_process *p = start_jemalloc();

	expect_shift_refused(p, "class", shift_szind);
	expect_shift_refused(p, "free regions", shift_nfree);
	expect_shift_refused(p, "slab", shift_slab);
	expect_shift_refused(p, "mark", shift_junk);
	end_jemalloc(p);
}

/* One bit lower, as in 5.2: the bit there says that an extent has guard pages, and no
 * extent has them but by an option. Which free extents are dirty is wrong then; what
 * is live is not. */
HI_TEST_SCENARIO(jemalloc_damage, shifted_state_is_harmless)
{
	struct jemalloc_process *p = start_jemalloc();
	struct hi_jemalloc_layout layout = *p->layout;
	size_t damage;

	layout.state_shift--;
	HI_ASSERT_EQ(p->live, count_live(p, &layout, &damage));
	HI_ASSERT_EQ(0, damage);
	end_jemalloc(p);
}

/* ---- damage ---- */

/* The description of some slab. */
static uint64_t find_slab_description(struct jemalloc_process *p)
{
	uint64_t node = p->found.roots.items[0].node, element, bits;
	struct hi_error err;

	HI_ASSERT_EQ(8, p->found.roots.items[0].tree->element);
	for (uint64_t at = node; at < node + (8 << 18); at += 8) {
		uint64_t edata;

		HI_ASSERT_OK(hi_memory_read_u64(p->image->memory, at, &element, &err),
			     &err);
		edata = element << 16 >> 16 & ~127ull;
		if (!edata || !(element & 1) || element >> 48 > 20)
			continue;
		HI_ASSERT_OK(hi_memory_read_u64(p->image->memory, edata, &bits, &err),
			     &err);
		if (bits >> p->layout->nfree_shift & 1023)
			continue; /* a full one: its bitmap is all zero */
		return edata;
	}
	HI_ASSERT(false);
	return 0;
}

static void change_word(struct jemalloc_process *p, uint64_t addr, uint64_t value)
{
	p->memory.changes[p->memory.n].addr = addr;
	p->memory.changes[p->memory.n++].value = value;
	p->image->memory = &p->memory.base;
	p->image->mode = HI_SNAPSHOT_MOCK; /* whose memory may be any */
}

/* The slab is left out; where it is, is said. */
HI_TEST_SCENARIO(jemalloc_damage, overwritten_bitmap)
{
	struct jemalloc_process *p = start_jemalloc();
	uint64_t edata = find_slab_description(p), live;
	size_t damage;

	change_word(p, edata + p->layout->edata_bitmap, 0x4141414141414141);
	live = count_live(p, p->layout, &damage);
	HI_ASSERT_EQ(1, damage);
	HI_ASSERT(live < p->live && p->live - live <= 512);
	end_jemalloc(p);
}

/* Said, with its place, or refused. */
HI_TEST_SCENARIO(jemalloc_damage, overwritten_description)
{
	struct jemalloc_process *p = start_jemalloc();
	uint64_t edata = find_slab_description(p);
	struct hi_allocator *a = NULL;
	struct hi_error err = {};

	change_word(p, edata, 0x4141414141414141);
	if (open_with(p, p->layout, &a, &err) == HI_OK) {
		HI_ASSERT(a->n_damage_total > 0);
		hi_test_note("damage: %s", a->damage[0].text);
		hi_allocator_release(a);
	} else {
		hi_test_note("refused: %s", err.text);
	}
	end_jemalloc(p);
}

/* The map of pages itself. */
HI_TEST_SCENARIO(jemalloc_damage, overwritten_map)
{
	struct jemalloc_process *p = start_jemalloc();

	change_word(p, p->found.roots.items[0].addr, 0x4141414141414141);
	expect_refused(p, "map of pages", p->layout);
	end_jemalloc(p);
}
