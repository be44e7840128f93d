/**
 * Rehearsal of changes: a minute of 1,000 flows through 20 switches with the real program, before and after each step. The changes
 * are what intents of five kinds need, each and all together. Processor time of `Twin.rehearse`.
 *
 * `--short`: fewer flows and rounds. `--rounds N`, `--no-file`.
 */
import { fileURLToPath } from 'node:url';
import { compile, type Intent, type NetworkModel, type ObservedFlow, planChanges, Twin } from '@int/control';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { Topology } from '@int/network';
import { p4infoOf } from '@int/p4runtime';
import { loadProgram } from '@int/p4vm/node';
import { Random } from '@int/random';
import { median } from './decode/statistics.js';

/** What a change is, and what its rehearsals took. */
export interface RehearsedChange {
  readonly change: string;
  readonly changes: number;
  readonly steps: number;
  /** Flows walked: all of them before the change, and after a step those that may see it. */
  readonly walks: number;
  readonly moved: number;
  /** Seconds of processor time. */
  readonly median: number;
  readonly longest: number;
}

export interface Rehearsals {
  readonly flows: number;
  readonly switches: number;
  readonly minuteSeconds: number;
  readonly changes: readonly RehearsedChange[];
  readonly targets: Readonly<Record<string, boolean>>;
}

const values = readOptions({ rounds: { type: 'string' } });
const run = new BenchmarkRun('rehearsal', { short: values.short });
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 9));
const FLOWS = values.short ? 50 : 1000;
const LEAVES = 16;
const SPINES = 4;
const HOSTS = 4;
const SECONDS = 60;
/** Seconds that a rehearsal may take. */
const MOST = 2;
/** Ports of leaves: to hosts from 1 on, to the collector, to spines from here on. */
const COLLECTOR = 40;
const UPLINKS = 51;

const program = loadProgram(fileURLToPath(new URL('../../p4/int.p4', import.meta.url)));
const random = new Random('rehearsal');
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, k) => k + 1);
const spineOf = (spine: number): number => 100 + spine;
const hosts = numbers(LEAVES).flatMap((leaf) =>
  numbers(HOSTS).map((port) => ({ name: `h${leaf}-${port}`, address: `10.0.${leaf}.${port}`, leaf, port })),
);

function networkOf(): NetworkModel {
  const speed = '10G';
  const leaves = numbers(LEAVES).map((leaf) => [
    leaf,
    {
      name: `leaf-${leaf}`,
      ports: Object.fromEntries([
        ...hosts.filter((host) => host.leaf === leaf).map(({ name, port }) => [port, { to: `host ${name}`, speed }]),
        ...(leaf === 1 ? [[COLLECTOR, { to: 'host collector', speed }]] : []),
        ...numbers(SPINES).map((spine) => [UPLINKS + spine - 1, { to: `${spineOf(spine)}:${leaf}`, speed }]),
      ]),
    },
  ]);
  const spines = numbers(SPINES).map((spine) => [
    spineOf(spine),
    {
      name: `spine-${spine}`,
      ports: Object.fromEntries(numbers(LEAVES).map((leaf) => [leaf, { to: `${leaf}:${UPLINKS + spine - 1}`, speed }])),
    },
  ]);
  const collector = { address: '10.0.1.200', port: 32_766 };
  const topology = new Topology({
    switches: Object.fromEntries([...leaves, ...spines]),
    hosts: Object.fromEntries([
      ...hosts.map(({ name, address }) => [name, { addresses: [address] }]),
      ['collector', { addresses: [collector.address] }],
    ]),
  });
  const p4info = p4infoOf(program);
  const ids = [...numbers(LEAVES), ...numbers(SPINES).map(spineOf)];
  const switches = new Map(ids.map((id) => [id, { id, program: 'int' as const, p4info, isUp: true }]));
  return { topology, switches, failedLinks: new Set(), collector };
}

