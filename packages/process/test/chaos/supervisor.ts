/** Runs a collector, processors and a broker under a schedule, and brings them to rest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeReport, type TelemetryRecord } from '@int/codec';
import type { KafkaCluster } from '../../../../.ci/kafka/cluster.mjs';
import type { Step } from './schedule.js';
import type { Wire } from './wire.js';

/** Each has a way of its own to the broker. */
export const COLLECTORS = 2;
const PROCESSORS = 2;
const FLOWS = 8;
/** Reports for each collector, so often. */
const SEND = { EVERY_MS: 20, REPORTS: 2 } as const;
/** Limit of any wait for the system to come to rest. */
const REST_MS = 90_000;

/** A program in a process of its own, which is started again when it was ended. */
class Member {
  readonly name: string;
  readonly #program: string;
  readonly #args: readonly string[];
  #process: ChildProcess | null = null;
  /** The last line of each kind that the process there is now has said. */
  readonly said = new Map<string, string>();
  readonly problems: string[] = [];

  constructor(name: string, program: string, args: readonly string[]) {
    this.name = name;
    this.#program = program;
    this.#args = args;
  }

  start(): void {
    if (this.isRunning) return;
    this.said.clear();
    const child = spawn(process.execPath, [this.#program, ...this.#args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process = child;
    child.stdin!.on('error', () => {});
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const [what = ''] = line.split(' ', 1);
      this.said.set(what, line.slice(what.length + 1));
      if (what === 'problem') this.problems.push(line);
    });
  }

  get isRunning(): boolean {
    const child = this.#process;
    return child !== null && child.exitCode === null && child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#process!.kill(signal);
  }

  write(line: string): void {
    if (this.isRunning) this.#process!.stdin!.write(`${line}\n`);
  }

  /** Ends it, within a time. @throws Error if it goes on */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (child === null || !this.isRunning) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    const isGone = await Promise.race([gone.then(() => true), sleep(REST_MS / 2, false, { ref: false })]);
    if (isGone === true) return;
    child.kill('SIGKILL');
    throw new Error(`${this.name} has not ended ${REST_MS / 2} ms after ${signal}`);
  }

  number(what: string, name: string): number | null {
    const text = this.said.get(what);
    if (text === undefined || text === '') return null;
    return (JSON.parse(text) as Record<string, number> | null)?.[name] ?? null;
  }
}

/** The name of a collector's way to the broker among the cluster's listeners. */
export function wireName(collector: number): string {
  return `WIRE${collector}`;
}

/** The programs, as plain JavaScript. */
export interface Programs {
  readonly collector: string;
  readonly processor: string;
}

export class Supervisor {
  readonly #cluster: KafkaCluster;
  /** The way to the broker of each collector. */
  readonly #wires: readonly Wire[];
  readonly #collectors: readonly Member[];
  readonly #processors: readonly Member[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'int-chaos-'));
  readonly #sender = createSocket('udp4');
  readonly #sequences = new Map<number, number>();
  #sending: NodeJS.Timeout | undefined;
  /** What is broken now, and when it is to be well again. */
  readonly #open: Promise<void>[] = [];

