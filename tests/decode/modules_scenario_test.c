/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules: which file is believed, which debug file is used, what symbols say. */
#include <arpa/inet.h>
#include <elf.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/core.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/inspected.h"
#include "tests/support/live_image.h"
#include "tests/support/workshop.h"

static struct hi_error err;

static const char conn_source[] =
	"struct conn { int fd; struct conn *next; char name[24]; };\n"
	"struct conn the_conn = {7};\n"
	"struct conn *conns[4];\n";

/* "prog" with -g, and its own separate debug file "prog.debug". */
static const char *make_program(void)
{
	const char *dir = workshop_open();
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", conn_source, workshop_main);
	workshop_write("prog.c", text);
	workshop_run("cc -g -O1 -Wl,--build-id -o prog prog.c");
	workshop_run("objcopy --only-keep-debug prog prog.debug");
	return dir;
}

static struct hi_module *program(struct inspected *p)
{
	struct hi_module *module = hi_modules_executable(p->modules);

	HI_ASSERT(module && module->is_executable);
	return module;
}

static void check_conn(struct inspected *p)
{
	struct hi_variable var;
	const struct hi_type *type;
	int fd = 0;

	HI_ASSERT_OK(hi_types_variable_named(p->types, "the_conn", &var, &err), &err);
	type = hi_type_get(p->types, var.type);
	HI_ASSERT_STREQ("struct conn", type->name);
	HI_ASSERT_EQ(40, type->size);
	HI_ASSERT_OK(hi_memory_read(p->image->memory, var.address, &fd, 4, &err), &err);
	HI_ASSERT_EQ(7, fd);
}

HI_TEST_SCENARIO(modules, symbols_are_those_of_nm)
{
	struct hi_fixture *fx = hi_fixture_start("types_c", NULL);
	struct truths *truths = truths_read(fx);
	struct inspected *p = inspected_open(fx->pid, NULL);
	struct hi_module *module = program(p);
	struct hi_command *nm = hi_command_run(0, "nm", "-S", "--defined-only",
					       HI_FIXTURE_DIR "/types_c", NULL);
	unsigned checked = 0;

	HI_ASSERT_EQ(0, nm->exit_code);
	HI_ASSERT(module->build_id_size > 0 && !module->from_memory);
	for (char *line = strtok(nm->out, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long long value, size;
		uint64_t addr, got_size, offset = 99;
		char type, name[256];

		if (sscanf(line, "%llx %llx %c %255s", &value, &size, &type, name) != 4 ||
		    !strchr("TtDdBbRr", type) || strchr(name, '.') ||
		    strncmp(name, "tls_", 4) == 0)
			continue;
		HI_ASSERT_OK(hi_modules_symbol(p->modules, module, name, &addr, &got_size,
					       &err),
			     &err);
		HI_ASSERT_EQ(value + module->bias, addr);
		HI_ASSERT_EQ(size, got_size);
		HI_ASSERT_STREQ(
			name, hi_modules_symbol_at(p->modules, addr + size - 1, &offset));
		HI_ASSERT_EQ(size - 1, offset);
		checked++;
	}
	HI_ASSERT_MSG(checked > 15, "only %u symbols", checked);
	HI_ASSERT(truths->count > 0);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_modules_symbol(p->modules, NULL, "no_such_name",
							 &(uint64_t){0}, NULL, &err));
}

HI_TEST_SCENARIO(modules, data_ranges_hold_the_variables_and_not_the_thread_locals)
{
	struct hi_fixture *fx = hi_fixture_start("types_c", NULL);
	struct truths *truths = truths_read(fx);
	struct inspected *p = inspected_open(fx->pid, NULL);
	struct hi_section_range ranges[16];
	size_t n = hi_module_data(program(p), ranges, 16);
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		total += ranges[i].end - ranges[i].start;
		HI_ASSERT(i == 0 || ranges[i].start >= ranges[i - 1].end);
	}
	for (size_t i = 0; i < truths->count; i++) {
		uint64_t addr = strtoull(truths->items[i].part[1], NULL, 0);
		bool found = false;

		if (strcmp(truths->items[i].kind, "variable") != 0)
			continue;
		for (size_t k = 0; k < n; k++)
			found |= addr >= ranges[k].start && addr < ranges[k].end;
		HI_ASSERT_MSG(found, "%s is in no data range", truths->items[i].part[0]);
	}
	HI_ASSERT(total > 1000 && total < 1 << 16);
}

