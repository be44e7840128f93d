/** The page of a real controller: an incident, its answer on the switches, and back. */
import { type Incident, KnowledgePlane } from '@int/knowledge';
import axe from 'axe-core';
import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../.ci/test/requires.js';
import { until } from '../../../../.ci/test/until.js';
import { temporaryFolder } from '../run.js';
import { ATTACKER, MS, open } from './control-world.js';

const files = temporaryFolder();

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** How long the page has for a step. */
const PATIENCE_MS = 60_000;

/** What the knowledge plane says of a host that tries the ports of another one, without an answer. */
function scanned(): Incident {
  const incidents: Incident[] = [];
  const plane = new KnowledgePlane({ inside: ['10.0.0.0/8'] }, { incident: (each) => incidents.push(each) });
  const beganMs = Date.now() - 20_000;
  for (let port = 1; port <= 12; port++) {
    const ends = { source: ATTACKER, destination: '10.0.2.1', sourcePort: 40_000, destinationPort: port };
    plane.packet({ ...ends, protocol: 6, timeMs: beganMs + 1000 * port, tcpFlags: 2, lengthBytes: 60 });
  }
  plane.advance(beganMs + 20_000);
  return incidents.find(({ state }) => state === 'open')!;
}

const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

/** Serious violations that axe-core finds in what is shown, with the elements. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => { ${axe.source} })()`);
  return page.evaluate(`axe.run({ resultTypes: ['violations'], iframes: false }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).slice(0, 3).join(' ')))`);
}

/** Presses Tab until a link or a field has the focus, as somebody does who has no pointer. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not come to ${selector}`);
}

// It compiles the switches' program and starts the browser.
test('by the keyboard alone: a scan is understood, blocked, verified, and let through again; the loop is stopped', {
  timeout: MS,
}, async () => {
  const executablePath = requires(BROWSERS, 'npm run setup:system');
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const [{ world, controller, dashboard, see }, browser] = await Promise.all([
    open(files),
    chromium.launch({ executablePath, args }),
  ]);
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  await page.goto(dashboard.url);
  await page.keyboard.press('8');
  await page.waitForSelector('.empty:has-text("No incident yet: no detector has found anything.")');
  see(scanned());
  await page.waitForSelector('.panel[aria-label="Incidents"] tbody tr');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.comparisons tbody tr');
  expect(await text(page, '.comparisons tbody tr')).toMatch(/^ln L >= ln\(eta1\)\s+[\d.]+\s+11\.50\d*\s+1\.\d\d×/);
  await page.waitForSelector('.facts a[href^="#/control/block-"]');
  expect(await violations(page)).toEqual([]);

  // What answers it: not on the switches yet.
  await tabTo(page, '.facts a[href^="#/control/block-"]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('section[aria-label="Entries of leaf1"] .insert');
  await page.waitForSelector('.orders button:enabled:text-is("Approve")');
  expect(await text(page, 'section[aria-label="Entries of leaf1"]')).toContain(ATTACKER);
  expect(await text(page, '.panel[aria-label="Rehearsal"]')).toContain('It meets all invariants.');
  expect(await world.entries()).toEqual([]);
  expect(await violations(page)).toEqual([]);

  // The link had the focus, and is gone: keys are of the page again.
  await page.keyboard.press('a');
  await page.waitForSelector('.stages tr:has-text("verified"):has-text("loop")');
  expect(await world.entries()).toHaveLength(1);
  expect(world.traffic()).toEqual([]);
  await until('the measured effect', async () => /measured\s+0 bit\/s/.test(await text(page, '.effect')));
  await page.waitForSelector('.panel[aria-label="Entries by switch"] header:has-text("what was written")');
  await page.waitForSelector('.loads tr:has-text("leaf1:1")');

  await page.waitForSelector('.orders button:enabled:text-is("Undo")');
  await page.keyboard.press('z');
  await page.waitForSelector('.stages tr:has-text("withdrawn"):has-text("dashboard")');
  await until('the switch without the entry', async () => (await world.entries()).length === 0);
  expect(world.traffic()).toHaveLength(1);
  await page.waitForSelector('.panel[aria-label="Entries by switch"] .delete');

  await page.keyboard.press('S');
  await page.waitForSelector('dialog[open]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.stop-bar.stopped [role=status]:has-text("nothing acts any more")');
  expect(controller.loop.isStopped).toBe(true);
  await page.keyboard.press('R');
  await page.waitForSelector('.stop-bar:not(.stopped)');
  expect(controller.loop.isStopped).toBe(false);
  expect(complaints).toEqual([]);
});
