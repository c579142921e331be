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
#include "tests/support/command.h"
#include "tests/support/fixture.h"

enum { NOBODY = 65534 };

static void remove_directory(void *path)
{
	hi_command_run(0, "rm", "-rf", path, NULL);
	free(path);
}

/* The program and a fixture where every user can read and run them. */
static char *published(void)
{
	char *path = strdup("/tmp/heapinspect-public-XXXXXX");

	HI_ASSERT(path && mkdtemp(path));
	hi_test_defer(remove_directory, path);
	chmod(path, 0755);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", HI_BINARY_DIR "/heapinspect",
				       HI_FIXTURE_DIR "/leak_shapes", path, NULL)
				->exit_code);
	return path;
}

static void need_root(void)
{
	if (geteuid() != 0)
		HI_SKIP("needs root to become other users");
}

static const char *in(const char *directory, const char *name)
{
	static char paths[4][160];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

static const char *decimal(pid_t pid)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return text;
}

HI_TEST_ROOT(privileges, a_user_may_inspect_their_own_process)
{
	char *dir = published();
	struct hi_fixture *fx;
	struct hi_command *c;

	need_root();
	fx = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			      "--clear-groups", in(dir, "leak_shapes"), "acyclic", "1",
			      NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = hi_command_run(NOBODY, in(dir, "heapinspect"), "--pid", decimal(fx->pid),
			   NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
}

HI_TEST_ROOT(privileges, a_user_may_not_inspect_another_users_and_is_told_why)
{
	char *dir = published();
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "1", NULL);
	struct hi_command *c;

	need_root();
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = hi_command_run(NOBODY, in(dir, "heapinspect"), "--pid", decimal(fx->pid),
			   NULL);
	HI_ASSERT_MSG(c->exit_code == 3, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "CAP_SYS_PTRACE"), "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + strlen(c->err) - 1,
		      "not one line: %s", c->err);
}

HI_TEST_ROOT(privileges, root_may_inspect_any_users_process)
{
	char *dir = published();
	struct hi_fixture *fx;
	struct hi_command *c;

	need_root();
	fx = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			      "--clear-groups", in(dir, "leak_shapes"), "acyclic", "1",
			      NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
}

/* The program exists only inside the container's own mount namespace. */
HI_TEST_ROOT(privileges, a_container_is_inspected_from_the_host_with_its_own_files)
{
	struct hi_fixture *fx;
	struct hi_command *c;

	need_root();
	fx = hi_fixture_start(
		"/usr/bin/unshare", "--mount", "sh", "-c",
		"mount -t tmpfs none /mnt && mkdir /mnt/app && cp " HI_FIXTURE_DIR
		"/leak_shapes /mnt/app/service && ln -s /mnt/app /mnt/link && "
		"exec /mnt/link/service acyclic 1",
		NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(access("/mnt/app/service", F_OK) != 0);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
}

#define STRIPPED_SERVICE                                                                 \
	"mount -t tmpfs none /mnt && cd /mnt && cp " HI_FIXTURE_DIR                      \
	"/leak_shapes service && objcopy --only-keep-debug service service.debug && "    \
	"objcopy --strip-all --add-gnu-debuglink=service.debug service && "

static void check_separate_debug_file(const char *script)
{
	struct hi_fixture *fx =
		hi_fixture_start("/usr/bin/unshare", "--mount", "sh", "-c", script, NULL);
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
	/* --debug-dir replaces what the container has, too. */
	c = hi_heapinspect("--debug-dir", "/nowhere", "--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(!strstr(c->out, "struct item"), "%s", c->out);
	hi_fixture_end(fx);
}

HI_TEST_ROOT(privileges, separate_debug_files_are_found_inside_a_container)
{
	need_root();
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

/* pid 1 of a pid namespace, seen under its number outside. */
HI_TEST_ROOT(privileges, pid_1_of_a_container_is_inspected_from_the_host)
{
	struct hi_fixture *fx;
	struct hi_command *c, *children;
	char command[64];

	need_root();
	fx = hi_fixture_start("/usr/bin/unshare", "--pid", "--mount", "--fork",
			      "--kill-child=KILL", HI_FIXTURE_DIR "/leak_shapes",
			      "acyclic", "2", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(command, sizeof(command), "cat /proc/%d/task/%d/children", fx->pid,
		 fx->pid);
	children = hi_command_run(0, "sh", "-c", command, NULL);
	HI_ASSERT(atoi(children->out) > 0);
	c = hi_heapinspect("--pid", decimal(atoi(children->out)));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
	hi_fixture_end(fx);
}

HI_TEST_ROOT(privileges, root_of_a_user_namespace_inspects_what_is_in_it)
{
	char *dir = published(), script[512];
	struct hi_command *c;

	need_root();
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
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
}

/* A binary that was replaced or deleted since the target started. */
HI_TEST_SCENARIO(files, a_deleted_binary_is_still_read)
{
	char *dir = published();
	struct hi_fixture *fx =
		hi_fixture_start(in(dir, "leak_shapes"), "acyclic", "1", NULL);
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(unlink(in(dir, "leak_shapes")) == 0);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
}

HI_TEST_SCENARIO(files, a_replaced_binary_is_never_taken_for_the_running_one)
{
	char *dir = published();
	struct hi_fixture *fx =
		hi_fixture_start(in(dir, "leak_shapes"), "acyclic", "1", NULL);
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT(unlink(in(dir, "leak_shapes")) == 0);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", HI_FIXTURE_DIR "/leaky_service",
				       in(dir, "leak_shapes"), NULL)
				->exit_code);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
	HI_ASSERT_MSG(!strstr(c->out, "struct session"), "%s", c->out);
}

HI_TEST_SCENARIO(files, debug_dir_replaces_the_default_directories)
{
	char *dir = published(), command[768];
	struct hi_fixture *fx;
	struct hi_command *c;

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
	fx = hi_fixture_start(in(dir, "leak_shapes"), "acyclic", "1", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	c = hi_heapinspect("--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(!strstr(c->out, "struct item"), "%s", c->out);
	c = hi_heapinspect("--debug-dir", in(dir, "debug"), "--pid", decimal(fx->pid));
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "struct item"), "%s", c->out);
}
