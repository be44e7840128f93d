import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { theKeyboard } from './page/keyboard.js';
import { aFailingLink } from './page/link.js';
import { PATIENCE_MS, SharedStage, show, text, until, violations, withPageAway } from './page/stage.js';

const stage = new SharedStage();
const opened = () => stage.opened();
afterAll(() => stage.close());

describe('in a browser', () => {
  // It builds the page and starts the browser for all tests.
  it('the first view has data: charts, the worst, the slowest flows, its own health', {
    timeout: 180_000,
  }, async () => {
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

  aFailingLink(stage);

  theKeyboard(stage);

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

  it('one click on an event opens the biography of its packet', async () => {
    const { page } = await opened();
    await show(page, '#/events?filter=rule=deep-queue');
    await page.locator('.panel[aria-label="Events"] tr[data-row] td:nth-child(2)').first().click();
    await page.waitForSelector('.waterfall li');
    expect(await page.locator('.waterfall .cause').count()).toBeGreaterThan(0);
    const packet = page.locator('.panel[aria-label="Hop by hop"]');
    expect(await packet.innerText()).toMatch(/queue \d+: [\d.]+ [kM]?B/);
    expect(await text(page, '.biography .facts')).toMatch(/because\s+.*queueOccupancy/);
    const bytes = await page.locator('.hex .byte').count();
    expect(bytes).toBeGreaterThan(60);
    // A field lights up its bytes, and a byte its field.
    await page.locator('.tree > li > button').first().hover();
    expect(await page.locator('.hex .lit').count()).toBeGreaterThan(0);
    await page.locator('.hex .byte').nth(14).hover();
    expect(await page.locator('.tree .lit').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await show(page, '#/events');
  });

  it('a rule is edited, tried on what is retained, applied, and its events arrive', async () => {
    const { page } = await opened();
    await show(page, '#/rules');
    const yaml = page.locator('textarea[aria-label="Rules as YAML"]');
    await until('the text', async () => (await yaml.inputValue()).includes('- name: deep-queue'));
    // A mistake shows where it is.
    const before = await yaml.inputValue();
    await yaml.fill(before.replace('queueOccupancy', 'queueOccupancies'));
    await page.waitForSelector('.problems li');
    expect(await text(page, '.problems')).toMatch(/^7:\d+\s.*queueOccupancy/);
    await yaml.fill(before);
    // The form changes the text, and only what was changed.
    await page.fill('#rule-name', 'shallow-queue');
    await page.fill('#rule-detect-threshold-threshold', '160B');
    await page.locator('#rule-detect-threshold-threshold').blur();
    await until('the change', async () => (await yaml.inputValue()).includes('160B'));
    expect(await yaml.inputValue()).toBe(before.replace('deep-queue', 'shallow-queue').replace('8KiB', '160B'));
    await page.locator('button:has-text("Difference")').click();
    expect(await page.locator('.diff .new').allInnerTexts()).toHaveLength(2);
    await until('no mistakes', async () => (await page.locator('.problems li').count()) === 0);
    await page.locator('button:has-text("Dry run")').first().click();
    await page.waitForSelector('.dry .summary');
    const tried = Number((await text(page, '.dry .summary b')).replaceAll(',', ''));
    expect(tried).toBeGreaterThan(0);
    await page.locator('button:has-text("P4 tables")').click();
    await page.waitForSelector('.dry pre:has-text("table_add")');
    await page.locator('button.primary').click();
    await page.waitForSelector('[role=status]:has-text("Applied")');
    await show(page, '#/events?filter=rule=shallow-queue');
    await page.waitForSelector('.panel[aria-label="Events"] td.rule:has-text("shallow-queue")');
    await show(page, '#/events');
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

  it('what is noted is on the first view, and a range is replayed, faster and slower, and left again', async () => {
    const { page } = await opened();
    await page.keyboard.press('1');
    await page.fill('input[aria-label="Note"]', 'a deployment of <b>leaf-1</b>');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.notes li:has-text("a deployment of <b>leaf-1</b>")');
    await page.keyboard.press('Escape');
    await page.keyboard.press('7');
    await page.waitForSelector('.panel[aria-label="Replay"] button.primary');
    // There is no history here, and the view says so.
    expect(await text(page, '.panel[aria-label="SQL over the history"]')).toContain('No history is written');
    await page.keyboard.press('p');
    await page.waitForSelector('fieldset[aria-label="Replay"] .mono');
    expect(await page.evaluate('location.hash')).toMatch(/^#\/now\?replay=[0-9a-f]{12}$/);
    await page.keyboard.press('>');
    const speed = page.locator('select[aria-label="Speed of the replay"]');
    await until('a faster replay', async () => (await speed.inputValue()) === '2');
    await speed.selectOption('100');
    await until('its end', async () => (await text(page, 'fieldset[aria-label="Replay"] .mono')) === 'ended');
    await page.keyboard.press('5');
    await page.waitForSelector('.panel[aria-label="Events"] tbody tr');
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('b');
    await until(
      'the network again',
      async () => !((await page.evaluate('location.hash')) as string).includes('replay'),
    );
  });

  it('times that nothing is known of say why, in every view', async () => {
    const { page } = await opened();
    const at = 'at=2026-01-01T00:00:00.000Z';
    for (const [view, selector] of [
      ['topology', '.empty'],
      ['table', '.empty'],
      ['events', '.panel[aria-label="Events"] .empty'],
    ] as const) {
      await show(page, `#/${view}?${at}`);
      await page.waitForSelector(`${selector}:has-text("Only the last 120 s are retained, and there is no history")`);
    }
    await show(page, '#/now');
  });

  it('no view is wider than a telephone, and a biography opens there', async () => {
    const all = await opened();
    await withPageAway(all, async () => {
      const { browser, dashboard } = all;
      const page = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme: 'dark' });
      page.setDefaultTimeout(PATIENCE_MS);
      try {
        await page.goto(dashboard.url);
        for (const view of ['now', 'topology', 'series', 'table', 'events', 'rules', 'history']) {
          await show(page, `#/${view}`);
          await page.waitForSelector('main .panel');
          const beyond = 'document.documentElement.scrollWidth - innerWidth';
          expect((await page.evaluate(beyond)) as number, view).toBeLessThanOrEqual(0);
        }
        // Whatever was looked at before, the top of what is opened is the top of what one sees, and stays there while it grows.
        const rows = page.locator('.panel[aria-label="Events"] tr[data-row] td.rule');
        for (const [which, filter] of ['first', 'last', 'by its address'].entries()) {
          await show(page, '#/events?filter=rule=latency-step');
          await until('a list', async () => (await rows.count()) >= 20, { everyMs: 20 });
          if (filter === 'by its address') {
            const id = await page.locator('.panel[aria-label="Events"] tr[data-row] a').first().getAttribute('href');
            await page.evaluate(`document.querySelector('main').scrollTop = 1e6`);
            await show(page, id!);
            await page.waitForSelector('.waterfall li');
          } else {
            // The list is live: a row may move away under the pointer.
            const isOpen = async (): Promise<boolean> => {
              await rows.nth(which === 0 ? 0 : 19).click();
              const wait = page.waitForSelector('.waterfall li', { timeout: 5000 });
              return wait.then(
                () => true,
                () => false,
              );
            };
            await until('a biography', isOpen);
          }
          await page.waitForSelector('.hex .byte');
          const [from, top]: [number, number] =
            await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() =>
          resolve(['main', '.biography .panel'].map((each) => document.querySelector(each).getBoundingClientRect().top))))`);
          expect(top - from, filter).toBeGreaterThanOrEqual(0);
          expect(top - from, filter).toBeLessThan(20);
        }
      } finally {
        await page.close();
      }
    });
  });

  it('the browser has not complained of anything', async () => {
    const { complaints } = await opened();
    expect(complaints).toEqual([]);
  });
});
