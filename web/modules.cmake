# The modules that ship, from the same sources: posenc_simd.wasm, posenc_exact.wasm and posenc_analysis.wasm (SIMD128;
# web/src/module.ts is all their glue), or one posenc_js.mjs (plain JavaScript, every part) when scalar. web/build.mjs
# minifies and bundles them.
# Tests of what ships are linked with the same objects, and throw.
target_compile_options(posenc_flags INTERFACE -DNDEBUG $<${callee}:-fno-exceptions> $<${callee}:-fno-rtti>
  $<${callee}:-fvisibility=hidden>)
if(NOT POSENC_SCALAR)
  # Pages hold the descriptors' prose in schemes.gen.ts already, which the build takes from the other module.
  target_compile_definitions(posenc_flags INTERFACE POSENC_BARE)
  # Optimised as a whole: what a scheme says for another module's calls is dropped where nothing calls it, though it
  # stands in the tables of virtual functions.
  set(whole_program -flto -fwhole-program-vtables -fvirtual-function-elimination)
  target_compile_options(posenc_flags INTERFACE ${whole_program})
  target_link_options(posenc_flags INTERFACE -flto)
endif()

# A module of the parts of cpp/bindings/calls.def that follow its name.
function(posenc_module module)
  set(sources ${posenc_binding_sources})
  list(FILTER sources EXCLUDE REGEX "/cpp/bindings/[^/]+/")
  foreach(part ${ARGN})
    set(own ${posenc_binding_sources})
    list(FILTER own INCLUDE REGEX "/cpp/bindings/${part}/")
    list(APPEND sources ${own})
  endforeach()
  add_executable(${module} ${sources})
  foreach(part ${ARGN})
    string(TOUPPER ${part} name)
    target_compile_definitions(${module} PRIVATE POSENC_PART_${name})
  endforeach()
  target_compile_options(${module} PRIVATE -Oz)
  target_compile_definitions(${module} PRIVATE POSENC_VERSION="${posenc_version}")
  target_link_libraries(${module} PRIVATE posenc)
  target_link_options(${module} PRIVATE --no-entry -O3 -fno-exceptions -fno-rtti
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=2097152 -sTOTAL_STACK=524288 -sMALLOC=emmalloc
    -sEXPORTED_FUNCTIONS=[_malloc,_free,stackSave,stackRestore])
  # Engines compile a function when it is first called: one that holds all that is called from one place takes the first
  # call of attention a millisecond more, and none of the later ones less.
  if(NOT POSENC_SCALAR)
    target_link_options(${module} PRIVATE -sBINARYEN_EXTRA_PASSES=--one-caller-inline-max-function-size=60)
  endif()
  if(POSENC_SCALAR)
    # No evaluated strings (policies forbid them), no file system.
    set_target_properties(${module} PROPERTIES SUFFIX .mjs)
    target_link_options(${module} PRIVATE -sWASM=0 --memory-init-file 0 -sMAXIMUM_MEMORY=2147483648
      -sENVIRONMENT=web,worker -sDYNAMIC_EXECUTION=0 -sFILESYSTEM=0 -sMODULARIZE=1 -sEXPORT_ES6=1
      -sWASM_ASYNC_COMPILATION=0 -sINCOMING_MODULE_JS_API=[print,printErr,onAbort])
  else()
    set_target_properties(${module} PROPERTIES SUFFIX .wasm)
    target_link_options(${module} PRIVATE -sSTANDALONE_WASM=1 -sMAXIMUM_MEMORY=4294967296)
  endif()
endfunction()

if(POSENC_SCALAR)
  posenc_module(posenc_js core exact analysis)
else()
  posenc_module(posenc_simd core)
  posenc_module(posenc_exact exact)
  posenc_module(posenc_analysis analysis)
  # What unpacks the others.
  add_executable(posenc_unpack ${CMAKE_CURRENT_SOURCE_DIR}/web/unpack.cpp)
  set_target_properties(posenc_unpack PROPERTIES SUFFIX .wasm)
  target_compile_options(posenc_unpack PRIVATE -Oz -mbulk-memory -fno-exceptions -fno-rtti)
  target_link_options(posenc_unpack PRIVATE --no-entry -Oz -sSTANDALONE_WASM=1 -sINITIAL_MEMORY=65536
    -sTOTAL_STACK=1024 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=268435456)
  # What nobody calls goes: pages hold this module as it is.
  add_custom_command(TARGET posenc_unpack POST_BUILD COMMAND wasm-metadce $<TARGET_FILE:posenc_unpack>
    -f ${CMAKE_CURRENT_SOURCE_DIR}/web/unpack.reach.json -o $<TARGET_FILE:posenc_unpack> --enable-bulk-memory
    > unpack.txt VERBATIM)
  # The kernels alone, for tests/bench: built when it asks.
  add_executable(posenc_kernels EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/tests/bench/kernels.cpp)
  set_target_properties(posenc_kernels PROPERTIES SUFFIX .wasm)
  target_link_libraries(posenc_kernels PRIVATE posenc)
  target_link_options(posenc_kernels PRIVATE --no-entry -O3 -fno-exceptions -fno-rtti -sSTANDALONE_WASM=1
    -sINITIAL_MEMORY=33554432 -sTOTAL_STACK=524288 -sMALLOC=emmalloc)
endif()