/** A minute of reports: of each flow, what it sent and where it entered. */
const flows = Array.from({ length: FLOWS }, (_, k): ObservedFlow => {
  const from = hosts[random.integer(hosts.length)]!;
  const others = hosts.filter(({ leaf }) => leaf !== from.leaf);
  const to = others[random.integer(others.length)]!;
  const packets = 1000 + random.integer(100_000);
  return {
    source: from.address,
    destination: to.address,
    protocol: 17,
    sourcePort: 10_000 + k,
    destinationPort: 80,
    packets,
    bytes: packets * (100 + random.integer(1300)),
    path: [from.leaf],
  };
});

const terms = { owner: 'benchmark', fromMs: 0, ttlMs: null, reason: '' };
const exact = ({ source, destination, sourcePort }: ObservedFlow) => ({
  source,
  destination,
  protocol: 17,
  sourcePort: [sourcePort, sourcePort] as const,
});
const via = [flows[0]!.path[0]!, spineOf(2), Number(flows[0]!.destination.split('.')[2])];
const intents: readonly Intent[] = [
  { ...terms, id: 'avoid', priority: 1, kind: 'avoid', link: { switchId: 1, port: UPLINKS } },
  { ...terms, id: 'path', priority: 2, kind: 'path', match: exact(flows[0]!), via },
  { ...terms, id: 'block', priority: 3, kind: 'block', match: { source: flows[1]!.source }, reportOneIn: 0 },
  { ...terms, id: 'limit', priority: 4, kind: 'limit', match: { source: flows[2]!.source }, bitsPerSecond: 1e6 },
  {
    ...terms,
    id: 'watch',
    priority: 5,
    kind: 'watch',
    match: { destination: '10.0.0.0/16' },
    instructions: 0xf000,
    oneIn: 1,
  },
];

const network = networkOf();
const twin = new Twin({ int: program });

function rehearse(change: string, wanted: readonly Intent[]): RehearsedChange {
  const before = compile(network, [], 1).desired;
  const after = compile(network, wanted, 1);
  if (after.unplaced.length + after.conflicts.length > 0) throw new Error(`${change} does not fit into the network`);
  const found = new Map([...before].map(([id, entities]) => [id, entities.map(({ entity }) => entity)]));
  const { plan } = planChanges(after.desired, found, { switches: network.switches });
  const mayDrop = wanted.filter((intent) => intent.kind === 'block' || intent.kind === 'limit');
  const seconds: number[] = [];
  const minute = { flows, seconds: SECONDS };
  for (let round = values.short ? 0 : -1; ; round++) {
    const start = process.cpuUsage();
    const { isSafe, violations, steps, moved } = twin.rehearse(network, before, plan, minute, { linkLoad: 1, mayDrop });
    const { user, system } = process.cpuUsage(start);
    if (round >= 0) seconds.push((user + system) / 1e6);
    if (!isSafe) throw new Error(`${change}, a sound change, is refused: ${violations[0]!.message}`);
    if (round + 1 < ROUNDS) continue;
    return {
      change,
      changes: steps.reduce((sum, step) => sum + step.changes, 0),
      steps: steps.length,
      walks: FLOWS + steps.reduce((sum, { walked }) => sum + walked, 0),
      moved: moved.length,
      median: median(seconds),
      longest: Math.max(...seconds),
    };
  }
}

const changes = [...intents.map((intent) => rehearse(intent.kind, [intent])), rehearse('all five', intents)];
printTable(
  `${FLOWS} flows through ${network.switches.size} switches, processor time`,
  ['change', 'entries', 'steps', 'flows walked', 'flows moved', 'median, s', 'longest, s'],
  changes.map(({ change, changes: entries, steps, walks, moved, median: typical, longest }) => [
    change,
    ...[entries, steps, walks, moved].map(String),
    typical.toFixed(2),
    longest.toFixed(2),
  ]),
);
const targets = Object.fromEntries(
  changes.map(({ change, longest }) => [`${change}: under ${MOST} s`, longest < MOST]),
);
// A short run has not even compiled the code.
if (!values.short)
  for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);
if (!values['no-file']) {
  run.save<Rehearsals>('rehearsal', {
    flows: FLOWS,
    switches: network.switches.size,
    minuteSeconds: SECONDS,
    changes,
    targets,
  });
}
