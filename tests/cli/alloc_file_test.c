/* SPDX-License-Identifier: BSD-2-Clause */
/* `alloc -o FILE`: what it keeps is what was reported, however the program ended. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/lived.h"
#include "tests/support/schema.h"
#include "tests/support/spaced.h"
#include "tests/support/workshop.h"

static char kept_file[256];

static struct lived *start_kept(const char *const *options)
{
	struct hi_fixture *fx = hi_fixture_start("space_lives", NULL);
	const char *words[16] = {"-o", kept_file};
	char answer[64];
	size_t n = 2;

	snprintf(kept_file, sizeof(kept_file), "%s/app.hisnap", workshop_open());
	while (*options)
		words[n++] = *options++;
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	/* Older than the recording. */
	hi_fixture_tell(fx, "node 4");
	HI_ASSERT(hi_fixture_line(fx, answer, sizeof(answer)));
	return lived_start_alloc(fx, words);
}

static void tell_kept(struct lived *l, const char *command)
{
	char answer[256];

	hi_fixture_tell(l->fx, command);
	HI_ASSERT(hi_fixture_line(l->fx, answer, sizeof(answer)));
}

/* M2 of SPEC, to the end of its third period; the fourth is open. */
static void live_three_periods(struct lived *l)
{
	tell_kept(l, "node 3");
	tell_kept(l, "node 10");
	tell_kept(l, "entry 5");
	lived_period(l, LIVED());
	tell_kept(l, "drop node 10");
	tell_kept(l, "buf 2");
	tell_kept(l, "brief 7");
	lived_period(l, LIVED());
	lived_period(l, LIVED());
	tell_kept(l, "drop buf 2");
}

static void check_same_report(struct lived *l, const char *const *options)
{
	char program[] = HI_BINARY_DIR "/heapinspect", alloc[] = "alloc";
	char *argv[16] = {program, alloc, kept_file};
	struct hi_command *c;

	for (size_t n = 3; *options; n++)
		argv[n] = (char *)(uintptr_t)*options++;
	HI_ASSERT_MSG(l->command->exit_code == 0, "exit %d: %s", l->command->exit_code,
		      l->command->err);
	c = hi_command_runv(0, argv);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(*c->out && strcmp(c->out, l->command->out) == 0,
		      "of the file: %s\nnot: %s", c->out, l->command->out);
}

HI_TEST_ROOT(alloc_file, has_the_report_that_was_shown)
{
	static const char *const looks[] = {"--width", "100", "--all", "--callers", NULL};
	struct lived *l = start_kept(looks);

	live_three_periods(l);
	lived_end_alloc(l);
	HI_ASSERT_MSG(strstr(l->command->out, "parse by age and type") &&
			      strstr(l->command->out, "called by do_once") &&
			      strstr(l->command->out, "128 B are live from before"),
		      "%s", l->command->out);
	check_same_report(l, looks);
}

/* Marks come within a period, and at its end. */
HI_TEST_ROOT(alloc_file, has_the_marks_that_came)
{
	static const char *const looks[] = {"--by", "mark", "--width", "100", NULL};
	struct lived *l = start_kept(looks);
	struct spaced load;
	json_t *doc;

	spaced_tell(l->fx, "node 3");
	spaced_mark(l->fx, "load");
	load = spaced_tell(l->fx, "entry 5");
	lived_period(l, LIVED());
	load = spaced_sum(load, spaced_tell(l->fx, "brief 7"));
	load = spaced_sum(load, spaced_tell(l->fx, "node 2"));
	spaced_mark(l->fx, "drain");
	spaced_tell(l->fx, "buf 2");
	lived_end_alloc(l);
	check_same_report(l, looks);
	doc = spaced_read(kept_file, "--from-mark", "load", "--to-mark", "drain", NULL);
	spaced_check(load, spaced_amount(spaced_total(doc), "alloc"));
	doc = spaced_read(kept_file, "--from-mark", "drain", NULL);
	HI_ASSERT_EQ(2, spaced_amount(spaced_total(doc), "alloc").number);
	doc = spaced_read(kept_file, NULL);
	HI_ASSERT_EQ(3 + 5 + 7 + 2 + 2, spaced_amount(spaced_total(doc), "alloc").number);
}

