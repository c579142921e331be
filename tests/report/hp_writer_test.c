/* SPDX-License-Identifier: BSD-2-Clause */
/* FILE.hp and its key as they are written: every byte, every label, and what is
 * left of them when the writer, the disk or the memory ends. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/heap_profile/hp_reader.h"
#include "report/heap_profile/hp_writer.h"
#include "report/pictures/graph_svg.h"
#include "tests/harness.h"

static void close_file(void *arg)
{
	close((int)(intptr_t)arg);
}

static int new_file(void)
{
	int fd = memfd_create("heap profile", MFD_CLOEXEC);

	HI_ASSERT(fd >= 0);
	hi_test_defer(close_file, (void *)(intptr_t)fd);
	return fd;
}

/* All of the file; freed when the test ends. */
static char *text_of(int fd)
{
	struct stat st;
	char *text;

	HI_ASSERT(fstat(fd, &st) == 0);
	text = calloc(1, (size_t)st.st_size + 1);
	HI_ASSERT(text != NULL);
	hi_test_defer(free, text);
	HI_ASSERT(pread(fd, text, (size_t)st.st_size, 0) == st.st_size);
	return text;
}

static struct hi_hp *open_profile(int fd, int key, const char *job)
{
	struct hi_hp_header header = {.job = job};
	struct hi_error err = {};
	struct hi_hp *hp = NULL;

	setenv("TZ", "UTC", 1);
	HI_ASSERT_OK(hi_hp_create(fd, key, &header, &hp, &err), &err);
	hi_test_defer(hi_hp_destroy, hp);
	return hp;
}

static void put(struct hi_hp *hp, const char *name, uint64_t value)
{
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_band(hp, name, value, &err), &err);
}

static void end(struct hi_hp *hp)
{
	struct hi_error err = {};

	HI_ASSERT_OK(hi_hp_sample_end(hp, &err), &err);
}

HI_TEST(report_hp_writer, a_series_is_written_byte_for_byte_as_ghc_does)
{
	int fd = new_file(), key = new_file();
	struct hi_hp *hp = open_profile(fd, key, "a \"quoted\" job");
	struct hi_error err = {};

	hi_hp_sample_begin(hp, 500000000);
	put(hp, "struct node", 35920);
	put(hp, "none", 0);
	put(hp, "MANY", 104);
	end(hp);
	HI_ASSERT_OK(hi_hp_mark(hp, 750000000, "after the\nload", &err), &err);
	hi_hp_sample_begin(hp, 12345678901234567);
	put(hp, "struct node", UINT64_MAX);
	end(hp);
	/* A clock that steps back is held. */
	HI_ASSERT_OK(hi_hp_finish(hp, 1, &err), &err);
	HI_ASSERT_STREQ("JOB \"a \"\"quoted\"\" job\"\n"
			"DATE \"Thu Jan  1 00:00 1970\"\n"
			"SAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n"
			"BEGIN_SAMPLE 0.500000\nstruct_node\t35920\nMANY\t104\n"
			"END_SAMPLE 0.500000\nMARK 0.750000\n"
			"BEGIN_SAMPLE 12345678.901234\n"
			"struct_node\t9223372036854775807\n"
			"END_SAMPLE 12345678.901234\n"
			"BEGIN_SAMPLE 12345678.901234\nEND_SAMPLE 12345678.901234\n",
			text_of(fd));
	HI_ASSERT_STREQ("Key of a heap profile\nJOB \"a \"\"quoted\"\" job\"\n"
			"DATE \"Thu Jan  1 00:00 1970\"\n\n"
			"MARK 0.750000 after the\\nload\n",
			text_of(key));
}

