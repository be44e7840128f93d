/** What a software RNIC sends to somebody in whose name others ask. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { encodeRoce, ROCE_OPCODE, type RoceFields } from '@int/codec';
import { SoftRnic } from '@int/dart';
import { OUTCOME_NAMES } from '@int/dart/internals';
import { UdpRnic } from '@int/dart/node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { atomicFrame, BASE, GuardedTarget, RC, REMOTE_KEY, SEED, writeFrame } from './fixtures.js';

fc.configureGlobal({ seed: SEED });

function reliable(number = RC): SoftRnic {
  return new SoftRnic({
    queuePairs: [{ number, service: 'rc' }],
    regions: [
      { remoteKey: REMOTE_KEY, base: BASE, target: new GuardedTarget(64), access: { write: true, atomic: true } },
    ],
  });
}

const { RC_COMPARE_SWAP, RC_FETCH_ADD, RC_WRITE_ONLY } = ROCE_OPCODE;
const V4 = { source: '10.0.1.1', destination: '10.0.2.2' };
const V6 = { source: '2001:db8::1', destination: '2001:db8::2' };

/** Requests that get an answer: good ones, repeated ones, those behind a gap, and those that cannot be executed. */
const request = fc.record({
  kind: fc.constantFrom('write', 'add', 'swap'),
  psn: fc.constantFrom(0, 1, 2, 9),
  payload: fc.integer({ min: 0, max: 40 }),
  remoteKey: fc.constantFrom(REMOTE_KEY, REMOTE_KEY, 5),
  virtualAddress: fc.constantFrom(BASE, BASE + 8n, BASE + 1n, 0n),
  ends: fc.constantFrom(V4, V6),
  form: fc.constantFrom('frame', 'packet', 'datagram'),
});

test('no answer is larger than its request, whatever is asked in whatever form', () => {
  let answered = 0;
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      const rnic = reliable();
      for (const { ends, form, kind, payload, psn, remoteKey, virtualAddress } of requests) {
        const more: Partial<RoceFields> = { ...ends, destinationQp: RC, acknowledgeRequest: true };
        const whole =
          kind === 'write'
            ? writeFrame(
                psn,
                new Uint8Array(payload),
                { remoteKey, virtualAddress },
                { opcode: RC_WRITE_ONLY, ...more },
              )
            : atomicFrame(kind === 'add' ? RC_FETCH_ADD : RC_COMPARE_SWAP, psn, { remoteKey, virtualAddress }, more);
        const bytes = form === 'frame' ? whole : whole.subarray(form === 'packet' ? 14 : ends === V6 ? 62 : 42);
        rnic.onAnswer = (answer): void => {
          answered += 1;
          expect(answer.length).toBeLessThan(bytes.length);
        };
        if (form === 'frame') rnic.receive(bytes);
        else if (form === 'packet') rnic.receiveIp(bytes);
        else rnic.receiveDatagram(bytes, { ...ends, sourcePort: 0xc000, destinationPort: 4791 });
      }
    }),
    { numRuns: 300 },
  );
  expect(answered).toBeGreaterThan(300);
});

test('an answer that is sent to another RNIC is not answered', () => {
  const [one, other] = [reliable(), reliable()];
  const answers: Uint8Array[] = [];
  one.onAnswer = (answer) => answers.push(answer.slice());
  other.onAnswer = () => {
    throw new Error('answered');
  };
  const ack = { opcode: RC_WRITE_ONLY, destinationQp: RC, acknowledgeRequest: true };
  one.receive(writeFrame(0, Uint8Array.of(1), {}, ack));
  one.receive(atomicFrame(RC_FETCH_ADD, 1));
  one.receive(writeFrame(9, Uint8Array.of(1), {}, ack));
  one.receive(writeFrame(2, Uint8Array.of(1), { remoteKey: 5 }, ack));
  expect(answers).toHaveLength(4);
  for (const answer of answers) expect(OUTCOME_NAMES[other.receive(answer)]).toBe('opcode');
});

test('answers have a rate that no sender can raise, and those that are held back are counted', async () => {
  const rnic = reliable();
  const listener = await UdpRnic.listen({ rnic, address: '127.0.0.1', port: 0, answersPerSecond: 200 });
  const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let arrived = 0;
  socket.on('message', () => {
    arrived += 1;
  });
  try {
    const started = performance.now();
    const requests = 2000;
    for (let psn = 0; psn < requests; psn++) {
      const packet = encodeRoce({
        source: '127.0.0.1',
        destination: '127.0.0.1',
        sourcePort: socket.address().port,
        destinationPort: listener.port,
        opcode: RC_WRITE_ONLY,
        destinationQp: RC,
        psn,
        acknowledgeRequest: true,
        reth: { virtualAddress: BASE, remoteKey: REMOTE_KEY, dmaLength: 4 },
        payload: Uint8Array.of(1, 2, 3, 4),
      });
      socket.send(packet.subarray(28), listener.port, '127.0.0.1');
      // In order, and no more than the socket holds.
      if (psn % 50 === 49) await until(`request ${psn}`, () => listener.counters.datagrams > psn, { everyMs: 1 });
    }
    const most = 20 + (200 * (performance.now() - started)) / 1000;
    const { answers, answersHeld } = listener.counters;
    expect(rnic.counters).toMatchObject({ write: requests, rejected: 0 });
    expect(answers + answersHeld).toBe(requests);
    expect(answers).toBeGreaterThanOrEqual(20);
    expect(answers).toBeLessThanOrEqual(most);
    await until('all answers', () => arrived >= answers);
    expect(arrived).toBe(answers);
  } finally {
    const closed = once(socket, 'close');
    socket.close();
    await closed;
    await listener.close();
  }
});

test('a rate out of range is named', async () => {
  for (const answersPerSecond of [0, Number.NaN, 1e8]) {
    await expect(UdpRnic.listen({ rnic: reliable(), address: '127.0.0.1', port: 0, answersPerSecond })).rejects.toThrow(
      /answersPerSecond/,
    );
  }
});
