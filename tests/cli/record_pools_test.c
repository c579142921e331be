/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of a recording with --calls, --frees and --mappings. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* Which function of fixtures/pools.c gave a piece, as it says. */
enum { GET, TAKE, RESIZE, GIVERS };

struct recorded_pools {
	struct hi_fixture *fx;
	char file[256];
	char piece[32], inside[32]; /* one of pool_get, and an address in it */
	long long pieces[GIVERS], bytes[GIVERS], slabs, mapped;
	struct hi_command *c;
};

static void take_pools_line(const char *line, void *arg)
{
	struct recorded_pools *p = arg;
	unsigned long addr, size;
	unsigned by;

	if (sscanf(line, "piece %lx %lx %u", &addr, &size, &by) == 3 && by < GIVERS) {
		p->pieces[by]++;
		p->bytes[by] += (long long)size;
		if (by == GET && size > 1) {
			snprintf(p->piece, sizeof(p->piece), "0x%lx", addr);
			snprintf(p->inside, sizeof(p->inside), "0x%lx", addr + size - 1);
		}
	}
	p->slabs += sscanf(line, "slab %lx %lx", &addr, &size) == 2;
	if (sscanf(line, "map %lx %lx", &addr, &size) == 2)
		p->mapped += (long long)size;
}

static struct recorded_pools record_pools(const char *option)
{
	struct recorded_pools p = {.fx = hi_fixture_start("pools", NULL)};
	struct recording_run run;

	hi_fixture_read_until(p.fx, "ready", NULL, NULL);
	snprintf(p.file, sizeof(p.file), "%s/app.hirec", workshop_open());
	run = recording_start(p.fx->pid, "-o", p.file, "--calls", "pool_get:ret,size=$2",
			      "--calls", "pool_take:ret=*$3,size=$1*$2*2", "--calls",
			      "pool_resize:ret,size=$4,old=$2", "--frees", "pool_put:$2",
			      "--mappings", option, NULL);
	hi_fixture_tell(p.fx, "go 1000");
	hi_fixture_read_until(p.fx, "done", NULL, NULL);
	hi_fixture_tell(p.fx, "map 200");
	hi_fixture_read_until(p.fx, "done", NULL, NULL);
	p.c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(p.c->exit_code == 0, "exit %d: %s", p.c->exit_code, p.c->err);
	hi_fixture_tell(p.fx, "live");
	hi_fixture_read_until(p.fx, "that is all", take_pools_line, &p);
	hi_fixture_tell(p.fx, "maps");
	hi_fixture_read_until(p.fx, "that is all", take_pools_line, &p);
	return p;
}

static void expect_source(const json_t *doc, const char *name, long long live,
			  long long bytes, const char *function)
{
	const json_t *source = doc_row(doc_at(doc, "sources"), "name", name), *row;

	HI_ASSERT_EQ(live, doc_number(source, "live"));
	HI_ASSERT_EQ(bytes, doc_number(source, "live_bytes"));
	doc_each (row, doc_at(source, "rows"))
		HI_ASSERT_STREQ(function, doc_text(row, "site.function"));
	HI_ASSERT_EQ(live, doc_sum(doc_at(source, "rows"), "pieces"));
}

static void expect_pools(const struct recorded_pools *p, const json_t *doc)
{
	const json_t *sources = doc_at(doc, "sources");

	expect_source(doc, "pool_get", p->pieces[GET], p->bytes[GET], "operate");
	expect_source(doc, "pool_take", p->pieces[TAKE], p->bytes[TAKE], "operate");
	expect_source(doc, "pool_resize", p->pieces[RESIZE], p->bytes[RESIZE], "operate");
	HI_ASSERT_EQ(p->mapped,
		     doc_number(doc_row(sources, "name", "mmap"), "live_bytes"));
	HI_ASSERT_EQ(p->slabs, doc_number(doc_row(sources, "name", "malloc"), "live"));
}

static bool has_function(const json_t *row, const char *name)
{
	return doc_find_row(doc_at(row, "frames"), "function", name) != NULL;
}

/* Slabs are of pool_get(), whose return address is the kernel's meanwhile, as that of
 * pool_take() and pool_resize() is where they call it. */
