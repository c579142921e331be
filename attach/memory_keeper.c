/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/memory_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"

#define PAGE 4096u
#define LOOK_NS 20000000u /* for an exec: as long the memory before it is kept */
#define START_LIMIT_NS (5 * HI_NS_PER_S)
#define START_LIMIT_MS 4000
#define START_PAUSE_NS 100000u
#define END_MS 5000

enum keeper_state { KEEPER_STARTS, KEEPER_KEEPS, KEEPER_FAILED };

/* Shared by the keeper and the process that started it. */
struct keeper_page {
	_Atomic uint32_t state;
	_Atomic int error; /* errno of KEEPER_FAILED; 0: the memory cannot be read */
};

struct hi_memory_keeper {
	struct keeper_page *page;
	pid_t pid;
	int pidfd;
};

HI_DEFINE_GUARD(struct hi_memory_keeper *, hi_memory_keeper_end)

struct keeper_request {
	pid_t parent;
	int mem_fd;
	uint64_t address;
	const struct hi_exit_log *log;
	struct keeper_page *page;
	unsigned char *never; /* the page that does not come */
};

/* ---- the keeper ---- */

_Noreturn static void fail_keeper(struct keeper_page *page, int error)
{
	atomic_store(&page->error, error);
	atomic_store(&page->state, KEEPER_FAILED);
	_exit(1);
}

/* The read returns only if the memory cannot be read there. */
static void *read_forever(void *arg)
{
	struct keeper_request *request = arg;

	(void)!pread(request->mem_fd, request->never, 1, (off_t)request->address);
	fail_keeper(request->page, 0);
}

static int make_page_that_never_comes(struct keeper_request *request)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	/* Without O_NONBLOCK it always polls as an error. */
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	void *page;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0)
		fail_keeper(request->page, errno);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	range.range.start = (uintptr_t)page;
	range.range.len = PAGE;
	if (page == MAP_FAILED || ioctl(fd, UFFDIO_REGISTER, &range) != 0)
		fail_keeper(request->page, errno);
	request->never = page;
	return fd;
}

/* In the kernel a signal that is not fatal would make the waiting read run in circles. */
static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
}

_Noreturn static void run_keeper(struct keeper_request *request)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint32_t execs = request->log->ops->execs(request->log);
	struct pollfd fault = {.events = POLLIN};
	pthread_t reader;
	int error;

	hi_child_settle("hi-keeper", &request->mem_fd, 1);
	block_signals();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != request->parent)
		_exit(0);
	fault.fd = make_page_that_never_comes(request);
	error = pthread_create(&reader, NULL, read_forever, request);
	if (error)
		fail_keeper(request->page, error);
	if (poll(&fault, 1, START_LIMIT_MS) != 1 || !(fault.revents & POLLIN))
		fail_keeper(request->page, ETIMEDOUT);
	atomic_store(&request->page->state, KEEPER_KEEPS);
	while (request->log->ops->execs(request->log) == execs)
		nanosleep(&look, NULL);
	_exit(0);
}

/* ---- the process that starts it ---- */

static enum hi_status make_keeper(struct hi_memory_keeper **ret, struct hi_error *err)
{
	struct hi_memory_keeper *keeper = hi_calloc(1, sizeof(*keeper));
	void *page;

	if (!keeper)
		return hi_fail_memory(err, "keeper of memory");
	keeper->pidfd = -1;
	*ret = keeper;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return hi_fail_memory(err, "keeper of memory");
	keeper->page = page;
	return HI_OK;
}

static enum hi_status explain_keeper(const struct hi_memory_keeper *keeper,
				     struct hi_error *err)
{
	int error = atomic_load(&keeper->page->error);

	if (error == EPERM || error == ENOSYS)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "userfaultfd is not permitted (CAP_SYS_PTRACE, or a "
			       "container's seccomp filter)");
	errno = error;
	return error ? hi_fail_errno(err, "keeper of memory")
		     : hi_fail(err, HI_UNSUPPORTED, 0, "its memory cannot be read");
}

static enum hi_status await_keeper(const struct hi_memory_keeper *keeper,
				   struct hi_error *err)
{
	uint64_t until_ns = hi_clock_ns() + START_LIMIT_NS;
	struct pollfd end = {.fd = keeper->pidfd, .events = POLLIN};

	while (atomic_load(&keeper->page->state) == KEEPER_STARTS) {
		if (poll(&end, 1, 0) > 0)
			return hi_fail(err, HI_OS, 0, "the keeper of memory has ended");
		if (hi_clock_ns() > until_ns)
			return hi_fail(err, HI_TIMEOUT, 0,
				       "the keeper of memory did not start in time");
		hi_clock_pause_ns(START_PAUSE_NS);
	}
	return atomic_load(&keeper->page->state) == KEEPER_KEEPS
		       ? HI_OK
		       : explain_keeper(keeper, err);
}

enum hi_status hi_memory_keeper_start(int mem_fd, uint64_t address,
				      const struct hi_exit_log *log,
				      struct hi_memory_keeper **ret, struct hi_error *err)
{
	HI_GUARD(hi_memory_keeper_end) struct hi_memory_keeper *keeper = NULL;
	struct keeper_request request = {
		.parent = getpid(), .mem_fd = mem_fd, .address = address, .log = log};
	enum hi_status status = make_keeper(&keeper, err);

	if (status != HI_OK)
		return status;
	request.page = keeper->page;
	keeper->pid = hi_fork();
	if (keeper->pid == 0)
		run_keeper(&request);
	if (keeper->pid < 0)
		return hi_fail_errno(err, "keeper of memory: fork");
	keeper->pidfd = pidfd_open(keeper->pid, 0);
	if (keeper->pidfd < 0)
		return hi_fail_errno(err, "keeper of memory: pidfd_open");
	status = await_keeper(keeper, err);
	if (status == HI_OK)
		*ret = hi_take(keeper);
	return status;
}

int hi_memory_keeper_fd(const struct hi_memory_keeper *keeper)
{
	return keeper->pidfd;
}

void hi_memory_keeper_end(struct hi_memory_keeper *keeper)
{
	if (!keeper)
		return;
	if (keeper->pid > 0) {
		(void)kill(keeper->pid, SIGKILL);
		(void)hi_child_reap(keeper->pid, keeper->pidfd, END_MS);
	}
	hi_close_fd(keeper->pidfd);
	if (keeper->page)
		munmap(keeper->page, PAGE);
	free(keeper);
}
