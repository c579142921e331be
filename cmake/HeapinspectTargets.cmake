# SPDX-License-Identifier: BSD-2-Clause
# How folders, tests and fixtures are built. Each folder's CMakeLists.txt only
# lists its contents.

if(HI_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  # What the archives need themselves.
  string(APPEND CMAKE_C_STANDARD_LIBRARIES " -lelf -llzma -lbz2 -lzstd -lz -lm")
endif()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(NCURSESW REQUIRED IMPORTED_TARGET ncursesw)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(BPF REQUIRED IMPORTED_TARGET libbpf)

add_library(hi_flags INTERFACE)
target_include_directories(hi_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(hi_flags INTERFACE _GNU_SOURCE HI_VERSION="${PROJECT_VERSION}")
target_compile_options(hi_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wformat=2;-Wundef;-Wpointer-arith;-Wwrite-strings;-Wvla;-Wimplicit-fallthrough;-Wcast-qual;-Wmissing-prototypes;-Wstrict-prototypes;-Wold-style-definition;-Wconversion;-Wno-sign-conversion>
  $<$<C_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:C>:-Wlogical-op;-Wduplicated-cond;-Wduplicated-branches>>
  $<$<BOOL:${HI_WERROR}>:-Werror>
  -fno-strict-aliasing -fvisibility=hidden)
if(HI_SANITIZE)
  target_compile_options(hi_flags INTERFACE -fsanitize=${HI_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  if(NOT HI_FUZZ)
    # Half the time to build, and reports name functions and lines still. Warnings that
    # follow values through the optimiser are for the usual build.
    target_compile_options(hi_flags INTERFACE -O1 -g1 -Wno-format-truncation
      -Wno-maybe-uninitialized)
  endif()
  target_link_options(hi_flags INTERFACE -fsanitize=${HI_SANITIZE})
  target_compile_definitions(hi_flags INTERFACE HI_SANITIZED=1)
endif()
if(HI_FUZZ)
  # Counts of lines beside, for the table of scripts/fuzz.
  target_compile_options(hi_flags INTERFACE -fsanitize=fuzzer-no-link -O1 -g1
    -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(hi_flags INTERFACE -fprofile-instr-generate)
endif()
target_link_libraries(hi_flags INTERFACE Threads::Threads)

# hi_room(attach DEPENDS base): a static library of all .c below this folder.
function(hi_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  list(FILTER sources EXCLUDE REGEX "/bpf/")
  add_library(hi_${name} STATIC ${sources})
  target_link_libraries(hi_${name} PUBLIC hi_flags)
  foreach(room IN LISTS ROOM_DEPENDS)
    target_link_libraries(hi_${name} PUBLIC hi_${room})
  endforeach()
  target_link_libraries(hi_${name} PUBLIC ${ROOM_LIBRARIES})
endfunction()

# hi_test_support(): tests/support/*.c. An archive: a test program links only what it
# uses, so that support for one room does not need the room in all of them.
function(hi_test_support)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/*.c)
  add_library(test_support STATIC ${sources})
  target_link_libraries(test_support PUBLIC hi_flags)
  target_compile_definitions(test_support PUBLIC
    HI_FIXTURE_DIR="${HI_FIXTURE_DIR}" HI_BINARY_DIR="${PROJECT_BINARY_DIR}"
    HI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_include_directories(test_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# The labels that tests of these files have; tests with HI_TEST have the label unit.
function(hi_test_labels out)
  set(labels)
  foreach(source IN LISTS ARGN)
    file(READ ${source} text)
    foreach(pair "HI_TEST:unit" "HI_TEST_SCENARIO:scenario" "HI_TEST_BUSY:scenario-busy"
        "HI_TEST_STORM:scenario-storm"
        "HI_TEST_ROOT:root" "HI_TEST_ROOT_ALONE:root-alone" "HI_TEST_SLOW:slow"
        "HI_TEST_INTEROP:interop-fast" "HI_TEST_INTEROP_SLOW:interop-slow")
      string(REPLACE ":" ";" pair ${pair})
      list(GET pair 0 macro)
      list(GET pair 1 label)
      if(text MATCHES "(^|\n)${macro}\\(")
        list(APPEND labels ${label})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES labels)
  set(${out} ${labels} PARENT_SCOPE)
endfunction()

# hi_tests(attach DEPENDS attach): tests/attach/*_test.c as one program, attach_tests.
# A test's label follows from its macro, HI_TEST_*; CTest has an entry for each test.
# Unit tests need no fixture: the files that have some are linked as a program of their
# own, too, attach_unit_tests, which the target unit_tests builds without the rest.
function(hi_tests name)
  cmake_parse_arguments(T "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.c)
  if(NOT sources)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(unit_sources)
  foreach(source IN LISTS sources)
    hi_test_labels(labels ${source})
    if(unit IN_LIST labels)
      list(APPEND unit_sources ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM sources ${unit_sources})
  list(TRANSFORM T_DEPENDS PREPEND hi_)
  set(libraries test_support ${T_DEPENDS} GTest::gtest PkgConfig::JANSSON)
  set(objects)
  if(unit_sources)
    add_library(${name}_unit_objects OBJECT ${unit_sources})
    target_link_libraries(${name}_unit_objects PRIVATE ${libraries})
    set(objects $<TARGET_OBJECTS:${name}_unit_objects>)
    add_executable(${name}_unit_tests $<TARGET_OBJECTS:test_harness> ${objects})
    target_link_libraries(${name}_unit_tests PRIVATE ${libraries})
    add_dependencies(unit_tests ${name}_unit_tests)
  endif()
  add_executable(${name}_tests $<TARGET_OBJECTS:test_harness> ${objects} ${sources})
  target_link_libraries(${name}_tests PRIVATE ${libraries})
  # Only labels that some test has: an empty run must not look green.
  hi_test_labels(labels ${unit_sources} ${sources})
  if(unit IN_LIST labels)
    hi_list_tests(${name} ${name}_unit_tests unit)
    list(REMOVE_ITEM labels unit)
  endif()
  if(labels)
    hi_list_tests(${name} ${name}_tests "${labels}")
  endif()
endfunction()

# One CTest entry for each test of these labels, ROOM.SUITE.NAME. The program writes the
# entries itself when it has been linked (--ctest in tests/harness.cc). A program that was
# not built has one entry, which fails.
function(hi_list_tests room program labels)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${program}.list.cmake)
  set(loader ${CMAKE_CURRENT_BINARY_DIR}/${program}.cmake)
  string(REPLACE ";" "," wanted "${labels}")
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${program} --ctest=${list} --room=${room} --labels=${wanted} VERBATIM)
  file(WRITE ${loader} "if(EXISTS \"${list}\")
  include(\"${list}\")
else()
  add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)
  set_tests_properties(${program}_NOT_BUILT PROPERTIES LABELS \"${labels}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${loader})
endfunction()