HI_TEST(report_hp_writer, sets_are_listed_once_in_the_key_before_the_sample)
{
	static const char *const two[] = {"server.db", "std::map<int, a b>"};
	static const char *const one[] = {"g"};
	int fd = new_file(), key = new_file();
	struct hi_hp *hp = open_profile(fd, key, "x");
	struct hi_error err = {};
	struct hi_hp_retainer_census census = {.number = 3,
					       .time_ns = 3530000000,
					       .visits = 8,
					       .objects = 6,
					       .waiting = 12,
					       .costs = 801844,
					       .sets = 118};

	for (int i = 0; i < 3; i++) {
		hi_hp_sample_begin(hp, (uint64_t)i * 1000000000);
		HI_ASSERT_OK(hi_hp_set_band(hp, 71, two, 2, 10, &err), &err);
		HI_ASSERT_OK(hi_hp_set_band(hp, 2, one, 1, i == 1 ? 4 : 0, &err), &err);
		/* A type that looks like a set is none. */
		put(hp, "(2)g", 5);
		end(hp);
	}
	HI_ASSERT_OK(hi_hp_retainer_note(hp, &census, &err), &err);
	HI_ASSERT(strstr(text_of(fd), "BEGIN_SAMPLE 1.000000\n"
				      "(71)server.db,std::map<int,_a_b>\t10\n(2)g\t4\n"
				      "(n1)(2)g\t5\nEND_SAMPLE 1.000000\n") != NULL);
	HI_ASSERT_STREQ("SET 71 = {<server.db>, <std::map<int, a b>>}\nNAME n1 = (2)g\n"
			"SET 2 = {<g>}\n"
			"Retainer Profiling: 3, at 3.530000 seconds\n"
			"  Max auxiliary stack size = 12\n"
			"  Average number of visits per object = 1.333333\n"
			"  Current total costs = 801844\n"
			"  Number of retainer sets = 118\n",
			strstr(text_of(key), "SET"));
}

/* The label of the only band of the newest sample. */
static const char *label_of(int fd)
{
	static char label[256];
	char *text = text_of(fd), *begin = NULL;

	for (char *s = text; (s = strstr(s, "BEGIN_SAMPLE ")); s++)
		begin = s;
	HI_ASSERT(begin != NULL);
	begin = strchr(begin, '\n') + 1;
	snprintf(label, sizeof(label), "%.*s", (int)strcspn(begin, "\t"), begin);
	return label;
}

static const char *label_for(int fd, struct hi_hp *hp, const char *name)
{
	hi_hp_sample_begin(hp, 0);
	put(hp, name, 1);
	end(hp);
	return label_of(fd);
}

HI_TEST(report_hp_writer, labels_are_accepted_by_readers_and_never_shared)
{
	static const char *const words[] = {"JOB",	  "DATE",	  "SAMPLE_UNIT",
					    "VALUE_UNIT", "BEGIN_SAMPLE", "END_SAMPLE",
					    "MARK"};
	int fd = new_file(), key = new_file();
	struct hi_hp *hp = open_profile(fd, key, "x");
	static char labels[256][16];
	char name[8] = "a?b";

	for (int c = 1; c < 256; c++) {
		const char *label;

		name[1] = (char)c;
		label = label_for(fd, hp, name);
		for (const char *s = label; *s; s++)
			HI_ASSERT_MSG((unsigned char)*s > ' ' && *s != '"' && *s != 0x7f,
				      "%d: %s", c, label);
		HI_ASSERT(label[0] == 'a' || strncmp(label, "(n", 2) == 0);
		snprintf(labels[c], sizeof(labels[c]), "%s", label);
		for (int k = 1; k < c; k++)
			HI_ASSERT_MSG(strcmp(labels[k], labels[c]) != 0, "%d, %d: %s", k,
				      c, label);
	}
	for (int i = 0; i < 7; i++)
		HI_ASSERT(strcmp(label_for(fd, hp, words[i]), words[i]) != 0);
	HI_ASSERT_STREQ("struct_node", label_for(fd, hp, "struct node"));
	HI_ASSERT(strncmp("(n", label_for(fd, hp, "struct_node"), 2) == 0);
	HI_ASSERT_STREQ("struct_node", label_for(fd, hp, "struct node"));
	HI_ASSERT_STREQ("'quoted'", label_for(fd, hp, "\"quoted\""));
	HI_ASSERT_STREQ("(unnamed)", label_for(fd, hp, ""));
	HI_ASSERT(strstr(text_of(key), " = struct_node\n") != NULL);
}

