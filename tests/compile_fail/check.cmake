# cmake -DCOMPILER=... -DSOURCE=... -DINCLUDES=... -P check.cmake

file(STRINGS "${SOURCE}" first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE} does not begin with `// expect: <regular expression>`")
endif()
set(expected "${CMAKE_MATCH_1}")

# Straight quotes and English, whatever the caller's language.
set(ENV{LC_ALL} C)
list(TRANSFORM INCLUDES PREPEND "-isystem")
set(compile "${COMPILER}" -std=c++20 -fsyntax-only ${INCLUDES} "${SOURCE}")

execute_process(COMMAND ${compile} -DHEADWISE_CONTROL RESULT_VARIABLE status ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "does not compile although the mistake is taken out:\n${text}")
endif()

execute_process(COMMAND ${compile} RESULT_VARIABLE status ERROR_VARIABLE text)
if(status EQUAL 0)
  message(FATAL_ERROR "compiles, but must not")
endif()
if(NOT text MATCHES "${expected}")
  message(FATAL_ERROR "fails without saying `${expected}`:\n${text}")
endif()
