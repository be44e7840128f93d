/** Runs a collector, processors and a broker under a schedule, and brings them to rest. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeReport, type TelemetryRecord } from '@int/codec';
import type { KafkaCluster } from '../../../../../.ci/kafka/cluster.mjs';
import { trySmallDisk } from '../../../../../.ci/test/small-disk.js';
import type { Step } from '../../chaos/schedule.js';
import { type CollectorSetting, EXIT_NOT_BEGUN, type ProcessorSetting } from '../../chaos/settings.js';
import type { Way } from '../../chaos/way.js';
import { type Logins, loginOf } from './logins.js';
import type { ReportLog } from './report-log.js';

/** Each has a way of its own to the broker. */
export const COLLECTORS = 2;
const PROCESSORS = 2;
/** Of the disk of a spool. */
const DISK = '1m';
const FLOWS = 8;
/** Reports for each collector, so often. */
const SEND = { EVERY_MS: 20, REPORTS: 2 } as const;
/** A program that has found no broker is started again after this time. */
const AGAIN_MS = 500;
/** Limit of any wait for the system to come to rest. */
const REST_MS = 90_000;

/** A program in a process of its own, which is started again when it was ended. */
class Member {
  readonly name: string;
  readonly #command: readonly string[];
  #process: ChildProcess | null = null;
  /** The last line of each kind that the process there is now has said. */
  readonly said = new Map<string, string>();
  readonly problems: string[] = [];
  /** It has ended without being told to. */
  hasFailed = false;
  #isEnding = false;
  #again: NodeJS.Timeout | undefined;

  constructor(name: string, command: readonly string[]) {
    this.name = name;
    this.#command = command;
  }

