import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { encodeReport } from '@int/codec';
import { expect, test } from 'vitest';

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A report v2.0 in which switch 7 tells its own hop latency. */
function report(sequence: number, hopLatency: number): Uint8Array {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1000, destinationPort: 2000 };
  const info = { version: '2.0', hwId: 1, sequence, nodeId: 7 } as const;
  const flags = { dropped: false, queueCongested: false, trackedFlow: true, intermediate: false };
  const times = { ingressTimestamp: null, dropReason: null, dropQueueId: null };
  return encodeReport({
    ...info,
    records: [
      {
        ...{ index: 0, status: 'ok', error: null, int: null, flow, path: [7], hops: [] },
        report: { ...info, ...flags, ...times, type: 'int-xd', metadata: { hopLatency } },
      },
    ],
  });
}

test('the program has about 30 lines', () => {
  expect(readFileSync(file('src/custom-sink.ts'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(33);
});

test('events arrive at the address, each once, and the accounts close', async () => {
  const lines: string[] = [];
  let requests = 0;
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      requests++;
      // The first one fails, and is counted.
      response.writeHead(requests === 1 ? 500 : 204).end();
      if (requests > 1) lines.push(...body.trimEnd().split('\n'));
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port: web } = receiver.address() as AddressInfo;
  const child = spawn(process.execPath, [file('dist/custom-sink.js'), '0', `http://127.0.0.1:${web}/`]);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = once(child, 'close');
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) {
      if (child.exitCode !== null) throw new Error(`it ended: ${errors}`);
      await sleep(10);
    }
  };
  try {
    await until(() => output.includes('\n'));
    const port = Number(/port (\d+)/.exec(output)?.[1]);
    const socket = createSocket('udp4');
    const send = (bytes: Uint8Array): Promise<void> =>
      new Promise((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve()));
    await send(report(0, 150_000));
    await until(() => requests === 1);
    // Half of them are fast.
    for (let k = 1; k <= 20; k++) await send(report(k, k % 2 === 0 ? 100_000 + k : 50));
    await until(() => lines.length === 10);
    socket.close();
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    receiver.closeAllConnections();
    receiver.close();
  }
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.map(({ value }) => value)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20].map((k) => 100_000 + k));
  expect(events[0]).toMatchObject({ type: 'event', rule: 'slow', metric: 'hopLatency', nodeId: 7, threshold: 100_000 });
  expect(new Set(events.map(({ id }) => id)).size).toBe(10);
  const { post } = JSON.parse(output.trimEnd().split('\n').at(-1)!) as { post: { events: unknown } };
  expect(post.events).toMatchObject({ offered: 11, delivered: 10, pending: 0, dropped: { failed: 1 } });
  expect(errors).toContain('HTTP 500');
});
