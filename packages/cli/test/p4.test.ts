import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBinary, toJson } from '@bufbuild/protobuf';
import { p4config, parseText } from '@int/p4runtime';
import { PcapWriter, readCapture } from '@int/pcap';
import { describe, expect, test } from 'vitest';
import { p4Program, SWITCH } from './p4-programs.js';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const program = (name: string, text: string): Promise<string> => files.write(name, text);
const COMMANDS = 'table_add I.t I.to 1 => 3\n\n# a comment\ntable_add I.t I.to 2 => 4\n';

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

/** A capture of packets with their times in microseconds. */
function capture(packets: readonly (readonly [timeUs: number, hex: string])[]): Uint8Array {
  const writer = new PcapWriter();
  return Buffer.concat([
    writer.header(),
    ...packets.map(([timeUs, text]) =>
      writer.record({ data: hex(text), timeNs: 1_700_000_000_000_000_000n + BigInt(timeUs) * 1000n }),
    ),
  ]);
}

async function captured(path: string): Promise<[number, string][]> {
  return [...readCapture(await readFile(path))].map(({ data, timeNs }) => [
    Number(timeNs - 1_700_000_000_000_000_000n) / 1000,
    Buffer.from(data).toString('hex'),
  ]);
}

describe('int p4 check', () => {
  test('says nothing on standard output about a program without errors', async () => {
    const path = await program('good.p4', SWITCH);
    expect(await run(['p4', 'check', path])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `int: ${path}: no errors\n`,
    });
    expect(await run(['p4', 'check', path, '--json'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('shows several errors, each with its line and a caret, and ends with 1', async () => {
    const path = await program('bad.p4', p4Program('hdr.h.nothing = 1;\n    s.egress_spec = somewhere;'));
    const { code, stdout, stderr } = await run(['p4', 'check', path]);
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/bad\.p4:12:\d+: error: .* \[[a-z-]+\]$/);
    expect(lines[1]).toContain('hdr.h.nothing = 1;');
    expect(lines[2]).toMatch(/^ +\^+$/);
    expect(lines[3]).toMatch(/bad\.p4:13:\d+: error: .*somewhere/);
    expect(stderr).toBe(`int: ${path}: 2 errors\n`);
  });

  test('gives one JSON object for each diagnostic', async () => {
    const path = await program('bad2.p4', p4Program('hdr.h.nothing = 1;'));
    const { code, stdout, stderr } = await run(['p4', 'check', path, '--json']);
    expect(code).toBe(1);
    expect(stderr).toBe('');
    const [diagnostic, ...rest] = ndjson(stdout);
    expect(rest).toEqual([]);
    expect(diagnostic).toMatchObject({ file: path, line: 12, severity: 'error', endLine: 12 });
    expect(Number(diagnostic?.endColumn)).toBeGreaterThan(Number(diagnostic?.column));
    expect(typeof diagnostic?.message).toBe('string');
    expect(typeof diagnostic?.code).toBe('string');
  });

  test('finds includes beside the program and where -I says, and takes macros from -D', async () => {
    await files.write('part.p4i', 'const bit<9> PORT = WHERE;\n');
    const path = await program('main.p4', `#include "part.p4i"\n${p4Program('s.egress_spec = PORT;')}`);
    expect(await run(['p4', 'check', path, '-D', 'WHERE=5'])).toMatchObject({ code: 0 });
    const undefinedMacro = await run(['p4', 'check', path]);
    expect(undefinedMacro).toMatchObject({ code: 1 });
    expect(undefinedMacro.stdout).toContain('part.p4i:1:');
    const system = await program('main2.p4', `#include <part.p4i>\n${p4Program('s.egress_spec = PORT;')}`);
    expect(await run(['p4', 'check', system, '-D', 'WHERE=5'])).toMatchObject({ code: 1 });
    expect(await run(['p4', 'check', system, '-D', 'WHERE=5', '-I', files.path('.')])).toMatchObject({ code: 0 });
  });

  test('warns of what is doubtful, as --warnings says', async () => {
    const path = await program('doubt.p4', p4Program('bit<9> port; s.egress_spec = port;'));
    const shown = await run(['p4', 'check', path]);
    expect(shown).toMatchObject({ code: 0, stderr: `int: ${path}: no errors, 1 warning\n` });
    expect(shown.stdout).toMatch(/doubt\.p4:12:\d+: warning: port is uninitialized \[uninitialized_use\]\n/);
    expect(await run(['p4', 'check', path, '--warnings', 'error'])).toMatchObject({ code: 1, stdout: shown.stdout });
    const quiet = { code: 0, stdout: '', stderr: `int: ${path}: no errors\n` };
    expect(await run(['p4', 'check', path, '--warnings', 'off'])).toMatchObject(quiet);
    expect(await run(['p4', 'check', path, '--warnings=error', '--without', 'uninitialized_use'])).toMatchObject(quiet);
    const json = await run(['p4', 'check', path, '--json']);
    expect(ndjson(json.stdout)).toMatchObject([{ severity: 'warning', code: 'uninitialized_use', line: 12 }]);
    expect(await run(['p4', 'check', path, '--without', 'everything'])).toMatchObject({ code: 2 });
  });

  test('ends with 3 if the file is not there, with 2 if the command line is wrong', async () => {
    const missing = await run(['p4', 'check', files.path('none.p4')]);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('none.p4: no such file');
    expect(await run(['p4', 'check'])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'check', 'x.p4', '-D', '1'])).toMatchObject({ code: 2 });
    expect(await run(['p4'])).toMatchObject({ code: 2 });
  });
});

describe('int p4 play', () => {
  const play = async (script: string, commands = COMMANDS) => {
    const path = await program('play.p4', SWITCH);
    const setup = await files.write('play.cmds', commands);
    return run(['p4', 'play', path, '--commands', setup, '-'], { input: script });
  };

  test('shows each packet in and what came out of it', async () => {
    const { code, stdout, stderr } = await play('0 01 aa ff\n# nothing\n\n  1 0255  # behind a packet\n0 09 09\n2 02');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toBe(
      ['# packet 1', '3 01aaff', '# packet 2', '4 0255', '# packet 3 (nothing)', '# packet 4 (nothing)', ''].join('\n'),
    );
  });

  test('answers counter_read and register_read, and says which commands failed', async () => {
    const { code, stdout } = await play(
      [
        '0 01 02 03',
        '0 01 04',
        '! counter_read I.seen 1',
        '!register_read I.sums 1',
        '! register_read I.sums',
        '! table_add I.t I.to 1 => 5',
        '! table_set_default I.t I.to 7',
        '0 05 05',
        '! frobnicate',
      ].join('\n'),
      '',
    );
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 5)).toEqual([
      '# packet 1 (nothing)',
      '# packet 2 (nothing)',
      '# counter I.seen 1 2 5',
      '# register I.sums 1 260',
      '# register I.sums 0, 260, 0, 0',
    ]);
    expect(lines.slice(5, 7)).toEqual(['# packet 3', '7 0505']);
    expect(lines[7]).toMatch(/^# error: frobnicate -> ./);
  });

  test('answers what other commands ask, and says which it does not support', async () => {
    const { stdout } = await play(
      '! table_num_entries I.t\n! table_dump I.t\n! table_add I.t I.to 5 => 3\n! show_ports',
    );
    const lines = stdout.split('\n');
    expect(lines.slice(0, 4)).toEqual(['# 2', '# ==========', '# TABLE ENTRIES', '# **********']);
    expect(lines.at(-2)).toMatch(/^# unsupported: show_ports: ./);
    expect(lines.filter((line) => line.includes('Adding entry'))).toEqual([]);
  });

  test('sorts by port, keeps the order within a port, and shows an empty packet as its port alone', async () => {
    const path = await program(
      'copies.p4',
      p4Program(
        's.mcast_grp = 1; if (hdr.h.a == 9) truncate(0);',
        'hdr.h.b = (bit<8>) s.egress_rid; if (hdr.h.a == 7) truncate(0);',
      ),
    );
    const script = [
      '! mc_mgrp_create 1',
      '! mc_node_create 5 9 2',
      '! mc_node_create 6 2 10',
      '! mc_node_associate 1 0',
      '! mc_node_associate 1 1',
      '0 01 00',
      '0 07 00',
    ].join('\n');
    const { stdout } = await run(['p4', 'play', path, '-'], { input: script });
    expect(stdout.split('\n')).toEqual(['# packet 1', '2 0105', '2 0106', '9 0105', '# packet 2', '2', '2', '9', '']);
  });

  test('ends with 1 at a line that is none, after what came before it', async () => {
    for (const [line, message] of [
      ['0 012', 'no whole number of bytes'],
      ['zero 01', 'PORT HEX'],
    ] as const) {
      const { code, stdout, stderr } = await play(`0 01 01\n${line}`);
      expect(code).toBe(1);
      expect(stdout).toBe('# packet 1\n3 0101\n');
      expect(stderr).toContain(`-:2: `);
      expect(stderr).toContain(message);
    }
  });

  test('does not run a program with errors', async () => {
    const path = await program('bad3.p4', p4Program('hdr.h.nothing = 1;'));
    const { code, stdout, stderr } = await run(['p4', 'play', path, '-'], { input: '0 01 01' });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('bad3.p4:12:');
  });

  test('ends with 3 if commands or script are not there', async () => {
    const path = await program('play2.p4', SWITCH);
    expect(await run(['p4', 'play', path, files.path('no.script')])).toMatchObject({ code: 3 });
    expect(await run(['p4', 'play', path, '--commands', files.path('no.cmds'), '-'])).toMatchObject({ code: 3 });
  });
});

describe('int p4 run', () => {
  test('takes packets of several captures in the order of their times', async () => {
    const path = await program(
      'order.p4',
      p4Program(
        'bit<8> n; count.read(n, 0); n = n + 1; count.write(0, n); hdr.h.b = n; s.egress_spec = (bit<9>) hdr.h.a;',
        '',
        'register<bit<8>>(1) count;',
      ),
    );
    const first = await files.write(
      'in0.pcap',
      capture([
        [0, '05 00 11'],
        [20, '05 00 12'],
        [20, '06 00 13'],
      ]),
    );
    const second = await files.write(
      'in1.pcap',
      capture([
        [10, '05 00 21'],
        [20, '05 00 22'],
        [30, '00 00 23'],
      ]),
    );
    const out = files.path('order-out');
    const { code, stderr, stdout } = await run([
      'p4',
      'run',
      path,
      '--port',
      `0=${first}`,
      '--port',
      `1=${second}`,
      '--out',
      out,
    ]);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^int: 6 packets in, 6 out/);
    expect(code).toBe(0);
    expect((await readdir(out)).sort()).toEqual(['out0.pcap', 'out1.pcap', 'out5.pcap', 'out6.pcap']);
    expect(await captured(join(out, 'out5.pcap'))).toEqual([
      [0, '050111'],
      [10, '050221'],
      [20, '050312'],
      [20, '050522'],
    ]);
    expect(await captured(join(out, 'out6.pcap'))).toEqual([[20, '060413']]);
    expect(await captured(join(out, 'out0.pcap'))).toEqual([[30, '000623']]);
    expect(await captured(join(out, 'out1.pcap'))).toEqual([]);
  });

  test("has the captures' time as the switch's time", async () => {
    const path = await program('time.p4', p4Program('hdr.h.b = (bit<8>) s.ingress_global_timestamp;'));
    const input = await files.write(
      'time.pcap',
      capture([
        [1000, '00 ff'],
        [1005, '00 ff'],
        [1042, '00 ff'],
      ]),
    );
    const out = files.path('time-out');
    await run(['p4', 'run', path, '--port', `3=${input}`, '--out', out]);
    expect((await captured(join(out, 'out0.pcap'))).map(([, text]) => text)).toEqual(['0000', '0005', '002a']);
  });

  test('takes commands first, and counts what it did', async () => {
    const path = await program('run.p4', SWITCH);
    const setup = await files.write('run.cmds', COMMANDS);
    const input = await files.write(
      'run.pcap',
      capture([
        [0, '01 00'],
        [1, '02 00'],
        [2, '09 00'],
        [3, '01'],
      ]),
    );
    const args = ['p4', 'run', path, '--commands', setup, '--port', `0=${input}`, '--out', files.path('run-out')];
    const { code, stdout } = await run([...args, '--json']);
    expect(code).toBe(0);
    expect(ndjson(stdout)).toMatchObject([
      { received: 4, transmitted: 2, parserErrors: 1, dropped: { ingress: 2, egress: 0 }, faults: { stackIndex: 0 } },
    ]);
    expect((await run(args)).stderr).toContain('2 dropped by ingress\n');
    expect(await captured(join(files.path('run-out'), 'out3.pcap'))).toEqual([[0, '0100']]);
  });

  test('ends with 1 if a command is refused or a capture is damaged, with what could be done', async () => {
    const path = await program('run2.p4', SWITCH);
    const setup = await files.write('wrong.cmds', `${COMMANDS}table_add nowhere I.to 1 => 2\n`);
    const whole = capture([
      [0, '01 00'],
      [1, '01 01'],
    ]);
    const input = await files.write('cut.pcap', whole.subarray(0, whole.length - 1));
    const out = files.path('cut-out');
    const { code, stderr } = await run(['p4', 'run', path, '--commands', setup, '--port', `0=${input}`, '--out', out]);
    expect(code).toBe(1);
    expect(stderr).toContain('table_add nowhere');
    expect(stderr).toContain('cut.pcap: ');
    expect(await captured(join(out, 'out3.pcap'))).toEqual([[0, '0100']]);
  });

  test('ends with 3 for a capture that is not there, with 2 for a wrong command line', async () => {
    const path = await program('run3.p4', SWITCH);
    const out = ['--out', files.path('no-out')];
    expect(await run(['p4', 'run', path, '--port', `0=${files.path('no.pcap')}`, ...out])).toMatchObject({ code: 3 });
    const input = await files.write('some.pcap', capture([]));
    expect(await run(['p4', 'run', path, ...out])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'run', path, '--port', `0=${input}`])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'run', path, '--port', input, ...out])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'run', path, '--port', `512=${input}`, ...out])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'run', path, '--port', `0=${input}`, '--port', `0=${input}`, ...out])).toMatchObject({
      code: 2,
    });
  });
});

