/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/allocator_truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixtures/shared/allocator_shim.h"
#include "tests/harness.h"

enum { NOTES = 6, CALLS_MAX = 256 };

struct true_block {
	uint64_t addr, size, usable;
	bool is_found;
};

struct truth {
	struct true_block *blocks; /* sorted by addr */
	size_t count, capacity;
	struct shim_call calls[CALLS_MAX];
	size_t n_calls;
};

struct walked {
	struct hi_block *blocks; /* of all parts; sorted by addr */
	size_t count, capacity;
};

struct comparison {
	const struct hi_image *image;
	const struct allocator_run *run;
	struct allocator_figures *figures;
	struct truth truth;
	struct walked walked;
	size_t notes;
};

static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the table, out of the image ---- */

static void read_image(const struct hi_image *image, uint64_t addr, void *buf,
		       size_t size)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_read(image->memory, addr, buf, size, &err), &err);
}

static void add_true_block(struct truth *truth, const struct shim_block *block)
{
	if (truth->count == truth->capacity) {
		truth->capacity = truth->capacity * 2 + 65536;
		truth->blocks =
			realloc(truth->blocks, truth->capacity * sizeof(*truth->blocks));
		HI_ASSERT(truth->blocks);
	}
	truth->blocks[truth->count++] =
		(struct true_block){block->addr, block->size, block->usable, false};
}

static void read_blocks(const struct hi_image *image, const struct shim_head *head,
			struct truth *truth)
{
	enum { BATCH = 4096 };
	struct shim_block *batch = malloc(BATCH * sizeof(*batch));

	HI_ASSERT(batch && head->n_blocks % 1024 == 0);
	for (uint64_t i = 0; i < head->n_blocks; i += 1024) {
		read_image(image, head->blocks + i * sizeof(*batch), batch,
			   1024 * sizeof(*batch));
		for (size_t k = 0; k < 1024; k++)
			if (batch[k].addr > 2)
				add_true_block(truth, &batch[k]);
	}
	free(batch);
}

static void read_calls(const struct hi_image *image, const struct shim_head *head,
		       struct truth *truth)
{
	for (uint64_t i = 0; i < head->n_threads && i < SHIM_THREADS; i++) {
		struct shim_thread thread;

		read_image(image, head->threads + i * sizeof(thread), &thread,
			   sizeof(thread));
		for (size_t k = 0; k < SHIM_DEPTH; k++) {
			if (thread.calls[k].kind == SHIM_NONE)
				continue;
			HI_ASSERT(truth->n_calls < CALLS_MAX);
			truth->calls[truth->n_calls++] = thread.calls[k];
		}
	}
}

static int compare_true_blocks(const void *a, const void *b)
{
	const struct true_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A process may have several: of a program and of a library. */
static void read_tables(const struct hi_image *image, struct truth *truth)
{
	size_t n_tables = 0;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct hi_mapping *m = &image->mappings[i];
		struct hi_error quiet;
		struct shim_head head;

		if (m->kind != HI_MAPPING_ANONYMOUS || !(m->prot & HI_PROT_WRITE) ||
		    hi_memory_read(image->memory, m->start, &head, sizeof(head),
				   &quiet) != HI_OK ||
		    memcmp(head.magic, SHIM_MAGIC, sizeof(head.magic)) != 0 ||
		    head.self != m->start)
			continue;
		HI_ASSERT_EQ(0, head.dropped);
		HI_ASSERT_EQ(0, head.too_deep);
		HI_ASSERT(head.n_threads < SHIM_THREADS);
		read_blocks(image, &head, truth);
		read_calls(image, &head, truth);
		n_tables++;
	}
	HI_ASSERT_MSG(n_tables > 0, "the image has no table of allocator_shim.c");
	qsort(truth->blocks, truth->count, sizeof(*truth->blocks), compare_true_blocks);
}

/* ---- the walk ---- */

static bool keep_walked(const struct hi_block *blocks, size_t n, unsigned region,
			void *arg)
{
	struct walked *w = arg;

	(void)region;
	if (w->count + n > w->capacity) {
		w->capacity = w->capacity * 2 + n + 65536;
		w->blocks = realloc(w->blocks, w->capacity * sizeof(*w->blocks));
		HI_ASSERT(w->blocks);
	}
	memcpy(w->blocks + w->count, blocks, n * sizeof(*blocks));
	w->count += n;
	return true;
}

