/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may inspect whom: a user their own process, nobody another's, root any,
 * also one in other mount and pid namespaces, and root of a user namespace what
 * is in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

enum { NOBODY = 65534, USER = 54321 };

/* The program and a fixture where every user can read and run them. */
static char *published(void)
{
	char *path = snapshot_directory();

	chmod(path, 0755);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", HI_BINARY_DIR "/heapinspect",
				       HI_FIXTURE_DIR "/leak_shapes", path, NULL)
				->exit_code);
	return path;
}

static struct hi_command *inspect_as_nobody(const char *dir, const struct target *t)
{
	return hi_command_run(NOBODY, snapshot_path(dir, "heapinspect"), "--pid", t->pid,
			      NULL);
}

static void check_has_items(const struct hi_command *c)
{
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
}

HI_TEST_ROOT(privileges, a_user_may_inspect_their_own_process_and_so_may_root)
{
	char *dir = published();
	struct target *t = target_start(
		"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		snapshot_path(dir, "leak_shapes"), "acyclic", "1", NULL);

	check_has_items(inspect_as_nobody(dir, t));
	HI_ASSERT_EQ(0, hi_process_status(t->fx->pid, "TracerPid"));
	target_run(t);
}

HI_TEST_ROOT(privileges, a_user_may_not_inspect_another_users_and_is_told_why)
{
	struct target *t = target_start("leak_shapes", "acyclic", "1", NULL);
	struct hi_command *c = inspect_as_nobody(published(), t);

	HI_ASSERT_MSG(c->exit_code == 3, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "CAP_SYS_PTRACE"), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

/* The program exists only inside the container's own mount namespace. */
HI_TEST_ROOT(privileges, a_container_is_inspected_from_the_host_with_its_own_files)
{
	struct target *t = target_start(
		"/usr/bin/unshare", "--mount", "sh", "-c",
		"mount -t tmpfs none /mnt && mkdir /mnt/app && cp " HI_FIXTURE_DIR
		"/leak_shapes /mnt/app/service && ln -s /mnt/app /mnt/link && "
		"exec /mnt/link/service acyclic 1",
		NULL);

	HI_ASSERT(access("/mnt/app/service", F_OK) != 0);
	check_has_items(target_run(t));
}

#define STRIPPED_SERVICE                                                                 \
	"mount -t tmpfs none /mnt && cd /mnt && cp " HI_FIXTURE_DIR                      \
	"/leak_shapes service && objcopy --only-keep-debug service service.debug && "    \
	"objcopy --strip-all --add-gnu-debuglink=service.debug service && "

static void check_separate_debug_file(const char *script)
{
	struct target *t =
		target_start("/usr/bin/unshare", "--mount", "sh", "-c", script, NULL);
	struct hi_command *c;

	check_has_items(target_run(t));
	/* --debug-dir replaces what the container has, too. */
	c = target_run(t, "--debug-dir", "/nowhere");
	HI_ASSERT_MSG(!strstr(c->out, "struct item"), "%s", c->out);
	hi_fixture_end(t->fx);
}

HI_TEST_ROOT(privileges, separate_debug_files_are_found_inside_a_container)
{
	check_separate_debug_file(STRIPPED_SERVICE
				  "mkdir .debug && mv service.debug .debug/ && "
				  "exec /mnt/service acyclic 1");
	/* By build-id, through a link that is absolute inside the container. */
	check_separate_debug_file(
		STRIPPED_SERVICE
		"mount -t tmpfs none /usr/lib/debug && mv service.debug /mnt/d && "
		"id=$(readelf -n service | sed -n 's/.*Build ID: //p') && "
		"dir=/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $dir "
		"&& ln -s /mnt/d $dir/$(echo $id | cut -c3-).debug && "
		"exec /mnt/service acyclic 1");
}

static const char program_text[] =
	"#include <stdio.h>\n#include <stdlib.h>\n"
	"struct item { struct item *next; long value; } *first;\n"
	"int main(void) { for (int i = 0; i < 10; i++) {\n"
	"struct item *new = malloc(sizeof(*new)); new->next = first; first = new; }\n"
	"puts(\"ready\"); fflush(stdout); return getchar() == 0; }\n";

/* A program that everybody may run, and beside it in `private`, a directory of its user
 * alone, what `how` makes there of a.c. */
static char *build_private(const char *how)
{
	char *dir = snapshot_directory(), script[1024];

	chmod(dir, 0755);
	snprintf(script, sizeof(script),
		 "cd \"$1\" && mkdir private && cd private && cat >a.c && %s && "
		 "cd .. && chown -R %d:%d private && chmod -R go= private && chmod 755 "
		 "prog",
		 how, USER, USER);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c",
				       "printf %s \"$3\" | sh -c \"$2\" sh \"$1\"", "sh",
				       dir, script, program_text, NULL)
				->exit_code);
	return dir;
}

