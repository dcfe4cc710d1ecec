// Keeps the pages for when there is no network. web/pages.mjs fills in the list and the version, a hash of all files,
// which the pages name in the addresses of their scripts and style sheets: whatever a page was built with, it gets that.
const version = "POSENC_SITE_VERSION";
const files = "POSENC_SITE_FILES";
// Milliseconds after which a page that is kept is shown instead of one that does not come.
const patience = 3000;

addEventListener("install", (event) => {
  const fill = async () => {
    const cache = await caches.open(version);
    const fresh = (file) => new Request(file, { cache: "reload" });
    await cache.addAll(files.map(fresh));
    // A host may have changed its files meanwhile. Then the next visit tries again.
    const page = await (await fetch(fresh("./"))).text();
    if (!page.includes(`?v=${version.replace("posenc-", "")}`)) {
      await caches.delete(version);
      throw new Error("The host holds another build than this one.");
    }
    await skipWaiting();
  };
  event.waitUntil(fill());
});

// The build before stays for the pages that it shows; those before it go.
addEventListener("activate", (event) => {
  const tidy = async () => {
    const others = (await caches.keys()).filter((name) => name.startsWith("posenc-") && name !== version);
    for (const name of others.slice(0, -1)) await caches.delete(name);
    await clients.claim();
  };
  event.waitUntil(tidy());
});

// Settings in the address (embed.html?fig=…) do not matter.
const kept = async (request) => (await caches.open(version)).match(request, { ignoreSearch: true });

// The host has the newest page, the cache one for when the host does not answer.
async function page(request) {
  const late = new Promise((resolve) => setTimeout(resolve, patience));
  const asked = fetch(request, { cache: "no-cache" }).catch(() => undefined);
  const answer = await Promise.race([asked, late]);
  if (answer && answer.status < 500) return answer;
  return (await kept(request)) ?? (await asked) ?? Response.error();
}

// What has a version in its address never changes.
async function part(request) {
  if (new URL(request.url).searchParams.has("v")) return (await caches.match(request)) ?? fetch(request);
  return fetch(request).catch(async (error) => {
    const answer = await kept(request);
    if (answer) return answer;
    throw error;
  });
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const own = new URL("./", location).href;
  if (request.method !== "GET" || !request.url.startsWith(own)) return;
  event.respondWith(request.mode === "navigate" ? page(request) : part(request));
});
