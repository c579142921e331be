/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols that are needed before the stop are read in a process without rights: it finds
 * what one with rights finds, may do nothing else, and is not believed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "probes/condition.h"
#include "probes/events/unwind_find.h"
#include "session/live/symbols.h"
#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/probed.h"

static const char *decimal(pid_t pid)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return text;
}

/* ---- what is found ---- */

static void compare_places(const struct hi_probe_sites *a, const struct hi_probe_sites *b,
			   const char *what)
{
	HI_ASSERT_MSG(a->count && a->count == b->count, "%s: %zu and %zu places", what,
		      a->count, b->count);
	HI_ASSERT_MSG(memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0, "%s",
		      what);
	HI_ASSERT_MSG(hi_conditions_equal(&a->condition, &b->condition), "%s", what);
}

static void
check_places_and_conditions_are_those_that_are_found_with_rights(struct probed *p)
{
	static const char *const at[] = {
		"take_order",
		"take_order if $1 != 0 && count == 3",
		"usdt:probes_fixture:plain",
		"malloc",
		"libc:free if $1 != 0",
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct hi_target *target = NULL;
		struct hi_safepoint safepoint = probed_parse(at[i]);
		struct hi_probe_sites without = {};
		struct hi_error err;

		HI_ASSERT_OK(hi_target_open(p->fx->pid, &target, &err), &err);
		HI_ASSERT_OK(
			hi_symbols_probe_sites(target, false, &safepoint, &without, &err),
			&err);
		compare_places(probed_find(p, at[i]), &without, at[i]);
		HI_ASSERT_EQ(strstr(at[i], " if ") != NULL,
			     without.condition.n_terms > 0);
		hi_probe_sites_free(&without);
		hi_target_close(target);
	}
	HI_ASSERT(!hi_files_are_served());
}

static void
check_functions_of_the_allocator_are_those_that_are_found_with_rights(struct probed *p)
{
	const struct hi_followed nothing_more = {};
	struct hi_event_functions with, without;
	struct hi_error err;

	HI_ASSERT_OK(hi_event_functions_find(p->target, &with, &err), &err);
	HI_ASSERT_OK(hi_symbols_event_functions(p->target, false, &nothing_more, &without,
						&err),
		     &err);
	HI_ASSERT_STREQ(with.module, without.module);
	HI_ASSERT(with.count >= 2);
	HI_ASSERT_EQ(with.count, without.count);
	for (size_t i = 0; i < with.count; i++) {
		HI_ASSERT_STREQ(with.items[i].name, without.items[i].name);
		HI_ASSERT_EQ(0, memcmp(&with.items[i].does, &without.items[i].does,
				       sizeof(with.items[i].does)));
		HI_ASSERT_EQ(with.items[i].site.address, without.items[i].site.address);
	}
	HI_ASSERT_EQ(with.n_own, without.n_own);
}

static void check_tables_of_stacks_are_those_that_are_found_with_rights(struct probed *p)
{
	struct hi_unwind_tables with, without;
	struct hi_error err;
	bool same;

	HI_ASSERT_OK(hi_unwind_tables_find(p->target, &with, &err), &err);
	HI_ASSERT_OK(hi_symbols_unwind_tables(p->target, false, &without, &err), &err);
	same = with.n_words == without.n_words &&
	       memcmp(with.words, without.words, with.n_words * sizeof(uint64_t)) == 0;
	/* The program, libraries, the vdso. */
	HI_ASSERT(hi_unwind_tables_head(&without).n_modules >= 4);
	hi_unwind_tables_free(&with);
	hi_unwind_tables_free(&without);
	HI_ASSERT(same);
}

static void check_tables_of_stacks_are_refused_outside_the_code(struct probed *p)
{
	struct hi_unwind_tables tables;
	struct hi_error err;
	uint64_t *module;

	HI_ASSERT_OK(hi_unwind_tables_find(p->target, &tables, &err), &err);
	HI_ASSERT_OK(hi_unwind_tables_check(&tables, p->target, &err), &err);
	module = tables.words + hi_unwind_tables_head(&tables).modules;
	module[0] -= 1 << HI_UNWIND_PAGE_BITS;
	module[1] -= 1 << HI_UNWIND_PAGE_BITS;
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_unwind_tables_check(&tables, p->target, &err));
	HI_ASSERT_MSG(strstr(err.text, "outside the target's code"), "%s", err.text);
	hi_unwind_tables_free(&tables);
}

