/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of addresses against other people's tools: addr2line of binutils and of LLVM,
 * over the addresses of instructions as objdump finds them.
 *
 * What counts as the same: as many rows, and in each row the same function, the same file
 * (without its directory) and the same line. Each address must be the same as one of the
 * two tools has it. Both have errors, where the other one agrees with us:
 * - binutils 2.40 does not read DW_FORM_rnglistx of inlined calls (clang, DWARF 5): rows
 *   are missing. In some units it gives the unit's file with a line of another file, and
 *   an inlined call that begins where its function begins is named by the function.
 * - LLVM's outermost name is that of the ELF symbol.
 * So those addresses that are the same in binutils are counted, too, with a bound of
 * their own for each compiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "decode/describe/frame_names.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/file_types.h"
#include "tests/support/workshop.h"

static struct hi_error err;

/* ---- what is compiled ---- */

static const char source_c[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"#define TWICE(x) ({ int t_ = (x); t_ + t_; })\n"
	"struct node { struct node *next; int v; };\n"
	"static struct node *head;\n"
	"static inline void *must(void *p)\n{\n\tif (!p)\n\t\tabort();\n\treturn p;\n}\n"
	"static inline struct node *make(int v)\n{\n"
	"\tstruct node *n = must(malloc(sizeof(*n)));\n\tn->v = v;\n\treturn n;\n}\n"
	"static inline void push(int v)\n{\n\tstruct node *n;\n"
	"\t{\n\t\tint w = TWICE(v);\n\t\tif (w > 10) {\n\t\t\tn = make(w);\n\t\t} else "
	"{\n"
	"\t\t\tn = make(v);\n\t\t}\n\t}\n\tn->next = head;\n\thead = n;\n}\n"
	"__attribute__((noinline)) static int sum(const char *text, int deep)\n{\n"
	"\tint s = 0;\n\tfor (struct node *n = head; n; n = n->next)\n\t\ts += n->v;\n"
	"\tif (deep > 0)\n\t\ts += sum(text, deep - 1) + (int)strlen(text);\n"
	"\tif (__builtin_expect(s < -5, 0)) {\n\t\tfprintf(stderr, \"%s\", text);\n"
	"\t\tabort();\n\t}\n\treturn s;\n}\n"
	"static int compare(const void *a, const void *b)\n{\n"
	"\treturn *(const int *)a - *(const int *)b;\n}\n"
	"int main(int argc, char **argv)\n{\n\tint all[64] = {};\n"
	"\tfor (int i = 0; i < argc + 60; i++) {\n\t\tpush(i);\n\t\tall[i] = -i;\n\t}\n"
	"\tqsort(all, 64, sizeof(*all), compare);\n"
	"\tswitch (argc) {\n\tcase 1:\n\t\treturn sum(argv[0], 3);\n\tcase 2:\n"
	"\t\treturn sum(\"two\", argc);\n\tdefault:\n\t\tpush(all[argc & 63]);\n\t}\n"
	"\treturn printf(\"%d\\n\", sum(\"x\", 0)) < 0;\n}\n";

static const char source_cc[] =
	"#include <algorithm>\n#include <cstdio>\n#include <cstdlib>\n#include "
	"<functional>\n"
	"#include <map>\n#include <memory>\n#include <string>\n#include <vector>\n"
	"namespace\n{\nstruct hidden {\n\tint v;\n\thidden(int x) : v(x) {}\n"
	"\tint twice() const { return v * 2; }\n};\n"
	"int helper(int x)\n{\n\tif (x < 0)\n\t\tabort();\n\treturn x * 3;\n}\n"
	"template <int N> inline int deep(int x)\n{\n\t{\n\t\tint y = x + N;\n"
	"\t\tif (y & 1)\n\t\t\tx += deep<N - 1>(y);\n\t}\n\treturn x;\n}\n"
	"template <> inline int deep<0>(int x)\n{\n\treturn helper(x);\n}\n}\n"
	"namespace ns\n{\nclass C\n{\n      public:\n\tC(const std::string &n) : name(n) "
	"{}\n"
	"\tvirtual ~C() {}\n\tvirtual int run(int x);\n\tstd::string name;\n"
	"\tstd::vector<int> all;\n\tstd::vector<hidden> kept;\n};\n"
	"int C::run(int x)\n{\n\tauto f = [this, x](int a) {\n\t\tall.push_back(a + x);\n"
	"\t\tkept.emplace_back(a);\n\t\treturn (int)all.size();\n\t};\n"
	"\tstd::function<int(int)> g = f;\n\tint s = 0;\n\tfor (int i = 0; i < x; i++) "
	"{\n"
	"\t\ttry {\n\t\t\ts += g(i) + deep<8>(i);\n\t\t} catch (const std::exception &e) "
	"{\n"
	"\t\t\tprintf(\"%s\\n\", e.what());\n\t\t}\n\t}\n\treturn s;\n}\n}\n"
	"static void sorted(std::vector<std::string> &v)\n{\n"
	"\tstd::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) "
	"{\n"
	"\t\treturn a > b;\n\t});\n}\n"
	"int main(int argc, char **argv)\n{\n"
	"\tstd::vector<std::string> v(argv, argv + argc);\n"
	"\tstd::map<std::string, std::unique_ptr<ns::C>> m;\n\tint t = 0;\n\tsorted(v);\n"
	"\tfor (auto &s : v)\n\t\tm[s] = std::make_unique<ns::C>(s);\n"
	"\tfor (auto &p : m)\n\t\tt += p.second->run(argc) + hidden(t).twice();\n"
	"\tprintf(\"%d\\n\", t);\n\treturn 0;\n}\n";

static char directory[256];

static void open_names_workshop(void)
{
	snprintf(directory, sizeof(directory), "%s", workshop_open());
	workshop_write("names.c", source_c);
	workshop_write("names.cc", source_cc);
}

static const char *path_in_workshop(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* ---- rows of a line table and of frames ---- */

struct named_row {
	char *function, *file;
	unsigned line;
};
struct named_rows {
	struct HI_VECTOR(struct named_row) rows;
	struct HI_VECTOR(size_t) first; /* of each address, and the end */
};

static void free_named_rows(struct named_rows *named)
{
	for (size_t i = 0; i < named->rows.count; i++) {
		free(named->rows.items[i].function);
		free(named->rows.items[i].file);
	}
	hi_vector_free(&named->rows);
	hi_vector_free(&named->first);
	free(named);
}

static struct named_rows *make_named_rows(void)
{
	struct named_rows *named = calloc(1, sizeof(*named));

	HI_ASSERT(named);
	hi_test_defer(free_named_rows, named);
	return named;
}

/*
 * A part of a function that the compiler moved or copied has a symbol of its own, which
 * the tools show instead of the function: "f.cold", "f() [clone .part.0]".
 */
static void cut_clone(char *name)
{
	static const char *const suffixes[] = {" [clone ", ".cold", ".part.", ".isra.",
					       ".constprop."};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		char *at = strstr(name, suffixes[i]);

		if (at)
			*at = '\0';
	}
}

static void add_named_row(struct named_rows *named, const char *function,
			  const char *file, unsigned line)
{
	const char *slash = strrchr(file, '/');
	struct named_row row = {.function = strdup(function),
				.file = strdup(slash ? slash + 1 : file),
				.line = line};

	HI_ASSERT(row.function && row.file);
	if (strcmp(row.function, "??") == 0)
		row.function[0] = '\0';
	cut_clone(row.function);
	/* A file without a line is that of an ELF symbol (STT_FILE). */
	if (line == 0)
		row.file[0] = '\0';
	HI_ASSERT(hi_vector_push(&named->rows, row));
}

/* Lines of -a -i -f: "0x…", then two for each row: the function, "file:line (…)". */
static struct named_rows *read_tool_rows(char *text)
{
	struct named_rows *named = make_named_rows();
	char *function = NULL, *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *colon;

		if (strncmp(line, "0x", 2) == 0) {
			HI_ASSERT(hi_vector_push(&named->first, named->rows.count));
		} else if (!function) {
			function = line;
		} else {
			colon = strrchr(line, ':');
			HI_ASSERT_MSG(colon, "%s", line);
			*colon = '\0';
			add_named_row(named, function, line,
				      (unsigned)strtoul(colon + 1, NULL, 10));
			function = NULL;
		}
	}
	HI_ASSERT(hi_vector_push(&named->first, named->rows.count));
	return named;
}

