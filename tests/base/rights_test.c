/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process that gave its rights up may still do: in a fork, each of it is tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rights.h"
#include "tests/harness.h"

#define EACH(X)                                                                          \
	X(open_for_writing)                                                              \
	X(open_for_both)                                                                 \
	X(create_a_file)                                                                 \
	X(create_without_a_name)                                                         \
	X(truncate_by_name)                                                              \
	X(unlink_a_file)                                                                 \
	X(rename_a_file)                                                                 \
	X(make_a_directory)                                                              \
	X(make_a_link)                                                                   \
	X(change_a_mode)                                                                 \
	X(execute)                                                                       \
	X(fork_a_process)                                                                \
	X(make_a_namespace)                                                              \
	X(trace)                                                                         \
	X(read_the_parent)                                                               \
	X(write_the_parent)                                                              \
	X(kill_the_parent)                                                               \
	X(kill_by_pidfd)                                                                 \
	X(kill_a_thread)                                                                 \
	X(open_a_pidfd)                                                                  \
	X(signal_by_descriptor)                                                          \
	X(make_a_socket)                                                                 \
	X(connect_a_socket)                                                              \
	X(mount_something)                                                               \
	X(use_bpf)                                                                       \
	X(open_an_event)                                                                 \
	X(load_a_module)                                                                 \
	X(map_code)                                                                      \
	X(make_memory_code)                                                              \
	X(push_into_a_terminal)                                                          \
	X(raise_a_limit)                                                                 \
	X(change_others_limits)                                                          \
	X(become_root)                                                                   \
	X(set_capabilities)                                                              \
	X(use_io_uring)                                                                  \
	X(outlive_the_parent)

enum attempt {
#define NAME(name) TRIES_TO_##name,
	EACH(NAME)
#undef NAME
		ATTEMPTS
};

static const char *const names[] = {
#define NAME(name) #name,
	EACH(NAME)
#undef NAME
};

struct notes {
	int error[ATTEMPTS]; /* 0: it was done */
	int reads, maps, starts_threads, allocates, waits, writes_to_descriptors;
	bool dropped_user, landlock;
	enum hi_status status;
	char text[sizeof(((struct hi_error *)NULL)->text)];
};

static char path[] = "/tmp/heapinspect-rights-XXXXXX";

static void remove_path(void *arg)
{
	(void)arg;
	unlink(path);
}

static int note(long returned)
{
	return returned == -1 ? errno : 0;
}

static void *add_one(void *arg)
{
	(*(int *)arg)++;
	return NULL;
}

static void try_files(int *e)
{
	e[TRIES_TO_open_for_writing] = note(open(path, O_WRONLY));
	e[TRIES_TO_open_for_both] = note(open(path, O_RDWR | O_CLOEXEC));
	e[TRIES_TO_create_a_file] = note(creat("/tmp/heapinspect-rights-made", 0666));
	e[TRIES_TO_create_without_a_name] = note(open("/tmp", O_TMPFILE | O_RDWR, 0600));
	e[TRIES_TO_truncate_by_name] = note(truncate(path, 0));
	e[TRIES_TO_unlink_a_file] = note(unlink(path));
	e[TRIES_TO_rename_a_file] = note(rename(path, "/tmp/heapinspect-rights-moved"));
	e[TRIES_TO_make_a_directory] = note(mkdir("/tmp/heapinspect-rights-dir", 0777));
	e[TRIES_TO_make_a_link] = note(symlink(path, "/tmp/heapinspect-rights-link"));
	e[TRIES_TO_change_a_mode] = note(chmod(path, 0777));
}

static void try_processes(int *e, pid_t parent, int parent_fd, int pipe_end)
{
	char byte = 0;
	struct iovec local = {&byte, 1}, remote = {&byte, 1};
	pid_t pid;

	e[TRIES_TO_execute] = note(execl("/bin/true", "true", NULL));
	pid = fork();
	if (pid == 0)
		_exit(0);
	e[TRIES_TO_fork_a_process] = note(pid);
	e[TRIES_TO_make_a_namespace] = note(unshare(CLONE_NEWUSER));
	e[TRIES_TO_trace] = note(ptrace(PTRACE_SEIZE, parent, 0, 0));
	e[TRIES_TO_read_the_parent] =
		note(process_vm_readv(parent, &local, 1, &remote, 1, 0));
	e[TRIES_TO_write_the_parent] =
		note(process_vm_writev(parent, &local, 1, &remote, 1, 0));
	e[TRIES_TO_kill_the_parent] = note(kill(parent, 0));
	e[TRIES_TO_kill_by_pidfd] =
		note(syscall(SYS_pidfd_send_signal, parent_fd, 0, NULL, 0));
	e[TRIES_TO_kill_a_thread] = note(syscall(SYS_tgkill, parent, parent, 0));
	e[TRIES_TO_open_a_pidfd] = note(syscall(SYS_pidfd_open, parent, 0));
	e[TRIES_TO_signal_by_descriptor] = note(fcntl(pipe_end, F_SETOWN, parent));
}

