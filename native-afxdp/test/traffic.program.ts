/** Sends and receives numbered frames, in one process with both ends or in two with one each. */
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  umemBytes,
  XdpBatch,
  type XdpMode,
  XdpSocket,
  type XdpSocketOptions,
  type XdpStats,
  xdpSupport,
} from '@int/afxdp';
import { AcceleratorMemory, BatchDecoder, TelemetryBatch } from '@int/codec';
import { Checker, drain, type Findings, PATIENCE_MS, send } from './exchange.js';
import { FrameMaker, type FrameShape, REPORT_PORT, reported } from './frames.js';
import { type Failure, failureOf, serve } from './serve.js';

/** Options that can go from process to process. */
export type PlainOptions = Omit<XdpSocketOptions, 'memory' | 'program'>;

/** Where a UMEM is to lie. */
export type Place = 'own' | 'array-buffer' | 'shared' | 'wasm';

/** What is exchanged by {@link exchange}. */
export interface Exchange {
  readonly from: PlainOptions;
  readonly to: PlainOptions;
  readonly shape?: FrameShape;
  readonly count: number;
  /** Frames that are under way at most. Default 128, which no queue on the way is shorter than. */
  readonly window?: number;
  readonly place?: Place;
  /** Decode reports into columns. Default true for frames that are reports. */
  readonly decode?: boolean;
}

/** What came of it. */
export interface Exchanged {
  readonly mode: XdpMode;
  readonly findings: Findings;
  /** Reports in columns that say exactly what was sent. */
  readonly reports: number;
  readonly sender: XdpStats;
  readonly receiver: XdpStats;
}

/** Memory of the kind asked for, its bytes not aligned to anything. */
function memoryFor(place: Place, bytes: number): { memory?: Uint8Array; kernel?: AcceleratorMemory } {
  if (place === 'wasm') {
    const kernel = new AcceleratorMemory(bytes + (8 << 20));
    return { memory: kernel.bytes(bytes), kernel };
  }
  if (place === 'shared') return { memory: new Uint8Array(new SharedArrayBuffer(bytes + 8), 8, bytes) };
  if (place === 'array-buffer') return { memory: new Uint8Array(new ArrayBuffer(bytes + 8), 8, bytes) };
  return {};
}

/** Decodes batches of reports, and counts the rows that say what the frames' numbers ask for. */
class Columns {
  readonly #batch: TelemetryBatch;
  readonly #decoder: BatchDecoder;
  right = 0;

  constructor(frames: number, kernel: AcceleratorMemory | undefined) {
    this.#batch = kernel?.batch({ frames }) ?? new TelemetryBatch({ frames });
    this.#decoder = new BatchDecoder({
      linkType: 'ethernet',
      reportPorts: [REPORT_PORT],
      ...(kernel === undefined ? {} : { memory: kernel }),
    });
  }

  decode(umem: Uint8Array, batch: XdpBatch): void {
    const columns = this.#batch;
    this.#decoder.decode(columns, { bytes: umem, offsets: batch.offsets, lengths: batch.lengths }, 0, batch.count);
    for (let row = 0; row < columns.reports; row++) {
      const says = reported(columns.sequence[row]!);
      const hop = columns.hopStart[row]!;
      const isRight =
        columns.code[row] === 0 &&
        columns.hopCount[row] === 3 &&
        columns.nodeId[row] === says.nodeId &&
        columns.hop.queueOccupancy[hop] === says.firstHopQueue &&
        columns.hop.queueId[hop + 2] === says.ownQueue >>> 24 &&
        columns.hop.queueOccupancy[hop + 2] === (says.ownQueue & 0xffffff);
      if (isRight) this.right++;
    }
    columns.clear();
  }
}

/** Sends and receives in turns, so that nothing on the way can overflow. */
async function exchange(options: Exchange): Promise<Exchanged> {
  const { from, to, shape = {}, count, window = 128, place = 'own', decode = shape.sizes === undefined } = options;
  const { memory, kernel } = memoryFor(place, umemBytes(to));
  const receiver = await XdpSocket.open({ ...to, ...(memory === undefined ? {} : { memory }) });
  let sender: XdpSocket | null = null;
  try {
    sender = await XdpSocket.open({ txFrames: 256, frames: 64, ports: [], ...from });
    const maker = new FrameMaker(shape);
    const checker = new Checker(maker, count, receiver.mode);
    const columns = decode ? new Columns(256, kernel) : null;
    const received = kernel === undefined ? new XdpBatch(256) : new XdpBatch(256, kernel.arena);
    const sent = new XdpBatch(window);
    for (let next = 0; next < count; ) {
      const end = Math.min(count, next + window);
      await send(sender, sent, maker, next, end);
      await drain(sender);
      next = end;
      const since = Date.now();
      while (checker.frames < end) {
        if (receiver.receive(received) === 0) {
          await receiver.wait(20);
          const { rxDropped, rxRingFull } = receiver.stats().kernel;
          if (checker.frames + rxDropped + rxRingFull >= end || Date.now() - since > PATIENCE_MS) break;
        }
        checker.check(receiver.umem, received);
        columns?.decode(receiver.umem, received);
        receiver.release(received);
      }
    }
    return {
      mode: receiver.mode,
      findings: checker.findings(),
      reports: columns?.right ?? 0,
      sender: sender.stats(),
      receiver: receiver.stats(),
    };
  } finally {
    sender?.close();
    receiver.close();
  }
}

