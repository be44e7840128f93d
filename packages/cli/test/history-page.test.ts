/** The page over a history in Parquet files, in a browser: SQL, a chart, times that are not retained, and a replay of them. */
import axe from 'axe-core';
import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { pcap, reportFrame, START_NS } from './captures.js';
import { Running, temporaryFolder } from './run.js';

const files = temporaryFolder();
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** How long the page has for a step. */
const PATIENCE_MS = 60_000;
const RULES = `version: 1
default: drop
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 1000, scope: hop } }
`;

const show = (page: Page, fragment: string): Promise<void> =>
  page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${axe.source} })()`);
  return page.evaluate(`axe.run({ resultTypes: ['violations'], iframes: false }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id))`);
}

test('a history is asked with SQL, drawn, looked at and replayed', { timeout: 180_000 }, async () => {
  const executablePath = requires(BROWSERS, 'npm run setup:system');
  await files.write('rules.yaml', RULES);
  await files.write('reports.pcap', pcap(Array.from({ length: 5 }, () => reportFrame())));
  const config = (source: string, dashboard: string): Promise<string> =>
    files.write(
      'int.yaml',
      `version: 1\nsources: [${source}]\ndetect: { rules: rules.yaml }\nsinks: [{ parquet: { directory: history } }]\n${dashboard}`,
    );
  const path = await config('{ pcap: { file: reports.pcap } }', '');
  expect((await new Running(['collect', '--config', path, '--json']).end()).code).toBe(0);
  // Another run has seen nothing of it.
  await config('{ udp: { listen: "127.0.0.1:0" } }', 'dashboard: { listen: "127.0.0.1:0" }\n');
  const process = new Running(['collect', '--config', path, '--json']);
  const address = (): string | undefined => /dashboard on (http:\/\/\S+)/.exec(process.stderr)?.[1];
  await process.until(() => address() !== undefined);
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error.stack)));

  await page.goto(address()!);
  await page.keyboard.press('7');
  await page.waitForSelector('textarea.sql');
  await page.keyboard.press('q');
  await page.fill(
    'textarea.sql',
    '-- by switch\nselect nodeId, count(*)::int as hops from hops where nodeId is not null group by nodeId order by nodeId',
  );
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.panel[aria-label="Result"] tbody tr');
  expect(await page.locator('.panel[aria-label="Result"] tbody tr').allInnerTexts()).toEqual([
    '1\t5',
    '2\t5',
    '153\t5',
  ]);
  expect(await page.locator('.panel[aria-label="Chart"] .bars tr').count()).toBe(3);
  // Its address holds the query; saved, it is there for others.
  expect(await page.evaluate('location.hash')).toContain('count(');
  await page.locator('.panel[aria-label="SQL over the history"] button:text-is("Save")').click();
  await page.waitForSelector('select[aria-label="Saved queries"] option:text-is("-- by switch")', {
    state: 'attached',
  });
  expect(await violations(page)).toEqual([]);
  await page.fill('textarea.sql', 'select nodeId, count(* from hops');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.panel[aria-label="SQL over the history"]:has-text("syntax error")');

  // A time that is not retained: the same views, from the files.
  const at = `at=${new Date(Number(START_NS / 1_000_000n) + 1000).toISOString()}`;
  for (const [view, selector] of [
    ['events', '.panel[aria-label="Events"] tbody tr:has-text("slow")'],
    ['table', 'tbody tr:has-text("10.")'],
    ['topology', 'canvas'],
    ['series', 'canvas'],
  ] as const) {
    await show(page, `#/${view}?${at}`);
    await page.waitForSelector(`main ${selector}`);
    expect({ view, found: await violations(page) }).toEqual({ view, found: [] });
  }
  await show(page, `#/events?${at}`);
  await page.locator('.panel[aria-label="Events"] tr[data-row] a').first().click();
  await page.waitForSelector('.waterfall li');

  // The same minute once more, with a clock of its own.
  await show(page, `#/history?${at}`);
  await page.waitForSelector('.panel[aria-label="Replay"] button.primary');
  await page.keyboard.press('p');
  await page.waitForSelector('fieldset[aria-label="Replay"] .mono');
  await page.locator('select[aria-label="Speed of the replay"]').selectOption('100');
  await until(
    'its end',
    async () => (await page.locator('fieldset[aria-label="Replay"] .mono').innerText()) === 'ended',
    { everyMs: 100 },
  );
  await page.keyboard.press('5');
  await page.waitForSelector('.panel[aria-label="Events"] tbody tr:has-text("slow")');
  // The query that was refused is the only thing that the browser has noted.
  expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([]);
  process.child.kill('SIGINT');
  expect((await process.end()).code).toBe(0);
});
