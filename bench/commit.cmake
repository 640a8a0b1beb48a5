# Writes commit.cc anew when the commit, or the state of the tree, has changed: run at every build,
# so that results name what they were measured with.
find_program(git git)
set(commit unknown)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(commit ${described})
  endif()
endif()
set(text "#include \"bench/commit.h\"

namespace shoal::bench {

const char* Version() { return \"${VERSION}\"; }
const char* Commit() { return \"${commit}\"; }
const char* Build() { return \"${BUILD}\"; }

}  // namespace shoal::bench
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
