import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { flowKey, RdmaWriter } from '@int/dart';
import { EpochStore, UdpRdmaSender } from '@int/dart/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { coalescedFrame, malformedFrame, pcap, plainFrame, reportFrame } from './captures.js';
import { BIN, ndjson, Running, run, temporaryFolder } from './run.js';
import { SEED } from './seed.js';

const files = temporaryFolder();
const FLOW = '10.0.1.1:40000 > 10.0.2.2:80/udp';
const SMALL = ['--slots', '4099'];

interface Answer {
  readonly status: string;
  readonly path: readonly (number | null)[] | null;
  readonly words: readonly number[] | null;
  readonly [name: string]: unknown;
}

async function query(...args: readonly string[]): Promise<Answer[]> {
  const { code, stdout, stderr } = await run(['dart', 'query', '--json', ...args]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return ndjson(stdout) as unknown as Answer[];
}

describe('int dart simulate', () => {
  interface Simulation {
    readonly success: number;
    readonly empty: number;
    readonly wrong: number;
    readonly theory: { readonly success: number; readonly empty: number; readonly wrong: number };
    readonly oldest: { readonly success: number; readonly theory: number };
  }

  async function simulate(...args: readonly string[]): Promise<Simulation> {
    const { code, stdout, stderr } = await run(['dart', 'simulate', '--json', ...args]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    return JSON.parse(stdout) as Simulation;
  }

  test.each([
    [['--bytes-per-flow', '30', '--copies', '2']],
    [['--bytes-per-flow', '30', '--copies', '2', '--hash', 'crc', '--policy', 'single']],
    [['--bytes-per-flow', '60', '--copies', '4', '--policy', 'consensus:2', '--seed', '7']],
    [['--bytes-per-flow', '12', '--copies', '1', '--checksum-bits', '8', '--value-bytes', '5']],
  ])('finds as often as theory says, with %j', async (args) => {
    const flows = 40_000;
    const found = await simulate('--flows', String(flows), ...args);
    expect(found.success + found.empty + found.wrong).toBeCloseTo(1, 9);
    for (const name of ['success', 'empty', 'wrong'] as const) {
      const expected = found.theory[name];
      // Keys are not quite independent; the terms of order N^2 / M that theory neglects are below 1e-3 here.
      const error = 5 * Math.sqrt((expected * (1 - expected)) / flows) + 1e-3;
      expect(Math.abs(found[name] - expected), name).toBeLessThan(error);
    }
    const { success, theory } = found.oldest;
    expect(Math.abs(success - theory)).toBeLessThan(5 * Math.sqrt((theory * (1 - theory)) / (flows / 100)) + 1e-3);
  });

  test('gives the figures of the paper at 30 bytes per flow', async () => {
    const { theory, oldest } = await simulate('--flows', '20000', '--bytes-per-flow', '30', '--copies', '2');
    expect(theory.success).toBeCloseTo(0.698, 3);
    expect(oldest.theory).toBeCloseTo(0.366, 2);
  });

  test('shows the same in words', async () => {
    const { code, stdout } = await run([
      'dart',
      'simulate',
      '--flows',
      '1000',
      '--bytes-per-flow',
      '300',
      '--copies',
      '4',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/success +\d+\.\d+ % +99\.8[67]\d\d %/);
    expect(stdout).toMatch(/oldest/);
  });

  test('does long ones on a thread of its own', async () => {
    const args = ['dart', 'simulate', '--flows', '600000', '--bytes-per-flow', '12', '--copies', '1', '--json'];
    const { code, stdout, stderr } = await new Running(args).end();
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { success, theory } = JSON.parse(stdout) as Simulation;
    expect(Math.abs(success - theory.success)).toBeLessThan(0.004);
  });

  test('gives the same for the same seed, and something else for another one', async () => {
    const args = ['--flows', '5000', '--bytes-per-flow', '30', '--copies', '2', '--seed'];
    const [one, same, other] = [
      await simulate(...args, '1'),
      await simulate(...args, '1'),
      await simulate(...args, '2'),
    ];
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });
});

describe('int dart plan', () => {
  test('says how much memory 100 million flows need', async () => {
    const { code, stdout } = await run(['dart', 'plan', '--flows', '100000000', '--success', '0.999', '--json']);
    expect(code).toBe(0);
    const plan = JSON.parse(stdout) as Record<string, number>;
    expect(plan).toMatchObject({ flows: 1e8, slotBytes: 24, collectors: 1 });
    expect(plan.memory).toBe(plan.slots! * 24);
    expect(plan.copies).toBeGreaterThan(2);
    expect(plan.bytesPerFlow).toBeLessThan(300);
    expect(plan.success).toBeGreaterThanOrEqual(0.999);
    expect(plan.success).toBeLessThan(0.9991);
  });

  test('says so in words, for percentages, sizes and copies that are given', async () => {
    const args = ['--flows', '1000000', '--success', '99%', '--value-bytes', '4', '--copies', '2'];
    const { code, stdout } = await run(['dart', 'plan', ...args]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^memory +[\d.,]+ MiB: [\d,]+ slots of 8 bytes/);
    expect(stdout).toMatch(/\ncopies +2, policy plurality\n/);
    expect(stdout).toMatch(/\nmean +99\.\d\d % found/);
    const oldest = await run(['dart', 'plan', ...args, '--oldest']);
    expect(oldest.stdout).toMatch(/\noldest +99\.\d\d % found/);
  });
});

describe('int dart write and int dart query', () => {
  test('a flow of a generated capture is found with its path, each of them', async () => {
    const capture = files.path('fabric.pcap');
    const store = files.path('fabric');
    await run(['generate', '--packets', '2000', '--flows', '200', '--seed', String(SEED), '-o', capture]);
    const written = await run(['dart', 'write', capture, '--store', store, ...SMALL, '--json']);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    const total = JSON.parse(written.stdout) as Record<string, number>;
    expect(total).toMatchObject({ type: 'total', keys: 2000, frames: 2000, slots: 4099, copies: 2, cut: 0 });

    const lines = ndjson((await run(['decode', '--json', capture])).stdout) as unknown as {
      readonly flow: { readonly source: string };
      readonly path: readonly number[];
    }[];
    const last = new Map(lines.map(({ flow, path }) => [JSON.stringify(flow), path]));
    const opened = await EpochStore.open(store);
    let found = 0;
    for (const [flow, path] of last) {
      const [answer] = await opened.query(flowKey(JSON.parse(flow)));
      if (answer!.answer.value === null) continue;
      found++;
      expect(answer!.answer.value).toEqual(words([...path, 0, 0, 0, 0, 0].slice(0, 5)));
    }
    await opened.close();
    // 200 flows in 4099 slots: nearly all of them.
    expect(found).toBeGreaterThan(0.97 * last.size);

    const [first] = [...last.keys()].map((flow) => JSON.parse(flow) as Record<string, string | number>);
    const options = Object.entries(first!).flatMap(([name, value]) => [
      `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      String(value),
    ]);
    const [answer] = await query('--store', store, ...options);
    expect(answer).toMatchObject({ type: 'answer', epoch: '0', source: 'live', flow: first });
  });

  test('of nothing says so', async () => {
    const args = [
      'dart',
      'write',
      await files.write('nothing.pcap', pcap([])),
      '--store',
      files.path('of-nothing'),
      ...SMALL,
    ];
    expect(await run(args)).toMatchObject({
      code: 0,
      stderr: 'int: nothing to write: no reports in 0 frames, no rows in 0 lines\n',
    });
  });

  test('an answer says value, path, epoch and how many slots agree; an empty one is no failure', async () => {
    const store = files.path('one');
    const capture = await files.write('one.pcap', pcap([reportFrame()]));
    expect((await run(['dart', 'write', capture, '--store', store, ...SMALL])).stdout).toMatch(
      /^1 key written into epoch 0/,
    );
    const [answer] = await query('--store', store, '--flow', FLOW);
    expect(answer).toMatchObject({
      flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40_000, destinationPort: 80 },
      switch: null,
      status: 'value',
      value: '0000000100000002000000990000000000000000',
      path: [1, 2, 153],
      words: null,
      matching: 2,
      agreeing: 2,
      to: null,
    });
    expect(answer!.key).toBe('0a0001010a000202119c400050');
    expect(await query('--store', store, '--key', '0a0001010a000202119c400050')).toEqual([{ ...answer, flow: null }]);
    const text = await run(['dart', 'query', '--store', store, '--flow', FLOW]);
    expect(text.stdout).toMatch(
      /^10\.0\.1\.1:40000 > 10\.0\.2\.2:80 udp\nepoch 0 \(live, .*\) {2}path 1 > 2 > 153 {2}\(2 of 2/,
    );
    const [empty] = await query('--store', store, '--flow', '10.0.1.1:40001 > 10.0.2.2:80/udp', '--policy', 'single');
    expect(empty).toMatchObject({ status: 'absent', value: null, path: null, matching: 0, agreeing: 0 });
    const words = await run(['dart', 'query', '--store', store, '--flow', '10.0.1.1 > 10.0.2.2/icmp']);
    expect(words).toMatchObject({ code: 0, stdout: expect.stringContaining('empty: never written, or overwritten') });
  });

  test('a store is asked for a time, and says if it covers none', async () => {
    const store = files.path('one');
    const [now] = await query('--store', store, '--flow', FLOW, '--from', '2020-01-01', '--to', '2100-01-01T00:00:00Z');
    expect(now).toMatchObject({ status: 'value', epoch: '0' });
    const at = String(now!.from);
    expect(await query('--store', store, '--flow', FLOW, '--at', at)).toEqual([now]);
    const before = await run(['dart', 'query', '--store', store, '--flow', FLOW, '--at', '2020-01-01', '--json']);
    expect(before).toMatchObject({ code: 0, stdout: '', stderr: 'int: no epoch of the store covers this time\n' });
  });

  test('postcards are found by flow and switch', async () => {
    const store = files.path('postcards');
    const capture = await files.write(
      'postcards.pcapng',
      gzipSync(pcap([reportFrame(), plainFrame(), coalescedFrame()])),
    );
    const metrics = ['--postcards', '--metrics', 'hopLatency,queueOccupancy'];
    const args = ['dart', 'write', capture, '--store', store, ...SMALL, '--json', '--value-bytes', '8'];
    const { code, stdout } = await run([...args, ...metrics]);
    expect(code).toBe(0);
    // Two hops and the reporting switch; three times one hop and the reporting switch.
    expect(JSON.parse(stdout)).toMatchObject({ keys: 9, frames: 3 });
    const [answer] = await query('--store', store, '--flow', FLOW, '--switch', '2');
    expect(answer).toMatchObject({ switch: 2, status: 'value', words: [100, 1], path: null });
    expect((await query('--store', store, '--flow', FLOW))[0]).toMatchObject({ status: 'absent' });
    expect((await run(['dart', 'query', '--store', store, '--flow', FLOW, '--switch', '2'])).stdout).toContain(
      'value 100 1',
    );
  });

  test('rows come from JSON lines: keys and values, flows and paths, and those of int decode', async () => {
    const store = files.path('lines');
    const lines = [
      { key: 'c0ffee', value: '01020304' },
      { flow: '[2001:db8::1]:1 > [2001:db8::2]:2/tcp', path: [7, null, 9] },
      { flow: '10.0.0.1 > 10.0.0.2/47', switch: 3, value: '0000002a' },
    ];
    const { stdout } = await run(['decode', '--json', await files.write('d.pcap', pcap([reportFrame()]))]);
    const input = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n\n${stdout}`;
    const written = await run(['dart', 'write', '-', '--store', store, ...SMALL, '--json'], { input });
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(written.stdout)).toMatchObject({ keys: 4, lines: 4, skipped: { badLines: 0 } });
    const asked = (...args: string[]): Promise<Answer[]> => query('--store', store, ...args);
    expect((await asked('--key', '0xC0FFEE'))[0]).toMatchObject({ value: '01020304'.padEnd(40, '0'), path: null });
    const six = ['--source', '2001:db8::1', '--destination', '2001:db8::2', '--protocol', 'tcp'];
    expect((await asked(...six, '--source-port', '1', '--destination-port', '2'))[0]!.path).toEqual([7, null, 9]);
    expect((await asked('--flow', '10.0.0.1 > 10.0.0.2 gre', '--switch', '3'))[0]!.words).toEqual([42, 0, 0, 0, 0]);
    expect((await asked('--flow', FLOW))[0]!.path).toEqual([1, 2, 153]);
  });

  test('what is wrong in the input is counted and told, the rest is written', async () => {
    const store = files.path('wrong');
    const bad = [
      '{"key":"0',
      '{"key":"0x","value":"00"}',
      '{"value":"00"}',
      '{"key":"01"}',
      '{"flow":"x","path":[1]}',
      '[]',
    ];
    const path = await files.write('bad.ndjson', ['{"key":"01","value":"02"}', ...bad].join('\n'));
    const capture = await files.write('bad.pcap', pcap([reportFrame(), malformedFrame()]));
    const found = await run(['dart', 'write', path, capture, '--store', store, ...SMALL, '--json']);
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({
      keys: 2,
      lines: 7,
      frames: 2,
      skipped: { badLines: 6, notOk: 1 },
    });
    expect(found.stderr).toContain('bad.ndjson: line 4: there is neither a key nor a flow');
    expect(found.stderr).toContain('of 2 frames, 0 truncated, 1 malformed, 0 unsupported');
    const cut = await files.write('cut.pcap', pcap([reportFrame()]).subarray(0, -3));
    const damaged = await run(['dart', 'write', cut, '--store', store]);
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining('cut.pcap: ') });
  });

  test('a store keeps the shape that it was made with', async () => {
    const store = files.path('shape');
    const input = '{"key":"01","value":"02"}\n';
    const shape = [
      '--memory',
      '64KiB',
      '--value-bytes',
      '12',
      '--copies',
      '3',
      '--checksum-bits',
      '16',
      '--hash',
      'crc',
    ];
    const made = await run(['dart', 'write', '-', '--store', store, ...shape, '--json'], { input });
    expect(JSON.parse(made.stdout)).toMatchObject({ slots: 4681, copies: 3 });
    const again = await run(['dart', 'write', '-', '--store', store, '--json'], { input });
    expect(JSON.parse(again.stdout)).toMatchObject({ slots: 4681, copies: 3, keys: 1, load: (1 / 4681) * 2 });
    const other = await run(['dart', 'write', '-', '--store', store, '--copies', '2'], { input });
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('copies is 3, not 2') });
  });
});

