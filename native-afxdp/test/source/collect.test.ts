import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { Random } from '@int/random';
import { afterAll, describe, expect, it } from 'vitest';
import { limit, requires } from '../../../.ci/test/requires.js';
import type { VethPair } from '../../../.ci/test/veth-pair.js';
import { MOSTLY_DRIVER, pairFor, startTraffic } from '../pair.js';
import { frameOf } from '../prefilter/reports.js';
import { SEED } from '../seed.js';
import { Command } from './command.js';
import { Senders } from './sourcing.js';

const folder = mkdtempSync(join(tmpdir(), 'int-collect-afxdp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const RULES = `version: 1
default: drop
rules:
  - { name: step, priority: 4, match: { destinationPort: 80 }, detect: { perHop: { metric: hopLatency, threshold: 400 } } }
  - { name: flow, priority: 3, match: { destinationPort: 81 }, detect: { perFlow: { metric: queueOccupancy, threshold: 30 } } }
  - { name: smooth, priority: 2, match: { destinationPort: 82 }, detect: { movingAverage: { metric: hopLatency, threshold: 900, weight: 2 } } }
  - { name: path, priority: 1, match: { destinationPort: 83 }, detect: { pathChange: {} } }
`;

/** Reports of four kinds of flows, whose values walk about, as Ethernet frames. */
function frames(count: number): Uint8Array[] {
  const random = new Random(SEED);
  const latency = [100, 200, 300, 400, 500, 600];
  const queue = [...latency];
  return Array.from({ length: count }, () => {
    const first = random.integer(3);
    const hops = [first, first + 1, first + 2].map((node) => {
      latency[node] = Math.max(
        0,
        latency[node]! +
          random.integer(301) -
          150 +
          (random.integer(8) === 0 ? 700 : 0) -
          (latency[node]! > 1500 ? 900 : 0),
      );
      queue[node] = random.integer(100);
      return { nodeId: node + 1, hopLatency: latency[node]!, queueId: 0, queueOccupancy: queue[node]! };
    });
    const flow = {
      source: '10.0.0.1',
      destination: '10.0.0.2',
      protocol: 17,
      sourcePort: 4000 + random.integer(5),
      destinationPort: 80 + random.integer(5),
    };
    return frameOf({ flow, hops });
  });
}

/** Behind Ethernet, IPv4 and UDP. */
const payloadOf = (frame: Uint8Array): Uint8Array => frame.subarray(42);

/** Starts what sends frames from the left end as they are, a few at a time. */
async function frameSender(pair: VethPair): Promise<(all: readonly Uint8Array[]) => Promise<void>> {
  const sender = await startTraffic({ at: pair.left });
  await sender.call('open', { interface: pair.left.interface, ports: [], frames: 64, txFrames: 64 });
  return async (all) => {
    for (let from = 0; from < all.length; from += 32) {
      await sender.call('frames', all.slice(from, from + 32));
      await sleep(2);
    }
  };
}

interface Total {
  readonly received: number;
  readonly decoded: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly kernelDropped: number | null;
  readonly filtered?: number;
}

/** The last line, whose numbers add up. */
function totalOf(lines: readonly Record<string, unknown>[]): Total {
  const last = lines.at(-1)!;
  expect(last.type).toBe('total');
  const total = last as unknown as Total;
  expect(total.received).toBe(total.decoded + Object.values(total.dropped).reduce((sum, count) => sum + count, 0));
  return total;
}

/** The switches on the path of a report. */
function nodesOf(frame: Uint8Array): number[] {
  const batch = new TelemetryBatch({ frames: 1 });
  const decoder = new BatchDecoder({ linkType: 'ethernet', reportPorts: [32766] });
  decoder.decode(batch, { bytes: frame, offsets: Uint32Array.of(0), lengths: Uint32Array.of(frame.length) }, 0, 1);
  return [...batch.hop.nodeId.subarray(0, batch.hops)];
}

/** A topology of these switches and the one that reports. */
const topologyOf = (ids: readonly number[]): string =>
  `switches: { ${[...ids, 0x7fffffff].map((id) => `${id}: { name: s${id} }`).join(', ')} }\n`;

/** Events without what differs from run to run: their times and, where reports have been left out, their places. */
function eventsOf(lines: readonly Record<string, unknown>[], places: boolean): unknown[] {
  return lines.flatMap(({ type, timeNs: _, frame, ...event }) =>
    type === 'event' ? [places ? { ...event, frame } : event] : [],
  );
}

describe('int collect --afxdp', () => {
  it('receives all reports of an interface, prints the totals on SIGINT, and leaves no program attached', async () => {
    const pair = await pairFor({ queues: 2 });
    const command = new Command(pair.right, ['collect', '--afxdp', 'right0', '--json']);
    await command.saying(/receiving from afxdp right0:0-1, driver mode, port 32766\n/);
    expect(pair.attached(pair.right)).not.toBeNull();
    const senders = await Senders.start(pair, 2);
    await senders.send(3200);
    const { arrived } = senders;
    await command.receiving(arrived);
    const { code, lines, stderr } = await command.interrupt();
    expect(code).toBe(0);
    expect(Object.keys(lines.at(-1)!)).toEqual(['type', 'received', 'decoded', 'reports', 'dropped', 'kernelDropped']);
    expect(totalOf(lines)).toMatchObject({ received: arrived, decoded: arrived, reports: arrived, kernelDropped: 0 });
    expect(arrived).toBeGreaterThan(0);
    // The reports name more switches than have statistics of their own.
    const told = stderr.trimEnd().split('\n');
    expect(told.filter((line) => !line.includes(': untracked: '))).toHaveLength(1);
    expect(pair.attached(pair.right)).toBeNull();
  });

  it('counts what is wrong with reports, and says in words where they came from', async () => {
    const pair = await pairFor();
    const args = [
      'collect',
      '--afxdp',
      'right0:0',
      '--afxdp-mode',
      'generic',
      '--report-port',
      '7',
      '--report-port',
      '32766',
    ];
    const command = new Command(pair.right, args);
    await command.saying(/receiving from afxdp right0:0, generic mode, ports 7, 32766\n/);
    const [good] = frames(1);
    const cut = good!.slice(0, 60);
    new DataView(cut.buffer).setUint16(16, 46);
    new DataView(cut.buffer).setUint16(38, 26);
    const other = good!.slice();
    new DataView(other.buffer).setUint16(36, 7);
    const send = await frameSender(pair);
    await send([good!, cut, other, good!]);
    await command.until(() => / 4 received {2}3 decoded {2}1 dropped /.test(command.stdout));
    const { code, stdout } = await command.interrupt();
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('4 received, 3 decoded, 1 dropped');
    expect(stdout).toMatch(/^dropped by the kernel: 0$/m);
  });

  // Three collectors, one after the other.
  it('finds the events that it finds over UDP, and with a pre-filter the same, of fewer reports', async () => {
    const pair = await pairFor({ queues: 2 });
    const all = frames(900);
    const rules = file('rules.yaml', RULES);
    const collect = ['collect', '--rules', rules, '--json'];

    const udp = new Command(pair.right, [...collect, '--listen', `udp://${pair.right.ipv4}:32766`]);
    await udp.saying(/listening on udp:/);
    const sender = await startTraffic({ at: pair.left });
    for (let from = 0; from < all.length; from += 30) {
      await sender.call('say', pair.right.ipv4, 32766, all.slice(from, from + 30).map(payloadOf));
      await sleep(4);
    }
    await sender.stop();
    await udp.receiving(all.length);
    const expected = await udp.interrupt();
    expect(totalOf(expected.lines)).toMatchObject({ received: 900, decoded: 900 });
    expect(eventsOf(expected.lines, true).length).toBeGreaterThan(50);

    const send = await frameSender(pair);
    const plain = new Command(pair.right, [...collect, '--afxdp', 'right0']);
    await plain.saying(/receiving from afxdp right0:0-1, driver mode/);
    await send(all);
    await plain.receiving(all.length);
    const found = await plain.interrupt();
    expect(totalOf(found.lines)).toMatchObject({ received: 900, decoded: 900, kernelDropped: 0 });
    expect(eventsOf(found.lines, true)).toEqual(eventsOf(expected.lines, true));
    expect(found.code).toBe(0);

    for (const mode of MOSTLY_DRIVER) {
      const args = [...collect, '--afxdp', 'right0', '--afxdp-mode', mode, '--prefilter'];
      const filtering = new Command(pair.right, args);
      await filtering.saying(/pre-filter: 3 of 4 rules in the kernel\n/);
      expect(filtering.stderr).toContain(`receiving from afxdp right0:0-1, ${mode} mode, pre-filter, port 32766\n`);
      expect(filtering.stderr).toMatch(
        /pre-filter: rule path is left to this process: the kernel has no pathChange detector\n/,
      );
      await send(all);
      await filtering.until(() =>
        filtering.lines.some(({ received, filtered }) => (received as number) + (filtered as number) >= 900),
      );
      const rest = await filtering.interrupt();
      const total = totalOf(rest.lines);
      expect(eventsOf(rest.lines, false)).toEqual(eventsOf(expected.lines, false));
      expect(total.received + total.filtered!).toBe(900);
      expect(total.filtered).toBeGreaterThan(100);
      expect(total.kernelDropped).toBe(0);
      expect(pair.attached(pair.right)).toBeNull();
    }
  }, 180_000);

  // Two collectors, one after the other.
  it('lets in who may send and what is known, from int.yaml, and with a pre-filter the same', async () => {
    const pair = await pairFor();
    const all = frames(400).map((frame, index) => {
      if (index % 4 > 0) return frame;
      const foreign = frame.slice();
      // The last byte of the outer source address. The sum of the header stays as it was, and nobody looks at it.
      foreign[29] = 77;
      return foreign;
    });
    file('known.yaml', RULES);
    file('known-topology.yaml', topologyOf([1, 2, 3, 4, 5]));
    const config = (prefilter: boolean): string =>
      'version: 1\nsources:\n' +
      `  - afxdp: { interface: right0, from: ["0.0.0.0/0"], prefilter: ${prefilter} }\n` +
      'topology: known-topology.yaml\ndetect: { rules: known.yaml }\n';
    const [, sender = ''] = /(\S+)/.exec([...all[1]!.subarray(26, 30)].join('.'))!;
    const events: unknown[][] = [];
    const send = await frameSender(pair);
    for (const prefilter of [false, true]) {
      const path = file('known-int.yaml', config(prefilter).replace('0.0.0.0/0', sender));
      const command = new Command(pair.right, ['collect', '--config', path, '--json']);
      await command.saying(/receiving from afxdp right0/);
      await send(all);
      const seen = ({ type, received, filtered }: Record<string, unknown>): boolean =>
        type === 'stats' && (received as number) + ((filtered as number | undefined) ?? 0) >= 400;
      await command.until(() => command.lines.some(seen));
      // A topology without switch 5, in force at once in the kernel, too.
      file('known-topology.yaml', topologyOf([1, 2, 3, 4]));
      command.child.kill('SIGHUP');
      await command.saying(/in force: topology changed/);
      await send(all);
      const again = ({ type, received, filtered }: Record<string, unknown>): boolean =>
        type === 'stats' && (received as number) + ((filtered as number | undefined) ?? 0) >= 800;
      await command.until(() => command.lines.some(again));
      const { code, lines } = await command.interrupt();
      expect(code).toBe(0);
      const { dropped } = totalOf(lines);
      const known = all.filter((_, index) => index % 4 > 0);
      expect(dropped['unknown-source']).toBe(200);
      expect(dropped['unknown-switch']).toBe(known.filter((frame) => nodesOf(frame).includes(5)).length);
      events.push(eventsOf(lines, false));
      file('known-topology.yaml', topologyOf([1, 2, 3, 4, 5]));
    }
    expect(events[0]!.length).toBeGreaterThan(10);
    expect(events[1]).toEqual(events[0]);
  }, 180_000);

  it('closes and opens the interface anew when the source changes in int.yaml, and counts on', async () => {
    const pair = await pairFor({ queues: 2 });
    const all = frames(100);
    const send = await frameSender(pair);
    const config = (options: string, rest = ''): string =>
      `version: 1\nsources:\n  - afxdp: { interface: right0${options} }\n${rest}`;
    const path = file('changing-int.yaml', config(''));
    const command = new Command(pair.right, ['collect', '--config', path, '--json']);
    await command.saying(/receiving from afxdp right0:0-1, driver mode, port 32766\n/);
    await send(all);
    await command.receiving(100);
    const reload = async (text: string, answer: RegExp): Promise<void> => {
      const from = command.stderr.length;
      file('changing-int.yaml', text);
      command.child.kill('SIGHUP');
      await command.until(() => answer.test(command.stderr.slice(from)));
    };
    await reload(config(', queues: 0, mode: generic'), /in force: AF_XDP on right0, queues 0 added/);
    expect(command.stderr).toMatch(/receiving from afxdp right0:0, generic mode, port 32766\n/);
    // What cannot be opened leaves what there was, opened anew.
    await reload(config(', queues: 7'), /the configuration in force stays as it was/);
    await reload(
      config(', queues: "0-1", from: [192.0.2.77]'),
      /in force: AF_XDP on right0, queues 0-1, from 192\.0\.2\.77 added/,
    );
    await send(all);
    await command.until(() =>
      command.lines.some(({ dropped }) => (dropped as Total['dropped'])?.['unknown-source'] === 100),
    );
    await reload(config('', 'decode: { reportPorts: [32767, 32766] }\n'), /in force: .*decode changed/);
    expect(command.stderr).toMatch(/receiving from afxdp right0:0-1, driver mode, ports 32767, 32766\n/);
    await send(all);
    await command.receiving(300);
    await reload(
      'version: 1\nsources: [{ udp: { listen: "127.0.0.1:0" } }]\n',
      /in force: .*AF_XDP on right0, queues all removed/,
    );
    expect(pair.attached(pair.right)).toBeNull();
    await reload(config(''), /in force: AF_XDP on right0, queues all added/);
    await send(all);
    await command.receiving(400);
    const { lines, code } = await command.interrupt();
    expect(totalOf(lines)).toMatchObject({ received: 400, decoded: 300, dropped: { 'unknown-source': 100 } });
    // A configuration could not be used.
    expect(code).toBe(1);
    expect(pair.attached(pair.right)).toBeNull();
  }, 120_000);

  it('puts rules that change into the kernel, too', async () => {
    const pair = await pairFor();
    const all = frames(300).filter((_, index) => index % 2 === 0);
    const rule = (name: string, detect: string): string =>
      `version: 1\ndefault: drop\nrules:\n  - { name: ${name}, priority: 1, match: any, detect: { ${detect} } }\n`;
    const never = 'perHop: { metric: hopLatency, threshold: 4000000000 }';
    const rules = file('changing.yaml', rule('never', never));
    const command = new Command(pair.right, [
      'collect',
      '--rules',
      rules,
      '--json',
      '--afxdp',
      'right0',
      '--prefilter',
    ]);
    await command.saying(/pre-filter: 1 of 1 rule in the kernel/);
    const send = await frameSender(pair);
    const filtered = (count: number): boolean => command.lines.some((line) => (line.filtered as number) >= count);
    await send(all);
    await command.until(() => filtered(150));
    expect(command.lines.filter(({ type }) => type === 'event')).toEqual([]);
    writeFileSync(rules, rule('always', 'noop: {}'));
    await command.saying(/1 rule in force; pre-filter: 1 of 1 rule in the kernel/);
    await send(all);
    await command.receiving(150);
    // What cannot be used changes nothing, neither here nor there.
    writeFileSync(rules, rule('wrong', 'noop: 1'));
    await command.saying(/the rules in force stay as they were/);
    await send(all);
    await command.receiving(300);
    const { lines } = await command.interrupt();
    expect(totalOf(lines)).toMatchObject({ received: 300, filtered: 150, kernelDropped: 0 });
    expect(eventsOf(lines, false)).toHaveLength(300);
  });
});

