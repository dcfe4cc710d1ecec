# The modules that ship, from the same sources: posenc (wasm with SIMD128), or posenc_js (plain JavaScript) when scalar.
# web/build.mjs hands the glue its bytes, minifies it and bundles it.
target_compile_options(posenc_flags INTERFACE
  -fno-exceptions -fno-rtti -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0 -DNDEBUG)

if(POSENC_SCALAR)
  set(module posenc_js)
else()
  set(module posenc_simd)
endif()
add_executable(${module} ${posenc_binding_sources})
set_target_properties(${module} PROPERTIES SUFFIX ".mjs")
target_compile_options(${module} PRIVATE -Oz)
target_compile_definitions(${module} PRIVATE POSENC_VERSION="${posenc_version}")
target_link_libraries(${module} PRIVATE posenc)
# No evaluated strings (policies forbid them), no file system, no guess at where the bytes lie: the caller hands them
# in.
target_link_options(${module} PRIVATE --bind --no-entry -O3 -fno-exceptions -fno-rtti
  -sENVIRONMENT=web,worker -sDYNAMIC_EXECUTION=0 -sFILESYSTEM=0 -sMODULARIZE=1 -sEXPORT_ES6=1
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=2097152 -sTOTAL_STACK=524288 -sMALLOC=emmalloc
  -sWASM_ASYNC_COMPILATION=0 -sINCOMING_MODULE_JS_API=[instantiateWasm,wasmBinary,print,printErr,onAbort]
  -sEXPORTED_FUNCTIONS=[_malloc,_free] -sEXPORTED_RUNTIME_METHODS=[stackSave,stackRestore])
if(POSENC_SCALAR)
  target_link_options(${module} PRIVATE -sWASM=0 --memory-init-file 0 -sMAXIMUM_MEMORY=2147483648)
else()
  target_link_options(${module} PRIVATE -sMAXIMUM_MEMORY=4294967296)
endif()