  /** @param wires one for each collector, named by {@link wireName} in the cluster */
  constructor(cluster: KafkaCluster, wires: readonly Wire[], prefix: string, programs: Programs) {
    const brokers = cluster.bootstrap.join();
    this.#cluster = cluster;
    this.#wires = wires;
    this.#collectors = wires.map((wire, index) => {
      const way = `127.0.0.1:${wire.port}`;
      return new Member(`collector ${index}`, programs.collector, [way, prefix, join(this.#folder, `spool-${index}`)]);
    });
    this.#processors = Array.from({ length: PROCESSORS }, (_, index) => {
      return new Member(`processor ${index}`, programs.processor, [brokers, prefix]);
    });
  }

  /** Starts everything, lets the schedule happen, and brings it all to rest. @throws Error for a wait that was in vain */
  async run(schedule: readonly Step[], lengthMs: number): Promise<void> {
    for (const member of [...this.#collectors, ...this.#processors]) member.start();
    await this.#until('the collectors listen', () => this.#collectors.every(({ said }) => said.has('port')));
    await this.#until('a processor has begun', () => this.#processors.some(({ said }) => said.has('totals')));
    this.#sending = setInterval(() => this.#send(), SEND.EVERY_MS);
    const began = performance.now();
    for (const step of schedule) {
      await sleep(Math.max(0, step.atMs - (performance.now() - began)));
      this.#open.push(this.#do(step));
    }
    await sleep(Math.max(0, lengthMs - (performance.now() - began)));
    await Promise.all(this.#open);
    clearInterval(this.#sending);
    await this.#rest();
  }

  /** Ends all processes that were started, whatever they do. */
  async close(): Promise<void> {
    clearInterval(this.#sending);
    await Promise.allSettled([...this.#collectors, ...this.#processors].map((member) => member.end('SIGKILL')));
    this.#sender.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What the parts have told of, for whoever looks at a failure. */
  story(): string {
    const lines = [...this.#collectors, ...this.#processors].flatMap(({ name, said, problems }) => [
      `${name}: ${[...said.values()].join(' ')}`,
      ...problems.slice(-5).map((problem) => `  ${problem}`),
    ]);
    return lines.join('\n');
  }

  #send(): void {
    for (const [index, collector] of this.#collectors.entries()) {
      const port = Number(collector.said.get('port'));
      if (!(port > 0) || !collector.isRunning) continue;
      for (let count = 0; count < SEND.REPORTS; count++) this.#sender.send(this.#report(index), port, '127.0.0.1');
    }
  }

  /** A report of a switch of the collector's own. */
  #report(collector: number): Uint8Array {
    const nodeId = 10 + collector;
    const sequence = this.#sequences.get(nodeId) ?? 0;
    this.#sequences.set(nodeId, sequence + 1);
    const header = { version: '2.0', hwId: collector, sequence: sequence & 0x3fffff, nodeId } as const;
    const record: TelemetryRecord = {
      index: 0,
      status: 'ok',
      error: null,
      report: {
        ...header,
        ...{ type: 'int-md', dropped: false, queueCongested: false, trackedFlow: true, intermediate: false },
        ...{ ingressTimestamp: null, dropReason: null, dropQueueId: null, metadata: {} },
      },
      int: {
        ...{ mode: 'md', version: '2', encapsulation: 'udp', hopMl: 2, remainingHopCount: 6 },
        ...{ instructionBitmap: 0xa000, discard: false, hopExceeded: false, mtuExceeded: false },
        ...{ domainId: 0, domainInstructions: 0, domainFlags: 0 },
      },
      flow: {
        ...{ source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, destinationPort: 80 },
        sourcePort: 5000 + (sequence % FLOWS),
      },
      path: [1, nodeId],
      hops: [
        { nodeId: 1, hopLatency: 100 },
        { nodeId, hopLatency: 200 },
      ],
    };
    return encodeReport({ ...header, records: [record] });
  }

  /** A step, from its beginning to its end. */
  async #do({ part, action, which, forMs }: Step): Promise<void> {
    if (part === 'broker') {
      const broker = this.#cluster.brokers[0]!;
      if (action === 'kill') await broker.kill();
      else if (broker.pid !== undefined) process.kill(broker.pid, 'SIGSTOP');
      await sleep(forMs);
      if (action === 'kill') broker.start();
      else if (broker.pid !== undefined && broker.isRunning) process.kill(broker.pid, 'SIGCONT');
      return;
    }
    if (part === 'clock') {
      this.#collectors[which]!.write(String(forMs));
      return;
    }
    if (action === 'cut') {
      this.#wires[which]!.cut();
      await sleep(forMs);
      this.#wires[which]!.mend();
      return;
    }
    const member = (part === 'collector' ? this.#collectors : this.#processors)[which]!;
    if (action === 'freeze') member.signal('SIGSTOP');
    else await member.end(action === 'kill' ? 'SIGKILL' : 'SIGTERM');
    await sleep(forMs);
    if (action === 'freeze') member.signal('SIGCONT');
    else member.start();
  }

  /** Everything is well: what was taken arrives, and windows close over it. */
  async #rest(): Promise<void> {
    const [broker] = this.#cluster.brokers;
    if (broker!.isRunning) process.kill(broker!.pid!, 'SIGCONT');
    broker!.start();
    await this.#cluster.ready();
    for (const wire of this.#wires) wire.mend();
    for (const member of [...this.#collectors, ...this.#processors]) {
      member.signal('SIGCONT');
      member.start();
    }
    await this.#until('the sinks have delivered all', () =>
      this.#collectors.every((one) => one.number('reports', 'pending') === 0),
    );
    await Promise.all(this.#collectors.map((one) => one.end('SIGTERM')));
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    const limit = performance.now() + REST_MS;
    while (!holds()) {
      if (performance.now() > limit) throw new Error(`in vain waited ${REST_MS} ms until ${what}\n${this.story()}`);
      await sleep(50);
    }
  }
}