HI_TEST_SCENARIO(modules, text_that_the_image_does_not_hold_comes_from_the_file)
{
	struct hi_fixture *fx = hi_fixture_start("types_c", NULL);
	struct inspected *p;
	uint64_t addr, size;
	uint8_t file[64], truth[64], both[64];
	char path[64];
	int mem;

	truths_read(fx);
	p = inspected_open(fx->pid, NULL);
	HI_ASSERT_OK(hi_modules_symbol(p->modules, NULL, "main", &addr, &size, &err),
		     &err);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)fx->pid);
	mem = open(path, O_RDONLY);
	HI_ASSERT(mem >= 0 && size >= 64);
	HI_ASSERT_EQ(64, pread(mem, truth, 64, (off_t)addr));
	close(mem);
	HI_ASSERT_OK(hi_module_read_file(program(p), addr, file, 64, &err), &err);
	HI_ASSERT_OK(hi_modules_read(p->modules, addr, both, 64, &err), &err);
	HI_ASSERT(memcmp(file, truth, 64) == 0 && memcmp(both, truth, 64) == 0);
	HI_ASSERT_STATUS(HI_FAULT, hi_module_read_file(program(p), program(p)->end + 8,
						       file, 64, &err));
	HI_ASSERT_STATUS(HI_FAULT,
			 hi_modules_read(p->modules, UINT64_MAX - 8, file, 64, &err));
}

HI_TEST_SCENARIO(modules, libraries_and_the_vdso_are_modules_too)
{
	struct hi_fixture *fx = hi_fixture_start("types_c", NULL);
	struct inspected *p;
	uint64_t addr;

	truths_read(fx);
	p = inspected_open(fx->pid, NULL);
	HI_ASSERT(hi_modules_named(p->modules, "libc.so"));
	HI_ASSERT(hi_modules_named(p->modules, "ld-linux"));
	HI_ASSERT_OK(hi_modules_symbol(p->modules,
				       hi_modules_named(p->modules, "libc.so"), "malloc",
				       &addr, NULL, &err),
		     &err);
	HI_ASSERT(hi_modules_at(p->modules, addr) ==
		  hi_modules_named(p->modules, "libc.so"));
	HI_ASSERT(hi_modules_named(p->modules, "[vdso]"));
	HI_ASSERT_OK(hi_modules_symbol(p->modules, hi_modules_named(p->modules, "[vdso]"),
				       "__vdso_clock_gettime", &addr, NULL, &err),
		     &err);
	HI_ASSERT(hi_modules_at(p->modules, 16) == NULL);
	for (size_t i = 1; i < hi_modules_count(p->modules); i++)
		HI_ASSERT(hi_modules_get(p->modules, i)->start >=
			  hi_modules_get(p->modules, i - 1)->end);
}

/* ---- debug files ---- */

HI_TEST_SCENARIO(modules, a_debug_link_leads_to_the_file_beside_the_program)
{
	struct inspected *p;
	char path[512];

	snprintf(path, sizeof(path), "%s/prog.debug", make_program());
	workshop_run("objcopy --strip-all --add-gnu-debuglink=prog.debug prog");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_OK(hi_module_debug(program(p), &err), &err);
	HI_ASSERT_EQ(HI_DEBUG_LINK, program(p)->debug);
	HI_ASSERT_STREQ(path, program(p)->debug_path);
	check_conn(p);
}

HI_TEST_SCENARIO(modules, without_a_build_id_the_checksum_of_the_link_decides)
{
	struct inspected *p;

	make_program();
	workshop_run("cc -g -O1 -Wl,--build-id=none -o prog prog.c && "
		     "objcopy --only-keep-debug prog prog.debug && "
		     "objcopy --strip-all --add-gnu-debuglink=prog.debug prog && "
		     "mkdir .debug && mv prog.debug .debug");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_OK(hi_module_debug(program(p), &err), &err);
	check_conn(p);
	workshop_run("echo >> .debug/prog.debug");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
}

