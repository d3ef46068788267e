# Installs Ladon from BUILD into a fresh prefix, then configures, builds and runs the consumer project.
set(prefix ${BUILD}/consumer/prefix)
file(REMOVE_RECURSE ${BUILD}/consumer)
foreach(step IN ITEMS
    "${CMAKE_COMMAND};--install;${BUILD};--prefix;${prefix}"
    "${CMAKE_COMMAND};-G;${GENERATOR};-S;${SOURCE};-B;${BUILD}/consumer/build;-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_PREFIX_PATH=${prefix};-DCMAKE_BUILD_TYPE=Release;-DCMAKE_CXX_FLAGS=${FLAGS}"
    "${CMAKE_COMMAND};--build;${BUILD}/consumer/build"
    "${BUILD}/consumer/build/consumer")
  execute_process(COMMAND ${step} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed with status ${status}: ${step}")
  endif()
endforeach()
