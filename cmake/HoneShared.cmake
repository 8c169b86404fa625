# libhone.so: everything in one library, of which only include/hone/hone.h is visible.
function(hone_shared_library)
  set(exports ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
  add_library(hone_shared SHARED $<TARGET_OBJECTS:hone_capi>)
  set_target_properties(hone_shared PROPERTIES
      OUTPUT_NAME hone LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${exports})
  target_include_directories(hone_shared INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(hone_shared PRIVATE hone_capi)
  # Ours are bound to ours, whatever else is in the process, and all of it when it is loaded.
  target_link_options(hone_shared PRIVATE
      LINKER:--version-script=${exports} LINKER:-Bsymbolic LINKER:--exclude-libs,ALL
      LINKER:--no-undefined LINKER:--gc-sections)
endfunction()
