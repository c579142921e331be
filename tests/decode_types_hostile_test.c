/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information and ELF files with bytes changed at random: whatever they
 * say, reading them ends, soon, and without touching what is not ours. Variants
 * run in a forked child, so that a crash or an endless loop is seen and named.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/inspected.h"

enum { TYPES_LOOKED_AT = 3000, SECONDS_A_BATCH = 120, SLOW_NS = 1500000000 };

/* A fixture's file, kept in memory and copied into a memfd for each variant. */
struct victim {
	unsigned char *bytes;
	size_t size;
	struct {
		size_t start, size;
	} parts[8]; /* where bytes are changed */
	unsigned n_parts;
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static void victim_load(struct victim *victim, const char *name)
{
	char path[512];
	long size;
	FILE *file;

	snprintf(path, sizeof(path), HI_FIXTURE_DIR "/%s", name);
	file = fopen(path, "rb");
	HI_ASSERT(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0);
	rewind(file);
	*victim = (struct victim){.size = (size_t)size};
	victim->bytes = malloc(victim->size);
	HI_ASSERT(victim->bytes &&
		  fread(victim->bytes, 1, victim->size, file) == victim->size);
	fclose(file);
	hi_test_defer(free, victim->bytes);
}

static void victim_part(struct victim *victim, size_t start, size_t size)
{
	HI_ASSERT(size > 0 && start + size <= victim->size && victim->n_parts < 8);
	victim->parts[victim->n_parts].start = start;
	victim->parts[victim->n_parts++].size = size;
}

static void victim_sections(struct victim *victim, const char *const *names)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)victim->bytes;
	const Elf64_Shdr *shdrs = (const Elf64_Shdr *)(victim->bytes + ehdr->e_shoff);
	const char *strings =
		(const char *)victim->bytes + shdrs[ehdr->e_shstrndx].sh_offset;

	for (; *names; names++)
		for (unsigned i = 0; i < ehdr->e_shnum; i++)
			if (strcmp(strings + shdrs[i].sh_name, *names) == 0)
				victim_part(victim, shdrs[i].sh_offset, shdrs[i].sh_size);
	HI_ASSERT(victim->n_parts > 0);
}

/* In the child, which must not come back into the harness. */
#define CHILD_CHECK(cond)                                                                \
	do {                                                                             \
		if (!(cond)) {                                                           \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);       \
			_exit(3);                                                        \
		}                                                                        \
	} while (0)

/* Up to 8 bytes of one part: one bit, a limit, or anything. */
static void change(const struct victim *victim, int fd, uint64_t seed)
{
	static const unsigned char limits[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0xfe};
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
	unsigned n = 1 + (unsigned)random_next(&state) % 8;

	for (unsigned i = 0; i < n; i++) {
		unsigned part = (unsigned)random_next(&state) % victim->n_parts;
		size_t at = victim->parts[part].start +
			    random_next(&state) % victim->parts[part].size;
		unsigned char byte = victim->bytes[at];

		switch (random_next(&state) % 3) {
		case 0:
			byte ^= (unsigned char)(1u << random_next(&state) % 8);
			break;
		case 1:
			byte = limits[random_next(&state) % sizeof(limits)];
			break;
		default:
			byte = (unsigned char)random_next(&state);
			break;
		}
		CHILD_CHECK(pwrite(fd, &byte, 1, (off_t)at) == 1);
	}
}

static struct hi_image *make_image(int fd, size_t size)
{
	struct hi_memory *memory;
	struct hi_mapping mapping = {.start = 0x555500000000,
				     .end = 0x555500000000 + ((size + 4095) & ~4095ul),
				     .prot = HI_PROT_READ | HI_PROT_EXEC,
				     .kind = HI_MAPPING_FILE,
				     .inode = 1};
	struct hi_image *image;
	char path[64];

	CHILD_CHECK(hi_memory_create_mock(&memory, NULL) == HI_OK);
	CHILD_CHECK(hi_image_create_mock(memory, &image, NULL) == HI_OK);
	image->mode = HI_SNAPSHOT_CORE; /* files are opened by their paths */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	mapping.path = path;
	CHILD_CHECK(hi_image_add_mapping(image, &mapping, NULL) == HI_OK);
	return image;
}

static bool count_tls(const struct hi_variable *var, uint64_t offset, void *arg)
{
	(void)var, (void)offset;
	return ++*(unsigned *)arg < 1000;
}

