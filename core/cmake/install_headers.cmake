# Installs the headers that the roots reach by their includes, SOURCE/<header> to
# DESTINATION/<header>: what users see, without what the library keeps to itself. Those
# of the folders extra/ where EXTRA is true.
set(reached ${ROOTS})
set(queue ${ROOTS})
while(queue)
  list(POP_FRONT queue header)
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${SOURCE}/${header} DESTINATION ${DESTINATION}/${folder})
  file(STRINGS ${SOURCE}/${header} includes REGEX "^#include \"ladon/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"ladon/(.*)\"" "\\1" next "${line}")
    list(FIND reached ${next} place)  # (IN_LIST is a policy's, and CMake warns of a script that sets one)
    if(place EQUAL -1 AND (EXTRA OR NOT next MATCHES "/extra/"))
      list(APPEND reached ${next})
      list(APPEND queue ${next})
    endif()
  endforeach()
endwhile()
