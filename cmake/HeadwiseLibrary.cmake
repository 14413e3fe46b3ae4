# The targets that others link:
#
#   headwise::headwise   the library; needs Eigen and nothing else
#   headwise::io         what headers in headwise/io need on top: nlohmann-json and utf8proc; opt-in
#   headwise::native     headwise::headwise compiled for the processor of this machine; opt-in
#   headwise::blas       headwise::headwise with the matrix products of a BLAS instead of its own; opt-in
#
# Where a target of a dependency already exists (a parent project that brings its own Eigen), it is used.

if(NOT TARGET Eigen3::Eigen)
  # No version here: no version string accepts both 3.4.0 and 5.x.
  find_package(Eigen3 CONFIG REQUIRED)
endif()
if(Eigen3_VERSION AND Eigen3_VERSION VERSION_LESS 3.4.0)
  message(FATAL_ERROR "Headwise needs Eigen 3.4.0 or newer; ${Eigen3_DIR} has ${Eigen3_VERSION}")
endif()

# The thread pool is optional at run time, but its header is public, and some systems keep threads in a library.
find_package(Threads REQUIRED)

add_library(headwise INTERFACE)
add_library(headwise::headwise ALIAS headwise)
target_compile_features(headwise INTERFACE cxx_std_20)
target_include_directories(headwise INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
target_link_libraries(headwise INTERFACE Eigen3::Eigen Threads::Threads)

# Never part of headwise::headwise: the flag changes the alignment of Eigen's allocations, so every file that
# exchanges Eigen matrices must have it or none.
add_library(headwise_native INTERFACE)
add_library(headwise::native ALIAS headwise_native)
set_target_properties(headwise_native PROPERTIES EXPORT_NAME native)
target_link_libraries(headwise_native INTERFACE headwise)
target_compile_options(
  headwise_native
  INTERFACE
    -march=native
    # With AVX-512 enabled GCC 12 reports variables inside its own intrinsics headers.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>)

if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3 CONFIG QUIET)
endif()
if(NOT TARGET utf8proc::utf8proc)
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
  find_package(utf8proc MODULE QUIET)
  list(POP_FRONT CMAKE_MODULE_PATH)
endif()
set(HEADWISE_HAS_IO OFF)
if(TARGET nlohmann_json::nlohmann_json AND TARGET utf8proc::utf8proc)
  set(HEADWISE_HAS_IO ON)
  add_library(headwise_io INTERFACE)
  add_library(headwise::io ALIAS headwise_io)
  set_target_properties(headwise_io PROPERTIES EXPORT_NAME io)
  target_link_libraries(headwise_io INTERFACE headwise nlohmann_json::nlohmann_json utf8proc::utf8proc)
else()
  message(STATUS "headwise::io is not available: it needs nlohmann-json 3 and utf8proc "
                 "(Debian: nlohmann-json3-dev, libutf8proc-dev)")
endif()

# The definition changes what inline code does, so all files of a program link headwise::blas or none does.
set(HEADWISE_HAS_BLAS OFF)
if(HEADWISE_BLAS)
  include("${CMAKE_CURRENT_LIST_DIR}/HeadwiseBlas.cmake")
  headwise_find_blas()
  if(TARGET BLAS::BLAS)
    set(HEADWISE_HAS_BLAS ON)
    add_library(headwise_blas INTERFACE)
    add_library(headwise::blas ALIAS headwise_blas)
    target_link_libraries(headwise_blas INTERFACE headwise BLAS::BLAS)
    target_compile_definitions(headwise_blas INTERFACE HEADWISE_WITH_BLAS)
  else()
    message(STATUS "headwise::blas is not available: no BLAS was found (Debian: libopenblas-dev)")
  endif()
endif()