describe('a damaged store', () => {
  const ASK = ['--flow', FLOW];

  /** A store with one path in it. @returns its folder and its checkpoint */
  async function prepare(name: string): Promise<{ store: string; file: string }> {
    const store = files.path(name);
    const capture = await files.write(`${name}.pcap`, pcap([reportFrame()]));
    expect((await run(['dart', 'write', capture, '--store', store, ...SMALL])).code).toBe(0);
    const [only = ''] = await readdir(join(store, 'live'));
    return { store, file: join(store, 'live', only) };
  }

  test('by a byte behind a checkpoint is an error that names the file, which stays as it is', async () => {
    const { store, file } = await prepare('byte-appended');
    await appendFile(file, 'x');
    const before = await readFile(file);
    const { code, stdout, stderr } = await run(['dart', 'query', '--store', store, ...ASK]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`int: ${file} is damaged: 1 byte follows its end; --salvage answers from what is sound\n`);
    expect(await readFile(file)).toEqual(before);
    const salvaged = await run(['dart', 'query', '--store', store, ...ASK, '--salvage', '--json']);
    expect(salvaged.code).toBe(1);
    expect(ndjson(salvaged.stdout)).toMatchObject([{ status: 'value', path: [1, 2, 153], incomplete: true }]);
    expect(salvaged.stderr).toBe(`int: ${file} is damaged: 1 byte follows its end; 128 slots of it are sound\n`);
    expect(await readFile(file)).toEqual(before);
  });

  test('by a bit that flipped is never empty: neither to a reader nor after a writer has set the file aside', async () => {
    const { store, file } = await prepare('bit-flipped');
    const bytes = await readFile(file);
    // In the only pages that are written.
    for (let at = 140; at < bytes.length - 32; at += 1500) bytes[at] = bytes[at]! ^ 1;
    await writeFile(file, bytes);
    const asked = await run(['dart', 'query', '--store', store, ...ASK]);
    expect(asked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(file) });
    const lost = await run(['dart', 'query', '--store', store, ...ASK, '--salvage']);
    expect(lost.code).toBe(1);
    expect(lost.stdout).toContain('not found: never written, overwritten since, or lost with a file that is damaged');
    const input = '{"key":"01","value":"02"}\n';
    const written = await run(['dart', 'write', '-', '--store', store], { input });
    expect(written.code).toBe(1);
    expect(written.stderr).toMatch(
      /is damaged: what begins at byte \d+ is damaged; 0 slots .* The file is .*\.damaged now/,
    );
    expect(await readFile(`${file}.damaged`)).toEqual(bytes);
    const after = await run(['dart', 'query', '--store', store, ...ASK, '--json']);
    expect(after.code).toBe(1);
    expect(ndjson(after.stdout)).toMatchObject([{ status: 'absent', incomplete: true }]);
    expect(after.stderr).toContain(`int: ${file}.damaged: it was found damaged, and set aside`);
  });

  test('in its history is an error for the time of that epoch, and of no other', async () => {
    const store = files.path('old');
    const opened = await EpochStore.open(store, { slots: 1000, checkpointMs: 0 });
    for (let epoch = 0; epoch < 2; epoch++) {
      opened.write(Uint8Array.of(1), new Uint8Array(20).fill(epoch + 1));
      await opened.rotate()?.finished;
    }
    const [first, second] = opened.epochs();
    await opened.close();
    const bytes = await readFile(first!.path!);
    bytes[60] = bytes[60]! ^ 8;
    await writeFile(first!.path!, bytes);
    const ask = (at: bigint, ...args: string[]): ReturnType<typeof run> =>
      run(['dart', 'query', '--store', store, '--key', '01', '--json', '--at', String(at), ...args]);
    expect(await ask(first!.from)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(first!.path!),
    });
    expect(ndjson((await ask(second!.from)).stdout)).toMatchObject([{ epoch: '1', status: 'value' }]);
    const without = await ask(first!.from, '--salvage');
    expect(without).toMatchObject({ code: 1, stdout: '' });
    expect(without.stderr).toContain('nothing of it is in the answer');
  });

  test('that one may only read is read, and not written to', async () => {
    const setpriv = requires('setpriv', 'util-linux');
    const { store } = await prepare('read-only');
    for (const name of [store, join(store, 'live'), join(store, 'history')]) await chmod(name, 0o555);
    await chmod(join(store, '..'), 0o755);
    const as = async (...args: string[]): Promise<{ code: number | null; out: string; err: string }> => {
      // The owner of all, as everybody is of his own files: root without the right to write to what is not to be written to.
      const bound = [setpriv, '--bounding-set=-dac_override', '--inh-caps=-dac_override'];
      const [command, ...rest] = [...(process.getuid?.() === 0 ? bound : []), process.execPath, BIN, ...args];
      const found = spawnSync(command!, rest, { encoding: 'utf8', input: '{"key":"01","value":"02"}\n' });
      return { code: found.status, out: found.stdout, err: found.stderr };
    };
    const read = await as('dart', 'query', '--store', store, ...ASK, '--json');
    expect(read).toMatchObject({ code: 0, err: '' });
    expect(ndjson(read.out)).toMatchObject([{ status: 'value', incomplete: false }]);
    const written = await as('dart', 'write', '-', '--store', store);
    expect(written).toMatchObject({ code: 3, err: `int: cannot use ${store}: permission denied\n` });
    for (const name of [store, join(store, 'live'), join(store, 'history')]) await chmod(name, 0o755);
  });
});