  start(): void {
    if (this.isRunning) return;
    this.said.clear();
    const [program, ...args] = this.#command;
    const child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process = child;
    child.once('exit', (code, signal) => this.#exited(code, signal));
    this.#isEnding = false;
    child.stdin!.on('error', () => {});
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const [what = ''] = line.split(' ', 1);
      this.said.set(what, line.slice(what.length + 1));
      if (what === 'problem') this.problems.push(line);
    });
  }

  /** As a service manager does it: what could not begin is started again, and anything else that ends by itself is a failure. */
  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isEnding) return;
    this.problems.push(`ended by itself: ${signal ?? code}`);
    if (code !== EXIT_NOT_BEGUN) this.hasFailed = true;
    else this.#again = setTimeout(() => this.start(), AGAIN_MS);
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
    clearTimeout(this.#again);
    const child = this.#process;
    if (child === null || !this.isRunning) return;
    this.#isEnding = true;
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

/** Those who have to log in. */
export const USERS = {
  collectors: Array.from({ length: COLLECTORS }, (_, index) => `collector-${index}`),
  processors: Array.from({ length: PROCESSORS }, (_, index) => `processor-${index}`),
} as const;

/** The programs, as plain JavaScript. */
export interface Programs {
  readonly collector: string;
  readonly processor: string;
}

/** What is there before the programs are started. */
export interface Surroundings {
  readonly cluster: KafkaCluster;
  /** Of each collector, and its address of the broker. */
  readonly ways: readonly { readonly way: Way; readonly broker: string }[];
  /** The processors' address of the broker. */
  readonly broker: string;
  readonly logins: Logins;
  readonly log: ReportLog;
  readonly prefix: string;
  readonly programs: Programs;
  /** Spools are on disks of their own, if these can be made here. */
  readonly hasDisks: boolean;
}

export class Supervisor {
  readonly #around: Surroundings;
  readonly #collectors: readonly Member[];
  readonly #processors: readonly Member[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'int-chaos-'));
  readonly #sender = createSocket('udp4');
  readonly #sequences = new Map<number, number>();
  #sending: NodeJS.Timeout | undefined;
  /** What is broken now, and when it is to be well again. */
  readonly #open: Promise<void>[] = [];

  /** Unmount the disks. */
  readonly #unmounts: (() => void)[] = [];
  /** Of each way, how many steps keep it cut. */
  readonly #cuts: number[];

  constructor(around: Surroundings) {
    this.#around = around;
    const { ways, broker, prefix, programs, hasDisks } = around;
    this.#collectors = ways.map(({ way, broker: near }, index) => {
      const disk = this.#disk(index);
      mkdirSync(disk);
      const unmount = hasDisks ? trySmallDisk(disk, DISK) : null;
      if (unmount !== null) this.#unmounts.push(unmount);
      const setting: CollectorSetting = {
        access: { bootstrap: [near], sasl: loginOf(USERS.collectors[index]!) },
        prefix,
        address: way.reportsAddress,
        directory: join(disk, 'spool'),
        // One of them needs its disk all the time, the other one when it is cut off.
        durability: unmount !== null && index === 1 ? 'spool' : 'memory',
      };
      const command = way.at([process.execPath, programs.collector, JSON.stringify(setting)]);
      return new Member(`collector ${index}`, command);
    });
    this.#cuts = ways.map(() => 0);
    this.#processors = USERS.processors.map((user, index) => {
      const setting: ProcessorSetting = { access: { bootstrap: [broker], sasl: loginOf(user) }, prefix };
      return new Member(`processor ${index}`, [process.execPath, programs.processor, JSON.stringify(setting)]);
    });
  }

  #disk(collector: number): string {
    return join(this.#folder, `disk-${collector}`);
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
    for (const [collector, { way }] of this.#around.ways.entries()) if (this.#cuts[collector]! > 0) way.mend();
    for (const unmount of this.#unmounts) unmount();
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
      const { reportsAddress } = this.#around.ways[index]!.way;
      for (let count = 0; count < SEND.REPORTS; count++) this.#sender.send(this.#report(index), port, reportsAddress);
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
    if (part === 'topic') {
      const all = (): readonly number[] => [...this.#cuts.keys()];
      const cut = (): void => {
        for (const each of all()) this.#cut(each);
      };
      const mend = (): void => {
        for (const each of all()) this.#mend(each);
      };
      return await this.#around.log.remake(which, forMs, cut, mend);
    }
    if (part === 'broker') {
      const broker = this.#around.cluster.brokers[0]!;
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
      this.#cut(which);
      await sleep(forMs);
      this.#mend(which);
      return;
    }
    if (action === 'lock out') {
      const user = (part === 'collector' ? USERS.collectors : USERS.processors)[which]!;
      await this.#around.logins.revoke(user);
      await sleep(forMs);
      await this.#around.logins.grant(user);
      return;
    }
    if (action === 'fill') {
      if (this.#unmounts.length < COLLECTORS) throw new Error('there is no disk to fill');
      const filling = join(this.#disk(which), 'filling');
      fill(filling);
      await sleep(forMs);
      rmSync(filling, { force: true });
      return;
    }
    const member = (part === 'collector' ? this.#collectors : this.#processors)[which]!;
    if (action === 'freeze') member.signal('SIGSTOP');
    else await member.end(action === 'kill' ? 'SIGKILL' : 'SIGTERM');
    await sleep(forMs);
    if (action === 'freeze') member.signal('SIGCONT');
    else member.start();
  }

  #cut(collector: number): void {
    if (this.#cuts[collector]!++ === 0) this.#around.ways[collector]!.way.cut();
  }

  #mend(collector: number): void {
    if (--this.#cuts[collector]! === 0) this.#around.ways[collector]!.way.mend();
  }

  /** Everything is well: what was taken arrives, and windows close over it. */
  async #rest(): Promise<void> {
    const { cluster, logins } = this.#around;
    const [broker] = cluster.brokers;
    if (broker!.isRunning) process.kill(broker!.pid!, 'SIGCONT');
    broker!.start();
    await cluster.ready();
    await logins.grant(...Object.values(USERS).flat());
    for (const member of [...this.#collectors, ...this.#processors]) {
      member.signal('SIGCONT');
      member.start();
    }
    await this.#until('the sinks have delivered all', () =>
      this.#collectors.every((one) => one.number('reports', 'pending') === 0),
    );
    await Promise.all(this.#collectors.map((one) => one.end('SIGTERM')));
    const failed = [...this.#collectors, ...this.#processors].filter(({ hasFailed }) => hasFailed);
    if (failed.length > 0) throw new Error(`ended by themselves: ${failed.map(({ name }) => name)}\n${this.story()}`);
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    const limit = performance.now() + REST_MS;
    while (!holds()) {
      if (performance.now() > limit) throw new Error(`in vain waited ${REST_MS} ms until ${what}\n${this.story()}`);
      await sleep(50);
    }
  }
}

/** Writes into a file until its disk has no room. */
function fill(file: string): void {
  const handle = openSync(file, 'a');
  try {
    for (const bytes of [65_536, 4096, 1]) {
      const piece = Buffer.alloc(bytes);
      try {
        while (writeSync(handle, piece) > 0);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(handle);
  }
}
