import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { encodeReport, telemetry } from '@int/codec';
import { expect, test } from 'vitest';
import { send } from '../../../.ci/test/datagrams.js';
import { inTime, until } from '../../../.ci/test/until.js';

const file = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** A report v2.0 in which switch 7 tells its own hop latency. */
function report(hopLatency: number): Uint8Array {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', sourcePort: 1000, destinationPort: 2000 };
  return encodeReport(telemetry({ flow, report: { sequence: 1, nodeId: 7, metadata: { hopLatency } } }));
}

test('the collector has at most 40 lines', () => {
  expect(readFileSync(file('src/collector.ts'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('the collector prints the 99th percentile per switch and counts what it cannot decode', async () => {
  const child = spawn(process.execPath, [file('dist/collector.js'), '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  /** Waits for a line; if the collector ends instead, says why. */
  const line = (pattern: RegExp): Promise<RegExpExecArray> => {
    const look = (): RegExpExecArray | null => {
      const match = pattern.exec(output);
      if (match === null && child.exitCode !== null) throw new Error(`the collector ended: ${errors}`);
      return match;
    };
    return until(String(pattern), look, { found: () => output + errors });
  };
  try {
    const port = Number((await line(/listening on UDP port (\d+)/))[1]);
    await send(port, [Uint8Array.of(0xff, 0xff), ...Array.from({ length: 100 }, () => report(5000))]);
    await line(/p99 of hop latency: switch 7: 5000 ns; 1 datagrams rejected/);
  } finally {
    child.kill('SIGKILL');
    await inTime('the end of the collector', ended);
  }
});
