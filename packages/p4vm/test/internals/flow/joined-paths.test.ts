import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildProgram, findWarnings, type IrProgram } from '@int/p4vm';
import { fileResolver } from '@int/p4vm/node';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { findWithin } from '../../../src/flow/find-warnings.js';
import { Diagnostics } from '../../../src/source/diagnostics.js';
import { build, pointedAt } from '../lower/building.js';

const FOLDER = new URL('../../programs/', import.meta.url);
const resolve = fileResolver([fileURLToPath(FOLDER)]);
const ALL = readdirSync(FOLDER).filter((name) => name.endsWith('.p4'));
const EVERY = Math.max(1, Math.floor(ALL.length / runs(40)));
const PROGRAMS = ALL.filter((_, i) => i % EVERY === 0);

/** Places of doubts, with their kinds. */
function doubts(program: IrProgram, ways: number): { readonly places: readonly string[]; readonly hasJoined: boolean } {
  const { findings, isWhole, hasJoined } = findWithin(program, { ways, steps: 50_000_000 });
  expect(isWhole).toBe(true);
  const diagnostics = new Diagnostics(10_000);
  findings.report(diagnostics, new Set(['unreachable']));
  return { places: diagnostics.list.map(({ code, span }) => `${code} ${span.start}`), hasJoined };
}

describe('paths that are followed as one', () => {
  it('hide no doubt', () => {
    let joined = 0;
    for (const name of PROGRAMS) {
      const file = fileURLToPath(new URL(name, FOLDER));
      const { program } = buildProgram({ name: file, text: readFileSync(file, 'utf8') }, { resolve });
      const apart = doubts(program!, 100_000);
      expect(apart.hasJoined).toBe(false);
      for (const ways of [1, 3]) {
        const together = doubts(program!, ways);
        if (together.hasJoined) joined++;
        expect({ name, hidden: apart.places.filter((each) => !together.places.includes(each)) }).toEqual({
          name,
          hidden: [],
        });
      }
    }
    expect(joined).toBeGreaterThan(0);
  });

  it('leave what is wrong in one of very many ways doubtful, and nothing else', () => {
    const bits = Array.from({ length: 8 }, (_, i) => i);
    const program = build({
      metadata: bits.map((i) => `bool f${i};`).join(' '),
      parser: `state start { p.extract(hdr.h); transition select(hdr.h.b) { 1: more; default: accept; } }
        state more { p.extract(hdr.w); transition accept; }`,
      apply: `
        ${bits.map((i) => `if (hdr.h.a[${i}:${i}] == 1) { m.f${i} = true; } else { m.f${i} = false; }`).join('\n')}
        if (hdr.w.isValid()) { m.x = (bit<8>)hdr.w.x; }
        if (${bits.map((i) => `m.f${i}`).join(' && ')}) { m.y = (bit<16>)hdr.w.y; }`,
    });
    expect(findWithin(program, { ways: 32, steps: 50_000_000 }).hasJoined).toBe(true);
    const { list } = findWarnings(program, { without: ['uninitialized_metadata'] });
    expect(list.map((each) => `${each.code} ${pointedAt(each)}`)).toEqual(['invalid_header hdr.w']);
    expect(list[0]!.span.file.text.slice(0, list[0]!.span.start)).toContain('m.y = (bit<16>)');
  });
});
