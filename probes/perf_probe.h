/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes by perf events alone, where BPF is not permitted. */
#ifndef HI_PROBES_PERF_PROBE_H
#define HI_PROBES_PERF_PROBE_H

#include "probes/safepoint.h"

struct hi_probe;

/* As hi_probe_open(), without condition and every. */
enum hi_status hi_perf_probe_open(const struct hi_target *target,
				  const struct hi_probe_sites *sites,
				  struct hi_probe **ret, struct hi_error *err);

#endif
