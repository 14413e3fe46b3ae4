# As a folder of the consumer's own tree.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
build_and_run_consumer("${BINARY}/add_subdirectory" "-DHEADWISE=${HEADWISE}")
