// Opens a report of `taffeta compare` in a real browser and turns its shapes.
//
//   REPORT=/path/to/report.html npm run compare
//
// CHROMIUM names the browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const report = resolve(process.env.REPORT ?? "report.html");
const PATIENCE = 60_000;
const ARGUMENTS = [
  "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
];

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
});
after(() => browser?.close());

/** Opens the report, runs `use`, and then insists that it was quiet: no messages, errors or requests. */
async function withReport(use, prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  await prepare(context);
  const page = await context.newPage();
  const noise = [];
  const url = pathToFileURL(report).href;
  page.on("console", (m) => noise.push(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => noise.push(`error: ${e.message}`));
  page.on("request", (r) => {
    if (r.url() !== url && !/^(data|blob):/.test(r.url())) noise.push(`request: ${r.url()}`);
  });
  try {
    await page.goto(url, { timeout: PATIENCE });
    await use(page);
    assert.deepEqual(noise, [], "the page should be quiet");
  } finally {
    await context.close();
  }
}

/** Waits until every shape was drawn and refined. */
const settle = (page) => page.waitForFunction(() => {
  const { shapes } = window.taffeta;
  return !shapes.waiting && shapes.refine >= shapes.views.length;
}, null, { timeout: PATIENCE });

/** The pixels of every shape's canvas, from small copies of them. */
const pictures = (page) => page.evaluate(() => window.taffeta.shapes.views.map(({ canvas }) => {
  const small = Object.assign(document.createElement("canvas"), { width: 120, height: 90 });
  const pen = small.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0, small.width, small.height);
  const { data } = pen.getImageData(0, 0, small.width, small.height);
  return Array.from({ length: data.length / 4 }, (_, i) => [data[4 * i], data[4 * i + 1], data[4 * i + 2]]);
}));

const colored = (picture) => picture.filter(([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) > 40).length / picture.length;
const difference = (a, b) => a.filter((p, i) => Math.abs(p[0] - b[i][0]) + Math.abs(p[1] - b[i][1]) > 24).length / a.length;

test("every shape is drawn, and turning one turns all", async () => {
  await withReport(async (page) => {
    assert.equal(await page.evaluate(() => window.taffeta.ready), true);
    await settle(page);
    // Fewer pictures in a mean: this browser draws in software.
    await page.evaluate(() => { window.taffeta.shapes.samples = 2; window.taffeta.shapes.touch(); });
    await settle(page);
    const start = await pictures(page);
    assert.ok(start.length >= 2, "at least two methods are shown");
    for (const picture of start) {
      assert.ok(colored(picture) > 0.02 && colored(picture) < 0.9, `${colored(picture)} of the picture is cloth`);
    }
    const canvas = page.locator("canvas[data-shape]").first();
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 90, box.y + box.height / 2 + 20, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    const turned = await pictures(page);
    turned.forEach((picture, i) => {
      assert.ok(difference(start[i], picture) > 0.01, `shape ${i} changed in ${difference(start[i], picture)}`);
    });
    await page.locator("#shapes-reset").click();
    await settle(page);
    const back = await pictures(page);
    back.forEach((picture, i) => assert.ok(difference(start[i], picture) < 0.02, `shape ${i} is back`));
    await page.locator("#shapes-strain").click();
    await settle(page);
    assert.ok(difference(start[0], (await pictures(page))[0]) > 0.01, "strain has other colours");
  });
});

test("figures have axes, curves and names for them", async () => {
  await withReport(async (page) => {
    const figures = page.locator("svg[role=img]");
    assert.equal(await figures.count(), 2);
    for (let i = 0; i < 2; i++) {
      const box = await figures.nth(i).boundingBox();
      assert.ok(box.width > 600 && box.height > 200, JSON.stringify(box));
      // Nothing sticks out of the figure, and no text is empty or broken.
      const outside = await figures.nth(i).evaluate((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text, path, circle, polygon")]
          .filter((e) => {
            const b = e.getBoundingClientRect();
            return b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
          })
          .map((e) => e.outerHTML.slice(0, 120));
      });
      assert.deepEqual(outside, []);
      assert.ok(await figures.nth(i).locator("g.curve path").count() >= 2);
      const words = await figures.nth(i).locator("text").allTextContents();
      assert.ok(words.every((w) => w.trim() && !/NaN|undefined|inf/.test(w)), words.join("|"));
    }
    const text = await page.locator("body").innerText();
    for (const word of ["Figure 1", "Table 1", "Figure 2", "Figure 3"]) assert.ok(text.includes(word), word);
    await settle(page);
  });
});

test("without WebGL 2 the rest of the page is still there", async () => {
  await withReport(async (page) => {
    await page.locator("#shapes-message").waitFor({ state: "visible", timeout: PATIENCE });
    assert.match(await page.locator("#shapes-message").innerText(), /WebGL 2/);
    assert.ok(await page.locator("table").isVisible());
  }, (context) => context.addInitScript(() => {
    const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === "webgl2" ? null : real.call(this, kind, ...rest);
    };
  }));
});
