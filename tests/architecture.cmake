# Dependencies run one way: core <- autograd <- layers <- optim <- examples, and so between the rooms of
# a floor. The spine, which a student reads, includes the spine alone; what else there is stands in wings
# behind it. Only core/machine/parallel includes TBB, only core/linalg/openblas BLAS, only
# core/io/gzip zlib, only core/ranks MPI. The umbrella header is complete. Fails on an include against
# these arrows, on a file that belongs to no room, and draws what it found. (Sizes are tests/report's.)
cmake_minimum_required(VERSION 3.21)

# Rooms from the ground up: a room may include itself and those before it. A file belongs to the first
# whose pattern fits. (Headers that include whole floors are passed over.)
set(rooms
    "core|^core/((machine|linalg|ranks|kernels)/.*|[^/]*)$"
    "core/io|^core/io/"
    "core/text|^core/text/"
    "core/data|^core/data/"
    "autograd|^autograd/"
    "layers/parts|^layers/(owned|parameter_uses|attention/attention_form|images/window)\\."
    "layers/infinite/kernel|^layers/infinite/kernel/"
    "layers/infinite/dual|^layers/infinite/dual/"
    "layers/infinite/attention|^layers/infinite/attention/"
    "layers|^layers/((attention|transformer|images|sequence|state)/.*|[^/]*)$"
    "layers/infinite|^layers/infinite/[^/]*$"
    "layers/infinite/gram|^layers/infinite/gram/"
    "layers/infinite/finite|^layers/infinite/finite/"
    "optim|^optim/((optimizers|training)/.*|[^/]*)$"
    "optim/particles|^optim/particles/"
    "optim/samplers|^optim/samplers/"
    "optim/posterior|^optim/posterior/"
    "examples|^examples/"
    "tests|^tests/")

# The wings, by folder: everything else below core, autograd, layers and optim is the spine.
set(wings core/linalg/portable core/machine/portable core/io core/io/tensors core/text core/data
    core/ranks core/kernels/windows core/kernels/recurrent core/kernels/loops/recurrent
    autograd/transforms autograd/ops/windows autograd/ops/recurrent autograd/distributions
    layers/attention/variants layers/images layers/sequence layers/state layers/infinite/gram/tiles
    optim/optimizers optim/training optim/particles/penalties optim/samplers/diagnostics
    optim/samplers/variants optim/posterior/solvers optim/posterior/flow)

# Where a wing enters the spine: one include each.
set(doors
    "core/kernels/loops.h -> core/kernels/loops/recurrent/recurrent.h"  # the table of all loops
    "core/machine/machine.cpp -> core/ranks/ranks.h"  # memory is shared with the neighbours
    "autograd/record.cpp -> autograd/transforms/forward.h"  # a record gives y its tangent
    "autograd/number.cpp -> autograd/transforms/forward.h"  # a number would lose a tangent
    "autograd/graph.cpp -> autograd/transforms/vmap.h"  # a sweep sums over examples
    "layers/module.cpp -> core/io/tensors/safetensors.h"  # save and load
    "layers/parameter_set.cpp -> core/io/tensors/safetensors.h"
    "layers/load_state.cpp -> core/io/tensors/safetensors.h"
    "layers/attention/attention.h -> layers/attention/variants/attention_cache.h"  # forward(x, cache)
    "layers/infinite/kernel/windows.h -> layers/images/window.h"  # limits of convolution and pooling
    "layers/infinite/attention/draws_composed.cpp -> autograd/transforms/functional.h"  # checkpoint
    "layers/infinite/gram/gram.cpp -> core/ranks/ranks.h"  # a Gram matrix of many processes
    "layers/infinite/gram/plan.cpp -> core/ranks/ranks.h"
    "layers/infinite/gram/gram.cpp -> layers/infinite/gram/tiles/checkpoint.h"  # kept on disk
    "layers/infinite/gram/plan.cpp -> layers/infinite/gram/tiles/checkpoint.h"
    "layers/infinite/gram/gram.cpp -> layers/infinite/gram/tiles/exchange.h"
    "optim/particles/particles.cpp -> core/ranks/ranks.h"  # members of many processes
    "optim/posterior/predict.cpp -> optim/posterior/flow/gradient_flow.h"  # predict(.., time)
    "optim/posterior/regression.cpp -> autograd/transforms/functional.h"  # jvp
    "optim/posterior/regression.h -> layers/attention/variants/wide_heads.h")  # of latent attention
list(TRANSFORM rooms REPLACE "\\|.*" "" OUTPUT_VARIABLE order)
set(wrong "")

function(room_of file result)
  foreach(room IN LISTS rooms)
    string(FIND "${room}" "|" bar)
    math(EXPR after "${bar} + 1")
    string(SUBSTRING "${room}" ${after} -1 pattern)
    if(file MATCHES "${pattern}")
      string(SUBSTRING "${room}" 0 ${bar} name)
      set(${result} "${name}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${file} belongs to no room of tests/architecture.cmake")
endfunction()

