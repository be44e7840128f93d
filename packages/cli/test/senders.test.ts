import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';
import { limit } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { coalescedFrame, malformedFrame, pcap, plainFrame, reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

interface Total {
  readonly received: number;
  readonly decoded: number;
  readonly reports: number;
  readonly dropped: Readonly<Record<string, number>>;
}

/** The last statistics and the totals of `int collect --json`. */
function ofJson(stdout: string): { total: Total; switches: number[] } {
  const lines = ndjson(stdout);
  const stats = lines.filter(({ type }) => type === 'stats').at(-1) as unknown as { switches: { nodeId: number }[] };
  return { total: lines.at(-1) as unknown as Total, switches: stats.switches.map(({ nodeId }) => nodeId) };
}

function closes({ received, decoded, dropped }: Total): void {
  expect(received).toBe(decoded + Object.values(dropped).reduce((sum, count) => sum + count, 0));
}

/** Every address of 127.0.0.0/8 is this machine on Linux alone. */
function needsLoopbacks(): void {
  if (process.platform !== 'linux') limit('only Linux has all of 127.0.0.0/8 as its own addresses');
}

const good = payload(reportFrame());
/** A sound report, a part of one, and bytes that are none. */
const strange = [good, good.subarray(0, 30), new Uint8Array(50).fill(0xff), new Uint8Array(0)];

describe('int collect --from', () => {
  test('takes what permitted senders send, and counts the rest, in JSON, in metrics, in health and at the end', async () => {
    needsLoopbacks();
    const options = ['--from', '127.0.0.2', '--from', '127.9.0.0/16', '--metrics', '0', '--json'];
    const { process, port } = await listening(...options);
    const [, url] = await process.saying(/metrics on (http:\/\/\S+)/);
    const times = Math.max(50, Math.ceil(1000 * LENGTH));
    const flood = Array.from({ length: times }, () => strange).flat();
    await send(port, flood, '127.0.0.1', '127.0.0.66');
    await send(port, [good], '127.0.0.1', '127.0.0.2');
    await send(port, [good], '127.0.0.1', '127.9.8.7');
    const refused = flood.length;
    const line = `int_frames_dropped_total{reason="unknown-source"} ${refused}`;
    await until(line, async () => (await (await fetch(url!)).text()).includes(line));
    await until('the state', async () => {
      const health = (await (await fetch(url!.replace('/metrics', '/health'))).json()) as { healthy?: boolean };
      return JSON.stringify(health).includes('unknown-source');
    });
    expect((await fetch(url!.replace('/metrics', '/health'))).status).toBe(200);
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    // What strangers send is no fault of the input.
    expect(code).toBe(0);
    const { total, switches } = ofJson(stdout);
    closes(total);
    expect(total).toMatchObject({ received: refused + 2, decoded: 2, reports: 2 });
    expect(total.dropped).toMatchObject({ truncated: 0, malformed: 0, 'not-int': 0, 'unknown-source': refused });
    expect(switches).toEqual([1, 2, 153]);
  });

  test('looks at the outer source address of captured frames', async () => {
    const path = await files.write(
      'mixed.pcap',
      pcap([reportFrame(), coalescedFrame(), plainFrame(), malformedFrame()]),
    );
    const sources = (await run(['decode', path, '--json'])).stdout;
    expect(sources).not.toBe('');
    const nobody = await run(['collect', '--pcap', path, '--from', '203.0.113.0/24', '--json']);
    expect(nobody.code).toBe(0);
    expect(ofJson(nobody.stdout).total).toMatchObject({ received: 4, decoded: 0, dropped: { 'unknown-source': 4 } });
    const all = await run(['collect', '--pcap', path, '--from', '0.0.0.0/0', '--json']);
    expect(ofJson(all.stdout).total).toMatchObject({
      received: 4,
      decoded: 2,
      dropped: { 'unknown-source': 0, 'not-int': 1 },
    });
    const words = await run(['collect', '--pcap', path, '--from', '203.0.113.0/24']);
    expect(words.stdout).toMatch(/^dropped: unknown-source 4$/m);
    expect(words.stdout).not.toContain('switch ');
    expect(words.stdout.trimEnd().split('\n').at(-1)).toBe('4 received, 0 decoded, 4 dropped');
  });

  test('is a list of a source in int.yaml, whose problems have line and column', async () => {
    await files.write('from.pcap', pcap([reportFrame()]));
    const config = (from: string): string =>
      `version: 1\nsources:\n  - pcap: { file: from.pcap }\n  - pcap: { file: from.pcap, from: ${from} }\n`;
    const path = await files.write('from.yaml', config('[203.0.113.0/24]'));
    const { stdout, code } = await run(['collect', '--config', path, '--json']);
    expect(code).toBe(0);
    expect(ofJson(stdout).total).toMatchObject({ received: 2, decoded: 1, dropped: { 'unknown-source': 1 } });
    const checked = await run(['collect', '--config', path, '--check']);
    expect(checked.stdout).toContain('receive: the capture from.pcap, from 203.0.113.0/24\n');
    const bad = await files.write('bad-from.yaml', config('[10.0.0.0/8, leaf-1]'));
    const refused = await run(['collect', '--config', bad, '--check']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `${bad}:4:49: 'leaf-1' is no address or prefix: write 10.9.0.0/16\n`,
    ]);
    expect((await run(['collect', '--config', await files.write('empty.yaml', config('[]'))])).code).toBe(2);
  });

  test.each([
    [['--from', '10.9.0.0/33'], 'Give an address or a prefix, such as 10.9.0.0/16.'],
    [['--from', 'leaf-1'], 'Give an address or a prefix, such as 10.9.0.0/16.'],
    [['--keep-unknown-switches'], '--keep-unknown-switches goes with --topology FILE'],
  ])('refuses %j with a hint', async (options, hint) => {
    const { code, stderr } = await run(['collect', '--listen', 'udp://127.0.0.1:0', ...options]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
  });

  test('stands in a device profile, for all sources without a list of their own and for every reader of captures', async () => {
    const path = await files.write('device.pcap', pcap([reportFrame()]));
    const device = await files.write('device.yaml', 'version: 1\ndevice: { sources: [203.0.113.0/24] }\n');
    const refused = { received: 1, decoded: 0, dropped: { 'unknown-source': 1 } };
    const collect = ['collect', '--pcap', path, '--device', device, '--json'];
    expect(ofJson((await run(collect)).stdout).total).toMatchObject(refused);
    expect(ofJson((await run([...collect, '--from', '0.0.0.0/0'])).stdout).total).toMatchObject({ decoded: 1 });
    const flows = ndjson((await run(['flows', path, '--device', device, '--json'])).stdout);
    expect(flows.at(-1)).toMatchObject({ frames: 1, flows: 0, dropped: { 'unknown-source': 1 } });
    const config = await files.write(
      'device-int.yaml',
      'version: 1\nsources: [{ pcap: { file: device.pcap } }, { pcap: { file: device.pcap, from: [0.0.0.0/0] } }]\n' +
        'device: { sources: [203.0.113.0/24] }\n',
    );
    const both = ofJson((await run(['collect', '--config', config, '--json'])).stdout).total;
    expect(both).toMatchObject({ received: 2, decoded: 1, dropped: { 'unknown-source': 1 } });
  });
});

describe('int collect with a topology', () => {
  const YAML = 'switches: { 1: { name: leaf-1 }, 2: { name: leaf-2 }, 153: { name: sink } }\n';

  test('counts frames that name other switches as unknown-switch, and shows none of them', async () => {
    // The second frame names a switch 3 in its last report.
    const path = await files.write('switches.pcap', pcap([reportFrame(), coalescedFrame(3), reportFrame()]));
    const topology = await files.write('topology.yaml', YAML);
    const collect = ['collect', '--pcap', path, '--topology', topology];
    const { stdout, code } = await run([...collect, '--json']);
    expect(code).toBe(0);
    const { total, switches } = ofJson(stdout);
    closes(total);
    expect(total).toMatchObject({ received: 3, decoded: 2, reports: 2, dropped: { 'unknown-switch': 1 } });
    expect('unknown-source' in total.dropped).toBe(false);
    expect(switches).toEqual([1, 2, 153]);
    const words = await run(collect);
    expect(words.stdout).toMatch(/^dropped: unknown-switch 1$/m);
    const kept = await run([...collect, '--keep-unknown-switches', '--json']);
    expect(ofJson(kept.stdout).switches).toEqual([1, 2, 3, 153]);
    expect('unknown-switch' in ofJson(kept.stdout).total.dropped).toBe(false);

    const config = await files.write(
      'int.yaml',
      'version: 1\nsources: [{ pcap: { file: switches.pcap } }]\ntopology: topology.yaml\n',
    );
    expect(ofJson((await run(['collect', '--config', config, '--json'])).stdout).total.dropped['unknown-switch']).toBe(
      1,
    );
    const keeps = await files.write('keeps.yaml', `${await readFile(config, 'utf8')}keepUnknownSwitches: true\n`);
    expect(ofJson((await run(['collect', '--config', keeps, '--json'])).stdout).switches).toEqual([1, 2, 3, 153]);
  });
});

describe('int collect without any list', () => {
  test('makes no row of datagrams that are no reports', async () => {
    const { process, port } = await listening('--json');
    let state = 99;
    const next = (): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 16;
    };
    // The first four bits are the version, 2 at most.
    const noise = Array.from({ length: 300 }, () =>
      Uint8Array.from({ length: 1 + (next() % 120) }, (_, at) => (at === 0 ? 0x30 | (next() & 0xcf) : next() & 0xff)),
    );
    await send(port, noise);
    process.child.kill('SIGINT');
    const { total, switches } = ofJson((await process.end()).stdout);
    closes(total);
    expect(total).toMatchObject({ received: noise.length, decoded: 0, reports: 0 });
    expect(switches).toEqual([]);
  });
});

