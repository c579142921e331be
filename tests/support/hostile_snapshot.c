/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/hostile_snapshot.h"

#include <fcntl.h>
#include <stdlib.h>

#include "tests/census/series_files.h"
#include "tests/support/snapshots.h"

enum { MEGABYTE = 1 << 20 };

static const char *const hostile_texts[] = {
	"<script>window.__pwned='script'</script>",
	"\"><img src=x onerror=\"window.__pwned='attribute'\">",
	"'><svg onload=window.__pwned='svg'>",
	"</title><script>window.__pwned='title'</script>",
	"</style></textarea></pre></td></table></main><script>window.__pwned=1</script>",
	"</script><script>window.__pwned='end of script'</script>",
	"--><script>window.__pwned='comment'</script><!--",
	"]]><script>window.__pwned='cdata'</script><![CDATA[",
	"javascript:window.__pwned='url'",
	"data:text/html,<script>window.__pwned='data'</script>",
	"http://evil.test/beacon",
	"//evil.test/beacon.js",
	"<img src=http://evil.test/beacon.png>",
	"<iframe src=//evil.test></iframe><base href=//evil.test/>",
	"<meta http-equiv=refresh content='0;url=http://evil.test/'>",
	"<form action=http://evil.test/><button>x</button></form>",
	"<style>@import 'http://evil.test/x.css';*{display:none}</style>",
	"`${window.__pwned='template'}`",
	"{{constructor.constructor('window.__pwned=1')()}}",
	"';window.__pwned='quote';'\\",
	"\";window.__pwned='quotes';//\\",
	"&lt;script&gt;&#x3c;img src=x onerror=window.__pwned=1&#x3e;&amp;amp;&",
	"%s%s%n%x%p %3Cscript%3E %00 %0d%0aSet-Cookie:a=b",
	"\r\nContent-Type: text/html\r\n\r\n<script>window.__pwned='header'</script>",
	"a/../../../quit?all=&x=#y",
	"../../../../etc/passwd",
	"__proto__",
	"constructor",
	"toString",
	"x'; DROP TABLE objects; --",
	"\xe2\x80\xaegnp.exe\xe2\x81\xa6 isolated \xe2\x80\x8b\xe2\x80\x8f\xef\xbb\xbf",
	"\033[31m\033]0;owned\a\x01\x02\x1f\x7f\xc2\x9b\xc2\x85 control",
	"\xff\xfe\xc0\xaf\xed\xa0\x80\xf8\x88\x80\x80\x80 \xe2\x82 invalid",
	"A\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86\xcc\x87\xcc\x88 marks",
	"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85 from the "
	"right",
	" ",
	"\n",
	"<",
	"&",
	"\"",
};
enum { TEXTS = sizeof(hostile_texts) / sizeof(*hostile_texts), NAMES = TEXTS + 3 };

/* Markup again and again, or one word. */
static char *make_long_text(const char *part)
{
	size_t n = strlen(part), used = 0;
	char *text = malloc(MEGABYTE + 1);

	HI_ASSERT(text);
	while (used + n <= MEGABYTE) {
		memcpy(text + used, part, n);
		used += n;
	}
	text[used] = 0;
	hi_test_defer(free, text);
	return text;
}

/* Of each test anew: the long ones are freed with it. */
static const char **make_hostile_names(void)
{
	const char **names = calloc(NAMES, sizeof(*names));

	HI_ASSERT(names);
	hi_test_defer(free, names);
	memcpy(names, hostile_texts, sizeof(hostile_texts));
	names[TEXTS] = make_long_text("<b onclick=window.__pwned=1>");
	names[TEXTS + 1] = make_long_text("x");
	names[TEXTS + 2] = make_long_text("\xe2\x80\xae\xff ");
	return names;
}

/* What is written, and to whom edges ask. */
struct hostile {
	const char **names;
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_census *census;
};

static void free_hostile(struct hostile *h)
{
	hi_census_destroy(h->census);
	hi_dominators_destroy(h->dominators);
	hi_reach_destroy(h->reach);
	hi_graph_destroy(h->graph);
	free(h);
}

static void add_hostile_names(struct hi_graph_builder *b, const char **names)
{
	struct hi_error err;
	uint32_t id;

	for (uint32_t i = 1; i < 2 * NAMES; i++) {
		const char *name = names[i % NAMES], *other = names[(i * 7 + 3) % NAMES];
		bool is_field = i % 5 == 4;
		struct hi_type_name type = {
			.name = name,
			.module = other,
			.size = 8 + i % 90,
			.klass = is_field ? HI_TYPE_FIELD
					  : (enum hi_type_class)(1 + i % 5),
			.owner = is_field ? name : "",
			.field = is_field ? other : "",
			.size_class = is_field ? 48 : 0};

		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		struct hi_root root = {.kind = (enum hi_root_kind)(i % HI_ROOT_KINDS),
				       .name = names[i],
				       .detail = names[(i + 5) % NAMES],
				       .type = names[(i + 11) % NAMES],
				       .address = 0x400000 + i * 16,
				       .size = 8,
				       .variable = UINT32_MAX};

		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
	}
}

