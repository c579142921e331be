/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the nodes of a file Deep.data. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "census/deep/deep_profile.h"
#include "census/deep/mercury_internal.h"

static const struct {
	const char *name, *plural;
	uint8_t least; /* bytes that a node takes */
} tokens[HI_MERCURY_TOKENS] = {
	[HI_MERCURY_CSS] = {"call site", "call sites", 5},
	[HI_MERCURY_CSD] = {"call", "calls", 4},
	[HI_MERCURY_PS] = {"procedure", "procedures", 12},
	[HI_MERCURY_PD] = {"node", "nodes", 4},
};

struct reading {
	struct hi_mercury_file *file;
	struct hi_deep_profile *profile;
	size_t at;
	struct hi_mercury_text text;
	enum hi_status status; /* of the first failure */
	struct hi_error *err;
};

/* ---- failures: all return false ---- */

#define fail_reading(r, stat, ...)                                                       \
	((r)->status = hi_fail((r)->err, (stat), (r)->at, __VA_ARGS__), false)

static bool fail_memory(struct reading *r)
{
	r->status = hi_fail_memory(r->err, "deep profile");
	return false;
}

static bool fail_truncated(struct reading *r)
{
	return fail_reading(r, HI_BAD_DATA,
			    "the file is truncated: it ends at byte %zu inside an item",
			    r->file->size);
}

/* ---- items ---- */

static bool read_byte(struct reading *r, uint8_t *ret)
{
	if (r->at == r->file->size)
		return fail_truncated(r);
	*ret = r->file->data[r->at++];
	return true;
}

static bool read_fixed(struct reading *r, uint64_t *ret)
{
	*ret = 0;
	if (r->file->size - r->at < 8)
		return fail_truncated(r);
	for (int i = 0; i < 8; i++)
		*ret |= (uint64_t)r->file->data[r->at++] << 8 * i;
	return true;
}

static bool read_coded(struct reading *r, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	do {
		if (!read_byte(r, &byte))
			return false;
		if (value >> 57)
			return fail_reading(r, HI_BAD_DATA,
					    "damaged: a number before byte %zu is above "
					    "2^64",
					    r->at);
		value = value << 7 | (byte & 0x7f);
	} while (byte & 0x80);
	*ret = value;
	return true;
}

static bool read_coded_up_to(struct reading *r, uint32_t most, uint32_t *ret,
			     const char *what)
{
	uint64_t value;

	if (!read_coded(r, &value))
		return false;
	if (value > most)
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: before byte %zu is %s %" PRIu64
				    ", the highest is %" PRIu32,
				    r->at, what, value, most);
	*ret = (uint32_t)value;
	return true;
}

/* An id; 0 is one only where it may be missing. */
static bool read_id(struct reading *r, enum hi_mercury_token token, bool may_be_none,
		    uint32_t *ret)
{
	if (!read_coded_up_to(r, r->file->counts[token], ret, tokens[token].name))
		return false;
	if (!*ret && !may_be_none)
		return fail_reading(r, HI_BAD_DATA, "damaged: before byte %zu is %s 0",
				    r->at, tokens[token].name);
	return true;
}

static bool read_string_piece(struct reading *r, struct hi_mercury_piece *ret)
{
	uint64_t n;

	if (!read_coded(r, &n))
		return false;
	if (n > r->file->size - r->at)
		return fail_truncated(r);
	*ret = (struct hi_mercury_piece){(const char *)r->file->data + r->at, (size_t)n};
	if (memchr(ret->at, '\0', ret->n))
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: the string at byte %zu has a zero byte",
				    r->at);
	r->at += (size_t)n;
	return true;
}

static bool intern_mercury_text(struct reading *r, uint32_t *ret)
{
	return (hi_vector_push(&r->text, '\0') &&
		hi_deep_profile_intern(r->profile, r->text.items, ret)) ||
	       fail_memory(r);
}

static bool intern_piece(struct reading *r, struct hi_mercury_piece piece, uint32_t *ret)
{
	r->text.count = 0;
	return hi_vector_append(&r->text, piece.at, piece.n) ? intern_mercury_text(r, ret)
							     : fail_memory(r);
}

static bool read_string_text(struct reading *r, uint32_t *ret)
{
	struct hi_mercury_piece piece;

	return read_string_piece(r, &piece) && intern_piece(r, piece, ret);
}

static bool skip_string(struct reading *r)
{
	struct hi_mercury_piece piece;

	return read_string_piece(r, &piece);
}

