# Installs the headers that the roots reach by their includes, SOURCE/<header> to
# DESTINATION/<header>: what users see, without what the library keeps to itself.
cmake_policy(SET CMP0057 NEW)  # IN_LIST
set(reached ${ROOTS})
set(queue ${ROOTS})
while(queue)
  list(POP_FRONT queue header)
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${SOURCE}/${header} DESTINATION ${DESTINATION}/${folder})
  file(STRINGS ${SOURCE}/${header} includes REGEX "^#include \"ladon/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"ladon/(.*)\"" "\\1" next "${line}")
    if(NOT next IN_LIST reached)
      list(APPEND reached ${next})
      list(APPEND queue ${next})
    endif()
  endforeach()
endwhile()
