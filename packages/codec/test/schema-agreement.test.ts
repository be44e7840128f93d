/** The declarative schema shares no reading code with the decoders: here it must say what they say. */
import { isDeepStrictEqual } from 'node:util';
import { encodeOptionsFor, type GeneratedFrame, telemetryRecord } from '@int/arbitraries';
import {
  type DecodeOptions,
  type EncodeOptions,
  encodeFrame,
  FrameDecoder,
  type Hop,
  type TelemetryRecord,
} from '@int/codec';
import { decodeWithSchema, type SchemaLayer } from '@int/codec/schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PACKETS, SEED } from './agreement-length.js';

const OPTIONS: DecodeOptions = { reportPorts: [32766] };

/** The schema describes no source-only words of unknown domains, and looks for no INT inside TLVs. */
function isDescribed({ int, report }: TelemetryRecord): boolean {
  if (int === null || int.mode === 'gpint' || report?.tlvs !== undefined) return false;
  return int.mode !== 'md' || int.sourceMetadata === undefined;
}

/** What records do not tell of: a payload, the time to live, and of what family the addresses of reports and tunnels are. */
const surroundings = fc
  .tuple(fc.option(fc.uint8Array({ minLength: 1, maxLength: 24 }), { freq: 2 }), fc.nat(3), fc.constantFrom(64, 1, 255))
  .map(
    ([payload, six, timeToLive]): EncodeOptions => ({
      timeToLive,
      ...(payload === null ? {} : { payload }),
      ...(six & 1 ? { reporter: '2001:db8::1', collector: '2001:db8::2' } : {}),
      ...(six & 2 ? { tunnelSource: '2001:db8:1::1', tunnelDestination: '2001:db8:1::2' } : {}),
    }),
  );

/** Frames with one record each. What the schema does not describe is left out before it is encoded. */
const packets = fc
  .tuple(
    telemetryRecord({ kinds: ['int', 'report'], modes: ['md', 'mx'], options: OPTIONS }).filter(isDescribed),
    surroundings,
  )
  .map(([record, around]): GeneratedFrame => {
    const bytes = encodeFrame(record, { ...encodeOptionsFor(OPTIONS), ...around });
    return { bytes, records: [record], options: OPTIONS };
  });

/** Many times as fast as `toEqual`, which then says what differs. */
function same(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

const HEADERS: readonly SchemaLayer['layer'][] = ['intMd', 'intMx', 'intV10', 'intV05'];

describe('the declarative schema agrees', () => {
  const value = <K extends SchemaLayer['layer']>(layers: readonly SchemaLayer[], layer: K): unknown =>
    layers.find((one) => one.layer === layer)?.value;

  test('on headers and hops of sound frames', () => {
    const decoder = new FrameDecoder(OPTIONS);
    let compared = 0;
    let hopsCompared = 0;
    fc.assert(
      fc.property(packets, ({ bytes, records }) => {
        const { int } = records[0]!;
        if (int === null || int.mode === 'gpint') throw new Error('not described');
        const layers = decodeWithSchema(bytes, OPTIONS);
        const [decoded] = decoder.decode(bytes);
        const hops = layers.filter((one) => one.layer === 'hop').map((one) => one.value);
        same(decoded!.hops, hops.reverse());
        const header = layers.find(({ layer }) => HEADERS.includes(layer))!.value as { instructionBitmap: number };
        same(header.instructionBitmap, int.instructionBitmap);
        const metadata = value(layers, 'reportMetadata') as { metadata: Hop } | undefined;
        if (metadata !== undefined) same(decoded!.report!.metadata, metadata.metadata);
        const source = value(layers, 'sourceMetadata') as Uint8Array | undefined;
        same(source === undefined, int.sourceMetadata === undefined);
        if (source !== undefined) same(Buffer.from(source), Buffer.from(int.sourceMetadata!));
        compared++;
        hopsCompared += hops.length;
      }),
      { seed: SEED, numRuns: PACKETS >= 100_000 ? PACKETS : 1000 },
    );
    console.log(`agreement: ${compared} frames with ${hopsCompared} hops compared with the schema`);
    expect(compared).toBeGreaterThan(700);
  });
});
