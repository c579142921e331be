/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of stacks from call frame information that is written here, and from the C
 * library's, where libdw says what is true. Then damaged ones. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/events/unwind_builder.h"
#include "probes/events/unwind_walk.h"
#include "tests/harness.h"

#define SECTION_AT 0x10000ull
#define CODE 0x400000ull
#define CODE_END 0x403000ull
#define BIAS 0x7f0000000000ull

enum { RBP = 6, RSP = 7, RETURNS = 16, ROOM = 1024 };

/* ---- writing a section ---- */

struct writer {
	uint8_t bytes[ROOM];
	size_t n, common, entry;
	bool is_debug;
};

static void put_all(struct writer *w, const void *bytes, size_t n)
{
	HI_ASSERT(w->n + n <= ROOM);
	memcpy(w->bytes + w->n, bytes, n);
	w->n += n;
}

static void put_u32(struct writer *w, uint64_t value)
{
	put_all(w, &value, 4);
}

#define PUT(w, ...)                                                                      \
	put_all((w), (const uint8_t[]){__VA_ARGS__},                                     \
		sizeof((const uint8_t[]){__VA_ARGS__}))

static void begin_cfi(struct writer *w)
{
	w->entry = w->n;
	put_u32(w, 0);
}

static void end_cfi(struct writer *w)
{
	uint32_t length;

	while ((w->n - w->entry) % 8)
		PUT(w, DW_CFA_nop);
	length = (uint32_t)(w->n - w->entry - 4);
	memcpy(w->bytes + w->entry, &length, 4);
}