static void try_kernel(int *e, int pipe_end)
{
	struct sockaddr address = {.sa_family = AF_UNIX};
	struct perf_event_attr event = {.size = sizeof(event),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY};
	union bpf_attr bpf = {.map_type = BPF_MAP_TYPE_ARRAY,
			      .key_size = 4,
			      .value_size = 4,
			      .max_entries = 1};
	char page[256] = "";

	e[TRIES_TO_make_a_socket] = note(socket(AF_INET, SOCK_STREAM, 0));
	e[TRIES_TO_connect_a_socket] = note(connect(pipe_end, &address, sizeof(address)));
	e[TRIES_TO_mount_something] = note(mount("none", "/mnt", "tmpfs", 0, NULL));
	e[TRIES_TO_use_bpf] = note(syscall(SYS_bpf, BPF_MAP_CREATE, &bpf, sizeof(bpf)));
	e[TRIES_TO_open_an_event] =
		note(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
	e[TRIES_TO_load_a_module] = note(syscall(SYS_init_module, page, 0, ""));
	e[TRIES_TO_push_into_a_terminal] = note(ioctl(0, 0x5412 /* TIOCSTI */, page));
	e[TRIES_TO_use_io_uring] = note(syscall(SYS_io_uring_setup, 1, page));
}

static void try_self(int *e, pid_t parent)
{
	struct rlimit limit = {1 << 20, RLIM_INFINITY};
	struct {
		uint32_t version, pid;
	} header = {0x20080522, 0};
	uint32_t sets[6] = {1, 1, 1};
	void *pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	e[TRIES_TO_map_code] = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
				       ? errno
				       : 0;
	e[TRIES_TO_make_memory_code] = note(mprotect(pages, 4096, PROT_EXEC));
	e[TRIES_TO_raise_a_limit] = note(setrlimit(RLIMIT_NOFILE, &limit));
	e[TRIES_TO_change_others_limits] =
		note(prlimit(parent, RLIMIT_CPU, NULL, &limit));
	e[TRIES_TO_become_root] = note(setuid(0)) | note(setresgid(0, 0, 0));
	e[TRIES_TO_set_capabilities] = note(syscall(SYS_capset, &header, sets));
	e[TRIES_TO_outlive_the_parent] = note(prctl(PR_SET_PDEATHSIG, 0));
}

/* The work of a decoder. */
static void do_what_is_left(struct notes *n, int given, int pipe_end)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), more = 41;
	pthread_t thread;
	char byte;
	void *bytes;

	if (fd < 0) /* where this test lies only root may look */
		fd = open("/usr/bin/env", O_RDONLY | O_CLOEXEC);
	n->reads = fd >= 0 && pread(fd, &byte, 1, 1) == 1 && byte == 'E';
	n->maps = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED;
	n->starts_threads = pthread_create(&thread, NULL, add_one, &more) == 0 &&
			    pthread_join(thread, NULL) == 0 && more == 42;
	bytes = malloc(64 << 20);
	n->allocates = bytes != NULL;
	if (bytes)
		memset(bytes, 1, 64 << 20);
	free(bytes);
	n->writes_to_descriptors =
		write(given, "x", 1) == 1 && write(pipe_end, "x", 1) == 1;
	n->waits = usleep(1) == 0;
}

static _Noreturn void be_the_fork(struct notes *n, int *ends, int given, pid_t parent,
				  int parent_fd)
{
	struct hi_rights_dropped dropped = {};
	struct hi_error err = {};
	char byte;

	n->status = hi_rights_drop(&dropped, &err);
	snprintf(n->text, sizeof(n->text), "%s", err.text);
	n->dropped_user = dropped.user;
	n->landlock = dropped.landlock;
	if (n->status == HI_OK) {
		do_what_is_left(n, given, ends[1]);
		try_files(n->error);
		try_processes(n->error, parent, parent_fd, ends[1]);
		try_kernel(n->error, ends[1]);
		try_self(n->error, parent);
	}
	close(ends[1]);
	close(ends[3]);
	(void)!read(ends[2], &byte, 1); /* the parent looks at us before we end */
	_exit(0);
}

