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

static struct python *start_arrays(const char *argument)
{
	if (access(NUMPY, R_OK) != 0)
		HI_SKIP("no NumPy: install python3-numpy");
	return python_start("OPENBLAS_NUM_THREADS=1", "arrays", argument, NULL);
}

static json_t *first_row(json_t *doc)
{
	return json_array_get(json_object_get(doc, "rows"), 0);
}

static json_t *explain(const struct python *p, const char *address)
{
	return first_row(python_ask(p, PYTHON_WORDS("explain", address)));
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

static long long count_of(json_t *census, const char *type)
{
	json_t *row = python_row(json_object_get(census, "rows"), "type", type);

	return row ? python_number(row, "count") : 0;
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

/* As many of each type as it says, NumPy's own beside. */
static unsigned check_types(const struct python *p)
{
	json_t *census = python_ask(p, PYTHON_WORDS("census", "--all"));
	struct said a, b;
	unsigned n = 0;

	for (size_t i = 0; i < p->n_lines; i++) {
		long long same = 0;

		if (!read_array(p->lines[i], &a))
			continue;
		for (size_t k = 0; k < p->n_lines; k++)
			same += read_array(p->lines[k], &b) &&
				strcmp(a.type, b.type) == 0;
		HI_ASSERT_MSG(count_of(census, a.type) >= same, "%lld %s, not %lld",
			      count_of(census, a.type), a.type, same);
		n++;
	}
	return n;
}

static void check_array(const struct python *p, const char *name)
{
	struct said a = {};
	char text[80];
	json_t *row;

	for (size_t i = 0; i < p->n_lines && strcmp(a.name, name) != 0; i++)
		(void)read_array(p->lines[i], &a);
	row = explain(p, a.id);
	HI_ASSERT_STREQ(a.type, python_text(row, "type"));
	HI_ASSERT_STREQ(a.id, python_text(row, "id"));
	shape_text(a.shape, text, sizeof(text));
	HI_ASSERT_MSG(strstr(python_text(row, "value"), text), "%s: %s, not %s", name,
		      python_text(row, "value"), text);
}

static const char *line_of(const struct python *p, const char *key, const char *name)
{
	char begin[64];

	snprintf(begin, sizeof(begin), "%s %s ", key, name);
	for (size_t i = 0; i < p->n_lines; i++)
		if (strncmp(p->lines[i], begin, strlen(begin)) == 0)
			return p->lines[i] + strlen(begin);
	hi_test_fail(__FILE__, __LINE__, "it says nothing of %s", begin);
}

static long long query_number(const struct python *p, const char *sql)
{
	struct hi_command *c =
		hi_heapinspect("query", "--pid", p->pid, "--format", "csv", sql);

	HI_ASSERT_MSG(c->exit_code == 0 && strchr(c->out, '\n'), "%s", c->err);
	return atoll(strchr(c->out, '\n') + 1);
}

/* The block of the data: its type, its size, and that its owner alone leads there. */
static void check_data(const struct python *p, const char *name, const char *type)
{
	unsigned long long data, bytes, owner;
	char address[32], sql[400];
	json_t *row;

	HI_ASSERT(sscanf(line_of(p, "data", name), "%llx %llu", &data, &bytes) == 2);
	HI_ASSERT(sscanf(line_of(p, "array", name), "%llx", &owner) == 1);
	snprintf(address, sizeof(address), "%#llx", data);
	row = explain(p, address);
	HI_ASSERT_STREQ(type, python_text(row, "type"));
	HI_ASSERT_STREQ("runtime", python_text(row, "evidence"));
	HI_ASSERT(python_number(row, "usable") >= (long long)bytes);
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e JOIN objects o ON o.id = e.target WHERE "
		 "o.address = %llu",
		 data);
	HI_ASSERT_EQ(1, query_number(p, sql));
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e JOIN objects o ON o.id = e.target JOIN "
		 "objects h ON h.id = e.source WHERE o.address = %llu AND h.address = "
		 "%llu",
		 data, owner);
	HI_ASSERT_EQ(1, query_number(p, sql));
}

static void check_view(const struct python *p, const char *name)
{
	unsigned long long id, base;
	char address[32], text[64];

	HI_ASSERT(sscanf(line_of(p, "view", name), "%llx %llx", &id, &base) == 2);
	snprintf(address, sizeof(address), "%#llx", id);
	snprintf(text, sizeof(text), "data of %#llx", base);
	HI_ASSERT_MSG(strstr(python_text(explain(p, address), "value"), text), "%s: %s",
		      address, python_text(explain(p, address), "value"));
}

HI_TEST_SCENARIO(python_arrays, an_array_has_its_type_and_shape_and_its_own_data)
{
	struct python *p = start_arrays(NULL);

	HI_ASSERT_EQ(20, check_types(p));
	check_array(p, "float");
	check_array(p, "point");
	check_array(p, "matrix");
	check_data(p, "float", "ndarray data float64");
	check_data(p, "packed", "ndarray data void");
	check_view(p, "of_view");
}

/* Of NumPy itself: 1.24 forgets some when it is imported. */
static long long excess_of(const struct python *p)
{
	json_t *audit = python_ask(p, PYTHON_WORDS("audit"));

	HI_ASSERT_EQ(0, python_number(audit, "missing"));
	return python_number(audit, "excess");
}

HI_TEST_SCENARIO(python_arrays, references_in_arrays_of_all_kinds_are_found)
{
	struct python *bare = start_arrays("bare"), *p = start_arrays(NULL);
	json_t *item, *leaks;

	HI_ASSERT_EQ(excess_of(bare), excess_of(p));
	leaks = json_object_get(python_ask(p, PYTHON_WORDS("summary")), "leaks");
	HI_ASSERT_EQ(0, python_number(leaks, "objects"));
	item = python_row(
		json_object_get(python_ask(p, PYTHON_WORDS("census", "--all")), "rows"),
		"type", "__main__.Item");
	HI_ASSERT(item);
	HI_ASSERT_EQ(atoll(python_said(p, "items", 0)), python_number(item, "count"));
}

HI_TEST_SCENARIO(python_arrays, attributes_that_look_like_an_object_are_none)
{
	struct python *p = python_start(NULL, "values", NULL, NULL);
	json_t *property = python_row(
		json_object_get(python_ask(p, PYTHON_WORDS("census", "--all")), "rows"),
		"type", "property");

	HI_ASSERT(property);
	HI_ASSERT(python_number(property, "count") >=
		  atoll(python_said(p, "properties", 0)));
	HI_ASSERT_EQ(0, python_number(python_ask(p, PYTHON_WORDS("audit")), "excess"));
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
	json_t *rows, *row;
	struct python *p;
	size_t i, k;

	if (access("/usr/lib/python3/dist-packages/pandas/__init__.py", R_OK) != 0)
		HI_SKIP("no pandas: install python3-pandas");
	p = python_start(NULL, "frames", NULL, NULL);
	rows = json_object_get(python_ask(p, PYTHON_WORDS("audit")), "rows");
	json_array_foreach(rows, i, row)
	{
		const char *type = python_text(row, "type");

		for (k = 0; k < 6 && strcmp(type, forgotten[k]) != 0; k++)
			;
		HI_ASSERT_MSG(k < 6, "excess of %s", type);
	}
	rows = json_object_get(python_ask(p, PYTHON_WORDS("leaks", "--all")), "rows");
	json_array_foreach(rows, i, row)
		HI_ASSERT_MSG(strcmp(python_text(row, "type"), "code") == 0 ||
				      strcmp(python_text(row, "type"), "tuple") == 0,
			      "%s leaked", python_text(row, "type"));
}
