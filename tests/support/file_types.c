/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/file_types.h"

#include <sys/stat.h>

#include "attach/mock.h"
#include "tests/harness.h"

struct inspected *inspected_file(const char *path)
{
	struct hi_mapping mapping = {.start = 0x555500000000,
				     .prot = HI_PROT_READ | HI_PROT_EXEC,
				     .kind = HI_MAPPING_FILE,
				     .inode = 1,
				     .path = path};
	struct hi_memory *memory;
	struct hi_image *image;
	struct stat st;

	HI_ASSERT_MSG(stat(path, &st) == 0 && st.st_size > 0, "no file %s", path);
	mapping.end = mapping.start + (((uint64_t)st.st_size + 4095) & ~4095ull);
	HI_ASSERT(hi_memory_create_mock(&memory, NULL) == HI_OK);
	HI_ASSERT(hi_image_create_mock(memory, &image, NULL) == HI_OK);
	hi_test_defer(hi_image_destroy, image);
	image->mode = HI_SNAPSHOT_CORE; /* files are opened by their paths */
	HI_ASSERT(hi_image_add_mapping(image, &mapping, NULL) == HI_OK);
	return inspected_image(image, NULL);
}
