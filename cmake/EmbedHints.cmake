# SPDX-License-Identifier: BSD-2-Clause
# hints/*.hints as bytes in a C file: hi_shipped_hints[] of decode/rules/rulebook.h.
#
# Included: hi_embed_hints(target) makes the file when one of them changes.
# As a script: cmake -DOUTPUT=x.c -DHINTS=a.hints|b.hints -P EmbedHints.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(hi_embed_hints target)
    file(GLOB hints CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hints/*.hints)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/shipped_hints.c)
    set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedHints.cmake)
    list(JOIN hints "|" joined)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DHINTS=${joined}" -P ${script}
      DEPENDS ${hints} ${script} COMMENT "Embedding hints" VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

string(REPLACE "|" ";" hints "${HINTS}")
list(SORT hints)
set(texts "")
set(table "")
foreach(path IN LISTS hints)
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER "text_${name}" symbol)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  # Lines of 16 bytes; a NUL at the end for those who read it as a string.
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  string(APPEND texts "static const unsigned char ${symbol}[] = {\n${bytes}0x00};\n")
  string(APPEND table
    "\t{\"${name}\", (const char *)${symbol}, sizeof(${symbol}) - 1},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/EmbedHints.cmake. */
#include \"decode/rules/rulebook.h\"

${texts}
const struct hi_shipped_hints hi_shipped_hints[] = {
${table}\t{0},
};
")
