/**
 * A P4Runtime server with a machine of @int/p4vm behind it, on one thread with the packets: updates a second in batches of 500
 * over loopback, against the same transport with a handler that does nothing; entries read back; and the longest pause of the
 * packets meanwhile.
 *
 * `--short`: fewer entries. `--no-file`.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { create } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { P4RuntimeServer, P4vmTarget, p4v1 } from '@int/p4runtime';
import { RawWriteRequestSchema } from '@int/p4runtime/internals';
import { DEVICE_CONFIG } from './p4runtime/program.js';
import { INFO } from './p4runtime/requests.js';

const values = readOptions({});
const ENTRIES = values.short ? 10_000 : 100_000;
const BATCH = 500;
/** What the package promises. */
const WANTED = { updatesPerSecond: 20_000, readSeconds: 2, pauseMs: 5 };
const run = new BenchmarkRun('p4runtime', { short: values.short });

interface Told {
  insert: number;
  modify: number;
  seconds: number;
  count: number;
  remove: number;
}

/** Runs the controller against a port. `during` is told when writes begin and end. */
async function drive(port: number, during: (phase: string) => void = () => {}): Promise<Told> {
  const told = {} as Told;
  const path = fileURLToPath(new URL('p4runtime-controller.js', import.meta.url));
  const child = fork(path, [String(port), String(ENTRIES), String(BATCH)]);
  await new Promise<void>((resolve, reject) => {
    child.on('message', ({ kind, ...times }: { readonly kind: string }) => {
      Object.assign(told, times);
      during(kind);
    });
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the controller ended with ${code}`))));
  });
  return told;
}

interface Pauses {
  readonly longestMs: number;
  readonly p999Ms: number;
  readonly longestElapsedMs: number;
  readonly packets: number;
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Packets as fast as the thread has time for them: the gaps between their turns are what a port would see. A gap counts with its
 * elapsed time or its processor time, whichever is less: other load on the machine adds to the first.
 */
class Packets {
  readonly #frame = new Uint8Array(64).fill(1);
  #last = 0;
  #lastCpu = 0;
  #isRunning = false;
  #count = 0;
  #longestElapsed = 0;
  gaps: number[] = [];

  constructor(readonly target: P4vmTarget) {}

  start(): void {
    this.gaps = [];
    this.#last = performance.now();
    this.#lastCpu = cpuMs();
    this.#isRunning = true;
    const turn = (): void => {
      if (!this.#isRunning) return;
      const now = performance.now();
      const cpu = cpuMs();
      this.#longestElapsed = Math.max(this.#longestElapsed, now - this.#last);
      this.gaps.push(Math.min(now - this.#last, cpu - this.#lastCpu));
      this.#last = now;
      this.#lastCpu = cpu;
      for (let i = 0; i < 32; i++) this.target.machine?.receive(0, this.#frame);
      this.#count += 32;
      setImmediate(turn);
    };
    setImmediate(turn);
  }

  stop(): Pauses {
    this.#isRunning = false;
    const sorted = [...this.gaps].sort((a, b) => a - b);
    const packets = this.#count;
    this.#count = 0;
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    return { longestMs: at(1), p999Ms: at(0.999), longestElapsedMs: this.#longestElapsed, packets };
  }
}

async function measureServer(withPackets: boolean): Promise<Told & Pauses & { readonly cpuUs: number }> {
  const target = new P4vmTarget({ cpuPort: 510, environment: { limits: { stateBytes: 1 << 30 } } });
  const server = new P4RuntimeServer({
    devices: [{ deviceId: 1, target, pipeline: { p4info: INFO, deviceConfig: DEVICE_CONFIG } }],
  });
  const { port } = await server.listen({ port: 0 });
  const packets = new Packets(target);
  let pauses: Pauses = { longestMs: 0, p999Ms: 0, longestElapsedMs: 0, packets: 0 };
  let cpu = 0;
  const told = await drive(port, (kind) => {
    if (kind === 'begin') cpu = cpuMs();
    if (kind === 'written') cpu = cpuMs() - cpu;
    if (kind === 'begin' && withPackets) packets.start();
    if (kind === 'written' && withPackets) pauses = packets.stop();
  });
  await server.close();
  if (told.count !== ENTRIES) throw new Error(`${told.count} of ${ENTRIES} entries came back`);
  // INSERT and MODIFY of each entry.
  return { ...told, ...pauses, cpuUs: (cpu * 1000) / (2 * ENTRIES) };
}

/** The transport alone: requests are received, and nothing is done with them. */
async function measureNothing(): Promise<Told> {
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
  const told = await drive((server.address() as AddressInfo).port);
  server.close();
  return told;
}

const alone = await measureServer(false);
const busy = await measureServer(true);
const nothing = await measureNothing();

const rate = (seconds: number): number => Math.round(ENTRIES / seconds);
const row = (name: string, { insert, modify, remove }: Told): string[] => [
  name,
  ...[insert, modify, remove].map((seconds) => String(rate(seconds))),
  (nothing.insert / insert).toFixed(2),
];
printTable(
  `updates a second, ${ENTRIES} routes in batches of ${BATCH}, from another process over loopback`,
  ['', 'INSERT', 'MODIFY', 'DELETE', 'of the transport'],
  [row('server', alone), row('server, with packets', busy), row('transport alone', nothing)],
);
const { longestMs, p999Ms, longestElapsedMs, packets } = busy;
console.log(`the server takes ${alone.cpuUs.toFixed(1)} us of processor time an update`);
console.log(`read back ${alone.count} entries in ${alone.seconds.toFixed(2)} s; the transport's share is included`);
console.log(
  `packets during writes: ${packets}, longest pause ${longestMs.toFixed(2)} ms (${longestElapsedMs.toFixed(2)} ms with other load), ` +
    `99.9 % below ${p999Ms.toFixed(2)} ms`,
);
const targets = {
  [`at least ${WANTED.updatesPerSecond} updates a second`]: rate(alone.insert) >= WANTED.updatesPerSecond,
  [`${ENTRIES} entries read in less than ${WANTED.readSeconds} s`]: alone.seconds < WANTED.readSeconds,
  [`no pause of packets of ${WANTED.pauseMs} ms`]: longestMs < WANTED.pauseMs,
};
for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);
if (!values['no-file']) {
  run.save('p4runtime', { entries: ENTRIES, batch: BATCH, alone, busy, nothing, targets });
}
