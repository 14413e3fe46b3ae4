# Headers, the CMake package and the pkg-config files. Nothing is compiled, so all of it is independent of the
# architecture and may be moved as a whole.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(headwise_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/headwise")
set(headwise_pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
set(headwise_generated_dir "${PROJECT_BINARY_DIR}/package")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/headwise" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

target_include_directories(headwise INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
install(TARGETS headwise headwise_native EXPORT headwiseTargets)
install(EXPORT headwiseTargets NAMESPACE headwise:: DESTINATION "${headwise_package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/headwiseConfig.cmake.in"
                              "${headwise_generated_dir}/headwiseConfig.cmake"
                              INSTALL_DESTINATION "${headwise_package_dir}")
write_basic_package_version_file("${headwise_generated_dir}/headwiseConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${headwise_generated_dir}/headwiseConfig.cmake" "${headwise_generated_dir}/headwiseConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/Findutf8proc.cmake" "${CMAKE_CURRENT_LIST_DIR}/HeadwiseBlas.cmake"
        DESTINATION "${headwise_package_dir}")

# The way back from the .pc files to the prefix, so that an unpacked tree works wherever it lies.
file(RELATIVE_PATH headwise_pc_to_prefix "/prefix/${headwise_pkgconfig_dir}" "/prefix")
string(REGEX REPLACE "/$" "" headwise_pc_to_prefix "${headwise_pc_to_prefix}")
foreach(name IN ITEMS headwise headwise-io)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" "${headwise_generated_dir}/${name}.pc" @ONLY)
  install(FILES "${headwise_generated_dir}/${name}.pc" DESTINATION "${headwise_pkgconfig_dir}")
endforeach()
