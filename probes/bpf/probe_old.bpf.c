/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The program of a probe for kernels before 5.15: see probe_old.h. */
#define HI_BPF_OLD
#include "probes/bpf/probe.bpf.c"
