import { readFileSync } from 'node:fs';
import { findWarnings, lineColumn } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { expect, test } from 'vitest';

/** What the programs are warned of today, by file; it may only become less. */
const known = new Set(readFileSync(new URL('known-warnings.txt', import.meta.url), 'utf8').split('\n'));
/** The others share most of their files with int.p4. */
const PROGRAMS =
  process.env.INT_LONG === '1' ? ['int', 'dart', 'flowcache', 'gpint', 'intmon'] : ['int', 'gpint', 'intmon'];

test.each(PROGRAMS)('%s.p4 gives no warning that is not known', (name) => {
  const path = new URL(`../${name}.p4`, import.meta.url).pathname;
  const found = findWarnings(loadProgram(path));
  expect(found.suppressed).toBe(0);
  const unknown = found.list.flatMap(({ code, message, span }) => {
    const file = span.file.name.replace(/^.*?\/p4\//, '');
    const { line, column } = lineColumn(span.file, span.start);
    return known.has(`${file}: ${message} [${code}]`) ? [] : `${file}:${line}:${column}: ${message} [${code}]`;
  });
  expect(unknown).toEqual([]);
});
