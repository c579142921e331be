/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "attach/image_send.h"
#include "attach/running_image.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/packet.h"
#include "census/events/pending_events.h"
#include "probes/events/unwind_find.h"
#include "probes/events/window_cost.h"
#include "session/live/cpu_times.h"
#include "session/live/event_spool.h"
#include "session/live/symbols.h"
#include "session/options.h"

/* How often the files that are mapped as code are compared with those of before. */
static const uint64_t look_period_ns = HI_NS_PER_S;
/* The same where a stack has an address outside of them. */
static const uint64_t new_code_period_ns = HI_NS_PER_S / 20;

/* The buffer of events holds what comes in much more time. */
enum { THREAD_NAP_NS = 2000000 };

/* --sample windows: 2 % of the time, and of one processor. The cost of a trap is known to
 * about a seventh. A target with many threads has shorter windows. */
static const struct hi_event_schedule windows_of_recording = {
	.length_ns = HI_NS_PER_S / 50,
	.period_ns = HI_NS_PER_S,
	.budget = 40000,
	.cost_ns = HI_NS_PER_S / 50 * 6 / 7};

struct hi_recorder {
	struct hi_stop_observer observer; /* first */
	const struct hi_options *options;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source; /* NULL: it has ended */
	struct hi_event_stats stats;	/* of its end */
	struct hi_recording *recording;
	struct hi_kept_events *kept; /* --keep-events; NULL: none are */
	struct hi_windows *windows;  /* --sample windows; NULL: there are none */
	struct hi_error no_windows;  /* why there are none, though they were asked for */
	struct hi_windows_choice windows_choice;
	struct hi_marked_totals *marked;
	struct recorder_pauses {
		struct HI_VECTOR(struct hi_recording_pause) list;
		bool is_open;	       /* the last one */
		uint64_t calls, bytes; /* that were counted before it */
	} pauses;
	uint64_t opened_ns, start_ns, end_ns;
	struct hi_run_times at_opening;	       /* while calls are counted */
	struct hi_cpu_times cpu_at_opening;    /* the same */
	uint64_t stood_from_ns, stood_to_ns;   /* at the last stop */
	struct hi_cpu_times at_start, at_stop; /* of the last stop */
	/* Stacks: what is mapped as code by now, and whether they can be walked. */
	uint64_t code_hash, looked_ns;
	/* Python: code objects that stacks have. NULL: it has none. */
	struct hi_image *memory; /* as it is while the target runs */
	struct hi_python_codes *codes;
	struct hi_past_code code;
	uint32_t sure_frames; /* that were known when the code was last seen as before */
	bool has_new_code;    /* a stack came from somewhere else */
	bool walks_stacks;
	/* Of the events that are being taken. */
	struct hi_error failure;
	bool is_lost;
	struct hi_window_load window_load;
	uint64_t entry_ns;  /* sum over windows */
	uint64_t late_hits; /* see struct hi_event_window */
	uint32_t n_windows;
	bool is_finishing;		   /* events behind end_ns are left out */
	bool is_past_stop;		   /* an event behind the stop was seen */
	const struct hi_exit_watch *watch; /* NULL: none */
	/* While a census reads the recording; `later` waits for its end. */
	bool is_held;
	struct hi_pending_events later;
	/* The thread that takes events; it has the lock when it does. */
	bool has_thread, is_thread_to_end;
	pthread_t thread;
	/* For a recording that two processes share; 0: none. See recorder.h. */
	int kept_for, served_by;
	struct hi_target *looked_at;	/* kept_for: at the last look */
	struct hi_recorder_names names; /* begin NULL: none are */
	struct hi_fork_gate gate;
	struct hi_error thread_error; /* why it has ended */
};

static void end_recorder_thread(struct hi_recorder *r);

/* Reads those of the target and of this program, both processes of it. */
static void read_cpu_times(const struct hi_recorder *r, struct hi_cpu_times *ret)
{
	struct hi_cpu_times other = {};

	hi_cpu_times_read(r->options->target.pid, ret);
	if (!r->served_by)
		return;
	hi_cpu_times_read(getppid(), &other);
	ret->tool_ns += other.target_ns;
}

/* In a child of this process. */
static void forget_recorder_thread(void *arg)
{
	struct hi_recorder *r = arg;

	r->has_thread = false;
}

static void end_event_source(struct hi_recorder *r)
{
	if (!r->source)
		return;
	hi_event_source_stop(r->source);
	hi_event_source_stats(r->source, &r->stats);
	hi_event_source_close(hi_take(r->source));
}

void hi_recorder_close(struct hi_recorder *recorder)
{
	if (!recorder)
		return;
	end_recorder_thread(recorder);
	/* Else all is the other process's. */
	if (recorder->served_by)
		return;
	hi_target_close(recorder->looked_at);
	end_event_source(recorder);
	hi_pending_free(&recorder->later);
	hi_past_code_free(&recorder->code);
	pthread_mutex_destroy(&recorder->gate.lock);
	hi_recording_destroy(recorder->recording);
	hi_windows_destroy(recorder->windows);
	hi_kept_events_destroy(recorder->kept);
	hi_marked_totals_destroy(recorder->marked);
	hi_vector_free(&recorder->pauses.list);
	hi_python_codes_destroy(recorder->codes);
	hi_image_destroy(recorder->memory);
	hi_target_close(recorder->target);
	free(recorder);
}

/* ---- tables of stacks ---- */

static uint64_t hash_mapped_code(const struct hi_target *target)
{
	uint64_t hash = HI_HASH_START;

	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (!hi_unwind_is_code(m))
			continue;
		hash = hi_hash_more(hash, &m->start, sizeof(m->start));
		hash = hi_hash_more(hash, &m->end, sizeof(m->end));
		hash = hi_hash_more(hash, &m->inode, sizeof(m->inode));
	}
	return hash;
}

