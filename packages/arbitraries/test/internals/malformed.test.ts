import { CODE_NAMES, FrameDecoder } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { DRESSINGS } from '../../src/dressing.js';
import { chunks, dress, dressed, dressing, frame, malformed, plainPacket } from '../../src/index.js';
import { SEED } from '../seed.js';

fc.configureGlobal({ seed: SEED });

describe('malformed', () => {
  test('most results are wrong, in most of the ways there are', () => {
    const decoder = new FrameDecoder({ reportPorts: [32766] });
    const codes = new Map<string, number>();
    for (const bytes of fc.sample(malformed(frame({ options: { reportPorts: [32766] } })), {
      numRuns: runs(6000),
      seed: SEED,
    })) {
      for (const { error, status } of decoder.decode(bytes)) {
        const code = error?.code ?? status;
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    }
    for (const status of ['ok', 'not-int', 'TRUNCATED']) expect(codes.get(status)).toBeGreaterThan(50);
    // Of the codes some need options or link types that these frames do not have.
    const found = CODE_NAMES.filter((name) => codes.has(name));
    expect(found.length).toBeGreaterThan(18);
  });

  test('plain byte arrays do as well, the empty one too', () => {
    fc.assert(
      fc.property(malformed(fc.uint8Array({ maxLength: 3 })), (bytes) => {
        expect(bytes).toBeInstanceOf(Uint8Array);
      }),
      { numRuns: runs(500) },
    );
  });

  test('what it starts from is left alone', () => {
    const original = Uint8Array.from({ length: 64 }, (_, k) => k);
    const copy = original.slice();
    fc.sample(malformed(fc.constant(original)), { numRuns: 500, seed: SEED });
    expect(original).toEqual(copy);
  });
});

describe('chunks', () => {
  test('the pieces make up the bytes and are views of them', () => {
    const cases = fc.uint8Array({ maxLength: 60 }).chain((bytes) => fc.tuple(fc.constant(bytes), chunks(bytes)));
    fc.assert(
      fc.property(cases, ([bytes, pieces]) => {
        expect(pieces.flatMap((piece) => [...piece])).toEqual([...bytes]);
        for (const piece of pieces) expect(piece.buffer).toBe(bytes.buffer);
      }),
    );
  });

  test('empty pieces, single bytes and the whole all occur', () => {
    const all = fc.sample(chunks(new Uint8Array(5)), { numRuns: 300, seed: SEED });
    expect(all.some((pieces) => pieces.length === 1)).toBe(true);
    expect(all.some((pieces) => pieces.some(({ length }) => length === 0))).toBe(true);
    expect(all.some((pieces) => pieces.filter(({ length }) => length === 1).length === 5)).toBe(true);
  });
});

describe('dressings', () => {
  test.each(DRESSINGS)('%s changes most frames that it can change, and none otherwise', (name) => {
    const cases = fc.sample(fc.tuple(frame(), dressing([name])), { numRuns: 300, seed: SEED });
    let changed = 0;
    for (const [generated, one] of cases) {
      const out = dress(generated, one);
      expect(out.records).toBe(generated.records);
      if (out === generated) continue;
      changed++;
      // Padding may be no bytes at all.
      if (one.content.length > 0) expect(Buffer.compare(out.bytes, generated.bytes)).not.toBe(0);
    }
    // Few outer packets are TCP; about half are IPv6.
    expect(changed).toBeGreaterThan(name === 'tcp-options' ? 5 : 60);
  });

  test('every dressing occurs among dressed frames, alone and with others', () => {
    const seen = new Map<string, number>();
    const count = (name: string): Map<string, number> => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (const { bytes, options } of fc.sample(dressed(frame()), { numRuns: 600, seed: SEED })) {
      const link = options.linkType ?? 'ethernet';
      count(link);
      if (link !== 'ethernet') continue;
      const type = (bytes[12]! << 8) | bytes[13]!;
      count(type.toString(16));
      if (type === 0x0800 && bytes[14]! > 0x45) count('IPv4 options');
      if (type === 0x86dd && [0, 43, 44, 51, 60, 135].includes(bytes[20]!)) count('IPv6 extensions');
    }
    for (const name of ['ethernet', 'raw', 'linux-sll', 'linux-sll2', '8100', '88a8', '9100', '8847', '800', '86dd']) {
      expect([name, (seen.get(name) ?? 0) > 5]).toEqual([name, true]);
    }
    for (const name of ['IPv4 options', 'IPv6 extensions'])
      expect([name, (seen.get(name) ?? 0) > 3]).toEqual([name, true]);
  });

  test('a frame without IP header stays as it is where one is needed', () => {
    const [arp] = fc.sample(plainPacket(), { numRuns: 200, seed: SEED }).filter(({ bytes }) => bytes[12] === 0x88);
    for (const name of ['tcp-options', 'ipv4-options', 'ipv6-extensions', 'mpls', 'padding', 'raw'] as const) {
      expect(dress(arp!, { name, content: new Uint8Array(4), values: [1] })).toBe(arp);
    }
    expect(dress(arp!, { name: 'vlan', content: new Uint8Array(0), values: [7] }).bytes.subarray(12, 16)).toEqual(
      Uint8Array.of(0x81, 0, 0, 7),
    );
  });
});
