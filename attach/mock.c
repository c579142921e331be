/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/mock.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

#define PAGE 4096u

struct segment {
	uint64_t start, end;
	unsigned char *bytes;
};

struct mock {
	struct hi_memory memory; /* first */
	struct segments HI_VECTOR(struct segment) segments;
	struct pages HI_VECTOR(uint64_t) poisoned;
	_Atomic uint64_t accesses;
	uint64_t fail_at;
};

static struct mock *to_mock(struct hi_memory *mem)
{
	return (struct mock *)mem;
}

static bool is_mock_failure_due(struct mock *mock)
{
	uint64_t now = atomic_fetch_add(&mock->accesses, 1) + 1;

	return mock->fail_at && now >= mock->fail_at;
}

static bool is_poisoned(const struct mock *mock, uint64_t addr)
{
	for (size_t i = 0; i < mock->poisoned.count; i++)
		if (mock->poisoned.items[i] == addr / PAGE * PAGE)
			return true;
	return false;
}

/* The readable byte at addr and how many follow in its segment. */
static const unsigned char *find_mock_bytes(const struct mock *mock, uint64_t addr,
					    size_t *avail)
{
	for (size_t i = 0; i < mock->segments.count; i++) {
		const struct segment *s = &mock->segments.items[i];
		uint64_t end = addr;

		if (addr < s->start || addr >= s->end)
			continue;
		while (end < s->end && !is_poisoned(mock, end))
			end = end / PAGE * PAGE + PAGE;
		if (end > s->end)
			end = s->end;
		*avail = end - addr;
		return end > addr ? s->bytes + (addr - s->start) : NULL;
	}
	return NULL;
}

static enum hi_status mock_read(struct hi_memory *mem, uint64_t addr, void *buf,
				size_t size, struct hi_error *err)
{
	struct mock *mock = to_mock(mem);
	unsigned char *out = buf;

	if (is_mock_failure_due(mock))
		return hi_fail(err, HI_FAULT, addr, "mock: this read was set up to fail");
	while (size) {
		size_t avail = 0;
		const unsigned char *from = find_mock_bytes(mock, addr, &avail);

		if (!from)
			return hi_fail(err, HI_FAULT, addr, "mock: nothing at 0x%llx",
				       (unsigned long long)addr);
		if (avail > size)
			avail = size;
		memcpy(out, from, avail);
		out += avail;
		addr += avail;
		size -= avail;
	}
	return HI_OK;
}

static const void *mock_view(struct hi_memory *mem, uint64_t addr, size_t *avail_ret)
{
	struct mock *mock = to_mock(mem);

	return is_mock_failure_due(mock) ? NULL : find_mock_bytes(mock, addr, avail_ret);
}

static void mock_destroy(struct hi_memory *mem)
{
	struct mock *mock = to_mock(mem);

	for (size_t i = 0; i < mock->segments.count; i++)
		free(mock->segments.items[i].bytes);
	hi_vector_free(&mock->segments);
	hi_vector_free(&mock->poisoned);
	free(mock);
}

static const struct hi_memory_ops mock_ops = {
	.name = "mock",
	.read = mock_read,
	.view = mock_view,
	.destroy = mock_destroy,
};

enum hi_status hi_memory_create_mock(struct hi_memory **ret, struct hi_error *err)
{
	struct mock *mock = hi_calloc(1, sizeof(*mock));

	if (!mock)
		return hi_fail_memory(err, "mock memory");
	mock->memory.ops = &mock_ops;
	*ret = &mock->memory;
	return HI_OK;
}

enum hi_status hi_memory_mock_add(struct hi_memory *mem, uint64_t addr, const void *bytes,
				  size_t size, struct hi_error *err)
{
	struct mock *mock = to_mock(mem);
	unsigned char *copy;

	assert(mem->ops == &mock_ops && size > 0 && addr + size > addr);
	for (size_t i = 0; i < mock->segments.count; i++)
		assert(addr + size <= mock->segments.items[i].start ||
		       addr >= mock->segments.items[i].end);
	copy = hi_calloc(1, size);
	if (!copy)
		return hi_fail_memory(err, "mock segment");
	if (bytes)
		memcpy(copy, bytes, size);
	if (!hi_vector_push(&mock->segments, (struct segment){addr, addr + size, copy})) {
		free(copy);
		return hi_fail_memory(err, "mock segment");
	}
	return HI_OK;
}

void *hi_memory_mock_at(struct hi_memory *mem, uint64_t addr)
{
	struct mock *mock = to_mock(mem);

	assert(mem->ops == &mock_ops);
	for (size_t i = 0; i < mock->segments.count; i++) {
		const struct segment *s = &mock->segments.items[i];

		if (addr >= s->start && addr < s->end)
			return s->bytes + (addr - s->start);
	}
	return NULL;
}

void hi_memory_mock_fail_at(struct hi_memory *mem, uint64_t nth)
{
	struct mock *mock = to_mock(mem);

	assert(mem->ops == &mock_ops);
	atomic_store(&mock->accesses, 0);
	mock->fail_at = nth;
}

void hi_memory_mock_poison(struct hi_memory *mem, uint64_t page)
{
	struct mock *mock = to_mock(mem);
	bool pushed;

	assert(mem->ops == &mock_ops);
	pushed = hi_vector_push(&mock->poisoned, page / PAGE * PAGE);
	assert(pushed); /* tests only */
	(void)pushed;
}
