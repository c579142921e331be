/* SPDX-License-Identifier: BSD-2-Clause */
/* heapinspect graph, and the files that it draws, against readers that are not
 * ours: GHC's hp2ps, and a strict one in Python (tests/support/hp_oracle.py). */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/heap_profile/hp_writer.h"
#include "report/pictures/bands.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/random.h"
#include "tests/support/workshop.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
#define ORACLE HI_SOURCE_DIR "/tests/support/hp_oracle.py"

static const char *find_hp2ps(void)
{
	static const char built[] = HI_SOURCE_DIR "/build/targets/hp2ps";

	if (access(built, X_OK) == 0)
		return built;
	if (access("/usr/bin/hp2ps", X_OK) == 0)
		return "/usr/bin/hp2ps";
	HI_SKIP("no hp2ps: run scripts/build-targets build/targets hp2ps");
}

static uint64_t state = 0x2545f4914f6cdd1du;

static struct hi_hp *create(const char *directory, const char *name, const char *job)
{
	struct hi_hp_header header = {.job = job, .date = 1795252800};
	struct hi_error err = {};
	struct hi_hp *hp = NULL;
	char path[512];
	int fd, key;

	snprintf(path, sizeof(path), "%s/%s.hp", directory, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	snprintf(path, sizeof(path), "%s/%s.prof", directory, name);
	key = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	HI_ASSERT(fd >= 0 && key >= 0);
	HI_ASSERT_OK(hi_hp_create(fd, key, &header, &hp, &err), &err);
	hi_test_defer(hi_hp_destroy, hp);
	return hp;
}

/* Names that a strict format chokes on if they are written as they are. */
static const char *name_of(size_t i)
{
	static const char *const hard[] = {
		"struct node",
		"struct_node",
		"MARK",
		"BEGIN_SAMPLE",
		"12",
		"1.5",
		"-3",
		"\"quoted\"",
		"",
		"a\tb\nc",
		"(untyped)",
		"(2)a,b",
		"\xff\xfe",
		"std::map<int, std::vector<char> >::node *",
		"back\\slash (",
		"OTHER one",
		"\xc3\xa4 \xe2\x86\x92",
		"%s%n",
	};
	static char name[400];

	if (i < sizeof(hard) / sizeof(hard[0]))
		return hard[i];
	memset(name, 'x', sizeof(name));
	snprintf(name + (i % 3) * 100, 100, "type %zu", i);
	return i % 3 ? name : name + (i % 3) * 100;
}

static void write_random(struct hi_hp *hp, size_t n_bands, size_t n_samples)
{
	static const char *const members[] = {"server.db", "struct client *",
					      "ns::Cache<int, long>::instance"};
	uint64_t time = random_below(&state, 3) * 1000000000, scales[64];
	struct hi_error err = {};

	for (size_t b = 0; b < n_bands; b++)
		scales[b] = 1 + random_below(&state, 1ull << random_below(&state, 44));
	for (size_t i = 0; i < n_samples; i++) {
		hi_hp_sample_begin(hp, time);
		for (size_t b = 0; b < n_bands; b++)
			HI_ASSERT_OK(hi_hp_band(hp, name_of(b),
						random_below(&state, scales[b]), &err),
				     &err);
		for (uint64_t k = 1; k <= 3; k++)
			HI_ASSERT_OK(hi_hp_set_band(hp, k, members, k,
						    random_below(&state, 1 << 30), &err),
				     &err);
		HI_ASSERT_OK(hi_hp_sample_end(hp, &err), &err);
		time += 10000000 * (1 + random_below(&state, 200));
		if (random_below(&state, 4) == 0)
			HI_ASSERT_OK(hi_hp_mark(hp, time, "a mark", &err), &err);
	}
	HI_ASSERT_OK(hi_hp_finish(hp, time, &err), &err);
}

static struct hi_bands *bands_of(const struct hi_hp_series *series, size_t limit,
				 double share)
{
	struct hi_bands_options options = {.limit = limit, .min_share = share};
	struct hi_bands *bands = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_bands_create(series, &options, &bands, &err), &err);
	hi_test_defer(hi_bands_destroy, bands);
	return bands;
}

static struct hi_hp_series *read_series(const char *path)
{
	struct hi_hp_series *series = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_read(path, &series, &err), &err);
	hi_test_defer(hi_hp_series_destroy, series);
	return series;
}

/* Each line of the oracle, but OTHER's, is one of our bands, with its area but for
 * rounding. Returns the number of these lines. */
