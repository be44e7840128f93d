import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { ndjson, type Running, run, runBin, temporaryFolder } from './run.js';

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
    const { process, port } = await listening('--json', '--metrics', '0', '--unit', 'hopLatency=us');
    await process.until(() => addressIn(process.stderr) !== undefined);
    const url = addressIn(process.stderr)!;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    await send(port, [payload(reportFrame()), payload(reportFrame()), new Uint8Array(50).fill(0xff)]);
    const page = await pageWith('\nint_frames_received_total 3\n', url);
    expect(page).toContain('\nint_frames_decoded_total 2\n');
    expect(page).toContain('int_switch_hops_total{switch="153"} 2');
    expect(page).toContain('int_hop_latency_seconds_count{switch="1"} 2');
    expect(page).toContain("# HELP int_queue_occupancy Occupancy of a queue as last reported, in the device's unit.");
    const health = await fetch(url.replace('/metrics', '/health'));
    expect([health.status, await health.json()]).toMatchObject([
      200,
      {
        healthy: true,
        status: 'degraded',
        degraded: [{ where: 'collector', name: 'damaged', text: '1 frames that cannot be read' }],
        detail: { received: 3 },
      },
    ]);
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
    const taken = await runBin(['collect', '--listen', 'udp://127.0.0.1:0', '--metrics', '203.0.113.9:80']);
    expect(taken.code).toBe(3);
    expect(taken.stderr).toContain('cannot open 203.0.113.9:80: this machine has no such address');
  });

  test('goes with names by which the pages may be asked for, and no others', async () => {
    const { process } = await listening('--metrics', '0', '--metrics-allow-host', 'metrics.example');
    const { port } = new URL((await page(process)).url);
    const statusFor = (host: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const outgoing = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        outgoing.on('error', reject).end();
      });
    expect([await statusFor('metrics.example:9464'), await statusFor(`localhost:${port}`)]).toEqual([200, 200]);
    expect([await statusFor('evil.example'), await statusFor(`evil.example:${port}`)]).toEqual([403, 403]);
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
    expect(await run(['collect', '--demo', '--metrics', '0', '--metrics-allow-host', 'http://x'])).toMatchObject({
      code: 2,
    });
    expect(await run(['collect', '--demo', '--metrics-allow-host', 'x'])).toMatchObject({ code: 2 });
  });
});

/** The page of a running command, once it is served. */
async function page(process: Running): Promise<{ readonly url: string; text(): Promise<string> }> {
  await process.until(() => addressIn(process.stderr) !== undefined);
  const url = addressIn(process.stderr)!;
  return { url, text: async () => (await fetch(url)).text() };
}

/** A datagram with a report of a node; its sequence number as given. */
function reportOf(nodeId: number, sequence: number): Uint8Array {
  const bytes = Buffer.from('2000000100000000100402203000000000000000000002bc0100002a', 'hex');
  bytes.writeUInt32BE(0x20000000 | (sequence & 0x3fffff), 0);
  bytes.writeUInt32BE(nodeId, 4);
  return bytes;
}

describe('int collect under attack', () => {
  test('loses no datagram to a client that pipelines 40 scrapes and hangs up, and ends at a signal with 800 under way', async () => {
    const { process, port } = await listening('--json', '--metrics', '0');
    const { url, text } = await page(process);
    const began = performance.now();
    // A page of a thousand forged switches.
    await send(
      port,
      Array.from({ length: 2000 }, (_, index) => reportOf(1_000_000 + index, 1)),
    );
    expect((await text()).length).toBeGreaterThan(1_000_000);
    const client = () => connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    const get = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';
    let sent = 2000;
    for (let round = 0; round < 5; round++) {
      const hasty = client();
      hasty.write(get.repeat(40));
      await send(
        port,
        Array.from({ length: 500 }, (_, index) => reportOf(1 + (index % 4), index)),
      );
      hasty.destroy();
      sent += 500;
    }
    const clients = [1, 2, 3, 4].map(() => client().pause());
    for (const each of clients) each.write(get.repeat(200));
    await sleep(100);
    const { detail } = (await (await fetch(url.replace('/metrics', '/health'))).json()) as {
      readonly detail: { readonly page: { readonly pages: number } };
    };
    // One a second at most, whoever asks.
    expect(detail.page.pages).toBeLessThanOrEqual((performance.now() - began) / 1000 + 1);
    process.child.kill('SIGINT');
    const late = setTimeout(() => process.child.kill('SIGKILL'), 60_000);
    const { code, stdout } = await process.end();
    clearTimeout(late);
    expect(code, 'ended by the signal within a minute').toBe(0);
    for (const each of clients) each.destroy();
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total', received: sent, kernelDropped: 0 });
  });

  test('shows the honest switches again after 5,000 forged ids, on the page and in the statistics, and warns', async () => {
    const { process, port } = await listening('--json', '--metrics', '0');
    const { text } = await page(process);
    await send(
      port,
      Array.from({ length: 5000 }, (_, index) => reportOf(1_000_000 + index, 1)),
    );
    const limit = performance.now() + 60_000;
    let sequence = 0;
    let isBack = false;
    while (!isBack) {
      expect(performance.now(), 'the honest switches within a minute').toBeLessThan(limit);
      await send(
        port,
        Array.from({ length: 40 }, (_, index) => reportOf(1 + (index % 4), ++sequence)),
      );
      await sleep(100);
      const last = ndjson(process.stdout.slice(0, process.stdout.lastIndexOf('\n'))).at(-1);
      const switches = (last?.switches ?? []) as readonly { readonly nodeId: number }[];
      const onPage = (await text()).match(/^int_switch_hops_total\{switch="[1-4]"\}/gm) ?? [];
      isBack = onPage.length === 4 && switches.filter(({ nodeId }) => nodeId <= 4).length === 4;
    }
    const counts = new Map(
      [...(await text()).matchAll(/^(int_\w+)(?:\{.*\})? (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]),
    );
    expect(counts.get('int_switches_replaced_total')).toBe(4);
    expect(counts.get('int_switch_hops_untracked_total')).toBeGreaterThan(3900);
    expect(process.stderr).toMatch(/^int: degraded: switch totals: untracked: [\d]+ hops of switches beyond the 1024/m);
    process.child.kill('SIGINT');
    const { stdout } = await process.end();
    expect(ndjson(stdout).at(-1)).toMatchObject({ received: 5000 + sequence, kernelDropped: 0 });
  });
});
