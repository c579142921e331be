/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/graph/type_origin.h"

#include <stdlib.h>
#include <string.h>

#include "census/graph/type_payload.h"

/* sys.stdlib_module_names of CPython 3.10 to 3.13, and what it has beside them; sorted.
 */
static const char *const python_modules[] = {
	"__future__",
	"_abc",
	"_aix_support",
	"_android_support",
	"_ast",
	"_asyncio",
	"_bisect",
	"_blake2",
	"_bootsubprocess",
	"_bz2",
	"_codecs",
	"_codecs_cn",
	"_codecs_hk",
	"_codecs_iso2022",
	"_codecs_jp",
	"_codecs_kr",
	"_codecs_tw",
	"_collections",
	"_collections_abc",
	"_colorize",
	"_compat_pickle",
	"_compression",
	"_contextvars",
	"_crypt",
	"_csv",
	"_ctypes",
	"_curses",
	"_curses_panel",
	"_datetime",
	"_dbm",
	"_decimal",
	"_distutils_hack",
	"_elementtree",
	"_frozen_importlib",
	"_frozen_importlib_external",
	"_functools",
	"_gdbm",
	"_hashlib",
	"_heapq",
	"_imp",
	"_interpchannels",
	"_interpqueues",
	"_interpreters",
	"_io",
	"_ios_support",
	"_json",
	"_locale",
	"_lsprof",
	"_lzma",
	"_markupbase",
	"_md5",
	"_msi",
	"_multibytecodec",
	"_multiprocessing",
	"_opcode",
	"_opcode_metadata",
	"_operator",
	"_osx_support",
	"_overlapped",
	"_pickle",
	"_posixshmem",
	"_posixsubprocess",
	"_py_abc",
	"_pydatetime",
	"_pydecimal",
	"_pyio",
	"_pylong",
	"_pyrepl",
	"_queue",
	"_random",
	"_scproxy",
	"_sha1",
	"_sha2",
	"_sha256",
	"_sha3",
	"_sha512",
	"_signal",
	"_sitebuiltins",
	"_socket",
	"_sqlite3",
	"_sre",
	"_ssl",
	"_stat",
	"_statistics",
	"_string",
	"_strptime",
	"_struct",
	"_suggestions",
	"_symtable",
	"_sysconfig",
	"_sysconfigdata",
	"_thread",
	"_threading_local",
	"_tkinter",
	"_tokenize",
	"_tracemalloc",
	"_typing",
	"_uuid",
	"_warnings",
	"_weakref",
	"_weakrefset",
	"_winapi",
	"_wmi",
	"_zoneinfo",
	"abc",
	"aifc",
	"antigravity",
	"argparse",
	"array",
	"ast",
	"asynchat",
	"asyncio",
	"asyncore",
	"atexit",
	"audioop",
	"base64",
	"bdb",
	"binascii",
	"binhex",
	"bisect",
	"builtins",
	"bz2",
	"cProfile",
	"calendar",
	"cgi",
	"cgitb",
	"chunk",
	"cmath",
	"cmd",
	"code",
	"codecs",
	"codeop",
	"collections",
	"colorsys",
	"compileall",
	"concurrent",
	"configparser",
	"contextlib",
	"contextvars",
	"copy",
	"copyreg",
	"crypt",
	"csv",
	"ctypes",
	"curses",
	"dataclasses",
	"datetime",
	"dbm",
	"decimal",
	"difflib",
	"dis",
	"distutils",
	"doctest",
	"email",
	"encodings",
	"ensurepip",
	"enum",
	"errno",
	"faulthandler",
	"fcntl",
	"filecmp",
	"fileinput",
	"fnmatch",
	"fractions",
	"ftplib",
	"functools",
	"gc",
	"genericpath",
	"getopt",
	"getpass",
	"gettext",
	"glob",
	"graphlib",
	"grp",
	"gzip",
	"hashlib",
	"heapq",
	"hmac",
	"html",
	"http",
	"idlelib",
	"imaplib",
	"imghdr",
	"imp",
	"importlib",
	"inspect",
	"io",
	"ipaddress",
	"itertools",
	"json",
	"keyword",
	"lib2to3",
	"linecache",
	"locale",
	"logging",
	"lzma",
	"mailbox",
	"mailcap",
	"marshal",
	"math",
	"mimetypes",
	"mmap",
	"modulefinder",
	"msilib",
	"msvcrt",
	"multiprocessing",
	"netrc",
	"nis",
	"nntplib",
	"nt",
	"ntpath",
	"nturl2path",
	"numbers",
	"opcode",
	"operator",
	"optparse",
	"os",
	"ossaudiodev",
	"pathlib",
	"pdb",
	"pickle",
	"pickletools",
	"pipes",
	"pkgutil",
	"platform",
	"plistlib",
	"poplib",
	"posix",
	"posixpath",
	"pprint",
	"profile",
	"pstats",
	"pty",
	"pwd",
	"py_compile",
	"pyclbr",
	"pydoc",
	"pydoc_data",
	"pyexpat",
	"queue",
	"quopri",
	"random",
	"re",
	"readline",
	"reprlib",
	"resource",
	"rlcompleter",
	"runpy",
	"sched",
	"secrets",
	"select",
	"selectors",
	"shelve",
	"shlex",
	"shutil",
	"signal",
	"site",
	"smtpd",
	"smtplib",
	"sndhdr",
	"socket",
	"socketserver",
	"spwd",
	"sqlite3",
	"sre_compile",
	"sre_constants",
	"sre_parse",
	"ssl",
	"stat",
	"statistics",
	"string",
	"stringprep",
	"struct",
	"subprocess",
	"sunau",
	"symtable",
	"sys",
	"sysconfig",
	"syslog",
	"tabnanny",
	"tarfile",
	"telnetlib",
	"tempfile",
	"termios",
	"textwrap",
	"this",
	"threading",
	"time",
	"timeit",
	"tkinter",
	"token",
	"tokenize",
	"tomllib",
	"trace",
	"traceback",
	"tracemalloc",
	"tty",
	"turtle",
	"turtledemo",
	"types",
	"typing",
	"unicodedata",
	"unittest",
	"urllib",
	"uu",
	"uuid",
	"venv",
	"warnings",
	"wave",
	"weakref",
	"webbrowser",
	"winreg",
	"winsound",
	"wsgiref",
	"xdrlib",
	"xml",
	"xmlrpc",
	"zipapp",
	"zipfile",
	"zipimport",
	"zlib",
	"zoneinfo",
};

