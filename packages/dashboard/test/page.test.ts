import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { builtPage } from './built-page.js';
import { type LiveNetwork, openLiveNetwork } from './live-network.js';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What all tests share: one browser, one page, one network. */
interface Stage extends LiveNetwork {
  readonly browser: Browser;
  readonly page: Page;
  readonly folder: string;
  /** What the page has complained of. */
  readonly complaints: string[];
}

let stage: Promise<Stage> | null = null;

/** Opens the page once; skips the test where there is no browser. */
function opened(): Promise<Stage> {
  const executablePath = requires(BROWSERS, 'npm run setup:system');
  stage ??= (async () => {
    const folder = await builtPage();
    const [network, browser] = await Promise.all([
      openLiveNetwork({ page: folder }),
      chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] }),
    ]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    page.setDefaultTimeout(30_000);
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error.stack)));
    await page.goto(network.dashboard.url);
    return { ...network, browser, page, folder, complaints };
  })();
  return stage;
}

afterAll(async () => {
  const all = await stage;
  if (all === null) return;
  await all.browser.close();
  await all.collector.stop();
  rmSync(all.folder, { recursive: true, force: true });
});

/** Goes to a place of the page, as an address in a message would. */
async function show(page: Page, fragment: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
}

const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

/** Serious violations that axe-core finds in what is shown, with the elements. */
async function violations(page: Page, only?: string): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${AXE} })()`);
  const options = { resultTypes: ['violations'], iframes: false, ...(only === undefined ? {} : { runOnly: [only] }) };
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`);
}

