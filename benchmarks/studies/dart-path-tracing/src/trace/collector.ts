/** The collector: a software RDMA NIC in front of a store, and the sender as a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { DartStore, type RnicCounters, SoftRnic } from '@int/dart';
import { UdpRnic } from '@int/dart/node';
import { Fabric, VALUE_BYTES } from './fabric.js';
import { kernelDrops } from './kernel-drops.js';
import { type Found, Operator } from './operator.js';
import type { TraceOptions } from './options.js';
import { READY, type SenderOrder, type SenderReport } from './order.js';
import { theoryOf } from './theory.js';

const HOST = '127.0.0.1';
const REMOTE_KEY = 0x1d47;
const BASE = 0x10_0000_0000n;
const FIRST_QUEUE_PAIR = 0x100;
const RECEIVE_BUFFER = 8 << 20;
/** Flows that the operator asks for each second, about. */
const SAMPLE = 10_000;
/** Part of the flows that counts as the oldest. */
const OLDEST = 0.01;
/** When nothing has arrived for this long after the sender's end, nothing more will. */
const SETTLE_MS = 500;

/** One second, or the end. */
export interface TraceState {
  readonly seconds: number;
  /** Flows reported, as far as their packets show. */
  readonly flows: number;
  readonly load: number;
  readonly found: Found;
  readonly theory: { readonly success: number; readonly wrong: number };
  readonly received: number;
  readonly counters: RnicCounters;
}

export interface TraceTotals extends TraceState {
  readonly oldest: { readonly success: number; readonly theory: number; readonly asked: number };
  readonly sent: number;
  /** Of the system's own count; null where it has none. */
  readonly kernelDrops: number | null;
  /** Slots written in the store. */
  readonly slotWrites: number;
}

/** Why the accounts do not close; empty if they do. */
export function imbalances({ sent, received, kernelDrops: drops, counters, slotWrites }: TraceTotals): string[] {
  const { accepted, rejected, lost } = counters;
  const problems: string[] = [];
  const wrong = (what: string, one: number, other: number): void => {
    if (one !== other) problems.push(`${what}: ${one} and ${other}`);
  };
  wrong('received, accepted + rejected', received, accepted + rejected);
  wrong('accepted, slots written', accepted, slotWrites);
  if (drops !== null) wrong('sent, received + lost in the kernel', sent, received + drops);
  if (lost > sent - received) problems.push(`gaps in sequence numbers: ${lost}, more than were lost`);
  return problems;
}

export class TraceCollector {
  readonly fabric: Fabric;
  readonly store: DartStore;
  readonly #operator: Operator;
  readonly #rnic: UdpRnic;
  readonly #sender: ChildProcess;
  readonly #report: Promise<SenderReport>;
  readonly #ready: Promise<unknown>;
  #started = performance.now();

  private constructor(fabric: Fabric, store: DartStore, rnic: UdpRnic) {
    this.fabric = fabric;
    this.store = store;
    this.#operator = new Operator(store, fabric);
    this.#rnic = rnic;
    this.#sender = fork(new URL('./sender.js', import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#ready = new Promise((resolve) => this.#sender.once('message', resolve));
    this.#report = new Promise((resolve, reject) => {
      this.#sender.on('message', (message: SenderReport | typeof READY) => {
        if (message === READY) this.#started = performance.now();
        else resolve(message);
      });
      this.#sender.once('exit', () => reject(new Error('the sender ended without a report')));
    });
    // Whoever waits for it is told.
    this.#report.catch(() => {});
  }

  /** Resolves when the sender begins. */
  static async start(options: TraceOptions): Promise<TraceCollector> {
    const { ports, flows, seed, memory, copies, seconds } = options;
    const fabric = new Fabric({ ports, flows, seed });
    const store = new DartStore({ memoryBytes: memory, copies, valueBytes: VALUE_BYTES });
    const queuePairs = Array.from({ length: fabric.topology.edgeCount }, (_, edge) => ({
      number: FIRST_QUEUE_PAIR + edge,
      // Every packet is missed, also the first ones.
      expectedPsn: 0,
    }));
    const soft = new SoftRnic({ queuePairs, regions: [{ remoteKey: REMOTE_KEY, base: BASE, target: store }] });
    const rnic = await UdpRnic.listen({ rnic: soft, address: HOST, port: 0, receiveBuffer: RECEIVE_BUFFER });
    const collector = new TraceCollector(fabric, store, rnic);
    const order: SenderOrder = {
      fabric: { ports, flows, seed },
      host: HOST,
      port: rnic.port,
      firstQueuePair: FIRST_QUEUE_PAIR,
      remoteKey: REMOTE_KEY,
      base: String(BASE),
      slots: store.geometry.slots,
      copies,
      rate: flows / seconds,
    };
    collector.#sender.send(order);
    await Promise.race([collector.#ready, collector.#report]);
    return collector;
  }

  /** Resolves when the sender has sent everything, or was told to stop. */
  get finished(): Promise<SenderReport> {
    return this.#report;
  }

  /** Tells the sender to stop. */
  interrupt(): void {
    if (this.#sender.connected) this.#sender.send('stop');
  }

  /** How it stands: the operator asks for a sample of the flows so far. */
  async state(): Promise<TraceState> {
    // Packets that never came leave gaps in the sequence numbers.
    const { accepted, lost } = this.#rnic.rnic.counters;
    const flows = Math.floor((accepted + lost) / this.store.geometry.copies);
    const loss = lost / Math.max(1, accepted + lost);
    const found = await this.#operator.ask(0, flows, Math.max(1, Math.round(flows / SAMPLE)));
    return this.#stateOf(flows, found, loss);
  }

  /** Takes what is still on its way, and asks for every flow. */
  async stop({ flows, sent }: SenderReport): Promise<TraceTotals> {
    await this.#settle(sent);
    const drops = kernelDrops(this.#rnic.port);
    await this.#rnic.close();
    const { slots, copies } = this.store.geometry;
    const loss = sent === 0 ? 0 : 1 - this.store.slotWrites / sent;
    const old = Math.ceil(flows * OLDEST);
    const { success, asked } = await this.#operator.ask(0, old);
    const oldest = flows === 0 ? 0 : theoryOf({ flows, slots, copies, loss }, { from: 1 - old / flows, to: 1 }).success;
    return {
      ...this.#stateOf(flows, await this.#operator.ask(0, flows), loss),
      oldest: { success, theory: oldest, asked },
      sent,
      kernelDrops: drops,
      slotWrites: this.store.slotWrites,
    };
  }

  #stateOf(flows: number, found: Found, loss: number): TraceState {
    const { slots, copies } = this.store.geometry;
    const { success, wrong } = theoryOf({ flows, slots, copies, loss });
    return {
      seconds: (performance.now() - this.#started) / 1000,
      flows,
      load: flows / slots,
      found,
      theory: { success, wrong },
      received: this.#rnic.counters.datagrams,
      counters: this.#rnic.rnic.counters,
    };
  }

  async #settle(sent: number): Promise<void> {
    const arrived = (): number => this.#rnic.counters.datagrams + (kernelDrops(this.#rnic.port) ?? 0);
    let last = arrived();
    let end = performance.now() + SETTLE_MS;
    while (last < sent && performance.now() < end) {
      await sleep(5);
      const now = arrived();
      if (now !== last) end = performance.now() + SETTLE_MS;
      last = now;
    }
  }
}
