/** Uses sockets as they are not meant to be used, or while what they stand on goes away. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { umemBytes, XdpBatch, type XdpMode, XdpProgram, XdpSocket, type XdpSocketOptions } from '@int/afxdp';
import { Checker, drain, PATIENCE_MS, send } from './exchange.js';
import { FrameMaker } from './frames.js';
import { type Failure, failureOf, serve } from './serve.js';

/** What a process holds. */
export interface Holdings {
  readonly descriptors: number;
  /** Of these: AF_XDP sockets, BPF programs, maps and links. */
  readonly kernelObjects: number;
  readonly mappings: number;
  readonly residentBytes: number;
}

/** What an attempt has come to: the error, or what was returned, as text. */
export type Outcome = { readonly failure: Failure } | { readonly returned: string };

let left = '';
let right = '';

function holdings(): Holdings {
  const links = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  const maps = readFileSync('/proc/self/maps', 'latin1').split('\n');
  return {
    descriptors: links.length,
    kernelObjects: links.filter((link) => /bpf|xdp/i.test(link)).length,
    mappings: maps.filter((line) => /anon_inode|socket:|\/dev\/zero/.test(line)).length,
    residentBytes: process.memoryUsage.rss(),
  };
}

function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('node was not started with --expose-gc');
  gc();
}

const RECEIVES = 64;
const SENDS = 32;

function options(): XdpSocketOptions {
  return { interface: right, frames: RECEIVES, txFrames: SENDS };
}

/** Both ends open, and 8 frames received into a batch. */
interface Scene {
  readonly socket: XdpSocket;
  readonly sender: XdpSocket;
  readonly batch: XdpBatch;
  /** Frames of the socket to send with. */
  readonly own: XdpBatch;
}

async function scene(): Promise<Scene> {
  const socket = await XdpSocket.open(options());
  const sender = await XdpSocket.open({ interface: left, ports: [], frames: 2, txFrames: SENDS });
  const batch = new XdpBatch(8);
  await fill({ socket, sender, batch });
  const own = new XdpBatch(8);
  if (socket.acquire(own, 8) !== 8) throw new Error('no frames to send with');
  own.lengths.fill(60);
  return { socket, sender, batch, own };
}

/** Receives 8 frames. */
async function fill({ socket, sender, batch }: Omit<Scene, 'own'>): Promise<void> {
  await send(sender, new XdpBatch(8), new FrameMaker(), 0, 8);
  await drain(sender);
  const part = batch;
  for (const since = Date.now(); socket.receive(part) !== 8; ) {
    if (Date.now() - since > PATIENCE_MS) throw new Error('no frames arrive');
    // All eight in one batch, or the next time.
    socket.release(part);
    await send(sender, new XdpBatch(8), new FrameMaker(), 0, 8);
    await drain(sender);
    await sleep(5);
  }
}

/** A batch of one row with these values. */
function row(offset: number, length: number, count = 1): XdpBatch {
  const batch = new XdpBatch(4);
  batch.offsets[0] = offset;
  batch.lengths[0] = length;
  batch.count = count;
  return batch;
}

function copyOf(batch: XdpBatch): XdpBatch {
  const copy = new XdpBatch(batch.capacity);
  copy.offsets.set(batch.offsets);
  copy.lengths.set(batch.lengths);
  copy.count = batch.count;
  return copy;
}

/** Values of the wrong type, past the compiler. */
function wrongly<T>(value: unknown): T {
  return value as T;
}