static void put_common(struct writer *w, const char *augmentation)
{
	w->common = w->n;
	begin_cfi(w);
	put_u32(w, w->is_debug ? UINT32_MAX : 0);
	PUT(w, 1);
	put_all(w, augmentation, strlen(augmentation) + 1);
	PUT(w, 1, 0x78, RETURNS); /* factors 1 and -8 */
	if (*augmentation)
		PUT(w, 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	PUT(w, DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RETURNS, 1);
	end_cfi(w);
}

static void begin_function(struct writer *w, uint64_t start, uint64_t size)
{
	begin_cfi(w);
	put_u32(w, w->is_debug ? w->common : w->n - w->common);
	if (w->is_debug) {
		put_all(w, &start, 8);
		put_all(w, &size, 8);
		return;
	}
	put_u32(w, start - (SECTION_AT + w->n));
	put_u32(w, size);
	PUT(w, 0);
}

/* push %rbp; mov %rsp,%rbp; …; leave; ret */
static void put_framed(struct writer *w, uint64_t start)
{
	begin_function(w, start, 0x40);
	PUT(w, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | RBP, 2);
	PUT(w, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, RBP);
	PUT(w, DW_CFA_advance_loc1, 0x3b, DW_CFA_def_cfa, RSP, 8, DW_CFA_restore | RBP);
	end_cfi(w);
}

/* Two ways out: the first in the middle. */
static void put_remembering(struct writer *w, uint64_t start)
{
	begin_function(w, start, 0x30);
	PUT(w, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 0x90, 1);
	PUT(w, DW_CFA_advance_loc | 8, DW_CFA_remember_state);
	PUT(w, DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	end_cfi(w);
}

static void put_plt(struct writer *w, uint64_t start)
{
	begin_function(w, start, 0x20);
	PUT(w, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
	    DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
	    DW_OP_plus);
	end_cfi(w);
}

/* The stack pointer is aligned, rbp is saved at rbp, and the CFA below it. */
static void put_aligned(struct writer *w, uint64_t start)
{
	begin_function(w, start, 0x20);
	PUT(w, DW_CFA_expression, RBP, 2, DW_OP_breg6, 0);
	PUT(w, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref);
	end_cfi(w);
}

static void put_outermost(struct writer *w, uint64_t start)
{
	begin_function(w, start, 0x10);
	PUT(w, DW_CFA_undefined, RETURNS);
	end_cfi(w);
}

static void put_signal(struct writer *w, uint64_t start)
{
	put_common(w, "zRS");
	begin_function(w, start, 0x10);
	PUT(w, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1, DW_OP_deref);
	end_cfi(w);
}

static struct hi_cfi_section written_section(const struct writer *w)
{
	return (struct hi_cfi_section){w->bytes, w->n, SECTION_AT, w->is_debug};
}

/* Not in the order of addresses. */
static void write_sample(struct writer *w, bool is_debug)
{
	*w = (struct writer){.is_debug = is_debug};
	put_common(w, is_debug ? "" : "zR");
	put_remembering(w, CODE + 0x1100);
	put_framed(w, CODE + 0x100);
	put_plt(w, CODE + 0x140);
	put_aligned(w, CODE + 0x2000);
	put_outermost(w, CODE + 0x2020);
	if (!is_debug)
		put_signal(w, CODE + 0x2100);
}

/* ---- tables of it ---- */

static void make_tables(const struct hi_cfi_section *section, uint64_t bias,
			struct hi_unwind_tables *ret)
{
	struct hi_unwind_builder builder = {};
	struct hi_cfi_entries entries = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_cfi_entries_read(section, &entries, &err), &err);
	hi_unwind_builder_add_cfi(&builder, CODE + bias, CODE_END + bias, &entries, bias);
	HI_ASSERT_OK(hi_unwind_builder_finish(&builder, ret, &err), &err);
	hi_unwind_builder_free(&builder);
	hi_vector_free(&entries);
	HI_ASSERT_OK(hi_unwind_tables_check(ret, NULL, &err), &err);
}

/* By a search from the front, where the walk halves. */
static struct hi_unwind_rule rule_at(const struct hi_unwind_tables *tables, uint64_t pc)
{
	struct hi_unwind_head head = hi_unwind_tables_head(tables);
	struct hi_unwind_rule rule = {};
	uint32_t number = 0;

	for (size_t i = 0; i < head.n_modules; i++) {
		struct hi_unwind_module m = hi_unwind_tables_module(tables, i);
		uint64_t page = m.start;

		if (pc < m.start || pc >= m.end)
			continue;
		for (size_t j = m.pages; page <= pc; j++, page += 4096)
			for (uint32_t k = hi_unwind_tables_half(tables, head.pages, j);
			     k < hi_unwind_tables_half(tables, head.pages, j + 1); k++) {
				uint32_t row =
					hi_unwind_tables_half(tables, head.rows, k);

				if (page + (row >> HI_UNWIND_RULE_BITS) <= pc)
					number = row & (HI_UNWIND_RULES_MAX - 1);
			}
	}
	memcpy(&rule, tables->words + HI_UNWIND_HEAD_WORDS + number, sizeof(rule));
	return rule;
}

static void expect_rule(const struct hi_unwind_tables *tables, uint64_t pc,
			struct hi_unwind_rule expected)
{
	struct hi_unwind_rule rule = rule_at(tables, pc);

	HI_ASSERT_MSG(memcmp(&rule, &expected, sizeof(rule)) == 0,
		      "at %llx: kind %d cfa %d saved %x rbp %d", (unsigned long long)pc,
		      rule.kind, rule.cfa, rule.saved, rule.rbp);
}

static const struct hi_unwind_rule at_entry = {8, 0, HI_UNWIND_RSP, 0}, unknown = {};

static void expect_sample(const struct hi_unwind_tables *t, uint64_t at)
{
	const struct hi_unwind_rule framed = {16, -16, HI_UNWIND_RBP,
					      HI_UNWIND_RBP_AT_CFA};
	const struct hi_unwind_rule pushed = {16, -16, HI_UNWIND_RSP,
					      HI_UNWIND_RBP_AT_CFA};

	expect_rule(t, at, unknown);
	expect_rule(t, at + 0xff, unknown);
	expect_rule(t, at + 0x100, at_entry);
	expect_rule(t, at + 0x101, pushed);
	expect_rule(t, at + 0x103, pushed);
	expect_rule(t, at + 0x104, framed);
	expect_rule(t, at + 0x13e, framed);
	expect_rule(t, at + 0x13f, at_entry);
	expect_rule(t, at + 0x140, (struct hi_unwind_rule){8, 0, HI_UNWIND_PLT, 11 << 4});
	expect_rule(t, at + 0x160, unknown);
	expect_rule(t, at + 0x10ff, unknown);
	expect_rule(t, at + 0x1104, (struct hi_unwind_rule){0x90, 0, HI_UNWIND_RSP, 0});
	expect_rule(t, at + 0x110c, at_entry);
	expect_rule(t, at + 0x110d, (struct hi_unwind_rule){0x90, 0, HI_UNWIND_RSP, 0});
	expect_rule(t, at + 0x1130, unknown);
	expect_rule(
		t, at + 0x2000,
		(struct hi_unwind_rule){-8, 0, HI_UNWIND_AT_RBP, HI_UNWIND_RBP_AT_RBP});
	expect_rule(t, at + 0x2020, (struct hi_unwind_rule){0, 0, HI_UNWIND_END, 0});
	expect_rule(t, at + 0x2fff, unknown);
}

HI_TEST(unwind_tables, have_the_rows_of_eh_frame)
{
	struct hi_unwind_tables tables;
	struct hi_cfi_section section;
	struct writer w;

	write_sample(&w, false);
	section = written_section(&w);
	make_tables(&section, 0, &tables);
	expect_sample(&tables, CODE);
	expect_rule(&tables, CODE + 0x2100,
		    (struct hi_unwind_rule){0, 0, HI_UNWIND_SIGNAL, 0});
	hi_unwind_tables_free(&tables);
	make_tables(&section, BIAS, &tables);
	expect_sample(&tables, CODE + BIAS);
	hi_unwind_tables_free(&tables);
}

HI_TEST(unwind_tables, have_the_rows_of_debug_frame)
{
	struct hi_unwind_tables tables;
	struct hi_cfi_section section;
	struct writer w;

	write_sample(&w, true);
	section = written_section(&w);
	make_tables(&section, 0, &tables);
	expect_sample(&tables, CODE);
	hi_unwind_tables_free(&tables);
}

/* ---- a walk over them ---- */

struct drawn_stack {
	uint64_t start;
	size_t n;
	const uint64_t *words;
};

static bool read_drawn(void *arg, uint64_t addr, uint64_t *ret)
{
	const struct drawn_stack *stack = arg;
	uint64_t i = (addr - stack->start) / 8;

	if (addr % 8 || addr < stack->start || i >= stack->n)
		return false;
	*ret = stack->words[i];
	return true;
}

static size_t walk_drawn(const struct hi_unwind_tables *tables,
			 const struct drawn_stack *stack,
			 const struct hi_unwind_start *start, uint64_t *pcs, bool *cut)
{
	const struct hi_unwind_memory memory = {read_drawn, (void *)(uintptr_t)stack};

	return hi_unwind_walk(tables, &memory, start, pcs, 16, cut);
}

/*
 * A leaf, called at the very end of a function that saved rbp (so that the byte behind
 * the call belongs to none), called by one without rbp, called by the outermost.
 */
HI_TEST(unwind_tables, lead_from_frame_to_frame)
{
	const uint64_t words[] = {
		CODE + 0x140, /* 0x1000: behind the call */
		7,
		0x1238,	       /* 0x1010: saved rbp */
		CODE + 0x1108, /* 0x1018 */
		[0x15] = CODE + 0x2025,
	};
	const struct drawn_stack stack = {0x1000, sizeof(words) / 8, words};
	const struct hi_unwind_start start = {CODE + 0x1100, 0x1000, 0x1010, false};
	struct hi_unwind_tables tables;
	struct hi_cfi_section section;
	uint64_t pcs[16];
	struct writer w = {};
	bool cut;

	put_common(&w, "zR");
	begin_function(&w, CODE + 0x100, 0x40);
	PUT(&w, DW_CFA_def_cfa, RBP, 16, DW_CFA_offset | RBP, 2);
	end_cfi(&w);
	put_remembering(&w, CODE + 0x1100);
	put_outermost(&w, CODE + 0x2020);
	section = written_section(&w);
	make_tables(&section, 0, &tables);
	HI_ASSERT_EQ(4, walk_drawn(&tables, &stack, &start, pcs, &cut));
	HI_ASSERT_EQ(CODE + 0x140, pcs[1]);
	HI_ASSERT_EQ(CODE + 0x1108, pcs[2]);
	HI_ASSERT_EQ(CODE + 0x2025, pcs[3]);
	HI_ASSERT(!cut);
	hi_unwind_tables_free(&tables);
}

/* ---- the C library's, by libdw ---- */

static int find_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	snprintf(path, 256, "%s", info->dlpi_name);
	return 1;
}

