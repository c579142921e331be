/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the portable program, which is linked statically: a library of the machine would
 * bring a second libc with it, of another version. So there are no libraries, and what
 * asks for one (debuginfod's client, here and in libdw) goes without.
 */
#include <dlfcn.h>

__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return 0;
}

__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return 0;
}

__attribute__((visibility("default"))) char *dlerror(void)
{
	return 0;
}

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	(void)handle;
	return 0;
}
