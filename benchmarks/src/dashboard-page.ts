/**
 * The dashboard's page in a real browser, without a graphics card: how soon the first view is drawn, how many frames a second it has
 * while values of 100 switches with 8 uplinks each come ten times a second, how soon a link that fails is red on the map, whether its
 * memory grows, and whether the map of 980 switches can be used.
 *
 * `--seconds N` (60) of each measurement of frames, `--memory-minutes N` (10), `--rate N` (100,000 reports a second), `--no-file`.
 * `--short`: a second each and no minutes of memory. It needs Chromium, and is left out where there is none.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, REPOSITORY, readOptions } from '@int/harness';
import { type Browser, chromium, type Page } from 'playwright-core';
import { Child } from './collector-soak/child.js';
import { collect } from './dashboard-page/collector.js';

const PROGRAM = fileURLToPath(import.meta.url);
const values = readOptions({
  seconds: { type: 'string' },
  'memory-minutes': { type: 'string' },
  rate: { type: 'string', default: '100000' },
  /** The collector's process: the fabric. */
  collector: { type: 'string' },
});
const SECONDS = Number(values.seconds ?? (values.short ? 1 : 60));
const MEMORY_MINUTES = Number(values['memory-minutes'] ?? (values.short ? 0 : 10));
const RATE = values.short ? 1000 : Number(values.rate);
/** 92 leaves and 8 spines: each leaf has 8 queues towards the spines. */
const HUNDRED = 'leaf-spine:92x8';
/** 980 switches: 28 pods of 14 edge and 14 aggregation switches, and 196 core switches. */
const THOUSAND = 'fat-tree:28';
const LIMITS = {
  firstViewMs: 500,
  redMs: 1000,
  framesPerSecond: 50,
  p95Ms: 40,
  mapFramesPerSecond: 15,
  growth: 1.2,
} as const;

interface Frames {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly longestMs: number;
}

interface Check {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly isMet: boolean;
}

/** The frames that the page had in a time. */
async function framesOf(page: Page, seconds: number): Promise<Frames> {
  const gaps: number[] = await page.evaluate(`new Promise((resolve) => {
    const gaps = [];
    let last;
    const end = performance.now() + ${seconds * 1000};
    const frame = (time) => {
      if (last !== undefined) gaps.push(time - last);
      last = time;
      if (time < end) requestAnimationFrame(frame);
      else resolve(gaps);
    };
    requestAnimationFrame(frame);
  })`);
  const sorted = [...gaps].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const sum = gaps.reduce((total, gap) => total + gap, 0);
  return { perSecond: (1000 * gaps.length) / sum, p50Ms: at(0.5), p95Ms: at(0.95), longestMs: at(1) };
}

/** Milliseconds from the beginning of the navigation until a chart has a value. */
async function firstView(browser: Browser, url: string): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`(() => {
    const look = () => {
      if (/\\d/.test(document.querySelector('.legend b')?.textContent ?? '')) globalThis.drawnAt = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  })()`);
  await page.goto(url);
  // The page's policy lets nobody evaluate text in it, and so nobody wait by a function.
  const ms: number = await page.evaluate(`new Promise((resolve) => {
    const look = () => globalThis.drawnAt === undefined ? requestAnimationFrame(look) : resolve(globalThis.drawnAt);
    look();
  })`);
  await page.close();
  return ms;
}

/** A look at the map with each frame: when a link is red on it. */
const RED_AT = `new Promise((resolve) => {
  const look = () => {
    const canvas = document.querySelector('.map canvas');
    // The list beside the map tells first: pixels are read only then.
    if (document.querySelector('.panel[aria-label="Links"] td.bad') !== null && isRed(canvas)) {
      resolve(performance.timeOrigin + performance.now());
    } else requestAnimationFrame(look);
  };
  const isRed = (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let red = 0;
    for (let k = 0; k < data.length; k += 4) if (data[k] > 200 && data[k + 1] < 110 && data[k + 2] < 110) red++;
    return red > 50;
  };
  look();
})`;

