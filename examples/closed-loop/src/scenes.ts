/** What happens to the network, one after the other. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fabric } from './network/fabric.js';
import { browse, collidingPorts, scan, serve, stream, synFlood } from './network/traffic.js';

/** Seconds of each scene, and of the calm before and behind it. */
export interface Pace {
  readonly calm: number;
  readonly scene: number;
}

const ELEPHANT_BPS = 4.6e6;

/** What goes on all the time: clients and servers, and small flows between the leaves. */
export function daily(fabric: Fabric): void {
  serve(fabric, 'web', [80]);
  serve(fabric, 'files', [80]);
  browse(fabric, 'ann', 'web', 150e6);
  browse(fabric, 'bob', 'files', 250e6);
  for (let flow = 0; flow < 6; flow++) {
    const [client, server] = [flow % 2 === 0 ? 'ann' : 'bob', flow < 3 ? 'web' : 'files'] as const;
    stream(fabric, client, server, 30_000 + flow, 200e3);
    stream(fabric, server, client, 31_000 + flow, 200e3);
    stream(fabric, 'dave', server, 32_000 + flow, 100e3);
    stream(fabric, server, 'dave', 33_000 + flow, 100e3);
  }
}

/** What may happen, in the order in which it does. */
export const SCENES = ['failure', 'elephants', 'flood', 'scan'] as const;
export type Scene = (typeof SCENES)[number];

/** @param tell hears what happens @param signal ends it early */
export async function play(
  fabric: Fabric,
  scenes: readonly Scene[],
  pace: Pace,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const seconds = (count: number): Promise<void> => sleep(1000 * count, undefined, { signal });
  const acts: Readonly<Record<Scene, () => Promise<void>>> = {
    failure: async () => {
      tell('the link between leaf1 and spine1 fails: packets on it are lost');
      const link = fabric.links.get('leaf1:spine1')!;
      link.fail();
      await seconds(pace.scene);
      tell('the link is repaired');
      link.repair();
    },
    elephants: async () => {
      const ports = await collidingPorts(fabric, 'leaf1:spine2', 'backup', 'files', 2, () => seconds(0.05));
      tell(`two large flows begin whose hash sends both by spine2: ${(2 * ELEPHANT_BPS) / 1e6} Mbit/s on a link of 10`);
      const elephants = ports.map((port) => stream(fabric, 'backup', 'files', port, ELEPHANT_BPS));
      await seconds(pace.scene);
      for (const stop of elephants) stop();
      tell('the large flows end');
    },
    flood: async () => {
      tell('a SYN flood from 203.0.113.0/24 to web: 400 packets a second');
      const stop = synFlood(fabric, 'web', 400);
      await seconds(pace.scene);
      stop();
      tell('the flood ends');
    },
    scan: async () => {
      tell('198.51.100.7 tries the ports of files, 10 a second');
      const stop = scan(fabric, 'files', 10);
      await seconds(pace.scene);
      stop();
      tell('the scan ends');
    },
  };
  for (const scene of SCENES.filter((each) => scenes.includes(each))) {
    await seconds(pace.calm);
    await acts[scene]();
  }
  await seconds(pace.calm);
}
