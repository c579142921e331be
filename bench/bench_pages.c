/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of one open snapshot file, as a server makes them: how long it takes to open the
 * file for a page, how long the first page of a kind takes, and the next ones on the same
 * inspection, each about another object. Every kind has a process of its own, so that
 * nothing is there already. Anonymous memory is beside the bytes that were read of the
 * file. With "warm", what can be prepared is prepared before the first page.
 *
 *	bench_pages [warm] [objects|FILE [COMMAND]]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/support.h"
#include "cli/command/command.h"
#include "cli/options/options.h"
#include "session/computed.h"
#include "session/inspect/inspect.h"
#include "session/snapshot/snapshot_source.h"

enum { NEXT = 20, WORDS = 8, STEPS = 16 };

/* ADDRESS stands for that of an object, another one each time. */
static const char *const kinds[][WORDS] = {
	{"summary"},
	{"census"},
	{"retained"},
	{"census", "--by", "size"},
	{"census", "--by", "module"},
	{"leaks"},
	{"retainers"},
	{"up", "--type", "cart_b_record"},
	{"waste"},
	{"explain", "ADDRESS"},
	{"paths", "ADDRESS"},
	{"paths", "cart_b_record"},
	{"retained", "--type", "cart_b_record"},
	{"query", "select name, count from types order by bytes desc limit 20"},
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", what);
	exit(2);
}

static void parse_page(const char *const *words, const char *address, char *file,
		       struct hi_options *ret)
{
	static char copies[WORDS + 3][512];
	char *argv[WORDS + 3];
	int argc = 0;

	snprintf(copies[argc], sizeof(copies[0]), "heapinspect");
	argv[argc] = copies[argc];
	argc++;
	for (; *words; words++, argc++) {
		snprintf(copies[argc], sizeof(copies[0]), "%s",
			 strcmp(*words, "ADDRESS") == 0 ? address : *words);
		argv[argc] = copies[argc];
	}
	argv[argc++] = file;
	argv[argc] = NULL;
	must(hi_options_parse(argc, argv, ret) == 0, "options");
}

static uint64_t page_ns(struct hi_inspection *in, const struct hi_options *options)
{
	uint64_t start = bench_now_ns();
	struct hi_report_header header;
	struct hi_error err = {};
	struct hi_page *page = hi_page_create();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	in->options = options;
	must(page && out, "memory");
	if (hi_inspect_make_header(in, &header, &err) != HI_OK ||
	    options->command->run(in, &header, page, NULL, &err) != HI_OK ||
	    hi_inspect_check(in, &err) != HI_OK)
		must(err.status == HI_NOT_FOUND, err.text);
	hi_page_destroy(page);
	fclose(out);
	free(text);
	return bench_now_ns() - start;
}

/* Some object that is live, as 0x…; all over the heap. */
static void choose_object(const struct hi_inspection *in, unsigned i, char address[32])
{
	const struct hi_graph *g = in->graph;
	hi_node node = (hi_node)((uint64_t)g->n_objects * (2 * i + 1) / (2 * NEXT + 4));

	for (; node < g->n_objects; node++)
		if (!hi_is_internal(g, node) && hi_bit(in->results.reach->any, node))
			break;
	snprintf(address, 32, "0x%" PRIx64,
		 node < g->n_objects ? hi_graph_address(g, node) : 0);
}

static uint64_t anonymous_bytes(void)
{
	char line[256];
	uint64_t kib = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "RssAnon:", 8) == 0)
			kib = strtoull(line + 8, NULL, 10);
	if (f)
		fclose(f);
	return kib << 10;
}

/* What all threads have worked: other programs change it less. */
static uint64_t work_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void warm_up(struct hi_inspection *in)
{
	uint64_t worst = 0, all = 0;
	unsigned steps = 0;

	for (;; steps++) {
		uint64_t start = bench_now_ns(), ns;
		bool more = hi_kept_warm_up(in);

		ns = bench_now_ns() - start;
		worst = ns > worst ? ns : worst;
		all += ns;
		if (!more)
			break;
	}
	printf("  prepared in %u steps, %.1f ms, the longest %.1f ms\n", steps, ms(all),
	       ms(worst));
}