static void check_an_error_comes_back_with_its_words_and_its_status(struct probed *p)
{
	struct hi_safepoint none = probed_parse("take_ordre");
	struct hi_safepoint wrong = probed_parse("take_order if $7 == 1");
	struct hi_probe_sites places = {};
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_symbols_probe_sites(p->target, false, &none, &places, &err));
	HI_ASSERT_MSG(strstr(err.text, "take_order"), "%s", err.text);
	HI_ASSERT_EQ(HI_NOT_FOUND, err.status);
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_symbols_probe_sites(p->target, false, &wrong, &places, &err));
	HI_ASSERT_MSG(strstr(err.text, "$1 to $6"), "%s", err.text);
	HI_ASSERT(!places.items);
}

static void
check_the_list_of_safepoints_is_the_one_that_is_found_with_rights(struct probed *p)
{
	struct hi_known_safepoint *with = NULL, *without = NULL;
	size_t n_with = 0, n_without = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_safepoints_list(p->target, &with, &n_with, &err), &err);
	HI_ASSERT_OK(hi_symbols_safepoints(p->target, false, &without, &n_without, &err),
		     &err);
	HI_ASSERT(n_with > 0);
	HI_ASSERT_EQ(n_with, n_without);
	for (size_t i = 0; i < n_with; i++) {
		HI_ASSERT_STREQ(with[i].text, without[i].text);
		HI_ASSERT_STREQ(with[i].runtime, without[i].runtime);
		HI_ASSERT_STREQ(with[i].purpose, without[i].purpose);
		HI_ASSERT_EQ(with[i].is_gc, without[i].is_gc);
		compare_places(&with[i].sites, &without[i].sites, with[i].text);
	}
	hi_safepoints_free(with, n_with);
	hi_safepoints_free(without, n_without);
}

static void check_a_place_outside_of_the_target_s_code_is_not_believed(struct probed *p)
{
	const struct hi_probe_sites *places = probed_find(p, "take_order");
	struct hi_probe_site lie = places->items[0];

	HI_ASSERT(hi_symbols_site_is_valid(p->target, &lie));
	lie.file_offset++;
	HI_ASSERT(!hi_symbols_site_is_valid(p->target, &lie));
	lie = places->items[0];
	lie.address += 1 << 30;
	lie.file_offset += 1 << 30;
	HI_ASSERT(!hi_symbols_site_is_valid(p->target, &lie));
	lie = places->items[0];
	lie.mapping = p->target->n_mappings;
	HI_ASSERT(!hi_symbols_site_is_valid(p->target, &lie));
	for (size_t i = 0; i < p->target->n_mappings; i++) {
		const struct hi_mapping *m = &p->target->mappings[i];

		lie.mapping = i;
		lie.address = m->start;
		lie.file_offset = m->file_offset;
		HI_ASSERT_EQ(m->kind == HI_MAPPING_FILE && (m->prot & HI_PROT_EXEC),
			     hi_symbols_site_is_valid(p->target, &lie));
	}
}

HI_TEST_SCENARIO(symbols, symbols_equal_those_found_with_rights)
{
	struct probed *p = probed_start();

	check_places_and_conditions_are_those_that_are_found_with_rights(p);
	check_functions_of_the_allocator_are_those_that_are_found_with_rights(p);
	check_tables_of_stacks_are_those_that_are_found_with_rights(p);
	check_tables_of_stacks_are_refused_outside_the_code(p);
	check_an_error_comes_back_with_its_words_and_its_status(p);
	check_the_list_of_safepoints_is_the_one_that_is_found_with_rights(p);
	check_a_place_outside_of_the_target_s_code_is_not_believed(p);
}

/* ---- that process ---- */

struct tried {
	int name_is_right, seccomp, wrote, killed, mem, pid;
	int has_memory, has_socket, has_object;
};

/* Which the first process has when it forks. */
static struct {
	void *memory;
	int sockets[2], kernels_object;
} inherited;

static void make_inherited(void)
{
	inherited.memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	inherited.kernels_object = eventfd(0, EFD_CLOEXEC);
	HI_ASSERT(inherited.memory != MAP_FAILED && inherited.kernels_object >= 0 &&
		  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, inherited.sockets) ==
			  0);
}

static void free_inherited(void)
{
	munmap(inherited.memory, 4096);
	close(inherited.kernels_object);
	close(inherited.sockets[0]);
	close(inherited.sockets[1]);
}

