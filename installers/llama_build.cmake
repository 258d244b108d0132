# What of llama.cpp is built, and how it is loaded: read by llama-cpp-python's CMakeLists.txt at its project()
# (CMAKE_PROJECT_llama_cpp_INCLUDE), before llama.cpp's own files are, in the copy of the source that pip builds in.

# Each variant for a kind of processor costs as much as an eighth of everything else. Kept are sse42 (any since 2008),
# haswell (AVX2), alderlake (AVX2 and VNNI), skylakex (AVX-512), cascadelake (AVX-512 and VNNI); a processor that has
# more takes the best of these.
set(left_out "x64|sandybridge|ivybridge|piledriver|cannonlake|icelake|cooperlake|zen4|sapphirerapids")
set(variants "${CMAKE_CURRENT_SOURCE_DIR}/vendor/llama.cpp/ggml/src/CMakeLists.txt")
file(READ "${variants}" text)
string(REGEX REPLACE "ggml_add_cpu_backend_variant\\((${left_out})[^)]*\\)" "" text "${text}")
file(WRITE "${variants}" "${text}")

# With AVX-512, dot products go 64 numbers at a time, and what is left over one by one: all of an attention head that
# is 32 wide, such as the starter's. 32 at a time, as with AVX2, the starter answers 1.7 times as fast, and models with
# heads of 64 as fast as before.
set(kernels "${CMAKE_CURRENT_SOURCE_DIR}/vendor/llama.cpp/ggml/src/ggml-cpu/simd-mappings.h")
file(READ "${kernels}" text)
string(REGEX REPLACE "#define GGML_F(32|16)_STEP 64\n" "#define GGML_F\\1_STEP 32\n" text "${text}")
file(WRITE "${kernels}" "${text}")

# What llama.cpp's own programs share: we have none of them.
set(whole "${CMAKE_CURRENT_SOURCE_DIR}/vendor/llama.cpp/CMakeLists.txt")
file(READ "${whole}" text)
string(REPLACE "if (LLAMA_BUILD_COMMON)" "if (FALSE)" text "${text}")
file(WRITE "${whole}" "${text}")

# The program that uses the library has to load variants, which llama-cpp-python does not do.
set(library "${CMAKE_CURRENT_SOURCE_DIR}/llama_cpp/llama_cpp.py")
file(READ "${library}" text)
if(NOT text MATCHES "llama_build.cmake")
    file(APPEND "${library}" [=[


# Added by installers/llama_build.cmake of SAPO Desktop: load the best of what computes on this processor.
_computing = ctypes.CDLL(str(_base_path / "ggml.dll")) if os.name == "nt" else _lib
if not _computing.ggml_backend_dev_count():
    _computing.ggml_backend_load_all_from_path(os.fsencode(_base_path))
]=])
endif()
