// The libraries themselves, for Node as they are and for browsers as one bundle.
import * as jax from "@jax-js/jax";
import * as wasm from "@tensorflow/tfjs-backend-wasm";
import * as core from "@tensorflow/tfjs-core";
import * as matrix from "ml-matrix";
import * as ort from "onnxruntime-web";

const unwrapped = (module) => (module.default?.version_core || module.default?.setWasmPaths ? module.default : module);

/** Ready to run on one thread. `assets`: where the .wasm files of TensorFlow.js and of ONNX Runtime are. */
export async function loadPeers({ tfAssets, ortAssets }) {
  const tf = unwrapped(core);
  const { setThreadsCount, setWasmPaths } = unwrapped(wasm);
  setWasmPaths(tfAssets);
  setThreadsCount(1);
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);
  await tf.setBackend("wasm");
  await tf.ready();
  ort.env.wasm.numThreads = 1;
  if (ortAssets !== undefined) ort.env.wasm.wasmPaths = ortAssets;
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  return { ort, tf, jax, Matrix: matrix.Matrix ?? matrix.default.Matrix };
}
