/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of allocation events of programs that know nothing of the test, against
 * libdwfl's: a preloaded library makes them stand still in malloc. HI_UNWIND_STACKS is
 * how many the slow tests compare, 10,000 if it is not set.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/traced_stacks.h"

static void forget_environment(void *unused)
{
	(void)unused;
	unsetenv("LD_PRELOAD");
	unsetenv("MALLOC_PAUSE");
	unsetenv("PYTHONMALLOC");
}

static void set_environment(const char *every)
{
	hi_test_defer(forget_environment, NULL);
	HI_ASSERT_EQ(0, setenv("LD_PRELOAD", HI_FIXTURE_DIR "/libmalloc_pause.so", 1));
	HI_ASSERT_EQ(0, setenv("MALLOC_PAUSE", every, 1));
	HI_ASSERT_EQ(0, setenv("PYTHONMALLOC", "malloc", 1));
}

static struct traced *trace_paused(const char *every, const char *path, const char *arg1,
				   const char *arg2)
{
	struct hi_fixture *fx;

	set_environment(every);
	fx = hi_fixture_start(path, arg1, arg2, NULL);
	forget_environment(NULL);
	return traced_start(fx);
}

/* How a stack of an event compares with libdwfl's. */
enum agreement {
	SAME,
	SAME_BUT_CUT,	 /* as far as it goes; says that it is cut */
	DWFL_IS_SHORTER, /* libdwfl gave up; as far as that goes they are the same */
	WRONG,
	NO_STACK,
	AGREEMENTS,
};
static const char *const agreement_names[AGREEMENTS] = {
	"same", "same but cut", "libdwfl's is shorter", "wrong", "none"};

/* Frames that are the same, from the first one that is the event's; *n_truth_ret: those
 * that libdwfl has from there on. */
static size_t count_same_frames(const struct hi_event_stack *stack,
				const struct traced_frames *truth, size_t *n_truth_ret)
{
	size_t best = 0;

	*n_truth_ret = 0;
	for (size_t from = 0; from < truth->n; from++) {
		size_t n = 1;

		if (truth->pc[from] - stack->frames[0] > TRACED_SAME_FUNCTION)
			continue;
		while (n < stack->n && from + n < truth->n &&
		       truth->pc[from + n] == stack->frames[n])
			n++;
		if (n <= best)
			continue;
		best = n;
		*n_truth_ret = truth->n - from;
	}
	return best;
}

static enum agreement compare_stack(struct traced *t, uint64_t block)
{
	const struct hi_event_stack *stack = traced_stack_of(t, block);
	size_t n_truth, same;

	if (!stack)
		return NO_STACK;
	same = count_same_frames(stack, &t->truth, &n_truth);
	if (same == stack->n && stack->cut)
		return n_truth > HI_STACK_FRAMES || t->truth.cut ? SAME : SAME_BUT_CUT;
	if (same == stack->n && same == n_truth)
		return SAME;
	if (same == n_truth && t->truth.cut)
		return DWFL_IS_SHORTER;
	return WRONG;
}

static void explain_stack(struct traced *t, enum agreement agreement, uint64_t block)
{
	const struct hi_event_stack *stack = traced_stack_of(t, block);

	hi_test_note("%s: block %llx", agreement_names[agreement],
		     (unsigned long long)block);
	traced_print("dwfl", t->truth.pc, t->truth.n);
	if (stack)
		traced_print("event", stack->frames, stack->n);
}

/* How many stacks the slow tests compare. */
static int count_wanted_stacks(void)
{
	const char *text = getenv("HI_UNWIND_STACKS");

	return text ? atoi(text) : 10000;
}

/* Compares at so many pauses, and says how many were what. */
static void compare_at_pauses(struct traced *t, int pauses, int ret[AGREEMENTS])
{
	enum { EXPLAINED = 3 };
	size_t deepest = 0, frames = 0;

	memset(ret, 0, AGREEMENTS * sizeof(*ret));
	HI_ASSERT_EQ(0, kill(t->fx->pid, SIGRTMIN + 5));
	for (int i = 0; i < pauses; i++) {
		struct traced_held held = traced_await_held(t);
		enum agreement agreement;

		traced_look_at(t, held.tid);
		agreement = compare_stack(t, held.block);
		if (agreement != SAME && ret[agreement] < EXPLAINED)
			explain_stack(t, agreement, held.block);
		ret[agreement]++;
		deepest = t->truth.n > deepest ? t->truth.n : deepest;
		frames += t->truth.n;
		hi_fixture_tell(t->fx, "go on");
	}
	hi_test_note("%d stacks of up to %zu frames, %.1f on average", pauses, deepest,
		     (double)frames / pauses);
	for (int i = 0; i < AGREEMENTS; i++)
		if (ret[i])
			hi_test_note("%s: %d", agreement_names[i], ret[i]);
}

