/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot file: how long it takes to write one beside `dd conv=fsync` of the same
 * bytes to the same disk, how large a compressed one is, and how long the answers out
 * of it take, process and all. Files are written, copied and asked in turns.
 *
 *	bench_file [objects] [directory]
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parallel.h"
#include "bench/support.h"
#include "census/snapshot/snapshot_format.h"
#include "cli/command/command.h"
#include "session/inspect/inspect.h"
#include "session/snapshot/snapshot_source.h"

enum { RUNS = 4 };

struct file {
	char path[512];
	uint64_t ns[RUNS], cpu_ns[RUNS], bytes;
};

/* What all our threads have worked: the one figure that a busy machine leaves alone. */
static uint64_t cpu_now_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

static void write_file(struct hi_inspection *in, const struct hi_report_header *header,
		       bool compress, struct file *f, int run)
{
	struct hi_snapshot_options options = {.compress = compress, .threads = 2};
	int fd = open(f->path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t start = bench_now_ns(), cpu = cpu_now_ns();
	struct hi_error err = {};
	struct stat st;

	must(fd >= 0, f->path);
	if (hi_snapshot_save(in, header, fd, &options, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	f->ns[run] = bench_now_ns() - start;
	f->cpu_ns[run] = cpu_now_ns() - cpu;
	must(fstat(fd, &st) == 0, f->path);
	f->bytes = (uint64_t)st.st_size;
	close(fd);
}

/* Of a child that ends well; its output is dropped. */
static uint64_t command_ns(char *const *argv)
{
	uint64_t start = bench_now_ns();
	pid_t pid = fork();
	int status;

	must(pid >= 0, "fork");
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	must(waitpid(pid, &status, 0) == pid && status == 0, argv[0]);
	return bench_now_ns() - start;
}

static uint64_t dd_ns(const char *path)
{
	char from[600], to[600];
	char *argv[] = {
		(char *)(uintptr_t) "dd",	  from, to, (char *)(uintptr_t) "bs=1M",
		(char *)(uintptr_t) "conv=fsync", NULL};
	uint64_t ns;

	snprintf(from, sizeof(from), "if=%s", path);
	snprintf(to, sizeof(to), "of=%s.dd", path);
	ns = command_ns(argv);
	unlink(to + 3);
	return ns;
}

static uint64_t ask_ns(const char *path, const char *command, const char *top)
{
	char *argv[] = {(char *)(uintptr_t)(HI_BINARY_DIR "/heapinspect"),
			(char *)(uintptr_t)command,
			(char *)(uintptr_t) "--top",
			(char *)(uintptr_t)top,
			(char *)(uintptr_t)path,
			NULL};

	return command_ns(argv);
}

/* Bytes of the sections of edges, and of the others. */
static void split_bytes(const char *path, double *edges_ret, double *rest_ret)
{
	static struct hi_snapshot_section sections[HI_SNAPSHOT_SECTIONS];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd >= 0 && pread(fd, sections, sizeof(sections),
			      sizeof(struct hi_snapshot_header)) == sizeof(sections),
	     path);
	close(fd);
	*edges_ret = *rest_ret = 0;
	for (unsigned i = 0; i < HI_SNAPSHOT_SECTIONS; i++)
		*(strncmp(sections[i].name, "edges.", 6) == 0 ? edges_ret : rest_ret) +=
			(double)sections[i].stored;
}

static void measure(struct hi_inspection *in, const char *directory)
{
	struct file plain = {}, packed = {};
	uint64_t dd[RUNS], census[RUNS], retained[RUNS];
	double edges, rest, plain_ms, dd_ms;
	struct hi_report_header header;
	struct hi_error err;

	snprintf(plain.path, sizeof(plain.path), "%s/bench-%d.hisnap", directory,
		 getpid());
	snprintf(packed.path, sizeof(packed.path), "%s/bench-%d-packed.hisnap", directory,
		 getpid());
	must(hi_inspect_make_header(in, &header, &err) == HI_OK, "heading");
	for (int i = 0; i < RUNS; i++) {
		write_file(in, &header, false, &plain, i);
		dd[i] = dd_ns(plain.path);
		write_file(in, &header, true, &packed, i);
		census[i] = ask_ns(plain.path, "census", "20");
		retained[i] = ask_ns(plain.path, "retained", "20");
	}
	split_bytes(packed.path, &edges, &rest);
	plain_ms = (double)bench_median(plain.ns, RUNS) / 1e6;
	dd_ms = (double)bench_median(dd, RUNS) / 1e6;
	printf("%u objects, %llu edges, %u threads; medians\n", in->graph->n_objects,
	       (unsigned long long)in->graph->n_edges, hi_parallel_threads());
	printf("  written              %9.1f ms  %7.1f ms of work  %7.1f MiB  %5.2f x dd "
	       "(%.1f "
	       "ms)\n",
	       plain_ms, (double)bench_median(plain.cpu_ns, RUNS) / 1e6,
	       (double)plain.bytes / 1048576, plain_ms / dd_ms, dd_ms);
	printf("  written, compressed  %9.1f ms  %7.1f ms of work  %7.1f MiB  %5.2f "
	       "bytes an object, %.2f "
	       "an edge\n",
	       (double)bench_median(packed.ns, RUNS) / 1e6,
	       (double)bench_median(packed.cpu_ns, RUNS) / 1e6,
	       (double)packed.bytes / 1048576, rest / in->graph->n_objects,
	       edges / (double)in->graph->n_edges);
	printf("  census               %9.1f ms\n",
	       (double)bench_median(census, RUNS) / 1e6);
	printf("  retained --top 20    %9.1f ms\n",
	       (double)bench_median(retained, RUNS) / 1e6);
	unlink(plain.path);
	unlink(packed.path);
}

int main(int argc, char **argv)
{
	struct bench_target target =
		bench_target_start("bench_heap", argc > 1 ? argv[1] : "10000000", NULL);
	struct hi_options options = {.target.pid = target.pid,
				     .output.quiet = true,
				     .command = &hi_command_snap,
				     .safepoint.max_pause_ns = 20000000000u};
	struct hi_inspection *in = NULL;
	struct hi_error err = {};

	if (hi_inspect_open(&options, NULL, hi_command_snap.wanted, &in, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	bench_target_end(&target);
	measure(in, argc > 2 ? argv[2] : "/tmp");
	hi_inspect_close(in);
	return 0;
}
