import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { encodeReport, telemetry } from '@int/codec';
import { expect, test } from 'vitest';
import { send } from '../../../.ci/test/datagrams.js';
import { inTime, until } from '../../../.ci/test/until.js';

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A report v2.0 in which switch 7 tells its own hop latency. */
function report(sequence: number, hopLatency: number): Uint8Array {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1000, destinationPort: 2000 };
  return encodeReport(telemetry({ flow, report: { hwId: 1, sequence, nodeId: 7, metadata: { hopLatency } } }));
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
  await inTime('a TCP port', once(receiver, 'listening'));
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
  const comes = async (what: string, isSo: () => boolean): Promise<void> => {
    const look = (): boolean => {
      if (!isSo() && child.exitCode !== null) throw new Error(`it ended: ${errors}`);
      return isSo();
    };
    await until(what, look, { found: () => output + errors });
  };
  try {
    await comes('its first line', () => output.includes('\n'));
    const port = Number(/port (\d+)/.exec(output)?.[1]);
    await send(port, [report(0, 150_000)]);
    await comes('the first request', () => requests === 1);
    // Half of them are fast.
    await send(
      port,
      Array.from({ length: 20 }, (_, index) => report(index + 1, index % 2 === 1 ? 100_001 + index : 50)),
    );
    await comes('ten events', () => lines.length === 10);
    child.kill('SIGTERM');
    expect(await inTime('its end', ended, { found: () => output + errors })).toEqual([0, null]);
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
