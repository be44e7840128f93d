import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { coalescedFrame, malformedFrame, pcap, plainFrame, reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { ndjson, Running, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();

const knownKernelDrops = existsSync('/proc/net/udp') ? 0 : null;

describe('int collect --listen', () => {
  test('accounts for every datagram, malformed ones too, and prints the totals when interrupted', async () => {
    const { process, port } = await listening('--json');
    const good = payload(reportFrame());
    const datagrams = [
      ...Array.from({ length: 500 }, () => good),
      ...Array.from({ length: 10 }, () => payload(coalescedFrame())),
      ...Array.from({ length: 7 }, () => good.subarray(0, 30)),
      ...Array.from({ length: 5 }, () => new Uint8Array(50).fill(0xff)),
      new Uint8Array(0),
    ];
    await send(port, datagrams);
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    // Something in the input was wrong.
    expect(code).toBe(1);
    const lines = ndjson(stdout);
    const total = lines.at(-1)! as { received: number; decoded: number; dropped: Record<string, number> };
    expect(Object.keys(total)).toEqual(['type', 'received', 'decoded', 'reports', 'dropped', 'kernelDropped']);
    expect(total).toMatchObject({
      type: 'total',
      received: 523,
      decoded: 510,
      reports: 530,
      kernelDropped: knownKernelDrops,
    });
    expect(Object.keys(total.dropped).sort()).toEqual(['malformed', 'not-int', 'overrun', 'truncated', 'unsupported']);
    expect(Object.values(total.dropped).reduce((sum, count) => sum + count, 0)).toBe(13);
    expect(total.dropped.truncated).toBeGreaterThanOrEqual(7);
    const stats = lines.at(-2)! as { type: string; switches: { nodeId: number; hopLatency: unknown }[] };
    expect(stats.type).toBe('stats');
    expect(stats.switches.map((one) => one.nodeId)).toEqual([1, 2, 3, 153]);
    expect(stats.switches[3]!.hopLatency).toMatchObject({ count: 530 });
  });

  test('ends with code 0 and totals in words on SIGTERM if all was well', async () => {
    const { process, port } = await listening();
    await send(port, [payload(reportFrame()), payload(reportFrame())]);
    process.child.kill('SIGTERM');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 received, 2 decoded, 0 dropped');
  });

  test('prints a line each second', async () => {
    const { process, port } = await listening('--json');
    await send(port, [payload(reportFrame())]);
    // The first line may have come before the datagram.
    const printed = (): Record<string, unknown>[] => (process.stdout.endsWith('\n') ? ndjson(process.stdout) : []);
    await process.until(() => printed().length >= 2 && printed().at(-1)!.received === 1);
    const last = printed().length - 1;
    process.child.kill('SIGINT');
    const lines = ndjson((await process.end()).stdout);
    expect(lines.map((line) => line.type)).toEqual([...lines.slice(1).map(() => 'stats'), 'total']);
    expect(lines[last]).toMatchObject({ received: 1, decoded: 1, reports: 1 });
    for (const { type, timeNs } of lines) expect(typeof timeNs).toBe(type === 'stats' ? 'string' : 'undefined');
  });

  test('ends quietly when nobody reads its output any more', async () => {
    const { process } = await listening();
    process.child.stdout!.destroy();
    const { code, stderr } = await process.end();
    expect(code).toBe(0);
    expect(stderr.split('\n').filter((line) => line !== '' && !line.includes('listening'))).toEqual([]);
  });

  test('says what to do when the port is taken or the host unknown', async () => {
    const { process, port } = await listening();
    const taken = await runBin(['collect', '--listen', `udp://127.0.0.1:${port}`]);
    expect(taken).toMatchObject({ code: 3, stdout: '' });
    expect(taken.stderr).toContain(`udp://127.0.0.1:${port}`);
    expect(taken.stderr).toContain('choose another port');
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
    expect(await run(['collect', '--listen', 'udp://203.0.113.7:99'])).toMatchObject({ code: 3 });
  });
});

describe('int collect --pcap', () => {
  test('replays a capture: reports, INT packets and others alike', async () => {
    const path = await files.write(
      'mixed.pcap',
      pcap([reportFrame(), coalescedFrame(), plainFrame(), malformedFrame()]),
    );
    const { code, stdout } = await run(['collect', '--pcap', path, '--json']);
    expect(code).toBe(1);
    expect(ndjson(stdout).at(-1)).toEqual({
      type: 'total',
      received: 4,
      decoded: 2,
      reports: 4,
      dropped: { truncated: 0, malformed: 1, unsupported: 0, 'not-int': 1, overrun: 0 },
      kernelDropped: 0,
    });
    const words = await run(['collect', '--pcap', path]);
    expect(words.stdout.trimEnd().split('\n').at(-1)).toBe('4 received, 2 decoded, 2 dropped');
    expect(words.stdout).toMatch(/^dropped: malformed 1, not-int 1 \(NOT_INT 1, \w+ 1\)$/m);
  });

  test('is done with code 0 when other traffic is all that was dropped', async () => {
    const { code, stdout } = await run(['collect', '--pcap', '-'], { input: pcap([plainFrame(), reportFrame()]) });
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 received, 1 decoded, 1 dropped');
  });

  test('keeps a pace and stops in the middle of it', async () => {
    const path = await files.write('paced.pcap', pcap([reportFrame(), reportFrame()]));
    // A microsecond of capture takes 1000 s.
    const { code, stdout } = await run(['collect', '--pcap', path, '--speed', '0.000000001', '--json'], {
      interruptWhen: ({ stdout }) => stdout.includes('"received":1'),
    });
    expect(code).toBe(0);
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total', received: 1, decoded: 1 });
  });

  test('takes the decode options', async () => {
    const path = await files.write('port.pcap', pcap([reportFrame()]));
    const { stdout } = await run(['collect', '--pcap', path, '--report-port', '7', '--json']);
    expect(ndjson(stdout).at(-1)).toMatchObject({ received: 1, decoded: 0 });
  });

  test('counts what comes before damage, and names the file', async () => {
    const path = await files.write('cut.pcap', pcap([reportFrame(), reportFrame()]).subarray(0, -1));
    const { code, stdout, stderr } = await run(['collect', '--pcap', path]);
    expect(code).toBe(1);
    expect(stderr).toContain('cut.pcap');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('1 received, 1 decoded, 0 dropped');
    expect(await run(['collect', '--pcap', files.path('missing.pcap')])).toMatchObject({ code: 3, stdout: '' });
  });

  test('of the real command gives the same totals', async () => {
    const path = await files.write('real.pcap', pcap([reportFrame(), coalescedFrame()]));
    const real = await runBin(['collect', '--pcap', path, '--json']);
    expect(real).toMatchObject({ code: 0, stderr: '' });
    expect(ndjson(real.stdout).at(-1)).toEqual(
      ndjson((await run(['collect', '--pcap', path, '--json'])).stdout).at(-1),
    );
  });

  test('shows a live view in a terminal and puts the terminal back', async () => {
    const path = await files.write('view.pcap', pcap([reportFrame(), reportFrame()]));
    const { code, stdout } = await run(['collect', '--pcap', path, '--speed', '1e-9'], {
      terminal: { columns: 90, rows: 20 },
      interruptWhen: ({ stdout }) => stdout.includes(' 153 '),
    });
    expect(code).toBe(0);
    expect(stdout.startsWith('\x1b[?1049h\x1b[?25l')).toBe(true);
    const [view, after] = stdout.split('\x1b[?25h\x1b[?1049l');
    expect(view).toContain('Congested queues');
    expect(view).toMatch(/ 153 /);
    expect(after!.trimEnd().split('\n').at(-1)).toBe('1 received, 1 decoded, 0 dropped');
    expect(after).not.toContain('\x1b');
  });
});

describe('int collect --demo', () => {
  // The demo alone takes ten seconds.
  test('without a terminal shows ten seconds of a busy fabric and loses nothing unseen', async () => {
    const { code, stdout, stderr } = await runBin(['collect', '--demo']);
    const [first, ...others] = stderr.trimEnd().split('\n');
    expect(first).toMatch(/^int: listening on udp:\/\/127\.0\.0\.1:\d+, receive buffer .*$/);
    // A machine that is busy loses some, and the command says so.
    for (const line of others) expect(line).toMatch(/^int: (no longer )?degraded: udp:\S+ shedding\b/);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    const [, received, decoded, dropped] = /^(\d+) received, (\d+) decoded, (\d+) dropped$/.exec(lines.at(-1)!)!;
    expect(Number(received)).toBeGreaterThan(1000);
    expect(Number(decoded) + Number(dropped)).toBe(Number(received));
    const number = (pattern: RegExp): number => Number(pattern.exec(stdout)![1]!.replaceAll(',', ''));
    const sent = number(/^sent by the demo's fabric: ([\d,]+)$/m);
    if (knownKernelDrops === 0) expect(Number(received) + number(/^dropped by the kernel: ([\d,]+)$/m)).toBe(sent);
    // One a second where there is time for it: a process that is kept waiting leaves seconds out.
    const seconds = lines.flatMap((line) => /^00:(\d\d) .* reports\/s .* switches/.exec(line)?.[1] ?? []);
    expect(seconds.length).toBeGreaterThan(1);
    expect(seconds).toEqual([...seconds].sort());
    // The rules of the demo find something: this is what a pre-filter would be worth.
    expect(stdout).toMatch(/ {2}[\d,]+ events {2}\d\.\d\d % of reports have events: 1 in [\d.,]+\n/);
    for (const rule of ['tcp-congested', 'latency-step']) {
      expect(number(new RegExp(`^${rule} +[\\d,]+ +([\\d,]+) +`, 'm'))).toBeGreaterThan(0);
    }
  }, 180_000);

  test('stops at once on SIGINT', async () => {
    const process = new Running(['collect', '--demo', '--json']);
    const seconds = (text: string): number => ndjson(text).filter(({ type }) => type === 'stats').length;
    // What has been read may end anywhere in a line: there are many events.
    await process.until(() => process.stdout.includes('"type":"stats"'));
    const before = process.stdout.split('"type":"stats"').length - 1;
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'total', dropped: { malformed: 0, truncated: 0 } });
    expect(ndjson(stdout).at(-2)).toMatchObject({ type: 'summary', notShown: 0 });
    expect(seconds(stdout) - before).toBeLessThan(7);
  });
});