static void find_eh_frame(Elf *elf, struct hi_cfi_section *ret)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	HI_ASSERT_EQ(0, elf_getshdrstrndx(elf, &strings));
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		Elf_Data *data;

		HI_ASSERT(gelf_getshdr(scn, &shdr));
		if (strcmp(elf_strptr(elf, strings, shdr.sh_name), ".eh_frame") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		HI_ASSERT(data);
		*ret = (struct hi_cfi_section){data->d_buf, data->d_size, shdr.sh_addr,
					       false};
	}
	HI_ASSERT(ret->size > 0);
}

struct libdw_truth {
	Dwarf_CFI *cfi;
	size_t rows, unknown;
};

/* What libdw says of the CFA where it is plain; of expressions only that they are one. */
static bool is_cfa_of_libdw(Dwarf_Frame *frame, const struct hi_unwind_rule *rule)
{
	size_t n = 0;
	Dwarf_Op *ops;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_bregx)
		return rule->kind != HI_UNWIND_RSP && rule->kind != HI_UNWIND_RBP;
	return rule->kind == (ops[0].number == RSP ? HI_UNWIND_RSP : HI_UNWIND_RBP) &&
	       rule->cfa == (int64_t)ops[0].number2;
}

static bool is_rbp_of_libdw(Dwarf_Frame *frame, const struct hi_unwind_rule *rule)
{
	int saved = rule->saved & 3;
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, RBP, memory, &ops, &n) != 0)
		return false;
	if (n == 0)
		return saved == (ops ? HI_UNWIND_RBP_LOST : HI_UNWIND_RBP_SAME);
	if (n == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    ops[1].atom == DW_OP_plus_uconst)
		return saved == HI_UNWIND_RBP_AT_CFA &&
		       rule->rbp == (int64_t)ops[1].number;
	return saved == HI_UNWIND_RBP_AT_RBP || saved == HI_UNWIND_RBP_LOST;
}