/* 99.9 %, and the others are not wrong. */
static void expect_agreement(struct traced *t)
{
	int pauses = count_wanted_stacks(), found[AGREEMENTS];

	compare_at_pauses(t, pauses, found);
	HI_ASSERT_EQ(0, found[WRONG] + found[NO_STACK]);
	HI_ASSERT(found[SAME] >= pauses - pauses / 1000);
}

/* Compares at so many pauses; what is not one of those is read and forgotten. */
static void expect_pauses(struct traced *t, int pauses)
{
	size_t deepest = 0, cut = 0;

	HI_ASSERT_EQ(0, kill(t->fx->pid, SIGRTMIN + 5));
	for (int i = 0; i < pauses; i++) {
		struct traced_held held = traced_await_held(t);

		traced_look_at(t, held.tid);
		traced_expect_own(t);
		traced_expect_event(t, held.block);
		deepest = t->truth.n > deepest ? t->truth.n : deepest;
		cut += t->truth.n > HI_STACK_FRAMES + 4;
		hi_fixture_tell(t->fx, "go on");
	}
	hi_test_note("%d stacks of up to %zu frames, %zu cut", pauses, deepest, cut);
}

HI_TEST_ROOT(unwind_programs, equals_libdwfl_while_exceptions_are_thrown)
{
	expect_pauses(trace_paused("7", "unwind_cxx", NULL, NULL), 300);
}

HI_TEST_SLOW(unwind_programs, equals_libdwfl_while_many_exceptions_are_thrown)
{
	if (geteuid() != 0)
		HI_SKIP("probes need root");
	expect_agreement(trace_paused("7", "unwind_cxx", NULL, NULL));
}

static struct traced *trace_python(const char *every)
{
	static const char program[] =
		"import json, re, os\n"
		"def deep(n):\n"
		"    text = json.dumps({'a': [str(n)] * 5, 'b': {'c': n}})\n"
		"    found = re.sub('[0-9]+', lambda m: m.group(0) + 'x', text)\n"
		"    some = sorted(range(9), key=lambda i: str(-i) + found)\n"
		"    return deep(n - 1) + found if n else found\n"
		"os.write(1, b'ready\\n')\n"
		"while True:\n"
		"    deep(12)\n";

	return trace_paused(every, "/usr/bin/python3.11", "-c", program);
}

HI_TEST_ROOT(unwind_programs, equals_libdwfl_in_python)
{
	if (access("/usr/bin/python3.11", X_OK) != 0)
		HI_SKIP("no /usr/bin/python3.11");
	expect_pauses(trace_python("997"), 300);
}

HI_TEST_SLOW(unwind_programs, equals_libdwfl_in_python_at_many_stacks)
{
	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access("/usr/bin/python3.11", X_OK) != 0)
		HI_SKIP("no /usr/bin/python3.11");
	expect_agreement(trace_python("97"));
}

/* scripts/build-targets build/targets redis */
#define REDIS HI_SOURCE_DIR "/build/targets/redis-server"

static void await_redis(struct hi_fixture *fx)
{
	char line[512];

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (!strstr(line, "eady to accept connections"));
}

static void remove_socket(void *path)
{
	unlink(path);
}

HI_TEST_SLOW(unwind_programs, equals_libdwfl_in_redis)
{
	static char path[64];
	struct hi_fixture *redis, *load;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access(REDIS, X_OK) != 0)
		HI_SKIP("no build/targets/redis-server");
	snprintf(path, sizeof(path), "/tmp/unwind-%d.sock", (int)getpid());
	hi_test_defer(remove_socket, path);
	set_environment("7");
	redis = hi_fixture_start(REDIS, "--port", "0", "--unixsocket", path, "--save", "",
				 NULL);
	forget_environment(NULL);
	await_redis(redis);
	load = hi_fixture_start("redis_load", path, NULL);
	hi_fixture_read_until(load, "ready", NULL, NULL);
	expect_agreement(traced_ready(redis));
}

/* ---- a stripped service of Debian ---- */

#define NGINX "/usr/sbin/nginx"

static char nginx_folder[64];

static void remove_nginx_folder(void *unused)
{
	static const char *const names[] = {"conf", "page", "pid", "socket", ""};
	char path[128];

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", nginx_folder, names[i]);
		(void)remove(path);
	}
}