/* A list for each root, with some edges across; the last tenth of the objects is
 * leaked. */
static struct hi_graph *make_hostile_graph(const char **names, uint32_t n)
{
	uint64_t state = 99;
	struct hi_objects *objects = drawn_objects(&state, n, false);
	struct hi_graph_builder *b;
	struct hi_error err;

	n = objects->count;
	for (hi_node i = 0; i < n; i++)
		objects->type[i] = i % (2 * NAMES);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	add_hostile_names(b, names);
	for (uint32_t i = 0; i < NAMES && i < n; i++)
		root_edge(b, i, i, HI_GRADE_EXACT);
	for (hi_node i = 0; i + NAMES < n; i++) {
		bool is_last = i + NAMES >= n - n / 10 && i < n - n / 10;

		if (!is_last)
			edge(b, i, i + NAMES, HI_GRADE_EXACT);
		if (i % 9 == 0)
			edge(b, i, i / 2, HI_GRADE_INTERIOR);
	}
	return sealed(b);
}

static enum hi_status name_hostile_edges(void *arg, unsigned worker, hi_node node,
					 struct hi_edge_name *names, struct hi_error *err)
{
	const struct hostile *h = arg;
	uint32_t n = hi_graph_edges(h->graph, node).count;

	(void)worker;
	(void)err;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (node + k) % NAMES;

		names[k] = (struct hi_edge_name){.kind = node % 3 ? HI_NAME_TEXT
								  : HI_NAME_INDEX,
						 .number = node,
						 .text = h->names[i],
						 .key = 1 + i};
	}
	return HI_OK;
}

static uint64_t count_hostile_use(void *arg, hi_node object)
{
	(void)arg;
	return object % 64;
}

static const char *find_hostile_module(void *arg, uint32_t root)
{
	return ((struct hostile *)arg)->names[(root + 2) % NAMES];
}

static bool hostile_type_retains(void *arg, uint32_t type)
{
	(void)arg;
	return type % 4 == 1;
}

/* ---- the recording ---- */

/* Each name is a function, in one stack with the next ones. */
struct hostile_births {
	struct hi_frame_row rows[NAMES];
	uint32_t first[NAMES + 1];
	struct hi_context_node nodes[NAMES + 1];
	/* The first one has no stack. */
	struct hi_context contexts[NAMES + 1];
	struct hi_context_totals totals[NAMES + 1];
};

static struct hostile_births *make_hostile_frames(const char **names)
{
	struct hostile_births *b = calloc(1, sizeof(*b));

	HI_ASSERT(b);
	hi_test_defer(free, b);
	b->nodes[0] = (struct hi_context_node){0, HI_FRAME_NONE};
	for (uint32_t i = 0; i < NAMES; i++) {
		b->rows[i] = (struct hi_frame_row){.module = names[(i + 1) % NAMES],
						   .function = names[i],
						   .file = names[(i + 2) % NAMES],
						   .offset = 16 + i,
						   .line = i};
		b->first[i] = i;
		/* Four deep. */
		b->nodes[i + 1] = (struct hi_context_node){i % 4 ? i : 0, i};
		b->contexts[i + 1] = (struct hi_context){i + 1, i + 1, 0};
		b->totals[i + 1] =
			(struct hi_context_totals){20, 2000, 5, 500, 10 + i % 3, 700 + i};
	}
	b->first[NAMES] = NAMES;
	return b;
}

static enum hi_status put_hostile_births(struct hi_snapshot_writer *w,
					 const struct hostile *h, struct hi_error *err)
{
	uint32_t n = h->graph->n_objects;
	HI_GUARD(free) uint64_t *columns = calloc(3 * (size_t)n + 1, 8);
	uint64_t *time_ns = columns, *size = columns + n;
	uint32_t *context = (uint32_t *)(size + n), *thread = context + n;
	const struct hostile_births *b = make_hostile_frames(h->names);
	static const uint32_t threads[] = {7, 4000};
	struct hi_births births = {.n_objects = n,
				   .context = context,
				   .thread = thread,
				   .time_ns = time_ns,
				   .size = size,
				   .threads = threads,
				   .n_threads = 2};
	struct hi_recorded recorded = {
		.births = &births,
		.contexts = {b->nodes, b->contexts, NAMES + 1, NAMES + 1, NAMES},
		.totals = b->totals,
		.frames = {b->rows, b->first, NAMES, NAMES}};

	HI_ASSERT(columns);
	for (uint32_t i = 0; i < n; i++) {
		context[i] = i % 3 ? i % (NAMES + 1) : HI_BIRTH_NONE;
		if (context[i] == HI_BIRTH_NONE)
			continue;
		thread[i] = i % 2;
		time_ns[i] = i * 1000000ull;
		size[i] = 1 + i % 64;
	}
	return hi_snapshot_put_births(w, &recorded, err);
}