HI_TEST_SCENARIO(modules, a_debug_file_of_another_build_is_refused)
{
	struct inspected *p;
	struct hi_variable var;

	make_program();
	workshop_run("objcopy --strip-all --add-gnu-debuglink=prog.debug prog && "
		     "cc -g -O0 -Wl,--build-id -o other prog.c && "
		     "objcopy --only-keep-debug other prog.debug");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
	HI_ASSERT_MSG(strstr(program(p)->note, "another build"), "note: %s",
		      program(p)->note);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_variable_named(p->types, "the_conn", &var, &err));
}

HI_TEST_SCENARIO(modules, a_debug_dir_replaces_the_usual_places)
{
	const char *dir = make_program();
	struct hi_modules_options options = {.cache_dir = ""};
	struct inspected *p;
	char dirs[600];
	pid_t pid;

	workshop_run(
		"id=$(readelf -n prog | sed -n 's/.*Build ID: //p') && "
		"mkdir -p dbg/.build-id/$(echo $id | cut -c1-2) && cp prog.debug "
		"dbg/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug && "
		"objcopy --strip-all --add-gnu-debuglink=prog.debug prog");
	pid = workshop_start("prog");
	snprintf(dirs, sizeof(dirs), "/nowhere:%s/dbg", dir);
	options.debug_dir = dirs;
	p = inspected_open(pid, &options);
	HI_ASSERT_OK(hi_module_debug(program(p), &err), &err);
	HI_ASSERT_EQ(HI_DEBUG_BUILD_ID, program(p)->debug);
	check_conn(p);
	/* And nothing else is looked at: not even the file beside the program. */
	options.debug_dir = "/nowhere";
	p = inspected_open(pid, &options);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_module_debug(hi_modules_named(p->modules, "libc.so"), &err));
}

HI_TEST_SCENARIO(modules, types_in_a_file_shared_by_dwz_are_found)
{
	struct hi_variable var;
	struct inspected *p;
	hi_type_id big = 0;
	pid_t pid;

	make_program();
	workshop_run(
		"{ cat prog.c; echo 'static int other[9]; int *p = other;'; } > two.c "
		"&& for i in 0 1 2 3 4 5 6 7 8 9; do echo \"struct big$i { struct "
		"big$i *next; long a, b, c, d; } *big$i;\" >> both.h; done && "
		"sed -i '1i #include \"both.h\"' prog.c two.c && "
		"cc -g -Wl,--build-id -o prog prog.c && "
		"cc -g -Wl,--build-id -o two two.c && dwz -m common.debug prog two && "
		"readelf -S prog | grep -q gnu_debugaltlink");
	pid = workshop_start("prog");
	p = inspected_open(pid, NULL);
	check_conn(p);
	HI_ASSERT_STREQ("", program(p)->note);
	HI_ASSERT_OK(hi_types_find(p->types, "struct big3", &big, &err), &err);
	HI_ASSERT_EQ(40, hi_type_get(p->types, big)->size);
	HI_ASSERT_EQ(0, hi_types_stats(p->types).broken);
	workshop_run("rm common.debug");
	p = inspected_open(pid, NULL);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "the_conn", &var, &err), &err);
	HI_ASSERT_MSG(strstr(program(p)->note, "dwz"), "note: %s", program(p)->note);
}

HI_TEST_SCENARIO(modules, missing_split_files_are_reported)
{
	struct inspected *p;
	struct hi_variable var;

	make_program();
	workshop_run("cc -g -gsplit-dwarf -o prog prog.c");
	p = inspected_open(workshop_start("prog"), NULL);
	check_conn(p);
	workshop_run("rm -f *.dwo");
	p = inspected_open(workshop_start("prog"), NULL);
	/* The symbol is there, its type is not. */
	HI_ASSERT_OK(hi_types_variable_named(p->types, "the_conn", &var, &err), &err);
	HI_ASSERT_EQ(0, var.type);
	HI_ASSERT_EQ(40, var.size);
	HI_ASSERT_MSG(strstr(program(p)->note, ".dwo"), "note: %s", program(p)->note);
}

