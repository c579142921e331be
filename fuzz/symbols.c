/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings that a process without rights leaves in shared memory (session/live/symbols.h)
 * of any bytes: what passes the checks has bounds, ended texts, and places in the
 * target's code. hi_symbols_read() is here: it runs no process, and what it returns is a
 * valid finding with bytes written over it as the input says. The first byte is the kind;
 * then there are records: where (3), how many bytes (1), the bytes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/condition.h"
#include "session/live/root_check.h"
#include "session/live/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 9, CODE = 0x401000, PLACE = 0x401230, FRAMES = 4 };

static struct hi_mapping mappings[] = {
	{.start = 0x400000,
	 .end = 0x401000,
	 .prot = HI_PROT_READ,
	 .kind = HI_MAPPING_FILE},
	{.start = CODE,
	 .end = 0x480000,
	 .file_offset = 0x1000,
	 .prot = HI_PROT_READ | HI_PROT_EXEC,
	 .kind = HI_MAPPING_FILE},
	{.start = 0x480000, .end = 0x490000, .prot = HI_PROT_READ | HI_PROT_WRITE}};
static struct hi_target target = {.mappings = mappings, .n_mappings = 3};

static const struct hi_probe_site valid_site = {
	.mapping = 1, .file_offset = 0x1230, .address = PLACE, .function = "f"};

/* As symbols_sites.c has them: the number, and then the items. */
struct ranges {
	uint64_t n;
	struct hi_range first;
};
struct sites {
	uint64_t n;
	struct hi_condition condition;
	struct hi_probe_site items[2];
};
struct safepoints {
	uint64_t n;
	char text[192], runtime[32], purpose[128];
	uint8_t is_gc;
	uint64_t n_sites;
	struct hi_probe_site first;
};

static const uint8_t *input;
static size_t input_size;
static unsigned kind;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* ---- valid findings ---- */

static void put_functions(struct hi_event_functions *f)
{
	f->count = f->n_sources = 1;
	f->items[0].site = valid_site;
	f->items[0].does =
		(struct hi_bpf_function){.size = 1, .result = HI_BPF_RETURNED, .unit = 1};
	f->pool_size = 4096;
	f->n_sites = 1;
	f->sites[0].mapping = 1;
	f->sites[0].file_offset = valid_site.file_offset;
	f->sites[0].address = valid_site.address;
}

static void put_uses(struct hi_use_functions *uses)
{
	uses->count = uses->n_types = 1;
	uses->items[0] = (struct hi_use_function){.address = valid_site.address,
						  .file_offset = valid_site.file_offset,
						  .mapping = 1,
						  .registers = 1};
}

static void put_valid(void *found)
{
	switch (kind) {
	case 0:
		*(struct ranges *)found = (struct ranges){1, {CODE, PLACE}};
		break;
	case 1:
	case 2:
		*(struct sites *)found = (struct sites){.n = 1, .items = {valid_site}};
		break;
	case 3:
		*(struct safepoints *)found =
			(struct safepoints){.n = 1, .n_sites = 1, .first = valid_site};
		break;
	case 4:
		put_functions(found);
		break;
	case 5:
		((uint64_t *)found)[0] = 16;
		break;
	case 6:
		put_uses(found);
		break;
	default:
		break;
	}
}

/* Half of the offsets are near the beginning, where the numbers are. */
static void write_records(unsigned char *found, size_t found_size)
{
	for (size_t at = 0; at + 4 < input_size;) {
		uint32_t where = input[at] | (uint32_t)input[at + 1] << 8 |
				 (uint32_t)input[at + 2] << 16;
		size_t n = input[at + 3] % 16 + 1, left;

		if (where & 1)
			where %= 4096;
		at += 4;
		left = input_size - at;
		n = n < left ? n : left;
		if (where < found_size)
			memcpy(found + where, input + at,
			       n < found_size - where ? n : found_size - where);
		at += n;
	}
}

enum hi_status hi_symbols_read(struct hi_target *unused, const struct hi_symbols_job *job,
			       void **found_ret, struct hi_error *err)
{
	unsigned char *found = mmap(NULL, job->size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)unused;
	if (found == MAP_FAILED)
		return hi_fail_memory(err, "a finding");
	put_valid(found);
	write_records(found, job->size);
	*found_ret = found;
	return HI_OK;
}

void hi_symbols_free(void *found, size_t size)
{
	(void)munmap(found, size);
}

/* ---- what is taken of it ---- */

static bool is_in_code(uint64_t mapping, uint64_t address, uint64_t file_offset)
{
	return mapping == 1 && address >= CODE && address < 0x480000 &&
	       file_offset == address - CODE + 0x1000;
}

static void check_sites(const struct hi_probe_sites *sites, size_t most)
{
	size_t stepped = 0;

	expect(sites->count <= most && sites->condition.n_terms <= HI_BPF_TERMS);
	for (size_t i = 0; i < sites->count; i++) {
		const struct hi_probe_site *s = &sites->items[i];

		expect(is_in_code(s->mapping, s->address, s->file_offset));
		expect(memchr(s->function, 0, sizeof(s->function)) &&
		       memchr(s->instruction, 0, sizeof(s->instruction)) &&
		       memchr(s->ends, 0, sizeof(s->ends)));
		/* A sanitizer refuses to load what is no bool. */
		stepped += s->single_stepped;
	}
	expect(stepped <= sites->count);
}

