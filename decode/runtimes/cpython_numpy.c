/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of NumPy: the type of their elements, the owner of their data, and the
 * references in it. Source: numpy/ndarraytypes.h, multiarray/refcount.c and buffer.c of
 * NumPy 1.16 to 2.2; offsets of 1.24.2 compared with a running one. Of 1.x and 2.x the
 * array is the same, its dtype is not.
 *
 * A dtype is checked: its number, kind, character and size are those of the table. An
 * array that fails the check of dtype or shape is not decoded: its words are conservative
 * references.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/runtimes/cpython.h"

enum {
	ARRAY_DATA = 16, /* PyArrayObject_fields */
	ARRAY_ND = 24,
	ARRAY_FLAGS = 64,
	ARRAY_BUFFER_INFO = 80, /* from 1.20 on */
	ARRAY_SIZE_WITH_INFO = 88,
	ARRAY_BASE = 48,
	C_CONTIGUOUS = 1,
	F_CONTIGUOUS = 2,
	OWNDATA = 4,
	MAX_DIMENSIONS = 64, /* of 2.x; 1.x has 32 */
	MAX_BASES = 64,
	INFO_TAG = 3, /* of the word that leads to a buffer info */
	INFO_NEXT = 32,
	MAX_INFOS = 64,
	VOID_DATA = 24, /* PyVoidScalarObject */
	VOID_DTYPE = 32,
	VOID_FLAGS = 40,
	DTYPE_KIND = 24, /* PyArray_Descr: kind, character, byte order, flags, number */
	DTYPE_NUMBER = 28,
	DTYPE_ELSIZE_1 = 32, /* int */
	DTYPE_SUBARRAY_1 = 40,
	DTYPE_FIELDS_1 = 48,
	DTYPE_FLAGS_2 = 32, /* 64 bits each */
	DTYPE_ELSIZE_2 = 40,
	DTYPE_SUBARRAY_2 = 88,
	DTYPE_FIELDS_2 = 96,
	DTYPE_LEGACY_SIZE_2 = 120,
	HAS_REFERENCES = 1, /* NPY_ITEM_REFCOUNT */
	NUMBER_OBJECT = 17,
	MAX_FIELDS = 4096, /* of one structure */
	MAX_PENDING = 256,
	MAX_REFERENCES = 512, /* in one element */
	BATCH = 512,
};

/* By number. Size 0: each dtype has its own. */
static const struct {
	const char *name;
	char kind, character;
	uint8_t size;
} numbers[] = {
	{"bool", 'b', '?', 1},	      {"int8", 'i', 'b', 1},
	{"uint8", 'u', 'B', 1},	      {"int16", 'i', 'h', 2},
	{"uint16", 'u', 'H', 2},      {"int32", 'i', 'i', 4},
	{"uint32", 'u', 'I', 4},      {"int64", 'i', 'l', 8},
	{"uint64", 'u', 'L', 8},      {"int64", 'i', 'q', 8},
	{"uint64", 'u', 'Q', 8},      {"float32", 'f', 'f', 4},
	{"float64", 'f', 'd', 8},     {"float128", 'f', 'g', 16},
	{"complex64", 'c', 'F', 8},   {"complex128", 'c', 'D', 16},
	{"complex256", 'c', 'G', 32}, {"object", 'O', 'O', 8},
	{"bytes", 'S', 'S', 0},	      {"str", 'U', 'U', 0},
	{"void", 'V', 'V', 0},	      {"datetime64", 'M', 'M', 8},
	{"timedelta64", 'm', 'm', 8}, {"float16", 'f', 'e', 2},
};
enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

struct dtype {
	uint32_t number; /* N_NUMBERS: of the program or an extension */
	bool has_references;
	uint64_t size;
	uint64_t subarray, fields; /* 0: none */
};

struct ndarray {
	uint64_t data, base;
	uint32_t flags, nd;
	uint64_t n; /* elements */
	uint64_t dimensions[MAX_DIMENSIONS];
	int64_t strides[MAX_DIMENSIONS];
	struct dtype dtype;
};

/* ---- dtypes ---- */

static bool is_number_held(const struct dtype *d, uint8_t kind, uint8_t character)
{
	if (d->number >= N_NUMBERS)
		return true;
	return kind == (uint8_t)numbers[d->number].kind &&
	       character == (uint8_t)numbers[d->number].character &&
	       (!numbers[d->number].size || numbers[d->number].size == d->size);
}