/* Of two units, each with types of its own. */
static void check_package(const char *compiler, int version, const char *packer)
{
	hi_type_id other;
	struct inspected *p;

	workshop_run("%s -g -gdwarf-%d -gsplit-dwarf -fdebug-types-section -c prog.c && "
		     "%s -g -gdwarf-%d -gsplit-dwarf -fdebug-types-section -c other.c && "
		     "%s -o prog prog.o other.o",
		     compiler, version, compiler, version, compiler);
	for (unsigned packed = 0; packed < 2; packed++) {
		p = inspected_open(workshop_start("prog"), NULL);
		check_conn(p);
		HI_ASSERT_STREQ("", program(p)->note);
		HI_ASSERT_OK(hi_types_find(p->types, "struct other", &other, &err), &err);
		HI_ASSERT_EQ(72, hi_type_get(p->types, other)->size);
		HI_ASSERT_EQ(0, hi_types_stats(p->types).broken);
		if (!packed)
			workshop_run("%s -e prog -o prog.dwp && rm prog.dwo other.dwo",
				     packer);
	}
	workshop_run("rm prog.dwp");
}

HI_TEST_SCENARIO(modules, type_units_of_split_files_and_of_packages_are_found)
{
	struct hi_command *llvm =
		hi_command_run(0, "sh", "-c", "command -v llvm-dwp", NULL);

	make_program();
	workshop_write("other.c", "struct conn { int fd; struct conn *next; "
				  "char name[24]; };\n"
				  "struct other { struct conn c; long numbers[4]; };\n"
				  "struct other the_other;\n");
	check_package("cc", 4, "dwp");
	check_package("clang", 4, "dwp");
	if (llvm->exit_code != 0)
		HI_SKIP("no llvm-dwp: apt install llvm");
	check_package("cc", 4, "llvm-dwp");
	check_package("cc", 5, "llvm-dwp");
	check_package("clang", 4, "llvm-dwp");
	check_package("clang", 5, "llvm-dwp");
}

static void end_server(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unsetenv("DEBUGINFOD_PROGRESS");
}

/* A port of loopback that nobody listens at, or did a moment ago. */
static unsigned free_port(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	HI_ASSERT(fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
		  getsockname(fd, (struct sockaddr *)&addr, &size) == 0);
	close(fd);
	return ntohs(addr.sin_port);
}

/* Debian's debuginfod over the directory "store", on loopback. */
static void start_server(const char *dir, unsigned port)
{
	static pid_t pid;
	char number[16], store[300], text[300];

	snprintf(number, sizeof(number), "%u", port);
	snprintf(store, sizeof(store), "%s/store", dir);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		alarm(600);
		execlp("debuginfod", "debuginfod", "-p", number, "-d", ":memory:", "-F",
		       "-t", "1", "-c", "1", store, NULL);
		_exit(127);
	}
	hi_test_defer(end_server, &pid);
	snprintf(text, sizeof(text), "http://127.0.0.1:%u", port);
	setenv("DEBUGINFOD_URLS", text, 1);
	snprintf(text, sizeof(text), "%s/client", dir);
	setenv("DEBUGINFOD_CACHE_PATH", text, 1);
}

HI_TEST_SLOW(modules, a_debuginfod_server_is_asked_when_its_variable_is_set)
{
	const char *dir = make_program();
	struct inspected *p;
	pid_t pid;

	workshop_run("objcopy --strip-all prog && mkdir store && mv prog.debug store");
	pid = workshop_start("prog");
	p = inspected_open(pid, NULL);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
	start_server(dir, free_port());
	for (unsigned tries = 0; tries < 120; tries++) {
		p = inspected_open(pid, NULL);
		if (hi_module_debug(program(p), &err) == HI_OK)
			break;
		workshop_run("rm -rf client"); /* a miss is remembered there */
		sleep(1);
	}
	HI_ASSERT_EQ(HI_DEBUG_INFOD, program(p)->debug);
	check_conn(p);
	/* A cache where others may put links is neither read nor written. */
	workshop_run("chmod 777 client");
	p = inspected_open(pid, NULL);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
}

