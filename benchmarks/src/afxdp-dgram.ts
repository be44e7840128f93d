/**
 * Telemetry reports by `node:dgram`: `afxdp-dgram.js PORT HOW WORK`. HOW: `lean`, a listener that copies the datagram
 * into the decoder's memory, which is decoded when it is full or 2 ms after its first one; `source`, the UdpSource of
 * @int/collector, which does so too and notes the time of each. A line on standard input asks what has been done.
 */
import { createSocket } from 'node:dgram';
import { AcceleratorMemory } from '@int/codec';
import { UdpSource } from '@int/collector';
import { answerOnInput, ready } from './afxdp/answers.js';
import { WORK_BATCH, Work, workOf } from './afxdp/work.js';

const [port = '', how = '', work = ''] = process.argv.slice(2);
const RECEIVE_BUFFER = 32 << 20;
const MOST_BYTES = 2048;
const FLUSH_MS = 2;

const memory = new AcceleratorMemory(Work.memoryBytes + WORK_BATCH * (MOST_BYTES + 8));
const worker = new Work(workOf(work), 'report', memory);

/** Datagrams behind one another in the decoder's memory. */
class Slab {
  readonly bytes = memory.bytes(WORK_BATCH * MOST_BYTES);
  readonly offsets = memory.words(WORK_BATCH);
  readonly lengths = memory.words(WORK_BATCH);
  #count = 0;
  #timer: NodeJS.Timeout | null = null;

  add(datagram: Uint8Array): void {
    const row = this.#count++;
    const at = row * MOST_BYTES;
    this.bytes.set(datagram, at);
    this.offsets[row] = at;
    this.lengths[row] = datagram.length;
    if (this.#count === WORK_BATCH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const count = this.#count;
    this.#count = 0;
    if (count > 0) worker.frames(this.bytes, this.offsets, this.lengths, count);
  }
}

if (how === 'lean') {
  const slab = new Slab();
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER });
  socket.on('message', (datagram) => slab.add(datagram));
  await new Promise<void>((resolve) => socket.bind(Number(port), resolve));
  answerOnInput(() => ({ ...worker.done(), dropped: 0 }));
} else {
  const source = new UdpSource({ address: `udp://0.0.0.0:${port}`, slabFrames: WORK_BATCH });
  await source.start((frames) => {
    worker.frames(frames.bytes, frames.offsets, frames.lengths, frames.count);
    return undefined;
  });
  answerOnInput(() => ({ ...worker.done(), dropped: source.kernelDropped ?? 0 }));
}
ready();
