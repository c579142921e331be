/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Biographies of many objects in 1,000 groups over 60 periods, of which each sees 2 % of
 * the objects die and as many be born, and evidence for half of them: CPU time of what a
 * census costs, and memory for an object.
 *
 *	bench_biography [thousand objects]
 */
#include <stdlib.h>
#include <time.h>

#include "bench/support.h"
#include "census/biography/checks.h"

enum { PERIODS = 60, GROUPS = 1000 };

/* Of our own: others may use the machine. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void check(enum hi_status status, const struct hi_error *err)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_biography: %s\n", err->text);
	exit(1);
}

static struct hi_bio_object object_at(uint64_t slot)
{
	return (struct hi_bio_object){.address = 0x7f0000000000 + 64 * slot,
				      .size = 16 + slot % 7 * 16,
				      .group = (uint32_t)(slot % GROUPS)};
}

static void turn_over(struct hi_bio *bio, uint64_t n, unsigned period)
{
	struct hi_error err;

	for (uint64_t i = period; i < n; i += 50) {
		struct hi_bio_object o = object_at(i);

		check(hi_bio_died(bio, o.address, HI_BIO_FREED, &err), &err);
		check(hi_bio_born(bio, &o, NULL, &err), &err);
	}
}

static void give_evidence(struct hi_bio *bio, uint64_t n, unsigned period)
{
	for (uint64_t i = period % 2; i < n; i += 2) {
		uint32_t number = hi_bio_find(bio, object_at(i).address);

		if (i % 5 == period % 5)
			hi_bio_used(bio, number, HI_BIO_CONTENT);
		else
			hi_bio_unused(bio, number, HI_BIO_PAGE);
	}
}

static void look_at(struct hi_bio *bio)
{
	struct hi_bio_view *view;
	struct hi_bio_checks checks;
	struct hi_error err;
	uint64_t start = cpu_ns(), made;

	check(hi_bio_view_make(bio, HI_BIO_AT_CENSUS, &view, &err), &err);
	made = cpu_ns();
	hi_bio_check(bio, view, &checks);
	printf("view %.1f ms, checks of all censuses %.1f ms (%llu failed)\n",
	       (double)(made - start) / 1e6, (double)(cpu_ns() - made) / 1e6,
	       (unsigned long long)hi_bio_checks_failed(&checks));
	hi_bio_view_destroy(view);
}

int main(int argc, char **argv)
{
	const uint64_t n = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000;
	uint64_t births, turns = 0, evidence = 0, ends = 0, start = cpu_ns();
	struct hi_bio *bio;
	struct hi_error err;

	check(hi_bio_create(NULL, &bio, &err), &err);
	for (uint64_t i = 0; i < n; i++) {
		struct hi_bio_object o = object_at(i);

		check(hi_bio_born(bio, &o, NULL, &err), &err);
	}
	births = cpu_ns() - start;
	printf("%llu objects: %.0f ns a birth, %.1f bytes an object\n",
	       (unsigned long long)n, (double)births / (double)n,
	       (double)hi_bio_memory(bio) / (double)n);
	for (unsigned p = 1; p <= PERIODS; p++) {
		start = cpu_ns();
		turn_over(bio, n, p % 50);
		turns += cpu_ns() - start;
		start = cpu_ns();
		give_evidence(bio, n, p);
		evidence += cpu_ns() - start;
		start = cpu_ns();
		check(hi_bio_end_period(bio, false, &err), &err);
		ends += cpu_ns() - start;
	}
	printf("a death and a birth %.0f ns, evidence for an object %.0f ns, the end of "
	       "a "
	       "period %.2f ms\n",
	       (double)turns / (double)(n / 50) / PERIODS,
	       (double)evidence / (double)(n / 2) / PERIODS,
	       (double)ends / 1e6 / PERIODS);
	printf("after %d periods %.1f bytes an object\n", PERIODS,
	       (double)hi_bio_memory(bio) / (double)n);
	look_at(bio);
	printf("peak %.1f MiB\n", (double)bench_peak_rss() / 1048576);
	hi_bio_destroy(bio);
	return 0;
}