/* Everything that there is to ask. */
static void look_at_everything(struct hi_modules *modules, struct hi_types *types)
{
	static const char *const names[] = {
		"struct everything",	   "point *", "ns::Derived", "ns::Box<int, 3>",
		"ns::(anonymous)::Hidden", "handler", "union value"};
	struct hi_module *module = hi_modules_get(modules, 0);
	struct hi_section_range ranges[8];
	struct hi_variable var;
	uint64_t addr, size;
	hi_type_id id;
	unsigned n_tls = 0;
	size_t n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (hi_types_find(types, names[i], &id, NULL) == HI_OK)
			hi_types_pointer_to(types, id);
	if (!module)
		return;
	n = hi_module_data(module, ranges, 8);
	for (size_t i = 0; i < n; i++)
		for (addr = ranges[i].start;
		     addr < ranges[i].end && addr < ranges[i].start + 8192; addr += 8)
			(void)!hi_types_variable_at(types, addr, &var, NULL);
	(void)!hi_types_variable_named(types, "counter()::inside", &var, NULL);
	(void)!hi_types_tls_variables(types, module, count_tls, &n_tls, NULL);
	(void)!hi_modules_symbol(modules, module, "main", &addr, &size, NULL);
	hi_modules_symbol_at(modules, module->start + 4000, &addr);
	for (id = 0; id < TYPES_LOOKED_AT; id++) {
		const struct hi_type *type = hi_type_get(types, id);

		CHILD_CHECK(type && type->name && type->file && type->size <= 1ull << 40);
		for (uint32_t i = 0; i < type->n_members; i++)
			CHILD_CHECK(hi_type_get(types, type->members[i].type));
		CHILD_CHECK(hi_type_get(types, type->target));
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* In the child: 0, or 1 when a variant took too long. */
static int run_variants(const struct victim *victim, uint64_t first, uint64_t end,
			volatile uint64_t *current)
{
	struct hi_modules_options options = {.cache_dir = "", .debug_dir = "/nowhere"};
	int fd = memfd_create("variant", MFD_CLOEXEC);

	CHILD_CHECK(fd >= 0);
	for (uint64_t seed = first; seed < end; seed++) {
		uint64_t start = now_ns();
		struct hi_modules *modules = NULL;
		struct hi_types *types = NULL;
		struct hi_image *image;

		*current = seed;
		CHILD_CHECK(pwrite(fd, victim->bytes, victim->size, 0) ==
			    (ssize_t)victim->size);
		if (seed > 0)
			change(victim, fd, seed);
		image = make_image(fd, victim->size);
		if (hi_modules_open(image, &options, &modules, NULL) == HI_OK &&
		    hi_types_open(modules, &types, NULL) == HI_OK)
			look_at_everything(modules, types);
		if (seed == 0 && hi_types_stats(types).types < 10)
			return 2; /* unchanged it must be understood */
		hi_types_close(types);
		hi_modules_close(modules);
		hi_image_destroy(image);
		if (now_ns() - start > SLOW_NS)
			return 1;
	}
	close(fd);
	return 0;
}

static void survive(const struct victim *victim, uint64_t variants)
{
	volatile uint64_t *current = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	HI_ASSERT(current != MAP_FAILED);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		alarm(SECONDS_A_BATCH);
		_exit(run_variants(victim, 0, variants, current));
	}
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "variant %llu: %s %d", (unsigned long long)*current,
		      WIFSIGNALED(status) ? "signal" : "exit",
		      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	munmap((void *)(uintptr_t)current, 4096);
}

static const char *const debug_sections[] = {
	".debug_info", ".debug_abbrev", ".debug_types",	      ".debug_str",
	".debug_line", ".debug_addr",	".debug_str_offsets", NULL};

static void survive_debug(const char *fixture, uint64_t variants)
{
	struct victim victim;

	victim_load(&victim, fixture);
	victim_sections(&victim, debug_sections);
	survive(&victim, variants);
}

HI_TEST_SCENARIO(types_hostile, changed_debug_information_never_crashes_or_hangs)
{
	survive_debug("types_c", 400);
	survive_debug("types_c_sections", 200);
	survive_debug("types_cc", 30);
}

HI_TEST_SLOW(types_hostile, thousands_of_changes_to_debug_information_are_survived)
{
	survive_debug("types_c", 6000);
	survive_debug("types_c_dwarf4", 3000);
	survive_debug("types_c_sections", 3000);
	survive_debug("types_c_compressed", 2000);
	survive_debug("types_c_split", 1000);
	survive_debug("types_cc", 300);
}

static void survive_elf(const char *fixture, uint64_t variants)
{
	const Elf64_Ehdr *ehdr;
	struct victim victim;

	victim_load(&victim, fixture);
	ehdr = (const Elf64_Ehdr *)victim.bytes;
	victim_part(&victim, 0, sizeof(*ehdr) + ehdr->e_phnum * sizeof(Elf64_Phdr));
	victim_part(&victim, ehdr->e_shoff, ehdr->e_shnum * sizeof(Elf64_Shdr));
	victim_sections(&victim, (const char *const[]){".symtab", ".dynsym", ".dynamic",
						       ".strtab", NULL});
	survive(&victim, variants);
}

HI_TEST_SCENARIO(types_hostile, changed_elf_headers_never_crash_or_hang)
{
	survive_elf("types_c", 400);
}

HI_TEST_SLOW(types_hostile, thousands_of_changes_to_elf_headers_are_survived)
{
	survive_elf("types_c", 6000);
	survive_elf("types_c_sections", 3000);
}

/* ---- our own memory, and the target's ---- */

/* One inspection whose nth allocation fails; false once none did. */
static bool starve(const struct victim *victim, uint64_t nth)
{
	struct hi_modules_options options = {.cache_dir = "", .debug_dir = "/nowhere"};
	int fd = memfd_create("starved", MFD_CLOEXEC);
	struct hi_modules *modules = NULL;
	struct hi_types *types = NULL;
	struct hi_image *image;
	bool ran_out;

	HI_ASSERT(fd >= 0);
	HI_ASSERT(pwrite(fd, victim->bytes, victim->size, 0) == (ssize_t)victim->size);
	image = make_image(fd, victim->size);
	hi_alloc_fail_at(nth);
	if (hi_modules_open(image, &options, &modules, NULL) == HI_OK &&
	    hi_types_open(modules, &types, NULL) == HI_OK)
		look_at_everything(modules, types);
	ran_out = hi_alloc_count() >= nth;
	hi_alloc_fail_at(0);
	HI_ASSERT(!types || modules);
	hi_types_close(types);
	hi_modules_close(modules);
	hi_image_destroy(image);
	close(fd);
	return ran_out;
}

HI_TEST_SCENARIO(types_hostile, any_allocation_may_fail)
{
	struct victim victim;
	uint64_t nth = 1;

	victim_load(&victim, "types_c");
	while (starve(&victim, nth))
		nth += 1 + nth / 64;
	HI_ASSERT_MSG(nth > 100, "only %llu allocations", (unsigned long long)nth);
}
