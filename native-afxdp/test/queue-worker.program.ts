/** A thread with the socket of one queue, for a program that is attached already. */
import { parentPort, workerData } from 'node:worker_threads';
import { XdpBatch, XdpSocket, type XdpSocketOptions, type XdpStats } from '@int/afxdp';
import { Checker, type Findings } from './exchange.js';
import { FrameMaker } from './frames.js';

/** What the thread is given. */
export interface QueueWork {
  readonly options: XdpSocketOptions;
  /** Numbers of frames are below it. */
  readonly numbers: number;
  /** [0]: not 0 when it is to end; [1 + queue]: frames received so far. */
  readonly shared: Int32Array;
  /** Block the thread in the kernel, or await. */
  readonly blocks: boolean;
  /** How long it waits at a time. */
  readonly waitMs: number;
}

/** What the thread says in the end. */
export interface QueueResult {
  readonly findings: Findings;
  readonly stats: XdpStats;
}

const { options, numbers, shared, blocks, waitMs } = workerData as QueueWork;
const socket = await XdpSocket.open(options);
const checker = new Checker(new FrameMaker(), numbers, socket.mode);
const batch = new XdpBatch(64);
parentPort!.postMessage('open');
while (Atomics.load(shared, 0) === 0) {
  if (socket.receive(batch) === 0) {
    if (blocks) socket.waitSync(waitMs);
    else await socket.wait(waitMs);
    continue;
  }
  checker.check(socket.umem, batch);
  socket.release(batch);
  Atomics.store(shared, 1 + (options.queue ?? 0), checker.frames);
}
const result: QueueResult = { findings: checker.findings(), stats: socket.stats() };
socket.close();
parentPort!.postMessage(result);