/* Without tables a stack has its innermost frame: worse, but no reason to fail. */
static void set_unwind_tables(struct hi_recorder *r, struct hi_target *target)
{
	struct hi_unwind_tables tables = {};
	struct hi_error unused;
	enum hi_status status =
		r->options->decoding.no_sandbox
			? hi_unwind_tables_find(target, &tables, &unused)
			: hi_symbols_unwind_tables(target, r->options->output.verbose,
						   &tables, &unused);

	if (status == HI_OK)
		status = hi_event_source_set_unwind(r->source, &tables, &unused);
	r->walks_stacks = status == HI_OK;
	hi_unwind_tables_free(&tables);
}

/* Is the allocator still where it was? Not after an exec. */
static bool has_same_allocator(const struct hi_recorder *r,
			       const struct hi_target *target)
{
	const struct hi_probe_site *site = &r->functions.items[0].site;
	const struct hi_mapping *before = &r->target->mappings[site->mapping];

	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (m->start <= site->address && site->address < m->end)
			return m->inode == before->inode &&
			       m->dev_major == before->dev_major &&
			       m->dev_minor == before->dev_minor;
	}
	return false;
}

static enum hi_status fail_by_exec(const struct hi_recorder *r, struct hi_error *err)
{
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "process %d has started another program (exec): what was recorded "
		       "is gone",
		       (int)r->options->target.pid);
}

/* ---- events ---- */

static void keep_failure(struct hi_recorder *r, enum hi_status status,
			 const struct hi_error *err)
{
	if (status != HI_OK && r->failure.status == HI_OK)
		r->failure = *err;
}

void hi_recorder_watch_exec(struct hi_recorder *recorder,
			    const struct hi_exit_watch *watch)
{
	recorder->watch = watch;
}

uint64_t hi_recorder_exec_ns(const struct hi_recorder *recorder)
{
	return hi_exit_watch_exec_ns(recorder->watch);
}

/* Is it of the program that is there now, and not of the one that is recorded? */
static bool is_of_next_program(const struct hi_recorder *r, const struct hi_event *event)
{
	uint64_t exec_ns = hi_recorder_exec_ns(r);

	return exec_ns && event->time_ns > exec_ns && event->kind != HI_EVENT_LOST;
}

/* Lost events are marked in front of the next one that fits: a mark that is the first
 * event behind the stop may stand for events before it. */
static bool is_before_stop(struct hi_recorder *r, const struct hi_event *event)
{
	bool was_past = r->is_past_stop;

	if (!r->is_finishing || event->time_ns <= r->end_ns)
		return true;
	r->is_past_stop = true;
	return event->kind == HI_EVENT_LOST && !was_past;
}

static bool is_tick_of_stop(const struct hi_recorder *r, const struct hi_event *event)
{
	return event->kind == HI_EVENT_TICK && event->time_ns > r->stood_from_ns &&
	       event->time_ns <= r->stood_to_ns;
}

static void record_event(void *arg, const struct hi_event *event)
{
	struct hi_recorder *r = arg;
	struct hi_error err;

	if (is_of_next_program(r, event) || is_tick_of_stop(r, event))
		return;
	if (r->is_held)
		hi_pending_add(&r->later, event);
	else if (is_before_stop(r, event))
		keep_failure(r, hi_recording_apply(r->recording, event, &err), &err);
}

/* The code of Python that is in it may be freed soon. */
static void record_stack(void *arg, const struct hi_event_stack *given)
{
	struct hi_recorder *r = arg;
	struct hi_event_stack stack;
	struct hi_error err;

	memcpy(&stack, given,
	       offsetof(struct hi_event_stack, frames) + given->n * sizeof(uint64_t));
	if (r->codes)
		keep_failure(r, hi_python_codes_take(r->codes, &stack, &err), &err);
	for (unsigned i = 0; !r->has_new_code && i < stack.n && i < HI_STACK_FRAMES; i++)
		r->has_new_code = !(stack.frames[i] & HI_PYTHON_FRAME) &&
				  !hi_past_code_is_known(&r->code, stack.frames[i]);
	if (r->is_held)
		hi_pending_add_stack(&r->later, &stack);
	else
		keep_failure(r, hi_recording_stack(r->recording, &stack, &err), &err);
}

static void add_window_load(struct hi_window_load *load,
			    const struct hi_event_window *window)
{
	load->cpu_ns += window->cpu_ns;
	load->cpu_of_ns += window->cpu_of_ns;
	load->gap_cpu_ns += window->gap_cpu_ns;
	load->gap_ns += window->gap_ns;
	load->hits += window->hits;
	load->program_ns += window->program_ns;
	load->covered_ns += window->to_ns - window->from_ns;
	if (!window->cpu_of_ns)
		return;
	load->n++;
	load->cpu_squares_ns +=
		(uint64_t)((double)window->cpu_ns * (double)window->cpu_ns /
			   (double)window->cpu_of_ns);
}

/* Events that came behind the stop were left out. */
static void record_window(void *arg, const struct hi_event_window *window)
{
	struct hi_recorder *r = arg;
	uint64_t to_ns = window->to_ns;
	struct hi_error err;

	add_window_load(&r->window_load, window);
	r->entry_ns += window->entry_ns;
	r->n_windows++;
	r->late_hits += window->late_hits;
	if (r->is_finishing && to_ns > r->end_ns)
		to_ns = r->end_ns;
	if (to_ns > window->from_ns)
		keep_failure(r, hi_windows_end(r->windows, window->from_ns, to_ns, &err),
			     &err);
}

static struct hi_event_sink sink_of(struct hi_recorder *r)
{
	return (struct hi_event_sink){.event = record_event,
				      .stack = record_stack,
				      .window = r->windows ? record_window : NULL,
				      .arg = r};
}

/* ---- code that is loaded and unloaded ---- */

static uint32_t count_recorded_frames(const struct hi_recorder *r)
{
	struct hi_context_view view;

	hi_contexts_view(hi_recording_contexts(r->recording), &view);
	return view.n_frames;
}

