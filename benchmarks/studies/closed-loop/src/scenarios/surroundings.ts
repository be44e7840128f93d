/** What goes on all the time: clients of two servers, and small flows between hosts at different leaves. */
import { browse, type Fabric, HOSTS, type HostName, serve, stream } from '@int/example-closed-loop';
import type { Random } from '@int/random';

export interface Flow {
  readonly from: HostName;
  readonly to: HostName;
  /** Of its source: of no other flow. */
  readonly port: number;
  readonly bps: number;
}

const ENDS: readonly HostName[] = ['web', 'files', 'ann', 'bob', 'dave'];
const FIRST_PORT = 30_000;

export function begin(fabric: Fabric, random: Random): readonly Flow[] {
  serve(fabric, 'web', [80]);
  serve(fabric, 'files', [80]);
  browse(fabric, 'ann', 'web', 1e6 * Math.round(80 + 120 * random.uniform()));
  browse(fabric, 'bob', 'files', 1e6 * Math.round(120 + 200 * random.uniform()));
  return Array.from({ length: 18 + random.integer(10) }, (_, k): Flow => {
    const from = ENDS[random.integer(ENDS.length)]!;
    const others = ENDS.filter((name) => HOSTS[name].leaf !== HOSTS[from].leaf);
    const to = others[random.integer(others.length)]!;
    const flow = { from, to, port: FIRST_PORT + k, bps: 60e3 + 80e3 * random.uniform() };
    stream(fabric, from, to, flow.port, flow.bps);
    return flow;
  });
}

/** Source port of a frame with TCP or UDP over IPv4 without options. */
export function sourcePortOf(frame: Uint8Array): number {
  return frame.length < 38 ? -1 : (frame[34]! << 8) | frame[35]!;
}
