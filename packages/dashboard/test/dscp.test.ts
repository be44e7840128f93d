/** The code points of flows are those of their packets. */
import { encodeFrame, telemetry } from '@int/codec';
import { Collector, FrameSlab, type Push, type Source } from '@int/collector';
import type { FlowsAnswer } from '@int/dashboard';
import { expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';

/** Offset of the monitored packet's Ethernet header: behind Ethernet, IPv4, UDP, and the headers of a report v2.0. */
const OUTER = 14 + 20 + 8;

/** A report of a packet with a code point in its IP header. */
function frameOf(index: number, isIpv6: boolean, dscp: number): Uint8Array {
  const flow = isIpv6
    ? { source: `2001:db8::${index}`, destination: '2001:db8::ff', sourcePort: 1000, destinationPort: 2000 }
    : { source: `10.0.0.${index}`, destination: '10.0.0.255', sourcePort: 1000, destinationPort: 2000 };
  const frame = encodeFrame(telemetry({ flow, hops: [{ nodeId: 1, hopLatency: 5 }], report: { nodeId: 9 } }));
  const type = isIpv6 ? [0x86, 0xdd] : [0x08, 0x00];
  const version = isIpv6 ? 6 : 4;
  // The inner Ethernet header is followed by the first IP header of the right version behind the outer ones.
  for (let at = OUTER; at < frame.length - 2; at++) {
    if (frame[at] !== type[0] || frame[at + 1] !== type[1] || frame[at + 2]! >>> 4 !== version) continue;
    if (isIpv6) {
      frame[at + 2] = 0x60 | (dscp >>> 2);
      frame[at + 3] = (dscp & 3) << 6;
    } else frame[at + 3] = dscp << 2;
    return frame;
  }
  throw new Error('no inner packet');
}

class Frames implements Source {
  readonly name = 'frames';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly finished = Promise.resolve();
  readonly #frames: readonly Uint8Array[];

  constructor(frames: readonly Uint8Array[]) {
    this.#frames = frames;
  }

  async start(push: Push): Promise<void> {
    const slab = new FrameSlab({ frames: 64, bytes: 1 << 16 }, 'ethernet');
    for (const frame of this.#frames) slab.append(frame, 1_700_000_000_000);
    await push(slab);
  }

  async stop(): Promise<void> {}
}

test('flows have the code points of their newest packets', async () => {
  const dashboard = await openDashboard();
  const sent = [0, 8, 46, 63].flatMap((dscp, index) => [
    { dscp, isIpv6: false, index: index + 1 },
    { dscp, isIpv6: true, index: index + 1 },
  ]);
  const frames = sent.map(({ dscp, isIpv6, index }) => frameOf(index, isIpv6, dscp));
  const collector = new Collector({ sources: [new Frames(frames)], sinks: [dashboard] });
  try {
    await collector.start();
    const ask = async (filter: string): Promise<FlowsAnswer> =>
      (await (await fetch(new URL(`api/v1/flows?filter=${filter}`, dashboard.url))).json()) as FlowsAnswer;
    const { rows } = await until(
      'all flows',
      async () => {
        const answer = await ask('');
        return answer.rows.every(({ path }) => path.length > 0) && answer.rows.length === sent.length ? answer : null;
        // Who asks too often is refused.
      },
      { everyMs: 100 },
    );
    for (const { dscp, isIpv6, index } of sent) {
      const source = isIpv6 ? `2001:db8::${index}` : `10.0.0.${index}`;
      expect(rows.find((row) => row.source === source)?.dscp, source).toBe(dscp);
    }
    expect((await ask('dscp%3D46')).matched).toBe(2);
  } finally {
    await collector.stop();
  }
});