static int compare_walked(const void *a, const void *b)
{
	const struct hi_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Does name begin as one of the list "a, b"? There are "jemalloc" and "musl mallocng". */
static bool is_judged(const char *list, const char *name)
{
	for (const char *p = list; *p; p += strcspn(p, ",")) {
		p += strspn(p, ", ");
		if (*p && strncmp(p, name, strcspn(p, ",")) == 0)
			return true;
	}
	return false;
}

static void walk_part(struct comparison *c, struct hi_allocator *part)
{
	size_t first = c->walked.count;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_walk(part, keep_walked, &c->walked, &err), &err);
	c->figures->damage += part->n_damage_total;
	c->figures->skipped += part->skipped_bytes;
	for (size_t i = 0; i < part->n_damage && i < NOTES; i++)
		hi_test_note("damage 0x%" PRIx64 ": %s", part->damage[i].address,
			     part->damage[i].text);
	if (is_judged(c->run->parts, part->ops->name))
		return;
	for (size_t i = first; i < c->walked.count; i++)
		c->figures->others += c->walked.blocks[i].state == HI_BLOCK_LIVE;
	c->walked.count = first;
}

static size_t count_judged(const struct allocator_run *run, const struct hi_allocator *a)
{
	size_t n = !a->n_parts && is_judged(run->parts, a->ops->name);

	for (size_t i = 0; i < a->n_parts; i++)
		n += is_judged(run->parts, a->parts[i]->ops->name);
	return n;
}

static void expect_parts(const struct allocator_run *run, const struct hi_allocator *a)
{
	for (size_t i = 0; i < a->n_refused; i++)
		hi_test_note("refused: %s in %s: %s", a->refused[i].name,
			     a->refused[i].module, a->refused[i].text);
	HI_ASSERT_MSG(count_judged(run, a) >= (run->n_parts ? run->n_parts : 1),
		      "found %s, not %s", a->name, run->parts);
}

static void describe_allocator(struct allocator_figures *f, const struct hi_allocator *a)
{
	snprintf(f->name, sizeof(f->name), "%s", a->name);
	snprintf(f->version, sizeof(f->version), "%s", a->version);
	snprintf(f->found_by, sizeof(f->found_by), "%s", a->found_by);
	snprintf(f->checks, sizeof(f->checks), "%s", a->checks);
}

static void walk_all(struct comparison *c, struct hi_modules *modules)
{
	struct hi_allocator *a = NULL;
	uint64_t start = processor_ns(), found;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_probe(c->image, modules, &a, &err), &err);
	found = processor_ns();
	c->figures->find_ns += found - start;
	expect_parts(c->run, a);
	if (!a->n_parts)
		walk_part(c, a);
	for (size_t i = 0; i < a->n_parts; i++)
		walk_part(c, a->parts[i]);
	c->figures->walk_ns += processor_ns() - found;
	describe_allocator(c->figures, a);
	hi_allocator_release(a);
	qsort(c->walked.blocks, c->walked.count, sizeof(*c->walked.blocks),
	      compare_walked);
}

/* ---- musl's loader ---- */

/* struct dso begins with the address where the module is mapped. */
static bool is_module_record(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m;
	struct hi_error quiet;
	uint64_t base;

	if (hi_memory_read_u64(image->memory, addr, &base, &quiet) != HI_OK)
		return false;
	m = hi_image_mapping_at(image, base);
	return m && m->start == base && m->file_offset == 0 &&
	       (m->kind == HI_MAPPING_FILE || m->kind == HI_MAPPING_VDSO);
}

bool allocator_truth_is_musl_loader(const struct hi_image *image,
				    const struct hi_block *block)
{
	size_t n_records = 0;

	if (is_module_record(image, block->addr))
		return true;
	if (block->usable % 8 || block->usable > 4096)
		return false;
	for (uint64_t at = block->addr; at < block->addr + block->usable; at += 8) {
		uint64_t word;

		read_image(image, at, &word, sizeof(word));
		if (word && !is_module_record(image, word))
			return false;
		n_records += word != 0;
	}
	return n_records > 0;
}

/* ---- the comparison ---- */

/* Does a call in progress have the memory [start, end)? One that has not returned may
 * have a block that only a register leads to: it accounts for one. */
static bool is_in_call(struct comparison *c, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < c->truth.n_calls; i++) {
		const struct shim_call *call = &c->truth.calls[i];

		if ((call->given >= start && call->given < end) ||
		    (call->returned >= start && call->returned < end))
			return true;
	}
	for (size_t i = 0; i < c->truth.n_calls; i++) {
		struct shim_call *call = &c->truth.calls[i];
		uint64_t usable = end - start;

		if (call->kind == SHIM_FREE || call->returned || usable < call->size ||
		    usable > 2 * call->size + 8192)
			continue;
		call->returned = start;
		return true;
	}
	return false;
}

