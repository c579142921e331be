/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information and ELF files with bytes changed at random: whatever they
 * say, reading them ends, soon, and without touching what is not ours.
 */
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/types_probe.h"
#include "tests/support/victim.h"

static void load_fixture(struct victim *victim, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), HI_FIXTURE_DIR "/%s", name);
	victim_load(victim, path);
}

static void survive_debug(const char *fixture, uint64_t variants)
{
	struct victim victim;

	load_fixture(&victim, fixture);
	victim_debug(&victim);
	victim_survive(&victim, variants);
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

	load_fixture(&victim, fixture);
	ehdr = (const Elf64_Ehdr *)victim.bytes;
	victim_part(&victim, 0, sizeof(*ehdr) + ehdr->e_phnum * sizeof(Elf64_Phdr));
	victim_part(&victim, ehdr->e_shoff, ehdr->e_shnum * sizeof(Elf64_Shdr));
	victim_sections(&victim, (const char *const[]){".symtab", ".dynsym", ".dynamic",
						       ".strtab", NULL});
	victim_survive(&victim, variants);
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
	image = types_probe_image(fd, victim->size);
	hi_alloc_fail_at(nth);
	if (hi_modules_open(image, &options, &modules, NULL) == HI_OK &&
	    hi_types_open(modules, &types, NULL) == HI_OK)
		types_probe_all(modules, types);
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

	load_fixture(&victim, "types_c");
	while (starve(&victim, nth))
		nth += 1 + nth / 64;
	HI_ASSERT_MSG(nth > 100, "only %llu allocations", (unsigned long long)nth);
}
