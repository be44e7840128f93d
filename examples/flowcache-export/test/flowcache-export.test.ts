import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readStoredEvent, readStoredFlow } from '@int/sink-redis';
import { expect, test } from 'vitest';
import { freeTcpPort } from '../../../.ci/test/ports.mjs';
import { transcriptOf } from '../../../.ci/test/readmes.js';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import { exported, linesOf } from '../src/flowcache-export.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const run = promisify(execFile);
const told = exported();

/** A packet takes so long at s2: Ethernet, IPv4, UDP and 500 bytes, shim and INT-MD header, 4 words of each of two switches. */
const US = 14 + 20 + 8 + 500 + 16 + 2 * 16;
const flowOf = (sourcePort: number) => ({
  ...{ source: '10.0.1.1', destination: '10.0.2.2', protocol: 17 },
  ...{ sourcePort, destinationPort: 80 },
});
const atUs = (us: number): bigint => BigInt(us) * 1000n;
const sums = (values: readonly number[]) => {
  const sum = values.reduce((a, b) => a + b);
  return { last: values.at(-1), count: values.length, sum: BigInt(sum), mean: sum / values.length };
};

test('entries and events are those of a cache for two flows, whose third one makes the oldest go', () => {
  // The thresholds of sink.txt: more than 1000 us, or a change by more than 500.
  const event = { scope: 'hop', metric: 'hopLatency', hop: 1, nodeId: 2, flow: flowOf(4001) };
  const both = ['threshold', 'change'];
  expect(told.events).toEqual([
    { ...event, kinds: ['change'], value: US, previous: 0, threshold: 500, timeNs: atUs(10_000 + US) },
    { ...event, kinds: both, value: 2 * US, previous: US, threshold: 1000, timeNs: atUs(10_000 + 2 * US) },
    { ...event, kinds: ['change'], value: 0, previous: 2 * US, threshold: 500, timeNs: atUs(30_000) },
  ]);
  const latencies = { 4001: [0, US, 2 * US, 0], 4002: [0] };
  const entry = { reason: 'evicted', pathChanges: 0, pathLength: 3, path: [1, 2, 5], hopsBeyond: 0 };
  const waits = { 4001: [10_000, 30_000], 4002: [20_000, 20_000] } as const;
  for (const [index, port] of ([4002, 4001] as const).entries()) {
    const [first, last] = waits[port];
    const times = { firstNs: atUs(first), lastNs: atUs(last), packets: latencies[port].length };
    const sum = sums(latencies[port]);
    expect(told.entries[index]).toMatchObject({ ...entry, ...times, flow: flowOf(port), endToEnd: sum });
    expect(told.entries[index]?.hops[1]?.metrics.hopLatency).toEqual(sum);
  }
  expect(told.entries).toHaveLength(2);
  expect(linesOf(told)).toEqual(
    transcriptOf('examples/flowcache-export/README.md', 'npm -s start -w @int/example-flowcache-export'),
  );
});

test('what is in Redis is what was printed', async () => {
  const program = requires('redis-server', 'apt-get install redis-server, or npm run setup:system');
  const folder = mkdtempSync(join(tmpdir(), 'int-flowcache-'));
  const port = String(await freeTcpPort());
  const server = spawn(program, ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', ''], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  const ask = async (...command: string[]): Promise<unknown> =>
    JSON.parse((await run('redis-cli', ['-p', port, '--json', ...command], { timeout: 20_000 })).stdout);
  try {
    await until(
      'an answer of redis-server',
      () =>
        ask('PING').then(
          () => true,
          () => false,
        ),
      { everyMs: 20 },
    );
    const { stdout } = await run(process.execPath, [MAIN, '--redis', `127.0.0.1:${port}`], { timeout: 50_000 });
    expect(stdout.trimEnd().split('\n')).toEqual([...linesOf(told), 'Redis: 3 events and 2 entries written']);
    const stream = (await ask('XRANGE', 'int:events', '-', '+')) as [string, string[]][];
    const fieldsOf = (flat: readonly string[]): Record<string, string> =>
      Object.fromEntries(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!]] : [])));
    expect(stream.map(([, fields]) => readStoredEvent(fieldsOf(fields)))).toEqual(told.events);
    for (const { flow, packets, path } of told.entries) {
      const name = `10.0.1.1:${flow.sourcePort}-10.0.2.2:80/17`;
      const fields = (await ask('HGETALL', `int:flow:${name}`)) as Record<string, string>;
      expect(readStoredFlow(name, fields)).toMatchObject({ flow, packets: BigInt(packets), path });
    }
  } finally {
    server.kill('SIGKILL');
    await inTime('the end of redis-server', ended);
    rmSync(folder, { recursive: true, force: true });
  }
});