/** Pixels of the map in the colour of a link that is down. */
async function redPixels(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const { width, height } = document.querySelector('.map canvas');
    const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(document.querySelector('.map canvas'), 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    let red = 0;
    for (let k = 0; k < data.length; k += 4) if (data[k] > 200 && data[k + 1] < 110 && data[k + 2] < 110) red++;
    return red;
  })()`);
}

describe('in a browser', () => {
  it('the first view has data: charts, the worst, the slowest flows, its own health', async () => {
    const { page } = await opened();
    await page.waitForSelector('.panel[aria-label="Deepest queues"] tbody tr');
    await page.waitForSelector('.panel[aria-label="Slowest flows"] tbody tr');
    await page.waitForSelector('.panel[aria-label="Busiest links"] tbody tr');
    await until('a rate of reports', async () => Number.parseFloat(await text(page, '.figures dd')) > 0);
    await until('a chart', async () => /\d/.test(await text(page, '.legend b')));
    expect(await text(page, '.panel[aria-label="This dashboard"]')).toMatch(/viewers\s+1/);
    expect(await violations(page)).toEqual([]);
  });

  it('every other view opens by its key, with data, and axe-core finds nothing serious', async () => {
    const { page } = await opened();
    const views = [
      ['2', 'Topology', '.panel[aria-label="Links"] tbody tr'],
      ['3', 'Series', '.chart .u-over'],
      ['4', 'Table', '.flows tbody tr'],
      ['5', 'Events', '.panel[aria-label="Events"] tbody tr'],
    ] as const;
    for (const [key, name, data] of views) {
      await page.keyboard.press(key);
      await page.waitForSelector(data);
      expect(await page.getAttribute('main', 'aria-label')).toBe(name);
      expect(await violations(page), name).toEqual([]);
    }
    await page.keyboard.press('t');
    expect(await page.getAttribute('html', 'data-theme')).toBe('light');
    for (const key of ['1', '5']) {
      await page.keyboard.press(key);
      await page.waitForSelector('tbody tr');
      expect(await violations(page, 'color-contrast'), `${key}, light`).toEqual([]);
    }
    await page.keyboard.press('t');
  });

  it('a link that fails turns red on the map, is named, and is whole again at an earlier time', async () => {
    const { page, source } = await opened();
    await page.keyboard.press('2');
    await page.waitForSelector('.panel[aria-label="Links"] tbody tr');
    // The links have carried reports for long enough to be missed.
    await until('all links', async () => (await page.locator('.panel[aria-label="Links"] tbody tr').count()) >= 16);
    await until('no red', async () => (await redPixels(page)) === 0);
    const before: number = await page.evaluate('Date.now()');
    source.failed.add('1-5');
    await until('a red link', async () => (await redPixels(page)) > 50, { withinMs: 45_000 });
    expect(await text(page, '.panel[aria-label="Links"] tbody tr')).toMatch(/leaf-1 › spine-1.*\s+down/);
    await show(page, `#/topology?at=${new Date(before - 500).toISOString()}`);
    await until('the map as it was', async () => (await redPixels(page)) === 0);
    source.failed.clear();
    await page.keyboard.press('l');
    await until('the link again', async () => !(await text(page, '.panel[aria-label="Links"]')).includes('down'));
  });

  it('by the keyboard alone one filters, stops, moves, opens, sorts and goes back', async () => {
    const { page } = await opened();
    await page.keyboard.press('5');
    await page.waitForSelector('.panel[aria-label="Events"] tbody tr');
    await page.keyboard.press('/');
    await page.keyboard.type('rule=latency-step');
    await page.keyboard.press('Enter');
    await until(
      'the filter',
      async () => (await page.evaluate('location.hash')) === '#/events?filter=rule=latency-step',
    );
    await until('only what passes', async () => {
      const rules = await page.locator('.panel[aria-label="Events"] td.rule').allInnerTexts();
      return rules.length > 0 && rules.every((rule) => rule.startsWith('latency-step'));
    });
    await page.keyboard.press(' ');
    await page.waitForSelector('button[aria-pressed="true"]:has-text("Paused")');
    const stopped: string = await page.evaluate('location.hash');
    await page.keyboard.press('ArrowLeft');
    await until('another time', async () => (await page.evaluate('location.hash')) !== stopped);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await until(
      'the second row',
      async () =>
        (await page.locator('.panel[aria-label="Events"] tr[data-row]').nth(1).getAttribute('aria-selected')) ===
        'true',
    );
    await page.keyboard.press('Enter');
    await until('an event in the address', async () => /#\/events\/[^?]+\?/.test(await page.evaluate('location.hash')));
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await until('all closed', async () => (await page.evaluate('location.hash')) === '#/events');
    await page.keyboard.press('4');
    await page.waitForSelector('.flows tbody tr');
    await page.keyboard.press('h');
    await page.waitForSelector('.panel[aria-label="Hops"]');
    await page.keyboard.press('s');
    await until('an order', async () => /sort=-\w+/.test(await page.evaluate('location.hash')));
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] dt');
    expect(await text(page, 'dialog')).toContain('a row per hop, or per flow');
    await page.keyboard.press('Escape');
    await until('no help', async () => (await page.locator('dialog').count()) === 0);
  });

  it('shows mistakes of a filter where they are, and offers what could be meant', async () => {
    const { page } = await opened();
    await page.keyboard.press('1');
    await page.keyboard.press('/');
    await page.keyboard.type('latencey>5us');
    await page.waitForSelector('.mistake');
    expect(await text(page, '.mistake')).toContain('did you mean latency?');
    expect(await text(page, '.mistake u')).toBe('latencey');
    await page.fill('.filter input', 'switch=lea');
    await page.waitForSelector('[role=option]:has-text("leaf-2")');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.inputValue('.filter input')).toMatch(/^switch=leaf-/);
    await page.fill('.filter input', '');
    await page.keyboard.press('Enter');
  });

  it('the address holds what is shown: a second page with it shows the same', async () => {
    const { page, browser } = await opened();
    const fragment = '#/series?span=30&metric=occupancy&entities=switch:1,every-queue&second=none&compare=60';
    await show(page, fragment);
    const second = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    try {
      await second.goto(await page.evaluate('location.href'));
      for (const each of [page, second]) {
        await each.waitForSelector('.panel[aria-label="Queue occupancy"] .u-over');
        await until('the largest', async () => (await each.locator('.legend li').count()) >= 6);
        expect(await each.inputValue('select[aria-label="Metric"]')).toBe('occupancy');
        expect(await each.locator('input[type=checkbox]:checked').count()).toBe(1);
      }
      expect(await second.evaluate('location.hash')).toBe(fragment);
    } finally {
      await second.close();
    }
  });

  it('exports the table as CSV, with what is shown and no formula', async () => {
    const { page } = await opened();
    await show(page, '#/table');
    await page.waitForSelector('.flows tbody tr');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('e')]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toBe(
      'source,sourcePort,destination,destinationPort,protocol,dscp,path,reports,rate,events,pathLatency,congested,last',
    );
    expect(lines.length).toBeGreaterThan(20);
    expect(lines[1]).toMatch(/^10\.[\d.]+,\d+,10\.[\d.]+,\d+,(?:6|17),/);
  });

  it('names from files and packets are text, whatever is in them', async () => {
    const { page } = await opened();
    await page.keyboard.press('2');
    await page.waitForSelector('.chips button');
    expect(await page.locator('.chips').innerText()).toContain('<img src=x>');
    expect(await page.locator('img').count()).toBe(0);
  });

  it('the browser has not complained of anything', async () => {
    const { complaints } = await opened();
    expect(complaints).toEqual([]);
  });
});
