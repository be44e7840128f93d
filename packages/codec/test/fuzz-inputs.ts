/** Hostile input, quickly: a corpus of sound frames, and mutations of them without a property-testing library's cost. */
import { dressed, frame, type GeneratedFrame, plainPacket, reportPayload } from '@int/arbitraries';
import fc from 'fast-check';

/** A small deterministic generator (xorshift32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** 0 to `below - 1`. */
  nat(below: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return (x >>> 0) % below;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.nat(list.length)]!;
  }
}

/** Sound frames and report payloads of all kinds and dialects, short ones for the most part. */
export function corpus(seed: number, size: number): GeneratedFrame[] {
  const frames = fc.oneof(
    { arbitrary: dressed(frame({ maxStackWords: 60 })), weight: 6 },
    { arbitrary: reportPayload({ maxStackWords: 60 }), weight: 2 },
    { arbitrary: plainPacket(), weight: 1 },
  );
  return fc.sample(frames, { numRuns: size, seed }).filter(({ bytes }) => bytes.length < 1600);
}

const EXTREMES: readonly number[] = [0, 1, 2, 3, 4, 0x0f, 0x10, 0x45, 0x60, 0x7f, 0x80, 0xf0, 0xfe, 0xff];

/** A mutation of a frame, perhaps with parts of another, or noise. */
export function mutate(random: Random, frames: readonly GeneratedFrame[], original = random.pick(frames)): Uint8Array {
  let out = original.bytes.slice();
  for (let steps = 1 + random.nat(3); steps > 0; steps--) {
    const at = random.nat(Math.max(1, random.nat(2) === 0 ? out.length : Math.min(80, out.length)));
    switch (random.nat(9)) {
      case 0:
        out = out.slice(0, random.nat(out.length + 1));
        break;
      case 1:
        if (out.length > 0) out[at]! ^= 1 << random.nat(8);
        break;
      case 2:
      case 3:
        if (out.length > 0) out[at] = random.pick(EXTREMES);
        break;
      case 4:
        if (out.length > 0) out[at]! += random.pick([1, 2, 4, 252, 254, 255]);
        break;
      case 5: {
        const other = random.pick(frames).bytes;
        const from = random.nat(other.length + 1);
        out = Uint8Array.from([...out.subarray(0, at), ...other.subarray(from)]);
        break;
      }
      case 6:
        out = Uint8Array.from([...out.subarray(0, at), ...out.subarray(Math.min(out.length, at + 1 + random.nat(8)))]);
        break;
      case 7:
        out = Uint8Array.from([...out.subarray(0, at), ...out.subarray(0, random.nat(9)), ...out.subarray(at)]);
        break;
      default:
        for (let k = 0; k < 4 && at + k < out.length; k++) out[at + k] = random.nat(256);
    }
  }
  if (random.nat(40) === 0) out = Uint8Array.from({ length: random.nat(120) }, () => random.nat(256));
  return out;
}