/* ---- which file ---- */

HI_TEST_ROOT(modules, a_deleted_program_is_read_through_its_mapping)
{
	struct inspected *p;
	pid_t pid;

	make_program();
	pid = workshop_start("prog");
	workshop_run("rm prog");
	p = inspected_open(pid, NULL);
	HI_ASSERT(!program(p)->from_memory && !program(p)->file_mismatch);
	check_conn(p);
}

HI_TEST_SCENARIO(modules, a_program_whose_file_is_gone_is_read_from_memory)
{
	struct hi_module *module;
	struct hi_section_range ranges[8];
	struct inspected *p;
	uint64_t addr, size;
	uint32_t fd = 0;
	pid_t pid;

	make_program();
	workshop_run("cc -g -rdynamic -Wl,--build-id -o prog prog.c");
	pid = workshop_start("prog");
	workshop_run("rm prog");
	p = inspected_image(hi_live_image(pid), NULL);
	module = program(p);
	HI_ASSERT(module->from_memory && !module->file_mismatch);
	HI_ASSERT(module->note[0] != '\0');
	/* Exported symbols are in memory, sections are not. */
	HI_ASSERT_OK(
		hi_modules_symbol(p->modules, module, "the_conn", &addr, &size, &err),
		&err);
	HI_ASSERT_EQ(40, size);
	HI_ASSERT_OK(hi_memory_read(p->image->memory, addr, &fd, sizeof(fd), &err), &err);
	HI_ASSERT_EQ(7, fd);
	HI_ASSERT(hi_module_data(module, ranges, 8) >= 2);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(module, &err));
}

HI_TEST_SCENARIO(modules, a_program_that_was_replaced_is_not_mistaken_for_the_new_one)
{
	struct inspected *p;
	struct hi_variable var;
	pid_t pid;

	make_program();
	pid = workshop_start("prog");
	workshop_run("cc -g -O0 -DNEW -Wl,--build-id -o new prog.c && mv new prog");
	p = inspected_image(hi_live_image(pid), NULL);
	HI_ASSERT(program(p)->file_mismatch && program(p)->from_memory);
	HI_ASSERT_MSG(strstr(program(p)->note, "build-id"), "note: %s", program(p)->note);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_module_debug(program(p), &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_variable_named(p->types, "the_conn", &var, &err));
}

HI_TEST_ROOT(modules, a_program_that_was_replaced_is_still_read_as_it_was)
{
	struct inspected *p;
	pid_t pid;

	make_program();
	pid = workshop_start("prog");
	workshop_run("cc -g -O0 -DNEW -Wl,--build-id -o new prog.c && mv new prog");
	p = inspected_open(pid, NULL);
	HI_ASSERT(!program(p)->file_mismatch);
	check_conn(p);
}

static struct hi_image *core_of(const char *dir, pid_t pid, const char *exe)
{
	struct hi_core_options options = {.exe = exe};
	struct hi_image *image = NULL;
	char path[300];