/* File names of modules, up to the version. */
static const char *const language_files[] = {
	"libc.",      "libm.",	       "libpthread.", "libdl.",	    "librt.",
	"libresolv.", "libstdc++.",    "libgcc_s.",   "libc++.",    "libc++abi.",
	"libpython",  "ld-linux",      "ld-musl",     "linux-vdso", "libffi.",
	"python3",    "libthread_db.",
};

static const char *const language_names[] = {
	"std::", "__gnu_cxx::", "__cxxabiv1::", "__cxx11::", "core::", "alloc::"};

static int compare_module_names(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* "collections.abc" and "collections": by the first word. */
static bool is_python_module(const char *name, size_t n)
{
	char first[64];

	if (n >= sizeof(first))
		return false;
	memcpy(first, name, n);
	first[n] = 0;
	return bsearch(first, python_modules,
		       sizeof(python_modules) / sizeof(*python_modules),
		       sizeof(*python_modules), compare_module_names);
}

static bool begins_with_any(const char *text, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* A library, or an extension module of Python's: "_json.cpython-311-….so". */
static bool is_language_file(const char *module)
{
	if (begins_with_any(module, language_files,
			    sizeof(language_files) / sizeof(*language_files)))
		return true;
	return strstr(module, ".cpython-") &&
	       is_python_module(module, strcspn(module, "."));
}

/* Skips "struct ", "class " and the like before a name. */
static const char *skip_keyword(const char *name)
{
	static const char *const keywords[] = {"struct ", "class ", "union ", "enum ",
					       "const "};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (strncmp(name, keywords[i], strlen(keywords[i])) == 0)
			name += strlen(keywords[i]);
	return name;
}

/* Is it a name of the program's: no "unsigned int", no tuple of Rust, whose members are
 * payloads too, and none of the language's? */
static bool is_own_name(const char *name, size_t n)
{
	static const char *const scalars[] = {
		"int",	  "long",     "short", "char",	"signed", "unsigned", "float",
		"double", "bool",     "void",  "wchar", "char8",  "char16",   "char32",
		"_Bool",  "__int128", "u8",    "u16",	"u32",	  "u64",      "u128",
		"usize",  "i8",	      "i16",   "i32",	"i64",	  "i128",     "isize",
		"f32",	  "f64",      "str",   "&str",	"uint",	  "()",
	};
	size_t word = 0;

	if (*name == '(' && name[n - 1] == ')')
		return false;
	while (word < n && !strchr(" _<:", name[word]))
		word++;
	if (word == n || name[word] != ':')
		for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++)
			if (strlen(scalars[i]) == word &&
			    strncmp(name, scalars[i], word) == 0)
				return false;
	return !begins_with_any(name, language_names,
				sizeof(language_names) / sizeof(*language_names));
}

bool hi_type_is_own(const struct hi_type_name *type)
{
	const char *name = type->name ? type->name : "", *plain = skip_keyword(name);
	const char *module = type->module ? type->module : "";
	size_t n = strlen(module);

	if (type->klass != HI_TYPE_RECORD || !*name || !*module ||
	    strcmp(module, "builtins") == 0 || is_language_file(module))
		return false;
	/* A class of Python has its module in front. */
	if (strncmp(name, module, n) == 0 && name[n] == '.')
		return !is_python_module(module, strcspn(module, "."));
	return !begins_with_any(plain, language_names,
				sizeof(language_names) / sizeof(*language_names));
}

bool hi_type_has_own_payload(const struct hi_type_name *type)
{
	struct hi_payload found[HI_PAYLOADS_MAX];
	size_t n = type->klass == HI_TYPE_RECORD &&
				   !is_language_file(type->module ? type->module : "")
			   ? hi_type_payloads(type->name, found)
			   : 0;

	for (size_t i = 0; i < n; i++)
		if (is_own_name(found[i].name, found[i].length))
			return true;
	return hi_type_is_own(type);
}
