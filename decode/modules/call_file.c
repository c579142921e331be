/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/call_file.h"

#include <capstone/capstone.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/search.h"
#include "base/vector.h"

enum {
	CALL_LEAST = 2,	   /* bytes of a call instruction */
	CALL_MOST = 9,	   /* with prefixes */
	WINDOW = 96,	   /* bytes in front of the call that are looked at */
	WINDOW_STEPS = 16, /* instructions of them, the last ones */
	SEGMENTS = 64,
	PAGE_SIZE = 4096,
};
#define MOST_SYMBOLS (1u << 22)

struct code_segment {
	uint64_t start, end; /* offsets in the module */
	const uint8_t *bytes;
};

struct code_symbol {
	uint64_t start, end;
	const char *name;
	bool is_exported;
};

struct hi_call_file {
	Elf *elf;
	int fd;
	csh handle;
	bool has_handle;
	uint64_t base;		     /* address of offset 0 in the file */
	uint64_t got_start, got_end; /* offsets: addresses that the loader fills in */
	struct code_segment segments[SEGMENTS];
	size_t n_segments;
	struct HI_VECTOR(struct code_symbol) symbols;
};

HI_DEFINE_GUARD(struct hi_call_file *, hi_call_file_close)

void hi_call_file_close(struct hi_call_file *file)
{
	if (!file)
		return;
	if (file->has_handle)
		cs_close(&file->handle);
	hi_vector_free(&file->symbols);
	elf_end(file->elf);
	hi_close_fd(file->fd);
	free(file);
}

/* ---- the file ---- */

static bool has_file_build_id(Elf *elf, const char *wanted)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
	char text[65] = "";

	for (ssize_t i = 0; i < n && 2 * i + 2 < (ssize_t)sizeof(text); i++)
		snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	return *wanted && strcmp(text, wanted) == 0;
}

static void add_code_segment(struct hi_call_file *file, const GElf_Phdr *ph,
			     const uint8_t *raw, size_t size)
{
	if (!(ph->p_flags & PF_X) || file->n_segments == SEGMENTS ||
	    ph->p_offset > size || ph->p_filesz > size - ph->p_offset ||
	    ph->p_vaddr < file->base || ph->p_vaddr + ph->p_filesz < ph->p_vaddr)
		return;
	file->segments[file->n_segments++] =
		(struct code_segment){.start = ph->p_vaddr - file->base,
				      .end = ph->p_vaddr - file->base + ph->p_filesz,
				      .bytes = raw + ph->p_offset};
}

