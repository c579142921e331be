/* SPDX-License-Identifier: BSD-2-Clause */
/* Common parts of both kinds of probes (bpf_probe.c, perf_probe.c). */
#ifndef HI_PROBES_PROBE_KIND_H
#define HI_PROBES_PROBE_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "attach/trigger.h"

enum hi_probe_means {
	HI_PROBE_BPF,
	/* One event a thread; no condition, no every, no counts. Several threads that hit
	 * at once get a signal each; arming takes milliseconds a thread. */
	HI_PROBE_PERF,
};

/* Embedded first in each kind; trigger first in this. */
struct hi_probe {
	struct hi_trigger trigger;
	enum hi_probe_means means;
	size_t n_sites;
	char why_no_bpf[120]; /* of HI_PROBE_PERF, where BPF was tried */
	uint64_t (*hits)(const struct hi_probe *probe, size_t site);
	void (*close)(struct hi_probe *probe);
};

#endif
