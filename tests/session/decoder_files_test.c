/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which files a process with rights gives away to one that somebody may have taken over:
 * those of the inspection, and no others. The target, its root directory and its users
 * are made up.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "session/live/decoder_files.h"
#include "tests/harness.h"
#include "tests/support/command.h"

/* The target's user, and somebody else. */
enum { USER = 54321, OTHER = 54322 };
enum { MOST_PATH = 512 };

struct world {
	char top[64], debug_dir[MOST_PATH], mapped[MOST_PATH], replaced[MOST_PATH],
		linked[MOST_PATH];
	struct hi_mapping mappings[3];
	struct hi_decoder_files files;
};

static const char *place(const struct world *w, const char *name)
{
	static char path[MOST_PATH];

	snprintf(path, sizeof(path), "%s/%s", w->top, name);
	return path;
}

static void make_elf(const struct world *w, const char *name, unsigned char type,
		     uid_t owner)
{
	unsigned char bytes[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1};
	int fd = open(place(w, name), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	bytes[EI_NIDENT] = type;
	HI_ASSERT_MSG(fd >= 0, "%s: %s", name, strerror(errno));
	HI_ASSERT_EQ(sizeof(bytes), write(fd, bytes, sizeof(bytes)));
	HI_ASSERT(fchown(fd, owner, owner) == 0);
	close(fd);
}

static void make_symlink(const struct world *w, const char *to, const char *name)
{
	HI_ASSERT_MSG(symlink(to, place(w, name)) == 0, "%s", name);
}

static void make_hard_link(const struct world *w, const char *from, const char *name)
{
	char old[MOST_PATH];

	snprintf(old, sizeof(old), "%s", place(w, from));
	HI_ASSERT_MSG(link(old, place(w, name)) == 0, "%s", name);
}

static struct hi_mapping mapping_of(const struct world *w, const char *name,
				    char path[MOST_PATH])
{
	struct stat st;

	snprintf(path, MOST_PATH, "%s", place(w, name));
	HI_ASSERT(stat(path, &st) == 0);
	return (struct hi_mapping){.start = 0x1000,
				   .end = 0x2000,
				   .inode = st.st_ino,
				   .dev_major = major(st.st_dev),
				   .dev_minor = minor(st.st_dev),
				   .kind = HI_MAPPING_FILE,
				   .path = path};
}

static void remove_world(struct world *w)
{
	close(w->files.root_fd);
	hi_command_run(0, "rm", "-rf", w->top, NULL);
	free(w);
}

static void make_directories(const struct world *w)
{
	static const char *const names[] = {
		"debug",	"debug/below",	      "users",	 "app",	 "app/.debug",
		"app/dir",	"replaced",	      "home",	 "root", "root/usr",
		"root/usr/lib", "root/usr/lib/debug", "root/etc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		HI_ASSERT(mkdir(place(w, names[i]), 0700) == 0);
	HI_ASSERT(chown(place(w, "users"), OTHER, OTHER) == 0);
}

static void make_debug_files(const struct world *w)
{
	make_elf(w, "debug/roots", ET_DYN, 0);
	make_elf(w, "debug/object", ET_REL, 0);
	make_elf(w, "debug/users", ET_EXEC, USER);
	make_elf(w, "debug/others", ET_DYN, OTHER);
	make_elf(w, "debug/core", ET_CORE, 0);
	make_elf(w, "secret", ET_DYN, 0);
	make_symlink(w, "roots", "debug/link");
	make_symlink(w, "below/../roots", "debug/long-link");
	make_symlink(w, "../secret", "debug/link-out");
	make_symlink(w, place(w, "secret"), "debug/absolute-link");
	make_symlink(w, "/proc/self/exe", "debug/magic-link");
	make_hard_link(w, "secret", "users/hard-link");
	make_elf(w, "users/own", ET_DYN, OTHER);
	HI_ASSERT(mkfifo(place(w, "debug/fifo"), 0600) == 0);
	HI_ASSERT(mknod(place(w, "debug/device"), S_IFCHR | 0600, makedev(1, 5)) == 0);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c",
				       "(printf '\\177ELF'; cat /etc/shadow) >\"$1\"",
				       "sh", place(w, "debug/shadow"), NULL)
				->exit_code);
	HI_ASSERT_EQ(0,
		     hi_command_run(0, "cp", "/etc/passwd", place(w, "debug/text"), NULL)
			     ->exit_code);
}

