// Makes a fresh machine ready: the Node version, the system packages, the npm packages. Plain Node, no dependency.
// On Debian and Ubuntu as root what is missing is installed; elsewhere this says exactly what to install.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { found, kRoot, must, pythonWithNumpy, run, seconds } from "./process.mjs";

const kNode = [20, 19];

// Debian package -> what proves that it is there.
const kPackages = [
  ["cmake", () => found("cmake")],
  ["g++", () => found("g++")],
  ["clang", () => found("clang++")],
  ["ninja-build", () => found("ninja")],
  ["emscripten", () => found("emcc") && existsSync("/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake")],
  ["libeigen3-dev", () => existsSync("/usr/include/eigen3/Eigen/Core")],
  ["catch2", () => existsSync("/usr/include/catch2/catch.hpp")],
  ["libmpfr-dev", () => existsSync("/usr/include/mpfr.h")],
  ["liblzma-dev", () => existsSync("/usr/include/lzma.h")],
  ["xz-utils", () => found("xz")],
  ["python3-numpy", () => pythonWithNumpy() !== undefined],
  ["chromium", () => existsSync("/usr/bin/chromium")],
  // Ubuntu's own Firefox is a snap, which no driver starts as root; FIREFOX names another one.
  ["firefox-esr", () => existsSync(process.env.FIREFOX ?? "/usr/bin/firefox-esr")],
];

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < kNode[0] || (major === kNode[0] && minor < kNode[1])) {
    throw new Error(
      `posenc needs Node ${kNode.join(".")} or newer; this is Node ${process.versions.node} (${process.execPath}).`,
    );
  }
}

async function installPackages(needed) {
  const missing = kPackages.filter(([name, there]) => needed(name) && !there()).map(([name]) => name);
  if (missing.length === 0) return;
  const debian = found("apt-get");
  if (!debian || process.getuid?.() !== 0) {
    throw new Error(
      `Missing: ${missing.join(", ")}.\n` +
        (debian
          ? `Install them with\n  sudo apt-get install --no-install-recommends ${missing.join(" ")}\nand try again.`
          : "These are the names of Debian's packages (bookworm); install what corresponds to them and try again."),
    );
  }
  const start = performance.now();
  console.log(`set-up: installing ${missing.join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "-q", "--no-install-recommends", ...missing];
  await run("apt-get", ["update", "-q"], { env });
  let result = await run("apt-get", install, { env });
  // Another apt at work, or a list gone stale: once more, waiting for the lock.
  if (result.code !== 0) {
    await run("apt-get", ["update", "-q"], { env });
    result = await run("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...install], { env });
  }
  const still = kPackages.filter(([name, there]) => missing.includes(name) && !there()).map(([name]) => name);
  if (result.code !== 0 || still.length > 0) {
    throw new Error(
      `apt-get could not install ${still.join(", ") || missing.join(", ")}:\n${result.output.slice(-3000)}`,
    );
  }
  console.log(`set-up: system packages installed in ${seconds(start)}`);
}

// node_modules is fresh when it was made from this lock file.
async function installModules() {
  const stamp = join(kRoot, "node_modules", ".posenc-lock");
  const lock = createHash("sha256")
    .update(readFileSync(join(kRoot, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  const start = performance.now();
  await must("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { env: process.env });
  writeFileSync(stamp, lock);
  console.log(`set-up: npm packages installed in ${seconds(start)}`);
}

// `needed` says which system packages the caller can do without (the demo needs no MPFR, for one).
export async function setup({ needed = () => true } = {}) {
  checkNode();
  await installPackages(needed);
  await installModules();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setup();
    console.log("set-up: all there");
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
