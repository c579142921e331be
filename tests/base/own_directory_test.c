/* SPDX-License-Identifier: BSD-2-Clause */
/* Directories that are kept between runs, where the path is another user's. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_directory.h"
#include "tests/harness.h"
#include "tests/support/command.h"

enum { SOMEBODY = 12345 };

static void remove_all(void *path)
{
	HI_ASSERT(chdir("/") == 0);
	hi_command_run(0, "rm", "-rf", path, NULL);
}

static void enter_new_directory(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/heapinspect-own-XXXXXX");
	HI_ASSERT(mkdtemp(path) && chmod(path, 0755) == 0);
	hi_test_defer(remove_all, path);
	HI_ASSERT(chdir(path) == 0);
}

static bool is_opened(const char *path)
{
	struct hi_error err = {};
	int fd = -1;

	if (hi_own_directory_open(path, 022, &fd, &err) != HI_OK) {
		HI_ASSERT_EQ(-1, fd);
		HI_ASSERT(*err.text);
		return false;
	}
	close(fd);
	return true;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode : 0;
}

HI_TEST(own_directory, is_made_with_those_above_it)
{
	enter_new_directory();
	HI_ASSERT(is_opened("a/b/heapinspect"));
	HI_ASSERT_EQ(S_IFDIR | 0700, mode_of("a"));
	HI_ASSERT_EQ(S_IFDIR | 0700, mode_of("a/b"));
	HI_ASSERT_EQ(S_IFDIR | 0700, mode_of("a/b/heapinspect"));
	HI_ASSERT(is_opened("a/b/heapinspect"));
}

HI_TEST(own_directory, may_not_be_written_by_others_nor_be_a_link)
{
	enter_new_directory();
	HI_ASSERT(mkdir("open", 0755) == 0 && chmod("open", 0777) == 0 &&
		  mkdir("own", 0700) == 0 && symlink("own", "link") == 0 &&
		  symlink("nowhere", "dangling") == 0);
	HI_ASSERT(!is_opened("open"));
	HI_ASSERT(!is_opened("open/heapinspect"));
	HI_ASSERT_EQ(0, mode_of("open/heapinspect"));
	HI_ASSERT(!is_opened("link"));
	HI_ASSERT(!is_opened("dangling"));
	HI_ASSERT(is_opened("link/heapinspect"));
	HI_ASSERT(chmod("open", 01777) == 0 && is_opened("open/heapinspect"));
}

/* The HOME of a user, which sudo can keep. */
HI_TEST_ROOT(own_directory, root_makes_and_uses_none_in_the_home_of_a_user)
{
	enter_new_directory();
	HI_ASSERT(mkdir("home", 0755) == 0 && chown("home", SOMEBODY, SOMEBODY) == 0);
	HI_ASSERT(!is_opened("home/.cache/heapinspect"));
	HI_ASSERT_EQ(0, mode_of("home/.cache"));
	HI_ASSERT(mkdir("home/.cache", 0755) == 0 &&
		  mkdir("home/.cache/heapinspect", 0700) == 0 &&
		  chown("home/.cache", SOMEBODY, SOMEBODY) == 0);
	/* Also not one of ours: the user can replace it. */
	HI_ASSERT(!is_opened("home/.cache/heapinspect"));
	HI_ASSERT(chown("home/.cache/heapinspect", SOMEBODY, SOMEBODY) == 0);
	HI_ASSERT(!is_opened("home/.cache/heapinspect"));
}

HI_TEST_ROOT(own_directory, links_of_a_user_lead_root_nowhere)
{
	enter_new_directory();
	HI_ASSERT(mkdir("home", 0755) == 0 && chown("home", SOMEBODY, SOMEBODY) == 0 &&
		  mkdir("roots", 0755) == 0 && symlink("../roots", "home/.cache") == 0 &&
		  lchown("home/.cache", SOMEBODY, SOMEBODY) == 0);
	HI_ASSERT(!is_opened("home/.cache/heapinspect"));
	HI_ASSERT(!is_opened("home/.cache/more/heapinspect"));
	HI_ASSERT_EQ(0, mode_of("roots/heapinspect"));
	HI_ASSERT_EQ(0, mode_of("roots/more"));
}
