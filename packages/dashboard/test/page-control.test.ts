import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { builtPage } from './built-page.js';
import { openLiveNetwork } from './live-network.js';
import { MadeControl } from './made-control.js';
import { PATIENCE_MS, SharedStage, show, text, until, violations } from './page/stage.js';
import { openDashboard } from './pages.js';
import { PlainControl } from './plain-control.js';

const NAMES = ['leaf-1', 'leaf-2', 'leaf-3', 'leaf-4', 'spine-1', 'spine-2'];
const control = new MadeControl();
const stage = new SharedStage((page) => openLiveNetwork({ page, control }, 800, NAMES));

afterAll(() => stage.close());

const panel = (name: string): string => `.panel[aria-label="${name}"]`;
const place = (page: Page): Promise<string> => page.evaluate('decodeURIComponent(location.hash)');

/** Presses keys until an element has the focus, as somebody does who has no pointer. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not come to ${selector}`);
}

describe('incidents and the controller, in a browser', () => {
  // It builds the page and starts the browser for all tests.
  it('by the keyboard one comes from the list of incidents to the arithmetic of one', {
    timeout: 180_000,
  }, async () => {
    const { page } = await stage.opened();
    await page.keyboard.press('8');
    await page.waitForSelector(`${panel('Incidents')} tbody tr`);
    const rows = await page.locator(`${panel('Incidents')} tbody tr`).allInnerTexts();
    // Open ones first, and of these the most urgent.
    expect(rows.map((row) => row.split(/\s+/)[1])).toEqual(['scan-vertical', 'congestion', 'syn-flood']);
    expect(rows.map((row) => /\b(open|closed)\b/.exec(row)?.[0])).toEqual(['open', 'open', 'closed']);
    await until('the hosts', async () => /web\s+10\.0\.2\.1\s+3\s+0/.test(await text(page, panel('Hosts'))));
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForSelector(panel('Arithmetic'));
    expect(await place(page)).toMatch(/^#\/incidents\/scan-vertical\/host:198\.51\.100\.7\/\d+$/);
    expect((await text(page, '.formula')).replaceAll(/\s+/g, ' ')).toContain('failures9 * ln((1 - theta10.2)');
    expect(await text(page, '.comparisons tbody tr')).toMatch(/ln L >= ln\(eta1\)\s+12\.477\s+11\.513\s+1\.08×/);
    const facts = await text(page, `${panel('scan-vertical')} .facts`);
    expect(facts).toMatch(/confidence\s+99 %/);
    expect(facts).toMatch(/reconnaissance, as a hypothesis/);
    expect(facts).toMatch(/watch what the source sends after a contact that succeeded/);
    expect(facts).toMatch(/a client whose servers are down; a monitoring system/);
    expect(facts).toMatch(/block source 198\.51\.100\.7 for 1 min/);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('T');
    await until('its time in the address', async () => (await place(page)).includes('?at='));
    await page.waitForSelector(`${panel('Incidents')} header:has-text("2 open, 1 closed at this time")`);
    const topology = await page.getAttribute(`${panel('scan-vertical')} .facts a:text-is("map")`, 'href');
    expect(topology).toMatch(/^#\/topology\?at=\d{4}-/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await place(page)).toBe('#/incidents');
    // While the flood lasted it was open, and nothing else had begun.
    const flood = control.incidents().find(({ kind }) => kind === 'syn-flood')!;
    await show(page, `#/incidents?at=${new Date(flood.from + 1000).toISOString()}`);
    await page.waitForSelector(`${panel('Incidents')} header:has-text("1 open, 0 closed at this time")`);
  });

  it('a baseline has its band and its series, in the units of the switch', async () => {
    const { page } = await stage.opened();
    await show(page, '#/incidents');
    await page.locator(`${panel('Incidents')} tbody tr:has-text("congestion") a`).click();
    await page.waitForSelector(`${panel('Baseline')} .chart .u-over`);
    // 80 bytes a cell: 40 cells are usual.
    expect(await text(page, `${panel('Baseline')} p`)).toMatch(/Usual is 3\.2 kB, quiet from 2\.\d+ kB to 3\.\d+ kB/);
    expect(await text(page, '.comparisons tbody')).toMatch(/S > h\s+21\.4\s+17\.1\s+1\.25×/);
    expect(await violations(page)).toEqual([]);
  });

  it('the filter of all views chooses incidents, and says what it cannot decide', async () => {
    const { page } = await stage.opened();
    for (const [filter, kinds] of [
      ['host=198.51.100.0/24', ['scan-vertical']],
      ['switch=leaf-1', ['congestion']],
      ['incident~flood state=close', ['syn-flood']],
      ['latency>1us', ['scan-vertical', 'congestion', 'syn-flood']],
    ] as const) {
      await show(page, `#/incidents?filter=${encodeURIComponent(filter)}`);
      const shown = page.locator(`${panel('Incidents')} tbody tr td:nth-child(2)`);
      await until(filter, async () => (await shown.allInnerTexts()).join() === kinds.join());
    }
    expect(await text(page, `${panel('Incidents')} header`)).toContain('latency: not of incidents');
    await show(page, '#/incidents?filter=host=192.0.2.1');
    await page.waitForSelector(`${panel('Incidents')} .empty:has-text("No incident passes the filter")`);
    // Of proposals it chooses those that answer such an incident.
    await show(page, '#/control?filter=switch=leaf-1');
    const texts = page.locator(`${panel('Proposals')} tbody td.what`);
    await until('one', async () => /^path tcp [^,]*, spine-2, leaf-2$/.test((await texts.allInnerTexts()).join()));
    await show(page, '#/incidents');
  });

  it('by the keyboard one looks at a proposal, approves it, sees it verified, and undoes it', async () => {
    const { page } = await stage.opened();
    await show(page, '#/now');
    await page.keyboard.press('9');
    await page.waitForSelector(`${panel('Proposals')} tbody tr`);
    await tabTo(page, '.stop-bar input');
    await page.keyboard.type('ann');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForSelector('section[aria-label="Entries of leaf-1"]');
    expect(await place(page)).toBe('#/control/block-1');
    expect(await text(page, panel('Entries by switch'))).toMatch(/what would be written[\s\S]*leaf-1 1 added/);
    expect(await text(page, '.changes .insert code')).toMatch(/198\.51\.100\.7\/32 priority 1100 ⇒ IntIngress\.deny/);
    expect(await text(page, panel('Rehearsal'))).toContain('loses 100 % at leaf-1');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('a');
    await page.waitForSelector(`${panel('block 198.51.100.7')} header:has-text("verified")`);
    const stages = await text(page, '.stages');
    for (const stage of ['proposed', 'rehearsed', 'approved', 'installed', 'verified']) expect(stages).toContain(stage);
    expect(stages).toMatch(/approved\s+[\d:.]+\s+\+[\d.]+ \w+\s+dashboard: ann/);
    const effect = await text(page, '.effect');
    expect(effect).toMatch(/before\s+100 kbit\/s\s+predicted\s+0 bit\/s\s+measured\s+0 bit\/s\s+as predicted/);
    await until('what was written', async () =>
      (await text(page, panel('Entries by switch'))).includes('what was written'),
    );
    await page.waitForSelector('.orders button:enabled:text-is("Undo")');
    await page.keyboard.press('z');
    await page.waitForSelector(`${panel('block 198.51.100.7')} header:has-text("withdrawn")`);
    expect(control.orders).toMatchObject([
      { order: 'approve', proposal: 'block-1', by: 'dashboard: ann' },
      { order: 'undo', proposal: 'block-1', by: 'dashboard: ann' },
    ]);
    await until('the journal', async () => /withdrawn\s+by dashboard: ann/.test(await text(page, panel('Journal'))));
    expect(await text(page, panel('Journal'))).toMatch(/written to leaf-1\s+by loop/);
    await page.keyboard.press('Escape');
    await until('all closed', async () => (await place(page)) === '#/control');
  });

  it('loads are side by side: before, predicted, measured; a refused rehearsal says what it found', async () => {
    const { page } = await stage.opened();
    await show(page, '#/control/path-2');
    await page.waitForSelector('.loads tbody tr');
    expect(await page.locator('.loads tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/leaf-1:1\s+93 %\s+55 %\s+55 %/),
      expect.stringMatching(/leaf-1:2\s+12 %\s+50 %\s+50 %/),
    ]);
    expect(await text(page, '.compared')).toMatch(/all links carry what was predicted: 99 % of the shift/);
    expect(await page.locator('.changes .modify del, .changes .modify ins').allInnerTexts()).toEqual([
      expect.stringMatching(/forward\(port 1\)/),
      expect.stringMatching(/forward\(port 2\)/),
    ]);
    expect(await page.locator('.changes .delete').count()).toBe(1);
    // Panels scroll, and not the page: what only screen readers read does not make it longer.
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBeLessThanOrEqual(0);
    await show(page, '#/control/limit-3');
    await page.waitForSelector('.refusals li');
    expect(await text(page, '.refusals')).toMatch(/drop\s+4 flows that were delivered lose packets.*after step 1 of 1/);
    expect(await page.locator('.orders button:enabled').count()).toBe(0);
    expect(await text(page, '.orders')).toContain('it is refused: there is nothing to undo');
    expect(await violations(page)).toEqual([]);
  });

  it('the emergency stop asks once, says what it did, and the loop goes on when it is told to', async () => {
    const { page } = await stage.opened();
    await show(page, '#/control/path-2');
    await page.waitForSelector('.loads tbody tr');
    const before = control.orders.length;
    await page.keyboard.press('S');
    await page.waitForSelector('dialog[open]:has-text("Stop the loop?")');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await until('no question', async () => (await page.locator('dialog').count()) === 0);
    expect(control.orders).toHaveLength(before);
    await page.keyboard.press('S');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Enter');
    await page.waitForSelector(
      '.stop-bar [role=status]:has-text("nothing acts any more. 1 in force stay as they are")',
    );
    await page.waitForSelector('.stop-bar.stopped:has-text("by dashboard: ann")');
    await page.keyboard.press('W');
    await page.waitForSelector('dialog[open]:has-text("Withdraw all that the loop did?")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.stop-bar [role=status]:has-text("Withdrawn: 1")');
    await page.keyboard.press('R');
    await page.waitForSelector('.stop-bar:not(.stopped):has-text("The loop runs")');
    expect(control.orders.slice(before).map(({ order }) => order)).toEqual(['stop', 'withdraw', 'resume']);
  });

  it('the time of all views is that of the controller, and nothing is ordered for a time that is past', async () => {
    const { page } = await stage.opened();
    const [, path] = control.proposals();
    await show(page, `#/control/path-2?at=${new Date(path!.stages[2]!.atMs).toISOString()}`);
    await page.waitForSelector(`${panel('Proposals')} header:has-text("1 under way, 1 ended at this time")`);
    await page.waitForSelector('.orders p');
    const rows = await page.locator(`${panel('Proposals')} tbody tr`).allInnerTexts();
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/path tcp[\s\S]*approved$/);
    expect(await text(page, '.orders')).toContain('press l to be live');
    await show(page, '#/control?at=2026-01-01T00:00:00.000Z');
    await page.waitForSelector(`${panel('Proposals')} .empty:has-text("Nothing had been proposed at this time.")`);
    await page.waitForSelector(`${panel('Journal')} .empty:has-text("Nothing that is remembered had happened")`);
    await show(page, '#/control');
  });

  it('a viewer without the right sees everything, and no order that he can give', async () => {
    const { browser } = await stage.opened();
    const dashboard = await openDashboard({ page: await builtPage(), control: new MadeControl(), readOnly: true });
    const page = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme: 'light' });
    page.setDefaultTimeout(PATIENCE_MS);
    try {
      await page.goto(`${dashboard.url}#/control/block-1`);
      await page.waitForSelector('section[aria-label="Entries of leaf-1"]');
      expect(await page.locator('.stop-bar button:enabled, .orders button:enabled').count()).toBe(0);
      expect(await text(page, '.stop-bar .notice')).toContain('this dashboard is read only');
      await page.keyboard.press('S');
      await page.keyboard.press('a');
      expect(await page.locator('dialog').count()).toBe(0);
      expect(await violations(page, 'color-contrast')).toEqual([]);
      // No wider than a telephone, and the stop stays in sight.
      for (const fragment of ['#/control/block-1', '#/incidents']) {
        await show(page, fragment);
        await page.waitForSelector('main .panel tbody tr');
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), fragment).toBeLessThanOrEqual(
          0,
        );
      }
      expect(await violations(page, 'color-contrast')).toEqual([]);
    } finally {
      await page.close();
      await dashboard.close();
    }
  });

  it('tabs say what waits; lists have pages, by keys too, and say how many rows there are', async () => {
    const { browser } = await stage.opened();
    const plain = new PlainControl(450);
    plain.happen('seen', 410);
    const dashboard = await openDashboard({ page: await builtPage(), control: plain });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
    page.setDefaultTimeout(PATIENCE_MS);
    const first = (name: string): Promise<string> => text(page, `${panel(name)} tbody tr`);
    const shows = async (name: string, range: string): Promise<void> => {
      await page.waitForSelector(`${panel(name)} header:has-text("${range}")`);
    };
    try {
      await page.goto(`${dashboard.url}#/control`);
      await page.waitForSelector('.tabs a[href^="#/incidents"]:has-text("5 open")');
      await page.waitForSelector('.tabs a[href^="#/control"]:has-text("2 waiting for approval")');
      await shows('Proposals', '1–200 of 450, the newest first');
      await shows('Journal', '1–200 of 410, the newest first');
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('o');
      await shows('Proposals', '201–400 of 450');
      expect(await place(page)).toBe('#/control?page=before+block-x-250');
      await page.keyboard.press('O');
      await shows('Journal', '201–400 of 410');
      await page.keyboard.press('o');
      await shows('Proposals', '401–450 of 450');
      expect(await page.locator(`${panel('Proposals')} tbody tr`).count()).toBe(50);
      expect(await page.isDisabled('button[aria-label="Older proposals"]')).toBe(true);
      // The address has both pages; what happens meanwhile moves neither.
      plain.happen('seen', 5);
      await shows('Journal', '206–405 of 415');
      await page.reload();
      await shows('Proposals', '401–450 of 450');
      await shows('Journal', '206–405 of 415');
      await page.keyboard.press('n');
      await shows('Proposals', '201–400 of 450');
      await page.click('button[aria-label="Newer proposals"]');
      await shows('Proposals', '1–200 of 450');
      await page.goBack();
      await shows('Proposals', '201–400 of 450');
      // The rows next to the page, and then the newest.
      await page.keyboard.press('N');
      await shows('Journal', '6–205 of 415');
      await page.keyboard.press('N');
      await shows('Journal', '1–200 of 415');
      await page.selectOption('select[aria-label="Which proposals"]', 'ended');
      await shows('Proposals', '0 under way, 150 ended');
      expect(await page.locator('button[aria-label="Older proposals"]').count()).toBe(0);
      await show(page, `#/control?at=${new Date(210_500).toISOString()}`);
      await shows('Proposals', '1–200 of 211');
      expect(await first('Proposals')).toContain(':03:30');
    } finally {
      await page.close();
      await dashboard.close();
    }
  });

  it('without a controller both views say so', async () => {
    const { browser } = await stage.opened();
    const dashboard = await openDashboard({ page: await builtPage() });
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    try {
      for (const view of ['incidents', 'control']) {
        await page.goto(`${dashboard.url}#/${view}`);
        await page.waitForSelector('.empty:has-text("No controller runs here")');
      }
    } finally {
      await page.close();
      await dashboard.close();
    }
  });

  it('the browser has not complained of anything', async () => {
    const { complaints } = await stage.opened();
    expect(complaints).toEqual([]);
  });
});
