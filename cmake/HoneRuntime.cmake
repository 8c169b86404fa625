# The runtime as LLVM bitcode, once for each architecture that code is generated for: what becomes a
# part of the libraries that `hone compile` writes. A header names the bytes:
#   inline constexpr unsigned char kRuntimeX64[] = {...};
function(hone_embed_runtime)
  set(folder ${PROJECT_BINARY_DIR}/generated_runtime)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/*.c)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/*.h)
  set(all "#define _GNU_SOURCE\n")
  foreach(source IN LISTS sources)
    string(APPEND all "#include \"${source}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/runtime.c CONTENT "${all}")
  find_program(HONE_CLANG clang-${CLANG_VERSION} REQUIRED)
  set(bitcode "")
  foreach(architecture x86_64 aarch64)
    set(target --target=${architecture}-linux-gnu)
    set(file ${folder}/runtime_x64.bc)
    if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL architecture)
      # Debian's headers of the other architecture's C library.
      list(APPEND target -isystem /usr/${architecture}-linux-gnu/include)
    endif()
    if(architecture STREQUAL "aarch64")
      set(file ${folder}/runtime_arm64.bc)
      list(APPEND target -mno-outline-atomics)  # they are functions of libgcc
    endif()
    add_custom_command(OUTPUT ${file}
        COMMAND ${HONE_CLANG} ${target} -std=c11 -O2 -fPIC -fvisibility=hidden -fno-ident
                -fno-stack-protector -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                -I${PROJECT_SOURCE_DIR}/src -emit-llvm -c ${folder}/runtime.c -o ${file}
        DEPENDS ${folder}/runtime.c ${sources} ${headers} VERBATIM)
    list(APPEND bitcode ${file})
  endforeach()
  add_custom_command(OUTPUT ${folder}/runtime_bitcode.h
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${folder}/runtime_bitcode.h "-DINPUTS=${bitcode}"
              -P ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake
      DEPENDS ${bitcode} ${PROJECT_SOURCE_DIR}/cmake/EmbedBytes.cmake VERBATIM)
  add_custom_target(hone_runtime_bitcode DEPENDS ${folder}/runtime_bitcode.h)
  add_library(hone_embedded_runtime INTERFACE)
  target_include_directories(hone_embedded_runtime INTERFACE ${folder})
  add_dependencies(hone_embedded_runtime hone_runtime_bitcode)
endfunction()
