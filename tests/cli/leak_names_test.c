/* SPDX-License-Identifier: BSD-2-Clause */
/* What leaks without a type are called: fixtures/leak_names.c. */
#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

enum { MAX_PLANTED = 16 };

struct planted {
	char name[16], address[24];
};

struct plan {
	struct planted leaks[MAX_PLANTED];
	size_t n;
};

static void take_line(const char *line, void *arg)
{
	struct plan *plan = arg;
	struct planted *p = &plan->leaks[plan->n];

	HI_ASSERT(plan->n < MAX_PLANTED);
	plan->n += sscanf(line, "%15s %23s", p->name, p->address) == 2;
}

static char pid_text[16];

static void start_leaks(struct plan *plan)
{
	struct hi_fixture *fx = hi_fixture_start("leak_names", NULL);

	hi_fixture_read_until(fx, "ready", take_line, plan);
	HI_ASSERT_EQ(9, plan->n);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
}

static json_t *parse_leaks(const struct hi_command *c)
{
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT_MSG(doc, "%s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static const char *address_of(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n; i++)
		if (!strcmp(plan->leaks[i].name, name))
			return plan->leaks[i].address;
	hi_test_fail(__FILE__, __LINE__, "no leak %s", name);
}

/* The root of this address: twins are chains, of which the fixture names the head. */
static json_t *root_of(json_t *doc, const struct plan *plan, const char *name)
{
	const char *address = address_of(plan, name);
	json_t *root;
	size_t i;

	json_array_foreach(
		json_object_get(doc, "roots"), i,
		root) if (!strcmp(json_string_value(json_object_get(root, "address")),
				  address)) return root;
	hi_test_fail(__FILE__, __LINE__, "%s %s is no leak root", name, address);
}

static const char *fit_of(const json_t *root, size_t i)
{
	const char *name =
		json_string_value(json_array_get(json_object_get(root, "fits"), i));

	return name ? name : "";
}

static void check_fits(json_t *doc, const struct plan *plan, const char *name,
		       const char *first, const char *second)
{
	json_t *root = root_of(doc, plan, name);

	HI_ASSERT_STREQ("(untyped)", json_string_value(json_object_get(root, "type")));
	HI_ASSERT_STREQ(first, fit_of(root, 0));
	HI_ASSERT_STREQ(second, fit_of(root, 1));
	HI_ASSERT_STREQ("", fit_of(root, 2));
}

static void check_names(json_t *doc, const struct plan *plan)
{
	json_t *item = root_of(doc, plan, "item");

	HI_ASSERT_STREQ("struct item", json_string_value(json_object_get(item, "like")));
	HI_ASSERT_EQ(40, json_integer_value(json_object_get(item, "like_count")));
	check_fits(doc, plan, "item", "struct item", "");
	check_fits(doc, plan, "tree", "struct tree", "");
	HI_ASSERT(!json_object_get(root_of(doc, plan, "tree"), "like"));
	check_fits(doc, plan, "early", "struct early", "");
	check_fits(doc, plan, "late", "struct late", "");
	check_fits(doc, plan, "twin", "struct blue", "struct red");
	check_fits(doc, plan, "random", "", "");
	check_fits(doc, plan, "pointers", "", "");
	check_fits(doc, plan, "zeros", "", "");
	check_fits(doc, plan, "text", "", "");
	HI_ASSERT(!json_object_get(root_of(doc, plan, "pointers"), "like"));
	HI_ASSERT(!json_object_get(root_of(doc, plan, "random"), "like"));
}

/* Rows of a size and shape. */
static size_t count_leak_rows(json_t *doc, long long size, long long *roots_ret)
{
	size_t i, n = 0;
	json_t *row;

	*roots_ret = 0;
	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		if (json_integer_value(json_object_get(row, "size")) != size)
			continue;
		n++;
		*roots_ret += json_integer_value(json_object_get(row, "count"));
	}
	return n;
}

HI_TEST_SCENARIO(leak_names, each_leak_is_called_what_it_looks_like)
{
	static struct plan plan;
	json_t *doc;
	long long roots;

	start_leaks(&plan);
	doc = parse_leaks(hi_heapinspect("leaks", "--all", "--json", "--pid", pid_text));
	check_names(doc, &plan);
	/* Of one size, with their pointer at different places: two rows. */
	HI_ASSERT_EQ(2, count_leak_rows(doc, 136, &roots));
	HI_ASSERT_EQ(60, roots);
	HI_ASSERT_EQ(1, count_leak_rows(doc, 72, &roots));
	HI_ASSERT_EQ(12, roots);
}

HI_TEST_SCENARIO(leak_names, a_snapshot_file_has_the_same_names)
{
	static struct plan plan;
	const char *file = snapshot_path(snapshot_directory(), "names.hisnap");
	struct hi_command *c;

	start_leaks(&plan);
	c = hi_heapinspect("snap", "--pid", pid_text, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	check_names(parse_leaks(hi_heapinspect("leaks", "--all", "--json", file)), &plan);
}

HI_TEST_SCENARIO(leak_names, pages_say_the_names)
{
	static struct plan plan;
	static const char *const said[] = {"like live struct item (40)  chain",
					   "fits struct tree ",
					   "fits struct early ",
					   "fits struct blue or red",
					   "(untyped) 232 B, no pointers",
					   "(untyped) 296 B, text",
					   "like live T (N): "};
	struct hi_command *c;

	start_leaks(&plan);
	c = hi_heapinspect("leaks", "--pid", pid_text);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		HI_ASSERT_MSG(strstr(c->out, said[i]), "no %s in %s", said[i], c->out);
	c = hi_heapinspect("--pid", pid_text);
	HI_ASSERT_MSG(strstr(c->out, "like live struct item (40)"), "%s", c->out);
}

/* As in a chroot, or a root of another distribution: libc's records are not the
 * program's, wherever libc lies. Of the service's rings libc has one that fits. */
HI_TEST_SCENARIO(leak_names, records_of_libc_in_another_root_are_not_the_programs)
{
	char env[] = "env", libraries[512], program[512];
	char *argv[] = {env, libraries, program, NULL};
	const char *root = workshop_open();
	struct hi_fixture *fx;
	json_t *doc, *row;
	size_t i;

	workshop_run("mkdir -p usr/lib/x86_64-linux-gnu && "
		     "cp /lib/x86_64-linux-gnu/libc.so.6 usr/lib/x86_64-linux-gnu");
	snprintf(libraries, sizeof(libraries),
		 "LD_LIBRARY_PATH=%s/usr/lib/x86_64-linux-gnu", root);
	snprintf(program, sizeof(program), "%s/leaky_service", HI_FIXTURE_DIR);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	doc = parse_leaks(hi_heapinspect("leaks", "--json", "--pid", pid_text));
	HI_ASSERT_EQ(3, json_array_size(json_object_get(doc, "rows")));
	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		HI_ASSERT_MSG(*fit_of(row, 0), "%s", json_dumps(row, 0));
		HI_ASSERT_MSG(!*fit_of(row, 1), "and fits %s", fit_of(row, 1));
	}
}
