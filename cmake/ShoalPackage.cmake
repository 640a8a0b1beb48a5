# `cmake --install` and `cpack` give a tarball whose programs run from any folder.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VENDOR Shoal)
set(CPACK_PACKAGE_FILE_NAME shoal-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
install(FILES README.md DESTINATION share/doc/shoal)
install(DIRECTORY proto/shoal DESTINATION share/shoal/proto FILES_MATCHING PATTERN "*.proto")
include(CPack)
