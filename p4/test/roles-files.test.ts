import { readFileSync } from 'node:fs';
import { commandsPath, programPath } from '@int/p4';
import { createSwitch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { expect, test } from 'vitest';

test.each([
  ['int', 'source'],
  ['int', 'transit'],
  ['int', 'sink'],
  ['dart', 'hashes'],
  ['flowcache', 'sink'],
  ['intmon', 'source'],
  ['intmon', 'transit'],
  ['intmon', 'sink'],
  ['gpint', 'switch'],
  ['gpint', 'fine-tuned'],
  ['gpint', 'unprotected'],
  ['gpint', 'forwarder'],
] as const)('the commands of %s/%s are what the program takes', (name, role) => {
  const machine = createSwitch(loadProgram(programPath(name)));
  const results = machine.commands(readFileSync(commandsPath(name, role), 'utf8'));
  expect(results.filter(({ status }) => status !== 'done')).toEqual([]);
  expect(results.length).toBeGreaterThan(1);
});
