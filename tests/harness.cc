// SPDX-License-Identifier: BSD-2-Clause
// Hands the C tests of the linker section hi_tests to Google Test, and is the
// main program: --label=unit runs those of one label. --ctest=FILE --room=ROOM
// --labels=unit,scenario writes the tests of these labels as entries for CTest.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
// C's header uses C-only constructs; this is the part that we share with it.
struct hi_test {
	const char *suite, *name, *label, *file;
	int line;
	void (*body)(void);
};
extern const struct hi_test *const __start_hi_tests[] __attribute__((weak));
extern const struct hi_test *const __stop_hi_tests[] __attribute__((weak));
[[noreturn]] void hi_test_fail(const char *file, int line, const char *fmt, ...);
[[noreturn]] void hi_test_skip(const char *file, int line, const char *reason);
void hi_test_defer_call(void (*fn)(void *), void *arg);
void hi_test_error(const char *file, int line, const char *fmt, ...);
bool hi_test_has_failed(void);
void hi_test_note(const char *fmt, ...);
}

namespace
{

jmp_buf way_out;
struct Deferred {
	void (*fn)(void *);
	void *arg;
} deferred[1024];
int n_deferred;

void run_deferred()
{
	while (n_deferred > 0) {
		n_deferred--;
		deferred[n_deferred].fn(deferred[n_deferred].arg);
	}
}

class CTest : public testing::Test
{
      public:
	explicit CTest(const hi_test *test) : test_(test)
	{
	}
	void TestBody() override
	{
		if (setjmp(way_out) == 0) {
			if (strncmp(test_->label, "root", 4) == 0 && geteuid() != 0)
				hi_test_skip(test_->file, test_->line, "needs root");
			test_->body();
		}
		run_deferred();
	}

      private:
	const hi_test *test_;
};

} // namespace

void hi_test_fail(const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ADD_FAILURE_AT(file, line) << text;
	longjmp(way_out, 1);
}

void hi_test_skip(const char *file, int line, const char *reason)
{
	const char *ci = getenv("CI");

	if (ci && strcmp(ci, "true") == 0)
		hi_test_fail(file, line, "skipped in CI: %s", reason);
	fprintf(stderr, "%s:%d: SKIPPED: %s\n", file, line, reason);
	[&] { GTEST_SKIP() << reason; }();
	longjmp(way_out, 1);
}

void hi_test_defer_call(void (*fn)(void *), void *arg)
{
	if (n_deferred == 1024)
		abort();
	deferred[n_deferred++] = {fn, arg};
}

void hi_test_error(const char *file, int line, const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ADD_FAILURE_AT(file, line) << text;
}

bool hi_test_has_failed(void)
{
	return testing::Test::HasFailure();
}

void hi_test_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

namespace
{

// Note [The environment of tests]
// Tests give the same result in every environment: the language, the width of the
// terminal, the umask, settings of malloc and Python and a server of debug files are set
// to fixed values. A test that is about one of these sets it itself.
void plain_environment()
{
	static const char *const others[] = {
		"LC_ALL",     "LC_CTYPE",	  "LC_MESSAGES",   "LC_NUMERIC",
		"LANGUAGE",   "COLUMNS",	  "LINES",	   "NO_COLOR",
		"MANPAGER",   "MALLOC_ARENA_MAX", "MALLOC_CHECK_", "MALLOC_PERTURB_",
		"PYTHONHOME", "PYTHONPATH",	  "PYTHONMALLOC",  "GLIBC_TUNABLES",
		"LC_COLLATE", "DEBUGINFOD_URLS",  "LC_TIME"};

	for (const char *name : others)
		unsetenv(name);
	setenv("LANG", "C.UTF-8", 1);
	umask(022);
}

std::string program_path()
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

const char *value_of_option(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], option, strlen(option)) == 0)
			return argv[i] + strlen(option);
	return nullptr;
}

