# Finds OpenBLAS with its C interface and its LAPACK, in any of the flavours that distributions
# package (pthread, openmp, serial). Gives
#   OpenBLAS::OpenBLAS     the imported target
#   OpenBLAS_FOUND, OpenBLAS_INCLUDE_DIR, OpenBLAS_LIBRARY
# Set OpenBLAS_ROOT to prefer an installation.

set(_openblas_folders openblas openblas-pthread openblas-openmp openblas-serial)
if(CMAKE_LIBRARY_ARCHITECTURE)
  foreach(_flavour IN ITEMS openblas-pthread openblas-openmp openblas-serial openblas)
    list(APPEND _openblas_folders ${CMAKE_LIBRARY_ARCHITECTURE}/${_flavour})
  endforeach()
endif()

# openblas_config.h names the right folder: a bare cblas.h may belong to another BLAS.
find_path(OpenBLAS_INCLUDE_DIR NAMES openblas_config.h PATH_SUFFIXES ${_openblas_folders})
find_library(OpenBLAS_LIBRARY NAMES openblas PATH_SUFFIXES ${_openblas_folders})
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)

set(_openblas_hint "install it (Debian: libopenblas-dev) or set OpenBLAS_ROOT")
if(OpenBLAS_LIBRARY AND OpenBLAS_INCLUDE_DIR)
  include(CheckLibraryExists)
  set(_openblas_quiet ${CMAKE_REQUIRED_QUIET})
  set(CMAKE_REQUIRED_QUIET TRUE)
  check_library_exists(${OpenBLAS_LIBRARY} dpotrf_ "" OpenBLAS_HAS_LAPACK)
  set(CMAKE_REQUIRED_QUIET ${_openblas_quiet})
  if(NOT OpenBLAS_HAS_LAPACK)
    set(_openblas_hint "${OpenBLAS_LIBRARY} was built without LAPACK")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR OpenBLAS_HAS_LAPACK
  REASON_FAILURE_MESSAGE "${_openblas_hint}")

if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(
    OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OpenBLAS_LIBRARY}
                                  INTERFACE_INCLUDE_DIRECTORIES ${OpenBLAS_INCLUDE_DIR})
endif()
