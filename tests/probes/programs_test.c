/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The running kernel takes each BPF program, and says why where it does not. Run on other
 * kernels by scripts/test-kernels, which counts those that were not skipped.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/bpf_load.h"
#include "probes/events/bpf_source_internal.h"
#include "tests/harness.h"

#define EMBEDDED(name) extern const unsigned char name##_start[], name##_end[]
EMBEDDED(hi_bpf_events);
EMBEDDED(hi_bpf_events_old);
EMBEDDED(hi_bpf_probe);
EMBEDDED(hi_bpf_probe_old);
EMBEDDED(hi_bpf_uses);
EMBEDDED(hi_bpf_uses_old);
EMBEDDED(hi_bpf_pages);

static struct bpf_object *open_programs(const unsigned char *start,
					const unsigned char *end)
{
	struct bpf_object *object = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_bpf_open(start, end, &object, &err), &err);
	hi_test_defer(bpf_object__close, object);
	return object;
}

/* Loads this one and no other. */
static void expect_accepted(struct bpf_object *object, const char *name, unsigned needs)
{
	struct bpf_program *program;
	bool found = false;
	struct hi_error err;

	if (!hi_bpf_has(needs))
		HI_SKIP("this kernel has not what the program needs");
	bpf_object__for_each_program(program, object)
	{
		bool wanted = strcmp(bpf_program__name(program), name) == 0;

		found |= wanted;
		HI_ASSERT_EQ(0, bpf_program__set_autoload(program, wanted));
	}
	HI_ASSERT(found);
	HI_ASSERT_OK(hi_bpf_load(object, needs, &err), &err);
}

/* With samples of time, which need the most. */
static void expect_events_accepted(const char *name)
{
	struct hi_bpf_source source = {.scan_ns = 10000000};

	source.object = open_programs(hi_bpf_events_start, hi_bpf_events_end);
	HI_ASSERT_EQ(0, hi_bpf_source_fill_given(&source));
	expect_accepted(source.object, name,
			HI_BPF_NEEDS_RINGS | HI_BPF_NEEDS_FETCHES | HI_BPF_NEEDS_COOKIES);
}

HI_TEST_ROOT(bpf_programs, at_entries_of_allocators_are_accepted)
{
	expect_events_accepted("enter");
}

HI_TEST_ROOT(bpf_programs, at_returns_of_allocators_are_accepted)
{
	expect_events_accepted("leave");
}

static void expect_old_events_accepted(const char *name)
{
	struct hi_bpf_source source = {
		.by_perf = true, .is_old = true, .scan_ns = 10000000};

	source.object = open_programs(hi_bpf_events_old_start, hi_bpf_events_old_end);
	HI_ASSERT_EQ(0, hi_bpf_source_fill_given(&source));
	expect_accepted(source.object, name, HI_BPF_NEEDS_RINGS);
}

HI_TEST_ROOT(bpf_programs, for_old_kernels_at_entries_are_accepted)
{
	expect_old_events_accepted("enter");
}

HI_TEST_ROOT(bpf_programs, for_old_kernels_at_returns_are_accepted)
{
	expect_old_events_accepted("leave");
}

HI_TEST_ROOT(bpf_programs, for_old_kernels_of_samples_of_time_are_accepted)
{
	expect_old_events_accepted("tick");
}

HI_TEST_ROOT(bpf_programs, of_samples_of_time_are_accepted)
{
	expect_events_accepted("tick");
}

HI_TEST_ROOT(bpf_programs, of_safepoints_are_accepted)
{
	expect_accepted(open_programs(hi_bpf_probe_start, hi_bpf_probe_end), "probe",
			HI_BPF_NEEDS_RINGS | HI_BPF_NEEDS_FETCHES | HI_BPF_NEEDS_COOKIES);
}

HI_TEST_ROOT(bpf_programs, for_old_kernels_at_safepoints_are_accepted)
{
	expect_accepted(open_programs(hi_bpf_probe_old_start, hi_bpf_probe_old_end),
			"probe", HI_BPF_NEEDS_RINGS);
}

HI_TEST_ROOT(bpf_programs, of_calls_with_objects_are_accepted)
{
	expect_accepted(open_programs(hi_bpf_uses_start, hi_bpf_uses_end),
			"enter_with_objects", HI_BPF_NEEDS_COOKIES);
}

HI_TEST_ROOT(bpf_programs, for_old_kernels_of_calls_are_accepted)
{
	expect_accepted(open_programs(hi_bpf_uses_old_start, hi_bpf_uses_old_end),
			"enter_with_objects", 0);
}

HI_TEST_ROOT(bpf_programs, of_page_tables_are_accepted)
{
	expect_accepted(open_programs(hi_bpf_pages_start, hi_bpf_pages_end),
			"read_page_tables",
			HI_BPF_NEEDS_TYPES | HI_BPF_NEEDS_TASK_ITERATORS);
}

static char heard[8192];

static void hear(const char *lines)
{
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard), "%s", lines);
}

static void stop_hearing(void *arg)
{
	(void)arg;
	hi_bpf_listen(NULL);
}

/* As a program of packets it may not ask which probe was hit. */
HI_TEST_ROOT(bpf_programs, that_are_refused_are_named_with_the_verifiers_words)
{
	static const char refused[] =
		"this kernel's verifier refuses the BPF program enter_with_objects: ";
	struct bpf_object *object = open_programs(hi_bpf_uses_start, hi_bpf_uses_end);
	struct bpf_program *program =
		bpf_object__find_program_by_name(object, "enter_with_objects");
	struct hi_error err = {};

	hi_bpf_listen(hear);
	hi_test_defer(stop_hearing, NULL);
	HI_ASSERT_EQ(0, bpf_program__set_type(program, BPF_PROG_TYPE_SOCKET_FILTER));
	HI_ASSERT_EQ(HI_UNSUPPORTED, hi_bpf_load(object, 0, &err));
	hi_test_note("%s", err.text);
	HI_ASSERT_EQ(0, strncmp(err.text, refused, strlen(refused)));
	/* The helper: by its name, or by its number alone on old kernels. */
	HI_ASSERT(strstr(err.text, "attach_cookie") || strstr(err.text, "#174"));
	HI_ASSERT(strstr(heard, "attach_cookie") || strstr(heard, "#174"));
	HI_ASSERT(strstr(heard, "enter_with_objects"));
}
