/* SPDX-License-Identifier: BSD-2-Clause */
/* What a probe leaves behind if it is not closed well: in the kernel's log, and in the
 * text of its target. */
#ifndef HI_TESTS_SUPPORT_PROBE_LEAKS_H
#define HI_TESTS_SUPPORT_PROBE_LEAKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROBE_TEXT = 16, PROBE_FAMILY = 16 };

/* Lines of the kernel about leaks by processes of this name and by probe holders: others
 * may be at it as well. */
size_t probe_leaks_count(const char *owner);
void probe_text_read(pid_t pid, uint64_t at, uint8_t ret[PROBE_TEXT]);
/* Fails the test if the text does not become this soon. */
void probe_text_expect(pid_t pid, uint64_t at, const uint8_t wanted[PROBE_TEXT]);

/* The path of a copy of the fixture, for one test: probes are those of files, and no
 * other process has this one mapped. */
const char *probe_own_copy(const char *fixture);
/* The descendants of the process, and last itself. Returns how many. */
size_t probe_family_find(pid_t pid, pid_t ret[PROBE_FAMILY]);
/* Sends SIGKILL to all of them and waits until they have ended. The last is a child of
 * the caller. */
void probe_family_kill(const pid_t *family, size_t n);

#endif
