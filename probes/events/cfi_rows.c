/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format: DWARF 5, 6.4, and System V ABI (LSB 5.0, "Exception Frames"). Each
 * instruction takes a byte at least, so that a section bounds the work.
 */
#include "probes/events/cfi_rows.h"

#include <dwarf.h>
#include <string.h>

enum {
	REMEMBERED_MAX = 32,
	/* A CIE is run again for each of its FDEs. Real ones have 30 bytes. */
	COMMON_MAX = 256,
	LEB_BYTES_MAX = 10,
	/* System V psABI x86-64, figure 3.36. */
	RBP = 6,
	RSP = 7,
	RETURN_ADDRESS = 16,
};

/* ---- bytes ---- */

struct cursor {
	const uint8_t *at, *end;
	bool is_bad; /* read beyond the end: everything is 0 from there on */
};

static uint64_t take_cfi_bytes(struct cursor *c, size_t n)
{
	uint64_t value = 0;

	if (c->is_bad || (size_t)(c->end - c->at) < n) {
		c->is_bad = true;
		return 0;
	}
	memcpy(&value, c->at, n);
	c->at += n;
	return value;
}

static void skip_bytes(struct cursor *c, uint64_t n)
{
	if (c->is_bad || (uint64_t)(c->end - c->at) < n)
		c->is_bad = true;
	else
		c->at += n;
}

static uint64_t take_leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (int i = 0; i < LEB_BYTES_MAX; i++) {
		uint64_t byte = take_cfi_bytes(c, 1);

		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (is_signed && shift < 64 && (byte & 0x40))
			value |= ~0ull << shift;
		return value;
	}
	c->is_bad = true;
	return 0;
}

static uint64_t take_uleb(struct cursor *c)
{
	return take_leb(c, false);
}

static int64_t take_sleb(struct cursor *c)
{
	return (int64_t)take_leb(c, true);
}

/* A block of an expression. */
static struct cursor take_cfi_block(struct cursor *c)
{
	uint64_t size = take_uleb(c);
	struct cursor block = {c->at, c->at, false};

	skip_bytes(c, size);
	if (!c->is_bad)
		block.end = c->at;
	return block;
}

/* ---- encoded pointers ---- */

static uint64_t take_encoded_value(struct cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return take_cfi_bytes(c, 8);
	case DW_EH_PE_udata4:
		return take_cfi_bytes(c, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)take_cfi_bytes(c, 4);
	case DW_EH_PE_udata2:
		return take_cfi_bytes(c, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)take_cfi_bytes(c, 2);
	case DW_EH_PE_uleb128:
		return take_uleb(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)take_sleb(c);
	default:
		c->is_bad = true;
		return 0;
	}
}

static uint64_t take_encoded(const struct hi_cfi_section *section, struct cursor *c,
			     uint8_t encoding)
{
	uint64_t here = section->address + (uint64_t)(c->at - section->bytes);
	uint64_t value = take_encoded_value(c, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return here + value;
	default: /* of other machines, or by way of a table */
		c->is_bad = true;
		return 0;
	}
}

/* ---- entries ---- */

/* A CIE or FDE: the bytes after its length. */
struct raw_entry {
	struct cursor body; /* after its id */
	bool is_common;
	uint64_t common; /* of an FDE: where its CIE begins in the section */
};

/* False: the end. *next_ret: where the next entry begins. An empty one ends a table, but
 * others may follow it, which the index of .eh_frame_hdr finds. */
static bool read_raw_entry(const struct hi_cfi_section *section, uint64_t at,
			   struct raw_entry *ret, uint64_t *next_ret)
{
	struct cursor c = {section->bytes + at, section->bytes + section->size, false};
	uint64_t length = take_cfi_bytes(&c, 4), id_size = 4, id_at, id, common_id;

	if (length == 0xffffffff) {
		length = take_cfi_bytes(&c, 8);
		id_size = section->is_debug ? 8 : 4;
	}
	if (c.is_bad || length > (uint64_t)(c.end - c.at))
		return false;
	c.end = c.at + length;
	*next_ret = (uint64_t)(c.end - section->bytes);
	id_at = (uint64_t)(c.at - section->bytes);
	id = take_cfi_bytes(&c, id_size);
	common_id = !section->is_debug ? 0 : id_size == 8 ? UINT64_MAX : UINT32_MAX;
	ret->is_common = id == common_id || c.is_bad;
	ret->common = section->is_debug ? id : id_at - id;
	ret->body = c;
	return true;
}

