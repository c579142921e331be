/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/page_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "probes/bpf_link.h"
#include "probes/bpf_load.h"

/*
 * Note [The direct map]
 *
 * An entry of a page table has the physical address of the next one. The program reads it
 * where the kernel maps all physical memory: at a base that is random at each boot
 * (RANDOMIZE_MEMORY), and in no file where /proc/kallsyms has no data. But the topmost
 * table of a process is given as an address in that map. So the base is a multiple of 1
 * GiB (the kernel chooses it so) below it, by no more than there is memory. A candidate
 * is right if the tables that it leads to have the physical pages of /proc/PID/pagemap,
 * for pages of our own. With a wrong one other memory is taken for a table, or there is
 * none and the read fails, which does no harm.
 *
 * In a confidential guest (TDX, SEV-SNP) a read of memory that the guest has not yet
 * accepted may end it, so there nothing is tried.
 */
/*
 * Note [Bits that DAMON keeps]
 *
 * DAMON, and idle page tracking, clear the accessed bit of a page and set its flag
 * PG_young instead, so that reclaim does not lose the bit; writing to clear_refs clears
 * both. If one of them is on, the bit is only half of the answer, and the flag is looked
 * up for the pages whose bit is clear. It is in struct page, in an array by the number of
 * the page, which is at a random place, too. The kernel has a list of the struct page of
 * each thread's stack, and the tables of the stack's addresses have their numbers. The
 * result is checked on pages of our own: an anonymous page's struct page has the address
 * at which it was mapped.
 *
 * The flags are looked at in a second run, after all tables of the first were copied: a
 * bit that is being moved is in neither place for an instant.
 */
#define CANDIDATE_STEP (1ull << 30)
#define CANDIDATES_MAX (1u << 16) /* 64 TiB: what four levels can map */
#define PAGE 4096ull
#define PAGEMAP_FRAME ((1ull << 55) - 1)

extern const unsigned char hi_bpf_pages_start[], hi_bpf_pages_end[];

struct hi_page_tables {
	struct bpf_object *object;
	struct bpf_program *program;
	struct hi_bpf_pages_request *request;
	struct hi_bpf_page_table *found;
	uint64_t direct_map, page_structs;
	uint32_t levels;
};

HI_DEFINE_GUARD(struct hi_page_tables *, hi_page_tables_close)

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

#define REQUEST_SIZE whole_pages(sizeof(struct hi_bpf_pages_request))
#define FOUND_SIZE whole_pages(HI_BPF_TABLES * sizeof(struct hi_bpf_page_table))

static void unmap_tables(void *memory, size_t size)
{
	if (memory && memory != MAP_FAILED)
		munmap(memory, size);
}

void hi_page_tables_close(struct hi_page_tables *tables)
{
	if (!tables)
		return;
	unmap_tables(tables->request, REQUEST_SIZE);
	unmap_tables(tables->found, FOUND_SIZE);
	bpf_object__close(tables->object);
	free(tables);
}

/* A word among the flags of the first processor. */
static bool has_cpu_flag(const char *flag)
{
	HI_GUARD(fclose) FILE *file = fopen("/proc/cpuinfo", "re");
	char line[8192];

	while (file && fgets(line, sizeof(line), file)) {
		char *save = NULL;

		if (strncmp(line, "flags", 5) != 0)
			continue;
		for (char *word = strtok_r(line, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save))
			if (strcmp(word, flag) == 0)
				return true;
		return false;
	}
	return false;
}

static enum hi_status load_page_program(struct hi_page_tables *tables,
					struct hi_error *err)
{
	enum hi_status status =
		hi_bpf_open(hi_bpf_pages_start, hi_bpf_pages_end, &tables->object, err);

	if (status == HI_OK)
		status = hi_bpf_load(tables->object,
				     HI_BPF_NEEDS_TYPES | HI_BPF_NEEDS_TASK_ITERATORS,
				     err);
	if (status != HI_OK)
		return status;
	tables->program =
		bpf_object__find_program_by_name(tables->object, "read_page_tables");
	return tables->program ? HI_OK : hi_bpf_refused(ENOENT, err);
}

static void *map_page_memory(const struct hi_page_tables *tables, const char *name,
			     size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_object__find_map_fd_by_name(tables->object, name), 0);
}

enum hi_status hi_page_tables_open(struct hi_page_tables **ret, struct hi_error *err)
{
	HI_GUARD(hi_page_tables_close)
	struct hi_page_tables *tables = hi_calloc(1, sizeof(*tables));
	enum hi_status status;

	if (!tables)
		return hi_fail_memory(err, "page tables");
	status = load_page_program(tables, err);
	if (status != HI_OK)
		return status;
	tables->request = map_page_memory(tables, "request_map", REQUEST_SIZE);
	tables->found = map_page_memory(tables, "tables_map", FOUND_SIZE);
	if (tables->request == MAP_FAILED || tables->found == MAP_FAILED)
		return hi_fail_errno(err, "memory of a BPF program");
	tables->levels = has_cpu_flag("la57") ? 5 : 4;
	*ret = hi_take(tables);
	return HI_OK;
}

