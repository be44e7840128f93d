/** Datagrams, whose IP headers a socket has taken off; and sockets on the loopback interface, end to end. */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { encodeRoce, ROCE_OPCODE } from '@int/codec';
import { DartCounters, type DartStore, FrameRows, fixedKeyRows, SoftRnic, type SoftRnicOptions } from '@int/dart';
import { OUTCOME_NAMES } from '@int/dart/internals';
import { type RdmaAnswer, UdpRdmaSender, UdpRnic } from '@int/dart/node';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import {
  BASE,
  COUNTERS_BASE,
  COUNTERS_KEY,
  collectorOf,
  HASHES,
  hexOf,
  RC,
  REMOTE_KEY,
  SEED,
  storeOf,
  UC,
  writerTo,
} from './fixtures.js';

fc.configureGlobal({ seed: SEED });

function rnicTo(store: DartStore, more: SoftRnicOptions = {}): SoftRnic {
  return new SoftRnic({
    queuePairs: [{ number: UC }, { number: RC, service: 'rc' }],
    regions: [{ remoteKey: REMOTE_KEY, base: BASE, target: store, access: { write: true, atomic: true } }],
    ...more,
  });
}

/** Containers often have no IPv6. */
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

describe('a datagram', () => {
  const key = Uint8Array.of(1, 2, 3);
  const value = new Uint8Array(20).fill(9);
  const ends = { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 0xc000, destinationPort: 4791 };

  test('is taken for the IP packet it was, over IPv4 and IPv6', () => {
    const v6 = { ...ends, source: '2001:db8::1', destination: '2001:db8::2' };
    for (const at of [ends, v6]) {
      const store = storeOf(100);
      const collectors = [collectorOf(store, { address: at.destination })];
      const writer = writerTo(store, { collectors, source: at.source, format: 'udp' });
      const direct = storeOf(100);
      direct.write(key, value);
      const rnic = rnicTo(store);
      for (const payload of writer.write(key, value))
        expect(OUTCOME_NAMES[rnic.receiveDatagram(payload, at)]).toBe('write');
      expect(hexOf(store)).toBe(hexOf(direct));
      const [payload] = writer.write(key, value);
      expect(OUTCOME_NAMES[rnic.receiveDatagram(payload!, { ...at, sourcePort: 1 })]).toBe('icrc');
      expect(OUTCOME_NAMES[rnic.receiveDatagram(payload!, { ...at, source: at.destination })]).toBe('icrc');
      expect(OUTCOME_NAMES[rnic.receiveDatagram(payload!, at)]).toBe('write');
    }
  });

  test('may have IPv4 addresses mapped into IPv6, and an IPv6 zone', () => {
    const store = storeOf(100);
    const [payload] = writerTo(store, { format: 'udp' }).write(key, value);
    const mapped = { ...ends, source: '::ffff:10.0.1.1', destination: '::ffff:10.0.2.2' };
    expect(OUTCOME_NAMES[rnicTo(store).receiveDatagram(payload!, mapped)]).toBe('write');
    const collectors = [collectorOf(store, { address: 'fe80::2' })];
    const [six] = writerTo(store, { collectors, source: 'fe80::1', format: 'udp' }).write(key, value);
    const zoned = { ...ends, source: 'fe80::1%eth0', destination: 'fe80::2' };
    expect(OUTCOME_NAMES[rnicTo(store).receiveDatagram(six!, zoned)]).toBe('write');
    expect(() => rnicTo(store).receiveDatagram(six!, { ...zoned, destination: '10.0.0.1' })).toThrow(RangeError);
  });

  test('of any identification is taken if the option says so, and no other damage is', () => {
    fc.assert(
      fc.property(fc.nat(0xffff), fc.boolean(), fc.nat(67), fc.nat(7), (identification, dontFragment, byte, bit) => {
        const store = storeOf(100);
        const packet = encodeRoce({
          ...ends,
          identification,
          dontFragment,
          opcode: ROCE_OPCODE.UC_WRITE_ONLY,
          destinationQp: UC,
          psn: 0,
          reth: { virtualAddress: BASE, remoteKey: REMOTE_KEY, dmaLength: 24 },
          payload: new Uint8Array(24).fill(5),
        });
        const payload = packet.subarray(28);
        const isPlain = identification === 0 && dontFragment;
        expect(OUTCOME_NAMES[rnicTo(store).receiveDatagram(payload, ends)]).toBe(isPlain ? 'write' : 'icrc');
        const lenient = rnicTo(store, { icrc: 'any-identification' });
        // Masked, or checked earlier.
        if (byte !== 4 && byte < payload.length) {
          const damaged = payload.slice();
          damaged[byte]! ^= 1 << bit;
          const outcome = OUTCOME_NAMES[lenient.receiveDatagram(damaged, ends)];
          expect(['icrc', 'header']).toContain(outcome);
        }
        expect(OUTCOME_NAMES[lenient.receiveDatagram(payload, ends)]).toBe('write');
        // Of a whole packet the identification is known.
        const wrong = packet.slice();
        wrong[4]! ^= 1;
        expect(OUTCOME_NAMES[lenient.receiveIp(wrong)]).toBe('icrc');
        expect(OUTCOME_NAMES[lenient.receiveIp(packet)]).toBe('stale');
      }),
      { numRuns: 200 },
    );
  });

  test('that is longer than a packet can be is rejected', () => {
    expect(OUTCOME_NAMES[rnicTo(storeOf(10)).receiveDatagram(new Uint8Array(65_508), ends)]).toBe('header');
  });
});

