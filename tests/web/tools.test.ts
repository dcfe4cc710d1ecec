// The scripts themselves: the server's answers, and the count of test cases, on which the last line of npm test stands.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error -- a script without types
import { countCases as untypedCount, readLog as untypedReadLog } from "../../tools/native.mjs";
// @ts-expect-error -- a script without types
import { serve as untypedServe, serveArguments as untypedArguments } from "../../tools/serve.mjs";

interface Served {
  address: string;
  close(): Promise<void>;
}
const serve = untypedServe as (folder: string, options?: object) => Promise<Served>;
const serveArguments = untypedArguments as (args: string[]) => { folder: string; port?: number };
const countCases = untypedCount as (output: string, ok: boolean) => { passed: number; failed: number };
const readLog = untypedReadLog as (text: string) => { name: string; passed: number; failed: number }[];

describe("the server", () => {
  let folder = "";
  let served: Served;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "posenc-serve-"));
    mkdirSync(join(folder, "public/deep"), { recursive: true });
    writeFileSync(join(folder, "secret.txt"), "secret");
    writeFileSync(join(folder, "public/index.html"), "<p>home");
    writeFileSync(join(folder, "public/deep/index.html"), "<p>deep");
    writeFileSync(join(folder, "public/a b.mjs"), "export {};");
    writeFileSync(join(folder, "public/x.wasm"), "\0asm");
    served = await serve(join(folder, "public"), { port: 0, headers: { "X-Test": "1" } });
  });
  afterAll(async () => {
    await served.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // Not fetch(): it tidies paths before they are sent.
  const ask = (path: string, method = "GET") =>
    new Promise<{ status: number; type: string; body: string; test: string }>((resolve, reject) => {
      const { hostname, port } = new URL(served.address);
      request({ hostname, port, path, method }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("end", () => {
          const { "content-type": type = "", "x-test": test = "" } = response.headers;
          resolve({ status: response.statusCode!, type, body, test: String(test) });
        });
      })
        .on("error", reject)
        .end();
    });

  it("answers with the right types and headers", async () => {
    expect(await ask("/")).toMatchObject({ status: 200, type: "text/html; charset=utf-8", body: "<p>home", test: "1" });
    expect(await ask("/deep/?query#part")).toMatchObject({ status: 200, body: "<p>deep" });
    expect(await ask("/a%20b.mjs")).toMatchObject({ status: 200, type: "text/javascript; charset=utf-8" });
    expect(await ask("/x.wasm")).toMatchObject({ status: 200, type: "application/wasm" });
    expect(await ask("/x.wasm", "HEAD")).toMatchObject({ status: 200, body: "" });
    expect((await ask("/deep")).status).toBe(301);
    expect((await ask("/none")).status).toBe(404);
    expect((await ask("/", "POST")).status).toBe(405);
  });

  it("never leaves its folder", async () => {
    for (const path of [
      "/../secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/deep/../../secret.txt",
      "/%00",
      "/%zz",
      "//etc/passwd",
    ]) {
      const { status, body } = await ask(path);
      expect([400, 403, 404], path).toContain(status);
      expect(body, path).not.toContain("secret");
    }
  });

  it("moves on where the port is taken", async () => {
    const port = Number(new URL(served.address).port);
    const second = await serve(folder, { port });
    expect(Number(new URL(second.address).port)).toBeGreaterThan(port);
    await second.close();
  });

  it("says what is wrong with its arguments", () => {
    expect(serveArguments(["--port", "9000"]).port).toBe(9000);
    expect(serveArguments(["--port=0", "."]).port).toBe(0);
    for (const port of ["x", "-1", "70000", "1.5"])
      expect(() => serveArguments(["--port", port])).toThrow(/--port takes/);
    expect(() => serveArguments(["--prot", "1"])).toThrow(/Unknown option --prot/);
  });
});

describe("the count of Catch2's cases", () => {
  it("reads its sums", () => {
    expect(countCases("All tests passed (123 assertions in 4 test cases)\n", true)).toEqual({ passed: 4, failed: 0 });
    expect(countCases("All tests passed (1 assertion in 1 test case)\n", true)).toEqual({ passed: 1, failed: 0 });
    expect(
      countCases("test cases:    3 |    2 passed | 1 failed\nassertions: 2234 | 2231 passed | 3 failed", false),
    ).toEqual({ passed: 2, failed: 1 });
    expect(countCases("test cases: 2 | 2 failed\n", false)).toEqual({ passed: 0, failed: 2 });
    expect(countCases("test cases: 5 | 3 passed | 1 failed | 1 failed as expected\n", false)).toEqual({
      passed: 4,
      failed: 1,
    });
  });

  it("counts a crash, a time-out and a run of nothing as failures", () => {
    expect(countCases("Segmentation fault\n", false)).toEqual({ passed: 0, failed: 1 });
    expect(countCases("", true)).toEqual({ passed: 0, failed: 1 });
    expect(countCases("All tests passed (9 assertions in 2 test cases)\nLeakSanitizer: leaks", false)).toEqual({
      passed: 2,
      failed: 1,
    });
  });

  it("splits ctest's log into its entries", () => {
    const entry = (name: string, output: string, verdict: string): string =>
      `1/2 Testing: ${name}\n1/2 Test: ${name}\nCommand: "x"\nOutput:\n-----\n${output}\n<end of output>\nTest time =   0.01 sec\n-----\nTest ${verdict}.\n"${name}" end time: now\n-----\n\n`;
    const log = `Start testing: now\n-----\n${entry("a/b", "All tests passed (2 assertions in 2 test cases)", "Passed")}${entry("c", "boom", "Failed")}End testing: now\n`;
    expect(readLog(log)).toMatchObject([
      { name: "a/b", passed: 2, failed: 0 },
      { name: "c", passed: 0, failed: 1 },
    ]);
  });
});
