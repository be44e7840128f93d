/** Viewers as the page is one: a line `N` or `N paused` on standard input has so many; an empty line says what they got. */
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';

/** What the viewers of a phase got. */
export interface Seen {
  readonly viewers: number;
  readonly frames: number;
  readonly messages: number;
  readonly bytes: number;
}

/** The subscriptions of the page's first view and of its map, table and list. */
const METRICS = ['reports', 'latencyP50', 'latencyP99', 'occupancy', 'utilization', 'drops', 'events'] as const;
const SUBSCRIPTIONS: readonly object[] = [
  { type: 'status', id: 1 },
  { type: 'topology', id: 2 },
  { type: 'flows', id: 3, filter: '', sort: '-reportsPerSecond', limit: 50 },
  { type: 'events', id: 4, filter: '' },
  ...METRICS.map((metric, index) => ({ type: 'series', id: 10 + index, metric, entities: ['all'] })),
  ...[0, 1, 2, 3].map((chart) => ({
    type: 'series',
    id: 20 + chart,
    metric: chart % 2 === 0 ? 'latencyP99' : 'occupancy',
    entities: [0, 1, 2, 3, 4].map((queue) => `queue:${1 + chart}/${queue}`),
  })),
];

export async function view(url: string): Promise<void> {
  const address = new URL('api/v1/live', url);
  address.protocol = 'ws:';
  const open: WebSocket[] = [];
  let seen = { frames: 0, messages: 0, bytes: 0 };
  process.stdout.write('{}\n');
  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== '') {
      const [count = '0', how] = line.split(' ');
      for (const socket of open.splice(0)) socket.terminate();
      await Promise.all(
        Array.from({ length: Number(count) }, async () => {
          const socket = new WebSocket(address, { perMessageDeflate: false });
          await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
          socket.on('message', (data: Buffer, isBinary) => {
            if (isBinary) seen.frames++;
            else seen.messages++;
            seen.bytes += data.length;
          });
          for (const subscription of SUBSCRIPTIONS) socket.send(JSON.stringify(subscription));
          open.push(socket);
          if (how === 'paused') socket.pause();
        }),
      );
    }
    process.stdout.write(`${JSON.stringify({ viewers: open.length, ...seen } satisfies Seen)}\n`);
    if (line !== '') seen = { frames: 0, messages: 0, bytes: 0 };
  }
  process.exit(0);
}
