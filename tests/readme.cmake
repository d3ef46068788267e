# The program shown in the README is the one that the test `consumer` builds and runs.
file(READ ${README} readme)
file(READ ${PROGRAM} program)
string(FIND "${readme}" "${program}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not show ${PROGRAM} as it is")
endif()
