/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of a core that were inside an allocator. They were not brought out: a core is
 * taken where the program crashed, or at any moment. As the tracer does, this goes by
 * words on the stack (see Note [Out of the allocator] in attach/leave_code.c);
 * recheck_threads.c unwinds those that it marks.
 */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "base/search.h"
#include "decode/allocators/malloc_text.h"

enum { CORE_STACK_WORDS = 128 };

struct core_files {
	struct hi_modules *modules;
	const char *exe; /* instead of the executable's own path; NULL */
};

/* Not a file that is of another build than what was mapped. */
static enum hi_status open_file_of_core(void *arg, const struct hi_mapping *m,
					int *fd_ret, struct hi_error *err)
{
	const struct core_files *files = arg;
	const struct hi_module *module = hi_modules_at(files->modules, m->start);

	if (module && !module->file_mismatch && !module->from_memory)
		*fd_ret = hi_files_open(module->is_executable && files->exe ? files->exe
									    : m->path);
	return *fd_ret >= 0 ? HI_OK
			    : hi_fail(err, HI_NOT_FOUND, m->start, "%.100s: no such file",
				      m->path);
}

static bool is_in_sorted_text(const struct hi_range *text, size_t n, uint64_t addr)
{
	size_t i = hi_search(k, n, text[k].end <= addr);

	return i < n && text[i].start <= addr;
}

static bool sleeps_for_condition(const struct user_regs_struct *regs)
{
	return regs->orig_rax == SYS_futex &&
	       (regs->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

static bool may_be_inside(const struct hi_image *image, const struct hi_thread *thread,
			  const struct hi_range *text, size_t n)
{
	uint64_t word;

	if (is_in_sorted_text(text, n, thread->regs.rip))
		return true;
	if (sleeps_for_condition(&thread->regs))
		return false;
	for (size_t i = 0; i < CORE_STACK_WORDS; i++)
		if (hi_memory_read_u64(image->memory, thread->regs.rsp + 8 * i, &word,
				       NULL) != HI_OK)
			break;
		else if (is_in_sorted_text(text, n, word))
			return true;
	return false;
}

enum hi_status hi_allocator_mark_core(struct hi_image *image, struct hi_modules *modules,
				      const char *exe, struct hi_range **ret,
				      size_t *n_ret, struct hi_error *err)
{
	struct core_files core = {.modules = modules, .exe = exe};
	const struct hi_text_files files = {.mappings = image->mappings,
					    .n_mappings = image->n_mappings,
					    .exe = image->exe,
					    .open = open_file_of_core,
					    .arg = &core};
	enum hi_status status = hi_allocator_text_of(&files, ret, n_ret, err);

	for (size_t i = 0; i < image->n_threads && status == HI_OK; i++) {
		struct hi_thread *thread = &image->threads[i];

		thread->maybe_in_allocator = may_be_inside(image, thread, *ret, *n_ret);
		image->stats.threads_in_allocator += thread->maybe_in_allocator;
	}
	return status;
}
