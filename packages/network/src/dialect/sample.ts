/** A bounded sample of frames. */
import type { Frames, LinkLayer } from '@int/codec';

/** How much a sample may keep. */
export interface SampleLimits {
  /** Frames. Default 1024. */
  readonly frames?: number;
  /** Their bytes together. Default 4 MiB; a frame longer than an eighth of it is passed over. */
  readonly bytes?: number;
}

interface Kept {
  readonly bytes: Uint8Array;
  readonly linkType: LinkLayer;
  readonly timeNs: bigint;
}

/** Frames of one link type, in the form that the decoder takes. */
export interface SampleGroup {
  readonly linkType: LinkLayer;
  /** With times. */
  readonly frames: Required<Frames>;
}

/**
 * Keeps some of the frames that it is offered, spread evenly over all of them: every frame at first, then every second,
 * every fourth and so on. Its memory is bounded; the same frames give the same sample.
 */
export class FrameSample {
  /** Frames offered. */
  seen = 0;
  readonly #most: number;
  readonly #mostBytes: number;
  #kept: Kept[] = [];
  #bytes = 0;
  /** Of so many frames, one is kept. */
  #step = 1;

  /** @throws RangeError for limits that are no whole numbers from 2 */
  constructor({ frames = 1024, bytes = 1 << 22 }: SampleLimits = {}) {
    for (const [name, value] of Object.entries({ frames, bytes })) {
      if (!(Number.isInteger(value) && value >= 2))
        throw new RangeError(`a sample of ${value} ${name}: write 2 or more`);
    }
    this.#most = frames;
    this.#mostBytes = bytes;
  }

  /** Frames kept. */
  get size(): number {
    return this.#kept.length;
  }

  /**
   * Offers the frame in `bytes[offset, offset + length)`, which is copied if it is kept.
   * @param timeNs when it was captured or arrived; 0: not known
   */
  offer(bytes: Uint8Array, offset: number, length: number, linkType: LinkLayer, timeNs = 0n): void {
    if (this.seen++ % this.#step !== 0 || length > this.#mostBytes / 8) return;
    while (this.#kept.length >= this.#most || this.#bytes + length > this.#mostBytes) this.#thin();
    this.#kept.push({ bytes: bytes.slice(offset, offset + length), linkType, timeNs });
    this.#bytes += length;
  }

  /** Forgets all frames. */
  clear(): void {
    this.#kept = [];
    this.#bytes = 0;
    this.#step = 1;
    this.seen = 0;
  }

  /** The kept frames, one group for each link type. */
  groups(): SampleGroup[] {
    const byLink = new Map<LinkLayer, Kept[]>();
    for (const kept of this.#kept) {
      const group = byLink.get(kept.linkType);
      if (group === undefined) byLink.set(kept.linkType, [kept]);
      else group.push(kept);
    }
    return [...byLink].map(([linkType, kept]) => ({ linkType, frames: framesOf(kept) }));
  }

  #thin(): void {
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#bytes = this.#kept.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#step *= 2;
  }
}

function framesOf(kept: readonly Kept[]): Required<Frames> {
  const bytes = new Uint8Array(kept.reduce((sum, { bytes: { length } }) => sum + length, 0));
  const offsets = new Uint32Array(kept.length);
  const lengths = new Uint32Array(kept.length);
  const timestampsHigh = new Uint32Array(kept.length);
  const timestampsLow = new Uint32Array(kept.length);
  let at = 0;
  for (const [index, frame] of kept.entries()) {
    bytes.set(frame.bytes, at);
    offsets[index] = at;
    lengths[index] = frame.bytes.length;
    timestampsHigh[index] = Number((frame.timeNs >> 32n) & 0xffffffffn);
    timestampsLow[index] = Number(frame.timeNs & 0xffffffffn);
    at += frame.bytes.length;
  }
  return { bytes, offsets, lengths, count: kept.length, timestampsHigh, timestampsLow };
}