static struct named_rows *run_tool(const char *tool, const char *program)
{
	char script[2048];
	struct hi_command *command;

	snprintf(script, sizeof(script), "cd %s && %s -e %s < addresses", directory, tool,
		 program);
	/* c++filt for LLVM: its own demangler writes other spaces. */
	if (strncmp(tool, "llvm", 4) == 0)
		strcat(script, " | c++filt");
	command = hi_command_run(0, "sh", "-c", script, NULL);
	HI_ASSERT_MSG(command->exit_code == 0, "%s: %s", script, command->err);
	return read_tool_rows(command->out);
}

struct address_list HI_VECTOR(uint64_t);

/* Every step-th instruction; what fills the space between functions is in none. */
static void list_instructions(const char *program, unsigned step,
			      struct address_list *list)
{
	FILE *file;
	unsigned long long addr;

	workshop_run("objdump -d --no-show-raw-insn -j .text %s | "
		     "sed -nE '/\t(nop|xchg   %%ax,%%ax|data16|cs nop)/d; "
		     "s/^ +([0-9a-f]+):\t.*/0x\\1/p' | awk 'NR %% %u == 0' > addresses",
		     program, step);
	file = fopen(path_in_workshop("addresses"), "r");
	HI_ASSERT(file);
	while (fscanf(file, "%llx", &addr) == 1)
		HI_ASSERT(hi_vector_push(list, (uint64_t)addr));
	fclose(file);
}