struct common {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding; /* of addresses in FDEs */
	bool has_augmentation, is_signal;
	struct cursor program;
};

static bool read_augmentation(const char *text, struct cursor *c, struct common *ret)
{
	struct cursor data;

	if (*text == 0)
		return true;
	if (*text != 'z')
		return false;
	ret->has_augmentation = true;
	data = take_cfi_block(c);
	for (const char *s = text + 1; *s && !data.is_bad; s++) {
		switch (*s) {
		case 'R':
			ret->encoding = (uint8_t)take_cfi_bytes(&data, 1);
			break;
		case 'L':
			take_cfi_bytes(&data, 1);
			break;
		case 'P':
			take_encoded_value(&data, take_cfi_bytes(&data, 1) & 0x0f);
			break;
		case 'S':
			ret->is_signal = true;
			break;
		default:
			return false;
		}
	}
	return !data.is_bad;
}

static bool read_common(const struct hi_cfi_section *section, uint64_t at,
			struct common *ret)
{
	struct raw_entry raw;
	uint64_t next, version;
	const char *augmentation;
	struct cursor *c = &raw.body;

	*ret = (struct common){.encoding = DW_EH_PE_absptr};
	if (at >= section->size || !read_raw_entry(section, at, &raw, &next) ||
	    !raw.is_common || c->end - c->at > COMMON_MAX)
		return false;
	version = take_cfi_bytes(c, 1);
	augmentation = (const char *)c->at;
	if (c->is_bad || !memchr(c->at, 0, (size_t)(c->end - c->at)))
		return false;
	skip_bytes(c, strlen(augmentation) + 1);
	if (version == 4 &&
	    take_cfi_bytes(c, 2) != 8) /* bytes of an address, no segments */
		return false;
	ret->code_factor = take_uleb(c);
	ret->data_factor = take_sleb(c);
	if ((version == 1 ? take_cfi_bytes(c, 1) : take_uleb(c)) != RETURN_ADDRESS ||
	    !read_augmentation(augmentation, c, ret))
		return false;
	ret->program = *c;
	return !c->is_bad;
}

/* A CIE is followed by the FDEs that use it, mostly. */
struct common_cache {
	uint64_t at;
	bool is_valid, is_read;
	struct common common;
};

static const struct common *find_common(const struct hi_cfi_section *section,
					struct common_cache *cache, uint64_t at)
{
	if (!cache->is_read || cache->at != at) {
		cache->at = at;
		cache->is_read = true;
		cache->is_valid = read_common(section, at, &cache->common);
	}
	return cache->is_valid ? &cache->common : NULL;
}

/* The range of an FDE; *program_ret: its instructions. */
static bool read_fde(const struct hi_cfi_section *section, const struct common *common,
		     struct cursor c, struct hi_cfi_entry *entry,
		     struct cursor *program_ret)
{
	uint64_t size;

	entry->start = take_encoded(section, &c, common->encoding);
	size = take_encoded_value(&c, common->encoding & 0x0f);
	entry->end = entry->start + size;
	if (common->has_augmentation)
		take_cfi_block(&c);
	*program_ret = c;
	return !c.is_bad && size && entry->end > entry->start;
}

static int compare_cfi_entries(const void *a, const void *b)
{
	const struct hi_cfi_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->section->is_debug != y->section->is_debug)
		return x->section->is_debug ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

enum hi_status hi_cfi_entries_read(const struct hi_cfi_section *section,
				   struct hi_cfi_entries *ret, struct hi_error *err)
{
	struct common_cache cache = {};
	struct raw_entry raw;
	uint64_t next;

	for (uint64_t at = 0; at < section->size; at = next) {
		struct hi_cfi_entry entry = {.section = section, .at = at};
		const struct common *common;
		struct cursor program;

		if (!read_raw_entry(section, at, &raw, &next))
			break;
		common = raw.is_common ? NULL : find_common(section, &cache, raw.common);
		if (common && read_fde(section, common, raw.body, &entry, &program) &&
		    !hi_vector_push(ret, entry))
			return hi_fail_memory(err, "call frame information");
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_cfi_entries);
	return HI_OK;
}

