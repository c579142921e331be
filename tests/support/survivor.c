/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/survivor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/service.h"

#define REDIS HI_SOURCE_DIR "/build/targets/redis-server"
#define PYTHON "/usr/bin/python3.11"
#define PATIENCE_TRIES 1200
#define PATIENCE_US 50000

/* Integers beyond a word, floats, strings, dictionaries, new objects; a collection
 * now and then. The results of the first round are what all others must give. */
static const char python_program[] =
	"import gc, select, sys\n"
	"class Node:\n"
	"    def __init__(self, n): self.n, self.other = n, None\n"
	"def work():\n"
	"    total, x, table = 0, 0.3, {}\n"
	"    for i in range(400):\n"
	"        total += i ** 9\n"
	"        x = 3.99 * x * (1 - x)\n"
	"        table[str(i)] = (i, [x])\n"
	"        a = Node(i); a.other = Node(i + 1); a.other.other = a\n"
	"        total += a.other.n * a.other.other.n\n"
	"    return total, x, sum(v[0] for v in table.values()), ''.join(table)\n"
	"expected, rounds = work(), 0\n"
	"print('ready', flush=True)\n"
	"while True:\n"
	"    if work() != expected:\n"
	"        print('corrupted result', flush=True)\n"
	"        sys.exit(1)\n"
	"    rounds += 1\n"
	"    if rounds % 16 == 0: gc.collect()\n"
	"    if select.select([sys.stdin], [], [], 0)[0]:\n"
	"        if not sys.stdin.readline(): break\n"
	"        print('ok', rounds, flush=True)\n";

static void start_redis(struct hi_survivor *s)
{
	struct hi_service *service = hi_service_start_redis("redis-server", NULL);

	s->pid = service->pid;
	s->function = "processCommand";
	s->answers = hi_fixture_start("redis_load", service->socket_path, NULL);
}

static void start_python(struct hi_survivor *s)
{
	if (access(PYTHON, X_OK) != 0)
		HI_SKIP("no " PYTHON);
	s->answers = hi_fixture_start(PYTHON, "-c", python_program, NULL);
	s->function = "PyObject_Str";
}

struct hi_survivor *hi_survivor_start(enum hi_survivor_kind kind)
{
	static const char *const names[] = {"float", "malloc", "redis", "python"};
	struct hi_survivor *s = calloc(1, sizeof(*s));

	HI_ASSERT(s);
	hi_test_defer(free, s);
	s->name = names[kind];
	s->function = "survive_round";
	if (kind == HI_SURVIVOR_REDIS)
		start_redis(s);
	else if (kind == HI_SURVIVOR_PYTHON)
		start_python(s);
	else if (kind == HI_SURVIVOR_MALLOC)
		s->answers = hi_fixture_start("survive_malloc", NULL);
	else
		s->answers = hi_fixture_start("survive_float", "1", NULL);
	if (!s->pid)
		s->pid = s->answers->pid;
	hi_fixture_read_until(s->answers, "ready", NULL, NULL);
	return s;
}

static unsigned long long ask(struct hi_survivor *s)
{
	unsigned long long now;
	char line[256] = "";

	hi_fixture_tell(s->answers, "");
	if (!hi_fixture_line(s->answers, line, sizeof(line)))
		hi_test_fail(__FILE__, __LINE__, "%s has died or does not answer",
			     s->name);
	if (sscanf(line, "ok %llu", &now) != 1)
		hi_test_fail(__FILE__, __LINE__, "%s: %s", s->name, line);
	return now;
}

void hi_survivor_check(struct hi_survivor *s)
{
	unsigned long long before = s->progress;

	for (int i = 0; i < PATIENCE_TRIES; i++) {
		s->progress = ask(s);
		if (s->progress > before)
			return;
		usleep(PATIENCE_US);
	}
	hi_test_fail(__FILE__, __LINE__, "%s does nothing any more (%llu done)", s->name,
		     s->progress);
}

void hi_survivor_end(struct hi_survivor *s)
{
	int status;

	hi_survivor_check(s);
	HI_ASSERT_MSG(hi_process_state(s->pid) != 0 && hi_process_state(s->pid) != 'Z',
		      "%s has died", s->name);
	status = hi_fixture_end(s->answers);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "%s ended with wait status 0x%x", s->name, (unsigned)status);
}