static void read_dtype_1(const uint8_t *head, struct dtype *ret)
{
	int32_t size;

	memcpy(&size, head + DTYPE_ELSIZE_1, 4);
	ret->size = size < 0 ? UINT64_MAX : (uint64_t)size;
	ret->has_references = head[DTYPE_NUMBER - 1] & HAS_REFERENCES;
	memcpy(&ret->subarray, head + DTYPE_SUBARRAY_1, 8);
	memcpy(&ret->fields, head + DTYPE_FIELDS_1, 8);
}

/* What is not of the program's own kind has subarray and fields behind its end. */
static void read_dtype_2(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			 const uint8_t *head, struct dtype *ret)
{
	memcpy(&ret->size, head + DTYPE_ELSIZE_2, 8);
	ret->has_references = head[DTYPE_FLAGS_2] & HAS_REFERENCES;
	if (ret->number >= N_NUMBERS || o->type->basicsize < DTYPE_LEGACY_SIZE_2)
		return;
	ret->subarray = hi_py_word(&c->reader, o->addr + DTYPE_SUBARRAY_2);
	ret->fields = hi_py_word(&c->reader, o->addr + DTYPE_FIELDS_2);
}

static bool read_dtype(struct hi_runtime_cursor *c, uint64_t addr, struct dtype *ret)
{
	uint8_t head[56];
	struct hi_py_object o;
	int32_t number;

	*ret = (struct dtype){};
	if (!hi_py_object_at(c, addr, &o) ||
	    (o.type->family != HI_PY_DTYPE_1 && o.type->family != HI_PY_DTYPE_2) ||
	    !hi_py_read(&c->reader, addr, head, sizeof(head)))
		return false;
	memcpy(&number, head + DTYPE_NUMBER, 4);
	ret->number = number >= 0 && number < N_NUMBERS ? (uint32_t)number : N_NUMBERS;
	if (o.type->family == HI_PY_DTYPE_1)
		read_dtype_1(head, ret);
	else
		read_dtype_2(c, &o, head, ret);
	return ret->size <= INT32_MAX &&
	       is_number_held(ret, head[DTYPE_KIND], head[DTYPE_KIND + 1]);
}

/* ---- references in one element ---- */

struct references {
	struct hi_runtime_cursor *c;
	struct pending {
		uint64_t dtype, offset;
	} pending[MAX_PENDING];
	uint32_t at[MAX_REFERENCES];
	uint32_t n_pending, n;
	uint64_t offset; /* of the structure whose fields are read */
	bool incomplete;
};

static void push_dtype(struct references *r, uint64_t dtype, uint64_t offset)
{
	if (r->n_pending == MAX_PENDING)
		r->incomplete = true;
	else
		r->pending[r->n_pending++] = (struct pending){dtype, offset};
}

/* A field with a title is twice in the dict. */
static void add_reference(struct references *r, uint64_t offset)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->at[i] == offset)
			return;
	if (r->n == MAX_REFERENCES)
		r->incomplete = true;
	else
		r->at[r->n++] = (uint32_t)offset;
}

static bool read_int(struct hi_runtime_cursor *c, uint64_t addr, uint64_t *ret)
{
	struct hi_py_object o;
	int64_t value;

	if (!hi_py_object_at(c, addr, &o) || o.type->family != HI_PY_INT ||
	    !hi_py_int(c, &o, &value) || value < 0 || value > INT32_MAX)
		return false;
	*ret = (uint64_t)value;
	return true;
}

/* name: (dtype, offset) */
static bool push_field(void *arg, uint64_t key, uint64_t value)
{
	struct references *r = arg;
	struct hi_py_object o;
	uint64_t item[2], offset;

	(void)key;
	if (hi_py_object_at(r->c, value, &o) && o.type->family == HI_PY_TUPLE &&
	    o.size >= 2 &&
	    hi_py_read(&r->c->reader, value + r->c->py->layout->tuple_items, item,
		       sizeof(item)) &&
	    read_int(r->c, item[1], &offset))
		push_dtype(r, item[0], r->offset + offset);
	else
		r->incomplete = true;
	return !r->incomplete;
}

/* Elements of an array inside an element: its shape is a tuple of numbers. */
static void push_subarray(struct references *r, uint64_t subarray, uint64_t offset)
{
	struct hi_py_object o;
	uint64_t words[2], n = 1, size;
	struct dtype base;

	if (!hi_py_read(&r->c->reader, subarray, words, sizeof(words)) ||
	    !read_dtype(r->c, words[0], &base) || !hi_py_object_at(r->c, words[1], &o) ||
	    o.type->family != HI_PY_TUPLE || o.size < 0 || o.size > MAX_DIMENSIONS) {
		r->incomplete = true;
		return;
	}
	for (int64_t i = 0; i < o.size && n <= MAX_REFERENCES; i++) {
		uint64_t at = o.addr + r->c->py->layout->tuple_items + (uint64_t)i * 8;

		if (!read_int(r->c, hi_py_word(&r->c->reader, at), &size))
			size = MAX_REFERENCES + 1;
		n *= size;
	}
	for (uint64_t i = 0; i < n && !r->incomplete; i++)
		push_dtype(r, words[0], offset + i * base.size);
}