/* ---- files ---- */

static enum hi_status put_hostile_header(struct hi_snapshot_writer *w, const char **names,
					 struct hi_error *err)
{
	static const char *const fields[] = {
		"head.exe",  "head.cmdline", "head.script", "head.allocator",
		"head.mode", "head.runtime", "stop.thread", "head.build_id"};
	enum hi_status status = hi_snapshot_put_number(w, "head.pid", 4242, err);

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && status == HI_OK; i++)
		status = hi_snapshot_put_text(w, fields[i], names[i], err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "head.complete", 1, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "head.warnings", 3, err);
	if (status == HI_OK)
		status = hi_snapshot_put_text(w, "head.warning.0", names[0], err);
	if (status == HI_OK)
		status = hi_snapshot_put_text(w, "head.warning.1", names[NAMES - 3], err);
	return status == HI_OK
		       ? hi_snapshot_put_text(w, "head.warning.2", names[TEXTS - 8], err)
		       : status;
}

static enum hi_status put_hostile(struct hi_snapshot_writer *w, struct hostile *h,
				  struct hi_error *err)
{
	struct hi_snapshot_graph in = {.graph = h->graph,
				       .reach = h->reach,
				       .dominators = h->dominators,
				       .label = name_hostile_edges,
				       .threads = 1,
				       .used = count_hostile_use,
				       .module = find_hostile_module,
				       .retains = hostile_type_retains,
				       .arg = h};
	enum hi_status status = put_hostile_header(w, h->names, err);

	if (status == HI_OK)
		status = hi_snapshot_put_graph(w, &in, err);
	if (status == HI_OK)
		status = hi_snapshot_put_census(w, h->census, err);
	if (status == HI_OK)
		status = put_hostile_births(w, h, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}

static int create_hostile(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	HI_ASSERT(fd >= 0);
	return fd;
}

/* Everything that is written of one heap; freed when the test ends. */
static struct hostile *make_hostile(unsigned objects)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct hi_error err;

	HI_ASSERT(h);
	h->names = make_hostile_names();
	h->graph = make_hostile_graph(h->names, objects);
	h->reach = reach_of(h->graph);
	h->dominators = dominators_of(h->graph, h->reach);
	hi_test_defer(free_hostile, h);
	HI_ASSERT_OK(
		hi_census_by_type(h->graph, h->reach, h->dominators, &h->census, &err),
		&err);
	return h;
}

const char *hostile_snapshot(const char *in, const char *name, unsigned objects)
{
	struct hostile *h = make_hostile(objects);
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {};
	const char *path = snapshot_path(in, name);
	struct hi_error err;
	int fd = create_hostile(path);

	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(put_hostile(w, h, &err), &err);
	close(fd);
	return path;
}

static void add_hostile_census(struct hi_snapshots_writer *w, struct hostile *h,
			       uint32_t number)
{
	struct hi_snapshot_options options = {.at = w->end};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *s = NULL;
	struct hi_census_point point = drawn_point(number);
	struct hi_snapshots_mark mark = {.census = number,
					 .wall_ns = number * 1000000007ull + 5,
					 .text = h->names[number % TEXTS]};
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshot_create(w->fd, &options, &s, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_number(s, "number", number, &err), &err);
	HI_ASSERT_OK(put_hostile(s, h, &err), &err);
	HI_ASSERT_OK(hi_snapshots_commit(w, HI_SNAPSHOTS_WHOLE, &point, &err), &err);
	HI_ASSERT_OK(hi_snapshots_put_mark(w, &mark, &err), &err);
}

const char *hostile_series(const char *in, const char *name, unsigned censuses)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *w = NULL;
	const char *path = snapshot_path(in, name);
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshots_create(path, &w, &err), &err);
	for (uint32_t i = 1; i <= censuses; i++)
		add_hostile_census(w, make_hostile(200 + 100 * i), i);
	HI_ASSERT_OK(hi_snapshots_finish(w, HI_SNAPSHOTS_OVER, &err), &err);
	return path;
}
