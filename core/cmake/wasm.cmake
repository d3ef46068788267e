# Toolchain of the preset wasm: that of Emscripten, wherever it is installed.
find_program(LADON_EM_CONFIG em-config)
if(NOT LADON_EM_CONFIG)
  message(FATAL_ERROR "The preset wasm needs Emscripten, and em++ is not in PATH: on Debian `apt-get install emscripten`, "
                      "elsewhere emscripten.org")
endif()
execute_process(COMMAND ${LADON_EM_CONFIG} EMSCRIPTEN_ROOT OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
include(${root}/cmake/Modules/Platform/Emscripten.cmake)