/* The first true block at addr or behind it. */
static size_t first_true_block(const struct truth *truth, uint64_t addr)
{
	size_t low = 0, high = truth->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (truth->blocks[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct true_block *true_block_of(struct comparison *c, const struct hi_block *b)
{
	size_t i = first_true_block(&c->truth, b->addr);
	struct true_block *t = &c->truth.blocks[i];

	if (i == c->truth.count)
		return NULL;
	if (t->addr == b->addr)
		return t;
	if (!b->is_start_unknown || t->addr >= b->addr + b->usable)
		return NULL;
	c->figures->interior++;
	return t;
}

static uint64_t first_word(const struct hi_image *image, uint64_t addr)
{
	struct hi_error quiet;
	uint64_t word = 0;

	(void)hi_memory_read_u64(image->memory, addr, &word, &quiet);
	return word;
}

static void judge_unknown(struct comparison *c, const struct hi_block *b)
{
	if (is_in_call(c, b->addr, b->addr + (b->usable ? b->usable : 1))) {
		c->figures->in_calls++;
		return;
	}
	if (c->run->is_known && c->run->is_known(c->image, b)) {
		c->figures->known++;
		return;
	}
	c->figures->extra++;
	if (c->notes++ < NOTES)
		hi_test_note("extra: 0x%" PRIx64 " of %" PRIu64 ", holds 0x%" PRIx64,
			     b->addr, b->usable, first_word(c->image, b->addr));
}

static void judge_live(struct comparison *c, const struct hi_block *b)
{
	struct true_block *t = true_block_of(c, b);

	c->figures->live++;
	if (!t) {
		judge_unknown(c, b);
		return;
	}
	if (t->is_found) {
		c->figures->twice++;
		return;
	}
	t->is_found = true;
	if (b->addr + b->usable - t->addr == t->usable)
		return;
	if (!t->usable && b->addr + b->usable - t->addr >= t->size) {
		c->figures->unsized++;
		return;
	}
	if (is_in_call(c, b->addr, b->addr + b->usable)) {
		c->figures->in_calls++;
		return;
	}
	c->figures->differs++;
	if (c->notes++ < NOTES)
		hi_test_note("differs: 0x%" PRIx64 " of %" PRIu64 ", usable %" PRIu64
			     ", walked 0x%" PRIx64 " of %" PRIu64,
			     t->addr, t->size, t->usable, b->addr, b->usable);
}

/* The last block of the walk that begins at addr or before; in any state. */
static const struct hi_block *walked_block_at(const struct walked *w, uint64_t addr)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->blocks[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &w->blocks[low - 1] : NULL;
}

static void judge_missing(struct comparison *c, const struct true_block *t)
{
	const struct hi_block *b = walked_block_at(&c->walked, t->addr);

	if (is_in_call(c, t->addr, t->addr + 1)) {
		c->figures->in_calls++;
		return;
	}
	c->figures->missing++;
	if (c->notes++ >= NOTES)
		return;
	hi_test_note("missing: 0x%" PRIx64 " of %" PRIu64 "; the block before it is "
		     "0x%" PRIx64 " of %" PRIu64 ", %s",
		     t->addr, t->size, b ? b->addr : 0, b ? b->usable : 0,
		     b ? hi_block_state_text(b->state) : "none");
}

static void judge(struct comparison *c)
{
	c->figures->truth += c->truth.count;
	for (size_t i = 0; i < c->walked.count; i++)
		if (c->walked.blocks[i].state == HI_BLOCK_LIVE)
			judge_live(c, &c->walked.blocks[i]);
	for (size_t i = 0; i < c->truth.count; i++)
		if (!c->truth.blocks[i].is_found)
			judge_missing(c, &c->truth.blocks[i]);
	c->figures->stops++;
}

void allocator_truth_compare(struct hi_image *image, const struct allocator_run *run,
			     struct allocator_figures *figures)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct comparison c = {.image = image, .run = run, .figures = figures};
	struct hi_modules *modules = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	read_tables(image, &c.truth);
	walk_all(&c, modules);
	judge(&c);
	hi_modules_close(modules);
	free(c.truth.blocks);
	free(c.walked.blocks);
}

void allocator_figures_note(const char *what, const struct allocator_figures *f)
{
	double stops = f->stops ? (double)f->stops : 1;

	hi_test_note("%s: %s %s (%s): %zu stops%s, truth %zu, live %zu, missing %zu, "
		     "extra %zu, differs %zu, twice %zu; in calls %zu, known %zu, "
		     "interior %zu, of others %zu; find %.1f ms, walk %.1f ms/million; "
		     "longest pause %.1f ms",
		     what, f->name, f->version, f->found_by, f->stops,
		     f->inside ? " and some with a thread inside" : "", f->truth, f->live,
		     f->missing, f->extra, f->differs, f->twice, f->in_calls, f->known,
		     f->interior, f->others, (double)f->find_ns / 1e6 / stops,
		     f->truth ? (double)f->walk_ns / (double)f->truth : 0.0,
		     (double)f->slowest_pause_ns / 1e6);
}

void allocator_figures_expect(const struct allocator_figures *f)
{
	HI_ASSERT(f->stops > 0 && f->truth > 0);
	HI_ASSERT_EQ(0, f->missing);
	HI_ASSERT_EQ(0, f->extra);
	HI_ASSERT_EQ(0, f->differs);
	HI_ASSERT_EQ(0, f->twice);
	HI_ASSERT_EQ(0, f->damage);
	HI_ASSERT_EQ(0, f->skipped);
}
