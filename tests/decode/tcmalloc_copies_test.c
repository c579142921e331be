/* SPDX-License-Identifier: BSD-2-Clause */
/* Two copies of tcmalloc in one process: each is walked, with its own blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/allocator.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"

enum { MAX_FACTS = 1024 };

struct copy_fact {
	char kind[16];
	uint64_t addr, size;
};
struct copies {
	struct copy_fact facts[MAX_FACTS];
	size_t n_facts, found;
	bool is_none;
	unsigned n_parts;
	const char *wrong;
};

static void read_copy_fact(const char *line, void *arg)
{
	struct copies *c = arg;
	struct copy_fact *f = &c->facts[c->n_facts];

	c->is_none |= strcmp(line, "none") == 0;
	if (c->n_facts < MAX_FACTS &&
	    sscanf(line, "%15s %lx %lu", f->kind, &f->addr, &f->size) == 3)
		c->n_facts++;
}

static struct copy_fact *fact_at(struct copies *c, uint64_t addr)
{
	for (size_t i = 0; i < c->n_facts; i++)
		if (c->facts[i].addr == addr)
			return &c->facts[i];
	return NULL;
}

static bool compare_with_facts(const struct hi_block *blocks, size_t n, unsigned region,
			       void *arg)
{
	struct copies *c = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		struct copy_fact *f = fact_at(c, blocks[i].addr);

		if (!f)
			continue;
		c->found++;
		if (strstr(f->kind, "freed")) {
			if (blocks[i].state == HI_BLOCK_LIVE)
				c->wrong = "a freed block is live";
		} else if (blocks[i].state != HI_BLOCK_LIVE ||
			   blocks[i].usable < f->size) {
			c->wrong = "a block in use is free, or too small";
		}
	}
	return true;
}

static struct hi_fixture *start_copies(const char *preload, const char *second,
				       struct copies *c)
{
	char path[512], env_preload[256], env[] = "env", library[128];
	char *argv[] = {env, env_preload, path, library, NULL};
	struct hi_fixture *fx;

	snprintf(path, sizeof(path), "%s/second_tcmalloc", HI_FIXTURE_DIR);
	snprintf(env_preload, sizeof(env_preload), "LD_PRELOAD=%s", preload);
	snprintf(library, sizeof(library), "%s", second);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", read_copy_fact, c);
	return fx;
}

static struct hi_allocator *probed;
static void release_probed(void *arg)
{
	(void)arg;
	hi_allocator_release(probed);
	probed = NULL;
}

static void check_copies(const char *preload, const char *second)
{
	struct copies c = {};
	struct hi_fixture *fx = start_copies(preload, second, &c);
	struct inspected *p;
	struct hi_error err = {};

	if (c.is_none)
		HI_SKIP("no second copy can be loaded here");
	p = inspected_open(fx->pid, NULL);
	hi_test_defer(release_probed, NULL);
	HI_ASSERT_OK(hi_allocator_probe(p->image, p->modules, &probed, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(probed, compare_with_facts, &c, &err), &err);
	HI_ASSERT_MSG(!c.wrong, "%s", c.wrong);
	HI_ASSERT_EQ(c.n_facts, c.found);
	HI_ASSERT_EQ(0, probed->n_damage_total);
	for (size_t i = 0; i < probed->n_parts; i++)
		c.n_parts += strcmp(probed->parts[i]->ops->name, "tcmalloc") == 0;
	hi_test_note("%s in %s", probed->version, probed->module);
	HI_ASSERT_EQ(2, c.n_parts);
}

HI_TEST_SCENARIO(tcmalloc_copies, minimal_behind_full)
{
	check_copies("libtcmalloc.so.4", "libtcmalloc_minimal.so.4");
}

HI_TEST_SCENARIO(tcmalloc_copies, the_same_library_twice)
{
	check_copies("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so.4");
}
