/* SPDX-License-Identifier: BSD-2-Clause */
/* The checks of tests/support/schema.h against python3-jsonschema: both say the same of
 * documents that the program prints, and of many that are wrong in one place. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/python.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

enum { MUTATIONS = 60 };

static const char judge[] =
	"import json, sys, jsonschema\n"
	"judges = {}\n"
	"for line in open(sys.argv[1], encoding='utf-8'):\n"
	"    name, doc = line.split('\\t')\n"
	"    if name not in judges:\n"
	"        schema = json.load(open(sys.argv[2] + name, encoding='utf-8'))\n"
	"        jsonschema.Draft7Validator.check_schema(schema)\n"
	"        judges[name] = jsonschema.Draft7Validator(schema)\n"
	"    print('right' if judges[name].is_valid(json.loads(doc)) else 'wrong')\n";

/* ---- documents that are wrong in one place ---- */

static unsigned drawn_below(unsigned n)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Lists the objects and arrays of a document. */
static void list_containers(json_t *value, json_t *list)
{
	const char *name;
	json_t *below;
	size_t i;

	if (json_is_object(value) || json_is_array(value))
		json_array_append(list, value);
	json_object_foreach(value, name, below) list_containers(below, list);
	json_array_foreach(value, i, below) list_containers(below, list);
}

/* Makes a value of another type, or out of its range, of a value. */
static json_t *draw_value(const json_t *old)
{
	static const char *const words[] = {"",	    "0x12", "12",   "abc",
					    "0X12", "live", "12.5", "type"};

	switch (drawn_below(10)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(drawn_below(2));
	case 2:
		return json_integer(-1);
	case 3:
		return json_integer(drawn_below(20));
	case 4:
		return json_real(drawn_below(2) ? 3.0 : 2.5);
	case 5:
		return json_object();
	case 6:
		return json_array();
	case 7:
		return json_sprintf("%s?",
				    json_is_string(old) ? json_string_value(old) : "");
	default:
		return json_string(words[drawn_below(8)]);
	}
}

static void change_array(json_t *array)
{
	size_t n = json_array_size(array), i = n ? drawn_below((unsigned)n) : 0;

	switch (drawn_below(4)) {
	case 0:
		json_array_remove(array, i);
		break;
	case 1:
		json_array_clear(array);
		break;
	case 2:
		json_array_append_new(array, n ? json_deep_copy(json_array_get(array, i))
					       : draw_value(NULL));
		break;
	default:
		if (n)
			json_array_set_new(array, i,
					   draw_value(json_array_get(array, i)));
	}
}

static void change_object(json_t *object)
{
	static const char *const more[] = {"more", "site", "type", "bytes"};
	size_t n = json_object_size(object);
	unsigned skip = n ? drawn_below((unsigned)n) : 0;
	void *at = json_object_iter(object);
	const char *key;

	while (skip--)
		at = json_object_iter_next(object, at);
	key = at ? json_object_iter_key(at) : "first";
	switch (drawn_below(4)) {
	case 0:
		json_object_del(object, key);
		break;
	case 1:
		json_object_set_new(object, more[drawn_below(4)], draw_value(NULL));
		break;
	default:
		json_object_set_new(object, key,
				    draw_value(json_object_get(object, key)));
	}
}

/* Copies a document and changes the copy in one place. */
static json_t *mutate(const json_t *doc)
{
	json_t *copy = json_deep_copy(doc), *list = json_array(), *place;

	list_containers(copy, list);
	place = json_array_get(list, drawn_below((unsigned)json_array_size(list)));
	if (json_is_array(place))
		change_array(place);
	else
		change_object(place);
	json_decref(list);
	return copy;
}

/* ---- both verdicts ---- */

/* Has documents with our verdicts, which are compared in the end. */
struct court {
	const char *path;
	FILE *documents;
	char *verdicts;
	size_t size;
	FILE *ours;
	unsigned right, wrong;
};