static bool skip_number(struct reading *r)
{
	uint64_t unused;

	return read_coded(r, &unused);
}

static bool read_line_number(struct reading *r, uint32_t *ret)
{
	return read_coded_up_to(r, UINT32_MAX, ret, "line");
}

static bool read_kind(struct reading *r, uint8_t *ret)
{
	if (!read_byte(r, ret))
		return false;
	return *ret <= HI_DEEP_CALLBACK ||
	       fail_reading(r, HI_BAD_DATA,
			    "damaged: before byte %zu is a call site of kind %u", r->at,
			    *ret);
}

/* ---- header ---- */

static bool is_version_line(const uint8_t *digits, size_t n)
{
	if (!n || digits[0] == '0')
		return false;
	for (size_t i = 0; i < n; i++)
		if (digits[i] < '0' || digits[i] > '9')
			return false;
	return true;
}

static bool read_version(struct reading *r)
{
	struct hi_mercury_file *f = r->file;
	size_t prefix = strlen(HI_MERCURY_PREFIX), n = 0;
	const uint8_t *digits = f->data + prefix;

	if (f->size > prefix && memcmp(f->data, HI_MERCURY_PREFIX, prefix) == 0)
		while (n < 10 && prefix + n < f->size && digits[n] != '\n')
			n++;
	if (!n || prefix + n == f->size || digits[n] != '\n' ||
	    !is_version_line(digits, n))
		return fail_reading(r, HI_BAD_DATA,
				    "no data file of Mercury's deep profiler");
	f->version = n == 1 ? digits[0] - '0' : 0;
	if (f->version != HI_MERCURY_OLD && f->version != HI_MERCURY_NEW)
		return fail_reading(r, HI_UNSUPPORTED,
				    "data of Mercury's deep profiler of version %.*s; "
				    "versions 8 and 9 are supported",
				    (int)n, (const char *)digits);
	r->at = prefix + n + 1;
	return true;
}

static bool read_flags(struct reading *r)
{
	static const uint64_t known = HI_MERCURY_WORD | HI_MERCURY_CANONICAL |
				      HI_MERCURY_STATIC_COVERAGE |
				      HI_MERCURY_DYNAMIC_COVERAGE;
	struct hi_mercury_file *f = r->file;
	uint64_t flags;

	if (!read_fixed(r, &flags))
		return false;
	if (flags & HI_MERCURY_COMPRESSION)
		return fail_reading(r, HI_UNSUPPORTED,
				    "compressed data of Mercury's deep profiler of "
				    "version %u",
				    f->version);
	f->has_static_coverage = flags & HI_MERCURY_STATIC_COVERAGE;
	f->has_dynamic_coverage = flags & HI_MERCURY_DYNAMIC_COVERAGE;
	if (flags & ~known || (f->has_static_coverage && f->has_dynamic_coverage))
		return fail_reading(r, HI_UNSUPPORTED,
				    "data of Mercury's deep profiler of version %u with "
				    "unknown flags 0x%" PRIx64,
				    f->version, flags);
	f->word = (uint32_t)(flags & HI_MERCURY_WORD);
	return f->word == 4 || f->word == 8 ||
	       fail_reading(r, HI_BAD_DATA, "damaged: words have %u bytes", f->word);
}

/* Counts that the rest of the file cannot have are refused before there is memory for
 * them. */
static bool check_counts(struct reading *r, const uint64_t counts[HI_MERCURY_TOKENS])
{
	struct hi_mercury_file *f = r->file;
	uint64_t room = f->size - r->at;

	for (int i = HI_MERCURY_CSS; i < HI_MERCURY_TOKENS; i++) {
		if (counts[i] > room / tokens[i].least)
			return fail_reading(
				r, HI_BAD_DATA,
				"the file is truncated: its %zu bytes have no "
				"room for %" PRIu64 " %s",
				f->size, counts[i], tokens[i].plural);
		room -= counts[i] * tokens[i].least;
		if (counts[i] >= 1u << 31)
			return fail_reading(r, HI_LIMIT,
					    "a deep profile has 2^31 %s at most",
					    tokens[i].plural);
		f->counts[i] = (uint32_t)counts[i];
	}
	return true;
}

static bool allocate_file(struct reading *r)
{
	struct hi_mercury_file *f = r->file;

	f->css = hi_calloc(f->counts[HI_MERCURY_CSS] + 1u, sizeof(*f->css));
	f->csd = hi_calloc(f->counts[HI_MERCURY_CSD] + 1u, sizeof(*f->csd));
	f->ps = hi_calloc(f->counts[HI_MERCURY_PS] + 1u, sizeof(*f->ps));
	f->pd = hi_calloc(f->counts[HI_MERCURY_PD] + 1u, sizeof(*f->pd));
	return (f->css && f->csd && f->ps && f->pd) || fail_memory(r);
}

