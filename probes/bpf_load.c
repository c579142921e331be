/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/bpf_load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/bpf_link.h"

enum {
	VERIFIER_LOG = 64 << 10,
	/* BPF_LOG_STATS of the kernel: the log has what is wrong, and not each
	 * instruction that the verifier looked at, which takes megabytes. */
	LOG_WHAT_IS_WRONG = 4,
	LINE = 160,
};

static hi_bpf_listener *current_listener;
static char verifier_log[VERIFIER_LOG];
static char libbpf_log[4096];

void hi_bpf_listen(hi_bpf_listener *listener)
{
	current_listener = listener;
}

/* ---- features ---- */

static bool has_rings(void)
{
	return libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1;
}

static bool has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
				       NULL) == 1;
}

static bool loads_program(const struct bpf_insn *program, size_t n)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "Dual BSD/GPL", program, n,
			       NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_fetches(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_0,
		 .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_0,
		 .off = -8,
		 .imm = BPF_ADD | BPF_FETCH},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return loads_program(program, sizeof(program) / sizeof(*program));
}

static bool has_types(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	bool found = types && !libbpf_get_error(types);

	if (found)
		btf__free(types);
	return found;
}

/* Iterators of one process came together with this helper. */
static bool has_task_iterators(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_ktime_get_tai_ns,
				       NULL) == 1;
}

static const struct feature {
	unsigned need;
	bool (*is_there)(void);
	const char *name, *where;
} features[] = {
	{HI_BPF_NEEDS_RINGS, has_rings, "BPF ring buffers", "Linux 5.8"},
	{HI_BPF_NEEDS_FETCHES, has_fetches,
	 "BPF atomic operations that return the old value", "Linux 5.12"},
	{HI_BPF_NEEDS_COOKIES, has_cookies, "BPF cookies of probes", "Linux 5.15"},
	{HI_BPF_NEEDS_TYPES, has_types, "type information",
	 "BTF, /sys/kernel/btf/vmlinux: CONFIG_DEBUG_INFO_BTF"},
	{HI_BPF_NEEDS_TASK_ITERATORS, has_task_iterators,
	 "BPF iterators over the threads of one process", "Linux 6.1"},
};

/* NULL: all are there. */
static const struct feature *find_missing(unsigned needs)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		if (needs & features[i].need && !features[i].is_there())
			return &features[i];
	return NULL;
}

bool hi_bpf_has(unsigned needs)
{
	return !find_missing(needs);
}

/* ---- what was said ---- */

static int keep_message(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t n = strlen(libbpf_log);

	if (level == LIBBPF_WARN && n < sizeof(libbpf_log) - 1)
		vsnprintf(libbpf_log + n, sizeof(libbpf_log) - n, format, args);
	return 0;
}

static bool begins_with(const char *line, const char *words)
{
	return strncmp(line, words, strlen(words)) == 0;
}

/* Behind what is wrong there are counters, which differ from kernel to kernel. */
static bool begins_counters(const char *line)
{
	return begins_with(line, "verification time ") || begins_with(line, "processed ");
}

static void find_last_words(char words[LINE])
{
	const char *line = verifier_log;

	words[0] = 0;
	while (*line && !begins_counters(line)) {
		size_t size = strcspn(line, "\n");

		if (size)
			snprintf(words, LINE, "%.*s", (int)(size < LINE ? size : LINE),
				 line);
		line += size + (line[size] == '\n');
	}
}

/* libbpf: "prog 'leave': failed to load: -13". */
static void find_program_name(char name[LINE])
{
	const char *found = strstr(libbpf_log, "prog '");

	name[0] = 0;
	if (found)
		(void)sscanf(found, "prog '%63[^']", name);
}

static void tell_listener(void)
{
	if (!current_listener)
		return;
	if (libbpf_log[0])
		current_listener(libbpf_log);
	if (verifier_log[0])
		current_listener(verifier_log);
}

/* ---- loading ---- */

enum hi_status hi_bpf_open(const unsigned char *start, const unsigned char *end,
			   struct bpf_object **ret, struct hi_error *err)
{
	struct bpf_object *object;

	libbpf_set_print(keep_message);
	libbpf_log[0] = 0;
	object = bpf_object__open_mem(start, (size_t)(end - start), NULL);
	if (!object)
		return hi_bpf_refused(errno, err);
	*ret = object;
	return HI_OK;
}

/*
 * Kernels since 5.5 have this helper; locked down, they keep it from programs. It is
 * called: libbpf asks by the kernel's words, which have changed.
 */
static bool is_locked_down(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return !loads_program(program, sizeof(program) / sizeof(*program));
}

static enum hi_status explain_refusal(int error, unsigned needs, struct hi_error *err)
{
	const struct feature *missing;
	char name[LINE], words[LINE];

	if (error == EPERM || error == ENOSYS)
		return hi_bpf_refused(error, err);
	missing = find_missing(needs & HI_BPF_NEEDS_RINGS);
	if (!missing && is_locked_down())
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "kernel lockdown keeps BPF programs from reading memory: "
			       "boot without lockdown=confidentiality");
	missing = missing ? missing : find_missing(needs);
	if (missing)
		return hi_fail(err, HI_UNSUPPORTED, 0, "this kernel has no %s (%s)",
			       missing->name, missing->where);
	find_program_name(name);
	find_last_words(words);
	if (!name[0] || !words[0])
		return hi_bpf_refused(error, err);
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "this kernel's verifier refuses the BPF program %s: %s (-v shows "
		       "more)",
		       name, words);
}

enum hi_status hi_bpf_load(struct bpf_object *object, unsigned needs,
			   struct hi_error *err)
{
	struct bpf_program *program;
	int error = 0;

	libbpf_set_print(keep_message);
	libbpf_log[0] = verifier_log[0] = 0;
	bpf_object__for_each_program(program, object)
	{
		if (!error)
			error = bpf_program__set_log_buf(program, verifier_log,
							 sizeof(verifier_log));
		if (!error)
			error = bpf_program__set_log_level(program, LOG_WHAT_IS_WRONG);
	}
	if (!error)
		error = bpf_object__load(object);
	if (!error)
		return HI_OK;
	if (!(needs & HI_BPF_TRIAL))
		tell_listener();
	return explain_refusal(-error, needs, err);
}