/** 32-bit words, big-endian. */
function words(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [at, value] of values.entries()) view.setUint32(at * 4, value);
  return bytes;
}

describe('int dart listen', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'int-dart-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function listening(...args: readonly string[]): Promise<{ process: Running; port: number }> {
    const process = new Running(['dart', 'listen', 'udp://127.0.0.1:0', ...args]);
    const match = await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
    return { process, port: Number(match[1]) };
  }

  /** Sends the path of each of some flows as a switch does. */
  async function sendPaths(port: number, slots: number, flows: number, queuePair = 1, remoteKey = 1): Promise<void> {
    const sender = await UdpRdmaSender.open({ address: '127.0.0.1' });
    const store = await EpochStore.open(join(folder, `model-${port}-${remoteKey}`), { slots });
    const { geometry, hashes } = store.live;
    const collector = { id: 0, address: '127.0.0.1', port, queuePair, remoteKey, base: 0x10000n, slots };
    const { address: source, port: sourcePort } = sender;
    const writer = new RdmaWriter({ geometry, hashes, collectors: [collector], format: 'udp', source, sourcePort });
    for (let flow = 0; flow < flows; flow++) {
      await sender.send(writer.write(flowKey(flowOf(flow)), words([flow + 1, 2, 3, 4, 5])), collector);
    }
    await sender.close();
    await store.close();
  }

  const flowOf = (index: number) => ({
    source: '10.0.1.1',
    destination: '10.0.2.2',
    protocol: 17,
    sourcePort: 40_000 + index,
    destinationPort: 80,
  });

  test('takes what an RDMA writer sends, answers while it runs, and keeps it', async () => {
    const store = join(folder, 'live');
    const shape = ['--slots', '4099', '--base', '0x10000', '--json', '--checkpoint', '100', '--queue-pair', '1'];
    const { process, port } = await listening('--store', store, ...shape, '--queue-pair', '2');
    await sendPaths(port, 4099, 50);
    await sendPaths(port, 4099, 3, 2, 99);
    await process.until(() => ndjson(process.stdout).some(({ received }) => received === 106));
    const stats = ndjson(process.stdout).at(-1);
    expect(stats).toMatchObject({ type: 'stats', received: 106, accepted: 100, rejected: { remoteKey: 6, icrc: 0 } });
    // The listening process answers.
    const asked = ['--store', store, '--flow', '10.0.1.1:40007 > 10.0.2.2:80/udp'];
    expect((await query(...asked))[0]).toMatchObject({ path: [8, 2, 3, 4, 5], matching: 2, source: 'live' });
    expect((await run(['dart', 'query', '--store', store, '--key', '00', '--at', '2020-01-01'])).code).toBe(0);
    expect((await run(['dart', 'write', '-', '--store', store])).code).toBe(3);
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    const total = ndjson(stdout).at(-1)!;
    expect(total).toMatchObject({
      type: 'total',
      received: 106,
      accepted: 100,
      slotWrites: 100,
      questions: 2,
      epoch: '0',
    });
    const rejected = Object.values(total.rejected as Record<string, number>).reduce((sum, count) => sum + count, 0);
    expect((total.accepted as number) + rejected).toBe(total.received);
    expect((await query(...asked))[0]).toMatchObject({ path: [8, 2, 3, 4, 5], agreeing: 2 });
    expect(await readdir(store)).not.toContain('query');
  });

  test('ignores, and counts, what comes from who may not write', async () => {
    const shape = ['--slots', '4099', '--base', '0x10000', '--from', '203.0.113.0/24'];
    const strangers = await listening('--store', join(folder, 'strangers'), ...shape, '--json');
    await sendPaths(strangers.port, 4099, 5);
    await strangers.process.until(() => ndjson(strangers.process.stdout).some(({ received }) => received === 10));
    strangers.process.child.kill('SIGTERM');
    const total = ndjson((await strangers.process.end()).stdout).at(-1)!;
    expect(total).toMatchObject({
      received: 10,
      accepted: 0,
      refused: { 'unknown-source': 10 },
      keyWrites: 0,
      slotWrites: 0,
    });
    const friends = await listening('--store', join(folder, 'friends'), ...shape, '--from', '127.0.0.0/8');
    await sendPaths(friends.port, 4099, 5);
    await friends.process.until(() => friends.process.stdout.includes('accepted 10'));
    friends.process.child.kill('SIGTERM');
    expect((await friends.process.end()).stdout).toContain('refused: unknown-source 0\n');
  });

  test('what was in a checkpoint is there after a kill', async () => {
    const store = join(folder, 'killed');
    const { process, port } = await listening(
      '--store',
      store,
      '--slots',
      '4099',
      '--base',
      '65536',
      '--checkpoint',
      '50',
      '--json',
    );
    await sendPaths(port, 4099, 20);
    await process.until(() => ndjson(process.stdout).some(({ slotWrites }) => slotWrites === 40));
    // A checkpoint that has been begun after all had been written is there when a line says so.
    await process.until(() => {
      const lines = ndjson(process.stdout) as unknown as {
        slotWrites: number;
        elapsedMs: number;
        checkpointAgeMs: number;
      }[];
      const written = lines.find(({ slotWrites }) => slotWrites === 40)!.elapsedMs;
      return lines.some(({ elapsedMs, checkpointAgeMs }) => elapsedMs - checkpointAgeMs > written + 1);
    });
    process.child.kill('SIGKILL');
    await process.end();
    const asked = ['--store', store, '--flow', '10.0.1.1:40019 > 10.0.2.2:80/udp'];
    expect((await query(...asked))[0]).toMatchObject({ path: [20, 2, 3, 4, 5] });
  });

  test('begins a new epoch at a load, and answers from both', async () => {
    const store = join(folder, 'rotated');
    const shape = ['--slots', '100', '--base', '65536', '--rotate', '0.2'];
    const { process, port } = await listening('--store', store, ...shape);
    await sendPaths(port, 100, 30);
    const asked = ['--store', store, '--from', '2020-01-01', '--flow', '10.0.1.1:40001 > 10.0.2.2:80/udp'];
    const answers = await until('answers of two epochs', async () => {
      const found = await query(...asked);
      return found.length < 2 ? null : found;
    });
    expect(answers.map(({ epoch }) => epoch)).toEqual(['0', '1']);
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    expect(stdout).toMatch(/epoch 1, load [\d.]+ %, 1 rotations/);
    expect(stdout).toMatch(/60 received, 60 accepted, 0 rejected\n$/);
    const [first, second] = await query(...asked);
    expect(first).toMatchObject({ epoch: '0', source: 'disk' });
    expect(second).toMatchObject({ epoch: '1', source: 'live', status: 'absent' });
  });

  test('says what it took over of a damaged checkpoint, and that its answers are incomplete', async () => {
    const store = join(folder, 'damaged');
    await run(['dart', 'write', '-', '--store', store, ...SMALL], { input: '{"key":"01","value":"02"}\n' });
    const [file = ''] = await readdir(join(store, 'live'));
    await appendFile(join(store, 'live', file), 'x');
    const { process } = await listening('--store', store);
    await process.saying(
      /is damaged: 1 byte follows its end; \d+ slots of it are sound, and kept\. The file is .*\.damaged now/,
    );
    const asked = await run(['dart', 'query', '--store', store, '--key', '01', '--json']);
    expect(asked).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${file}.damaged: 1 byte follows its end; what is lost`),
    });
    expect(ndjson(asked.stdout)).toMatchObject([{ status: 'value', incomplete: true }]);
    process.child.kill('SIGTERM');
    expect((await process.end()).code).toBe(1);
  });

  test('a port in use ends with code 3', async () => {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const address = `udp://127.0.0.1:${socket.address().port}`;
    const found = await run(['dart', 'listen', address, '--store', join(folder, 'port'), '--slots', '10']);
    expect(found).toMatchObject({ code: 3, stderr: expect.stringContaining(`cannot open ${address}`) });
    socket.close();
  });
});

