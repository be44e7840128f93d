import type { Frame } from '@int/pcap';
import fc from 'fast-check';
import './seed.js';

/**
 * Captures put together field by field, apart from the package's own writers, with what a reader must find in them.
 */
export interface BuiltCapture {
  readonly bytes: Uint8Array;
  readonly frames: readonly Frame[];
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replace(/\s+/g, ''), 'hex'));
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

/** Numbers in one byte order. */
export class Fields {
  readonly little: boolean;

  constructor(little: boolean) {
    this.little = little;
  }

  u16(...values: readonly number[]): Uint8Array {
    const view = new DataView(new ArrayBuffer(values.length * 2));
    values.forEach((value, index) => {
      view.setUint16(index * 2, value, this.little);
    });
    return new Uint8Array(view.buffer);
  }

  u32(...values: readonly number[]): Uint8Array {
    const view = new DataView(new ArrayBuffer(values.length * 4));
    values.forEach((value, index) => {
      view.setUint32(index * 4, value, this.little);
    });
    return new Uint8Array(view.buffer);
  }

  i64(value: bigint): Uint8Array {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigInt64(0, value, this.little);
    return new Uint8Array(view.buffer);
  }

  /** A pcapng block. */
  block(type: number, ...body: readonly Uint8Array[]): Uint8Array {
    const content = join(...body);
    const length = content.length + 12;
    return join(this.u32(type, length), content, this.u32(length));
  }

  section(...options: readonly Uint8Array[]): Uint8Array {
    return this.block(0x0a0d0d0a, this.u32(0x1a2b3c4d), this.u16(1, 0), this.i64(-1n), ...options);
  }

  option(code: number, value: Uint8Array): Uint8Array {
    return join(this.u16(code, value.length), pad(value));
  }

  interface(linkType: number, snapLength: number, ...options: readonly Uint8Array[]): Uint8Array {
    return this.block(1, this.u16(linkType, 0), this.u32(snapLength), ...options);
  }

  enhanced(
    id: number,
    ticks: bigint,
    data: Uint8Array,
    original: number,
    ...options: readonly Uint8Array[]
  ): Uint8Array {
    const time = this.u32(Number(ticks >> 32n), Number(ticks & 0xffffffffn));
    return this.block(6, this.u32(id), time, this.u32(data.length, original), pad(data), ...options);
  }

  obsolete(id: number, ticks: bigint, data: Uint8Array, original: number): Uint8Array {
    const time = this.u32(Number(ticks >> 32n), Number(ticks & 0xffffffffn));
    return this.block(2, this.u16(id, 0xffff), time, this.u32(data.length, original), pad(data));
  }

  simple(original: number, data: Uint8Array): Uint8Array {
    return this.block(3, this.u32(original), pad(data));
  }
}

export function pad(bytes: Uint8Array): Uint8Array {
  return join(bytes, new Uint8Array((4 - (bytes.length % 4)) % 4));
}

/** Nanoseconds by the definition of if_tsresol and if_tsoffset. */
export function referenceNs(ticks: bigint, resolution: number, offsetSeconds: bigint): bigint {
  const unit = resolution & 0x80 ? 2n ** BigInt(resolution & 0x7f) : 10n ** BigInt(resolution);
  return (ticks * 1_000_000_000n) / unit + offsetSeconds * 1_000_000_000n;
}

const data = fc.uint8Array({ maxLength: 70 });
const original = fc.integer({ min: 0, max: 0xffffffff });

/** pcap in all its variants: byte order, unit, Kuznetsov's record header. */
const pcapCaptures: fc.Arbitrary<BuiltCapture> = fc
  .record({
    little: fc.boolean(),
    variant: fc.constantFrom('micro', 'nano', 'modified'),
    linkType: fc.constantFrom(0, 1, 101, 113, 228, 276, 65535),
    records: fc.array(
      fc.record({
        seconds: fc.integer({ min: 0, max: 0xffffffff }),
        fraction: fc.oneof(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 0xffffffff })),
        data,
        original,
      }),
      { maxLength: 8 },
    ),
  })
  .map(({ little, variant, linkType, records }) => {
    const f = new Fields(little);
    const magic = { micro: 0xa1b2c3d4, nano: 0xa1b23c4d, modified: 0xa1b2cd34 }[variant] ?? 0;
    const parts = [f.u32(magic), f.u16(2, 4), f.u32(7, 8, 65535, linkType)];
    const frames: Frame[] = [];
    for (const record of records) {
      parts.push(f.u32(record.seconds, record.fraction, record.data.length, record.original));
      if (variant === 'modified') parts.push(f.u32(3, 0x08000400));
      parts.push(record.data);
      frames.push({
        data: record.data,
        timeNs: BigInt(record.seconds) * 1_000_000_000n + BigInt(record.fraction) * (variant === 'nano' ? 1n : 1000n),
        originalLength: record.original,
        linkType,
        interfaceId: 0,
      });
    }
    return { bytes: join(...parts), frames };
  });