/** Both ends send and receive at the same time, each with one socket. @returns what each has found and counted */
async function duplex(left: PlainOptions, right: PlainOptions, count: number): Promise<[Findings, XdpStats][]> {
  const ends = [];
  for (const end of [left, right]) {
    const socket = await XdpSocket.open({ frames: 256, txFrames: 128, ...end });
    const checker = new Checker(new FrameMaker(), count, socket.mode);
    ends.push({ socket, checker, out: new XdpBatch(32), received: new XdpBatch(48), next: 0 });
  }
  try {
    const maker = new FrameMaker();
    let moved = Date.now();
    while (ends.some(({ checker, socket }) => checker.frames < count || socket.pending > 0)) {
      for (const [index, { socket, checker, out, received }] of ends.entries()) {
        const peer = ends[1 - index]!;
        const own = ends[index]!;
        // Never more under way than the other end has frames for.
        if (own.next < count && own.next - peer.checker.frames <= 96) {
          await send(socket, out, maker, own.next, Math.min(count, own.next + 32));
          own.next = Math.min(count, own.next + 32);
        }
        if (socket.receive(received) > 0) moved = Date.now();
        checker.check(socket.umem, received);
        socket.release(received);
      }
      if (Date.now() - moved > PATIENCE_MS) break;
      await sleep(0);
    }
    return ends.map(({ socket, checker }) => [checker.findings(), socket.stats()]);
  } finally {
    for (const { socket } of ends) socket.close();
  }
}

/** Sends these bytes, one frame each, to a socket at the other end. @returns what the socket has counted in the end */
async function oddities(from: string, to: PlainOptions, frames: readonly Uint8Array[]): Promise<XdpStats> {
  const receiver = await XdpSocket.open(to);
  const sender = await XdpSocket.open({ interface: from, ports: [], frames: 64, txFrames: 64 });
  try {
    const batch = new XdpBatch(64);
    for (const frame of frames) await sendBytes(sender, frame);
    for (const since = Date.now(); Date.now() - since < PATIENCE_MS; ) {
      receiver.receive(batch);
      receiver.release(batch);
      const { steered, passed, noSocket } = receiver.stats().program!;
      if (steered + passed + noSocket >= frames.length && receiver.stats().received >= steered) break;
      await receiver.wait(5);
    }
    return receiver.stats();
  } finally {
    sender.close();
    receiver.close();
  }
}

async function sendBytes(sender: XdpSocket, frame: Uint8Array): Promise<void> {
  const batch = new XdpBatch(1);
  if (sender.acquire(batch, 1) !== 1) throw new Error('no frame to send with');
  sender.umem.set(frame, batch.offsets[0]!);
  batch.lengths[0] = frame.length;
  if (sender.transmit(batch) !== 1) throw new Error('not accepted');
  await drain(sender);
}

let socket: XdpSocket | null = null;
let collecting: { checker: Checker; columns: Columns; failure: Failure | null } | null = null;
const servers: Socket[] = [];
/** Payloads that the sockets of the stack have received, by port. */
const heard = new Map<number, string[]>();

function mine(): XdpSocket {
  if (socket === null) throw new Error('no socket is open');
  return socket;
}

/** Receives until the socket is closed, with breaks. */
async function collect(checker: Checker, columns: Columns, every: number, pauseMs: number): Promise<void> {
  const here = mine();
  const batch = new XdpBatch(64);
  let next = every;
  while (socket === here) {
    if (here.receive(batch) === 0) {
      await here.wait(20);
      continue;
    }
    checker.check(here.umem, batch);
    columns.decode(here.umem, batch);
    here.release(batch);
    if (checker.frames >= next) {
      next = checker.frames + every;
      await sleep(pauseMs);
    }
  }
}