static void write_nginx_file(const char *name, const char *text, size_t times)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", nginx_folder, name);
	file = fopen(path, "w");
	HI_ASSERT(file);
	for (size_t i = 0; i < times; i++)
		HI_ASSERT(fputs(text, file) >= 0);
	HI_ASSERT_EQ(0, fclose(file));
}

static int connect_to_nginx(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%s/socket", nginx_folder);
	if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Until it is killed: pages of a file, of the configuration, compressed, and errors. */
_Noreturn static void request_pages(void)
{
	static const char *const requests[] = {
		"GET /page HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: "
		"close\r\n\r\n",
		"GET /text/abc HTTP/1.1\r\nHost: b\r\nCookie: c=d\r\nConnection: "
		"close\r\n\r\n",
		"GET /none HTTP/1.1\r\nHost: c\r\nConnection: close\r\n\r\n",
		"POST /text/x HTTP/1.1\r\nHost: d\r\nContent-Length: 3\r\nConnection: "
		"close\r\n\r\nabc",
		"nonsense\r\n\r\n",
	};
	static char page[1 << 16];

	for (size_t i = 0;; i++) {
		const char *request =
			requests[i % (sizeof(requests) / sizeof(requests[0]))];
		int fd = connect_to_nginx();

		if (fd < 0 || write(fd, request, strlen(request)) < 0)
			_exit(1);
		while (read(fd, page, sizeof(page)) > 0)
			;
		close(fd);
	}
}

static void end_child(void *arg)
{
	pid_t pid = *(const pid_t *)arg;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct hi_fixture *start_nginx(void)
{
	static char conf[128];
	struct hi_fixture *nginx;
	char text[1024];
	int fd = -1;

	snprintf(nginx_folder, sizeof(nginx_folder), "/tmp/nginx-XXXXXX");
	HI_ASSERT(mkdtemp(nginx_folder));
	HI_ASSERT_EQ(0, chmod(nginx_folder, 0755));
	hi_test_defer(remove_nginx_folder, NULL);
	snprintf(conf, sizeof(conf), "%s/conf", nginx_folder);
	snprintf(text, sizeof(text),
		 "daemon off; master_process off; pid %s/pid; error_log /dev/null;\n"
		 "events {} http { access_log off; gzip on; gzip_min_length 1;\n"
		 "gzip_types *; server { listen unix:%s/socket; root %s;\n"
		 "location ~ ^/text/(.*)$ { return 200 \"$1 $host $request_id\"; } } }\n",
		 nginx_folder, nginx_folder, nginx_folder);
	write_nginx_file("conf", text, 1);
	write_nginx_file("page", "a page of many words\n", 5000);
	nginx = hi_fixture_start(NGINX, "-c", conf, "-e", "/dev/null", NULL);
	for (int i = 0; i < 500 && fd < 0; i++) {
		usleep(20000);
		fd = connect_to_nginx();
	}
	HI_ASSERT(fd >= 0);
	close(fd);
	return nginx;
}

HI_TEST_SLOW(unwind_programs, equals_libdwfl_in_a_stripped_service)
{
	static pid_t client;
	struct hi_fixture *nginx;
	struct traced *t;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access(NGINX, X_OK) != 0)
		HI_SKIP("no nginx");
	set_environment("3");
	nginx = start_nginx();
	forget_environment(NULL);
	t = traced_ready(nginx);
	client = fork();
	if (client == 0)
		request_pages();
	hi_test_defer(end_child, &client);
	expect_agreement(t);
}

/* ---- code that a program made itself ---- */

/* It has no tables: there a stack ends, and says so; libdwfl may guess on. */
HI_TEST_SLOW(unwind_programs, cuts_stacks_at_compiled_javascript)
{
	static const char program[] = "function work(n) { return n ? work(n - 1) : "
				      "Buffer.from('x'.repeat(9000)); }"
				      "for (let i = 0; i < 30000; i++) work(5);"
				      "require('fs').writeSync(1, 'ready\\n');"
				      "for (;;) work(5);";
	int found[AGREEMENTS], pauses = count_wanted_stacks() / 10;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access("/usr/bin/node", X_OK) != 0)
		HI_SKIP("no /usr/bin/node");
	compare_at_pauses(trace_paused("3", "/usr/bin/node", "-e", program), pauses,
			  found);
	HI_ASSERT_EQ(0, found[WRONG] + found[NO_STACK]);
	HI_ASSERT(found[SAME_BUT_CUT] > pauses / 2);
}
