/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/signal_frame.h"

#include <asm/sigcontext.h>
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* uc_flags, arch/x86/include/uapi/asm/ucontext.h. */
#define FLAG_XSTATE 1u
#define FLAG_SS 2u
#define FLAG_STRICT_SS 4u

#define LEGACY_SIZE 512u  /* the FXSAVE area */
#define HEADER_SIZE 64u	  /* after it; its first word is the features in use */
#define SW_RESERVED 464u  /* where the legacy area is the software's own */
#define FEATURE_TILES 18u /* AMX: the kernel has room for it only once it is used */

/* The kernel's struct ucontext: smaller than the one of libc. */
struct kernel_ucontext {
	uint64_t flags, link;
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} stack; /* zero: a change that is refused, so nothing changes */
	struct sigcontext context;
	uint64_t mask;
};

struct frame {
	uint64_t restorer;
	struct kernel_ucontext uc;
};
_Static_assert(sizeof(struct frame) == HI_SIGNAL_FRAME_SIZE);
_Static_assert(offsetof(struct frame, uc.context.rdi) == HI_SIGNAL_FRAME_RDI);

void hi_signal_frame_write(void *frame, const struct user_regs_struct *regs,
			   uint64_t mask, uint64_t fpstate, uint64_t restorer)
{
	struct frame f = {
		.restorer = restorer,
		.uc = {.flags = FLAG_SS | FLAG_STRICT_SS | (fpstate ? FLAG_XSTATE : 0),
		       .context = {.r8 = regs->r8,
				   .r9 = regs->r9,
				   .r10 = regs->r10,
				   .r11 = regs->r11,
				   .r12 = regs->r12,
				   .r13 = regs->r13,
				   .r14 = regs->r14,
				   .r15 = regs->r15,
				   .rdi = regs->rdi,
				   .rsi = regs->rsi,
				   .rbp = regs->rbp,
				   .rbx = regs->rbx,
				   .rdx = regs->rdx,
				   .rax = regs->rax,
				   .rcx = regs->rcx,
				   .rsp = regs->rsp,
				   .rip = regs->rip,
				   .eflags = regs->eflags,
				   .cs = (uint16_t)regs->cs,
				   .ss = (uint16_t)regs->ss},
		       .mask = mask}};

	/* A pointer of the target's: as a number. */
	memcpy(&f.uc.context.fpstate, &fpstate, sizeof(fpstate));
	memcpy(frame, &f, sizeof(f));
}

/* Returns the end of a feature in the standard form; 0 if this processor has it not. */
static uint32_t end_of_feature(unsigned feature)
{
	uint32_t size = 0, offset = 0, flags, unused;

	__cpuid_count(0xd, feature, size, offset, flags, unused);
	if (!size || (flags & 1)) /* 1: of the supervisor's, not in this form */
		return 0;
	return offset + size;
}

static uint64_t word_at(const struct hi_xstate *xstate, size_t offset)
{
	uint64_t word;

	memcpy(&word, xstate->bytes + offset, sizeof(word));
	return word;
}

enum hi_status hi_xstate_finish(struct hi_xstate *xstate, struct hi_error *err)
{
	struct _fpx_sw_bytes sw = {.magic1 = FP_XSTATE_MAGIC1};
	const uint32_t magic2 = FP_XSTATE_MAGIC2;
	uint64_t features, in_use;
	uint32_t size = LEGACY_SIZE + HEADER_SIZE;

	if (xstate->size < size || xstate->size > HI_XSTATE_MAX - sizeof(magic2))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its floating-point state has %zu bytes", xstate->size);
	/* The first software word is what the kernel saves (regset.c). */
	features = word_at(xstate, SW_RESERVED);
	in_use = word_at(xstate, LEGACY_SIZE);
	if (!(in_use >> FEATURE_TILES & 1))
		features &= ~(1ull << FEATURE_TILES);
	for (unsigned i = 2; i < 63; i++) {
		uint32_t end = features >> i & 1 ? end_of_feature(i) : 0;

		size = end > size ? end : size;
	}
	if (!features || (in_use & ~features) || size > xstate->size)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its floating-point state is of an unknown form");
	sw.xfeatures = features;
	sw.xstate_size = size;
	sw.extended_size = size + (uint32_t)sizeof(magic2);
	memcpy(xstate->bytes + SW_RESERVED, &sw, sizeof(sw));
	memcpy(xstate->bytes + size, &magic2, sizeof(magic2));
	xstate->size = size + sizeof(magic2);
	return HI_OK;
}

enum hi_status hi_xstate_read(pid_t tid, struct hi_xstate *ret, struct hi_error *err)
{
	struct iovec iov = {.iov_base = ret->bytes, .iov_len = sizeof(ret->bytes)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &iov) < 0) {
		if (errno == ESRCH)
			return hi_fail(err, HI_GONE, 0, "thread %d: it has been killed",
				       (int)tid);
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its floating-point state cannot be read whole");
	}
	ret->size = iov.iov_len;
	return hi_xstate_finish(ret, err);
}
