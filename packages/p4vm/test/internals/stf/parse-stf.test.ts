import { describe, expect, it } from 'vitest';
import { parseStf } from '../../../src/stf/parse-stf.js';
import { StfSyntaxError } from '../../../src/stf/statement.js';

const one = (text: string) => parseStf(text)[0];

describe('parseStf', () => {
  it('reads packets with blanks between their digits', () => {
    expect(one('packet 3 01 02 0aFf')).toEqual({
      kind: 'packet',
      line: 1,
      port: 3,
      frame: Uint8Array.of(1, 2, 10, 255),
    });
    expect(one('packet 3')).toEqual({ kind: 'packet', line: 1, port: 3, frame: new Uint8Array(0) });
  });

  it('reads what is expected: digits, any digit, exact length, or any packet', () => {
    expect(one('expect 1 0a ** b*')).toMatchObject({ port: 1, pattern: '0A**B*', isExact: false });
    expect(one('expect 1 0a $')).toMatchObject({ pattern: '0A', isExact: true });
    expect(one('expect 1 $')).toMatchObject({ pattern: '', isExact: true });
    expect(one('expect 1')).toMatchObject({ pattern: undefined, isExact: false });
  });

  it('reads keywords in any case, counts lines, and leaves out comments', () => {
    const statements = parseStf('# first\n\nPACKET 0 01 # why\r\nwait\n  No_Packet\n');
    expect(statements.map(({ kind, line }) => [kind, line])).toEqual([
      ['packet', 3],
      ['wait', 4],
      ['no-packet', 5],
    ]);
  });

  it('reads entries with priority, matches of every kind, and a name', () => {
    expect(
      one(
        'add ingress.t1 10 h.a:0x1* h.b : 0b0*1 ip:10/8 h.$valid$:1 hdr.s[1].x:5 r:1->9 m:0x10&&&0xf0 c.act(val:0x7f, port:2) = $me',
      ),
    ).toEqual({
      kind: 'add',
      line: 1,
      table: 'ingress.t1',
      priority: 10,
      matches: [
        { key: 'h.a', value: '0x1*' },
        { key: 'h.b', value: '0b0*1' },
        { key: 'ip', value: '10', prefix: '8' },
        { key: 'h.$valid$', value: '1' },
        { key: 'hdr.s[1].x', value: '5' },
        { key: 'r', value: '1', high: '9' },
        { key: 'm', value: '0x10', mask: '0xf0' },
      ],
      call: {
        action: 'c.act',
        arguments: [
          { name: 'val', value: '0x7f' },
          { name: 'port', value: '2' },
        ],
      },
      id: '$me',
    });
    expect(one('add t a:1 go()')).toMatchObject({ priority: undefined, id: undefined, call: { arguments: [] } });
    expect(one('add "odd name".t a:1 go()')).toMatchObject({ table: 'odd name.t' });
  });

  it('reads defaults, checks and commands of the switch', () => {
    expect(one('setdefault t drop()')).toMatchObject({ kind: 'setdefault', table: 't' });
    expect(one('remove all')).toMatchObject({ kind: 'remove-all' });
    expect(one('check_counter c(10) bytes >= 0x20')).toMatchObject({
      counter: 'c',
      index: '10',
      unit: 'bytes',
      comparison: '>=',
      value: 32n,
    });
    expect(one('check_counter a.c($id)')).toMatchObject({ counter: 'a.c', index: '$id', value: undefined });
    expect(one('check_register r(1) == 7')).toMatchObject({ register: 'r', index: '1', comparison: '==', value: 7n });
    expect(one('mc_node_create 400 6 7')).toMatchObject({ kind: 'command', text: 'mc_node_create 400 6 7' });
    expect(one('mirroring_add 5 4')).toMatchObject({ kind: 'command', text: 'mirroring_add 5 4' });
  });

  it('says in which line something is wrong', () => {
    for (const [text, message] of [
      ['\nfrobnicate 1', 'line 2: no statement begins with "frobnicate"'],
      ['packet 0 012', 'half a byte too many'],
      ['packet x', 'a port expected'],
      ['packet 0 0g', 'hexadecimal'],
      ['expect 0 01 $ 02', 'hexadecimal'],
      ['add t a:1', 'an action'],
      ['add t a:1 go(1)', 'name:value expected at "1"'],
      ['add t a:1 go() go()', 'nothing more expected'],
      ['remove one', '"all" expected'],
      ['check_counter c', 'NAME(INDEX)'],
      ['check_register r(1)', 'NAME(INDEX)'],
      ['no_packet 3', 'nothing more expected'],
    ] as const) {
      expect(() => parseStf(text), text).toThrow(StfSyntaxError);
      expect(() => parseStf(text), text).toThrow(message);
    }
  });

  it('takes as long as the text is, whatever is in it', () => {
    const blanks = ' '.repeat(200_000);
    const began = process.cpuUsage();
    for (const text of [
      `add t a:1${blanks}x`,
      `add t go(${'x'.repeat(200_000)}`,
      `add t go(a${blanks}b`,
      `${blanks}x`,
    ]) {
      expect(() => parseStf(text)).toThrow(StfSyntaxError);
    }
    parseStf('# comment\n'.repeat(100_000));
    // A regular expression that goes back and forth takes minutes; this is CPU time, not what the machine's load makes of it.
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
  });

  it('refuses lines and packets that are longer than any', () => {
    expect(() => parseStf(`packet 0 ${'00'.repeat(65_536)}`)).toThrow('a packet of more than 65535 bytes');
    expect(() => parseStf(`add t ${'a:1 '.repeat(100_000)}`)).toThrow('line 1: a line of more than 262144 characters');
    const quoted = `frobnicate${'x'.repeat(100_000)}`;
    expect(() => parseStf(quoted)).toThrow(StfSyntaxError);
    expect(() => parseStf(quoted)).not.toThrow(/.{200}/);
  });
});
