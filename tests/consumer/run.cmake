# Installs Ladon from BUILD into a fresh prefix, then configures and builds the consumer project, and
# runs each of its programs.
set(prefix ${BUILD}/consumer/prefix)
file(REMOVE_RECURSE ${BUILD}/consumer)
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed with status ${status}: ${ARGV}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${BUILD}/consumer/build
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${BUILD}/consumer/build)
file(GLOB programs ${SOURCE}/*.cpp)
foreach(file IN LISTS programs)
  get_filename_component(name ${file} NAME_WE)
  run(${BUILD}/consumer/build/${name})
endforeach()
