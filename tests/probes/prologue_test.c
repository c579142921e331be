/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where probes go, against objdump's disassembly of whole libraries: the same rule
 * once more, over text that another decoder has made.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/prologue.h"
#include "tests/harness.h"

HI_TEST(prologue, bytes_that_the_kernel_emulates)
{
	static const struct {
		uint8_t bytes[8];
		size_t n;
		bool emulated;
	} cases[] = {
		{{0x90}, 1, true},	  /* nop */
		{{0x66, 0x90}, 2, false}, /* we ask for the plain one */
		{{0x41, 0x90}, 2, false}, /* xchg %eax, %r8d */
		{{0x55}, 1, true},	  /* push %rbp */
		{{0x41, 0x57}, 2, true},  /* push %r15 */
		{{0x48, 0x55}, 2, false}, /* rex.W push */
		{{0x66, 0x55}, 2, false}, /* push %bp */
		{{0x5d}, 1, false},	  /* pop */
		{{0x6a, 1}, 2, false},	  /* push $1 */
		{{0xeb, 2}, 2, true},	  /* jmp */
		{{0xe9, 1, 2, 3, 4}, 5, true},
		{{0xe8, 1, 2, 3, 4}, 5, true}, /* call */
		{{0x74, 2}, 2, true},	       /* je */
		{{0x0f, 0x84, 1, 2, 3, 4}, 6, true},
		{{0xe3, 2}, 2, false},	  /* jrcxz */
		{{0xff, 0xe0}, 2, false}, /* jmp *%rax */
		{{0x66, 0xe8, 1, 2, 3, 4}, 6, false},
		{{0xf2, 0xe9, 1, 2, 3, 4}, 6, false},
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, false}, /* endbr64 */
		{{0x89, 0xf8}, 2, false},	      /* mov */
		{{0xf0, 0xff, 0x07}, 3, false},	      /* lock incl */
		{{0}, 0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		HI_ASSERT_MSG(hi_instruction_is_emulated(cases[i].bytes, cases[i].n) ==
				      cases[i].emulated,
			      "case %zu: %02x", i, cases[i].bytes[0]);
}

/* ---- the oracle ---- */

struct insn {
	uint64_t addr, target; /* target: of a direct jump or call; 0 none */
	char text[44];
};

struct listing {
	struct insn *items;
	size_t n, capacity;
};

static void add_line(struct listing *l, const char *line)
{
	char *end;
	uint64_t addr = strtoull(line, &end, 16);
	struct insn *insn;
	const char *last;

	if (end[0] != ':' || end[1] != '\t')
		return;
	if (l->n == l->capacity) {
		l->capacity = l->capacity ? 2 * l->capacity : 1 << 16;
		l->items = realloc(l->items, l->capacity * sizeof(*l->items));
		HI_ASSERT(l->items);
	}
	insn = &l->items[l->n++];
	*insn = (struct insn){.addr = addr};
	snprintf(insn->text, sizeof(insn->text), "%.43s", end + 2);
	insn->text[strcspn(insn->text, "\n")] = '\0';
	last = strstr(insn->text, "  ");
	if ((insn->text[0] == 'j' || strncmp(insn->text, "call", 4) == 0 ||
	     strncmp(insn->text, "bnd ", 4) == 0 || strncmp(insn->text, "loop", 4) == 0 ||
	     strncmp(insn->text, "xbegin", 6) == 0) &&
	    (last || (last = strrchr(insn->text, ' '))) && !strstr(insn->text, " *"))
		insn->target = strtoull(last, NULL, 16);
}

static void disassemble(const char *path, struct listing *l)
{
	char command[512], line[512];
	FILE *pipe;

	snprintf(command, sizeof(command), "objdump -d -w --no-show-raw-insn '%s'", path);
	pipe = popen(command, "r");
	HI_ASSERT(pipe);
	while (fgets(line, sizeof(line), pipe))
		add_line(l, line);
	HI_ASSERT(pclose(pipe) == 0);
}

static size_t first_at(const struct listing *l, uint64_t addr)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->items[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

static bool is_cheap(const struct insn *insn, uint64_t size)
{
	const char *t = insn->text;

	if (strcmp(t, "nop") == 0)
		return size == 1;
	if (begins(t, "push ") && strchr(t, '%') && !strchr(t, '('))
		return strstr(t, "%r") && size <= 2;
	if (begins(t, "call ") && insn->target)
		return size == 5;
	if (begins(t, "jrcxz") || begins(t, "jecxz") || !insn->target)
		return false;
	return t[0] == 'j' && (size == 2 || size == 5 || size == 6);
}

static bool ends_line(const struct insn *insn)
{
	static const char *const words[] = {
		"j",	   "call",     "ret",  "repz ret", "bnd ",   "notrack", "loop",
		"syscall", "sysenter", "int",  "hlt",	   "ud2",    "xbegin",	"xabort",
		"iret",	   "lcall",    "ljmp", "lret",	   "sysret", "sysexit"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(insn->text, words[i]))
			return true;
	return false;
}

static uint64_t expected(const struct listing *l, uint64_t entry, uint64_t size)
{
	size_t first = first_at(l, entry), i;

	for (i = first; i < l->n && i - first < 32 && l->items[i].addr < entry + size;
	     i++) {
		uint64_t next = i + 1 < l->n ? l->items[i + 1].addr : entry + size;

		if (is_cheap(&l->items[i], next - l->items[i].addr))
			break;
		if (ends_line(&l->items[i]))
			return 0;
	}
	if (i >= l->n || i - first == 32 || l->items[i].addr >= entry + size)
		return 0;
	for (size_t k = first; k < l->n && l->items[k].addr < entry + size; k++)
		if (l->items[k].target > entry && l->items[k].target <= l->items[i].addr)
			return 0;
	return l->items[i].addr - entry;
}

/* ---- all functions of a file ---- */

struct counts {
	unsigned functions, moved, differ, undecoded;
};

static void check_function(const struct listing *l, const uint8_t *text,
			   const GElf_Shdr *shdr, const GElf_Sym *sym, const char *name,
			   struct counts *counts)
{
	struct hi_prologue_site place;
	uint64_t want = expected(l, sym->st_value, sym->st_size);

	hi_prologue_choose(text + (sym->st_value - shdr->sh_addr), sym->st_size,
			   sym->st_value, 0, &place);
	counts->functions++;
	counts->moved += place.offset > 0;
	if (place.offset == want)
		return;
	/* A newer instruction than our decoder knows: it may only give up. */
	if (place.offset == 0) {
		counts->undecoded++;
		return;
	}
	counts->differ++;
	hi_test_note("%s: +%lu (%s), expected +%lu", name, (unsigned long)place.offset,
		     place.instruction, (unsigned long)want);
}

static Elf_Scn *section_of(Elf *elf, const GElf_Sym *sym, GElf_Shdr *shdr)
{
	Elf_Scn *scn = elf_getscn(elf, sym->st_shndx);

	return scn && gelf_getshdr(scn, shdr) && shdr->sh_type == SHT_PROGBITS &&
			       sym->st_value >= shdr->sh_addr &&
			       sym->st_value - shdr->sh_addr + sym->st_size <=
				       shdr->sh_size
		       ? scn
		       : NULL;
}

static struct counts check_file(const char *path)
{
	struct listing listing = {};
	struct counts counts = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf *elf;

	HI_ASSERT(fd >= 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	HI_ASSERT(elf);
	disassemble(path, &listing);
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_type != SHT_DYNSYM && shdr.sh_type != SHT_SYMTAB))
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; i < (int)(shdr.sh_size / sizeof(Elf64_Sym)); i++) {
			GElf_Shdr text;
			GElf_Sym sym;
			Elf_Scn *in;

			if (!gelf_getsym(data, i, &sym) ||
			    GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
			    !(in = section_of(elf, &sym, &text)))
				continue;
			check_function(&listing, elf_rawdata(in, NULL)->d_buf, &text,
				       &sym, elf_strptr(elf, shdr.sh_link, sym.st_name),
				       &counts);
		}
	}
	elf_end(elf);
	close(fd);
	free(listing.items);
	return counts;
}