static void find_code_segments(struct hi_call_file *file)
{
	size_t n, size = 0;
	const uint8_t *raw = (const uint8_t *)elf_rawfile(file->elf, &size);
	bool has_base = false;

	if (!raw || elf_getphdrnum(file->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(file->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (!has_base)
			file->base = ph.p_vaddr & ~(uint64_t)(PAGE_SIZE - 1);
		has_base = true;
		add_code_segment(file, &ph, raw, size);
	}
}

static bool is_visible(const GElf_Sym *s)
{
	unsigned char seen = GELF_ST_VISIBILITY(s->st_other);

	return GELF_ST_BIND(s->st_info) != STB_LOCAL &&
	       (seen == STV_DEFAULT || seen == STV_PROTECTED);
}

/* False: out of memory. */
static bool add_code_symbols(struct hi_call_file *file, Elf_Scn *section,
			     const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;

	for (size_t i = 0; i < n && file->symbols.count < MOST_SYMBOLS; i++) {
		struct code_symbol symbol;
		GElf_Sym s;

		if (!gelf_getsym(data, (int)i, &s) ||
		    GELF_ST_TYPE(s.st_info) != STT_FUNC || !s.st_size ||
		    s.st_shndx == SHN_UNDEF || s.st_value < file->base)
			continue;
		symbol = (struct code_symbol){
			.start = s.st_value - file->base,
			.end = s.st_value - file->base + s.st_size,
			.name = elf_strptr(file->elf, sh->sh_link, s.st_name),
			.is_exported = sh->sh_type == SHT_DYNSYM && is_visible(&s)};
		if (symbol.name && !hi_vector_push(&file->symbols, symbol))
			return false;
	}
	return true;
}

static int compare_code_symbols(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void take_got(struct hi_call_file *file, const GElf_Shdr *sh)
{
	size_t names;
	const char *name = elf_getshdrstrndx(file->elf, &names) == 0
				   ? elf_strptr(file->elf, names, sh->sh_name)
				   : NULL;

	if (!name || strcmp(name, ".got") != 0 || sh->sh_addr < file->base)
		return;
	file->got_start = sh->sh_addr - file->base;
	file->got_end = file->got_start + sh->sh_size;
}

static bool read_code_sections(struct hi_call_file *file)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(section, &sh))
			continue;
		take_got(file, &sh);
		if ((sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    !add_code_symbols(file, section, &sh))
			return false;
	}
	if (file->symbols.count)
		qsort(file->symbols.items, file->symbols.count,
		      sizeof(*file->symbols.items), compare_code_symbols);
	return true;
}

static bool open_call_decoder(struct hi_call_file *file)
{
	file->has_handle = cs_open(CS_ARCH_X86, CS_MODE_64, &file->handle) == CS_ERR_OK;
	return file->has_handle &&
	       cs_option(file->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
}

enum hi_status hi_call_file_open(const char *path, const char *build_id,
				 struct hi_call_file **ret, struct hi_error *err)
{
	HI_GUARD(hi_call_file_close)
	struct hi_call_file *file = hi_calloc(1, sizeof(*file));
	GElf_Ehdr header;

	if (!file)
		return hi_fail_memory(err, "code of a module");
	elf_version(EV_CURRENT);
	file->fd = hi_files_open(path);
	file->elf =
		file->fd < 0 ? NULL : elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!file->elf || !has_file_build_id(file->elf, build_id))
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.120s: there is no file of this build", path);
	if (!gelf_getehdr(file->elf, &header) || header.e_machine != EM_X86_64)
		return hi_fail(err, HI_UNSUPPORTED, 0, "%.120s: not code of x86-64",
			       path);
	find_code_segments(file);
	if (!read_code_sections(file) || !open_call_decoder(file))
		return hi_fail_memory(err, "code of a module");
	*ret = hi_take(file);
	return HI_OK;
}

const char *hi_call_file_function(const struct hi_call_file *file, uint64_t offset)
{
	const struct code_symbol *s = file->symbols.items;
	size_t n = hi_search(i, file->symbols.count, s[i].start <= offset);

	/* The nearest one that begins before it; aliases begin at the same place. */
	return n && offset < s[n - 1].end ? s[n - 1].name : NULL;
}

/* One of the aliases of a function, and of its symbols in both tables, may be. */
bool hi_call_file_exports(const struct hi_call_file *file, uint64_t offset)
{
	const struct code_symbol *s = file->symbols.items;
	size_t n = hi_search(i, file->symbols.count, s[i].start <= offset);
	bool is_exported = false;

	for (size_t i = n; i && s[i - 1].start == s[n - 1].start; i--)
		is_exported |= s[i - 1].is_exported && offset < s[i - 1].end;
	return is_exported;
}

/* ---- instructions ---- */

static const struct code_segment *find_code_segment(const struct hi_call_file *file,
						    uint64_t offset)
{
	for (size_t i = 0; i < file->n_segments; i++)
		if (offset > file->segments[i].start && offset <= file->segments[i].end)
			return &file->segments[i];
	return NULL;
}

/* The only instruction of exactly these bytes; the caller frees it with cs_free(). NULL:
 * they are none. */
static cs_insn *decode_exactly(const struct hi_call_file *file, const uint8_t *bytes,
			       size_t size, uint64_t offset)
{
	cs_insn *insn = NULL;
	size_t n = cs_disasm(file->handle, bytes, size, offset, 1, &insn);

	if (n == 1 && insn->size == size)
		return insn;
	if (n)
		cs_free(insn, n);
	return NULL;
}

static bool is_call_instruction(const cs_insn *insn)
{
	return insn->id == X86_INS_CALL && insn->detail->x86.op_count == 1;
}

/* The longest call that ends at the offset. A direct one leads into the module's code:
 * else its bytes belong to something else. */
static cs_insn *find_call(const struct hi_call_file *file, const struct code_segment *s,
			  uint64_t offset)
{
	const uint8_t *end = s->bytes + (offset - s->start);

	for (size_t n = CALL_MOST; n >= CALL_LEAST; n--) {
		cs_insn *insn = offset - s->start < n
					? NULL
					: decode_exactly(file, end - n, n, offset - n);
		const cs_x86_op *op;

		if (!insn)
			continue;
		op = &insn->detail->x86.operands[0];
		if (is_call_instruction(insn) &&
		    (op->type != X86_OP_IMM ||
		     find_code_segment(file, (uint64_t)op->imm + 1)))
			return insn;
		cs_free(insn, 1);
	}
	return NULL;
}

/* The last instructions that end where the call begins, as they come when decoding begins
 * as far in front as it can; *insns_ret: cs_free(). Returns how many. */
static size_t decode_in_front(const struct hi_call_file *file,
			      const struct code_segment *s, uint64_t offset,
			      cs_insn **insns_ret)
{
	uint64_t most = offset - s->start < WINDOW ? offset - s->start : WINDOW;

	for (uint64_t back = most; back > 0; back--) {
		size_t n = cs_disasm(file->handle, s->bytes + (offset - back - s->start),
				     back, offset - back, 0, insns_ret);

		if (n && (*insns_ret)[n - 1].address + (*insns_ret)[n - 1].size == offset)
			return n;
		if (n)
			cs_free(*insns_ret, n);
	}
	return 0;
}

static bool is_frame_register(unsigned reg)
{
	return reg == X86_REG_RIP || reg == X86_REG_RSP || reg == X86_REG_RBP ||
	       reg == X86_REG_INVALID;
}

/* A value while it is followed backwards: which register has it, and how many loads from
 * memory made the target out of that. */
struct followed {
	unsigned reg;
	int loads;
};

enum follow { FOLLOW_ON, FOLLOW_VIRTUAL, FOLLOW_END };

static enum follow follow_memory(struct followed *f, const cs_x86_op *op)
{
	if (op->mem.index != X86_REG_INVALID)
		return FOLLOW_END;
	f->loads++;
	f->reg = op->mem.base;
	if (is_frame_register(f->reg))
		return FOLLOW_END;
	if (f->loads < 2)
		return FOLLOW_ON;
	return op->mem.disp == 0 ? FOLLOW_VIRTUAL : FOLLOW_END;
}

/* Does the instruction write the register, or a part of it? */
static bool writes_register(const struct hi_call_file *file, const cs_insn *insn,
			    unsigned reg)
{
	cs_regs read, written;
	uint8_t n_read, n_written;

	if (cs_regs_access(file->handle, insn, read, &n_read, written, &n_written) !=
	    CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < n_written; i++)
		if (written[i] == reg)
			return true;
	return false;
}

static enum follow follow_instruction(const struct hi_call_file *file,
				      const cs_insn *insn, struct followed *f)
{
	const cs_x86 *x = &insn->detail->x86;

	if (insn->id == X86_INS_CALL || insn->id == X86_INS_RET ||
	    insn->id == X86_INS_JMP)
		return FOLLOW_END;
	if (!writes_register(file, insn, f->reg))
		return FOLLOW_ON;
	if (insn->id == X86_INS_MOV && x->operands[1].type == X86_OP_REG) {
		f->reg = x->operands[1].reg;
		return FOLLOW_ON;
	}
	if (insn->id == X86_INS_MOV && x->operands[1].type == X86_OP_MEM)
		return follow_memory(f, &x->operands[1]);
	return insn->id == X86_INS_ADD && x->operands[1].type == X86_OP_IMM ? FOLLOW_ON
									    : FOLLOW_END;
}

static bool is_virtual(const struct hi_call_file *file, const struct code_segment *s,
		       const cs_insn *call)
{
	const cs_x86_op *op = &call->detail->x86.operands[0];
	struct followed f = {.reg = op->type == X86_OP_REG ? op->reg : X86_REG_INVALID};
	enum follow follow = FOLLOW_ON;
	cs_insn *insns = NULL;
	size_t n;

	if (op->type == X86_OP_MEM)
		follow = follow_memory(&f, op);
	if (follow != FOLLOW_ON)
		return false;
	n = decode_in_front(file, s, call->address, &insns);
	for (size_t i = n; i && n - i < WINDOW_STEPS && follow == FOLLOW_ON; i--)
		follow = follow_instruction(file, &insns[i - 1], &f);
	if (n)
		cs_free(insns, n);
	return follow == FOLLOW_VIRTUAL;
}

/* A call of another module's function without a stub (-fno-plt). */
static bool is_through_got(const struct hi_call_file *file, const cs_insn *call)
{
	const cs_x86_op *op = &call->detail->x86.operands[0];
	uint64_t at = call->address + call->size + (uint64_t)op->mem.disp;

	return op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP &&
	       at >= file->got_start && at < file->got_end;
}

/* mov $15,%rax; syscall: rt_sigreturn. */
static bool is_signal_return(const struct hi_call_file *file, uint64_t offset)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	const struct code_segment *s = find_code_segment(file, offset + sizeof(code));

	return s && offset >= s->start &&
	       memcmp(s->bytes + (offset - s->start), code, sizeof(code)) == 0;
}

enum hi_call_kind hi_call_file_kind(const struct hi_call_file *file, uint64_t offset,
				    uint64_t *target_ret)
{
	const struct code_segment *s = find_code_segment(file, offset);
	enum hi_call_kind kind = HI_CALL_INDIRECT;
	cs_insn *call;

	*target_ret = 0;
	if (is_signal_return(file, offset))
		return HI_CALL_SIGNAL;
	call = s ? find_call(file, s, offset) : NULL;
	if (!call)
		return HI_CALL_UNKNOWN;
	if (call->detail->x86.operands[0].type == X86_OP_IMM) {
		kind = HI_CALL_DIRECT;
		*target_ret = (uint64_t)call->detail->x86.operands[0].imm;
	} else if (is_through_got(file, call)) {
		kind = HI_CALL_DIRECT;
	} else if (is_virtual(file, s, call)) {
		kind = HI_CALL_VIRTUAL;
	}
	cs_free(call, 1);
	return kind;
}
