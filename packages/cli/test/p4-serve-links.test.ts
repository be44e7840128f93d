/** `int p4 serve` when an interface goes down, or away, and comes back. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeAddon } from '../../../.ci/test/native.js';
import { limit, requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { type CableEnd, WiredNetwork } from '../../../.ci/test/wired-network.js';
import { p4Program } from './p4-programs.js';
import { BIN, temporaryFolder } from './run.js';
import { Started } from './started.js';

const files = temporaryFolder();
const HOSTS = fileURLToPath(new URL('p4-serve-hosts.mjs', import.meta.url));

const host = (number: number): CableEnd => ({
  at: `h${number}`,
  interface: 'eth0',
  mac: `02:00:00:00:01:0${number}`,
  address: `10.0.0.${number}/24`,
});
const port = (number: number): CableEnd => ({ at: 's', interface: `p${number}` });

/** Joins a host to the switch, and tells it of the other. */
function lay(network: WiredNetwork, number: number, queues = 1): void {
  network.cable({ ...host(number), queues }, { ...port(number), queues });
  const other = host(3 - number);
  network.run(`h${number}`, 'ip', 'neighbour', 'replace', `10.0.0.${3 - number}`, 'lladdr', other.mac!, 'dev', 'eth0');
}

/** A switch of the network that forwards. */
async function serve(network: WiredNetwork, args: readonly string[]): Promise<Started> {
  const env = { INT_AFXDP_ADDON: join(makeAddon('addon'), 'prebuilds', `linux-${process.arch}`, 'afxdp.node') };
  const serving = new Started(network.at('s', process.execPath, BIN, ...args), env);
  try {
    await serving.says('forwarding');
  } catch (error) {
    if (/ERR_XDP_(PERMISSION|KERNEL)|CAP_/.test(serving.stderr)) limit(`AF_XDP is refused here: ${serving.stderr}`);
    throw error;
  }
  return serving;
}

describe.each(['xdp', 'packet'] as const)('int p4 serve on %s ports', (kind) => {
  test('counts what it cannot send while an interface is down, and goes on when it is back', {
    timeout: 120_000,
  }, async () => {
    requires('cc', 'npm run setup:system');
    const network = WiredNetwork.make(['h1', 'h2', 's']);
    for (const number of [1, 2]) lay(network, number);
    const program = await files.write('wire.p4', p4Program('s.egress_spec = 3 - s.ingress_port;'));
    const args = [
      'p4',
      'serve',
      program,
      '--port',
      `1=${kind}:p1`,
      '--port',
      `2=${kind}:p2`,
      '--json',
      '--metrics',
      '127.0.0.1:0',
    ];
    const serving = await serve(network, args);
    let echo = new Started(network.at('h2', process.execPath, HOSTS, 'echo', '10.0.0.2', '7000'));
    await echo.says('ready');
    const ask = async (): Promise<void> => {
      const asking = new Started(network.at('h1', process.execPath, HOSTS, 'ask', '10.0.0.2', '7000', '5'));
      expect(await asking.ended()).toBe(0);
      expect(asking.stdout).toBe('5 of 5\n');
    };
    const back = (name: string, times: number): Promise<unknown> =>
      until(`${name} is back`, () => serving.stderr.match(new RegExp(`${name} is up again`, 'g'))?.length === times);
    await ask();

    network.run('s', 'ip', 'link', 'set', 'p2', 'down');
    await serving.says('p2 is down');
    network.run(
      'h1',
      process.execPath,
      '-e',
      "const s = require('node:dgram').createSocket('udp4'); s.send('x', 9, '10.0.0.2', () => s.close())",
    );
    await until('the drop', () => {
      const [last] = serving.lines('stats').slice(-1) as unknown as {
        ports: Record<number, { isUp: boolean; dropped: { down: number } }>;
      }[];
      return last?.ports[2]?.dropped.down === 1 && !last.ports[2].isUp;
    });
    const [, metrics] = /metrics at port (\d+)/.exec(serving.stderr)!;
    const pages = `const get = async (path) => console.log(await (await fetch('http://127.0.0.1:${metrics}' + path)).text());
      void get('/health').then(() => get('/metrics'));`;
    // The page of metrics may be some moments old.
    const shows = (...lines: readonly string[]): Promise<unknown> => {
      let text = '';
      const look = (): boolean => {
        text = network.run('s', process.execPath, '-e', pages);
        return lines.every((line) => text.includes(line));
      };
      return until(lines.join(', '), look, { found: () => text, everyMs: 100 });
    };
    await shows(
      `switch: port 2, ${kind}:p2, is down`,
      '\nint_p4_port_up{switch="switch",port="2"} 0\n',
      '\nint_p4_port_up{switch="switch",port="1"} 1\n',
      '\nint_p4_port_outages_total{switch="switch",port="2"} 1\n',
      '\nint_p4_port_dropped_packets_total{switch="switch",port="2",reason="down"} 1\n',
    );
    network.run('s', 'ip', 'link', 'set', 'p2', 'up');
    await back('p2', 1);
    await shows('"problems":[]', '\nint_p4_port_up{switch="switch",port="2"} 1\n');
    await ask();

    network.run('s', 'ip', 'link', 'delete', 'p2');
    await serving.says('p2 has been removed');
    await echo.interrupt();
    lay(network, 2);
    await back('p2', 2);
    echo = new Started(network.at('h2', process.execPath, HOSTS, 'echo', '10.0.0.2', '7000'));
    await echo.says('ready');
    await ask();
    expect(await serving.interrupt()).toBe(0);
    expect(serving.lines('total')[0]).toMatchObject({
      ports: { 1: { outages: 0, dropped: { down: 0 } }, 2: { outages: 2, dropped: { down: 1, failed: 0, txFull: 0 } } },
    });
  });
});

