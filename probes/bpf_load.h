/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads BPF programs, and explains to the user why a kernel refuses one. */
#ifndef HI_PROBES_BPF_LOAD_H
#define HI_PROBES_BPF_LOAD_H

#include "base/error.h"

struct bpf_object;

/* Features of a kernel that programs need. */
enum hi_bpf_needs {
	HI_BPF_NEEDS_RINGS = 1,	  /* BPF_MAP_TYPE_RINGBUF */
	HI_BPF_NEEDS_FETCHES = 2, /* atomic operations that return the old value */
	HI_BPF_NEEDS_COOKIES = 4, /* bpf_get_attach_cookie() */
	HI_BPF_NEEDS_TYPES = 8,	  /* the kernel's type information (BTF) */
	HI_BPF_NEEDS_TASK_ITERATORS = 16, /* over the threads of one process */
	HI_BPF_TRIAL = 32, /* another way is tried next: no listener is told */
};

/*
 * The programs that are in memory; nothing is loaded yet. *ret: bpf_object__close().
 * Errors: hi_bpf_refused().
 */
enum hi_status hi_bpf_open(const unsigned char *start, const unsigned char *end,
			   struct bpf_object **ret, struct hi_error *err);
/*
 * Loads those of its programs that are to be loaded. needs: enum hi_bpf_needs.
 * HI_UNSUPPORTED: the text names the feature that is missing and the Linux that has it,
 * else the program and the verifier's last words; HI_CANNOT_ATTACH: a right is missing.
 */
enum hi_status hi_bpf_load(struct bpf_object *object, unsigned needs,
			   struct hi_error *err);
/* The kernel has all of them. */
bool hi_bpf_has(unsigned needs);

/* Is told what libbpf and the verifier said of programs that were refused, in lines.
 * NULL: nobody is. */
typedef void hi_bpf_listener(const char *lines);
void hi_bpf_listen(hi_bpf_listener *listener);

#endif
