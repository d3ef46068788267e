# Installation, and packages of it: libladon (the shared library, which programs need), libladon-dev (both
# libraries, headers, CMake's and pkg-config's files) and ladon-examples. `cmake --install` leaves the
# programs of the last out, of which few may be built.
#   cmake --preset packages && cmake --build --preset packages && (cd build/packages && cpack)
include(CMakePackageConfigHelpers)
set(LADON_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ladon)
configure_package_config_file(core/cmake/ladonConfig.cmake.in ladonConfig.cmake
                              INSTALL_DESTINATION ${LADON_CONFIG_DIR})
write_basic_package_version_file(ladonConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# A shared library has the static one beside it, of the same objects.
set(LADON_LIBRARIES ladon)
if(BUILD_SHARED_LIBS)
  add_library(ladon_static STATIC $<TARGET_OBJECTS:ladon> ${LADON_LOOP_OBJECTS})
  set_target_properties(ladon_static PROPERTIES OUTPUT_NAME ladon EXPORT_NAME static)
  foreach(property INTERFACE_INCLUDE_DIRECTORIES INTERFACE_COMPILE_FEATURES)
    get_target_property(value ladon ${property})
    set_target_properties(ladon_static PROPERTIES ${property} "${value}")
  endforeach()
  get_target_property(value ladon LINK_LIBRARIES)
  target_link_libraries(ladon_static PRIVATE ${value})
  list(APPEND LADON_LIBRARIES ladon_static)
  add_library(ladon::static ALIAS ladon_static)
endif()

# pkg-config's file: a program with the static library alone links what that needs, too.
set(needed "")
if(TARGET TBB::tbb)
  list(APPEND needed -ltbb -ltbbmalloc)
endif()
if(TARGET OpenBLAS::OpenBLAS)
  get_filename_component(folder ${OpenBLAS_LIBRARY} DIRECTORY)
  list(APPEND needed -L${folder} -lopenblas)
endif()
if(ZLIB_FOUND)
  list(APPEND needed -lz)
endif()
if(LADON_MPI)
  list(APPEND needed ${MPI_CXX_LIBRARIES} ${LADON_SCALAPACK})
endif()
list(JOIN needed " " LADON_PC_NEEDED)
if(BUILD_SHARED_LIBS)
  string(PREPEND LADON_PC_NEEDED "\nLibs.private: ")
else()
  string(PREPEND LADON_PC_NEEDED " ")
endif()
file(RELATIVE_PATH LADON_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" LADON_PC_UP ${LADON_PC_UP})
configure_file(core/cmake/ladon.pc.in ladon.pc @ONLY)

install(TARGETS ${LADON_LIBRARIES} EXPORT ladonTargets
        LIBRARY COMPONENT libladon NAMELINK_COMPONENT libladon-dev ARCHIVE COMPONENT libladon-dev)
install(EXPORT ladonTargets NAMESPACE ladon:: DESTINATION ${LADON_CONFIG_DIR} COMPONENT libladon-dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ladonConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/ladonConfigVersion.cmake
              core/cmake/FindOpenBLAS.cmake
        DESTINATION ${LADON_CONFIG_DIR} COMPONENT libladon-dev)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ladon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT libladon-dev)
# All that ladon.h reaches, and what operations and optimizers from outside are written with.
install(CODE "set(ROOTS optim/ladon.h autograd/forms.h autograd/leaf.h autograd/operands.h)
              set(SOURCE \"${CMAKE_CURRENT_SOURCE_DIR}\")
              set(DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/ladon\")"
        COMPONENT libladon-dev)
install(SCRIPT core/cmake/install_headers.cmake COMPONENT libladon-dev)
install(FILES optim/ladon.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ladon COMPONENT libladon-dev)

# The course, whose `check` works beside an installed Ladon as in a checkout; and the programs.
install(DIRECTORY examples/lessons DESTINATION ${CMAKE_INSTALL_DATADIR}/ladon USE_SOURCE_PERMISSIONS
        COMPONENT ladon-examples)
if(LADON_EXAMPLES)
  get_property(programs DIRECTORY examples PROPERTY BUILDSYSTEM_TARGETS)
  foreach(program IN LISTS programs)
    get_target_property(type ${program} TYPE)
    if(type STREQUAL EXECUTABLE)
      install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/ladon
              COMPONENT ladon-examples EXCLUDE_FROM_ALL)
    endif()
  endforeach()
  install(PROGRAMS examples/common/ladon-examples DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT ladon-examples EXCLUDE_FROM_ALL)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_COMPONENTS_ALL libladon libladon-dev ladon-examples)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Ladon authors")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# A package of a later Debian is the newer one.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release release REGEX "^VERSION_ID=")
  string(REGEX REPLACE "[^0-9.]" "" release "${release}")
  string(APPEND CPACK_DEBIAN_PACKAGE_RELEASE "+deb${release}")
endif()
set(CPACK_DEBIAN_LIBLADON_PACKAGE_NAME libladon${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBLADON_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBLADON-DEV_PACKAGE_NAME libladon-dev)
set(CPACK_DEBIAN_LIBLADON-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBLADON-DEV_PACKAGE_DEPENDS "libopenblas-dev, libtbb-dev, zlib1g-dev")
set(CPACK_DEBIAN_LADON-EXAMPLES_PACKAGE_NAME ladon-examples)
set(CPACK_DEBIAN_LADON-EXAMPLES_PACKAGE_RECOMMENDS "libladon-dev, cmake, g++, gnuplot-nox, ninja-build")
set(CPACK_COMPONENT_LIBLADON_DESCRIPTION "${PROJECT_DESCRIPTION}: shared library")
set(CPACK_COMPONENT_LIBLADON-DEV_DESCRIPTION "${PROJECT_DESCRIPTION}: headers and libraries")
set(CPACK_COMPONENT_LADON-EXAMPLES_DESCRIPTION "${PROJECT_DESCRIPTION}: studies and a course")
foreach(component libladon libladon-dev ladon-examples)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DEPENDS libladon)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
          RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
set(CPACK_COMPONENT_LIBLADON_DEPENDS "")
include(CPack)
