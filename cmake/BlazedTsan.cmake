# The thread sanitizer and Debian's Abseil: tests/tsan/absl_mutex.cc says why. The object is made at configure time and
# linked first into every program, so that its definitions are found before the library's.
set(_object ${CMAKE_BINARY_DIR}/absl_mutex_tsan.o)
execute_process(
  COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O1 -g1 -fPIC -fno-sanitize=all
          -c ${CMAKE_SOURCE_DIR}/tests/tsan/absl_mutex.cc -o ${_object}
  RESULT_VARIABLE _rc ERROR_VARIABLE _error)
if(NOT _rc EQUAL 0)
  message(FATAL_ERROR "cannot compile tests/tsan/absl_mutex.cc: ${_error}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tsan/absl_mutex.cc)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${_object}>)

# The sanitizer knows no stand-alone fences. Asio's are beside locks that it does know, so nothing is lost without them.
add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
