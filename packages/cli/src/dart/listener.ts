/** A software RDMA NIC in front of a store, with its statistics. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { formatUdpAddress, type UdpAddress } from '@int/collector';
import { SenderList } from '@int/collector/internals';
import type { SoftRnicOptions } from '@int/dart';
import { type EpochStore, UdpRnic } from '@int/dart/node';
import type { Prefix } from '@int/network';
import { endOf } from '../interruption.js';
import { CliError, EXIT, type Io, openFailure } from '../io.js';
import { DataOutput } from '../output/data-output.js';
import { grouped, percent } from '../output/numbers.js';
import { PacedOutput } from '../output/paced-output.js';
import { QueryServer } from './live-query.js';
import { type RegionFlags, regionRnic } from './region-options.js';
import { rnicCounts, rnicSummary } from './rnic-counts.js';

/** The condition that ends an epoch automatically. */
export type Rotate = { readonly everyMs: number } | { readonly load: number };

const LOG_MS = 1000;
/**
 * After a signal, packets that have already arrived are still taken: until none comes for this time, and for at most
 * this time.
 */
const SETTLE_MS = 50;
const MOST_SETTLE_MS = 500;
const RECEIVE_BUFFER = 8 << 20;
/** Characters kept for a slow reader. */
const UNREAD_LIMIT = 1 << 16;

export interface ListenerOptions {
  readonly address: UdpAddress;
  readonly destination: string | undefined;
  readonly icrc: NonNullable<SoftRnicOptions['icrc']>;
  readonly region: RegionFlags;
  /** Who may write; `undefined`: anybody. */
  readonly from: readonly Prefix[] | undefined;
}

export class Listener {
  readonly #store: EpochStore;
  readonly #rnic: UdpRnic;
  readonly #host: string;
  readonly #questions: QueryServer | null;
  readonly #io: Io;
  readonly #checksSenders: boolean;
  readonly #started = performance.now();

  private constructor(
    store: EpochStore,
    rnic: UdpRnic,
    host: string,
    questions: QueryServer | null,
    checksSenders: boolean,
    io: Io,
  ) {
    this.#checksSenders = checksSenders;
    this.#store = store;
    this.#rnic = rnic;
    this.#host = host;
    this.#questions = questions;
    this.#io = io;
  }

  /** @throws CliError if it cannot listen on the address, or the region is invalid */
  static async open(store: EpochStore, options: ListenerOptions, io: Io): Promise<Listener> {
    const { address, destination, icrc, region, from } = options;
    const { host, port } = address;
    try {
      const soft = regionRnic(region, store.target, { icrc });
      const ip = isIP(host) === 0 ? (await lookup(host)).address : host;
      const sentTo = destination === undefined ? {} : { destination };
      const senders = from === undefined ? null : new SenderList(from);
      const rnic = await UdpRnic.listen({
        rnic: soft,
        address: ip,
        port,
        receiveBuffer: RECEIVE_BUFFER,
        ...sentTo,
        ...(senders !== null && { accepts: (sender) => senders.hasText(sender) }),
      });
      return new Listener(store, rnic, ip, await QueryServer.start(store), senders !== null, io);
    } catch (error) {
      if (error instanceof RangeError) throw new CliError(error.message, EXIT.USAGE, error);
      const reason = openFailure(error);
      throw new CliError(`cannot open ${formatUdpAddress(address)}: ${reason}`, EXIT.OPEN, error);
    }
  }

  /** The address it listens on, with the port that the system chose for port 0. */
  get address(): UdpAddress {
    return { host: this.#host, port: this.#rnic.port };
  }

  /** Whether other processes can query while this one writes. */
  get answersQuestions(): boolean {
    return this.#questions !== null;
  }

  /** Resolves after a signal, or when standard output has no reader any more. The totals have then been printed. */
  async run(isJson: boolean): Promise<void> {
    const output = new DataOutput(this.#io.stdout);
    const paced = new PacedOutput(output, UNREAD_LIMIT);
    let before = 0;
    const ticker = setInterval(() => {
      const { datagrams } = this.#rnic.counters;
      // A slow reader misses seconds.
      if (!paced.isBehind) paced.add(isJson ? JSON.stringify(this.#counters('stats')) : this.#line(datagrams - before));
      before = datagrams;
      void paced.flush();
    }, LOG_MS);
    await endOf(this.#io, output);
    clearInterval(ticker);
    await this.#settle();
    await this.#rnic.close();
    await this.#questions?.close();
    await paced.flush();
    if (isJson) output.line(JSON.stringify(this.#counters('total')));
    else for (const line of this.#summary()) output.line(line);
    await output.finish();
  }

  async #settle(): Promise<void> {
    const end = performance.now() + MOST_SETTLE_MS;
    let seen = -1;
    while (seen !== this.#rnic.counters.datagrams && performance.now() < end) {
      seen = this.#rnic.counters.datagrams;
      await sleep(SETTLE_MS);
      // A late timer runs before the socket's turn, so give the socket a turn before the next check.
      await nextTurn();
    }
  }

  /** received = accepted + the sum of rejected + refused. */
  #counters(type: 'stats' | 'total'): object {
    const { datagrams, bytes, refused, answers, answersHeld, answerErrors } = this.#rnic.counters;
    const counters = this.#rnic.rnic.counters;
    const { keyWrites, slotWrites, load } = this.#store.live;
    const { checkpoints, checkpointAgeMs, rotations, rotationsPostponed } = this.#store.statistics;
    return {
      type,
      elapsedMs: Math.round(performance.now() - this.#started),
      received: datagrams,
      bytes,
      ...rnicCounts(counters),
      ...(this.#checksSenders && { refused: { 'unknown-source': refused } }),
      answers,
      answersHeld,
      answerErrors,
      epoch: String(this.#store.epoch),
      keyWrites,
      slotWrites,
      load,
      checkpoints,
      checkpointAgeMs: Number.isFinite(checkpointAgeMs) ? Math.round(checkpointAgeMs) : null,
      rotations,
      rotationsPostponed,
      questions: this.#questions?.answered ?? 0,
    };
  }

  #line(packets: number): string {
    const { accepted, rejected, lost } = this.#rnic.rnic.counters;
    const store = this.#store;
    return (
      `${grouped(packets).padStart(9)} packets/s  accepted ${grouped(accepted)}  rejected ${grouped(rejected)}  ` +
      `lost ${grouped(lost)}  epoch ${store.epoch} load ${percent(store.live.load)}`
    );
  }

  #summary(): string[] {
    const { datagrams, refused } = this.#rnic.counters;
    const counters = this.#rnic.rnic.counters;
    const { accepted, rejected } = counters;
    const { rotations, checkpoints } = this.#store.statistics;
    return [
      ...rnicSummary(counters),
      ...(this.#checksSenders ? [`refused: unknown-source ${grouped(refused)}`] : []),
      `epoch ${this.#store.epoch}, load ${percent(this.#store.live.load)}, ${grouped(rotations)} rotations, ${grouped(checkpoints)} checkpoints`,
      `${grouped(datagrams)} received, ${grouped(accepted)} accepted, ${grouped(rejected)} rejected`,
    ];
  }
}