static bool read_mercury_header(struct reading *r)
{
	static const enum hi_mercury_token order[] = {HI_MERCURY_CSD, HI_MERCURY_CSS,
						      HI_MERCURY_PD, HI_MERCURY_PS};
	struct hi_mercury_file *f = r->file;
	uint64_t counts[HI_MERCURY_TOKENS] = {};

	if (!read_version(r) || !read_string_text(r, &r->profile->program) ||
	    !read_flags(r))
		return false;
	for (int i = 0; i < 4; i++)
		if (!read_fixed(r, &counts[order[i]]))
			return false;
	return check_counts(r, counts) && read_coded(r, &f->ticks_per_second) &&
	       read_coded(r, &f->tool_ticks) && read_coded(r, &f->user_ticks) &&
	       read_coded(r, &f->sequence) &&
	       read_id(r, HI_MERCURY_PD, false, &f->root) && allocate_file(r);
}

/* ---- nodes ---- */

/* A node has its id once. */
static bool take_id(struct reading *r, enum hi_mercury_token token, uint32_t id,
		    bool *is_there)
{
	if (*is_there)
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: before byte %zu is %s %" PRIu32
				    " for the second time",
				    r->at, tokens[token].name, id);
	*is_there = true;
	r->file->there[token]++;
	return true;
}

/* More are named than there are. */
static bool fail_twice(struct reading *r, enum hi_mercury_token token)
{
	return fail_reading(r, HI_BAD_DATA, "damaged: a %s up to byte %zu has two places",
			    tokens[token].name, r->at);
}

static bool read_call_site_place(struct reading *r, struct hi_mercury_css *css)
{
	struct hi_mercury_piece goal_path;

	if (r->file->version >= HI_MERCURY_NEW && !read_string_text(r, &css->file))
		return false;
	if (!read_line_number(r, &css->line) || !read_string_piece(r, &goal_path))
		return false;
	r->text.count = 0;
	return hi_mercury_place(goal_path, &r->text) ? intern_mercury_text(r, &css->place)
						     : fail_memory(r);
}

static bool read_call_site(struct reading *r)
{
	struct hi_mercury_css *css;
	uint32_t id;

	if (!read_id(r, HI_MERCURY_CSS, false, &id))
		return false;
	css = &r->file->css[id];
	if (!take_id(r, HI_MERCURY_CSS, id, &css->is_there) || !read_kind(r, &css->kind))
		return false;
	if (css->kind == HI_DEEP_DIRECT &&
	    (!read_id(r, HI_MERCURY_PS, false, &css->callee) || !skip_string(r)))
		return false;
	return read_call_site_place(r, css);
}

/* Calls follow from the others, and are written beside them by some builds of Mercury. */
static bool count_calls(struct reading *r, struct hi_deep_costs *own, bool has_calls)
{
	uint64_t sum;

	if (__builtin_add_overflow(own->of[HI_DEEP_EXITS], own->of[HI_DEEP_FAILS],
				   &sum) ||
	    __builtin_add_overflow(sum, own->of[HI_DEEP_EXCEPTIONS], &sum) ||
	    __builtin_sub_overflow(sum, own->of[HI_DEEP_REDOS], &sum))
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: a call before byte %zu has %" PRIu64
				    " redos of %" PRIu64 " exits",
				    r->at, own->of[HI_DEEP_REDOS],
				    own->of[HI_DEEP_EXITS]);
	if (!has_calls)
		own->of[HI_DEEP_CALLS] = sum;
	return true;
}

static bool sum_own_costs(struct reading *r, const struct hi_deep_costs *own)
{
	uint64_t *total = r->file->total.of;

	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (__builtin_add_overflow(total[i], own->of[i], &total[i]))
			return fail_reading(r, HI_BAD_DATA,
					    "damaged: costs up to byte %zu are 2^64 or "
					    "more",
					    r->at);
	return true;
}