struct figures {
	uint64_t open, open_work, first, first_work, next_work;
	uint64_t next[NEXT], worst;
};

static void measure_pages(struct hi_inspection *in, const char *const *words, char *file,
			  struct figures *f)
{
	static struct hi_options options[NEXT + 1];
	char address[32];

	for (unsigned i = 0; i <= NEXT; i++) {
		uint64_t work = work_now_ns(), ns;

		choose_object(in, i, address);
		parse_page(words, address, file, &options[i]);
		ns = page_ns(in, &options[i]);
		work = work_now_ns() - work;
		if (i == 0) {
			f->first = ns;
			f->first_work = work;
			continue;
		}
		f->next[i - 1] = ns;
		f->next_work += work / NEXT;
		f->worst = ns > f->worst ? ns : f->worst;
	}
}

static void measure_kind(const char *const *words, char *file, bool warm)
{
	static struct hi_options options;
	uint64_t start = bench_now_ns(), anonymous, read;
	struct hi_inspection *in = NULL;
	struct figures f = {.open_work = work_now_ns()};
	struct hi_error err = {};
	char name[64] = "";

	parse_page(words, "0x1000", file, &options);
	must(hi_inspect_open(&options, NULL, options.command->wanted, &in, &err) == HI_OK,
	     err.text);
	f.open = bench_now_ns() - start;
	f.open_work = work_now_ns() - f.open_work;
	if (warm)
		warm_up(in);
	measure_pages(in, words, file, &f);
	anonymous = anonymous_bytes();
	read = hi_snapshot_bytes_read(in->snapshot->snapshot);
	for (; *words; words++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%s",
			 *name ? " " : "", *words);
	printf("%-32.32s %8.1f %8.1f %8.2f %8.1f | %8.1f %8.1f %8.2f | %6.1f "
	       "%6.1f\n",
	       name, ms(f.open), ms(f.first), ms(bench_median(f.next, NEXT)), ms(f.worst),
	       ms(f.open_work), ms(f.first_work), ms(f.next_work), (double)read / 1048576,
	       ((double)anonymous - (double)read) / 1048576);
	fflush(stdout);
}

static void write_snapshot(const char *objects, const char *path)
{
	struct bench_target target = bench_target_start("bench_variety", objects, NULL);
	struct hi_options options = {.target.pid = target.pid,
				     .output.quiet = true,
				     .command = &hi_command_snap,
				     .safepoint.max_pause_ns = 20000000000u};
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	struct hi_snapshot_options file = {};
	struct hi_report_header header;
	struct hi_inspection *in = NULL;
	struct hi_error err = {};

	must(fd >= 0, path);
	must(hi_inspect_open(&options, NULL, hi_command_snap.wanted, &in, &err) == HI_OK,
	     err.text);
	bench_target_end(&target);
	must(hi_inspect_make_header(in, &header, &err) == HI_OK, err.text);
	must(hi_snapshot_save(in, &header, fd, &file, &err) == HI_OK, err.text);
	hi_inspect_close(in);
	close(fd);
}

int main(int argc, char **argv)
{
	bool warm = argc > 1 && strcmp(argv[1], "warm") == 0;
	const char *what = argc > 1 + warm ? argv[1 + warm] : "10000000";
	const char *only = argc > 2 + warm ? argv[2 + warm] : "";
	bool is_file = what[strspn(what, "0123456789")];
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s", what);
	if (!is_file) {
		snprintf(path, sizeof(path), "/tmp/bench-%d.hisnap", getpid());
		write_snapshot(what, path);
	}
	must(stat(path, &st) == 0, path);
	printf("%.1f MiB; a copy of it in memory %.1f ms\n", (double)st.st_size / 1048576,
	       ms(bench_memcpy_ns((size_t)st.st_size)));
	printf("%-32s %8s %8s %8s %8s | %8s %8s %8s | %6s %6s\n", "page, ms; work; MiB",
	       "open", "first", "next", "worst", "open", "first", "next", "read",
	       "above");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pid_t pid;

		if (strncmp(kinds[i][0], only, strlen(only)) != 0)
			continue;
		pid = fork();
		if (pid == 0) {
			measure_kind(kinds[i], path, warm);
			_exit(0);
		}
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	}
	if (!is_file)
		unlink(path);
	return 0;
}
