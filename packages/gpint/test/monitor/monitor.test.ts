import { GPINT_DSCP, gpintProbe } from '@int/codec';
import {
  GraphBuilder,
  Monitor,
  type MonitorClock,
  type MonitorEvent,
  type MonitorOptions,
  Paths,
  type SessionReport,
} from '@int/gpint';
import { describe, expect, it } from 'vitest';
import { ModelNetwork, type ModelOptions } from './model-network.js';
import { SECOND } from './scenario.js';

/** a - b - c - d */
const graph = new GraphBuilder().addLink('a', 'b').addLink('b', 'c').addLink('c', 'd').build();
const timeoutNs = SECOND;

function set(
  paths: number[][],
  options: Partial<MonitorOptions> = {},
  model: Partial<ModelOptions> = {},
): { network: ModelNetwork; monitor: Monitor; events: MonitorEvent[]; sent: [number, Uint8Array][] } {
  const events: MonitorEvent[] = [];
  const sent: [number, Uint8Array][] = [];
  const network = new ModelNetwork({ graph, seed: 1, extended: false, timeoutNs, ...model });
  const monitor = new Monitor({
    graph,
    plan: Paths.from(paths),
    transport: {
      send(entry, payload, extended) {
        sent.push([entry, payload]);
        network.transport.send(entry, payload, extended);
      },
    },
    clock: network.clock,
    config: { timeoutNs, maxAttempts: 0 },
    onEvent: (event) => events.push(event),
    ...options,
  });
  network.receive = (payload, dscp) => monitor.receive(payload, dscp);
  return { network, monitor, events, sent };
}

describe('a session', () => {
  it('tells what happens as it happens', () => {
    const { network, monitor, events } = set([[0, 1, 2, 3]]);
    network.failLink(1, 2);
    void monitor.collect();
    network.run();
    const first = monitor.counters.sent;
    expect(first).toBe(2);
    expect(events.map(({ kind }) => kind)).toEqual([
      'session',
      'sent',
      'feedback',
      'notice',
      'link',
      'sent',
      'feedback',
      'home',
      'done',
      'end',
    ]);
    expect(events[3]).toMatchObject({ path: 0, position: 0, nodes: [0, 1] });
    expect(events[4]).toMatchObject({ from: 1, to: 2, status: 'unavailable' });
    expect(events[5]).toMatchObject({ path: 0, position: 2, recovery: true, prefix: [] });
    expect(events[7]).toMatchObject({ path: 0, position: 2, nodes: [2, 3] });
  });

  it('is told of as a promise too', async () => {
    const { network, monitor } = set([[0, 1, 2, 3]]);
    let early: SessionReport | undefined;
    const promise = monitor.collect((report) => {
      early = report;
    });
    network.run();
    expect(await promise).toBe(early);
    expect(early).toMatchObject({ session: 1, complete: true, collected: 4, uncollected: [] });
  });

  it('can begin as the former one ends, but not while it runs', () => {
    const { network, monitor } = set([[0], [1, 2], [3]]);
    const reports: SessionReport[] = [];
    void monitor.collect((report) => {
      reports.push(report);
      void monitor.collect((next) => reports.push(next));
      expect(() => monitor.collect()).toThrow(TypeError);
    });
    expect(monitor.running).toBe(true);
    expect(() => monitor.collect()).toThrow(TypeError);
    network.run();
    expect(reports.map(({ session, complete }) => [session, complete])).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(monitor.running).toBe(false);
  });

  it('reports what it has when it is stopped', () => {
    const { network, monitor } = set([[0], [1, 2, 3]], {}, { linkDelayNs: 10 });
    const reports: SessionReport[] = [];
    void monitor.collect((report) => reports.push(report));
    network.run(25);
    monitor.stop();
    expect(reports[0]).toMatchObject({ complete: false, collected: 1, endedNs: 20 });
    expect(reports[0]!.uncollected.map(({ name, reason }) => [name, reason])).toEqual([
      ['b', 'session-end'],
      ['c', 'session-end'],
      ['d', 'session-end'],
    ]);
    network.run();
    expect(monitor.counters.stale).toBeGreaterThan(0);
    monitor.stop();
    expect(reports).toHaveLength(1);
  });

  it('names switches that no path visits', () => {
    const { network, monitor } = set([[1, 0]]);
    const reports: SessionReport[] = [];
    void monitor.collect((report) => reports.push(report));
    network.run();
    expect(reports[0]).toMatchObject({
      complete: false,
      collected: 2,
      uncollected: [
        { node: 2, name: 'c', reason: 'unplanned' },
        { node: 3, name: 'd', reason: 'unplanned' },
      ],
    });
  });

  it('follows another plan from the next session on', () => {
    const { network, monitor } = set([[0, 1]]);
    const collected: number[] = [];
    void monitor.collect((report) => collected.push(report.telemetry.size));
    monitor.setPlan({
      paths: Paths.from([
        [0, 1],
        [3, 2],
      ]),
    });
    network.run();
    void monitor.collect((report) => collected.push(report.telemetry.size));
    network.run();
    expect(collected).toEqual([2, 4]);
    expect(monitor.probes).toHaveLength(2);
  });
});

