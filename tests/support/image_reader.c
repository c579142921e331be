/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/image_reader.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/image_send.h"
#include "base/cleanup.h"
#include "base/files.h"
#include "base/rights.h"
#include "tests/harness.h"

#define PAGE 4096u
#define ROOM (32u << 20)
#define FIRST (16u << 20) /* all pages of these bytes of a mapping */
#define STEP (1ull << 30) /* of terabytes: then a page in each of these */

enum command {
	IMAGE = 'i',
	TARGET = 't',
	AGAIN = 'a',
	CLOSE = 'c',
	COUNT = 'n',
	PASS = 'p'
};

struct hi_image_reader {
	pid_t pid;
	int parcels, commands, files; /* ends of socket pairs */
	char *room;		      /* shared: what the other process says */
	const struct hi_image *image;
	const struct hi_target *target;
};

/* ---- text ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t word = 0;

		memcpy(&word, (const char *)bytes + i, n - i < 8 ? n - i : 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static void describe_mapping(FILE *out, const struct hi_mapping *m)
{
	fprintf(out,
		"%llx-%llx %llx %llu %u:%u prot %d shared %d deleted %d held %d kind %d "
		"\"%s\" resident %lld swapped %lld copied %lld\n",
		(unsigned long long)m->start, (unsigned long long)m->end,
		(unsigned long long)m->file_offset, (unsigned long long)m->inode,
		m->dev_major, m->dev_minor, m->prot, m->shared, m->deleted, m->held,
		(int)m->kind, m->path, (long long)m->resident, (long long)m->swapped,
		(long long)m->copied);
}

static void describe_bytes(FILE *out, struct hi_image *image, const struct hi_mapping *m)
{
	uint64_t hash = 0, readable = 0, resident = 0, seen = 0;
	unsigned char bytes[PAGE];

	for (uint64_t page = m->start; page < m->end; page += PAGE) {
		size_t avail = 0;

		if (page - m->start > FIRST)
			page += STEP - PAGE;
		if (page >= m->end)
			break;
		resident += hi_image_resident(image, page, page + PAGE);
		seen += hi_memory_view(image->memory, page, &avail) ? avail : 0;
		if (hi_memory_read(image->memory, page, bytes, PAGE, NULL) != HI_OK)
			continue;
		readable++;
		hash = hash_bytes(hash ^ page, bytes, PAGE);
	}
	fprintf(out, "\tpages %llu hash %llx resident %lld of %lld view %llu\n",
		(unsigned long long)readable, (unsigned long long)hash,
		(long long)resident,
		(long long)hi_image_resident(image, m->start, m->end),
		(unsigned long long)seen);
}

static void describe_file(FILE *out, const struct hi_image *image,
			  const struct hi_mapping *m)
{
	HI_GUARD(close) int fd = -1;
	struct stat st = {};
	enum hi_status status = hi_image_open_file(image, m, &fd, NULL);

	if (fd >= 0)
		(void)fstat(fd, &st);
	fprintf(out, "\tfile: %s %llu %lld\n", hi_status_text(status),
		(unsigned long long)st.st_ino, (long long)st.st_size);
}

static void describe_held(FILE *out, const struct hi_image *image)
{
	uint64_t at = 0, from, to, n = 0;

	if (image->mode == HI_SNAPSHOT_MOCK)
		return; /* of one that has no memory it may not be asked */
	for (; hi_image_next_held(image, at, UINT64_MAX, &from, &to); at = to)
		if (n++ < 10000)
			fprintf(out, "held %llx-%llx\n", (unsigned long long)from,
				(unsigned long long)to);
	fprintf(out, "held: %llu ranges, %llu bytes\n", (unsigned long long)n,
		(unsigned long long)hi_image_held_bytes(image));
}

static void describe_threads(FILE *out, const struct hi_image *image)
{
	for (size_t i = 0; i < image->n_threads; i++) {
		const struct hi_thread *t = &image->threads[i];

		fprintf(out, "thread %d \"%s\" %llx inside %d\n", (int)t->tid, t->name,
			(unsigned long long)hash_bytes(0, &t->regs, sizeof(t->regs)),
			t->maybe_in_allocator);
	}
	for (size_t i = 0; i < image->n_kernel_words; i++)
		fprintf(out, "kernel word %llx of %d\n",
			(unsigned long long)image->kernel_words[i].word,
			image->kernel_words[i].descriptor);
	for (size_t i = 0; i < image->n_auxv; i++)
		fprintf(out, "auxv %llu: %llx\n", (unsigned long long)image->auxv[2 * i],
			(unsigned long long)image->auxv[2 * i + 1]);
}

