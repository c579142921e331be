/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The program of calls with objects for kernels without cookies of probes (5.15): the
 * instruction pointer identifies the site that was hit. */
#define HI_BPF_OLD
#include "probes/bpf/uses.bpf.c"