/* ---- expressions ---- */

/* DW_OP_breg(reg) offset, and what follows. False: something else. */
static bool take_base(struct cursor *c, unsigned *reg_ret, int64_t *offset_ret)
{
	uint64_t op = take_cfi_bytes(c, 1);

	if (c->is_bad || op < DW_OP_breg0 || op > DW_OP_breg31)
		return false;
	*reg_ret = (unsigned)(op - DW_OP_breg0);
	*offset_ret = take_sleb(c);
	return !c->is_bad;
}

/* Recognizes the expression that linkers write for a .plt: rsp + 8, and 8 more after the
 * push, which is the n-th byte of an entry of 16. */
static bool is_plt(struct cursor c, unsigned *n_ret)
{
	static const uint8_t until[] = {DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
	static const uint8_t behind[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	uint64_t n;

	if ((size_t)(c.end - c.at) != sizeof(until) + 1 + sizeof(behind) ||
	    memcmp(c.at, until, sizeof(until)) != 0)
		return false;
	c.at += sizeof(until);
	n = take_cfi_bytes(&c, 1);
	*n_ret = (unsigned)(n - DW_OP_lit0);
	return n >= DW_OP_lit0 && n <= DW_OP_lit15 &&
	       memcmp(c.at, behind, sizeof(behind)) == 0;
}

/* ---- the machine ---- */

struct cfa {
	uint8_t kind; /* enum hi_unwind_kind */
	unsigned reg; /* of RSP and RBP, until it is known which */
	int64_t offset;
	unsigned plt;
};

struct saved {
	uint8_t where; /* enum hi_unwind_rbp */
	int64_t offset;
};

enum returns { RETURNS_NO_WHERE, RETURNS_BELOW_CFA, RETURNS_ELSEWHERE };

/* The rules at an address. */
struct row {
	struct cfa cfa;
	struct saved rbp;
	enum returns returns;
	bool rsp_is_cfa;
};

struct machine {
	const struct hi_cfi_section *section;
	const struct common *common;
	struct row row, initial;
	struct row remembered[REMEMBERED_MAX];
	unsigned n_remembered;
	uint64_t address, end;
	hi_cfi_row_fn *fn;
	void *arg;
	bool is_over, is_wrong; /* at the end of the code; not understood */
};

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->row.cfa = (struct cfa){HI_UNWIND_NONE, (unsigned)reg, offset, 0};
	if (reg == RSP)
		m->row.cfa.kind = HI_UNWIND_RSP;
	else if (reg == RBP)
		m->row.cfa.kind = HI_UNWIND_RBP;
}

static void set_cfa_expression(struct machine *m, struct cursor c)
{
	struct cfa cfa = {};
	unsigned plt;

	m->row.cfa = cfa;
	if (!take_base(&c, &cfa.reg, &cfa.offset) || (cfa.reg != RSP && cfa.reg != RBP))
		return;
	if (cfa.reg == RSP && is_plt(c, &plt)) {
		cfa.kind = HI_UNWIND_PLT;
		cfa.plt = plt;
	} else if (take_cfi_bytes(&c, 1) == DW_OP_deref && c.at == c.end && !c.is_bad) {
		cfa.kind = cfa.reg == RSP ? HI_UNWIND_AT_RSP : HI_UNWIND_AT_RBP;
	}
	m->row.cfa = cfa;
}

static void set_saved_at(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg == RBP)
		m->row.rbp = (struct saved){HI_UNWIND_RBP_AT_CFA, offset};
	else if (reg == RETURN_ADDRESS)
		m->row.returns = offset == -8 ? RETURNS_BELOW_CFA : RETURNS_ELSEWHERE;
	else if (reg == RSP)
		m->row.rsp_is_cfa = false;
}

static void set_saved_elsewhere(struct machine *m, uint64_t reg)
{
	if (reg == RBP)
		m->row.rbp = (struct saved){HI_UNWIND_RBP_LOST, 0};
	else if (reg == RETURN_ADDRESS)
		m->row.returns = RETURNS_ELSEWHERE;
	else if (reg == RSP)
		m->row.rsp_is_cfa = false;
}

