/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Stale entries]
 *
 * A processor keeps translations that it used. While it does, it does not look at the
 * page table, and sets no accessed bit. Writing 1 to clear_refs clears the bits and
 * leaves those translations: of 200 pages that were used again at once, 196 to 200 did
 * not show it. Writing 4 (which is for the soft-dirty bits) drops the translations of the
 * whole process on all processors. So it is written right after.
 */
#include "probes/page_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"

enum { PAGE = 4096, PAGES = 128, ROUNDS = 6, ANSWER_MS = 10000, REAP_MS = 2000 };

struct round {
	bool wanted[PAGES]; /* are used after the clearing */
	bool without_flush, without_use;
};

struct trial {
	struct hi_page_tables *tables;
	const struct hi_page_faults *faults;
	bool with_young;
	unsigned char *pages; /* at the same address in both processes */
	int socket;
	pid_t pid;
	int pidfd, link;
};

bool hi_page_clear(int fd, bool without_flush)
{
	return write(fd, "1", 1) == 1 && (without_flush || write(fd, "4", 1) == 1);
}

/* ---- the process ---- */

static void use_trial_pages(volatile unsigned char *pages, const bool *wanted)
{
	for (size_t i = 0; i < PAGES; i++) {
		if (wanted && !wanted[i])
			continue;
		if (i % 2 && wanted)
			(void)pages[i * PAGE];
		else
			pages[i * PAGE]++;
	}
}

_Noreturn static void run_trial_process(const struct trial *trial, int socket)
{
	struct round round;
	int fd, result;

	hi_child_settle("hi-pages", &socket, 1);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_trial_pages(trial->pages, NULL); /* the pages are its own from now on */
	fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	result = fd < 0 ? errno : 0;
	while (send(socket, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result) &&
	       recv(socket, &round, sizeof(round), 0) == sizeof(round)) {
		use_trial_pages(trial->pages, NULL);
		result = hi_page_clear(fd, round.without_flush) ? 0 : errno;
		if (!round.without_use)
			use_trial_pages(trial->pages, round.wanted);
	}
	_exit(0);
}

/* ---- the inspector ---- */

static enum hi_status await_trial(const struct trial *trial, struct hi_error *err)
{
	struct pollfd answer = {.fd = trial->socket, .events = POLLIN};
	int result = 0;

	if (poll(&answer, 1, ANSWER_MS) <= 0 ||
	    recv(trial->socket, &result, sizeof(result), MSG_DONTWAIT) != sizeof(result))
		return hi_fail(err, HI_TIMEOUT, 0,
			       "the process for the trial of page tables did not answer");
	if (!result)
		return HI_OK;
	errno = result;
	return hi_fail_errno(err, "/proc/self/clear_refs");
}

static enum hi_status start_trial(struct trial *trial, struct hi_error *err)
{
	int ends[2];

	trial->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (trial->pages == MAP_FAILED)
		return hi_fail_memory(err, "the trial of page tables");
	(void)madvise(trial->pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return hi_fail_errno(err, "socketpair");
	trial->socket = ends[0];
	trial->pid = hi_fork();
	if (trial->pid == 0)
		run_trial_process(trial, ends[1]);
	close(ends[1]);
	if (trial->pid < 0)
		return hi_fail_errno(err, "fork");
	trial->pidfd = pidfd_open(trial->pid, 0);
	return await_trial(trial, err);
}

static void end_trial(struct trial *trial)
{
	hi_close_fd(trial->socket);
	hi_close_fd(trial->link);
	if (trial->pid > 0) {
		kill(trial->pid, SIGKILL); /* ours, and not yet reaped */
		(void)hi_child_reap(trial->pid, trial->pidfd, REAP_MS);
	}
	hi_close_fd(trial->pidfd);
	if (trial->pages && trial->pages != MAP_FAILED)
		munmap(trial->pages, PAGES * PAGE);
}

static enum hi_status find_trial_map(const struct trial *trial, struct hi_error *err)
{
	uint64_t addresses[PAGES];
	enum hi_status status;

