/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a probe by the best means that are permitted. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "probes/bpf_probe.h"
#include "probes/perf_probe.h"
#include "probes/probe.h"

static int sysctl_number(const char *path)
{
	HI_GUARD(fclose) FILE *file = fopen(path, "re");
	int n;

	return file && fscanf(file, "%d", &n) == 1 ? n : -1;
}

/* BPF and perf events are both refused: names the missing capabilities. */
static enum hi_status fail_missing_rights(const struct hi_error *bpf,
					  const struct hi_error *perf,
					  struct hi_error *err)
{
	int error = perf->os_errno ? perf->os_errno : bpf->os_errno;
	enum hi_status status = hi_fail(
		err, HI_CANNOT_ATTACH, 0,
		"probes need root, or CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before "
		"Linux 6.6 and in some up to 6.9); here "
		"kernel.unprivileged_bpf_disabled is %d and "
		"kernel.perf_event_paranoid %d",
		sysctl_number("/proc/sys/kernel/unprivileged_bpf_disabled"),
		sysctl_number("/proc/sys/kernel/perf_event_paranoid"));

	if (err)
		err->os_errno = error;
	return status;
}

/* Perf events cannot evaluate a condition or count hits. */
static enum hi_status fail_without_bpf(const struct hi_safepoint *safepoint,
				       const struct hi_error *bpf, struct hi_error *err)
{
	enum hi_status status = hi_fail(err, bpf->status, 0,
					"%s needs BPF: %.120s; --at alone also works "
					"with perf events where they are permitted",
					safepoint->condition ? "a condition" : "every:N",
					bpf->status == HI_CANNOT_ATTACH
						? "root, or CAP_BPF and CAP_PERFMON"
						: bpf->text);

	if (err)
		err->os_errno = bpf->os_errno;
	return status;
}

enum hi_status hi_probe_open(const struct hi_target *target,
			     const struct hi_safepoint *safepoint,
			     const struct hi_probe_sites *sites, struct hi_probe **ret,
			     struct hi_error *err)
{
	struct hi_error by_bpf = {}, by_perf = {};
	enum hi_status status;

	if (sites->count == 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "no probe site");
	status = hi_bpf_probe_open(target, safepoint, sites, ret, &by_bpf);
	if (status != HI_CANNOT_ATTACH && status != HI_UNSUPPORTED) {
		if (status != HI_OK && err)
			*err = by_bpf;
		return status;
	}
	if (safepoint->condition || safepoint->every > 1)
		return fail_without_bpf(safepoint, &by_bpf, err);
	status = hi_perf_probe_open(target, sites, ret, &by_perf);
	if (status == HI_CANNOT_ATTACH)
		return fail_missing_rights(&by_bpf, &by_perf, err);
	if (status == HI_OK)
		snprintf((*ret)->why_no_bpf, sizeof((*ret)->why_no_bpf), "%.119s",
			 by_bpf.status == HI_CANNOT_ATTACH ? "BPF is not permitted"
							   : by_bpf.text);
	else if (err)
		*err = by_perf;
	return status;
}

enum hi_status hi_probe_open_by(enum hi_probe_means means, const struct hi_target *target,
				const struct hi_safepoint *safepoint,
				const struct hi_probe_sites *sites, struct hi_probe **ret,
				struct hi_error *err)
{
	if (sites->count == 0)
		return hi_fail(err, HI_NOT_FOUND, 0, "no probe site");
	return means == HI_PROBE_BPF
		       ? hi_bpf_probe_open(target, safepoint, sites, ret, err)
		       : hi_perf_probe_open(target, sites, ret, err);
}

enum hi_probe_means hi_probe_means(const struct hi_probe *probe)
{
	return probe->means;
}

const char *hi_probe_why_no_bpf(const struct hi_probe *probe)
{
	return probe->why_no_bpf;
}

struct hi_trigger *hi_probe_trigger(struct hi_probe *probe)
{
	return &probe->trigger;
}

uint64_t hi_probe_hits(const struct hi_probe *probe, size_t site)
{
	return site < probe->n_sites ? probe->hits(probe, site) : 0;
}

void hi_probe_close(struct hi_probe *probe)
{
	if (probe)
		probe->close(probe);
}