static bool compare_row(void *arg, uint64_t address, const struct hi_unwind_rule *rule)
{
	struct libdw_truth *truth = arg;
	Dwarf_Frame *frame = NULL;
	bool same;

	HI_ASSERT_EQ(0, dwarf_cfi_addrframe(truth->cfi, address, &frame));
	truth->rows++;
	truth->unknown += rule->kind == HI_UNWIND_NONE;
	same = rule->kind == HI_UNWIND_NONE || rule->kind == HI_UNWIND_END ||
	       rule->kind == HI_UNWIND_SIGNAL ||
	       (is_cfa_of_libdw(frame, rule) && is_rbp_of_libdw(frame, rule));
	HI_ASSERT_MSG(same, "at %llx: kind %d cfa %d saved %x rbp %d",
		      (unsigned long long)address, rule->kind, rule->cfa, rule->saved,
		      rule->rbp);
	free(frame);
	return true;
}

HI_TEST(unwind_tables, equal_libdw_on_the_c_library)
{
	struct hi_cfi_section section = {};
	struct hi_cfi_entries entries = {};
	struct libdw_truth truth = {};
	char path[256] = "";
	struct hi_error err;
	Elf *elf;
	int fd;

	HI_ASSERT(dl_iterate_phdr(find_libc, path));
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	HI_ASSERT(elf);
	find_eh_frame(elf, &section);
	truth.cfi = dwarf_getcfi_elf(elf);
	HI_ASSERT(truth.cfi);
	HI_ASSERT_OK(hi_cfi_entries_read(&section, &entries, &err), &err);
	for (size_t i = 0; i < entries.count; i++)
		hi_cfi_entry_rows(&entries.items[i], compare_row, &truth);
	hi_test_note("%zu functions, %zu rows, %zu not understood", entries.count,
		     truth.rows, truth.unknown);
	HI_ASSERT(entries.count > 1000 && truth.unknown * 500 < truth.rows);
	hi_vector_free(&entries);
	dwarf_cfi_end(truth.cfi);
	elf_end(elf);
	close(fd);
}

