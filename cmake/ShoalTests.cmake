# How tests get into CTest: shoal_test, shoal_fuzz, shoal_check.

# Debian's modules for Python belong to Debian's interpreter, whatever else is first in PATH.
find_program(SHOAL_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

set(SHOAL_FUZZ_SECONDS 3 CACHE STRING "How long each fuzz target mutates its seeds under CTest")
set(SHOAL_FUZZ_SEED 1 CACHE STRING "Where the mutations begin; 0 is a new place on every run")

# Every test runs with these: a sanitizer's first finding ends it, and what the uninstrumented
# libraries do among themselves is left out (reasons in the files).
set(shoal_suppressions ${CMAKE_CURRENT_LIST_DIR}/sanitizers)
set(shoal_tsan_options ignore_noninstrumented_modules=1:halt_on_error=1:history_size=7)
set(shoal_test_environment
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
  "LSAN_OPTIONS=suppressions=${shoal_suppressions}/lsan.supp:print_suppressions=0"
  "TSAN_OPTIONS=suppressions=${shoal_suppressions}/tsan.supp:${shoal_tsan_options}"
  "UBSAN_OPTIONS=print_stacktrace=1")

# shoal_test_timeout(name seconds): a sanitizer makes everything slower, some of it a lot.
function(shoal_test_timeout name seconds)
  if(SHOAL_SANITIZE)
    math(EXPR seconds "4 * ${seconds}")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
endfunction()

# shoal_test_properties(name LABELS... ): what all kinds of tests have in common.
function(shoal_test_properties name)
  set_tests_properties(${name} PROPERTIES
    LABELS "${ARGN}" ENVIRONMENT "${shoal_test_environment}")
  shoal_test_timeout(${name} 300)
endfunction()

# shoal_test(name LABEL unit|conformance|simulation|integration SOURCES ... LIBRARIES ...
#            [ARGS ...] [PROCESSORS n] [TIMEOUT seconds]).
#
# One CTest entry a program, not a case: starting two thousand processes costs more than the tests.
# PROCESSORS is how many cores it keeps busy, so that `ctest -j` does not run timing-sensitive or
# many-threaded programs side by side. LABEL may be a list: "integration;nightly".
function(shoal_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROCESSORS;TIMEOUT" "LABEL;SOURCES;LIBRARIES;ARGS")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE
    shoal::build_flags ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  shoal_test_properties(${name} ${arg_LABEL})
  if(arg_PROCESSORS)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${arg_PROCESSORS})
  endif()
  if(arg_TIMEOUT)
    shoal_test_timeout(${name} ${arg_TIMEOUT})
  endif()
endfunction()

# shoal_test_on_sealed_devices(name): has the tests of `name` run once more, on workers whose memory
# the host cannot touch (tests/support/sealed_device.h).
function(shoal_test_on_sealed_devices name)
  get_test_property(${name} LABELS labels)
  add_test(NAME ${name}_sealed COMMAND ${name})
  shoal_test_properties(${name}_sealed ${labels})
  set_property(TEST ${name}_sealed APPEND PROPERTY ENVIRONMENT "SHOAL_TEST_DEVICE=sealed")
endfunction()

# What `cmake --build --preset fuzz` builds.
add_custom_target(fuzzers)

# shoal_fuzz(name SOURCES ... LIBRARIES ... CORPUS folder).
#
# SOURCES define LLVMFuzzerTestOneInput. With SHOAL_FUZZ (clang) this is a libFuzzer program;
# otherwise the same function is driven by tests/fuzz/driver.cc, which needs no clang, so that every
# preset, the sanitizers' too, runs every target for SHOAL_FUZZ_SECONDS. The corpus is not empty.
function(shoal_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LIBRARIES")
  get_filename_component(corpus ${arg_CORPUS} ABSOLUTE)
  add_executable(${name} ${arg_SOURCES})
  add_dependencies(fuzzers ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE shoal::build_flags ${arg_LIBRARIES})
  set(found ${PROJECT_BINARY_DIR}/fuzz/${name})
  file(MAKE_DIRECTORY ${found})
  if(SHOAL_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -max_total_time=${SHOAL_FUZZ_SECONDS}
      -seed=${SHOAL_FUZZ_SEED} -artifact_prefix=${found}/crash- -print_final_stats=1
      ${found} ${corpus})
  else()
    target_link_libraries(${name} PRIVATE shoal::fuzz_driver)
    add_test(NAME ${name} COMMAND ${name} --corpus=${corpus} --seconds=${SHOAL_FUZZ_SECONDS}
      --seed=${SHOAL_FUZZ_SEED} --found=${found})
  endif()
  shoal_test_properties(${name} unit fuzz)
endfunction()

# shoal_check(name COMMAND ... [PROCESSORS n] [LOCK name] [TIMEOUT seconds]): a rule of the house as
# a test: checks.<name>.
function(shoal_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROCESSORS;LOCK;TIMEOUT" "COMMAND")
  add_test(NAME checks.${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  shoal_test_properties(checks.${name} unit checks)
  set_property(TEST checks.${name} APPEND PROPERTY ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  if(arg_PROCESSORS)
    set_tests_properties(checks.${name} PROPERTIES PROCESSORS ${arg_PROCESSORS})
  endif()
  if(arg_LOCK)
    set_tests_properties(checks.${name} PROPERTIES RESOURCE_LOCK ${arg_LOCK})
  endif()
  if(arg_TIMEOUT)
    shoal_test_timeout(checks.${name} ${arg_TIMEOUT})
  endif()
endfunction()
