/**
 * What each WebAssembly accelerator is worth to a command, end to end: processor time of the built `int` command on a large
 * capture, with all accelerators and without this one, whose module is refused. The two take turns.
 *
 * Needs `npm run build`. The AF_XDP part needs root: it sends reports over a pair of virtual interfaces, in a network namespace of
 * its own. An accelerator stays only where a command gains 5 % or more by it.
 *
 * `--short`: fewer reports and rounds. `--rounds N` (9), `--reports N` (1,000,000), `--only NAME,...`: these alone, which replace
 * those in the file of results; `--no-file`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DartStore, flowKey, RdmaWriter } from '@int/dart';
import { BenchmarkRun, mergeRows, partsOf, printTable, readOptions, wholeNumber } from '@int/harness';
import { LinkType, PcapWriter } from '@int/pcap';
import { median } from './decode/statistics.js';

const values = readOptions({
  rounds: { type: 'string' },
  reports: { type: 'string' },
  only: { type: 'string' },
});
const ROUNDS = wholeNumber('rounds', values.rounds ?? (values.short ? '1' : '9'), 1);
const REPORTS = wholeNumber('reports', values.reports ?? (values.short ? '5000' : '1000000'), 1);
/** What an accelerator has to bring. */
const LEAST_GAIN = 0.05;
const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/int.js', import.meta.url));
/** Reports a second over the virtual interfaces: none is to be dropped. */
const RATE = 50_000;
const [INTERFACE, PEER, NAMESPACE] = ['intacc0', 'intacc1', 'intacc'];

const folder = mkdtempSync(join(tmpdir(), 'int-accelerators-'));
const capture = join(folder, 'reports.pcap');
/** RDMA writes of switches: the path of a flow each, two copies. */
const writes = join(folder, 'writes.pcap');
const SLOTS = 1 << 21;
const store = join(folder, 'store');
const cpuFile = join(folder, 'cpu');
const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
/** Writes the processor time of the command when it ends: its threads and children included. */
const METER = dataUrl(
  `import { writeFileSync } from 'node:fs'; process.on('exit', () => { const { user, system } = process.cpuUsage(); writeFileSync(process.env.INT_CPU_FILE, String(user + system)); });`,
);

/** A function that each accelerator's module exports, and no other module. */
const EXPORTS = { codec: 'decode', detect: 'perHop', flowcache: 'run', dart: 'query' } as const;

/** Makes WebAssembly refuse the modules that export a function of this name, as an engine would that cannot run them. */
function refusing(name: string): string {
  return dataUrl(
    `const { Module } = WebAssembly; class Refusing extends Module { constructor(bytes) { super(bytes); if (Module.exports(this).some(({ name }) => name === '${name}')) throw new WebAssembly.CompileError('refused'); } } WebAssembly.Module = Refusing;`,
  );
}

/** Rules that never hold, so that nothing is printed. */
function rulesFile(name: string, detect: string): string {
  const path = join(folder, `${name}.yaml`);
  const rule = `{ name: ${name}, priority: 1, match: any, detect: ${detect} }`;
  writeFileSync(path, `version: 1\nunits: { hopLatency: ns }\nrules:\n  - ${rule}\n`);
  return path;
}

const average = rulesFile('average', '{ movingAverage: { metric: hopLatency, threshold: 100000000, weight: 1 } }');
const step = rulesFile('step', '{ perHop: { metric: hopLatency, threshold: 100000000 } }');

interface Part {
  readonly accelerator: keyof typeof EXPORTS;
  readonly command: string;
  /** Without: by AF_XDP, live. */
  readonly args: readonly string[] | null;
}

