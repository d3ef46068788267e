# Runs golden_cases (PROGRAM) on an archive of cases (ARCHIVE), unpacked into FOLDER; says that it
# is skipped where there is none.
if(NOT EXISTS ${ARCHIVE})
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${ARCHIVE} is not there")
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} -E tar xzf ${ARCHIVE} WORKING_DIRECTORY ${FOLDER}
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${ARCHIVE} cannot be unpacked")
endif()
execute_process(COMMAND ${PROGRAM} ${FOLDER} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "golden_cases ended with status ${status}")
endif()
