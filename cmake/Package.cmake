# SPDX-License-Identifier: BSD-2-Clause
# `cpack` in a build folder makes heapinspect_VERSION_amd64.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heapinspect)
set(CPACK_PACKAGE_CONTACT "The heapinspect developers <maintainers@heapinspect.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "heap inspector for running processes")
set(CPACK_PACKAGE_DESCRIPTION "Tells what is on the heap of a running C, C++ or Python process, what keeps
it there and what has leaked, from outside: the process needs no preparation
and stands for milliseconds.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/PackageFiles.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The shared libraries that it needs, with versions, by dpkg-shlibdeps.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Types of libc's own data; without them heapinspect works, with fewer names.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libc6-dbg")
include(CPack)