describe('int dart receive', () => {
  const BASE = 0x7f00_0000_0000n;
  const region = ['--slots', '4099', '--base', String(BASE), '--remote-key', '77', '--queue-pair', '5'];
  const flowOf = (index: number) => ({
    source: '10.0.1.1',
    destination: '10.0.2.2',
    protocol: 17,
    sourcePort: 40_000 + index,
    destinationPort: 80,
  });

  /** What a switch sends about the paths of some flows, to a region with this key. */
  async function frames(flows: number, remoteKey = 77): Promise<Uint8Array[]> {
    const model = await EpochStore.open(files.path(`model-of-${remoteKey}-${flows}`), { slots: 4099 });
    const { geometry, hashes } = model.live;
    const collector = { id: 0, address: '10.9.9.9', port: 4791, queuePair: 5, remoteKey, base: BASE, slots: 4099 };
    const writer = new RdmaWriter({
      geometry,
      hashes,
      collectors: [collector],
      source: '10.9.9.1',
      sourcePort: 50_000,
    });
    const all: Uint8Array[] = [];
    for (let flow = 0; flow < flows; flow++) {
      const packets = writer.write(flowKey(flowOf(flow)), words([flow + 1, 2, 3, 4, 5]));
      all.push(...packets.map((packet) => packet.slice()));
    }
    await model.close();
    return all;
  }

  test('executes the packets of a capture, with the accelerator and without it', async () => {
    const capture = await files.write(
      'writes.pcap',
      pcap([...(await frames(2, 78)), plainFrame(), ...(await frames(300))]),
    );
    const answers: unknown[] = [];
    for (const options of [[], ['--no-expose-wasm']]) {
      const store = files.path(`received${options.length}`);
      const args = [...options, BIN, 'dart', 'receive', capture, '--store', store, ...region, '--json'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, '']);
      const [total] = ndjson(stdout);
      expect(total).toMatchObject({
        type: 'total',
        frames: 605,
        notEthernet: 0,
        accepted: 600,
        slotWrites: 600,
        epoch: '0',
      });
      expect(total!.rejected).toMatchObject({ notRoce: 1, remoteKey: 4 });
      const asked = ['--store', store, '--flow', '10.0.1.1:40299 > 10.0.2.2:80/udp'];
      const [answer] = await query(...asked);
      expect(answer).toMatchObject({ path: [300, 2, 3, 4, 5], source: 'live' });
      answers.push([total, answer?.words, answer?.matching]);
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  test('says in words what it took', async () => {
    const capture = await files.write('few.pcap', pcap(await frames(3)));
    const { code, stdout } = await run(['dart', 'receive', capture, '--store', files.path('few'), ...region]);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'rejected: none',
      'lost on the way: 0 in 0 gaps of sequence numbers',
    ]);
    expect(stdout).toMatch(/^6 frames, 6 accepted into epoch 0 of .*few: load \d.* of 4,099 slots$/m);
  });

  test('tells of a capture that ends too soon, and of one that is not of Ethernet; the rest is kept', async () => {
    const whole = pcap(await frames(4));
    const cut = await files.write('cut.pcap', whole.subarray(0, whole.length - 5));
    const raw = await files.write('raw.pcap', pcap([plainFrame()], 101));
    const store = files.path('partly');
    const { code, stdout, stderr } = await run(['dart', 'receive', cut, raw, '--store', store, ...region, '--json']);
    expect(code).toBe(1);
    expect(ndjson(stdout)[0]).toMatchObject({ frames: 8, notEthernet: 1, accepted: 7 });
    expect(stderr).toContain('cut.pcap: ');
    expect(stderr).toContain('1 frame left out: their captures are not of Ethernet');
    expect((await query('--store', store, '--flow', '10.0.1.1:40002 > 10.0.2.2:80/udp'))[0]).toMatchObject({
      path: [3, 2, 3, 4, 5],
    });
  });
});

