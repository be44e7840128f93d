/**
 * A P4Runtime server with a machine of @int/p4vm behind it, on one thread with the packets: updates a second in batches of 500
 * over loopback, against the same transport with a handler that does nothing; entries read back; and the pauses of the packets
 * meanwhile.
 *
 * `--short`: fewer entries. `--entries N`, `--no-file`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { P4RuntimeServer, P4vmTarget, p4v1 } from '@int/p4runtime';
import { RawWriteRequestSchema } from '@int/p4runtime/internals';
import { Packets, type Pauses } from './p4runtime/packets.js';
import { type Command, PHASES, type PhaseName, type Told } from './p4runtime/phases.js';
import { DEVICE_CONFIG } from './p4runtime/program.js';
import { INFO } from './p4runtime/requests.js';
import { ThreadTime } from './p4runtime/thread-time.js';

const values = readOptions({ entries: { type: 'string' } });
const ENTRIES = Number(values.entries ?? (values.short ? 3000 : 100_000));
const BATCH = 500;
/** What the package promises. */
const WANTED = { updatesPerSecond: 20_000, readSeconds: 2, pauseMs: 5 };
const run = new BenchmarkRun('p4runtime', { short: values.short });

/** One phase, as both processes saw it. */
interface Phase {
  readonly seconds: number;
  /** Processor time of the server's thread. */
  readonly serverSeconds: number;
  /** Processor time of the controller's process. */
  readonly controllerSeconds: number;
  readonly count: number;
  readonly pauses: Pauses | null;
}

type Phases = Readonly<Record<PhaseName, Phase>>;

function next(child: ChildProcess): Promise<Told> {
  return new Promise((resolve, reject) => {
    const exit = (code: number | null): void => reject(new Error(`the controller ended with ${code}`));
    child.once('exit', exit);
    child.once('message', (told: Told) => {
      child.off('exit', exit);
      resolve(told);
    });
  });
}

/** Runs the controller against a port, in some phases. */
async function drive(port: number, phases: readonly PhaseName[], packets: Packets | null): Promise<Phases> {
  const path = fileURLToPath(new URL('p4runtime-controller.js', import.meta.url));
  const child = fork(path, [String(port), String(ENTRIES), String(BATCH)]);
  const time = new ThreadTime();
  const all: Partial<Record<PhaseName, Phase>> = {};
  const ask = (command: Command): Promise<Told> => {
    const told = next(child);
    child.send(command);
    return told;
  };
  try {
    await next(child);
    for (const phase of phases) {
      await ask(phase);
      const before = time.read().runMs;
      packets?.start();
      const done = await ask('go');
      const pauses = packets?.stop() ?? null;
      const serverSeconds = (time.read().runMs - before) / 1000;
      if (done.kind !== 'done') throw new Error(`the controller tells ${done.kind}`);
      if (process.env.INT_TRACE) {
        console.error(
          phase.padEnd(10),
          done.seconds.toFixed(2),
          serverSeconds.toFixed(2),
          done.cpuSeconds.toFixed(2),
          JSON.stringify(pauses?.own),
        );
        await packets?.trace();
      }
      all[phase] = {
        seconds: done.seconds,
        serverSeconds,
        controllerSeconds: done.cpuSeconds,
        count: done.count,
        pauses,
      };
    }
  } finally {
    time.close();
    child.send('end');
    await new Promise((resolve) => child.once('exit', resolve));
  }
  return all as Phases;
}

async function measureServer(withPackets: boolean): Promise<Phases> {
  const packets = withPackets ? new Packets() : null;
  const target = new P4vmTarget({
    cpuPort: 510,
    environment: { limits: { stateBytes: 1 << 30 } },
    onWork: () => packets?.meanwhile(),
  });
  if (packets !== null) packets.target = target;
  const server = new P4RuntimeServer({
    devices: [{ deviceId: 1, target, pipeline: { p4info: INFO, deviceConfig: DEVICE_CONFIG } }],
  });
  const { port } = await server.listen({ port: 0 });
  const phases = await drive(port, withPackets ? PHASES : ['warm', 'insert', 'modify', 'read', 'delete'], packets);
  await server.close();
  if (phases.read.count !== ENTRIES) throw new Error(`${phases.read.count} of ${ENTRIES} entries came back`);
  return phases;
}

