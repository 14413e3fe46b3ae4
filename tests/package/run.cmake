# What the three roads share.

# Runs a command; stops with everything that it printed when it fails.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${text}")
  endif()
  set(run_output "${text}" PARENT_SCOPE)
endfunction()

# Runs a program of the consumer; it must end with `expected`.
function(run_program program expected)
  run("${program}")
  if(NOT run_output STREQUAL "${expected}\n")
    message(FATAL_ERROR "${program} printed `${run_output}`, expected `${expected}`")
  endif()
endfunction()

# Configures the consumer with the given arguments from scratch, builds it without optimisation, since the roads are
# what is tested here, and runs it.
function(build_and_run_consumer build)
  file(REMOVE_RECURSE "${build}")
  run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${build}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
      ${ARGN})
  run("${CMAKE_COMMAND}" --build "${build}")
  run_program("${build}/consumer" "consumer: right")
  run_program("${build}/native_consumer" "io consumer: right")
  run_program("${build}/io_consumer" "io consumer: right")
endfunction()