static void find_references(struct references *r, uint64_t dtype)
{
	push_dtype(r, dtype, 0);
	for (int steps = 0; r->n_pending && !r->incomplete; steps++) {
		struct pending p = r->pending[--r->n_pending];
		struct dtype d;

		if (!read_dtype(r->c, p.dtype, &d) || p.offset > INT32_MAX ||
		    steps > MAX_FIELDS)
			r->incomplete = true;
		else if (d.number == NUMBER_OBJECT)
			add_reference(r, p.offset);
		else if (!d.has_references)
			continue;
		else if (d.subarray)
			push_subarray(r, d.subarray, p.offset);
		else if (d.fields) {
			r->offset = p.offset;
			hi_py_dict_items(r->c, d.fields, MAX_FIELDS, push_field, r);
		}
	}
}

/* ---- arrays ---- */

static bool read_shape(struct hi_runtime_cursor *c, const uint64_t *head,
		       struct ndarray *a)
{
	uint64_t dimensions = head[(ARRAY_ND + 8) / 8], strides = head[ARRAY_ND / 8 + 2];

	a->n = 1;
	if (a->nd > MAX_DIMENSIONS ||
	    (a->nd && (!hi_py_read(&c->reader, dimensions, a->dimensions, a->nd * 8u) ||
		       !hi_py_read(&c->reader, strides, a->strides, a->nd * 8u))))
		return false;
	for (uint32_t i = 0; i < a->nd; i++)
		if (a->dimensions[i] > INT64_MAX ||
		    __builtin_mul_overflow(a->n, a->dimensions[i], &a->n))
			return false;
	return a->n <= INT64_MAX / (a->dtype.size + 1);
}

static bool read_ndarray(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			 struct ndarray *a)
{
	uint64_t head[9];

	if (!hi_py_read(&c->reader, o->addr, head, sizeof(head)))
		return false;
	a->data = head[ARRAY_DATA / 8];
	a->base = head[ARRAY_BASE / 8];
	a->nd = (uint32_t)head[ARRAY_ND / 8];
	a->flags = (uint32_t)head[ARRAY_FLAGS / 8];
	return read_dtype(c, head[ARRAY_BASE / 8 + 1], &a->dtype) &&
	       read_shape(c, head, a);
}

/* Views of views refer to the owner, but for subclasses of Python. */
static bool is_owned_by_array(struct hi_runtime_cursor *c, const struct ndarray *a)
{
	struct hi_py_object o;
	uint64_t at = a->base;
	uint32_t flags = 0;

	for (int i = 0; i < MAX_BASES && !(flags & OWNDATA); i++) {
		if (!at || !hi_py_object_at(c, at, &o) || o.type->family != HI_PY_NDARRAY)
			return false;
		flags = hi_py_u32(&c->reader, at + ARRAY_FLAGS);
		at = hi_py_word(&c->reader, at + ARRAY_BASE);
	}
	return flags & OWNDATA;
}

static void visit_element(struct hi_py_visit *v, const struct references *r, uint64_t at,
			  uint64_t index)
{
	for (uint32_t i = 0; i < r->n; i++)
		hi_py_emit(v, hi_py_word(&v->c->reader, at + r->at[i]), HI_GRADE_EXACT,
			   HI_LABEL_INDEX, NULL, index);
}

static void visit_objects(struct hi_py_visit *v, uint64_t data, uint64_t n)
{
	uint64_t words[BATCH];

	for (uint64_t from = 0, now; from < n && !v->stopped; from += now) {
		now = n - from < BATCH ? n - from : BATCH;
		if (!hi_py_read(&v->c->reader, data + from * 8, words, now * 8))
			return;
		for (uint64_t i = 0; i < now; i++)
			hi_py_emit(v, words[i], HI_GRADE_EXACT, HI_LABEL_INDEX, NULL,
				   from + i);
	}
}

static void visit_contiguous(struct hi_py_visit *v, const struct references *r,
			     uint64_t data, uint64_t n, uint64_t size)
{
	if (r->n == 1 && r->at[0] == 0 && size == 8) {
		visit_objects(v, data, n);
		return;
	}
	for (uint64_t i = 0; i < n && !v->stopped; i++)
		visit_element(v, r, data + i * size, i);
}