/* ---- merging ---- */

static void make_module(uint64_t start, uint64_t end, int32_t cfa,
			struct hi_unwind_tables *ret)
{
	const struct hi_unwind_rule first = {cfa, 0, HI_UNWIND_RSP, 0},
				    second = {cfa + 8, -16, HI_UNWIND_RBP,
					      HI_UNWIND_RBP_AT_CFA};
	struct hi_unwind_builder builder = {};
	struct hi_error err;

	HI_ASSERT(hi_unwind_builder_begin(&builder, start, end));
	HI_ASSERT(hi_unwind_builder_row(&builder, start + 0x10, &first));
	HI_ASSERT(hi_unwind_builder_row(&builder, start + 0x1010, &second));
	hi_unwind_builder_end(&builder);
	HI_ASSERT_OK(hi_unwind_builder_finish(&builder, ret, &err), &err);
	hi_unwind_builder_free(&builder);
}

static void expect_module(const struct hi_unwind_tables *tables, uint64_t start,
			  int32_t cfa)
{
	expect_rule(tables, start, unknown);
	expect_rule(tables, start + 0x10,
		    (struct hi_unwind_rule){cfa, 0, HI_UNWIND_RSP, 0});
	expect_rule(tables, start + 0x100f,
		    (struct hi_unwind_rule){cfa, 0, HI_UNWIND_RSP, 0});
	expect_rule(tables, start + 0x1010,
		    (struct hi_unwind_rule){cfa + 8, -16, HI_UNWIND_RBP,
					    HI_UNWIND_RBP_AT_CFA});
}