	workshop_run("gcore -o core %d > /dev/null 2>&1", (int)pid);
	snprintf(path, sizeof(path), "%s/core.%d", dir, (int)pid);
	HI_ASSERT_OK(hi_core_open(path, &options, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

HI_TEST_SCENARIO(modules, a_core_has_the_modules_of_its_process)
{
	const char *dir = make_program();
	pid_t pid = workshop_start("prog");
	struct inspected *p = inspected_image(core_of(dir, pid, NULL), NULL), *live;

	check_conn(p);
	live = inspected_open(pid, NULL);
	for (size_t i = 0; i < hi_modules_count(live->modules); i++) {
		const struct hi_module *a = hi_modules_get(live->modules, i);
		const struct hi_module *b = hi_modules_at(p->modules, a->start);

		HI_ASSERT_MSG(b, "%s is not in the core", a->name);
		HI_ASSERT_STREQ(a->name, b->name);
		HI_ASSERT_EQ(a->bias, b->bias);
		HI_ASSERT_EQ(a->end, b->end);
		HI_ASSERT_EQ(a->build_id_size, b->build_id_size);
		HI_ASSERT_EQ(0, memcmp(a->build_id, b->build_id, a->build_id_size));
		HI_ASSERT_EQ(a->is_executable, b->is_executable);
	}
	HI_ASSERT_EQ(hi_modules_count(live->modules), hi_modules_count(p->modules));
}

/* gcore leaves out what is in a file, whether it is code or not. */
HI_TEST_SCENARIO(modules, a_core_has_none_of_a_file_that_is_no_program)
{
	static const char mapping[] =
		"#include <fcntl.h>\n#include <sys/mman.h>\n"
		"__attribute__((constructor)) static void map_data(void)\n"
		"{ if (mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(DATA, O_RDONLY), 0) =="
		" MAP_FAILED) __builtin_abort(); }\n";
	const char *dir = make_program();
	struct inspected *p;
	size_t mapped = 0;

	workshop_write("mapping.c", mapping);
	workshop_run("echo words > data && cc -g -DDATA='\"%s/data\"' -o prog prog.c "
		     "mapping.c",
		     dir);
	p = inspected_image(core_of(dir, workshop_start("prog"), NULL), NULL);
	for (size_t i = 0; i < p->image->n_mappings; i++)
		mapped += strstr(p->image->mappings[i].path, "/data") != NULL;
	HI_ASSERT_EQ(1, mapped);
	HI_ASSERT(hi_modules_count(p->modules) > 1);
	for (size_t i = 0; i < hi_modules_count(p->modules); i++)
		HI_ASSERT(strcmp(hi_modules_get(p->modules, i)->name, "data") != 0);
}

HI_TEST_SCENARIO(modules, a_core_with_the_wrong_program_says_so_and_does_not_use_it)
{
	const char *dir = make_program();
	struct hi_variable var;
	struct inspected *p;
	char other[300];
	pid_t pid = workshop_start("prog");

	workshop_run("cc -g -O0 -DNEW -Wl,--build-id -o other prog.c");
	snprintf(other, sizeof(other), "%s/other", dir);
	p = inspected_image(core_of(dir, pid, other), NULL);
	HI_ASSERT(program(p)->file_mismatch);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_variable_named(p->types, "the_conn", &var, &err));
}

/* ---- one type, many units ---- */

HI_TEST_SCENARIO(types, one_struct_in_many_units_is_one_type_and_two_layouts_are_two)
{
	const struct hi_type *later, *c;
	struct inspected *p;
	struct hi_variable a, b, mine, opaque;

	workshop_open();
	workshop_write("conn.h", "struct peer { int x; struct peer *p; };\n"
				 "struct conn { int fd; struct peer *peer; };\n");
	workshop_write("a.c", "#include \"conn.h\"\nstruct conn *first;\n"
			      "struct later; struct later *opaque;\n");
	workshop_write("b.c", "#include \"conn.h\"\nstruct conn *second;\n"
			      "struct later { long a; struct conn c; } later;\n");
	workshop_write("c.c", "struct conn { char other[100]; };\nstruct conn *mine;\n");
	workshop_write("main.c", workshop_main);
	workshop_run("cc -g -o prog a.c b.c c.c main.c");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "first", &a, &err), &err);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "second", &b, &err), &err);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "mine", &mine, &err), &err);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "opaque", &opaque, &err), &err);
	/* The pointers, and what they point to. */
	HI_ASSERT_EQ(a.type, b.type);
	HI_ASSERT(a.type != mine.type);
	c = hi_type_get(p->types, hi_type_get(p->types, a.type)->target);
	HI_ASSERT_EQ(c->id,
		     hi_type_get(p->types, hi_type_get(p->types, b.type)->target)->id);
	HI_ASSERT_EQ(16, c->size);
	HI_ASSERT_EQ(
		100,
		hi_type_get(p->types, hi_type_get(p->types, mine.type)->target)->size);
	/* What a.c only declares, b.c defines. */
	later = hi_type_get(p->types, hi_type_get(p->types, opaque.type)->target);
	HI_ASSERT_EQ(HI_KIND_STRUCT, later->kind);
	HI_ASSERT_EQ(24, later->size);
	HI_ASSERT_EQ(c->id, hi_type_get(p->types, later->members[1].type)->id);
}