describe('int p4 stf', () => {
  test('ends with 0 if the test passes, with 1 and the reason if not', async () => {
    const path = await program('stf.p4', SWITCH);
    const good = await files.write('good.stf', 'add t h.a:1 to(port:2)\npacket 0 01 02\nexpect 2 01 02 $\n');
    expect(await run(['p4', 'stf', path, good])).toMatchObject({
      code: 0,
      stdout: 'passed (1 packets in, 1 out, 1 expected)\n',
      stderr: '',
    });
    const bad = await run(['p4', 'stf', path, '-'], {
      input: 'add t h.a:1 to(port:2)\npacket 0 01 02\nexpect 2 01 03\n',
    });
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain('line 3: port 2, packet 1: differs from byte 1 on');
    const json = await run(['p4', 'stf', path, '--json', good]);
    expect(ndjson(json.stdout)).toEqual([
      { passed: true, failures: [], refused: [], packetsIn: 1, packetsOut: 1, expectations: 1 },
    ]);
  });

  test('says where a test cannot be read', async () => {
    const path = await program('stf2.p4', SWITCH);
    const test = await files.write('odd.stf', 'packet 0 01\nflood 3\n');
    const { code, stderr } = await run(['p4', 'stf', path, test]);
    expect(code).toBe(1);
    expect(stderr).toContain('odd.stf: line 2: no statement begins with "flood"');
  });
});