static void open_court(struct court *k)
{
	*k = (struct court){.path = snapshot_path(snapshot_directory(), "documents")};
	k->documents = fopen(k->path, "w");
	k->ours = open_memstream(&k->verdicts, &k->size);
	HI_ASSERT(k->documents && k->ours);
}

static void judge_document(struct court *k, const char *name, const json_t *schema,
			   const json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT | JSON_ENCODE_ANY);
	bool is_right = hi_schema_fault(schema, doc) == NULL;

	fprintf(k->documents, "%s\t%s\n", name, text);
	fprintf(k->ours, "%s\n", is_right ? "right" : "wrong");
	k->right += is_right;
	k->wrong += !is_right;
	free(text);
}

static void judge_mutations(struct court *k, const char *name, const json_t *doc)
{
	json_t *schema = hi_schema_read(name);
	const char *fault = hi_schema_fault(schema, doc);

	HI_ASSERT_MSG(!fault, "%s: %s", name, fault);
	judge_document(k, name, schema, doc);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		json_t *copy = mutate(doc);

		judge_document(k, name, schema, copy);
		json_decref(copy);
	}
}

/* Shows the first document of which Python says something else. */
_Noreturn static void show_difference(const struct court *k, const char *theirs)
{
	const char *ours = k->verdicts;
	char line[32];
	size_t i = 0;

	while (ours[i] && ours[i] == theirs[i])
		i++;
	snprintf(line, sizeof(line), "%zup", i / strlen("right\n") + 1);
	hi_test_fail(__FILE__, __LINE__, "in python: %.5s: %.2000s", theirs + i,
		     hi_command_run(0, "sed", "-n", line, k->path, NULL)->out);
}

static void close_court(struct court *k)
{
	const struct hi_command *python;

	fclose(k->documents);
	fclose(k->ours);
	hi_test_defer(free, k->verdicts);
	python = hi_command_run(0, "/usr/bin/python3", "-c", judge, k->path,
				HI_SOURCE_DIR "/docs/schema/", NULL);
	if (strstr(python->err, "No module named"))
		HI_SKIP("needs python3-jsonschema");
	HI_ASSERT_MSG(python->exit_code == 0, "%s", python->err);
	hi_test_note("%u documents are right, %u wrong", k->right, k->wrong);
	if (strcmp(k->verdicts, python->out) != 0)
		show_difference(k, python->out);
	HI_ASSERT(k->right > MUTATIONS && k->wrong > k->right);
}

/* Asks for a document; of a process with two rows at most of each table. */
static void judge_answer(struct court *k, const char *pid, const char *schema,
			 const char *const w[5])
{
	struct hi_command *c =
		pid ? hi_heapinspect(w[0], "--pid", pid, "--json", "--top=2", w[1], w[2])
		    : hi_heapinspect(w[0], "--json", w[1], w[2], w[3], w[4]);

	HI_ASSERT_MSG(c->out_size > 0, "%s: %s", w[0], c->err);
	judge_mutations(k, schema, doc_parse(c->out));
}

struct question {
	const char *schema;
	const char *words[5];
};

/* ---- of stored files ---- */

#define HEAP HI_SOURCE_DIR "/tests/data/v1.hisnap"
#define CONTENTS HI_SOURCE_DIR "/tests/data/v1-contents.hisnap"
#define SERIES HI_SOURCE_DIR "/tests/data/series-v1.hisnap"

