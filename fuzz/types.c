/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file with any debug information: everything is asked of it. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/types_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || size == 0 || ftruncate(fd, 0) != 0 ||
	    pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	types_probe_file(fd, size);
	return 0;
}
