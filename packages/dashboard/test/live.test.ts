import { Collector, DetectionStage } from '@int/collector';
import type { Dashboard, SeriesAnswer, ServerMessage, Status } from '@int/dashboard';
import { readRules } from '@int/detect/yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { RecordSource } from './record-source.js';

const RULES = `
version: 1
default: drop
rules:
  - { name: any, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1200, scope: hop } } }
`;

let dashboard: Dashboard;
let collector: Collector;
const source = new RecordSource();

beforeAll(async () => {
  dashboard = await openDashboard();
  collector = new Collector({ sources: [source], stages: [new DetectionStage(readRules(RULES))], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  await collector.start();
});
afterAll(async () => {
  await collector.stop();
});

/** A viewer, and what it got. */
class TestViewer {
  readonly socket: WebSocket;
  readonly messages: ServerMessage[] = [];
  readonly frames: {
    readonly id: number;
    readonly sequence: number;
    readonly t0: number;
    readonly values: number[];
  }[] = [];

  constructor() {
    const url = new URL('api/v1/live', dashboard.url);
    url.protocol = 'ws:';
    this.socket = new WebSocket(url);
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) this.messages.push(JSON.parse(data.toString()) as ServerMessage);
      else {
        const n = data.readUInt32LE(20);
        const values = Array.from({ length: (data.length - 24) / 4 }, (_, index) => data.readFloatLE(24 + index * 4));
        expect(values.length % n).toBe(0);
        this.frames.push({
          id: data.readUInt16LE(2),
          sequence: data.readUInt32LE(4),
          t0: data.readDoubleLE(8),
          values,
        });
      }
    });
  }

  async open(...subscriptions: readonly unknown[]): Promise<this> {
    await until('the connection', () => this.socket.readyState === WebSocket.OPEN);
    for (const each of subscriptions) this.socket.send(typeof each === 'string' ? each : JSON.stringify(each));
    return this;
  }

  of<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }>[] {
    return this.messages.filter((message) => message.type === type) as Extract<ServerMessage, { type: T }>[];
  }
}

const get = async (path: string): Promise<unknown> => (await fetch(new URL(path, dashboard.url))).json();

describe('the live stream', () => {
  test('sends each bucket once, and they add up to the collector’s reports', async () => {
    const viewer = await new TestViewer().open({
      type: 'series',
      id: 7,
      metric: 'reports',
      entities: ['all'],
      from: 0,
    });
    for (let round = 0; round < 20; round++) source.send(100);
    source.pass(300);
    const { reports } = collector.totals();
    const sum = (): number =>
      viewer.frames.flatMap(({ values }) => values).reduce((all, value) => all + (Number.isNaN(value) ? 0 : value), 0);
    await until('all buckets', () => sum() === reports, { found: sum });
    expect(viewer.frames.map(({ sequence }) => sequence)).toEqual(viewer.frames.map((_, index) => index));
    const answer = (await get('api/v1/series?metric=reports&entity=all&from=1700000000000')) as SeriesAnswer;
    const asked = answer.series[0]!.values.reduce<number>((all, value) => all + (value ?? 0), 0);
    expect(asked).toBe(reports);
    viewer.socket.terminate();
  });

  test('sends events and reports as they come, as many as are wanted, and tables each second', async () => {
    const viewer = await new TestViewer().open(
      { type: 'events', id: 1, filter: '' },
      { type: 'reports', id: 2, filter: 'switch=1', perSecond: 50 },
      { type: 'flows', id: 3, filter: '', sort: '-reports', limit: 3 },
      { type: 'topology', id: 4 },
      { type: 'status', id: 5 },
    );
    await until(
      'reports',
      () => {
        source.send(100);
        source.pass(30);
        return viewer.of('reports').length > 0 && viewer.of('events').length > 0;
      },
      { everyMs: 50 },
    );
    const [reports] = viewer.of('reports');
    expect(reports!.rows.every(({ path }) => path.includes(1))).toBe(true);
    expect(viewer.of('events')[0]!.rows[0]).toMatchObject({ rule: 'any', state: 'once' });
    await until(
      'tables',
      () => viewer.of('flows').length > 0 && viewer.of('topology').length > 0 && viewer.of('status').length > 0,
    );
    expect(viewer.of('flows')[0]!.data.rows).toHaveLength(3);
    expect(viewer.of('status').at(-1)!.data.dashboard.viewers).toBeGreaterThan(0);
    viewer.socket.terminate();
  });

  test('refuses by name what it does not understand, and goes on', async () => {
    const series = { type: 'series', id: 1, metric: 'reports', entities: ['all'] };
    const viewer = await new TestViewer().open(
      'no JSON',
      'null',
      { type: 'series', id: 0 },
      { ...series, metric: '__proto__' },
      { ...series, entities: ['switch:x'] },
      { ...series, entities: Array.from({ length: 65 }, () => 'all') },
      { type: 'flows', id: 2, filter: 'latencey > 1' },
      { type: 'flows', id: 2, filter: '', sort: 'constructor' },
      { type: 'reports', id: 3, filter: '', perSecond: -1 },
      { type: 'nothing', id: 4 },
      series,
    );
    viewer.socket.send(Buffer.from([1, 2, 3]));
    source.send(100);
    source.pass(200);
    await until('a frame', () => viewer.frames.length > 0);
    const codes = viewer.of('refused').map(({ code }) => code);
    expect(codes.slice(0, 10)).toEqual([
      'ERR_JSON',
      'ERR_MESSAGE',
      'ERR_MESSAGE',
      'ERR_PARAMETER',
      'ERR_PARAMETER',
      'ERR_TOO_MANY',
      'ERR_FILTER',
      'ERR_PARAMETER',
      'ERR_PARAMETER',
      'ERR_MESSAGE',
    ]);
    const { dashboard: own } = (await get('api/v1/status')) as Status;
    expect(own.refused).toMatchObject({ ERR_JSON: 1, ERR_FILTER: 1 });
    viewer.socket.terminate();
  });

  test('skips frames of a viewer that reads nothing, tells it how many, and others get all', async () => {
    const entities = Array.from({ length: 64 }, () => 'all');
    const subscriptions = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => ({
      type: 'series',
      id,
      metric: 'reports',
      entities,
      from: 0,
    }));
    const slow = await new TestViewer().open();
    const quick = await new TestViewer().open({ type: 'series', id: 9, metric: 'reports', entities: ['all'] });
    slow.socket.pause();
    // Each new subscription sends all that is retained once more: much faster than a second of buckets.
    let isSkipped = false;
    await until(
      'skipped frames',
      async () => {
        for (const each of subscriptions) slow.socket.send(JSON.stringify(each));
        source.send(20);
        source.pass(2000);
        const { dashboard: own } = (await get('api/v1/status')) as Status;
        isSkipped = own.framesSkipped > 0;
        return isSkipped;
      },
      // Eight messages each time: faster is refused.
      { everyMs: 200 },
    );
    const before = quick.frames.length;
    source.pass(500);
    await until('frames for the other one', () => quick.frames.length > before);
    expect(quick.of('behind')).toEqual([]);
    slow.socket.resume();
    await until('word of what was missed', () => {
      source.pass(200);
      return slow.of('behind').length > 0;
    });
    expect(slow.of('behind')[0]!.missed).toBeGreaterThan(0);
    slow.socket.terminate();
    quick.socket.terminate();
  });
});