static const char *status_of(pid_t pid, const char *key)
{
	static char line[256];
	char name[64];
	FILE *file;
	size_t n = strlen(key);
	const char *found = "";

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	file = fopen(name, "re");
	HI_ASSERT(file);
	while (!*found && fgets(line, sizeof(line), file))
		if (strncmp(line, key, n) == 0 && line[n] == ':') {
			line[strcspn(line, "\n")] = 0;
			found = line + n + 1 + strspn(line + n + 1, "\t");
		}
	fclose(file);
	return found;
}

static void check_status(pid_t pid, bool was_root)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};

	for (size_t i = 0; i < 4; i++)
		HI_ASSERT_STREQ("0000000000000000", status_of(pid, sets[i]));
	HI_ASSERT_STREQ("1", status_of(pid, "NoNewPrivs"));
	HI_ASSERT_STREQ("2", status_of(pid, "Seccomp"));
	if (!was_root)
		return;
	HI_ASSERT_STREQ("0000000000000000", status_of(pid, "CapBnd"));
	HI_ASSERT_STREQ("65534\t65534\t65534\t65534", status_of(pid, "Uid"));
	HI_ASSERT_STREQ("65534\t65534\t65534\t65534", status_of(pid, "Gid"));
	HI_ASSERT_EQ(0, strspn(status_of(pid, "Groups"), "0123456789"));
}

static void check_notes(const struct notes *n)
{
	HI_ASSERT_MSG(n->status == HI_OK, "%s", n->text);
	HI_ASSERT(n->reads);
	HI_ASSERT(n->maps);
	HI_ASSERT(n->starts_threads);
	HI_ASSERT(n->allocates);
	HI_ASSERT(n->writes_to_descriptors);
	HI_ASSERT(n->waits);
	for (size_t i = 0; i < ATTEMPTS; i++) {
#ifdef HI_SANITIZED /* LeakSanitizer traces; the kernel has the last word on whom */
		if (i == TRIES_TO_trace && n->error[i])
			continue;
#endif
		HI_ASSERT_MSG(n->error[i] == EPERM || n->error[i] == ENOSYS, "%s: %s",
			      names[i], n->error[i] ? strerror(n->error[i]) : "it could");
	}
	hi_test_note("user nobody: %d, Landlock: %d", n->dropped_user, n->landlock);
}

HI_TEST_SCENARIO(rights, a_process_that_gave_them_up_computes_and_can_do_nothing_else)
{
	struct notes *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[4], status = -1, parent_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t parent = getpid(), pid;
	char byte;
	int given;

	HI_ASSERT(n != MAP_FAILED && parent_fd >= 0);
	given = mkstemp(path);
	HI_ASSERT(given >= 0);
	hi_test_defer(remove_path, NULL);
	HI_ASSERT(pipe(ends) == 0 && pipe(ends + 2) == 0);
	for (size_t i = 0; i < ATTEMPTS; i++)
		n->error[i] = -1;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_the_fork(n, ends, given, parent, parent_fd);
	}
	close(ends[1]);
	close(ends[2]);
	/* It has tried all when it closes its end. */
	HI_ASSERT_EQ(1, read(ends[0], &byte, 1));
	HI_ASSERT_EQ(0, read(ends[0], &byte, 1));
	check_status(pid, geteuid() == 0);
	close(ends[3]);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT_EQ(0, status);
	check_notes(n);
	HI_ASSERT_EQ(geteuid() == 0, n->dropped_user);
	HI_ASSERT_EQ(1, lseek(given, 0, SEEK_END));
}

/* ---- each lock by itself ---- */

static unsigned long long capabilities_of_status(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long set, all = 0;
	char line[256];

	if (!file)
		return ~0ull;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "CapInh: %llx", &set) == 1 ||
		    sscanf(line, "CapPrm: %llx", &set) == 1 ||
		    sscanf(line, "CapEff: %llx", &set) == 1)
			all |= set;
	fclose(file);
	return all;
}

/* A change of the user takes them along, unless a bit says no: they go by themselves. */
HI_TEST_ROOT(rights, capabilities_go_where_the_change_of_the_user_leaves_them)
{
	struct hi_rights_dropped dropped;
	struct hi_error err;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) != 0)
			_exit(2);
		if (hi_rights_drop(&dropped, &err) != HI_OK || !dropped.user)
			_exit(3);
		_exit(capabilities_of_status() ? 4 : 0);
	}
	HI_ASSERT(pid > 0);
	HI_ASSERT_EQ(pid, waitpid(pid, &status, 0));
	HI_ASSERT(WIFEXITED(status));
	HI_ASSERT_EQ(0, WEXITSTATUS(status));
}