static bool has_types(const struct target *t, const char *option, const char *value)
{
	struct hi_command *c = option ? target_run(t, option, value) : target_run(t);

	return strstr(c->out, "struct item") != NULL;
}

static struct target *start_as_user(const char *dir)
{
	return target_start("/usr/bin/setpriv", "--reuid=54321", "--regid=54321",
			    "--clear-groups", snapshot_path(dir, "prog"), NULL);
}

static void give_to(const char *dir, uid_t uid)
{
	char owner[16];

	snprintf(owner, sizeof(owner), "%u", uid);
	HI_ASSERT_EQ(0, hi_command_run(0, "chown", "-R", owner,
				       snapshot_path(dir, "private"), NULL)
				->exit_code);
}

/* The process that decodes may not look into the directory: the first one opens the file
 * for it, or does not. */
static bool has_split_types(uid_t owner)
{
	char *dir = build_private(
		"gcc -g -gdwarf-5 -gsplit-dwarf -c a.c && gcc -o ../prog a.o");

	give_to(dir, owner);
	return has_types(start_as_user(dir), NULL, NULL);
}

HI_TEST_ROOT(privileges, split_files_are_read_if_they_are_the_users_or_roots)
{
	HI_ASSERT(has_split_types(USER));
	HI_ASSERT(has_split_types(0));
	HI_ASSERT(!has_split_types(USER + 1));
}

HI_TEST_ROOT(privileges, a_debug_directory_may_be_of_anybody)
{
	char *dir = build_private(
		"gcc -g -Wl,--build-id -o a a.c && mkdir .build-id && "
		"id=$(readelf -n a | sed -n 's/.*Build ID: //p') && "
		"d=.build-id/$(echo $id | cut -c1-2) && mkdir $d && "
		"objcopy --only-keep-debug a $d/$(echo $id | cut -c3-).debug && "
		"strip -o ../prog a");
	struct target *t = start_as_user(dir);
	const char *private = snapshot_path(dir, "private");

	HI_ASSERT(!has_types(t, NULL, NULL));
	HI_ASSERT(has_types(t, "--debug-dir", private));
	give_to(dir, USER + 1);
	HI_ASSERT(has_types(t, "--debug-dir", private));
}

/* pid 1 of a pid namespace, seen under its number outside. */
HI_TEST_ROOT(privileges, pid_1_of_a_container_is_inspected_from_the_host)
{
	struct target *t = target_start(
		"/usr/bin/unshare", "--pid", "--mount", "--fork", "--kill-child=KILL",
		HI_FIXTURE_DIR "/leak_shapes", "acyclic", "2", NULL);
	struct target inside = {};
	struct hi_command *children;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/task/%s/children", t->pid, t->pid);
	children = hi_command_run(0, "cat", path, NULL);
	HI_ASSERT(atoi(children->out) > 0);
	snprintf(inside.pid, sizeof(inside.pid), "%d", atoi(children->out));
	check_has_items(target_run(&inside));
	hi_fixture_end(t->fx);
}

