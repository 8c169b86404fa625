# hone_library(<folder> [DEPS <target>...])
#
# Makes the target hone_<folder> of all sources in src/<folder>/, also in its subfolders; a header-only
# folder becomes an interface library. Includes are written from src/: #include "expr/scalar.h".
# src/cli/main.cpp is left out: it is the program, not the library.
function(hone_library folder)
  cmake_parse_arguments(arg "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp
       ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
  list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  if(sources)
    add_library(hone_${folder} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(hone_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(hone_${folder} ${scope} ${PROJECT_SOURCE_DIR}/src)
  if(sources MATCHES "\\.cpp(;|$)")
    hone_precompile(hone_${folder})
  endif()
  target_link_libraries(hone_${folder} ${scope} ${arg_DEPS})
endfunction()

# Parsing the standard library is half the time of compiling a file of hone: do it once.
function(hone_precompile target)
  if(target STREQUAL "hone_support")
    target_precompile_headers(${target} PRIVATE
        <algorithm> <array> <expected> <functional> <map> <memory> <optional> <set> <span> <string>
        <string_view> <unordered_map> <utility> <variant> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM hone_support)
  endif()
endfunction()

# hone_uses(<folder> <library>...): libraries and their headers for the sources of one folder alone.
function(hone_uses folder)
  if(TARGET hone_${folder})
    get_target_property(type hone_${folder} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      target_link_libraries(hone_${folder} PRIVATE ${ARGN})
    endif()
  endif()
endfunction()

# Makes a library of each folder that the layers file names and that exists, on top of all existing
# folders before it. Sets HONE_LIBRARIES to them, lowest first.
macro(hone_libraries_of_layers layers_file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers_file})
  file(STRINGS ${layers_file} layers REGEX "^[a-z]")
  hone_version_header()
  set(HONE_LIBRARIES "")
  foreach(folder IN LISTS layers)
    # The glob notices a folder that appears later, and runs CMake again.
    file(GLOB found CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/src/${folder})
    if(found)
      hone_library(${folder} DEPS ${HONE_LIBRARIES} hone_external)
      list(PREPEND HONE_LIBRARIES hone_${folder})
    endif()
  endforeach()
  hone_refuse_shadowed_headers()
endmacro()

# Libraries that every folder may use, and the generated header "support/version.h".
function(hone_version_header)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/version.h.in
                 ${PROJECT_BINARY_DIR}/generated/support/version.h @ONLY)
  add_library(hone_external INTERFACE)
  target_include_directories(hone_external INTERFACE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(hone_external INTERFACE fmt::fmt nlohmann_json::nlohmann_json
                                                SQLite::SQLite3 Threads::Threads)
endfunction()

# Our src/onnx/x.h is "onnx/x.h", and so would be a header of the onnx library of that name. The two
# sets of names must stay apart, because ours come first on the include path.
function(hone_refuse_shadowed_headers)
  file(GLOB_RECURSE ours RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/src/onnx/*.h)
  foreach(header IN LISTS ours)
    if(EXISTS ${onnx_dir}/include/${header})
      message(FATAL_ERROR "src/${header} hides <${header}> of the onnx library. Rename it.")
    endif()
  endforeach()
endfunction()

# Each src/ops/families/<stem>.cpp defines `void register_<stem>(OperatorTable&)`. families.inc has a
# line HONE_FAMILY(<stem>) for each, so that adding an operator file touches nothing else.
function(hone_operator_families)
  file(GLOB families CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/families/*.cpp)
  set(lines "")
  foreach(family IN LISTS families)
    get_filename_component(stem ${family} NAME_WE)
    string(APPEND lines "HONE_FAMILY(${stem})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated_ops/families.inc CONTENT "${lines}")
  add_library(hone_families_list INTERFACE)
  target_include_directories(hone_families_list INTERFACE ${PROJECT_BINARY_DIR}/generated_ops)
  hone_uses(ops hone_families_list)
endfunction()
