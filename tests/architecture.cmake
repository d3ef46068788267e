# Dependencies run one way: core <- autograd <- layers <- optim <- examples, and so between the rooms of
# a floor. Only core/parallel includes TBB, only core/blas and core/lapack include BLAS, only core/io/gzip
# zlib, only core/ranks and core/ranks_cholesky MPI. The umbrella header is complete. Fails on an include
# against these arrows, on a file that belongs to no room, and draws what it found.
cmake_minimum_required(VERSION 3.21)

# Rooms from the ground up: a room may include itself and those before it. A file belongs to the first
# whose pattern fits. (optim/optim.h and optim/ladon.h, which include whole floors, are passed over.)
set(rooms
    "core|^core/(kernels/.*|[^/]*)$"
    "core/io|^core/io/"
    "core/data|^core/data/"
    "autograd|^autograd/"
    "layers/parts|^layers/(window|attention_form|owned|parameter_uses)\\."
    "layers/infinite/kernel|^layers/infinite/kernel/"
    "layers/infinite/dual|^layers/infinite/dual/"
    "layers/infinite/attention|^layers/infinite/attention/"
    "layers|^layers/[^/]*$"
    "layers/infinite|^layers/infinite/[^/]*$"
    "layers/infinite/gram|^layers/infinite/gram/"
    "layers/infinite/finite|^layers/infinite/finite/"
    "optim|^optim/[^/]*$"
    "optim/particles|^optim/particles/"
    "optim/samplers|^optim/samplers/"
    "optim/posterior|^optim/posterior/"
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
list(REMOVE_ITEM all optim/optim.h optim/ladon.h)
list(LENGTH all count)
if(count LESS 50)
  message(FATAL_ERROR "only ${count} files were found below ${SOURCE}; this test looks at nothing")
endif()

set(arrows "")
list(FILTER all EXCLUDE REGEX "^examples/quickstart/")  # a user's project, with users' includes

foreach(file IN LISTS all)
  room_of(${file} from)
  list(FIND order "${from}" floor)
  file(STRINGS ${SOURCE}/${file} hits REGEX "^[ \t]*#[ \t]*include[ \t]*\"ladon/")
  foreach(hit IN LISTS hits)
    string(REGEX REPLACE ".*\"ladon/([^\"]*)\".*" "\\1" target "${hit}")
    room_of(${target} to)
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
list(FILTER others EXCLUDE REGEX "^core/parallel\\.(h|cpp)$")
forbid("${others}" "(oneapi/)?tbb/")
list(FILTER others EXCLUDE REGEX "^core/(blas|lapack|lapack_eigen)\\.(h|cpp)$")
forbid("${others}" "(cblas|lapacke?|f77blas|openblas_config)")
set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/io/gzip\\.cpp$")
forbid("${others}" "zlib")
set(others ${all})
list(FILTER others EXCLUDE REGEX "^core/ranks(_cholesky)?\\.cpp$")
forbid("${others}" "mpi\\.h")

# optim/ladon.h brings every header but these, which are for the library itself.
set(inner "^core/kernels/|^core/data/byte_alphabet\\.h|^core/(blas|lapack_operands|mapped|names|tridiagonal|view)\\.h"
          "^core/io/(crc|elements|json|npy_format|parts|safetensors_header|safetensors_index|utf8|zip)\\.h"
          "^autograd/(elementwise|forms|leaf|operands|windows)\\.h|^layers/transformer_block\\.h|^layers/infinite/attention/"
          "^layers/infinite/(dual/entries|dual/rule|gram/checkpoint|gram/exchange|gram/plan|gram/work|kernel/roots|kernel/windows)\\.h|^optim/(parameters|particles/(fair_alpha|rows))\\.h|^optim/posterior/search\\.h")
list(JOIN inner "|" inner)
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
  if(file MATCHES "\\.h$" AND NOT file MATCHES "^examples/|${inner}" AND NOT file IN_LIST reached)
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