describe('who may send', () => {
  const YAML = 'switches: { 1: { name: leaf-1 }, 2: { name: leaf-2 }, 153: { name: sink } }\n';
  const refused = { 'unknown-source': 0, 'unknown-switch': 1 };

  test.each([
    ['detect', (path: string, rules: string) => ['detect', path, '--rules', rules, '--json']],
    ['flows', (path: string) => ['flows', path, '--json']],
  ])('holds in int %s: nothing of a refused frame is used', async (name, command) => {
    const path = await files.write('who.pcap', pcap([reportFrame(), coalescedFrame(3), plainFrame()]));
    const rules = await files.write(
      'who.yaml',
      'version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n',
    );
    const topology = await files.write('who-topology.yaml', YAML);
    const args = command(path, rules);
    const known = await run([...args, '--topology', topology, '--from', '0.0.0.0/0']);
    expect(known.code).toBe(0);
    expect(ndjson(known.stdout).at(-1)).toMatchObject({ frames: 3, dropped: refused });
    const kept = ndjson((await run([...args, '--topology', topology, '--keep-unknown-switches'])).stdout);
    expect(kept.at(-1)!.dropped).not.toHaveProperty('unknown-switch');
    expect(kept.length).toBeGreaterThan(name === 'detect' ? ndjson(known.stdout).length : 1);
    const nobody = await run([...args, '--from', '203.0.113.0/24']);
    expect(ndjson(nobody.stdout)).toEqual([
      expect.objectContaining({ frames: 3, dropped: expect.objectContaining({ 'unknown-source': 3 }) }),
    ]);
  });

  test('holds in int dart write, for captures and for lines', async () => {
    const path = await files.write('dart.pcap', pcap([reportFrame(), coalescedFrame(3)]));
    const flow = '10.0.1.1:5 > 10.0.2.2:80/udp';
    const rows = [
      { flow, path: [1, 2, 153] },
      { flow, path: [1, 7, 153] },
      { flow, switch: 9, value: '00' },
      { flow, switch: 2, value: '00' },
    ].map((row) => `${JSON.stringify(row)}\n`);
    const lines = await files.write('dart.ndjson', rows.join(''));
    const topology = await files.write('dart-topology.yaml', YAML);
    const write = async (...args: string[]): Promise<Record<string, unknown>> => {
      const store = join(await mkdtemp(join(tmpdir(), 'int-who-')), 'store');
      const options = ['--store', store, '--slots', '1024', '--json'];
      const { code, stdout } = await run(['dart', 'write', path, lines, ...options, ...args]);
      expect(code).toBe(0);
      await rm(join(store, '..'), { recursive: true });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await write()).toMatchObject({ keys: 8, skipped: { unknownSwitchLines: 0 } });
    expect(await write('--topology', topology)).toMatchObject({
      keys: 3,
      dropped: { 'unknown-switch': 1 },
      skipped: { unknownSwitchLines: 2 },
    });
    expect(await write('--topology', topology, '--keep-unknown-switches')).toMatchObject({ keys: 8 });
    const device = await files.write('dart-device.yaml', 'version: 1\ndevice: { sources: [203.0.113.0/24] }\n');
    expect(await write('--device', device)).toMatchObject({ keys: 4, dropped: { 'unknown-source': 2 } });
    expect(await write('--device', device, '--from', '0.0.0.0/0')).toMatchObject({ keys: 8 });
  });

  test('holds in int topology learn', async () => {
    needsLoopbacks();
    const learn = new Running(['topology', 'learn', '--listen', 'udp://127.0.0.1:0', '--from', '127.0.0.2', '--json']);
    const [, port] = await learn.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
    await send(Number(port), [payload(coalescedFrame(3))], '127.0.0.1', '127.0.0.66');
    await send(Number(port), [good], '127.0.0.1', '127.0.0.2');
    learn.child.kill('SIGINT');
    const { code, stdout, stderr } = await learn.end();
    expect(code).toBe(0);
    expect(stderr).toContain('1 frame refused: not from who may send');
    const { switches } = JSON.parse(stdout) as { switches: { id: number }[] };
    expect(switches.map(({ id }) => id)).toEqual([1, 2, 153]);
  });
});
