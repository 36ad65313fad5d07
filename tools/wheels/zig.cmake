# Build for ZIG_TARGET with the compiler of the PyPI package `ziglang`, whose binary is ZIG (both from the
# environment, since CMake reads this file again for each of its tests of the compiler).
set(zig $ENV{ZIG})
set(target $ENV{ZIG_TARGET})
if(NOT zig OR NOT target)
  message(FATAL_ERROR "ZIG must be the path of zig and ZIG_TARGET a target of it, such as "
    "aarch64-linux-musl; they are '${zig}' and '${target}'.")
endif()

string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${target})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_CXX_COMPILER ${zig} c++ -target ${target})
# The same bytes wherever this is built.
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
# nanobind's headers name stderr, which neither the headers of Python's stable ABI nor zig's C++ library
# declare. Python.h then sets again which version of POSIX it wants; zig has all of it anyway.
set(CMAKE_CXX_FLAGS_INIT "-g0 -ffile-prefix-map=${source}=. -include stdio.h -Wno-macro-redefined")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--build-id=none")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--build-id=none")
# `zig ar` is two words, and CMAKE_AR has room for one.
set(CMAKE_AR ${zig})
set(CMAKE_RANLIB ${zig})
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> ar qc <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> ar q <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_FINISH "<CMAKE_RANLIB> ranlib <TARGET>")
# CMake's tests of the compiler must not link: for each target zig would build another set of libraries.
set(CMAKE_CXX_COMPILER_ID_RUN TRUE)
set(CMAKE_CXX_COMPILER_ID Clang)
set(CMAKE_CXX_COMPILER_VERSION 20.0)
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_COMPILER_FRONTEND_VARIANT GNU)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Programs run here (Python among them); headers and libraries are the target's, which zig brings.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_HAVE_LIBC_PTHREAD TRUE)  # zig links all parts of the C library
set(CMAKE_SKIP_RPATH ON)