/* Bytes from its first element to the end of its last one; false: elements share bytes,
 * or lie in front of the data. */
static bool extent_of_ndarray(const struct ndarray *a, uint64_t *ret)
{
	uint64_t extent = a->dtype.size, step;

	for (uint32_t i = 0; i < a->nd && a->n; i++)
		if (a->strides[i] < 0 ||
		    __builtin_mul_overflow((uint64_t)a->strides[i], a->dimensions[i] - 1,
					   &step) ||
		    __builtin_add_overflow(extent, step, &extent))
			return false;
	*ret = extent;
	return a->n <= extent / a->dtype.size;
}

static void visit_strided(struct hi_py_visit *v, const struct references *r,
			  const struct ndarray *a)
{
	uint64_t index[MAX_DIMENSIONS] = {}, at = a->data;

	for (uint64_t i = 0; i < a->n && !v->stopped; i++) {
		visit_element(v, r, at, i);
		for (uint32_t d = a->nd; d-- > 0;) {
			at += (uint64_t)a->strides[d];
			if (++index[d] < a->dimensions[d])
				break;
			at -= (uint64_t)a->strides[d] * a->dimensions[d];
			index[d] = 0;
		}
	}
}

/* Where a dtype does not describe its references. */
static void add_conservative_references(struct hi_py_visit *v, uint64_t data,
					uint64_t size)
{
	uint64_t word;

	for (uint64_t at = data; at - data + 8 <= size && !v->stopped; at += 8)
		if (!hi_py_u64(&v->c->reader, at, &word) ||
		    !hi_py_emit(v, word, HI_GRADE_CONSERVATIVE, HI_LABEL_OFFSET, NULL,
				at - data))
			return;
}

/* Where its elements are not in one row, all of them are there or none is read. */
static void visit_data(struct hi_py_visit *v, uint64_t dtype, const struct ndarray *a)
{
	bool in_row = a->flags & (C_CONTIGUOUS | F_CONTIGUOUS);
	uint64_t n, extent = 0;
	struct references r;

	if (!v->fn || !a->dtype.has_references || !a->dtype.size ||
	    (!in_row && !extent_of_ndarray(a, &extent)))
		return;
	n = in_row ? hi_py_bound(v, a->data, 0, a->n, a->dtype.size)
		   : hi_py_bound(v, a->data, 0, extent, 1);
	if (!in_row && n < extent)
		return;
	r.c = v->c;
	r.n = r.n_pending = 0;
	r.incomplete = false;
	find_references(&r, dtype);
	if (r.incomplete || !r.n)
		add_conservative_references(v, a->data, in_row ? n * a->dtype.size : n);
	else if (in_row)
		visit_contiguous(v, &r, a->data, n, a->dtype.size);
	else
		visit_strided(v, &r, a);
}

/* Made for a memoryview of it, and kept: a chain of records with a format each. */
static void visit_buffer_info(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t at = 0;

	if (o->type->basicsize >= ARRAY_SIZE_WITH_INFO)
		at = hi_py_word(r, o->addr + ARRAY_BUFFER_INFO);
	if ((at & 7) != INFO_TAG)
		return;
	at -= INFO_TAG;
	for (int i = 0; at && i < MAX_INFOS; i++) {
		hi_py_emit_memory(v, at, HI_PY_BUFFER_NDARRAY_SHAPE, "<buffer info>");
		hi_py_emit_memory(v, hi_py_word(r, at), HI_PY_BUFFER_NDARRAY_SHAPE,
				  "<buffer format>");
		at = hi_py_word(r, at + INFO_NEXT);
	}
}

static enum hi_py_buffer data_of(const struct dtype *d)
{
	return HI_PY_BUFFER_NDARRAY_DATA + d->number;
}

void hi_py_visit_ndarray(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t dtype = hi_py_word(&v->c->reader, o->addr + ARRAY_BASE + 8);
	struct ndarray a;

	visit_buffer_info(v, o);
	if (!read_ndarray(v->c, o, &a)) {
		hi_py_emit(v, hi_py_word(&v->c->reader, o->addr + ARRAY_DATA),
			   HI_GRADE_CONSERVATIVE, HI_LABEL_FIELD, "data", 0);
	} else if (a.flags & OWNDATA) {
		hi_py_emit_memory(v, a.data, data_of(&a.dtype), "<data>");
		visit_data(v, dtype, &a);
	} else if (v->fn && !is_owned_by_array(v->c, &a)) {
		/* Its base keeps the data, in a way that is not known. */
		hi_py_emit(v, a.data, HI_GRADE_CONSERVATIVE, HI_LABEL_FIELD, "<data>", 0);
	}
}

