# Every outside library, all from Debian packages (scripts/setup installs them).
find_package(Threads REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
# The package forgets its include folder in one of its configs; the header is in the default place.
find_library(SHOAL_RAPIDCHECK rapidcheck REQUIRED)
