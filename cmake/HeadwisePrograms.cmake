# What our own tests, benchmarks and examples share. Nothing here reaches a project that links the library.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(STATUS "No build type given: Release")
  set(CMAKE_BUILD_TYPE Release)
endif()

if(NOT HEADWISE_HAS_IO)
  message(FATAL_ERROR "Headwise's own tests, benchmarks and examples need headwise::io; see the message above")
endif()

option(HEADWISE_NATIVE "Compile Headwise's own programs for the processor of this machine" OFF)

set(HEADWISE_JOINED_TEST_OPTIONS "" CACHE STRING "Compile options of joined tests that run fast, after all others")
set(HEADWISE_BENCHMARK_OPTIONS "" CACHE STRING "Compile options of benchmarks, after all others: -O0 to see that they compile")
set(HEADWISE_EXAMPLE_OPTIONS "" CACHE STRING "Compile options of examples, after all others")

# Most of what a test or a benchmark costs to compile is the same in its neighbours.
option(HEADWISE_JOIN_FILES "Compile tests and benchmarks many files at a time: half of the time, but one test a folder" OFF)
set(headwise_joined_files 20)

set(CMAKE_CXX_EXTENSIONS OFF)

# Left to itself GCC spends a seventh of its time on reclaiming memory that the machine has.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-expand=100" "SHELL:--param ggc-min-heapsize=1000000")
endif()

# For our own targets only. Errors where we test; not where a stranger's newer compiler builds the report.
option(HEADWISE_WARNINGS_AS_ERRORS "Stop at warnings in Headwise's own programs" ON)
add_library(headwise_warnings INTERFACE)
target_compile_options(
  headwise_warnings
  INTERFACE $<$<BOOL:${HEADWISE_WARNINGS_AS_ERRORS}>:-Werror>
            -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wextra-semi
            -Wnull-dereference
            -Wdouble-promotion
            -Wcast-align
            -Wformat=2
            -Wundef
            # GCC 12 sees an overlap inside std::string's own operator+ (GCC bug 105651).
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
            # And members of std::optional and std::variant that are read only when they are set.
            $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized>)

# What each program of ours links.
add_library(headwise_program INTERFACE)
target_link_libraries(headwise_program INTERFACE headwise::headwise headwise::io headwise_warnings)
if(HEADWISE_NATIVE)
  target_link_libraries(headwise_program INTERFACE headwise::native)
endif()

# What programs with a command line link on top.
find_package(CLI11 CONFIG REQUIRED)
add_library(headwise_command_line INTERFACE)
target_link_libraries(headwise_command_line INTERFACE CLI11::CLI11)
# GCC 12 sees a null pointer in the std::string that CLI11's own code moves.
target_compile_options(headwise_command_line INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference>)