enum hi_status hi_page_tables_link(struct hi_page_tables *tables, pid_t pid,
				   int *link_ret, struct hi_error *err)
{
	union bpf_iter_link_info info = {.task = {.pid = (uint32_t)pid}};
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int link = bpf_link_create(bpf_program__fd(tables->program), 0, BPF_TRACE_ITER,
				   &options);

	if (link < 0)
		return hi_bpf_refused(-link, err);
	*link_ret = link;
	return HI_OK;
}

/* Runs the program once; TABLES from request->next on, the others on what that gave. */
static enum hi_status run_page_program(const struct hi_page_tables *tables, int link,
				       enum hi_bpf_pages_mode mode, struct hi_error *err)
{
	struct hi_bpf_pages_request *request = tables->request;
	int iterator = bpf_iter_create(link);
	char nothing;
	ssize_t n;

	if (iterator < 0)
		return hi_bpf_refused(-iterator, err);
	request->direct_map = tables->direct_map;
	request->page_structs = tables->page_structs;
	request->levels = tables->levels;
	request->mode = mode;
	request->top = request->faults = request->strange = request->stack = 0;
	if (mode == HI_BPF_PAGES_TABLES)
		request->n_tables = 0;
	do {
		n = read(iterator, &nothing, 1);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	close(iterator);
	if (n < 0)
		return hi_fail_errno(err, "page tables: read");
	if (!request->top)
		return hi_fail(err, HI_GONE, 0, "page tables: the process has exited");
	return HI_OK;
}

static void copy_found_table(const struct hi_bpf_page_table *from,
			     struct hi_bpf_page_table *to)
{
	size_t n = from->is_huge ? 1 : HI_BPF_TABLE_ENTRIES;

	to->address = from->address;
	to->is_huge = from->is_huge;
	memcpy(to->entries, from->entries, n * sizeof(*from->entries));
}

enum hi_status hi_page_tables_read(const struct hi_page_tables *tables, int link,
				   struct hi_page_tables_read *read, struct hi_error *err)
{
	struct hi_bpf_pages_request *request = tables->request;

	request->next = read->start;
	request->end = read->end;
	/* Each run goes on by a step at least, or fills up all tables. */
	while (request->next < read->end) {
		enum hi_status status =
			run_page_program(tables, link, HI_BPF_PAGES_TABLES, err);

		read->faults += request->faults;
		if (status == HI_OK && read->with_young && request->n_tables)
			status = run_page_program(tables, link, HI_BPF_PAGES_YOUNG, err);
		if (status != HI_OK)
			return status;
		for (size_t i = 0; i < request->n_tables && i < HI_BPF_TABLES; i++) {
			if (read->n == read->max)
				return hi_fail(err, HI_LIMIT, 0,
					       "page tables: more than %zu", read->max);
			copy_found_table(&tables->found[i], &read->tables[read->n++]);
		}
		if (request->next < read->end && hi_clock_ns() >= read->deadline_ns)
			return hi_fail(err, HI_TIMEOUT, 0,
				       "page tables: not all could be read in time");
	}
	return HI_OK;
}

/* A process of our own has to be there for the program to run at all. */
enum hi_status hi_page_tables_read_kept(struct hi_page_tables *tables,
					struct hi_page_tables_read *read,
					struct hi_error *err)
{
	HI_GUARD(close) int link = -1;
	enum hi_status status;

	if (!tables->request->top)
		return hi_fail(err, HI_NOT_FOUND, 0, "page tables: none were read");
	status = hi_page_tables_link(tables, getpid(), &link, err);
	if (status != HI_OK)
		return status;
	tables->request->kept_top = tables->request->top;
	status = hi_page_tables_read(tables, link, read, err);
	tables->request->kept_top = 0;
	return status;
}

/* ---- the direct map ---- */

static enum hi_status read_frame(int pagemap, uint64_t page, uint64_t *ret,
				 struct hi_error *err)
{
	uint64_t entry = 0;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)(page / PAGE * sizeof(entry))) !=
	    sizeof(entry))
		return hi_fail_errno(err, "pagemap of an own page");
	*ret = entry & PAGEMAP_FRAME;
	if (*ret && entry >> 63)
		return HI_OK;
	return hi_fail(err, HI_CANNOT_ATTACH, 0,
		       "/proc/PID/pagemap hides physical pages: run as root, or with "
		       "CAP_SYS_ADMIN");
}

/* The number of the page at an address of the process or of the kernel; 0: not found. */
static uint64_t frame_at(const struct hi_page_tables *tables, int link, uint64_t address)
{
	struct hi_bpf_pages_request *request = tables->request;
	uint64_t entry;

	request->next = address;
	request->end = address + PAGE;
	if (run_page_program(tables, link, HI_BPF_PAGES_TABLES, NULL) != HI_OK ||
	    request->n_tables != 1 || tables->found->is_huge)
		return 0;
	entry = tables->found->entries[address / PAGE % HI_BPF_TABLE_ENTRIES];
	return entry & HI_BPF_ENTRY_PRESENT ? (entry & HI_BPF_ENTRY_FRAME) / PAGE : 0;
}