describe('over loopback', () => {
  const six = hasIpv6 ? [['IPv6', '::1'] as const] : [];
  test.each([['IPv4', '127.0.0.1'] as const, ...six])(
    'what is written with %s is found, atomics are answered, and strangers are rejected',
    async (_, address) => {
      const store = storeOf(1 << 12, 4);
      const direct = storeOf(1 << 12, 4);
      const counters = new DartCounters({ cells: 64, hashes: HASHES });
      const rnic = rnicTo(store);
      rnic.addRegion({
        remoteKey: COUNTERS_KEY,
        base: COUNTERS_BASE,
        target: counters,
        access: { write: false, atomic: true },
      });
      const listener = await UdpRnic.listen({ rnic, address, port: 0, receiveBuffer: 1 << 20 });
      const answers: RdmaAnswer[] = [];
      const sender = await UdpRdmaSender.open({ address, onAnswer: (answer) => answers.push(answer) });
      try {
        const region = { remoteKey: COUNTERS_KEY, base: COUNTERS_BASE, cells: 64 };
        const collector = collectorOf(store, { address, port: listener.port, counters: region });
        const writer = writerTo(store, {
          collectors: [collector],
          format: 'udp',
          source: sender.address,
          sourcePort: sender.port,
          hashes: HASHES,
        });
        const rows = 200;
        const keys = fixedKeyRows(
          Uint8Array.from({ length: rows * 2 }, (_, at) => (at % 2 === 0 ? at >>> 1 : 77)),
          2,
        );
        const values = Uint8Array.from({ length: rows * 4 }, (_, at) => at * 7);
        direct.writeRows(keys, values, 0, rows);
        const frames = new FrameRows(100, 100 * writer.packetBytes);
        for (let row = 0; row < rows; ) {
          row = writer.writeRows(keys, values, row, rows, frames);
          await sender.sendRows(frames, writer.table.collectors);
          const expected = row * 2;
          frames.clear();
          await until(`${expected} writes`, () => rnic.counters.write >= expected, { found: () => rnic.counters });
        }
        expect(hexOf(store)).toBe(hexOf(direct));
        expect(rnic.counters).toMatchObject({ write: 400, rejected: 0, lost: 0 });

        const key = Uint8Array.of(1, 2, 3);
        await sender.send([...writer.insert(key, Uint8Array.of(1, 2, 3, 4)), ...writer.add(key, 5)], collector);
        await until('three answers', () => answers.length >= 3);
        expect(answers.map(({ psn, original }) => [psn, original])).toEqual([
          [0, 0n],
          [1, 0n],
          [2, 0n],
        ]);
        expect(store.query(key).value).toEqual(Uint8Array.of(1, 2, 3, 4));
        expect(counters.read(key)).toBe(5n);

        const stranger = createSocket(address === '::1' ? 'udp6' : 'udp4');
        const [payload] = writer.write(key, Uint8Array.of(6, 6, 6, 6));
        stranger.send(payload!, listener.port, address);
        stranger.send(new Uint8Array(3), listener.port, address);
        await until('what the stranger sent', () => listener.counters.datagrams >= 406);
        stranger.send(new Uint8Array(30), sender.port, address);
        await until('an answer of the stranger', () => sender.strangers === 1);
        const closed = once(stranger, 'close');
        stranger.close();
        await closed;
        expect(rnic.counters).toMatchObject({ icrc: 1, truncated: 1 });
        expect(listener.counters).toMatchObject({ answers: 3, answerErrors: 0 });
        expect(store.query(key).value).toEqual(Uint8Array.of(1, 2, 3, 4));
      } finally {
        await sender.close();
        await listener.close();
      }
    },
  );

  test('a socket of both IP versions takes one of them', async () => {
    const store = storeOf(100);
    const rnic = rnicTo(store);
    const any = hasIpv6 ? '::' : '0.0.0.0';
    const listener = await UdpRnic.listen({ rnic, address: any, port: 0, destination: '127.0.0.1' });
    const four = await UdpRdmaSender.open({ address: '127.0.0.1' });
    const ends = { source: four.address, sourcePort: four.port };
    const collectors = [collectorOf(store, { address: '127.0.0.1', port: listener.port })];
    const writer = writerTo(store, { collectors, format: 'udp', ...ends });
    if (hasIpv6) {
      const other = await UdpRdmaSender.open({ address: '::1' });
      await other.send([Uint8Array.of(1, 2, 3)], { address: '::1', port: listener.port });
      await until('a datagram of the other version', () => listener.counters.otherVersion === 1);
      await other.close();
    }
    await four.send(writer.write(Uint8Array.of(1), new Uint8Array(20)), collectors[0]!);
    await until('two writes', () => rnic.counters.write === 2);
    expect(rnic.counters).toMatchObject({ write: 2, rejected: 0 });
    await Promise.all([four.close(), listener.close()]);
  });

  test('a wildcard address is refused without the address that packets are sent to, and a port that is taken', async () => {
    const rnic = rnicTo(storeOf(10));
    await expect(UdpRnic.listen({ rnic, address: '0.0.0.0', port: 0 })).rejects.toThrow(RangeError);
    await expect(UdpRdmaSender.open({ address: '::' })).rejects.toThrow(RangeError);
    const listener = await UdpRnic.listen({ rnic, address: '0.0.0.0', port: 0, destination: '127.0.0.1' });
    const { port } = listener;
    expect(port).toBeGreaterThan(0);
    await expect(UdpRnic.listen({ rnic, address: '0.0.0.0', port, destination: '127.0.0.1' })).rejects.toThrow(
      /EADDRINUSE/,
    );
    await listener.close();
  });
});
