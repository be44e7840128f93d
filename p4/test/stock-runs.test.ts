import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { programPath } from '@int/p4';
import { createSwitch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, test } from 'vitest';
import { play } from './play.js';
import { undefinedOptions } from './undefined/options.js';

const FOLDER = new URL('./stock/', import.meta.url);

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

const runs = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.script.gz'))
  .map((name) => name.slice(0, -'.script.gz'.length));

describe('runs on simple_switch', () => {
  test.each(runs)('%s: every packet is equal', (run) => {
    const machine = createSwitch(loadProgram(programPath(run.replace(/-\d+$/, ''))), undefinedOptions());
    // Commands that it refused are refused here.
    const played = play(machine, read(`${run}.script`));
    const packets = expected(read(`${run}.expect`));
    expect(packets.length).toBeGreaterThan(10);
    expect(played.map((lines, packet) => lines.map((line, i) => masked(line, packets[packet]?.[i] ?? '')))).toEqual(
      packets,
    );
    expect(machine.undefinedReads).toEqual([]);
    expect(Object.values(machine.statistics.faults).reduce((sum, each) => sum + each)).toBe(0);
  });
});