describe('--poison', () => {
  const careless = p4Program('bit<8> x;\n    s.egress_spec = 3;\n    if (x == 4) { hdr.h.b = 1; }');

  test('names the undefined reads, and ends with 1', async () => {
    const path = await program('careless.p4', careless);
    const script = await files.write('careless.script', '0 0102\n0 0103\n');
    const { code, stdout, stderr } = await run(['p4', 'play', path, script, '--poison', '7']);
    expect(code).toBe(1);
    expect(stdout).toBe('# packet 1\n3 0102\n# packet 2\n3 0103\n');
    expect(stderr).toMatch(/careless\.p4:14:\d+: condition depends on an undefined value: x == 4.*\(2 times\)\n/);
    expect(stderr).toMatch(/\nint: 1 undefined read\n$/);

    const stf = await files.write('careless.stf', 'packet 0 0102\nexpect 3 0102\n');
    expect(await run(['p4', 'stf', path, stf])).toMatchObject({ code: 0 });
    const poisoned = await run(['p4', 'stf', path, stf, '--poison', '7']);
    expect(poisoned.code).toBe(1);
    expect(poisoned.stderr).toContain('undefined value: x == 4');

    const input = await files.write('careless.pcap', capture([[0, '0102']]));
    const out = await run([
      'p4',
      'run',
      path,
      '--port',
      `0=${input}`,
      '--out',
      files.path('careless'),
      '--poison',
      '7',
    ]);
    expect(out.code).toBe(1);
    expect(out.stderr).toContain('undefined value: x == 4');
  });

  test('says that there are none', async () => {
    const path = await program('careful.p4', SWITCH);
    const script = await files.write('careful.script', '! table_add I.t I.to 1 => 3\n0 0102\n');
    expect(await run(['p4', 'play', path, script, '--poison', '7'])).toMatchObject({
      code: 0,
      stdout: '# packet 1\n3 0102\n',
      stderr: 'int: no undefined reads\n',
    });
    expect(await run(['p4', 'play', path, script, '--poison', 'x'])).toMatchObject({ code: 2 });
  });
});

