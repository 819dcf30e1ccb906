# find_package(basketry) gives basketry::basketry (shared) and basketry::static.
get_filename_component(_basketry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET basketry::basketry)
  add_library(basketry::basketry SHARED IMPORTED)
  set_target_properties(basketry::basketry PROPERTIES
    IMPORTED_LOCATION "${_basketry_prefix}/lib/libbasketry.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_basketry_prefix}/include"
    INTERFACE_COMPILE_FEATURES "$<$<COMPILE_LANGUAGE:CXX>:cxx_std_17>")
  if(EXISTS "${_basketry_prefix}/lib/libbasketry.a")
    add_library(basketry::static STATIC IMPORTED)
    set_target_properties(basketry::static PROPERTIES
      IMPORTED_LOCATION "${_basketry_prefix}/lib/libbasketry.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_basketry_prefix}/include"
      INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl")
  endif()
endif()
set(basketry_FOUND TRUE)
unset(_basketry_prefix)