/* Stacks that are in the ring by now may be of the code before. */
static enum hi_status take_changed_code(struct hi_recorder *r, struct hi_target *target,
					struct hi_error *err)
{
	struct hi_past_frames frames = {.sure = r->sure_frames};
	struct hi_event_sink sink = sink_of(r);
	enum hi_status status = HI_OK;

	if (r->source)
		status = hi_event_source_poll(r->source, 0, &sink, err);
	if (status != HI_OK)
		return status;
	if (r->source && r->walks_stacks)
		set_unwind_tables(r, target);
	r->code_hash = hash_mapped_code(target);
	frames.all = r->sure_frames = count_recorded_frames(r);
	return hi_past_code_look(&r->code, target, &frames, err);
}

/* ---- the same by two processes ---- */

/* BEGIN_NAMES: addresses follow (hi_packet_send_bytes). */
enum look_request { LOOK, TAKE_TABLES, END_EVENTS, BEGIN_NAMES, LOOK_AT_NAMES };
/* The last three are of LOOK_AT_NAMES. */
enum look_result {
	NOTHING_THERE,
	SAME_CODE,
	OTHER_CODE,
	OTHER_PROGRAM,
	NO_NAMES_YET,
	NAMES,
	NO_NAMES
};

struct look_answer {
	uint32_t result;
	uint32_t walks_stacks;
};

static bool ask_to_look(const struct hi_recorder *r, enum look_request what,
			struct look_answer *answer)
{
	uint32_t request = what;
	int fd = -1;
	bool is_there = hi_packet_send(r->served_by, &request, sizeof(request), -1) &&
			hi_packet_receive(r->served_by, answer, sizeof(*answer), 0, &fd);

	hi_close_fd(fd);
	return is_there;
}

static enum hi_status fail_unserved(struct hi_error *err)
{
	return hi_fail(err, HI_GONE, 0, "the process that has the probes has ended");
}

static enum hi_status receive_changed_code(struct hi_recorder *r, struct hi_error *err)
{
	struct hi_past_frames frames = {.sure = r->sure_frames};
	struct hi_event_sink sink = sink_of(r);
	struct look_answer answer;
	struct hi_image *later = NULL;
	enum hi_status status =
		r->source ? hi_event_source_poll(r->source, 0, &sink, err) : HI_OK;

	if (status == HI_OK && !ask_to_look(r, TAKE_TABLES, &answer))
		return fail_unserved(err);
	if (status == HI_OK)
		status = hi_image_receive(r->served_by, NULL, &later, err);
	if (status != HI_OK)
		return status;
	r->walks_stacks = answer.walks_stacks;
	frames.all = r->sure_frames = count_recorded_frames(r);
	hi_past_code_take(&r->code, later, &frames);
	return HI_OK;
}

static enum hi_status look_by_other_process(struct hi_recorder *r, struct hi_error *err)
{
	uint32_t n_frames = count_recorded_frames(r);
	struct look_answer answer;

	r->looked_ns = hi_clock_ns();
	if (!ask_to_look(r, LOOK, &answer))
		return fail_unserved(err);
	if (answer.result == NOTHING_THERE)
		return HI_OK;
	if (answer.result == OTHER_PROGRAM)
		return fail_by_exec(r, err);
	r->has_new_code = false;
	if (answer.result == OTHER_CODE)
		return receive_changed_code(r, err);
	r->sure_frames = n_frames;
	return HI_OK;
}

static enum look_result look_for_other_process(struct hi_recorder *r)
{
	hi_target_close(hi_take(r->looked_at));
	if (r->source)
		hi_event_source_look(r->source);
	if (hi_target_open(r->options->target.pid, &r->looked_at, NULL) != HI_OK ||
	    r->looked_at->n_mappings == 0)
		return NOTHING_THERE;
	if (!has_same_allocator(r, r->looked_at))
		return OTHER_PROGRAM;
	return hash_mapped_code(r->looked_at) == r->code_hash ? SAME_CODE : OTHER_CODE;
}

static bool send_changed_code(struct hi_recorder *r)
{
	struct hi_image *image = NULL;
	struct look_answer answer;
	struct hi_error ignored;
	bool is_sent;

	if (!r->looked_at || hi_image_of_files(r->looked_at, &image, &ignored) != HI_OK)
		return false;
	if (r->source && r->walks_stacks)
		set_unwind_tables(r, r->looked_at);
	r->code_hash = hash_mapped_code(r->looked_at);
	answer = (struct look_answer){OTHER_CODE, r->walks_stacks};
	is_sent = hi_packet_send(r->kept_for, &answer, sizeof(answer), -1) &&
		  hi_image_send(image, r->kept_for, &ignored) == HI_OK;
	hi_image_destroy(image);
	return is_sent;
}

static bool begin_names(const struct hi_recorder *r)
{
	HI_GUARD(free) void *addresses = NULL;
	size_t n = 0;

	if (!r->names.begin ||
	    !hi_packet_receive_bytes(r->kept_for, HI_SYMBOLS_FRAMES * sizeof(uint64_t),
				     &addresses, &n))
		return false;
	return r->names.begin(r->names.arg, addresses,
			      (uint32_t)(n / sizeof(uint64_t))) == HI_OK;
}

static enum look_result look_at_names(const struct hi_recorder *r)
{
	bool fine = false;

	if (!r->names.begin || r->names.has_ended(r->names.arg, &fine))
		return fine ? NAMES : NO_NAMES;
	return NO_NAMES_YET;
}

/* False: the other process has ended, or does not follow the protocol. */
static bool serve_look(struct hi_recorder *r, uint32_t request)
{
	struct look_answer answer = {};

	switch (request) {
	case TAKE_TABLES:
		return send_changed_code(r);
	case LOOK:
		answer.result = look_for_other_process(r);
		break;
	case BEGIN_NAMES:
		answer.result = begin_names(r) ? NO_NAMES_YET : NO_NAMES;
		break;
	case LOOK_AT_NAMES:
		answer.result = look_at_names(r);
		break;
	case END_EVENTS:
		end_event_source(r);
		break;
	default:
		return false;
	}
	return hi_packet_send(r->kept_for, &answer, sizeof(answer), -1);
}

