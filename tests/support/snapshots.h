/* SPDX-License-Identifier: BSD-2-Clause */
/* A core of a fixture and snapshots of it, in a directory that goes with the test. */
#ifndef HI_TESTS_SUPPORT_SNAPSHOTS_H
#define HI_TESTS_SUPPORT_SNAPSHOTS_H

#include "tests/support/command.h"
#include "tests/support/fixture.h"

/* A temporary directory, removed when the test ends. */
char *snapshot_directory(void);
/* The fixture with its arguments, ready; its core in `in`. Both live until the test
 * ends. */
struct hi_fixture *snapshot_fixture(const char *name, const char *argument1,
				    const char *argument2);
const char *snapshot_core(const struct hi_fixture *fx, const char *in);
/* IN/NAME; until the test ends. */
const char *snapshot_path(const char *in, const char *name);
/* snap --core; fails the test if it fails. extra may be NULL. Returns its path. */
const char *snapshot_of_core(const char *core, const char *in, const char *name,
			     const char *extra);

#endif