describe('int dart says what is wrong with a command line', () => {
  test.each([
    [['dart'], 'Usage: int dart'],
    [['dart', 'frob'], "unknown command 'frob'"],
    [['dart', 'simulate', '--flows', '10', '--copies', '2'], '--bytes-per-flow'],
    [['dart', 'simulate', '--flows', '0', '--bytes-per-flow', '30', '--copies', '2'], '--flows'],
    [['dart', 'simulate', '--flows', '10', '--bytes-per-flow', '1', '--copies', '2'], 'there is no room for a slot'],
    [['dart', 'simulate', '--flows', '10', '--bytes-per-flow', '30', '--copies', '9'], 'from 1 to 8'],
    [['dart', 'simulate', '--flows', '10', '--bytes-per-flow', '30', '--copies', '2', '--policy', 'x'], 'consensus:M'],
    [['dart', 'plan', '--flows', '10'], '--success'],
    [['dart', 'plan', '--flows', '10', '--success', '1'], 'between 0 and 1'],
    [['dart', 'plan', '--flows', '10', '--success', '0.9', '--copies', '1', '--policy', 'consensus:2'], 'no memory'],
    [['dart', 'write', 'x'], '--store'],
    [['dart', 'write', 'x', '--store', 'y', '--memory', '1', '--slots', '2'], 'cannot be used with'],
    [['dart', 'write', 'x', '--store', 'y', '--memory', 'much'], '64KiB'],
    [['dart', 'write', 'x', '--store', 'y', '--metrics', 'hopLatency'], '--postcards'],
    [['dart', 'write', 'x', '--store', 'y', '--postcards', '--metrics', 'jitter'], 'jitter'],
    [['dart', 'write', '-', '-', '--store', 'y'], 'once'],
    [['dart', 'query', '--flow', FLOW], '--store'],
    [['dart', 'query', '--store', 'x'], '--flow FLOW'],
    [['dart', 'query', '--store', 'x', '--flow', 'one > two'], 'is no flow'],
    [['dart', 'query', '--store', 'x', '--flow', '10.0.0.1:1 > [2001:db8::1]:2/udp'], 'different versions'],
    [['dart', 'query', '--store', 'x', '--flow', '10.0.0.1:1 > 10.0.0.2:99999/udp'], 'a port'],
    [['dart', 'query', '--store', 'x', '--source', '10.0.0.1', '--destination', 'y', '--protocol', 'tcp'], 'address'],
    [['dart', 'query', '--store', 'x', '--key', '0'], 'hexadecimal'],
    [['dart', 'query', '--store', 'x', '--key', '00', '--flow', FLOW], 'cannot be used with'],
    [['dart', 'query', '--store', 'x', '--key', '00', '--at', 'noon'], '2026-11-21'],
    [['dart', 'query', '--store', 'x', '--key', '00', '--at', '2020-01-01', '--to', '2021-01-01'], 'cannot be used'],
    [['dart', 'query', '--store', 'x', '--key', '00', '--from', '2021-01-01', '--to', '2020-01-01'], 'before --to'],
    [['dart', 'listen', '--store', 'x'], 'udp://HOST:PORT'],
    [['dart', 'listen', '127.0.0.1', '--store', 'x'], 'udp://HOST:PORT'],
    [['dart', 'listen', 'udp://0.0.0.0', '--store', 'x'], '--destination'],
    [['dart', 'listen', 'udp://127.0.0.1', '--store', 'x', '--rotate', '55x'], '60s'],
    [['dart', 'listen', 'udp://127.0.0.1', '--store', 'x', '--base', '1.5'], '64 bits'],
    [['dart', 'listen', 'udp://127.0.0.1', '--store', 'x', '--queue-pair', '1', '--queue-pair', '1'], 'twice'],
    [['dart', 'listen', 'udp://127.0.0.1', '--store', 'x', '--service', 'rc', '--base', '4'], 'multiple of 8'],
  ])('%j', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  test.each([
    [['dart', 'write', '/nowhere/x.pcap', '--store'], 'new', 'cannot open /nowhere/x.pcap'],
    [['dart', 'query', '--key', '00', '--store'], 'none', 'there is no store in'],
    [['dart', 'write', '-', '--store'], 'file/x', 'cannot use'],
  ])('%j ends with code 3', async (args, name, message) => {
    await writeFile(files.path('file'), '');
    const found = await run([...args, files.path(name)]);
    expect(found).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(message) });
  });

  test('a damaged store ends with code 1', async () => {
    const store = files.path('damaged');
    await run(['dart', 'write', '-', '--store', store, ...SMALL], { input: '{"key":"01","value":"02"}' });
    await writeFile(join(store, 'store.json'), '{');
    const found = await run(['dart', 'query', '--store', store, '--key', '01']);
    expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining('store.json is no JSON') });
  });

  test.each(['simulate', 'plan', 'write', 'query', 'listen'])('int dart %s has help in three ways', async (name) => {
    const help = await run(['dart', name, '--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain(`Usage: int dart ${name}`);
    expect(await run(['dart', 'help', name])).toEqual(help);
  });
});
