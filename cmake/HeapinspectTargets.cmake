# SPDX-License-Identifier: BSD-2-Clause
# How rooms, tests and fixtures are built. Each folder's CMakeLists.txt only
# says what it consists of.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
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
  target_link_options(hi_flags INTERFACE -fsanitize=${HI_SANITIZE})
  target_compile_definitions(hi_flags INTERFACE HI_SANITIZED=1)
endif()
if(HI_FUZZ)
  target_compile_options(hi_flags INTERFACE -fsanitize=fuzzer-no-link)
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

# hi_tests(attach DEPENDS attach): tests/attach_*_test.c as one program. CTest
# runs it once per label; a test's label is the first argument of HI_TEST_*.
function(hi_tests name)
  cmake_parse_arguments(T "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}_*_test.c)
  if(NOT sources)
    return()
  endif()
  file(GLOB support CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/*.c)
  # An archive: a test program links only what it uses, so that support for one
  # room does not need the room in all of them.
  add_library(${name}_support STATIC ${support})
  target_link_libraries(${name}_support PUBLIC hi_flags)
  add_executable(${name}_tests harness.cc ${sources})
  foreach(t ${name}_support ${name}_tests)
    target_compile_definitions(${t} PRIVATE
      HI_FIXTURE_DIR="${PROJECT_BINARY_DIR}/fixtures" HI_BINARY_DIR="${PROJECT_BINARY_DIR}"
      HI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_include_directories(${t} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  endforeach()
  target_link_libraries(${name}_tests PRIVATE ${name}_support)
  foreach(room IN LISTS T_DEPENDS)
    target_link_libraries(${name}_support PUBLIC hi_${room})
  endforeach()
  target_link_libraries(${name}_tests PRIVATE GTest::gtest)
  # Only labels that some test has: an empty run must not look green.
  set(labels)
  foreach(source IN LISTS sources)
    file(READ ${source} text)
    foreach(pair "HI_TEST:unit" "HI_TEST_SCENARIO:scenario" "HI_TEST_ROOT:root" "HI_TEST_SLOW:slow"
        "HI_TEST_INTEROP:interop-fast" "HI_TEST_INTEROP_SLOW:interop-slow")
      string(REPLACE ":" ";" pair ${pair})
      list(GET pair 0 macro)
      list(GET pair 1 label)
      if(text MATCHES "(^|\n)${macro}\\(")
        list(APPEND labels ${label})
      endif()
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  endforeach()
  list(REMOVE_DUPLICATES labels)
  foreach(label IN LISTS labels)
    add_test(NAME ${name}.${label} COMMAND ${name}_tests --label=${label})
    set_tests_properties(${name}.${label} PROPERTIES LABELS ${label} TIMEOUT 1800)
  endforeach()
endfunction()
