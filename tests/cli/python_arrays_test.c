/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays of NumPy (fixtures/python/arrays.py): their types, who owns their data, and the
 * references in it. What the program says of itself is the truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/python.h"

#define NUMPY                                                                            \
	"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.cpython-311-"       \
	"x86_64-linux-gnu.so"

static struct target *start_arrays(const char *argument)
{
	if (access(NUMPY, R_OK) != 0)
		HI_SKIP("no NumPy: install python3-numpy");
	return python_start("OPENBLAS_NUM_THREADS=1", "arrays", argument, NULL);
}

static json_t *explain(const struct target *p, const char *address)
{
	return doc_at(python_ask(p, "explain", address), "rows.0");
}

/* numpy's name without the size: "str160" and "datetime64[s]" are types of elements. */
static void element_type(const char *dtype, const char *type, char *out, size_t size)
{
	size_t n = strcspn(dtype, "[");

	if (strncmp(dtype, "str", 3) == 0)
		n = 3;
	else if (strncmp(dtype, "bytes", 5) == 0)
		n = 5;
	else if (strncmp(dtype, "void", 4) == 0)
		n = 4;
	snprintf(out, size, "%s %.*s", type, (int)n, dtype);
}

/* "2x3" as "shape (2, 3)", "3" as "shape (3,)". */
static void shape_text(const char *shape, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "shape (");
	bool is_one = !strchr(shape, 'x'), is_point = strcmp(shape, "point") == 0;

	for (; *shape && !is_point && n + 4 < size; shape++)
		n += (size_t)snprintf(out + n, size - n, *shape == 'x' ? ", " : "%c",
				      *shape);
	snprintf(out + n, size - n, is_one && !is_point ? ",)" : ")");
}

struct said {
	char name[32], id[32], dtype[32], shape[32], type[80];
};

static bool read_array(const char *line, struct said *ret)
{
	if (sscanf(line, "array %31s %31s %31s %31s", ret->name, ret->id, ret->dtype,
		   ret->shape) != 4)
		return false;
	element_type(ret->dtype,
		     strcmp(ret->name, "matrix") == 0 ? "numpy.matrix" : "numpy.ndarray",
		     ret->type, sizeof(ret->type));
	return true;
}

struct arrays {
	struct said items[32];
	size_t n;
};

static void take_array(const char *line, void *arg)
{
	struct arrays *a = arg;

	HI_ASSERT(a->n < sizeof(a->items) / sizeof(a->items[0]));
	a->n += read_array(line, &a->items[a->n]);
}

/* As many of each type as it says, NumPy's own beside. */
static size_t check_types(const struct target *p, json_t *census)
{
	struct arrays a = {};

	target_each_line(p, take_array, &a);
	for (size_t i = 0; i < a.n; i++) {
		const char *type = a.items[i].type;
		long long same = 0;

		for (size_t k = 0; k < a.n; k++)
			same += strcmp(type, a.items[k].type) == 0;
		HI_ASSERT_MSG(python_count(census, type) >= same, "%lld %s, not %lld",
			      python_count(census, type), type, same);
	}
	return a.n;
}

static void check_array(const struct target *p, const char *name)
{
	struct said a = {};
	char text[120];
	json_t *row;

	snprintf(text, sizeof(text), "array %s", name);
	snprintf(text, sizeof(text), "array %s %s", name, target_said(p, text));
	HI_ASSERT(read_array(text, &a));
	row = explain(p, a.id);
	HI_ASSERT_STREQ(a.type, doc_text(row, "type"));
	HI_ASSERT_STREQ(a.id, doc_text(row, "id"));
	shape_text(a.shape, text, sizeof(text));
	HI_ASSERT_MSG(strstr(doc_text(row, "value"), text), "%s: %s, not %s", name,
		      doc_text(row, "value"), text);
}

static const char *said_of_array(const struct target *p, const char *what,
				 const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), "%s %s", what, name);
	return target_said(p, key);
}