HI_TEST(report_hp_writer, a_long_name_is_whole_in_the_key_under_its_number)
{
	int fd = new_file(), key = new_file();
	struct hi_hp *hp = open_profile(fd, key, "x");
	char *name = calloc(1, 20001), line[64], first[256];
	const char *label;

	HI_ASSERT(name != NULL);
	hi_test_defer(free, name);
	memset(name, 'n', 20000);
	snprintf(first, sizeof(first), "%s", label_for(fd, hp, name));
	HI_ASSERT(strncmp(first, "(n1)nnn", 7) == 0 && strlen(first) < 80);
	name[19999] = 'm';
	label = label_for(fd, hp, name);
	HI_ASSERT(strncmp(label, "(n2)nnn", 7) == 0);
	snprintf(line, sizeof(line), "NAME n2 = nnnnn");
	HI_ASSERT(strstr(text_of(key), line) != NULL);
	HI_ASSERT(strstr(text_of(key), name) != NULL);
	/* Cut between characters, not within one. */
	for (int i = 0; i < 10000; i++)
		memcpy(name + i * 2, "\xc3\xa4", 2);
	label = label_for(fd, hp, name + 1);
	label = label_for(fd, hp, name);
	for (const char *s = label + 4; *s && *s != '.'; s += 2)
		HI_ASSERT_MSG(memcmp(s, "\xc3\xa4", 2) == 0, "%s", label);
}

/* A sample's values are known from its number. */
static void write_sample(struct hi_hp *hp, uint64_t i)
{
	char name[32];

	hi_hp_sample_begin(hp, i * 1000000);
	for (uint64_t k = 0; k < 5; k++) {
		snprintf(name, sizeof(name), "band %d", (int)k);
		put(hp, name, i * 10 + k + 1);
	}
	end(hp);
}

/* Samples from 0 up, each complete; their number. */
static size_t check_samples(int fd, bool *truncated)
{
	struct hi_hp_series *s = NULL;
	struct hi_error err = {};
	char *text = text_of(fd);
	size_t n;

	if (!strstr(text, "END_SAMPLE"))
		return 0;
	HI_ASSERT_OK(hi_hp_parse(text, strlen(text), &s, &err), &err);
	n = s->n_samples;
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_EQ(5, s->starts[i + 1] - s->starts[i]);
		for (size_t k = 0; k < 5; k++)
			HI_ASSERT_EQ(i * 10 + k + 1, s->points[s->starts[i] + k].value);
	}
	*truncated = s->truncated;
	hi_hp_series_destroy(s);
	return n;
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

HI_TEST_SCENARIO(report_hp_writer, killed_at_any_instant_it_leaves_whole_samples)
{
	size_t most = 0;
	bool truncated;

	for (int round = 0; round < 40; round++) {
		int fd = new_file(), status;
		pid_t pid = fork();

		HI_ASSERT(pid >= 0);
		if (pid == 0) {
			struct hi_hp *hp = open_profile(fd, -1, "x");

			for (uint64_t i = 0;; i++)
				write_sample(hp, i);
		}
		/* A loaded machine needs longer for as much. */
		for (int i = 0; i < 20000 && size_of(fd) < round * 1000; i++)
			usleep(100);
		usleep((useconds_t)(round * 70));
		kill(pid, SIGKILL);
		HI_ASSERT(waitpid(pid, &status, 0) == pid);
		if (check_samples(fd, &truncated) > most)
			most = check_samples(fd, &truncated);
	}
	hi_test_note("up to %zu samples were written", most);
	HI_ASSERT(most > 100);
}

