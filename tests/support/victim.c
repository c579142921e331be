/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/victim.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/types_probe.h"

enum { SECONDS_A_BATCH = 900, SLOW_NS = 1500000000 };

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

void victim_load(struct victim *victim, const char *path)
{
	long size;
	FILE *file;

	file = fopen(path, "rb");
	HI_ASSERT(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0);
	rewind(file);
	*victim = (struct victim){.size = (size_t)size, .min_types = 10};
	victim->bytes = malloc(victim->size);
	HI_ASSERT(victim->bytes &&
		  fread(victim->bytes, 1, victim->size, file) == victim->size);
	fclose(file);
	hi_test_defer(free, victim->bytes);
}

void victim_part(struct victim *victim, size_t start, size_t size)
{
	HI_ASSERT(size > 0 && start + size <= victim->size && victim->n_parts < 12);
	victim->parts[victim->n_parts].start = start;
	victim->parts[victim->n_parts++].size = size;
}

void victim_sections(struct victim *victim, const char *const *names)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)victim->bytes;
	const Elf64_Shdr *shdrs = (const Elf64_Shdr *)(victim->bytes + ehdr->e_shoff);
	const char *strings =
		(const char *)victim->bytes + shdrs[ehdr->e_shstrndx].sh_offset;

	for (; *names; names++)
		for (unsigned i = 0; i < ehdr->e_shnum; i++)
			if (strcmp(strings + shdrs[i].sh_name, *names) == 0 &&
			    shdrs[i].sh_size > 0)
				victim_part(victim, shdrs[i].sh_offset, shdrs[i].sh_size);
	HI_ASSERT(victim->n_parts > 0);
}

void victim_debug(struct victim *victim)
{
	static const char *const names[] = {
		".debug_info",	      ".debug_abbrev",	   ".debug_types",
		".debug_str",	      ".debug_line",	   ".debug_addr",
		".debug_str_offsets", ".gnu_debugaltlink", NULL};

	victim_sections(victim, names);
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

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* In the child: 0, or 1 when a variant took too long. */
static int run_variants(const struct victim *victim, uint64_t n,
			volatile uint64_t *current)
{
	int fd = memfd_create("variant", MFD_CLOEXEC);

	CHILD_CHECK(fd >= 0);
	for (uint64_t seed = 0; seed < n; seed++) {
		uint64_t start = now_ns(), types;

		*current = seed;
		CHILD_CHECK(pwrite(fd, victim->bytes, victim->size, 0) ==
			    (ssize_t)victim->size);
		if (seed > 0)
			change(victim, fd, seed);
		types = types_probe_file(fd, victim->size);
		if (seed == 0 && types < victim->min_types)
			return 2; /* unchanged it must be understood */
		if (now_ns() - start > SLOW_NS)
			return 1;
	}
	close(fd);
	return 0;
}

void victim_survive(const struct victim *victim, uint64_t n)
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
		_exit(run_variants(victim, n, current));
	}
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "variant %llu: %s %d", (unsigned long long)*current,
		      WIFSIGNALED(status) ? "signal" : "exit",
		      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	munmap((void *)(uintptr_t)current, 4096);
}