describe('periodic collection', () => {
  it('begins sessions an interval apart, or as the former one ends', () => {
    const { network, monitor } = set([[0, 1, 2, 3]], {
      config: { timeoutNs, resolutionNs: timeoutNs, maxAttempts: 0 },
    });
    const starts: number[] = [];
    monitor.every(
      2 * SECOND,
      (report) => {
        starts.push(report.startedNs / SECOND);
        if (starts.length === 2) network.failLink(1, 2);
      },
      { rounds: 4 },
    );
    network.run();
    // Recovery takes 2 seconds and a little.
    expect(starts.slice(0, 3)).toEqual([0, 2, 4]);
    expect(starts[3]).toBeGreaterThanOrEqual(6);
    expect(starts).toHaveLength(4);
  });

  it('can be stopped, also by its own report', () => {
    const { network, monitor } = set([[0]]);
    let rounds = 0;
    const periodic = monitor.every(SECOND, () => {
      if (++rounds === 3) periodic.stop();
    });
    network.run();
    expect(rounds).toBe(3);
    monitor.every(SECOND, () => rounds++);
    network.run(network.nowNs + SECOND / 2);
    monitor.stop();
    network.run();
    expect(rounds).toBe(4);
  });

  it('steps back while a session runs that was asked for otherwise', () => {
    const { network, monitor } = set([[0]]);
    void monitor.collect();
    let rounds = 0;
    monitor.every(SECOND, () => rounds++, { rounds: 2 });
    network.run();
    expect(rounds).toBe(2);
  });
});

