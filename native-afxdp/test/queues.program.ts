/** Several queues: one program, one socket each, in this thread or in threads of their own. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { queueCount, XdpBatch, type XdpMode, XdpProgram, XdpSocket, type XdpStats } from '@int/afxdp';
import { Checker, drain, type Findings, PATIENCE_MS, send } from './exchange.js';
import { FrameMaker, REPORT_PORT } from './frames.js';
import type { QueueResult, QueueWork } from './queue-worker.program.js';
import { serve } from './serve.js';

/** What the sockets of all queues have received. */
export interface QueuesResult {
  readonly queues: readonly { readonly findings: Findings; readonly stats: XdpStats }[];
  readonly program: { readonly steered: number; readonly passed: number; readonly noSocket: number };
}

const WINDOW = 64;

/** Sends in turns to every queue, and waits for the receivers in between: `received` says how many frames have arrived. */
async function sendToAll(from: string, queues: number, count: number, received: () => number): Promise<void> {
  const senders: XdpSocket[] = [];
  const maker = new FrameMaker();
  const batch = new XdpBatch(WINDOW);
  try {
    for (let queue = 0; queue < queues; queue++) {
      senders.push(await XdpSocket.open({ interface: from, queue, ports: [], frames: 64, txFrames: 128 }));
    }
    for (let next = 0, turn = 0; next < count; turn++) {
      const end = Math.min(count, next + WINDOW);
      const sender = senders[turn % queues]!;
      await send(sender, batch, maker, next, end);
      await drain(sender);
      next = end;
      for (const since = Date.now(); received() < next && Date.now() - since < PATIENCE_MS; ) await sleep(0);
    }
  } finally {
    for (const sender of senders) sender.close();
  }
}

const handlers = {
  count(name: string): number {
    return queueCount(name);
  },

  /** Both sockets in this thread. */
  async together(from: string, to: string, mode: XdpMode, count: number): Promise<QueuesResult> {
    const queues = queueCount(to);
    const program = XdpProgram.steer({ interface: to, mode, ports: [REPORT_PORT] });
    const sockets: XdpSocket[] = [];
    for (let queue = 0; queue < queues; queue++) {
      sockets.push(await XdpSocket.open({ interface: to, queue, program, frames: 256 }));
    }
    const checkers = sockets.map((socket) => new Checker(new FrameMaker(), count, socket.mode));
    const batch = new XdpBatch(64);
    await sendToAll(from, queues, count, () => {
      sockets.forEach((socket, queue) => {
        socket.receive(batch);
        checkers[queue]!.check(socket.umem, batch);
        socket.release(batch);
      });
      return checkers.reduce((sum, checker) => sum + checker.frames, 0);
    });
    const result = {
      queues: sockets.map((socket, queue) => ({ findings: checkers[queue]!.findings(), stats: socket.stats() })),
      program: program.counters(),
    };
    for (const socket of sockets) socket.close();
    program.close();
    return result;
  },

  /** Each socket in a worker thread, which gets the program by the number of its socket map. */
  async threads(from: string, to: string, mode: XdpMode, count: number, worker: string): Promise<QueuesResult> {
    const queues = queueCount(to);
    const program = XdpProgram.steer({ interface: to, mode, ports: [REPORT_PORT] });
    const shared = new Int32Array(new SharedArrayBuffer(4 * (1 + queues)));
    const workers: Worker[] = [];
    for (let queue = 0; queue < queues; queue++) {
      const workerData: QueueWork = {
        options: { interface: to, queue, mode, program: program.socketMap, frames: 256 },
        numbers: count,
        shared,
        blocks: queue % 2 === 0,
        waitMs: 20,
      };
      const thread = new Worker(worker, { workerData });
      workers.push(thread);
      await once(thread, 'message');
    }
    await sendToAll(from, queues, count, () => shared.slice(1).reduce((sum, frames) => sum + frames, 0));
    const ends = workers.map((thread) => Promise.all([once(thread, 'message'), once(thread, 'exit')]));
    Atomics.store(shared, 0, 1);
    const results = (await Promise.all(ends)).map(([[message]]) => message as QueueResult);
    const counters = program.counters();
    program.close();
    return { queues: results, program: counters };
  },

  /** Threads are terminated while they wait; each time the queue is opened again. */
  async terminate(name: string, worker: string): Promise<{ mode: XdpMode }> {
    const workerData: QueueWork = {
      options: { interface: name },
      numbers: 1,
      shared: new Int32Array(new SharedArrayBuffer(8)),
      blocks: true,
      waitMs: 60_000,
    };
    for (let round = 0; round < 5; round++) {
      const thread = new Worker(worker, { workerData: { ...workerData, blocks: round % 2 === 0 } });
      await once(thread, 'message');
      await sleep(20);
      await thread.terminate();
    }
    const socket = await XdpSocket.open({ interface: name });
    const { mode } = socket;
    socket.close();
    return { mode };
  },

  /**
   * Ports are changed while frames arrive: of each set, one frame to every port in `to`.
   * @returns the ports whose frames came to the socket, for each set
   */
  async ports(
    from: string,
    name: string,
    sets: readonly (readonly number[] | 'all')[],
    to: readonly number[],
  ): Promise<number[][]> {
    const program = XdpProgram.steer({ interface: name, ports: [] });
    const socket = await XdpSocket.open({ interface: name, program, frames: 64 });
    const sender = await XdpSocket.open({ interface: from, ports: [], frames: 2, txFrames: 64 });
    const batch = new XdpBatch(64);
    const found: number[][] = [];
    for (const ports of sets) {
      program.setPorts(ports);
      const before = program.counters();
      for (const port of to) await send(sender, batch, new FrameMaker({ port, sizes: [60] }), 0, 1);
      await drain(sender);
      const seen: number[] = [];
      for (const since = Date.now(); Date.now() - since < PATIENCE_MS; ) {
        socket.receive(batch);
        for (let row = 0; row < batch.count; row++) {
          const at = batch.offsets[row]! + 36;
          seen.push((socket.umem[at]! << 8) | socket.umem[at + 1]!);
        }
        socket.release(batch);
        const { steered, passed } = program.counters();
        const all = steered + passed - before.steered - before.passed;
        if (all === to.length && seen.length === steered - before.steered) break;
        await sleep(1);
      }
      found.push(seen);
    }
    sender.close();
    socket.close();
    program.close();
    return found;
  },

  /** Two programs for one interface. */
  async second(name: string): Promise<void> {
    const program = XdpProgram.steer({ interface: name, ports: 'all' });
    try {
      XdpProgram.steer({ interface: name, ports: 'all' }).close();
    } finally {
      program.close();
    }
  },
};

export type Queues = typeof handlers;
serve(handlers);
