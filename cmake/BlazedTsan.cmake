# The thread sanitizer and Debian's Abseil and gRPC: tests/tsan/ says why. The objects are made at configure time and linked
# first into every program that uses the library, so that their definitions are found before the library's.
function(_blazed_tsan_object SOURCE OUT)
  set(_object ${CMAKE_BINARY_DIR}/${SOURCE}_tsan.o)
  set(_source ${CMAKE_SOURCE_DIR}/tests/tsan/${SOURCE}.cc)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O1 -g1 -fPIC -fno-sanitize=all -c ${_source} -o ${_object}
    RESULT_VARIABLE _rc ERROR_VARIABLE _error)
  if(NOT _rc EQUAL 0)
    message(FATAL_ERROR "cannot compile ${_source}: ${_error}")
  endif()
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_source})
  set(${OUT} ${_object} PARENT_SCOPE)
endfunction()

_blazed_tsan_object(absl_mutex BLAZED_TSAN_ABSL)
_blazed_tsan_object(grpc_tags BLAZED_TSAN_GRPC)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${BLAZED_TSAN_ABSL}>)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${BLAZED_TSAN_GRPC}>)

# The sanitizer knows no stand-alone fences. Asio's are beside locks that it does know, so nothing is lost without them.
add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