/* The block of the data: its type, its size, and that its owner alone leads there. */
static void check_data(const struct target *p, const char *name, const char *type)
{
	unsigned long long data, bytes, owner;
	char address[32], sql[400];
	json_t *row;

	HI_ASSERT(sscanf(said_of_array(p, "data", name), "%llx %llu", &data, &bytes) ==
		  2);
	HI_ASSERT(sscanf(said_of_array(p, "array", name), "%llx", &owner) == 1);
	snprintf(address, sizeof(address), "%#llx", data);
	row = explain(p, address);
	HI_ASSERT_STREQ(type, doc_text(row, "type"));
	HI_ASSERT_STREQ("runtime", doc_text(row, "evidence"));
	HI_ASSERT(doc_number(row, "usable") >= (long long)bytes);
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e JOIN objects o ON o.id = e.target WHERE "
		 "o.address = %llu",
		 data);
	HI_ASSERT_EQ(1, target_query(p, sql));
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e JOIN objects o ON o.id = e.target JOIN "
		 "objects h ON h.id = e.source WHERE o.address = %llu AND h.address = "
		 "%llu",
		 data, owner);
	HI_ASSERT_EQ(1, target_query(p, sql));
}

static void check_view(const struct target *p, const char *name)
{
	unsigned long long id, base;
	char address[32], text[64];

	HI_ASSERT(sscanf(said_of_array(p, "view", name), "%llx %llx", &id, &base) == 2);
	snprintf(address, sizeof(address), "%#llx", id);
	snprintf(text, sizeof(text), "data of %#llx", base);
	HI_ASSERT_MSG(strstr(doc_text(explain(p, address), "value"), text), "%s: %s",
		      address, doc_text(explain(p, address), "value"));
}

/* NumPy 1.24 itself forgets some when it is imported. */
static long long excess_of(const struct target *p)
{
	json_t *audit = python_ask(p, "audit");

	HI_ASSERT_EQ(0, doc_number(audit, "missing"));
	return doc_number(audit, "excess");
}

static void check_references_in_arrays_of_all_kinds_are_found(const struct target *p,
							      json_t *census)
{
	struct target *bare = start_arrays("bare");

	HI_ASSERT_EQ(excess_of(bare), excess_of(p));
	HI_ASSERT_EQ(0, doc_number(python_ask(p, "summary"), "leaks.objects"));
	HI_ASSERT_EQ(target_number(p, "items"), python_count(census, "__main__.Item"));
}

HI_TEST_SCENARIO(python_arrays, an_array_has_its_type_and_shape_and_its_own_data)
{
	struct target *p = start_arrays(NULL);
	json_t *census = python_ask(p, "census", "--all");

	HI_ASSERT_EQ(20, check_types(p, census));
	check_array(p, "float");
	check_array(p, "point");
	check_array(p, "matrix");
	check_data(p, "float", "ndarray data float64");
	check_data(p, "packed", "ndarray data void");
	check_view(p, "of_view");
	/* A class of C in a block, without a head of the collector's list. */
	HI_ASSERT_STREQ("numpy._DTypeMeta",
			doc_text(explain(p, target_said(p, "class")), "type"));
	check_references_in_arrays_of_all_kinds_are_found(p, census);
}

HI_TEST_SCENARIO(python_arrays, attributes_that_look_like_an_object_are_none)
{
	struct target *p = python_start(NULL, "values", NULL, NULL);

	HI_ASSERT(python_count(python_ask(p, "census", "--all"), "property") >=
		  target_number(p, "properties"));
	HI_ASSERT_EQ(0, doc_number(python_ask(p, "audit"), "excess"));
}

/* Its modules, which Cython made, forget references to what only they had; and a table
 * of the C library's is chained (dlfo_mappings_segment). */
HI_TEST_SLOW(python_arrays, pandas_leaks_nothing_but_what_its_modules_forget)
{
	static const char *const forgotten[] = {"code",
						"tuple",
						"str",
						"float",
						"wrapper_descriptor",
						"builtin_function_or_method"};
	struct target *p;
	json_t *row;
	size_t k;

	if (access("/usr/lib/python3/dist-packages/pandas/__init__.py", R_OK) != 0)
		HI_SKIP("no pandas: install python3-pandas");
	p = python_start(NULL, "frames", NULL, NULL);
	doc_each (row, doc_at(python_ask(p, "audit"), "rows")) {
		const char *type = doc_text(row, "type");

		for (k = 0; k < 6 && strcmp(type, forgotten[k]) != 0; k++)
			;
		HI_ASSERT_MSG(k < 6, "excess of %s", type);
	}
	doc_each (row, doc_at(python_ask(p, "leaks", "--all"), "rows"))
		HI_ASSERT_MSG(strcmp(doc_text(row, "type"), "code") == 0 ||
				      strcmp(doc_text(row, "type"), "tuple") == 0,
			      "%s leaked", doc_text(row, "type"));
}