HI_TEST_SCENARIO(report_hp_writer, a_disk_that_fills_up_is_told_and_keeps_whole_samples)
{
	struct hi_hp_header header = {.job = "x"};
	struct rlimit limit, old;
	struct hi_error err = {};
	struct hi_hp *hp = NULL;
	bool truncated = true;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char path[] = "/tmp/heapinspect-hp-XXXXXX";
	uint64_t i = 0;

	HI_ASSERT_STATUS(HI_OS, hi_hp_create(fd, -1, &header, &hp, &err));
	HI_ASSERT(strstr(err.text, "heap profile") != NULL);
	close(fd);
	fd = mkstemp(path);
	HI_ASSERT(fd >= 0 && unlink(path) == 0);
	hi_test_defer(close_file, (void *)(intptr_t)fd);
	hp = open_profile(fd, -1, "x");
	HI_ASSERT(getrlimit(RLIMIT_FSIZE, &old) == 0);
	limit = (struct rlimit){.rlim_cur = 5000, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	HI_ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (enum hi_status status = HI_OK; status == HI_OK && i < 1000; i++) {
		hi_hp_sample_begin(hp, i * 1000000);
		for (uint64_t k = 0; k < 5; k++) {
			char name[32];

			snprintf(name, sizeof(name), "band %d", (int)k);
			put(hp, name, i * 10 + k + 1);
		}
		status = hi_hp_sample_end(hp, &err);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	HI_ASSERT(i > 10 && i < 1000);
	HI_ASSERT_EQ(HI_OS, err.status);
	HI_ASSERT_EQ(i - 1, check_samples(fd, &truncated));
	HI_ASSERT(!truncated);
}

HI_TEST(report_hp_writer, an_allocation_that_fails_is_told)
{
	static const char *const members[] = {"a", "b"};
	bool done = false;

	for (uint64_t n = 1; !done && n < 200; n++) {
		struct hi_hp_header header = {.job = "x"};
		struct hi_error err = {};
		struct hi_hp *hp = NULL;
		enum hi_status status;
		int fd = memfd_create("x", MFD_CLOEXEC);

		hi_alloc_fail_at(n);
		status = hi_hp_create(fd, fd, &header, &hp, &err);
		if (status == HI_OK)
			hi_hp_sample_begin(hp, 0);
		if (status == HI_OK)
			status = hi_hp_band(hp, "a name", 1, &err);
		if (status == HI_OK)
			status = hi_hp_set_band(hp, 1, members, 2, 1, &err);
		if (status == HI_OK)
			status = hi_hp_sample_end(hp, &err);
		if (status == HI_OK)
			status = hi_hp_mark(hp, 0, "x", &err);
		hi_alloc_fail_at(0);
		hi_hp_destroy(hp);
		close(fd);
		done = status == HI_OK;
		HI_ASSERT(done || status == HI_NO_MEMORY);
		HI_ASSERT(!done || n > 5);
	}
	HI_ASSERT(done);
}

/* A file and its picture, as one text. */
static char *written_and_drawn(void)
{
	struct hi_bands_options options = {.min_share = 0.01};
	int fd = new_file();
	struct hi_hp *hp = open_profile(fd, -1, "x");
	struct hi_hp_series *s = NULL;
	struct hi_bands *bands = NULL;
	struct hi_error err = {};
	size_t size = 0;
	char *all = NULL, *text;
	FILE *out = open_memstream(&all, &size);

	for (uint64_t i = 0; i < 9; i++) {
		hi_hp_sample_begin(hp, i * 1234567890);
		put(hp, "a", 12345678 + i * 1000);
		put(hp, "b", 2345678);
		end(hp);
	}
	text = text_of(fd);
	fputs(text, out);
	HI_ASSERT_OK(hi_hp_parse(text, strlen(text), &s, &err), &err);
	HI_ASSERT_OK(hi_bands_create(s, &options, &bands, &err), &err);
	HI_ASSERT_OK(hi_graph_svg_write(bands, out, &err), &err);
	fclose(out);
	hi_bands_destroy(bands);
	hi_hp_series_destroy(s);
	hi_test_defer(free, all);
	return all;
}

static void back_to_c(void *arg)
{
	(void)arg;
	setlocale(LC_ALL, "C");
	unsetenv("LOCPATH");
}

/* A locale of our own making: 1.234,5. */
static void speak_with_a_comma(void)
{
	static char path[] = "/tmp/heapinspect-locale-XXXXXX";
	char command[512], text[16];

	HI_ASSERT(mkdtemp(path) != NULL);
	snprintf(command, sizeof(command),
		 "cd %s && printf 'LC_NUMERIC\ndecimal_point \"<U002C>\"\n"
		 "thousands_sep \"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n' >source; "
		 "localedef -c -i source ./comma >/dev/null 2>&1; test -d comma",
		 path);
	HI_ASSERT(system(command) == 0);
	setenv("LOCPATH", path, 1);
	hi_test_defer(back_to_c, NULL);
	HI_ASSERT(setlocale(LC_ALL, "comma") != NULL);
	snprintf(command, sizeof(command), "rm -rf %s", path);
	HI_ASSERT(system(command) == 0);
	snprintf(text, sizeof(text), "%.1f", 1.5);
	HI_ASSERT_STREQ("1,5", text);
}

HI_TEST_SCENARIO(report_hp_writer, a_locale_with_a_decimal_comma_changes_no_byte)
{
	char *plain = written_and_drawn();

	HI_ASSERT(strstr(plain, "BEGIN_SAMPLE 1.234567\n") != NULL);
	speak_with_a_comma();
	HI_ASSERT_STREQ(plain, written_and_drawn());
}
