// What every browser test needs: the programs under test, Debian's browser, screens and the accessibility check.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../../../..");
const target = process.env.FIELDLAB_TARGET ?? join(root, "target");
export const BIN = process.env.FIELDLAB_BIN ?? join(target, "debug/fieldlab");
export const TRIALS = process.env.FIELDLAB_TRIALS ?? join(target, "debug/fieldlab-trials");
const peers = process.env.FIELDLAB_PEERS ?? join(target, "peers");
const browserPath = process.env.FIELDLAB_CHROMIUM ?? "/usr/bin/chromium";
export const screens = join(target, "screens");
/** How long anything may take that has to happen. */
export const PATIENCE_MS = 30_000;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A program of ours, ended with the test that started it. */
export class Program {
  /** @param {string} path @param {string[]} words */
  constructor(path, words, { input = false } = {}) {
    this.output = "";
    this.stdout = "";
    this.words = `${path} ${words.join(" ")}`;
    this.child = spawn(path, words, { stdio: [input ? "pipe" : "ignore", "pipe", "pipe"] });
    this.waiting = new Set();
    const heard = (text) => {
      this.output += text;
      for (const look of this.waiting) look();
    };
    this.child.stdout.setEncoding("utf8").on("data", (text) => {
      this.stdout += text;
      heard(text);
    });
    this.child.stderr.setEncoding("utf8").on("data", heard);
    this.ended = new Promise((done) => {
      this.child.on("error", (error) => {
        heard(String(error));
        done(-1);
      });
      this.child.on("close", (code) => done(code));
    });
    this.ended.then(() => {
      this.over = true;
      heard("");
    });
  }

  /** Waits until it has said something; answers the match. */
  says(pattern, ms = PATIENCE_MS) {
    return new Promise((done, failed) => {
      const late = setTimeout(
        () => end(() => failed(new Error(`${this.words}: never said ${pattern}: ${this.output}`))),
        ms,
      );
      const end = (then) => {
        clearTimeout(late);
        this.waiting.delete(look);
        then();
      };
      const look = () => {
        const found = pattern.exec(this.output);
        if (found) end(() => done(found));
        else if (this.over) end(() => failed(new Error(`${this.words}: ended without ${pattern}: ${this.output}`)));
      };
      this.waiting.add(look);
      look();
    });
  }

  /** Ends it at once, as a cut of power would. */
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  /** Asks it to end and waits; answers the exit code. */
  async stop() {
    this.child.kill("SIGTERM");
    return await this.ended;
  }
}

/** A folder that goes with the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "fieldlab-e2e-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A port for the official library, which cannot say which one it was given. */
export async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

/** A robot whose server is the official library's. */
export async function officialRobot(t, sheet, port) {
  const at = port ?? (await freePort());
  const robot = new Program(
    join(peers, "venv/bin/python"),
    [join(root, "interop/console/robot.py"), String(at), sheet],
    {
      input: true,
    },
  );
  t.after(() => robot.kill());
  await robot.says(/^ready$/m);
  return { program: robot, address: `127.0.0.1:${at}`, port: at };
}

/** `fieldlab console` in front of a robot; its URL. */
export async function consoleFor(t, address) {
  const program = new Program(BIN, ["console", "--port", "0", "--robot", address]);
  t.after(() => program.kill());
  const [, url] = await program.says(/^(http:\S+)$/m);
  await program.says(/Ctrl-C/);
  return { program, url };
}

let shared;

/**
 * The browser, one for all tests of a file. Who measures time asks for it `first`: ahead of everything else on the machine,
 * where that is allowed. Without the right to it such a test says as much about the machine as about the page.
 */
async function browser(first) {
  if (!shared) {
    const ahead = first && spawnSync("chrt", ["--rr", "1", "true"]).status === 0;
    const executablePath = ahead ? join(here, "first.sh") : browserPath;
    shared = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
  }
  return shared;
}

export async function closeBrowser() {
  await shared?.close();
  shared = undefined;
}

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 860 };

/** A page whose errors fail the test; a policy that was broken is one. */
export async function open(
  t,
  url,
  { viewport = DESK, scheme = "light", lean = false, touch = false, first = false } = {},
) {
  const context = await (
    await browser(first)
  ).newContext({
    viewport,
    colorScheme: scheme,
    reducedMotion: "reduce",
    hasTouch: touch,
    deviceScaleFactor: lean ? 1 : 2,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    // A server that is down is told by the browser itself.
    if (message.type() === "error" && !/WebSocket connection to|ERR_CONNECTION/.test(message.text())) {
      errors.push(message.text());
    }
  });
  if (!lean) await page.addInitScript({ content: axe });
  t.after(async () => {
    await context.close();
    assert.deepEqual(errors, [], "the page reported errors");
  });
  await page.goto(url);
  return page;
}

export function at(page, testid) {
  return page.getByTestId(testid);
}

/** Zero violations, of every rule that the checker has. */
export async function accessible(page, what) {
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map((node) => node.html.slice(0, 200)),
    }));
  });
  assert.deepEqual(violations, [], `${what}: accessibility violations`);
}

export async function screen(page, name) {
  mkdirSync(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `${name}.png`), fullPage: false });
}

/** Waits until `find` answers something that is not undefined. */
export async function until(what, find, ms = PATIENCE_MS) {
  const began = performance.now();
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() - began > ms) throw new Error(`not seen in time: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function goTo(page, tab) {
  await at(page, `tab-${tab}`).click();
}