const PARTS = {
  'decode-afxdp': { accelerator: 'codec', command: 'int collect --afxdp IFACE --json', args: null },
  'decode-detect': {
    accelerator: 'codec',
    command: 'int detect FILE, change by hop',
    args: ['detect', capture, '--rules', step],
  },
  'decode-flows': { accelerator: 'codec', command: 'int flows FILE', args: ['flows', capture, '--top', '1'] },
  'decode-collect': {
    accelerator: 'codec',
    command: 'int collect --pcap FILE',
    args: ['collect', '--pcap', capture, '--json'],
  },
  'detect-average': {
    accelerator: 'detect',
    command: 'int detect FILE, moving average',
    args: ['detect', capture, '--rules', average],
  },
  'detect-step': {
    accelerator: 'detect',
    command: 'int detect FILE, change by hop',
    args: ['detect', capture, '--rules', step],
  },
  'collect-average': {
    accelerator: 'detect',
    command: 'int collect --pcap FILE, moving average',
    args: ['collect', '--pcap', capture, '--rules', average, '--json'],
  },
  'collect-step': {
    accelerator: 'detect',
    command: 'int collect --pcap FILE, change by hop',
    args: ['collect', '--pcap', capture, '--rules', step, '--json'],
  },
  flows: { accelerator: 'flowcache', command: 'int flows FILE', args: ['flows', capture, '--top', '1'] },
  'flows-small': {
    accelerator: 'flowcache',
    command: 'int flows FILE --rows 8192',
    args: ['flows', capture, '--top', '1', '--rows', '8192'],
  },
  'dart-write': {
    accelerator: 'dart',
    command: 'int dart write FILE',
    args: ['dart', 'write', capture, '--store', store],
  },
  'dart-receive': {
    accelerator: 'dart',
    command: 'int dart receive FILE',
    args: ['dart', 'receive', writes, '--store', store, '--slots', String(SLOTS)],
  },
} as const satisfies Record<string, Part>;
type PartName = keyof typeof PARTS;

function nodeArguments(accelerator: Part['accelerator'], isAccelerated: boolean): string[] {
  return [...(isAccelerated ? [] : ['--import', refusing(EXPORTS[accelerator])]), '--import', METER, COMMAND];
}

const environment = { ...process.env, INT_CPU_FILE: cpuFile };
const cpuSeconds = (): number => Number(readFileSync(cpuFile, 'utf8')) / 1e6;

function generate(...args: string[]): string[] {
  const traffic = ['--flows', '5000', '--topology', 'leaf-spine:8x4', '--packets', String(REPORTS)];
  return [COMMAND, 'generate', ...traffic, ...args];
}

/** Processor time of a command on the capture, in seconds. */
function onCapture({ accelerator }: Part, args: readonly string[], isAccelerated: boolean): number {
  rmSync(store, { recursive: true, force: true });
  const { status, stderr } = spawnSync(process.execPath, [...nodeArguments(accelerator, isAccelerated), ...args], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status !== 0) throw new Error(`int ${args.join(' ')} ended with ${status}: ${String(stderr)}`);
  return cpuSeconds();
}

/** Makes the capture of RDMA writes: as many packets as there are reports. */
function makeWrites(): void {
  const { geometry, hashes } = new DartStore({ slots: SLOTS });
  const collector = {
    id: 0,
    address: '10.255.255.254',
    port: 4791,
    queuePair: 1,
    remoteKey: 1,
    base: 0n,
    slots: SLOTS,
  };
  const source = { source: '10.255.0.1', sourcePort: 50_000 };
  const writer = new RdmaWriter({ geometry, hashes, collectors: [collector], ...source });
  const pcap = new PcapWriter({ linkType: LinkType.ETHERNET });
  const value = new Uint8Array(geometry.valueBytes);
  const file = openSync(writes, 'w');
  writeSync(file, pcap.header());
  for (let flow = 0, packets = 0; packets < REPORTS; flow++) {
    const ports = { sourcePort: flow & 0xffff, destinationPort: 80 };
    const key = flowKey({ source: `10.1.${(flow >>> 16) & 255}.1`, destination: '10.0.2.2', protocol: 17, ...ports });
    new DataView(value.buffer).setUint32(0, flow);
    for (const data of writer.write(key, value)) {
      writeSync(file, pcap.record({ data, timeNs: BigInt(packets++) * 1000n, linkType: LinkType.ETHERNET }));
    }
  }
  closeSync(file);
}

function ip(text: string): void {
  const { status, stderr } = spawnSync('ip', text.split(' '));
  if (status !== 0) throw new Error(`ip ${text}: ${String(stderr)}`);
}

function makeInterfaces(): void {
  ip(`netns add ${NAMESPACE}`);
  ip(`link add ${INTERFACE} type veth peer name ${PEER} netns ${NAMESPACE}`);
  ip(`addr add 198.18.77.1/24 dev ${INTERFACE}`);
  ip(`link set ${INTERFACE} up`);
  ip(`-n ${NAMESPACE} addr add 198.18.77.2/24 dev ${PEER}`);
  ip(`-n ${NAMESPACE} link set ${PEER} up`);
}

