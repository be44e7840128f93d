import { encodeFrame, type TelemetryRecord } from '@int/codec';
import { DeviceProfile, type DeviceSpec } from '@int/network';
import { encodePacket, TrafficGenerator } from '@int/traffic';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { pcap, plainFrame, reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { ndjson, Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** Packets with INT 2.1 behind a UDP port that the decoder does not know. */
function packets(count: number): Uint8Array[] {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', form: 'packets', seed: 7 });
  return [...generator.take(count)].map((packet) => encodePacket(packet, { intPorts: [17_768] }));
}

/** Reports whose packets have INT by a DSCP that the decoder does not know: each is read, without its hops. */
function reports(count: number): Uint8Array[] {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', seed: 7 });
  return [...generator.take(count)].map(({ records: [first] }) => {
    const { report, flow, int } = first!;
    const record: TelemetryRecord = {
      ...first!,
      report: { ...report!, metadata: {} },
      flow: { ...flow!, protocol: 6 },
      int: { ...int!, encapsulation: 'tcp' } as TelemetryRecord['int'],
    };
    return encodeFrame(record, { intDscp: 0x20 });
  });
}

const NOISE = Array.from({ length: 300 }, (_, index) =>
  Uint8Array.from({ length: 60 }, (__, at) => Math.imul(index * 61 + at + 1, 0x9e3779b1) >>> 24),
);

describe('int doctor', () => {
  test('prints the device profile that reads a capture best, with what is not sure', async () => {
    const all = [...packets(300), ...Array.from({ length: 100 }, plainFrame)];
    const path = await files.write('packets.pcap', pcap(all));
    const { code, stdout, stderr } = await run(['doctor', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^# 300 of 300 frames with telemetry read so \(100\.00 %\); 100 of 400 frames show none\n/);
    const { version, device } = parse(stdout) as { version: number; device: DeviceSpec };
    expect(version).toBe(1);
    expect(device).toMatchObject({ intPorts: [17_768] });
    expect(new DeviceProfile(device).decode).toEqual({ intPorts: [17_768] });
  });

  test('says so where the defaults are right, and what it cannot know', async () => {
    const path = await files.write('one.pcap', pcap([reportFrame()]));
    const { code, stdout } = await run(['doctor', path]);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      '# 1 of 1 frame with telemetry read so (100.00 %)',
      'version: 1',
      'device:',
      '  reportPorts: [32766]',
      '# not sure:',
      '# - 1 frame proves little: a larger sample says more',
      '# - the unit of hopLatency is unknown',
      '',
    ]);
  });

  test('prints one object with --json', async () => {
    const path = await files.write('packets.pcap', pcap(packets(200)));
    const { code, stdout } = await run(['doctor', path, '--json']);
    expect(code).toBe(0);
    const [object, ...others] = ndjson(stdout);
    expect(others).toEqual([]);
    expect(Object.keys(object!)).toEqual(['best', 'explained', 'frames', 'telemetry', 'ok', 'doubts', 'tried']);
    expect(object!.best).toMatchObject({
      profile: 'spec',
      intPorts: [17_768],
      intDscp: null,
      reportPorts: null,
      greProtocol: null,
      probeMarker: null,
    });
    expect(object).toMatchObject({ explained: 1, frames: 200, telemetry: 200, ok: 200 });
    expect((object!.tried as unknown[])[0]).toEqual({ profile: 'spec', explained: 1 });
  });

  test('looks at no more than --packets, and stops reading there', async () => {
    const path = await files.write('many.pcap', pcap(packets(3000)));
    const { stdout } = await run(['doctor', path, '--packets', '500', '--json']);
    expect(ndjson(stdout)[0]).toMatchObject({ frames: 500, ok: 500 });
  });

  test.each([
    ['noise', NOISE],
    ['plain traffic', Array.from({ length: 30 }, plainFrame)],
    ['nothing', []],
  ])('finds nothing in %s, with code 1', async (_, frames) => {
    const path = await files.write('none.pcap', pcap(frames));
    const text = await run(['doctor', path]);
    expect(text).toMatchObject({ code: 1, stdout: '' });
    expect(text.stderr).toBe(`int: nothing here looks like INT, in ${frames.length} frames\n`);
    const json = await run(['doctor', path, '--json']);
    expect(json.code).toBe(1);
    expect(ndjson(json.stdout)[0]).toMatchObject({ best: null, explained: 0, ok: 0 });
  });

  test('listens, and ends when it has enough', async () => {
    const process = new Running(['doctor', '--listen', 'udp://127.0.0.1:0', '--packets', '50', '--json']);
    const [, port] = await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+) for 50 datagrams/);
    await send(Number(port), reports(60).map(payload));
    const { code, stdout } = await process.end();
    expect(code).toBe(0);
    expect(ndjson(stdout)[0]).toMatchObject({
      best: { profile: 'spec', intDscp: '0x20', reportPorts: [Number(port)] },
      frames: 50,
      ok: 50,
    });
  });

  test('ends by a signal: with what has come, or with its code if nothing has', async () => {
    const empty = new Running(['doctor', '--listen', 'udp://127.0.0.1:0']);
    await empty.saying(/listening/);
    empty.child.kill('SIGINT');
    expect(await empty.end()).toMatchObject({ code: 130, stdout: '' });

    const payloads = reports(5).map(payload);
    const full = await run(['doctor', '--listen', 'udp://127.0.0.1:0'], {
      terminal: { columns: 100, rows: 24 },
      interruptWhen: ({ stderr }) => {
        const port = /udp:\/\/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1];
        if (port !== undefined) void send(Number(port), payloads);
        return /\d\d datagrams\b(?!;)/.test(stderr);
      },
    });
    expect(full.code).toBe(0);
    expect(full.stdout).toContain("  intDscp: '0x20'");
  });

  test('needs one input, and one that it can open', async () => {
    expect(await run(['doctor'])).toMatchObject({ code: 2 });
    expect(await run(['doctor', 'x.pcap', '--listen', 'udp://127.0.0.1:0'])).toMatchObject({ code: 2 });
    expect(await run(['doctor', 'no-such.pcap'])).toMatchObject({ code: 3 });
    expect(await run(['doctor', '--listen', 'udp://203.0.113.7:99'])).toMatchObject({ code: 3 });
    const path = await files.write('cut.pcap', pcap(packets(20)).subarray(0, -5));
    const cut = await run(['doctor', path, '--json']);
    expect([cut.code, ndjson(cut.stdout)[0]]).toMatchObject([1, { ok: 19 }]);
    expect(cut.stderr).toContain('after 19 frames');
  });
});