// Note [Tokens of tests]
// Slow tests measure, and busy ones have more running threads than all others together:
// both run alone; storms, one at a time, and so do long checks by other programs, which
// take much memory. Tests of root put probes on libraries that all
// processes share; most of their time is the kernel's wait until no processor runs a
// removed one. Each takes one of a few tokens, so that some of them run at a time, beside
// tests without probes. A test that counts the kernel's records of probes, or the time
// that they cost, takes all tokens: no other probe is there meanwhile.
constexpr unsigned n_tokens = 3;

std::string isolation_of(const std::string &label)
{
	static unsigned n_of_root;
	std::string tokens;

	if (label == "slow" || label == "scenario-busy")
		return " RUN_SERIAL TRUE";
	if (label == "root")
		tokens = "probes-" + std::to_string(n_of_root++ % n_tokens);
	else if (label == "scenario-storm")
		tokens = "storm";
	else if (label == "interop-slow")
		tokens = "readers";
	else if (label == "root-alone")
		for (unsigned i = 0; i < n_tokens; i++)
			tokens += (i ? ";probes-" : "probes-") + std::to_string(i);
	return tokens.empty() ? "" : " RESOURCE_LOCK \"" + tokens + "\"";
}

// Long tests begin early, and so do those that wait for tokens.
const char *cost_of(const std::string &room, const std::string &label)
{
	if (label == "interop-slow")
		return " COST 200";
	if (room == "browser")
		return " COST 100";
	return label.compare(0, 4, "root") == 0 ? " COST 10" : "";
}

void write_ctest_entry(FILE *to, const hi_test *test, const std::string &room)
{
	std::string name = std::string(test->suite) + "." + test->name;
	std::string entry = room + "." + name;

	fprintf(to,
		"add_test([=[%s]=] [=[%s]=] --label=%s --gtest_filter=%s)\n"
		"set_tests_properties([=[%s]=] PROPERTIES LABELS %s TIMEOUT 900%s%s\n"
		"  SKIP_REGULAR_EXPRESSION [=[: SKIPPED: ]=])\n",
		entry.c_str(), program_path().c_str(), test->label, name.c_str(),
		entry.c_str(), test->label, isolation_of(test->label).c_str(),
		cost_of(room, test->label));
}

// The file is replaced as a whole: ctest may read it meanwhile.
int write_ctest_file(const std::string &path, const std::string &room,
		     const std::string &labels)
{
	std::string part = path + ".part";
	FILE *to = fopen(part.c_str(), "we");

	if (!to) {
		perror(part.c_str());
		return 1;
	}
	for (auto entry = __start_hi_tests; entry < __stop_hi_tests; entry++)
		if (("," + labels + ",").find("," + std::string((*entry)->label) + ",") !=
		    std::string::npos)
			write_ctest_entry(to, *entry, room);
	if (fclose(to) != 0 || rename(part.c_str(), path.c_str()) != 0) {
		perror(path.c_str());
		return 1;
	}
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	const char *label = value_of_option(argc, argv, "--label=");
	const char *list = value_of_option(argc, argv, "--ctest=");
	const char *room = value_of_option(argc, argv, "--room=");
	const char *labels = value_of_option(argc, argv, "--labels=");
	int registered = 0;

	if (list && room && labels)
		return write_ctest_file(list, room, labels);
	plain_environment();
	testing::InitGoogleTest(&argc, argv);
	for (auto entry = __start_hi_tests; entry < __stop_hi_tests; entry++) {
		const hi_test *test = *entry;

		if (label && strcmp(label, test->label) != 0)
			continue;
		testing::RegisterTest(
			test->suite, test->name, nullptr, nullptr, test->file, test->line,
			[test]() -> testing::Test * { return new CTest(test); });
		registered++;
	}
	if (registered == 0)
		return 77; // nothing of this label in this program
	return RUN_ALL_TESTS();
}