interface PlannedInterface {
  readonly linkType: number;
  readonly snapLength: number;
  readonly resolution: number | undefined;
  readonly offsetSeconds: bigint | undefined;
}

const plannedInterfaces: fc.Arbitrary<PlannedInterface> = fc.record({
  linkType: fc.constantFrom(1, 1, 1, 113, 276),
  snapLength: fc.constantFrom(0, 16, 65535),
  resolution: fc.constantFrom(undefined, 9, 6, 3, 0, 12, 0x80 | 10, 0x80 | 30, 0x80 | 32),
  offsetSeconds: fc.constantFrom(undefined, 0n, 1_700_000_000n),
});

const plannedBlocks = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('enhanced' as const), data, original, seconds: fc.nat(2 ** 31) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('obsolete' as const), data, original, seconds: fc.nat(2 ** 31) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('simple' as const), data, original, seconds: fc.nat(2 ** 31) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(4, 5, 10, 0x0bad, 0x40000bad, 0x80000001),
      data: fc.uint8Array({ maxLength: 200 }),
      original,
      seconds: fc.nat(),
    }),
  },
);

const sections = fc.record({
  little: fc.boolean(),
  comment: fc.uint8Array({ maxLength: 40 }),
  interfaces: fc.array(plannedInterfaces, { minLength: 1, maxLength: 3 }),
  blocks: fc.array(fc.tuple(plannedBlocks, fc.nat(), fc.boolean()), { maxLength: 8 }),
});

/** pcapng with several sections of either byte order, interfaces, all packet blocks, options and blocks to skip. */
const pcapngCaptures: fc.Arbitrary<BuiltCapture> = fc.array(sections, { minLength: 1, maxLength: 3 }).map((planned) => {
  const parts: Uint8Array[] = [];
  const frames: Frame[] = [];
  for (const section of planned) {
    const f = new Fields(section.little);
    parts.push(f.section(f.option(1, section.comment), f.u32(0)));
    for (const one of section.interfaces) {
      const options = [f.option(2, hex('65746830'))];
      if (one.resolution !== undefined) options.push(f.option(9, Uint8Array.of(one.resolution)));
      if (one.offsetSeconds !== undefined) options.push(f.option(14, f.i64(one.offsetSeconds)));
      if (one.snapLength !== 0) options.push(f.u32(0));
      parts.push(f.interface(one.linkType, one.snapLength, ...options));
    }
    for (const [block, pick, hasOptions] of section.blocks) {
      const interfaceId = block.kind === 'simple' ? 0 : pick % section.interfaces.length;
      const { linkType, snapLength, resolution = 6, offsetSeconds = 0n } = section.interfaces[interfaceId]!;
      const unit = resolution & 0x80 ? 2n ** BigInt(resolution & 0x7f) : 10n ** BigInt(resolution);
      // A few ticks off the whole second, so that rounding is seen.
      const ticks = BigInt.asUintN(64, BigInt(block.seconds) * unit + BigInt(pick % 1000));
      const frame = {
        data: block.data,
        timeNs: referenceNs(ticks, resolution, offsetSeconds),
        originalLength: block.original,
        linkType,
        interfaceId,
      };
      if (typeof block.kind === 'number') {
        parts.push(f.block(block.kind, pad(block.data)));
      } else if (block.kind === 'enhanced') {
        const options = hasOptions ? [f.option(2, f.u32(1)), f.u32(0)] : [];
        parts.push(f.enhanced(interfaceId, ticks, block.data, block.original, ...options));
        frames.push(frame);
      } else if (block.kind === 'obsolete') {
        parts.push(f.obsolete(interfaceId, ticks, block.data, block.original));
        frames.push(frame);
      } else {
        const kept = snapLength === 0 ? block.data : block.data.subarray(0, snapLength);
        // A simple packet's captured length follows from its original length.
        const originalLength = kept.length === snapLength && snapLength !== 0 ? snapLength + pick : kept.length;
        parts.push(f.simple(originalLength, kept));
        frames.push({ ...frame, data: kept, timeNs: 0n, originalLength });
      }
    }
  }
  return { bytes: join(...parts), frames };
});

export const captures: fc.Arbitrary<BuiltCapture> = fc.oneof(pcapCaptures, pcapngCaptures);
