import { findWarnings, formatDiagnostic } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { expect, test } from 'vitest';

test.each(['int', 'dart', 'flowcache', 'gpint', 'intmon'])('%s.p4 gives no warning', (name) => {
  const found = findWarnings(loadProgram(new URL(`../${name}.p4`, import.meta.url).pathname));
  expect(found.list.map(formatDiagnostic)).toEqual([]);
});