describe('int p4 trace', () => {
  test('follows one packet through tables and actions to its port', async () => {
    const path = await program('trace.p4', SWITCH);
    const setup = await files.write('trace.cmds', COMMANDS);
    const { code, stdout } = await run(['p4', 'trace', path, '--commands', setup, '0', '01', 'aabb']);
    expect(code).toBe(0);
    expect(stdout).toContain('packet in by port 0: 3 bytes\n');
    expect(stdout).toContain('table I.t [hdr.h.a = 1]: hit, entry 0, I.to(3)\n');
    expect(stdout.endsWith('out by port 3: 01aabb\n')).toBe(true);
  });

  test('gives the same as one JSON object', async () => {
    const path = await program('trace2.p4', SWITCH);
    const { stdout } = await run(['p4', 'trace', path, '5', '01aa', '--json']);
    const [trace] = ndjson(stdout);
    expect(trace).toMatchObject({ port: 5, frame: '01aa', outputs: [] });
    expect(trace?.events).toContainEqual(
      expect.objectContaining({ kind: 'table', table: 'I.t', hit: false, action: 'I.drop' }),
    );
  });

  test('refuses ports and packets that are none', async () => {
    const path = await program('trace3.p4', SWITCH);
    expect(await run(['p4', 'trace', path, '600', '01'])).toMatchObject({ code: 2 });
    expect(await run(['p4', 'trace', path, '0', '012'])).toMatchObject({ code: 2 });
  });
});

