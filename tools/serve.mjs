// A small static server for the demo and the browser tests.
//   node tools/serve.mjs [folder = dist/site] [--port 8080] [--host 127.0.0.1]
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { kRoot } from "./process.mjs";

const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".txt": "text/plain; charset=utf-8",
  ".csv": "text/csv; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

// Serves a folder. `headers` are added to every answer (a policy, for one); `extra` maps paths to {type, body} answers.
// Resolves to {server, address, close}. Port 0 takes any; a taken port moves on to the next free one.
export function serve(folder, { port = 8080, host = "127.0.0.1", headers = {}, extra = {} } = {}) {
  const base = resolve(folder);
  const server = createServer((request, response) => {
    const answer = (status, fields, body = "") => {
      response.writeHead(status, {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        ...fields,
        ...headers,
      });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (request.method !== "GET" && request.method !== "HEAD") {
      return answer(405, { Allow: "GET, HEAD", "Content-Type": kTypes[".txt"] }, "Only GET and HEAD.\n");
    }
    let path;
    try {
      path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    } catch {
      return answer(400, { "Content-Type": kTypes[".txt"] }, "That is not an address.\n");
    }
    if (Object.hasOwn(extra, path)) {
      return answer(200, { "Content-Type": extra[path].type ?? kTypes[".html"] }, extra[path].body);
    }
    let file = normalize(join(base, path));
    if (file.includes("\0") || (file !== base && !file.startsWith(base + sep))) {
      return answer(403, { "Content-Type": kTypes[".txt"] }, "Outside the folder.\n");
    }
    if (existsSync(file) && statSync(file).isDirectory()) {
      if (!path.endsWith("/")) return answer(301, { Location: `${path}/` });
      file = join(file, "index.html");
    }
    if (!existsSync(file)) return answer(404, { "Content-Type": kTypes[".txt"] }, "Not found.\n");
    response.writeHead(200, {
      "Content-Type": kTypes[extname(file).toLowerCase()] ?? "application/octet-stream",
      "Content-Length": statSync(file).size,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    });
    if (request.method === "HEAD") return response.end();
    createReadStream(file)
      .on("error", () => response.destroy())
      .pipe(response);
  });

  return new Promise((done, fail) => {
    let tries = 0;
    server.on("error", (error) => {
      if (error.code === "EADDRINUSE" && port !== 0 && ++tries < 50) server.listen(port + tries, host);
      else fail(error);
    });
    server.on("listening", () => {
      const { port: bound } = server.address();
      const shown = host === "127.0.0.1" || host === "0.0.0.0" || host === "::" ? "localhost" : host;
      done({
        server,
        address: `http://${shown}:${bound}/`,
        close: () =>
          new Promise((closed) => {
            server.closeAllConnections();
            server.close(closed);
          }),
      });
    });
    server.listen(port, host);
  });
}

// --port N, --host H and the folder, with a sentence for what is wrong.
export function serveArguments(args) {
  const options = { folder: join(kRoot, "dist/site") };
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = args[i].split("=", 2);
    const value = () => inline ?? args[++i];
    if (name === "--port") {
      options.port = Number(value());
      if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65535) {
        throw new Error("--port takes a whole number from 0 to 65535.");
      }
    } else if (name === "--host") {
      options.host = value();
      if (!options.host) throw new Error("--host takes a name or an address.");
    } else if (name.startsWith("-")) {
      throw new Error(`Unknown option ${name}; there are --port and --host.`);
    } else {
      options.folder = resolve(name);
    }
  }
  return options;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { folder, ...options } = serveArguments(process.argv.slice(2));
    if (!existsSync(folder)) throw new Error(`There is no folder ${folder}. Build it first: npm run build`);
    const { address } = await serve(folder, options);
    console.log(`posenc is at ${address} (Ctrl-C stops it)`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
