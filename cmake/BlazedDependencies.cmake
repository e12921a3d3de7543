# Every third-party library, each from the distribution. Reasons: docs/dependencies.md.
# A room that is not built does not need its libraries, so each is looked up only when present rooms ask.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(grpcpp IMPORTED_TARGET grpc++)
pkg_check_modules(protobuf IMPORTED_TARGET protobuf)
pkg_check_modules(nghttp2 IMPORTED_TARGET libnghttp2)
find_library(NGHTTP2_ARCHIVE libnghttp2.a HINTS ${nghttp2_LIBRARY_DIRS} ${nghttp2_LIBDIR})
pkg_check_modules(sqlite3 IMPORTED_TARGET sqlite3)
pkg_check_modules(openblas IMPORTED_TARGET openblas)
pkg_check_modules(xxhash IMPORTED_TARGET libxxhash)
find_package(absl QUIET)
find_package(GTest QUIET)
find_package(benchmark QUIET)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
find_program(NANOPB_PLUGIN protoc-gen-nanopb)
