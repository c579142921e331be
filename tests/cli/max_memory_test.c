/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-memory: of files, and of all that is computed of them. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/snapshots.h"

static void check_fails(const struct hi_command *run, const char *why)
{
	HI_ASSERT_EQ(2, run->exit_code);
	HI_ASSERT_MSG(strstr(run->err, why), "%s: not in: %s", why, run->err);
	HI_ASSERT_EQ(0, run->out_size);
}

HI_TEST_SCENARIO(max_memory, files_that_unpack_to_more_are_refused_and_the_bound_is_named)
{
	const char *file = hostile_snapshot(snapshot_directory(), "a.hisnap", 300);

	check_fails(hi_heapinspect("summary", file, "--max-memory", "1MiB"),
		    "more than 1.0 MiB with all other files: --max-memory SIZE");
	HI_ASSERT_EQ(0,
		     hi_heapinspect("summary", file, "--max-memory", "1GiB")->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("summary", file)->exit_code);
}

#ifndef HI_SANITIZED
HI_TEST_SCENARIO(max_memory, analysis_of_a_core_is_bounded)
{
	const char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("bench_heap", "300000", NULL), in);

	check_fails(hi_heapinspect("summary", "--core", core, "--max-memory", "4MiB"),
		    "out of memory (at most 4.0 MiB: --max-memory)");
	HI_ASSERT_EQ(0, hi_heapinspect("summary", "--core", core, "--max-memory", "1GiB")
				->exit_code);
}
#endif

/* The compressed .debug_info of a program claims to inflate to a tebibyte. */
static void falsify_size(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	const char *names;
	unsigned found = 0;
	char *file;

	HI_ASSERT(fd >= 0 && fstat(fd, &st) == 0);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	HI_ASSERT(file != MAP_FAILED);
	header = (const void *)file;
	sections = (const void *)(file + header->e_shoff);
	names = file + sections[header->e_shstrndx].sh_offset;
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, ".debug_info") == 0) {
			HI_ASSERT(sections[i].sh_flags & SHF_COMPRESSED);
			((Elf64_Chdr *)(file + sections[i].sh_offset))->ch_size =
				UINT64_C(1) << 40;
			found++;
		}
	munmap(file, (size_t)st.st_size);
	close(fd);
	HI_ASSERT_EQ(1, found);
}

HI_TEST_SCENARIO(max_memory, debug_information_that_claims_more_is_left_out)
{
	const char *in = snapshot_directory();
	const char *core = snapshot_core(snapshot_fixture("bench_heap", "300", NULL), in);
	const char *exe = snapshot_path(in, "program");
	struct hi_command *run;

	HI_ASSERT_EQ(0, hi_command_run(0, "objcopy", "--compress-debug-sections=zlib",
				       HI_FIXTURE_DIR "/bench_heap", exe, NULL)
				->exit_code);
	run = hi_heapinspect("census", "--core", core, "--exe", exe);
	HI_ASSERT_EQ(0, run->exit_code);
	HI_ASSERT(strstr(run->out, "struct item"));
	falsify_size(exe);
	run = hi_heapinspect("census", "--core", core, "--exe", exe);
	HI_ASSERT_EQ(0, run->exit_code);
	HI_ASSERT(!strstr(run->out, "struct item"));
	run = hi_heapinspect("summary", "--core", core, "--exe", exe, "--width", "200");
	HI_ASSERT_MSG(strstr(run->out, "its debug information unpacks to 1.0 TiB"), "%s",
		      run->out);
}

HI_TEST_SCENARIO(max_memory, argument_is_a_size)
{
	check_fails(hi_heapinspect("summary", "a.hisnap", "--max-memory", "much"),
		    "--max-memory much: not a size like 512MiB or 4GiB");
	check_fails(hi_heapinspect("summary", "a.hisnap", "--max-memory", "0"),
		    "--max-memory 0: not a size");
}
