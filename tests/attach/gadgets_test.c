/* SPDX-License-Identifier: BSD-2-Clause */
/* Code that is looked for in files, and proved in memory. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/gadgets.h"
#include "tests/harness.h"

#define PAGE 4096u

static const unsigned char call[] = {0x0f, 0x05, 0xc3};
static const unsigned char back[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
static const unsigned char short_back[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};

HI_TEST(attach_gadgets, are_found_wherever_they_lie)
{
	unsigned char *code = calloc(1, PAGE);
	struct hi_gadgets *g = calloc(1, sizeof(*g));

	HI_ASSERT(code && g);
	memcpy(code, back, sizeof(back));
	memcpy(code + 1001, call, sizeof(call));
	memcpy(code + 2003, short_back, sizeof(short_back));
	memcpy(code + PAGE - 3, call, sizeof(call));
	hi_gadgets_scan(g, code, PAGE, 0x10000, false);
	HI_ASSERT_EQ(2, g->n_calls);
	HI_ASSERT_EQ(0x10000 + 1001, g->calls[0].addr);
	HI_ASSERT_EQ(0x10000 + PAGE - 3, g->calls[1].addr);
	HI_ASSERT_EQ(2, g->n_returns);
	HI_ASSERT_EQ(0x10000, g->returns[0].addr);
	HI_ASSERT_EQ(9, g->returns[0].size);
	HI_ASSERT_EQ(0x10000 + 2003, g->returns[1].addr);
	HI_ASSERT_EQ(7, g->returns[1].size);
	free(code);
	free(g);
}

HI_TEST(attach_gadgets, more_than_there_is_room_for_are_left_out)
{
	unsigned char *code = malloc(PAGE);
	struct hi_gadgets *g = calloc(1, sizeof(*g));

	HI_ASSERT(code && g);
	for (size_t i = 0; i + 3 <= PAGE; i += 3)
		memcpy(code + i, call, sizeof(call));
	hi_gadgets_scan(g, code, PAGE, 0, true);
	HI_ASSERT_EQ(HI_MAX_GADGETS, g->n_calls);
	HI_ASSERT_EQ(0, g->n_returns);
	HI_ASSERT(g->calls[5].in_vdso);
	free(code);
	free(g);
}

HI_TEST(attach_gadgets, of_a_file_lie_on_borders_of_parts_and_end_with_it)
{
	const size_t border = HI_GADGETS_PART;
	struct hi_gadgets *g = calloc(1, sizeof(*g));
	int fd = memfd_create("code", MFD_CLOEXEC);

	HI_ASSERT(g && fd >= 0 && ftruncate(fd, (off_t)(PAGE + 2 * border)) == 0);
	HI_ASSERT_EQ(9, pwrite(fd, back, 9, (off_t)(PAGE + border - 4)));
	HI_ASSERT_EQ(3, pwrite(fd, call, 3, (off_t)(PAGE + 2 * border - 3)));
	/* Behind what is mapped, and before. */
	HI_ASSERT_EQ(3, pwrite(fd, call, 3, 0));
	hi_gadgets_scan_file(g, fd, PAGE, 3 * border, 0x10000);
	HI_ASSERT_EQ(1, g->n_calls);
	HI_ASSERT_EQ(0x10000 + 2 * border - 3, g->calls[0].addr);
	HI_ASSERT_EQ(1, g->n_returns);
	HI_ASSERT_EQ(0x10000 + border - 4, g->returns[0].addr);
	g->n_calls = 0;
	hi_gadgets_scan_file(g, fd, PAGE, 2 * border - 1, 0x10000);
	HI_ASSERT_EQ(0, g->n_calls);
	close(fd);
	free(g);
}

struct own_memory {
	int memory, pagemap;
	unsigned char *pages; /* three of them, of a file: 0 touched, 1 not, 2 changed */
	uint64_t addr;
};

static struct own_memory map_own(void)
{
	struct own_memory own = {.memory = open("/proc/self/mem", O_RDONLY),
				 .pagemap = open("/proc/self/pagemap", O_RDONLY)};
	unsigned char bytes[3 * PAGE] = {};
	int fd = memfd_create("code", 0);

	for (unsigned i = 0; i < 3; i++) {
		memcpy(bytes + i * PAGE + 100, call, sizeof(call));
		memcpy(bytes + i * PAGE + 200, back, sizeof(back));
	}
	HI_ASSERT_EQ(sizeof(bytes), write(fd, bytes, sizeof(bytes)));
	own.pages = mmap(NULL, sizeof(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	HI_ASSERT(own.pages != MAP_FAILED && own.memory >= 0);
	madvise(own.pages, sizeof(bytes), MADV_RANDOM); /* no faulting around */
	close(fd);
	own.addr = (uintptr_t)own.pages;
	return own;
}

static bool is_there(const struct own_memory *own, unsigned page)
{
	uint64_t entry = 0;

	HI_ASSERT_EQ(8, pread(own->pagemap, &entry, 8,
			      (off_t)((own->addr / PAGE + page) * 8)));
	return entry >> 63;
}

/* Of these, what is in memory and unchanged comes first, and nothing is touched. */
HI_TEST(attach_gadgets, are_proved_without_touching_a_page)
{
	struct own_memory own = map_own();
	struct hi_gadgets *g = calloc(1, sizeof(*g));
	const struct hi_gadget *c, *r;
	struct hi_error err = {};
	unsigned char file[3 * PAGE];

	HI_ASSERT(g);
	memset(file, 0, sizeof(file));
	for (unsigned i = 0; i < 3; i++) {
		memcpy(file + i * PAGE + 100, call, sizeof(call));
		memcpy(file + i * PAGE + 200, back, sizeof(back));
	}
	hi_gadgets_scan(g, file, sizeof(file), own.addr, false);
	/* As a probe would; not read, which would map the neighbours too. */
	own.pages[2 * PAGE + 100] = call[0] ^ 1;
	own.pages[2 * PAGE + 207] = back[7] ^ 1;
	HI_ASSERT(!is_there(&own, 0) && !is_there(&own, 1) && is_there(&own, 2));
	HI_ASSERT_OK(hi_gadgets_pick(g, own.memory, own.pagemap, &c, &r, &err), &err);
	HI_ASSERT_EQ(own.addr + 100, c->addr); /* as the file says it */
	HI_ASSERT(!is_there(&own, 0) && !is_there(&own, 1));
	HI_ASSERT_EQ(0x0f, *(volatile unsigned char *)(own.pages + PAGE + 100));
	HI_ASSERT_OK(hi_gadgets_pick(g, own.memory, own.pagemap, &c, &r, &err), &err);
	/* Where the kernel maps neighbours with it, it may be one of these. */
	HI_ASSERT(c->addr < own.addr + 2 * PAGE && r->addr < own.addr + 2 * PAGE);
	HI_ASSERT(is_there(&own, (unsigned)((c->addr - own.addr) / PAGE)));
	HI_ASSERT(is_there(&own, (unsigned)((r->addr - own.addr) / PAGE)));
	own.pages[100] = own.pages[200] = own.pages[PAGE + 100] = 0;
	HI_ASSERT_STATUS(HI_UNSUPPORTED,
			 hi_gadgets_pick(g, own.memory, own.pagemap, &c, &r, &err));
	munmap(own.pages, sizeof(file));
	free(g);
}