static void make_files_of_programs(const struct world *w)
{
	make_elf(w, "app/prog", ET_DYN, OTHER);
	make_elf(w, "app/prog.debug", ET_DYN, OTHER);
	make_elf(w, "app/prog.dwp", ET_REL, 0);
	make_elf(w, "app/other", ET_DYN, 0);
	make_elf(w, "app/program", ET_DYN, 0);
	make_elf(w, "app/.debug/prog", ET_DYN, USER);
	make_elf(w, "app/dir/prog.debug", ET_DYN, 0);
	make_symlink(w, "other", "app/prog.link");
	make_elf(w, "tool", ET_DYN, 0);
	make_hard_link(w, "tool", "users/tool");
	make_hard_link(w, "secret", "users/tool.debug");
	make_elf(w, "replaced/new", ET_DYN, 0);
	make_elf(w, "replaced/new.debug", ET_DYN, 0);
	make_elf(w, "home/users.dwo", ET_REL, USER);
	make_elf(w, "home/roots.dwo", ET_REL, 0);
	make_elf(w, "home/others.dwo", ET_REL, OTHER);
	make_elf(w, "home/program.dwo", ET_EXEC, USER);
	make_elf(w, "home/core.dwo", ET_CORE, USER);
	make_elf(w, "home/private.o", ET_REL, 0);
	make_elf(w, "home/linked.o", ET_REL, 0);
	make_symlink(w, "private.o", "home/link.dwo");
	make_hard_link(w, "home/linked.o", "home/hard-link.dwo");
	make_elf(w, "home/program", ET_DYN, USER);
	make_elf(w, "home/core", ET_CORE, USER);
}

static void make_root(const struct world *w)
{
	make_elf(w, "root/usr/lib/debug/roots", ET_DYN, 0);
	make_elf(w, "root/usr/lib/debug/others", ET_DYN, OTHER);
	make_elf(w, "root/usr/lib/debug/everybodys", ET_DYN, OTHER);
	HI_ASSERT(chmod(place(w, "root/usr/lib/debug/everybodys"), 0644) == 0);
	make_elf(w, "root/etc/secret", ET_DYN, 0);
	make_symlink(w, "../../../etc/secret", "root/usr/lib/debug/link-out");
	make_symlink(w, "/etc/secret", "root/usr/lib/debug/absolute-link");
	make_symlink(w, "/proc/self/root", "root/usr/lib/debug/magic-link");
	make_elf(w, "root/etc/everybodys", ET_DYN, OTHER);
	HI_ASSERT(chmod(place(w, "root/etc/everybodys"), 0644) == 0);
	make_symlink(w, "/etc/everybodys", "root/usr/lib/debug/shared-link");
}

static struct world *make_world(void)
{
	struct world *w = calloc(1, sizeof(*w));

	HI_ASSERT(w);
	snprintf(w->top, sizeof(w->top), "/tmp/heapinspect-files-XXXXXX");
	HI_ASSERT(mkdtemp(w->top));
	w->files.root_fd = -1;
	hi_test_defer(remove_world, w);
	make_directories(w);
	make_debug_files(w);
	make_files_of_programs(w);
	make_root(w);
	w->mappings[0] = mapping_of(w, "app/prog", w->mapped);
	w->mappings[1] = mapping_of(w, "replaced/new", w->replaced);
	w->mappings[2] = mapping_of(w, "users/tool", w->linked);
	w->mappings[1].inode++; /* another file had its name when it was mapped */
	snprintf(w->debug_dir, sizeof(w->debug_dir), "%s/debug:%s/users/:/proc", w->top,
		 w->top);
	w->files = (struct hi_decoder_files){
		.mappings = w->mappings,
		.n_mappings = 3,
		.has_root = true,
		.root_fd = open(place(w, "root"), O_PATH | O_DIRECTORY | O_CLOEXEC),
		.users = {USER},
		.n_users = 1,
		.debug_dir = w->debug_dir};
	return w;
}

/* ---- questions ---- */

struct question {
	const char *path; /* below the directory of the test, or absolute */
	bool given;
};

static void check_answer(int fd, const struct question *q)
{
	HI_ASSERT_MSG((fd >= 0) == q->given, "%s: %s", q->path,
		      fd >= 0 ? "given" : strerror(errno));
	HI_ASSERT_MSG(fd >= 0 || errno == EACCES, "%s: %s", q->path, strerror(errno));
	if (fd >= 0)
		HI_ASSERT_EQ(O_RDONLY, fcntl(fd, F_GETFL) & O_ACCMODE);
	if (fd >= 0)
		close(fd);
}

static void ask_all(struct world *w, const struct question *questions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *path = questions[i].path;

		if (*path && *path != '/')
			path = place(w, path);
		check_answer(hi_decoder_files_open(&w->files, path), &questions[i]);
	}
}

#define ASK(w, questions)                                                                \
	ask_all(w, questions, sizeof(questions) / sizeof((questions)[0]))

HI_TEST_ROOT(decoder_files, files_in_debug_directories_are_given)
{
	static const struct question questions[] = {
		{"debug/roots", true},
		{"debug/object", true},
		{"debug/users", true},
		{"debug/link", true},
		{"debug/long-link", true},
		{"debug/below/../roots", true},
		{"users/own", true},
		{"debug/others", false},
		{"debug/core", false},
		{"debug/link-out", false},
		{"debug/absolute-link", false},
		{"debug/magic-link", false},
		{"debug/../secret", false},
		{"users/hard-link", false},
		{"debug/fifo", false},
		{"debug/device", false},
		{"debug/shadow", false},
		{"debug/text", false},
		{"debug", false},
		{"debug/", false},
		{"debug/no-such-file", false},
		{"debugging", false},
		{"secret", false},
		{"/proc/kcore", false},
		{"/proc/self/exe", false},
		{"/proc/self/mem", false},
		{"/proc/self/root/bin/sh", false},
	};
	struct world *w = make_world();

	ASK(w, questions);
}