function removeInterfaces(): void {
  spawnSync('ip', ['link', 'del', INTERFACE]);
  spawnSync('ip', ['netns', 'del', NAMESPACE]);
}

/** Processor time of `int collect --afxdp` for all reports, in seconds. */
async function onInterface({ accelerator }: Part, isAccelerated: boolean): Promise<number> {
  const args = [...nodeArguments(accelerator, isAccelerated), 'collect', '--afxdp', INTERFACE, '--json'];
  const collector = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(collector, 'exit');
  let printed = '';
  collector.stdout.on('data', (text: Buffer) => {
    printed = (printed + String(text)).slice(-4096);
  });
  await once(collector.stderr, 'data');
  collector.stderr.resume();
  await sleep(500);
  const sender = generate('--rate', String(RATE), '--to', 'udp://198.18.77.1:32766');
  const sending = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, ...sender], { stdio: 'ignore' });
  await once(sending, 'exit');
  await sleep(500);
  collector.kill('SIGINT');
  await ended;
  const total = JSON.parse(printed.trim().split('\n').at(-1)!) as { readonly decoded: number };
  if (total.decoded < 0.99 * REPORTS) throw new Error(`only ${total.decoded} of ${REPORTS} reports were decoded`);
  return cpuSeconds();
}

function measure(part: Part, isAccelerated: boolean): number | Promise<number> {
  return part.args === null ? onInterface(part, isAccelerated) : onCapture(part, part.args, isAccelerated);
}

const run = new BenchmarkRun('accelerators', { short: values.short });
const chosen = partsOf(values.only, Object.keys(PARTS) as PartName[]);
const isRoot = process.getuid?.() === 0;
const names = (chosen ?? (Object.keys(PARTS) as PartName[])).filter((name) => {
  if (PARTS[name].args !== null || isRoot) return true;
  console.log(`${name}: left out, it needs root`);
  return false;
});
try {
  if (!existsSync(join(COMMAND, '../../dist/index.js'))) throw new Error('the command is not built: npm run build');
  const made = spawnSync(process.execPath, generate('--rate', '1000000', '-o', capture));
  if (made.status !== 0) throw new Error(String(made.stderr));
  if (names.includes('dart-receive')) makeWrites();
  if (names.includes('decode-afxdp')) makeInterfaces();
  const seconds = new Map(names.map((name) => [name, { with: [] as number[], without: [] as number[] }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      // The order changes: a disturbance does not always hit the same one.
      const order = round % 2 === 0 ? [true, false] : [false, true];
      for (const isAccelerated of order) {
        const of = seconds.get(name)!;
        (isAccelerated ? of.with : of.without).push(await measure(PARTS[name], isAccelerated));
      }
    }
  }
  const commands = names.map((name) => {
    const of = seconds.get(name)!;
    const [withIt, without] = [median(of.with), median(of.without)];
    const { accelerator, command } = PARTS[name];
    return { name, accelerator, command, with: withIt, without, gain: 1 - withIt / without };
  });
  printTable(
    `seconds of processor time for ${REPORTS.toLocaleString('en')} reports, medians of ${ROUNDS}`,
    ['command', 'accelerator', 'with', 'without', 'gain', ''],
    commands.map(({ command, accelerator, with: withIt, without, gain }) => [
      command,
      accelerator,
      withIt.toFixed(2),
      without.toFixed(2),
      `${(100 * gain).toFixed(1)} %`,
      gain >= LEAST_GAIN ? 'earns its place' : `below ${100 * LEAST_GAIN} %`,
    ]),
  );
  if (!values['no-file'] && !values.short) {
    run.save(
      'accelerators',
      { reports: REPORTS, rounds: ROUNDS, leastGain: LEAST_GAIN, commands },
      {
        parts: chosen,
        merge: (before, now) => ({ ...before, commands: mergeRows(({ name }) => name, before.commands, now.commands) }),
      },
    );
  }
} finally {
  if (names.includes('decode-afxdp')) removeInterfaces();
  rmSync(folder, { recursive: true, force: true });
}
