# SPDX-License-Identifier: Apache-2.0
# Scripts and style of the page, in the order of their paths, as arrays of C. What only helps to read the source is
# left out: indentation, and lines that are a comment.
#   cmake -D FOLDER=src/report/page -D NAME=report_page -D OUT=report_page.c -P assets.cmake
function(array name)
	set(all "")
	foreach(file ${ARGN})
		file(READ ${file} text)
		string(APPEND all "${text}")
	endforeach()
	string(REGEX REPLACE "\n[ \t]+" "\n" all "${all}")
	string(REGEX REPLACE "\n//[^\n]*" "" all "\n${all}")
	string(REGEX REPLACE "\n+" "\n" all "${all}")
	file(WRITE ${OUT}.part "${all}")
	file(READ ${OUT}.part hex HEX)
	file(REMOVE ${OUT}.part)
	string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
	file(APPEND ${OUT} "extern const unsigned char ${name}[];\nconst unsigned char ${name}[] = {\n${hex}\n};\n"
		"extern const unsigned long ${name}_size;\nconst unsigned long ${name}_size = sizeof(${name});\n")
endfunction()

file(GLOB_RECURSE scripts ${FOLDER}/*.js)
file(GLOB_RECURSE styles ${FOLDER}/*.css)
list(SORT scripts)
list(SORT styles)
file(WRITE ${OUT} "/* Made by src/page/assets.cmake. */\n")
array(${NAME}_script ${scripts})
if(styles)
	array(${NAME}_style ${styles})
endif()
