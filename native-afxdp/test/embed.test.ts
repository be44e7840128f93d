import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limit, requires } from '../../.ci/test/requires.js';
import {
  CRC_TABLES,
  compile,
  compilerOf,
  crcTables,
  embed,
  generatedFile,
  PROGRAMS,
  readObject,
} from '../scripts/embed-xdp.mjs';

/** Helpers of the kernel that are there for programs of any licence: map lookup and update, redirect_map, adjust_meta. */
const HELPERS = [1, 2, 51, 54];
const CALL = 0x85;

describe('the XDP programs in the sources', () => {
  for (const program of PROGRAMS) {
    it(`hold ${program.name} as clang makes it from ${program.source}`, () => {
      const clang = requires('clang', 'npm run setup:system');
      const committed = readFileSync(generatedFile(program), 'utf8');
      const made = embed(program, clang);
      const compiler = compilerOf(clang);
      if (!committed.includes(`/* ${compiler} */`)) {
        // Another compiler, other instructions: but the same maps, which are the interface.
        const maps = (text: string): string => text.slice(text.indexOf('_maps[] = {'), text.indexOf('_image = {'));
        expect(maps(made)).toBe(maps(committed));
        limit(`xdp/generated was made by another compiler than ${compiler}: instructions are not compared`);
      }
      expect(made === committed, `run \`make xdp\`: ${program.name} differs`).toBe(true);
    });

    it(`call only helpers that ${program.name} may use under this licence`, () => {
      const clang = requires('clang', 'npm run setup:system');
      const { code } = readObject(compile(program, clang));
      const helpers = code.filter((each) => each.code === CALL).map((each) => each.immediate);
      expect(helpers.length).toBeGreaterThan(0);
      for (const helper of helpers) expect(HELPERS).toContain(helper);
    });
  }

  it('use the tables of CRC-32 that are computed', () => {
    expect(readFileSync(CRC_TABLES, 'utf8')).toBe(crcTables());
  });
});

describe('the reader of objects', () => {
  it('refuses what is no 64-bit little-endian ELF object', () => {
    expect(() => readObject(new Uint8Array(64))).toThrow(/not a 64-bit/);
    const big = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 2, ...new Uint8Array(58));
    expect(() => readObject(big)).toThrow(/not a 64-bit/);
  });

  it('finds maps, data and constants, and what loads them', () => {
    const clang = requires('clang', 'npm run setup:system');
    const { code, maps } = readObject(compile(PROGRAMS.find(({ name }) => name === 'prefilter_array')!, clang));
    const names = maps.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['sockets', 'totals', 'rule_sets', 'config', 'ports']));
    const constants = maps.find(({ name }) => name.startsWith('constants'));
    expect(constants?.contents?.length).toBe(13 * 256 * 4);
    const loads = code.filter((each) => each.code === 0x18 && each.source !== 0);
    expect(loads.length).toBeGreaterThan(0);
    for (const { immediate } of loads) expect(immediate).toBeLessThan(maps.length);
    expect(new Set(loads.map(({ immediate }) => names[immediate]))).toEqual(new Set(names));
  });
});
