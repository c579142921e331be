/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug files with wrong bytes in them: the stacks are still read, in processes
 * of their own, with some variables less.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/frames/frames.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/live_image.h"
#include "tests/support/random.h"

enum { ROUNDS = 300, FILE_MAX = 1 << 20, HEADERS = 0x400 /* left alone at both ends */ };

struct mutated {
	char dir[64], exe[96], plain[96], debug[256];
	uint8_t whole[FILE_MAX], bytes[FILE_MAX];
	size_t size;
	struct hi_image *image;
};

static void remove_directory(struct mutated *m)
{
	hi_command_run(0, "rm", "-rf", m->dir, NULL);
	free(m);
}

static void run(const char *program, const char *option, const char *a, const char *b)
{
	HI_ASSERT_EQ(0, hi_command_run(0, program, option, a, b, NULL)->exit_code);
}

/* dir/.build-id/xx/rest.debug, as the running program's build-id says. */
static void find_debug_path(struct mutated *m)
{
	struct hi_command *notes = hi_command_run(0, "readelf", "-n", m->exe, NULL);
	const char *id = strstr(notes->out, "Build ID: ");

	HI_ASSERT(id);
	id += strlen("Build ID: ");
	snprintf(m->debug, sizeof(m->debug), "%s/.build-id", m->dir);
	mkdir(m->debug, 0700);
	snprintf(m->debug, sizeof(m->debug), "%s/.build-id/%.2s", m->dir, id);
	mkdir(m->debug, 0700);
	snprintf(m->debug, sizeof(m->debug), "%s/.build-id/%.2s/%.*s.debug", m->dir, id,
		 (int)strcspn(id + 2, "\n"), id + 2);
}

static struct mutated *start(void)
{
	struct mutated *m = calloc(1, sizeof(*m));
	struct hi_fixture *fx;
	FILE *f;

	HI_ASSERT(m);
	strcpy(m->dir, "/tmp/hi_mutated_XXXXXX");
	HI_ASSERT(mkdtemp(m->dir));
	hi_test_defer(remove_directory, m);
	snprintf(m->exe, sizeof(m->exe), "%s/program", m->dir);
	snprintf(m->plain, sizeof(m->plain), "%s/plain", m->dir);
	run("objcopy", "--only-keep-debug", HI_FIXTURE_DIR "/frames_o2", m->plain);
	run("objcopy", "--strip-all", HI_FIXTURE_DIR "/frames_o2", m->exe);
	find_debug_path(m);
	f = fopen(m->plain, "r");
	HI_ASSERT(f);
	m->size = fread(m->whole, 1, FILE_MAX, f);
	fclose(f);
	fx = hi_fixture_start(m->exe, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	m->image = hi_live_image(fx->pid);
	return m;
}

static void write_mutation(struct mutated *m, unsigned n_bytes, uint64_t *seed)
{
	FILE *f;

	memcpy(m->bytes, m->whole, m->size);
	for (unsigned i = 0; i < n_bytes; i++) {
		uint64_t r = next_random(seed);
		uint8_t *byte = &m->bytes[HEADERS + (r >> 16) % (m->size - 3 * HEADERS)];

		if (r % 3 == 0)
			*byte = 0xff;
		else if (r % 3 == 1)
			*byte = (uint8_t)(r >> 8);
		else
			*byte = (uint8_t)(*byte ^ 1 << (r >> 8) % 8);
	}
	f = fopen(m->debug, "w");
	HI_ASSERT(f);
	HI_ASSERT_EQ(m->size, fwrite(m->bytes, 1, m->size, f));
	fclose(f);
}

/* In the child, where no assertion may jump: all stacks; how many variables they
 * have. */
static size_t count_variables(struct mutated *m)
{
	struct hi_modules_options options = {.cache_dir = "", .debug_dir = m->dir};
	struct hi_modules *modules;
	struct hi_types *types;
	struct hi_error err;
	size_t n = 0;

	if (hi_modules_open(m->image, &options, &modules, &err) != HI_OK ||
	    hi_types_open(modules, &types, &err) != HI_OK)
		_exit(2);
	for (uint32_t i = 0; i < m->image->n_threads; i++) {
		struct hi_stack *stack;

		if (hi_stack_read(types, m->image, i, &stack, &err) != HI_OK)
			_exit(3);
		/* The deep recursion would outweigh all others. */
		if (stack->n_frames < 100)
			n += stack->n_locals;
		hi_stack_destroy(stack);
	}
	hi_types_close(types);
	hi_modules_close(modules);
	return n;
}

/* How many variables there are with this debug file; fails if its reader does. */
static size_t count_in_child(struct mutated *m, int round)
{
	int pipes[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	HI_ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		alarm(300);
		n = count_variables(m);
		_exit(write(pipes[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
	}
	close(pipes[1]);
	got = read(pipes[0], &n, sizeof(n));
	close(pipes[0]);
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	HI_ASSERT_MSG(status == 0 && got == sizeof(n), "round %d: wait status 0x%x",
		      round, status);
	return n;
}

HI_TEST_SLOW(frames_mutated, damaged_debug_files_cost_variables_only)
{
	struct mutated *m = start();
	size_t whole, fewer = 0;
	uint64_t seed = 5;

	write_mutation(m, 0, &seed);
	whole = count_in_child(m, 0);
	HI_ASSERT(whole > 50);
	for (int i = 1; i < ROUNDS; i++) {
		write_mutation(m, 1 + (unsigned)(next_random(&seed) % 40), &seed);
		fewer += count_in_child(m, i) < whole;
	}
	hi_test_note("%zu variables; fewer in %zu of %d files", whole, fewer, ROUNDS);
	HI_ASSERT(fewer > ROUNDS / 4);
}