static enum hi_status check_candidate(const struct hi_page_tables *tables, int link,
				      int pagemap, const uint64_t *pages, size_t n,
				      struct hi_error *err)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t frame = 0;
		enum hi_status status = read_frame(pagemap, pages[i], &frame, err);

		if (status != HI_OK)
			return status;
		if (frame_at(tables, link, pages[i]) != frame)
			return HI_NOT_FOUND;
	}
	return HI_OK;
}

static bool is_confidential_guest(void)
{
	return has_cpu_flag("tdx_guest") || access("/dev/sev-guest", F_OK) == 0 ||
	       access("/dev/tdx_guest", F_OK) == 0;
}

/* The end of the memory in steps, as /proc/zoneinfo has it. */
static unsigned count_candidates(void)
{
	HI_GUARD(fclose) FILE *file = fopen("/proc/zoneinfo", "re");
	uint64_t spanned = 0, start, end = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		(void)sscanf(line, " spanned %" SCNu64, &spanned);
		if (sscanf(line, " start_pfn: %" SCNu64, &start) == 1 &&
		    start + spanned > end)
			end = start + spanned;
	}
	end = end ? end * PAGE / CANDIDATE_STEP + 1 : CANDIDATES_MAX;
	return end < CANDIDATES_MAX ? (unsigned)end : CANDIDATES_MAX;
}

enum hi_status hi_page_tables_find_map(struct hi_page_tables *tables, int link, pid_t pid,
				       const uint64_t *pages, size_t n,
				       struct hi_error *err)
{
	unsigned candidates = count_candidates();
	HI_GUARD(close) int pagemap = -1;
	enum hi_status status;
	char path[64];

	if (is_confidential_guest())
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "page tables are not read in a confidential guest");
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		return hi_fail_errno(err, "%s", path);
	/* With an empty range it returns the address of the topmost table. */
	tables->request->next = tables->request->end = 0;
	status = run_page_program(tables, link, HI_BPF_PAGES_TABLES, err);
	tables->direct_map = tables->request->top / CANDIDATE_STEP * CANDIDATE_STEP;
	for (unsigned i = 0; status == HI_OK && i < candidates; i++) {
		status = check_candidate(tables, link, pagemap, pages, n, err);
		if (status != HI_NOT_FOUND)
			return status;
		status = HI_OK;
		tables->direct_map -= CANDIDATE_STEP;
	}
	if (status != HI_OK)
		return status;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "the kernel's map of physical memory was not found in %u places",
		       candidates);
}

/* ---- struct page ---- */

/* Returns the address of struct page 0 by the first pages of the stack, if all agree;
 * else 0. */
static uint64_t locate_structs(const struct hi_page_tables *tables, int link)
{
	struct hi_bpf_pages_request *request = tables->request;
	uint64_t structs[HI_BPF_STACK_PAGES], stack, found = 0;

	if (run_page_program(tables, link, HI_BPF_PAGES_STACK, NULL) != HI_OK ||
	    !request->stack)
		return 0;
	stack = request->stack;
	memcpy(structs, request->stack_structs, sizeof(structs));
	for (unsigned i = 0; i < HI_BPF_STACK_PAGES; i++) {
		uint64_t frame = frame_at(tables, link, stack + i * PAGE);
		uint64_t first = structs[i] - frame * HI_BPF_PAGE_STRUCT;

		if (!frame || (i && first != found))
			return 0;
		found = first;
	}
	return found;
}

enum hi_status hi_page_tables_find_structs(struct hi_page_tables *tables, int link,
					   const uint64_t *pages, size_t n,
					   struct hi_error *err)
{
	struct hi_bpf_pages_request *request = tables->request;

	tables->page_structs = locate_structs(tables, link);
	for (size_t i = 0; i < n && tables->page_structs; i++) {
		struct hi_bpf_page_table *table = tables->found;
		uint64_t slot = pages[i] / PAGE % HI_BPF_TABLE_ENTRIES;
		uint64_t entry;

		if (!frame_at(tables, link, pages[i]))
			tables->page_structs = 0;
		entry = table->entries[slot];
		memset(table->entries, 0, sizeof(table->entries));
		table->entries[slot] = entry; /* alone */
		if (run_page_program(tables, link, HI_BPF_PAGES_CHECK, err) != HI_OK ||
		    request->strange)
			tables->page_structs = 0;
	}
	return tables->page_structs ? HI_OK
				    : hi_fail(err, HI_UNSUPPORTED, 0,
					      "the kernel's struct page was not found");
}
void hi_page_tables_shift_map(struct hi_page_tables *tables, uint64_t bytes)
{
	tables->direct_map += bytes;
}