/** What callers do wrong; each in a scene of its own. */
const attempts: Record<string, (scene: Scene) => unknown> = {
  'receive into a batch that was not released': ({ socket, batch }) => socket.receive(batch),
  'release twice by a copy': ({ socket, batch }) => {
    const copy = copyOf(batch);
    socket.release(batch);
    socket.release(copy);
  },
  'release a frame twice in a batch': ({ socket, batch }) => {
    batch.offsets[1] = batch.offsets[0]!;
    socket.release(batch);
  },
  'release an offset behind the memory': ({ socket }) => socket.release(row(0xffff_ffff, 60)),
  'release an offset in front of the memory': ({ socket }) => socket.release(row(0, 60)),
  'release a frame that was never received': ({ socket, batch }) => {
    const out = new Set(Array.from(batch.offsets.subarray(0, batch.count), (offset) => Math.floor(offset / 2048)));
    const base = Math.min(...out);
    const other = Array.from({ length: RECEIVES }, (_, at) => base + at).find((frame) => !out.has(frame))!;
    socket.release(row(other * 2048 + (batch.offsets[0]! % 2048), 60));
  },
  'release a frame to send with': ({ socket, own }) => socket.release(own),
  'release more rows than a batch has': ({ socket }) => socket.release(row(0, 60, 5)),
  'release minus one row': ({ socket }) => socket.release(row(0, 60, -1)),
  'release half a row': ({ socket }) => socket.release(row(0, 60, 0.5)),
  'release no batch': ({ socket }) => socket.release(wrongly<XdpBatch>({})),
  'release frames of another socket': ({ sender, batch }) => sender.release(batch),
  'transmit frames of another socket': ({ sender, own }) => sender.transmit(own),
  'receive into columns that are gone': ({ socket }) => {
    const columns = new ArrayBuffer(64);
    const halves = [new Uint32Array(columns, 0, 8), new Uint32Array(columns, 32, 8)];
    const detached = new XdpBatch(8, { words: () => halves.pop()! });
    structuredClone(columns, { transfer: [columns] });
    return socket.receive(detached);
  },
  'receive into no batch': ({ socket }) => socket.receive(wrongly<XdpBatch>(null)),
  'transmit a length of 0': ({ socket, own }) => {
    own.lengths[3] = 0;
    return socket.transmit(own);
  },
  'transmit more than a frame holds': ({ socket, own }) => {
    own.lengths[3] = 2049;
    return socket.transmit(own);
  },
  'transmit past the end of a frame from inside it': ({ socket, own }) => {
    own.offsets[7] = own.offsets[7]! + 1_000;
    own.lengths[7] = 1_049;
    return socket.transmit(own);
  },
  'transmit a length of 13': ({ socket, own }) => {
    own.lengths[7] = 13;
    return socket.transmit(own);
  },
  'transmit a length of 2^32 - 1': ({ socket, own }) => {
    own.lengths[0] = 0xffff_ffff;
    return socket.transmit(own);
  },
  'transmit a frame twice in a batch': ({ socket, own }) => {
    own.offsets[1] = own.offsets[0]!;
    return socket.transmit(own);
  },
  'transmit a batch twice by a copy': ({ socket, own }) => {
    const copy = copyOf(own);
    socket.transmit(own);
    return socket.transmit(copy);
  },
  'transmit a received frame': ({ socket, batch }) => socket.transmit(batch),
  'transmit an offset behind the memory': ({ socket }) => socket.transmit(row(0xffff_ff00, 60)),
  'transmit more rows than a batch has': ({ socket }) => socket.transmit(row(0, 60, 9)),
  'acquire more rows than a batch has': ({ socket }) => socket.acquire(new XdpBatch(4), 5),
  'acquire minus one row': ({ socket }) => socket.acquire(new XdpBatch(4), -1),
  'acquire NaN rows': ({ socket }) => socket.acquire(new XdpBatch(4), Number.NaN),
  'acquire into a batch that still holds frames': ({ socket, own }) => socket.acquire(own, 1),
  'wait for NaN': ({ socket }) => socket.wait(Number.NaN),
  'wait for minus one': ({ socket }) => socket.waitSync(-1),
  'a batch of 0 rows': () => new XdpBatch(0),
  'a batch of 1.5 rows': () => new XdpBatch(1.5),
  'a batch of 2^40 rows': () => new XdpBatch(2 ** 40),
};