HI_TEST_SCENARIO(types, type_declared_in_the_program_is_found_in_its_library)
{
	const struct hi_type *type;
	struct inspected *p;
	struct hi_variable var;

	workshop_open();
	workshop_write("lib.c", "struct engine { long rpm; struct engine *next; };\n"
				"struct engine the_engine;\n"
				"void *start(void) { return &the_engine; }\n");
	workshop_write("main.c", "struct engine; struct engine *running;\n"
				 "void *start(void);\n"
				 "__attribute__((constructor)) static void begin(void)\n"
				 "{ running = start(); }\n");
	workshop_write("wait.c", workshop_main);
	workshop_run("cc -g -fpic -shared -o libengine.so lib.c && "
		     "cc -g -o prog main.c wait.c -L. -lengine -Wl,-rpath,$PWD");
	p = inspected_open(workshop_start("prog"), NULL);
	HI_ASSERT_OK(hi_types_variable_named(p->types, "running", &var, &err), &err);
	type = hi_type_get(p->types, hi_type_get(p->types, var.type)->target);
	HI_ASSERT_EQ(HI_KIND_STRUCT, type->kind);
	HI_ASSERT_EQ(16, type->size);
	HI_ASSERT_STREQ("struct engine", type->name);
}

/* ---- cache ---- */

static uint64_t cache_files(const char *dir, const char *pattern)
{
	char script[600];
	struct hi_command *command;

	snprintf(script, sizeof(script), "ls %s/cache/%s 2>/dev/null | wc -l", dir,
		 pattern);
	command = hi_command_run(0, "sh", "-c", script, NULL);
	return strtoull(command->out, NULL, 10);
}

/* Finds a type of libc's own; returns whether the index came from the cache. */
static bool ask_libc(pid_t pid, const struct hi_modules_options *options)
{
	struct inspected *p = inspected_open(pid, options);
	struct hi_variable var;

	HI_ASSERT_OK(hi_types_variable_named(p->types, "main_arena", &var, &err), &err);
	HI_ASSERT_STREQ("struct malloc_state", hi_type_get(p->types, var.type)->name);
	HI_ASSERT_EQ(2200, var.size);
	return hi_types_stats(p->types).index_from_cache;
}

HI_TEST_SCENARIO(types, an_index_is_cached_and_a_damaged_one_is_made_anew)
{
	const char *dir = make_program();
	struct hi_modules_options options = {};
	char cache[400];
	pid_t pid = workshop_start("prog");

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	options.cache_dir = cache;
	HI_ASSERT(!ask_libc(pid, &options));
	HI_ASSERT_EQ(1, cache_files(dir, "*.types"));
	HI_ASSERT(ask_libc(pid, &options));
	workshop_run("test $(stat -c %%a cache/*.types) = 600");
	/* One byte in the middle, then a short file, then another's file. */
	workshop_run("f=$(ls cache/*.types) && printf 'x' | dd of=$f bs=1 "
		     "seek=$(($(stat -c %%s $f) / 2)) conv=notrunc 2>/dev/null");
	HI_ASSERT(!ask_libc(pid, &options));
	HI_ASSERT(ask_libc(pid, &options));
	workshop_run("truncate -s -8 cache/*.types");
	HI_ASSERT(!ask_libc(pid, &options));
	workshop_run("f=$(ls cache/*.types) && head -c 200000 /dev/urandom > $f");
	HI_ASSERT(!ask_libc(pid, &options));
	HI_ASSERT(ask_libc(pid, &options));
	/* A directory that others may write to is no cache. */
	workshop_run("chmod 777 cache");
	HI_ASSERT(!ask_libc(pid, &options));
	HI_ASSERT_EQ(1, cache_files(dir, "*.types"));
	/* Without one, libc's debug file is inflated once, in memory. */
	options.cache_dir = "";
	HI_ASSERT(!ask_libc(pid, &options));
}
