import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { LinkType, readCapture } from '@int/pcap';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Peer, refusingPort } from '../../../.ci/test/datagrams.js';
import { coalescedFrame, pcap, pcapng, plainFrame, reportFrame } from './captures.js';
import { payload } from './datagrams.js';
import { ndjson, Running, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** An address where nothing listens. */
async function nowhere(): Promise<string> {
  const { port, close } = await refusingPort();
  onTestFinished(close);
  return `udp://127.0.0.1:${port}`;
}

interface Total {
  readonly type: string;
  readonly frames: number;
  readonly sent: number;
  readonly bytes: number;
  readonly skipped: Record<string, number>;
  readonly failed: Record<string, number>;
  readonly elapsedMs: number;
  readonly rate: number;
  readonly loops: number;
}

function total(stdout: string): Total {
  return ndjson(stdout).at(-1) as unknown as Total;
}

/** What is said besides that a busy machine was late. */
function said(stderr: string): string {
  return stderr.replace(/^int: .* s late: .*\n/gm, '');
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((one, other) => one + other, 0);
}

describe('int replay --to', () => {
  test('brings 20,000 reports to the peer, byte for byte and in order', async () => {
    const path = files.path('reports.pcap');
    expect((await run(['generate', '--packets', '20000', '--seed', '5', '-o', path])).code).toBe(0);
    const sent = [...readCapture(await readFile(path))].map(({ data }) => payload(data));
    const peer = await Peer.open();
    const { code, stdout, stderr } = await run(['replay', path, '--to', peer.url, '--rate', '10000', '--json']);
    expect({ code, said: said(stderr) }).toEqual({ code: 0, said: '' });
    expect(total(stdout)).toMatchObject({
      type: 'total',
      frames: 20_000,
      sent: 20_000,
      bytes: sent.reduce((bytes, { length }) => bytes + length, 0),
      failed: {},
      loops: 1,
    });
    await peer.until(20_000);
    const { received, dropped } = peer;
    await peer.close();
    // Where the machine has been too busy to read in time, the kernel has counted what is missing.
    expect(received.length + dropped).toBe(20_000);
    expect(dropped).toBeLessThanOrEqual(1000);
    let next = 0;
    for (const datagram of sent) if (next < received.length && Buffer.compare(datagram, received[next]!) === 0) next++;
    expect(next).toBe(received.length);
  });

  test('sends at the pace of the capture and ends with the count in words', async () => {
    const path = await files.write('pace.pcap', pcap([reportFrame(), coalescedFrame(), reportFrame()]));
    const peer = await Peer.open();
    const { code, stdout } = await run(['replay', path, '--to', peer.url, '--speed', '0.5']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^3 sent, 0 skipped, 0 failed in \d+\.\d{3} s \(\d+\.\d pps\)\n$/);
    await peer.until(3);
    await peer.close();
    expect(peer.received[1]).toEqual(Buffer.from(payload(coalescedFrame())));
  });

  test.each(['10', '250', 'max'])('repeats the capture: --loop 7 at %s frames a second', async (rate) => {
    const path = await files.write('loop.pcap', gzipSync(pcap([reportFrame(), coalescedFrame()])));
    const peer = await Peer.open();
    const { code, stdout } = await run(['replay', path, '--to', peer.url, '--loop', '7', '--rate', rate, '--json']);
    expect(code).toBe(0);
    expect(total(stdout)).toMatchObject({ frames: 14, sent: 14, loops: 7 });
    await peer.until(14);
    await peer.close();
    expect(peer.received.map(({ length }) => length)).toEqual(
      Array.from({ length: 14 }, (_, index) => payload(index % 2 === 0 ? reportFrame() : coalescedFrame()).length),
    );
  });

  test('skips what is no UDP payload and counts it by reason, in every loop', async () => {
    const report = reportFrame();
    const fragment = reportFrame();
    // The flag that says that there is more to come.
    fragment[14 + 6]! |= 0x20;
    const short = reportFrame();
    // A UDP length below that of the header.
    short.set([0, 7], 14 + 20 + 4);
    const port = await files.write(
      'mixed.pcapng',
      pcapng([
        [LinkType.ETHERNET, report],
        [LinkType.ETHERNET, plainFrame()],
        [LinkType.ETHERNET, fragment],
        [LinkType.ETHERNET, report.subarray(0, 60)],
        [LinkType.ETHERNET, short],
        [LinkType.IEEE802_11, report],
        [LinkType.RAW, report.subarray(14)],
        [LinkType.LINUX_SLL, Buffer.concat([Buffer.alloc(14), report.subarray(12)])],
      ]),
    );
    const peer = await Peer.open();
    const args = ['replay', port, '--to', peer.url, '--loop', '2', '--rate', 'max'];
    const { code, stdout } = await run([...args, '--json']);
    // Some frames were damaged.
    expect(code).toBe(1);
    const counts = total(stdout);
    expect(counts).toMatchObject({ sent: 6, loops: 2, failed: {} });
    expect(counts.skipped).toEqual({
      'not-udp': 2,
      'other-port': 0,
      fragment: 2,
      'link-type': 2,
      truncated: 2,
      malformed: 2,
    });
    expect(counts.frames).toBe(16);
    await peer.until(6);
    for (const datagram of peer.received) expect(datagram).toEqual(Buffer.from(payload(report)));
    const words = await run(args);
    expect(words.stdout).toContain('skipped: not-udp 2, fragment 2, truncated 2, malformed 2, link-type 2\n');
    expect(words.stdout).toContain('6 sent, 10 skipped, 0 failed in ');
    await peer.close();
  });

  test('finds nothing wrong with frames that are something else, or go to another port', async () => {
    const path = await files.write('else.pcap', pcap([plainFrame(), reportFrame()]));
    const peer = await Peer.open();
    const other = await run(['replay', path, '--to', peer.url, '--report-port', '9', '--json']);
    expect(other.code).toBe(0);
    expect(other.stderr).toContain('holds nothing that can be sent');
    expect(total(other.stdout)).toMatchObject({ frames: 2, sent: 0, skipped: { 'not-udp': 1, 'other-port': 1 } });
    const ports = ['--report-port', '9', '--report-port', '32766'];
    const own = await run(['replay', path, '--to', peer.url, ...ports, '--json']);
    expect(total(own.stdout)).toMatchObject({ sent: 1, skipped: { 'not-udp': 1, 'other-port': 0 } });
    await peer.close();
  });

  test('ends by itself where there is nothing to send, also with --loop 0', async () => {
    const path = await files.write('nothing.pcap', pcap([plainFrame()]));
    const { code, stdout } = await run(['replay', path, '--to', await nowhere(), '--loop', '0', '--rate', 'max']);
    expect({ code, last: stdout.split('\n').at(-2) }).toEqual({
      code: 0,
      last: '0 sent, 1 skipped, 0 failed in 0.000 s (0.0 pps)',
    });
  });

  test('counts what the peer refuses, and says that nothing listens there', async () => {
    const path = await files.write('refused.pcap', pcap(new Array<Uint8Array>(500).fill(reportFrame())));
    const url = await nowhere();
    const { code, stdout, stderr } = await run(['replay', path, '--to', url, '--rate', '5000', '--json']);
    expect(code).toBe(3);
    expect(stderr).toContain(`${url} refuses: nothing listens there`);
    const { frames, sent, failed } = total(stdout);
    expect(failed.ECONNREFUSED).toBeGreaterThan(0);
    expect(sent + sum(failed)).toBe(500);
    expect(frames).toBe(500);
  });

  test('counts datagrams that are too long for the way as failed', async () => {
    const long = reportFrame();
    const frame = Buffer.concat([long, Buffer.alloc(65_527 - payload(long).length)]);
    // IPv6 carries a longer payload than IPv4 does.
    const ipv6 = Buffer.concat([
      Buffer.from([0x60, 0, 0, 0, 0xff, 0xff, 17, 64]),
      Buffer.alloc(32),
      frame.subarray(34),
    ]);
    ipv6.set([0xff, 0xff], 40 + 4);
    const path = await files.write('long.pcap', pcap([ipv6, reportFrame().subarray(14)], LinkType.RAW));
    const peer = await Peer.open();
    const { code, stdout } = await run(['replay', path, '--to', peer.url, '--json']);
    expect(code).toBe(1);
    expect(total(stdout)).toMatchObject({ frames: 2, sent: 1, failed: { EMSGSIZE: 1 } });
    await peer.close();
  });

  test('sends what is before the damage of a capture, and says where that is', async () => {
    const path = await files.write('damaged.pcap', pcap([reportFrame(), reportFrame()]).subarray(0, -1));
    const peer = await Peer.open();
    const { code, stdout, stderr } = await run(['replay', path, '--to', peer.url, '--loop', '2', '--json']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^int: .*damaged\.pcap: .*TRUNCATED/);
    expect(total(stdout)).toMatchObject({ frames: 2, sent: 2, loops: 2 });
    await peer.close();
  });

  test('takes a capture from standard input, and repeats that too', async () => {
    const peer = await Peer.open();
    const input = pcap([reportFrame(), coalescedFrame()]);
    for (const loops of ['1', '3']) {
      const args = ['replay', '-', '--to', peer.url, '--loop', loops, '--rate', 'max', '--json'];
      const { code, stdout } = await run(args, { input });
      expect(code).toBe(0);
      expect(total(stdout)).toMatchObject({ sent: 2 * Number(loops), loops: Number(loops) });
    }
    await peer.until(8);
    await peer.close();
  });

  test('tells each second how far it is, until it is interrupted, and then the totals', async () => {
    const path = await files.write('endless.pcap', pcap(new Array<Uint8Array>(10).fill(reportFrame())));
    const peer = await Peer.open();
    const { code, stdout, stderr } = await run(
      ['replay', path, '--to', peer.url, '--loop', '0', '--rate', '200', '--json'],
      { interruptWhen: ({ stdout }) => stdout.includes('"stats"') && stdout.endsWith('\n') },
    );
    expect(code).toBe(0);
    const lines = ndjson(stdout);
    expect(Object.keys(lines[0]!)).toEqual(Object.keys(lines.at(-1)!));
    expect(lines[0]).toMatchObject({ type: 'stats' });
    const { sent, frames, loops } = total(stdout);
    expect(said(stderr)).toBe(`int: interrupted after ${sent} frames\n`);
    expect(frames).toBe(sent);
    expect(loops).toBe(Math.floor(sent / 10));
    await peer.until(sent);
    expect(peer.received.length + peer.dropped).toBe(sent);
    await peer.close();
  });

  test('of the real command ends with its totals on SIGINT', async () => {
    const path = await files.write('signal.pcap', pcap([reportFrame()]));
    const peer = await Peer.open();
    const process = new Running(['replay', path, '--to', peer.url, '--loop', '0', '--rate', '500']);
    await process.until(() => peer.received.length >= 20);
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    const sent = Number(/^(\d+) sent, 0 skipped, 0 failed in /.exec(stdout)![1]);
    await peer.until(sent);
    expect(peer.received.length + peer.dropped).toBe(sent);
    await peer.close();
  });

  test('shows progress in a terminal only, and takes it away', async () => {
    const path = await files.write('progress.pcap', pcap([reportFrame()]));
    const peer = await Peer.open();
    const args = ['replay', path, '--to', peer.url, '--loop', '0', '--rate', '100'];
    const { stderr } = await run(args, {
      interruptWhen: ({ stderr }) => stderr.includes('per second'),
      terminal: { columns: 80, rows: 24 },
    });
    const shown = stderr.split('\r\x1b[2K');
    expect(shown[1]).toMatch(/^\d+ frames sent to udp:\/\/127\.0\.0\.1:\d+, \d+ per second$/);
    expect(shown.at(-1)).toContain('int: interrupted after');
    await peer.close();
  });

  test('stops when nobody reads what it tells', async () => {
    const path = await files.write('pipe.pcap', pcap([reportFrame()]));
    const peer = await Peer.open();
    const process = new Running(['replay', path, '--to', peer.url, '--loop', '0', '--rate', '100', '--json']);
    await process.until(() => peer.received.length > 0);
    process.child.stdout!.destroy();
    const { code, stderr } = await process.end();
    expect({ code, said: said(stderr) }).toEqual({ code: 0, said: '' });
    await peer.close();
  });
});

describe('int replay', () => {
  test.each([
    [['x.pcap'], 'nowhere to send to'],
    [['x.pcap', '--to', 'udp://127.0.0.1:9', '--afxdp', 'eth0'], '--afxdp'],
    [['x.pcap', '--to', '127.0.0.1:9'], 'udp://HOST:PORT'],
    [['x.pcap', '--to', 'udp://127.0.0.1:9', '--rate', '0'], 'frames per second, or max'],
    [['x.pcap', '--to', 'udp://127.0.0.1:9', '--rate', '5', '--speed', '2'], '--speed'],
    [['x.pcap', '--to', 'udp://127.0.0.1:9', '--loop', '-1'], 'a number from 0'],
    [['x.pcap', '--to', 'udp://127.0.0.1:9', '--source-mac', '02:00:00:00:00:01'], '--source-mac'],
    [['x.pcap', '--afxdp', 'eth0', '--report-port', '9'], '--report-port'],
    [['x.pcap', '--afxdp', 'eth0', '--destination-mac', '02:00'], 'a MAC address'],
    [['x.pcap', '--afxdp', 'eth0:x'], 'IFACE:QUEUE'],
    [['--to', 'udp://127.0.0.1:9'], 'FILE'],
  ])('%j is a wrong command line', async (args, words) => {
    const { code, stdout, stderr } = await run(['replay', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
  });

  test('says which file or host cannot be opened', async () => {
    const missing = await run(['replay', files.path('missing.pcap'), '--to', 'udp://127.0.0.1:9']);
    expect(missing.code).toBe(3);
    expect(missing.stderr).toMatch(/cannot open .*missing\.pcap: no such file/);
    const path = await files.write('one.pcap', pcap([reportFrame()]));
    const host = await run(['replay', path, '--to', 'udp://host.invalid:9']);
    expect(host.code).toBe(3);
    expect(host.stderr).toContain('cannot send to udp://host.invalid:9');
  });

  test('of the real command prints its help', async () => {
    const { code, stdout } = await runBin(['replay', '--help']);
    expect(code).toBe(0);
    for (const option of ['--to', '--afxdp', '--rate', '--speed', '--loop', '--report-port', '--destination-mac']) {
      expect(stdout).toContain(option);
    }
  });
});
