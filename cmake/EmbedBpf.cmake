# SPDX-License-Identifier: BSD-2-Clause
# bpf/NAME.bpf.c of a room, compiled by clang for the BPF machine and put into the
# room as bytes: hi_bpf_NAME_start[] up to hi_bpf_NAME_end[].
find_program(HI_BPF_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
if(NOT HI_BPF_CLANG)
  message(FATAL_ERROR "clang is needed for the BPF programs of probes/ (scripts/install-packages)")
endif()

function(hi_embed_bpf target name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/bpf/${name}.bpf.c)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(assembler ${CMAKE_CURRENT_BINARY_DIR}/${name}_bpf.S)
  # asm/types.h lives in the folder of the machine that we build on.
  add_custom_command(OUTPUT ${object}
    COMMAND ${HI_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror
      -I${PROJECT_SOURCE_DIR} -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -MD -MF ${object}.d -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${name}.bpf.c" VERBATIM)
  file(CONFIGURE OUTPUT ${assembler} CONTENT
"\t.section .rodata
\t.balign 16
\t.global hi_bpf_@name@_start, hi_bpf_@name@_end
\t.hidden hi_bpf_@name@_start, hi_bpf_@name@_end
hi_bpf_@name@_start:
\t.incbin \"@object@\"
hi_bpf_@name@_end:
\t.section .note.GNU-stack,\"\",@progbits
" @ONLY)
  target_sources(${target} PRIVATE ${assembler})
  set_source_files_properties(${assembler} TARGET_DIRECTORY ${target} PROPERTIES
    LANGUAGE ASM OBJECT_DEPENDS ${object})
endfunction()