set(all "")
foreach(floor core autograd layers optim examples)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${floor}/*.h ${SOURCE}/${floor}/*.cpp)
  list(APPEND all ${files})
endforeach()
list(REMOVE_ITEM all autograd/ops.h layers/layers.h optim/optim.h optim/ladon.h optim/renamed.h)
list(LENGTH all count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} files were found below ${SOURCE}; this test looks at nothing")
endif()

set(arrows "")
set(unused ${doors})
set(folders "")
list(FILTER all EXCLUDE REGEX "^examples/quickstart/")  # a user's project, with users' includes

function(is_wing file result)
  get_filename_component(folder ${file} DIRECTORY)
  set(${result} FALSE PARENT_SCOPE)
  if(folder IN_LIST wings OR NOT file MATCHES "^(core|autograd|layers|optim)/")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

foreach(file IN LISTS all)
  room_of(${file} from)
  list(FIND order "${from}" floor)
  is_wing(${file} wing)
  file(STRINGS ${SOURCE}/${file} hits REGEX "^[ \t]*#[ \t]*include[ \t]*\"ladon/")
  foreach(hit IN LISTS hits)
    string(REGEX REPLACE ".*\"ladon/([^\"]*)\".*" "\\1" target "${hit}")
    string(REGEX REPLACE "^ladon.h$" "optim/ladon.h" target ${target})  # as the build spells it for users
    room_of(${target} to)
    is_wing(${target} behind)
    if(behind AND NOT wing)
      if("${file} -> ${target}" IN_LIST doors)
        list(REMOVE_ITEM unused "${file} -> ${target}")
      else()
        list(APPEND wrong "${file}: ${target} (the spine includes a wing by no door)")
      endif()
    endif()
    if("${to}" STREQUAL "${from}")
      continue()
    endif()
    list(FIND order "${to}" below)
    if(below GREATER floor)
      list(APPEND wrong "${file}: ${target} (${from} -> ${to})")
    endif()
    list(APPEND arrows "${from} -> ${to}")
  endforeach()
endforeach()
list(REMOVE_DUPLICATES arrows)
foreach(door IN LISTS unused)
  list(APPEND wrong "${door}: is no door any more")
endforeach()

list(REMOVE_DUPLICATES wrong)

function(forbid files pattern)
  foreach(file IN LISTS files)
    file(STRINGS ${SOURCE}/${file} hits REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]${pattern}")
    foreach(hit IN LISTS hits)
      list(APPEND wrong "${file}: ${hit}")
    endforeach()
  endforeach()
  set(wrong ${wrong} PARENT_SCOPE)
endfunction()

set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/machine/parallel\\.(h|cpp)$")
forbid("${others}" "(oneapi/)?tbb/")
list(FILTER others EXCLUDE REGEX "^core/linalg/openblas/")
forbid("${others}" "(cblas|lapacke?|f77blas|openblas_config)")
set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/io/gzip\\.cpp$")
forbid("${others}" "zlib")
set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/ranks/ranks(_cholesky)?\\.cpp$")
forbid("${others}" "mpi\\.h")

# optim/ladon.h brings every header but these, which are for the library itself.
set(inner core/cxx20.h core/mapped.h core/names.h core/view.h core/linalg/blas.h core/linalg/lapack_operands.h
    core/linalg/openblas/one_thread.h core/linalg/portable/triangular.h core/linalg/routines.h
    core/linalg/tridiagonal.h core/machine/pages.h core/machine/warning.h core/data/probabilities.h
    autograd/evaluation.h autograd/slopes.h autograd/ops/attention_values.h
    layers/masked.h core/io/crc.h core/io/elements.h core/io/json.h core/io/parts.h
    core/io/zip.h
    core/io/tensors/npy_format.h core/io/tensors/safetensors_header.h core/io/tensors/safetensors_index.h
    core/text/byte_alphabet.h core/io/utf8.h autograd/elementwise.h autograd/forms.h autograd/inner_graph.h
    autograd/leaf.h autograd/operands.h autograd/reads.h autograd/ops/windows/windows.h layers/sequence/token_choice.h
    layers/transformer/transformer_block.h
    optim/particles/penalties/unit_vectors.h
    layers/infinite/dual/entries.h layers/infinite/dual/rule.h layers/infinite/gram/plan.h
    layers/infinite/gram/tiles/checkpoint.h layers/infinite/gram/tiles/exchange.h
    layers/infinite/gram/tiles/work.h layers/infinite/kernel/roots.h layers/infinite/kernel/windows.h
    optim/parameters.h optim/particles/fair_alpha.h optim/particles/rows.h optim/posterior/search.h)
set(reached "")
set(next optim/ladon.h)
while(next)
  list(POP_FRONT next file)
  list(APPEND reached ${file})
  file(STRINGS ${SOURCE}/${file} hits REGEX "^#include \"ladon/")
  foreach(hit IN LISTS hits)
    string(REGEX REPLACE ".*\"ladon/([^\"]*)\".*" "\\1" target "${hit}")
    if(NOT target IN_LIST reached AND NOT target IN_LIST next)
      list(APPEND next ${target})
    endif()
  endforeach()
endwhile()
foreach(file IN LISTS all)
  if(file MATCHES "\\.h$" AND NOT file MATCHES "^examples/|^core/kernels/|^layers/infinite/attention/"
     AND NOT file IN_LIST inner AND NOT file IN_LIST reached)
    list(APPEND wrong "optim/ladon.h brings no ${file}; include it there, or name it here")
  endif()
endforeach()

if(wrong)
  list(JOIN wrong "\n  " text)
  message(FATAL_ERROR "includes that run the wrong way:\n  ${text}")
endif()
list(LENGTH doors count_doors)
message(STATUS "the wings enter the spine by ${count_doors} doors")
message(STATUS "${count} files follow the arrows:")
foreach(room IN LISTS order)
  set(below ${arrows})
  list(FILTER below INCLUDE REGEX "^${room} ->")
  list(TRANSFORM below REPLACE ".* -> " "")
  list(JOIN below ", " below)
  message(STATUS "  ${room} -> ${below}")
endforeach()
