// A real Firefox, by WebDriver BiDi: Playwright drives only a Firefox of its own.
import { existsSync } from "node:fs";
import puppeteer from "puppeteer-core";

/** Starts Firefox; FIREFOX names another than Debian's. */
export function launchFirefox() {
  const executablePath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
  if (!existsSync(executablePath)) throw new Error(`There is no ${executablePath}: set FIREFOX to a Firefox.`);
  // Puppeteer lets pages on a disk read the files beside them, as Firefox does not for readers.
  const extraPrefsFirefox = { "security.fileuri.strict_origin_policy": true };
  return puppeteer.launch({
    browser: "firefox",
    executablePath,
    extraPrefsFirefox,
    headless: true,
    protocolTimeout: 110_000,
  });
}

/**
 * Opens an address; `faults` gathers what the console warns of and what nobody caught, `requests` every address asked
 * for, from the page's own on.
 */
export async function openFirefox(browser, address) {
  const page = await browser.newPage();
  const faults = [];
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  await page.setViewport({ width: 904, height: 900 });
  await page.goto(address, { waitUntil: "load" });
  return { page, faults, requests, close: () => page.close() };
}