/** Milliseconds from the fault of a link until it is red on the map: the longest of some rounds, by the page's own clock. */
async function redLink(browser: Browser, url: string, collector: Child<Told>): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  await page.goto(`${url}#/topology`);
  await page.waitForSelector('.panel[aria-label="Links"] tbody tr');
  let longest = 0;
  for (let round = 0; round < (values.short ? 1 : 5); round++) {
    const red = page.evaluate(RED_AT) as Promise<number>;
    const { atMs } = await collector.ask(`fail ${round}`);
    longest = Math.max(longest, (await red) - atMs);
    await collector.ask('repair');
    await page.waitForSelector('.panel[aria-label="Links"] td.bad', { state: 'detached' });
  }
  await page.close();
  return longest;
}

/** Bytes of the page's heap after a collection of garbage. */
async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** What a collector answers to a line. */
interface Told {
  readonly atMs: number;
}

/** Runs something with a collector of a fabric in a process of its own. */
async function withFabric<T>(fabric: string, task: (url: string, collector: Child<Told>) => Promise<T>): Promise<T> {
  const collector = new Child<Told>([process.execPath, PROGRAM, '--collector', fabric, '--rate', String(RATE)]);
  try {
    const { url } = await collector.next<{ url: string }>();
    return await task(url, collector);
  } finally {
    collector.kill();
  }
}

async function main(executablePath: string): Promise<void> {
  const run = new BenchmarkRun('dashboard-page', { short: values.short });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const hundred = await withFabric(HUNDRED, async (url, collector) => {
      await sleep(values.short ? 500 : 15_000);
      const first: number[] = [];
      for (let round = 0; round < (values.short ? 1 : 7); round++) first.push(await firstView(browser, url));
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.goto(url);
      await page.waitForSelector('.panel[aria-label="Deepest queues"] tbody tr');
      // The chart under the pointer scrolls with every frame.
      await page.hover('.chart .u-over');
      const now = await framesOf(page, SECONDS);
      const before = await heapBytes(page);
      await sleep(MEMORY_MINUTES * 60_000);
      const after = await heapBytes(page);
      const median = first.sort((a, b) => a - b)[Math.floor(first.length / 2)]!;
      await page.close();
      const redMs = await redLink(browser, url, collector);
      return { firstViewMs: median, redMs, now, heap: { before, after } };
    });
    const map = await withFabric(THOUSAND, async (url) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.goto(`${url}#/topology`);
      await page.waitForSelector('.map canvas', { timeout: 60_000 });
      await sleep(values.short ? 200 : 10_000);
      const note = await page.locator('.panel[aria-label="Network"] header').innerText();
      const frames = await framesOf(page, SECONDS);
      await page.close();
      return { note: note.replaceAll(/\s+/g, ' '), frames };
    });
    const checks: Check[] = [
      check('first view, ms', hundred.firstViewMs, LIMITS.firstViewMs, false),
      check('a link that fails is red, ms', hundred.redMs, LIMITS.redMs, false),
      check('frames a second, 100 switches', hundred.now.perSecond, LIMITS.framesPerSecond, true),
      check('p95 of the frames, ms', hundred.now.p95Ms, LIMITS.p95Ms, false),
      check('growth of the heap', hundred.heap.after / hundred.heap.before, LIMITS.growth, false),
      check('frames a second, map of 980 switches', map.frames.perSecond, LIMITS.mapFramesPerSecond, true),
    ];
    console.log(`${RATE} reports a second, ${SECONDS} s each; ${map.note}\n`);
    for (const { what, value, limit, isMet } of checks) {
      console.log(`  ${isMet ? 'met   ' : 'missed'} ${what}: ${value.toFixed(2)}, bound ${limit}`);
    }
    // In seconds, on a machine that does other things as well, the figures say little.
    if (!values.short && !checks.every(({ isMet }) => isMet)) process.exitCode = 1;
    if (!values['no-file'] && !values.short) {
      run.save('dashboard-page', { rate: RATE, seconds: SECONDS, memoryMinutes: MEMORY_MINUTES, hundred, map, checks });
    }
  } finally {
    await browser.close();
  }
}

const check = (what: string, value: number, limit: number, isLeast: boolean): Check => ({
  what,
  value,
  limit,
  isMet: isLeast ? value >= limit : value <= limit,
});

function findChromium(): string | null {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}

if (values.collector !== undefined) {
  await collect(values.collector, RATE, join(REPOSITORY, 'packages', 'dashboard', 'dist', 'page'));
} else {
  const executablePath = findChromium();
  if (executablePath === null) console.log('left out: Chromium is not installed (npm run setup:system)');
  else await main(executablePath);
}