static size_t compare_areas(const struct hi_bands *bands, const char *kind,
			    const char *path, double relative)
{
	struct hi_command *oracle =
		hi_command_run(0, "/usr/bin/python3", ORACLE, kind, path, NULL);
	size_t lines = 0;

	HI_ASSERT_MSG(oracle->exit_code == 0, "%s", oracle->err);
	for (const char *s = oracle->out; *s; s = strchr(s, '\n') + 1) {
		size_t n = strcspn(s, "\t"), i = 0;
		double area = strtod(s + n + 1, NULL);

		if (n == 5 && strncmp(s, "OTHER", 5) == 0)
			continue;
		while (i < bands->count && (strncmp(bands->items[i].name, s, n) != 0 ||
					    bands->items[i].name[n]))
			i++;
		HI_ASSERT_MSG(i < bands->count, "%.*s is no band", (int)n, s);
		HI_ASSERT_MSG(fabs(area - bands->items[i].area) <=
				      relative * bands->total_area + 1e-5,
			      "%.*s: %f, ours %f", (int)n, s, area, bands->items[i].area);
		lines++;
	}
	return lines;
}

/* A file of random bands, and all of them as we read it. */
static struct hi_bands *random_file(const char *directory)
{
	struct hi_hp *hp = create(directory, "series", "a \"job\" (x \\ y");
	char path[512];

	write_random(hp, random_below(&state, 50), 2 + random_below(&state, 20));
	snprintf(path, sizeof(path), "%s/series.hp", directory);
	return bands_of(read_series(path), HI_BANDS_MAX, 0);
}

HI_TEST_SCENARIO(cli_graph, a_strict_reader_accepts_every_file_and_its_areas_are_ours)
{
	const char *directory = workshop_open();
	char path[512];

	snprintf(path, sizeof(path), "%s/series.hp", directory);
	for (int round = 0; round < 12; round++) {
		struct hi_bands *bands = random_file(directory);

		HI_ASSERT_EQ(bands->count, compare_areas(bands, "hp", path, 1e-9));
	}
}

HI_TEST_SCENARIO(cli_graph, hp2ps_accepts_every_file_and_its_areas_are_ours)
{
	const char *hp2ps = find_hp2ps(), *directory = workshop_open();
	char stem[512];

	snprintf(stem, sizeof(stem), "%s/series", directory);
	for (int round = 0; round < 20; round++) {
		struct hi_bands *bands = random_file(directory);
		size_t n;

		/* Its usual twenty; then all of them, however small. */
		workshop_run("rm -f series.ps series.aux && %s series.hp", hp2ps);
		n = compare_areas(bands, "ps", stem, 1e-6);
		HI_ASSERT(n > 0 && n <= 20);
		workshop_run("rm -f series.ps series.aux && %s -t0 -m0 series.hp", hp2ps);
		HI_ASSERT_EQ(bands->count, compare_areas(bands, "ps", stem, 1e-6));
	}
}

HI_TEST_SCENARIO(cli_graph, hp2ps_accepts_files_without_bands_and_huge_values)
{
	const char *hp2ps = find_hp2ps(), *directory = workshop_open();
	struct hi_error err = {};
	struct hi_hp *hp = create(directory, "empty", "");

	HI_ASSERT_OK(hi_hp_finish(hp, 0, &err), &err);
	workshop_run("%s empty.hp && test -s empty.ps", hp2ps);
	hp = create(directory, "huge", "x");
	hi_hp_sample_begin(hp, UINT64_MAX);
	HI_ASSERT_OK(hi_hp_band(hp, "all", UINT64_MAX, &err), &err);
	HI_ASSERT_OK(hi_hp_sample_end(hp, &err), &err);
	workshop_run("%s huge.hp && test -s huge.ps", hp2ps);
	workshop_run("%s -q graph huge.hp -o huge.svg && %s -q graph empty.hp -o e.svg",
		     PROGRAM, PROGRAM);
}

HI_TEST_SCENARIO(cli_graph, every_set_in_the_series_has_one_meaning_in_the_key)
{
	const char *directory = workshop_open();

	write_random(create(directory, "series", "x"), 30, 10);
	workshop_run("%s",
		     "/usr/bin/python3 -c '\n"
		     "import re\n"
		     "key = [l for l in open(\"series.prof\", encoding=\"utf-8\")]\n"
		     "keys = [m[1] for m in (re.match(r\"(?:SET|NAME) (n?\\d+) = .\", l)"
		     " for l in key) if m]\n"
		     "assert len(set(keys)) == len(keys) > 5, keys\n"
		     "used = set(re.findall(r\"^\\((n?\\d+)\\)\", "
		     "open(\"series.hp\", encoding=\"utf-8\").read(), re.M))\n"
		     "assert used == set(keys), (used, keys)\n"
		     "assert \"SET 2 = {<server.db>, <struct client *>}\\n\" in key\n'");
}

