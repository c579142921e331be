/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Code that is not in memory]
 *
 * A page of a private file mapping without a pagemap entry has never been written to: it
 * would be present or swapped out. So its bytes are those of the file, and reading it
 * would only grow the target's resident set.
 */
#include "attach/gadgets.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "attach/frozen_memory.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

#define MAX_CODE (256u << 20)
#define PRESENT (1ull << 63) /* Documentation/admin-guide/mm/pagemap.rst */
#define SWAPPED (1ull << 62)

enum { PART = HI_GADGETS_PART, OVERLAP = 8 /* the longest shape but one byte */ };

static const struct hi_gadget call_shape = {.size = 3, .bytes = {0x0f, 0x05, 0xc3}};
static const struct hi_gadget return_shapes[] = {
	/* mov $15, %rax; syscall   and   mov $15, %eax; syscall */
	{.size = 9, .bytes = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}},
	{.size = 7, .bytes = {0xb8, 15, 0, 0, 0, 0x0f, 0x05}},
};

/* Pages differ: at most a few of each, so that one of them is in memory. */
static void scan_for(const struct hi_gadget *shape, const unsigned char *code,
		     size_t size, uint64_t addr, bool in_vdso, struct hi_gadget *list,
		     size_t *n)
{
	const unsigned char *at = code, *end = code + size;

	while (*n < HI_MAX_GADGETS &&
	       (at = memmem(at, (size_t)(end - at), shape->bytes, shape->size))) {
		list[*n] = *shape;
		list[*n].addr = addr + (uint64_t)(at - code);
		list[(*n)++].in_vdso = in_vdso;
		at++;
	}
}

void hi_gadgets_scan(struct hi_gadgets *gadgets, const unsigned char *code, size_t size,
		     uint64_t addr, bool in_vdso)
{
	scan_for(&call_shape, code, size, addr, in_vdso, gadgets->calls,
		 &gadgets->n_calls);
	for (size_t i = 0; i < 2; i++)
		scan_for(&return_shapes[i], code, size, addr, in_vdso, gadgets->returns,
			 &gadgets->n_returns);
}

/* By read: who owns the file may cut it meanwhile, and a mapping of it would raise
 * SIGBUS. Parts overlap, so that a shape on a border is found, which may be twice. */
void hi_gadgets_scan_file(struct hi_gadgets *gadgets, int fd, uint64_t offset,
			  size_t size, uint64_t addr)
{
	HI_GUARD(free) unsigned char *part = hi_alloc(PART);
	ssize_t n = PART;

	for (size_t at = 0; part && n == PART && at < size; at += PART - OVERLAP) {
		n = pread(fd, part, PART, (off_t)(offset + at));
		if (n > 0)
			hi_gadgets_scan(gadgets, part,
					(size_t)n < size - at ? (size_t)n : size - at,
					addr + at, false);
	}
}

static void scan_mapped_file(const struct hi_target *target, const struct hi_mapping *m,
			     struct hi_gadgets *gadgets)
{
	size_t size = (size_t)(m->end - m->start);
	HI_GUARD(close) int fd = -1;

	if (size <= MAX_CODE && hi_target_open_file(target, m, &fd, NULL) == HI_OK)
		hi_gadgets_scan_file(gadgets, fd, m->file_offset, size, m->start);
}

/* The same kernel gives every process the same vdso, the one of heapinspect too, which
 * serves as the file. */
static void scan_vdso(const struct hi_mapping *m, struct hi_gadgets *gadgets)
{
	uint64_t own = getauxval(AT_SYSINFO_EHDR);
	unsigned char *code = NULL;

	if (!own)
		return;
	memcpy(&code, &own, sizeof(code));
	/* One page: more may not be mapped. */
	hi_gadgets_scan(gadgets, code, HI_PAGE, m->start, true);
}

/* Libraries that stay for as long as the process lives. */
static bool is_lasting(const struct hi_target *target, const struct hi_mapping *m)
{
	const char *name = hi_base_name(m->path);

	return strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0 ||
	       strncmp(name, "ld-", 3) == 0 ||
	       (target->exe && strcmp(m->path, target->exe) == 0);
}

enum hi_status hi_gadgets_find(const struct hi_target *target, struct hi_gadgets *ret,
			       struct hi_error *err)
{
	ret->n_calls = ret->n_returns = 0;
	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (!(m->prot & HI_PROT_EXEC))
			continue;
		if (m->kind == HI_MAPPING_VDSO)
			scan_vdso(m, ret);
		else if (m->kind == HI_MAPPING_FILE && !m->shared &&
			 is_lasting(target, m))
			scan_mapped_file(target, m, ret);
	}
	if (!ret->n_calls)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "no syscall instruction that returns was found in its "
			       "libraries");
	if (!ret->n_returns)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "no code that returns from a signal handler was found in "
			       "its libraries");
	return HI_OK;
}

/* ---- at the stop ---- */

enum gadget_state { GADGET_WRONG, GADGET_ABSENT, GADGET_PRESENT };

/* State of one page; present where it is unknown, so that it is read. */
static uint64_t page_state(int pagemap, uint64_t addr)
{
	uint64_t entry;

	if (pagemap < 0 || pread(pagemap, &entry, sizeof(entry),
				 (off_t)(addr / HI_PAGE * 8)) != sizeof(entry))
		return PRESENT;
	return entry & (PRESENT | SWAPPED);
}

static enum gadget_state check_gadget(const struct hi_gadget *gadget, int memory,
				      int pagemap)
{
	uint64_t last = gadget->addr + gadget->size - 1;
	uint64_t first_state = page_state(pagemap, gadget->addr);
	uint64_t last_state = page_state(pagemap, last);
	unsigned char bytes[sizeof(gadget->bytes)];

	if (!first_state && !last_state && !gadget->in_vdso)
		return GADGET_ABSENT;
	if (!(first_state & last_state & PRESENT))
		return GADGET_WRONG; /* swapped, or half there */
	if (pread(memory, bytes, gadget->size, (off_t)gadget->addr) != gadget->size ||
	    memcmp(bytes, gadget->bytes, gadget->size) != 0)
		return GADGET_WRONG;
	return GADGET_PRESENT;
}

static const struct hi_gadget *pick_gadget(const struct hi_gadget *list, size_t n,
					   int memory, int pagemap)
{
	const struct hi_gadget *absent = NULL;

	for (size_t i = 0; i < n; i++) {
		enum gadget_state gadget_state = check_gadget(&list[i], memory, pagemap);

		if (gadget_state == GADGET_PRESENT)
			return &list[i];
		if (gadget_state == GADGET_ABSENT && !absent)
			absent = &list[i];
	}
	return absent;
}

enum hi_status hi_gadgets_pick(const struct hi_gadgets *gadgets, int memory, int pagemap,
			       const struct hi_gadget **call_ret,
			       const struct hi_gadget **return_ret, struct hi_error *err)
{
	*call_ret = pick_gadget(gadgets->calls, gadgets->n_calls, memory, pagemap);
	*return_ret = pick_gadget(gadgets->returns, gadgets->n_returns, memory, pagemap);
	if (*call_ret && *return_ret)
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the code of its C library in memory differs from its file");
}
