# Writes FILE, a C++ source with the commit of the git tree SOURCE by `git describe`: the last tag and the
# number of commits since, or the commit alone, with "-dirty" if files differ from the commit. If FILE
# would not change, it is not written.
cmake_minimum_required(VERSION 3.21)
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --tags --always --dirty
                  OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(commit ${said})
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} @ONLY CONTENT "namespace ladon::example {
extern const char commit[128];
// In a section of its own and always as long: what tells programs by their bytes leaves it out.
[[gnu::section(\".ladon_commit\")]] const char commit[128] = \"@commit@\";
}  // namespace ladon::example
")