static void describe_figures(FILE *out, const struct hi_image *image)
{
	HI_GUARD(close) int fd = -1;

	fprintf(out, "pid %d exe \"%s\" mode %d complete %d; command of %zu bytes\n",
		(int)image->pid, image->exe, (int)image->mode, image->complete,
		image->command_line.size);
	fprintf(out, "stats %llx unread %llu \"%s\"\n",
		(unsigned long long)hash_bytes(0, &image->stats, sizeof(image->stats)),
		(unsigned long long)image->kernel_unread, image->stats.not_forked);
	fprintf(out, "in the root: %s\n",
		hi_status_text(hi_image_open_path(image, "/etc/passwd", &fd, NULL)));
}

char *hi_test_describe_image(struct hi_image *image)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	describe_figures(out, image);
	describe_threads(out, image);
	for (size_t i = 0; i < image->n_mappings; i++) {
		describe_mapping(out, &image->mappings[i]);
		describe_bytes(out, image, &image->mappings[i]);
		describe_file(out, image, &image->mappings[i]);
	}
	describe_held(out, image);
	fprintf(out, "copied on write: %lld\n",
		(long long)hi_image_copied_on_write(image));
	fprintf(out, "check: %s\n", hi_status_text(hi_image_check(image, NULL)));
	fclose(out);
	return text;
}

static void describe_target_file(FILE *out, const struct hi_target *target,
				 const struct hi_mapping *m)
{
	HI_GUARD(close) int fd = -1;
	struct stat st = {};
	enum hi_status status = hi_target_open_file(target, m, &fd, NULL);

	if (fd >= 0)
		(void)fstat(fd, &st);
	fprintf(out, "\tfile: %s %llu\n", hi_status_text(status),
		(unsigned long long)st.st_ino);
}

char *hi_test_describe_target(const struct hi_target *target)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "pid %d \"%s\" \"%s\" \"%s\" deleted %d started %llu\n",
		(int)target->pid, target->name, target->exe, target->started_as,
		target->exe_deleted, (unsigned long long)target->start_time);
	fprintf(out, "command %zu cut %d: %llx\n", target->command_line.size,
		target->command_line.is_cut,
		(unsigned long long)hash_bytes(0, target->command_line.bytes,
					       target->command_line.size));
	fprintf(out, "rss %lld pss %lld swap %lld threads %zu spaces %d %d %d alive %d\n",
		(long long)target->rss, (long long)target->pss, (long long)target->swap,
		target->n_threads, target->other_mount_ns, target->other_pid_ns,
		target->other_user_ns, hi_target_is_alive(target));
	for (size_t i = 0; i < target->n_mappings; i++) {
		describe_mapping(out, &target->mappings[i]);
		describe_target_file(out, target, &target->mappings[i]);
	}
	fprintf(out, "children %zu of %zu\n", target->n_children,
		target->n_children_total);
	for (size_t i = 0; i < target->n_children; i++)
		fprintf(out, "child %d \"%s\" %lld %lld %lld\n",
			(int)target->children[i].pid, target->children[i].name,
			(long long)target->children[i].rss,
			(long long)target->children[i].pss,
			(long long)target->children[i].shared);
	fclose(out);
	return text;
}

void hi_test_same_text(const char *expected, const char *actual)
{
	while (*expected && *actual) {
		size_t n = strcspn(expected, "\n"), m = strcspn(actual, "\n");

		HI_ASSERT_MSG(n == m && memcmp(expected, actual, n) == 0,
			      "expected \"%.*s\", got \"%.*s\"", (int)n, expected, (int)m,
			      actual);
		expected += n + (expected[n] == '\n');
		actual += m + (actual[m] == '\n');
	}
	HI_ASSERT_STREQ(expected, actual);
}

/* ---- the other process ---- */

static void take_image(struct hi_image_reader *r, struct hi_image **image)
{
	struct hi_error err = {};
	char *text = NULL;

	if (hi_image_receive(r->parcels, NULL, image, &err) == HI_OK)
		text = hi_test_describe_image(*image);
	snprintf(r->room, ROOM, "%s", text ? text : err.text);
	free(text);
}

static void take_target(struct hi_image_reader *r)
{
	struct hi_target *target = NULL;
	struct hi_error err = {};
	char *text = NULL;

	if (hi_target_receive(r->parcels, &target, &err) == HI_OK)
		text = hi_test_describe_target(target);
	snprintf(r->room, ROOM, "%s", text ? text : err.text);
	free(text);
	hi_target_close(target);
}

