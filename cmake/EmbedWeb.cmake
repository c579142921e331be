# SPDX-License-Identifier: BSD-2-Clause
# report/web/style.css, noscript.css, app.js and icon.svg as bytes in a C file, with the hashes that a
# content security policy names: report/render/html_assets.h.
#
# Included: hi_embed_web(target) makes the file when one of them changes.
# As a script: cmake -DOUTPUT=x.c -DWEB=report/web -P EmbedWeb.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(hi_embed_web target)
    set(web ${PROJECT_SOURCE_DIR}/report/web)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/web_assets.c)
    set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedWeb.cmake)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DWEB=${web} -P ${script}
      DEPENDS ${web}/style.css ${web}/noscript.css ${web}/app.js ${web}/icon.svg ${script}
      COMMENT "Embedding style and script" VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

# base64 of a SHA-256 in hexadecimal digits: three of them are two characters.
function(base64_of_hex hex out)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  string(APPEND hex "00")
  foreach(i RANGE 0 63 3)
    string(SUBSTRING ${hex} ${i} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING ${alphabet} ${high} 1 a)
    string(SUBSTRING ${alphabet} ${low} 1 b)
    string(APPEND text ${a}${b})
  endforeach()
  # 256 bits are 43 characters; what the two digits added is padding.
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# An asset with what stands around it in a file: well-formed XML, whatever is in it. The
# hash is that of all text of the element.
set(text_style_before "/*<![CDATA[*/\n")
set(text_style_after "/*]]>*/\n")
set(text_script_before "//<![CDATA[\n")
set(text_script_after "//]]>\n")
set(arrays "")
function(embed name file before after)
  file(READ ${WEB}/${file} hex HEX)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(HEX "${before}" before_hex)
  string(HEX "${after}" after_hex)
  string(LENGTH "${before}" offset)
  file(WRITE ${OUTPUT}.text "${before}")
  file(READ ${WEB}/${file} text)
  file(APPEND ${OUTPUT}.text "${text}")
  file(APPEND ${OUTPUT}.text "${after}")
  file(READ ${OUTPUT}.text written HEX)
  if(NOT written STREQUAL "${before_hex}${hex}${after_hex}")
    message(FATAL_ERROR "EmbedWeb: ${file} has bytes that CMake cannot copy")
  endif()
  if(text MATCHES "]]>" OR text MATCHES "</[sS]")
    if(NOT name STREQUAL "icon")
      message(FATAL_ERROR "EmbedWeb: ${file} would end its element: ]]> or </s")
    endif()
  endif()
  file(SHA256 ${OUTPUT}.text hash)
  file(REMOVE ${OUTPUT}.text)
  base64_of_hex(${hash} hash64)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${written}")
  string(REGEX REPLACE "(................................................................................)"
    "\\1\n" bytes "${bytes}")
  set(arrays "${arrays}static const unsigned char text_${name}[] = {\n${bytes}0x00};\n" PARENT_SCOPE)
  set(${name}_size ${size} PARENT_SCOPE)
  set(${name}_offset ${offset} PARENT_SCOPE)
  set(${name}_hash ${hash64} PARENT_SCOPE)
endfunction()
embed(style style.css "${text_style_before}" "${text_style_after}")
embed(noscript noscript.css "${text_style_before}" "${text_style_after}")
embed(script app.js "${text_script_before}" "${text_script_after}")
embed(icon icon.svg "" "")

file(WRITE ${OUTPUT} "/* Made by cmake/EmbedWeb.cmake. */
#include \"report/render/html_assets.h\"

${arrays}
const struct hi_html_asset hi_html_assets[] = {
	{\"style.css\", \"text/css; charset=utf-8\", text_style + ${style_offset}, ${style_size}},
	{\"app.js\", \"text/javascript; charset=utf-8\", text_script + ${script_offset}, ${script_size}},
	{\"icon.svg\", \"image/svg+xml\", text_icon, ${icon_size}},
	{0},
};
const struct hi_html_inline hi_html_inline = {
	.style = (const char *)text_style,
	.noscript = (const char *)text_noscript,
	.script = (const char *)text_script,
	.policy = \"default-src 'none'; script-src 'sha256-${script_hash}'; \"
		  \"style-src 'sha256-${style_hash}' 'sha256-${noscript_hash}'; object-src 'none'; \"
		  \"base-uri 'none'; form-action 'none'\",
};
")
