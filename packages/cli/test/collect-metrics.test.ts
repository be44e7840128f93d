import { describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** The address that a line on standard error names. */
const addressIn = (stderr: string): string | undefined => /metrics on (http:\/\/\S+)/.exec(stderr)?.[1];

/** The page of metrics when it shows something. */
function pageWith(text: string, url: string): Promise<string> {
  return until(`${text} in the metrics`, async () => {
    const page = await (await fetch(url)).text();
    return page.includes(text) ? page : null;
  });
}

describe('int collect --metrics', () => {
  test('serves what it counts while it runs, and ends with it', async () => {
    const { process, port } = await listening('--json', '--metrics', '0');
    await process.until(() => addressIn(process.stderr) !== undefined);
    const url = addressIn(process.stderr)!;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    await send(port, [payload(reportFrame()), payload(reportFrame()), new Uint8Array(50).fill(0xff)]);
    const page = await pageWith('\nint_frames_received_total 3\n', url);
    expect(page).toContain('\nint_frames_decoded_total 2\n');
    expect(page).toContain('int_switch_hops_total{switch="153"} 2');
    expect(page).toContain('int_hop_latency_seconds_count{switch="1"} 2');
    const health = await fetch(url.replace('/metrics', '/health'));
    expect([health.status, await health.json()]).toMatchObject([200, { healthy: true, detail: { received: 3 } }]);
    process.child.kill('SIGINT');
    await process.end();
    await expect(fetch(url)).rejects.toThrow();
  });

  test('counts the events of rules', async () => {
    const rules = await files.write(
      'rules.yaml',
      'version: 1\nunits: { hopLatency: ns }\nrules: [{ name: any, priority: 1, match: any, detect: { noop: {} } }]\n',
    );
    const { process, port } = await listening('--metrics', '127.0.0.1:0', '--rules', rules);
    await process.until(() => addressIn(process.stderr) !== undefined);
    await send(port, [payload(reportFrame())]);
    const page = await pageWith('int_frames_received_total 1', addressIn(process.stderr)!);
    expect(page).toContain('int_events_total{rule="any"} 1');
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
  });

  test('says what is wrong with an address', async () => {
    for (const address of ['x', '127.0.0.1', ':9464', '127.0.0.1:70000', '[1.2.3.4]:80', '']) {
      expect(await run(['collect', '--demo', '--metrics', address]), address).toMatchObject({ code: 2 });
    }
    const taken = await run(['collect', '--listen', 'udp://127.0.0.1:0', '--metrics', '203.0.113.9:80']);
    expect(taken.code).toBe(3);
    expect(taken.stderr).toContain('203.0.113.9:80: cannot listen: this machine has no such address');
  });
});