static struct hi_frames_builder *make_builder(void)
{
	struct hi_frames_builder *builder;

	HI_ASSERT_OK(hi_frames_builder_create(&builder, &err), &err);
	hi_test_defer(hi_frames_builder_destroy, builder);
	return builder;
}

/* By the code under test. An instruction is where the byte before addr + 1 is. */
static struct hi_frames name_instructions(struct hi_modules *modules,
					  struct address_list *list)
{
	const struct hi_module *module = hi_modules_get(modules, 0);
	struct hi_frames_builder *builder = make_builder();
	struct hi_frames frames;

	for (size_t i = 0; i < list->count; i++)
		list->items[i] += module->bias + 1;
	HI_ASSERT_OK(hi_frame_names_add(modules, NULL, list->items, (uint32_t)list->count,
					builder, &err),
		     &err);
	frames = hi_frames_builder_view(builder);
	HI_ASSERT_EQ(list->count, frames.n_frames);
	for (uint32_t i = 0; i < frames.n_frames; i++)
		for (uint32_t k = frames.first[i]; k < frames.first[i + 1]; k++) {
			HI_ASSERT_STREQ(module->path, frames.rows[k].module);
			HI_ASSERT_EQ(list->items[i] - module->start,
				     frames.rows[k].offset);
		}
	return frames;
}

static struct named_rows *run_naming(const char *program, struct address_list *list)
{
	struct inspected *p = inspected_file(path_in_workshop(program));
	struct hi_frames frames = name_instructions(p->modules, list);
	struct named_rows *named = make_named_rows();

	for (uint32_t i = 0; i <= frames.n_frames; i++)
		HI_ASSERT(hi_vector_push(&named->first, frames.first[i]));
	for (uint32_t i = 0; i < frames.n_rows; i++)
		add_named_row(named, frames.rows[i].function, frames.rows[i].file,
			      frames.rows[i].line);
	return named;
}

/* ---- comparing ---- */

/* "ns::f" for "f", where the scope is one of those of the programs here. */
static bool is_qualified(const char *ours, const char *theirs)
{
	static const char *const scopes[] = {
		"std::", "(anonymous namespace)::", "ns::", "__gnu_cxx::"};
	size_t n = strlen(ours), m = strlen(theirs);

	if (m == 0 || n < m + 4 || strcmp(ours + n - m, theirs) != 0 ||
	    memcmp(ours + n - m - 2, "::", 2) != 0)
		return false;
	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		if (strncmp(ours, scopes[i], strlen(scopes[i])) == 0)
			return true;
	return false;
}

static bool is_same_row(const struct named_row *ours, const struct named_row *theirs)
{
	return ours->line == theirs->line && strcmp(ours->file, theirs->file) == 0 &&
	       (strcmp(ours->function, theirs->function) == 0 ||
		is_qualified(ours->function, theirs->function));
}

static bool is_same_address(const struct named_rows *a, const struct named_rows *b,
			    size_t i)
{
	size_t n = a->first.items[i + 1] - a->first.items[i];

	if (n != b->first.items[i + 1] - b->first.items[i])
		return false;
	for (size_t k = 0; k < n; k++)
		if (!is_same_row(&a->rows.items[a->first.items[i] + k],
				 &b->rows.items[b->first.items[i] + k]))
			return false;
	return true;
}

