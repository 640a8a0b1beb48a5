# `cmake --install` and `cpack` give a tarball whose programs run from any folder: ours is linked in
# statically, Debian's libraries come from the system, and no path of the build is left inside.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VENDOR Shoal)
set(CPACK_PACKAGE_FILE_NAME
  shoal-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
install(FILES README.md TYPE DOC)
install(DIRECTORY proto/shoal DESTINATION ${CMAKE_INSTALL_DATADIR}/shoal/proto
        FILES_MATCHING PATTERN "*.proto")
include(CPack)
