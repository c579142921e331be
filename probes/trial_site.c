/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe site in this program, and a second thread that reaches it. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/trial_site.h"

/*
 * Note [Links that miss threads]
 *
 * A link of BPF_TRACE_UPROBE_MULTI with a pid is for a process, by its documentation.
 * From 6.6 on the kernel compared the thread that hits with the main thread alone
 * (kernel/trace/bpf_trace.c, uprobe_prog_run: current != link->task), so that no other
 * thread ever hit. 6.10 compares address spaces ("bpf: Fix multi-uprobe PID filtering
 * logic"), and some older kernels of distributions have backported that, so that the
 * version number does not show. Without a pid the link would see all threads, but every
 * process that maps the file would get the breakpoint: with libc, the whole system.
 *
 * So a link is tested first: the holder puts one on an instruction of its own program,
 * for its own process, and lets a second thread run it. No other process gets that
 * breakpoint, and no other thread of the holder is there to run into it. The instruction
 * is a nop, which the kernel emulates.
 */
__asm__(".text\n.p2align 4\n"
	".type hi_own_site_text, @function\n"
	"hi_own_site_text:\n nop\n ret\n"
	".size hi_own_site_text, .-hi_own_site_text\n");
extern void hi_own_site_text(void) __attribute__((visibility("hidden")));

struct own_offset {
	uintptr_t address;
	uint64_t offset;
	bool is_found;
};

/* Finds the offset of the address in the file of a loaded object. */
static int find_own_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_offset *find = arg;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum && !find->is_found; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || find->address < start ||
		    find->address - start >= segment->p_filesz)
			continue;
		find->offset = segment->p_offset + (find->address - start);
		find->is_found = true;
	}
	return 1; /* the first object is the program */
}

enum hi_status hi_own_site_prepare(struct hi_uprobe *ret, struct hi_error *err)
{
	struct own_offset find = {.address = (uintptr_t)hi_own_site_text};
	struct hi_uprobe made = {.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};

	if (made.fd < 0)
		return hi_fail_errno(err, "/proc/self/exe");
	dl_iterate_phdr(find_own_offset, &find);
	if (!find.is_found) {
		close(made.fd);
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "the program's own text is in no file");
	}
	snprintf(made.path, sizeof(made.path), "/proc/self/fd/%d", made.fd);
	made.offset = find.offset;
	*ret = made;
	return HI_OK;
}

void hi_own_site_call(void)
{
	hi_own_site_text();
}

static void *run_own_site(void *arg)
{
	hi_own_site_text();
	return arg;
}

enum hi_status hi_own_site_run(struct hi_error *err)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run_own_site, NULL);

	if (!error)
		error = pthread_join(thread, NULL);
	return error ? hi_fail(err, HI_LIMIT, 0, "cannot start a thread: %s",
			       strerror(error))
		     : HI_OK;
}