describe('hints', () => {
  const HINT = 'int: 40 packets look like --int-port 17768\n';

  test('every command that reads captures names the options for what it did not read', async () => {
    const path = await files.write('hint.pcap', pcap([reportFrame(), ...packets(40), plainFrame()]));
    const rules = await files.write(
      'rules.yaml',
      'version: 1\nrules:\n  - { name: a, priority: 1, match: any, detect: { perHop: { metric: hopLatency, threshold: 1 } } }\n',
    );
    const store = `${path}-store`;
    for (const args of [
      ['decode', path],
      ['decode', '--json', path],
      ['decode', '--count', path],
      ['detect', path, '--rules', rules],
      ['flows', path],
      ['collect', '--pcap', path],
      ['dart', 'write', path, '--store', store],
    ]) {
      const { stderr } = await run(args);
      expect(stderr, args.join(' ')).toContain(HINT);
    }
    const right = ['--int-port', '17768', '--int-port', '5000'];
    expect((await run(['decode', path, ...right])).stderr).toBe('');
  });

  test('reports whose INT was not found', async () => {
    const path = await files.write('reports.pcap', pcap(reports(44)));
    for (const command of [['decode'], ['decode', '--count'], ['flows']]) {
      const { stderr } = await run([...command, path]);
      expect(stderr, command.join(' ')).toBe('int: 44 reports look like --int-dscp 0x20\n');
    }
  });

  test('nothing is said where nothing would read more', async () => {
    const path = await files.write('quiet.pcap', pcap([reportFrame(), plainFrame(), ...NOISE]));
    for (const command of [['decode', '--count'], ['flows']]) {
      const { stderr } = await run([...command, path]);
      expect(stderr).not.toContain('look like');
    }
  });

  test('a count is an estimate where not all frames fit into the sample', async () => {
    const path = await files.write('long.pcap', pcap(packets(2000)));
    const { stderr } = await run(['decode', '--count', path]);
    expect(stderr).toMatch(/^int: about 2,000 packets \((\d+) of \1 tried\) look like --int-port 17768\n$/);
  });

  test('a collector says it while it runs', { timeout: 60_000 }, async () => {
    const { process, port } = await listening();
    const all = reports(30).map(payload);
    await send(port, all);
    await process.saying(/\d+ reports look like --int-dscp 0x20/);
    process.child.kill('SIGINT');
    const { stderr } = await process.end();
    expect(stderr.match(/look like/g)).toHaveLength(1);
  });
});
