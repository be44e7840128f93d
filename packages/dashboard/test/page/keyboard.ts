/** How much of the page works without a pointer. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { PATIENCE_MS, type SharedStage, type Stage, until, withPageAway } from './stage.js';

/** Runs in the page before its own scripts: remembers which elements listen to pointers. */
const LISTENERS = `(() => {
  const POINTER = /^(?:click|dblclick|wheel|pointer\\w+|mouse\\w+|drag\\w+|touch\\w+)$/;
  const add = EventTarget.prototype.addEventListener;
  const heard = new WeakMap();
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (POINTER.test(type)) heard.set(this, (heard.get(this) ?? new Set()).add(type));
    return add.call(this, type, ...rest);
  };
  const NATIVE = 'a[href], button, input, select, textarea, summary';
  const isSeen = (element) => element.checkVisibility() && !element.matches(':disabled');
  /** What tells a control from others: those of many rows are one. */
  const nameOf = (element) => {
    const part = element.closest('[aria-label]:not(main):not(' + NATIVE.replaceAll(', ', '):not(') + ')')?.getAttribute('aria-label');
    const isOfRow = element.closest('tbody, ul, ol, dl, .bytes') !== null;
    const own = element.getAttribute('aria-label') ?? element.closest('label')?.textContent ?? element.textContent;
    const said = isOfRow ? 'of a row' : own.replaceAll(/[\\d.,:\\s]+/g, ' ').trim().slice(0, 40);
    return [part ?? 'page', element.tagName.toLowerCase(), element.type ?? '', said].filter((each) => each !== '').join(' ');
  };
  /** The controls of a part of the page, one of each name. */
  globalThis.controlsIn = (root) => {
    const found = new Map();
    for (const each of document.querySelectorAll(root + ' :is(' + NATIVE + ')')) {
      if (isSeen(each) && !found.has(nameOf(each))) found.set(nameOf(each), each);
    }
    globalThis.controls = found;
    return [...found.keys()];
  };
  /** What else listens to pointers: class or tag, and the kind of event. */
  globalThis.pointersIn = (root) => {
    const found = new Set();
    for (const each of document.querySelectorAll(root + ' *')) {
      if (each.matches(NATIVE) || each.closest('label') !== null) continue;
      const own = each.matches('[data-row]') ? 'row' : each.classList[0] ?? each.tagName.toLowerCase();
      for (const type of heard.get(each) ?? []) found.add(own + ' ' + type);
    }
    return [...found];
  };
  const focusable = () => [...document.querySelectorAll(NATIVE + ', [tabindex="0"]')].filter((each) => isSeen(each) && each.tabIndex >= 0);
  /** Puts the focus before a control, so that Tab should come to it. Its events do nothing from then on but to be noted. */
  globalThis.before = (name) => {
    const target = globalThis.controls.get(name);
    if (target === undefined || !target.isConnected) return false;
    globalThis.target = target;
    globalThis.used = null;
    const all = focusable();
    document.activeElement?.blur();
    all[all.indexOf(target) - 1]?.focus();
    return true;
  };
  for (const type of ['click', 'input', 'change']) {
    add.call(window, type, (event) => {
      if (globalThis.target === undefined) return;
      event.stopImmediatePropagation();
      if (type === 'click') event.preventDefault();
      if (event.target === globalThis.target) globalThis.used = type;
    }, true);
  }
})()`;

/** Keys that use a control that has the focus, by what it is; of all others Enter and space do. */
const USES: Readonly<Record<string, readonly string[]>> = {
  'select-one': ['ArrowDown', 'ArrowUp'],
  range: ['ArrowLeft', 'ArrowRight'],
  'datetime-local': ['ArrowUp', '1'],
  checkbox: [' '],
  text: ['x'],
  search: ['x'],
  textarea: ['x'],
};
/** What comes meanwhile may take the place of an element: then it is looked for again. */
const ATTEMPTS = 8;
const MOST_PARTS = 9;

/** Uses a control with Tab and another key. @returns whether it noticed */
async function isUsed(page: Page, root: string, name: string): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [wanted, of] = [JSON.stringify(name), JSON.stringify(root)];
    if (!(await page.evaluate(`controlsIn(${of}).includes(${wanted}) && before(${wanted})`))) continue;
    // A time before it has parts, and each of them takes a Tab.
    let type: string | null = null;
    for (let parts = 0; type === null && parts < MOST_PARTS; parts++) {
      await page.keyboard.press('Tab');
      type = await page.evaluate(`document.activeElement === target ? target.type ?? '' : null`);
    }
    if (type === null) continue;
    for (const key of USES[type] ?? ['Enter', ' ']) {
      await page.keyboard.press(key);
      const [isNoticed, isLeft] = (await page.evaluate(
        '[used !== null, document.activeElement !== target]',
      )) as boolean[];
      if (isNoticed) return true;
      if (isLeft) break;
    }
  }
  return false;
}

/** What pointers do elsewhere than on a control, and how keys do the same; `null`: they do not. */
interface Gesture {
  /** As `row click`. */
  readonly of: readonly string[];
  readonly name: string;
  readonly byKeys: ((page: Page) => Promise<unknown>) | null;
}

const selectedRow = (page: Page): Promise<unknown> =>
  until('a selected row', async () => {
    await page.keyboard.press('j');
    return (await page.locator('[data-row][aria-selected="true"]').count()) > 0;
  });

const hashChanges = async (page: Page, key: string): Promise<void> => {
  const before = await page.evaluate('location.hash');
  await until(`what ${key} does`, async () => {
    await page.keyboard.press(key);
    return (await page.evaluate('location.hash')) !== before;
  });
};

const picture = (page: Page): Promise<unknown> => page.evaluate(`document.querySelector('.map canvas').toDataURL()`);