const handlers = {
  /** Whether the kernel and the rights suffice, in the namespace's interface. */
  support(name?: string): Failure | null {
    const support = xdpSupport(name);
    return support.ok ? null : failureOf(support.error);
  },

  exchange,
  oddities,
  duplex,

  async open(options: PlainOptions): Promise<{ mode: XdpMode; zeroCopy: boolean }> {
    socket = await XdpSocket.open(options);
    return { mode: socket.mode, zeroCopy: socket.zeroCopy };
  },

  /** Starts to receive in the background: `pauseMs` without a look at the socket every so many frames. */
  collect(numbers: number, shape: FrameShape = {}, every = 1e9, pauseMs = 0): void {
    const checker = new Checker(new FrameMaker(shape), numbers, mine().mode);
    const columns = new Columns(64, undefined);
    const state: NonNullable<typeof collecting> = { checker, columns, failure: null };
    collecting = state;
    collect(checker, columns, every, pauseMs).catch((error: unknown) => {
      state.failure = failureOf(error);
    });
  },

  /** Waits until so many frames have been received or dropped by the kernel. */
  async collected(count: number): Promise<{ findings: Findings; reports: number; stats: XdpStats }> {
    const { checker, columns } = collecting!;
    const here = mine();
    const sum = (): number => {
      const { rxDropped, rxRingFull } = here.stats().kernel;
      return checker.frames + rxDropped + rxRingFull;
    };
    for (const since = Date.now(); sum() < count && Date.now() - since < PATIENCE_MS; ) await sleep(5);
    // Any frame too many would be here by then.
    await sleep(50);
    if (collecting?.failure != null) throw new Error(collecting.failure.message);
    return { findings: checker.findings(), reports: columns.right, stats: here.stats() };
  },

  /** Sends numbered frames as fast as it can. */
  async blast(from: number, to: number, shape: FrameShape = {}): Promise<XdpStats> {
    const here = mine();
    await send(here, new XdpBatch(64), new FrameMaker(shape), from, to);
    await drain(here);
    return here.stats();
  },

  /** Sends these bytes, one frame each. */
  async frames(frames: readonly Uint8Array[]): Promise<void> {
    for (const frame of frames) await sendBytes(mine(), frame);
  },

  /** Offers frames once, whatever becomes of them. @returns how many were accepted, or the error */
  offer(count: number): number | Failure {
    const here = mine();
    const batch = new XdpBatch(count);
    here.acquire(batch, count);
    for (let row = 0; row < batch.count; row++) {
      const frame = new FrameMaker().make(row);
      here.umem.set(frame, batch.offsets[row]!);
      batch.lengths[row] = frame.length;
    }
    try {
      return here.transmit(batch);
    } catch (error) {
      return failureOf(error);
    }
  },

  /** Waits until all that was sent has left. @returns whether it has, and what is pending before and after */
  async flush(timeoutMs: number): Promise<{ before: number; flushed: boolean | Failure; after: number }> {
    const here = mine();
    const before = here.pending;
    const flushed = await here.flush(timeoutMs).catch((error: unknown) => failureOf(error));
    return { before, flushed, after: here.pending };
  },

  /** Receives until `count` frames are there. @returns their bytes */
  async take(count: number): Promise<Uint8Array[]> {
    const here = mine();
    const batch = new XdpBatch(32);
    const taken: Uint8Array[] = [];
    for (const since = Date.now(); taken.length < count && Date.now() - since < PATIENCE_MS; ) {
      if (here.receive(batch) === 0) await here.wait(20);
      for (let row = 0; row < batch.count; row++) {
        const offset = batch.offsets[row]!;
        taken.push(here.umem.slice(offset, offset + batch.lengths[row]!));
      }
      here.release(batch);
    }
    return taken;
  },

  stats(): XdpStats {
    return mine().stats();
  },

  close(): void {
    const here = socket;
    socket = null;
    collecting = null;
    here?.close();
  },

  /** Listens to a port by the stack of the system. */
  async listen(port: number, version: 4 | 6 = 4): Promise<void> {
    const server = createSocket({ type: version === 4 ? 'udp4' : 'udp6', ipv6Only: version === 6 });
    servers.push(server);
    const list = heard.get(port) ?? [];
    heard.set(port, list);
    server.on('message', (message) => list.push(message.toString('latin1')));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.bind(port, resolve);
    });
  },

  /** Waits for so many datagrams at a port. @returns all that came */
  async heard(port: number, count: number): Promise<readonly string[]> {
    const list = heard.get(port)!;
    for (const since = Date.now(); list.length < count && Date.now() - since < PATIENCE_MS; ) await sleep(5);
    return list;
  },

  /** Sends datagrams by the stack of the system. */
  async say(address: string, port: number, payloads: readonly Uint8Array[]): Promise<void> {
    const client = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    for (const payload of payloads) {
      await new Promise<void>((resolve, reject) => {
        client.send(payload, port, address, (error) => (error === null ? resolve() : reject(error)));
      });
    }
    client.close();
  },
};

export type Traffic = typeof handlers;
serve(handlers);