	for (size_t i = 0; i < PAGES; i++)
		addresses[i] = (uintptr_t)trial->pages + i * PAGE;
	status = hi_page_tables_find_map(trial->tables, trial->link, trial->pid,
					 addresses, PAGES, err);
	if (status == HI_OK && trial->with_young)
		status = hi_page_tables_find_structs(trial->tables, trial->link,
						     addresses, PAGES, err);
	if (status == HI_OK && trial->faults)
		hi_page_tables_shift_map(trial->tables, trial->faults->map_shifted_by);
	return status;
}

/* xorshift; any pattern will do. The first round uses none. */
static struct round choose_pages(unsigned number, uint32_t *seed)
{
	struct round round = {};

	for (size_t i = 0; i < PAGES && number; i++) {
		*seed ^= *seed << 13;
		*seed ^= *seed >> 17;
		*seed ^= *seed << 5;
		round.wanted[i] = *seed >> 9 & 1;
	}
	return round;
}

struct outcome {
	unsigned absent, missed, wrong, wanted;
};

static void count_bit(struct outcome *outcome, uint64_t entry, bool wanted)
{
	bool accessed = entry & HI_BPF_ENTRY_ACCESSED;

	outcome->wanted += wanted;
	if (!(entry & HI_BPF_ENTRY_PRESENT))
		outcome->absent++;
	else if (wanted && !accessed)
		outcome->missed++;
	else if (!wanted && accessed)
		outcome->wrong++;
}

static enum hi_status look_at_bits(const struct trial *trial, const struct round *round,
				   struct outcome *outcome, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_bpf_page_table *tables = hi_calloc(2, sizeof(*tables));
	uint64_t start = (uintptr_t)trial->pages;
	struct hi_page_tables_read read = {.start = start,
					   .end = start + PAGES * PAGE,
					   .deadline_ns = UINT64_MAX,
					   .with_young = trial->with_young,
					   .tables = tables,
					   .max = 2};
	enum hi_status status;

	if (!tables)
		return hi_fail_memory(err, "the trial of page tables");
	status = hi_page_tables_read(trial->tables, trial->link, &read, err);
	for (size_t i = 0; i < PAGES && status == HI_OK; i++) {
		uint64_t page = start + i * PAGE, entry = 0;

		for (size_t t = 0; t < read.n; t++)
			if (tables[t].address ==
				    page / HI_PAGE_TABLE_BYTES * HI_PAGE_TABLE_BYTES &&
			    !tables[t].is_huge)
				entry = tables[t].entries[page / PAGE %
							  HI_BPF_TABLE_ENTRIES];
		count_bit(outcome, entry, round->wanted[i]);
	}
	return status;
}

static enum hi_status run_round(const struct trial *trial, unsigned number,
				uint32_t *seed, struct hi_error *err)
{
	struct round round = choose_pages(number, seed);
	struct outcome outcome = {};
	enum hi_status status;

	if (trial->faults) {
		round.without_flush = trial->faults->without_flush;
		round.without_use = trial->faults->without_use;
	}
	if (send(trial->socket, &round, sizeof(round), MSG_NOSIGNAL) != sizeof(round))
		return hi_fail_errno(err, "the process for the trial of page tables");
	status = await_trial(trial, err);
	if (status == HI_OK)
		status = look_at_bits(trial, &round, &outcome, err);
	if (status != HI_OK || !(outcome.absent | outcome.missed | outcome.wrong))
		return status;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "accessed bits of pages failed a trial on %d pages of which %u "
		       "were used: %u used pages do not show it, %u others do, %u are "
		       "not found",
		       PAGES, outcome.wanted, outcome.missed, outcome.wrong,
		       outcome.absent);
}

enum hi_status hi_page_trial_run(struct hi_page_tables *tables,
				 const struct hi_page_faults *faults, bool with_young,
				 struct hi_error *err)
{
	struct trial trial = {.tables = tables,
			      .faults = faults,
			      .with_young = with_young,
			      .socket = -1,
			      .pidfd = -1,
			      .link = -1};
	uint32_t seed = 2463534242u;
	enum hi_status status = start_trial(&trial, err);

	if (status == HI_OK)
		status = hi_page_tables_link(tables, trial.pid, &trial.link, err);
	if (status == HI_OK)
		status = find_trial_map(&trial, err);
	for (unsigned i = 0; i < ROUNDS && status == HI_OK; i++)
		status = run_round(&trial, i, &seed, err);
	end_trial(&trial);
	return status;
}
