// Opens a player page in a real browser and uses it the way a person does.
//
//   PAGE=/path/to/page.html npm test
//
// Several pages may be given, separated by the system's path separator. CHROMIUM names the browser.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { chromium } from "playwright-core";

const pages = (process.env.PAGE ?? "").split(delimiter).filter(Boolean).map((p) => resolve(p));
const SIZE = { width: 640, height: 420 };
const PATIENCE = 60_000;
const ARGUMENTS = [
  "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
];

test("PAGE names pages that exist", () => {
  assert.ok(pages.length > 0, "set PAGE to the file to test");
  for (const page of pages) assert.ok(existsSync(page), `${page} does not exist`);
});

// ---- Pictures

/** Decodes an 8-bit PNG without interlacing, as browsers make them. */
function decodePng(file) {
  let width, height, channels;
  const data = [];
  for (let at = 8; at < file.length;) {
    const size = file.readUInt32BE(at);
    const kind = file.toString("latin1", at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + size);
    if (kind === "IHDR") {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      assert.equal(body[8], 8);
      channels = { 2: 3, 6: 4 }[body[9]];
      assert.ok(channels && body[12] === 0);
    } else if (kind === "IDAT") {
      data.push(body);
    }
    at += size + 12;
  }
  const raw = inflateSync(Buffer.concat(data));
  const row = width * channels;
  const pixels = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; i++) {
      const left = i >= channels ? pixels[y * row + i - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * row + i] : 0;
      const corner = y > 0 && i >= channels ? pixels[(y - 1) * row + i - channels] : 0;
      const p = left + up - corner;
      const [dl, du, dc] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      const paeth = dl <= du && dl <= dc ? left : du <= dc ? up : corner;
      pixels[y * row + i] = raw[y * (row + 1) + 1 + i] + [0, left, up, (left + up) >> 1, paeth][filter];
    }
  }
  return { width, height, channels, pixels };
}

/** The picture of the scene alone, without the controls. */
async function picture(page) {
  const hide = "header, nav, footer, figure, dl, #card, #loading { visibility: hidden !important; }";
  return decodePng(await page.screenshot({ style: hide }));
}

/** The share of pixels that differ by more than noise. */
function difference(a, b) {
  assert.deepEqual([a.width, a.height, a.channels], [b.width, b.height, b.channels]);
  let differ = 0;
  for (let i = 0; i < a.pixels.length; i += a.channels) {
    let most = 0;
    for (let c = 0; c < 3; c++) most = Math.max(most, Math.abs(a.pixels[i + c] - b.pixels[i + c]));
    if (most > 20) differ++;
  }
  return differ / (a.width * a.height);
}

/** The share of pixels with a clear colour; the backdrop, the ground and the shadows are nearly grey. */
function coloured({ pixels, channels, width, height }) {
  let count = 0;
  for (let i = 0; i < pixels.length; i += channels) {
    const [r, g, b] = pixels.subarray(i, i + 3);
    if (Math.max(r, g, b) - Math.min(r, g, b) > 40) count++;
  }
  return count / (width * height);
}

// ---- Pages

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
});
after(() => browser?.close());

/** Opens a page, runs `use`, and then insists that it was quiet: no messages, errors or requests. */
async function withPage(file, hash, use, options = {}) {
  const context = await browser.newContext({ viewport: SIZE, ...options });
  const page = await context.newPage();
  const noise = [];
  page.on("console", (m) => noise.push(`console ${m.type()}: ${m.text()}`));
  page.on("pageerror", (e) => noise.push(`error: ${e.message}`));
  const url = pathToFileURL(file).href;
  page.on("request", (r) => {
    const own = r.url().split("#")[0] === url || /^(data|blob):/.test(r.url());
    if (!own) noise.push(`request: ${r.url()}`);
  });
  try {
    await page.goto(`${url}#${hash}`, { timeout: PATIENCE });
    assert.equal(await page.evaluate(() => window.taffeta.ready), true);
    await use(page, context);
    assert.deepEqual(noise, [], "the page should be quiet");
  } finally {
    await context.close();
  }
}

const state = (page) => page.evaluate(() => ({
  frame: taffeta.frame, frames: taffeta.frames, playing: taffeta.playing, drawn: taffeta.drawnFrames,
}));

/** Waits until the scene was drawn after everything done so far. */
async function settle(page) {
  const { drawn } = await state(page);
  const more = page.waitForFunction((n) => taffeta.drawnFrames >= n + 2, drawn, { timeout: 3000 });
  await more.catch(() => {});   // nothing left to draw
}

