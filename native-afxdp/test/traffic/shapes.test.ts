import { describe, expect, it } from 'vitest';
import { FrameMaker, type FrameShape, ipFrame, udp } from '../frames.js';
import { MOSTLY_DRIVER, pairFor, startTraffic } from '../pair.js';

const VLAN = 0x8100;
const SERVICE_VLAN = 0x88a8;

const TAGS: readonly (readonly [string, FrameShape])[] = [
  ['no VLAN tag', {}],
  ['a VLAN tag', { tags: [VLAN] }],
  ['two VLAN tags', { tags: [SERVICE_VLAN, VLAN] }],
  ['two VLAN tags of the same type', { tags: [VLAN, VLAN] }],
  ['IPv6', { version: 6 }],
  ['IPv6 behind two VLAN tags', { version: 6, tags: [SERVICE_VLAN, VLAN] }],
];

/** Every size from the least of Ethernet to what fits, in steps that meet all remainders of 8. */
function sizesTo(most: number): number[] {
  return Array.from({ length: Math.floor((most - 60) / 7) + 1 }, (_, step) => 60 + 7 * step).concat(most - 1, most);
}

describe.each(MOSTLY_DRIVER)('in %s mode', (mode) => {
  it(`reports with ${TAGS.map(([name]) => name).join(', ')} arrive as they were sent`, async () => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right });
    const count = 2_000;
    for (const [name, shape] of TAGS) {
      const result = await program.call('exchange', {
        from: { interface: pair.left.interface },
        to: { interface: pair.right.interface, mode },
        shape,
        count,
      });
      expect(result.findings, name).toMatchObject({ frames: count, wrong: 0, duplicates: 0, late: 0 });
      expect(result.reports, name).toBe(count);
      expect(result.receiver.program, name).toMatchObject({ steered: count });
    }
    await program.stop();
  });

  it.each([
    [2048, 1792, 1500 + 400],
    [4096, 3840, 3400],
  ] as const)(
    'frames of 60 bytes up to what %i bytes of memory hold arrive as they were sent',
    async (frameSize, usable, mtu) => {
      // The driver takes no larger MTU than a page holds; the largest frames that fit in 4096 bytes are for generic mode.
      const most = Math.min(usable, (mode === 'driver' ? mtu : 4000) + 14);
      const pair = await pairFor({ together: true, mtu: mode === 'driver' ? mtu : 4000 });
      const program = await startTraffic({ at: pair.right });
      const sizes = sizesTo(most);
      const count = 10 * sizes.length;
      const result = await program.call('exchange', {
        from: { interface: pair.left.interface, frameSize },
        to: { interface: pair.right.interface, mode, frameSize },
        shape: { sizes },
        count,
      });
      await program.stop();
      const bytes = 10 * sizes.reduce((sum, size) => sum + size, 0);
      expect(result.findings).toEqual({ frames: count, bytes, wrong: 0, duplicates: 0, late: 0 });
      expect(result.receiver.kernel).toMatchObject({ rxDropped: 0, rxRingFull: 0 });
    },
  );

  it('frames larger than the memory for one are counted as dropped', async () => {
    const pair = await pairFor({ together: true, mtu: 3_000 });
    const program = await startTraffic({ at: pair.right });
    const count = 3_000;
    const result = await program.call('exchange', {
      from: { interface: pair.left.interface, frameSize: 4096 },
      to: { interface: pair.right.interface, mode, frameSize: 2048 },
      shape: { sizes: [200, 1793, 1792, 3014] },
      count,
    });
    await program.stop();
    expect(result.findings).toEqual({ frames: count / 2, bytes: (count / 4) * 1992, wrong: 0, duplicates: 0, late: 0 });
    expect(result.receiver.kernel).toMatchObject({ rxDropped: count / 2, rxRingFull: 0 });
  });

  it('runts and frames that end inside a header go to the stack and harm nothing', async () => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right });
    const whole = new FrameMaker({ tags: [SERVICE_VLAN, VLAN], version: 6 }).make(1);
    const plain = new FrameMaker().make(2);
    const frames = [whole, plain].flatMap((frame) =>
      Array.from({ length: 56 }, (_, at) => Uint8Array.from(frame.subarray(0, 14 + at))),
    );
    const counters = await program.call(
      'oddities',
      pair.left.interface,
      { interface: pair.right.interface, mode },
      frames,
    );
    await program.stop();
    // Only what has its whole UDP header is the socket's: 8 bytes behind 62 of headers, and behind 34.
    const steered = frames.filter((frame, at) => frame.length >= (at < 56 ? 14 + 8 + 40 + 8 : 14 + 20 + 8)).length;
    expect(counters).toMatchObject({ received: steered, program: { steered, passed: frames.length - steered } });
  });

  it('every frame arrives when all ports are asked for', async () => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right });
    const frames = [
      Uint8Array.from(ipFrame(17, udp(1, Buffer.alloc(30)))),
      Uint8Array.from(ipFrame(17, udp(1, Buffer.alloc(30), 6), { version: 6 })),
      Uint8Array.from(ipFrame(6, Buffer.alloc(40))),
      Uint8Array.from(Buffer.alloc(60, 0x55)),
    ];
    const counters = await program.call(
      'oddities',
      pair.left.interface,
      { interface: pair.right.interface, mode, ports: 'all' },
      frames,
    );
    await program.stop();
    expect(counters).toMatchObject({ received: 4, program: { steered: 4, passed: 0, noSocket: 0 } });
  });
});

describe('the mode', () => {
  it('falls back to generic where the MTU is too large for the driver', async () => {
    const pair = await pairFor({ together: true, mtu: 9_000 });
    const program = await startTraffic({ at: pair.right });
    const options = { interface: pair.right.interface, frameSize: 4096 as const };
    const result = await program.call('exchange', {
      from: { interface: pair.left.interface, frameSize: 4096 },
      to: { ...options, mode: 'auto' },
      shape: { sizes: [100, 3840] },
      count: 1_000,
    });
    expect(result.mode).toBe('generic');
    expect(result.findings).toMatchObject({ frames: 1_000, wrong: 0 });
    expect(await program.failure('open', { ...options, mode: 'driver' })).toMatchObject({
      name: 'XdpError',
      code: 'ERR_XDP_MTU',
    });
    await program.stop();
  });

  it('is the driver where it can be', async () => {
    const pair = await pairFor({ together: true });
    const program = await startTraffic({ at: pair.right });
    expect(await program.call('open', { interface: pair.right.interface })).toEqual({
      mode: 'driver',
      zeroCopy: false,
    });
    await program.call('close');
    // The loopback interface has no driver mode.
    expect(await program.call('open', { interface: 'lo' })).toEqual({ mode: 'generic', zeroCopy: false });
    await program.call('close');
    expect(await program.failure('open', { interface: 'lo', mode: 'driver' })).toMatchObject({
      code: 'ERR_XDP_NO_DRIVER_SUPPORT',
    });
    await program.stop();
  });
});
