import { createSocket } from 'node:dgram';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PcapWriter, readCapture } from '@int/pcap';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freeUdpPort } from '../../../.ci/test/ports.mjs';
import { until } from '../../../.ci/test/until.js';
import { p4Program, SWITCH } from './p4-programs.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** 300 frames, of which the first byte is 1 or 2 in turn, a microsecond apart. */
function capture(): Uint8Array {
  const writer = new PcapWriter();
  return Buffer.concat([
    writer.header(),
    ...Array.from({ length: 300 }, (_, at) => {
      const data = new Uint8Array(60);
      data.set([1 + (at & 1), at & 255]);
      return writer.record({ data, timeNs: 1_700_000_000_000_000_000n + BigInt(at) * 1000n });
    }),
  ]);
}

async function setUp(): Promise<{ program: string; commands: string; input: string; folder: string }> {
  const program = await files.write('switch.p4', SWITCH);
  const commands = await files.write('setup.txt', 'table_add I.t I.to 1 => 3\ntable_add I.t I.to 2 => 4\n');
  const input = await files.write('in.pcap', capture());
  return { program, commands, input, folder: join(input, '..') };
}

describe('int p4 serve', () => {
  test('forwards between ports, counts each second and at the end, and stops at a signal', async () => {
    const { program, commands, input, folder } = await setUp();
    const [three, four] = [join(folder, 'three.pcap'), join(folder, 'four.pcap')];
    const ports = ['--port', `0=pcap:${input}`, '--port', `3=pcap::${three}`, '--port', `4=pcap::${four}`];
    const args = ['p4', 'serve', program, '--commands', commands, ...ports, '--json'];
    const { code, stdout } = await run(args, {
      interruptWhen: ({ stdout: shown }) => shown.includes('"received":300'),
    });
    expect(code).toBe(0);
    const lines = ndjson(stdout);
    expect(lines[0]).toMatchObject({ type: 'stats', hasPipeline: true });
    expect(lines.at(-1)).toMatchObject({
      type: 'total',
      switch: 'switch',
      deviceId: 1,
      received: 300,
      transmitted: 300,
      waiting: 0,
      ports: {
        0: { received: 300, receivedBytes: 18_000, sent: 0 },
        3: { sent: 150, dropped: { txFull: 0, down: 0, failed: 0 } },
        4: { sent: 150, queue: { depth: 0 } },
      },
    });
    for (const [path, first] of [
      [three, 1],
      [four, 2],
    ] as const) {
      const frames = [...readCapture(await readFile(path))];
      expect(frames).toHaveLength(150);
      expect(frames.every(({ data }) => data[0] === first)).toBe(true);
      expect(frames.map(({ data }) => data[1])).toEqual([...Array(150).keys()].map((at) => (2 * at + first - 1) & 255));
    }
  });

  test('shows rates, queues and drops in a terminal, and a summary when it ends', async () => {
    const { program, commands, input } = await setUp();
    const ports = ['--port', `0=pcap:${input}`, '--port', '3=udp:127.0.0.1:0-127.0.0.1:9'];
    const { code, stdout } = await run(['p4', 'serve', program, '--commands', commands, ...ports], {
      terminal: { columns: 120, rows: 40 },
      interruptWhen: ({ stdout: shown }) => shown.includes('received 300'),
    });
    expect(code).toBe(0);
    expect(stdout).toContain('switch, device 1:');
    expect(stdout).toMatch(/0 pcap:\S+in\.pcap +up/);
    expect(stdout).toMatch(/dropped: .*noPort 150/);
    expect(stdout).toMatch(/switch: 300 received, 300 sent, dropped: noPort 150/);
  });

  test('serves metrics and its health', async () => {
    const { program, commands, input } = await setUp();
    const ports = ['--port', `0=pcap:${input}`, '--port', '3=udp:127.0.0.1:0-127.0.0.1:9'];
    const serving = new Running(['p4', 'serve', program, '--commands', commands, ...ports, '--metrics', '0']);
    const [, port] = await serving.saying(/metrics at port (\d+)/);
    const url = `http://127.0.0.1:${port}`;
    const page = await until('the frames in the metrics', async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return text.includes('\nint_p4_received_packets_total{switch="switch"} 300\n') ? text : null;
    });
    expect(page).toContain('int_p4_dropped_packets_total{switch="switch",reason="noPort"} 150');
    expect(page).toContain('int_p4_port_received_bytes_total{switch="switch",port="0"} 18000');
    expect(page).toContain('int_p4_port_up{switch="switch",port="3"} 1');
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toMatchObject([200, { healthy: true, detail: { problems: [] } }]);
    serving.child.kill('SIGTERM');
    expect(await serving.end()).toMatchObject({ code: 0 });
  });

  test('counts every frame that does not come out by its reason: in metrics, JSON and text', async () => {
    const program = await files.write(
      'reasons.p4',
      p4Program('if (hdr.h.a == 9) mark_to_drop(s); else s.egress_spec = (bit<9>) hdr.h.a;'),
    );
    // By the first byte: 3 leads to a capture, 5 to a collector, 7 nowhere, 9 is dropped.
    const firsts = [3, 5, 7, 9];
    const writer = new PcapWriter();
    const records = Array.from({ length: 100 }, (_, at) => {
      const data = new Uint8Array(60).fill(firsts[at % firsts.length]!, 0, 1);
      return writer.record({ data, timeNs: 1_700_000_000_000_000_000n + BigInt(at) });
    });
    const whole = Buffer.concat([writer.header(), ...records]);
    const input = await files.write('reasons.pcap', whole.subarray(0, whole.length - 10));
    const other = createSocket('udp4');
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.bind(0, '127.0.0.1', resolve));
    const own = await freeUdpPort();
    const args = [
      ...['p4', 'serve', program, '--metrics', '0'],
      ...['--port', `0=pcap:${input}`, '--port', `3=pcap::${files.path('three.pcap')}`],
      ...['--port', '5=reports:127.0.0.1:9'],
      ...['--port', `1=udp:127.0.0.1:${own}-127.0.0.1:${other.address().port}`],
    ];
    const both = [
      'received_packets_total{switch="switch"} 99',
      'port_dropped_packets_total{switch="switch",port="0",reason="rxDamaged"} 1',
      'port_dropped_packets_total{switch="switch",port="1",reason="rxDamaged"} 1',
      'dropped_packets_total{switch="switch",reason="ingress"} 24',
    ];
    const counter = (page: string, name: string): number =>
      Number(new RegExp(`^int_p4_${name} (\\d+)$`, 'm').exec(page)?.[1] ?? 0);
    /** Waits until all that left the pipeline has left its queue and the metrics have all lines, and ends the command. */
    const counted = async (serving: Running, ...lines: readonly string[]): Promise<void> => {
      const [, port] = await serving.saying(/metrics at port (\d+)/);
      other.send(new Uint8Array(0), own, '127.0.0.1');
      let page = '';
      const look = async (): Promise<boolean> => {
        page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        const sent = counter(page, 'transmitted_packets_total{switch="switch"}');
        const queueFull = counter(page, 'dropped_packets_total{switch="switch",reason="queueFull"}');
        return sent + queueFull === 75 && [...both, ...lines].every((line) => page.includes(`\nint_p4_${line}\n`));
      };
      await until('all frames in the metrics', look, { found: () => page });
      expect(serving.stderr).toMatch(/reasons\.pcap: .+/);
      serving.child.kill('SIGINT');
    };
    const asJson = new Running([...args, '--json']);
    await counted(
      asJson,
      'dropped_packets_total{switch="switch",reason="noPort"} 25',
      'port_sent_packets_total{switch="switch",port="3"} 25',
      'port_dropped_packets_total{switch="switch",port="5",reason="txNoPayload"} 25',
    );
    expect(ndjson((await asJson.end()).stdout).at(-1)).toMatchObject({
      ...{ type: 'total', received: 99, transmitted: 75, dropped: { ingress: 24, noPort: 25, queueFull: 0 } },
      ports: {
        0: { received: 99, dropped: { rxDamaged: 1 } },
        1: { received: 0, dropped: { rxDamaged: 1 } },
        3: { sent: 25 },
        5: { sent: 0, dropped: { txNoPayload: 25 } },
      },
    });
    // 480 bits take half a second: all but those on the wire and in the queue come too early.
    const asText = new Running([...args, '--rate', '1000', '--queue', '1']);
    await counted(asText);
    const { stdout } = await asText.end();
    expect(stdout).toMatch(/switch port 0 \(pcap:\S+\): 99 in, 0 out, dropped: rxDamaged 1\n/);
    expect(stdout).toMatch(/switch port 1 \(udp:\S+\): 0 in, 0 out, dropped: rxDamaged 1\n/);
    expect(stdout).toMatch(/switch port 5 \(reports:127\.0\.0\.1:9\): 0 in, 0 out, dropped: txNoPayload \d+\n/);
    const [, sent, queueFull] =
      /switch: 99 received, (\d+) sent, dropped: ingress 24, queueFull (\d+), noPort \d+\n/.exec(stdout) ?? [];
    expect(Number(queueFull)).toBeGreaterThan(0);
    expect(Number(sent) + Number(queueFull)).toBe(75);
  });

  test('refuses what it cannot serve', async () => {
    const { program, commands, input } = await setUp();
    const refused = async (code: number, text: RegExp, ...args: string[]): Promise<void> => {
      const outcome = await run(['p4', 'serve', program, ...args]);
      expect(outcome).toMatchObject({ code, stdout: '' });
      expect(outcome.stderr).toMatch(text);
    };
    for (const spec of ['0=', '600=pcap:x', '0=xdp:', '0=udp:127.0.0.1:1', '0=what:eth0', '0=packet:a/b', 'pcap:x']) {
      await refused(2, /N=SPEC|SPEC is|--port/, '--port', spec);
    }
    await refused(2, /Port 1 is there already/, '--port', `1=pcap:${input}`, '--port', `1=pcap:${input}`);
    await refused(2, /both --cpu-port and --port/, '--port', `1=pcap:${input}`, '--cpu-port', '1');
    await refused(3, /cannot open .*nothing\.pcap/, '--port', `1=pcap:${input}`, '--port', '2=pcap:/nothing.pcap');
    await refused(3, /cannot open udp:/, '--port', '1=udp:192.0.2.1:7-127.0.0.1:9');
    await refused(
      1,
      /table_add/,
      '--port',
      `1=pcap:${input}`,
      '--commands',
      await files.write('bad.txt', 'table_add x y'),
    );
    const wrong = await files.write('wrong.p4', p4Program('hdr.h.nothing = 1;'));
    expect(await run(['p4', 'serve', wrong, '--port', `1=pcap:${input}`, '--commands', commands])).toMatchObject({
      code: 1,
    });
  });
});