static void merge_into(struct hi_unwind_tables *earlier, uint64_t start, uint64_t end,
		       int32_t cfa)
{
	struct hi_unwind_tables later, merged;
	struct hi_error err;

	make_module(start, end, cfa, &later);
	HI_ASSERT_OK(hi_unwind_tables_merge(earlier, &later, &merged, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_check(&merged, NULL, &err), &err);
	hi_unwind_tables_free(earlier);
	hi_unwind_tables_free(&later);
	*earlier = merged;
}

HI_TEST(unwind_tables, are_merged_in_the_order_of_addresses)
{
	struct hi_unwind_tables all;

	make_module(0x10000, 0x14000, 8, &all);
	merge_into(&all, 0x20000, 0x24000, 24);
	merge_into(&all, 0x1000, 0x4000, 40);
	merge_into(&all, 0x14000, 0x17000, 8);
	HI_ASSERT_EQ(4, hi_unwind_tables_head(&all).n_modules);
	expect_module(&all, 0x1000, 40);
	expect_module(&all, 0x10000, 8);
	expect_module(&all, 0x14000, 8);
	expect_module(&all, 0x20000, 24);
	/* Both modules with 8 share its rules. */
	HI_ASSERT_EQ(7, hi_unwind_tables_head(&all).n_rules);
	expect_rule(&all, 0x4000, unknown);
	expect_rule(&all, 0x24000, unknown);
	hi_unwind_tables_free(&all);
}

HI_TEST(unwind_tables, forget_modules_in_whose_place_others_are_loaded)
{
	struct hi_unwind_tables all;

	make_module(0x10000, 0x14000, 8, &all);
	merge_into(&all, 0x20000, 0x24000, 24);
	merge_into(&all, 0x13000, 0x16000, 40);
	HI_ASSERT_EQ(2, hi_unwind_tables_head(&all).n_modules);
	expect_rule(&all, 0x10010, unknown);
	expect_module(&all, 0x13000, 40);
	expect_module(&all, 0x20000, 24);
	merge_into(&all, 0x1000, 0x30000, 56);
	HI_ASSERT_EQ(1, hi_unwind_tables_head(&all).n_modules);
	expect_module(&all, 0x1000, 56);
	hi_unwind_tables_free(&all);
}

/* ---- damage ---- */

/* Goes everywhere that a walk may go; all memory reads as `word`. */
static bool read_a_word(void *word, uint64_t addr, uint64_t *ret)
{
	*ret = *(const uint64_t *)word + (addr & 0xff8);
	return true;
}

static void walk_everywhere(const struct hi_unwind_tables *tables)
{
	uint64_t pcs[64];

	for (uint64_t pc = CODE; pc < CODE_END; pc += 0x33) {
		uint64_t word = pc;
		const struct hi_unwind_memory memory = {read_a_word, &word};
		const struct hi_unwind_start start = {pc, 0x7000, 0x7100, pc & 1};
		bool cut;

		HI_ASSERT(hi_unwind_walk(tables, &memory, &start, pcs, 64, &cut) <= 64);
	}
}

static void use_section(const struct writer *w)
{
	struct hi_cfi_section section = written_section(w);
	struct hi_unwind_tables tables;

	make_tables(&section, 0, &tables);
	walk_everywhere(&tables);
	hi_unwind_tables_free(&tables);
}

/* Each byte is each other one; its own heap block, so that a sanitizer sees its end. */
HI_TEST(unwind_tables, survive_each_damaged_byte_of_a_section)
{
	struct writer w;

	for (int is_debug = 0; is_debug < 2; is_debug++) {
		write_sample(&w, is_debug);
		for (size_t i = 0; i < w.n; i++) {
			uint8_t byte = w.bytes[i];

			for (unsigned value = 0; value < 256; value += 5) {
				w.bytes[i] = (uint8_t)(byte + value);
				use_section(&w);
			}
			w.bytes[i] = byte;
		}
	}
}

HI_TEST(unwind_tables, survive_sections_of_each_length)
{
	struct writer w;

	write_sample(&w, false);
	for (size_t n = w.n; n > 0; n--) {
		struct hi_unwind_tables tables;
		uint8_t *bytes = malloc(n);
		struct hi_cfi_section section = {bytes, n, SECTION_AT, false};

		HI_ASSERT(bytes);
		memcpy(bytes, w.bytes, n);
		make_tables(&section, 0, &tables);
		hi_unwind_tables_free(&tables);
		free(bytes);
	}
}

HI_TEST(unwind_tables, are_refused_or_harmless_where_a_byte_is_damaged)
{
	struct hi_unwind_tables tables;
	struct hi_cfi_section section;
	size_t refused = 0;
	struct writer w;
	uint8_t *bytes;

	write_sample(&w, false);
	section = written_section(&w);
	make_tables(&section, 0, &tables);
	bytes = (uint8_t *)tables.words;
	for (size_t i = 0; i < tables.n_words * 8; i++) {
		uint8_t byte = bytes[i];

		for (unsigned value = 1; value < 256; value += 6) {
			bytes[i] = (uint8_t)(byte + value);
			refused += hi_unwind_tables_check(&tables, NULL, NULL) != HI_OK;
			walk_everywhere(&tables);
		}
		bytes[i] = byte;
	}
	HI_ASSERT(refused > 0);
	HI_ASSERT_STATUS(HI_OK, hi_unwind_tables_check(&tables, NULL, NULL));
	for (size_t n = 0; n < tables.n_words; n++) {
		struct hi_unwind_tables shorter = {tables.words, n};

		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_unwind_tables_check(&shorter, NULL, NULL));
	}
	hi_unwind_tables_free(&tables);
}
