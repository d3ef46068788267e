# Paths through the code, each in the order in which a student reads it, and what lies behind three
# of them down to the loops. Prints files and lines of each, of what they include, in turn, and of
# each study; fails where a file of a path is not there.
#   cmake -DSOURCE=. -P tests/paths.cmake
cmake_minimum_required(VERSION 3.21)
set(all "")

function(lines_of result)
  set(lines 0)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${SOURCE}/${file} text NEWLINE_CONSUME)
    string(REGEX MATCHALL "\n" ends "${text}")
    list(LENGTH ends count)
    math(EXPR lines "${lines} + ${count}")
  endforeach()
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

function(path name)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS ${SOURCE}/${file})
      message(FATAL_ERROR "the path '${name}' leads to ${file}, which is not there")
    endif()
  endforeach()
  lines_of(lines ${ARGN})
  list(LENGTH ARGN files)
  message(STATUS "${name}: ${files} files, ${lines} lines")
  list(APPEND all ${ARGN})
  set(all "${all}" PARENT_SCOPE)
endfunction()

path("one backward pass"
  autograd/graph.h autograd/record.h autograd/operands.h autograd/ops/softmax.h
  autograd/ops/softmax.cpp autograd/forms.h autograd/forms.cpp autograd/record.cpp autograd/leaf.h
  autograd/leaf.cpp autograd/hook.h autograd/graph.cpp)
path("one product, down to the vector loop"
  autograd/ops/matmul.h autograd/ops/matmul.cpp core/tensor.h core/kernels/products/matmul.h
  core/kernels/products/matmul.cpp core/linalg/blas.h core/kernels/products/packed_product.h
  core/kernels/products/packed_product.cpp core/kernels/loops.h core/kernels/loops/products/gemm.h
  core/kernels/loops/products/gemm.cpp)
path("attention"
  layers/attention/attention.h layers/attention/attention_mask.h layers/attention/attention_form.h
  layers/attention/attention_hook.h layers/attention/attention.cpp
  layers/attention/attention_mask.cpp layers/attention/attention_form.cpp autograd/ops/attention.h
  autograd/ops/attention.cpp)
path("attention's fused kernels"
  core/kernels/attention/attention.h core/kernels/attention/attention_tiles.h
  core/kernels/attention/attention.cpp core/kernels/attention/attention_backward.cpp
  core/kernels/loops/attention.h core/kernels/loops/attention.cpp)
path("SVGD over heads"
  optim/particles/particles.h optim/particles/method.h optim/particles/kernel.h
  optim/particles/bandwidth.h optim/particles/svgd.h optim/particles/svgd.cpp
  optim/particles/alpha.h optim/target.h optim/target.cpp optim/particles/bandwidth.cpp
  optim/particles/kernel.cpp optim/particles/particles.cpp optim/particles/method.cpp)
path("SVGD's loops"
  core/kernels/particles.h core/kernels/particles.cpp core/kernels/loops/particles.h
  core/kernels/loops/particles.cpp)
path("attention's limit"
  layers/infinite/kernel/kernel.h layers/infinite/kernel/law.h layers/infinite/kernel/graph.h
  layers/infinite/kernel/inputs.h layers/infinite/attention/limit.h
  layers/attention/attention_limit.cpp layers/infinite/attention/limit.cpp
  layers/infinite/attention/identity.cpp layers/infinite/attention/rectified.cpp
  layers/infinite/kernel/graph.cpp layers/infinite/kernel/evaluate.h
  layers/infinite/kernel/evaluate.cpp layers/infinite/limit.h layers/infinite/limit.cpp)
path("the limit of softmax by draws"
  layers/infinite/kernel/roots.h layers/infinite/kernel/roots.cpp
  layers/infinite/attention/logits.h layers/infinite/attention/logits.cpp
  layers/infinite/attention/draws.h layers/infinite/attention/draws.cpp
  layers/infinite/attention/softmax.cpp)
path("the exact posterior"
  optim/posterior/solver.h optim/posterior/gp.h optim/posterior/gp.cpp optim/posterior/solver.cpp
  optim/posterior/kernel_blocks.h optim/posterior/kernel_blocks.cpp)

list(REMOVE_DUPLICATES all)
list(LENGTH all files)
lines_of(lines ${all})
message(STATUS "all paths: ${files} files, ${lines} lines")

set(reached ${all})
set(queue ${all})
while(queue)
  list(POP_FRONT queue file)
  file(STRINGS ${SOURCE}/${file} includes REGEX "^#include \"ladon/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"ladon/(.*)\"" "\\1" next "${line}")
    if(NOT next IN_LIST reached)
      list(APPEND reached ${next})
      list(APPEND queue ${next})
    endif()
  endforeach()
endwhile()
path("the paths and the headers they include" ${reached})

file(GLOB studies RELATIVE ${SOURCE}/examples ${SOURCE}/examples/*/main.cpp)
foreach(main IN LISTS studies)
  get_filename_component(study ${main} DIRECTORY)
  file(GLOB sources RELATIVE ${SOURCE} ${SOURCE}/examples/${study}/*.cpp
       ${SOURCE}/examples/${study}/*.h)
  lines_of(lines ${sources})
  message(STATUS "examples/${study}: ${lines} lines of C++")
endforeach()
