// Runs the programs in NumPy that stand beside figures, all of a file's tests in one Python.
import { spawnSync } from "node:child_process";
import { pythonWithNumpy } from "../tools/process.mjs";

// Prints, a line a program, its numbers as texts, which say what no number of JSON is.
const kRunner = `
import json, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
for program in json.load(sys.stdin):
    names = {}
    try:
        exec(program, names)
        arrays = [np.asarray(v) for v in names.values() if isinstance(v, (np.ndarray, list))]
        made = [[repr(float(x)) for x in v.ravel()] for v in arrays if v.dtype.kind in "fiub"]
    except Exception as error:
        made = repr(error)
    print(json.dumps(made))
print(np.__version__)
`;

/**
 * Of each program what its variables hold that are arrays or lists of numbers, flattened; or the error that it ends
 * with. Says what ran. Throws where there is no NumPy, which tools/setup.mjs installs or asks for.
 */
export function runInNumpy(programs) {
  const python = pythonWithNumpy();
  if (python === undefined) {
    throw new Error("No python3 here has NumPy: `node tools/setup.mjs` installs it, or says what to install.");
  }
  const ran = spawnSync(python, ["-c", kRunner], {
    input: JSON.stringify(programs),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  const lines = ran.stdout.trim().split("\n");
  const version = lines.pop();
  if (ran.status !== 0 || lines.length !== programs.length) throw new Error(`${python}: ${ran.stderr}`);
  console.log(`measured: ${programs.length} programs run in NumPy ${version} by ${python}`);
  const number = (text) => Number(text.replace("inf", "Infinity"));
  return lines.map((line) => {
    const made = JSON.parse(line);
    return typeof made === "string" ? made : made.map((list) => list.map(number));
  });
}