/** What nobody can open; over the options of the scene. */
const openings: Record<string, () => Partial<XdpSocketOptions>> = {
  'an interface that does not exist': () => ({ interface: 'nowhere0' }),
  'an interface without a name': () => ({ interface: '' }),
  'an interface with a long name': () => ({ interface: 'a'.repeat(300) }),
  'an interface with a zero byte': () => ({ interface: `${right}\0x` }),
  'an interface that is a number': () => ({ interface: wrongly<string>(7) }),
  'a queue that does not exist': () => ({ queue: 7 }),
  'queue minus one': () => ({ queue: -1 }),
  'queue 2^40': () => ({ queue: 2 ** 40 }),
  'half a queue': () => ({ queue: 0.5 }),
  'no frames': () => ({ frames: 0 }),
  '100 frames': () => ({ frames: 100 }),
  '2^31 frames': () => ({ frames: 2 ** 31 }),
  '3 frames to send with': () => ({ txFrames: 3 }),
  'minus one frames to send with': () => ({ txFrames: -1 }),
  'frames of 1024 bytes': () => ({ frameSize: wrongly<2048>(1024) }),
  'port minus one': () => ({ ports: [-1] }),
  'port 65536': () => ({ ports: [65_536] }),
  'port 1.5': () => ({ ports: [1.5] }),
  'ports that are a number': () => ({ ports: wrongly<number[]>(5) }),
  'a mode of no name': () => ({ mode: wrongly<XdpMode>('fast') }),
  'memory that is too small': () => ({ memory: new Uint8Array(umemBytes(options()) - 4096 - 1) }),
  'memory that is an array': () => ({ memory: wrongly<Uint8Array>([1, 2, 3]) }),
  'a program that is no descriptor': () => ({ program: 999_999 }),
  'a program that is another descriptor': () => ({ program: 0 }),
  'a program minus one': () => ({ program: -1 }),
  'zero copy where the driver cannot': () => ({ zeroCopy: true }),
};

