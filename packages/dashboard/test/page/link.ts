/** How soon a link that fails is red on the map. */

import { DashboardClient } from '@int/dashboard/client';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { PATIENCE_MS, type SharedStage, type Stage, show, text, until, withPageAway } from './stage.js';

/** What the page was told, and what it drew, in the order in which that happened. Times are of the telemetry, in milliseconds. */
type Recorded =
  /** A frame of series that ends at a time. */
  | { readonly kind: 'series'; readonly id: number; readonly endMs: number }
  /** A map, with the links that are down, of a time. */
  | { readonly kind: 'map'; readonly atMs: number; readonly down: readonly string[] }
  /** An animation frame: the pixels of the map in the colour of a link that is down. */
  | { readonly kind: 'drawn'; readonly red: number };

/** Runs in the page before its own scripts: records what comes by the WebSocket, and what each animation frame finds on the map. */
const RECORDER = `(() => {
  const recorded = globalThis.recorded = [];
  const take = (data) => {
    if (typeof data === 'string') {
      const message = JSON.parse(data);
      if (message.type !== 'topology') return;
      const down = message.data.links.filter(({ state }) => state === 'down').map(({ key }) => key);
      recorded.push({ kind: 'map', atMs: message.data.at, down });
    } else {
      const view = new DataView(data);
      const [id, t0, dt, n] = [view.getUint16(2, true), view.getFloat64(8, true), view.getFloat32(16, true), view.getUint32(20, true)];
      recorded.push({ kind: 'series', id, endMs: t0 + dt * n });
    }
  };
  globalThis.WebSocket = class extends WebSocket {
    constructor(...options) {
      super(...options);
      this.addEventListener('message', ({ data }) => take(data));
    }
  };
  globalThis.redPixels = () => {
    const canvas = document.querySelector('.map canvas');
    if (canvas === null || canvas.width === 0) return 0;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let red = 0;
    for (let k = 0; k < data.length; k += 4) if (data[k] > 200 && data[k + 1] < 110 && data[k + 2] < 110) red++;
    return red;
  };
  const look = () => {
    recorded.push({ kind: 'drawn', red: redPixels() });
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** Pixels of a link that is red on the map, at least. */
const RED = 50;
const redPixels = (page: Page): Promise<number> => page.evaluate('redPixels()');

/**
 * A second is made up of: at most 600 ms until six buckets of the telemetry, that of the fault included, tell that the link is silent;
 * a turn of the server, 50 ms, which sends the map at once and not with the others of its second; six animation frames, 100 ms, until
 * it is drawn. What a busy machine adds to each of them is no property of the page. So the test counts steps: buckets, frames of the
 * stream, animation frames. The benchmark of the page measures the whole with a clock.
 */
export function aFailingLink(stage: SharedStage): void {
  it('a link that fails is red on the map as soon as six buckets tell it, is named, and is whole again at an earlier time', async () => {
    const opened = await stage.opened();
    await withPageAway(opened, () => failALink(opened));
  });
}

async function failALink({ browser, dashboard, source }: Stage): Promise<void> {
  const client = new DashboardClient({ url: dashboard.url });
  const page = await browser.newPage({ viewport: { width: 1000, height: 700 }, colorScheme: 'dark' });
  page.setDefaultTimeout(PATIENCE_MS);
  try {
    await page.addInitScript(RECORDER);
    // The details of a switch have charts: frames of series tell how far the telemetry is.
    await page.goto(`${dashboard.url}#/topology?pick=switch:3`);
    // The busiest link has carried so many reports that a half second without one is a fault.
    const busiest = await until(
      'a busy link',
      async () => {
        const { links } = await client.topology();
        const [most] = [...links].sort((a, b) => b.reportsPerSecond - a.reportsPerSecond);
        if (most === undefined) return null;
        const { series } = await client.series({ metric: 'reports', entities: [most.key] });
        const ofTenSeconds = series[0]!.values.slice(-100).reduce<number>((sum, value) => sum + (value ?? 0), 0);
        return ofTenSeconds >= 300 ? most : null;
      },
      { everyMs: 100 },
    );
    await until('a map without red', async () => (await redPixels(page)) === 0, { everyMs: 20 });
    await until('a frame of series', async () => page.evaluate(`recorded.some(({ kind }) => kind === 'series')`));
    const faultMs = source.fail(busiest.from, busiest.to);
    await until('a red link', async () => (await redPixels(page)) > RED, { everyMs: 20 });
    const recorded: Recorded[] = await page.evaluate('recorded');
    const isDown = (each: Recorded): boolean => each.kind === 'map' && each.down.includes(busiest.key);
    const told = recorded.findIndex(isDown);
    const drawn = recorded.findIndex((each, index) => index > told && each.kind === 'drawn' && each.red > RED);
    expect(recorded.slice(0, told).some((each) => each.kind === 'drawn' && each.red > 0)).toBe(false);

    // The buckets from that of the fault to the sixth, and the frames of one subscription that told of them before the map did.
    const dueMs = (Math.floor(faultMs / 100) + 6) * 100;
    const ids = recorded
      .slice(0, told)
      .flatMap((each) => (each.kind === 'series' && each.endMs >= dueMs ? [each.id] : []));
    expect(dueMs - faultMs).toBeLessThanOrEqual(600);
    // At most the frame of the same turn.
    expect(ids).toEqual([...new Set(ids)]);
    const animationFrames = recorded.slice(told, drawn).filter(({ kind }) => kind === 'drawn').length;
    expect(animationFrames).toBeLessThanOrEqual(6);

    await show(page, '#/topology');
    const names = new RegExp(`${busiest.from < 5 ? 'leaf|img' : 'spine'}.* › .*\\s+down`);
    await until('its name first', async () => names.test(await text(page, '.panel[aria-label="Links"] tbody tr')));
    await show(page, `#/topology?at=${new Date(faultMs - 500).toISOString()}`);
    await until('the map as it was', async () => (await redPixels(page)) === 0, { everyMs: 20 });
    source.repair();
    await show(page, '#/topology');
    await until('the link again', async () => !(await text(page, '.panel[aria-label="Links"]')).includes('down'));
  } finally {
    await page.close();
  }
}
