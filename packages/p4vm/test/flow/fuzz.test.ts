import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bmv2Limits, buildProgram, createSwitch, findWarnings, P4Error } from '@int/p4vm';
import { fileResolver } from '@int/p4vm/node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';

const FOLDER = new URL('../programs/', import.meta.url);
const folder = fileURLToPath(FOLDER);
const resolve = fileResolver([folder]);
const PROGRAMS = readdirSync(FOLDER).filter((name) => name.endsWith('.p4'));

/** A word of the program is left out, doubled, or another one stands in its place. */
const change = fc.record({ at: fc.nat(), other: fc.nat(), how: fc.constantFrom('leave out', 'double', 'replace') });

function changed(text: string, { at, other, how }: { at: number; other: number; how: string }): string {
  const words = text.match(/\w+|\s+|[^\w\s]/g) ?? [];
  const place = at % words.length;
  const replacement = words[other % words.length]!;
  if (how === 'leave out') words.splice(place, 1);
  else words.splice(place, how === 'double' ? 0 : 1, how === 'double' ? words[place]! : replacement);
  return words.join('');
}

test('whatever a program holds is refused with diagnostics, or run; never is anything thrown', () => {
  let ran = 0;
  const seed = Number(process.env.INT_SEED ?? 19);
  fc.assert(
    fc.property(fc.constantFrom(...PROGRAMS), fc.array(change, { maxLength: 2 }), (name, changes) => {
      const text = changes.reduce(changed, readFileSync(new URL(name, FOLDER), 'utf8'));
      const { program } = buildProgram({ name: fileURLToPath(new URL(name, FOLDER)), text }, { resolve });
      if (program === undefined) return;
      ran++;
      findWarnings(program);
      bmv2Limits(program);
      try {
        createSwitch(program);
      } catch (error) {
        if (!(error instanceof P4Error)) throw error;
      }
    }),
    { numRuns: runs(1600), seed },
  );
  expect(ran).toBeGreaterThan(0);
}, 240_000);
