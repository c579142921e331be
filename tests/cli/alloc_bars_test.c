/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc --bars`, --sort and --edit, of a recording. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

static char bars_file[256], bars_directory[200];

/* parse: 1,920 bytes of 2,208 were allocated, 320 live; cache: 240, all live; fill: 48.
 */
static void record_for_bars(void)
{
	static const char *const commands[] = {"node 13",      "entry 5",  "buf 2",
					       "drop node 10", "brief 40", "inlined 1"};
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);
	struct recording_run run;
	struct hi_command *c;
	char answer[64];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(bars_directory, sizeof(bars_directory), "%s", workshop_open());
	snprintf(bars_file, sizeof(bars_file), "%s/app.hirec", bars_directory);
	run = recording_start(fx->pid, "-o", bars_file, NULL);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		hi_fixture_tell(fx, commands[i]);
		HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
}

#define OF_BARS(...) hi_heapinspect("alloc", bars_file, __VA_ARGS__)

/* The names come in this order, as the first words of lines. */
static void check_order_of(const struct hi_command *c, const char *const names[3])
{
	const char *at = c->out;
	char line[40];

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "\n  %s ", names[i]);
		at = strstr(at, line);
		HI_ASSERT_MSG(at != NULL, "no %s behind the others in %s", names[i],
			      c->out);
	}
}

HI_TEST_ROOT(alloc_bars, functions_come_in_the_order_of_sort)
{
	static const char *const by_alloc[] = {"parse", "cache", "fill"},
				 *const by_name[] = {"cache", "fill", "parse"};

	record_for_bars();
	check_order_of(OF_BARS("--bars"), by_alloc);
	check_order_of(OF_BARS("--bars", "--sort", "weight"), by_alloc);
	check_order_of(OF_BARS("--bars", "--sort", "live"), by_alloc);
	check_order_of(OF_BARS("--bars", "--sort", "name"), by_name);
	check_order_of(OF_BARS("--sort", "name"), by_name);
	check_order_of(OF_BARS("--sort", "survived"), by_alloc);
	check_order_of(hi_heapinspect("alloc", bars_file), by_alloc);
	HI_ASSERT(strstr(OF_BARS("--sort", "live", "--top", "1")->out, "\n  parse "));
}

HI_TEST_ROOT(alloc_bars, wrong_weights_and_orders_are_refused)
{
	static const char *const weights[] = {"1.2", "-0.1", "nan",    "inf",
					      "",    "0,5",  "1e-400x"};

	record_for_bars();
	for (size_t i = 0; i < sizeof(weights) / sizeof(*weights); i++)
		HI_ASSERT_MSG(OF_BARS("--bars", "--weight", weights[i])->exit_code == 2,
			      "--weight %s", weights[i]);
	HI_ASSERT_EQ(2, OF_BARS("--bars", "--sort", "size")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--sort", "weight")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--format", "svg")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--bars", "--format", "mlworks")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--bars", "--callers")->exit_code);
}

/* 0 has a height for none of them, as there are no samples of time. */
HI_TEST_ROOT(alloc_bars, no_line_is_wider_than_the_page)
{
	static const char *const widths[] = {"60", "80", "120", "200"};
	char *line, *rest;

	record_for_bars();
	for (size_t i = 0; i < 4; i++) {
		struct hi_command *c = OF_BARS("--bars", "--width", widths[i]);

		HI_ASSERT_EQ(0, c->exit_code);
		rest = NULL;
		for (line = strtok_r(c->out, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			HI_ASSERT_MSG(strlen(line) <= (size_t)atoi(widths[i]), "%s: %s",
				      widths[i], line);
	}
}

HI_TEST_ROOT(alloc_bars, the_picture_has_a_bar_for_each_function)
{
	char svg[300];
	struct hi_command *c;
	const char *parse, *cache, *fill;

	record_for_bars();
	snprintf(svg, sizeof(svg), "%s/bars.svg", bars_directory);
	c = OF_BARS("--bars", "--format", "svg", "-o", svg);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_STREQ("", c->out);
	/* It is XML. */
	workshop_run("xmllint --noout bars.svg || python3 -c 'import "
		     "xml.dom.minidom as m; m.parse(\"bars.svg\")'");
	c = OF_BARS("--bars", "--format", "svg");
	parse = strstr(c->out, ">parse<");
	cache = strstr(c->out, ">cache<");
	fill = strstr(c->out, ">fill<");
	HI_ASSERT_MSG(parse && cache && fill && parse < cache && cache < fill, "%s",
		      c->out);
	HI_ASSERT_MSG(strstr(c->out, "86.96 %, 1920 bytes") &&
			      strstr(c->out, "10.87 %, 240 bytes"),
		      "%s", c->out);
	HI_ASSERT(!strstr(c->out, "<script") && !strstr(c->out, "<image"));
}

/* ---- the page ---- */

/* By another reader of XML, beside the JSON of the same file. */
static const char page_check[] =
	"import json, sys\n"
	"import xml.etree.ElementTree as tree\n"
	"page = tree.parse('page.html').getroot()\n"
	"doc = json.load(open('page.json'))\n"
	"name = lambda e: e.tag.split('}')[-1]\n"
	"ids = {e.get('id'): e for e in page.iter() if e.get('id')}\n"
	"links = [e.get('href') for e in page.iter() if name(e) == 'a']\n"
	"assert all(link[1:] in ids and link[0] == '#' for link in links), links\n"
	"assert not [e for e in page.iter() if name(e) in ('script', 'img', 'link')]\n"
	"bars = [e for e in page.iter() if e.get('class') == 'bar']\n"
	"assert len(bars) == doc['selected'] == 3, len(bars)\n"
	"anchors = [e for e in page.iter() if name(e) == 'a' and len(e)]\n"
	"for a, f in zip(anchors, doc['functions']):\n"
	"    section = ''.join(ids[a.get('href')[1:]].itertext())\n"
	"    assert f['name'] in section and 'space_lives.c:' in section, section\n"
	"    assert 'called by do_once' in section or f['name'] == 'fill', section\n"
	"    for t in f['types']:\n"
	"        assert (t['name'] or '(unknown)').split()[-1] in section, section\n"
	"    bar = ''.join(a.itertext())\n"
	"    assert '%d bytes' % f['alloc']['size'] in bar, bar\n"
	"def text(n):\n"
	"    return '%d B' % n if n < 1024 else '%.1f KiB' % (n / 1024)\n"
	"totals = ''.join(ids['totals'].itertext())\n"
	"total = doc['total']\n"
	"for part in ('alloc', 'live'):\n"
	"    wanted = '%s in %d objects' % (text(total[part]['size']), "
	"total[part]['number'])\n"
	"    assert wanted in totals, (wanted, totals)\n"
	"assert text(total['survived']['size']) + ' (once' in totals, totals\n";

HI_TEST_ROOT(alloc_bars, each_bar_of_the_page_leads_to_its_function)
{
	char page[300], document[300];
	struct hi_command *c;

	record_for_bars();
	snprintf(page, sizeof(page), "%s/page.html", bars_directory);
	snprintf(document, sizeof(document), "%s/page.json", bars_directory);
	c = OF_BARS("--format", "html", "-o", page);
	HI_ASSERT_MSG(c->exit_code == 0 && !*c->out, "%s", c->err);
	HI_ASSERT_EQ(0, OF_BARS("--json", "-o", document)->exit_code);
	workshop_write("check.py", page_check);
	workshop_run("/usr/bin/python3.11 check.py");
	HI_ASSERT_EQ(0, OF_BARS("--format", "html", "--weight", "0.5")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--format", "html", "--bars")->exit_code);
	HI_ASSERT_EQ(2, OF_BARS("--format", "htm")->exit_code);
}

/* ---- --edit ---- */

static const char *const fake_editor = "#!/bin/sh\n"
				       "for word; do printf '<%s>' \"$word\"; done "
				       "> \"$HI_SAW\"\n"
				       "exit ${HI_EDITOR_STATUS:-0}\n";

static void use_editor(const char *variable, const char *words)
{
	char editor[512], saw[256];

	workshop_write("editor", fake_editor);
	workshop_run("chmod +x editor");
	snprintf(editor, sizeof(editor), "%s/editor%s", bars_directory, words);
	snprintf(saw, sizeof(saw), "%s/saw", bars_directory);
	unsetenv("VISUAL");
	unsetenv("EDITOR");
	setenv(variable, editor, 1);
	setenv("HI_SAW", saw, 1);
}

static void forget_editor(void *unused)
{
	(void)unused;
	unsetenv("VISUAL");
	unsetenv("EDITOR");
	unsetenv("HI_SAW");
	unsetenv("HI_EDITOR_STATUS");
}

/* What the editor was given. */
static const char *read_seen(void)
{
	static char text[1024];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/saw", bars_directory);
	f = fopen(path, "r");
	HI_ASSERT(f != NULL);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
	return text;
}

/* The line of a text in the fixture's source: the truth about lines. */
static int line_in_fixture(const char *function, const char *text)
{
	FILE *f = fopen(HI_SOURCE_DIR "/fixtures/space_lives.c", "r");
	char line[256];
	bool inside = false;

	HI_ASSERT(f != NULL);
	for (int n = 1; fgets(line, sizeof(line), f); n++) {
		inside |= strstr(line, function) != NULL;
		if (inside && strstr(line, text)) {
			fclose(f);
			return n;
		}
	}
	hi_test_fail(__FILE__, __LINE__, "no %s in %s", text, function);
}

static void check_seen(const char *first_words, const char *function)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "%s<+%d><%s/fixtures/space_lives.c>",
		 first_words, line_in_fixture(function, "malloc("), HI_SOURCE_DIR);
	HI_ASSERT_STREQ(expected, read_seen());
}

HI_TEST_ROOT(alloc_edit, opens_the_source_where_the_first_function_allocates)
{
	struct hi_command *c;

	hi_test_defer(forget_editor, NULL);
	record_for_bars();
	use_editor("EDITOR", "");
	c = OF_BARS("--edit");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT(strstr(c->out, "By function"));
	check_seen("", "*parse(size_t");
	HI_ASSERT_EQ(0, OF_BARS("--edit", "--bars", "--select", "cache")->exit_code);
	check_seen("", "*cache(void)");
	/* VISUAL has words, and counts before EDITOR. */
	use_editor("VISUAL", " -n  --wait");
	setenv("EDITOR", "/nonexistent/editor", 1);
	HI_ASSERT_EQ(0, OF_BARS("--edit", "--select", "fill")->exit_code);
	check_seen("<-n><--wait>", "*fill(void)");
}

HI_TEST_ROOT(alloc_edit, editor_that_cannot_be_started_is_an_error)
{
	struct hi_command *c;

	hi_test_defer(forget_editor, NULL);
	record_for_bars();
	forget_editor(NULL);
	c = OF_BARS("--edit");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "neither VISUAL nor EDITOR is set"), "%s", c->err);
	HI_ASSERT_STREQ("", c->out);
	setenv("EDITOR", "/nonexistent/editor", 1);
	c = OF_BARS("--edit");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "cannot run /nonexistent/editor"), "%s", c->err);
	use_editor("EDITOR", "");
	setenv("HI_EDITOR_STATUS", "3", 1);
	c = OF_BARS("--edit");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "ended with status 3"), "%s", c->err);
}

#define HOSTILE "-x $(touch pwned); %s.c"

/* A program whose source has this name, which `directive` may change; recorded. */
static void record_hostile(const char *directive)
{
	char text[800], program[300], answer[16];
	struct recording_run run;
	struct hi_fixture *fx;

	snprintf(bars_directory, sizeof(bars_directory), "%s", workshop_open());
	snprintf(bars_file, sizeof(bars_file), "%s/app.hirec", bars_directory);
	snprintf(program, sizeof(program), "%s/app", bars_directory);
	snprintf(
		text, sizeof(text),
		"#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n%s\n"
		"__attribute__((noinline)) void *hostile(void)\n"
		"{ void *p = malloc(64); return p; }\n"
		"int main(void) { char c; puts(\"ready\"); fflush(stdout);\n"
		"while (read(0, &c, 1) == 1) { hostile(); puts(\"\"); fflush(stdout); }\n"
		"return 0; }\n",
		directive);
	workshop_write(HOSTILE, text);
	workshop_run("cc -g -O0 -w -o app './-x $(touch pwned); %%s.c'");
	fx = hi_fixture_start(program, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "-o", bars_file, NULL);
	hi_fixture_tell(fx, "");
	HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(0, recording_end(&run, SIGINT)->exit_code);
}

/* What debug information says of the source reaches no shell, and is no option. */
HI_TEST_ROOT(alloc_edit, hostile_names_of_sources_are_only_names)
{
	struct hi_command *c;
	const char *seen;
	char path[256];

	hi_test_defer(forget_editor, NULL);
	record_hostile("");
	use_editor("EDITOR", "");
	c = OF_BARS("--edit", "--select", "hostile");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	seen = read_seen();
	HI_ASSERT_MSG(strncmp(seen, "<+6></", 6) == 0 && strstr(seen, "/" HOSTILE ">"),
		      "%s", seen);
	snprintf(path, sizeof(path), "%s/pwned", bars_directory);
	HI_ASSERT(access(path, F_OK) != 0 && access("pwned", F_OK) != 0);
}

HI_TEST_ROOT(alloc_edit, sources_that_are_not_there_are_errors)
{
	static const char *const directives[] = {"#line 7 \"/nonexistent/a.c\"",
						 "#line 7 \"-rf\"", "#line 7 \"/tmp\"",
						 "#line 7 \"/dev/zero\""};
	char path[256];

	hi_test_defer(forget_editor, NULL);
	for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++) {
		struct hi_command *c;

		record_hostile(directives[i]);
		use_editor("EDITOR", "");
		c = OF_BARS("--edit", "--select", "hostile");
		HI_ASSERT_MSG(c->exit_code == 2, "%s: %d", directives[i], c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "--edit: "), "%s", c->err);
		snprintf(path, sizeof(path), "%s/saw", bars_directory);
		HI_ASSERT(access(path, F_OK) != 0);
	}
}
