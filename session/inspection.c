/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspection.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "session/user.h"

const char *hi_inspection_program(const struct hi_inspection *in)
{
	const struct hi_target *target = in->stop.target;
	const char *path = target ? target->started_as : in->image->exe;

	return path ? path : "";
}

void hi_inspect_warn(struct hi_inspection *in, const char *fmt, ...)
{
	char text[512];
	const char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = hi_arena_strdup(&in->arena, text);
	if (copy)
		(void)hi_vector_push(&in->diagnostics.warnings, copy);
}

void hi_inspect_note(struct hi_inspection *in, const char *fmt, ...)
{
	struct hi_warning_list *notes = &in->diagnostics.notes;
	char text[512];
	const char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < notes->count; i++)
		if (strcmp(notes->items[i], text) == 0)
			return;
	copy = hi_arena_strdup(&in->arena, text);
	if (copy)
		(void)hi_vector_push(notes, copy);
}

void hi_inspection_avoid(struct hi_inspection *in, const struct hi_range *range)
{
	struct hi_range *ranges = hi_realloc_array(
		in->stop.allocator_text, in->stop.n_allocator_text + 1, sizeof(*ranges));

	if (!ranges)
		return;
	ranges[in->stop.n_allocator_text++] = *range;
	in->stop.allocator_text = ranges;
}

enum hi_status hi_inspection_wrong_root(struct hi_inspection *in,
					const struct hi_root_text *root, size_t column,
					struct hi_error *err)
{
	hi_user_end_progress(hi_take(in->phases.progress));
	return hi_user_refuse_root(in->options, root, column, err);
}

#define NO_PHASE SIZE_MAX

static uint64_t count_own_cpu_ns(void)
{
	struct timespec t = {};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * HI_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void show_phase_name(struct hi_inspection *in, const char *name)
{
	if (in->phases.shown)
		snprintf(in->phases.shown, HI_PHASE, "%s", name ? name : "");
	hi_user_show_phase(in->phases.progress, name);
}

size_t hi_inspect_open_phase(struct hi_inspection *in, const char *name)
{
	struct hi_phase phase = {.name = name,
				 .begin_ns = hi_clock_ns(),
				 .begin_cpu_ns = count_own_cpu_ns()};

	if (!name)
		return NO_PHASE;
	show_phase_name(in, name);
	if (!hi_vector_push(&in->phases.list, phase))
		return NO_PHASE;
	return in->phases.list.count - 1;
}

void hi_inspect_close_phase(struct hi_inspection *in, size_t phase)
{
	uint64_t now = hi_clock_ns(), cpu = count_own_cpu_ns();
	struct rusage usage = {};
	struct hi_phase *p;

	if (phase >= in->phases.list.count)
		return;
	p = &in->phases.list.items[phase];
	(void)getrusage(RUSAGE_SELF, &usage);
	p->ns = now > p->begin_ns ? now - p->begin_ns : 1;
	/* One that a fork came into has begun by another process's clock. */
	p->cpu_ns = cpu > p->begin_cpu_ns ? cpu - p->begin_cpu_ns : cpu;
	p->peak_bytes = (uint64_t)usage.ru_maxrss << 10;
}

void hi_inspect_phase(struct hi_inspection *in, const char *name)
{
	if (in->phases.runs)
		hi_inspect_close_phase(in, in->phases.running);
	in->phases.running = hi_inspect_open_phase(in, name);
	in->phases.runs = in->phases.running != NO_PHASE;
	if (!name)
		show_phase_name(in, NULL);
}

bool hi_inspect_lost_something(const struct hi_inspection *in)
{
	return hi_alloc_failures() != in->diagnostics.failures_before;
}

uint64_t hi_inspect_allocated(const struct hi_inspection *in)
{
	return in->source->results->allocated_bytes(in);
}

bool hi_inspect_heap_is_known(const struct hi_inspection *in)
{
	return in->source->results->heap_is_known(in);
}

enum hi_status hi_inspect_check(const struct hi_inspection *in, struct hi_error *err)
{
	return in->source->check(in, err);
}

enum hi_status hi_inspect_make_header(struct hi_inspection *in,
				      struct hi_report_header *ret, struct hi_error *err)
{
	enum hi_status status = in->source->results->make_header(in, ret, err);

	if (status == HI_OK && in->options->output.verbose)
		ret->phases = &in->phases.list;
	return status;
}
