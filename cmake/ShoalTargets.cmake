# One folder, one library: shoal_library(shoal_x SOURCES ... HEADERS ... PUBLIC ... PRIVATE ...).
#
# The alias is shoal::x. Headers form a verified file set: the build target
# all_verify_interface_header_sets compiles each of them alone (the test checks.headers).
function(shoal_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;PUBLIC;PRIVATE")
  string(REGEX REPLACE "^shoal_" "" short ${name})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE shoal::build_flags ${arg_PRIVATE})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(shoal::${short} ALIAS ${name})
  if(arg_HEADERS)
    target_sources(${name} ${scope}
      FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} ${arg_PUBLIC})
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# shoal_program(name SOURCES ... LIBRARIES ...): a program in build/<preset>/bin, installed to bin.
# The test checks.package runs each one with --version from an unpacked tarball.
function(shoal_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE shoal::build_flags ${arg_LIBRARIES})
  install(TARGETS ${name} RUNTIME)
  set_property(GLOBAL APPEND PROPERTY SHOAL_PROGRAMS ${name})
endfunction()