static void set_saved_expression(struct machine *m, uint64_t reg, struct cursor c)
{
	int64_t offset;
	unsigned base;

	set_saved_elsewhere(m, reg);
	if (reg == RBP && take_base(&c, &base, &offset) && base == RBP && c.at == c.end)
		m->row.rbp = (struct saved){HI_UNWIND_RBP_AT_RBP, offset};
}

static void set_undefined(struct machine *m, uint64_t reg)
{
	set_saved_elsewhere(m, reg);
	if (reg == RETURN_ADDRESS)
		m->row.returns = RETURNS_NO_WHERE;
}

static void set_same(struct machine *m, uint64_t reg)
{
	set_saved_elsewhere(m, reg);
	if (reg == RBP)
		m->row.rbp = (struct saved){};
}

static void restore_initial(struct machine *m, uint64_t reg)
{
	if (reg == RBP)
		m->row.rbp = m->initial.rbp;
	else if (reg == RETURN_ADDRESS)
		m->row.returns = m->initial.returns;
	else if (reg == RSP)
		m->row.rsp_is_cfa = m->initial.rsp_is_cfa;
}

/* ---- rules ---- */

static bool is_signal_row(const struct machine *m)
{
	/* glibc's __restore_rt: the CFA is the rsp of the struct ucontext at rsp. */
	return m->common->is_signal && m->row.cfa.kind == HI_UNWIND_AT_RSP &&
	       m->row.cfa.offset == 160;
}

static struct hi_unwind_rule rule_of_row(const struct machine *m)
{
	const struct row *row = &m->row;
	struct hi_unwind_rule rule = {};

	if (row->returns == RETURNS_NO_WHERE)
		rule.kind = HI_UNWIND_END;
	else if (is_signal_row(m))
		rule.kind = HI_UNWIND_SIGNAL;
	if (rule.kind || m->common->is_signal || row->returns != RETURNS_BELOW_CFA ||
	    !row->rsp_is_cfa || row->cfa.offset != (int32_t)row->cfa.offset ||
	    row->cfa.kind == HI_UNWIND_NONE)
		return rule;
	rule.kind = row->cfa.kind;
	rule.cfa = (int32_t)row->cfa.offset;
	rule.saved = row->rbp.where;
	rule.rbp = (int16_t)row->rbp.offset;
	if (rule.rbp != row->rbp.offset) {
		rule.saved = HI_UNWIND_RBP_LOST;
		rule.rbp = 0;
	}
	rule.saved |= (uint8_t)(row->cfa.plt << 4);
	return rule;
}

static void emit_row(struct machine *m)
{
	struct hi_unwind_rule rule = rule_of_row(m);

	if (m->fn && !m->fn(m->arg, m->address, &rule))
		m->is_over = true;
}

/* ---- instructions ---- */

/* The row is complete up to this address. */
static void advance_to(struct machine *m, uint64_t address)
{
	if (address < m->address) {
		m->is_wrong = true;
	} else if (address > m->address) {
		emit_row(m);
		m->address = address;
		m->is_over |= address >= m->end;
	}
}

static void advance_by(struct machine *m, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, m->common->code_factor, &bytes) ||
	    bytes > UINT64_MAX - m->address)
		bytes = UINT64_MAX - m->address;
	advance_to(m, m->address + bytes);
}

static int64_t take_factored(struct machine *m, struct cursor *c, bool is_signed)
{
	uint64_t value = take_leb(c, is_signed);

	return (int64_t)(value * (uint64_t)m->common->data_factor);
}

/* Runs operations that change the CFA. False: another one. */
static bool run_cfa(struct machine *m, struct cursor *c, unsigned op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = take_uleb(c);
		set_cfa(m, reg, (int64_t)take_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = take_uleb(c);
		set_cfa(m, reg, take_factored(m, c, true));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(m, take_uleb(c), m->row.cfa.offset);
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa(m, m->row.cfa.reg, (int64_t)take_uleb(c));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa(m, m->row.cfa.reg, take_factored(m, c, true));
		return true;
	case DW_CFA_def_cfa_expression:
		set_cfa_expression(m, take_cfi_block(c));
		return true;
	default:
		return false;
	}
}

