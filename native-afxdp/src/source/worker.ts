/** The entry of a thread that receives from one queue; XdpSource starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { XdpError } from '../errors.js';
import { errorText, type WorkerMessage, type WorkerSetup } from './protocol.js';
import { Receiver } from './receiver.js';
import { WorkerLoop } from './worker-loop.js';

const setup = workerData as WorkerSetup;
const say = (message: WorkerMessage): void => parentPort!.postMessage(message);

async function receive(): Promise<void> {
  const receiver = await Receiver.open(setup, true);
  const { memory, socket } = receiver;
  say({
    name: 'ready',
    geometry: memory.geometry,
    buffer: memory.buffer as SharedArrayBuffer,
    umemOffset: socket.umem.byteOffset,
    umemBytes: socket.umem.length,
    zeroCopy: socket.zeroCopy,
    usesAccelerator: memory.accelerator !== null,
  });
  // Returns when the source has been stopped; the thread then has nothing left to live for.
  new WorkerLoop(receiver, setup).run();
}

receive().catch((error: unknown) => {
  // Anything else ends the thread, and the source hears of that.
  if (!XdpError.is(error)) throw error;
  say({ name: 'failed', error: errorText(error) });
});
