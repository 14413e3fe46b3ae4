# Through the installed CMake package.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
build_and_run_consumer("${BINARY}/find_package" "-DCMAKE_PREFIX_PATH=${PREFIX}")