static bool read_own_costs(struct reading *r, struct hi_deep_costs *own)
{
	uint64_t mask;

	if (!read_coded(r, &mask))
		return false;
	for (int i = 0; i < HI_MERCURY_COSTS; i++) {
		const struct hi_mercury_cost *c = &hi_mercury_costs[i];

		if (mask & c->bit && !read_coded(r, &own->of[c->cost]))
			return false;
	}
	if (mask & ~0x1ffull)
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: a call before byte %zu has unknown costs "
				    "0x%" PRIx64,
				    r->at, mask);
	if (__builtin_mul_overflow(own->of[HI_DEEP_BYTES], r->file->word,
				   &own->of[HI_DEEP_BYTES]))
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: costs up to byte %zu are 2^64 or more",
				    r->at);
	return count_calls(r, own, mask & hi_mercury_costs[0].bit) &&
	       sum_own_costs(r, own);
}

static bool read_call(struct reading *r)
{
	struct hi_mercury_csd *csd;
	uint32_t id;

	if (!read_id(r, HI_MERCURY_CSD, false, &id))
		return false;
	csd = &r->file->csd[id];
	return take_id(r, HI_MERCURY_CSD, id, &csd->is_there) &&
	       read_id(r, HI_MERCURY_PD, true, &csd->callee) &&
	       read_own_costs(r, &csd->own);
}

/* Mercury shows the declaring module. */
static bool read_label(struct reading *r, struct hi_deep_procedure *p)
{
	struct hi_mercury_label label = {};
	uint8_t kind;

	if (!read_byte(r, &kind))
		return false;
	if (kind >= HI_MERCURY_LABELS)
		return fail_reading(r, HI_BAD_DATA,
				    "damaged: before byte %zu is a name of kind %u",
				    r->at, kind);
	label.kind = kind;
	if (kind == HI_MERCURY_SPECIAL) {
		if (!read_string_piece(r, &label.type) ||
		    !read_string_piece(r, &label.type_module) ||
		    !read_string_text(r, &p->module))
			return false;
	} else if (!read_string_text(r, &p->module) || !skip_string(r)) {
		return false;
	}
	if (!read_string_piece(r, &label.name) ||
	    !read_coded_up_to(r, UINT32_MAX, &label.arity, "arity") ||
	    !read_coded_up_to(r, UINT32_MAX, &label.mode, "mode"))
		return false;
	r->text.count = 0;
	return hi_mercury_name(&label, &r->text) ? intern_mercury_text(r, &p->name)
						 : fail_memory(r);
}

static bool skip_coverage_points(struct reading *r)
{
	const struct hi_mercury_file *f = r->file;
	uint64_t n;

	if (!f->has_static_coverage && !f->has_dynamic_coverage)
		return true;
	if (!read_coded(r, &n))
		return false;
	for (; n; n--)
		if (!skip_string(r) || !skip_number(r) ||
		    (f->has_static_coverage && !skip_number(r)))
			return false;
	return true;
}

static bool read_procedure_sites(struct reading *r, struct hi_mercury_ps *ps)
{
	uint32_t site;

	ps->first_site = r->file->sites.count;
	if (!read_coded_up_to(r, r->file->counts[HI_MERCURY_CSS], &ps->n_sites,
			      "a number of call sites"))
		return false;
	for (uint32_t i = 0; i < ps->n_sites; i++) {
		if (!read_id(r, HI_MERCURY_CSS, false, &site))
			return false;
		if (r->file->sites.count == r->file->counts[HI_MERCURY_CSS])
			return fail_twice(r, HI_MERCURY_CSS);
		if (!hi_vector_push(&r->file->sites, site))
			return fail_memory(r);
	}
	return true;
}

static bool read_procedure(struct reading *r)
{
	struct hi_mercury_ps *ps;
	uint8_t is_exported;
	uint32_t id;

	if (!read_id(r, HI_MERCURY_PS, false, &id))
		return false;
	ps = &r->file->ps[id];
	if (!take_id(r, HI_MERCURY_PS, id, &ps->is_there) ||
	    !read_label(r, &ps->procedure) || !read_string_text(r, &ps->procedure.file) ||
	    !read_line_number(r, &ps->procedure.line) || !read_byte(r, &is_exported))
		return false;
	ps->procedure.is_exported = is_exported;
	return read_procedure_sites(r, ps) && skip_coverage_points(r);
}

static bool read_slot_calls(struct reading *r, uint32_t slot, uint8_t kind)
{
	struct hi_mercury_call call = {.slot = slot};

	do {
		if (!read_id(r, HI_MERCURY_CSD, true, &call.csd))
			return false;
		if (call.csd && r->file->calls.count == r->file->counts[HI_MERCURY_CSD])
			return fail_twice(r, HI_MERCURY_CSD);
		if (call.csd && !hi_vector_push(&r->file->calls, call))
			return fail_memory(r);
	} while (call.csd && kind != HI_DEEP_DIRECT);
	return true;
}

