// Keeps the pages for when there is no network. web/pages.mjs fills in the list and the version, a hash of all files:
// another build is another cache, and the old one goes when the new one is whole.
const version = "POSENC_SITE_VERSION";
const files = "POSENC_SITE_FILES";

addEventListener("install", (event) => {
  const fill = async () => {
    const cache = await caches.open(version);
    await cache.addAll(files.map((file) => new Request(file, { cache: "reload" })));
    await skipWaiting();
  };
  event.waitUntil(fill());
});

addEventListener("activate", (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("posenc-") && name !== version) await caches.delete(name);
    }
    await clients.claim();
  };
  event.waitUntil(tidy());
});

// The cache first: a build never changes under its name. Settings in the address (embed.html?fig=…) do not matter.
addEventListener("fetch", (event) => {
  const { request } = event;
  const own = new URL("./", location).href;
  if (request.method !== "GET" || !request.url.startsWith(own)) return;
  const answer = async () => {
    const cache = await caches.open(version);
    return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
  };
  event.respondWith(answer());
});