static void expect_whole_stacks(const json_t *rows)
{
	size_t within_another = 0;
	const json_t *row;

	doc_each (row, rows) {
		HI_ASSERT(!doc_bool(row, "truncated"));
		HI_ASSERT(has_function(row, "pool_get") && has_function(row, "operate"));
		within_another += has_function(row, "pool_take") ||
				  has_function(row, "pool_resize");
	}
	HI_ASSERT(within_another > 0);
}

static void check_sources_are_told_apart(const struct recorded_pools *p)
{
	struct hi_command *c =
		hi_heapinspect("census", "--by", "context", "--json", p->file);
	json_t *doc = doc_of(p->c);

	expect_pools(p, doc);
	/* What lies in the slabs is no part of the live bytes of the heap. */
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	/* A slab that is taken for an array is an object for each part. */
	HI_ASSERT(doc_number(doc, "rows.0.objects") >= p->slabs);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.without_object"));
	hi_check_schema(p->c, "rows.v1.json");
	doc = doc_of(c);
	expect_pools(p, doc);
	expect_whole_stacks(doc_at(doc, "rows"));
	hi_check_schema(c, "rows.v1.json");
}

static void check_the_inside_of_a_piece_is_explained(const struct recorded_pools *p)
{
	struct hi_command *c = hi_heapinspect("explain", "--json", p->inside, p->file);
	json_t *row = doc_at(doc_of(c), "rows.0");

	HI_ASSERT_STREQ("pool_get", doc_text(row, "piece.source"));
	HI_ASSERT_STREQ(p->piece, doc_text(row, "piece.address"));
	HI_ASSERT_STREQ("operate", doc_text(row, "piece.frames.0.function"));
	/* The slab is an object of its own, with its own stack. */
	HI_ASSERT(json_is_object(doc_at(row, "allocation")));
	hi_check_schema(c, "rows.v1.json");
	c = hi_heapinspect("explain", p->inside, p->file);
	HI_ASSERT_MSG(strstr(c->out, "which pool_get gave"), "%s", c->out);
	c = hi_heapinspect("census", "--by", "site", p->file);
	HI_ASSERT_MSG(strstr(c->out, "Of pool_get: "), "%s", c->out);
}

static void check_pieces_are_a_table_for_queries(const struct recorded_pools *p)
{
	struct hi_command *c = hi_heapinspect(
		"query", "--format", "csv", p->file,
		"SELECT count(*) n, sum(p.size) bytes FROM pieces p JOIN contexts c ON "
		"c.id = p.context WHERE source = 'pool_get' AND kind = 'pool' AND "
		"function = 'operate'");
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%lld,%lld", p->pieces[GET], p->bytes[GET]);
	HI_ASSERT_MSG(strstr(c->out, wanted), "%s: %s%s", wanted, c->out, c->err);
}

HI_TEST_ROOT(record_pools, have_the_pieces_of_the_program)
{
	struct recorded_pools p = record_pools("--json");

	check_sources_are_told_apart(&p);
	check_the_inside_of_a_piece_is_explained(&p);
	check_pieces_are_a_table_for_queries(&p);
}

static struct hi_command *record_wrongly(const char *pid, const char *calls)
{
	return hi_heapinspect("record", "--pid", pid, "--for", "1s", "--calls", calls);
}

HI_TEST_ROOT(record_pools, errors_are_reported_before_probes_are_set)
{
	struct hi_fixture *fx = hi_fixture_start("pools", NULL);
	struct hi_command *c;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = record_wrongly(pid, "pool_get:ret,size=$9");
	HI_ASSERT_EQ(2, c->exit_code);
	/* The caret is below the argument. */
	HI_ASSERT_MSG(strstr(c->err, "  pool_get:ret,size=$9\n                    ^\n"),
		      "%s", c->err);
	c = record_wrongly(pid, "pool_gte:ret,size=$2");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_MSG(strstr(c->err, "pool_gte") && strstr(c->err, "pool_get"), "%s",
		      c->err);
	c = hi_heapinspect("record", "--pid", pid, "--frees", "pool_put:$2");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--calls"));
}
