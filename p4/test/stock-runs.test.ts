import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { udpChecksum } from '@int/codec/internals';
import { DartStore, flowKey, pathValue, SoftRnic } from '@int/dart';
import { type ProgramName, programPath } from '@int/p4';
import { createSwitch, type IrProgram, type V1Switch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, test } from 'vitest';
import { hex } from './packets.js';
import { type Played, play } from './play.js';
import { undefinedOptions } from './undefined/options.js';

const FOLDER = new URL('./stock-runs/', import.meta.url);

function read(name: string): string {
  return gunzipSync(readFileSync(new URL(`${name}.gz`, FOLDER))).toString();
}

/** What the reference switch sent for each packet. */
function expected(text: string): string[][] {
  const packets: string[][] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('# packet')) packets.push([]);
    else if (line !== '') packets.at(-1)?.push(line);
  }
  return packets;
}

/** Bytes that depend on time are `xx` there. */
function masked(line: string, pattern: string): string {
  if (line.length !== pattern.length) return line;
  return [...line].map((digit, index) => (pattern[index] === 'x' ? 'x' : digit)).join('');
}

const programs = new Map<string, IrProgram>();

function programOf(name: string): IrProgram {
  let program = programs.get(name);
  if (program === undefined) {
    program = loadProgram(programPath(name as ProgramName));
    programs.set(name, program);
  }
  return program;
}

const runs = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.script.gz'))
  .map((name) => name.slice(0, -'.script.gz'.length));

/** Plays a run on this machine, and holds it against the reference switch. */
function compare(run: string, options: ReturnType<typeof undefinedOptions>): void {
  const machine = createSwitch(programOf(run.replace(/-\d+$/, '')), options);
  // Commands that it refused are refused here.
  const played = play(machine, read(`${run}.script`));
  const packets = expected(read(`${run}.expect`));
  expect(packets.length).toBeGreaterThan(10);
  expect(played.map((lines, packet) => lines.map((line, i) => masked(line, packets[packet]?.[i] ?? '')))).toEqual(
    packets,
  );
  expect(Object.values(machine.statistics.faults).reduce((sum, each) => sum + each)).toBe(0);
}

describe('runs on simple_switch', () => {
  test.each(runs)('%s: every packet is equal', (run) => {
    compare(run, undefinedOptions());
  });

  const seeds = process.env.INT_LONG === '1' ? [1, 2, 3] : [1];
  // By default one run of each program.
  const poisoned = runs.filter((run) => process.env.INT_LONG === '1' || run.endsWith('-1'));
  test.each(seeds.flatMap((seed) => poisoned.map((run) => [run, seed] as const)))(
    '%s: and in poison mode, seed %i',
    (run, seed) => {
      compare(run, undefinedOptions(seed));
    },
  );
});

/** Whether the UDP checksum of a frame without VLANs and IPv4 options is right. */
function hasRightUdpChecksum(line: string): boolean {
  const frame = Uint8Array.from(Buffer.from(line.split(' ')[1] ?? '', 'hex'));
  const length = (frame[38]! << 8) | frame[39]!;
  return udpChecksum(frame, 14, 34, length) === ((frame[40]! << 8) | frame[41]!);
}

describe('what once was wrong on simple_switch', () => {
  function repeat(program: ProgramName, name: string): { readonly machine: V1Switch; readonly packets: Played } {
    const machine = createSwitch(programOf(program), undefinedOptions(1));
    return { machine, packets: play(machine, readFileSync(new URL(`repro-${name}.script`, FOLDER), 'utf8')) };
  }

  test('a packet has its own items in its UDP checksum, and none of the packet before', () => {
    const { packets } = repeat('int', 'checksum');
    expect(packets.map((lines) => lines.map(hasRightUdpChecksum))).toEqual([[true], [true], [true]]);
  });

  test('the paths of IPv4 and IPv6 flows stand where @int/dart looks for them', () => {
    const { packets } = repeat('dart', 'dart');
    const store = new DartStore({ slots: 4096, copies: 2, valueBytes: 20, hash: 'crc' });
    const rnic = new SoftRnic({
      queuePairs: [{ number: 0x11 }],
      regions: [{ remoteKey: 0x1234, base: 0x1_0000_0000n, target: store }],
    });
    for (const line of packets.flat()) {
      const [port, digits = ''] = line.split(' ');
      if (port === '7') rnic.receive(Uint8Array.from(Buffer.from(digits, 'hex')));
    }
    expect(rnic.counters).toMatchObject({ rejected: 0, write: 6 });
    for (const [source, destination] of [
      ['10.0.1.1', '10.0.2.2'],
      ['2001:db8::1', '2001:db8::2'],
    ] as const) {
      const key = flowKey({ source, destination, protocol: 17, sourcePort: 1234, destinationPort: 9 });
      expect(hex(store.query(key).value!)).toBe(hex(pathValue([7, 3], 20)));
    }
  });

  test('INT that contradicts itself ends no switch, and no packet reads beyond the stack', () => {
    const { machine, packets } = repeat('dart', 'dart-death-min');
    expect(packets.map((lines) => lines.map((line) => line.split(' ')[0]))).toEqual([['2'], ['2']]);
    expect(machine.statistics.faults.stackIndex).toBe(0);
  });

  test('a drop entry has its reason', () => {
    const { machine } = repeat('int', 'drop-cli');
    expect(machine.table('IntIngress.forward_ipv4').entries()).toHaveLength(2);
  });
});