static void take_ranges(void)
{
	struct hi_range *ranges = NULL;
	size_t n = 0;

	if (hi_symbols_allocator(&target, &ranges, &n, NULL) == HI_OK)
		free(ranges);
}

static void take_sites(bool of_calls)
{
	const struct hi_safepoint safepoint = {.every = 1};
	const struct hi_call_patterns patterns = {};
	struct hi_probe_sites sites = {};

	if ((of_calls ? hi_symbols_call_sites(&target, false, &patterns, &sites, NULL)
		      : hi_symbols_probe_sites(&target, false, &safepoint, &sites,
					       NULL)) == HI_OK) {
		check_sites(&sites, HI_PROBE_SITES_MAX);
		(void)hi_conditions_equal(&sites.condition, &sites.condition);
	}
	hi_probe_sites_free(&sites);
}

static void take_safepoints(void)
{
	struct hi_known_safepoint *list = NULL;
	size_t n = 0;

	if (hi_symbols_safepoints(&target, false, &list, &n, NULL) != HI_OK)
		return;
	expect(n <= HI_SAFEPOINTS_MAX);
	for (size_t i = 0; i < n; i++) {
		check_sites(&list[i].sites, HI_PROBE_SITES_MAX);
		expect(memchr(list[i].text, 0, sizeof(list[i].text)) &&
		       memchr(list[i].purpose, 0, sizeof(list[i].purpose)));
	}
	hi_safepoints_free(list, n);
}

static void take_functions(void)
{
	static struct hi_event_functions f;
	const struct hi_followed followed = {};

	if (hi_symbols_event_functions(&target, false, &followed, &f, NULL) != HI_OK)
		return;
	expect(f.count && f.count <= HI_BPF_EVENT_FUNCTIONS);
	expect(f.n_sources <= HI_EVENT_SOURCES && f.n_own <= HI_BPF_EVENT_OWN &&
	       f.n_heap_text <= HI_PYTHON_HEAP_TEXT && f.n_sites <= HI_EVENT_SITES_MAX);
	expect(memchr(f.module, 0, sizeof(f.module)) != NULL);
	for (size_t i = 0; i < f.count; i++) {
		const struct hi_event_function *item = &f.items[i];

		expect(memchr(item->name, 0, sizeof(item->name)) &&
		       item->does.source < f.n_sources);
		expect(is_in_code(item->site.mapping, item->site.address,
				  item->site.file_offset));
	}
	for (size_t i = 0; i < f.n_sites; i++)
		expect(f.sites[i].function < f.count &&
		       is_in_code(f.sites[i].mapping, f.sites[i].address,
				  f.sites[i].file_offset));
}

static void take_tables(void)
{
	struct hi_unwind_tables tables = {};

	if (hi_symbols_unwind_tables(&target, false, &tables, NULL) == HI_OK)
		expect(hi_unwind_tables_check(&tables, &target, NULL) == HI_OK);
	hi_unwind_tables_free(&tables);
}

static void take_uses(void)
{
	struct hi_use_functions *uses = NULL;

	if (hi_symbols_use_functions(&target, false, &uses, NULL) != HI_OK)
		return;
	expect(uses->count <= HI_USE_FUNCTIONS && uses->n_types <= HI_USE_TYPES);
	for (uint32_t i = 0; i < uses->count; i++) {
		const struct hi_use_function *f = &uses->items[i];

		expect(is_in_code(f->mapping, f->address, f->file_offset));
		expect(memchr(f->name, 0, sizeof(f->name)) != NULL);
	}
	free(uses);
}

static void take_frames(void)
{
	struct hi_frames_builder *builder = NULL;
	size_t size = hi_symbols_frames_size(FRAMES);
	unsigned char *found = calloc(1, size);

	if (!found || hi_frames_builder_create(&builder, NULL) != HI_OK)
		abort();
	for (size_t i = 0; i < FRAMES; i++)
		found[i * size / FRAMES] = 1; /* one row each */
	write_records(found, size);
	(void)!hi_symbols_frames_take(found, FRAMES, builder, NULL);
	hi_frames_builder_destroy(builder);
	free(found);
}

static void take_root_check(void)
{
	const struct hi_root_text roots[2] = {{.name = "a", .expression = "b"},
					      {.name = "c", .expression = "d"}};
	struct hi_error err = {};
	size_t wrong = 0, column = 0;

	if (hi_root_check(&target, roots, 2, &wrong, &column, &err) != HI_OK)
		expect(wrong < 2 && memchr(err.text, 0, sizeof(err.text)) &&
		       err.status == HI_USAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	kind = data[0] % KINDS;
	input = data + 1;
	input_size = size - 1;
	switch (kind) {
	case 0:
		take_ranges();
		break;
	case 1:
	case 2:
		take_sites(kind == 2);
		break;
	case 3:
		take_safepoints();
		break;
	case 4:
		take_functions();
		break;
	case 5:
		take_tables();
		break;
	case 6:
		take_uses();
		break;
	case 7:
		take_frames();
		break;
	default:
		take_root_check();
		break;
	}
	return 0;
}
