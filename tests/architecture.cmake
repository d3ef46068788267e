# Dependencies run one way: core <- autograd <- layers <- optim <- examples, and so between the rooms of
# a floor. What stands in a folder extra/ is a library of its own, ladon_extra, which ladon does without:
# no file outside of such a folder includes one inside, but the umbrella header, where it is built. Only
# core/machine/parallel includes TBB, only core/linalg/openblas BLAS, only core/extra/io/gzip zlib, only
# core/extra/ranks MPI. The umbrella header is complete. Fails on an include against these arrows, on a
# file that belongs to no room, and draws what it found. (Sizes are tests/report's.)
cmake_minimum_required(VERSION 3.21)

# Rooms from the ground up: a room may include itself and those before it. A file belongs to the first
# whose pattern fits. (Headers that include whole floors are passed over.)
set(rooms
    "core|^core/((machine|linalg|kernels)/.*|[^/]*)$"
    "core/io|^core/io/"
    "core/extra|^core/extra/(kernels|ranks)/"
    "core/extra/io|^core/extra/io/"
    "core/extra/text|^core/extra/text/"
    "core/extra/data|^core/extra/data/"
    "autograd|^autograd/([^/]*|ops/.*)$"
    "autograd/extra|^autograd/extra/"
    "layers/parts|^layers/(owned|parameter_uses|attention/attention_form)\\."
    "layers/infinite/kernel|^layers/infinite/kernel/"
    "layers/infinite/dual|^layers/infinite/dual/"
    "layers/infinite/attention|^layers/infinite/attention/"
    "layers|^layers/((attention|transformer)/.*|[^/]*)$"
    "layers/infinite|^layers/infinite/[^/]*$"
    "layers/infinite/gram|^layers/infinite/gram/"
    "layers/infinite/finite|^layers/infinite/finite/"
    "layers/extra|^layers/extra/"
    "optim|^optim/[^/]*$"
    "optim/particles|^optim/particles/"
    "optim/samplers|^optim/samplers/"
    "optim/posterior|^optim/posterior/"
    "optim/extra|^optim/extra/"
    "examples|^examples/"
    "tests|^tests/")

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
list(REMOVE_ITEM all autograd/ops.h layers/layers.h optim/optim.h optim/ladon.h optim/extra/renamed.h
     autograd/interfaces.h layers/interfaces.h optim/interfaces.h)
list(LENGTH all count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} files were found below ${SOURCE}; this test looks at nothing")
endif()

set(arrows "")
set(folders "")
list(FILTER all EXCLUDE REGEX "^examples/quickstart/")  # a user's project, with users' includes

foreach(file IN LISTS all)
  room_of(${file} from)
  list(FIND order "${from}" floor)
  file(STRINGS ${SOURCE}/${file} hits REGEX "^[ \t]*#[ \t]*include[ \t]*\"ladon/")
  foreach(hit IN LISTS hits)
    string(REGEX REPLACE ".*\"ladon/([^\"]*)\".*" "\\1" target "${hit}")
    string(REGEX REPLACE "^ladon.h$" "optim/ladon.h" target ${target})  # as the build spells it for users
    room_of(${target} to)
    if(target MATCHES "/extra/" AND NOT file MATCHES "/extra/|^examples/")
      list(APPEND wrong "${file}: ${target} (ladon includes ladon_extra)")
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
list(FILTER others EXCLUDE REGEX "^core/extra/io/gzip\\.cpp$")
forbid("${others}" "zlib")
set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/extra/ranks/ranks(_cholesky)?\\.cpp$")
forbid("${others}" "mpi\\.h")

# optim/ladon.h brings every header but these, which are for the library itself.
set(inner core/cxx20.h core/mapped.h core/names.h core/unread.h core/view.h core/linalg/blas.h core/linalg/cholesky.h
    core/linalg/elimination.h core/linalg/lapack_operands.h core/linalg/openblas/one_thread.h
    core/linalg/portable/triangular.h core/linalg/routines.h
    core/linalg/tridiagonal.h core/machine/pages.h core/machine/warning.h core/extra/data/probabilities.h
    autograd/evaluation.h autograd/slopes.h autograd/ops/attention_values.h autograd/ops/scaled.h
    layers/linear_options.h layers/masked.h core/io/crc.h core/io/elements.h core/extra/io/json.h core/extra/io/parts.h
    core/extra/io/zip.h
    core/extra/io/npy_format.h core/io/tensors/safetensors_header.h core/io/tensors/safetensors_index.h
    core/extra/text/byte_alphabet.h core/extra/text/unicode.h core/io/utf8.h autograd/elementwise.h
    autograd/examples.h autograd/forms.h autograd/inner_graph.h autograd/leaf.h autograd/observer.h
    autograd/operands.h autograd/piecewise.h autograd/reads.h autograd/extra/windows/windows.h layers/extra/sequence/token_choice.h
    layers/transformer/transformer_block.h
    optim/extra/penalties/unit_vectors.h
    layers/infinite/dual/entries.h layers/infinite/dual/rule.h layers/infinite/gram/cost.h layers/infinite/gram/executor.h
    layers/infinite/gram/plan.h
    layers/extra/tiles/checkpoint.h layers/extra/tiles/exchange.h layers/extra/tiles/executor.h
    layers/infinite/gram/work.h layers/infinite/kernel/pass_scope.h layers/infinite/kernel/roots.h layers/extra/images/kernel_windows.h
    optim/parameters.h optim/particles/fair_alpha.h optim/particles/rows.h optim/posterior/search.h
    optim/samplers/counts.h)
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
  if(file MATCHES "\\.h$" AND NOT file MATCHES "^examples/|^core/(extra/)?kernels/|^layers/infinite/attention/"
     AND NOT file IN_LIST inner AND NOT file IN_LIST reached)
    list(APPEND wrong "optim/ladon.h brings no ${file}; include it there, or name it here")
  endif()
endforeach()

if(wrong)
  list(JOIN wrong "\n  " text)
  message(FATAL_ERROR "includes that run the wrong way:\n  ${text}")
endif()
message(STATUS "${count} files follow the arrows:")
foreach(room IN LISTS order)
  set(below ${arrows})
  list(FILTER below INCLUDE REGEX "^${room} ->")
  list(TRANSFORM below REPLACE ".* -> " "")
  list(JOIN below ", " below)
  message(STATUS "  ${room} -> ${below}")
endforeach()