static void expect_agreement(const char *path, unsigned min_functions)
{
	struct counts c = check_file(path);

	hi_test_note(
		"%s: %u functions, %u places behind the entry, %u given up, %u wrong",
		path, c.functions, c.moved, c.undecoded, c.differ);
	HI_ASSERT(c.functions >= min_functions);
	HI_ASSERT(c.moved > c.functions / 4);
	HI_ASSERT_EQ(0, c.differ);
	HI_ASSERT_MSG(c.undecoded * 20 < c.functions, "%u of %u", c.undecoded,
		      c.functions);
}

HI_TEST_SCENARIO(prologue, of_all_functions_of_libc_is_what_objdump_shows)
{
	expect_agreement("/lib/x86_64-linux-gnu/libc.so.6", 2000);
}

HI_TEST_SCENARIO(prologue, of_all_functions_of_a_cxx_library_is_what_objdump_shows)
{
	expect_agreement("/lib/x86_64-linux-gnu/libstdc++.so.6", 3000);
}

static uint64_t chosen_offset(const uint8_t *code, size_t size, unsigned kept)
{
	struct hi_prologue_site place;

	hi_prologue_choose(code, size, 0x1000, kept, &place);
	return place.offset;
}

HI_TEST(prologue, keeps_the_stack_pointer_when_asked)
{
	/* sub $8,%rsp; push %rbx; pop %rbx; add $8,%rsp; ret */
	static const uint8_t moved[] = {0x48, 0x83, 0xec, 8, 0x53, 0x5b,
					0x48, 0x83, 0xc4, 8, 0xc3};
	/* test %rdi,%rdi; push %rbx; pop %rbx; ret */
	static const uint8_t still[] = {0x48, 0x85, 0xff, 0x53, 0x5b, 0xc3};

	HI_ASSERT_EQ(4, chosen_offset(moved, sizeof(moved), 1));
	HI_ASSERT_EQ(0, chosen_offset(moved, sizeof(moved), 1 | HI_PROLOGUE_STACK));
	HI_ASSERT_EQ(3, chosen_offset(still, sizeof(still), 1 | HI_PROLOGUE_STACK));
}

HI_TEST(prologue, survives_any_bytes)
{
	uint8_t bytes[200];
	uint32_t x = 1;

	for (int round = 0; round < 20000; round++) {
		struct hi_prologue_site place;
		size_t size;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			x = x * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(x >> 24);
		}
		size = x % sizeof(bytes);
		hi_prologue_choose(bytes, size, x, x >> 8 & 63, &place);
		HI_ASSERT(place.offset == 0 || place.offset < size);
		HI_ASSERT(place.offset == 0 || !place.single_stepped);
	}
}
