/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives tables of stacks to the programs: see Note [Tables that change] in
 * bpf/events.bpf.c. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "probes/events/bpf_source_internal.h"

static int create_tables_map(size_t n_words)
{
	LIBBPF_OPTS(bpf_map_create_opts, options,
		    .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "hi_unwind", sizeof(uint32_t),
			      sizeof(uint64_t), (uint32_t)n_words, &options);
}

/* False and errno. */
static bool fill_tables_map(int map, const struct hi_unwind_tables *tables)
{
	size_t size = tables->n_words * sizeof(uint64_t);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	if (memory == MAP_FAILED)
		return false;
	memcpy(memory, tables->words, size);
	munmap(memory, size);
	return true;
}

enum hi_status hi_bpf_source_set_unwind(struct hi_event_source *base,
					const struct hi_unwind_tables *tables,
					struct hi_error *err)
{
	struct hi_bpf_source *source = (struct hi_bpf_source *)base;
	int slots = bpf_object__find_map_fd_by_name(source->object, "unwind_map");
	HI_GUARD(close) int map = -1;
	uint32_t zero = 0;

	if (tables->n_words == 0 || tables->n_words > HI_UNWIND_WORDS_MAX)
		return hi_fail(err, HI_BAD_DATA, 0, "no such size of tables of stacks");
	map = create_tables_map(tables->n_words);
	if (map < 0 || !fill_tables_map(map, tables) ||
	    bpf_map_update_elem(slots, &zero, &map, 0) != 0)
		return hi_fail_errno(err, "tables of stacks for BPF programs");
	__atomic_fetch_add(&source->shared->generation, 1, __ATOMIC_SEQ_CST);
	return HI_OK;
}