async function outcome(action: () => unknown): Promise<Outcome> {
  try {
    return { returned: String(await action()) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

async function openAndForget(): Promise<void> {
  const socket = await XdpSocket.open({ interface: right, frames: 64 });
  socket.receive(new XdpBatch(8));
  await socket.wait(1);
}

const handlers = {
  interfaces(from: string, to: string): { attempts: string[]; openings: string[] } {
    left = from;
    right = to;
    return { attempts: Object.keys(attempts), openings: Object.keys(openings) };
  },

  /** All attempts. After each of them, the socket still receives and closes. */
  async misuse(): Promise<Record<string, Outcome>> {
    const outcomes: Record<string, Outcome> = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      const set = await scene();
      outcomes[name] = await outcome(() => attempt(set));
      const { socket, sender } = set;
      await fill({ socket, sender, batch: new XdpBatch(8) });
      sender.close();
      socket.close();
    }
    return outcomes;
  },

  async badOpenings(): Promise<Record<string, Outcome>> {
    const outcomes: Record<string, Outcome> = {};
    for (const [name, change] of Object.entries(openings)) {
      outcomes[name] = await outcome(async () => {
        (await XdpSocket.open({ ...options(), ...change() })).close();
      });
    }
    return outcomes;
  },

  /** Every method after close(), twice closed; then the memory is read and written. */
  async afterClose(): Promise<Record<string, Outcome>> {
    const { socket, sender, batch, own } = await scene();
    const waiting = socket.wait(60_000);
    sender.close();
    socket.close();
    socket.close();
    const outcomes: Record<string, Outcome> = {
      'wait that was on': await outcome(() => waiting),
      receive: await outcome(() => socket.receive(new XdpBatch(4))),
      release: await outcome(() => socket.release(batch)),
      acquire: await outcome(() => socket.acquire(new XdpBatch(4), 1)),
      transmit: await outcome(() => socket.transmit(own)),
      wait: await outcome(() => socket.wait(10)),
      waitSync: await outcome(() => socket.waitSync(10)),
      flush: await outcome(() => socket.flush(10)),
      checkInterface: await outcome(() => socket.checkInterface()),
      pending: await outcome(() => typeof socket.pending),
      stats: await outcome(() => socket.stats().received >= 8),
    };
    const { umem } = socket;
    for (let round = 0; round < 3; round++) {
      collectGarbage();
      await sleep(5);
      umem.fill(round);
      if (umem.reduce((sum, byte) => sum + byte, 0) !== round * umem.length) throw new Error('the memory has changed');
    }
    return outcomes;
  },

  /** A view of the memory that outlives the socket object itself. */
  async viewAlone(): Promise<number> {
    let socket: XdpSocket | null = await XdpSocket.open(options());
    const view = socket.umem.subarray(0, 4096).fill(7);
    socket.close();
    socket = null;
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await sleep(5);
    }
    return view.reduce((sum, byte) => sum + byte, 0);
  },

  /** Opens and closes, and says what the process holds then. */
  async cycles(count: number, mode: XdpMode): Promise<Holdings> {
    for (let round = 0; round < count; round++) {
      const socket = await XdpSocket.open({ interface: right, mode, frames: 1024, txFrames: 64 });
      socket.umem.fill(round);
      const wait = socket.wait(1_000);
      socket.close();
      await wait;
    }
    for (let round = 0; round < 5; round++) {
      collectGarbage();
      await sleep(10);
    }
    return holdings();
  },

  /** Forgets sockets without closing them: the next one can be opened only when the last one has gone. */
  async forget(count: number): Promise<Holdings> {
    for (let round = 0; round < count; round++) {
      await openAndForget();
      for (const since = Date.now(); holdings().kernelObjects > 0 && Date.now() - since < PATIENCE_MS; ) {
        await sleep(5);
        collectGarbage();
      }
    }
    return holdings();
  },

  /** Starts other processes while frames come in, with the frames in memory of the caller. @returns frames that came in whole */
  async besideChildren(count: number, isShared: boolean): Promise<number> {
    const bytes = umemBytes(options());
    const memory = new Uint8Array(isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
    const socket = await XdpSocket.open({ ...options(), memory });
    const sender = await XdpSocket.open({ interface: left, ports: [], frames: 2, txFrames: SENDS });
    const maker = new FrameMaker({ sizes: [1_500] });
    const checker = new Checker(maker, count, socket.mode);
    const batch = new XdpBatch(8);
    for (let next = 0; next < count; next += 8) {
      if (next % 80 === 0) spawnSync('true', { timeout: 30_000 });
      // What this process writes meanwhile must not take pages away from the kernel.
      for (let at = 0; at < memory.length; at += 4096) memory[at] = memory[at]!;
      await send(sender, batch, maker, next, next + 8);
      await drain(sender);
      for (const since = Date.now(); checker.frames < next + 8 && Date.now() - since < PATIENCE_MS; ) {
        if (socket.receive(batch) === 0) await socket.wait(20);
        checker.check(socket.umem, batch);
        socket.release(batch);
      }
    }
    const { frames, wrong } = checker.findings();
    sender.close();
    socket.close();
    return frames - wrong;
  },

  /** How many sockets are refused before one is not, right after a close. */
  async reopen(count: number): Promise<number> {
    let refused = 0;
    for (let round = 0; round < count; round++) {
      try {
        (await XdpSocket.open(options())).close();
      } catch {
        refused++;
      }
    }
    return refused;
  },

  /** Two sockets for one queue, by one program or each with its own. */
  async secondSocket(shares: boolean): Promise<Failure> {
    const program = shares ? XdpProgram.steer({ interface: right, ports: [1] }) : undefined;
    const own = program === undefined ? {} : { program };
    const first = await XdpSocket.open({ ...options(), ...own });
    const result = await outcome(async () => (await XdpSocket.open({ ...options(), ...own })).close());
    first.close();
    program?.close();
    if ('returned' in result) throw new Error('two sockets have one queue');
    return result.failure;
  },

  /** Holds a socket open. */
  async hold(mode: XdpMode): Promise<void> {
    held = await XdpSocket.open({ ...options(), mode });
    held.receive(new XdpBatch(8));
  },

  /** Waits with the socket held: without blocking, or blocking the thread. */
  wait(timeoutMs: number, blocks: boolean): Promise<Outcome> {
    return outcome(() => (blocks ? held!.waitSync(timeoutMs) : held!.wait(timeoutMs)));
  },

  check(): Promise<Outcome> {
    return outcome(() => held!.checkInterface());
  },

  /** Uses the socket held in every other way, whatever is left of its interface, and closes it. */
  async useAndClose(): Promise<readonly string[]> {
    const socket = held!;
    const batch = new XdpBatch(4);
    const outcomes = [
      await outcome(() => socket.receive(batch)),
      await outcome(() => socket.release(batch)),
      await outcome(() => {
        socket.acquire(batch, 4);
        batch.lengths.fill(60);
        return socket.transmit(batch);
      }),
      await outcome(() => socket.flush(20)),
      await outcome(() => socket.stats().received),
      await outcome(() => socket.close()),
    ];
    held = null;
    return outcomes.map((one) => ('failure' in one ? `${one.failure.name} ${one.failure.code ?? ''}`.trim() : 'fine'));
  },

  /** Opens a socket with these options and closes it. */
  async open(more: Partial<XdpSocketOptions>): Promise<XdpMode> {
    const socket = await XdpSocket.open({ interface: right, ...more });
    const { mode } = socket;
    socket.close();
    return mode;
  },
};

let held: XdpSocket | null = null;

export type Robustness = typeof handlers;
serve(handlers);