HI_TEST_ROOT(alloc_file, file_says_that_it_counts_between_two_marks)
{
	struct lived *l = start_kept(LIVED("--from-mark", "load"));
	struct hi_command *c;
	struct spaced load;

	spaced_tell(l->fx, "node 3");
	spaced_mark(l->fx, "load");
	load = spaced_tell(l->fx, "entry 5");
	lived_end_alloc(l);
	spaced_check(load,
		     spaced_amount(spaced_total(spaced_read(kept_file, NULL)), "alloc"));
	c = hi_heapinspect("alloc", kept_file);
	HI_ASSERT_MSG(strstr(c->out, "that this file was made with"), "%s", c->out);
}

HI_TEST_ROOT(alloc_file, has_the_bars_that_were_shown)
{
	static const char *const looks[] = {"--bars", NULL};
	struct lived *l = start_kept(looks);

	live_three_periods(l);
	lived_end_alloc(l);
	HI_ASSERT_MSG(strstr(l->command->out, "##") != NULL, "%s", l->command->out);
	check_same_report(l, looks);
}

/* Of samples the sums are kept, not the samples. */
HI_TEST_ROOT(alloc_file, has_the_estimates_that_were_shown)
{
	struct lived *l = start_kept(LIVED("--sample", "1KiB"));

	tell_kept(l, "node 20000");
	lived_period(l, LIVED());
	tell_kept(l, "brief 3000");
	lived_end_alloc(l);
	HI_ASSERT_MSG(strstr(l->command->out, "figures are estimates"), "%s",
		      l->command->out);
	check_same_report(l, LIVED());
}

/* Of the censuses before there is nothing in the file but in the profile. */
HI_TEST_ROOT(alloc_file, has_the_whole_profile_within_max_file)
{
	struct lived *l = start_kept(LIVED("--max-file", "300KiB"));
	struct hi_command *c;
	struct stat st;

	live_three_periods(l);
	lived_end_alloc(l);
	check_same_report(l, LIVED());
	HI_ASSERT_EQ(0, stat(kept_file, &st));
	HI_ASSERT_MSG(st.st_size < 300 << 10, "%ld bytes", (long)st.st_size);
	c = hi_heapinspect("snapshots", kept_file, "--json", "--all");
	HI_ASSERT_EQ(1, doc_size(doc_of(c), "rows"));
}

static json_t *read_kept(void)
{
	return doc_checked(hi_heapinspect("alloc", kept_file, "--json", "--all"),
			   "alloc.v1.json");
}

static long long kept_size(json_t *doc, const char *function, const char *key)
{
	return spaced_amount(spaced_function(doc, function), key).size;
}

/* 7 more nodes of 32 bytes than M2, which no census found. */
HI_TEST_ROOT(alloc_file, has_the_figures_of_m2)
{
	struct lived *l = start_kept(LIVED());
	char text[300], report[4096];
	struct hi_command *c;
	json_t *doc;
	struct stat st;
	FILE *f;

	live_three_periods(l);
	lived_end_alloc(l);
	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	doc = read_kept();
	HI_ASSERT_EQ(4, doc_size(doc, "censuses"));
	HI_ASSERT_EQ(l->fx->pid, doc_number(doc, "target.pid"));
	HI_ASSERT_EQ(640 + 7 * 32, kept_size(doc, "parse", "alloc"));
	HI_ASSERT_EQ(1152, kept_size(doc, "parse", "survived"));
	HI_ASSERT_EQ(96, kept_size(doc, "parse", "live"));
	HI_ASSERT_EQ(240, kept_size(doc, "cache", "alloc"));
	HI_ASSERT_EQ(960, kept_size(doc, "cache", "survived"));
	HI_ASSERT_EQ(0, stat(kept_file, &st));
	HI_ASSERT_EQ(0600, st.st_mode & 0777);
	/* Select and MLWorks are of the file, too. */
	HI_ASSERT(strstr(hi_heapinspect("alloc", kept_file, "--format", "mlworks")->out,
			 "\n         240         960  cache[space_lives.c]\n"));
	/* A function of its own file. */
	snprintf(text, sizeof(text), "%s.txt", kept_file);
	c = hi_heapinspect("alloc", kept_file, "--select", "cache", "-o", text);
	HI_ASSERT_MSG(c->exit_code == 0 && !*c->out, "%s", c->err);
	HI_ASSERT((f = fopen(text, "r")) != NULL);
	report[fread(report, 1, sizeof(report) - 1, f)] = '\0';
	fclose(f);
	HI_ASSERT_STREQ(hi_heapinspect("alloc", kept_file, "--select", "cache")->out,
			report);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("alloc", kept_file, "--select", "prase")->exit_code);
}

