/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `serve`: a server of pages of a file (server/server.h). There is one for a
 * file: another command prints the URL of the one that runs.
 *
 * The server never reads its file: it answers requests (Note [The server] in
 * server/server.h), and forks processes that make the pages (cli/pages/page_process.h),
 * each of which forks once more, as any command does, for a process without rights. The
 * page at an address is that of a command line (cli/pages/pages.h); command lines that are
 * not about the heap of the server are refused (cli/pages/pages_request.h), and
 * inspections are kept for the next pages (cli/pages/pages_heaps.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/options/near_files.h"
#include "cli/options/operand_words.h"
#include "cli/options/option_take.h"
#include "cli/pages/page_process.h"
#include "report/render/html_site.h"
#include "server/lock.h"
#include "server/server.h"
#include "server/touch.h"

#define TIMEOUT_NS (30 * 60 * HI_NS_PER_S)
/* How often a file that grows is read again. */
#define GROWTH_NS (10 * HI_NS_PER_S)

/* Which contents a file has. */
struct file_state {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct serving {
	const struct hi_options *options;
	struct file_state states[2]; /* of the file, and of the earlier one */
	uint64_t read_ns;	     /* when they were read */
	struct hi_server_lock lock;
	const char *url;
};

/* ---- the files ---- */

/* NULL: there is no such file. */
static const char *path_of_served(const struct serving *s, unsigned i)
{
	return i ? s->options->comparison.baseline : s->options->target.file;
}

static bool read_file_state(const char *path, struct file_state *ret)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	*ret = (struct file_state){.device = st.st_dev,
				   .inode = st.st_ino,
				   .size = st.st_size,
				   .changed = st.st_mtim};
	return true;
}

static enum hi_status check_served_file(const char *path, struct file_state *ret,
					struct hi_error *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return hi_fail_errno(err, "%.150s", path);
	if (!S_ISREG(st.st_mode))
		return hi_fail(err, HI_USAGE, 0, "%.150s: not a file", path);
	(void)read_file_state(path, ret);
	return HI_OK;
}

static bool is_same_inode(const struct file_state *a, const struct file_state *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static bool is_same_content(const struct file_state *a, const struct file_state *b)
{
	return is_same_inode(a, b) && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

/* What two servers have in common that show the same. */
static void name_lock(const struct serving *s, char out[HI_LOCK_NAME])
{
	const struct hi_options *o = s->options;
	const char *const others[] = {o->target.census, o->comparison.baseline_census,
				      o->output.full_names ? "full-names" : NULL};
	uint64_t hash = HI_HASH_START;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		hash = hi_hash_more(hash, hi_text_or_empty(others[i]),
				    strlen(hi_text_or_empty(others[i])) + 1);
	if (o->comparison.baseline) {
		hash = hi_hash_more(hash, &s->states[1].device, sizeof(dev_t));
		hash = hi_hash_more(hash, &s->states[1].inode, sizeof(ino_t));
	}
	snprintf(out, HI_LOCK_NAME, "%llx-%llx-%016llx",
		 (unsigned long long)s->states[0].device,
		 (unsigned long long)s->states[0].inode, (unsigned long long)hash);
}

/* A new file of the name has another inode: a later command must find this one by it. If
 * there is one already, this one keeps the lock of the file that was. */
static void follow_replaced_file(struct serving *s)
{
	struct hi_server_lock lock;
	char name[HI_LOCK_NAME];
	struct hi_error quiet;

	name_lock(s, name);
	if (!hi_server_lock_also(&s->lock, name, &lock))
		return;
	if (hi_server_lock_publish(&lock, s->url, &quiet) != HI_OK) {
		hi_server_lock_release(&lock);
		return;
	}
	hi_server_lock_release(&s->lock);
	s->lock = lock;
}

/* ---- what the server asks for ---- */

static int run_server_pages(void *arg, int socket, const char *base)
{
	const struct serving *s = arg;

	return hi_page_process_run(s->options, socket, base);
}

/* A file that is gone, or that grows, is shown as it was read, the latter for a while. */
static bool has_served_file_changed(void *arg)
{
	struct serving *s = arg;
	struct file_state now[2];
	bool changed = false, replaced = false;
	uint64_t time = hi_clock_ns();

	for (unsigned i = 0; i < 2; i++) {
		now[i] = s->states[i];
		if (!path_of_served(s, i) ||
		    !read_file_state(path_of_served(s, i), &now[i]))
			continue;
		changed |= !is_same_content(&now[i], &s->states[i]);
		replaced |= !is_same_inode(&now[i], &s->states[i]);
	}
	if (!replaced && (!changed || time < s->read_ns + GROWTH_NS))
		return false;
	memcpy(s->states, now, sizeof(now));
	s->read_ns = time;
	if (replaced)
		follow_replaced_file(s);
	return true;
}

static bool may_server_end(void *arg)
{
	struct serving *s = arg;

	return hi_server_lock_give_up(&s->lock);
}

/* ---- the command ---- */

static void print_server_url(const char *url)
{
	printf("%s\n", url);
	(void)fflush(stdout); /* hi_output_commit() reports what went wrong */
}

static void tell_how_it_ends(const struct hi_options *o, uint64_t timeout_ns)
{
	char time[24];

	if (!o->output.quiet)
		fprintf(stderr,
			"heapinspect: serves %s until Ctrl-C, or until nothing was asked "
			"for for %s\n",
			o->target.file, hi_server_timeout_text(time, timeout_ns));
}

static enum hi_status serve_file(struct serving *s, struct hi_error *err)
{
	const struct hi_options *o = s->options;
	struct hi_server_options options = {
		.port = o->serve.port,
		.timeout_ns = o->serve.timeout_ns ? o->serve.timeout_ns : TIMEOUT_NS,
		.policy = hi_html_policy,
		.run_pages = run_server_pages,
		.has_changed = has_served_file_changed,
		.may_end = may_server_end,
		.arg = s};
	struct hi_server *server = NULL;
	enum hi_status status = hi_server_open(&options, &server, err);

	if (status == HI_OK) {
		s->url = hi_server_url(server);
		status = hi_server_lock_publish(&s->lock, s->url, err);
	}
	if (status == HI_OK) {
		print_server_url(s->url);
		tell_how_it_ends(o, options.timeout_ns);
		status = hi_server_run(server, err);
	}
	hi_server_close(server);
	return status;
}

static enum hi_status run_serve_command(const struct hi_options *options,
					struct hi_output *output, struct hi_error *err)
{
	struct serving s = {.options = options, .read_ns = hi_clock_ns()};
	struct hi_server_found found;
	char name[HI_LOCK_NAME];
	enum hi_status status = HI_OK;

	(void)output;
	for (unsigned i = 0; i < 2 && status == HI_OK; i++)
		if (path_of_served(&s, i))
			status = check_served_file(path_of_served(&s, i), &s.states[i],
						   err);
	if (status != HI_OK)
		return status;
	name_lock(&s, name);
	status = hi_server_lock_take(name, hi_server_touch, &s.lock, &found, err);
	if (status != HI_OK)
		return status;
	if (s.lock.fd < 0) {
		print_server_url(found.url);
		if (!options->output.quiet)
			fprintf(stderr,
				"heapinspect: process %d serves %s already, at this "
				"address\n",
				(int)found.pid, options->target.file);
	} else {
		status = serve_file(&s, err);
	}
	hi_server_lock_release(&s.lock);
	return status;
}

/* The file that came first is the earlier one, as of diff. */
static int take_served_file(char *word, struct hi_options *o)
{
	const char *census = NULL;

	hi_operand_split_census(word, &census);
	if (!hi_operand_is_snapshot(word) && access(word, F_OK) != 0)
		return hi_option_no_file(word);
	if (!hi_operand_is_snapshot(word))
		return hi_option_wrong("%s: not a snapshot, a recording or a file of "
				       "many censuses",
				       word);
	if (o->target.file && o->comparison.baseline)
		return hi_option_wrong("%s and %s: one target at a time (serve takes it "
				       "and one earlier file)",
				       o->target.file, word);
	if (o->target.file) {
		o->comparison.baseline = o->target.file;
		o->comparison.baseline_census = hi_take(o->target.census);
		o->target.file = NULL;
	}
	return hi_operand_take_snapshot(word, census, o);
}

static int check_serve(const struct hi_given *given)
{
	if (given->options->target.file)
		return 0;
	return hi_option_wrong("serve: FILE is missing: a snapshot, a recording or a "
			       "file of many censuses; heapinspect snap --pid N -o FILE "
			       "makes one of a process");
}

const struct hi_command hi_command_serve = {
	.id = HI_COMMAND_SERVE,
	.name = "serve",
	.arguments = "[BEFORE] FILE",
	.purpose = "Show a file as pages in a browser, on this machine only.",
	.help = "Prints an address to open in a browser of this machine. It has a "
		"secret\n"
		"word, without which there is no page. With BEFORE, an earlier file "
		"of "
		"the\n"
		"same program, pages show differences, too. A process is shown from a "
		"file:"
		"\n"
		"heapinspect snap --pid N -o FILE. If FILE is being served already, the\n"
		"address of that server is printed.\n"
		"\n"
		"Examples:\n"
		"  heapinspect serve app.hisnap\n"
		"  heapinspect serve monday.hisnap tuesday.hisnap\n"
		"  heapinspect serve app.hirec --port 8080 --timeout 2h",
	.keeps_rights = true,
	.run_alone = run_serve_command,
	.targets = "",
	.take_word = take_served_file,
	.check = check_serve,
};
