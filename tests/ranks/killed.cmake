# Kills a rank in the middle of a Gram matrix (HOW: empty or _stored), and has another number of ranks
# finish it. MPIRUN is the command up to the number of ranks, PROGRAM `ranks`, FOLDER ours.
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${MPIRUN} 3 ${PROGRAM} die${HOW} ${FOLDER} RESULT_VARIABLE ended TIMEOUT 60)
if(ended STREQUAL 0 OR ended MATCHES timeout)
  message(FATAL_ERROR "mpirun must end, and say that a rank failed; it ended with: ${ended}")
endif()
foreach(count 2 4 1)
  file(REMOVE_RECURSE ${FOLDER}.${count})
  file(COPY ${FOLDER}/ DESTINATION ${FOLDER}.${count})
  execute_process(COMMAND ${MPIRUN} ${count} ${PROGRAM} resume${HOW} ${FOLDER}.${count} RESULT_VARIABLE ended
                  TIMEOUT 60)
  if(NOT ended STREQUAL 0)
    message(FATAL_ERROR "${count} ranks that go on ended with ${ended}")
  endif()
  file(REMOVE_RECURSE ${FOLDER}.${count})
endforeach()
file(REMOVE_RECURSE ${FOLDER})
