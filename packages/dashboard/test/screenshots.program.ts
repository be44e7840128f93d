import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DashboardClient } from '@int/dashboard/client';
import { type Browser, chromium, type Page } from 'playwright-core';
import { it } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import { builtPage } from './built-page.js';
import { openLiveNetwork } from './live-network.js';

const OUT = fileURLToPath(new URL('../screenshots', import.meta.url));
/** Small enough for files under 150 kB, and large enough to read. */
const SIZE = { width: 1120, height: 690 };
/** Time in which the charts get something to show. */
const FILL_MS = 30_000;
/** Time in which a view draws what it has, and limits of a step and of the end of a page. */
const DRAWN_MS = 3000;
const STEP_MS = 45_000;
const CLOSE_MS = 5000;
/** Time in which the example ends by itself after a signal. */
const END_MS = 15_000;
const ATTEMPTS = 3;

/** A view, what is awaited in it, and what is done before the picture. */
interface Picture {
  readonly name: string;
  readonly fragment: string;
  readonly ready: string;
  readonly before?: (page: Page) => Promise<unknown>;
}

const PICTURES: readonly Picture[] = [
  { name: 'now', fragment: '#/now', ready: '.panel[aria-label="Slowest flows"] tbody tr' },
  { name: 'topology', fragment: '#/topology?pick=switch:3', ready: '.panel[aria-label="Queues"] tbody tr' },
  {
    name: 'series',
    fragment: '#/series?metric=reports&entities=switch:1,switch:3,switch:5&second=none',
    ready: '.chart .u-over',
  },
  {
    name: 'table',
    fragment: '#/table?per=hop&sort=-hopLatency&hide=egressTimestamp,bufferId,bufferOccupancy',
    ready: '.flows tbody tr',
  },
  { name: 'events', fragment: '#/events', ready: '.panel[aria-label="Events"] tbody tr' },
  {
    name: 'biography',
    fragment: '#/events?filter=rule=latency-step&group=no',
    ready: '.panel[aria-label="Events"] tbody tr',
    before: async (page) => {
      await page.locator('.panel[aria-label="Events"] tr[data-row] td.rule').nth(3).click();
      await page.waitForSelector('.waterfall li');
    },
  },
  {
    name: 'rules',
    fragment: '#/rules',
    ready: '.form tbody tr',
    before: async (page) => {
      await page.fill('#rule-detect-threshold-threshold', '16KiB');
      await page.locator('#rule-detect-threshold-threshold').blur();
      await sleep(1000);
      await page.locator('button:has-text("Dry run")').first().click();
      await page.waitForSelector('.dry .summary');
    },
  },
  { name: 'history', fragment: '#/history', ready: '.panel[aria-label="Replay"]' },
];

/** Closes a page or a browser, or leaves it: what does not draw does not close either, and ends with this process. */
async function closed(one: Page | Browser): Promise<void> {
  await Promise.race([one.close().catch(() => {}), sleep(CLOSE_MS)]);
}

/** A browser without a graphics card sometimes stops to draw a page for good. Another page gets a picture then. */
async function take(browser: Browser, url: string, picture: Picture): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark' });
    page.setDefaultTimeout(STEP_MS);
    try {
      await page.goto(`${url}${picture.fragment}`);
      await page.waitForSelector(picture.ready);
      await picture.before?.(page);
      await sleep(DRAWN_MS);
      await page.screenshot({ path: join(OUT, `${picture.name}.png`), timeout: STEP_MS });
      console.log(`${picture.name}.png`);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      console.log(`${picture.name}.png: once more, ${(error as Error).message.split('\n')[0]}`);
    } finally {
      await closed(page);
    }
  }
}

/** A network of P4 switches with its controller, as the example runs it: what is built is run. */
const LOOP = fileURLToPath(new URL('../../../examples/closed-loop/dist/loop.js', import.meta.url));
/** Time in which everything of the example happens, and more on a busy machine. */
const LOOP_MS = 400_000;
/** Kinds of intents that send flows another way. */
const MOVES: ReadonlySet<string> = new Set(['avoid', 'path']);

/** Pictures of what the example's loop finds and does: flows that leave a link, then an attack. */
async function takeLoop(browser: Browser): Promise<void> {
  const loop = spawn(process.execPath, [LOOP], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await inTime(
      'the network of the example',
      new Promise<string>((resolve, reject) => {
        createInterface({ input: loop.stdout }).on('line', (line) => {
          const [address] = /http:[^ ]+/.exec(line) ?? [];
          if (address !== undefined) resolve(address);
        });
        loop.once('exit', (code) => reject(new Error(`the example ended with ${code}`)));
      }),
      { withinMs: LOOP_MS },
    );
    const client = new DashboardClient({ url });
    const patience = { withinMs: LOOP_MS, everyMs: 500 };
    const moved = await until(
      'flows that have left a link',
      async () => (await client.proposals({ state: 'verified' })).rows.find(({ kind }) => MOVES.has(kind)),
      patience,
    );
    await take(browser, url, {
      name: 'control',
      fragment: `#/control/${moved.id}`,
      ready: '.loads tbody tr',
      before: (page) =>
        page
          .locator('.control .side')
          .last()
          .evaluate((side) => side.scrollBy(0, 212)),
    });
    const attack = await until(
      'an attack',
      async () => (await client.incidents({ state: 'open' })).rows.find(({ phase }) => phase !== null),
      patience,
    );
    await take(browser, url, {
      name: 'incidents',
      fragment: `#/incidents/${encodeURIComponent(attack.id)}`,
      ready: '.comparisons tbody tr',
    });
  } finally {
    const ended = once(loop, 'exit');
    if (loop.exitCode === null && loop.signalCode === null) {
      loop.kill('SIGTERM');
      await Promise.race([ended, sleep(END_MS).then(() => loop.kill('SIGKILL'))]);
    }
  }
}

function launched(): Promise<Browser> {
  const executablePath = requires(['chromium', 'chromium-browser', 'google-chrome'], 'npm run setup:system');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

it('takes a picture of each view', async () => {
  const folder = await builtPage();
  const names = ['leaf-1', 'leaf-2', 'leaf-3', 'leaf-4', 'spine-1', 'spine-2'];
  const { dashboard, collector, source } = await openLiveNetwork({ page: folder }, 1500, names);
  const browser = await launched();
  try {
    mkdirSync(OUT, { recursive: true });
    await sleep(FILL_MS);
    source.fail(1, 5);
    for (const picture of PICTURES) await take(browser, dashboard.url, picture);
  } finally {
    await closed(browser);
    await collector.stop();
  }
});

it('takes pictures of the controller', async () => {
  const browser = await launched();
  try {
    mkdirSync(OUT, { recursive: true });
    await takeLoop(browser);
  } finally {
    await closed(browser);
  }
});