describe('int collect --afxdp where it cannot be', () => {
  const FALLBACK = /^int: no AF_XDP on right0: (.*) Receiving by UDP on port 32766\.$/m;

  /** Without the rights: says so in one line, and receives by UDP. */
  async function expectUdp(pair: VethPair, command: Command, reason: RegExp): Promise<void> {
    await command.saying(/listening on udp:\/\/0\.0\.0\.0:32766/);
    const lines = command.stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(FALLBACK.exec(lines[0]!)?.[1]).toMatch(reason);
    const sender = await startTraffic({ at: pair.left });
    await sender.call('say', pair.right.ipv4, 32766, frames(10).map(payloadOf));
    await command.receiving(10);
    const { lines: printed } = await command.interrupt();
    expect(totalOf(printed)).toMatchObject({ received: 10, decoded: 10 });
    await sender.stop();
    expect(pair.attached(pair.right)).toBeNull();
  }

  it('falls back to UDP without the rights, also with a pre-filter, which then finds the same', async () => {
    const pair = await pairFor();
    if (process.getuid?.() !== 0) limit('only root has rights to take away');
    const minus = '-net_raw,-bpf,-sys_admin,-net_admin';
    const through = [requires('setpriv', 'npm run setup:system'), '--bounding-set', minus, '--inh-caps', minus];
    const reason = /CAP_\w+.* missing: .*Run as root, or grant CAP_NET_RAW/;
    await expectUdp(pair, new Command(pair.right, ['collect', '--afxdp', 'right0', '--json'], { through }), reason);

    const rules = file(
      'all.yaml',
      'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n',
    );
    const args = ['collect', '--afxdp', 'right0', '--prefilter', '--rules', rules, '--json'];
    const filtering = new Command(pair.right, args, { through });
    await expectUdp(pair, filtering, reason);
    expect(filtering.lines.filter(({ type }) => type === 'event')).toHaveLength(10);
    expect(filtering.lines.at(-1)).not.toHaveProperty('filtered');
  });

  it('falls back to UDP where less memory may be locked than it takes at least, and makes do with what suffices', async () => {
    const pair = await pairFor();
    if (process.getuid?.() !== 0) limit('only root has rights to take away');
    const rights = [
      requires('setpriv', 'npm run setup:system'),
      '--bounding-set',
      '-ipc_lock',
      '--inh-caps',
      '-ipc_lock',
    ];
    const through = (bytes: number): string[] => [
      requires('prlimit', 'npm run setup:system'),
      `--memlock=${bytes}:${bytes}`,
      ...rights,
    ];
    const args = ['collect', '--afxdp', 'right0', '--json'];
    const less = new Command(pair.right, args, { through: through(5 << 20) });
    await less.saying(/receiving from afxdp right0:0, driver mode, port 32766\n/);
    const senders = await Senders.start(pair);
    await senders.send(640);
    const { arrived } = senders;
    await less.receiving(arrived);
    expect(totalOf((await less.interrupt()).lines)).toMatchObject({ received: arrived, kernelDropped: 0 });
    await expectUdp(
      pair,
      new Command(pair.right, args, { through: through(1 << 20) }),
      /memory.*(ulimit -l|CAP_IPC_LOCK)/,
    );
  });

  it('falls back to UDP where the driver cannot do what was insisted on', async () => {
    const pair = await pairFor();
    const command = new Command(pair.right, ['collect', '--afxdp', 'lo', '--afxdp-mode', 'driver', '--json']);
    await command.saying(/listening on udp:\/\/0\.0\.0\.0:32766/);
    expect(command.stderr).toMatch(
      /^int: no AF_XDP on lo: the driver of lo does not support .* Receiving by UDP on port/,
    );
    expect((await command.interrupt()).code).toBe(0);
  });

  it('falls back to UDP without the addon', async () => {
    const pair = await pairFor();
    const env = { INT_AFXDP_ADDON: '/nowhere/afxdp.node' };
    const command = new Command(pair.right, ['collect', '--afxdp', 'right0:0', '--json'], { env });
    await expectUdp(pair, command, /the addon \/nowhere\/afxdp\.node does not exist\. Build it with/);
  });

  it('ends with code 3 where something else was asked for: no such interface, no such queue, a queue that is taken', async () => {
    const pair = await pairFor();
    const taken = new Command(pair.right, ['collect', '--afxdp', 'right0', '--json']);
    await taken.saying(/receiving from/);
    for (const [which, reason] of [
      ['nowhere0', /^int: cannot open nowhere0: there is no interface nowhere0.*ip link/],
      ['right0', /^int: cannot open right0: .*another XDP program is attached/],
    ] as const) {
      const { code, stdout, stderr } = await new Command(pair.right, ['collect', '--afxdp', which]).end();
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(reason);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
    await taken.interrupt();
    const queue = await new Command(pair.right, ['collect', '--afxdp', 'right0:5']).end();
    expect(queue).toMatchObject({ code: 3, stdout: '' });
    expect(queue.stderr).toMatch(/^int: cannot open right0: .*no such queue/);
    expect(pair.attached(pair.right)).toBeNull();
  });
});