static int count_descriptors(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void execute(struct hi_image_reader *r, char command, struct hi_image **image)
{
	char *text;

	switch (command) {
	case IMAGE:
		take_image(r, image);
		break;
	case TARGET:
		take_target(r);
		break;
	case AGAIN:
		text = hi_test_describe_image(*image);
		snprintf(r->room, ROOM, "%s", text ? text : "");
		free(text);
		break;
	case PASS:
		*r->room = hi_image_receive(r->parcels, NULL, image, NULL) == HI_OK;
		hi_image_destroy(hi_take(*image));
		break;
	case CLOSE:
		hi_image_destroy(hi_take(*image));
		break;
	default:
		snprintf(r->room, ROOM, "%d", count_descriptors("/proc/self/fd"));
	}
}

static _Noreturn void read_images(struct hi_image_reader *r)
{
	struct hi_image *image = NULL;
	struct hi_rights_dropped dropped;
	struct hi_error err;
	char command;

	if (hi_rights_drop(&dropped, &err) != HI_OK)
		_exit(1);
	hi_files_use(r->files);
	while (read(r->commands, &command, 1) == 1) {
		execute(r, command, &image);
		if (write(r->commands, &command, 1) != 1)
			break;
	}
	hi_image_destroy(image);
	_exit(0);
}

/* ---- this one ---- */

static void end_reader(struct hi_image_reader *r)
{
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	close(r->parcels);
	close(r->commands);
	close(r->files);
	munmap(r->room, ROOM);
	free(r);
}

struct hi_image_reader *hi_image_reader_start(void)
{
	struct hi_image_reader *r = calloc(1, sizeof(*r));
	int parcels[2], commands[2], files[2];

	HI_ASSERT(r);
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, parcels));
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, commands));
	HI_ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, files));
	r->room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	HI_ASSERT(r->room != MAP_FAILED);
	r->pid = fork();
	r->parcels = parcels[r->pid == 0];
	r->commands = commands[r->pid == 0];
	r->files = files[r->pid == 0];
	close(parcels[r->pid != 0]);
	close(commands[r->pid != 0]);
	close(files[r->pid != 0]);
	if (r->pid == 0)
		read_images(r);
	HI_ASSERT(r->pid > 0);
	hi_test_defer(end_reader, r);
	return r;
}

pid_t hi_image_reader_pid(const struct hi_image_reader *reader)
{
	return reader->pid;
}

static int open_asked(const struct hi_image_reader *r, const struct hi_files_request *ask)
{
	uint64_t start = strtoull(ask->name, NULL, 16);
	const struct hi_mapping *m;
	int fd = -1;

	if (ask->operation != HI_FILES_MAPPING)
		return -1;
	if (r->image) {
		m = hi_image_mapping_at(r->image, start);
		return m && hi_image_open_file(r->image, m, &fd, NULL) == HI_OK ? fd : -1;
	}
	for (size_t i = 0; r->target && i < r->target->n_mappings; i++) {
		m = &r->target->mappings[i];
		if (m->start == start &&
		    hi_target_open_file(r->target, m, &fd, NULL) == HI_OK)
			return fd;
	}
	return -1;
}

static void answer_asked(const struct hi_image_reader *r)
{
	struct hi_files_request ask;
	struct hi_files_answer answer = {};
	HI_GUARD(close) int fd = -1;

	HI_ASSERT(hi_files_receive(r->files, &ask));
	fd = open_asked(r, &ask);
	answer.error = fd < 0 ? 2 : 0;
	HI_ASSERT(hi_files_answer(r->files, &answer, fd));
}

/* Until it has answered. */
static void await_answer(struct hi_image_reader *r)
{
	struct pollfd fds[] = {{.fd = r->commands, .events = POLLIN},
			       {.fd = r->files, .events = POLLIN}};
	char byte;

	do {
		HI_ASSERT(poll(fds, 2, 60000) > 0);
		if (!fds[0].revents)
			answer_asked(r);
	} while (!fds[0].revents);
	HI_ASSERT_EQ(1, read(r->commands, &byte, 1));
}

static void give_command(struct hi_image_reader *r, char command)
{
	HI_ASSERT_EQ(1, write(r->commands, &command, 1));
}

const char *hi_image_reader_send(struct hi_image_reader *reader, struct hi_image *image)
{
	struct hi_error err = {};

	give_command(reader, IMAGE);
	HI_ASSERT_OK(hi_image_send(image, reader->parcels, &err), &err);
	reader->image = image;
	await_answer(reader);
	return reader->room;
}

void hi_image_reader_pass(struct hi_image_reader *reader, struct hi_image *image)
{
	struct hi_error err = {};

	give_command(reader, PASS);
	HI_ASSERT_OK(hi_image_send(image, reader->parcels, &err), &err);
	await_answer(reader);
	HI_ASSERT_EQ(1, *reader->room);
}

const char *hi_image_reader_send_target(struct hi_image_reader *reader,
					const struct hi_target *target)
{
	struct hi_error err = {};

	give_command(reader, TARGET);
	HI_ASSERT_OK(hi_target_send(target, reader->parcels, &err), &err);
	reader->image = NULL;
	reader->target = target;
	await_answer(reader);
	return reader->room;
}

const char *hi_image_reader_again(struct hi_image_reader *reader)
{
	give_command(reader, AGAIN);
	await_answer(reader);
	return reader->room;
}

void hi_image_reader_close(struct hi_image_reader *reader)
{
	give_command(reader, CLOSE);
	await_answer(reader);
	reader->image = NULL;
}

int hi_image_reader_descriptors(struct hi_image_reader *reader)
{
	give_command(reader, COUNT);
	await_answer(reader);
	return atoi(reader->room);
}
