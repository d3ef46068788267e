# Run by ctest after its summary, which gives no reasons: why the golden cases were skipped in this
# run, from what run.cmake left in FOLDER.
if(EXISTS ${FOLDER}/skipped)
  file(READ ${FOLDER}/skipped reason)
  file(REMOVE ${FOLDER}/skipped)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "golden was skipped: ${reason}")
endif()