/** The transport alone: requests are received, and nothing is done with them. */
async function measureNothing(): Promise<Phases> {
  const { method } = p4v1.P4Runtime;
  const routes = (router: ConnectRouter): void => {
    router.rpc({ ...method.write, input: RawWriteRequestSchema }, () => create(p4v1.WriteResponseSchema));
    router.rpc(method.read, async function* () {});
    router.rpc(method.streamChannel, async function* (requests) {
      for await (const _ of requests) yield create(p4v1.StreamMessageResponseSchema);
    });
  };
  const handler = connectNodeAdapter({ routes, connect: false, grpcWeb: false, acceptCompression: [] });
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const phases = await drive((server.address() as AddressInfo).port, ['warm', 'insert', 'modify', 'delete'], null);
  server.close();
  return phases;
}

const loadBefore = loadavg()[0]!;
const alone = await measureServer(false);
const busy = await measureServer(true);
const nothing = await measureNothing();
const loadAfter = loadavg()[0]!;

const CHANGES = ['insert', 'modify', 'delete'] as const;
const rate = (seconds: number): number => Math.round(ENTRIES / seconds);
const row = (name: string, phases: Phases, of: (phase: Phase) => number): string[] => [
  name,
  ...CHANGES.map((change) => String(rate(of(phases[change])))),
];
console.log(`load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after`);
printTable(
  `updates a second, ${ENTRIES} routes in batches of ${BATCH}, from another process over loopback`,
  ['', 'INSERT', 'MODIFY', 'DELETE'],
  [
    row('server, by the clock', alone, ({ seconds }) => seconds),
    row('server, with packets, by the clock', busy, ({ seconds }) => seconds),
    row('transport alone, by the clock', nothing, ({ seconds }) => seconds),
    row('server, a second of its thread', alone, ({ serverSeconds }) => serverSeconds),
    row('transport alone, a second of its thread', nothing, ({ serverSeconds }) => serverSeconds),
    row('controller, a second of its process', alone, ({ controllerSeconds }) => controllerSeconds),
  ],
);
const { read } = alone;
console.log(
  `read back ${read.count} entries in ${read.seconds.toFixed(2)} s: ${read.serverSeconds.toFixed(2)} s of the server's thread, ` +
    `${read.controllerSeconds.toFixed(2)} s of the controller's process`,
);
const ms = (value: number): string => value.toFixed(2);
printTable(
  'pauses of the packets in ms: as elapsed, and without the time of other processes',
  ['meanwhile', 'packets', 'elapsed', '99.9 %', 'own', '99.9 %'],
  PHASES.filter((phase) => phase !== 'warm').map((phase) => {
    const { packets, elapsed, own } = busy[phase].pauses!;
    const lists = [elapsed, own].flatMap(({ longest, p999 }) => [ms(longest), ms(p999)]);
    return [phase, String(packets), ...lists];
  }),
);
const longestMs = Math.max(
  ...PHASES.filter((phase) => phase !== 'warm' && phase !== 'quiet').map((phase) => busy[phase].pauses!.own.longest),
);
const slowest = Math.max(...CHANGES.map((change) => Math.min(alone[change].seconds, alone[change].serverSeconds)));
const targets = {
  [`at least ${WANTED.updatesPerSecond} updates a second of processor time`]: rate(slowest) >= WANTED.updatesPerSecond,
  [`${ENTRIES} entries read in less than ${WANTED.readSeconds} s`]:
    Math.min(read.seconds, read.serverSeconds) < WANTED.readSeconds,
  [`no own pause of packets of ${WANTED.pauseMs} ms`]: longestMs < WANTED.pauseMs,
};
for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);
if (!values['no-file']) {
  run.save('p4runtime', {
    entries: ENTRIES,
    batch: BATCH,
    load: [loadBefore, loadAfter],
    alone,
    busy,
    nothing,
    targets,
  });
}
