/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library whose notes, symbols and debug information are changed at random while a
 * process maps it: looking for safepoints ends, in one way or another.
 */
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/safepoint.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"
#include "tests/support/workshop.h"

static const char library[] =
	"#include <sys/sdt.h>\n"
	"struct item { struct item *next; int id; } first;\n"
	"static inline __attribute__((always_inline)) int inl(int x) { return x * 3; }\n"
	"int deep(struct item *i, int n) { STAP_PROBE1(lib, deep, n);\n"
	"  return inl(n) + (i ? i->id : 0); }\n"
	"int other(int n) { STAP_PROBE(lib, other); return inl(n) - 1; }\n";

struct section {
	size_t start, size;
};

struct victim {
	uint8_t *bytes;
	size_t size;
	struct section sections[40];
	size_t n;
	int fd;
};

static const char *const changed[] = {
	".note.stapsdt",   ".symtab",	      ".strtab",       ".debug_info",
	".debug_abbrev",   ".debug_line",     ".debug_str",    ".debug_rnglists",
	".debug_loclists", ".debug_line_str", ".debug_aranges"};

static bool is_changed(const char *name)
{
	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		if (strcmp(changed[i], name) == 0)
			return true;
	return false;
}

static void load(struct victim *v, const char *path)
{
	struct stat st;
	size_t strings;
	Elf_Scn *scn = NULL;
	Elf *elf;

	v->fd = open(path, O_RDWR | O_CLOEXEC);
	HI_ASSERT(v->fd >= 0 && fstat(v->fd, &st) == 0);
	v->size = (size_t)st.st_size;
	v->bytes = malloc(v->size);
	HI_ASSERT(v->bytes && pread(v->fd, v->bytes, v->size, 0) == st.st_size);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)v->bytes, v->size);
	HI_ASSERT(elf && elf_getshdrstrndx(elf, &strings) == 0);
	while ((scn = elf_nextscn(elf, scn)) && v->n < 40) {
		GElf_Shdr shdr;

		HI_ASSERT(gelf_getshdr(scn, &shdr));
		if (shdr.sh_size > 0 && shdr.sh_type != SHT_NOBITS &&
		    is_changed(elf_strptr(elf, strings, shdr.sh_name)))
			v->sections[v->n++] =
				(struct section){shdr.sh_offset, shdr.sh_size};
	}
	elf_end(elf);
	HI_ASSERT(v->n >= 8);
}

static uint32_t random_next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* One to eight bytes of one section, in the file that is mapped. */
static void change(const struct victim *v, uint32_t seed)
{
	uint32_t x = seed * 2654435761u + 1;
	const struct section *s;

	HI_ASSERT(pwrite(v->fd, v->bytes, v->size, 0) == (ssize_t)v->size);
	s = &v->sections[random_next(&x) % v->n];
	for (unsigned n = 1 + random_next(&x) % 8; n > 0; n--) {
		uint8_t byte = (uint8_t)random_next(&x);

		if (random_next(&x) % 4 == 0)
			byte = 0xff;
		HI_ASSERT(pwrite(v->fd, &byte, 1,
				 (off_t)(s->start + random_next(&x) % s->size)) == 1);
	}
}

/* All kinds of look-ups; what they say is not asked. Says how many found something. */
static int look(const struct hi_target *target)
{
	static const char *const ats[] = {"usdt:lib:deep",
					  "libvictim:deep if i->next->id == 3 && n > 2",
					  "libvictim:inl",
					  "victim.c:4",
					  "victim.c:6 if first.id == 1",
					  "libvictim:othre"};
	struct hi_known_safepoint *list;
	struct hi_error err;
	int found = 0;
	size_t n;

	for (size_t i = 0; i < sizeof(ats) / sizeof(ats[0]); i++) {
		struct hi_probe_sites places = {};
		struct hi_safepoint safepoint;

		if (hi_safepoint_parse(ats[i], &safepoint, &err) != HI_OK)
			continue;
		found += hi_safepoint_find(target, &safepoint, &places, &err) == HI_OK;
		hi_probe_sites_free(&places);
	}
	if (hi_safepoints_list(target, &list, &n, &err) == HI_OK)
		hi_safepoints_free(list, n);
	return found;
}

static void expect_survival(const struct hi_target *target, unsigned seed, int found)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(120);
		_exit(look(target) >= found ? 0 : 1);
	}
	HI_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(WIFEXITED(status), "variant %u: signal %d", seed, WTERMSIG(status));
	HI_ASSERT_EQ(0, WEXITSTATUS(status));
}

HI_TEST_SCENARIO(probe_hostile, changed_files_are_looked_at_to_the_end)
{
	const char *variants = getenv("HI_HOSTILE_VARIANTS"), *dir = workshop_open();
	unsigned n = variants ? (unsigned)atoi(variants) : 25;
	struct victim victim = {};
	struct hi_target *target;
	char path[4096];
	pid_t pid;

	workshop_write("victim.c", library);
	workshop_write("main.c", "#include <stdio.h>\n#include <unistd.h>\n"
				 "int other(int);\nint main(void) { char c; other(1);\n"
				 "puts(\"ready\"); fflush(stdout);\n"
				 "while (read(0, &c, 1) > 0); return 0; }\n");
	workshop_run("gcc -g -O1 -shared -fPIC victim.c -o libvictim.so && "
		     "gcc main.c -o main -L. -lvictim -Wl,-rpath,'$ORIGIN'");
	pid = workshop_start("main");
	hi_child_kill_after(pid);
	snprintf(path, sizeof(path), "%s/libvictim.so", dir);
	load(&victim, path);
	target = hi_live_target(pid);
	expect_survival(target, 0, 4); /* unchanged: all but inl and othre are there */
	for (unsigned seed = 1; seed < n; seed++) {
		change(&victim, seed);
		expect_survival(target, seed, 0);
	}
	free(victim.bytes);
	close(victim.fd);
}