static enum hi_status try_things(struct hi_target *target, struct hi_image *image,
				 const void *arg, void *found, struct hi_error *err)
{
	struct tried *t = found;
	char name[16] = "", path[64];

	(void)image;
	(void)arg;
	(void)err;
	(void)prctl(PR_GET_NAME, name);
	t->name_is_right = strcmp(name, "hi-symbols") == 0;
	t->seccomp = prctl(PR_GET_SECCOMP);
	t->wrote = open("/tmp/heapinspect-symbols-test", O_WRONLY | O_CREAT | O_CLOEXEC,
			0600) >= 0;
	t->killed = kill(target->pid, 0) == 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)target->pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC) >= 0;
	t->pid = (int)getpid();
	t->has_memory = msync(inherited.memory, 4096, MS_ASYNC) == 0;
	t->has_socket = fcntl(inherited.sockets[0], F_GETFD) >= 0;
	t->has_object = fcntl(inherited.kernels_object, F_GETFD) >= 0;
	return HI_OK;
}

HI_TEST_SCENARIO(symbols, are_read_in_another_process_that_may_do_nothing_else)
{
	const struct hi_symbols_job job = {.read = try_things,
					   .size = sizeof(struct tried)};
	struct hi_fixture *fx = hi_fixture_start("probe_places", NULL);
	struct hi_target *target = NULL;
	struct tried *t = NULL;
	struct hi_error err;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	make_inherited();
	HI_ASSERT_OK(hi_symbols_read(target, &job, (void **)&t, &err), &err);
	free_inherited();
	HI_ASSERT(t->pid != getpid());
	HI_ASSERT(t->name_is_right);
	HI_ASSERT_EQ(2, t->seccomp); /* SECCOMP_MODE_FILTER */
	HI_ASSERT(!t->wrote);
	HI_ASSERT(!t->killed);
	HI_ASSERT(!t->mem);
	HI_ASSERT(!t->has_memory && !t->has_socket && !t->has_object);
	hi_symbols_free(t, job.size);
	hi_target_close(target);
}

static enum hi_status crash(struct hi_target *target, struct hi_image *image,
			    const void *arg, void *found, struct hi_error *err)
{
	(void)target;
	(void)image;
	(void)arg;
	(void)found;
	(void)err;
	signal(SIGABRT, SIG_DFL);
	abort();
}

static enum hi_status invent_a_status(struct hi_target *target, struct hi_image *image,
				      const void *arg, void *found, struct hi_error *err)
{
	(void)target;
	(void)image;
	(void)arg;
	(void)found;
	memset(err, 'x', sizeof(*err)); /* without an end */
	return (enum hi_status)4711;
}

HI_TEST_SCENARIO(symbols, a_process_that_dies_or_lies_is_an_error)
{
	struct hi_symbols_job job = {.read = crash, .size = 8};
	struct hi_fixture *fx = hi_fixture_start("probe_places", NULL);
	struct hi_target *target = NULL;
	void *found = NULL;
	struct hi_error err;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_symbols_read(target, &job, &found, &err));
	HI_ASSERT_MSG(strstr(err.text, "signal 6"), "%s", err.text);
	job.read = invent_a_status;
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_symbols_read(target, &job, &found, &err));
	HI_ASSERT_EQ(HI_BAD_DATA, err.status);
	HI_ASSERT(strnlen(err.text, sizeof(err.text)) < sizeof(err.text));
	HI_ASSERT(!found);
	hi_target_close(target);
}

/* ---- the commands ---- */

static const char said[] = "searching for places to stop at without privileges";

HI_TEST_SCENARIO(symbols, safepoints_reads_them_there)
{
	struct probed *p = probed_start();
	struct hi_command *c = hi_heapinspect("safepoints", "--pid", decimal(p->fx->pid),
					      "--for", "10ms", "--verbose", NULL);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, said), "%s", c->err);
	c = hi_heapinspect("safepoints", "--pid", decimal(p->fx->pid), "--for", "10ms",
			   "--verbose", "--no-sandbox", NULL);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(!strstr(c->err, said), "%s", c->err);
}

HI_TEST_ROOT(symbols, at_reads_them_there_at_once_and_in_a_series)
{
	struct probed *p = probed_start();
	struct hi_command *c = hi_heapinspect("summary", "--pid", decimal(p->fx->pid),
					      "--at", "no_such_function", "-v", NULL);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, said), "%s", c->err);
	c = hi_heapinspect("census", "--pid", decimal(p->fx->pid), "--every", "1s",
			   "--for", "1s", "--at", "no_such_function", "-v", NULL);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, said), "%s", c->err);
}