static void *serve_looks_in_thread(void *arg)
{
	struct hi_recorder *r = arg;
	uint32_t request;
	int fd = -1;
	bool goes_on = true;

	while (goes_on &&
	       hi_packet_receive(r->kept_for, &request, sizeof(request), 0, &fd)) {
		hi_close_fd(fd);
		hi_recorder_lock(r);
		goes_on = serve_look(r, request);
		hi_recorder_unlock(r);
	}
	/* Else the other process would wait. */
	(void)shutdown(r->kept_for, SHUT_RDWR);
	return NULL;
}

void hi_recorder_keep_probes(struct hi_recorder *r, int socket)
{
	r->kept_for = socket;
}

void hi_recorder_be_served(struct hi_recorder *r, int socket)
{
	r->served_by = socket;
	read_cpu_times(r, &r->at_start);
}

void hi_recorder_serve_names(struct hi_recorder *r, const struct hi_recorder_names *names)
{
	r->names = *names;
}

bool hi_recorder_is_served(const struct hi_recorder *r)
{
	return r->served_by;
}

bool hi_recorder_ask_for_names(struct hi_recorder *r, const uint64_t *addresses,
			       uint32_t n)
{
	const uint32_t request = BEGIN_NAMES;
	struct look_answer answer;
	int fd = -1;
	bool is_there =
		hi_packet_send(r->served_by, &request, sizeof(request), -1) &&
		hi_packet_send_bytes(r->served_by, addresses, n * sizeof(*addresses)) &&
		hi_packet_receive(r->served_by, &answer, sizeof(answer), 0, &fd);

	hi_close_fd(fd);
	return is_there && answer.result == NO_NAMES_YET;
}

bool hi_recorder_has_names(struct hi_recorder *r, bool *fine_ret)
{
	struct look_answer answer = {.result = NO_NAMES};
	bool is_there = ask_to_look(r, LOOK_AT_NAMES, &answer);

	*fine_ret = is_there && answer.result == NAMES;
	return answer.result != NO_NAMES_YET;
}

size_t hi_recorder_fds(const struct hi_recorder *r, int fds[HI_RECORDER_FDS])
{
	fds[0] = r->target->pidfd;
	fds[1] = r->memory ? hi_image_unstopped_fd(r->memory) : -1;
	hi_event_source_fds(r->source, fds + 2);
	return HI_RECORDER_FDS;
}

/* ---- the code as it is now ---- */

/* A library that is loaded later gets its tables, too. */
static enum hi_status look_at_code(struct hi_recorder *r, struct hi_error *err)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;
	uint32_t n_frames = count_recorded_frames(r);

	if (hi_recorder_exec_ns(r))
		return fail_by_exec(r, err);
	if (r->served_by)
		return look_by_other_process(r, err);
	r->looked_ns = hi_clock_ns();
	/* It may be about to exit. */
	if (hi_target_open(r->options->target.pid, &target, NULL) != HI_OK ||
	    target->n_mappings == 0)
		return HI_OK;
	if (!has_same_allocator(r, target))
		return fail_by_exec(r, err);
	r->has_new_code = false;
	if (hash_mapped_code(target) != r->code_hash)
		return take_changed_code(r, target, err);
	r->sure_frames = n_frames;
	return HI_OK;
}

static enum hi_status report_failure(const struct hi_recorder *r, enum hi_status status,
				     struct hi_error *err)
{
	if (status != HI_OK || r->failure.status == HI_OK)
		return status;
	*err = r->failure;
	return err->status;
}

enum hi_status hi_recorder_poll(struct hi_recorder *r, unsigned timeout_ms,
				struct hi_error *err)
{
	struct hi_event_sink sink = sink_of(r);
	enum hi_status status;

	if (!r->source) /* given up */
		return HI_OK;
	status = hi_event_source_poll(r->source, timeout_ms, &sink, err);
	r->is_lost = status == HI_GONE;
	/* What the program before did up to its end. */
	if (status == HI_OK && hi_recorder_exec_ns(r))
		status = hi_event_source_drain(r->source, &sink, err);
	/* Names of a census come from what was known at its stop. */
	if (status == HI_OK && !r->is_held &&
	    (hi_recorder_exec_ns(r) ||
	     hi_clock_ns() - r->looked_ns >=
		     (r->has_new_code ? new_code_period_ns : look_period_ns)))
		status = look_at_code(r, err);
	return report_failure(r, status, err);
}

/* ---- beside a census ---- */

static void end_recorder_thread(struct hi_recorder *r)
{
	if (!r->has_thread)
		return;
	hi_recorder_lock(r);
	r->is_thread_to_end = true;
	hi_recorder_unlock(r);
	if (r->kept_for)
		(void)shutdown(r->kept_for, SHUT_RDWR);
	pthread_join(r->thread, NULL);
	r->has_thread = false;
	hi_fork_gate_close();
}