HI_TEST_SCENARIO(cli_graph, a_picture_is_written_whole_and_private)
{
	const char *directory = workshop_open();
	char path[512];
	struct hi_command *c;
	struct stat st;

	write_random(create(directory, "series", "the <job>"), 25, 10);
	workshop_run("rm series.prof"); /* a pipe has none */
	workshop_run("%s graph series.hp -o x.svg 2>note && grep -q ' bands: .* drawn' "
		     "note && %s -q graph series.hp >y.svg && cmp x.svg y.svg",
		     PROGRAM, PROGRAM);
	workshop_run("%s graph -q <series.hp /dev/stdin -o z.svg && cmp x.svg z.svg",
		     PROGRAM);
	workshop_run("/usr/bin/python3 -c 'import xml.etree.ElementTree as e; "
		     "e.parse(\"x.svg\")' && grep -q 'the &lt;job&gt;' x.svg");
	snprintf(path, sizeof(path), "%s/x.svg", directory);
	HI_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	snprintf(path, sizeof(path), "%s/series.hp", directory);
	c = hi_heapinspect("graph", path, "-o", "/dev/full");
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(cli_graph, the_key_beside_the_file_tells_whole_names)
{
	workshop_open();
	workshop_write("one.hp",
		       "JOB \"a \"\"b\"\"\"\nDATE \"d\"\nBEGIN_SAMPLE 0.0\n(71)a,b\t5\n"
		       "(n2)map...\t4\n(72)c\t3\nEND_SAMPLE 0.0\n");
	workshop_write("one.prof",
		       "Key of a heap profile\nJOB \"a \"\"b\"\"\"\nDATE \"d\"\n\n"
		       "SET 71 = {<a[m]>, <b&c>}\nnonsense\nNAME n2 = map<int, <b>\n"
		       "SET x = {<>}\nSET 72 = {<cut");
	workshop_run("%s -q graph one.hp -o x.svg && "
		     "grep -q '<title>(71)a,b = {&lt;a\\[m\\]&gt;, &lt;b&amp;c&gt;}: "
		     "mean' x.svg && "
		     "grep -q '<title>(n2)map... = map&lt;int, &lt;b&gt;: mean' x.svg && "
		     "grep -q '<title>(72)c: mean' x.svg",
		     PROGRAM);
	/* The key of another series is none of this one. */
	workshop_run(
		"sed -i 's/DATE .*/DATE \"e\"/' one.prof && "
		"%s -q graph one.hp -o x.svg && grep -q '<title>(71)a,b: mean' x.svg",
		PROGRAM);
}

HI_TEST_SCENARIO(cli_graph, a_series_has_its_own_names_and_a_legend_that_shows_them)
{
	static const char name[] = "ns::Very<int, std::vector<ns::Other>, ns::Third>";

	workshop_open();
	/* Of the program that the series was made of. */
	workshop_run(
		"%s -q graph %s -o s.svg && grep -q '>struct node</text>' s.svg && "
		"grep -q '>char \\[\\]</text>' s.svg && ! grep -q struct_node s.svg && "
		"grep -q '5 samples over 24' s.svg",
		PROGRAM, HI_SOURCE_DIR "/tests/data/series-v1.hisnap");
	/* A label that is cut: its name by the key, over several lines. */
	workshop_write("long.hp",
		       "JOB \"x\"\nDATE \"d\"\nBEGIN_SAMPLE 0.0\n(n1)ns...\t5\n"
		       "END_SAMPLE 0.0\n");
	workshop_run(
		"{ printf 'Key of a heap profile\\nJOB \"x\"\\nDATE \"d\"\\n"
		"NAME n1 = '; for i in 1 2 3 4; do printf '%%s, ' '%s'; done; echo END; "
		"} >long.prof",
		name);
	workshop_run(
		"%s -q graph long.hp -o l.svg && grep -q '>ns::Very&lt;int' l.svg && "
		"grep -q '[^>]*END</text>' l.svg && "
		"test $(grep -c 'class=\"left\" x=\"426\"' l.svg) -gt 1",
		PROGRAM);
}

HI_TEST_SCENARIO(cli_graph, marks_have_their_text)
{
	workshop_open();
	workshop_write("m.hp", "JOB \"x\"\nDATE \"d\"\nBEGIN_SAMPLE 0.0\na\t5\n"
			       "END_SAMPLE 0.0\nMARK 1.0\nMARK 1.1\nMARK 8.9\n"
			       "BEGIN_SAMPLE 9.0\na\t5\nEND_SAMPLE 9.0\n");
	workshop_write("m.prof", "Key of a heap profile\nJOB \"x\"\nDATE \"d\"\n\n"
				 "MARK 1.000000 deploy <b>\nMARK 1.100000 \n"
				 "MARK 8.900000 at the right\n");
	workshop_run(
		"%s -q graph m.hp -o m.svg && "
		"grep -q 'MARK 1.000: deploy &lt;b&gt;</title><text class=\"marktext\"' "
		"m.svg && grep -q 'MARK 1.100</title></g>' m.svg && "
		"grep -q 'class=\"marktext right\"[^>]*>at the right<' m.svg",
		PROGRAM);
}

HI_TEST_SCENARIO(cli_graph, like_another_file_gives_a_band_the_same_colour)
{
	workshop_open();
	workshop_write("one.hp", "BEGIN_SAMPLE 0.0\na\t30\nb\t20\nc\t10\nEND_SAMPLE 0.0\n"
				 "BEGIN_SAMPLE 9.0\na\t30\nb\t20\nEND_SAMPLE 9.0\n");
	workshop_write("two.hp", "BEGIN_SAMPLE 0.0\nnew\t9\nb\t1\nc\t40\nEND_SAMPLE 0.0\n"
				 "BEGIN_SAMPLE 3.0\nnew\t9\nc\t1\nEND_SAMPLE 3.0\n");
	workshop_run("%s -q graph one.hp -o one.svg && %s -q graph two.hp -o two.svg && "
		     "%s -q graph two.hp --like one.hp -o like.svg",
		     PROGRAM, PROGRAM, PROGRAM);
	/* The colour stands before the title, which begins with the name. */
	workshop_run(
		"%s",
		"c() { sed -n \"s/.*fill=.\\(#[0-9a-f]*\\). d=.*<title>$2:.*/\\1/p\" "
		"$1.svg; }\n"
		"test -n \"$(c one b)\" && test \"$(c one b)\" = \"$(c like b)\" && "
		"test \"$(c one c)\" = \"$(c like c)\" && "
		"test \"$(c one c)\" != \"$(c two c)\"");
	/* The scale: up to 60 bytes and 9 seconds, not up to 50 and 3. */
	workshop_run("grep -q '>56 B<' like.svg && grep -q '>8<' like.svg && "
		     "! grep -q '>56 B<' two.svg && ! grep -q '>8<' two.svg");
}

HI_TEST_SCENARIO(cli_graph, wrong_words_and_files_are_named_in_one_line)
{
	static const struct {
		const char *argv[6], *word;
	} cases[] = {
		{{"graph"}, "FILE.hp"},
		{{"graph", "a.hp", "b.hp"}, "b.hp"},
		{{"graph", "/nonexistent/a.hp"}, "/nonexistent/a.hp"},
		{{"graph", "/"}, "cannot read"},
		{{"graph", "/dev/null"}, "no complete sample"},
		{{"graph", "good.hp", "--like", "/nonexistent/b.hp"},
		 "/nonexistent/b.hp"},
		{{"graph", "comma.hp"}, "comma.hp: line 5: a decimal comma"},
		{{"graph", "good.hp", "--sort", "colour"}, "colour"},
		{{"graph", "good.hp", "--bands", "0"}, "--bands 0"},
		{{"graph", "good.hp", "--bands", "201"}, "--bands 201"},
		{{"graph", "good.hp", "--min-pct", "-1"}, "--min-pct -1"},
		{{"graph", "good.hp", "--min-pct", "51"}, "--min-pct 51"},
		{{"graph", "good.hp", "--from", "1,5"}, "--from 1,5"},
		{{"graph", "good.hp", "--from", "3", "--to=2"}, "range"},
		{{"graph", "good.hp", "--from", "100"}, "no sample"},
		{{"graph", "good.hp", "--ymax", "0"}, "--ymax 0"},
		{{"graph", "good.hp", "-o", "/nonexistent/x.svg"}, "/nonexistent/x"},
	};

	HI_ASSERT(chdir(workshop_open()) == 0);
	workshop_write("good.hp", "BEGIN_SAMPLE 0.0\na\t3\nEND_SAMPLE 0.0\n");
	workshop_write("comma.hp", "JOB \"x\"\nBEGIN_SAMPLE 0.0\na\t3\nEND_SAMPLE 0.0\n"
				   "BEGIN_SAMPLE 0,5\na\t3\nEND_SAMPLE 0,5\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_command *c = hi_heapinspect_words(cases[i].argv, NULL);

		HI_ASSERT_MSG(c->exit_code == 2, "%zu: exit %d: %s", i, c->exit_code,
			      c->err);
		HI_ASSERT_MSG(strncmp(c->err, "heapinspect: ", 13) == 0, "%s", c->err);
		HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + c->err_size - 1, "%s",
			      c->err);
		HI_ASSERT_MSG(strstr(c->err, cases[i].word) != NULL,
			      "%zu: no \"%s\" in: %s", i, cases[i].word, c->err);
		HI_ASSERT_EQ(0, c->out_size);
	}
	/* Options of an inspection are none of a picture. */
	HI_ASSERT_EQ(2, hi_heapinspect("graph", "good.hp", "--pid", "1")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("graph", "good.hp", "--json")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("census", "--pid", "1", "--like", "x")->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("graph", "good.hp")->exit_code);
	HI_ASSERT(chdir("/") == 0);
}