HI_TEST_ROOT(decoder_files, files_beside_a_mapped_one_are_given_if_they_are_about_it)
{
	static const struct question questions[] = {
		{"app/prog", true},
		{"app/prog.debug", true},
		{"app/prog.dwp", true},
		{"app/.debug/prog", true},
		{"app/other", false},
		{"app/program", false},
		{"app/prog.link", false},
		{"app/dir/prog.debug", false},
		{"app/../app/prog.debug", false},
		{"app//prog.debug", false},
		{"replaced/new.debug", false},
		{"users/tool.debug", false},
	};
	struct world *w = make_world();

	ASK(w, questions);
}

HI_TEST_ROOT(decoder_files, split_files_are_given_by_name_type_and_owner)
{
	static const struct question questions[] = {
		{"home/users.dwo", true},    {"home/roots.dwo", true},
		{"home/others.dwo", false},  {"home/program.dwo", false},
		{"home/core.dwo", false},    {"home/private.o", false},
		{"home/link.dwo", false},    {"home/hard-link.dwo", false},
		{"home/program", false},     {"home/core", false},
		{"home/no-such.dwo", false}, {"/proc/kcore.dwo", false},
	};
	struct world *w = make_world();

	ASK(w, questions);
	HI_ASSERT(chdir(place(w, "home")) == 0);
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, "users.dwo"));
	HI_ASSERT(chdir("/") == 0);
}

HI_TEST_ROOT(decoder_files, a_core_gives_programs_of_its_owner_and_no_cores)
{
	static const struct question questions[] = {
		{"home/program", true}, {"home/core", false},	   {"app/prog", false},
		{"secret", false},	{"home/private.o", false}, {"debug/roots", true},
		{"/etc/passwd", false}, {"/proc/kcore", false},
	};
	struct world *w = make_world();

	w->files.n_mappings = 0;
	w->files.is_of_files = true;
	w->files.n_users = 0;
	hi_decoder_files_add_owner(&w->files, place(w, "home/core"));
	hi_decoder_files_add_owner(&w->files, place(w, "no-such-file"));
	hi_decoder_files_add_owner(&w->files, NULL);
	HI_ASSERT_EQ(1, w->files.n_users);
	ASK(w, questions);
}

HI_TEST_ROOT(decoder_files, in_the_targets_root_links_do_not_lead_out)
{
	static const struct question questions[] = {
		{"/usr/lib/debug/roots", true},
		{"/usr/lib/debug/everybodys", true},
		{"/usr/lib/debug/others", false},
		{"/usr/lib/debug/shared-link", true},
		{"/usr/lib/debug/link-out", false},
		{"/usr/lib/debug/absolute-link", false},
		{"/usr/lib/debug/magic-link/bin/sh", false},
		{"/usr/lib/debug/../../../etc/secret", false},
		{"/etc/secret", false},
		{"/../secret", false},
		{"usr/lib/debug/roots", false},
		{"", false},
	};
	struct world *w = make_world();

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		check_answer(hi_decoder_files_open_in_root(&w->files, questions[i].path),
			     &questions[i]);
	/* The root of a user namespace is not ours. */
	w->files.other_user_ns = true;
	HI_ASSERT_EQ(-1,
		     hi_decoder_files_open_in_root(&w->files, "/usr/lib/debug/roots"));
	w->files.has_root = false;
	HI_ASSERT_EQ(-1, hi_decoder_files_open_in_root(&w->files,
						       "/usr/lib/debug/everybodys"));
}

HI_TEST_ROOT(decoder_files, names_sizes_and_numbers_are_bounded)
{
	struct world *w = make_world();
	char name[HI_FILES_NAME + 2], path[MOST_PATH];

	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[sizeof(name) - 1] = 0;
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, name));
	HI_ASSERT_EQ(-1, hi_decoder_files_open_in_root(&w->files, name));
	memcpy(name, place(w, "debug/"), strlen(place(w, "debug/")));
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, name));
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, ""));

	snprintf(path, sizeof(path), "%s", place(w, "debug/roots"));
	HI_ASSERT(truncate(path, (off_t)HI_DECODER_FILE_SIZE + 1) == 0);
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, path));
	HI_ASSERT(truncate(path, 64) == 0);
	w->files.n_files = HI_DECODER_FILES - 1;
	check_answer(hi_decoder_files_open(&w->files, path),
		     &(struct question){path, true});
	HI_ASSERT_EQ(-1, hi_decoder_files_open(&w->files, path));

	w->files.n_requests = HI_DECODER_REQUESTS - 1;
	HI_ASSERT(hi_decoder_files_count(&w->files));
	HI_ASSERT(!hi_decoder_files_count(&w->files));
	HI_ASSERT(setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1) == 0);
	w->files.n_downloads = HI_DECODER_DOWNLOADS;
	HI_ASSERT_EQ(-1, hi_decoder_files_download(&w->files, "0123456789abcdef", name));
	HI_ASSERT_EQ(EACCES, errno);
}