/* With a nap between two looks, in which others get the lock. */
static void *take_events_in_thread(void *arg)
{
	const struct timespec nap = {.tv_nsec = THREAD_NAP_NS};
	struct hi_recorder *r = arg;
	bool goes_on = true;

	while (goes_on) {
		hi_recorder_lock(r);
		goes_on = !r->is_thread_to_end && r->thread_error.status == HI_OK &&
			  hi_recorder_poll(r, 0, &r->thread_error) == HI_OK;
		hi_recorder_unlock(r);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

enum hi_status hi_recorder_run(struct hi_recorder *r, struct hi_error *err)
{
	sigset_t all, before;

	sigfillset(&all);
	/* Signals are for the first thread. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r->has_thread = true;
	hi_fork_gate_open(&r->gate);
	errno = pthread_create(
		&r->thread, NULL,
		r->kept_for ? serve_looks_in_thread : take_events_in_thread, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errno == 0)
		return HI_OK;
	r->has_thread = false;
	hi_fork_gate_close();
	return hi_fail_errno(err, "thread of a recording");
}

void hi_recorder_lock(struct hi_recorder *recorder)
{
	if (recorder->has_thread)
		hi_fork_gate_lock(&recorder->gate);
}

void hi_recorder_unlock(struct hi_recorder *recorder)
{
	if (recorder->has_thread)
		hi_fork_gate_unlock(&recorder->gate);
}

enum hi_status hi_recorder_check(struct hi_recorder *r, struct hi_error *err)
{
	enum hi_status status;

	hi_recorder_lock(r);
	status = r->thread_error.status;
	if (status != HI_OK)
		*err = r->thread_error;
	hi_recorder_unlock(r);
	return status;
}

uint64_t hi_recorder_calls(struct hi_recorder *r)
{
	struct hi_event_stats stats;
	uint64_t calls = 0;

	hi_recorder_lock(r);
	hi_recorder_stats(r, &stats);
	hi_recorder_unlock(r);
	for (size_t i = 0; i < stats.n_functions; i++)
		calls += stats.functions[i].hits;
	return calls;
}

void hi_recorder_give_up(struct hi_recorder *r)
{
	struct look_answer answer;

	hi_recorder_lock(r);
	if (r->served_by && r->source) {
		(void)ask_to_look(r, END_EVENTS, &answer);
		hi_event_source_stats(r->source, &r->stats);
		r->source = NULL; /* the other process has closed it */
	}
	end_event_source(r);
	hi_recorder_unlock(r);
}

/* What happened up to the stop; where it was given up, nothing is known of that. */
static enum hi_status drain_until_stop(struct hi_recorder *r, struct hi_error *err)
{
	const struct hi_event lost = {.kind = HI_EVENT_LOST, .size = 1};
	struct hi_event_sink sink = sink_of(r);

	return r->source ? hi_event_source_drain(r->source, &sink, err)
			 : hi_recording_apply(r->recording, &lost, err);
}

/* A window ends whole: what is held then has its length. */
static void end_window_of_period(struct hi_recorder *r)
{
	struct hi_event_sink sink = sink_of(r);
	struct hi_error err = {};
	enum hi_status status;

	if (!r->windows || !r->source || r->is_held)
		return;
	status = hi_event_source_rest(r->source, &sink, &err);
	/* The poll finds that the target has exited. */
	if (status != HI_GONE)
		keep_failure(r, status, &err);
}

static void go_on_by_windows(struct hi_recorder *r)
{
	struct hi_error err = {};

	if (r->windows && r->source)
		keep_failure(r, hi_event_source_start(r->source, &err), &err);
}

void hi_recorder_hold(struct hi_recorder *r)
{
	hi_recorder_lock(r);
	end_window_of_period(r);
	r->is_held = true;
	hi_recorder_unlock(r);
}

void hi_recorder_stood(struct hi_recorder *r, uint64_t stopped_ns, uint64_t pause_ns)
{
	hi_recorder_lock(r);
	r->stood_from_ns = stopped_ns;
	r->stood_to_ns = stopped_ns + pause_ns;
	hi_pending_drop_ticks(&r->later, r->stood_from_ns, r->stood_to_ns);
	read_cpu_times(r, &r->at_stop);
	hi_recorder_unlock(r);
}

enum hi_status hi_recorder_advance(struct hi_recorder *r, uint64_t stopped_ns,
				   struct hi_error *err)
{
	enum hi_status status;

	hi_recorder_lock(r);
	r->end_ns = stopped_ns;
	status = drain_until_stop(r, err);
	if (status == HI_OK)
		status = hi_pending_apply(&r->later, r->recording, stopped_ns, err);
	/* It may be another program by now. */
	if (status == HI_OK)
		status = look_at_code(r, err);
	status = report_failure(r, status, err);
	if (status != HI_OK && r->thread_error.status == HI_OK)
		r->thread_error = *err;
	hi_recorder_unlock(r);
	return status;
}

void hi_recorder_release(struct hi_recorder *r)
{
	struct hi_error err;

	if (!r->is_held)
		return;
	hi_recorder_lock(r);
	r->is_held = false;
	keep_failure(r, hi_pending_apply(&r->later, r->recording, UINT64_MAX, &err),
		     &err);
	go_on_by_windows(r);
	hi_recorder_unlock(r);
}

/* All that has happened by now is recorded, and nothing that comes later. */
enum hi_status hi_recorder_mark(struct hi_recorder *r, const char *text, bool is_era,
				struct hi_error *err)
{
	uint64_t now;
	enum hi_status status;

	hi_recorder_hold(r);
	now = hi_clock_ns();
	status = r->source ? hi_recorder_advance(r, now, err) : HI_OK;
	if (status == HI_OK)
		status = hi_marked_totals_add(r->marked, r->recording, now - r->start_ns,
					      text, is_era, err);
	hi_recorder_release(r);
	return status;
}

/* ---- pauses ---- */

static bool open_pause(struct hi_recorder *r)
{
	struct hi_event_stats stats;

	hi_recorder_stats(r, &stats);
	r->pauses.calls = stats.paused_calls;
	r->pauses.bytes = stats.paused_bytes;
	return hi_vector_push(
		&r->pauses.list,
		(struct hi_recording_pause){.from_ns = hi_clock_ns() - r->start_ns});
}

/* The open one lasts at least until now. */
static void measure_pause(struct hi_recorder *r)
{
	struct hi_recording_pause *last;
	struct hi_event_stats stats;

	if (!r->pauses.is_open)
		return;
	last = &r->pauses.list.items[r->pauses.list.count - 1];
	hi_recorder_stats(r, &stats);
	last->to_ns = hi_clock_ns() - r->start_ns;
	last->calls = stats.paused_calls - r->pauses.calls;
	last->bytes = stats.paused_bytes - r->pauses.bytes;
}

enum hi_status hi_recorder_pause(struct hi_recorder *r, bool is_paused,
				 struct hi_error *err)
{
	if (is_paused == r->pauses.is_open || !r->source)
		return HI_OK;
	if (r->windows)
		return hi_fail(err, HI_LIMIT, 0,
			       "a recording by windows has no pauses: its rates would be "
			       "of those, too");
	if (is_paused && r->pauses.list.count >= HI_RECORDING_PAUSES_MOST)
		return hi_fail(err, HI_LIMIT, 0, "a recording has at most %d pauses",
			       HI_RECORDING_PAUSES_MOST);
	if (is_paused && !open_pause(r))
		return hi_fail_memory(err, "pause of a recording");
	hi_event_source_pause(r->source, is_paused);
	measure_pause(r);
	r->pauses.is_open = is_paused;
	return HI_OK;
}

const struct hi_recording_pause *hi_recorder_pauses(struct hi_recorder *r,
						    uint32_t *n_ret)
{
	measure_pause(r);
	*n_ret = (uint32_t)r->pauses.list.count;
	return r->pauses.list.items;
}

/* ---- the end ---- */

void hi_recorder_forget_live(struct hi_recorder *r)
{
	if (r->is_finishing)
		hi_recording_forget_live(r->recording);
}

bool hi_recorder_return_page(const struct hi_recorder *recorder, struct hi_range *ret)
{
	return hi_event_return_page(recorder->target->pid, ret);
}

enum hi_status hi_recorder_finish(struct hi_recorder *r, uint64_t stopped_ns,
				  struct hi_error *err)
{
	enum hi_status status;

	end_recorder_thread(r);
	r->end_ns = stopped_ns;
	r->is_finishing = true;
	if (r->source)
		hi_event_source_stop(r->source);
	status = drain_until_stop(r, err);
	end_event_source(r);
	if (status == HI_OK)
		status = look_at_code(r, err);
	return report_failure(r, status, err);
}

bool hi_recorder_is_lost(const struct hi_recorder *recorder)
{
	return recorder->is_lost;
}

enum hi_status hi_recorder_take_lost(struct hi_recorder *r, struct hi_target **target_ret,
				     struct hi_image **image_ret, struct hi_error *err)
{
	struct hi_event_sink sink = sink_of(r);
	struct timespec now;

	end_recorder_thread(r);
	r->end_ns = hi_clock_ns();
	r->is_finishing = true;
	/* It says again that the process has gone. */
	if (r->source)
		(void)hi_event_source_drain(r->source, &sink, err);
	end_event_source(r);
	if (report_failure(r, HI_OK, err) != HI_OK)
		return err->status;
	if (!r->target || !r->code.now)
		return hi_fail(err, HI_GONE, 0, "process %d has exited",
			       (int)r->options->target.pid);
	clock_gettime(CLOCK_REALTIME, &now);
	r->code.now->stats.time_ns =
		(uint64_t)now.tv_sec * HI_NS_PER_S + (uint64_t)now.tv_nsec;
	r->code.now->stats.monotonic_ns = r->end_ns;
	r->code.now->complete = false;
	*image_ret = hi_take(r->code.now);
	*target_ret = hi_take(r->target);
	return HI_OK;
}

/* ---- opening ---- */

static enum hi_status find_recorded_functions(struct hi_recorder *r, struct hi_error *err)
{
	const struct hi_record_options *record = &r->options->record;
	const struct hi_followed followed = {record->calls, record->n_calls,
					     record->mappings};
	enum hi_status status =
		r->options->decoding.no_sandbox
			? hi_event_functions_find_with(r->target, &followed,
						       &r->functions, err)
			: hi_symbols_event_functions(r->target,
						     r->options->output.verbose,
						     &followed, &r->functions, err);

	if (status == HI_OK)
		hi_recording_set_sources(r->recording, r->functions.sources,
					 r->functions.n_sources);
	return status;
}

/* Code objects are copied as soon as a stack has them: see cpython_code.h. */
static enum hi_status open_python_codes(struct hi_recorder *r, struct hi_error *err)
{
	enum hi_status status;

	if (!r->functions.python.code_type)
		return HI_OK;
	status = hi_image_unstopped(r->target, &r->memory, err);
	return status == HI_OK
		       ? hi_python_codes_create(r->memory->memory, &r->functions.python,
						&r->codes, err)
		       : status;
}

/* The error says what is missing. */
static enum hi_status say_what_helps(struct hi_error *err)
{
	struct hi_error why = *err;

	(void)!hi_fail(
		err, HI_CANNOT_ATTACH, 0,
		"%.300s. record needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE "
		"(setcap, or --cap-add of a container); without them snap --every and "
		"diff show which types grow",
		why.text);
	err->os_errno = why.os_errno;
	return err->status;
}

static void note_refused_heap(struct hi_recorder *r)
{
	struct hi_event_stats stats;

	hi_recorder_stats(r, &stats);
	if (!*stats.why_no_optional)
		return;
	r->functions.heap = HI_PYTHON_HEAP_REFUSED;
	r->functions.n_heap_text = 0;
}

static enum hi_status open_source_or_windows(struct hi_recorder *r, struct hi_error *err)
{
	const struct hi_event_source_options options = {
		.scan_ns = r->options->record.scan_ns,
		.windows =
			r->windows ? windows_of_recording : (struct hi_event_schedule){}};

	return hi_event_source_open(r->target, &r->functions, &options, &r->source, err);
}

/* Kernels that cannot open and close probes in a moment have them all the time. */
static void drop_windows(struct hi_recorder *r, const struct hi_error *why)
{
	r->no_windows = *why;
	hi_recording_count_windows(r->recording, NULL);
	hi_windows_destroy(hi_take(r->windows));
}

static enum hi_status open_event_source(struct hi_recorder *r, struct hi_error *err)
{
	enum hi_status status = open_source_or_windows(r, err);

	if (status == HI_UNSUPPORTED && r->windows) {
		drop_windows(r, err);
		status = open_source_or_windows(r, err);
	}
	if (status == HI_CANNOT_ATTACH)
		return say_what_helps(err);
	if (status != HI_OK)
		return status;
	note_refused_heap(r);
	set_unwind_tables(r, r->target);
	r->code_hash = hash_mapped_code(r->target);
	status = hi_past_code_look(&r->code, r->target, &(struct hi_past_frames){}, err);
	if (status != HI_OK)
		return status;
	r->opened_ns = hi_clock_ns();
	(void)hi_run_times_read(r->target->pid, &r->at_opening);
	hi_cpu_times_read(r->target->pid, &r->cpu_at_opening);
	hi_event_source_count(r->source);
	return HI_OK;
}

/* Threads that have ended in between take theirs with them: then it is not known. */
static void measure_starvation(const struct hi_recorder *r,
			       struct hi_allocation_rate *rate)
{
	struct hi_run_times now;
	struct hi_cpu_times cpu = r->cpu_at_opening;

	hi_cpu_times_read(r->target->pid, &cpu);
	rate->cpu_ns = cpu.target_ns - r->cpu_at_opening.target_ns;
	if (!hi_run_times_read(r->target->pid, &now) ||
	    now.ran_ns < r->at_opening.ran_ns || now.waited_ns < r->at_opening.waited_ns)
		return;
	rate->ran_ns = now.ran_ns - r->at_opening.ran_ns;
	rate->waited_ns = now.waited_ns - r->at_opening.waited_ns;
}

/* Of the functions that may be dropped, or of the others. */
static struct hi_allocation_rate counted_rate(const struct hi_recorder *r, bool optional)
{
	struct hi_allocation_rate rate = {.time_ns = hi_clock_ns() - r->opened_ns};
	struct hi_event_stats stats;

	hi_recorder_stats(r, &stats);
	for (size_t i = 0; i < stats.n_functions; i++) {
		unsigned flags = r->functions.items[i].does.flags;

		if (!(flags & HI_BPF_OPTIONAL) == optional)
			continue;
		rate.allocations += stats.functions[i].counted;
		if (flags & HI_BPF_AT_PLACES)
			rate.at_places += stats.functions[i].counted;
		rate.bytes += stats.functions[i].counted_bytes;
	}
	return rate;
}

struct hi_allocation_rate hi_recorder_heap_rate(const struct hi_recorder *r)
{
	struct hi_allocation_rate rate = counted_rate(r, true);

	measure_starvation(r, &rate);
	return rate;
}

struct hi_allocation_rate hi_recorder_counted(const struct hi_recorder *r)
{
	struct hi_allocation_rate rate = counted_rate(r, false),
				  heap = counted_rate(r, true);

	if (hi_recorder_follows_python_heap(r)) {
		rate.allocations += heap.allocations;
		rate.at_places += heap.at_places;
		rate.bytes += heap.bytes;
	}
	return rate;
}

struct hi_allocation_rate hi_recorder_rate(const struct hi_recorder *r)
{
	struct hi_allocation_rate rate = hi_recorder_counted(r);

	measure_starvation(r, &rate);
	return rate;
}

void hi_recorder_drop_heap(struct hi_recorder *r)
{
	hi_event_source_drop_optional(r->source);
	r->functions.heap = HI_PYTHON_HEAP_DROPPED;
	r->functions.n_heap_text = 0;
}

enum hi_status hi_recorder_start(struct hi_recorder *r, uint64_t sample_bytes,
				 struct hi_error *err)
{
	hi_recording_set_sampling(r->recording, sample_bytes);
	hi_event_source_set_sampling(r->source, sample_bytes);
	r->start_ns = hi_clock_ns();
	read_cpu_times(r, &r->at_start);
	r->at_stop = r->at_start;
	return hi_event_source_start(r->source, err);
}

/* ---- windows instead of all ---- */

/* Before windows: what is on its way is of the recording that ends. */
static enum hi_status end_whole_recording(struct hi_recorder *r, struct hi_error *err)
{
	struct hi_event_sink sink = sink_of(r);

	hi_event_source_stop(r->source);
	return hi_event_source_drain(r->source, &sink, err);
}

/* Calls in between were not seen. */
static enum hi_status resume_whole_recording(struct hi_recorder *r, struct hi_error *why)
{
	const struct hi_event lost = {.kind = HI_EVENT_LOST, .size = 1};
	enum hi_status status = why->status;
	struct hi_error err;

	keep_failure(r, hi_recording_apply(r->recording, &lost, &err), &err);
	keep_failure(r, hi_event_source_start(r->source, &err), &err);
	return status;
}

/* Drops all that was recorded: the recording begins now. */
static enum hi_status restart_by_windows(struct hi_recorder *r, struct hi_error *err)
{
	uint64_t now = hi_clock_ns();

	hi_recording_restart(r->recording);
	r->windows_choice.whole_ns = now - r->start_ns;
	r->start_ns = now;
	read_cpu_times(r, &r->at_start);
	r->at_stop = r->at_start;
	return hi_event_source_start(r->source, err);
}

enum hi_status hi_recorder_use_windows(struct hi_recorder *r,
				       const struct hi_windows_choice *choice,
				       struct hi_error *err)
{
	HI_GUARD(hi_windows_destroy) struct hi_windows *windows = NULL;
	enum hi_status status = hi_windows_create(0, &windows, err);

	if (status == HI_OK && r->start_ns)
		status = end_whole_recording(r, err);
	if (status != HI_OK)
		return status;
	status = hi_event_source_use_windows(r->source, &windows_of_recording, err);
	if (status != HI_OK)
		return r->start_ns ? resume_whole_recording(r, err) : status;
	r->windows = hi_take(windows);
	r->windows_choice = *choice;
	hi_recording_count_windows(r->recording, r->windows);
	return r->start_ns ? restart_by_windows(r, err) : HI_OK;
}

static enum hi_status open_windows_of_recording(struct hi_recorder *r,
						struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (r->options->record.has_windows)
		status = hi_windows_create(0, &r->windows, err);
	hi_recording_count_windows(r->recording, r->windows);
	return status;
}

static enum hi_status open_kept_events(struct hi_recorder *r, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (r->options->record.keep_events)
		status = hi_event_spool_open(r->options, &r->kept, err);
	hi_recording_keep_events(r->recording, r->kept);
	return status;
}

enum hi_status hi_recorder_open(const struct hi_options *options,
				struct hi_recorder **ret, struct hi_error *err)
{
	HI_GUARD(hi_recorder_close)
	struct hi_recorder *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "recording");
	r->observer.ops = &hi_recorder_observer_ops;
	r->options = options;
	pthread_mutex_init(&r->gate.lock, NULL);
	r->gate.forget = forget_recorder_thread;
	r->gate.arg = r;
	status = hi_recording_create(&r->recording, err);
	if (status == HI_OK)
		status = hi_marked_totals_create(&r->marked, err);
	if (status == HI_OK)
		status = open_windows_of_recording(r, err);
	if (status == HI_OK)
		status = open_kept_events(r, err);
	if (status == HI_OK)
		status = hi_target_open(options->target.pid, &r->target, err);
	if (status == HI_OK)
		status = find_recorded_functions(r, err);
	if (status == HI_OK)
		status = open_python_codes(r, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

enum hi_status hi_recorder_set_probes(struct hi_recorder *r, struct hi_error *err)
{
	return open_event_source(r, err);
}

/* ---- what was recorded ---- */

bool hi_recorder_has_windows(const struct hi_recorder *recorder,
			     const struct hi_error **why_not_ret)
{
	*why_not_ret =
		recorder->no_windows.status != HI_OK ? &recorder->no_windows : NULL;
	return recorder->windows;
}

bool hi_recorder_is_blind(const struct hi_recorder *recorder)
{
	struct hi_event_stats stats;

	hi_recorder_stats(recorder, &stats);
	return stats.blind_ns;
}

uint64_t hi_recorder_blind_ns(const struct hi_recorder *recorder)
{
	struct hi_event_stats stats;

	hi_recorder_stats(recorder, &stats);
	return stats.blind_ns && recorder->end_ns > stats.blind_ns
		       ? recorder->end_ns - stats.blind_ns
		       : 0;
}

struct hi_windows_choice hi_recorder_windows_choice(const struct hi_recorder *recorder)
{
	return recorder->windows_choice;
}

const struct hi_recording *hi_recorder_recording(const struct hi_recorder *recorder)
{
	return recorder->recording;
}

struct hi_recorded_marks hi_recorder_marked(const struct hi_recorder *recorder)
{
	return hi_marked_totals_view(recorder->marked);
}

void hi_recorder_stats(const struct hi_recorder *recorder, struct hi_event_stats *ret)
{
	if (recorder->source)
		hi_event_source_stats(recorder->source, ret);
	else
		*ret = recorder->stats;
}

/* Entries as the holder has tried them, and returns. */
static uint64_t mean_trap_ns(const struct hi_recorder *r,
			     const struct hi_event_stats *stats)
{
	uint64_t hits = r->window_load.hits, returns = stats->returns;
	double entry_ns = r->n_windows ? (double)r->entry_ns / r->n_windows : 0;

	return (uint64_t)hi_window_trap_ns(hits, returns, entry_ns,
					   (double)stats->return_ns);
}

struct hi_window_load hi_recorder_window_load(const struct hi_recorder *recorder,
					      uint64_t *late_hits_ret)
{
	struct hi_window_load load = recorder->window_load;
	struct hi_event_stats stats;

	hi_recorder_stats(recorder, &stats);
	load.trap_ns = mean_trap_ns(recorder, &stats);
	*late_hits_ret = recorder->late_hits;
	return load;
}

struct hi_recorded_time hi_recorder_time(const struct hi_recorder *recorder)
{
	struct hi_event_stats stats;

	hi_recorder_stats(recorder, &stats);
	return (struct hi_recorded_time){
		.scan_ns = stats.ticks.scan_ns,
		.target_ns = recorder->at_stop.target_ns - recorder->at_start.target_ns,
		.tool_ns = recorder->at_stop.tool_ns - recorder->at_start.tool_ns,
		.missed = stats.ticks.missed};
}

uint64_t hi_recorder_start_ns(const struct hi_recorder *recorder)
{
	return recorder->start_ns;
}

uint64_t hi_recorder_end_ns(const struct hi_recorder *recorder)
{
	return recorder->end_ns;
}

const struct hi_past_code *hi_recorder_code(const struct hi_recorder *recorder)
{
	return &recorder->code;
}
const char *hi_recorder_exe(const struct hi_recorder *recorder)
{
	return recorder->target->started_as ? recorder->target->started_as : "";
}

enum hi_python_heap hi_recorder_python_heap(const struct hi_recorder *recorder,
					    uint32_t *n_copies_ret)
{
	*n_copies_ret = recorder->functions.n_heap_copies;
	return (enum hi_python_heap)recorder->functions.heap;
}

const struct hi_range *hi_recorder_avoided(const struct hi_recorder *recorder,
					   size_t *n_ret)
{
	*n_ret = recorder->functions.n_heap_text;
	return recorder->functions.heap_text;
}

bool hi_recorder_follows_python_heap(const struct hi_recorder *recorder)
{
	return recorder->functions.heap == HI_PYTHON_HEAP_FOLLOWED;
}

struct hi_python_codes *hi_recorder_python_codes(const struct hi_recorder *recorder)
{
	return recorder->codes;
}

const char *hi_recorder_module(const struct hi_recorder *recorder)
{
	return recorder->functions.module;
}
