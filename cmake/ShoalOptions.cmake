# What may be switched when configuring, and the flags every target of ours is built with.
include(CheckLanguage)
include(GNUInstallDirs)

set(SHOAL_SANITIZE "" CACHE STRING "Sanitizers, as given to -fsanitize= (empty for none)")
set(SHOAL_CUDA AUTO CACHE STRING "Build the CUDA parts: AUTO (when the toolkit is there), ON, OFF")
set_property(CACHE SHOAL_CUDA PROPERTY STRINGS AUTO ON OFF)
option(SHOAL_FUZZ "Build libFuzzer programs (needs clang)" OFF)
option(SHOAL_COVERAGE "Count executed lines (gcov)" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(SHOAL_CCACHE ccache)
if(SHOAL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHOAL_CCACHE})
endif()

# shoal::build_flags is linked PRIVATE by every target: warnings are errors in our code only, never
# in a user's, and sanitizers reach all of ours.
add_library(shoal_build_flags INTERFACE)
add_library(shoal::build_flags ALIAS shoal_build_flags)
# nvcc knows none of them.
target_compile_options(shoal_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
  # Results must not depend on the compiler fusing a*b+c (docs/decisions/0004).
  -ffp-contract=off
  # What is shipped names no folder of the machine that built it (__FILE__ in checks). Elsewhere the
  # full path is of use, and lets a compiler cache serve several work trees.
  $<$<CONFIG:Release>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Errors with the compiler that every commit is built with; others see other things.
  target_compile_options(shoal_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  # g++ 12 reports these falsely from inside std::string and std::vector at -O2 and above; with
  # sanitizers, whose checks hide what it knew of a value, it also reports the second line.
  target_compile_options(shoal_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized>)
  if(SHOAL_SANITIZE)
    target_compile_options(shoal_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
      -Wno-stringop-overread -Wno-nonnull -Wno-free-nonheap-object -Wno-dangling-pointer
      -Wno-tsan>)
  endif()
endif()

# Sanitizers change the layout of standard containers, so they are directory-wide, not per target.
if(SHOAL_SANITIZE)
  add_compile_options(
    -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHOAL_SANITIZE})
endif()
if(SHOAL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "SHOAL_FUZZ needs clang: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(SHOAL_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

if(SHOAL_CUDA STREQUAL "AUTO")
  check_language(CUDA)
  set(SHOAL_WITH_CUDA ${CMAKE_CUDA_COMPILER})
  set(reason "no CUDA toolkit found")
else()
  set(SHOAL_WITH_CUDA ${SHOAL_CUDA})
  set(reason "CUDA is switched off")
endif()
if(SHOAL_WITH_CUDA)
  # Before the language is enabled, which would put its own default into the cache.
  set(CMAKE_CUDA_ARCHITECTURES "80;90;100" CACHE STRING "GPU architectures")
  enable_language(CUDA)
  # CMake 3.25 knows nvcc only up to C++17; nvcc 13 itself takes C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA_STANDARD 20)
  message(STATUS "Shoal: CUDA toolkit ${CMAKE_CUDA_COMPILER_VERSION} found; "
                 "the cuda device is not built yet, the CPU service is")
else()
  message(STATUS "Shoal: ${reason}; building the CPU service")
endif()