describe('int p4 info', () => {
  test('lists what a program consists of', async () => {
    const path = await program('info.p4', SWITCH);
    const text = await run(['p4', 'info', path]);
    expect(text.code).toBe(0);
    expect(text.stdout).toContain('table I.t, size 16\n  key hdr.h.a: exact bit<8>\n  action I.to(bit<9> port)\n');
    expect(text.stdout).toContain('counter I.seen[4]\nregister I.sums[4] of bit<16>\n');
    const { stdout } = await run(['p4', 'info', path, '--json']);
    expect(ndjson(stdout)[0]).toMatchObject({
      parser: { name: 'P', states: ['start'] },
      headers: { type: 'headers', fields: [{ name: 'h', type: 'h_t' }] },
      tables: [
        {
          name: 'I.t',
          keys: [{ name: 'hdr.h.a', match: 'exact', width: 8 }],
          actions: [{ name: 'I.to' }, { name: 'I.drop' }],
          defaultAction: { name: 'I.drop', data: [] },
          size: 16,
        },
      ],
      counters: [{ name: 'I.seen', size: 4 }],
      registers: [{ name: 'I.sums', size: 4, width: 16 }],
    });
  });
});

describe('int p4 info --p4runtime', () => {
  test('writes P4Info as text, JSON and binary, which say the same', async () => {
    const path = await program('info.p4', SWITCH);
    const [text, json, binary] = await Promise.all(
      ['text', 'json', 'binary'].map((format) => run(['p4', 'info', path, '--p4runtime', format])),
    );
    expect([text?.code, json?.code, binary?.code]).toEqual([0, 0, 0]);
    const { P4InfoSchema } = p4config;
    const info = parseText(P4InfoSchema, text!.stdout);
    expect(text?.stdout).toMatch(
      /^# proto-file: p4\/config\/v1\/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n/,
    );
    expect(info.tables.map(({ preamble }) => preamble?.name)).toEqual(['I.t']);
    expect(toJson(P4InfoSchema, info)).toEqual(JSON.parse(json!.stdout));
    expect(fromBinary(P4InfoSchema, binary!.bytes)).toEqual(info);
  });

  test('names an @id that is not valid', async () => {
    const path = await program('id.p4', SWITCH.replace('table t', '@id(0x05000000) table t'));
    const { code, stdout, stderr } = await run(['p4', 'info', path, '--p4runtime', 'text']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('the prefix 0x05, not 0x02 [ERR_P4INFO_ID_PREFIX]');
  });
});

describe('int p4 info --types', () => {
  test('writes the type of a program, of P4Info as text and of P4Info in binary alike, under a name', async () => {
    const path = await program('my-switch.p4', SWITCH);
    const { code, stdout } = await run(['p4', 'info', path, '--types']);
    expect(code).toBe(0);
    expect(stdout).toContain('export type MySwitchProgram = {');
    expect(stdout).toContain("match: {\n        /** 8 bits */ 'hdr.h.a': 'exact';\n      };");
    for (const [format, ending] of [
      ['text', 'txtpb'],
      ['binary', 'bin'],
    ] as const) {
      const { bytes } = await run(['p4', 'info', path, '--p4runtime', format]);
      const info = await files.write(`info.${ending}`, bytes);
      expect((await run(['p4', 'info', info, '--types', 'MySwitchProgram'])).stdout).toBe(stdout);
    }
  });

  test('refuses a name that is none, and P4Info that is none', async () => {
    const path = await program('info.p4', SWITCH);
    const wrong = await run(['p4', 'info', path, '--types', 'a; import("x")']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Give the name of a type')]);
    for (const ending of ['txtpb', 'bin']) {
      const none = await program(`none.${ending}`, 'tables { { \u0000');
      const { code, stderr } = await run(['p4', 'info', none, '--types']);
      expect(code).toBe(1);
      expect(stderr).toContain(none);
    }
  });
});