static const struct question of_files[] = {
	{"summary.v1.json", {"summary", HEAP}},
	{"rows.v1.json", {"census", CONTENTS}},
	{"rows.v1.json", {"census", CONTENTS, "--by", "type2"}},
	{"rows.v1.json", {"census", CONTENTS, "--by", "size"}},
	{"rows.v1.json", {"retained", CONTENTS}},
	{"rows.v1.json", {"leaks", HEAP}},
	{"rows.v1.json", {"paths", "struct account", CONTENTS}},
	{"rows.v1.json", {"retainers", CONTENTS}},
	{"rows.v1.json", {"up", "--type=struct account", CONTENTS}},
	{"rows.v1.json", {"query", "select * from objects limit 2", CONTENTS}},
	{"rows.v1.json", {"diff", HEAP, HEAP}},
	{"rows.v1.json", {"diff", "--three", HEAP, HEAP, HEAP}},
	{"rows.v1.json", {"check", SERIES, "--fail-on", "live.bytes > 1"}},
	{"tree.v1.json", {"tree", CONTENTS}},
	{"peaks.v1.json", {"peaks", SERIES}},
	{"spacetime.v1.json", {"spacetime", SERIES}},
	{"snapshots.v1.json", {"snapshots", SERIES}},
	{"query-schema.v1.json", {"query", "--schema"}},
};

/* Gives a row both of "type" and "site", of which it must have one: two alternatives of a
 * "oneOf" are obeyed then. */
static void judge_row_with_both(struct court *k)
{
	json_t *schema = hi_schema_read("rows.v1.json");
	json_t *doc = doc_of(hi_heapinspect("retained", CONTENTS, "--json"));

	judge_document(k, "rows.v1.json", schema, doc);
	json_object_set_new(doc_at(doc, "types.0"), "site", json_string("f"));
	judge_document(k, "rows.v1.json", schema, doc);
	HI_ASSERT(hi_schema_fault(schema, doc));
}

HI_TEST_INTEROP(interop_schema, documents_of_files_are_judged_as_by_python)
{
	struct court k;

	open_court(&k);
	for (size_t i = 0; i < sizeof(of_files) / sizeof(*of_files); i++)
		judge_answer(&k, NULL, of_files[i].schema, of_files[i].words);
	judge_row_with_both(&k);
	close_court(&k);
}

/* ---- of processes ---- */

static const struct question of_processes[] = {
	{"summary.v1.json", {"summary"}},
	{"rows.v1.json", {"waste"}},
	{"rows.v1.json", {"audit"}},
	{"rows.v1.json", {"roots", "--root=n=PyExc_OSError"}},
	{"rows.v1.json", {"explain", "0x10"}},
	{"safepoints.v1.json", {"safepoints", "--for=10ms"}},
};

static void judge_series(struct court *k, const char *pid)
{
	struct hi_command *c = hi_heapinspect("census", "--pid", pid, "--json", "--every",
					      "50ms", "--for", "60ms", "--top=2");
	json_t *line;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc_each (line, doc_lines(c->out))
		judge_mutations(k, "series.v1.json", line);
}

static void judge_recording(struct court *k)
{
	const char *file = snapshot_path(snapshot_directory(), "deep.hirec");
	struct hi_fixture *fx = hi_fixture_start("deep_stacks", NULL);
	const struct question asked[] = {
		{"deep.v1.json", {"deep", "--top=2", file}},
		{"alloc.v1.json", {"alloc", "--top=2", file}},
		{"rows.v1.json", {"census", "--by", "site", file}}};
	struct recording_run run;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		judge_answer(k, NULL, asked[i].schema, asked[i].words);
}

static void judge_lives(struct court *k)
{
	struct lived *l = lived_start(LIVED("new old 50"), LIVED());

	lived_period(l, LIVED("new a 100"));
	lived_period(l, LIVED("write a"));
	judge_mutations(k, "bio.v1.json", lived_end(l));
}

HI_TEST_INTEROP(interop_schema, documents_of_processes_are_judged_as_by_python)
{
	struct target *p;
	struct court k;

	if (geteuid() != 0)
		HI_SKIP("needs root");
	p = python_start(NULL, "leaky", NULL, NULL);
	open_court(&k);
	for (size_t i = 0; i < sizeof(of_processes) / sizeof(*of_processes); i++)
		judge_answer(&k, p->pid, of_processes[i].schema, of_processes[i].words);
	judge_series(&k, p->pid);
	judge_recording(&k);
	judge_lives(&k);
	close_court(&k);
}