static void note_rows(const char *tool, const struct named_rows *named, size_t i)
{
	for (size_t k = named->first.items[i]; k < named->first.items[i + 1]; k++)
		hi_test_note("  %s: %s %s:%u", tool, named->rows.items[k].function,
			     named->rows.items[k].file, named->rows.items[k].line);
}

/*
 * A function may have several symbols; which one is shown is a choice. "name" lines of
 * nm are kept in the file "symbols" of the workshop.
 */
static bool are_aliases(const char *a, const char *b)
{
	char line[4096], name[4096];
	unsigned long long at[2] = {}, value;
	FILE *file = fopen(path_in_workshop("symbols"), "r");

	HI_ASSERT(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %4095[^\n]", &value, name) != 2)
			continue;
		at[0] = strcmp(name, a) == 0 ? value : at[0];
		at[1] = strcmp(name, b) == 0 ? value : at[1];
	}
	fclose(file);
	return at[0] != 0 && at[0] == at[1];
}

/* One row without a line, by a symbol. */
static bool is_same_alias(const struct named_rows *a, const struct named_rows *b,
			  size_t i)
{
	const struct named_row *x = &a->rows.items[a->first.items[i]];
	const struct named_row *y = &b->rows.items[b->first.items[i]];

	return a->first.items[i + 1] - a->first.items[i] == 1 &&
	       b->first.items[i + 1] - b->first.items[i] == 1 && x->line == 0 &&
	       y->line == 0 && are_aliases(x->function, y->function);
}

struct agreement {
	size_t aliases;
	size_t addresses, rows, deepest, qualified;
	size_t binutils, llvm, neither;
};

static void count_address(struct agreement *agreement, const struct named_rows *ours,
			  const struct named_rows *binutils,
			  const struct named_rows *llvm, size_t i)
{
	size_t n = ours->first.items[i + 1] - ours->first.items[i];
	bool as_binutils = is_same_address(ours, binutils, i);
	bool as_llvm = is_same_address(ours, llvm, i);

	agreement->addresses++;
	agreement->rows += n;
	agreement->deepest = n > agreement->deepest ? n : agreement->deepest;
	for (size_t k = 0; as_llvm && k < n; k++)
		agreement->qualified +=
			is_qualified(ours->rows.items[ours->first.items[i] + k].function,
				     llvm->rows.items[llvm->first.items[i] + k].function);
	agreement->binutils += as_binutils;
	agreement->llvm += as_llvm;
	if (as_binutils || as_llvm)
		return;
	if (is_same_alias(ours, binutils, i) || is_same_alias(ours, llvm, i)) {
		agreement->aliases++;
		return;
	}
	if (++agreement->neither > 5)
		return;
	hi_test_note("address %zu:", i);
	note_rows("ours", ours, i);
	note_rows("binutils", binutils, i);
	note_rows("llvm", llvm, i);
}

/* debug: the file that the tools read. */
static struct agreement compare_program(const char *program, const char *debug,
					unsigned step)
{
	struct address_list list = {};
	struct agreement agreement = {};
	struct named_rows *ours, *binutils, *llvm;

	list_instructions(program, step, &list);
	HI_ASSERT(list.count > 0);
	workshop_run(
		"nm --defined-only %s > symbols || nm -D --defined-only %s > symbols",
		program, program);
	binutils = run_tool("addr2line -a -i -f -C", debug);
	llvm = run_tool("llvm-addr2line -a -i -f", debug);
	ours = run_naming(program, &list);
	HI_ASSERT_EQ(list.count + 1, binutils->first.count);
	HI_ASSERT_EQ(list.count + 1, llvm->first.count);
	for (size_t i = 0; i < list.count; i++)
		count_address(&agreement, ours, binutils, llvm, i);
	hi_test_note("%s: %zu addresses, %zu rows (%zu with a scope), %zu deep; as "
		     "binutils %zu, as LLVM "
		     "%zu, by another symbol %zu, as neither %zu",
		     program, agreement.addresses, agreement.rows, agreement.qualified,
		     agreement.deepest, agreement.binutils, agreement.llvm,
		     agreement.aliases, agreement.neither);
	hi_vector_free(&list);
	return agreement;
}

/* All as one of the tools, and of a hundred at least `binutils` as that one. */
static void check_build(const char *command, unsigned step, unsigned binutils,
			size_t deepest)
{
	struct agreement a;

	workshop_run("%s", command);
	hi_test_note("%s", command);
	/* dwz changes how it is said, not what: the tools read what was there before. */
	a = compare_program("prog", strstr(command, "dwz") ? "before" : "prog", step);
	HI_ASSERT_EQ(0, a.neither);
	HI_ASSERT(a.binutils * 100 >= a.addresses * binutils);
	HI_ASSERT(a.deepest >= deepest);
}

