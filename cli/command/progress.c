/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

struct hi_progress {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *name;
	bool over;
};

enum { STEP_NS = 500000000 };

static void wait_step(struct hi_progress *p)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += STEP_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static void *show_progress_line(void *arg)
{
	struct hi_progress *p = arg;
	struct timespec start, now;
	bool shown = false;

	clock_gettime(CLOCK_MONOTONIC, &start);
	pthread_mutex_lock(&p->lock);
	while (!p->over) {
		wait_step(p);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (p->over || !p->name)
			continue;
		shown = true;
		fprintf(stderr, "\r\033[Kheapinspect: %s ... %.1f s", p->name,
			(double)(now.tv_sec - start.tv_sec) +
				(double)(now.tv_nsec - start.tv_nsec) / 1e9);
		fflush(stderr);
	}
	pthread_mutex_unlock(&p->lock);
	if (shown)
		fputs("\r\033[K", stderr);
	return NULL;
}

struct hi_progress *hi_progress_start(void)
{
	struct hi_progress *p;

	if (!isatty(2))
		return NULL;
	p = hi_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	if (pthread_create(&p->thread, NULL, show_progress_line, p) != 0) {
		free(p);
		return NULL;
	}
	return p;
}

void hi_progress_phase(struct hi_progress *p, const char *name)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->name = name;
	pthread_mutex_unlock(&p->lock);
}

void hi_progress_end(struct hi_progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
}