/** What `int p4 serve` tells of a port. */
interface PortTold {
  readonly sent: number;
  readonly received: number;
  readonly queues: readonly { readonly queue: number; readonly received: number; readonly sent: number }[];
}

test('int p4 serve sends and receives by all queues of its xdp ports, and counts by queue', {
  timeout: 120_000,
}, async () => {
  requires('cc', 'npm run setup:system');
  const network = WiredNetwork.make(['h1', 'h2', 's']);
  for (const number of [1, 2]) lay(network, number, 4);
  const program = await files.write('wire.p4', p4Program('s.egress_spec = 3 - s.ingress_port;'));
  const metrics = ['--metrics', '127.0.0.1:0'];
  const serving = await serve(network, [
    'p4',
    'serve',
    program,
    '--port',
    '1=xdp:p1',
    '--port',
    '2=xdp:p2',
    '--json',
    ...metrics,
  ]);
  const echo = new Started(network.at('h2', process.execPath, HOSTS, 'echo', '10.0.0.2', '7000'));
  await echo.says('ready');
  const asking = new Started(network.at('h1', process.execPath, HOSTS, 'ask-by-many', '10.0.0.2', '7000', '64'));
  await asking.says('all');
  const [, at] = /metrics at port (\d+)/.exec(serving.stderr) ?? [];
  const scrape = `require('node:http').get('http://127.0.0.1:${at}/metrics', (r) => r.pipe(process.stdout))`;
  const sentBy = [0, 1, 2, 3].map(
    (queue) => new RegExp(`int_p4_port_queue_sent_packets_total\\{switch="switch",port="2",queue="${queue}"\\} [1-9]`),
  );
  await until('packets of all queues in the metrics', () => {
    const text = network.run('s', process.execPath, '-e', scrape);
    return sentBy.every((line) => line.test(text));
  });
  expect(await serving.interrupt()).toBe(0);
  const { ports } = serving.lines('total')[0] as unknown as { readonly ports: Readonly<Record<number, PortTold>> };
  for (const number of [1, 2]) {
    const { sent, received, queues } = ports[number]!;
    const sum = (of: 'sent' | 'received'): number => queues.reduce((total, each) => total + each[of], 0);
    expect([sum('sent'), sum('received')]).toEqual([sent, received]);
    expect(queues.map(({ queue }) => queue)).toEqual([0, 1, 2, 3]);
    // 64 flows: that one of four queues gets none has a chance of one in 10^7.
    for (const { sent: by } of queues) expect(by).toBeGreaterThan(0);
  }
});