describe('packets for a monitor', () => {
  it('are what their content says, where the DSCP cannot be seen', () => {
    const { network, monitor } = set([[0, 1, 2, 3]]);
    network.failLink(1, 2);
    network.receive = (payload) => monitor.receive(payload, null);
    const reports: SessionReport[] = [];
    void monitor.collect((report) => reports.push(report));
    network.run();
    expect(reports[0]).toMatchObject({
      complete: true,
      links: [{ from: 1, to: 2, status: 'unavailable', notices: 1 }],
    });
    expect(reports[0]!.counters).toMatchObject({ feedback: 2, notice: 1, home: 1, malformed: 0, received: 4 });
  });

  it('are read wherever they lie in a larger buffer', () => {
    const { network, monitor } = set(
      [[0, 1, 2, 3]],
      { measurements: { first: 1, count: 2 } },
      { counters: () => [1, 2, 3] },
    );
    network.receive = (payload, dscp) => {
      const whole = new Uint8Array(payload.length + 11).fill(0xee);
      whole.set(payload, 5);
      monitor.receive(whole.subarray(5, 5 + payload.length), dscp);
    };
    let report: SessionReport | undefined;
    void monitor.collect((each) => {
      report = each;
    });
    network.run();
    expect([...report!.telemetry].map(({ name, measurements }) => [name, ...measurements])).toEqual([
      ['a', 2, 3],
      ['b', 2, 3],
      ['c', 2, 3],
      ['d', 2, 3],
    ]);
    expect(report!.telemetry.get(4)).toBeUndefined();
  });

  it('are counted and do no harm if they are none', () => {
    const { monitor, sent } = set([[0, 1]], { transport: { send: () => undefined } });
    void monitor.collect();
    expect(sent).toEqual([]);
    const probe = gpintProbe.encode({ requestId: 1, type: 'port-packets', route: [], switches: [], measurements: [] });
    const rubbish: [Uint8Array, number | null][] = [
      [new Uint8Array(0), null],
      [new Uint8Array(1), null],
      [new Uint8Array(3), null],
      [new Uint8Array(1), GPINT_DSCP.FEEDBACK],
      [new Uint8Array(2), GPINT_DSCP.PROBE],
      [new Uint8Array(2), GPINT_DSCP.RECOVERY],
      [new Uint8Array(8).fill(0xff), null],
      [new Uint8Array(3000), GPINT_DSCP.PROBE],
      [probe.subarray(0, 7), GPINT_DSCP.PROBE],
      // More switches than a probe may visit: 256 DLV headers.
      [Uint8Array.from({ length: 8 + 1024 }, (_, i) => (i === 4 ? 1 : 0)), GPINT_DSCP.PROBE],
      // Another type of counters than it asked for.
      [probe, GPINT_DSCP.PROBE],
      [Uint8Array.of(0, 0), 0],
    ];
    for (const [payload, dscp] of rubbish) monitor.receive(payload, dscp);
    expect(monitor.counters).toMatchObject({ malformed: rubbish.length, received: rubbish.length });
    expect(monitor.running).toBe(true);
    monitor.stop();
  });

  it('may come before the transport has returned', () => {
    const clock: MonitorClock = { nowNs: () => 5, at: () => () => undefined };
    const order: string[] = [];
    const monitor: Monitor = new Monitor({
      graph,
      plan: Paths.from([[0], [1], [2], [3]]),
      clock,
      transport: {
        send(entry, payload) {
          const [hop] = gpintProbe.decode(payload).route;
          const { requestId } = gpintProbe.decode(payload);
          const switches = [{ switchId: entry, queueDepth: 3, measurementCount: hop!.measurementCount }];
          const measurements = new Array<number>(hop!.measurementCount).fill(entry);
          monitor.receive(gpintProbe.encode({ requestId, type: 'rule-hits', route: [], switches, measurements }), null);
        },
      },
      config: { maxInFlight: 2 },
      onEvent: ({ kind }) => order.push(kind),
    });
    let report: SessionReport | undefined;
    void monitor.collect((each) => {
      report = each;
    });
    expect(report).toMatchObject({ complete: true, collected: 4 });
    expect(order.filter((kind) => kind === 'sent')).toHaveLength(4);
    expect(report!.telemetry.get(2)).toMatchObject({ queueDepth: 3, timeNs: 5 });
    expect(report!.telemetry.get(2)!.measurements[7]).toBe(2);
  });
});

describe('a monitor', () => {
  it('asks for what it is told to, with ids that depend on its seed', () => {
    const probes = ['one', 'one', 'two'].map((seed) => {
      const { monitor, sent } = set([[0, 1]], {
        seed,
        requestType: 'port-packets',
        measurements: { first: 2, count: 3 },
      });
      void monitor.collect();
      expect(sent[0]![0]).toBe(0);
      return gpintProbe.decode(sent[0]![1]);
    });
    expect(probes[0]).toMatchObject({
      type: 'port-packets',
      route: [
        { nextPort: 1, firstMeasurement: 2, measurementCount: 3 },
        { nextPort: 0, firstMeasurement: 2, measurementCount: 3 },
      ],
    });
    expect(probes[1]).toEqual(probes[0]);
    expect(probes[2]!.requestId).not.toBe(probes[0]!.requestId);
  });

  it('refuses entries that are none', () => {
    for (const entries of [[], [4], [-1], [0.5]]) expect(() => set([[0]], { entries })).toThrow(RangeError);
  });
});
