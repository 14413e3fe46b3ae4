# With nothing but a compiler and pkg-config.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${PKGCONFIG}:$ENV{PKG_CONFIG_PATH}")
set(build "${BINARY}/pkg_config")
file(REMOVE_RECURSE "${build}")
file(MAKE_DIRECTORY "${build}")

run(pkg-config --cflags --libs headwise)
separate_arguments(flags UNIX_COMMAND "${run_output}")
run("${COMPILER}" -std=c++20 "${SOURCE}/main.cpp" -o "${build}/consumer" ${flags})
run_program("${build}/consumer" "consumer: right")

run(pkg-config --cflags --libs headwise-io)
separate_arguments(flags UNIX_COMMAND "${run_output}")
run("${COMPILER}" -std=c++20 "${SOURCE}/io.cpp" -o "${build}/io_consumer" ${flags})
run_program("${build}/io_consumer" "io consumer: right")
