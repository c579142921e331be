/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/probed.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness.h"

static void free_places(void *places)
{
	hi_probe_sites_free(places);
	free(places);
}

static void take_line(const char *line, void *arg)
{
	struct probed *p = arg;
	unsigned long long addr;
	char name[64];

	if (sscanf(line, "function %63s %llx", name, &addr) != 2)
		return;
	HI_ASSERT(p->n_functions < 32);
	strcpy(p->functions[p->n_functions].name, name);
	p->functions[p->n_functions++].addr = addr;
}

struct probed *probed_start(void)
{
	return probed_start_program("probe_places");
}

struct probed *probed_start_program(const char *name)
{
	struct probed *p = calloc(1, sizeof(*p));
	struct hi_error err;

	HI_ASSERT(p);
	hi_test_defer(free, p);
	p->fx = hi_fixture_start(name, NULL);
	hi_fixture_read_until(p->fx, "ready", take_line, p);
	HI_ASSERT_OK(hi_target_open(p->fx->pid, &p->target, &err), &err);
	hi_test_defer(hi_target_close, p->target);
	return p;
}

uint64_t probed_function(const struct probed *p, const char *name)
{
	for (size_t i = 0; i < p->n_functions; i++)
		if (strcmp(p->functions[i].name, name) == 0)
			return p->functions[i].addr;
	HI_ASSERT_MSG(false, "the fixture says nothing of %s", name);
	return 0;
}

struct hi_safepoint probed_parse(const char *at)
{
	struct hi_safepoint safepoint;
	struct hi_error err;

	HI_ASSERT_OK(hi_safepoint_parse(at, &safepoint, &err), &err);
	return safepoint;
}

const struct hi_probe_sites *probed_find(struct probed *p, const char *at)
{
	struct hi_probe_sites *places = calloc(1, sizeof(*places));
	struct hi_safepoint safepoint = probed_parse(at);
	struct hi_error err;

	HI_ASSERT(places);
	HI_ASSERT_OK(hi_safepoint_find(p->target, &safepoint, places, &err), &err);
	hi_test_defer(free_places, places);
	return places;
}

void probed_find_nothing(struct probed *p, const char *at, const char *word)
{
	struct hi_safepoint safepoint = probed_parse(at);
	struct hi_probe_sites places = {};
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_safepoint_find(p->target, &safepoint, &places, &err));
	HI_ASSERT_MSG(strstr(err.text, word), "no \"%s\" in: %s", word, err.text);
}

struct hi_probe *probed_open(struct probed *p, const char *at, uint64_t every)
{
	struct hi_safepoint safepoint = probed_parse(at);
	const struct hi_probe_sites *places = probed_find(p, at);
	struct hi_probe *probe;
	struct hi_error err;

	safepoint.every = every;
	HI_ASSERT_OK(hi_probe_open(p->target, &safepoint, places, &probe, &err), &err);
	hi_test_defer(hi_probe_close, probe);
	return probe;
}

void probed_tell(struct probed *p, const char *fmt, ...)
{
	char line[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	hi_fixture_tell(p->fx, line);
	hi_fixture_read_until(p->fx, "done", NULL, NULL);
}

struct signal_list {
	struct probed_signal *items;
	size_t count, max;
};

static void take_signal(const char *line, void *arg)
{
	struct signal_list *list = arg;
	unsigned long long pc;
	int tid;

	if (sscanf(line, "signal %llx %d", &pc, &tid) != 2)
		return;
	if (list->count < list->max) {
		list->items[list->count].pc = pc;
		list->items[list->count].tid = tid;
	}
	list->count++;
}

size_t probed_signals(struct probed *p, struct probed_signal *ret, size_t max)
{
	struct signal_list list = {ret, 0, max};

	hi_fixture_tell(p->fx, "signals");
	hi_fixture_read_until(p->fx, "done", take_signal, &list);
	return list.count;
}

struct counter {
	const char *name;
	long value;
};

static void take_counter(const char *line, void *arg)
{
	struct counter *counter = arg;
	size_t n = strlen(counter->name);

	if (strncmp(line, counter->name, n) == 0 && line[n] == ' ')
		counter->value = atol(line + n);
}

long probed_counter(struct probed *p, const char *name)
{
	struct counter counter = {name, -1};

	hi_fixture_tell(p->fx, "counters");
	hi_fixture_read_until(p->fx, "done", take_counter, &counter);
	HI_ASSERT_MSG(counter.value >= 0, "no counter %s", name);
	return counter.value;
}

static struct __user_cap_data_struct all_caps[2];

static void restore_caps(void *unused)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};

	(void)unused;
	syscall(SYS_capset, &head, all_caps);
}

void probed_drop_caps(const int *caps, size_t n)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct less[2];

	HI_ASSERT(syscall(SYS_capget, &head, all_caps) == 0);
	memcpy(less, all_caps, sizeof(less));
	for (size_t i = 0; i < n; i++)
		less[caps[i] / 32].effective &= ~(1u << caps[i] % 32);
	hi_test_defer(restore_caps, NULL);
	HI_ASSERT(syscall(SYS_capset, &head, less) == 0);
}

void probed_restore_caps(void)
{
	restore_caps(NULL);
}