static bool read_slots(struct reading *r, struct hi_mercury_pd *pd)
{
	struct hi_mercury_file *f = r->file;
	uint8_t kind;

	pd->first_kind = f->kinds.count;
	pd->first_call = f->calls.count;
	for (uint32_t i = 0; i < pd->n_slots; i++) {
		if (!read_kind(r, &kind))
			return false;
		if (!hi_vector_push(&f->kinds, kind))
			return fail_memory(r);
		if (!read_slot_calls(r, i, kind))
			return false;
	}
	pd->n_calls = (uint32_t)(f->calls.count - pd->first_call);
	return true;
}

static bool skip_coverage_counts(struct reading *r)
{
	uint64_t n;

	if (!r->file->has_dynamic_coverage)
		return true;
	if (!read_coded(r, &n))
		return false;
	for (; n; n--)
		if (!skip_number(r))
			return false;
	return true;
}

static bool read_node(struct reading *r)
{
	struct hi_mercury_pd *pd;
	uint32_t id;

	if (!read_id(r, HI_MERCURY_PD, false, &id))
		return false;
	pd = &r->file->pd[id];
	return take_id(r, HI_MERCURY_PD, id, &pd->is_there) &&
	       read_id(r, HI_MERCURY_PS, false, &pd->ps) &&
	       read_coded_up_to(r, r->file->counts[HI_MERCURY_CSS], &pd->n_slots,
				"a number of slots") &&
	       skip_coverage_counts(r) && read_slots(r, pd);
}

/* ---- all of it ---- */

static bool read_mercury_nodes(struct reading *r)
{
	static bool (*const readers[])(struct reading *) = {
		[HI_MERCURY_CSS] = read_call_site,
		[HI_MERCURY_CSD] = read_call,
		[HI_MERCURY_PS] = read_procedure,
		[HI_MERCURY_PD] = read_node};
	uint8_t token = HI_MERCURY_TOKENS;

	while (r->at < r->file->size) {
		token = r->file->data[r->at++];
		if (token >= HI_MERCURY_TOKENS)
			return fail_reading(r, HI_BAD_DATA,
					    "damaged: before byte %zu is a node of kind "
					    "%u",
					    r->at, token);
		if (token == HI_MERCURY_END)
			break;
		if (!readers[token](r))
			return false;
	}
	r->profile->lacks_end = token != HI_MERCURY_END;
	return r->at == r->file->size ||
	       fail_reading(r, HI_BAD_DATA,
			    "damaged: %zu bytes follow the end of the data",
			    r->file->size - r->at);
}

static bool check_all_there(struct reading *r)
{
	const struct hi_mercury_file *f = r->file;

	for (int i = HI_MERCURY_CSS; i < HI_MERCURY_TOKENS; i++)
		if (f->there[i] != f->counts[i])
			return fail_reading(r, HI_BAD_DATA,
					    "the file is truncated: it has %" PRIu32
					    " of %" PRIu32 " %s",
					    f->there[i], f->counts[i], tokens[i].plural);
	return true;
}

void hi_mercury_file_free(struct hi_mercury_file *file)
{
	free(file->css);
	free(file->csd);
	free(file->ps);
	free(file->pd);
	hi_vector_free(&file->sites);
	hi_vector_free(&file->kinds);
	hi_vector_free(&file->calls);
}

static enum hi_status read_mercury_file(const uint8_t *data, size_t size,
					struct hi_deep_profile *profile,
					struct hi_error *err)
{
	struct hi_mercury_file file = {.data = data, .size = size};
	struct reading r = {.file = &file, .profile = profile, .err = err};

	if (read_mercury_header(&r) && read_mercury_nodes(&r) && check_all_there(&r))
		r.status = hi_mercury_link(&file, profile, err);
	hi_vector_free(&r.text);
	hi_mercury_file_free(&file);
	return r.status;
}

enum hi_status hi_deep_mercury_read(const uint8_t *data, size_t size,
				    struct hi_deep_profile *ret, struct hi_error *err)
{
	struct hi_deep_profile profile;
	enum hi_status status = hi_deep_profile_init(&profile, err);

	if (status != HI_OK)
		return status;
	status = read_mercury_file(data, size, &profile, err);
	if (status == HI_OK)
		*ret = profile;
	else
		hi_deep_profile_free(&profile);
	return status;
}