/* /proc is that of the host: its numbers are of other processes. */
HI_TEST_ROOT(privileges, numbers_of_another_pid_namespace_are_refused)
{
	struct target *t =
		target_start(HI_FIXTURE_DIR "/leak_shapes", "acyclic", "1", NULL);
	static const char *const words[][3] = {{"--pid", NULL, NULL},
					       {"record", "--pid", NULL},
					       {"census", "--pid", NULL}};
	struct hi_command *c;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *second = words[i][1] ? words[i][1] : t->pid;

		c = hi_command_run(0, "unshare", "--pid", "--fork",
				   HI_BINARY_DIR "/heapinspect", words[i][0], second,
				   words[i][1] ? t->pid : NULL, NULL);
		HI_ASSERT_MSG(c->exit_code == 3, "%d: %s", c->exit_code, c->err);
		HI_ASSERT_MSG(strstr(c->err, "/proc is that of another pid namespace"),
			      "%s", c->err);
	}
	c = hi_command_run(0, "unshare", "--pid", "--fork", HI_BINARY_DIR "/heapinspect",
			   "--", "/bin/echo", "started", NULL);
	HI_ASSERT_EQ(126, c->exit_code);
	HI_ASSERT_STREQ("", c->out);
	HI_ASSERT_MSG(strstr(c->err, "not started: /proc is that of another"), "%s",
		      c->err);
	hi_fixture_end(t->fx);
}

HI_TEST_ROOT(privileges, root_of_a_user_namespace_inspects_what_is_in_it)
{
	char *dir = published(), script[512];
	struct hi_command *c;

	snprintf(script, sizeof(script),
		 "d=$(mktemp -d) && cd $d && mkfifo in && exec 9<>in && "
		 "{ %s/leak_shapes acyclic 1 <&9 >out & } && "
		 "until grep -q ready out; do sleep 0.05; done && rm -r $d && "
		 "%s/heapinspect --pid $!; code=$?; kill $!; exit $code",
		 dir, dir);
	c = hi_command_run(NOBODY, "unshare", "--user", "--map-root-user", "--pid",
			   "--fork", "--mount-proc", "sh", "-c", script, NULL);
	if (c->exit_code == 1 && strstr(c->err, "unshare failed"))
		HI_SKIP("user namespaces are not permitted here");
	check_has_items(c);
}

/* A binary that was replaced or deleted since the target started. */
HI_TEST_SCENARIO(files, a_deleted_binary_is_read_and_another_never_taken_for_it)
{
	const char *program = snapshot_path(published(), "leak_shapes");
	struct target *t = target_start(program, "acyclic", "1", NULL);
	struct hi_command *c;

	HI_ASSERT(unlink(program) == 0);
	check_has_items(target_run(t));
	HI_ASSERT_EQ(
		0, hi_command_run(0, "cp", HI_FIXTURE_DIR "/leaky_service", program, NULL)
			   ->exit_code);
	c = target_run(t);
	check_has_items(c);
	HI_ASSERT_MSG(!strstr(c->out, "struct session"), "%s", c->out);
}

HI_TEST_SCENARIO(files, debug_dir_replaces_the_default_directories)
{
	char *dir = published(), command[768];
	struct hi_command *c;
	struct target *t;

	snprintf(command, sizeof(command),
		 "cd %s && id=$(readelf -n leak_shapes | sed -n 's/.*Build ID: //p') && "
		 "two=$(echo $id | cut -c1-2) && rest=$(echo $id | cut -c3-) && "
		 "mkdir -p debug/.build-id/$two && "
		 "objcopy --only-keep-debug leak_shapes debug/.build-id/$two/$rest.debug "
		 "&& "
		 "strip leak_shapes",
		 dir);
	c = hi_command_run(0, "sh", "-c", command, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	t = target_start(snapshot_path(dir, "leak_shapes"), "acyclic", "1", NULL);
	c = target_run(t);
	HI_ASSERT_MSG(!strstr(c->out, "struct item"), "%s", c->out);
	check_has_items(target_run(t, "--debug-dir", snapshot_path(dir, "debug")));
}