/* With a format, -o is the report, and there is no file beside it. */
HI_TEST_ROOT(alloc_file, format_option_makes_the_file_its_text)
{
	struct lived *l = start_kept(LIVED("--format", "mlworks"));
	FILE *f;
	char text[64] = "";

	live_three_periods(l);
	lived_end_alloc(l);
	HI_ASSERT_MSG(l->command->exit_code == 0, "%s", l->command->err);
	HI_ASSERT_STREQ("", l->command->out);
	HI_ASSERT((f = fopen(kept_file, "r")) != NULL);
	HI_ASSERT(fgets(text, sizeof(text), f));
	fclose(f);
	HI_ASSERT_STREQ("MLWorks space profile\n", text);
}

/* ---- ends ---- */

static void end_by_signal(struct lived *l, int number)
{
	live_three_periods(l);
	HI_ASSERT_EQ(0, kill(l->fx->pid, number));
	l->command = recording_end(&l->run, 0);
}

/* The open period has a census where the process could be held at its end. */
static void check_end_by_signal(int number)
{
	struct lived *l = start_kept(LIVED());
	json_t *doc;
	size_t n;

	end_by_signal(l, number);
	check_same_report(l, LIVED());
	HI_ASSERT_MSG(strstr(l->command->err, "exited") ||
			      strstr(l->command->err, "has ended"),
		      "%s", l->command->err);
	doc = read_kept();
	n = doc_size(doc, "censuses");
	HI_ASSERT(n == 3 || (n == 4 && number != SIGKILL));
	HI_ASSERT_EQ(640 + 7 * 32, kept_size(doc, "parse", "alloc"));
	HI_ASSERT_EQ(n == 3 ? 320 : 96, kept_size(doc, "parse", "live"));
	HI_ASSERT_EQ(n == 3 ? 1056 : 1152, kept_size(doc, "parse", "survived"));
}

HI_TEST_ROOT(alloc_file, a_target_that_is_killed_has_its_censuses_in_the_file)
{
	check_end_by_signal(SIGKILL);
}

HI_TEST_ROOT(alloc_file, a_target_that_crashes_has_its_censuses_in_the_file)
{
	check_end_by_signal(SIGSEGV);
}

/* Whatever ends heapinspect itself: complete parts count. */
HI_TEST_ROOT(alloc_file, a_kill_of_heapinspect_leaves_a_file_to_read)
{
	struct lived *l = start_kept(LIVED());

	live_three_periods(l);
	/* The third census is in the file when the fourth is waited for. */
	lived_ready(l);
	HI_ASSERT_EQ(0, kill(l->run.pid, SIGKILL));
	recording_end(&l->run, 0);
	HI_ASSERT(doc_size(read_kept(), "censuses") >= 2);
	tell_kept(l, "node 1"); /* the target runs on */
}

HI_TEST_ROOT(alloc_file, wrong_files_are_refused)
{
	struct hi_command *c = hi_heapinspect("alloc", "--pid", "1", "--max-file", "1M");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "--max-file: only with -o FILE"), "%s", c->err);
	HI_ASSERT_EQ(2, hi_heapinspect("alloc", "--pid", "1", "--max-file", "1M",
				       "--json", "-o", "/tmp/x")
				->exit_code);
	HI_ASSERT(hi_heapinspect("alloc", "--pid", "1", "-o", "/nonexistent/x")
			  ->exit_code != 0);
}