HI_TEST_SCENARIO(frame_names, names_of_c_are_those_of_addr2line)
{
	open_names_workshop();
	check_build("gcc -g -O0 -o prog names.c", 1, 100, 1);
	check_build("gcc -g -O2 -o prog names.c", 1, 100, 4);
	check_build("gcc -g -O3 -gdwarf-4 -o prog names.c", 1, 100, 4);
	check_build("clang -g -O2 -gdwarf-4 -o prog names.c", 1, 100, 4);
	check_build("clang -g -O3 -o prog names.c", 1, 0, 4);
}

HI_TEST_SCENARIO(frame_names, names_of_cxx_are_those_of_addr2line)
{
	open_names_workshop();
	check_build("g++ -g -O0 -o prog names.cc", 3, 99, 1);
	check_build("g++ -g -O2 -o prog names.cc", 2, 95, 10);
	check_build("g++ -g -O3 -gdwarf-4 -o prog names.cc", 2, 95, 10);
	check_build("clang++ -g -O0 -o prog names.cc", 3, 95, 1);
	check_build("clang++ -g -O3 -gdwarf-4 -o prog names.cc", 2, 95, 10);
	check_build("clang++ -g -O2 -o prog names.cc", 2, 0, 10);
}

/*
 * What a linker and others make of programs. binutils finds neither .dwo files nor the
 * files of an LTO unit's lines, so its share is not checked there.
 */
HI_TEST_SCENARIO(frame_names, names_of_other_builds_are_those_of_addr2line)
{
	open_names_workshop();
	check_build("gcc -g -O2 -static -o prog names.c", 40, 90, 1);
	check_build("g++ -g -O2 -o prog names.cc && strip -g prog", 3, 100, 1);
	check_build("g++ -g -O2 -ffunction-sections -Wl,--gc-sections -o prog names.cc",
		    3, 90, 10);
	check_build("gcc -g -O2 -flto -o prog names.c", 1, 0, 4);
	check_build("g++ -g -O2 -flto -o prog names.cc", 3, 90, 10);
	check_build("g++ -g -O2 -gsplit-dwarf -o prog names.cc", 3, 0, 10);
	check_build("g++ -g -O2 -gdwarf-4 -gsplit-dwarf -o prog names.cc", 3, 0, 10);
	check_build("clang++ -g -O2 -gsplit-dwarf -o prog names.cc", 3, 0, 10);
	check_build("g++ -g -O2 -o prog names.cc && cp prog before && dwz prog", 3, 90,
		    10);
	check_build("g++ -g -O2 -o prog names.cc && cp prog before && cp prog other && "
		    "dwz -m common prog other && readelf -S prog | grep -q debugaltlink",
		    3, 90, 10);
}

/* ---- what the names are for ---- */

/*
 * The library's code is in its headers, and all of it allocates for its caller. Where an
 * inlined call is, is in the function that has it; the line of an innermost row may be
 * one that the compiler moved there.
 */
static void check_library_row(const struct hi_frame_row *row, unsigned counts[2])
{
	bool is_library = strstr(row->file, "/c++/") != NULL;

	HI_ASSERT_MSG(is_library == ((row->flags & HI_FRAME_ALLOCATES) != 0), "%s %s:%u",
		      row->function, row->file, row->line);
	counts[is_library]++;
}

static void check_library_rows(const char *command)
{
	struct address_list list = {};
	unsigned counts[2] = {};
	struct hi_frames frames;

	workshop_run("%s", command);
	list_instructions("prog", 3, &list);
	frames = name_instructions(inspected_file(path_in_workshop("prog"))->modules,
				   &list);
	for (uint32_t i = 0; i < frames.n_frames; i++)
		for (uint32_t k = frames.first[i] + 1; k < frames.first[i + 1]; k++)
			check_library_row(&frames.rows[k], counts);
	hi_test_note("%s: %u rows of the library, %u of the program", command, counts[1],
		     counts[0]);
	HI_ASSERT(counts[1] > 1000 && counts[0] > 50);
	hi_vector_free(&list);
}

HI_TEST_SCENARIO(frame_names, cxx_library_allocates_for_its_caller)
{
	open_names_workshop();
	check_library_rows("g++ -g -O2 -o prog names.cc");
	check_library_rows("clang++ -g -O2 -o prog names.cc");
}
