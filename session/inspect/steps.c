/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/inspect/steps.h"

#include <assert.h>
#include <pthread.h>

#include "base/parallel.h"

struct step_state {
	bool has_begun, is_done;
	enum hi_status status;
	struct hi_error err;
};

struct step_run {
	struct hi_inspection *in;
	const struct hi_step *steps;
	unsigned n;
	pthread_mutex_t lock; /* for what is below, and the list of phases */
	pthread_cond_t changed;
	struct step_state states[HI_STEPS_MOST];
	unsigned n_running;
	bool has_failed;
};

static bool can_begin(const struct step_run *r, unsigned step)
{
	if (r->states[step].has_begun || r->has_failed)
		return false;
	for (unsigned i = 0; i < step; i++)
		if (r->steps[step].needs >> i & 1 && !r->states[i].is_done)
			return false;
	return true;
}

/* The lock is held. n: none can begin now. */
static unsigned find_first_step(const struct step_run *r)
{
	unsigned step = 0;

	while (step < r->n && !can_begin(r, step))
		step++;
	return step;
}

/* The lock is held, but not while the step runs. */
static void run_begun_step(struct step_run *r, unsigned step)
{
	struct step_state *state = &r->states[step];
	size_t phase;

	state->has_begun = true;
	/* A step before may have begun one inside of itself. */
	if (!r->n_running++)
		hi_inspect_phase(r->in, NULL);
	phase = hi_inspect_open_phase(r->in, r->steps[step].name);
	pthread_mutex_unlock(&r->lock);
	state->status = r->steps[step].run(r->in, &state->err);
	pthread_mutex_lock(&r->lock);
	hi_inspect_close_phase(r->in, phase);
	state->is_done = true;
	r->has_failed |= state->status != HI_OK;
	r->n_running--;
	pthread_cond_broadcast(&r->changed);
}

/* hi_task_fn: until nothing is left to begin. */
static void work_on_steps(void *arg, size_t task, unsigned worker)
{
	struct step_run *r = arg;

	(void)task, (void)worker;
	pthread_mutex_lock(&r->lock);
	for (;;) {
		unsigned step = find_first_step(r);

		if (step < r->n)
			run_begun_step(r, step);
		else if (r->n_running)
			pthread_cond_wait(&r->changed, &r->lock);
		else
			break;
	}
	pthread_mutex_unlock(&r->lock);
}

static enum hi_status first_failure(const struct step_run *r, struct hi_error *err)
{
	for (unsigned i = 0; i < r->n; i++) {
		if (r->states[i].status == HI_OK)
			continue;
		if (err)
			*err = r->states[i].err;
		return r->states[i].status;
	}
	return HI_OK;
}

enum hi_status hi_steps_run(struct hi_inspection *in, const struct hi_step *steps,
			    unsigned n, unsigned threads, struct hi_error *err)
{
	struct step_run r = {.in = in, .steps = steps, .n = n};
	unsigned n_wanted = 0;

	assert(n <= HI_STEPS_MOST);
	for (unsigned i = 0; i < n; i++) {
		assert(!(steps[i].needs >> i));
		r.states[i].has_begun = r.states[i].is_done = !steps[i].is_wanted;
		n_wanted += steps[i].is_wanted;
	}
	pthread_mutex_init(&r.lock, NULL);
	pthread_cond_init(&r.changed, NULL);
	threads = threads < n_wanted ? threads : n_wanted;
	hi_parallel(threads, threads, work_on_steps, &r);
	pthread_cond_destroy(&r.changed);
	pthread_mutex_destroy(&r.lock);
	return first_failure(&r, err);
}