/* An element alone. */
void hi_py_visit_void(struct hi_py_visit *v, const struct hi_py_object *o)
{
	struct hi_py_reader *r = &v->c->reader;
	uint64_t dtype = hi_py_word(r, o->addr + VOID_DTYPE);
	struct ndarray a = {.data = hi_py_word(r, o->addr + VOID_DATA),
			    .flags = C_CONTIGUOUS,
			    .n = 1};

	if (!read_dtype(v->c, dtype, &a.dtype)) {
		hi_py_emit(v, a.data, HI_GRADE_CONSERVATIVE, HI_LABEL_FIELD, "obval", 0);
	} else if (hi_py_u32(r, o->addr + VOID_FLAGS) & OWNDATA) {
		hi_py_emit_memory(v, a.data, data_of(&a.dtype), "<data>");
		visit_data(v, dtype, &a);
	}
}

/* What an array inside an element is made of. */
void hi_py_visit_dtype(struct hi_py_visit *v, const struct hi_py_object *o)
{
	uint64_t subarray = hi_py_word(&v->c->reader, o->addr + DTYPE_SUBARRAY_1);

	if (!v->fn || !subarray)
		return;
	hi_py_emit(v, hi_py_word(&v->c->reader, subarray), HI_GRADE_EXACT, HI_LABEL_FIELD,
		   "subarray.base", 0);
	hi_py_emit(v, hi_py_word(&v->c->reader, subarray + 8), HI_GRADE_EXACT,
		   HI_LABEL_FIELD, "subarray.shape", 0);
}

/* ---- names ---- */

static const char *name_of_dtype(const struct dtype *d)
{
	return d->number < N_NUMBERS ? numbers[d->number].name : "other";
}

bool hi_py_name_ndarray_buffers(struct hi_py *py)
{
	char name[40];

	_Static_assert(HI_PY_BUFFER_NDARRAY_OTHER - HI_PY_BUFFER_NDARRAY_DATA ==
			       N_NUMBERS,
		       "one buffer for each number, and one for the others");
	for (uint32_t i = 0; i <= N_NUMBERS; i++) {
		struct dtype d = {.number = i};

		/* Two numbers have one name where a C type has the size of another. */
		snprintf(name, sizeof(name), "ndarray data %s%s", name_of_dtype(&d),
			 i == 9 || i == 10 ? " (long long)" : "");
		if (hi_py_name_type(py,
				    &(struct hi_runtime_type){
					    .name = name,
					    .klass = i == NUMBER_OBJECT
							     ? HI_TYPE_POINTER_ARRAY
							     : HI_TYPE_SCALAR}) !=
		    HI_PY_BUFFER_NDARRAY_DATA + i)
			return false;
	}
	return true;
}

uint32_t hi_py_ndarray_type(struct hi_runtime_cursor *c, const struct hi_py_object *o)
{
	struct hi_py *py = c->py;
	struct hi_runtime_type type;
	struct ndarray a;
	char name[256];
	uint32_t index;

	if (!read_ndarray(c, o, &a))
		return o->type->type;
	pthread_mutex_lock(&py->lock);
	type = py->types.items[o->type->type];
	snprintf(name, sizeof(name), "%.200s %s", type.name, name_of_dtype(&a.dtype));
	type.name = name;
	index = hi_py_name_type(py, &type);
	pthread_mutex_unlock(&py->lock);
	return index ? index : o->type->type;
}

void hi_py_ndarray_text(struct hi_runtime_cursor *c, const struct hi_py_object *o,
			char *out, size_t size)
{
	struct ndarray a;
	size_t n;

	if (!read_ndarray(c, o, &a))
		return;
	n = (size_t)snprintf(out, size, "%s, shape (", name_of_dtype(&a.dtype));
	for (uint32_t i = 0; i < a.nd && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%" PRIu64, i ? ", " : "",
				      a.dimensions[i]);
	if (n < size)
		n += (size_t)snprintf(out + n, size - n, "%s), ", a.nd == 1 ? "," : "");
	if (n >= size)
		return;
	if (a.flags & OWNDATA)
		snprintf(out + n, size - n, "owns its data");
	else if (a.base)
		snprintf(out + n, size - n, "data of 0x%" PRIx64, a.base);
	else
		snprintf(out + n, size - n, "data of C code");
}