/** What uPlot listens to for itself: after a drag it swallows the click, and a double click changes nothing where ranges are given. */
const NOTHING = ['u-wrap click', 'u-over click', 'u-over dblclick'];

const GESTURES: readonly Gesture[] = [
  { of: ['row click', 'row pointerdown'], name: 'a row is selected: j, k', byKeys: selectedRow },
  {
    of: ['row dblclick'],
    name: 'a row is opened: Enter',
    byKeys: async (page) => {
      await selectedRow(page);
      await hashChanges(page, 'Enter');
    },
  },
  {
    of: ['list mouseenter', 'list mouseleave'],
    name: 'a list is held: space',
    byKeys: (page) => hashChanges(page, ' '),
  },
  {
    of: ['canvas wheel'],
    name: 'the map is zoomed: i, o',
    byKeys: async (page) => {
      const before = await picture(page);
      await page.keyboard.press('i');
      await until('a larger map', async () => (await picture(page)) !== before);
    },
  },
  {
    of: ['canvas click'],
    name: 'a link or a switch is picked: Enter in the lists beside the map',
    byKeys: async (page) => {
      await page.evaluate(`document.querySelector('.side button.link').focus()`);
      await hashChanges(page, 'Enter');
    },
  },
  { of: ['u-over mousedown'], name: 'a chart is zoomed: -, +', byKeys: (page) => hashChanges(page, '-') },
  {
    of: ['byte pointerenter', 'bytes pointerleave'],
    name: 'bytes and fields light up: Tab in the tree of fields',
    byKeys: async (page) => {
      await page.evaluate(`document.querySelectorAll('.tree button')[0].focus()`);
      await page.keyboard.press('Tab');
      await until('lit bytes', async () => (await page.locator('.hex .lit').count()) > 0);
    },
  },
  {
    of: ['canvas pointermove', 'canvas pointerleave'],
    name: 'the map: it is dragged, and tells what is pointed at',
    byKeys: null,
  },
  {
    of: ['u-over mousemove', 'u-over mouseenter', 'u-over mouseleave'],
    name: 'a chart: the values at a moment',
    byKeys: null,
  },
  {
    of: ['plot pointerenter', 'plot pointerleave'],
    name: 'a chart: it scrolls smoothly under the pointer',
    byKeys: null,
  },
];

/** Where one is, and what must be there first. */
const PLACES: readonly (readonly [fragment: string, ready: string])[] = [
  ['#/now', '.panel[aria-label="Slowest flows"] tbody tr'],
  ['#/topology', '.panel[aria-label="Links"] tbody tr'],
  ['#/topology?pick=switch:1', '.panel[aria-label="Queues"] tbody tr'],
  ['#/series', '.chart .u-over'],
  ['#/table', '.flows tbody tr'],
  ['#/events', '.panel[aria-label="Events"] tbody tr'],
  ['#/rules', '.form tbody tr'],
  ['#/history', '.panel[aria-label="Replay"]'],
  ['#/incidents', 'main .panel, main .empty'],
  ['#/control', 'main .panel, main .empty'],
];

export function theKeyboard(stage: SharedStage): void {
  it('four of five interactions need no pointer: each control of each view, and what pointers do elsewhere', {
    timeout: 180_000,
  }, async () => {
    const opened = await stage.opened();
    await withPageAway(opened, () => useAll(opened));
  });
}

/** Uses all controls of all views, and makes all gestures, by keys. */
async function useAll({ browser, dashboard }: Stage): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  page.setDefaultTimeout(PATIENCE_MS);
  const works: string[] = [];
  const doesNot: string[] = [];
  const look = async (place: string): Promise<void> => {
    const pointers: string[] = await page.evaluate(`pointersIn('body')`);
    const open = new Set(pointers.filter((each) => !NOTHING.includes(each)));
    for (const gesture of GESTURES) {
      if (!gesture.of.some((each) => open.has(each))) continue;
      for (const each of gesture.of) open.delete(each);
      await gesture.byKeys?.(page);
      (gesture.byKeys === null ? doesNot : works).push(`${place}: ${gesture.name}`);
      if (gesture.byKeys !== null) await visit(place);
    }
    doesNot.push(...[...open].map((each) => `${place}: ${each}`));
    const controls: string[] = await page.evaluate(`controlsIn('main')`);
    for (const name of controls) ((await isUsed(page, 'main', name)) ? works : doesNot).push(`${place}: ${name}`);
  };
  const ready = new Map(PLACES);
  const visit = async (place: string): Promise<void> => {
    // A page of its own for each place: nothing of what was done before is left.
    await page.goto('about:blank');
    await page.goto(`${dashboard.url}${place}`);
    await page.waitForSelector(ready.get(place) ?? '.waterfall li');
  };
  try {
    await page.addInitScript(LISTENERS);
    for (const [place] of PLACES) {
      await visit(place);
      await look(place);
      if (place !== '#/now') continue;
      // What is around all views counts once.
      for (const root of ['header.top', '.bar']) {
        const controls: string[] = await page.evaluate(`controlsIn(${JSON.stringify(root)})`);
        for (const name of controls) ((await isUsed(page, root, name)) ? works : doesNot).push(`all: ${name}`);
      }
    }
    await visit('#/events');
    const href = await page.locator('.panel[aria-label="Events"] tr[data-row] a').first().getAttribute('href');
    await visit(href!);
    await page.waitForSelector('.hex .byte');
    await look(href!);
    const found = works.length + doesNot.length;
    expect(found, 'all there is').toBeGreaterThan(80);
    expect(works.length / found, `only with a pointer:\n${doesNot.join('\n')}`).toBeGreaterThanOrEqual(0.8);
  } finally {
    await page.close();
  }
}
