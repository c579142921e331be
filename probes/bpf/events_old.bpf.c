/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The programs of allocation events for kernels without cookies of probes (5.15) or
 * atomic operations that return the old value (5.12): see events_old.h.
 */
#define HI_BPF_OLD
#include "probes/bpf/events.bpf.c"
