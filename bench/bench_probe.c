/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one hit of a probe costs the target: at the function's entry, as a debugger
 * would put it, and at the place that is chosen; armed with a condition that never
 * holds; and without BPF. Functions whose first instruction is single-stepped should
 * be at least four times cheaper. Medians of ROUNDS, the first dropped, as the target
 * measures them itself, less the call without a probe.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/support.h"
#include "probes/probe.h"

enum { ROUNDS = 6, CALLS = 20000 };

__asm__(".text\n"
	".p2align 4\n.globl bench_mov\n.type bench_mov, @function\n"
	"bench_mov:\n mov %rdi, %rax\n push %rbx\n pop %rbx\n ret\n"
	".size bench_mov, .-bench_mov\n"
	".p2align 4\n.globl bench_endbr\n.type bench_endbr, @function\n"
	"bench_endbr:\n endbr64\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	".size bench_endbr, .-bench_endbr\n"
	".p2align 4\n.globl bench_test\n.type bench_test, @function\n"
	"bench_test:\n test %rdi, %rdi\n je 1f\n mov %rdi, %rax\n1: ret\n"
	".size bench_test, .-bench_test\n"
	".p2align 4\n.globl bench_sub\n.type bench_sub, @function\n"
	"bench_sub:\n endbr64\n sub $24, %rsp\n lea 1(%rdi), %rax\n call bench_mov\n"
	" add $24, %rsp\n ret\n"
	".size bench_sub, .-bench_sub\n"
	".p2align 4\n.globl bench_push\n.type bench_push, @function\n"
	"bench_push:\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	".size bench_push, .-bench_push\n");
extern void bench_mov(long), bench_endbr(long), bench_test(long), bench_sub(long),
	bench_push(long);

static void call_free(long n)
{
	void *volatile p = malloc((size_t)(n & 255));

	free(p);
}

static const struct {
	const char *name;
	void (*call)(long);
} functions[] = {
	{"bench_mov", bench_mov},   {"bench_endbr", bench_endbr},
	{"bench_test", bench_test}, {"bench_sub", bench_sub},
	{"bench_push", bench_push}, {"libc:malloc", call_free},
	{"libc:free", call_free},
};

/* Answers each number with the nanoseconds of CALLS calls of that function. */
_Noreturn static void be_target(int in, int out)
{
	unsigned which;

	while (read(in, &which, sizeof(which)) == sizeof(which)) {
		uint64_t ns = bench_now_ns();

		for (long i = 0; i < CALLS; i++)
			functions[which].call(i);
		ns = bench_now_ns() - ns;
		if (write(out, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

struct child {
	pid_t pid;
	int ask, answer;
	struct hi_target *target;
};

static _Noreturn void give_up(const struct hi_error *err)
{
	fprintf(stderr, "bench_probe: %s\n", err->text);
	exit(1);
}

static struct child start(void)
{
	struct child child;
	struct hi_error err;
	int ask[2], answer[2];

	if (pipe(ask) || pipe(answer))
		exit(1);
	child.pid = fork();
	if (child.pid == 0) {
		close(ask[1]);
		close(answer[0]);
		be_target(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	child.ask = ask[1];
	child.answer = answer[0];
	if (hi_target_open(child.pid, &child.target, &err) != HI_OK)
		give_up(&err);
	return child;
}

/* Nanoseconds a call. */
static double measure(struct child *child, unsigned which)
{
	uint64_t ns[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		if (write(child->ask, &which, sizeof(which)) != sizeof(which) ||
		    read(child->answer, &ns[i], sizeof(ns[i])) != sizeof(ns[i]))
			exit(1);
	return (double)bench_median(ns, ROUNDS) / CALLS;
}

static double measure_probe(struct child *child, unsigned which, const char *at,
			    const struct hi_probe_sites *places, bool armed)
{
	struct hi_safepoint safepoint;
	struct hi_probe *probe;
	struct hi_error err;
	double ns;

	if (hi_safepoint_parse(at, &safepoint, &err) != HI_OK ||
	    hi_probe_open(child->target, &safepoint, places, &probe, &err) != HI_OK)
		give_up(&err);
	if (armed)
		hi_probe_trigger(probe)->ops->arm(hi_probe_trigger(probe));
	ns = measure(child, which);
	hi_probe_close(probe);
	return ns;
}

static double measure_perf(struct child *child, unsigned which,
			   const struct hi_probe_sites *places)
{
	struct hi_probe *probe;
	struct hi_error err;
	double ns;

	if (hi_probe_open_by(HI_PROBE_PERF, child->target, NULL, places, &probe, &err) !=
	    HI_OK)
		give_up(&err);
	ns = measure(child, which);
	hi_probe_close(probe);
	return ns;
}

static void find(struct child *child, const char *at, struct hi_probe_sites *ret)
{
	struct hi_safepoint safepoint;
	struct hi_error err;

	if (hi_safepoint_parse(at, &safepoint, &err) != HI_OK ||
	    hi_safepoint_find(child->target, &safepoint, ret, &err) != HI_OK)
		give_up(&err);
}

static void bench(struct child *child, unsigned which)
{
	const char *name = functions[which].name;
	struct hi_probe_sites chosen = {}, entry = {};
	double bare = measure(child, which), naive, cheap, armed, perf;
	char at[64];

	find(child, name, &chosen);
	find(child, name, &entry);
	for (size_t i = 0; i < entry.count; i++) {
		entry.items[i].file_offset -= entry.items[i].into_function;
		entry.items[i].address -= entry.items[i].into_function;
		entry.items[i].into_function = 0;
	}
	snprintf(at, sizeof(at), "%s if $1 == -12345", name);
	naive = measure_probe(child, which, name, &entry, false) - bare;
	cheap = measure_probe(child, which, name, &chosen, false) - bare;
	armed = measure_probe(child, which, at, &chosen, true) - bare;
	perf = measure_perf(child, which, &chosen) - bare;
	printf("%-12s +%-3llu %-18s %8.0f %8.0f %7.1f %8.0f %8.0f\n", name,
	       (unsigned long long)chosen.items[0].into_function,
	       chosen.items[0].instruction, naive, cheap, naive / cheap, armed, perf);
	hi_probe_sites_free(&chosen);
	hi_probe_sites_free(&entry);
}

int main(void)
{
	struct child child;

	if (geteuid() != 0) {
		printf("probes need root: nothing measured\n");
		return 0;
	}
	child = start();
	printf("%-12s %-4s %-18s %8s %8s %7s %8s %8s   (ns a hit)\n", "function", "at",
	       "instruction", "entry", "chosen", "ratio", "armed", "perf");
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		bench(&child, i);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	return 0;
}