/* Runs operations that set the place of a register. False: another one. */
static bool run_register(struct machine *m, struct cursor *c, unsigned op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = take_uleb(c);
		set_saved_at(m, reg, take_factored(m, c, false));
		return true;
	case DW_CFA_offset_extended_sf:
		reg = take_uleb(c);
		set_saved_at(m, reg, take_factored(m, c, true));
		return true;
	case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
		reg = take_uleb(c);
		set_saved_at(m, reg, -take_factored(m, c, false));
		return true;
	case DW_CFA_restore_extended:
		restore_initial(m, take_uleb(c));
		return true;
	case DW_CFA_undefined:
		set_undefined(m, take_uleb(c));
		return true;
	case DW_CFA_same_value:
		set_same(m, take_uleb(c));
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_saved_elsewhere(m, take_uleb(c));
		take_leb(c, false);
		return true;
	case DW_CFA_expression:
		reg = take_uleb(c);
		set_saved_expression(m, reg, take_cfi_block(c));
		return true;
	case DW_CFA_val_expression:
		set_saved_elsewhere(m, take_uleb(c));
		take_cfi_block(c);
		return true;
	default:
		return false;
	}
}

static void run_other(struct machine *m, struct cursor *c, unsigned op)
{
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		advance_to(m, take_encoded(m->section, c, m->common->encoding));
		break;
	case DW_CFA_advance_loc1:
		advance_by(m, take_cfi_bytes(c, 1));
		break;
	case DW_CFA_advance_loc2:
		advance_by(m, take_cfi_bytes(c, 2));
		break;
	case DW_CFA_advance_loc4:
		advance_by(m, take_cfi_bytes(c, 4));
		break;
	case DW_CFA_remember_state:
		if (m->n_remembered == REMEMBERED_MAX)
			m->is_wrong = true;
		else
			m->remembered[m->n_remembered++] = m->row;
		break;
	case DW_CFA_restore_state:
		if (m->n_remembered == 0)
			m->is_wrong = true;
		else
			m->row = m->remembered[--m->n_remembered];
		break;
	case DW_CFA_GNU_args_size:
		take_uleb(c);
		break;
	default:
		m->is_wrong = true;
	}
}

static void run_instruction(struct machine *m, struct cursor *c)
{
	unsigned op = (unsigned)take_cfi_bytes(c, 1), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance_by(m, low);
		break;
	case DW_CFA_offset:
		set_saved_at(m, low, take_factored(m, c, false));
		break;
	case DW_CFA_restore:
		restore_initial(m, low);
		break;
	default:
		if (!run_cfa(m, c, op) && !run_register(m, c, op))
			run_other(m, c, op);
	}
}

/* False: what follows is not known. */
static bool run_cfi_program(struct machine *m, struct cursor c)
{
	while (c.at < c.end && !c.is_bad && !m->is_over && !m->is_wrong)
		run_instruction(m, &c);
	return !c.is_bad && !m->is_wrong;
}

void hi_cfi_entry_rows(const struct hi_cfi_entry *entry, hi_cfi_row_fn *fn, void *arg)
{
	const struct hi_cfi_section *section = entry->section;
	static const struct row at_first = {.returns = RETURNS_ELSEWHERE,
					    .rsp_is_cfa = true};
	struct machine m = {.section = section, .row = at_first, .arg = arg};
	struct hi_cfi_entry range = {};
	struct common common;
	struct cursor program;
	struct raw_entry raw;
	uint64_t next;

	if (entry->at >= section->size ||
	    !read_raw_entry(section, entry->at, &raw, &next) || raw.is_common ||
	    !read_common(section, raw.common, &common) ||
	    !read_fde(section, &common, raw.body, &range, &program))
		return;
	m.common = &common;
	m.end = UINT64_MAX;
	if (!run_cfi_program(&m, common.program))
		return;
	m.initial = m.row;
	m.fn = fn;
	m.address = range.start;
	m.end = range.end;
	if (!run_cfi_program(&m, program))
		m.row = at_first;
	if (!m.is_over)
		emit_row(&m);
}
