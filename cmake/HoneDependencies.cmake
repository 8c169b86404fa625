# Libraries of others. Debian's packages are found where they are installed; the onnx library lies in
# the cache folder where tools/bootstrap built it, under a name made of its version and flags.
if(DEFINED ENV{HONE_CACHE})
  set(default_cache $ENV{HONE_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(default_cache $ENV{XDG_CACHE_HOME}/hone)
else()
  set(default_cache $ENV{HOME}/.cache/hone)
endif()
set(HONE_CACHE_DIR ${default_cache} CACHE PATH "Where tools/bootstrap keeps what it makes")

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/tools/versions.env)
file(STRINGS ${PROJECT_SOURCE_DIR}/tools/versions.env pins REGEX "^[A-Z0-9_]+=")
foreach(pin IN LISTS pins)
  string(REGEX MATCH "^([A-Z0-9_]+)=(.*)$" unused "${pin}")
  set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# tools/lib.sh computes the same name.
string(SHA256 onnx_key "${ONNX_VERSION} ${ONNX_CXX_FLAGS} ${ONNX_CMAKE_OPTIONS}")
string(SUBSTRING ${onnx_key} 0 12 onnx_key)
set(onnx_dir ${HONE_CACHE_DIR}/onnx-cpp-${ONNX_VERSION}-${onnx_key})
if(NOT EXISTS ${onnx_dir}/.complete)
  message(FATAL_ERROR "The onnx library is not in ${onnx_dir}. Run tools/bootstrap first.")
endif()

find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
# Set by force, or a build folder would keep the library of an earlier pin.
set(ONNX_DIR ${onnx_dir}/lib/cmake/ONNX CACHE PATH "" FORCE)
find_package(ONNX ${ONNX_VERSION} EXACT REQUIRED CONFIG)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)

# LLVM as its shared library, asked from llvm-config: its own CMake files want development packages
# of libraries that only its static form needs.
find_program(HONE_LLVM_CONFIG llvm-config-${CLANG_VERSION} REQUIRED)
foreach(fact includedir libdir)
  execute_process(COMMAND ${HONE_LLVM_CONFIG} --link-shared --${fact} OUTPUT_VARIABLE llvm_${fact}
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endforeach()
add_library(hone_llvm INTERFACE)
target_include_directories(hone_llvm SYSTEM INTERFACE ${llvm_includedir})
target_link_libraries(hone_llvm INTERFACE ${llvm_libdir}/libLLVM-${CLANG_VERSION}.so)
# Its linker, as a library; Debian has it as archives only.
find_package(ZLIB REQUIRED)
add_library(hone_lld INTERFACE)
target_link_libraries(hone_lld INTERFACE ${llvm_libdir}/liblldELF.a ${llvm_libdir}/liblldCommon.a
                                         hone_llvm ZLIB::ZLIB zstd)
if(HONE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(HONE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