async function act(page, action) {
  await action();
  await settle(page);
  return picture(page);
}

for (const file of pages) {
  describe(file, { timeout: 10 * PATIENCE }, () => {
    test("plays by itself and moves the cloth", async () => {
      await withPage(file, "", async (page) => {
        const { frames, playing } = await state(page);
        assert.ok(frames > 1 && playing);
        const first = await page.evaluate(() => ({ frame: taffeta.frame, at: Array.from(taffeta.positions()) }));
        assert.ok(first.at.length > 0 && first.at.every(Number.isFinite));
        await page.waitForFunction((f) => taffeta.frame !== f, first.frame, { timeout: PATIENCE });
        const moved = await page.evaluate((old) => {
          const now = taffeta.positions();
          return Math.max(...old.map((x, i) => Math.abs(x - now[i])));
        }, first.at);
        assert.ok(moved > 1e-5, `the cloth moved by ${moved} m`);

        await page.locator("#play").click();
        const stopped = await state(page);
        assert.equal(stopped.playing, false);
        await page.waitForTimeout(300);
        assert.equal((await state(page)).frame, stopped.frame);
        await page.keyboard.press("Space");
        assert.equal((await state(page)).playing, true);
        await page.waitForFunction((f) => taffeta.frame !== f, stopped.frame, { timeout: PATIENCE });
        assert.ok((await state(page)).drawn > stopped.drawn);
      });
    });

    test("scrubbing and stepping change the frame and the picture", async () => {
      await withPage(file, "frame=0&play=0", async (page) => {
        assert.deepEqual((({ frame, playing }) => ({ frame, playing }))(await state(page)), { frame: 0, playing: false });
        const last = (await state(page)).frames - 1;
        await settle(page);
        const start = await picture(page);
        assert.ok(coloured(start) > 0.01, `only ${coloured(start)} of the picture is cloth`);
        assert.ok(coloured(start) < 0.9);

        // With the mouse, on the slider itself.
        const box = await page.locator("#scrub").boundingBox();
        const scrubbed = await act(page, () => page.mouse.click(box.x + box.width * 0.6, box.y + box.height / 2));
        const { frame } = await state(page);
        assert.ok(Math.abs(frame / last - 0.6) < 0.1, `frame ${frame} of ${last}`);
        assert.ok(difference(start, scrubbed) > 0.01, "scrubbing should change the picture");

        // With the keyboard; the slider has the focus now.
        await page.keyboard.press("ArrowRight");
        assert.equal((await state(page)).frame, Math.min(frame + 1, last));
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("ArrowLeft");
        assert.equal((await state(page)).frame, frame - 1);
        await page.keyboard.press("End");
        assert.equal((await state(page)).frame, last);
        const back = await act(page, () => page.keyboard.press("Home"));
        assert.equal((await state(page)).frame, 0);
        assert.equal(await page.locator("#scrub").inputValue(), "0");
        assert.ok(difference(start, back) < 0.01, "the first frame should look as before");
      });
    });

    test("strain, wireframe, shadows and floor change the picture", async () => {
      await withPage(file, "frame=30&play=0", async (page) => {
        await settle(page);
        let last = await picture(page);
        for (const [name, key, share] of [["strain", "s", 0.01], ["wire", "w", 0.002], ["shadows", "d", 0.002], ["floor", "f", 0]]) {
          const button = page.locator(`#${name}`);
          const pressed = await button.getAttribute("aria-pressed");
          const now = await act(page, () => button.click());
          assert.notEqual(await button.getAttribute("aria-pressed"), pressed);
          if (share) assert.ok(difference(last, now) > share, `${name} changed ${difference(last, now)} of the picture`);
          if (name === "strain") {
            assert.ok(await page.locator("#legend").isVisible());
            assert.match(await page.locator("#ticks").innerText(), /%/);
          }
          const undone = await act(page, () => page.keyboard.press(key));
          assert.equal(await button.getAttribute("aria-pressed"), pressed);
          assert.ok(difference(last, undone) < 0.01, `${name} should go off again`);
          last = undone;
        }
      });
    });

    test("the address can ask for a picture", async () => {
      await withPage(file, "frame=7&play=0&strain=1&wire=1&ui=0", async (page) => {
        const { frame, playing } = await state(page);
        assert.deepEqual({ frame, playing }, { frame: 7, playing: false });
        assert.equal(await page.locator("#strain").getAttribute("aria-pressed"), "true");
        assert.equal(await page.locator("#wire").getAttribute("aria-pressed"), "true");
        assert.equal(await page.locator("footer").isVisible(), false);
      });
    });

    test("the mouse orbits, pans and zooms", async () => {
      await withPage(file, "frame=30&play=0", async (page) => {
        await settle(page);
        const start = await picture(page);
        const drag = async (button, dx, dy) => {
          await page.mouse.move(320, 200);
          await page.mouse.down({ button });
          await page.mouse.move(320 + dx, 200 + dy, { steps: 4 });
          await page.mouse.up({ button });
          await page.waitForTimeout(500);
        };
        const orbited = await act(page, () => drag("left", 120, 30));
        assert.ok(difference(start, orbited) > 0.01, "orbit");
        const panned = await act(page, () => drag("right", 60, -20));
        assert.ok(difference(orbited, panned) > 0.01, "pan");
        const zoomed = await act(page, async () => {
          await page.mouse.wheel(0, -400);
          await page.waitForTimeout(500);
        });
        assert.ok(coloured(zoomed) > coloured(panned) * 1.2, "zooming in should enlarge the cloth");
        const reset = await act(page, async () => {
          await page.keyboard.press("r");
          await page.waitForTimeout(800);
        });
        assert.ok(difference(start, reset) < 0.02, "R should bring the first view back");
      });
    });

    test("one finger orbits, two fingers zoom", async () => {
      const phone = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };
      await withPage(file, "frame=30&play=0", async (page, context) => {
        await settle(page);
        const start = await picture(page);
        const client = await context.newCDPSession(page);
        const touch = (type, points) => client.send("Input.dispatchTouchEvent", {
          type, touchPoints: points.map(([x, y], id) => ({ x, y, id })),
        });
        const orbited = await act(page, async () => {
          await touch("touchStart", [[150, 300]]);
          for (let k = 1; k <= 5; k++) await touch("touchMove", [[150 + 20 * k, 300 + 4 * k]]);
          await touch("touchEnd", []);
          await page.waitForTimeout(500);
        });
        assert.ok(difference(start, orbited) > 0.01, "orbit");
        const zoomed = await act(page, async () => {
          await touch("touchStart", [[170, 300], [220, 300]]);
          for (let k = 1; k <= 5; k++) await touch("touchMove", [[170 - 8 * k, 300], [220 + 8 * k, 300]]);
          await touch("touchEnd", []);
          await page.waitForTimeout(500);
        });
        assert.ok(coloured(zoomed) > coloured(orbited) * 1.2, "pinching out should enlarge the cloth");
      }, phone);
    });

    test("saves a picture", async () => {
      await withPage(file, "frame=5&play=0&strain=1", async (page) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save").click()]);
        assert.match(download.suggestedFilename(), /-0005\.png$/);
        const chunks = [];
        for await (const chunk of await download.createReadStream()) chunks.push(chunk);
        const saved = decodePng(Buffer.concat(chunks));
        assert.deepEqual([saved.width, saved.height], [SIZE.width, SIZE.height]);
        const low = saved.pixels.reduce((a, b) => Math.min(a, b)), high = saved.pixels.reduce((a, b) => Math.max(a, b));
        assert.ok(high - low > 60, "the picture should not be blank");
      });
    });

    test("follows the size of the window", async () => {
      await withPage(file, "frame=5&play=0", async (page) => {
        await page.setViewportSize({ width: 400, height: 600 });
        await page.waitForFunction(() => document.getElementById("view").width === 400, null, { timeout: PATIENCE });
        const shot = await act(page, () => {});
        assert.deepEqual([shot.width, shot.height], [400, 600]);
        assert.ok(coloured(shot) > 0.005);
      });
    });

    test("says so where WebGL 2 is missing", async () => {
      const context = await browser.newContext({ viewport: SIZE });
      await context.addInitScript(() => { HTMLCanvasElement.prototype.getContext = () => null; });
      const page = await context.newPage();
      const errors = [];
      page.on("pageerror", (e) => errors.push(e.message));
      await page.goto(pathToFileURL(file).href);
      await page.locator("#message").waitFor({ state: "visible", timeout: PATIENCE });
      assert.match(await page.locator("#message").innerText(), /WebGL 2/);
      assert.deepEqual(errors, []);
      await context.close();
    });
  });
}
