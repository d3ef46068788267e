# Runs golden_cases (PROGRAM) on an archive of cases (ARCHIVE), unpacked into FOLDER. Where there is
# none it says that it is skipped, and leaves the reason in FOLDER/skipped for skips.cmake.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
if(NOT EXISTS ${ARCHIVE})
  set(reason "there is no ${ARCHIVE}. Cases are made from ONNX's own tests (github.com/onnx/onnx, \
onnx/backend/test/data/node): a folder a case, as in tests/golden/cases. Another archive: \
cmake -DLADON_GOLDEN_CASES=FILE.tar.gz")
  file(WRITE ${FOLDER}/skipped ${reason})
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${reason}")
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E tar xzf ${ARCHIVE} WORKING_DIRECTORY ${FOLDER}
                RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${ARCHIVE} cannot be unpacked")
endif()
execute_process(COMMAND ${PROGRAM} ${FOLDER} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "golden_cases ended with status ${status}")
endif()
