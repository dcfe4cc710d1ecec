// Child processes of the scripts: run one to its end, quietly or not, and say which command failed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";

export const kRoot = dirname(dirname(fileURLToPath(import.meta.url)));

// What every compiler call sees: Emscripten runs on this Node and finds the JavaScript packages Debian gave it.
export function environment(extra = {}) {
  const debian = "/usr/share/nodejs";
  const paths = [process.env.NODE_PATH, existsSync(debian) ? debian : ""].filter(Boolean);
  return { ...process.env, EM_NODE_JS: process.execPath, NODE_PATH: paths.join(delimiter), ...extra };
}

// Runs a command and resolves to {code, output}. Output is kept, and shown as it comes when `show`.
export function run(command, args, { cwd = kRoot, env = environment(), show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        output += text;
        if (show) process.stdout.write(text);
      });
    }
    child.on("error", (error) => resolve({ code: 127, output: `${output}${error.message}\n` }));
    child.on("close", (code, signal) =>
      resolve({ code: code ?? 1, output: signal ? `${output}killed: ${signal}\n` : output }),
    );
  });
}

// As run(), but a failure throws with the last lines of the output.
export async function must(command, args, options) {
  const result = await run(command, args, options);
  if (result.code !== 0) {
    const tail = result.output
      .split("\n")
      .slice(-60)
      .map((line) => line.slice(0, 400))
      .join("\n");
    throw new Error(`${command} ${args.join(" ")} failed (${result.code})\n${tail}`);
  }
  return result.output;
}

// True where the shell would find the command.
export function found(command) {
  return spawnSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" }).status === 0;
}

// The first python3 that has NumPy: the path's, which may be another than the system's, or the system's.
export function pythonWithNumpy() {
  const has = (name) => spawnSync(name, ["-c", "import numpy"], { stdio: "ignore" }).status === 0;
  return ["python3", "/usr/bin/python3"].find(has);
}

export function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
